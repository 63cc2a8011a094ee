/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/transition/wave_judge.h"

#include "engines/graph/graph.h"
#include "engines/transition/transition_graph.h"
#include "engines/transition/transition_mixture.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What may be there of one LID's entries at a time. */
struct lid_ages {
	uint8_t *at;  /* by switch */
	uint8_t seen; /* ages of those that are written */
	bool moves;   /* some are other ones than in the wave before */
};

/* Of the LIDs of a block in a wave. */
struct block_ages {
	struct lid_ages lid[LFT_BLOCK];
	uint32_t block, wave; /* block FAB_NONE: none yet */
};

struct judged {
	const struct fabric *f;
	const struct tables *old, *new;
	const struct transition *t;
	const bool *drained;
	struct turns turns;
	struct pace pace;
	struct mixture_flow *flow;
	struct tgraph *g;
	bool old_known;		    /* g was all old once */
	uint32_t *first, *by_block; /* writes of block b: by_block[first[b]..first[b + 1]-1] */
	uint32_t sl2vl_wave, nblocks;
	struct block_ages now, before;
	uint64_t done;
	struct err *err;
};

/* ---- ages ---- */

static void wave_judge_index(struct judged *j)
{
	const struct transition *t = j->t;
	uint32_t *at;

	j->nblocks = j->f->max_lid / LFT_BLOCK + 1;
	j->first = xcalloc(j->nblocks + 1, sizeof(*j->first));
	j->by_block = xcalloc(t->nwrites, sizeof(*j->by_block));
	for (uint32_t i = 0; i < t->nwrites; i++)
		if (t->writes[i].block < j->nblocks)
			j->first[t->writes[i].block + 1]++;
	for (uint32_t b = 0; b < j->nblocks; b++)
		j->first[b + 1] += j->first[b];
	at = xcalloc(j->nblocks, sizeof(*at));
	memcpy(at, j->first, j->nblocks * sizeof(*at));
	for (uint32_t i = 0; i < t->nwrites; i++)
		if (t->writes[i].block < j->nblocks)
			j->by_block[at[t->writes[i].block]++] = i;
	free(at);
}

static uint8_t wave_judge_age(uint32_t written, uint32_t wave)
{
	return written > wave ? AGE_OLD : written == wave ? AGE_BOTH : AGE_NEW;
}

/* wave UINT32_MAX: before the first. */
static void wave_judge_fill(struct block_ages *b, const struct judged *j, uint32_t block,
			    uint32_t wave)
{
	const struct transition *t = j->t;

	if (b->block == block && b->wave == wave)
		return;
	b->block = block;
	b->wave = wave;
	for (uint32_t k = 0; k < LFT_BLOCK; k++) {
		memset(b->lid[k].at, AGE_OLD, j->f->nsw);
		b->lid[k].seen = 0;
		b->lid[k].moves = false;
	}
	for (uint32_t i = j->first[block]; i < j->first[block + 1]; i++) {
		const struct transition_write *w = &t->writes[j->by_block[i]];
		uint8_t age = wave == UINT32_MAX ? AGE_OLD : wave_judge_age(w->wave, wave);

		for (uint64_t m = w->now; m; m &= m - 1) {
			struct lid_ages *x = &b->lid[__builtin_ctzll(m)];

			x->at[w->sw] = age;
			x->seen |= (uint8_t)(1u << age);
			x->moves |= w->wave == wave || w->wave + 1 == wave;
		}
	}
}

static struct ages wave_judge_ages(struct judged *j, struct block_ages *b, uint32_t lid,
				   uint32_t wave)
{
	struct ages a = { .lft_all = AGE_OLD, .sl = AGE_OLD, .sl2vl = AGE_OLD };
	const struct lid_ages *x = &b->lid[lid % LFT_BLOCK];

	wave_judge_fill(b, j, lid / LFT_BLOCK, wave);
	if (x->seen & (x->seen - 1))
		a.lft = x->at;
	else if (x->seen)
		a.lft_all = x->seen == 1u << AGE_NEW	? AGE_NEW
			    : x->seen == 1u << AGE_BOTH ? AGE_BOTH
							: AGE_OLD;
	if (j->sl2vl_wave != FAB_NONE && wave != UINT32_MAX)
		a.sl2vl = wave_judge_age(j->sl2vl_wave, wave);
	return a;
}

