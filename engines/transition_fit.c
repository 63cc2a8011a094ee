/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * First fit from nothing: a few waves are fixed beforehand, each with its graph, and one LID after
 * the other joins them all when none of the graphs gets a cycle; who does not fit needs the drain.
 *
 * Where nearly everything changes that finds more in less time than starting from all the old
 * dependencies, which leave new ones no room.
 */
#include "engines/transition_priv.h"

#include "fabric/base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS	   3 /* waves of LFTs */
#define MAX_STAGES (LEVELS + 1)

struct fit {
	struct search *s;
	bool sl2vl; /* stage 0 is the wave of the SL2VL tables */
	uint32_t nstages;
	struct tgraph *g[MAX_STAGES];
	VEC(struct tdep) added[MAX_STAGES]; /* of the LID at hand */
	uint8_t *level;			    /* by switch: when its entry changes, from 0 */
	uint32_t nlevels;
	uint8_t *lft;
	uint64_t limit;
	struct found *r;
};

/* Has no choice of its own: the same dependencies in all waves. */
static bool is_static(const struct fit *x, const struct item *it)
{
	return !x->sl2vl && !it->lft && !(it->sl && x->s->sl_waves == AGE_BOTH);
}

static uint64_t count_work(struct fit *x, uint32_t g, uint64_t before)
{
	uint64_t now = tgraph_work(x->g[g]);

	x->s->graphs_done += now - before;
	return now;
}

/* Those that have no choice; what cycles they make is none of ours. */
static int put_static(struct fit *x, const uint8_t *drained)
{
	struct search *s = x->s;
	const struct tdep *d;
	uint32_t n;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct item *it = &s->item[i];
		struct ages a = { .lft_all = AGE_OLD, .sl = AGE_OLD, .sl2vl = AGE_OLD };

		if (drained[i] || !is_static(x, it))
			continue;
		flow_load(s->flow, it->lid);
		flow_run(s->flow, &a);
		d = flow_deps(s->flow, &n);
		for (uint32_t g = 0; g < x->nstages; g++)
			tgraph_put_all(x->g[g], d, n);
		s->graphs_done += (uint64_t)n * x->nstages;
		if (search_tick(s))
			return -ECANCELED;
	}
	for (uint32_t g = 0; g < x->nstages; g++)
		if (!tgraph_sort(x->g[g])) {
			tgraph_contract(x->g[g]);
			tgraph_sort(x->g[g]);
		}
	return 0;
}

/* Which entries of the LID change in which wave, in as few as this finds; false: too many.  The
 * LID is loaded. */
static bool choose_levels(struct fit *x, const struct item *it)
{
	struct search *s = x->s;
	struct ages a = { .lft_all = AGE_BOTH };
	uint32_t nsw = s->f->nsw;

	memset(x->level, 0, nsw);
	x->nlevels = it->lft;
	if (!it->lft || flow_no_loop(s->flow, &a))
		return true;
	memset(x->lft, AGE_OLD, nsw);
	for (x->nlevels = 0; x->nlevels < LEVELS; x->nlevels++) {
		bool left = false;

		flow_grow(s->flow, x->lft);
		for (uint32_t sw = 0; sw < nsw; sw++) {
			if (x->lft[sw] == AGE_BOTH) {
				x->level[sw] = (uint8_t)x->nlevels;
				x->lft[sw] = AGE_NEW;
			}
			left |= x->lft[sw] == AGE_OLD && flow_lft_changes_at(s->flow, sw);
		}
		if (!left) {
			x->nlevels++;
			return true;
		}
	}
	return false;
}

static uint8_t age_in(uint32_t level, uint32_t now)
{
	return level > now ? AGE_OLD : level == now ? AGE_BOTH : AGE_NEW;
}

/* The ages of a LID in a stage when its first level changes in the LFT wave first. */
static struct ages ages_in(struct fit *x, uint32_t stage, uint32_t first)
{
	struct ages a = { .lft = x->lft, .sl = x->s->sl_waves, .sl2vl = AGE_OLD };
	uint32_t now = stage - x->sl2vl;

	if (x->sl2vl && !stage) {
		a.lft = NULL;
		a.lft_all = AGE_OLD;
		a.sl2vl = AGE_BOTH;
		return a;
	}
	if (x->sl2vl)
		a.sl2vl = AGE_NEW;
	if (!x->nlevels) { /* the entries stay */
		a.lft = NULL;
		a.lft_all = AGE_OLD;
		return a;
	}
	for (uint32_t sw = 0; sw < x->s->f->nsw; sw++)
		x->lft[sw] = age_in(first + x->level[sw], now);
	return a;
}

