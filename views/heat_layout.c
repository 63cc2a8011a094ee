/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/heat_layout.h"

#include "fabric/base/mem.h"
#include "views/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sorting key of a row: its group, then its name. */
struct place {
	uint32_t sw, group, first;
	const char *name;
};

static int place_cmp(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;
	int d;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	d = text_natural_cmp(a->name, b->name);
	return d ? d : a->sw < b->sw ? -1 : a->sw > b->sw;
}

static struct heat_plane *plane_add(struct heat_layout *l)
{
	return &l->plane[l->nplane++];
}

/* Fills a plane's cells: col_of tells the column of a channel, FAB_NONE when it is not in the
 * plane. */
static void plane_fill(struct heat_layout *l, struct heat_plane *p, const struct fabric *f,
		       const uint32_t *col_of)
{
	uint32_t n = 0;

	p->row_off = arena_array(l->arena, uint32_t, p->nrow + 1);
	p->chan = arena_array(l->arena, uint32_t, f->nchan);
	p->col = arena_array(l->arena, uint32_t, f->nchan);
	for (uint32_t r = 0; r < p->nrow; r++) {
		uint32_t sw = p->row_sw[r], first = n;

		p->row_off[r] = n;
		for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++) {
			uint32_t k = n;

			if (col_of[c] == FAB_NONE)
				continue;
			for (; k > first && p->col[k - 1] > col_of[c]; k--) {
				p->col[k] = p->col[k - 1];
				p->chan[k] = p->chan[k - 1];
			}
			p->col[k] = col_of[c];
			p->chan[k] = c;
			n++;
		}
	}
	p->row_off[p->nrow] = n;
}

/* Switches of a set in the order of their places; returns how many. */
static uint32_t take_sorted(uint32_t *out, struct place *all, uint32_t n)
{
	qsort(all, n, sizeof(*all), place_cmp);
	for (uint32_t i = 0; i < n; i++)
		out[i] = all[i].sw;
	return n;
}

/* Components of the cables between two levels; group[sw] for both, else FAB_NONE. */
static uint32_t components(const struct fabric *f, const struct shape *s, uint32_t low,
			   uint32_t *group)
{
	uint32_t *queue = xcalloc(f->nsw, sizeof(*queue)), n = 0;

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		group[sw] = FAB_NONE;
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint32_t head = 0, tail = 0;

		if (group[sw] != FAB_NONE || s->level[sw] - low > 1)
			continue;
		group[sw] = n;
		queue[tail++] = sw;
		while (head < tail) {
			uint32_t at = queue[head++];

			for (uint32_t c = f->chan_off[at]; c < f->chan_off[at + 1]; c++) {
				uint32_t to = f->chan_dst[c];

				if (group[to] != FAB_NONE || s->level[to] - low > 1)
					continue;
				group[to] = n;
				queue[tail++] = to;
			}
		}
		n++;
	}
	free(queue);
	return n;
}

/* Switches of a level by (component, name); first gets the place in its component of each. */
static uint32_t level_order(const struct fabric *f, const struct shape *s, uint32_t level,
			    const uint32_t *group, uint32_t *out, uint32_t *rank)
{
	struct place *all = xcalloc(f->nsw, sizeof(*all));
	uint32_t n = 0, in_group = 0;

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		if (s->level[sw] == level)
			all[n++] = (struct place){ sw, group[sw], group[sw], f->sw_name[sw] };
	take_sorted(out, all, n);
	for (uint32_t i = 0; i < n; i++) {
		in_group = i && all[i].group == all[i - 1].group ? in_group + 1 : 0;
		rank[out[i]] = in_group;
	}
	free(all);
	return n;
}

