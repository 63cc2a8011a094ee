/* SPDX-License-Identifier: GPL-2.0-or-later */
/* builder_bytes: a builder on its way from the process that read it from a file. */
#pragma once

#include "fabric/base/file/bytes_io.h"
#include "fabric/model/topology/builder.h"

void builder_put(bytes_out *out, const struct builder *b);
/* The same nodes, ports and cables in the same order, each through the builder's own checks.
 * -EPROTO: these are not the bytes of a builder. */
int builder_take(struct builder **out, struct bytes_in *in, struct err *err);