static bool add_stage(struct fit *x, struct item *it, uint32_t g, uint32_t first)
{
	struct search *s = x->s;
	struct ages a = ages_in(x, g, first);
	uint64_t before = tgraph_work(x->g[g]);
	const struct tdep *d;
	uint32_t n, i = 0;

	x->added[g].n = 0;
	if (!search_run(s, it, &a))
		return false;
	d = flow_deps(s->flow, &n);
	while (i < n && tgraph_add(x->g[g], &d[i])) {
		vec_push(&x->added[g], d[i++]);
		if (i % 32)
			continue;
		before = count_work(x, g, before);
		search_tick(s); /* shows that it lives; whether cancelled is asked soon enough */
	}
	count_work(x, g, before);
	return i == n;
}

/* In all stages, or in none. */
static bool add_everywhere(struct fit *x, struct item *it, uint32_t first)
{
	for (uint32_t g = 0; g < x->nstages; g++) {
		if (add_stage(x, it, g, first))
			continue;
		for (uint32_t k = 0; k <= g; k++)
			for (size_t i = 0; i < x->added[k].n; i++)
				tgraph_remove(x->g[k], &x->added[k].v[i]);
		return false;
	}
	return true;
}

static void note_moves(struct fit *x, uint32_t item, uint32_t first)
{
	uint32_t nsw = x->s->f->nsw;

	for (uint32_t k = 0; k < x->nlevels; k++) {
		struct move m = { .item = item, .wave = x->sl2vl + first + k };

		if (x->nlevels > 1) {
			m.lft_wide = xcalloc(nsw, 1);
			for (uint32_t sw = 0; sw < nsw; sw++)
				m.lft_wide[sw] = age_in(x->level[sw], k);
		}
		vec_push(&x->r->moves, m);
	}
}

static bool fits(struct fit *x, uint32_t i)
{
	struct item *it = &x->s->item[i];

	flow_load(x->s->flow, it->lid);
	if (!choose_levels(x, it))
		return false;
	for (uint32_t first = 0; first + x->nlevels <= LEVELS; first++) {
		if (add_everywhere(x, it, first)) {
			note_moves(x, i, first);
			return true;
		}
		if (!it->lft || search_work(x->s) > x->limit || search_tick(x->s))
			break;
	}
	return false;
}

static int join_all(struct fit *x, const uint32_t *order, const uint8_t *drained)
{
	struct search *s = x->s;

	for (uint32_t k = 0; k < s->n; k++) {
		uint32_t i = order[k];

		x->r->drained[i] = drained[i];
		x->r->ndrain += drained[i] != 0;
		if (drained[i] || is_static(x, &s->item[i]))
			continue;
		if (search_work(s) > x->limit || !fits(x, i)) {
			x->r->drained[i] = TRANSITION_NO_ORDER + 1;
			x->r->ndrain++;
		}
		if (search_tick(s))
			return -ECANCELED;
	}
	return 0;
}

static int by_wave(const void *a, const void *b)
{
	const struct move *x = a, *y = b;

	if (x->wave != y->wave)
		return x->wave < y->wave ? -1 : 1;
	return (x->item > y->item) - (x->item < y->item);
}

/* Waves in which nothing moves are none; entries without traffic need one that is. */
static void close_gaps(struct fit *x)
{
	struct found *r = x->r;
	uint32_t last = FAB_NONE;

	r->nwaves = r->first_lft = x->sl2vl;
	if (r->moves.n)
		qsort(r->moves.v, r->moves.n, sizeof(*r->moves.v), by_wave);
	for (size_t i = 0; i < r->moves.n; i++) {
		uint32_t wave = r->moves.v[i].wave;

		r->nwaves += wave != last;
		last = wave;
		r->moves.v[i].wave = r->nwaves - 1;
	}
}

int search_first_fit(struct found **out, struct search *s, const uint32_t *order,
		     const uint8_t *drained, uint64_t limit)
{
	struct fit x = { .s = s, .sl2vl = flow_sl2vl_changes(s->flow), .limit = limit };
	int rc;

	search_no_graph(s);
	x.nstages = LEVELS + x.sl2vl;
	x.r = xcalloc(1, sizeof(*x.r));
	x.r->drained = xcalloc(s->n, 1);
	x.r->old_cyclic = s->old_cyclic;
	x.level = xcalloc(s->f->nsw, 1);
	x.lft = xcalloc(s->f->nsw, 1);
	for (uint32_t g = 0; g < x.nstages; g++)
		x.g[g] = tgraph_new(s->f, &s->turns, flow_nvl(s->flow));
	rc = put_static(&x, drained);
	if (!rc)
		rc = join_all(&x, order, drained);
	if (!rc)
		close_gaps(&x);
	*out = rc ? NULL : x.r;
	if (rc)
		found_free(x.r);
	for (uint32_t g = 0; g < x.nstages; g++) {
		tgraph_free(x.g[g]);
		vec_free(&x.added[g]);
	}
	free(x.level);
	free(x.lft);
	return rc;
}
