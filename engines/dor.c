/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/dor.h"

#include "engines/geometry/topology_kind.h"
#include "fabric/model/topology/chan_weight.h"
#include "engines/graph/graph.h"
#include "engines/graph/shift_search.h"
#include "engines/time/shift_choice.h"
#include "engines/vl/vl_layers.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RINGS_MAX 4  /* one bit of the SL each */
#define TOGETHER  16 /* runs whose ways are found, and then chosen, by threads */
#define PARTS	  64 /* of the switches, at which these choose: short turns, as they come last */

/* The way of all switches to a run of LIDs of one, by switch. */
struct run {
	const struct dest *dest;
	uint32_t n;
	uint32_t *next, *depth, *order;
	uint32_t *via;	  /* dimension of a detour, FAB_NONE: next is on the direct way */
	uint64_t *routes; /* that come through to a LID of a terminal */
	uint32_t *chan;	  /* with detours: to next, where loads decide nothing; FAB_NONE: they do */
	uint32_t *count;
};

struct dor {
	const struct fabric *f;
	struct arena *arena;
	struct tables *t;
	struct topology_kind *topology;
	const struct grid *grid; /* its own */
	uint32_t *step;		 /* by dimension: cells from one coordinate to the next */
	uint32_t nring, ring[GRID_DIMS_MAX]; /* dimensions that are rings; by dimension: which */
	struct chan_weights weights;
	uint64_t *load;	  /* by channel: routes times its weight */
	uint32_t detours; /* HyperX: pairs of neighbours that have no cable */
	bool around;	 /* cables or switches are missing: shortest paths, in dimension order where
			  * there is one */
	uint64_t *loose; /* then a bit by destination * nsw + switch: that is not there */
	bool lines;    /* instead rings without a cable are lines: their other way round is left */
	uint32_t *cut; /* by dimension * cells + first cell of a ring: the cable from this
			* coordinate to the next one is missing; FAB_NONE: none is */
	struct run run[2][TOGETHER]; /* while some are chosen, the ways of the next are found */
	uint32_t nrun[2];
	unsigned next; /* which of the two are found */
	struct pool *pool;
};

/* The least loaded channel from u to v, FAB_NONE: none. */
static uint32_t dor_find_channel(const struct dor *r, uint32_t u, uint32_t v)
{
	const struct fabric *f = r->f;
	uint32_t best = FAB_NONE;

	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
		if (f->chan_dst[c] == v && (best == FAB_NONE || r->load[c] < r->load[best]))
			best = c;
	return best;
}

/* Hops along a ring from a to b, negative: towards smaller coordinates; half way round it is
 * even that decides. */
static int dor_ring_way(uint32_t size, uint32_t a, uint32_t b, bool even)
{
	uint32_t up = (b + size - a) % size;

	if (2 * up < size || (2 * up == size && even))
		return (int)up;
	return (int)up - (int)size;
}

/* Of the ring along dimension d that a path from u to dst takes. */
static uint32_t *dor_cut_of(const struct dor *r, uint32_t u, uint32_t d, uint32_t dst)
{
	uint32_t cell = 0;

	for (uint32_t k = 0; k < r->grid->ndims; k++)
		if (k != d)
			cell += grid_coord(r->grid, k < d ? dst : u)[k] * r->step[k];
	return &r->cut[d * r->grid->ncell + cell];
}

/* The other way round where that one crosses the cable that is missing. */
static int dor_way_in_line(const struct dor *r, uint32_t d, uint32_t u, uint32_t dst, int way)
{
	int size = (int)r->grid->size[d], at = grid_coord(r->grid, u)[d];
	uint32_t cut = *dor_cut_of(r, u, d, dst);

	if (cut == FAB_NONE)
		return way;
	if (way > 0)
		return ((int)cut - at + size) % size < way ? way - size : way;
	return (at - 1 - (int)cut + 2 * size) % size < -way ? way + size : way;
}

/* The same for every switch on a path: coordinates of the destination, and that of the path
 * where it enters the dimension. */
static int dor_way_in_ring(const struct dor *r, uint32_t d, uint32_t u, uint32_t dst)
{
	const uint16_t *a = grid_coord(r->grid, u), *b = grid_coord(r->grid, dst);
	uint32_t sum = a[d];
	int way;

	for (uint32_t k = 0; k < r->grid->ndims; k++)
		sum += b[k];
	way = dor_ring_way(r->grid->size[d], a[d], b[d], sum % 2 == 0);
	return r->lines ? dor_way_in_line(r, d, u, dst, way) : way;
}

