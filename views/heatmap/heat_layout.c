/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/heatmap/heat_layout.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/text/natural.h"
#include "views/data/state/racks.h"
#include "views/data/state/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* heat_plane.set */
enum { SET_SHAPE, SET_MEMBERS, SET_RACKS, SET_SQUARE, SET_RCM };

static struct heat_plane *heat_layout_add_plane(struct heat_layout *l, uint32_t set,
						const char *row_name, const char *col_name)
{
	struct heat_plane *p = &l->plane[l->nplane++];

	p->set = set;
	p->dir[0] = "out";
	p->dir[1] = "in";
	snprintf(p->row_name, sizeof(p->row_name), "%s", row_name);
	snprintf(p->col_name, sizeof(p->col_name), "%s", col_name);
	return p;
}

/* Two counting sorts: by column, then by row, each keeping the order of equals. */
static void heat_layout_fill(struct heat_layout *l, struct heat_plane *p, const struct fabric *f,
			     const uint32_t *row_of, const uint32_t *col_of)
{
	uint32_t *at = xcalloc(p->ncol + 2ull, sizeof(*at)), n = 0;
	uint32_t *by_col = xcalloc(f->nchan + 1ull, sizeof(*by_col)), *next;

	for (uint32_t c = 0; c < f->nchan; c++) {
		if (col_of[c] == FAB_NONE || row_of[f->chan_src[c]] == FAB_NONE)
			continue;
		at[col_of[c] + 1]++;
		n++;
	}
	for (uint32_t i = 0; i < p->ncol; i++)
		at[i + 1] += at[i];
	for (uint32_t c = 0; c < f->nchan; c++)
		if (col_of[c] != FAB_NONE && row_of[f->chan_src[c]] != FAB_NONE)
			by_col[at[col_of[c]]++] = c;
	p->row_off = arena_array(l->arena, uint32_t, p->nrow + 1ull);
	p->chan = arena_array(l->arena, uint32_t, n + 1ull);
	p->col = arena_array(l->arena, uint32_t, n + 1ull);
	for (uint32_t i = 0; i < n; i++)
		p->row_off[row_of[f->chan_src[by_col[i]]] + 1]++;
	for (uint32_t r = 0; r < p->nrow; r++)
		p->row_off[r + 1] += p->row_off[r];
	next = xcalloc(p->nrow + 1ull, sizeof(*next));
	memcpy(next, p->row_off, p->nrow * sizeof(*next));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t to = next[row_of[f->chan_src[by_col[i]]]]++;

		p->chan[to] = by_col[i];
		p->col[to] = col_of[by_col[i]];
	}
	free(next);
	free(by_col);
	free(at);
}

static void heat_layout_fill_switches(struct heat_layout *l, struct heat_plane *p,
				      const struct fabric *f, const uint32_t *col_of)
{
	uint32_t *row_of = xcalloc(f->nsw, sizeof(*row_of));

	memset(row_of, 0xff, f->nsw * sizeof(*row_of));
	for (uint32_t r = 0; r < p->nrow; r++)
		row_of[p->row_sw[r]] = r;
	heat_layout_fill(l, p, f, row_of, col_of);
	free(row_of);
}

struct place {
	uint32_t sw, key;
	const char *name;
};

static int heat_layout_place_cmp(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;
	int d;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	d = natural_cmp(a->name, b->name);
	return d ? d : a->sw < b->sw ? -1 : a->sw > b->sw;
}

/* The switches with a key (FAB_NONE: none) in its order, equals by name; returns how many. */
static uint32_t heat_layout_sort(uint32_t *out, const struct fabric *f, const uint32_t *key)
{
	struct place *all = xcalloc(f->nsw, sizeof(*all));
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		if (key[sw] != FAB_NONE)
			all[n++] = (struct place){ sw, key[sw], f->sw_name[sw] };
	qsort(all, n, sizeof(*all), heat_layout_place_cmp);
	for (uint32_t i = 0; i < n; i++)
		out[i] = all[i].sw;
	free(all);
	return n;
}

