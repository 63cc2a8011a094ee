/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/heatmap/heat_layout.h"

#include "fabric/base/mem.h"
#include "views/heatmap/heat_planes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct heat_plane *plane_add(struct heat_layout *l, uint32_t set, const char *row_name,
			     const char *col_name)
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
void plane_fill(struct heat_layout *l, struct heat_plane *p, const struct fabric *f,
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

void plane_fill_switches(struct heat_layout *l, struct heat_plane *p, const struct fabric *f,
			 const uint32_t *col_of)
{
	uint32_t *row_of = xcalloc(f->nsw, sizeof(*row_of));

	memset(row_of, 0xff, f->nsw * sizeof(*row_of));
	for (uint32_t r = 0; r < p->nrow; r++)
		row_of[p->row_sw[r]] = r;
	plane_fill(l, p, f, row_of, col_of);
	free(row_of);
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
			tree_plane(l, f, s, low);
	for (uint32_t d = 0; s->kind == TOPOLOGY_HYPERX && d < s->ndim; d++)
		hyperx_plane(l, f, s, d);
	for (uint32_t d = 0; s->kind == TOPOLOGY_TORUS && d < s->ndim; d++)
		torus_plane(l, f, s, d);
	if (s->kind == TOPOLOGY_GROUPS)
		group_planes(l, f, s);
	if (r && r->n)
		rack_plane(l, f, r);
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