static uint32_t dor_cell_at(const struct dor *r, uint32_t u, uint32_t d, uint32_t coord)
{
	uint32_t cell = grid_cell(r->grid, grid_coord(r->grid, u));

	return r->grid->at[cell + (coord - grid_coord(r->grid, u)[d]) * r->step[d]];
}

static bool dor_has_channel(const struct dor *r, uint32_t u, uint32_t v)
{
	const struct fabric *f = r->f;

	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
		if (f->chan_dst[c] == v)
			return true;
	return false;
}

/* The least loaded of the switches of the line that have cables to both u and v. */
static uint32_t dor_detour(const struct dor *r, uint32_t u, uint32_t v, uint32_t d)
{
	uint32_t best = FAB_NONE;
	uint64_t least = UINT64_MAX;

	for (uint32_t k = 0; k < r->grid->size[d]; k++) {
		uint32_t w = dor_cell_at(r, u, d, k), a, b;
		uint64_t load;

		if (w == FAB_NONE || w == u || w == v)
			continue;
		a = dor_find_channel(r, u, w);
		b = dor_find_channel(r, w, v);
		if (a == FAB_NONE || b == FAB_NONE)
			continue;
		load = r->load[a] > r->load[b] ? r->load[a] : r->load[b];
		if (load >= least)
			continue;
		least = load;
		best = w;
	}
	return best;
}

/* Can every switch of a HyperX reach all others of its lines in one or two hops along them? */
static bool dor_lines_hold(const struct dor *r)
{
	const struct grid *g = r->grid;

	for (uint32_t u = 0; u < g->nsw && r->detours; u++)
		for (uint32_t d = 0; d < g->ndims; d++)
			for (uint32_t k = 0; k < g->size[d]; k++) {
				uint32_t v = dor_cell_at(r, u, d, k);

				if (v != u && dor_find_channel(r, u, v) == FAB_NONE &&
				    dor_detour(r, u, v, d) == FAB_NONE)
					return false;
			}
	return true;
}

/* The next switch on the path from u. */
static uint32_t dor_next_switch(const struct dor *r, struct run *x, uint32_t u, uint32_t dst)
{
	const struct grid *g = r->grid;
	const uint16_t *a = grid_coord(g, u), *b = grid_coord(g, dst);
	uint32_t d = 0, v;
	int way;

	while (a[d] == b[d])
		d++;
	switch (g->kind[d]) {
	case GRID_FULL:
		v = dor_cell_at(r, u, d, b[d]);
		if (!r->detours || dor_has_channel(r, u, v))
			return v;
		x->via[u] = d;
		return dor_detour(r, u, v, d);
	case GRID_RING:
		way = dor_way_in_ring(r, d, u, dst);
		return dor_cell_at(r, u, d, (a[d] + (way > 0 ? 1 : g->size[d] - 1)) % g->size[d]);
	case GRID_LINE:
		break;
	}
	return dor_cell_at(r, u, d, a[d] < b[d] ? a[d] + 1u : a[d] - 1u);
}

/* Bit k: the path crosses the last cable of the k-th ring. */
static uint8_t dor_path_sl(const struct dor *r, uint32_t u, uint32_t dst)
{
	const uint16_t *a = grid_coord(r->grid, u);
	uint8_t sl = 0;

	for (uint32_t d = 0; d < r->grid->ndims; d++) {
		int end;

		if (r->grid->kind[d] != GRID_RING)
			continue;
		end = a[d] + dor_way_in_ring(r, d, u, dst);
		if (end < 0 || end >= (int)r->grid->size[d])
			sl |= (uint8_t)(1u << r->ring[d]);
	}
	return sl;
}

/* Next switches and distances of all. */
static void dor_follow_dimensions(const struct dor *r, struct run *x)
{
	uint32_t *stack = x->order, dst = x->dest->sw;

	memset(x->depth, 0xff, r->f->nsw * sizeof(*x->depth));
	x->depth[dst] = 0;
	for (uint32_t s = 0; s < r->f->nsw; s++) {
		uint32_t u = s, k = 0;

		while (x->depth[u] == FAB_NONE) {
			x->next[u] = dor_next_switch(r, x, u, dst);
			stack[k++] = u;
			u = x->next[u];
		}
		for (uint32_t depth = x->depth[u]; k--;)
			x->depth[stack[k]] = ++depth;
	}
}