static void tree_plane(struct heat_layout *l, const struct fabric *f, const struct shape *s,
		       uint32_t low)
{
	struct heat_plane *p = plane_add(l);
	uint32_t *group = xcalloc(f->nsw, sizeof(*group)), *rank = xcalloc(f->nsw, sizeof(*rank));
	uint32_t *col_of = xcalloc(f->nchan, sizeof(*col_of));
	uint32_t *upper = arena_array(l->arena, uint32_t, f->nsw);
	uint32_t ngroup = components(f, s, low, group), nupper;
	char from[16], to[16];

	p->up = true;
	snprintf(p->row_name, sizeof(p->row_name), "%s", shape_level_name(from, s, low));
	snprintf(p->col_name, sizeof(p->col_name), "%s", shape_level_name(to, s, low + 1));
	p->row_sw = arena_array(l->arena, uint32_t, f->nsw);
	p->nrow = level_order(f, s, low, group, p->row_sw, rank);
	nupper = level_order(f, s, low + 1, group, upper, rank);
	for (uint32_t i = 0; i < nupper; i++) {
		if (ngroup == 1)
			rank[upper[i]] = i;
		if (rank[upper[i]] >= p->ncol)
			p->ncol = rank[upper[i]] + 1;
	}
	p->col_sw = ngroup == 1 ? upper : NULL;
	snprintf(p->title, sizeof(p->title), ngroup == 1 ? "%s x %s" : "%s x %s of its group",
		 p->row_name, p->col_name);
	for (uint32_t c = 0; c < f->nchan; c++)
		col_of[c] = s->level[f->chan_dst[c]] == low + 1 ? rank[f->chan_dst[c]] : FAB_NONE;
	plane_fill(l, p, f, col_of);
	free(col_of);
	free(rank);
	free(group);
}

static void hyperx_plane(struct heat_layout *l, const struct fabric *f, const struct shape *s,
			 uint32_t d)
{
	struct heat_plane *p = plane_add(l);
	struct place *all = xcalloc(f->nsw, sizeof(*all));
	uint32_t *col_of = xcalloc(f->nchan, sizeof(*col_of));

	snprintf(p->title, sizeof(p->title), "HyperX dimension %u of %u", d + 1, s->ndim);
	snprintf(p->row_name, sizeof(p->row_name), "switch");
	snprintf(p->col_name, sizeof(p->col_name), "dim %u", (d + 1) & 0xff);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		const uint16_t *x = &s->coord[sw * SHAPE_DIMS];
		uint32_t at = 0;

		for (uint32_t i = 0; i < s->ndim; i++)
			at = i == d ? at : at * s->dim[i] + x[i];
		all[sw] = (struct place){ sw, at, at * s->dim[d] + x[d], f->sw_name[sw] };
	}
	p->row_sw = arena_array(l->arena, uint32_t, f->nsw);
	p->nrow = take_sorted(p->row_sw, all, f->nsw);
	p->ncol = s->dim[d];
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t from = s->coord[f->chan_src[c] * SHAPE_DIMS + d];
		uint32_t to = s->coord[f->chan_dst[c] * SHAPE_DIMS + d];

		col_of[c] = from != to ? to : FAB_NONE;
	}
	plane_fill(l, p, f, col_of);
	free(col_of);
	free(all);
}

/* Reverse Cuthill-McKee: breadth first from a switch of least degree, neighbours by degree. */
static void rcm_order(const struct fabric *f, uint32_t *out)
{
	uint32_t n = 0, head = 0;
	uint8_t *seen = xcalloc(f->nsw, 1);

#define DEGREE(sw) (f->chan_off[(sw) + 1] - f->chan_off[sw])
	while (n < f->nsw) {
		uint32_t start = FAB_NONE;

		for (uint32_t sw = 0; sw < f->nsw; sw++)
			if (!seen[sw] && (start == FAB_NONE || DEGREE(sw) < DEGREE(start)))
				start = sw;
		seen[start] = 1;
		out[n++] = start;
		while (head < n) {
			uint32_t sw = out[head++], first = n;

			for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++) {
				uint32_t to = f->chan_dst[c], k = n;

				if (seen[to])
					continue;
				seen[to] = 1;
				for (; k > first && DEGREE(out[k - 1]) > DEGREE(to); k--)
					out[k] = out[k - 1];
				out[k] = to;
				n++;
			}
		}
	}
#undef DEGREE
	for (uint32_t i = 0; i < n / 2; i++) {
		uint32_t t = out[i];

		out[i] = out[n - 1 - i];
		out[n - 1 - i] = t;
	}
	free(seen);
}

