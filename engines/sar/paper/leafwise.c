/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/paper/leafwise.h"

#include "engines/graph/graph.h"
#include "engines/sar/paper/sar_installed.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/tables/route_limits.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define HOT_ROUNDS   8
#define STALE_ROUNDS 2 /* without a lower maximum, then it is given up */
#define KEEP_FIRST                                                                                 \
	1.5		 /* in the first rounds hops stay that cost no more than so many times ... \
			  */
#define KEEP_LAST   1.1	 /* ... and in the last ones */
#define FORCED	    0.98 /* of a maximum that no other paths can lower: not worth more rounds */
#define NEAR	    1.04 /* the maximum is good enough up to so many times the bound */
#define BLOCK_PRICE 0.3	 /* routes on a full channel that a block is worth */
#define UNFAIR	    0.7	 /* jobs are helped whose routes cost so much more than all on average */

#define AHEAD	   2 /* trees asked for before they are looked at */
#define COUNT_WORK 6 /* of a step along a path against an edge that is looked at */

/* A job and what its routes cost on average. */
struct plight {
	uint32_t group;
	double price;
};

bool leafwise_better(const struct leafwise_objective *a, const struct leafwise_objective *b)
{
	return a->over != b->over ? a->over < b->over : a->collisions < b->collisions;
}

static double leafwise_fullest(const struct leafwise *l)
{
	const struct sar_tree_load *load = sar_tree_loads(l->g);
	double max = 0;

	for (uint32_t c = 0; c < l->f->nchan; c++)
		max = load[c].all > max ? load[c].all : max;
	return max;
}

bool leafwise_near_bound(const struct leafwise *l, uint32_t plane, double max)
{
	return max <= NEAR * (double)l->bound * (plane + 1);
}

static struct sar_tree_rule leafwise_rule_for(const struct leafwise *l, uint32_t plane, double keep,
					      double gain, double block)
{
	return (struct sar_tree_rule){ .aim = (double)l->bound,
				       .planes = plane + 1.0,
				       .keep = keep,
				       .gain = gain,
				       .block = block,
				       .limit = l->limit,
				       .batch = 1 };
}

static struct dest leafwise_dest_of(const struct leafwise *l, uint32_t term, uint32_t plane)
{
	return (struct dest){ .sw = l->f->term_sw[term],
			      .end = term,
			      .lid = (uint16_t)(l->f->term_lid[term] + plane),
			      .port = l->f->term_port[term] };
}

/* Huge jobs grow in larger steps, so that the time stays in bounds: work is that of one tree. */
static void leafwise_adapt_batch(struct leafwise *l, uint64_t work)
{
	if (work > l->work_max / l->members && l->batch < l->f->nsw)
		l->batch *= 2;
}

static bool leafwise_tick(struct leafwise *l, uint64_t before)
{
	l->done += l->done < l->pace.total;
	leafwise_adapt_batch(l, sar_tree_work(l->g) - before);
	return pace_tick(&l->pace, l->done, 2 * (sar_tree_work(l->g) - before));
}

/* Are the routes to it to stay as they are installed? */
static bool leafwise_is_pinned(const struct leafwise *l, uint32_t term)
{
	const struct route_limits *limits = l->params->limits;

	return limits && limits->pin && limits->pin[term];
}

int leafwise_count(struct leafwise *l, uint32_t plane)
{
	for (uint32_t k = 0; k < l->jobs.ngroup; k++) {
		const struct sar_job_members *group = &l->jobs.group[k];

		for (uint32_t i = 0; i < group->nterm; i++) {
			struct dest d = leafwise_dest_of(l, group->terms[i], plane);
			uint64_t before = sar_tree_work(l->g);
			uint32_t n;
			const struct sar_source *s =
				sar_jobs_sources(&l->jobs, group->terms[i], &n);

			sar_tree_count(l->g, &d, s, n);
			if (pace_tick(&l->pace, l->done,
				      COUNT_WORK * (sar_tree_work(l->g) - before)))
				return -ECANCELED;
		}
	}
	return 0;
}

