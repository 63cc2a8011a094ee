/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/ftree.h"

#include "engines/ftree_ways.h"
#include "engines/geometry/topology_kind.h"
#include "engines/graph/balance/balanced_sssp.h"
#include "engines/graph/graph.h"
#include "engines/graph/balance/min_load_tree.h"
#include "engines/graph/shift_search.h"
#include "engines/graph/updown.h"
#include "engines/time/shift_choice.h"
#include "engines/time/shift_time.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/pool.h"
#include "fabric/model/topology/chan_weight.h"
#include "fabric/model/topology/without.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SEARCH_ROUNDS 4
#define CHUNK	      4 /* batches with open ways a worker finds before these are closed */

/* The edges that an open position may take. */
struct choice {
	uint32_t i; /* the position */
	uint32_t n;
	const uint32_t *edge;
};

/* LIDs of one switch that are routed together, those with open ways alone the second time. */
struct batch {
	struct ftree_ways ways;
	struct dest dest[FTREE_LIDS];
	uint32_t n;
	struct choice *at; /* positions that are open for some */
	uint32_t nat;
	uint32_t *edge; /* of all of these */
};

/* What a thread needs of its own. */
struct worker {
	struct ftree_ways ways;
	uint64_t *load; /* by channel */
};

struct ftree {
	const struct fabric *f;
	struct arena *arena;
	struct tables *t;
	struct topology_kind *topology;
	struct ftree_net net;
	uint32_t *own; /* by LID: the number whose turns it takes */
	struct chan_weights weights;
	uint64_t *load; /* by channel: routes times its weight */
	struct spdag dag;

	struct pool *pool;
	struct worker *worker;
	struct dest *dest;  /* all LIDs: those of terminals by switch, then the others by switch */
	uint32_t nterm;	    /* how many of terminals */
	uint32_t *first[2]; /* by switch, and one more: of its terminals, and others */
	bool *open;	    /* by LID: it has open ways */
	struct pace pace;
	uint32_t done; /* LIDs */

	/* batches with open ways, a chunk at a time: while one is closed the next one is found */
	struct batch *batch[2];
	uint32_t chunk;
	uint32_t *begin, nbegin; /* first LID of each, in order */
	uint32_t from;		 /* the first that is found now */
	unsigned finds;		 /* which of the two is; the other one is closed */
	uint64_t work;

	/* a bit by terminal * nsw + switch: entries of base LIDs of terminals that are not what the
	 * turns alone would have them */
	uint64_t *free;
	uint64_t nfree;
};

/* Most loads count alike: in steps of three quarters of what leads to one destination alone. */
static uint64_t ftree_step_of(const struct ftree *r, uint64_t load)
{
	return 4 * load / (3ull * r->f->nterm + 1);
}

/* The least load of so many steps. */
static uint64_t ftree_step_begin(const struct ftree *r, uint64_t steps)
{
	return (steps * (3ull * r->f->nterm + 1) + 3) / 4;
}

/* The most loaded channel on the way of LID k from channel c on. */
static uint64_t ftree_way_most(const struct ftree *r, const struct ftree_ways *w, uint32_t k,
			       uint32_t c)
{
	uint64_t most = 0;

	for (;;) {
		uint32_t to = w->dag.pos[r->f->chan_dst[c]];

		most = r->load[c] > most ? r->load[c] : most;
		if (!to)
			return most;
		c = w->chan[(size_t)to * w->n + k];
	}
}

/* The cheapest way of LID k for an open position: the fewest steps, then the least loaded channel,
 * starting to look at another edge for each j. */
