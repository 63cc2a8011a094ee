/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acts_bytes: baselines, updates and records between two processes of one program. */
#pragma once

#include "console/collect/acts.h"
#include "fabric/base/file/bytes_io.h"

void acts_bytes_put(bytes_out *out, const struct acts *l);
/* acts_put(); -EPROTO. */
int acts_bytes_take(const struct acts **out, struct bytes_in *in);
