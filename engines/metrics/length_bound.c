/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/metrics/length_bound.h"

#include "fabric/base/memory/vec.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHARP_FIRST 10.0 /* exponents at the fullest arc: the larger, the more it alone counts */
#define SHARP_LAST  1000.0
#define SHARPER	    1.7
#define PATIENT	    (LENGTH_WORK / 10) /* work from which on it pays to settle first */
#define RISE_MAX    1.0		       /* of an exponent in one go */
#define NEWTONS	    3
#define PASSES_MIN  4
#define MEAN_SHARE  .2
#define LOOK_EVERY  3	  /* passes between two looks at the bound */
#define ENOUGH	    1.004 /* upper / lower */
#define PAIRS_MAX   (1u << 20)
#define STEP_WORK   4 /* of an arc of a path against one that Dijkstra looks at */

/* What two switches send to each other one way, or a part of it, over the same arcs. */
struct route {
	double flow;
	uint32_t next;	  /* of the same pair, FAB_NONE: the last */
	uint32_t arcs, n; /* in the pool */
};

struct pains {
	double settled; /* gap times exponent, from which on it may be sharper */
	int sweeps;	/* among known routes, after each search, ... */
	uint64_t share; /* ... as much as so many halves of that took */
};

static const struct pains few = { 1.0, 4, 1 }, many = { 0.1, 20, 5 };

/* Parallel channels are one arc. */
struct lengths {
	struct arena *mem; /* owns the arrays but pool and routes */
	const struct job_demand *demand;
	const struct pains *pains;
	enum length_paths paths;
	uint32_t nsw, narc;
	uint32_t *off, *to;
	uint32_t *from;	  /* by arc: its switch */
	double *cap;	  /* of the arc, in channels of the fastest rate */
	double *len;	  /* by arc */
	double *load;	  /* flow over it */
	double *mean;	  /* of the lengths of the last passes */
	double *best_len; /* of the bound so far */
	double best, upper;
	double sharp, most; /* most: the largest load / cap before the pass at hand */
	double gap;	    /* of the pass at hand: what its lengths say could be gained */
	uint32_t *source, nsource;
	uint32_t *first; /* by pair of the demand: its first route */
	VEC(struct route) routes;
	VEC(uint32_t) pool;

	/* of the tree at hand */
	double *dist;	 /* by switch */
	uint32_t *by;	 /* by switch: arc that leads there */
	uint32_t *order; /* switches in the order in which they are reached */
	uint32_t norder;
	uint32_t *hops;
	uint32_t *on, stamp; /* by arc: the last route that it was met on */
	uint32_t *in;	     /* the same of the shortest one */
	struct lane {
		double dist;
		uint32_t sw;
	} * heap;
	uint32_t nheap;
	uint64_t work, work_max;
};

/* --- shortest paths -------------------------------------------------------------------------- */