/* Switches of a row of a tree by (group, name); rank gets the place in its group of each. */
static uint32_t heat_layout_level_order(const struct fabric *f, const struct tree *t, uint32_t row,
					const uint32_t *group, uint32_t *out, uint32_t *rank)
{
	uint32_t *key = xcalloc(f->nsw, sizeof(*key)), n;

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		key[sw] = t->row[sw] == row ? group[sw] : FAB_NONE;
	n = heat_layout_sort(out, f, key);
	for (uint32_t i = 0; i < n; i++)
		rank[out[i]] = i && key[out[i]] == key[out[i - 1]] ? rank[out[i - 1]] + 1 : 0;
	free(key);
	return n;
}

static void heat_layout_add_tree(struct heat_layout *l, const struct fabric *f,
				 const struct topology_kind *s, uint32_t low)
{
	const struct tree *t = s->tree;
	struct heat_plane *p;
	uint32_t *group = xcalloc(f->nsw, sizeof(*group)), *rank = xcalloc(f->nsw, sizeof(*rank));
	uint32_t *col_of = xcalloc(f->nchan, sizeof(*col_of));
	uint32_t *upper = arena_array(l->arena, uint32_t, f->nsw);
	uint32_t ngroup = tree_components(group, f, t->row, low, low + 1, NULL), nupper;
	char from[16], to[16];

	p = heat_layout_add_plane(l, SET_SHAPE, topology_kind_level_name(from, s, low),
				  topology_kind_level_name(to, s, low + 1));
	p->up = true;
	p->dir[0] = "up";
	p->dir[1] = "down";
	p->row_sw = arena_array(l->arena, uint32_t, f->nsw);
	p->nrow = heat_layout_level_order(f, t, low, group, p->row_sw, rank);
	nupper = heat_layout_level_order(f, t, low + 1, group, upper, rank);
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
		col_of[c] = t->row[f->chan_dst[c]] == low + 1 ? rank[f->chan_dst[c]] : FAB_NONE;
	heat_layout_fill_switches(l, p, f, col_of);
	free(col_of);
	free(rank);
	free(group);
}

/* A plane of one dimension of a grid. */
static struct heat_plane *heat_layout_add_dim(struct heat_layout *l, const char *row, uint32_t d)
{
	char name[16];

	snprintf(name, sizeof(name), "dim %u", (d + 1) & 0xff);
	return heat_layout_add_plane(l, SET_SHAPE, row, name);
}

/* Number of the line of dimension d through a switch. */
static uint32_t heat_layout_line_of(const struct grid *g, uint32_t sw, uint32_t d)
{
	uint32_t line = 0;

	for (uint32_t i = 0; i < g->ndims; i++)
		line = i == d ? line : line * g->size[i] + grid_coord(g, sw)[i];
	return line;
}

static void heat_layout_add_hyperx(struct heat_layout *l, const struct fabric *f,
				   const struct grid *g, uint32_t d)
{
	struct heat_plane *p = heat_layout_add_dim(l, "switch", d);
	uint32_t *key = xcalloc(f->nsw, sizeof(*key));
	uint32_t *col_of = xcalloc(f->nchan, sizeof(*col_of));

	snprintf(p->title, sizeof(p->title), "HyperX dimension %u of %u", d + 1, g->ndims);
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		key[sw] = heat_layout_line_of(g, sw, d) * g->size[d] + grid_coord(g, sw)[d];
	p->row_sw = arena_array(l->arena, uint32_t, f->nsw);
	p->nrow = heat_layout_sort(p->row_sw, f, key);
	p->ncol = g->size[d];
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t from = grid_coord(g, f->chan_src[c])[d];
		uint32_t to = grid_coord(g, f->chan_dst[c])[d];

		col_of[c] = from != to ? to : FAB_NONE;
	}
	heat_layout_fill_switches(l, p, f, col_of);
	free(col_of);
	free(key);
}

/* Reverse Cuthill-McKee: breadth first from a switch of least degree, neighbours by degree. */
static void heat_layout_rcm_order(const struct fabric *f, uint32_t *out)
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