static bool dor_is_nearer(const struct dor *r, const struct run *x, uint32_t u, uint32_t v)
{
	return v != FAB_NONE && x->depth[v] < x->depth[u] && dor_has_channel(r, u, v);
}

static uint64_t dor_bit(const struct dor *r, uint32_t u, uint32_t dst)
{
	return (uint64_t)dst * (r->f->nsw + 63) / 64 * 64 + u;
}

/* The next switch in the order of dimensions, where its cable is there and it is nearer; else the
 * first neighbour that is, in the same order. */
static uint32_t dor_next_around(const struct dor *r, struct run *x, uint32_t u)
{
	uint32_t dst = x->dest->sw, v = dor_next_switch(r, x, u, dst);

	if (dor_is_nearer(r, x, u, v))
		return v;
	r->loose[dor_bit(r, u, dst) / 64] |= 1ull << dor_bit(r, u, dst) % 64;
	for (uint32_t d = 0; d < r->grid->ndims; d++)
		for (uint32_t k = 0; k < r->grid->size[d]; k++) {
			v = dor_cell_at(r, u, d, k);
			if (dor_is_nearer(r, x, u, v))
				return v;
		}
	return FAB_NONE; /* not where every cable joins neighbours */
}

/* The same where cables or switches are missing: distances are those of the cables that are there,
 * and every path is a shortest one. */
static void dor_go_around(const struct dor *r, struct run *x)
{
	uint32_t dst = x->dest->sw;

	x->order[0] = dst;
	fabric_hops(x->depth, x->order, r->f, 1);
	for (uint32_t u = 0; u < r->f->nsw; u++)
		if (u != dst)
			x->next[u] = dor_next_around(r, x, u);
	memset(x->via, 0xff, r->f->nsw * sizeof(*x->via));
}

/* From the nearest to the farthest. */
static void dor_sort(const struct dor *r, struct run *x)
{
	uint32_t nsw = r->f->nsw;

	memset(x->count, 0, (nsw + 1) * sizeof(*x->count));
	for (uint32_t u = 0; u < nsw; u++)
		x->count[x->depth[u] + 1]++;
	for (uint32_t i = 0; i < nsw; i++)
		x->count[i + 1] += x->count[i];
	for (uint32_t u = 0; u < nsw; u++)
		x->order[x->count[x->depth[u]]++] = u;
}

/* Next switches and distances of all, and their order. */
static void dor_find_ways(const struct dor *r, struct run *x)
{
	memset(x->via, 0xff, r->f->nsw * sizeof(*x->via));
	if (r->around)
		dor_go_around(r, x);
	else
		dor_follow_dimensions(r, x);
	dor_sort(r, x);
}

static void dor_begin_routes(const struct dor *r, struct run *x)
{
	for (uint32_t u = 0; u < r->f->nsw; u++)
		x->routes[u] = r->f->sw_nterm[u];
}

/* SLs from all switches to the LIDs of a run. */
static void dor_write_sls(const struct dor *r, const struct run *x)
{
	for (uint32_t u = 0; u < r->f->nsw && r->t->sl; u++) {
		uint8_t *row = r->t->sl + (size_t)u * r->t->stride;
		uint8_t sl = dor_path_sl(r, u, x->dest->sw);

		for (uint32_t k = 0; k < x->n; k++)
			row[x->dest[k].lid] = sl;
	}
}

/* --- detours: the loads decide where all that comes through goes ----------------------------- */

/* The only channel from u to v, FAB_NONE: none, or several. */
static uint32_t dor_only_channel(const struct dor *r, uint32_t u, uint32_t v)
{
	const struct fabric *f = r->f;
	uint32_t found = FAB_NONE;

	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
		if (f->chan_dst[c] != v)
			continue;
		if (found != FAB_NONE)
			return FAB_NONE;
		found = c;
	}
	return found;
}

static bool dor_prepare_detours(void *ctx, unsigned worker, uint32_t i)
{
	struct dor *r = ctx;
	struct run *x = &r->run[r->next][i];

	(void)worker;
	dor_find_ways(r, x);
	for (uint32_t u = 0; u < r->f->nsw; u++)
		x->chan[u] = u == x->dest->sw || x->via[u] != FAB_NONE
				     ? FAB_NONE
				     : dor_only_channel(r, u, x->next[u]);
	dor_write_sls(r, x);
	return false;
}