static void length_bound_push(struct lengths *l, uint32_t sw, double dist)
{
	uint32_t i = l->nheap++;

	while (i && l->heap[(i - 1) / 2].dist > dist) {
		l->heap[i] = l->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	l->heap[i] = (struct lane){ dist, sw };
}

static struct lane length_bound_pop(struct lengths *l)
{
	struct lane top = l->heap[0], last = l->heap[--l->nheap];
	uint32_t i = 0, k;

	while ((k = 2 * i + 1) < l->nheap) {
		k += k + 1 < l->nheap && l->heap[k + 1].dist < l->heap[k].dist;
		if (l->heap[k].dist >= last.dist)
			break;
		l->heap[i] = l->heap[k];
		i = k;
	}
	l->heap[i] = last;
	return top;
}

static void length_bound_find_any(struct lengths *l, uint32_t source)
{
	l->nheap = 0;
	length_bound_push(l, source, 0);
	while (l->nheap) {
		struct lane at = length_bound_pop(l);

		if (at.dist > l->dist[at.sw])
			continue;
		l->order[l->norder++] = at.sw;
		for (uint32_t a = l->off[at.sw]; a < l->off[at.sw + 1]; a++) {
			double d = at.dist + l->len[a];

			if (d >= l->dist[l->to[a]])
				continue;
			l->dist[l->to[a]] = d;
			l->by[l->to[a]] = a;
			length_bound_push(l, l->to[a], d);
		}
	}
}

/* Hop by hop: when a switch is looked at, all that lead to it have been. */
static void length_bound_find_shortest(struct lengths *l, uint32_t source)
{
	memset(l->hops, 0xff, l->nsw * sizeof(*l->hops));
	l->hops[source] = 0;
	l->order[l->norder++] = source;
	for (uint32_t i = 0; i < l->norder; i++) {
		uint32_t u = l->order[i];

		for (uint32_t a = l->off[u]; a < l->off[u + 1]; a++) {
			uint32_t v = l->to[a];

			if (l->hops[v] == FAB_NONE) {
				l->hops[v] = l->hops[u] + 1;
				l->order[l->norder++] = v;
			}
			if (l->hops[v] != l->hops[u] + 1 || l->dist[u] + l->len[a] >= l->dist[v])
				continue;
			l->dist[v] = l->dist[u] + l->len[a];
			l->by[v] = a;
		}
	}
}

/* The tree from a switch; an equal length twice makes no difference, as arcs are in order. */
static void length_bound_find_tree(struct lengths *l, uint32_t source)
{
	for (uint32_t u = 0; u < l->nsw; u++)
		l->dist[u] = HUGE_VAL;
	l->dist[source] = 0;
	l->norder = 0;
	if (l->paths == LENGTH_ANY)
		length_bound_find_any(l, source);
	else
		length_bound_find_shortest(l, source);
	l->work += 2ull * l->narc;
}

/* --- flows ----------------------------------------------------------------------------------- */

static double length_bound_length(const struct lengths *l, uint32_t a)
{
	return exp(l->sharp * (l->load[a] / (l->cap[a] * l->most) - 1)) / l->cap[a];
}

static void length_bound_add_flow(struct lengths *l, const struct route *r, double flow)
{
	for (uint32_t i = r->arcs; i < r->arcs + r->n; i++) {
		uint32_t a = l->pool.v[i];

		l->load[a] += flow;
		l->len[a] = length_bound_length(l, a);
	}
	l->work += STEP_WORK * r->n;
}

/* The route from the root of the tree to that switch, behind all others in the pool. */
static struct route length_bound_route_to(struct lengths *l, uint32_t sw)
{
	struct route r = { .next = FAB_NONE, .arcs = (uint32_t)l->pool.n };

	for (; l->dist[sw] > 0 && r.n < l->nsw; sw = l->from[l->by[sw]], r.n++)
		vec_push(&l->pool, l->by[sw]);
	return r;
}

static bool length_bound_same(const struct lengths *l, const struct route *a, const struct route *b)
{
	return a->n == b->n &&
	       !memcmp(l->pool.v + a->arcs, l->pool.v + b->arcs, a->n * sizeof(*l->pool.v));
}

/* The shortest route of a pair as one of its routes. */
static uint32_t length_bound_shortest_of(struct lengths *l, uint64_t pair)
{
	struct route r = length_bound_route_to(l, l->demand->dst[pair]);

	for (uint32_t i = l->first[pair]; i != FAB_NONE; i = l->routes.v[i].next) {
		if (!length_bound_same(l, &r, &l->routes.v[i]))
			continue;
		l->pool.n = r.arcs;
		return i;
	}
	r.next = l->first[pair];
	vec_push(&l->routes, r);
	return l->first[pair] = (uint32_t)l->routes.n - 1;
}

/* Lengths of what only one of the two has, and how fast their difference goes with the flow. */
struct contrast {
	double longer, bend, narrowest; /* narrowest: the least capacity where flow would come */
};

static void length_bound_mark(struct lengths *l, const struct route *r, uint32_t *mark)
{
	for (uint32_t i = r->arcs; i < r->arcs + r->n; i++)
		mark[l->pool.v[i]] = l->stamp;
}

static struct contrast length_bound_contrast(struct lengths *l, const struct route *r,
					     const struct route *shortest)
{
	struct contrast x = { .narrowest = HUGE_VAL };

	for (uint32_t i = r->arcs; i < r->arcs + r->n; i++) {
		uint32_t a = l->pool.v[i];

		if (l->in[a] == l->stamp)
			continue;
		x.longer += l->len[a];
		x.bend += l->len[a] / l->cap[a];
	}
	for (uint32_t i = shortest->arcs; i < shortest->arcs + shortest->n; i++) {
		uint32_t a = l->pool.v[i];

		if (l->on[a] == l->stamp)
			continue;
		x.longer -= l->len[a];
		x.bend += l->len[a] / l->cap[a];
		x.narrowest = fmin(x.narrowest, l->cap[a]);
	}
	x.bend *= l->sharp / l->most;
	l->work += STEP_WORK * (r->n + shortest->n);
	return x;
}

/* Newton steps to where both are as long. */
static void length_bound_shift(struct lengths *l, struct route *r, struct route *shortest)
{
	l->stamp++;
	length_bound_mark(l, r, l->on);
	length_bound_mark(l, shortest, l->in);
	for (int i = 0; i < NEWTONS && r->flow > 0; i++) {
		struct contrast x = length_bound_contrast(l, r, shortest);
		double by;

		if (!i)
			l->gap += r->flow * fmax(x.longer, 0);
		if (!(x.longer > 0) || !(x.bend > 0))
			return;
		by = fmin(x.longer / x.bend, RISE_MAX / l->sharp * x.narrowest * l->most);
		by = fmin(by, r->flow);
		r->flow -= by;
		shortest->flow += by;
		length_bound_add_flow(l, r, -by);
		length_bound_add_flow(l, shortest, by);
		if (by < x.longer / x.bend / 8)
			return;
	}
}

/* All that the pair has on longer routes. */
static void length_bound_shift_to(struct lengths *l, uint64_t pair, uint32_t shortest)
{
	for (uint32_t i = l->first[pair]; i != FAB_NONE; i = l->routes.v[i].next)
		if (i != shortest && l->routes.v[i].flow > 0)
			length_bound_shift(l, &l->routes.v[i], &l->routes.v[shortest]);
}

static double length_bound_route_length(const struct lengths *l, const struct route *r)
{
	double sum = 0;

	for (uint32_t i = r->arcs; i < r->arcs + r->n; i++)
		sum += l->len[l->pool.v[i]];
	return sum;
}

/* Among the routes that are known, without a search. */
static void length_bound_even_out_pair(struct lengths *l, uint64_t pair)
{
	uint32_t shortest = FAB_NONE;
	double least = HUGE_VAL;

	for (uint32_t i = l->first[pair]; i != FAB_NONE; i = l->routes.v[i].next) {
		double v = length_bound_route_length(l, &l->routes.v[i]);

		shortest = v < least ? i : shortest;
		least = fmin(v, least);
		l->work += l->routes.v[i].n;
	}
	length_bound_shift_to(l, pair, shortest);
}

static void length_bound_move(struct lengths *l, uint32_t source)
{
	const struct job_demand *d = l->demand;

	length_bound_find_tree(l, source);
	for (uint64_t k = d->off[source]; k < d->off[source + 1]; k++)
		if (l->dist[d->dst[k]] < HUGE_VAL)
			length_bound_shift_to(l, k, length_bound_shortest_of(l, k));
}

/* Rounding errors of many small steps do not stay. */
static void length_bound_add_up(struct lengths *l)
{
	l->most = 0;
	memset(l->load, 0, l->narc * sizeof(*l->load));
	for (size_t i = 0; i < l->routes.n; i++)
		for (uint32_t k = 0; k < l->routes.v[i].n; k++)
			l->load[l->pool.v[l->routes.v[i].arcs + k]] += l->routes.v[i].flow;
	for (uint32_t a = 0; a < l->narc; a++)
		l->most = fmax(l->most, l->load[a] / l->cap[a]);
	l->upper = fmin(l->upper, l->most);
	for (uint32_t a = 0; a < l->narc; a++)
		l->len[a] = length_bound_length(l, a);
}

/* --- the bound ------------------------------------------------------------------------------- */

static void length_bound_look_at(struct lengths *l)
{
	const struct job_demand *d = l->demand;
	double sum = 0, all = 0;

	for (uint32_t i = 0; i < l->nsource; i++) {
		uint32_t s = l->source[i];

		length_bound_find_tree(l, s);
		for (uint64_t k = d->off[s]; k < d->off[s + 1]; k++)
			if (l->dist[d->dst[k]] < HUGE_VAL)
				sum += (double)d->pairs[k] * l->dist[d->dst[k]];
	}
	for (uint32_t a = 0; a < l->narc; a++)
		all += l->len[a] * l->cap[a];
	if (!(all > 0) || sum / all <= l->best)
		return;
	l->best = sum / all;
	for (uint32_t a = 0; a < l->narc; a++)
		l->best_len[a] = l->len[a] / all;
}

static void length_bound_keep_mean(struct lengths *l, double share)
{
	double all = 0;

	for (uint32_t a = 0; a < l->narc; a++)
		all += l->len[a] * l->cap[a];
	for (uint32_t a = 0; a < l->narc; a++)
		l->mean[a] += share * (l->len[a] / all - l->mean[a]);
}

/* The lengths go up and down; their mean is nearer to the best ones. */
static void length_bound_look(struct lengths *l)
{
	double *len = l->len;

	l->len = l->mean;
	length_bound_look_at(l);
	l->len = len;
}

static void length_bound_begin(struct lengths *l)
{
	const struct job_demand *d = l->demand;

	l->upper = HUGE_VAL;
	for (uint32_t a = 0; a < l->narc; a++)
		l->len[a] = 1 / l->cap[a];
	length_bound_keep_mean(l, 1);
	length_bound_look(l);
	memset(l->first, 0xff, d->off[l->nsw] * sizeof(*l->first));
	for (uint32_t i = 0; i < l->nsource; i++) {
		uint32_t s = l->source[i];

		length_bound_find_tree(l, s);
		for (uint64_t k = d->off[s]; k < d->off[s + 1]; k++) {
			uint32_t r;

			if (!(l->dist[d->dst[k]] < HUGE_VAL))
				continue;
			r = length_bound_shortest_of(l, k);
			l->routes.v[r].flow = (double)d->pairs[k];
		}
	}
	l->sharp = SHARP_FIRST;
	length_bound_add_up(l);
}

/* Sharper once there is little to gain with the exponent at hand. */
static void length_bound_sharpen(struct lengths *l)
{
	double all = 0;

	for (uint32_t a = 0; a < l->narc; a++)
		all += l->len[a] * l->cap[a];
	if (l->gap * l->sharp < l->pains->settled * all * l->most && l->sharp < SHARP_LAST)
		l->sharp *= SHARPER;
}

static void length_bound_even_out(struct lengths *l, uint64_t work_max)
{
	uint64_t pairs = l->demand->off[l->nsw];

	for (int i = 0; i < l->pains->sweeps && l->work < work_max; i++)
		for (uint64_t k = 0; k < pairs && l->work < work_max; k++)
			if (l->first[k] != FAB_NONE)
				length_bound_even_out_pair(l, k);
}

static bool length_bound_pass(struct lengths *l, struct progress *progress, const char *step)
{
	l->gap = 0;
	for (uint32_t i = 0; i < l->nsource; i++) {
		length_bound_move(l, l->source[i]);
		if (i % 64 == 0 && progress_step(progress, step, 1, 1))
			return true;
	}
	length_bound_sharpen(l);
	length_bound_add_up(l);
	length_bound_even_out(l, l->work + l->pains->share * l->narc * l->nsource);
	length_bound_add_up(l);
	return false;
}

static int length_bound_run(struct lengths *l, struct progress *progress, const char *step)
{
	length_bound_begin(l);
	for (uint32_t pass = 1; l->work < l->work_max && l->upper > ENOUGH * l->best; pass++) {
		if (length_bound_pass(l, progress, step))
			return -ECANCELED;
		length_bound_keep_mean(l, MEAN_SHARE);
		if (pass % LOOK_EVERY == 0)
			length_bound_look(l);
	}
	length_bound_look(l);
	length_bound_look_at(l);
	return 0;
}

/* --- arcs ------------------------------------------------------------------------------------ */

static void length_bound_join_parallel(struct lengths *l, const struct fabric *f,
				       const struct chan_weights *w, uint32_t *arc)
{
	uint32_t *at = arena_alloc(l->mem, f->nsw, sizeof(*at)); /* arc to there, plus 1 */

	for (uint32_t u = 0; u < f->nsw; u++) {
		l->off[u] = l->narc;
		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
			uint32_t v = f->chan_dst[c];

			if (at[v] <= l->off[u]) {
				l->from[l->narc] = u;
				l->to[l->narc] = v;
				at[v] = ++l->narc;
			}
			arc[c] = at[v] - 1;
			l->cap[arc[c]] += (double)w->unit / chan_weight(w, c);
		}
	}
	l->off[f->nsw] = l->narc;
}

