/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * escape_lids: LIDs to fall back on while the traffic LIDs are rewritten.
 *
 * The upper half of every terminal's LIDs go up*, then down*, on the last VL, which traffic
 * leaves alone.  They depend on the fabric, the VLs and given roots only, never on jobs, engine
 * or seed, so that no update has to change them.
 */
#pragma once

#include "engines/engine.h"
#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

/* What the engine is to route the traffic with: one VL less.  -EINVAL when the terminals have one
 * LID only, or there is one VL only. */
int escape_lids_traffic_params(struct engine_params *out, const struct fabric *f,
			       const struct engine_params *params, struct err *err);

/*
 * Adds the escape LIDs to tables whose traffic was routed with escape_lids_traffic_params(); t must
 * be owned by the caller alone.  Their SL is the number of the last VL; traffic that has this SL
 * gets a free one instead.  -ENOSPC when traffic uses all 16 SLs; -ENETUNREACH when the given
 * roots leave a pair without a path; -EINVAL for roots that are no switches; -ECANCELED.
 * Progress step: "escape".
 */
int escape_lids_add(struct tables *t, const struct fabric *f, const struct engine_params *params,
		    struct progress *progress, struct err *err);