static void ftree_close_way(struct ftree *r, const struct ftree_ways *w, const struct choice *x,
			    uint32_t k, uint32_t j)
{
	const uint32_t *edge = x->edge;
	uint32_t i = x->i, n = x->n, first = j % n, best = FAB_NONE;
	uint64_t least = UINT64_MAX, steps = UINT64_MAX, enough = UINT64_MAX;
	uint64_t own = r->f->sw_nterm[w->dag.sw[i]];

	for (uint32_t e = 0; e < n; e++) {
		uint32_t c = edge[first + e < n ? first + e : first + e - n];
		uint64_t all;

		/* the way behind it cannot make it cheaper */
		if (r->load[c] >= least && r->load[c] >= enough)
			continue;
		all = ftree_step_of(r, ftree_way_most(r, w, k, c));
		if (all > steps || (all == steps && r->load[c] >= least))
			continue;
		if (all != steps)
			enough = ftree_step_begin(r, all);
		steps = all;
		least = r->load[c];
		best = c;
	}
	w->chan[(size_t)i * w->n + k] = best;
	for (uint32_t c = best, to = 1; own && to; c = w->chan[(size_t)to * w->n + k]) {
		r->load[c] += own * chan_weight(&r->weights, c);
		to = w->dag.pos[r->f->chan_dst[c]];
	}
}

static uint32_t ftree_number_of(const struct ftree *r, const struct dest *d)
{
	uint32_t j = d->sw;

	if (d->end < r->f->nend)
		j = r->net.tree->number[d->end] + d->lid - r->f->term_lid[d->end];
	return j % r->net.turns->n;
}

/* Entries to a terminal that could be others. */
static void ftree_remember_open(struct ftree *r, const struct batch *b, uint32_t k)
{
	const struct dest *d = &b->dest[k];
	const struct spdag *g = &b->ways.dag;
	bool stands_in = r->own[d->lid] != ftree_number_of(r, d);

	if (!r->free || d->lid != r->f->term_lid[d->end])
		return;
	for (uint32_t i = 1; i < g->n; i++) {
		uint64_t bit = (uint64_t)d->end * r->f->nsw + g->sw[i];

		if ((!(b->ways.open[g->sw[i]] >> k & 1) && !stands_in) || b->ways.nedge[i] < 2)
			continue;
		r->free[bit / 64] |= 1ull << bit % 64;
		r->nfree++;
	}
}

/* LIDs from the first of a run to another switch that go into one batch. */
static uint32_t ftree_batch_size(uint32_t first, uint32_t end)
{
	return end - first < FTREE_LIDS ? end - first : FTREE_LIDS;
}

static void ftree_find_numbers(uint32_t *number, const struct ftree *r, const struct dest *d,
			       uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		number[k] = r->own[d[k].lid];
}

/* LIDs of terminals: as the turns have it; what is open waits. */
static void ftree_route_terminals(struct ftree *r, struct worker *w, const struct dest *d,
				  uint32_t n)
{
	uint32_t number[FTREE_LIDS];
	uint64_t open;

	ftree_find_numbers(number, r, d, n);
	ftree_ways_turn_to(&w->ways, &r->net, d->sw);
	open = ftree_ways_choose(&w->ways, &r->net, number, n, true);
	for (uint32_t k = 0; k < n; k++)
		r->open[d[k].lid] = open >> k & 1;
	if (!r->net.tree->whole || r->weights.of)
		ftree_ways_add_loads(&w->ways, &r->net, w->load);
	ftree_ways_write(&w->ways, &r->net, r->t, d);
}

/* Other LIDs, which add no loads. */
static void ftree_route_others(struct ftree *r, struct worker *w, const struct dest *d, uint32_t n)
{
	uint32_t number[FTREE_LIDS];

	ftree_find_numbers(number, r, d, n);
	ftree_ways_turn_to(&w->ways, &r->net, d->sw);
	ftree_ways_choose(&w->ways, &r->net, number, n, false);
	ftree_ways_write(&w->ways, &r->net, r->t, d);
}

static bool ftree_route_switch(void *ctx, unsigned worker, uint32_t u)
{
	struct ftree *r = ctx;
	struct worker *w = &r->worker[worker];
	uint32_t n, all = 0;

	for (int others = 0; others < 2; others++)
		for (uint32_t i = r->first[others][u]; i < r->first[others][u + 1]; i += n) {
			n = ftree_batch_size(i, r->first[others][u + 1]);
			if (others)
				ftree_route_others(r, w, r->dest + i, n);
			else
				ftree_route_terminals(r, w, r->dest + i, n);
			all += n;
		}
	if (worker)
		return false;
	r->done += all;
	return pace_tick(&r->pace, r->done, 2 * r->f->nchan + (uint64_t)all * r->f->nsw);
}