void leafwise_measure(const struct leafwise *l, struct leafwise_objective *o)
{
	*o = (struct leafwise_objective){ .max = leafwise_fullest(l) };
	o->over = leafwise_near_bound(l, 0, o->max) ? 0 : o->max;
	o->collisions = sar_tree_collisions(l->g);
}

/* All jobs, in descending size. */
static int leafwise_grow_jobs(struct leafwise *l, uint32_t plane)
{
	struct sar_tree_rule rule = leafwise_rule_for(l, plane, 1, 1, 0);

	for (uint32_t k = 0; k < l->jobs.ngroup; k++) {
		const struct sar_job_members *group = &l->jobs.group[k];

		l->batch = 1;
		for (uint32_t i = 0; i < group->nterm; i++) {
			struct dest d = leafwise_dest_of(l, group->terms[i], plane);
			uint64_t before = sar_tree_work(l->g);
			uint32_t n;
			const struct sar_source *s =
				sar_jobs_sources(&l->jobs, group->terms[i], &n);

			rule.batch = l->batch;
			if (leafwise_is_pinned(l, group->terms[i]))
				sar_tree_count(l->g, &d, s, n);
			else
				sar_tree_grow(l->g, &d, s, n, &rule);
			if (leafwise_tick(l, before))
				return -ECANCELED;
		}
	}
	return 0;
}

static int leafwise_dearest_first(const void *a, const void *b)
{
	const struct plight *x = a, *y = b;

	if (x->price != y->price)
		return x->price > y->price ? -1 : 1;
	return x->group < y->group ? -1 : x->group > y->group;
}

/* Jobs whose routes cost more than those of others. */
static int leafwise_find_plights(struct leafwise *l, struct plight *list, uint32_t *n,
				 uint32_t plane)
{
	struct sar_tree_rule rule = leafwise_rule_for(l, plane, 1, 1, 0);
	double all = 0;
	uint32_t kept = 0;

	for (*n = 0; *n < l->jobs.ngroup; ++*n) {
		const struct sar_job_members *group = &l->jobs.group[*n];

		list[*n] = (struct plight){ .group = *n };
		for (uint32_t i = 0; i < group->nterm; i++) {
			struct dest d = leafwise_dest_of(l, group->terms[i], plane);
			uint64_t before = sar_tree_work(l->g);
			uint32_t k;
			const struct sar_source *s =
				sar_jobs_sources(&l->jobs, group->terms[i], &k);

			list[*n].price += sar_tree_price(l->g, &d, s, k, &rule);
			if (pace_tick(&l->pace, l->done,
				      COUNT_WORK * (sar_tree_work(l->g) - before)))
				return -ECANCELED;
		}
		all += list[*n].price;
		list[*n].price /= group->nterm ? group->nterm : 1;
	}
	all /= l->members;
	for (uint32_t i = 0; i < *n; i++)
		if (list[i].price > UNFAIR * all)
			list[kept++] = list[i];
	*n = kept;
	qsort(list, kept, sizeof(*list), leafwise_dearest_first);
	return 0;
}

static int leafwise_repair_members(struct leafwise *l, const struct sar_job_members *group,
				   uint32_t plane)
{
	struct sar_tree_rule rule = leafwise_rule_for(l, plane, 1.2, 0.99, BLOCK_PRICE);

	l->batch = 1;
	for (uint32_t i = 0; i < group->nterm && sar_tree_blocks(l->g) < l->limit; i++) {
		struct dest d = leafwise_dest_of(l, group->terms[i], plane);
		uint64_t before = sar_tree_work(l->g);
		uint32_t n;
		const struct sar_source *s = sar_jobs_sources(&l->jobs, group->terms[i], &n);

		rule.batch = l->batch;
		if (!leafwise_is_pinned(l, group->terms[i]))
			sar_tree_restart(l->g, &d, s, n, &rule);
		if (leafwise_tick(l, before))
			return -ECANCELED;
	}
	return 0;
}

