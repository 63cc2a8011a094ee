/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of verify_deps share; nobody else includes this. */
#ifndef ENGINES_VERIFY_VERIFY_DEPS_IN_H
#define ENGINES_VERIFY_VERIFY_DEPS_IN_H

#include "engines/verify/verify_arrive.h"
#include "engines/verify/verify_deps.h"
#include "engines/verify/verify_rows.h"

#define ALL_VLS 15 /* data VLs 0..14 */
#define AHEAD	64 /* turns asked for before they are needed */
#define FEW	8  /* a share of all switches: so many changed ones are followed one by one */
#define UNKNOWN UINT32_MAX

/* The way from one switch to LIDs close to each other often begins alike.  What is known of it
 * already need not be looked for in tables larger than caches. */
struct last_turn {
	uint32_t from, onto; /* channels; UNKNOWN before the first */
	uint32_t row;	     /* by_port: of the turn, or UNKNOWN */
	uint32_t sls;	     /* not by_port: what is kept of the turn, at least */
};

/*
 * Two ways to keep a turn.  Where SL2VL depends on no more than what hangs on the input port,
 * a packet's VLs on both sides of a turn follow from its SL and from whether it entered
 * the first switch of the turn from a terminal or from a switch: two masks of SLs are enough.
 * Where it depends on the ports, the SLs on each VL before the turn are kept (lanes as in
 * verify_rows.h); those after it follow from the row of the turn.
 */
struct deps {
	const struct fabric *f;
	const struct tables *t;
	const struct deps *parent; /* what is marked shared belongs to it; NULL: to this one */
	bool by_port;

	/* turn of channel c onto channel e: turn_base[c] + e; e = chan_off[dst+1]: delivered */
	size_t *turn_base; /* shared */
	size_t nturns;
	bool turns;		/* are they kept? */
	uint32_t *turn;		/* SLs from terminals | SLs from switches << 16 */
	struct last_turn *last; /* per switch: where its traffic turned last */
	uint32_t *changed;	/* switches that send another way than before, or on other SLs */

	/* SLs that a source switch sends to a LID, for one block of LIDs */
	uint16_t *sent;	      /* of the LID in hand, per switch */
	uint16_t *sent_block; /* LFT_BLOCK rows of nsw */
	uint8_t *sls;	      /* the same as read, by switch */
	uint32_t block;
	uint32_t before;	    /* LID added last, of the same block and not lost; 0: none */
	bool bad_sl[LFT_BLOCK];	    /* somebody uses an SL above 15 */
	uint16_t any_sl[LFT_BLOCK]; /* SLs that anybody uses */

	uint8_t vl_sent[FAB_SLS], vl_passing[FAB_SLS]; /* not by_port */
	uint16_t drop_sent, drop_passing;
	uint16_t *passing;   /* per switch: SLs that other switches brought */
	uint32_t seen;	     /* all SLs: sent | passing << 16 */
	uint32_t *delivered; /* per port, masks like a turn's */

	struct rows rows;   /* by_port; shared */
	uint64_t *turn_sls; /* by_port: [turn * nwords + word] = SLs by VL before the turn */
	uint64_t *last_sls; /* by_port: per switch, what is kept of its last turn, at least */
	uint64_t *flow;	    /* by_port: per switch, SLs by VL that are on their way out of it */
	uint64_t all[ROWS_MAX_WORDS]; /* by_port: over all channels */
	uint16_t *port_vl;	      /* by_port: VLs per port of delivery */
	struct arrivals arrivals;     /* by_port: of the LID before */
};

/* The turn of the traffic of u towards the LID walked last.  False when it was the last one, too.
 */
static inline bool turn_of(struct deps *d, const struct walk *w, uint32_t u)
{
	uint32_t c = w->chan[u], e = w->chan[d->f->chan_dst[c]], k, n = d->rows.nwords;
	struct last_turn *l = &d->last[u];

	if (l->from == c && l->onto == e)
		return false;
	*l = (struct last_turn){ .from = c, .onto = e, .row = UNKNOWN };
	for (k = 0; d->by_port && k < n; k++)
		d->last_sls[(size_t)u * n + k] = 0;
	return true;
}

static inline size_t last_at(const struct deps *d, uint32_t u)
{
	return d->turn_base[d->last[u].from] + d->last[u].onto;
}

/* Turns of some switches of the order from first on; those that are not known are asked for early:
 * they lie anywhere in tables larger than caches.  Returns where to stop. */
static inline uint32_t look_ahead(struct deps *d, const struct walk *w, uint32_t first)
{
	uint32_t i, end = w->norder - 1 < first + AHEAD ? w->norder - 1 : first + AHEAD;

	for (i = first; i < end; i++) {
		size_t at;

		if (!turn_of(d, w, w->order[i]))
			continue;
		at = last_at(d, w->order[i]);
		if (d->by_port)
			__builtin_prefetch(&d->rows.turn[at]);
		if (d->turns && d->by_port)
			__builtin_prefetch(&d->turn_sls[at * d->rows.nwords], 1);
		else if (d->turns)
			__builtin_prefetch(&d->turn[at], 1);
	}
	return end;
}

/* verify_deps_sls: the SLs that sources use towards the LIDs of a block, into sent_block. */
void deps_load_block(struct deps *d, uint32_t block);

/* Switches whose way to the LID, or SL, is another than to the LID before it: into changed. */
uint32_t deps_find_changed(struct deps *d, struct walk *w);

/* verify_deps_by_sl and verify_deps_by_port: deps_add() where SL2VL does not depend on the ports,
 * and where it does.  d->sent is that of the LID. */
bool deps_add_by_sl(struct deps *d, struct walk *w, uint32_t lid);
bool deps_add_by_port(struct deps *d, struct walk *w, uint32_t lid);

#endif
