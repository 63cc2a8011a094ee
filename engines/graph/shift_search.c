/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/shift_search.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define ROOM	 (32u << 20)  /* numbers of flows */
#define WALKS	 (4u << 20)   /* pairs of hosts */
#define WORK	 (256u << 20) /* channels times flows looked at */
#define TOO_MANY (1ull << 40) /* what it costs to have more routes on a channel than it may have   \
			       */
#define RAILS_MAX   16	      /* ports of one name; more have that of their adapter's maker */
#define FLOWS_MAX   64	      /* from here on one flow more costs the same */
#define ONE_FLOW    16	      /* what one costs on an empty channel */
#define MUCH	    16	      /* a share of what the first round has moved */
#define MILD_OTHERS 110	      /* as SHIFT_SEARCH_OTHERS, in mild rounds */

struct shift_search {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	struct tables *t;
	const struct shift_search_how *how;
	struct spdag dag;
	uint32_t nrank;
	uint32_t *rank;		   /* by terminal: its node's place in the order of names */
	uint32_t *rail;		   /* by terminal */
	uint32_t *rails;	   /* by rank */
	uint16_t *load;		   /* by channel * nrank + shift */
	uint64_t *routes;	   /* by channel */
	uint64_t most;		   /* routes times weight that a channel may have */
	uint64_t extra[FLOWS_MAX]; /* by flows that are there: what one more costs */
	bool mild;		   /* that grows slowly */
	uint32_t others;	   /* what traffic counts that is no shift */

	/* towards the terminal at hand */
	uint32_t *first, *last; /* by position: switches whose flows come through; FAB_NONE: none */
	uint32_t *after;	/* by switch: the next of these */
	uint32_t *chan;		/* by position: channel taken */
	uint64_t *through;	/* by position: flows on that */
	uint32_t *shift;	/* of the flows that may move */
	uint32_t nshift;
	uint64_t *cost;	 /* by position: what they cost from there on ... */
	uint32_t *known; /* ... if this is the number of the question */
	uint32_t question;
	uint32_t *floor; /* by position: greatest place of a channel by which it is entered, + 1 */
	uint64_t work, moved;
};

static void shift_search_rank(struct shift_search *x)
{
	const struct fabric *f = x->f;

	for (uint32_t i = 0, n; i < f->nterm; i += n) {
		const char *name = f->term_name[f->term_by_name[i]];

		n = fabric_terms_by_name(f, name, NULL, 0);
		n = n > RAILS_MAX ? 1 : n;
		for (uint32_t k = 0; k < n; k++) {
			x->rank[f->term_by_name[i + k]] = x->nrank;
			x->rail[f->term_by_name[i + k]] = k;
		}
		x->rails[x->nrank++] = n;
	}
}

/* The shift in which one terminal sends to another; 0: none. */
static uint32_t shift_search_shift(const struct shift_search *x, uint32_t from, uint32_t to)
{
	uint32_t a = x->rank[from], b = x->rank[to];

	if (x->rail[from] % x->rails[b] != x->rail[to])
		return 0;
	return b >= a ? b - a : b + x->nrank - a;
}

/* Adds the shifts of a switch's terminals to the question. */
static void shift_search_ask_for(struct shift_search *x, uint32_t sw, uint32_t term)
{
	const struct fabric *f = x->f;

	for (uint32_t k = f->term_off[sw]; k < f->term_off[sw + 1]; k++) {
		uint32_t from = f->term_list[k];
		uint32_t shift = from < f->nterm ? shift_search_shift(x, from, term) : 0;

		if (shift)
			x->shift[x->nshift++] = shift;
	}
}

static void shift_search_add(struct shift_search *x, uint32_t c, int one)
{
	uint16_t *load = x->load + (size_t)c * x->nrank;

	for (uint32_t i = 0; i < x->nshift; i++)
		load[x->shift[i]] += (uint16_t)one;
	x->routes[c] += (uint64_t)((int64_t)one * x->nshift);
	x->work += x->nshift;
}

static void shift_search_take(struct shift_search *x, uint32_t i, int one)
{
	shift_search_add(x, x->chan[i], one);
	x->through[i] += (uint64_t)((int64_t)one * x->nshift);
}

