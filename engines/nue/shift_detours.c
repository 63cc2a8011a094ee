/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/nue/shift_detours.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORK  (256ull << 20) /* channels times flows, and turns, looked at */
#define TURNS 256	     /* looked at for one that is new */
/* A flow that is alone costs less than others that meet cost each, and so a hop more is no loss. */
#define ALONE (SHIFT_PRICE_ONE * 3 / 4)
/* Jobs are often short ranges of hosts: shifts by as many places as these have cost more. */
#define NEAR	   32
#define NEAR_SHARE 32 /* and at most one of so many */
#define NEAR_TIMES 4

/* Of paths, from one channel to the next. */
struct turn {
	uint32_t from, to;
};

struct shift_detours {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	struct tables *t;
	const struct shift_detours_how *how;
	struct shift_flows flows;
	uint64_t moved, limit; /* limit: of work */
	bool stuck;	       /* not all entries lead to where they should */

	/* The tree towards the terminal at hand, by switch */
	struct nue_turns *turns;
	const uint16_t *least; /* fewest hops */
	uint32_t *hops;
	uint32_t *child, *sibling; /* FAB_NONE: none */
	uint32_t *ends;		   /* that come through */
	uint32_t *order;	   /* the root first */

	uint32_t *branch; /* switches that come through one, this first */
	uint32_t nbranch;
	uint32_t *in;	   /* by switch: of which question it was in the branch */
	struct turn *turn; /* at hand */
	uint32_t nturn;
};

static void shift_detours_hang(struct shift_detours *x, uint32_t u, uint32_t c)
{
	uint32_t v = x->f->chan_dst[c];

	x->flows.taken[u] = c;
	x->sibling[u] = x->child[v];
	x->child[v] = u;
}

static void shift_detours_unhang(struct shift_detours *x, uint32_t u)
{
	uint32_t *at = &x->child[shift_flows_next(&x->flows, u)];

	while (*at != u)
		at = &x->sibling[*at];
	*at = x->sibling[u];
}

/* False where switches have no channel, or some do not come to the root. */
static bool shift_detours_read(struct shift_detours *x, uint32_t lid)
{
	const struct fabric *f = x->f;
	uint8_t port;
	uint32_t n = 0, root = fabric_lid_switch(f, lid, &port);

	memset(x->child, 0xff, f->nsw * sizeof(*x->child));
	x->flows.taken[root] = FAB_NONE;
	for (uint32_t u = 0; u < f->nsw; u++) {
		uint32_t c = fabric_chan(f, u, tables_row(x->t, u)[lid]);

		if (u != root && c == FAB_NONE)
			return false;
		if (u != root)
			shift_detours_hang(x, u, c);
	}
	x->hops[root] = 0;
	x->order[n++] = root;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t v = x->child[x->order[i]]; v != FAB_NONE; v = x->sibling[v]) {
			x->hops[v] = x->hops[x->order[i]] + 1;
			x->order[n++] = v;
		}
	x->flows.work += f->nsw;
	return n == f->nsw;
}

/* All flows to a terminal, towards which the tree is. */
static void shift_detours_count(struct shift_detours *x, uint32_t term)
{
	for (uint32_t i = 1; i < x->f->nsw; i++) {
		uint32_t u = x->order[i];

		x->flows.nshift = 0;
		shift_flows_ask(&x->flows, u, term);
		for (; x->flows.nshift && x->flows.taken[u] != FAB_NONE;
		     u = shift_flows_next(&x->flows, u))
			shift_flows_add(&x->flows, x->flows.taken[u], 1);
	}
}

/* Ends that come through each switch. */
static void shift_detours_sum_ends(struct shift_detours *x)
{
	const struct fabric *f = x->f;

	for (uint32_t u = 0; u < f->nsw; u++)
		x->ends[u] = f->term_off[u + 1] - f->term_off[u];
	for (uint32_t i = f->nsw; i-- > 1;)
		x->ends[shift_flows_next(&x->flows, x->order[i])] += x->ends[x->order[i]];
}

/* The channel that paths turn to from that of switch u, or FAB_NONE. */
static uint32_t shift_detours_turn(const struct shift_detours *x, uint32_t u)
{
	return x->flows.taken[x->f->chan_dst[x->flows.taken[u]]];
}

/* All turns towards a LID. */
static bool shift_detours_add_turns(struct shift_detours *x, struct nue_turns *turns)
{
	shift_detours_sum_ends(x);
	for (uint32_t i = 1; i < x->f->nsw; i++) {
		uint32_t u = x->order[i], to = shift_detours_turn(x, u);

		if (x->ends[u] && to != FAB_NONE &&
		    !nue_turns_add(turns, x->flows.taken[u], to, UINT64_MAX))
			return false;
	}
	return true;
}

