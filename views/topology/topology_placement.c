/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/topology/topology_placement.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/text/natural.h"
#include "views/canvas/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS	 6  /* nested pods that count for the order in a row */
#define RUNS	 32 /* blocks that a long row is cut into */
#define PODS_MAX 128
#define ASPECT	 2.2f /* columns that look as wide as a row is high, spread over the screen */

struct ordered {
	uint32_t key[KEYS];
	const char *name;
	uint32_t sw;
};

static int placement_ordered_cmp(const void *pa, const void *pb)
{
	const struct ordered *a = pa, *b = pb;
	int d;

	for (int i = 0; i < KEYS; i++)
		if (a->key[i] != b->key[i])
			return a->key[i] < b->key[i] ? -1 : 1;
	d = natural_cmp(a->name, b->name);
	return d ? d : a->sw < b->sw ? -1 : a->sw > b->sw;
}

static void placement_set_alloc(struct topology_placement_set *set, const struct fabric *f)
{
	set->x = xcalloc(f->nsw, sizeof(*set->x));
	set->y = xcalloc(f->nsw, sizeof(*set->y));
	set->of = xcalloc(f->nsw, sizeof(*set->of));
}

static void placement_set_done(struct topology_placement_set *set)
{
	free(set->x);
	free(set->y);
	free(set->of);
}

void topology_placement_done(struct topology_placement *l)
{
	placement_set_done(&l->sw);
	placement_set_done(&l->block_set);
}

/* Adds a block at (x, y); switches join it by of. */
static uint32_t placement_block_add(struct topology_placement *l, float x, float y)
{
	struct topology_placement_set *b = &l->block_set;

	b->x[b->n] = x;
	b->y[b->n] = y;
	return b->n++;
}

/* A row of n switches at height y over the whole width; cut into runs as blocks. */
static void placement_place_row(struct topology_placement *l, const struct ordered *row, uint32_t n,
				float y, bool runs)
{
	uint32_t nrun = n < RUNS ? n : RUNS, last = FAB_NONE, block = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t run = (uint32_t)((uint64_t)i * nrun / n);

		l->sw.x[row[i].sw] = ((float)i + 0.5f) * l->sw.w / (float)n;
		l->sw.y[row[i].sw] = y;
		if (!runs)
			continue;
		if (run != last)
			block = placement_block_add(
				l, ((float)run + 0.5f) * l->block_set.w / (float)nrun, y);
		last = run;
		l->block_set.of[row[i].sw] = block;
	}
}

/* --- trees ----------------------------------------------------------------------------------- */

/* Pods as blocks, below runs of the top level. */
static void placement_pod_blocks(struct topology_placement *l, const struct fabric *f,
				 const struct ordered *all, uint32_t npod, uint32_t ntop)
{
	struct topology_placement_set *b = &l->block_set;
	uint32_t nrun = ntop < RUNS ? ntop : RUNS, top = 0;

	b->w = (float)(npod > nrun ? npod : nrun);
	b->h = 2;
	for (uint32_t i = 0; i < npod; i++)
		placement_block_add(l, ((float)i + 0.5f) * b->w / (float)npod, 1.5f);
	for (uint32_t i = 0; i < nrun; i++)
		placement_block_add(l, ((float)i + 0.5f) * b->w / (float)nrun, 0.5f);
	for (uint32_t i = 0; i < f->nsw; i++) {
		if (all[i].key[0] != FAB_NONE)
			b->of[all[i].sw] = all[i].key[0];
		else
			b->of[all[i].sw] = npod + (uint32_t)((uint64_t)top++ * nrun / ntop);
	}
	snprintf(l->block, sizeof(l->block), "pod");
}