/* Whether the cables up that number j takes from u on are all there; adds one to the uses of each,
 * and tells the most and the sum of them. */
static bool ftree_try_climb(const struct ftree *r, uint32_t *use, uint32_t u, uint32_t j,
			    uint32_t one, uint32_t *most, uint32_t *sum)
{
	*most = *sum = 0;
	while (!ftree_net_is_top(&r->net, u)) {
		uint32_t c = ftree_net_up(&r->net, u, j);

		if (c == FAB_NONE)
			return false;
		*most = use[c] > *most ? use[c] : *most;
		*sum += use[c];
		use[c] += one;
		u = r->f->chan_dst[c];
	}
	return true;
}

/* The number next to j whose cables up are all there and have the fewest destinations. */
static uint32_t ftree_stand_in(const struct ftree *r, uint32_t *use, uint32_t u, uint32_t j)
{
	uint32_t n = r->net.turns->n, best = j, most, sum;
	uint64_t least = UINT64_MAX, far = 1;

	for (uint32_t l = 0; l < r->topology->tree->nlevel && far < n; l++)
		far *= r->net.turns->level[l].usual;
	far = far < n ? far : n;
	for (uint32_t k = 2; k < 2 * far && least; k++) {
		uint32_t other = k % 2 ? (j + k / 2) % n : (j + n - k / 2) % n;

		if (!ftree_try_climb(r, use, u, other, 0, &most, &sum) ||
		    ((uint64_t)most << 32 | sum) >= least)
			continue;
		least = (uint64_t)most << 32 | sum;
		best = other;
	}
	return best;
}

/* Numbers of the LIDs of terminals; those whose own cables up are missing stand in with another,
 * so that from wherever they are sent to they share the whole way of one destination at most. */
static void ftree_find_own(struct ftree *r, const struct dest *d, uint32_t n, uint32_t offset)
{
	uint32_t *use = xcalloc(r->f->nchan, sizeof(*use)), most, sum;

	for (int broken = 0; broken < 2; broken++)
		for (uint32_t i = 0; i < n; i++) {
			uint32_t j = ftree_number_of(r, &d[i]);
			bool whole;

			if (d[i].lid != r->f->term_lid[d[i].end] + offset)
				continue;
			whole = ftree_try_climb(r, use, d[i].sw, j, 0, &most, &sum);
			if (whole == broken)
				continue;
			if (broken)
				j = ftree_stand_in(r, use, d[i].sw, j);
			ftree_try_climb(r, use, d[i].sw, j, 1, &most, &sum);
			r->own[d[i].lid] = j;
		}
	free(use);
}

/* The entries that were closed last are written here, by the thread that finds the next ones. */
static void ftree_write_closed(struct ftree *r, struct batch *b)
{
	const struct ftree_ways *w = &b->ways;

	for (uint32_t a = 0; a < b->nat; a++) {
		uint32_t i = b->at[a].i;
		uint8_t *row = tables_row(r->t, w->dag.sw[i]);

		for (uint64_t left = w->open[w->dag.sw[i]]; left; left &= left - 1) {
			uint32_t k = (uint32_t)__builtin_ctzll(left);

			row[b->dest[k].lid] = r->f->chan_port[w->chan[(size_t)i * w->n + k]];
		}
	}
	b->nat = 0;
}

static void ftree_list_choices(const struct ftree *r, struct batch *b)
{
	const struct ftree_ways *w = &b->ways;
	uint32_t *edge = b->edge;

	for (uint32_t i = 1; i < w->dag.n; i++) {
		struct choice *x = &b->at[b->nat];

		if (!w->open[w->dag.sw[i]])
			continue;
		x->i = i;
		x->n = ftree_ways_edges(w, &r->net, i, edge);
		x->edge = edge;
		edge += x->n;
		b->nat++;
	}
}

