/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/time/sar_aim.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"

#include <errno.h>
#include <stdlib.h>

#define EXPONENT 6
#define PASSES	 4
#define AT_LEAST 2  /* blocks in a pass */
#define ROOM	 64 /* one block in so many is left for paths that become too long */

struct aim_block {
	uint32_t sw, first, n; /* destinations */
	double saves;
};

struct aim {
	struct sar_search *s;
	struct sar_mover *m;
	const struct sar_search_opts *opts;
	bool careful; /* take no entry that costs something */
	struct sar_mover_rule on, back;
	struct tables *t;
	uint8_t *want;	    /* by switch * stride + LID: port in the target; 0: no matter */
	struct dest *dests; /* of jobs, by LID */
	uint32_t ndest;
	VEC(struct aim_block) blocks;
	uint8_t *was; /* by destination: entry of the switch in hand */
};

static int sar_aim_dest_cmp(const void *a, const void *b)
{
	const struct dest *x = a, *y = b;

	return x->lid < y->lid ? -1 : x->lid > y->lid;
}

static void sar_aim_find_dests(struct aim *a)
{
	const struct fabric *f = a->s->f;

	a->dests = xcalloc(f->nterm, sizeof(*a->dests));
	for (uint32_t i = 0; i < f->nterm; i++)
		if (a->s->x.off[i] < a->s->x.off[i + 1] && !sar_search_is_pinned(a->s, i))
			a->dests[a->ndest++] = sar_search_dest(a->s, i);
	qsort(a->dests, a->ndest, sizeof(*a->dests), sar_aim_dest_cmp);
}

static uint8_t *sar_aim_want(const struct aim *a, uint32_t sw, uint32_t lid)
{
	return a->want + (size_t)sw * a->t->stride + lid;
}

/* The entries of the target that flows go by. */
static int sar_aim_mark(struct aim *a, const struct tables *target)
{
	const struct sar_traffic *x = &a->s->x;
	struct lft_hops hops;
	int rc = 0;

	a->want = xcalloc((size_t)a->t->nsw * a->t->stride, 1);
	lft_hops_init(&hops, a->s->f, target);
	for (uint32_t k = 0; k < a->ndest && !rc; k++) {
		const struct dest *d = &a->dests[k];
		const uint8_t *ports = lft_hops_at(&hops, d->lid);

		for (uint32_t i = x->off[d->end]; i < x->off[d->end + 1]; i++)
			for (uint32_t u = x->flows[i].sw;
			     u != d->sw && !*sar_aim_want(a, u, d->lid);
			     u = lft_hops_next(&hops, u, ports[u]))
				*sar_aim_want(a, u, d->lid) = ports[u];
		if (pace_work(&a->s->pace, x->off[d->end + 1] - x->off[d->end] + a->t->nsw))
			rc = -ECANCELED;
	}
	lft_hops_done(&hops);
	return rc;
}

static bool sar_aim_is_wanted(const struct aim *a, uint32_t sw, const struct dest *d)
{
	uint8_t to = *sar_aim_want(a, sw, d->lid);

	return to && to != tables_row(a->t, sw)[d->lid];
}

/* Returns what is saved. */
static double sar_aim_turn(struct aim *a, uint32_t sw, const struct dest *d)
{
	uint8_t was = tables_row(a->t, sw)[d->lid];
	double saved = 0, lost = 0;

	if (!sar_mover_turn(a->m, d, sw, *sar_aim_want(a, sw, d->lid), &a->on, &saved) ||
	    saved >= 0 || !a->careful)
		return saved;
	sar_mover_turn(a->m, d, sw, was, &a->back, &lost);
	return 0;
}

/* Likewise. */
static double sar_aim_take(struct aim *a, const struct aim_block *b)
{
	double saved = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		const struct dest *d = &a->dests[b->first + i];

		a->was[b->first + i] = tables_row(a->t, b->sw)[d->lid];
		if (sar_aim_is_wanted(a, b->sw, d))
			saved += sar_aim_turn(a, b->sw, d);
	}
	return saved;
}

static void sar_aim_give_back(struct aim *a, const struct aim_block *b)
{
	double saved = 0;

	for (uint32_t i = b->n; i-- > 0;) {
		const struct dest *d = &a->dests[b->first + i];

		if (tables_row(a->t, b->sw)[d->lid] != a->was[b->first + i])
			sar_mover_turn(a->m, d, b->sw, a->was[b->first + i], &a->back, &saved);
	}
}

/* The block of a switch that begins with that destination; false: nothing is wanted there. */
static bool sar_aim_next_block(const struct aim *a, struct aim_block *b, uint32_t first)
{
	uint32_t block = a->dests[first].lid / LFT_BLOCK;
	bool wanted = false;

	*b = (struct aim_block){ .sw = b->sw, .first = first };
	for (uint32_t i = first; i < a->ndest && a->dests[i].lid / LFT_BLOCK == block; i++) {
		wanted |= sar_aim_is_wanted(a, b->sw, &a->dests[i]);
		b->n++;
	}
	return wanted;
}

/* What each block of a switch would save now, or what each has a share in of what all of them would
 * save together. */