static void square_plane(struct heat_layout *l, const struct fabric *f, bool rcm)
{
	struct heat_plane *p = plane_add(l);
	uint32_t *col_of = xcalloc(f->nchan, sizeof(*col_of));
	uint32_t *rank = xcalloc(f->nsw, sizeof(*rank));

	snprintf(p->title, sizeof(p->title), "switch x switch %s", rcm ? "by nearness" : "by name");
	snprintf(p->row_name, sizeof(p->row_name), "switch");
	snprintf(p->col_name, sizeof(p->col_name), "switch");
	p->row_sw = arena_array(l->arena, uint32_t, f->nsw);
	p->nrow = p->ncol = f->nsw;
	if (rcm) {
		rcm_order(f, p->row_sw);
	} else {
		struct place *all = xcalloc(f->nsw, sizeof(*all));

		for (uint32_t sw = 0; sw < f->nsw; sw++)
			all[sw] = (struct place){ sw, 0, 0, f->sw_name[sw] };
		take_sorted(p->row_sw, all, f->nsw);
		free(all);
	}
	p->col_sw = p->row_sw;
	for (uint32_t i = 0; i < f->nsw; i++)
		rank[p->row_sw[i]] = i;
	for (uint32_t c = 0; c < f->nchan; c++)
		col_of[c] = rank[f->chan_dst[c]];
	plane_fill(l, p, f, col_of);
	free(rank);
	free(col_of);
}

struct heat_layout *heat_layout_new(const struct fabric *f, const struct shape *s)
{
	struct heat_layout *l = xcalloc(1, sizeof(*l));

	l->fabric = fabric_get(f);
	l->arena = arena_new();
	if (s->kind == SHAPE_TREE && s->nlevel - 1 <= HEAT_PLANES - 2)
		for (uint32_t low = 0; low + 1 < s->nlevel; low++)
			tree_plane(l, f, s, low);
	if (s->kind == SHAPE_HYPERX)
		for (uint32_t d = 0; d < s->ndim; d++)
			hyperx_plane(l, f, s, d);
	l->nspecial = l->nplane;
	square_plane(l, f, false);
	square_plane(l, f, true);
	return l;
}

void heat_layout_free(struct heat_layout *l)
{
	if (!l)
		return;
	fabric_put(l->fabric);
	arena_free(l->arena);
	free(l);
}

bool heat_plane_find(const struct heat_plane *p, const struct fabric *f, uint32_t chan,
		     uint32_t *row, uint32_t *col)
{
	for (uint32_t r = 0; r < p->nrow; r++) {
		for (uint32_t i = p->row_off[r]; i < p->row_off[r + 1]; i++) {
			if (p->chan[i] != chan && f->chan_rev[p->chan[i]] != chan)
				continue;
			*row = r;
			*col = p->col[i];
			if (p->chan[i] == chan || p->up)
				return true;
		}
	}
	return false;
}

static uint32_t div_up(uint32_t a, uint32_t b)
{
	return b ? (a + b - 1) / b : a;
}

/* The first cell in sight: moved no more than needed to have at in sight. */
static uint32_t scroll_to(uint32_t first, uint32_t at, uint32_t n, uint32_t seen)
{
	if (at < first)
		first = at;
	if (at >= first + seen)
		first = at - seen + 1;
	if (first + seen > n)
		first = n > seen ? n - seen : 0;
	return first;
}

void heat_window_set(struct heat_window *w, const struct heat_plane *p, struct rect r, int label_w,
		     uint32_t zoom, uint32_t row, uint32_t col)
{
	uint32_t h, width, need;

	w->rows = (struct rect){ r.x + label_w, r.y, r.w - label_w, r.h };
	if (w->rows.w < 1)
		w->rows.w = 1;
	if (w->rows.h < 1)
		w->rows.h = 1;
	w->label_w = label_w;
	h = (uint32_t)w->rows.h;
	width = (uint32_t)w->rows.w;
	need = div_up(p->ncol, width);
	w->fit = div_up(p->nrow, h) > need ? div_up(p->nrow, h) : need;
	if (w->fit < 1)
		w->fit = 1;
	w->row_n = zoom < 1 ? 1 : zoom > w->fit ? w->fit : zoom;
	/* columns are never joined more than they need to be in sight */
	w->col_n = w->row_n < need ? w->row_n : need ? need : 1;
	w->nrow = div_up(p->nrow, w->row_n);
	w->ncol = div_up(p->ncol, w->col_n);
	w->cell_w = w->ncol * 3 <= width ? 3 : w->ncol * 2 <= width ? 2 : 1;
	w->vis_cols = width / (uint32_t)w->cell_w;
	w->vis_rows = h;
	if (w->vis_cols > w->ncol)
		w->vis_cols = w->ncol;
	if (w->vis_rows > w->nrow)
		w->vis_rows = w->nrow;
	w->top = scroll_to(w->top, row / w->row_n, w->nrow, w->vis_rows);
	w->left = scroll_to(w->left, col / w->col_n, w->ncol, w->vis_cols);
}
