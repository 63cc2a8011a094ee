/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/heatmap/heat_layout.h"

#include "fabric/base/mem.h"
#include "fabric/base/natural.h"
#include "views/data/racks.h"
#include "views/data/state.h"

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

/* Sorting key of a row: its group, then its name. */
struct place {
	uint32_t sw, group, first;
	const char *name;
};

static int heat_layout_place_cmp(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;
	int d;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	d = natural_cmp(a->name, b->name);
	return d ? d : a->sw < b->sw ? -1 : a->sw > b->sw;
}

/* Switches of a set in the order of their places; returns how many. */
static uint32_t heat_layout_take_sorted(uint32_t *out, struct place *all, uint32_t n)
{
	qsort(all, n, sizeof(*all), heat_layout_place_cmp);
	for (uint32_t i = 0; i < n; i++)
		out[i] = all[i].sw;
	return n;
}

/* Components of the cables between two levels; group[sw] for both, else FAB_NONE. */
static uint32_t heat_layout_components(const struct fabric *f, const struct topology_kind *s,
				       uint32_t low, uint32_t *group)
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
static uint32_t heat_layout_level_order(const struct fabric *f, const struct topology_kind *s,
					uint32_t level, const uint32_t *group, uint32_t *out,
					uint32_t *rank)
{
	struct place *all = xcalloc(f->nsw, sizeof(*all));
	uint32_t n = 0, in_group = 0;

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		if (s->level[sw] == level)
			all[n++] = (struct place){ sw, group[sw], group[sw], f->sw_name[sw] };
	heat_layout_take_sorted(out, all, n);
	for (uint32_t i = 0; i < n; i++) {
		in_group = i && all[i].group == all[i - 1].group ? in_group + 1 : 0;
		rank[out[i]] = in_group;
	}
	free(all);
	return n;
}

static void heat_layout_add_tree(struct heat_layout *l, const struct fabric *f,
				 const struct topology_kind *s, uint32_t low)
{
	struct heat_plane *p;
	uint32_t *group = xcalloc(f->nsw, sizeof(*group)), *rank = xcalloc(f->nsw, sizeof(*rank));
	uint32_t *col_of = xcalloc(f->nchan, sizeof(*col_of));
	uint32_t *upper = arena_array(l->arena, uint32_t, f->nsw);
	uint32_t ngroup = heat_layout_components(f, s, low, group), nupper;
	char from[16], to[16];

	p = heat_layout_add_plane(l, SET_SHAPE, topology_kind_level_name(from, s, low),
				  topology_kind_level_name(to, s, low + 1));
	p->up = true;
	p->dir[0] = "up";
	p->dir[1] = "down";
	p->row_sw = arena_array(l->arena, uint32_t, f->nsw);
	p->nrow = heat_layout_level_order(f, s, low, group, p->row_sw, rank);
	nupper = heat_layout_level_order(f, s, low + 1, group, upper, rank);
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
	heat_layout_fill_switches(l, p, f, col_of);
	free(col_of);
	free(rank);
	free(group);
}

static void heat_layout_add_hyperx(struct heat_layout *l, const struct fabric *f,
				   const struct topology_kind *s, uint32_t d)
{
	struct place *all = xcalloc(f->nsw, sizeof(*all));
	uint32_t *col_of = xcalloc(f->nchan, sizeof(*col_of));
	struct heat_plane *p;
	char name[16];

	snprintf(name, sizeof(name), "dim %u", (d + 1) & 0xff);
	p = heat_layout_add_plane(l, SET_SHAPE, "switch", name);
	snprintf(p->title, sizeof(p->title), "HyperX dimension %u of %u", d + 1, s->ndim);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		const uint16_t *x = &s->coord[sw * TOPOLOGY_DIMS];
		uint32_t at = 0;

		for (uint32_t i = 0; i < s->ndim; i++)
			at = i == d ? at : at * s->dim[i] + x[i];
		all[sw] = (struct place){ sw, at, at * s->dim[d] + x[d], f->sw_name[sw] };
	}
	p->row_sw = arena_array(l->arena, uint32_t, f->nsw);
	p->nrow = heat_layout_take_sorted(p->row_sw, all, f->nsw);
	p->ncol = s->dim[d];
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t from = s->coord[f->chan_src[c] * TOPOLOGY_DIMS + d];
		uint32_t to = s->coord[f->chan_dst[c] * TOPOLOGY_DIMS + d];

		col_of[c] = from != to ? to : FAB_NONE;
	}
	heat_layout_fill_switches(l, p, f, col_of);
	free(col_of);
	free(all);
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
	if (rcm) {
		heat_layout_rcm_order(f, p->row_sw);
	} else {
		struct place *all = xcalloc(f->nsw, sizeof(*all));

		for (uint32_t sw = 0; sw < f->nsw; sw++)
			all[sw] = (struct place){ sw, 0, 0, f->sw_name[sw] };
		heat_layout_take_sorted(p->row_sw, all, f->nsw);
		free(all);
	}
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
static char *heat_layout_line_name(struct arena *arena, const struct topology_kind *s,
				   const uint16_t *x, uint32_t d)
{
	char *name = arena_array(arena, char, 8 * TOPOLOGY_DIMS);
	int n = 0;

	for (uint32_t i = 0; i < s->ndim; i++) {
		if (i == d)
			n += sprintf(name + n, "%s*", i ? "," : "");
		else
			n += sprintf(name + n, "%s%u", i ? "," : "", x[i]);
	}
	return name;
}

