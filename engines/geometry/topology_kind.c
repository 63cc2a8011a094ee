/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups: cables inside a group lie on many triangles, those between groups on few or none.
 */
#include "engines/geometry/topology_kind.h"

#include "engines/geometry/grid/grid_find.h"
#include "engines/geometry/grid/hyperx.h"
#include "engines/geometry/grid/torus.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"
#include "fabric/base/text/natural.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_MIN  3
#define GROUP_MIN   3  /* switches */
#define UNEVEN_PCT  25 /* the smallest may lack so many of the largest: broken switches */
#define CLOSE_SHARE 2  /* triangles of a cable inside: at least the largest number / this */

static bool topology_kind_find_hyperx(struct topology_kind *s, const struct fabric *f)
{
	return !hyperx_find(&s->grid, f, NULL, NULL) && s->grid->ndims >= 2 &&
	       s->grid->ndims <= TOPOLOGY_DIMS;
}

static void topology_kind_note_torus(struct topology_kind *s, const struct grid *l)
{
	static const char *const how[] = {
		[GRID_FROM_CABLES] = "",
		[GRID_FROM_NAMES] = "dimensions from switch names",
		[GRID_FROM_RING_PORTS] = "rings of 4 by port numbers",
		[GRID_FROM_PORTS] = "dimensions from port numbers",
		[GRID_FROM_ANY] = "it is unknown which 2x2 are a ring of 4",
	};
	uint32_t nholes = l->ncell - l->nsw;
	char missing[64] = "", holes[64] = "";

	if (l->missing)
		snprintf(missing, sizeof(missing), "%u cable%s missing, ", l->missing,
			 plural(l->missing));
	if (nholes)
		snprintf(holes, sizeof(holes), "%u switch%s missing, ", nholes,
			 nholes == 1 ? "" : "es");
	snprintf(s->note, sizeof(s->note), "%s%s%s", missing, holes, how[l->from]);
	if (!how[l->from][0] && s->note[0])
		s->note[strlen(s->note) - 2] = '\0';
}

/* Two or three switches in a row are no torus that anybody speaks of. */
static bool topology_kind_is_torus(const struct grid *l)
{
	return l->ndims <= TOPOLOGY_DIMS && (l->ndims > 1 || l->size[0] > 3);
}

static bool topology_kind_find_torus(struct topology_kind *s, const struct fabric *f)
{
	struct grid *l = NULL;
	struct err err;

	if (grid_find(&l, f, &err)) {
		snprintf(s->note, sizeof(s->note), "not a torus: %.140s", err.text);
		return false;
	}
	if (topology_kind_is_torus(l)) {
		grid_free(s->grid);
		s->kind = TOPOLOGY_TORUS;
		s->grid = l;
		topology_kind_note_torus(s, l);
		return true;
	}
	if (l->ndims > TOPOLOGY_DIMS)
		snprintf(s->note, sizeof(s->note), "a grid of %u dimensions; %d are shown at most",
			 l->ndims, TOPOLOGY_DIMS);
	grid_free(l);
	return false;
}

/* Of every channel: neighbours that its two switches have in common.  Returns the most. */
static uint32_t topology_kind_count_triangles(const struct fabric *f, uint32_t *common)
{
	uint32_t *mark = xcalloc(f->nsw, sizeof(*mark)), *seen = xcalloc(f->nsw, sizeof(*seen));
	uint32_t most = 0, turn = 0;

	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++)
			mark[f->chan_dst[c]] = sw + 1;
		for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++) {
			uint32_t to = f->chan_dst[c];

			turn++;
			for (uint32_t e = f->chan_off[to]; e < f->chan_off[to + 1]; e++) {
				uint32_t via = f->chan_dst[e];

				if (mark[via] != sw + 1 || via == sw || seen[via] == turn)
					continue;
				seen[via] = turn;
				common[c]++;
			}
			most = common[c] > most ? common[c] : most;
		}
	}
	free(seen);
	free(mark);
	return most;
}