static void length_bound_init(struct lengths *l, const struct fabric *f,
			      const struct chan_weights *w, const struct job_demand *demand,
			      uint32_t *arc)
{
	l->mem = arena_new();
	l->demand = demand;
	l->nsw = f->nsw;
	l->off = arena_alloc(l->mem, f->nsw + 1ull, sizeof(*l->off));
	l->to = arena_alloc(l->mem, f->nchan, sizeof(*l->to));
	l->from = arena_alloc(l->mem, f->nchan, sizeof(*l->from));
	l->cap = arena_alloc(l->mem, f->nchan, sizeof(*l->cap));
	length_bound_join_parallel(l, f, w, arc);
	l->len = arena_alloc(l->mem, l->narc, sizeof(*l->len));
	l->best_len = arena_alloc(l->mem, l->narc, sizeof(*l->best_len));
	l->mean = arena_alloc(l->mem, l->narc, sizeof(*l->mean));
	l->load = arena_alloc(l->mem, l->narc, sizeof(*l->load));
	l->dist = arena_alloc(l->mem, f->nsw, sizeof(*l->dist));
	l->by = arena_alloc(l->mem, f->nsw, sizeof(*l->by));
	l->order = arena_alloc(l->mem, f->nsw, sizeof(*l->order));
	l->hops = arena_alloc(l->mem, f->nsw, sizeof(*l->hops));
	l->heap = arena_alloc(l->mem, l->narc + 1ull, sizeof(*l->heap));
	l->on = arena_alloc(l->mem, l->narc, sizeof(*l->on));
	l->in = arena_alloc(l->mem, l->narc, sizeof(*l->in));
	l->first = arena_alloc(l->mem, demand->off[f->nsw], sizeof(*l->first));
	l->source = arena_alloc(l->mem, f->nsw, sizeof(*l->source));
	for (uint32_t u = 0; u < f->nsw; u++)
		if (demand->off[u] < demand->off[u + 1])
			l->source[l->nsource++] = u;
}