static void placement_place_tree(struct topology_placement *l, const struct fabric *f,
				 const struct topology_kind *s)
{
	const struct tree *t = s->tree;
	struct ordered *all = xcalloc(f->nsw, sizeof(*all)), *row = xcalloc(f->nsw, sizeof(*row));
	uint32_t *by_name = topology_kind_order_by_name(f), *pod = xcalloc(f->nsw, sizeof(*pod));
	uint32_t count[256] = { 0 }, npod = 0, most = 0;
	bool whole;
	char buf[16];

	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		all[sw] = (struct ordered){ .name = f->sw_name[sw], .sw = sw };
		count[t->row[sw]]++;
	}
	for (uint32_t k = 0; k < KEYS && k + 2 <= t->nrow; k++) {
		uint32_t n = tree_components(pod, f, t->row, 0, t->nrow - 2 - k, by_name);

		npod = k ? npod : n;
		for (uint32_t sw = 0; sw < f->nsw; sw++)
			all[sw].key[k] = pod[sw];
	}
	qsort(all, f->nsw, sizeof(*all), placement_ordered_cmp);
	for (uint32_t i = 0; i < t->nrow; i++)
		most = count[i] > most ? count[i] : most;
	l->levels = true;
	l->sw.w = (float)most;
	l->sw.h = (float)t->nrow;
	whole = t->nrow > 2 && npod > 1 && npod <= PODS_MAX;
	if (whole) {
		placement_pod_blocks(l, f, all, npod, count[t->nrow - 1]);
	} else {
		l->block_set.w = RUNS;
		l->block_set.h = l->sw.h;
	}
	for (uint32_t level = 0; level < t->nrow; level++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < f->nsw; i++)
			if (t->row[all[i].sw] == level)
				row[n++] = all[i];
		placement_place_row(l, row, n, (float)(t->nrow - 1 - level) + 0.5f, !whole);
	}
	l->nrow = t->nrow < PICTURE_ROWS ? t->nrow : PICTURE_ROWS;
	for (uint32_t i = 0; i < l->nrow; i++)
		snprintf(l->row_name[i], sizeof(l->row_name[i]), "%s",
			 topology_kind_level_name(buf, s, t->nrow - 1 - i));
	topology_kind_name(l->what, sizeof(l->what), s);
	free(pod);
	free(by_name);
	free(row);
	free(all);
}

/* --- HyperX, torus, mesh --------------------------------------------------------------------- */

/* How many of n boxes of w x h go side by side so that all of them look like a screen. */
static uint32_t placement_columns_for(uint32_t n, float w, float h)
{
	uint32_t cols = (uint32_t)ceilf(sqrtf((float)n * h * ASPECT / w));

	return cols < 1 ? 1 : cols > n ? n : cols;
}

static void placement_place_grid(struct topology_placement *l, const struct fabric *f)
{
	const struct grid *g = l->grid;
	uint32_t sx = g->size[0], sy = g->ndims > 1 ? g->size[1] : 1, nplane, cols, kx, ky;
	float pw = (float)sx + 1, ph = (float)sy + 1;

	grid_plane(g, 0, &nplane);
	cols = placement_columns_for(nplane, pw, ph);
	l->sw.w = pw * (float)cols - 1;
	l->sw.h = ph * (float)((nplane + cols - 1) / cols) - 1;
	kx = nplane > 1 ? sx : (sx + 15) / 16;
	ky = nplane > 1 ? sy : (sy + 7) / 8;
	l->block_set.n = nplane > 1 ? nplane : ((sx + kx - 1) / kx) * ((sy + ky - 1) / ky);
	if (kx * ky == 1)
		l->block_set.n = 0;
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		const uint16_t *at = grid_coord(g, sw);
		uint32_t y = g->ndims > 1 ? at[1] : 0, block;
		uint32_t plane = grid_plane(g, sw, &nplane);

		l->sw.x[sw] = (float)(plane % cols) * pw + (float)at[0] + 0.5f;
		l->sw.y[sw] = (float)(plane / cols) * ph + (float)y + 0.5f;
		if (!l->block_set.n)
			continue;
		block = nplane > 1 ? plane : y / ky * ((sx + kx - 1) / kx) + at[0] / kx;
		l->block_set.of[sw] = block;
		l->block_set.x[block] =
			nplane > 1 ? (float)(plane % cols) + 0.5f : (float)(at[0] / kx) + 0.5f;
		l->block_set.y[block] =
			nplane > 1 ? (float)(plane / cols) + 0.5f : (float)(y / ky) + 0.5f;
	}
	l->block_set.w = nplane > 1 ? (float)cols : (float)((sx + kx - 1) / kx);
	l->block_set.h =
		nplane > 1 ? (float)((nplane + cols - 1) / cols) : (float)((sy + ky - 1) / ky);
	snprintf(l->block, sizeof(l->block), nplane > 1 ? "plane" : "part");
}

