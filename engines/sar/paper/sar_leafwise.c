/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/paper/sar_leafwise.h"

#include "engines/graph/balance/balanced_sssp.h"
#include "engines/graph/balance/dagset.h"
#include "engines/graph/graph.h"
#include "engines/metrics/metrics.h"
#include "engines/sar/paper/leafwise.h"
#include "engines/sar/paper/sar_installed.h"
#include "engines/sar/paper/sar_paths.h"
#include "engines/vl/vl_layers.h"

#include <errno.h>
#include <string.h>

#define FAR	   1.3 /* from so many times on the budget of blocks may be too small a start ... */
#define WORTH	   0.85 /* ... if without it the maximum falls to so much of it */
#define LITTLE	   1.1	/* so many times the maximum, or one route more, ... */
#define CLEARLY	   0.8	/* ... for so much of the flows that meet */
#define JOB_WEIGHT 8	/* of a route inside a job against any other */

/* Fabrics by terminals * channels: up to the first a better start is worth its time; beyond the
 * second trees are not grown without need. */
#define SIZE_SMALL (1ull << 22)
#define SIZE_LARGE (1ull << 26)

/* edges to look at for all trees once, and for cooling them; up to which more is tried */
#define WORK_LEAST (1ull << 22)
#define WORK_MOST  (1ull << 27)
#define WORK_TWICE (1ull << 26)

/* Lower maxima may need routes to one LID over several cables, where those to others meet them. */
static void sar_leafwise_note_collisions(const struct leafwise *l,
					 const struct leafwise_objective *was)
{
	double pct = was->collisions > 0 ? 100 * l->reached.collisions / was->collisions - 100 : 0;

	if (pct >= 2 && l->reached.max < was->max)
		notes_set(l->params->notes, "sar_meets", (uint64_t)pct,
			  "to lower the maximum (%.0f, was %.0f) %.0f %% more flows of jobs share "
			  "links: see the predicted slowdown and bisection bandwidth",
			  l->reached.max, was->max, pct);
}

static void sar_leafwise_say_budget(const struct leafwise *l, const struct leafwise_objective *was)
{
	if (sar_tree_blocks(l->g) + l->f->nsw / 64 < l->limit || !l->reached.over)
		return;
	notes_set(l->params->notes, "sar_budget", l->limit,
		  "changing %llu blocks, the limit, lowers the max job EFI from %.0f to %.0f; "
		  "further updates lower it towards %llu",
		  (unsigned long long)l->limit, was->max, l->reached.max,
		  (unsigned long long)l->bound);
}

/* A step of many: the tables are ours, or the caller says how much may change. */
static bool sar_leafwise_insists(const struct leafwise *l)
{
	return l->params->sar_change > 0 || !strcmp(l->params->current->engine, "sar");
}

/* Is b to be taken, which moved no more than it had to?  Also for a maximum that is a little higher
 * when clearly fewer flows meet. */
static bool sar_leafwise_moved_better(const struct leafwise_objective *b,
				      const struct leafwise_objective *a)
{
	double most = a->max * LITTLE > a->max + 1 ? a->max * LITTLE : a->max + 1;

	return leafwise_better(b, a) || (b->max <= most && b->collisions < CLEARLY * a->collisions);
}

/* Without a budget: all trees again, or only those over full channels moved, whichever is better.
 * The latter leaves more of what meets nobody where it is.  *blocks: those that change. */
static int sar_leafwise_grow_freely(struct leafwise *l, uint64_t *blocks)
{
	struct leafwise_objective first, installed;
	struct tables *t;
	int rc = leafwise_from_installed(l, LEAFWISE_AFRESH, UINT64_MAX, NULL);

	if (rc)
		return rc;
	first = l->reached;
	t = (struct tables *)tables_get(l->t);
	*blocks = sar_tree_blocks(l->g);
	rc = leafwise_from_installed(l, LEAFWISE_COOL, UINT64_MAX, &installed);
	if (rc || !sar_leafwise_moved_better(&l->reached, &first)) {
		tables_put(l->t);
		l->t = t;
		l->reached = first;
		return rc;
	}
	*blocks = sar_tree_blocks(l->g);
	tables_put(t);
	return 0;
}

/* Within the budget; where that leaves the maximum far from the bound, and it need not be kept to,
 * without one, when the maximum falls much for it. */
static int sar_leafwise_start_from_installed(struct leafwise *l,
					     struct leafwise_objective *installed)
{
	struct leafwise_objective first;
	struct tables *t;
	uint64_t blocks;
	int rc = leafwise_from_installed(l, LEAFWISE_BUDGET, sar_installed_budget(l->f, l->params),
					 installed);

	if (rc)
		return rc;
	sar_leafwise_say_budget(l, installed);
	first = l->reached;
	if (sar_leafwise_insists(l) || first.max <= FAR * (double)l->bound ||
	    sar_tree_work(l->g) > WORK_TWICE)
		return 0;
	t = (struct tables *)tables_get(l->t);
	rc = sar_leafwise_grow_freely(l, &blocks);
	if (rc || l->reached.max > WORTH * first.max) {
		tables_put(l->t);
		l->t = t;
		l->reached = first;
		return rc;
	}
	tables_put(t);
	notes_set(
		l->params->notes, "sar_afresh", blocks,
		"the installed routing is far from what these jobs need (maximum %.0f, now %.0f), "
		"so as many paths change as necessary",
		installed->max, l->reached.max);
	return 0;
}

