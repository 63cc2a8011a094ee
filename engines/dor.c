/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/dor.h"

#include "engines/geometry/topology_kind.h"
#include "fabric/model/topology/chan_weight.h"
#include "engines/graph/graph.h"
#include "engines/graph/shift_search.h"
#include "engines/time/shift_choice.h"
#include "engines/vl/vl_layers.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RINGS_MAX 4 /* one bit of the SL each */

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

	/* towards the destination switch at hand, by switch */
	uint32_t *next, *depth, *order;
	uint32_t *via; /* dimension of a detour, FAB_NONE: next is on the direct way */
	uint64_t *routes;
	uint32_t *count;
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
static uint32_t dor_next_switch(struct dor *r, uint32_t u, uint32_t dst)
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
		if (!r->detours || dor_find_channel(r, u, v) != FAB_NONE)
			return v;
		r->via[u] = d;
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
static void dor_follow_dimensions(struct dor *r, uint32_t dst)
{
	uint32_t *stack = r->order;

	memset(r->depth, 0xff, r->f->nsw * sizeof(*r->depth));
	r->depth[dst] = 0;
	for (uint32_t s = 0; s < r->f->nsw; s++) {
		uint32_t u = s, k = 0;

		while (r->depth[u] == FAB_NONE) {
			r->next[u] = dor_next_switch(r, u, dst);
			stack[k++] = u;
			u = r->next[u];
		}
		for (uint32_t depth = r->depth[u]; k--;)
			r->depth[stack[k]] = ++depth;
	}
}

static bool dor_is_nearer(const struct dor *r, uint32_t u, uint32_t v)
{
	return v != FAB_NONE && r->depth[v] < r->depth[u] && dor_find_channel(r, u, v) != FAB_NONE;
}

static uint64_t dor_bit(const struct dor *r, uint32_t u, uint32_t dst)
{
	return (uint64_t)dst * r->f->nsw + u;
}

/* The next switch in the order of dimensions, where its cable is there and it is nearer; else the
 * first neighbour that is, in the same order. */
static uint32_t dor_next_around(struct dor *r, uint32_t u, uint32_t dst)
{
	uint32_t v = dor_next_switch(r, u, dst);

	if (dor_is_nearer(r, u, v))
		return v;
	r->loose[dor_bit(r, u, dst) / 64] |= 1ull << dor_bit(r, u, dst) % 64;
	for (uint32_t d = 0; d < r->grid->ndims; d++)
		for (uint32_t k = 0; k < r->grid->size[d]; k++) {
			v = dor_cell_at(r, u, d, k);
			if (dor_is_nearer(r, u, v))
				return v;
		}
	return FAB_NONE; /* not where every cable joins neighbours */
}

/* The same where cables or switches are missing: distances are those of the cables that are there,
 * and every path is a shortest one. */
static void dor_go_around(struct dor *r, uint32_t dst)
{
	r->order[0] = dst;
	fabric_hops(r->depth, r->order, r->f, 1);
	for (uint32_t u = 0; u < r->f->nsw; u++)
		if (u != dst)
			r->next[u] = dor_next_around(r, u, dst);
	memset(r->via, 0xff, r->f->nsw * sizeof(*r->via));
}

/* Next switches and distances of all, and their order from the nearest to the farthest. */
static void dor_find_tree(struct dor *r, uint32_t dst)
{
	const struct fabric *f = r->f;

	memset(r->via, 0xff, f->nsw * sizeof(*r->via));
	if (r->around)
		dor_go_around(r, dst);
	else
		dor_follow_dimensions(r, dst);
	memset(r->count, 0, (f->nsw + 1) * sizeof(*r->count));
	for (uint32_t u = 0; u < f->nsw; u++)
		r->count[r->depth[u] + 1]++;
	for (uint32_t i = 0; i < f->nsw; i++)
		r->count[i + 1] += r->count[i];
	for (uint32_t u = 0; u < f->nsw; u++)
		r->order[r->count[r->depth[u]]++] = u;
}

/* The least loaded of parallel channels, and of detours, for every switch, the farthest first, so
 * that all that comes through is known.  All detours of a switch are equally long. */
static void dor_route_balanced(struct dor *r, const struct dest *d)
{
	const struct fabric *f = r->f;
	bool counts = d->end < f->nterm;

	for (uint32_t u = 0; u < f->nsw; u++)
		r->routes[u] = counts ? f->sw_nterm[u] : 0;
	for (uint32_t i = f->nsw; i-- > 1;) {
		uint32_t u = r->order[i], c;

		if (r->via[u] != FAB_NONE) {
			uint32_t dim = r->via[u];

			r->next[u] = dor_detour(
				r, u, dor_cell_at(r, u, dim, grid_coord(r->grid, d->sw)[dim]), dim);
		}
		c = dor_find_channel(r, u, r->next[u]);
		r->load[c] += r->routes[u] * chan_weight(&r->weights, c);
		r->routes[r->next[u]] += r->routes[u];
		tables_row(r->t, u)[d->lid] = f->chan_port[c];
	}
	tables_row(r->t, d->sw)[d->lid] = d->port;
}

/* SLs from all switches to n LIDs of one. */
static void dor_write_sls(struct dor *r, const struct dest *d, uint32_t n)
{
	for (uint32_t u = 0; u < r->f->nsw; u++) {
		uint8_t *row = r->t->sl + (size_t)u * r->t->stride, sl = dor_path_sl(r, u, d->sw);

		for (uint32_t k = 0; k < n; k++)
			row[d[k].lid] = sl;
	}
}

/* n LIDs of one switch; returns the work. */
static uint64_t dor_route_run(struct dor *r, const struct dest *d, uint32_t n)
{
	dor_find_tree(r, d->sw);
	for (uint32_t k = 0; k < n; k++)
		dor_route_balanced(r, &d[k]);
	if (r->t->sl)
		dor_write_sls(r, d, n);
	return 4ull * r->f->nsw * (r->grid->ndims + 2) + (uint64_t)n * (2ull * r->f->nchan);
}

static int dor_route_all(struct dor *r, uint8_t lmc, struct progress *progress)
{
	uint32_t n, k;
	struct dest *d = graph_dests_by_switch(&n, r->f, lmc);
	struct pace p;
	int rc = pace_begin(&p, progress, "paths", n) ? -ECANCELED : 0;

	for (uint32_t i = 0; i < n && !rc; i += k) {
		for (k = 1; k < 64 && i + k < n && d[i + k].sw == d[i].sw; k++)
			;
		if (pace_tick(&p, i + k, dor_route_run(r, d + i, k)))
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
	r->next = arena_array(r->arena, uint32_t, f->nsw);
	r->depth = arena_array(r->arena, uint32_t, f->nsw);
	r->order = arena_array(r->arena, uint32_t, f->nsw);
	r->via = arena_array(r->arena, uint32_t, f->nsw);
	r->routes = arena_array(r->arena, uint64_t, f->nsw);
	r->count = arena_array(r->arena, uint32_t, f->nsw + 1);
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
	if (bits)
		graph_sls_by_switch(r->t, r->f, progress, "paths");
	rc = dor_route_all(r, graph_lmc(r->f, params), progress);
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
