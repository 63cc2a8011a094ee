/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pin: routes to chosen ends stay as they are installed, whatever the engine does with the rest.
 *
 * To every traffic LID of such an end, from every switch: the same LFT entries, SLs and VLs by
 * hop, so that what runs there needs no drain and nobody asks for a path again.  The engine's
 * own SLs stay where all is free of deadlocks beside the pinned routes; else the other paths are
 * given new layers, first fit, beside the dependencies of the pinned ones.
 */
#pragma once

#include "engines/engine.h"
#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct pinned;

/*
 * Can they stay?  *out is NULL where params->limits pin nobody.  f, and params with its limits and
 * installed tables, must outlive it.
 *
 * -EINVAL when the installed tables are not known, of another fabric, or do not lead from
 * every switch to a pinned LID; when they use VLs that must not be used, or the escape LIDs need;
 * when they pass through a switch or cable that the limits exclude.  -EDEADLK when the pinned
 * routes alone close a cycle.  Each names the host.  -ECANCELED; progress step "paths".  Time
 * O(pinned LIDs * switches).
 */
int pin_new(struct pinned **out, const struct fabric *f, const struct engine_params *params,
	    struct progress *progress, struct err *err);
void pin_free(struct pinned *p); /* NULL is fine */

/* Puts the pinned routes into what an engine made of the traffic LIDs; t must be owned by the
 * caller alone.  params as in pin_new(), or those of the traffic (escape_lids_traffic_params()).
 * -ENOSPC when the others would need more VLs beside them: says how many; -ECANCELED. */
int pin_apply(const struct pinned *p, struct tables *t, const struct engine_params *params,
	      struct progress *progress, struct err *err);

/* Tells in the tables what is pinned. */
void pin_tell(const struct pinned *p, struct tables *t);

/* After escape_lids_add(): LIDs that were traffic's must not have become escape LIDs with other
 * routes.  -EINVAL names one. */
int pin_check_escape(const struct pinned *p, const struct tables *t, struct notes *notes,
		     struct err *err);
