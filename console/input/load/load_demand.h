/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load_demand: a demand file (fabric/format/native/demand_file.h); "-" is stdin. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/demand.h"

/* ranks: a rank file; may be NULL. */
int load_demand(struct demand **out, const char *path, const char *ranks, const struct fabric *f,
		struct err *err);
