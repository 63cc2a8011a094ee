/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shift_flows: how many flows of each shift over all hosts every channel has, and what more of
 * them would cost there.
 *
 * Hosts in the order of their names each send to the one that many places further, rail by rail.
 * Pairs of routes over a channel that do not lead to the same terminal (nor, by_source, come from
 * the same one) cost something, too, so that traffic that is no shift does not lose.
 */
#pragma once

#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/chan_weight.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

#define SHIFT_PRICE_FLOWS 64 /* from here on one flow more costs the same */
#define SHIFT_PRICE_ONE	  16 /* what a flow costs that is alone on a channel, if its price is 1 */

/* What flows cost that meet on a channel, times its weight by rate: a slow flow less is worth
 * several that are not quite as slow. */
struct shift_price {
	bool cubed; /* their number cubed; else, to the power of 5/4, one more hardly costs more */
	uint32_t alone;	 /* what one costs where no other is, instead of SHIFT_PRICE_ONE; 0: that */
	uint32_t others; /* what all other traffic counts; 0: nothing */
	uint32_t near;	 /* shifts by so many places at most cost ... */
	uint32_t times;	 /* ... so many times as much */
};

/* Of a channel. */
struct shift_channel {
	uint64_t routes;
	uint64_t most;	 /* that it may have */
	uint64_t times;	 /* by its rate: what flows cost ... */
	uint64_t others; /* ... and pairs of routes */
};

/* Of a question. */
struct shift_source {
	uint32_t sw, flows;
};

struct shift_flows {
	struct arena *mem; /* owns the arrays but load */
	const struct fabric *f;
	const struct chan_weights *weights;
	uint32_t nrank;
	uint32_t *rank;	 /* by terminal: its node's place in the order of names */
	uint32_t *rail;	 /* by terminal */
	uint32_t *rails; /* by rank */
	bool single;	 /* one rail each */
	uint32_t *off;	 /* by switch, and at the end: its terminals from here on in ... */
	uint32_t *term;	 /* ... this */
	uint16_t *load;	 /* by channel * nrank + shift */
	struct shift_channel *chan;
	bool by_source;
	uint32_t nsource; /* switches with terminals */
	uint32_t *source; /* by switch: which of them */
	uint32_t *from;	  /* by channel * nsource + that: routes from there */

	struct shift_price price;
	uint64_t extra[2 * SHIFT_PRICE_FLOWS]; /* by flows that are there: what one more costs,
						* first in shifts that are not near */
	uint64_t others;		       /* what a pair of routes costs, in units of 2^-16 */

	/* the question: flows to a terminal that may go over a channel */
	uint32_t *shift;
	uint8_t *row; /* which half of extra counts */
	uint32_t nshift;
	struct shift_source *asked; /* where they begin */
	uint32_t nasked;
	uint64_t work; /* flows looked at */

	/* The tree to the terminal, by node: a switch, or its position in an order */
	const uint32_t *node; /* of a switch; NULL: itself */
	uint32_t *taken;      /* channel; FAB_NONE at the root */
	uint64_t *through;    /* flows on it */
	uint32_t question;    /* its number */
	uint32_t *on;	      /* of which question the flows come through already */
	uint64_t *cost;	      /* what those at hand cost from there on ... */
	uint32_t *known;      /* ... if this is the number of the question */
	uint32_t *path;	      /* scratch */
};

/* Is the fabric small enough? */
bool shift_flows_fit(const struct fabric *f);
void shift_flows_init(struct shift_flows *x, const struct fabric *f,
		      const struct chan_weights *weights, bool by_source);
void shift_flows_done(struct shift_flows *x);

void shift_flows_set_price(struct shift_flows *x, const struct shift_price *price);
/* No channel may get more routes than now the fullest has, and so many per cent. */
void shift_flows_set_most(struct shift_flows *x, unsigned fuller_pct);

/* A question begins with nshift = 0.  Adds the flows from the terminals of a switch. */
void shift_flows_ask(struct shift_flows *x, uint32_t sw, uint32_t term);
/* Those of the question go over a channel, or (one: -1) no longer do. */
void shift_flows_add(struct shift_flows *x, uint32_t c, int one);
/* What they cost there, or (there: false) would cost more; where that is limit or more, no more
 * than that it is.  same: other routes to the same terminal there. */
uint64_t shift_flows_cost(struct shift_flows *x, uint32_t c, bool there, uint64_t same,
			  uint64_t limit);

/* The node after that one, which is not the root. */
static inline uint32_t shift_flows_next(const struct shift_flows *x, uint32_t at)
{
	uint32_t sw = x->f->chan_dst[x->taken[at]];

	return x->node ? x->node[sw] : sw;
}

/* The flows of the question come by the way from a node to the root. */
void shift_flows_come(struct shift_flows *x, uint32_t at);
/* What they cost, or would cost more, from there to the root.  A question has a number of its own,
 * and the tree stays as it is while it lasts. */
uint64_t shift_flows_way_cost(struct shift_flows *x, uint32_t at);