static void sar_aim_estimate_switch(struct aim *a, uint32_t sw)
{
	size_t begin = a->blocks.n;
	struct aim_block b = { .sw = sw };
	double all = 0;

	for (uint32_t first = 0; first < a->ndest; first += b.n) {
		if (!sar_aim_next_block(a, &b, first))
			continue;
		b.saves = sar_aim_take(a, &b);
		all += b.saves;
		vec_push(&a->blocks, b);
		if (!a->opts->by_switch)
			sar_aim_give_back(a, &b);
	}
	for (size_t i = a->blocks.n; a->opts->by_switch && i-- > begin;) {
		sar_aim_give_back(a, &a->blocks.v[i]);
		a->blocks.v[i].saves = all / (double)(a->blocks.n - begin);
	}
}

static int sar_aim_block_cmp(const void *x, const void *y)
{
	const struct aim_block *a = x, *b = y;

	if (a->saves < b->saves || a->saves > b->saves)
		return a->saves > b->saves ? -1 : 1;
	if (a->sw != b->sw)
		return a->sw < b->sw ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

static int sar_aim_estimate(struct aim *a)
{
	a->blocks.n = 0;
	for (uint32_t sw = 0; sw < a->t->nsw; sw++) {
		uint64_t before = sar_mover_work(a->m);

		sar_aim_estimate_switch(a, sw);
		if (pace_work(&a->s->pace, sar_mover_work(a->m) - before + a->ndest))
			return -ECANCELED;
	}
	if (a->blocks.n)
		qsort(a->blocks.v, a->blocks.n, sizeof(*a->blocks.v), sar_aim_block_cmp);
	return 0;
}

static int sar_aim_take_all(struct aim *a, uint64_t limit)
{
	for (size_t i = 0; i < a->blocks.n && sar_mover_blocks(a->m) < limit; i++) {
		uint64_t before = sar_mover_work(a->m);

		sar_aim_take(a, &a->blocks.v[i]);
		if (pace_work(&a->s->pace, sar_mover_work(a->m) - before))
			return -ECANCELED;
	}
	return 0;
}

/* The tree stays as it is. */
static void sar_aim_give_up(struct aim *a, const struct dest *d)
{
	for (uint32_t u = 0; u < a->t->nsw; u++)
		*sar_aim_want(a, u, d->lid) = 0;
}

/* Paths of others that have become too long; trees that keep such ones stay as they are. */
static int sar_aim_tidy(struct aim *a)
{
	for (uint32_t i = 0; i < a->ndest; i++) {
		const struct dest *d = &a->dests[i];
		uint64_t before = sar_mover_work(a->m);

		if (sar_mover_is_long(a->m, d, &a->on))
			sar_mover_tidy(a->m, d);
		if (sar_mover_is_long(a->m, d, &a->on)) {
			sar_mover_undo(a->m, d);
			sar_aim_give_up(a, d);
		}
		if (pace_work(&a->s->pace, sar_mover_work(a->m) - before + a->t->nsw))
			return -ECANCELED;
	}
	return 0;
}

static int sar_aim_weigh(struct aim *a)
{
	int rc = sar_contention_measure(&a->s->k, sar_mover_hops(a->m), EXPONENT);

	return rc ? rc : sar_contention_weigh(&a->s->k, sar_mover_hops(a->m));
}

static uint64_t sar_aim_passes(const struct aim *a, uint64_t limit)
{
	if (a->opts->by_switch || limit < 2 * AT_LEAST)
		return 1;
	return limit < PASSES * AT_LEAST ? limit / AT_LEAST : PASSES;
}

/* What the blocks of a pass do to the others counts in the next. */
static int sar_aim_do(struct aim *a, const struct tables *target)
{
	uint64_t limit = a->opts->limit, passes;
	int rc = sar_aim_mark(a, target);

	limit -= a->opts->detour ? limit / ROOM : 0;
	passes = sar_aim_passes(a, limit);
	for (uint64_t i = 1; i <= passes && !rc; i++) {
		rc = sar_aim_weigh(a);
		if (!rc)
			rc = sar_aim_estimate(a);
		if (!rc)
			rc = sar_aim_take_all(a, limit * i / passes);
		if (!rc && a->opts->detour)
			rc = sar_aim_tidy(a);
	}
	return rc;
}

int sar_aim_run(struct sar_search *s, struct tables *t, const struct tables *target,
		const struct sar_search_opts *opts, uint64_t *blocks)
{
	struct aim a = { .s = s,
			 .opts = opts,
			 .careful = opts->careful,
			 .on = { .limit = opts->limit, .detour = opts->detour },
			 .back = { .detour = s->f->nsw },
			 .t = t };
	int rc;

	a.m = sar_mover_new(s->f, t, opts->from, &s->k);
	sar_aim_find_dests(&a);
	a.was = xcalloc(a.ndest, 1);
	rc = sar_aim_do(&a, target);
	*blocks = sar_mover_blocks(a.m);
	sar_mover_free(a.m);
	vec_free(&a.blocks);
	free(a.dests);
	free(a.want);
	free(a.was);
	return rc;
}