/* What is there: turns of all LIDs, flows of those that the search moves. */
static void shift_detours_take_stock(struct shift_detours *x)
{
	const struct fabric *f = x->f;

	for (uint32_t lid = 1; lid <= f->max_lid && !x->stuck; lid++) {
		uint32_t end = f->lid_end[lid];

		if (!x->how->turns[lid])
			continue;
		x->stuck = !shift_detours_read(x, lid) ||
			   !shift_detours_add_turns(x, x->how->turns[lid]);
		if (!x->stuck && end < f->nterm && f->term_lid[end] == lid)
			shift_detours_count(x, end);
	}
}

/* What comes through each switch. */
static void shift_detours_sum(struct shift_detours *x, uint32_t term)
{
	const struct fabric *f = x->f;

	for (uint32_t u = 0; u < f->nsw; u++) {
		x->flows.nshift = 0;
		shift_flows_ask(&x->flows, u, term);
		x->flows.through[u] = x->flows.nshift;
	}
	for (uint32_t i = f->nsw; i-- > 1;) {
		uint32_t u = x->order[i];

		x->flows.through[shift_flows_next(&x->flows, u)] += x->flows.through[u];
	}
	shift_detours_sum_ends(x);
}

/* Finds the switches that come through u, and asks for their flows.  Returns how many hops more
 * than need be the worst of them has. */
static uint32_t shift_detours_find_branch(struct shift_detours *x, uint32_t u, uint32_t term)
{
	const struct fabric *f = x->f;
	uint32_t more = 0;

	x->flows.question++;
	x->flows.nshift = x->nbranch = 0;
	x->branch[x->nbranch++] = u;
	for (uint32_t i = 0; i < x->nbranch; i++) {
		uint32_t w = x->branch[i], far = x->hops[w] - x->least[w];

		x->in[w] = x->flows.question;
		shift_flows_ask(&x->flows, w, term);
		if (f->term_off[w] < f->term_off[w + 1] && far > more)
			more = far;
		for (uint32_t v = x->child[w]; v != FAB_NONE; v = x->sibling[v])
			x->branch[x->nbranch++] = v;
	}
	return more;
}

/* The branch goes the way from u to the root, or (one: -1) no longer does. */
static void shift_detours_take(struct shift_detours *x, uint32_t u, uint32_t ends, int one)
{
	for (; x->flows.taken[u] != FAB_NONE; u = shift_flows_next(&x->flows, u)) {
		shift_flows_add(&x->flows, x->flows.taken[u], one);
		x->flows.through[u] += (uint64_t)((int64_t)one * x->flows.nshift);
		x->ends[u] += (uint32_t)(one * (int32_t)ends);
	}
}

/* May the branch of u take that channel, as far as hops count? */
static bool shift_detours_is_near(const struct shift_detours *x, uint32_t u, uint32_t c,
				  uint32_t more)
{
	uint32_t v = x->f->chan_dst[c];

	if (x->in[v] == x->flows.question)
		return false;
	return x->hops[v] + 1 <= x->hops[u] || more + x->hops[v] + 1 - x->hops[u] <= x->how->more;
}

/* Turns of the branch of u by a channel, as far as nobody else has them: from those that enter it,
 * and on to where others come through. */
static void shift_detours_list_turns(struct shift_detours *x, uint32_t u, uint32_t c)
{
	uint32_t to;

	x->nturn = 0;
	for (uint32_t w = x->child[u]; w != FAB_NONE; w = x->sibling[w])
		if (x->ends[w])
			x->turn[x->nturn++] = (struct turn){ x->flows.taken[w], c };
	for (uint32_t v = x->f->chan_dst[c]; (to = x->flows.taken[v]) != FAB_NONE;
	     v = x->f->chan_dst[to]) {
		x->turn[x->nturn++] = (struct turn){ c, to };
		if (x->ends[v])
			break;
		c = to;
	}
}

static void shift_detours_drop_turns(struct shift_detours *x, uint32_t n)
{
	while (n--)
		nue_turns_drop(x->turns, x->turn[n].from, x->turn[n].to);
}

/* Those listed, or none of them. */
static bool shift_detours_take_turns(struct shift_detours *x, uint64_t most)
{
	uint64_t before = nue_turns_work(x->turns);
	uint32_t n = 0;

	while (n < x->nturn && nue_turns_add(x->turns, x->turn[n].from, x->turn[n].to, most))
		n++;
	x->flows.work += nue_turns_work(x->turns) - before;
	if (n < x->nturn)
		shift_detours_drop_turns(x, n);
	return n == x->nturn;
}

/* Could the paths of the branch climb by that channel, beside those that they have? */
static bool shift_detours_climbs(struct shift_detours *x, uint32_t u, uint32_t c)
{
	shift_detours_list_turns(x, u, c);
	if (!shift_detours_take_turns(x, TURNS))
		return false;
	shift_detours_drop_turns(x, x->nturn);
	return true;
}

