/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/repair/standing.h"

#include "engines/graph/lft_columns.h"
#include "engines/repair/lid_tree.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/pool.h"

#include <errno.h>
#include <stdlib.h>

/* What a thread needs for itself. */
struct standing_worker {
	struct lft_columns columns;
	struct lid_tree tree;
	uint64_t *load;	 /* routes by channel */
	uint32_t *count; /* by switch: terminals whose paths pass it */
	uint16_t *sls;	 /* by switch: SLs of what leaves it, a bit each ... */
	uint16_t *vls;	 /* ... and by switch * FAB_SLS + SL the VLs that it is on then */
	/* by switch, where VLs are SLs: the turn behind it that was marked last, and with what */
	uint32_t *last_first, *last_second;
	uint16_t *last_sls;
	unsigned all_sls, all_vls;
	bool beyond;
};

struct standing {
	struct repair_state *r;
	struct standing_worker *workers;
	uint32_t *run; /* first destination of each turn of the loop */
	uint32_t nrun;
	struct pace *pace;
};

static void standing_put(struct standing_worker *w, const struct repair_state *r, uint32_t sw,
			 unsigned sl, unsigned vl)
{
	if (vl >= r->nvl) {
		w->beyond = true;
		return;
	}
	w->sls[sw] |= (uint16_t)(1u << sl);
	w->vls[sw * FAB_SLS + sl] |= (uint16_t)(1u << vl);
}

/* What the ends of a switch send by its entry. */
static void standing_send(struct standing_worker *w, const struct repair_state *r, uint32_t sw,
			  uint32_t lid)
{
	const struct fabric *f = r->f;
	uint8_t out = f->chan_port[w->tree.chan[sw]];

	for (uint32_t i = r->source_off[sw]; i < r->source_off[sw + 1]; i++) {
		uint8_t sl = repair_state_sl(r, i, sw, lid), in = f->term_port[r->source[i]];

		if (sl >= FAB_SLS)
			w->beyond = true;
		else
			standing_put(w, r, sw, sl, tables_vl_row(r->was, f, sw, in, out)[sl]);
	}
}

/* Neighbouring LIDs take the same turns: most are known, without a look at all turns there are. */
static bool standing_marked(struct standing_worker *w, uint32_t sw, uint32_t c, uint32_t e)
{
	uint16_t sls = w->sls[sw];

	if (w->last_first[sw] == c && w->last_second[sw] == e && !(sls & ~w->last_sls[sw]))
		return true;
	if (w->last_first[sw] != c || w->last_second[sw] != e)
		w->last_sls[sw] = 0;
	w->last_first[sw] = c;
	w->last_second[sw] = e;
	w->last_sls[sw] |= sls;
	return false;
}

/* SLs that the ends of a switch send with. */
static unsigned standing_own_sls(struct standing_worker *w, const struct repair_state *r,
				 uint32_t sw, uint32_t lid)
{
	unsigned sls = 0;

	for (uint32_t i = r->source_off[sw]; i < r->source_off[sw + 1]; i++) {
		uint8_t sl = repair_state_sl(r, i, sw, lid);

		sls |= 1u << (sl < FAB_SLS ? sl : FAB_SLS);
	}
	if (sls >> r->nvl)
		w->beyond = true;
	return sls & ((1u << r->nvl) - 1);
}

/* As standing_flow(), where SLs are VLs everywhere. */
static void standing_flow_identity(struct standing_worker *w, const struct repair_state *r,
				   const struct dest *d)
{
	const struct fabric *f = r->f;

	for (uint32_t i = 0; i + 1 < w->tree.norder; i++) {
		uint32_t sw = w->tree.order[i], c = w->tree.chan[sw], v = f->chan_dst[c];
		unsigned sls = w->sls[sw] |= (uint16_t)standing_own_sls(w, r, sw, d->lid);

		w->all_sls |= sls;
		w->all_vls |= sls;
		if (v != d->sw) {
			uint32_t e = w->tree.chan[v];

			w->sls[v] |= (uint16_t)sls;
			if (r->deps && sls && !standing_marked(w, sw, c, e))
				for (unsigned m = sls; m; m &= m - 1)
					dependencies_mark(r->deps, c, (unsigned)__builtin_ctz(m), e,
							  (unsigned)__builtin_ctz(m));
		}
		w->sls[sw] = 0;
	}
}

/* What left sw goes on from the next switch, unless it has arrived. */
static void standing_pass_on(struct standing_worker *w, const struct repair_state *r, uint32_t sw)
{
	const struct fabric *f = r->f;
	uint32_t c = w->tree.chan[sw], v = f->chan_dst[c], e = w->tree.chan[v];
	const uint8_t *row;

	if (v == w->tree.dst)
		return;
	row = tables_vl_row(r->was, f, v, f->chan_rport[c], f->chan_port[e]);
	for (unsigned m = w->sls[sw]; m; m &= m - 1) {
		unsigned sl = (unsigned)__builtin_ctz(m), vl = row[sl];

		standing_put(w, r, v, sl, vl);
		for (unsigned k = w->vls[sw * FAB_SLS + sl]; k && vl < r->nvl && r->deps;
		     k &= k - 1)
			dependencies_mark(r->deps, c, (unsigned)__builtin_ctz(k), e, vl);
	}
}