static bool length_bound_affordable(const struct lengths *l)
{
	uint64_t pairs = l->demand->off[l->nsw];

	return pairs && pairs <= PAIRS_MAX &&
	       PASSES_MIN * (2ull * l->narc * l->nsource + 8 * STEP_WORK * pairs) <= l->work_max;
}

int length_bound_compute(struct length_bound *out, double *lengths, const struct fabric *f,
			 const struct chan_weights *weights, const struct job_demand *demand,
			 enum length_paths paths, uint64_t work, struct progress *progress,
			 const char *step)
{
	struct lengths l = {
		.paths = paths, .pains = work < PATIENT ? &few : &many, .work_max = work, .most = 1
	};
	uint32_t *arc = xcalloc(f->nchan + 1ull, sizeof(*arc));
	int rc = 0;

	*out = (struct length_bound){ 0, 0 };
	length_bound_init(&l, f, weights, demand, arc);
	if (length_bound_affordable(&l)) {
		rc = length_bound_run(&l, progress, step);
		*out = (struct length_bound){ l.best, l.upper };
	}
	for (uint32_t c = 0; lengths && c < f->nchan; c++)
		lengths[c] = l.best_len[arc[c]];
	arena_free(l.mem);
	vec_free(&l.routes);
	vec_free(&l.pool);
	free(arc);
	return rc;
}