static void heat_layout_add_square(struct heat_layout *l, const struct fabric *f, bool rcm)
{
	struct heat_plane *p =
		heat_layout_add_plane(l, rcm ? SET_RCM : SET_SQUARE, "switch", "switch");
	uint32_t *col_of = xcalloc(f->nchan, sizeof(*col_of));
	uint32_t *rank = xcalloc(f->nsw, sizeof(*rank));

	snprintf(p->title, sizeof(p->title), "switch x switch %s", rcm ? "by nearness" : "by name");
	p->row_sw = arena_array(l->arena, uint32_t, f->nsw);
	p->nrow = p->ncol = f->nsw;
	if (rcm)
		heat_layout_rcm_order(f, p->row_sw);
	else
		heat_layout_sort(p->row_sw, f, rank); /* all 0 as yet: by name alone */
	p->col_sw = p->row_sw;
	for (uint32_t i = 0; i < f->nsw; i++)
		rank[p->row_sw[i]] = i;
	for (uint32_t c = 0; c < f->nchan; c++)
		col_of[c] = rank[f->chan_dst[c]];
	heat_layout_fill_switches(l, p, f, col_of);
	free(rank);
	free(col_of);
}

/* "*,3,1": the line of dimension d through a switch. */
static char *heat_layout_line_name(struct arena *arena, const struct grid *g, uint32_t sw,
				   uint32_t d)
{
	char *name = arena_array(arena, char, 8 * TOPOLOGY_DIMS);
	int n = 0;

	for (uint32_t i = 0; i < g->ndims; i++) {
		if (i == d)
			n += sprintf(name + n, "%s*", i ? "," : "");
		else
			n += sprintf(name + n, "%s%u", i ? "," : "", grid_coord(g, sw)[i]);
	}
	return name;
}

/* Position of a step up along the dimension; FAB_NONE for all others. */
static uint32_t heat_layout_step_up(const struct grid *g, uint32_t from, uint32_t to, uint32_t d)
{
	bool around = grid_is_ring(g, d) && from == g->size[d] - 1 && !to;

	return to == from + 1 || around ? from : FAB_NONE;
}

static void heat_layout_add_torus(struct heat_layout *l, const struct fabric *f,
				  const struct grid *g, uint32_t d)
{
	struct heat_plane *p = heat_layout_add_dim(l, "line", d);
	uint32_t *row_of = xcalloc(f->nsw, sizeof(*row_of));
	uint32_t *col_of = xcalloc(f->nchan, sizeof(*col_of));

	snprintf(p->title, sizeof(p->title), "dimension %u of %u, step by step", d + 1, g->ndims);
	p->up = true;
	p->dir[0] = "+";
	p->dir[1] = "-";
	p->nrow = g->ncell / g->size[d];
	p->ncol = g->size[d];
	p->row_text = arena_array(l->arena, char *, p->nrow);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		row_of[sw] = heat_layout_line_of(g, sw, d);
		if (!p->row_text[row_of[sw]])
			p->row_text[row_of[sw]] = heat_layout_line_name(l->arena, g, sw, d);
	}
	for (uint32_t r = 0; r < p->nrow; r++)
		if (!p->row_text[r])
			p->row_text[r] = arena_strdup(l->arena, "(no switch)");
	for (uint32_t c = 0; c < f->nchan; c++)
		col_of[c] = heat_layout_step_up(g, grid_coord(g, f->chan_src[c])[d],
						grid_coord(g, f->chan_dst[c])[d], d);
	heat_layout_fill(l, p, f, row_of, col_of);
	free(col_of);
	free(row_of);
}

/* A square of sets of switches; text: their names. */
static void heat_layout_sets_plane(struct heat_layout *l, struct heat_plane *p,
				   const struct fabric *f, const uint32_t *of, uint32_t n,
				   char **text)
{
	uint32_t *col_of = xcalloc(f->nchan, sizeof(*col_of));

	p->nrow = p->ncol = n;
	p->row_text = p->col_text = text;
	for (uint32_t c = 0; c < f->nchan; c++)
		col_of[c] = of[f->chan_dst[c]];
	heat_layout_fill(l, p, f, of, col_of);
	free(col_of);
}

/* "sw0001..sw0016" is long: a group goes by its number and its first switch. */
static char **heat_layout_group_names(struct heat_layout *l, const struct fabric *f,
				      const struct topology_kind *s)
{
	char **text = arena_array(l->arena, char *, s->ngroup);

	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint32_t g = s->group[sw];

		if (s->place[sw])
			continue;
		text[g] = arena_array(l->arena, char, NAME_LEN + 16);
		snprintf(text[g], NAME_LEN + 16, "%u: %s", g + 1, f->sw_name[sw]);
	}
	return text;
}