/* Finds the open ways of a batch again. */
static void ftree_find_open(struct ftree *r, uint32_t i)
{
	struct batch *b = &r->batch[r->finds][i];
	uint32_t number[FTREE_LIDS], first, end;

	ftree_write_closed(r, b);
	b->n = 0;
	if (r->from + i >= r->nbegin)
		return;
	first = r->begin[r->from + i];
	end = r->first[0][r->dest[first].sw + 1];
	end = first + ftree_batch_size(first, end);
	for (uint32_t k = first; k < end; k++)
		if (r->open[r->dest[k].lid])
			b->dest[b->n++] = r->dest[k];
	ftree_find_numbers(number, r, b->dest, b->n);
	ftree_ways_turn_to(&b->ways, &r->net, b->dest->sw);
	ftree_ways_choose(&b->ways, &r->net, number, b->n, true);
	ftree_list_choices(r, b);
}

/* From the nearest open position to the farthest, one LID after another: each sees the loads of
 * those before. */
static uint64_t ftree_close_batch(struct ftree *r, struct batch *b)
{
	struct ftree_ways *w = &b->ways;
	uint64_t work = w->dag.n;

	for (uint32_t k = 0; k < b->n; k++) {
		for (uint32_t a = 0; a < b->nat; a++) {
			const struct choice *x = &b->at[a];

			if (!(w->open[w->dag.sw[x->i]] >> k & 1))
				continue;
			ftree_close_way(r, w, x, k, r->own[b->dest[k].lid]);
			work += x->n;
		}
		ftree_remember_open(r, b, k);
	}
	return work;
}

/* Batches with open ways. */
static void ftree_list_open(struct ftree *r)
{
	r->begin = arena_array(r->arena, uint32_t, r->nterm);
	for (uint32_t u = 0; u < r->f->nsw; u++)
		for (uint32_t i = r->first[0][u], n; i < r->first[0][u + 1]; i += n) {
			bool any = false;

			n = ftree_batch_size(i, r->first[0][u + 1]);
			for (uint32_t k = i; k < i + n; k++)
				any |= r->open[r->dest[k].lid];
			if (any)
				r->begin[r->nbegin++] = i;
		}
}

/* First those that were found are closed, all by one thread, as the loads decide; meanwhile the
 * others find the next ones. */
static bool ftree_close_and_find(void *ctx, unsigned worker, uint32_t turn)
{
	struct ftree *r = ctx;

	(void)worker;
	if (turn) {
		ftree_find_open(r, turn - 1);
		return false;
	}
	for (uint32_t i = 0; i < r->chunk; i++)
		r->work += ftree_close_batch(r, &r->batch[!r->finds][i]);
	return false;
}

static void ftree_init_batches(struct ftree *r)
{
	r->chunk = CHUNK * pool_threads(r->pool);
	r->chunk = r->chunk < r->nbegin ? r->chunk : r->nbegin;
	for (int s = 0; s < 2; s++) {
		r->batch[s] = arena_array(r->arena, struct batch, r->chunk);
		for (uint32_t i = 0; i < r->chunk; i++) {
			ftree_ways_init(&r->batch[s][i].ways, &r->net);
			r->batch[s][i].at = arena_array(r->arena, struct choice, r->f->nsw);
			r->batch[s][i].edge = arena_array(r->arena, uint32_t, r->f->nchan);
		}
	}
}

static int ftree_close_all(struct ftree *r)
{
	int rc = 0;

	ftree_list_open(r);
	ftree_init_batches(r);
	for (r->from = 0; r->nbegin && r->from < r->nbegin + r->chunk && !rc; r->from += r->chunk) {
		r->work = (uint64_t)r->chunk * r->f->nchan;
		pool_for(r->pool, r->chunk + 1, ftree_close_and_find, r);
		r->finds = !r->finds;
		if (pace_work(&r->pace, r->work))
			rc = -ECANCELED;
	}
	for (uint32_t i = 0; i < 2 * r->chunk; i++) {
		struct batch *b = &r->batch[i % 2][i / 2];

		if (!rc) /* else some were found and not closed */
			ftree_write_closed(r, b);
		ftree_ways_done(&b->ways);
	}
	return rc;
}