/* The channel that costs the branch of u least. */
static uint32_t shift_detours_choose(struct shift_detours *x, uint32_t u, uint32_t more)
{
	const struct fabric *f = x->f;
	uint32_t was = x->flows.taken[u], best = was;
	uint64_t least;

	shift_flows_come(&x->flows, u);
	least = shift_flows_way_cost(&x->flows, u);
	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
		uint64_t cost;

		if (c == was || !shift_detours_is_near(x, u, c, more))
			continue;
		cost = shift_flows_way_cost(&x->flows, f->chan_dst[c]);
		if (cost < least)
			cost += shift_flows_cost(&x->flows, c, false, 0, least - cost);
		if (cost >= least || !shift_detours_climbs(x, u, c))
			continue;
		least = cost;
		best = c;
	}
	return best;
}

static void shift_detours_move_branch(struct shift_detours *x, uint32_t u, uint32_t term,
				      uint32_t c)
{
	shift_detours_unhang(x, u);
	shift_detours_hang(x, u, c);
	for (uint32_t i = 0; i < x->nbranch; i++) {
		uint32_t w = x->branch[i];

		x->hops[w] = x->hops[shift_flows_next(&x->flows, w)] + 1;
	}
	tables_row(x->t, u)[x->f->term_lid[term]] = x->f->chan_port[c];
	x->moved++;
}

static void shift_detours_try(struct shift_detours *x, uint32_t u, uint32_t term)
{
	uint32_t was = x->flows.taken[u], ends = x->ends[u];
	uint32_t more = shift_detours_find_branch(x, u, term), best;

	if (!x->flows.nshift)
		return;
	best = shift_detours_choose(x, u, more);
	if (best == was)
		return;
	shift_detours_take(x, u, ends, -1);
	shift_detours_list_turns(x, u, was);
	shift_detours_drop_turns(x, x->nturn);
	shift_detours_move_branch(x, u, term, best);
	shift_detours_list_turns(x, u, best);
	shift_detours_take_turns(x, UINT64_MAX);
	shift_detours_take(x, u, ends, 1);
}

/* All switches towards one terminal, the farthest first. */
static void shift_detours_terminal(struct shift_detours *x, uint32_t term)
{
	const struct fabric *f = x->f;

	x->turns = x->how->turns[f->term_lid[term]];
	x->least = x->how->hops[f->term_sw[term]];
	if (!x->turns || !shift_detours_read(x, f->term_lid[term]))
		return;
	shift_detours_sum(x, term);
	for (uint32_t i = f->nsw; i-- > 1 && x->flows.work < x->limit;)
		if (f->chan_off[x->order[i] + 1] - f->chan_off[x->order[i]] > 1)
			shift_detours_try(x, x->order[i], term);
}

struct shift_detours *shift_detours_new(struct tables *t, const struct fabric *f,
					const struct shift_detours_how *how)
{
	struct arena *mem = arena_new();
	struct shift_detours *x = arena_alloc(mem, 1, sizeof(*x));

	*x = (struct shift_detours){ .mem = mem, .f = f, .t = t, .how = how };
	x->hops = arena_array(mem, uint32_t, f->nsw);
	x->child = arena_array(mem, uint32_t, f->nsw);
	x->sibling = arena_array(mem, uint32_t, f->nsw);
	x->ends = arena_array(mem, uint32_t, f->nsw);
	x->order = arena_array(mem, uint32_t, f->nsw);
	x->branch = arena_array(mem, uint32_t, f->nsw);
	x->in = arena_array(mem, uint32_t, f->nsw);
	x->turn = arena_array(mem, struct turn, 2u * f->nsw);
	shift_flows_init(&x->flows, f, how->weights, true);
	shift_detours_take_stock(x);
	shift_flows_set_most(&x->flows, how->fuller_pct);
	x->limit = x->flows.work + WORK;
	return x;
}

void shift_detours_free(struct shift_detours *x)
{
	shift_flows_done(&x->flows);
	arena_free(x->mem);
}

static void shift_detours_set_price(struct shift_detours *x, uint32_t others)
{
	uint32_t near = x->flows.nrank / NEAR_SHARE;
	struct shift_price price = { .alone = ALONE,
				     .others = others,
				     .near = near < NEAR ? near : NEAR,
				     .times = NEAR_TIMES };

	shift_flows_set_price(&x->flows, &price);
}

int shift_detours_move(uint64_t *moved, struct shift_detours *x, uint32_t others, unsigned rounds,
		       struct pace *p)
{
	const struct fabric *f = x->f;
	uint64_t before = x->moved;

	shift_detours_set_price(x, others);
	for (unsigned i = 0; i < rounds; i++)
		for (uint32_t u = 0; u < f->nsw; u++) {
			uint64_t work = x->flows.work;

			for (uint32_t k = f->term_off[u]; k < f->term_off[u + 1] && !x->stuck; k++)
				if (f->term_list[k] < f->nterm)
					shift_detours_terminal(x, f->term_list[k]);
			if (pace_work(p, x->flows.work - work))
				return -ECANCELED;
		}
	*moved = x->moved - before;
	return 0;
}