/* Channels taken towards a terminal on the root; false: a path leaves the DAG, or there is none. */
static bool shift_search_read(struct shift_search *x, uint32_t term)
{
	const struct spdag *g = &x->dag;
	const struct fabric *f = x->f;

	for (uint32_t i = 1; i < g->n; i++) {
		uint32_t u = g->sw[i],
			 c = fabric_chan(f, u, tables_row(x->t, u)[f->term_lid[term]]);

		x->chan[i] = c;
		if (c == FAB_NONE || g->pos[f->chan_dst[c]] >= i)
			return false;
	}
	x->work += g->n;
	return true;
}

/* All flows to a terminal, from the farthest switch to the nearest. */
static void shift_search_count(struct shift_search *x, uint32_t term)
{
	const struct spdag *g = &x->dag;
	const struct fabric *f = x->f;

	for (uint32_t i = 1; i < g->n; i++) {
		x->nshift = 0;
		shift_search_ask_for(x, g->sw[i], term);
		for (uint32_t at = i; x->nshift && at; at = g->pos[f->chan_dst[x->chan[at]]])
			shift_search_add(x, x->chan[at], 1);
	}
}

/* What the flows of the question add to a channel; where that is limit or more, no more than that
 * it is.  Loads are far apart in memory: most of the time goes into fetching them. */
static uint64_t shift_search_chan_cost(struct shift_search *x, uint32_t c, uint64_t same,
				       uint64_t limit)
{
	const uint16_t *load = x->load + (size_t)c * x->nrank;
	uint64_t w = chan_weight(x->how->weights, c), power = x->mild ? w : w * w * w, cost = 0;

	x->work += x->nshift;
	for (uint32_t i = 0; i < x->nshift; i++) {
		uint32_t n = load[x->shift[i]];

		cost += x->extra[n < FLOWS_MAX ? n : FLOWS_MAX - 1];
		if (i % 16 == 15 && cost * power >= limit)
			return limit;
	}
	if ((x->routes[c] + x->nshift) * w > x->most)
		cost += TOO_MANY;
	return cost * power + x->others * (x->routes[c] - same) * x->nshift / x->nrank *
				      (w * w * x->how->weights->unit);
}

/* The same from a position to the root. */
static uint64_t shift_search_way_cost(struct shift_search *x, uint32_t i)
{
	uint32_t n = 0, at = i;
	uint64_t cost = 0;

	for (; at && x->known[at] != x->question; at = x->dag.pos[x->f->chan_dst[x->chan[at]]])
		n++;
	/* from the end that is known outwards: as the ways are short, by looking again */
	cost = at ? x->cost[at] : 0;
	while (n--) {
		at = i;
		for (uint32_t k = 0; k < n; k++)
			at = x->dag.pos[x->f->chan_dst[x->chan[at]]];
		cost += shift_search_chan_cost(x, x->chan[at], x->through[at], UINT64_MAX);
		x->cost[at] = cost;
		x->known[at] = x->question;
	}
	return cost;
}

/* May position i take that channel, by the order of the LID's paths?  Where nobody came through so
 * far, they need not climb. */
static bool shift_search_climbs(const struct shift_search *x, const uint32_t *place, uint32_t i,
				uint32_t c)
{
	uint32_t at = x->dag.pos[x->f->chan_dst[c]];

	if (place && place[c] < x->floor[i])
		return false;
	for (uint32_t last = c; place && at; at = x->dag.pos[x->f->chan_dst[last]]) {
		if (place[x->chan[at]] <= place[last])
			return false;
		last = x->chan[at];
	}
	return true;
}