static int sar_leafwise_copy_even(struct leafwise *l, struct tables **even)
{
	struct balanced_sssp_how how = { .rounds = l->small ? BALANCED_SSSP_ROUNDS : 0 };

	*even = graph_tables(l->f, "sar", l->params, l->progress);
	return balanced_sssp_route(*even, l->f, l->params, &how, l->progress);
}

/* The trees of those tables, in the loads. */
static int sar_leafwise_take_even(struct leafwise *l, const struct tables *even,
				  struct leafwise_objective *o)
{
	int rc = leafwise_begin(l, LEAFWISE_COOL, even, UINT64_MAX);

	for (uint32_t plane = 0; plane < 1u << l->lmc && !rc; plane++) {
		rc = leafwise_count(l, plane);
		if (!rc && !plane)
			leafwise_measure(l, o);
	}
	return rc;
}

/* Takes the hot trees of those tables elsewhere, unless that is not better. */
static int sar_leafwise_cool_even(struct leafwise *l, const struct tables *even)
{
	struct leafwise_objective first;
	int rc = leafwise_begin(l, LEAFWISE_COOL, even, UINT64_MAX);

	if (!rc)
		rc = leafwise_grow(l, &first);
	if (rc || !leafwise_better(&first, &l->reached))
		return rc;
	return sar_leafwise_take_even(l, even, &l->reached);
}

/* Storage, then the others, over the loads of the jobs' LIDs. */
static int sar_leafwise_route_rest(struct leafwise *l)
{
	struct sar_paths *p = sar_paths_new(l->t, l->f, l->jobs.jobs, l->lmc, SAR_PAPER);
	uint64_t lids = graph_count_lids(l->f, l->lmc);
	int rc = pace_begin(&l->pace, l->progress, "paths", lids) ? -ECANCELED : 0;

	l->done = 0;
	if (!rc)
		rc = sar_paths_count_jobs(p, &l->pace, &l->done);
	for (uint32_t c = 0; c < l->f->nchan; c++)
		sar_paths_loads(p)[c] += JOB_WEIGHT * (uint64_t)sar_tree_loads(l->g)[c].all;
	if (!rc)
		rc = sar_paths_rest(p, &l->pace, &l->done);
	sar_paths_free(p);
	return rc;
}

static void sar_leafwise_say_kept(const struct leafwise *l,
				  const struct leafwise_objective *installed)
{
	notes_set(l->params->notes, "sar_kept_installed", (uint64_t)installed->max,
		  "the installed paths stay: none were found with a maximum below %.0f, or with "
		  "fewer flows that share links",
		  installed->max);
}

/* Better tables than the installed ones, or those; -ENOSPC: neither fits the VLs. */
static int sar_leafwise_improve(struct leafwise *l, struct err *err)
{
	struct leafwise_objective installed;
	int rc = sar_leafwise_start_from_installed(l, &installed);

	if (rc)
		return rc;
	if (leafwise_better(&l->reached, &installed)) {
		rc = vl_layers_assign_from(l->t, l->f, l->params->current, l->params, l->progress,
					   err);
		if (!rc)
			sar_leafwise_note_collisions(l, &installed);
		if (rc != -ENOSPC)
			return rc;
	}
	tables_put(l->t);
	l->t = NULL;
	rc = sar_installed_keep(&l->t, l->f, l->params, l->progress, err);
	if (!rc)
		sar_leafwise_say_kept(l, &installed);
	return rc;
}

/* Grows all trees over those tables. */
static int sar_leafwise_grow_over(struct leafwise *l, const struct tables *even)
{
	int rc = leafwise_begin(l, LEAFWISE_AFRESH, even, UINT64_MAX);

	return rc ? rc : leafwise_grow(l, NULL);
}

/* The better of the two, unless what grows is good enough. */
static int sar_leafwise_grow_or_cool(struct leafwise *l, const struct tables *even)
{
	struct leafwise_objective grown, plain;
	struct tables *t;
	struct sar_tree *g;
	int rc = sar_leafwise_take_even(l, even, &plain);

	if (!rc)
		rc = sar_leafwise_grow_over(l, even);
	if (rc ||
	    (leafwise_near_bound(l, 0, l->reached.max) && leafwise_better(&l->reached, &plain)))
		return rc;
	grown = l->reached;
	t = l->t;
	g = l->g;
	l->t = NULL;
	l->g = NULL;
	rc = sar_leafwise_cool_even(l, even);
	if (!rc && leafwise_better(&grown, &l->reached)) {
		struct tables *other = l->t;
		struct sar_tree *theirs = l->g;

		l->t = t;
		l->g = g;
		l->reached = grown;
		t = other;
		g = theirs;
	}
	tables_put(t);
	sar_tree_free(g);
	return rc;
}

