/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shapes that are neither trees nor HyperX: tori, and groups: cables inside a group lie on many
 * triangles, those between groups on few or none. */
#include "engines/geometry/topology_kind.h"

#include "engines/geometry/grid_layout.h"
#include "fabric/base/mem.h"
#include "fabric/base/natural.h"
#include "fabric/base/plural.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_MIN  3
#define GROUP_MIN   3  /* switches */
#define UNEVEN_PCT  25 /* the smallest may lack so many of the largest: broken switches */
#define CLOSE_SHARE 2  /* triangles of a cable inside: at least the largest number / this */

static void topology_kind_note_torus(struct topology_kind *s, const struct grid_layout *l)
{
	static const char *const how[] = {
		[GRID_LAYOUT_CABLES] = "",
		[GRID_LAYOUT_NAMES] = "dimensions from switch names",
		[GRID_LAYOUT_PORTS] = "rings of 4 by port numbers",
		[GRID_LAYOUT_STEPS] = "dimensions from port numbers",
		[GRID_LAYOUT_ANY] = "which 2x2 are a ring of 4 is not known",
	};
	char missing[64] = "", holes[64] = "";

	if (l->missing)
		snprintf(missing, sizeof(missing), "%u cable%s missing, ", l->missing,
			 plural(l->missing));
	if (l->holes)
		snprintf(holes, sizeof(holes), "%u switch%s missing, ", l->holes,
			 l->holes == 1 ? "" : "es");
	snprintf(s->note, sizeof(s->note), "%s%s%s", missing, holes, how[l->from]);
	if (!how[l->from][0] && s->note[0])
		s->note[strlen(s->note) - 2] = '\0';
}

/* Two or three switches in a row are no torus that anybody speaks of. */
static bool topology_kind_is_torus(const struct grid_layout *l)
{
	return l->ndim <= TOPOLOGY_DIMS && (l->ndim > 1 || l->dim[0] > 3);
}

bool topology_kind_find_torus(struct topology_kind *s, const struct fabric *f)
{
	struct grid_layout *l = NULL;
	struct err err;
	bool ok;

	if (grid_layout_find(&l, f, &err)) {
		snprintf(s->note, sizeof(s->note), "no torus: %.140s", err.text);
		return false;
	}
	ok = topology_kind_is_torus(l);
	if (ok) {
		s->kind = TOPOLOGY_TORUS;
		s->ndim = l->ndim;
		s->missing = l->missing;
		topology_kind_note_torus(s, l);
		for (uint32_t d = 0; d < l->ndim; d++) {
			s->dim[d] = l->dim[d];
			s->ring[d] = l->ring[d];
		}
		for (uint32_t sw = 0; sw < f->nsw; sw++)
			memcpy(&s->coord[(size_t)sw * TOPOLOGY_DIMS],
			       &l->coord[(size_t)sw * GRID_LAYOUT_DIMS],
			       l->ndim * sizeof(*s->coord));
	} else if (l->ndim > TOPOLOGY_DIMS) {
		snprintf(s->note, sizeof(s->note), "a grid of %u dimensions; %d are shown at most",
			 l->ndim, TOPOLOGY_DIMS);
	}
	grid_layout_free(l);
	return ok;
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

static uint32_t *topology_kind_order_by_name(const struct fabric *f)
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

void topology_kind_find_more(struct topology_kind *s, const struct fabric *f)
{
	if (topology_kind_find_torus(s, f) || !topology_kind_find_groups(s, f))
		return;
	s->kind = TOPOLOGY_GROUPS;
	s->note[0] = '\0';
}