/* Rows are switches by group; columns are places in the group, or the other groups. */
static void heat_layout_member_plane(struct heat_layout *l, const struct fabric *f,
				     const struct topology_kind *s, char **text, bool inside)
{
	struct heat_plane *p =
		heat_layout_add_plane(l, SET_MEMBERS, "switch", inside ? "of its group" : "group");
	uint32_t *col_of = xcalloc(f->nchan, sizeof(*col_of));

	snprintf(p->title, sizeof(p->title), "switch x %s",
		 inside ? "switch of its group" : "other group");
	p->row_sw = arena_array(l->arena, uint32_t, f->nsw);
	for (uint32_t sw = 0; inside && sw < f->nsw; sw++)
		if (s->place[sw] >= p->ncol)
			p->ncol = s->place[sw] + 1;
	if (!inside) {
		p->ncol = s->ngroup;
		p->col_text = text;
	}
	p->nrow = heat_layout_sort(p->row_sw, f, s->group);
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t a = f->chan_src[c], b = f->chan_dst[c];

		if ((s->group[a] == s->group[b]) != inside)
			col_of[c] = FAB_NONE;
		else
			col_of[c] = inside ? s->place[b] : s->group[b];
	}
	heat_layout_fill_switches(l, p, f, col_of);
	free(col_of);
}

static void heat_layout_add_group(struct heat_layout *l, const struct fabric *f,
				  const struct topology_kind *s)
{
	struct heat_plane *p = heat_layout_add_plane(l, SET_SHAPE, "group", "group");
	char **text = heat_layout_group_names(l, f, s);

	snprintf(p->title, sizeof(p->title), "group x group");
	heat_layout_sets_plane(l, p, f, s->group, s->ngroup, text);
	heat_layout_member_plane(l, f, s, text, true);
	heat_layout_member_plane(l, f, s, text, false);
}

static void heat_layout_add_rack(struct heat_layout *l, const struct fabric *f,
				 const struct racks *r)
{
	struct heat_plane *p = heat_layout_add_plane(l, SET_RACKS, "rack", "rack");
	char **text = arena_array(l->arena, char *, r->n);

	for (uint32_t i = 0; i < r->n; i++)
		text[i] = arena_strdup(l->arena, r->name[i]);
	snprintf(p->title, sizeof(p->title), "rack x rack by %s", r->from);
	heat_layout_sets_plane(l, p, f, r->of, r->n, text);
}

struct heat_layout *heat_layout_new(const struct fabric *f, const struct topology_kind *s,
				    const struct racks *r)
{
	struct heat_layout *l = xcalloc(1, sizeof(*l));

	l->fabric = fabric_get(f);
	l->arena = arena_new();
	l->note = arena_strdup(l->arena, s->note);
	if (s->kind == TOPOLOGY_TREE && s->tree->nrow - 1 <= HEAT_PLANES - 3)
		for (uint32_t low = 0; low + 1 < s->tree->nrow; low++)
			heat_layout_add_tree(l, f, s, low);
	for (uint32_t d = 0; s->kind == TOPOLOGY_HYPERX && d < s->grid->ndims; d++)
		heat_layout_add_hyperx(l, f, s->grid, d);
	for (uint32_t d = 0; s->kind == TOPOLOGY_TORUS && d < s->grid->ndims; d++)
		heat_layout_add_torus(l, f, s->grid, d);
	if (s->kind == TOPOLOGY_GROUPS)
		heat_layout_add_group(l, f, s);
	if (r && r->n)
		heat_layout_add_rack(l, f, r);
	heat_layout_add_square(l, f, false);
	heat_layout_add_square(l, f, true);
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
		     struct heat_spot *spot)
{
	bool found = false;

	for (uint32_t r = 0; r < p->nrow; r++) {
		for (uint32_t i = p->row_off[r]; i < p->row_off[r + 1]; i++) {
			bool here = p->chan[i] == chan;

			if (!here && f->chan_rev[p->chan[i]] != chan)
				continue;
			*spot = (struct heat_spot){ r, p->col[i], !here };
			found = true;
			if (here)
				return true;
		}
	}
	return found;
}