static void ftree_build_dag(void *ctx, struct spdag *g, const struct fabric *f, uint32_t root)
{
	const struct ftree *r = ctx;

	updown_dag(&r->net.ud, g, f, root);
}

static bool ftree_is_free(void *ctx, uint32_t sw, uint32_t term)
{
	const struct ftree *r = ctx;
	uint64_t bit = (uint64_t)term * r->f->nsw + sw;

	return r->free[bit / 64] >> bit % 64 & 1;
}

/* Moves entries that are not what the turns alone would have them to where the flows of shifts meet
 * least, as long as that helps. */
static int ftree_search(struct ftree *r, struct pace *p)
{
	struct shift_search_how how = { .build = ftree_build_dag,
					.ctx = r,
					.weights = &r->weights,
					.is_free = ftree_is_free,
					.rounds = SEARCH_ROUNDS };

	return r->nfree ? shift_search(NULL, r->t, r->f, &how, p) : 0;
}

/* The LIDs of every switch. */
static void ftree_find_runs(struct ftree *r, uint32_t n)
{
	for (int others = 0; others < 2; others++) {
		uint32_t *first = r->first[others] = arena_array(r->arena, uint32_t, r->f->nsw + 1);
		uint32_t begin = others ? r->nterm : 0, end = others ? n : r->nterm;

		for (uint32_t i = begin; i < end; i++)
			first[r->dest[i].sw + 1]++;
		first[0] = begin;
		for (uint32_t u = 0; u < r->f->nsw; u++)
			first[u + 1] += first[u];
	}
}

static void ftree_sum_loads(struct ftree *r)
{
	for (unsigned w = 0; w < pool_threads(r->pool); w++)
		for (uint32_t c = 0; c < r->f->nchan; c++)
			r->load[c] += r->worker[w].load[c];
}

static void ftree_init_workers(struct ftree *r, unsigned threads)
{
	r->pool = pool_new(threads);
	r->worker = arena_array(r->arena, struct worker, pool_threads(r->pool));
	for (unsigned w = 0; w < pool_threads(r->pool); w++) {
		ftree_ways_init(&r->worker[w].ways, &r->net);
		r->worker[w].load = arena_array(r->arena, uint64_t, r->f->nchan);
	}
}

static void ftree_done_workers(struct ftree *r)
{
	for (unsigned w = 0; w < pool_threads(r->pool); w++)
		ftree_ways_done(&r->worker[w].ways);
	pool_free(r->pool);
}

/* All LIDs as their turns have it, then what is open. */
static int ftree_route_turns(struct ftree *r)
{
	int rc = pool_for(r->pool, r->f->nsw, ftree_route_switch, r) ? -ECANCELED : 0;

	ftree_sum_loads(r);
	return rc ? rc : ftree_close_all(r);
}

static int ftree_route_all(struct ftree *r, uint8_t lmc, unsigned threads,
			   struct progress *progress)
{
	uint32_t n;
	int rc;

	r->dest = graph_dests_by_switch(&n, r->f, lmc);
	rc = pace_begin(&r->pace, progress, "paths", n) ? -ECANCELED : 0;
	while (r->nterm < n && r->dest[r->nterm].end < r->f->nterm)
		r->nterm++;
	for (uint32_t i = 0; i < n; i++)
		r->own[r->dest[i].lid] = ftree_number_of(r, &r->dest[i]);
	for (uint32_t offset = 0; offset < 1u << lmc && !r->net.tree->whole; offset++)
		ftree_find_own(r, r->dest, r->nterm, offset);
	ftree_find_runs(r, n);
	ftree_init_workers(r, threads);
	if (!rc)
		rc = ftree_route_turns(r);
	ftree_done_workers(r);
	free(r->dest);
	return rc ? rc : ftree_search(r, &r->pace);
}