/* Components of the channels with at least that many triangles. */
static void topology_kind_join_groups(struct topology_kind *s, const struct fabric *f,
				      const uint32_t *common, uint32_t least,
				      const uint32_t *by_name)
{
	uint32_t *queue = xcalloc(f->nsw, sizeof(*queue));

	memset(s->group, 0xff, f->nsw * sizeof(*s->group));
	for (uint32_t i = 0; i < f->nsw; i++) {
		uint32_t head = 0, tail = 0;

		if (s->group[by_name[i]] != FAB_NONE)
			continue;
		s->group[by_name[i]] = s->ngroup;
		queue[tail++] = by_name[i];
		while (head < tail) {
			uint32_t at = queue[head++];

			for (uint32_t c = f->chan_off[at]; c < f->chan_off[at + 1]; c++) {
				uint32_t to = f->chan_dst[c];

				if (common[c] < least || s->group[to] != FAB_NONE)
					continue;
				s->group[to] = s->ngroup;
				queue[tail++] = to;
			}
		}
		s->ngroup++;
	}
	free(queue);
}

struct named {
	const char *name;
	uint32_t sw;
};

static int topology_kind_named_cmp(const void *pa, const void *pb)
{
	const struct named *a = pa, *b = pb;
	int d = natural_cmp(a->name, b->name);

	return d ? d : a->sw < b->sw ? -1 : a->sw > b->sw;
}

uint32_t *topology_kind_order_by_name(const struct fabric *f)
{
	struct named *all = xcalloc(f->nsw, sizeof(*all));
	uint32_t *out = xcalloc(f->nsw, sizeof(*out));

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		all[sw] = (struct named){ f->sw_name[sw], sw };
	qsort(all, f->nsw, sizeof(*all), topology_kind_named_cmp);
	for (uint32_t i = 0; i < f->nsw; i++)
		out[i] = all[i].sw;
	free(all);
	return out;
}

/* Several groups of about the same size? */
static bool topology_kind_even_groups(const struct topology_kind *s, const struct fabric *f)
{
	uint32_t *size = xcalloc(s->ngroup, sizeof(*size)), least = UINT32_MAX, most = 0;

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		size[s->group[sw]]++;
	for (uint32_t g = 0; g < s->ngroup; g++) {
		least = size[g] < least ? size[g] : least;
		most = size[g] > most ? size[g] : most;
	}
	free(size);
	return s->ngroup >= GROUPS_MIN && least >= GROUP_MIN &&
	       least * 100 >= most * (100 - UNEVEN_PCT);
}

static bool topology_kind_find_groups(struct topology_kind *s, const struct fabric *f)
{
	uint32_t *common = xcalloc(f->nchan + 1ull, sizeof(*common));
	uint32_t most = topology_kind_count_triangles(f, common);
	uint32_t *by_name = topology_kind_order_by_name(f), *size = xcalloc(f->nsw, sizeof(*size));
	uint32_t least = most > CLOSE_SHARE ? most / CLOSE_SHARE : 1;
	bool ok = false;

	s->group = xcalloc(f->nsw, sizeof(*s->group));
	s->place = xcalloc(f->nsw, sizeof(*s->place));
	if (most) {
		topology_kind_join_groups(s, f, common, least, by_name);
		ok = topology_kind_even_groups(s, f);
	}
	for (uint32_t i = 0; ok && i < f->nsw; i++)
		s->place[by_name[i]] = size[s->group[by_name[i]]]++;
	free(size);
	free(by_name);
	free(common);
	return ok;
}

/* Tries a torus or mesh, then groups; sets the kind when it is one. */
static void topology_kind_find_more(struct topology_kind *s, const struct fabric *f)
{
	if (topology_kind_find_torus(s, f) || !topology_kind_find_groups(s, f))
		return;
	s->kind = TOPOLOGY_GROUPS;
	s->note[0] = '\0';
}

/* Full graphs of two and three are rings as well, and two of two a ring of four. */
static bool topology_kind_like_rings(const struct grid *g)
{
	uint32_t two = 0;

	for (uint32_t d = 0; d < g->ndims; d++) {
		if (g->size[d] > 3)
			return false;
		two += g->size[d] == 2;
	}
	return two > 1 && g->ndims > 2;
}

/* What it is not after all. */
static void topology_kind_drop_others(struct topology_kind *s)
{
	if (s->kind != TOPOLOGY_TREE) {
		tree_free(s->tree);
		s->tree = NULL;
	}
	if (s->kind != TOPOLOGY_HYPERX && s->kind != TOPOLOGY_TORUS) {
		grid_free(s->grid);
		s->grid = NULL;
	}
}