/* The least loaded detour, whose next switch this sets, and channel. */
static uint32_t dor_choose(const struct dor *r, struct run *x, uint32_t u)
{
	uint32_t dim = x->via[u];

	if (x->chan[u] != FAB_NONE)
		return x->chan[u];
	if (dim != FAB_NONE)
		x->next[u] = dor_detour(
			r, u, dor_cell_at(r, u, dim, grid_coord(r->grid, x->dest->sw)[dim]), dim);
	return dor_find_channel(r, u, x->next[u]);
}

/* From every switch, the farthest first, so that all that comes through is known.  All detours of
 * a switch are equally long. */
static void dor_route_balanced(struct dor *r, struct run *x, const struct dest *d)
{
	const struct fabric *f = r->f;
	bool counts = d->end < f->nterm;

	dor_begin_routes(r, x);
	for (uint32_t i = f->nsw; i-- > 1;) {
		uint32_t u = x->order[i], c = dor_choose(r, x, u);

		if (counts)
			r->load[c] += x->routes[u] * chan_weight(&r->weights, c);
		x->routes[x->next[u]] += x->routes[u];
		tables_row(r->t, u)[d->lid] = f->chan_port[c];
	}
	tables_row(r->t, d->sw)[d->lid] = d->port;
}

/* Around what is missing the loads decide where a path goes on, too. */
static void dor_route_detours(struct dor *r)
{
	uint32_t n = r->nrun[r->next];

	if (!r->around)
		pool_for(r->pool, n, dor_prepare_detours, r);
	for (uint32_t i = 0; i < n; i++) {
		struct run *x = &r->run[r->next][i];

		if (r->around)
			dor_prepare_detours(r, 0, i);
		for (uint32_t k = 0; k < x->n; k++)
			dor_route_balanced(r, x, &x->dest[k]);
	}
}

/* --- no detours: a switch chooses among parallel channels by nothing but its own loads ------- */

static void dor_prepare_run(const struct dor *r, struct run *x)
{
	dor_find_ways(r, x);
	dor_begin_routes(r, x);
	for (uint32_t k = r->f->nsw; k-- > 1;)
		x->routes[x->next[x->order[k]]] += x->routes[x->order[k]];
	dor_write_sls(r, x);
}

static void dor_choose_at(struct dor *r, const struct run *x, uint32_t u)
{
	const struct fabric *f = r->f;
	uint8_t *row = tables_row(r->t, u);
	uint32_t chan[FAB_MAX_PORT + 1], n = 0;

	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
		if (f->chan_dst[c] == x->next[u])
			chan[n++] = c;
	for (uint32_t k = 0; k < x->n; k++) {
		uint32_t best = chan[0];

		for (uint32_t i = 1; i < n; i++)
			best = r->load[chan[i]] < r->load[best] ? chan[i] : best;
		if (x->dest[k].end < f->nterm)
			r->load[best] += x->routes[u] * chan_weight(&r->weights, best);
		row[x->dest[k].lid] = f->chan_port[best];
	}
}

/* Some switches, to all runs that were found. */
static void dor_choose_part(struct dor *r, uint32_t part)
{
	const struct run *first = r->run[!r->next], *end = first + r->nrun[!r->next];
	uint64_t nsw = r->f->nsw;
	uint32_t from = (uint32_t)(nsw * part / PARTS), to = (uint32_t)(nsw * (part + 1) / PARTS);

	for (const struct run *x = first; x < end; x++)
		for (uint32_t u = from; u < to; u++)
			if (u != x->dest->sw)
				dor_choose_at(r, x, u);
			else
				for (uint32_t k = 0; k < x->n; k++)
					tables_row(r->t, u)[x->dest[k].lid] = x->dest[k].port;
}

/* The long turns first, so that none of them is the last. */
static bool dor_prepare_or_choose(void *ctx, unsigned worker, uint32_t i)
{
	struct dor *r = ctx;
	uint32_t n = r->nrun[r->next];

	(void)worker;
	if (i < n)
		dor_prepare_run(r, &r->run[r->next][i]);
	else
		dor_choose_part(r, i - n);
	return false;
}