/* Takes the channel that costs the flows at hand least. */
static void shift_search_choose(struct shift_search *x, uint32_t i, uint32_t term,
				const uint32_t *place)
{
	const struct spdag *g = &x->dag;
	const struct fabric *f = x->f;
	uint32_t was = x->chan[i], best = was;
	uint64_t least;

	for (uint32_t at = i; at; at = g->pos[f->chan_dst[x->chan[at]]])
		shift_search_take(x, at, -1);
	x->question++;
	least = shift_search_chan_cost(x, was, 0, UINT64_MAX) +
		shift_search_way_cost(x, g->pos[f->chan_dst[was]]);
	for (uint32_t e = g->off[i]; e < g->off[i + 1]; e++) {
		uint32_t c = g->chan[e];
		uint64_t cost;

		if (c == was || !shift_search_climbs(x, place, i, c))
			continue;
		cost = shift_search_way_cost(x, g->to[e]);
		cost += shift_search_chan_cost(x, c, 0, least > cost ? least - cost : 0);
		if (cost >= least)
			continue;
		least = cost;
		best = c;
	}
	x->chan[i] = best;
	for (uint32_t at = i; at; at = g->pos[f->chan_dst[x->chan[at]]])
		shift_search_take(x, at, 1);
	x->moved += best != was;
	tables_row(x->t, g->sw[i])[f->term_lid[term]] = f->chan_port[best];
}

static bool shift_search_is_free(const struct shift_search *x, uint32_t i, uint32_t term)
{
	const struct spdag *g = &x->dag;

	return g->off[i + 1] - g->off[i] > 1 &&
	       (!x->how->is_free || x->how->is_free(x->how->ctx, g->sw[i], term));
}

static void shift_search_move(struct shift_search *x, uint32_t i, uint32_t term,
			      const uint32_t *place)
{
	x->nshift = 0;
	for (uint32_t u = x->first[i]; u != FAB_NONE; u = x->after[u])
		shift_search_ask_for(x, u, term);
	if (x->nshift)
		shift_search_choose(x, i, term, place);
}

/* What comes through position i goes on to the next one. */
static void shift_search_pass_on(struct shift_search *x, uint32_t i, const uint32_t *place)
{
	uint32_t to = x->dag.pos[x->f->chan_dst[x->chan[i]]];

	if (place && place[x->chan[i]] + 1 > x->floor[to])
		x->floor[to] = place[x->chan[i]] + 1;
	if (x->first[i] == FAB_NONE)
		return;
	if (x->first[to] == FAB_NONE)
		x->first[to] = x->first[i];
	else
		x->after[x->last[to]] = x->first[i];
	x->last[to] = x->last[i];
}

/* Flows by position. */
static void shift_search_sum(struct shift_search *x, uint32_t term)
{
	for (uint32_t i = 0; i < x->dag.n; i++) {
		x->nshift = 0;
		shift_search_ask_for(x, x->dag.sw[i], term);
		x->through[i] = x->nshift;
	}
	for (uint32_t i = x->dag.n; i-- > 1;)
		x->through[x->dag.pos[x->f->chan_dst[x->chan[i]]]] += x->through[i];
}

/* All switches towards one terminal, the farthest first. */
static void shift_search_terminal(struct shift_search *x, uint32_t term)
{
	const struct spdag *g = &x->dag;
	const uint32_t *place = x->how->places ? x->how->places[x->f->term_lid[term]] : NULL;

	if (!shift_search_read(x, term))
		return;
	for (uint32_t i = 0; i < g->n; i++) {
		x->first[i] = x->last[i] = x->f->sw_nterm[g->sw[i]] ? g->sw[i] : FAB_NONE;
		x->after[g->sw[i]] = FAB_NONE;
		x->floor[i] = 0;
	}
	shift_search_sum(x, term);
	for (uint32_t i = g->n; i-- > 1;) {
		if (shift_search_is_free(x, i, term))
			shift_search_move(x, i, term, place);
		shift_search_pass_on(x, i, place);
	}
}

static void shift_search_build(struct shift_search *x, uint32_t root)
{
	if (x->how->build)
		x->how->build(x->how->ctx, &x->dag, x->f, root);
	else
		spdag_shortest(&x->dag, x->f, root);
	x->work += x->f->nchan;
}

/* Once over all terminals; count: only adds their flows. */
static int shift_search_round(struct shift_search *x, bool count, struct pace *p)
{
	const struct fabric *f = x->f;

	for (uint32_t u = 0; u < f->nsw; u++) {
		uint64_t before = x->work;

		if (f->sw_nterm[u])
			shift_search_build(x, u);
		for (uint32_t k = f->term_off[u]; k < f->term_off[u + 1]; k++) {
			uint32_t term = f->term_list[k];

			if (term >= f->nterm || x->work > WORK)
				continue;
			if (count && shift_search_read(x, term))
				shift_search_count(x, term);
			if (!count)
				shift_search_terminal(x, term);
		}
		if (pace_work(p, x->work - before))
			return -ECANCELED;
	}
	return 0;
}

