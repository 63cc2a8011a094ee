/* SPDX-License-Identifier: GPL-2.0-or-later */
/* findings_bytes: findings on their way to another process. */
#pragma once

#include "fabric/base/file/bytes_io.h"
#include "fabric/base/message/err.h"
#include "fabric/baseline/findings.h"

void findings_bytes_put(bytes_out *out, const struct findings *l); /* NULL is kept as such */
/* -EPROTO: these are not the bytes of findings.  The caller owns one reference, or has NULL. */
int findings_bytes_take(const struct findings **out, struct bytes_in *in, struct err *err);
