/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/vl/vl_spread.h"

#include "engines/graph/lft_columns.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct spread {
	const struct fabric *f;
	struct tables *t;
	struct lft_columns col;
	uint32_t *out, *hop;			 /* hop: by switch, of the LID in hand */
	uint64_t *load;				 /* by channel * FAB_SLS + VL */
	unsigned first[FAB_SLS], count[FAB_SLS]; /* VLs of a layer */
	uint16_t used;				 /* VLs with a path */
};

static uint64_t *vl_spread_loads_at(const struct spread *s, uint32_t chan, unsigned vl)
{
	return s->load + (size_t)chan * FAB_SLS + vl;
}

/* Follows the path from u; weight more routes on that VL. */
static void vl_spread_add_path(struct spread *s, const uint32_t *hop, uint32_t u, unsigned vl)
{
	for (uint32_t c = hop[u]; c != FAB_NONE; c = hop[s->f->chan_dst[c]])
		*vl_spread_loads_at(s, c, vl) += s->f->sw_nterm[u];
}

/* The VL of the layer on which the path from u meets the fewest routes, the first if equal. */
static unsigned vl_spread_lightest(const struct spread *s, const uint32_t *hop, uint32_t u,
				   unsigned layer)
{
	unsigned first = s->first[layer], count = s->count[layer], best = 0;
	uint64_t sum[FAB_SLS] = { 0 };

	for (uint32_t c = hop[u]; c != FAB_NONE; c = hop[s->f->chan_dst[c]])
		for (unsigned i = 0; i < count; i++)
			sum[i] += *vl_spread_loads_at(s, c, first + i);
	for (unsigned i = 1; i < count; i++)
		best = sum[i] < sum[best] ? i : best;
	return first + best;
}

static void vl_spread_count_lid(struct spread *s, const uint32_t *hop, const struct dest *d)
{
	if (d->end >= s->f->nterm)
		return;
	for (uint32_t u = 0; u < s->f->nsw; u++)
		if (s->f->sw_nterm[u])
			vl_spread_add_path(s, hop, u, s->t->sl[(size_t)u * s->t->stride + d->lid]);
}

static void vl_spread_move_lid(struct spread *s, const uint32_t *hop, const struct dest *d)
{
	for (uint32_t u = 0; u < s->f->nsw; u++) {
		uint8_t *sl = &s->t->sl[(size_t)u * s->t->stride + d->lid];
		unsigned vl = s->first[*sl];

		if (d->end < s->f->nterm && s->f->sw_nterm[u] && hop[u] != FAB_NONE) {
			vl = vl_spread_lightest(s, hop, u, *sl);
			vl_spread_add_path(s, hop, u, vl);
		}
		*sl = (uint8_t)vl;
		s->used |= (uint16_t)(1u << vl);
	}
}

static int vl_spread_each_lid(struct spread *s, const struct dest *dests, uint32_t n,
			      struct pace *pace, uint64_t done,
			      void (*visit)(struct spread *, const uint32_t *, const struct dest *))
{
	for (uint32_t i = 0; i < n;) {
		uint32_t run = lft_columns_run(dests + i, n - i);

		/* few at a time: a LID costs a walk from every switch */
		run = run < 8 ? run : 8;
		lft_columns_read(&s->col, s->t, dests + i, run);
		for (uint32_t k = 0; k < run; k++) {
			lft_columns_chans(&s->col, k, s->hop);
			visit(s, s->hop, &dests[i + k]);
		}
		i += run;
		if (pace_tick(pace, done + i, (uint64_t)run * s->f->nsw * 16))
			return -ECANCELED;
	}
	return 0;
}

static uint64_t vl_spread_most(const struct spread *s, unsigned vl)
{
	uint64_t max = 0;

	for (uint32_t c = 0; c < s->f->nchan; c++)
		max = *vl_spread_loads_at(s, c, vl) > max ? *vl_spread_loads_at(s, c, vl) : max;
	return max;
}