/* --------------------------------------------------------------------------------------------- */

/* The next runs of n LIDs; returns their LIDs. */
static uint32_t dor_next_runs(struct dor *r, const struct dest *d, uint32_t n)
{
	uint32_t i = 0, k, *nrun = &r->nrun[r->next];

	for (*nrun = 0; *nrun < TOGETHER && i < n; ++*nrun, i += k) {
		for (k = 1; i + k < n && k < 64 && d[i + k].sw == d[i].sw; k++)
			;
		r->run[r->next][*nrun].dest = d + i;
		r->run[r->next][*nrun].n = k;
	}
	return i;
}

static void dor_route_runs(struct dor *r)
{
	if (r->detours) {
		dor_route_detours(r);
		return;
	}
	pool_for(r->pool, r->nrun[r->next] + PARTS, dor_prepare_or_choose, r);
	r->next = !r->next;
}

static int dor_route_all(struct dor *r, const struct engine_params *params,
			 struct progress *progress)
{
	const struct fabric *f = r->f;
	uint32_t n, lids;
	struct dest *d = graph_dests_by_switch(&n, f, graph_lmc(f, params));
	struct pace p;
	int rc = pace_begin(&p, progress, "paths", n) ? -ECANCELED : 0;

	r->nrun[0] = r->nrun[1] = 0;
	for (uint32_t i = 0; (i < n || r->nrun[!r->next]) && !rc; i += lids) {
		lids = dor_next_runs(r, d + i, n - i);
		dor_route_runs(r);
		if (pace_tick(&p, i + lids,
			      (4ull * f->nsw * (r->grid->ndims + 2)) * TOGETHER +
				      (uint64_t)lids * (2ull * f->nchan)))
			rc = -ECANCELED;
	}
	free(d);
	return rc;
}

/* The VL of a port is the bit of the SL that belongs to its ring. */
static void dor_write_sl2vl(struct dor *r)
{
	const struct fabric *f = r->f;

	tables_sl2vl_form(r->t, SL2VL_FULL, f);
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t u = f->chan_src[c], d = grid_dim(r->grid, u, f->chan_dst[c]);

		if (r->grid->kind[d] != GRID_RING)
			continue;
		for (uint32_t in = 0; in <= f->sw_nports[u]; in++) {
			uint8_t *row = tables_sl2vl_row(r->t, u, in, f->chan_port[c]);

			for (uint32_t sl = 0; sl < FAB_SLS; sl++)
				row[sl] = (uint8_t)(sl >> r->ring[d] & 1);
		}
	}
}

static void dor_done(struct dor *r)
{
	topology_kind_free(r->topology);
	chan_weights_done(&r->weights);
	arena_free(r->arena);
}

static int dor_init(struct dor *r, const struct fabric *f, bool ignore_rates,
		    struct progress *progress, struct err *err)
{
	uint32_t step = 1;
	int rc = topology_kind_find(&r->topology, f, TOPOLOGY_TORUS, progress, err);

	if (rc)
		return rc;
	r->f = f;
	r->grid = r->topology->grid;
	r->arena = arena_new();
	r->step = arena_array(r->arena, uint32_t, r->grid->ndims);
	for (uint32_t d = 0; d < r->grid->ndims; d++) {
		r->step[d] = step;
		step *= r->grid->size[d];
		r->ring[d] = r->nring;
		r->nring += r->grid->kind[d] == GRID_RING;
	}
	r->load = arena_array(r->arena, uint64_t, f->nchan);
	chan_weights_init(&r->weights, f, ignore_rates);
	chan_weights_start(r->load, &r->weights, f);
	for (uint32_t i = 0; i < 2 * TOGETHER; i++) {
		struct run *x = &r->run[i % 2][i / 2];

		x->next = arena_array(r->arena, uint32_t, f->nsw);
		x->depth = arena_array(r->arena, uint32_t, f->nsw);
		x->order = arena_array(r->arena, uint32_t, f->nsw);
		x->via = arena_array(r->arena, uint32_t, f->nsw);
		x->routes = arena_array(r->arena, uint64_t, f->nsw);
		x->chan = arena_array(r->arena, uint32_t, f->nsw);
		x->count = arena_array(r->arena, uint32_t, f->nsw + 1);
	}
	if (r->topology->kind == TOPOLOGY_HYPERX)
		r->detours = r->grid->missing;
	r->around = r->grid->missing > r->detours || r->grid->ncell > r->grid->nsw ||
		    !dor_lines_hold(r);
	if (r->around)
		r->loose = arena_array(r->arena, uint64_t, dor_bit(r, 0, f->nsw) / 64 + 1);
	return 0;
}