/* Helps the jobs that fare badly, the worst first. */
static int leafwise_repair_jobs(struct leafwise *l, uint32_t plane)
{
	struct plight *list = xcalloc(l->jobs.ngroup, sizeof(*list));
	uint64_t before = sar_tree_work(l->g);
	uint32_t n;
	int rc = leafwise_find_plights(l, list, &n, plane);

	for (uint32_t i = 0; i < n && !rc && sar_tree_blocks(l->g) < l->limit; i++) {
		rc = leafwise_repair_members(l, &l->jobs.group[list[i].group], plane);
		if (sar_tree_work(l->g) - before > l->work_max)
			break;
	}
	free(list);
	return rc;
}

/* Grows the trees of the members again that use a hot channel. */
static int leafwise_cool_members(struct leafwise *l, const struct sar_job_members *group,
				 uint32_t plane, struct sar_tree_rule *rule, uint32_t *changed)
{
	l->batch = 1;
	for (uint32_t i = 0; i < group->nterm; i++) {
		struct dest d = leafwise_dest_of(l, group->terms[i], plane);
		uint64_t before = sar_tree_work(l->g);

		if (i + AHEAD < group->nterm)
			sar_tree_look_ahead(l->g, l->f->term_lid[group->terms[i + AHEAD]] + plane);
		if (!leafwise_is_pinned(l, group->terms[i]) && sar_tree_is_hot(l->g, &d)) {
			uint32_t n;
			const struct sar_source *s =
				sar_jobs_sources(&l->jobs, group->terms[i], &n);

			rule->batch = l->batch;
			*changed += sar_tree_restart(l->g, &d, s, n, rule);
		}
		if (leafwise_tick(l, before))
			return -ECANCELED;
	}
	return 0;
}

/* Takes load off the channels with at least limit, until the work is done that may be. */
static int leafwise_cool_round(struct leafwise *l, uint32_t plane, double limit,
			       struct sar_tree_rule *rule, uint64_t work_end, uint32_t *changed)
{
	int rc = 0;

	*changed = 0;
	sar_tree_watch(l->g, limit);
	if (pace_tick(&l->pace, l->done, l->f->nchan))
		return -ECANCELED;
	for (uint32_t k = 0; k < l->jobs.ngroup && !rc && sar_tree_work(l->g) <= work_end; k++)
		rc = leafwise_cool_members(l, &l->jobs.group[k], plane, rule, changed);
	return rc;
}

/* Adds the group's routes that cannot leave a hot channel. */
static int leafwise_add_forced(struct leafwise *l, const struct sar_job_members *group,
			       uint32_t plane, uint32_t *forced)
{
	for (uint32_t i = 0; i < group->nterm; i++) {
		struct dest d = leafwise_dest_of(l, group->terms[i], plane);
		uint64_t before = sar_tree_work(l->g);

		if (sar_tree_is_hot(l->g, &d)) {
			uint32_t n;
			const struct sar_source *s =
				sar_jobs_sources(&l->jobs, group->terms[i], &n);

			sar_tree_add_forced(l->g, &d, s, n, forced);
		}
		if (pace_tick(&l->pace, l->done, 2 * (sar_tree_work(l->g) - before)))
			return -ECANCELED;
	}
	return 0;
}

/* Raises *least to what the maximum cannot fall below: the routes on a channel that has it now,
 * and without which they have no shortest path. */
static int leafwise_find_forced(struct leafwise *l, uint32_t plane, double max, double *least)
{
	uint32_t *forced = xcalloc(l->f->nchan, sizeof(*forced));
	int rc = 0;

	sar_tree_watch(l->g, max);
	for (uint32_t k = 0; k < l->jobs.ngroup && !rc; k++)
		rc = leafwise_add_forced(l, &l->jobs.group[k], plane, forced);
	for (uint32_t c = 0; c < l->f->nchan; c++)
		*least = forced[c] > *least ? forced[c] : *least;
	free(forced);
	return rc;
}