static void shift_search_init(struct shift_search *x, struct tables *t, const struct fabric *f,
			      const struct shift_search_how *how)
{
	*x = (struct shift_search){ .mem = arena_new(), .f = f, .t = t, .how = how };
	spdag_init(&x->dag, f);
	x->rank = arena_array(x->mem, uint32_t, f->nterm);
	x->rail = arena_array(x->mem, uint32_t, f->nterm);
	x->rails = arena_array(x->mem, uint32_t, f->nterm);
	x->first = arena_array(x->mem, uint32_t, f->nsw);
	x->last = arena_array(x->mem, uint32_t, f->nsw);
	x->after = arena_array(x->mem, uint32_t, f->nsw);
	x->chan = arena_array(x->mem, uint32_t, f->nsw);
	x->through = arena_array(x->mem, uint64_t, f->nsw);
	x->shift = arena_array(x->mem, uint32_t, f->nterm);
	x->cost = arena_array(x->mem, uint64_t, f->nsw);
	x->known = arena_array(x->mem, uint32_t, f->nsw);
	x->floor = arena_array(x->mem, uint32_t, f->nsw);
	x->routes = arena_array(x->mem, uint64_t, f->nchan);
	shift_search_rank(x);
	x->load = xcalloc((size_t)f->nchan * x->nrank, sizeof(*x->load));
}

/* Number of flows to the power of 5/4; square roots are the same everywhere. */
static double shift_search_mild_cost(uint32_t n)
{
	return n * sqrt(sqrt(n));
}

static void shift_search_set_cost(struct shift_search *x, bool mild)
{
	x->mild = mild;
	x->others = mild ? MILD_OTHERS : x->how->others;
	for (uint32_t n = 0; n < FLOWS_MAX && mild; n++)
		x->extra[n] = (uint64_t)(ONE_FLOW * (shift_search_mild_cost(n + 1) -
						     shift_search_mild_cost(n)));
	for (uint64_t n = 0; n < FLOWS_MAX && !mild; n++)
		x->extra[n] = ONE_FLOW * (3 * n * (n + 1) + 1);
}

/* So many rounds, as long as anything moves; after mild ones, as long as much does. */
static int shift_search_rounds(struct shift_search *x, bool mild, unsigned rounds, struct pace *p)
{
	uint64_t first = 0, least = 0, now = UINT64_MAX;
	int rc = 0;

	shift_search_set_cost(x, mild);
	for (unsigned i = 0; i < rounds && now > least && !rc; i++) {
		uint64_t before = x->moved;

		rc = shift_search_round(x, false, p);
		now = x->moved - before;
		first = i ? first : now;
		least = x->how->mild ? first / MUCH : 0;
	}
	return rc;
}

bool shift_search_fits(const struct fabric *f)
{
	return (uint64_t)f->nterm * f->nchan <= ROOM && (uint64_t)f->nterm * f->nterm <= WALKS;
}

int shift_search(uint64_t *moved, struct tables *t, const struct fabric *f,
		 const struct shift_search_how *how, struct pace *p)
{
	struct shift_search x;
	int rc;

	if (moved)
		*moved = 0;
	if (!shift_search_fits(f))
		return 0;
	shift_search_init(&x, t, f, how);
	rc = shift_search_round(&x, true, p);
	for (uint32_t c = 0; c < f->nchan; c++)
		if (x.routes[c] * chan_weight(how->weights, c) > x.most)
			x.most = x.routes[c] * chan_weight(how->weights, c);
	x.most += x.most * how->fuller_pct / 100;
	if (!rc)
		rc = shift_search_rounds(&x, true, how->mild, p);
	if (!rc)
		rc = shift_search_rounds(&x, false, how->rounds, p);
	if (moved)
		*moved = x.moved;
	spdag_done(&x.dag);
	free(x.load);
	arena_free(x.mem);
	return rc;
}