static void ftree_init(struct ftree *r, const struct fabric *f, struct tables *t, bool ignore_rates,
		       bool shares)
{
	r->f = f;
	r->t = t;
	r->arena = arena_new();
	chan_weights_init(&r->weights, f, ignore_rates);
	ftree_net_init(&r->net, f, r->topology->tree, &r->weights, shares);
	spdag_init(&r->dag, f);
	r->load = arena_array(r->arena, uint64_t, f->nchan);
	r->own = arena_array(r->arena, uint32_t, f->max_lid + 1u);
	r->open = arena_array(r->arena, bool, f->max_lid + 1u);
	if (!r->net.tree->whole && shift_flows_fit(f))
		r->free = arena_array(r->arena, uint64_t, (size_t)f->nterm * f->nsw / 64 + 1);
}

static void ftree_done(struct ftree *r)
{
	spdag_done(&r->dag);
	ftree_net_done(&r->net);
	chan_weights_done(&r->weights);
	topology_kind_free(r->topology);
	arena_free(r->arena);
}

/* Load per cable out of a switch, on average: no routing has a lower maximum. */
static double ftree_leaf_bound(const struct ftree *r)
{
	const struct fabric *f = r->f;
	double most = 0;

	for (uint32_t u = 0; u < f->nsw; u++) {
		double n = f->sw_nterm[u], cables = 0, each;

		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
			cables += 1.0 / chan_weight(&r->weights, c);
		each = cables > 0 ? n * (f->nterm - n) / cables : 0;
		most = each > most ? each : most;
	}
	return most;
}

/* Adds the routes to one base LID to the loads, along tables whose paths follow the DAG. */
static void ftree_add_routes(struct ftree *r, const struct tables *t, uint32_t *routes,
			     uint32_t lid)
{
	const struct spdag *g = &r->dag;

	for (uint32_t i = 0; i < g->n; i++)
		routes[i] = r->f->sw_nterm[g->sw[i]];
	for (uint32_t i = g->n; i-- > 1;) {
		uint32_t c = fabric_chan(r->f, g->sw[i], tables_row(t, g->sw[i])[lid]);

		r->load[c] += (uint64_t)routes[i] * chan_weight(&r->weights, c);
		routes[g->pos[r->f->chan_dst[c]]] += routes[i];
	}
}

/* Loads by routes between base LIDs, along the tables. */
static int ftree_count_loads(struct ftree *r, const struct tables *t, struct progress *progress)
{
	const struct fabric *f = r->f;
	uint32_t *routes = arena_array(r->arena, uint32_t, f->nsw);
	struct pace p;

	memset(r->load, 0, f->nchan * sizeof(*r->load));
	if (pace_begin(&p, progress, "paths", f->nsw))
		return -ECANCELED;
	for (uint32_t u = 0; u < f->nsw; u++) {
		if (f->sw_nterm[u])
			updown_dag(&r->net.ud, &r->dag, f, u);
		for (uint32_t k = f->term_off[u]; k < f->term_off[u + 1]; k++)
			if (f->term_list[k] < f->nterm)
				ftree_add_routes(r, t, routes, f->term_lid[f->term_list[k]]);
		if (pace_tick(&p, u + 1, 2 * f->nchan + 4ull * f->sw_nterm[u] * f->nsw))
			return -ECANCELED;
	}
	return 0;
}

static uint64_t ftree_most_loaded(const struct ftree *r)
{
	uint64_t max = 0;

	for (uint32_t c = 0; c < r->f->nchan; c++)
		max = r->load[c] > max ? r->load[c] : max;
	return max;
}

/* The largest load of a channel by routes between base LIDs.  Those are known where there are no
 * other LIDs, and no entry was moved. */
static int ftree_largest_load(uint64_t *max, struct ftree *r, uint8_t lmc,
			      struct progress *progress)
{
	int rc = lmc || r->nfree ? ftree_count_loads(r, r->t, progress) : 0;

	*max = ftree_most_loaded(r);
	return rc;
}

#define EVEN_LARGE (1u << 28) /* terminals times channels */
#define EVEN_SHARE 33	      /* one cable in so many */