static bool wave_judge_moves(struct judged *j, uint32_t lid, uint32_t wave)
{
	if (j->sl2vl_wave != FAB_NONE && (j->sl2vl_wave == wave || j->sl2vl_wave + 1 == wave))
		return true;
	wave_judge_fill(&j->now, j, lid / LFT_BLOCK, wave);
	return j->now.lid[lid % LFT_BLOCK].moves;
}

/* ---- what is wrong ---- */

/* "in wave 2 of 3" */
static void wave_judge_when(char *buf, size_t size, const struct judged *j, uint32_t wave)
{
	if (wave < j->t->nwaves)
		snprintf(buf, size, "in wave %u of %u", wave + 1, j->t->nwaves);
	else
		snprintf(buf, size, "after the last wave, with service levels of before,");
}

static int wave_judge_refuse(struct judged *j, uint32_t wave, uint32_t lid, const char *what)
{
	char when[80];

	wave_judge_when(when, sizeof(when), j, wave);
	return err_set(
		j->err, -EPROTO,
		"the order of writes is not safe: %s packets to LID %u %s, and the plan does "
		"not say that the LID must be drained",
		when, lid, what);
}

static int wave_judge_refuse_cycle(struct judged *j, uint32_t wave, uint32_t vertex)
{
	uint32_t nvl = mixture_nvl(j->flow), chan = vertex / nvl;
	char when[80];

	wave_judge_when(when, sizeof(when), j, wave);
	return err_set(
		j->err, -EPROTO,
		"the order of writes is not safe: %s old and new paths together have a cycle "
		"of dependencies, through %s port %u VL %u, where a deadlock is possible",
		when, j->f->sw_name[j->f->chan_src[chan]], j->f->chan_port[chan], vertex % nvl);
}

/* ---- dependencies ---- */

static bool wave_judge_skipped(const struct judged *j, uint32_t lid)
{
	return fabric_lid_end(j->f, lid) == FAB_NONE || j->drained[lid];
}

static bool wave_judge_loses_with(struct judged *j, uint8_t age)
{
	const struct ages a = { .lft_all = age, .sl = age, .sl2vl = age };

	return !mixture_run(j->flow, &a) || mixture_loses(j->flow);
}

/* Leaves the dependencies in the flow; lid is loaded. */
static int wave_judge_run(struct judged *j, uint32_t lid, const struct ages *a, uint32_t wave)
{
	if (!mixture_run(j->flow, a))
		return wave_judge_refuse(j, wave, lid, "may go round in a loop");
	if (!mixture_loses(j->flow))
		return 0;
	if (!wave_judge_loses_with(j, AGE_OLD) && !wave_judge_loses_with(j, AGE_NEW))
		return wave_judge_refuse(j, wave, lid,
					 "may be lost for want of their virtual lane");
	mixture_run(j->flow, a);
	return 0;
}

static bool wave_judge_tick(struct judged *j)
{
	j->done++;
	return pace_tick(&j->pace, j->done < j->pace.total ? j->done : j->pace.total,
			 2ull * j->f->nsw);
}

static int wave_judge_put(struct judged *j, uint32_t lid, const struct ages *a, uint32_t wave)
{
	const struct tdep *d;
	uint32_t n;
	int rc;

	mixture_load(j->flow, lid);
	rc = wave_judge_run(j, lid, a, wave);
	if (rc)
		return rc;
	d = mixture_deps(j->flow, &n);
	tgraph_put_all(j->g, d, n);
	return 0;
}