static bool dor_is_free(void *ctx, uint32_t sw, uint32_t term)
{
	const struct dor *r = ctx;
	uint64_t bit = dor_bit(r, sw, r->f->term_sw[term]);

	return r->loose[bit / 64] >> bit % 64 & 1;
}

/* Ways around, which all would take the same cables, to where shifts meet least. */
static int dor_spread_detours(struct dor *r, struct progress *progress)
{
	struct shift_search_how how = { .ctx = r,
					.weights = &r->weights,
					.is_free = dor_is_free,
					.others = SHIFT_SEARCH_OTHERS,
					.rounds = SHIFT_SEARCH_ROUNDS };
	struct pace p;

	if (pace_begin(&p, progress, "paths", 1))
		return -ECANCELED;
	return shift_search(NULL, r->t, r->f, &how, &p);
}

/* Can rings do without their missing cables?  Where each has one at most, and nothing else is
 * missing.  Fills cut. */
static bool dor_find_cuts(struct dor *r)
{
	const struct grid *g = r->grid;
	uint32_t n = 0;

	r->cut = arena_array(r->arena, uint32_t, (size_t)g->ndims * g->ncell);
	memset(r->cut, 0xff, (size_t)g->ndims * g->ncell * sizeof(*r->cut));
	for (uint32_t u = 0; u < g->nsw && g->ncell == g->nsw; u++)
		for (uint32_t d = 0; d < g->ndims; d++) {
			uint32_t at = grid_coord(g, u)[d], to = (at + 1) % g->size[d];

			if (g->kind[d] != GRID_RING ||
			    dor_find_channel(r, u, dor_cell_at(r, u, d, to)) != FAB_NONE)
				continue;
			if (*dor_cut_of(r, u, d, u) != FAB_NONE)
				return false;
			*dor_cut_of(r, u, d, u) = at;
			n++;
		}
	return n && n == g->missing;
}

/* Routes into r->t, whose forms of SL and SL2VL are set here. */
static int dor_route_grid(struct dor *r, const struct engine_params *params,
			  struct progress *progress, struct err *err)
{
	bool bits = r->nring && r->nring <= RINGS_MAX && !r->around;
	bool layers = r->detours || r->around || r->nring > RINGS_MAX;
	int rc;

	if (r->nring && graph_vls(r->f, params) < 2)
		return err_set(err, -ENOSPC,
			       "dimension order needs 2 VLs on rings, but only 1 may be used; "
			       "updn and nue need only 1");
	r->pool = pool_new(params->threads);
	if (bits)
		graph_sls_by_switch(r->t, r->f, r->pool, progress, "paths");
	rc = dor_route_all(r, params, progress);
	pool_free(r->pool);
	if (!rc && r->around)
		rc = dor_spread_detours(r, progress);
	if (rc)
		return rc;
	if (layers)
		return vl_layers_assign(r->t, r->f, params, progress, err);
	r->t->vls = bits ? 2 : 1;
	r->t->sls = bits ? (uint8_t)(1u << r->nring) : 1;
	if (bits)
		dor_write_sl2vl(r);
	return 0;
}

/* Rings as lines, where that is better, also for bisections: the other tables are shortest paths.
 */
static int dor_try_lines(struct dor *r, const struct engine_params *params,
			 struct progress *progress, struct err *err)
{
	struct tables *around = r->t;
	bool better = false;
	int rc = 0;

	if (!r->around || !shift_choice_fits(r->f) || r->nring > RINGS_MAX || !dor_find_cuts(r))
		return 0;
	r->around = false;
	r->lines = true;
	memset(r->load, 0, r->f->nchan * sizeof(*r->load));
	chan_weights_start(r->load, &r->weights, r->f);
	r->t = graph_tables(r->f, "dor", params, progress);
	rc = dor_route_grid(r, params, progress, err);
	if (!rc)
		rc = shift_choice_better(&better, r->f, around, r->t, SHIFT_CHOICE_NO_LESS,
					 progress, err);
	if (better) {
		notes_set(params->notes, "vls_needed", 2, "2 VLs keep its paths deadlock-free");
		tables_put(around);
		return rc;
	}
	r->around = true;
	r->lines = false;
	tables_put(r->t);
	r->t = around;
	return rc;
}