/* A large tree with few cables missing: turns meet less there, and paths without them take longer
 * to find than those with them. */
static bool ftree_turns_will_do(const struct ftree *r)
{
	const struct fabric *f = r->f;
	uint32_t missing = r->topology->tree->missing;

	return missing && (uint64_t)missing * 2 * EVEN_SHARE < f->nchan && !r->weights.of &&
	       (uint64_t)f->nterm * f->nchan > EVEN_LARGE;
}

/* Shifts meet less in trees that are far from regular, also by the rates of their cables, when
 * these are balanced without turns:
 * replaces r->t by such tables then. */
static int ftree_try_even(struct ftree *r, const struct engine_params *params,
			  struct progress *progress, struct err *err)
{
	struct balanced_sssp_how how = { .rule = BALANCE_PATHS,
					 .build = ftree_build_dag,
					 .ctx = r,
					 .rounds = BALANCED_SSSP_ROUNDS };
	struct tables *other;
	double turns = 0, even = 0;
	uint64_t largest;
	int rc;

	if (ftree_turns_will_do(r))
		return 0;
	rc = ftree_largest_load(&largest, r, graph_lmc(r->f, params), progress);
	if (rc || (double)largest <= 1.1 * ftree_leaf_bound(r))
		return rc;
	other = graph_tables(r->f, "ftree", params, progress);
	rc = balanced_sssp_route(other, r->f, params, &how, progress);
	if (!rc)
		rc = shift_time_score(&turns, r->f, r->t, progress, err);
	if (!rc)
		rc = shift_time_score(&even, r->f, other, progress, err);
	if (!rc && even > turns) {
		struct tables *swap = r->t;

		r->t = other;
		other = swap;
	}
	tables_put(other);
	return rc;
}

/* By turns that cables have in proportion to their rates, where shifts meet less then, or no more
 * and the load is less: replaces r->t. */
static int ftree_try_shares(struct ftree *r, const struct engine_params *params,
			    struct progress *progress, struct err *err)
{
	struct ftree own = { .topology = r->topology };
	double equal = 0, shares = 0;
	int rc;

	ftree_init(&own, r->f, graph_tables(r->f, "ftree", params, progress), false, true);
	rc = ftree_route_all(&own, graph_lmc(r->f, params), params->threads, progress);
	if (!rc)
		rc = shift_time_score(&equal, r->f, r->t, progress, err);
	if (!rc)
		rc = shift_time_score(&shares, r->f, own.t, progress, err);
	if (!rc && (shares > equal ||
		    (shares == equal && ftree_most_loaded(&own) < ftree_most_loaded(r)))) {
		struct tables *swap = r->t;

		r->t = own.t;
		own.t = swap;
		memcpy(r->load, own.load, r->f->nchan * sizeof(*r->load));
		r->nfree = own.nfree;
	}
	tables_put(own.t);
	own.topology = NULL;
	ftree_done(&own);
	return rc;
}

/* Moves any entries of base LIDs, not only those that the turns left open, where that is better. */
static int ftree_try_moved(struct ftree *r, struct progress *progress, struct err *err)
{
	struct shift_search_how how = { .build = ftree_build_dag,
					.ctx = r,
					.weights = &r->weights,
					.others = SHIFT_SEARCH_OTHERS,
					.rounds = SHIFT_SEARCH_ROUNDS };
	size_t size = (size_t)r->t->nsw * r->t->stride;
	struct tables *other;
	struct pace p;
	uint64_t moved;
	bool better = false;
	int rc = pace_begin(&p, progress, "paths", 1) ? -ECANCELED : 0;

	if (rc || !shift_flows_fit(r->f))
		return rc;
	other = tables_new(r->f, r->t->engine);
	memcpy(other->lft, r->t->lft, size);
	rc = shift_search(&moved, other, r->f, &how, &p);
	if (!rc && moved)
		rc = shift_choice_better(&better, r->f, r->t, other, SHIFT_CHOICE_LITTLE_LESS,
					 progress, err);
	if (!rc && better)
		memcpy(r->t->lft, other->lft, size);
	tables_put(other);
	return rc;
}