struct topology_kind *topology_kind_new(const struct fabric *f)
{
	struct topology_kind *s = xcalloc(1, sizeof(*s));

	s->tree = tree_new(f);
	if (s->tree->rows)
		s->kind = TOPOLOGY_TREE;
	else if (topology_kind_find_hyperx(s, f) &&
		 !(topology_kind_like_rings(s->grid) && topology_kind_find_torus(s, f)))
		s->kind = TOPOLOGY_HYPERX;
	else if (s->kind != TOPOLOGY_TORUS)
		topology_kind_find_more(s, f);
	if (s->kind == TOPOLOGY_HYPERX)
		s->note[0] = '\0';
	topology_kind_drop_others(s);
	return s;
}

/* The same dimensions for whole grids as ever; then a HyperX, a torus or a mesh of which something
 * is missing. */
static int topology_kind_find_grid(struct topology_kind *s, const struct fabric *f,
				   struct progress *progress, struct err *err)
{
	struct err why = { "" };
	int rc = torus_find(&s->grid, f, &why);

	if (rc != -EINVAL)
		return rc ? err_set(err, rc, "%s", why.text) : 0;
	rc = hyperx_find(&s->grid, f, progress, NULL);
	if (rc != -EINVAL) {
		s->kind = TOPOLOGY_HYPERX;
		return rc;
	}
	rc = grid_find(&s->grid, f, &why);
	return rc ? err_set(err, rc, "no torus, mesh or HyperX, not even with cables missing: %s",
			    why.text)
		  : 0;
}

int topology_kind_find(struct topology_kind **out, const struct fabric *f, enum topology_kind_id as,
		       struct progress *progress, struct err *err)
{
	struct topology_kind *s = xcalloc(1, sizeof(*s));
	int rc;

	s->kind = as;
	if (as == TOPOLOGY_TREE) {
		s->tree = tree_new(f);
		rc = s->tree->rc ? err_set(err, s->tree->rc, "%s", s->tree->why.text) : 0;
	} else if (as == TOPOLOGY_HYPERX) {
		rc = hyperx_find(&s->grid, f, progress, err);
	} else {
		rc = topology_kind_find_grid(s, f, progress, err);
	}
	if (rc)
		topology_kind_free(s);
	else
		*out = s;
	return rc;
}

void topology_kind_free(struct topology_kind *s)
{
	if (!s)
		return;
	tree_free(s->tree);
	grid_free(s->grid);
	free(s->group);
	free(s->place);
	free(s);
}

const char *topology_kind_level_name(char buf[16], const struct topology_kind *s, uint32_t row)
{
	static const char *const two[] = { "leaf", "spine" };
	static const char *const three[] = { "leaf", "agg", "core" };

	if (s->tree->nrow == 2 && row < 2)
		return two[row];
	if (s->tree->nrow == 3 && row < 3)
		return three[row];
	snprintf(buf, 16, "level %u", row & 0xff);
	return buf;
}

void topology_kind_name(char *buf, size_t len, const struct topology_kind *s)
{
	char dims[96];

	if (s->kind == TOPOLOGY_TREE)
		snprintf(buf, len, "tree of %u levels", s->tree->nrow);
	else if (s->kind == TOPOLOGY_GROUPS)
		snprintf(buf, len, "%u groups", s->ngroup);
	else if (s->kind == TOPOLOGY_HYPERX)
		snprintf(buf, len, "HyperX %s", grid_dims_text(dims, sizeof(dims), s->grid));
	else if (s->kind == TOPOLOGY_TORUS)
		snprintf(buf, len, "%s %s", grid_has_rings(s->grid) ? "torus" : "mesh",
			 grid_dims_text(dims, sizeof(dims), s->grid));
	else
		snprintf(buf, len, "general graph");
}

void topology_kind_sentence(char *buf, size_t len, const struct topology_kind *s)
{
	size_t n;

	topology_kind_name(buf, len, s);
	n = strlen(buf);
	if (s->kind == TOPOLOGY_GROUPS)
		snprintf(buf + n, len - n, " of close switches");
	else if (s->grid && s->grid->missing)
		snprintf(buf + n, len - n, ", %u cable%s missing", s->grid->missing,
			 plural(s->grid->missing));
}