/* One spare VL after another goes to the layer whose busiest channel has the most routes per VL;
 * the VLs of a layer follow each other. */
static void vl_spread_share_vls(struct spread *s, unsigned layers, unsigned vls,
				struct vl_spread_stats *stats)
{
	uint64_t max[FAB_SLS];

	stats->before = 0;
	for (unsigned i = 0; i < layers; i++) {
		max[i] = vl_spread_most(s, i);
		s->count[i] = 1;
		stats->before = max[i] > stats->before ? max[i] : stats->before;
	}
	for (unsigned spare = layers; spare < vls; spare++) {
		unsigned worst = 0;

		for (unsigned i = 1; i < layers; i++)
			if (max[i] * s->count[worst] > max[worst] * s->count[i])
				worst = i;
		s->count[worst]++;
	}
	for (unsigned i = 1; i < layers; i++)
		s->first[i] = s->first[i - 1] + s->count[i - 1];
}

/* Small fabrics leave some VLs without a path: those in use become 0, 1, 2, ... */
static void vl_spread_close_gaps(struct spread *s, const struct dest *dests, uint32_t n)
{
	uint8_t to[FAB_SLS];

	if (!(s->used & (s->used + 1)))
		return;
	for (unsigned vl = 0; vl < FAB_SLS; vl++)
		to[vl] = (uint8_t)__builtin_popcount(s->used & ((1u << vl) - 1));
	for (uint32_t u = 0; u < s->f->nsw; u++)
		for (uint32_t i = 0; i < n; i++) {
			uint8_t *sl = &s->t->sl[(size_t)u * s->t->stride + dests[i].lid];

			*sl = to[*sl];
		}
}

/* One row of SLs per source switch, whatever form they had. */
static void vl_spread_by_switch(struct tables *t, const struct fabric *f)
{
	uint8_t *row = xcalloc(t->stride, 1);

	if (t->sl_kind != SL_BY_SWITCH) {
		if (t->sl_kind == SL_BY_DLID)
			memcpy(row, t->sl, t->stride);
		else
			memset(row, t->sl_const, t->stride);
		tables_sl_form(t, SL_BY_SWITCH, f);
		for (uint32_t u = 0; u < f->nsw; u++)
			memcpy(t->sl + (size_t)u * t->stride, row, t->stride);
	}
	free(row);
}

int vl_spread(struct tables *t, const struct fabric *f, const struct dest *dests, uint32_t n,
	      unsigned layers, unsigned vls, struct pace *pace, struct vl_spread_stats *stats)
{
	struct spread s = { .f = f, .t = t };
	uint64_t done = pace->total - 2ull * n;
	int rc;

	s.out = lft_columns_ports(f);
	lft_columns_init(&s.col, f, s.out);
	s.hop = xcalloc(f->nsw, sizeof(*s.hop));
	s.load = xcalloc((size_t)f->nchan * FAB_SLS, sizeof(*s.load));
	vl_spread_by_switch(t, f);
	rc = vl_spread_each_lid(&s, dests, n, pace, done, vl_spread_count_lid);
	if (!rc) {
		vl_spread_share_vls(&s, layers, vls, stats);
		memset(s.load, 0, (size_t)f->nchan * FAB_SLS * sizeof(*s.load));
		rc = vl_spread_each_lid(&s, dests, n, pace, done + n, vl_spread_move_lid);
	}
	if (!rc) {
		vl_spread_close_gaps(&s, dests, n);
		stats->vls = (unsigned)__builtin_popcount(s.used);
		stats->after = 0;
		for (unsigned vl = 0; vl < FAB_SLS; vl++) {
			uint64_t max = vl_spread_most(&s, vl);

			stats->after = max > stats->after ? max : stats->after;
		}
	}
	free(s.load);
	lft_columns_done(&s.col);
	free(s.hop);
	free(s.out);
	return rc;
}