/* Cables that are slower than the fastest at both of their ends; false: there are none. */
static bool ftree_find_slow(const struct ftree *r, bool *slow)
{
	const struct fabric *f = r->f;
	uint32_t *least = xcalloc(f->nsw, sizeof(*least));
	bool any = false;

	memset(least, 0xff, f->nsw * sizeof(*least));
	for (uint32_t c = 0; c < f->nchan; c++)
		if (chan_weight(&r->weights, c) < least[f->chan_src[c]])
			least[f->chan_src[c]] = chan_weight(&r->weights, c);
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t own = chan_weight(&r->weights, c);

		slow[c] = own > least[f->chan_src[c]] && own > least[f->chan_dst[c]];
		any |= slow[c];
	}
	free(least);
	return any;
}

static int ftree_route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		       const struct demand *demand, const struct engine_params *params,
		       struct progress *progress, struct err *err);

/* As if the slow cables were missing, where shifts meet less then: replaces r->t. */
static int ftree_try_without_slow(struct ftree *r, const struct engine_params *params,
				  struct progress *progress, struct err *err)
{
	bool *slow = xcalloc(r->f->nchan, sizeof(*slow)), any = ftree_find_slow(r, slow);
	struct fabric *left = any ? fabric_without(r->f, slow) : NULL;
	struct engine_params own = *params;
	struct tables *other = NULL;
	double before = 0, after = 0;
	int rc = 0;

	own.notes = NULL;
	if (left && fabric_connected(left))
		rc = ftree_route(&other, left, NULL, NULL, &own, progress, NULL);
	if (rc != -ECANCELED)
		rc = 0; /* no tree any more */
	if (!rc && other)
		rc = shift_time_score(&before, r->f, r->t, progress, err);
	if (!rc && other)
		rc = shift_time_score(&after, r->f, other, progress, err);
	if (!rc && after > before) {
		struct tables *swap = r->t;

		r->t = other;
		other = swap;
	}
	tables_put(other);
	fabric_put(left);
	free(slow);
	return rc;
}

static int ftree_suits(const struct fabric *f, struct err *why)
{
	struct topology_kind *topology;
	int rc = topology_kind_find(&topology, f, TOPOLOGY_TREE, NULL, why);

	if (!rc)
		topology_kind_free(topology);
	return rc;
}

static int ftree_route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		       const struct demand *demand, const struct engine_params *params,
		       struct progress *progress, struct err *err)
{
	struct ftree r = { 0 };
	int rc = topology_kind_find(&r.topology, f, TOPOLOGY_TREE, progress, err);
	const struct tree *tree;

	(void)jobs;
	(void)demand;
	if (rc)
		return rc;
	tree = r.topology->tree;
	ftree_init(&r, f, graph_tables(f, "ftree", params, progress), params->ignore_rates, false);
	rc = ftree_route_all(&r, graph_lmc(f, params), params->threads, progress);
	if (!rc && r.weights.of)
		rc = ftree_try_shares(&r, params, progress, err);
	if (!rc && (!r.net.tree->whole || r.weights.of))
		rc = ftree_try_even(&r, params, progress, err);
	if (!rc && r.weights.of)
		rc = ftree_try_without_slow(&r, params, progress, err);
	if (!rc && (!r.net.tree->whole || r.weights.of))
		rc = ftree_try_moved(&r, progress, err);
	notes_set(params->notes, "levels", tree->nlevel, "a fat tree of %u levels", tree->nlevel);
	if (tree->missing)
		notes_set(params->notes, "ways_missing", tree->missing,
			  "%u links from a switch down to a subtree are missing", tree->missing);
	ftree_done(&r);
	if (rc) {
		tables_put(r.t);
		return rc;
	}
	r.t->vls = r.t->sls = 1;
	*out = r.t;
	return 0;
}

const struct engine engine_ftree = {
	.name = "ftree",
	.summary = "fat trees: spreads destinations over the uplinks; shifts without contention",
	.suits = ftree_suits,
	.route = ftree_route,
};