static void wave_judge_take(struct judged *j, uint32_t lid, const struct ages *a)
{
	const struct tdep *d;
	uint32_t n;

	mixture_load(j->flow, lid);
	if (!mixture_run(j->flow, a))
		return;
	d = mixture_deps(j->flow, &n);
	tgraph_remove_all(j->g, d, n);
}

static void wave_judge_new_graph(struct judged *j)
{
	tgraph_free(j->g);
	j->g = tgraph_new(j->f, &j->turns, mixture_nvl(j->flow), &j->pace);
}

/* ---- waves ---- */

static int wave_judge_put_all(struct judged *j, uint32_t wave)
{
	int rc = 0;

	wave_judge_new_graph(j);
	for (uint32_t lid = 1; lid <= j->f->max_lid && !rc; lid++) {
		struct ages a;

		if (wave_judge_skipped(j, lid))
			continue;
		a = wave_judge_ages(j, &j->now, lid, wave);
		rc = wave_judge_put(j, lid, &a, wave);
		if (wave_judge_tick(j))
			return -ECANCELED;
	}
	return rc;
}

/* Does the LID's part change between these waves?  All of them from before the first. */
static bool wave_judge_differs(struct judged *j, uint32_t lid, uint32_t from, uint32_t wave)
{
	return from == UINT32_MAX || wave_judge_moves(j, lid, wave);
}

/* What was possible in a wave is taken out, then what is possible in another put in. */
static int wave_judge_go_on(struct judged *j, uint32_t from, uint32_t wave)
{
	struct ages a;
	int rc = 0;

	for (uint32_t lid = 1; lid <= j->f->max_lid; lid++) {
		if (wave_judge_skipped(j, lid) || !wave_judge_differs(j, lid, from, wave))
			continue;
		a = wave_judge_ages(j, &j->before, lid, from);
		wave_judge_take(j, lid, &a);
		if (pace_work(&j->pace, 2ull * j->f->nsw) && pace_cancelled(&j->pace))
			return -ECANCELED;
	}
	for (uint32_t lid = 1; lid <= j->f->max_lid && !rc; lid++) {
		if (wave_judge_skipped(j, lid))
			continue;
		if (wave_judge_differs(j, lid, from, wave)) {
			a = wave_judge_ages(j, &j->now, lid, wave);
			rc = wave_judge_put(j, lid, &a, wave);
		}
		if (wave_judge_tick(j))
			return -ECANCELED;
	}
	return rc;
}

/* The cycles that the old tables have are none of the plan's: those and no others may be there. */
static int wave_judge_cycles(struct judged *j, uint32_t wave)
{
	uint32_t vertex = 0;
	int rc = 0;

	if (!j->old_known) {
		j->old_known = true;
		rc = wave_judge_put_all(j, UINT32_MAX);
		tgraph_keep(j->g);
		if (!rc)
			rc = wave_judge_go_on(j, UINT32_MAX, wave);
	}
	if (!rc && !tgraph_cycles_kept(j->g, &vertex))
		rc = wave_judge_refuse_cycle(j, wave, vertex);
	return !rc && pace_cancelled(&j->pace) ? -ECANCELED : rc;
}

/* Most updates change few LIDs in most waves; where a wave is about many, beginning again is less
 * work than taking out and putting in. */
static int wave_judge_wave(struct judged *j, uint32_t wave)
{
	uint32_t n = 0, moves = 0;
	int rc;

	for (uint32_t lid = 1; wave && lid <= j->f->max_lid; lid++)
		if (!wave_judge_skipped(j, lid)) {
			n++;
			moves += wave_judge_moves(j, lid, wave);
		}
	rc = !j->old_known && 2 * moves >= n ? wave_judge_put_all(j, wave)
					     : wave_judge_go_on(j, wave - 1, wave);
	return rc || tgraph_sort(j->g) ? rc : wave_judge_cycles(j, wave);
}