/* The same in tables of our own, with what is known from making them. */
static int sar_leafwise_grow_even(struct leafwise *l)
{
	struct tables *t = graph_tables(l->f, "sar", l->params, l->progress);
	struct balanced_sssp_how how = { .dags = &l->dags };
	int rc = leafwise_begin_in(l, LEAFWISE_RELIEVE, t, NULL, UINT64_MAX);

	if (rc)
		return rc;
	how.hops = sar_tree_hops(l->g);
	rc = balanced_sssp_route(t, l->f, l->params, &how, l->progress);
	sar_tree_use(l->g, l->dags);
	return rc;
}

/* The layers may have that memory; to give so much back takes its time. */
static void sar_leafwise_drop_maps(struct leafwise *l)
{
	sar_tree_free(l->g);
	l->g = NULL;
	progress_step(l->progress, "paths", l->done, l->pace.total);
	dagset_free(l->dags);
	l->dags = NULL;
}

/* sar_leafwise_cool_even() without a copy of tables that are huge: in the rare case that the even
 * paths were better they are made again. */
static int sar_leafwise_cool_huge(struct leafwise *l)
{
	struct leafwise_objective first;
	int rc = sar_leafwise_grow_even(l);

	if (!rc)
		rc = leafwise_grow(l, &first);
	sar_leafwise_drop_maps(l);
	if (rc || !leafwise_better(&first, &l->reached))
		return rc;
	tables_put(l->t);
	l->reached = first;
	return sar_leafwise_copy_even(l, &l->t);
}

static int sar_leafwise_grow_small(struct leafwise *l)
{
	struct tables *even;
	int rc = sar_leafwise_copy_even(l, &even);

	if (!rc)
		rc = sar_leafwise_grow_or_cool(l, even);
	if (!rc)
		rc = sar_leafwise_route_rest(l);
	tables_put(even);
	return rc;
}

static int sar_leafwise_paths_from_scratch(struct leafwise *l)
{
	return l->large ? sar_leafwise_cool_huge(l) : sar_leafwise_grow_small(l);
}

static int sar_leafwise_route_from_scratch(struct leafwise *l, struct err *err)
{
	int rc = sar_leafwise_paths_from_scratch(l);

	return rc ? rc : vl_layers_assign(l->t, l->f, l->params, l->progress, err);
}

static int sar_leafwise_do_route(struct leafwise *l, struct err *err)
{
	const struct tables *current = l->params->current;
	struct err why;
	bool usable = false;
	int rc = 0;

	if (current)
		rc = sar_installed_check(&usable, current, l->f, l->lmc, l->progress, &why);
	if (rc)
		return rc;
	if (current && !usable)
		notes_set(l->params->notes, "sar_from_scratch", 1,
			  "the installed tables cannot be used: %s", why.text);
	rc = usable ? sar_leafwise_improve(l, err) : -ENOSPC;
	return rc == -ENOSPC ? sar_leafwise_route_from_scratch(l, err) : rc;
}

static int sar_leafwise_begin(struct leafwise *l, const struct fabric *f, const struct jobset *jobs,
			      const struct engine_params *params, struct progress *progress,
			      struct err *err)
{
	int rc = graph_check_connected(f, err);

	*l = (struct leafwise){
		.f = f, .params = params, .progress = progress, .lmc = graph_lmc(f, params)
	};
	if (rc)
		return rc;
	sar_jobs_init(&l->jobs, f, jobs);
	l->bound = metrics_eff_efi_bound_with_progress(f, jobs, true, progress, "paths", 0);
	for (uint32_t k = 0; k < l->jobs.ngroup; k++)
		l->members += l->jobs.group[k].nterm;
	l->work_max = WORK_LEAST + 12ull * f->nterm * f->nsw;
	if (l->work_max > WORK_MOST)
		l->work_max = WORK_MOST;
	l->small = (uint64_t)f->nterm * f->nchan <= SIZE_SMALL;
	l->large = (uint64_t)f->nterm * f->nchan > SIZE_LARGE;
	return 0;
}

static int sar_leafwise_end(struct leafwise *l, int rc, struct tables **out)
{
	sar_tree_free(l->g);
	dagset_free(l->dags);
	sar_jobs_done(&l->jobs);
	if (rc)
		tables_put(l->t);
	else
		*out = l->t;
	return rc;
}

int sar_leafwise_route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		       const struct engine_params *params, struct progress *progress,
		       struct err *err)
{
	struct leafwise l;
	int rc = sar_leafwise_begin(&l, f, jobs, params, progress, err);

	return rc ? rc : sar_leafwise_end(&l, sar_leafwise_do_route(&l, err), out);
}

int sar_leafwise_paths(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		       const struct engine_params *params, struct progress *progress,
		       struct err *err)
{
	struct leafwise l;
	int rc = sar_leafwise_begin(&l, f, jobs, params, progress, err);

	return rc ? rc : sar_leafwise_end(&l, sar_leafwise_paths_from_scratch(&l), out);
}
