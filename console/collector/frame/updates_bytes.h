/* SPDX-License-Identifier: GPL-2.0-or-later */
/* updates_bytes: counts of updates between two processes of one program. */
#pragma once

#include "console/collect/update_watch.h"
#include "fabric/base/file/bytes_io.h"

void updates_bytes_put(bytes_out *out, const struct update_counts *c);
/* update_counts_put(); -EPROTO. */
int updates_bytes_take(const struct update_counts **out, struct bytes_in *in);
