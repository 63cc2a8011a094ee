/* SPDX-License-Identifier: GPL-2.0-or-later */
/* demand_bytes: a demand on its way from the process that read it from a file. */
#pragma once

#include "fabric/base/file/bytes_io.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/demand.h"

void demand_put_bytes(bytes_out *out, const struct demand *d);
/* A demand of f, which is the caller's.  -EPROTO: these are not the bytes of one. */
int demand_take_bytes(struct demand **out, struct bytes_in *in, const struct fabric *f);