/* Position of a step up along the dimension; FAB_NONE for all others. */
static uint32_t heat_layout_step_up(const struct topology_kind *s, uint32_t from, uint32_t to,
				    uint32_t d)
{
	if (to == from + 1)
		return from;
	return s->ring[d] && s->dim[d] > 2 && from == s->dim[d] - 1 && !to ? from : FAB_NONE;
}

static void heat_layout_add_torus(struct heat_layout *l, const struct fabric *f,
				  const struct topology_kind *s, uint32_t d)
{
	uint32_t *row_of = xcalloc(f->nsw, sizeof(*row_of));
	uint32_t *col_of = xcalloc(f->nchan, sizeof(*col_of));
	struct heat_plane *p;
	char name[16];

	snprintf(name, sizeof(name), "dim %u", (d + 1) & 0xff);
	p = heat_layout_add_plane(l, SET_SHAPE, "line", name);
	snprintf(p->title, sizeof(p->title), "dimension %u of %u, step by step", d + 1, s->ndim);
	p->up = true;
	p->dir[0] = "+";
	p->dir[1] = "-";
	p->nrow = 1;
	for (uint32_t i = 0; i < s->ndim; i++)
		p->nrow *= i == d ? 1 : s->dim[i];
	p->ncol = s->dim[d];
	p->row_text = arena_array(l->arena, char *, p->nrow);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		const uint16_t *x = &s->coord[sw * TOPOLOGY_DIMS];
		uint32_t at = 0;

		for (uint32_t i = 0; i < s->ndim; i++)
			at = i == d ? at : at * s->dim[i] + x[i];
		row_of[sw] = at;
		if (!p->row_text[at])
			p->row_text[at] = heat_layout_line_name(l->arena, s, x, d);
	}
	for (uint32_t r = 0; r < p->nrow; r++)
		if (!p->row_text[r])
			p->row_text[r] = arena_strdup(l->arena, "(no switch)");
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t from = s->coord[f->chan_src[c] * TOPOLOGY_DIMS + d];
		uint32_t to = s->coord[f->chan_dst[c] * TOPOLOGY_DIMS + d];

		col_of[c] = from == to ? FAB_NONE : heat_layout_step_up(s, from, to, d);
	}
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
	struct place *all = xcalloc(f->nsw, sizeof(*all));
	uint32_t *col_of = xcalloc(f->nchan, sizeof(*col_of));

	snprintf(p->title, sizeof(p->title), "switch x %s",
		 inside ? "switch of its group" : "other group");
	p->row_sw = arena_array(l->arena, uint32_t, f->nsw);
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		all[sw] = (struct place){ sw, s->group[sw], s->group[sw], f->sw_name[sw] };
		if (inside && s->place[sw] >= p->ncol)
			p->ncol = s->place[sw] + 1;
	}
	if (!inside) {
		p->ncol = s->ngroup;
		p->col_text = text;
	}
	p->nrow = heat_layout_take_sorted(p->row_sw, all, f->nsw);
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t a = f->chan_src[c], b = f->chan_dst[c];

		if ((s->group[a] == s->group[b]) != inside)
			col_of[c] = FAB_NONE;
		else
			col_of[c] = inside ? s->place[b] : s->group[b];
	}
	heat_layout_fill_switches(l, p, f, col_of);
	free(col_of);
	free(all);
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
	if (s->kind == TOPOLOGY_TREE && s->nlevel - 1 <= HEAT_PLANES - 3)
		for (uint32_t low = 0; low + 1 < s->nlevel; low++)
			heat_layout_add_tree(l, f, s, low);
	for (uint32_t d = 0; s->kind == TOPOLOGY_HYPERX && d < s->ndim; d++)
		heat_layout_add_hyperx(l, f, s, d);
	for (uint32_t d = 0; s->kind == TOPOLOGY_TORUS && d < s->ndim; d++)
		heat_layout_add_torus(l, f, s, d);
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
