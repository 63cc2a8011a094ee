/* SPDX-License-Identifier: GPL-2.0-or-later */
/* repair_state: what the steps of a repair share. */
#pragma once

#include "engines/engine.h"
#include "engines/graph/graph.h"
#include "engines/repair/dependencies.h"
#include "fabric/model/tables/entry_changes.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/chan_weight.h"

struct repair_state {
	const struct fabric *f;
	const struct engine_params *params;
	const struct tables *was; /* the installed tables, with whatever is broken in them */
	struct tables *t;	  /* the same at the beginning */
	struct dest *dests;	  /* by switch */
	uint32_t ndest;
	uint32_t *out;	  /* lft_columns_ports(); FAB_NONE too where the channel is down */
	bool *down;	  /* by channel: nothing may use it */
	bool *gone;	  /* by switch: no path leads to it or from it */
	uint32_t *broken; /* by destination: switches that do not get there by was */
	struct chan_weights weights;
	uint64_t *load; /* by channel: routes times its weight */
	unsigned nvl;	/* VLs that may be used, one more than those installed at most */
	/* NULL: deadlocks are somebody else's concern */
	struct dependencies *deps;
	struct entry_changes *changes; /* what becomes another, destination by destination */
	/* by switch: SLs of packets that were found to get from there to the destination in hand, a
	 * bit each; where their VLs do not depend on ports only */
	uint16_t *led;
	uint32_t *led_list, nled; /* switches with any */
	unsigned sls, vls;	  /* in use, a bit each */
	bool beyond;		  /* an installed path is on a VL of nvl or more, or is dropped */
	/* ends that stand for those of their switch which have the same SLs and SL2VL tables */
	uint32_t *source_off; /* nsw + 1 */
	uint32_t *source;
};

void repair_state_init(struct repair_state *r, const struct fabric *f,
		       const struct engine_params *params);
/* Nothing is changed any more. */
void repair_state_begin(struct repair_state *r);
void repair_state_done(struct repair_state *r);

/* Paths to another destination are tried from now on, or some are not as they were found. */
void repair_state_forget_led(struct repair_state *r);

/* How many LIDs of other hosts on the same switch are led over that channel by a switch with hosts:
 * these share it when they send to a row of hosts, as in shifts. */
uint32_t repair_state_siblings(const struct repair_state *r, const struct dest *d, uint32_t chan);

/* The tables say how many VLs and SLs are in use, those that are new among them. */
void repair_state_count_vls(struct repair_state *r);

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

/* The channel that an LFT value of a switch leads to, FAB_NONE: none that is up. */
static inline uint32_t repair_state_chan(const struct repair_state *r, uint32_t sw, uint8_t port)
{
	return port <= r->f->sw_nports[sw] ? r->out[r->f->port_off[sw] + port] : FAB_NONE;
}

static inline bool repair_state_has_ends(const struct repair_state *r, uint32_t sw)
{
	return r->f->term_off[sw] != r->f->term_off[sw + 1];
}

/* That of the first of a switch's ends; 0 where it has none. */
static inline uint8_t repair_state_own_sl(const struct repair_state *r, uint32_t sw, uint32_t lid)
{
	return repair_state_has_ends(r, sw) ? repair_state_sl(r, r->source_off[sw], sw, lid) : 0;
}

/* Are routes to it counted? */
static inline bool repair_state_counts(const struct repair_state *r, const struct dest *d)
{
	return d->end < r->f->nterm;
}