/* HyperX, torus or mesh. */
static void placement_place_coords(struct topology_placement *l, const struct fabric *f,
				   const struct topology_kind *s)
{
	l->grid = s->grid;
	l->rings = s->kind == TOPOLOGY_TORUS;
	topology_kind_name(l->what, sizeof(l->what), s);
	placement_place_grid(l, f);
}

#define ARC 0.45f

void topology_placement_mark(const struct topology_placement *l, struct topology_layout_edge *e)
{
	const struct grid *g = l->grid;
	uint32_t d = g ? grid_dim(g, e->a, e->b) : FAB_NONE;

	if (d == FAB_NONE)
		return;
	e->across = d >= 2;
	/* cables over a switch lie beside it, the longer the farther: not over each other */
	if (d < 2 && !l->rings && g->size[d] > 2)
		e->arc = ARC * (float)(abs(grid_coord(g, e->a)[d] - grid_coord(g, e->b)[d]) - 1) /
			 (float)(g->size[d] - 2);
	e->around = d < 2 && l->rings && grid_is_ring(g, d) &&
		    abs(grid_coord(g, e->a)[d] - grid_coord(g, e->b)[d]) + 1 == (int)g->size[d];
}

/* --- groups ---------------------------------------------------------------------------------- */

static void placement_place_groups(struct topology_placement *l, const struct fabric *f,
				   const struct topology_kind *s)
{
	uint32_t n = s->ngroup, most = 0, gw, gh, cols;

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		most = s->place[sw] >= most ? s->place[sw] + 1 : most;
	gw = placement_columns_for(most, 1, 1);
	gh = (most + gw - 1) / gw;
	cols = placement_columns_for(n, (float)gw + 1, (float)gh + 1);
	l->sw.w = (float)(cols * (gw + 1) - 1);
	l->sw.h = (float)((n + cols - 1) / cols * (gh + 1) - 1);
	l->block_set.w = (float)cols;
	l->block_set.h = (float)((n + cols - 1) / cols);
	for (uint32_t g = 0; g < n; g++)
		placement_block_add(l, (float)(g % cols) + 0.5f, (float)(g / cols) + 0.5f);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint32_t g = s->group[sw], k = s->place[sw];

		l->sw.x[sw] = (float)(g % cols * (gw + 1) + k % gw) + 0.5f;
		l->sw.y[sw] = (float)(g / cols * (gh + 1) + k / gw) + 0.5f;
		l->block_set.of[sw] = g;
	}
	snprintf(l->what, sizeof(l->what),
		 n * most == f->nsw ? "%u groups of %u" : "%u groups of up to %u", n, most);
	snprintf(l->block, sizeof(l->block), "group");
}

/* --- anything else --------------------------------------------------------------------------- */

/* Mean place in the row before of the neighbours there, as a key to sort by. */
static uint32_t placement_pull(const struct topology_placement *l, const struct fabric *f,
			       const uint32_t *hops, uint32_t sw)
{
	float sum = 0;
	uint32_t n = 0;

	for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++)
		if (hops[f->chan_dst[c]] + 1 == hops[sw]) {
			sum += l->sw.x[f->chan_dst[c]];
			n++;
		}
	return n ? (uint32_t)(sum / (float)n * 16) : 0;
}