static bool dor_next_point(uint32_t *to, const struct grid *g, uint32_t d, uint32_t at, uint32_t k)
{
	*to = at + k;
	if (g->kind[d] == GRID_RING)
		*to %= g->size[d];
	return *to < g->size[d] && (g->kind[d] == GRID_FULL || k == 1);
}

/* The first two neighbours without a cable between them; false: there are none. */
static bool dor_first_gap(const struct dor *r, uint32_t *a, uint32_t *b)
{
	const struct grid *g = r->grid;
	uint32_t to;

	for (*a = 0; *a < g->nsw; ++*a)
		for (uint32_t d = 0; d < g->ndims; d++)
			for (uint32_t k = 1; k < g->size[d]; k++) {
				if (!dor_next_point(&to, g, d, grid_coord(g, *a)[d], k))
					break;
				*b = dor_cell_at(r, *a, d, to);
				if (*b != FAB_NONE && dor_find_channel(r, *a, *b) == FAB_NONE)
					return true;
			}
	return false;
}

/* "2 cables (first sw3 to sw4) and 1 switch are missing" */
static char *dor_gaps_text(char *buf, size_t len, const struct dor *r)
{
	uint32_t a, b, holes = r->grid->ncell - r->grid->nsw;
	int n = 0;

	buf[0] = '\0';
	if (dor_first_gap(r, &a, &b))
		n = snprintf(buf, len, "%u cable%s missing (%s%.40s to %.40s)", r->grid->missing,
			     r->grid->missing == 1 ? " is" : "s are",
			     r->grid->missing == 1 ? "" : "the first: ", r->f->sw_name[a],
			     r->f->sw_name[b]);
	if (holes)
		snprintf(buf + n, len - (size_t)n, "%s%u point%s no switch", n ? ", " : "", holes,
			 holes == 1 ? " has" : "s have");
	return buf;
}

static void dor_note_grid(const struct dor *r, const struct engine_params *params)
{
	char dims[96], gaps[192];

	notes_set(params->notes, "dimensions", r->grid->ndims, "dimension order on a grid of %s",
		  grid_dims_text(dims, sizeof(dims), r->grid));
	if (r->around)
		notes_set(params->notes, "missing", r->grid->missing,
			  "%s: shortest paths around, in dimension order where there is one",
			  dor_gaps_text(gaps, sizeof(gaps), r));
	else if (r->lines)
		notes_set(params->notes, "missing", r->grid->missing,
			  "%s: the other way round these rings, in dimension order",
			  dor_gaps_text(gaps, sizeof(gaps), r));
	else if (r->detours)
		notes_set(params->notes, "detours", r->detours,
			  "%u pairs of neighbours have no cable and are two hops apart",
			  r->detours);
}

static int dor_suits(const struct fabric *f, struct err *why)
{
	struct dor r = { 0 };
	int rc = dor_init(&r, f, false, NULL, why);

	if (!rc)
		dor_done(&r);
	return rc;
}

static int dor_route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		     const struct demand *demand, const struct engine_params *params,
		     struct progress *progress, struct err *err)
{
	struct dor r = { 0 };
	struct err why = { "" };
	char gaps[192];
	int rc = dor_init(&r, f, params->ignore_rates, progress, err);

	(void)jobs;
	(void)demand;
	if (rc)
		return rc;
	r.t = graph_tables(f, "dor", params, progress);
	rc = dor_route_grid(&r, params, progress, &why);
	if (!rc)
		rc = dor_try_lines(&r, params, progress, &why);
	if (rc && r.around)
		err_set(err, rc, "%s; %s", why.text, dor_gaps_text(gaps, sizeof(gaps), &r));
	else if (rc)
		err_set(err, rc, "%s", why.text);
	dor_note_grid(&r, params);
	dor_done(&r);
	if (rc) {
		tables_put(r.t);
		return rc;
	}
	*out = r.t;
	return 0;
}

const struct engine engine_dor = {
	.name = "dor",
	.summary = "dimension order on tori, meshes and HyperX; 2 VLs on rings, else 1",
	.suits = dor_suits,
	.route_asks = true,
	.route = dor_route,
};
