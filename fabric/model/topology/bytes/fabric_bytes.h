/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fabric_bytes: a fabric on its way to another process, or to one that reads it later. */
#pragma once

#include "fabric/base/file/bytes_io.h"
#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"

/* One that was discovered, with its names, states and rates.  O(ports + ends). */
void fabric_bytes_put(bytes_out *out, const struct fabric *f);
/* The same fabric, built again and of the same fingerprint.  -EPROTO: these are not the
 * bytes of a fabric.  The caller owns one reference. */
int fabric_bytes_take(struct fabric **out, struct bytes_in *in, struct err *err);