/* Distances from the switch with most cables in every component; returns the number of rows. */
static uint32_t placement_spread(const struct fabric *f, const uint32_t *by_name, uint32_t *hops)
{
	uint32_t *queue = xcalloc(f->nsw, sizeof(*queue)), n = 0, rows = 0;

	memset(hops, 0xff, f->nsw * sizeof(*hops));
	while (n < f->nsw) {
		uint32_t root = FAB_NONE, head = n;

		for (uint32_t i = 0; i < f->nsw; i++) {
			uint32_t sw = by_name[i];

			if (hops[sw] == FAB_NONE &&
			    (root == FAB_NONE || f->chan_off[sw + 1] - f->chan_off[sw] >
							 f->chan_off[root + 1] - f->chan_off[root]))
				root = sw;
		}
		hops[root] = 0;
		queue[n++] = root;
		for (; head < n; head++) {
			uint32_t at = queue[head];

			rows = hops[at] + 1 > rows ? hops[at] + 1 : rows;
			for (uint32_t c = f->chan_off[at]; c < f->chan_off[at + 1]; c++)
				if (hops[f->chan_dst[c]] == FAB_NONE) {
					hops[f->chan_dst[c]] = hops[at] + 1;
					queue[n++] = f->chan_dst[c];
				}
		}
	}
	free(queue);
	return rows;
}

static void placement_place_general(struct topology_placement *l, const struct fabric *f)
{
	struct ordered *row = xcalloc(f->nsw, sizeof(*row));
	uint32_t *by_name = topology_kind_order_by_name(f), *hops = xcalloc(f->nsw, sizeof(*hops));
	uint32_t rows = placement_spread(f, by_name, hops);
	uint32_t *count = xcalloc(rows + 1u, sizeof(*count)), most = 1;

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		most = ++count[hops[sw]] > most ? count[hops[sw]] : most;
	l->levels = true;
	l->sw.w = (float)most;
	l->block_set.w = RUNS;
	l->sw.h = l->block_set.h = (float)(rows ? rows : 1);
	for (uint32_t y = 0; y < rows; y++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < f->nsw; i++) {
			uint32_t sw = by_name[i];

			if (hops[sw] == y)
				row[n++] =
					(struct ordered){ .key[0] = placement_pull(l, f, hops, sw),
							  .name = f->sw_name[sw],
							  .sw = sw };
		}
		qsort(row, n, sizeof(*row), placement_ordered_cmp);
		placement_place_row(l, row, n, (float)y + 0.5f, true);
	}
	l->nrow = rows < PICTURE_ROWS ? rows : PICTURE_ROWS;
	for (uint32_t i = 0; i < l->nrow; i++)
		snprintf(l->row_name[i], sizeof(l->row_name[i]), i ? "+%u" : "root", i);
	snprintf(l->what, sizeof(l->what), "by distance from the switch with most cables");
	free(count);
	free(hops);
	free(by_name);
	free(row);
}

void topology_placement_find(struct topology_placement *l, const struct fabric *f,
			     const struct topology_kind *s)
{
	memset(l, 0, sizeof(*l));
	placement_set_alloc(&l->sw, f);
	placement_set_alloc(&l->block_set, f);
	l->sw.n = f->nsw;
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		l->sw.of[sw] = sw;
	snprintf(l->block, sizeof(l->block), "run");
	if (s->kind == TOPOLOGY_TREE)
		placement_place_tree(l, f, s);
	else if (s->kind == TOPOLOGY_HYPERX || s->kind == TOPOLOGY_TORUS)
		placement_place_coords(l, f, s);
	else if (s->kind == TOPOLOGY_GROUPS)
		placement_place_groups(l, f, s);
	else
		placement_place_general(l, f);
}
