/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/heatmap/heat_rows.h"

#include "fabric/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct key {
	double first; /* ascending */
	uint32_t row;
};

static int heat_window_key_cmp(const void *pa, const void *pb)
{
	const struct key *a = pa, *b = pb;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

const char *heat_sort_name(enum heat_sort sort)
{
	static const char *const names[HEAT_SORTS] = { "", "by utilisation", "by rack" };

	return names[sort];
}

bool heat_sort_suits(enum heat_sort sort, const struct heat_plane *p, const struct racks *r)
{
	return sort != HEAT_BY_RACK || (p->row_sw && r && r->n);
}

static double heat_window_util_of(const struct state *s, uint32_t chan)
{
	const struct port_rate *r = state_rate(s, chan_fabric_port(s->fabric, chan));

	return r && isfinite(r->util_pct) ? r->util_pct : -1;
}

static double heat_window_most_used(const struct heat_plane *p, const struct state *s, uint32_t row)
{
	double most = -1;

	for (uint32_t i = p->row_off[row]; i < p->row_off[row + 1]; i++) {
		most = fmax(most, heat_window_util_of(s, p->chan[i]));
		most = fmax(most, heat_window_util_of(s, s->fabric->chan_rev[p->chan[i]]));
	}
	return most;
}

void heat_rows_set(struct heat_rows *out, const struct heat_plane *p, enum heat_sort sort,
		   const struct state *s, const struct racks *r)
{
	struct key *keys;

	if (p->nrow > out->cap) {
		out->row = xrealloc(out->row, p->nrow, sizeof(*out->row));
		out->cap = p->nrow;
	}
	out->n = p->nrow;
	if (sort == HEAT_BY_PLACE || !heat_sort_suits(sort, p, r)) {
		for (uint32_t i = 0; i < p->nrow; i++)
			out->row[i] = i;
		return;
	}
	keys = xcalloc(p->nrow, sizeof(*keys));
	for (uint32_t i = 0; i < p->nrow; i++) {
		keys[i].row = i;
		keys[i].first = sort == HEAT_BY_UTIL ? -heat_window_most_used(p, s, i)
						     : r->of[p->row_sw[i]];
	}
	qsort(keys, p->nrow, sizeof(*keys), heat_window_key_cmp);
	for (uint32_t i = 0; i < p->nrow; i++)
		out->row[i] = keys[i].row;
	free(keys);
}

uint32_t heat_rows_find(const struct heat_rows *rows, uint32_t row)
{
	for (uint32_t i = 0; i < rows->n; i++)
		if (rows->row[i] == row)
			return i;
	return 0;
}

void heat_rows_done(struct heat_rows *rows)
{
	free(rows->row);
	memset(rows, 0, sizeof(*rows));
}