/* Hosts learn of new SLs after the last wave, or never; those who come back have them. */
static int wave_judge_end(struct judged *j)
{
	struct ages a = { .lft_all = AGE_NEW, .sl2vl = AGE_NEW };
	uint32_t vertex = 0;
	int rc = 0;

	wave_judge_new_graph(j);
	for (uint32_t lid = 1; lid <= j->f->max_lid && !rc; lid++) {
		if (fabric_lid_end(j->f, lid) == FAB_NONE)
			continue;
		a.sl = j->drained[lid] ? AGE_NEW : AGE_BOTH;
		rc = wave_judge_put(j, lid, &a, j->t->nwaves);
		if (wave_judge_tick(j))
			return -ECANCELED;
	}
	if (rc || tgraph_sort(j->g))
		return rc;
	if (!tgraph_cycles_kept(j->g, &vertex))
		rc = wave_judge_refuse_cycle(j, j->t->nwaves, vertex);
	return !rc && pace_cancelled(&j->pace) ? -ECANCELED : rc;
}

/* Kept in the same form with the same bytes: no LID need be looked at. */
static bool wave_judge_same_sls(const struct tables *a, const struct tables *b)
{
	size_t rows = tables_sl_rows(a->sl_kind, a->nsw, a->nend);

	if (a->sl_kind != b->sl_kind || a->max_lid != b->max_lid)
		return false;
	return rows ? !memcmp(a->sl, b->sl, rows * a->stride) : a->sl_const == b->sl_const;
}

/* Otherwise the end is the new tables, which others judge. */
static bool wave_judge_sls_change(struct judged *j)
{
	if (wave_judge_same_sls(j->old, j->new))
		return false;
	for (uint32_t lid = 1; lid <= j->f->max_lid; lid++) {
		if (wave_judge_skipped(j, lid))
			continue;
		mixture_load(j->flow, lid);
		if (mixture_sl_changes(j->flow))
			return true;
	}
	return false;
}

static int wave_judge_all(struct judged *j)
{
	int rc = 0;

	for (uint32_t wave = 0; wave < j->t->nwaves && !rc; wave++)
		rc = wave_judge_wave(j, wave);
	return rc || !wave_judge_sls_change(j) ? rc : wave_judge_end(j);
}

static void wave_judge_alloc(struct block_ages *b, uint32_t nsw)
{
	uint8_t *mem = xcalloc(LFT_BLOCK, nsw);

	b->block = FAB_NONE;
	for (uint32_t k = 0; k < LFT_BLOCK; k++)
		b->lid[k].at = mem + (size_t)k * nsw;
}

int wave_judge(const struct fabric *f, const struct tables *old, const struct tables *new,
	       const struct transition *t, const bool *drained, struct progress *progress,
	       struct err *err)
{
	struct judged j = {
		.f = f, .old = old, .new = new, .t = t, .drained = drained, .err = err
	};
	int rc = -ECANCELED;

	turns_init(&j.turns, f);
	wave_judge_index(&j);
	wave_judge_alloc(&j.now, f->nsw);
	wave_judge_alloc(&j.before, f->nsw);
	if (!pace_begin(&j.pace, progress, "write order", (uint64_t)f->max_lid * (t->nwaves + 1)))
		j.flow = mixture_new(f, &j.turns, old, new, &j.pace);
	j.sl2vl_wave = j.flow && mixture_sl2vl_changes(j.flow) ? t->sl2vl_wave : FAB_NONE;
	if (j.flow)
		rc = wave_judge_all(&j);
	if (rc == -ECANCELED)
		err_set(err, rc, "cancelled while the order of writes was judged");
	tgraph_free(j.g);
	mixture_free(j.flow);
	free(j.now.lid[0].at);
	free(j.before.lid[0].at);
	free(j.first);
	free(j.by_block);
	turns_done(&j.turns);
	return rc;
}
