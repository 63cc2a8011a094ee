/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tables_bytes: tables on their way from the process that read them from a file. */
#pragma once

#include "fabric/base/file/bytes_io.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

void tables_bytes_put(bytes_out *out, const struct tables *t);
/* Tables of f, whose ports, SLs and VLs exist; *out is the caller's.  -EPROTO: these are not. */
int tables_bytes_take(struct tables **out, struct bytes_in *in, const struct fabric *f);

/* The SLs of paths alone, and SL2VL alone, into tables that the caller alone owns. */
void tables_bytes_put_sl(bytes_out *out, const struct tables *t);
int tables_bytes_take_sl(struct tables *t, struct bytes_in *in, const struct fabric *f);
void tables_bytes_put_sl2vl(bytes_out *out, const struct tables *t);
int tables_bytes_take_sl2vl(struct tables *t, struct bytes_in *in, const struct fabric *f);