/* Takes load off the fullest channels: gently at first, so that little changes. */
static int leafwise_cool(struct leafwise *l, uint32_t plane)
{
	struct sar_tree_rule rule = leafwise_rule_for(l, plane, KEEP_FIRST, 0.999, 0);
	double bound = (double)l->bound * (plane + 1), last = HUGE_VAL;
	uint64_t work_end = sar_tree_work(l->g) + l->work_max;
	uint32_t stale = 0, changed = 0;
	double least = 0;
	int rc = 0;

	rule.hot_only = l->effort == LEAFWISE_RELIEVE;
	for (uint32_t round = 0; round < HOT_ROUNDS && !rc; round++) {
		double max = leafwise_fullest(l), limit = max > 20 ? 0.95 * max : max - 1;
		bool enough = leafwise_near_bound(l, plane, max) || max > 0.98 * last;
		bool stuck = max > 0.96 * last;

		if (max <= bound || (enough && l->effort == LEAFWISE_BUDGET))
			return 0;
		stale = max > 0.995 * last ? stale + 1 : 0;
		if (stale == STALE_ROUNDS)
			return 0;
		last = max;
		limit = limit > bound + 1 ? limit : bound + 1;
		if (rule.hot_only && (!round || (stuck && least < FORCED * max)))
			rc = leafwise_find_forced(l, plane, max, &least);
		if (rc || least >= FORCED * max)
			return rc;
		limit = limit > least ? limit : least;
		rc = leafwise_cool_round(l, plane, limit, &rule, work_end, &changed);
		if (sar_tree_work(l->g) > work_end || (!changed && rule.keep < KEEP_FIRST))
			return rc;
		if (!changed || round >= HOT_ROUNDS / 2)
			rule.keep = KEEP_LAST;
	}
	return rc;
}

static int leafwise_grow_plane(struct leafwise *l, uint32_t plane,
			       struct leafwise_objective *installed)
{
	int rc;

	if (l->effort == LEAFWISE_AFRESH) {
		rc = leafwise_grow_jobs(l, plane);
		return rc ? rc : leafwise_cool(l, plane);
	}
	rc = leafwise_count(l, plane);
	if (!rc && !plane)
		leafwise_measure(l, installed);
	if (!rc)
		rc = leafwise_cool(l, plane);
	if (!rc && l->effort == LEAFWISE_BUDGET)
		rc = leafwise_repair_jobs(l, plane);
	return rc;
}

int leafwise_grow(struct leafwise *l, struct leafwise_objective *installed)
{
	for (uint32_t plane = 0; plane < 1u << l->lmc; plane++) {
		int rc = leafwise_grow_plane(l, plane, installed);

		if (rc)
			return rc;
		if (!plane)
			leafwise_measure(l, &l->reached);
	}
	return 0;
}

int leafwise_begin_in(struct leafwise *l, enum leafwise_effort effort, struct tables *t,
		      const struct tables *from, uint64_t limit)
{
	uint64_t total = (uint64_t)l->members * (1 + HOT_ROUNDS) << l->lmc;

	tables_put(l->t);
	sar_tree_free(l->g);
	l->t = t;
	l->g = sar_tree_new(l->f, l->t, from);
	l->done = 0;
	l->effort = effort;
	l->limit = limit;
	return pace_begin(&l->pace, l->progress, "paths", total) ? -ECANCELED : 0;
}

int leafwise_begin(struct leafwise *l, enum leafwise_effort effort, const struct tables *from,
		   uint64_t limit)
{
	struct tables *t = graph_tables(l->f, "sar", l->params, l->progress);

	sar_installed_copy_lfts(t, from);
	return leafwise_begin_in(l, effort, t, from, limit);
}

int leafwise_from_installed(struct leafwise *l, enum leafwise_effort effort, uint64_t limit,
			    struct leafwise_objective *installed)
{
	int rc = leafwise_begin(l, effort, l->params->current, limit);

	return rc ? rc : leafwise_grow(l, installed);
}
