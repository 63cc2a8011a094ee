/* SPDX-License-Identifier: GPL-2.0-or-later */
/* repair_state: what the steps of a repair share. */
#pragma once

#include "engines/engine.h"
#include "engines/graph/graph.h"
#include "engines/repair/dependencies.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/chan_weight.h"

struct repair_state {
	const struct fabric *f;
	const struct engine_params *params;
	const struct tables *was; /* the installed tables, with whatever is broken in them */
	struct tables *t;	  /* the same at the beginning */
	struct dest *dests;	  /* by switch */
	uint32_t ndest;
	uint32_t *out;	  /* lft_columns_ports() */
	uint32_t *broken; /* by destination: switches that do not get there by was */
	struct chan_weights weights;
	uint64_t *load; /* by channel: routes times its weight */
	unsigned nvl;	/* VLs that may be used, one more than those installed at most */
	/* NULL: deadlocks are somebody else's concern */
	struct dependencies *deps;
	unsigned sls, vls; /* in use, a bit each */
	bool beyond;	   /* an installed path is on a VL of nvl or more, or is dropped */
	/* ends that stand for those of their switch which have the same SLs and SL2VL tables */
	uint32_t *source_off; /* nsw + 1 */
	uint32_t *source;
};

void repair_state_init(struct repair_state *r, const struct fabric *f,
		       const struct engine_params *params);
/* Nothing is changed any more. */
void repair_state_begin(struct repair_state *r);
void repair_state_done(struct repair_state *r);

/* VLs of traffic in tables; 0: not known. */
static inline unsigned repair_state_vls(const struct tables *t)
{
	return t->vls ? t->vls - t->escape : 0;
}

/* SL of a source (an index into r->source) towards a LID. */
static inline uint8_t repair_state_sl(const struct repair_state *r, uint32_t source, uint32_t sw,
				      uint32_t lid)
{
	return tables_path_sl(r->t, r->source[source], sw, lid);
}

static inline bool repair_state_has_ends(const struct repair_state *r, uint32_t sw)
{
	return r->f->term_off[sw] != r->f->term_off[sw + 1];
}

/* Are routes to it counted? */
static inline bool repair_state_counts(const struct repair_state *r, const struct dest *d)
{
	return d->end < r->f->nterm;
}