static void standing_clear(struct standing_worker *w, uint32_t sw)
{
	w->all_sls |= w->sls[sw];
	for (unsigned m = w->sls[sw]; m; m &= m - 1) {
		uint16_t *vls = &w->vls[sw * FAB_SLS + (unsigned)__builtin_ctz(m)];

		w->all_vls |= *vls;
		*vls = 0;
	}
	w->sls[sw] = 0;
}

static void standing_flow(struct standing_worker *w, const struct repair_state *r,
			  const struct dest *d)
{
	for (uint32_t i = 0; i + 1 < w->tree.norder; i++) {
		uint32_t sw = w->tree.order[i];

		standing_send(w, r, sw, d->lid);
		standing_pass_on(w, r, sw);
		standing_clear(w, sw);
	}
}

static void standing_count(struct standing_worker *w, const struct repair_state *r)
{
	const struct fabric *f = r->f;

	for (uint32_t i = 0; i + 1 < w->tree.norder; i++) {
		uint32_t sw = w->tree.order[i], c = w->tree.chan[sw];
		uint32_t n = w->count[sw] + f->sw_nterm[sw];

		w->load[c] += n;
		w->count[f->chan_dst[c]] += n;
		w->count[sw] = 0;
	}
	w->count[w->tree.dst] = 0;
}

static bool standing_turn(void *ctx, unsigned worker, uint32_t turn)
{
	struct standing *x = ctx;
	struct repair_state *r = x->r;
	struct standing_worker *w = &x->workers[worker];
	uint32_t first = x->run[turn], n = x->run[turn + 1] - first;

	lft_columns_read(&w->columns, r->was, &r->dests[first], n);
	for (uint32_t k = 0; k < n; k++) {
		const struct dest *d = &r->dests[first + k];

		r->broken[first + k] =
			lid_tree_read(&w->tree, lft_columns_at(&w->columns, k), r->out, d->sw);
		if (r->was->sl2vl_kind == SL2VL_IDENTITY)
			standing_flow_identity(w, r, d);
		else
			standing_flow(w, r, d);
		if (repair_state_counts(r, d))
			standing_count(w, r);
	}
	return !worker && pace_tick(x->pace, first + n, (uint64_t)n * r->f->nsw);
}

static void standing_begin(struct standing *x, unsigned threads)
{
	const struct repair_state *r = x->r;

	x->run = xcalloc(r->ndest + 1u, sizeof(*x->run));
	for (uint32_t i = 0; i < r->ndest; i += lft_columns_run(&r->dests[i], r->ndest - i))
		x->run[x->nrun++] = i;
	x->run[x->nrun] = r->ndest;
	x->workers = xcalloc(threads, sizeof(*x->workers));
	for (unsigned i = 0; i < threads; i++) {
		struct standing_worker *w = &x->workers[i];

		lft_columns_init(&w->columns, r->f, r->out);
		lid_tree_init(&w->tree, r->f);
		w->load = xcalloc(r->f->nchan, sizeof(*w->load));
		w->count = xcalloc(r->f->nsw, sizeof(*w->count));
		w->sls = xcalloc(r->f->nsw, sizeof(*w->sls));
		w->last_first = xcalloc(r->f->nsw, sizeof(*w->last_first));
		w->last_second = xcalloc(r->f->nsw, sizeof(*w->last_second));
		w->last_sls = xcalloc(r->f->nsw, sizeof(*w->last_sls));
		w->vls = xcalloc((size_t)r->f->nsw * FAB_SLS, sizeof(*w->vls));
	}
}

static void standing_end_worker(struct repair_state *r, struct standing_worker *w)
{
	for (uint32_t c = 0; c < r->f->nchan; c++)
		r->load[c] += w->load[c] * chan_weight(&r->weights, c);
	r->sls |= w->all_sls;
	r->vls |= w->all_vls;
	r->beyond |= w->beyond;
	lft_columns_done(&w->columns);
	lid_tree_done(&w->tree);
	free(w->load);
	free(w->count);
	free(w->sls);
	free(w->last_first);
	free(w->last_second);
	free(w->last_sls);
	free(w->vls);
}

int standing_find(struct repair_state *r, struct pace *p)
{
	struct standing x = { .r = r, .pace = p };
	struct pool *pool = pool_new(r->params->threads);
	bool cancelled;

	standing_begin(&x, pool_threads(pool));
	cancelled = pool_for(pool, x.nrun, standing_turn, &x);
	for (unsigned i = 0; i < pool_threads(pool); i++)
		standing_end_worker(r, &x.workers[i]);
	pool_free(pool);
	free(x.workers);
	free(x.run);
	return cancelled ? -ECANCELED : 0;
}
