/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/dfdn/dfdn_write.h"

#include "fabric/base/mem.h"
#include "fabric/base/tile.h"

#include <errno.h>
#include <string.h>

static bool dfdn_write_is_switch(const struct fabric *f, uint32_t sw, uint32_t port)
{
	return fabric_chan(f, sw, (uint8_t)port) != FAB_NONE;
}

/* Do the links of adapters, too, have two VLs, as far as known? */
static bool dfdn_write_two_vls_everywhere(const struct fabric *f)
{
	for (uint32_t p = 0; p < f->nport; p++)
		if (f->port[p].term != FAB_NONE && f->port[p].op_vls == 1)
			return false;
	return true;
}

void dfdn_write_two(struct tables *t, const struct fabric *f)
{
	t->vls = 2;
	t->sls = 1;
	if (dfdn_write_two_vls_everywhere(f)) {
		tables_sl2vl_form(t, SL2VL_BY_INPUT, f);
		memset(t->sl2vl + 2 * FAB_SLS, 1, FAB_SLS);
		return;
	}
	tables_sl2vl_form(t, SL2VL_FULL, f);
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t in = 1; in <= f->sw_nports[sw]; in++)
			for (uint32_t out = 1; out <= f->sw_nports[sw]; out++)
				if (dfdn_write_is_switch(f, sw, in) &&
				    dfdn_write_is_switch(f, sw, out))
					memset(tables_sl2vl_row(t, sw, in, out), 1, FAB_SLS);
}

struct write {
	const struct fabric *f;
	struct tables *t;
	const struct dfdn_levels *levels;
	bool *first;	/* by position: the first SL is good for the path from there */
	uint32_t *turn; /* of the path at hand */
	uint8_t *sl;	/* by LID * nsw + switch */
	uint16_t *seen; /* by turn */
	uint16_t all;
};

static unsigned dfdn_write_first_sl(const struct dfdn_good *good)
{
	unsigned sl = 0;

	while (!good->sl[sl])
		sl++;
	return sl;
}

/* The first SL that is good for the path from position i. */
static unsigned dfdn_write_search_sl(struct write *w, const struct dfdn_tree *x, uint32_t i)
{
	uint32_t n = dfdn_tree_path(x, i, w->turn);
	struct dfdn_good good;

	memset(&good, 0xff, sizeof(good));
	while (--n)
		dfdn_levels_good(&good, w->levels, w->turn[n - 1], w->turn[n], &good);
	return dfdn_write_first_sl(&good);
}

static uint8_t dfdn_write_choose(struct write *w, const struct dfdn_tree *x, uint32_t i)
{
	uint32_t p = x->parent[i];

	w->first[i] = !p || !x->parent[p] ||
		      (w->first[p] && dfdn_levels_good_first(w->levels, x->turn[i], x->turn[p]));
	return x->source[i] && !w->first[i] ? (uint8_t)dfdn_write_search_sl(w, x, i) : 0;
}

static bool dfdn_write_tree(void *ctx, const struct dfdn_tree *x, uint32_t k)
{
	struct write *w = ctx;
	uint8_t *sl = w->sl + (size_t)k * x->n;

	if (x->nnews + 1 < x->n)
		memcpy(sl, sl - x->n, x->n);
	sl[x->at[0]] = 0;
	for (uint32_t a = 0; a < x->nnews; a++) {
		uint32_t i = x->news[a];
		uint16_t bit;

		sl[x->at[i]] = dfdn_write_choose(w, x, i);
		if (!x->source[i])
			continue;
		bit = (uint16_t)(1u << sl[x->at[i]]);
		w->all |= bit;
		for (uint32_t p = i; x->parent[p]; p = x->parent[p])
			w->seen[x->turn[p]] |= bit;
	}
	return false;
}

/* The switch's own LID when d is the LID that it follows, else 0. */
static uint32_t dfdn_write_follower(const struct fabric *f, const struct dest *d)
{
	uint32_t k = f->term_off[d->sw];

	if (d->end >= f->nterm || d->lid != f->term_lid[d->end])
		return 0;
	while (f->term_list[k] >= f->nterm)
		k++;
	return f->term_list[k] == d->end ? f->sw_lid[d->sw] : 0;
}

static void dfdn_write_lids(void *ctx, const struct dest *d, uint32_t n)
{
	struct write *w = ctx;
	struct tables *t = w->t;
	uint8_t *to = t->sl;
	uint32_t run;

	for (uint32_t k = 0; k < n && to; k += run) {
		for (run = 1; k + run < n && d[k + run].lid == d[k].lid + run;)
			run++;
		tile_turn(to + d[k].lid, t->stride, w->sl + (size_t)k * t->nsw, t->nsw, run,
			  t->nsw);
	}
	for (uint32_t k = 0; k < n && to; k++) {
		uint32_t own = dfdn_write_follower(w->f, &d[k]);

		for (uint32_t u = 0; own && u < t->nsw; u++)
			to[(size_t)u * t->stride + own] = w->sl[(size_t)k * t->nsw + u];
	}
}

static void dfdn_write_fill_row(const struct write *w, uint8_t *vl, uint32_t turn)
{
	dfdn_levels_row(vl, w->levels, turn, w->seen[turn]);
}

/* What comes from adapters or goes to them is on VL 0, which the table holds already. */
static int dfdn_write_sl2vl(const struct write *w, const struct dfdn_tree *x, struct pace *p)
{
	struct tables *t = w->t;
	const struct fabric *f = x->f;

	tables_sl2vl_form(t, SL2VL_FULL, f);
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t sw = f->chan_dst[c];

		for (uint32_t e = f->chan_off[sw]; e < f->chan_off[sw + 1]; e++)
			dfdn_write_fill_row(
				w, tables_sl2vl_row(t, sw, f->chan_rport[c], f->chan_port[e]),
				turns_at(&x->turns, c, e));
		if (pace_tick(p, p->total - 1, 16ull * f->sw_nports[sw]))
			return -ECANCELED;
	}
	return 0;
}

int dfdn_write(struct tables *t, struct dfdn_tree *tree, struct dfdn_levels *l, unsigned nsls,
	       struct pace *p)
{
	struct arena *mem = arena_new();
	struct write w = { .f = tree->f, .t = t, .levels = l };
	struct dfdn_visit v = { .tree = dfdn_write_tree, .lids = dfdn_write_lids, .ctx = &w };
	int rc;

	if (nsls > 1)
		graph_sls_by_switch(t, tree->f, p->progress, p->step);
	w.first = arena_alloc(mem, tree->n, sizeof(*w.first));
	w.turn = arena_alloc(mem, tree->n, sizeof(*w.turn));
	w.sl = arena_alloc(mem, (size_t)tree->n * DFDN_TREE_LIDS, sizeof(*w.sl));
	w.seen = arena_alloc(mem, tree->turns.n, sizeof(*w.seen));
	rc = dfdn_tree_visit(tree, &v, p);
	if (!rc) {
		t->vls = (uint8_t)dfdn_levels_close(l, w.seen);
		t->sls = (uint8_t)__builtin_popcount(w.all);
		rc = dfdn_write_sl2vl(&w, tree, p);
	}
	arena_free(mem);
	return rc;
}
