/* SPDX-License-Identifier: GPL-2.0-or-later */
/* layers_verdict: what verify says of tables, asked by an engine in its step "layers". */
#pragma once

#include "engines/verify/verify.h"
#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

/* As verify_tables(), whose errors it has; *out belongs to the caller. threads: 0: one per core. */
int layers_verdict(struct verdict **out, const struct fabric *f, const struct tables *t,
		   unsigned threads, struct progress *progress, struct err *err);
