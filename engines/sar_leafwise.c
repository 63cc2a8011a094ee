/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar_leafwise.h"

#include "engines/dagset.h"
#include "engines/even.h"
#include "engines/graph.h"
#include "engines/layers.h"
#include "engines/metrics.h"
#include "engines/sar_grow.h"
#include "engines/sar_installed.h"
#include "engines/sar_jobs.h"
#include "engines/sar_paths.h"
#include "fabric/base/mem.h"
#include "fabric/model/route_limits.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HOT_ROUNDS   8
#define STALE_ROUNDS 2 /* without a lower maximum, then it is given up */
#define KEEP_FIRST                                                                                 \
	1.5		 /* in the first rounds hops stay that cost no more than so many times ... \
			  */
#define KEEP_LAST   1.1	 /* ... and in the last ones */
#define FORCED	    0.98 /* of a maximum that no other paths can lower: not worth more rounds */
#define NEAR	    1.04 /* the maximum is good enough up to so many times the bound */
#define FAR	    1.3 /* from so many times on the budget of blocks may be too small a start ... */
#define WORTH	    0.85 /* ... if without it the maximum falls to so much of it */
#define LITTLE	    1.1	 /* so many times the maximum, or one route more, ... */
#define CLEARLY	    0.8	 /* ... for so much of the flows that meet */
#define BUDGET	    0.05 /* of the blocks in use, unless the caller says otherwise */
#define BLOCK_PRICE 0.3	 /* routes on a full channel that a block is worth */
#define UNFAIR	    0.7	 /* jobs are helped whose routes cost so much more than all on average */

#define AHEAD	   2 /* trees asked for before they are looked at */
#define COUNT_WORK 6 /* of a step along a path against an edge that is looked at */
#define JOB_WEIGHT 8 /* of a route inside a job against any other */

/* Fabrics by terminals * channels: up to the first a better start is worth its time; beyond the
 * second trees are not grown without need. */
#define SIZE_SMALL (1ull << 22)
#define SIZE_LARGE (1ull << 26)

/* What is to be small; see the header. */
struct objective {
	double max, over; /* the maximum; the same where it is far from the bound, else 0 */
	double meet;
};

/* edges to look at for all trees once, and for cooling them; up to which more is tried */
#define WORK_LEAST (1ull << 22)
#define WORK_MOST  (1ull << 27)
#define WORK_TWICE (1ull << 26)

/* A job and what its routes cost on average. */
struct plight {
	uint32_t crew;
	double price;
};

/* How much may change. */
enum effort {
	EFFORT_RELIEVE, /* only paths over full channels move; all are shortest ones */
	EFFORT_COOL,	/* only full channels are looked at */
	EFFORT_BUDGET,	/* then jobs that fare badly are helped, within a budget of blocks */
	EFFORT_AFRESH,	/* all jobs' trees are grown, whatever is installed */
};

struct leafwise {
	const struct fabric *f;
	const struct engine_params *params;
	struct progress *progress;
	struct sar_jobs jobs;
	uint8_t lmc; /* of traffic LIDs */
	uint64_t bound;
	uint32_t members;  /* terminals with a crew */
	uint64_t work_max; /* edges to look at for all trees */
	enum effort effort;
	bool small, large;   /* the fabric */
	struct tables *t;    /* in the making */
	struct dagset *dags; /* of huge fabrics; NULL: there are none */
	struct grow *g;
	uint64_t limit;		  /* blocks that may change */
	struct objective reached; /* by t */
	uint32_t batch;		  /* source switches of the crew in hand that are placed at once */
	struct pace pace;
	uint64_t done;
};

static bool better(const struct objective *a, const struct objective *b)
{
	return a->over != b->over ? a->over < b->over : a->meet < b->meet;
}

static double fullest(const struct leafwise *l)
{
	const struct grow_load *load = grow_loads(l->g);
	double max = 0;

	for (uint32_t c = 0; c < l->f->nchan; c++)
		max = load[c].all > max ? load[c].all : max;
	return max;
}

static bool near_bound(const struct leafwise *l, uint32_t plane, double max)
{
	return max <= NEAR * (double)l->bound * (plane + 1);
}

/* Blocks of 64 LIDs, of all switches, with a LID in use. */
static uint64_t blocks_in_use(const struct fabric *f)
{
	uint64_t n = 0;

	for (uint32_t lid = 0; lid <= f->max_lid;) {
		if (f->lid_end[lid] == FAB_NONE) {
			lid++;
			continue;
		}
		n += f->nsw;
		lid += LFT_BLOCK - lid % LFT_BLOCK;
	}
	return n;
}

static uint64_t budget(const struct leafwise *l)
{
	double share = l->params->sar_change > 0 ? l->params->sar_change : BUDGET;

	return (uint64_t)(share * (double)blocks_in_use(l->f));
}

static struct grow_rule rule_for(const struct leafwise *l, uint32_t plane, double keep, double gain,
				 double block)
{
	return (struct grow_rule){ .aim = (double)l->bound,
				   .planes = plane + 1.0,
				   .keep = keep,
				   .gain = gain,
				   .block = block,
				   .limit = l->limit,
				   .batch = 1 };
}

static struct dest dest_of(const struct leafwise *l, uint32_t term, uint32_t plane)
{
	return (struct dest){ .sw = l->f->term_sw[term],
			      .end = term,
			      .lid = (uint16_t)(l->f->term_lid[term] + plane),
			      .port = l->f->term_port[term] };
}

/* Huge jobs grow in larger steps, so that the time stays in bounds: work is that of one tree. */
static void adapt_batch(struct leafwise *l, uint64_t work)
{
	if (work > l->work_max / l->members && l->batch < l->f->nsw)
		l->batch *= 2;
}

static bool tick(struct leafwise *l, uint64_t before)
{
	l->done += l->done < l->pace.total;
	adapt_batch(l, grow_work(l->g) - before);
	return pace_tick(&l->pace, l->done, 2 * (grow_work(l->g) - before));
}

/* Are the routes to it to stay as they are installed? */
static bool is_pinned(const struct leafwise *l, uint32_t term)
{
	const struct route_limits *limits = l->params->limits;

	return limits && limits->pin && limits->pin[term];
}

/* Adds the routes of all trees of a plane to the loads. */
static int count_all(struct leafwise *l, uint32_t plane)
{
	for (uint32_t k = 0; k < l->jobs.ncrew; k++) {
		const struct sar_crew *crew = &l->jobs.crew[k];

		for (uint32_t i = 0; i < crew->nterm; i++) {
			struct dest d = dest_of(l, crew->terms[i], plane);
			uint64_t before = grow_work(l->g);
			uint32_t n;
			const struct sar_source *s = sar_jobs_sources(&l->jobs, crew->terms[i], &n);

			grow_count(l->g, &d, s, n);
			if (pace_tick(&l->pace, l->done, COUNT_WORK * (grow_work(l->g) - before)))
				return -ECANCELED;
		}
	}
	return 0;
}

/* Of the first LIDs. */
static void measure(const struct leafwise *l, struct objective *o)
{
	*o = (struct objective){ .max = fullest(l) };
	o->over = near_bound(l, 0, o->max) ? 0 : o->max;
	o->meet = grow_meets(l->g);
}

/* All jobs, in descending size. */
static int grow_jobs(struct leafwise *l, uint32_t plane)
{
	struct grow_rule rule = rule_for(l, plane, 1, 1, 0);

	for (uint32_t k = 0; k < l->jobs.ncrew; k++) {
		const struct sar_crew *crew = &l->jobs.crew[k];

		l->batch = 1;
		for (uint32_t i = 0; i < crew->nterm; i++) {
			struct dest d = dest_of(l, crew->terms[i], plane);
			uint64_t before = grow_work(l->g);
			uint32_t n;
			const struct sar_source *s = sar_jobs_sources(&l->jobs, crew->terms[i], &n);

			rule.batch = l->batch;
			if (is_pinned(l, crew->terms[i]))
				grow_count(l->g, &d, s, n);
			else
				grow_tree(l->g, &d, s, n, &rule);
			if (tick(l, before))
				return -ECANCELED;
		}
	}
	return 0;
}

static int dearest_first(const void *a, const void *b)
{
	const struct plight *x = a, *y = b;

	if (x->price != y->price)
		return x->price > y->price ? -1 : 1;
	return x->crew < y->crew ? -1 : x->crew > y->crew;
}

/* Jobs whose routes cost more than those of others. */
static int find_plights(struct leafwise *l, struct plight *list, uint32_t *n, uint32_t plane)
{
	struct grow_rule rule = rule_for(l, plane, 1, 1, 0);
	double all = 0;
	uint32_t kept = 0;

	for (*n = 0; *n < l->jobs.ncrew; ++*n) {
		const struct sar_crew *crew = &l->jobs.crew[*n];

		list[*n] = (struct plight){ .crew = *n };
		for (uint32_t i = 0; i < crew->nterm; i++) {
			struct dest d = dest_of(l, crew->terms[i], plane);
			uint64_t before = grow_work(l->g);
			uint32_t k;
			const struct sar_source *s = sar_jobs_sources(&l->jobs, crew->terms[i], &k);

			list[*n].price += grow_price(l->g, &d, s, k, &rule);
			if (pace_tick(&l->pace, l->done, COUNT_WORK * (grow_work(l->g) - before)))
				return -ECANCELED;
		}
		all += list[*n].price;
		list[*n].price /= crew->nterm ? crew->nterm : 1;
	}
	all /= l->members;
	for (uint32_t i = 0; i < *n; i++)
		if (list[i].price > UNFAIR * all)
			list[kept++] = list[i];
	*n = kept;
	qsort(list, kept, sizeof(*list), dearest_first);
	return 0;
}

static int repair_crew(struct leafwise *l, const struct sar_crew *crew, uint32_t plane)
{
	struct grow_rule rule = rule_for(l, plane, 1.2, 0.99, BLOCK_PRICE);

	l->batch = 1;
	for (uint32_t i = 0; i < crew->nterm && grow_blocks(l->g) < l->limit; i++) {
		struct dest d = dest_of(l, crew->terms[i], plane);
		uint64_t before = grow_work(l->g);
		uint32_t n;
		const struct sar_source *s = sar_jobs_sources(&l->jobs, crew->terms[i], &n);

		rule.batch = l->batch;
		if (!is_pinned(l, crew->terms[i]))
			grow_again(l->g, &d, s, n, &rule);
		if (tick(l, before))
			return -ECANCELED;
	}
	return 0;
}

/* Helps the jobs that fare badly, the worst first. */
static int repair_jobs(struct leafwise *l, uint32_t plane)
{
	struct plight *list = xcalloc(l->jobs.ncrew, sizeof(*list));
	uint64_t before = grow_work(l->g);
	uint32_t n;
	int rc = find_plights(l, list, &n, plane);

	for (uint32_t i = 0; i < n && !rc && grow_blocks(l->g) < l->limit; i++) {
		rc = repair_crew(l, &l->jobs.crew[list[i].crew], plane);
		if (grow_work(l->g) - before > l->work_max)
			break;
	}
	free(list);
	return rc;
}

/* Grows the trees of the crew anew that use a hot channel. */
static int cool_crew(struct leafwise *l, const struct sar_crew *crew, uint32_t plane,
		     struct grow_rule *rule, uint32_t *changed)
{
	l->batch = 1;
	for (uint32_t i = 0; i < crew->nterm; i++) {
		struct dest d = dest_of(l, crew->terms[i], plane);
		uint64_t before = grow_work(l->g);

		if (i + AHEAD < crew->nterm)
			grow_look_ahead(l->g, l->f->term_lid[crew->terms[i + AHEAD]] + plane);
		if (!is_pinned(l, crew->terms[i]) && grow_is_hot(l->g, &d)) {
			uint32_t n;
			const struct sar_source *s = sar_jobs_sources(&l->jobs, crew->terms[i], &n);

			rule->batch = l->batch;
			*changed += grow_again(l->g, &d, s, n, rule);
		}
		if (tick(l, before))
			return -ECANCELED;
	}
	return 0;
}

/* Takes load off the channels with at least limit, until the work is done that may be. */
static int cool_round(struct leafwise *l, uint32_t plane, double limit, struct grow_rule *rule,
		      uint64_t work_end, uint32_t *changed)
{
	int rc = 0;

	*changed = 0;
	grow_watch(l->g, limit);
	if (pace_tick(&l->pace, l->done, l->f->nchan))
		return -ECANCELED;
	for (uint32_t k = 0; k < l->jobs.ncrew && !rc && grow_work(l->g) <= work_end; k++)
		rc = cool_crew(l, &l->jobs.crew[k], plane, rule, changed);
	return rc;
}

/* Adds the crew's routes that cannot leave a hot channel. */
static int add_forced(struct leafwise *l, const struct sar_crew *crew, uint32_t plane,
		      uint32_t *forced)
{
	for (uint32_t i = 0; i < crew->nterm; i++) {
		struct dest d = dest_of(l, crew->terms[i], plane);
		uint64_t before = grow_work(l->g);

		if (grow_is_hot(l->g, &d)) {
			uint32_t n;
			const struct sar_source *s = sar_jobs_sources(&l->jobs, crew->terms[i], &n);

			grow_add_forced(l->g, &d, s, n, forced);
		}
		if (pace_tick(&l->pace, l->done, 2 * (grow_work(l->g) - before)))
			return -ECANCELED;
	}
	return 0;
}

/* Raises *least to what the maximum cannot fall below: the routes on a channel that has it now,
 * and without which they have no shortest path. */
static int find_forced(struct leafwise *l, uint32_t plane, double max, double *least)
{
	uint32_t *forced = xcalloc(l->f->nchan, sizeof(*forced));
	int rc = 0;

	grow_watch(l->g, max);
	for (uint32_t k = 0; k < l->jobs.ncrew && !rc; k++)
		rc = add_forced(l, &l->jobs.crew[k], plane, forced);
	for (uint32_t c = 0; c < l->f->nchan; c++)
		*least = forced[c] > *least ? forced[c] : *least;
	free(forced);
	return rc;
}

/* Takes load off the fullest channels: gently at first, so that little changes. */
static int cool(struct leafwise *l, uint32_t plane)
{
	struct grow_rule rule = rule_for(l, plane, KEEP_FIRST, 0.999, 0);
	double bound = (double)l->bound * (plane + 1), last = HUGE_VAL;
	uint64_t work_end = grow_work(l->g) + l->work_max;
	uint32_t stale = 0, changed = 0;
	double least = 0;
	int rc = 0;

	rule.hot_only = l->effort == EFFORT_RELIEVE;
	for (uint32_t round = 0; round < HOT_ROUNDS && !rc; round++) {
		double max = fullest(l), limit = max > 20 ? 0.95 * max : max - 1;
		bool enough = near_bound(l, plane, max) || max > 0.98 * last;
		bool stuck = max > 0.96 * last;

		if (max <= bound || (enough && l->effort == EFFORT_BUDGET))
			return 0;
		stale = max > 0.995 * last ? stale + 1 : 0;
		if (stale == STALE_ROUNDS)
			return 0;
		last = max;
		limit = limit > bound + 1 ? limit : bound + 1;
		if (rule.hot_only && (!round || (stuck && least < FORCED * max)))
			rc = find_forced(l, plane, max, &least);
		if (rc || least >= FORCED * max)
			return rc;
		limit = limit > least ? limit : least;
		rc = cool_round(l, plane, limit, &rule, work_end, &changed);
		if (grow_work(l->g) > work_end || (!changed && rule.keep < KEEP_FIRST))
			return rc;
		if (!changed || round >= HOT_ROUNDS / 2)
			rule.keep = KEEP_LAST;
	}
	return rc;
}

static int grow_plane(struct leafwise *l, uint32_t plane, struct objective *installed)
{
	int rc;

	if (l->effort == EFFORT_AFRESH) {
		rc = grow_jobs(l, plane);
		return rc ? rc : cool(l, plane);
	}
	rc = count_all(l, plane);
	if (!rc && !plane)
		measure(l, installed);
	if (!rc)
		rc = cool(l, plane);
	if (!rc && l->effort == EFFORT_BUDGET)
		rc = repair_jobs(l, plane);
	return rc;
}

/* Grows the trees of jobs.  installed gets what the tables at the beginning reach; unless all
 * are grown afresh. */
static int grow_planes(struct leafwise *l, struct objective *installed)
{
	for (uint32_t plane = 0; plane < 1u << l->lmc; plane++) {
		int rc = grow_plane(l, plane, installed);

		if (rc)
			return rc;
		if (!plane)
			measure(l, &l->reached);
	}
	return 0;
}

/* Starts from t, whose owner l becomes; changed blocks are counted against from, unless that is
 * NULL. */
static int begin_in(struct leafwise *l, enum effort effort, struct tables *t,
		    const struct tables *from, uint64_t limit)
{
	uint64_t total = (uint64_t)l->members * (1 + HOT_ROUNDS) << l->lmc;

	tables_put(l->t);
	grow_free(l->g);
	l->t = t;
	l->g = grow_new(l->f, l->t, from);
	l->done = 0;
	l->effort = effort;
	l->limit = limit;
	if (effort == EFFORT_AFRESH)
		total += graph_count_lids(l->f, l->lmc);
	return pace_begin(&l->pace, l->progress, "paths", total) ? -ECANCELED : 0;
}

/* Starts from those tables. */
static int begin(struct leafwise *l, enum effort effort, const struct tables *from, uint64_t limit)
{
	struct tables *t = graph_tables(l->f, "sar", l->params, l->progress);

	sar_installed_copy_lfts(t, from);
	return begin_in(l, effort, t, from, limit);
}

static int from_installed(struct leafwise *l, enum effort effort, uint64_t limit,
			  struct objective *installed)
{
	int rc = begin(l, effort, l->params->current, limit);

	return rc ? rc : grow_planes(l, installed);
}

/* Lower maxima may need routes to one LID over several cables, where those to others meet them. */
static void say_meets(const struct leafwise *l, const struct objective *was)
{
	double pct = was->meet > 0 ? 100 * l->reached.meet / was->meet - 100 : 0;

	if (pct >= 2 && l->reached.max < was->max)
		notes_set(l->params->notes, "sar_meets", (uint64_t)pct,
			  "for the maximum's sake (%.0f, was %.0f) %.0f %% more flows of jobs meet "
			  "on cables: see the forecast of slowdown and bisection bandwidth",
			  l->reached.max, was->max, pct);
}

static void say_budget(const struct leafwise *l, const struct objective *was)
{
	if (grow_blocks(l->g) + l->f->nsw / 64 < l->limit || !l->reached.over)
		return;
	notes_set(l->params->notes, "sar_budget", l->limit,
		  "%llu blocks may change at a time: the maximum falls from %.0f to %.0f, towards "
		  "%llu in steps to come",
		  (unsigned long long)l->limit, was->max, l->reached.max,
		  (unsigned long long)l->bound);
}

/* A step of many: the tables are ours, or the caller says how much may change. */
static bool insists(const struct leafwise *l)
{
	return l->params->sar_change > 0 || !strcmp(l->params->current->engine, "sar");
}

/* Is b to be taken, which moved no more than it had to?  Also for a maximum that is a little higher
 * when clearly fewer flows meet. */
static bool moved_better(const struct objective *b, const struct objective *a)
{
	double most = a->max * LITTLE > a->max + 1 ? a->max * LITTLE : a->max + 1;

	return better(b, a) || (b->max <= most && b->meet < CLEARLY * a->meet);
}

/* Without a budget: all trees anew, or only those over full channels moved, whichever is better.
 * The latter leaves more of what meets nobody where it is.  *blocks: those that change. */
static int grow_freely(struct leafwise *l, uint64_t *blocks)
{
	struct objective first, installed;
	struct tables *t;
	int rc = from_installed(l, EFFORT_AFRESH, UINT64_MAX, NULL);

	if (rc)
		return rc;
	first = l->reached;
	t = (struct tables *)tables_get(l->t);
	*blocks = grow_blocks(l->g);
	rc = from_installed(l, EFFORT_COOL, UINT64_MAX, &installed);
	if (rc || !moved_better(&l->reached, &first)) {
		tables_put(l->t);
		l->t = t;
		l->reached = first;
		return rc;
	}
	*blocks = grow_blocks(l->g);
	tables_put(t);
	return 0;
}

/* Within the budget; where that leaves the maximum far from the bound, and it need not be kept to,
 * without one, when the maximum falls much for it. */
static int start_from_installed(struct leafwise *l, struct objective *installed)
{
	struct objective first;
	struct tables *t;
	uint64_t blocks;
	int rc = from_installed(l, EFFORT_BUDGET, budget(l), installed);

	if (rc)
		return rc;
	say_budget(l, installed);
	first = l->reached;
	if (insists(l) || first.max <= FAR * (double)l->bound || grow_work(l->g) > WORK_TWICE)
		return 0;
	t = (struct tables *)tables_get(l->t);
	rc = grow_freely(l, &blocks);
	if (rc || l->reached.max > WORTH * first.max) {
		tables_put(l->t);
		l->t = t;
		l->reached = first;
		return rc;
	}
	tables_put(t);
	notes_set(
		l->params->notes, "sar_afresh", blocks,
		"the installed routes are far from what these jobs need (maximum %.0f, now %.0f), "
		"so as many of their paths change as it takes",
		installed->max, l->reached.max);
	return 0;
}

static int copy_even(struct leafwise *l, struct tables **even)
{
	struct even_how how = { .rounds = l->small ? EVEN_ROUNDS : 0 };

	*even = graph_tables(l->f, "sar", l->params, l->progress);
	return even_route(*even, l->f, l->params, &how, l->progress);
}

/* The trees of those tables, in the loads. */
static int take_even(struct leafwise *l, const struct tables *even, struct objective *o)
{
	int rc = begin(l, EFFORT_COOL, even, UINT64_MAX);

	for (uint32_t plane = 0; plane < 1u << l->lmc && !rc; plane++) {
		rc = count_all(l, plane);
		if (!rc && !plane)
			measure(l, o);
	}
	return rc;
}

/* Takes the hot trees of those tables elsewhere, unless that is not better. */
static int cool_even(struct leafwise *l, const struct tables *even)
{
	struct objective first;
	int rc = begin(l, EFFORT_COOL, even, UINT64_MAX);

	if (!rc)
		rc = grow_planes(l, &first);
	if (rc || !better(&first, &l->reached))
		return rc;
	return take_even(l, even, &l->reached);
}

/* Storage, then the others, over the loads of the jobs' LIDs. */
static int route_rest(struct leafwise *l)
{
	struct sar_paths *p = sar_paths_new(l->t, l->f, l->jobs.jobs, l->lmc, SAR_PAPER);
	int rc = sar_paths_count_jobs(p, &l->pace, &l->done);

	for (uint32_t c = 0; c < l->f->nchan; c++)
		sar_paths_loads(p)[c] += JOB_WEIGHT * (uint64_t)grow_loads(l->g)[c].all;
	if (!rc)
		rc = sar_paths_rest(p, &l->pace, &l->done);
	sar_paths_free(p);
	return rc;
}

/* The installed tables as they are where they are sound, else with layers of our own. */
static int keep_installed(struct leafwise *l, struct err *err)
{
	const struct tables *current = l->params->current;
	bool sound = false;
	int rc = 0;

	if (!l->params->escape)
		rc = sar_installed_sound(&sound, current, l->f, l->params, l->progress, err);
	if (rc)
		return rc;
	tables_put(l->t);
	l->t = graph_tables(l->f, "sar", l->params, l->progress);
	if (sound) {
		sar_installed_copy(l->t, current, l->f);
		return 0;
	}
	sar_installed_copy_lfts(l->t, current);
	return layers_assign(l->t, l->f, l->params, l->progress, err);
}

static void say_kept(const struct leafwise *l, const struct objective *installed)
{
	notes_set(l->params->notes, "sar_kept_installed", (uint64_t)installed->max,
		  "the installed paths stay: none were found with a lower maximum than their %.0f, "
		  "or with fewer flows that meet",
		  installed->max);
}

/* Better tables than the installed ones, or those; -ENOSPC: neither fits the VLs. */
static int improve(struct leafwise *l, struct err *err)
{
	struct objective installed;
	int rc = start_from_installed(l, &installed);

	if (rc)
		return rc;
	if (better(&l->reached, &installed)) {
		rc = layers_assign_from(l->t, l->f, l->params->current, l->params, l->progress,
					err);
		if (!rc)
			say_meets(l, &installed);
		if (rc != -ENOSPC)
			return rc;
	}
	rc = keep_installed(l, err);
	if (!rc)
		say_kept(l, &installed);
	return rc;
}

/* Grows all trees over those tables. */
static int grow_over(struct leafwise *l, const struct tables *even)
{
	int rc = begin(l, EFFORT_AFRESH, even, UINT64_MAX);

	return rc ? rc : grow_planes(l, NULL);
}

/* The better of the two, unless what grows is good enough. */
static int grow_or_cool(struct leafwise *l, const struct tables *even)
{
	struct objective grown, plain;
	struct tables *t;
	struct grow *g;
	int rc = take_even(l, even, &plain);

	if (!rc)
		rc = grow_over(l, even);
	if (rc || (near_bound(l, 0, l->reached.max) && better(&l->reached, &plain)))
		return rc;
	grown = l->reached;
	t = l->t;
	g = l->g;
	l->t = NULL;
	l->g = NULL;
	rc = cool_even(l, even);
	if (!rc && better(&grown, &l->reached)) {
		struct tables *other = l->t;
		struct grow *theirs = l->g;

		l->t = t;
		l->g = g;
		l->reached = grown;
		t = other;
		g = theirs;
	}
	tables_put(t);
	grow_free(g);
	return rc;
}

/* The same in tables of our own, with what is known from making them. */
static int grow_even(struct leafwise *l)
{
	struct tables *t = graph_tables(l->f, "sar", l->params, l->progress);
	struct even_how how = { .dags = &l->dags };
	int rc = begin_in(l, EFFORT_RELIEVE, t, NULL, UINT64_MAX);

	if (rc)
		return rc;
	how.hops = grow_hops(l->g);
	rc = even_route(t, l->f, l->params, &how, l->progress);
	grow_use(l->g, l->dags);
	return rc;
}

/* The layers may have that memory; to give so much back takes its time. */
static void drop_maps(struct leafwise *l)
{
	grow_free(l->g);
	l->g = NULL;
	progress_step(l->progress, "paths", l->done, l->pace.total);
	dagset_free(l->dags);
	l->dags = NULL;
}

/* cool_even() without a copy of tables that are huge: in the rare case that the even paths were
 * better they are made again. */
static int cool_huge(struct leafwise *l)
{
	struct objective first;
	int rc = grow_even(l);

	if (!rc)
		rc = grow_planes(l, &first);
	drop_maps(l);
	if (rc || !better(&first, &l->reached))
		return rc;
	tables_put(l->t);
	l->reached = first;
	return copy_even(l, &l->t);
}

static int grow_small(struct leafwise *l)
{
	struct tables *even;
	int rc = copy_even(l, &even);

	if (!rc)
		rc = grow_or_cool(l, even);
	if (!rc)
		rc = route_rest(l);
	tables_put(even);
	return rc;
}

static int route_from_scratch(struct leafwise *l, struct err *err)
{
	int rc = l->large ? cool_huge(l) : grow_small(l);

	return rc ? rc : layers_assign(l->t, l->f, l->params, l->progress, err);
}

static int route(struct leafwise *l, struct err *err)
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
			  "the installed tables are of no use: %s", why.text);
	rc = usable ? improve(l, err) : -ENOSPC;
	return rc == -ENOSPC ? route_from_scratch(l, err) : rc;
}

int sar_leafwise_route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		       const struct engine_params *params, struct progress *progress,
		       struct err *err)
{
	struct leafwise l = {
		.f = f, .params = params, .progress = progress, .lmc = graph_lmc(f, params)
	};
	int rc = graph_check_connected(f, err);

	if (rc)
		return rc;
	sar_jobs_init(&l.jobs, f, jobs);
	l.bound = metrics_eff_efi_bound_told(f, jobs, progress, "paths", 0);
	for (uint32_t k = 0; k < l.jobs.ncrew; k++)
		l.members += l.jobs.crew[k].nterm;
	l.work_max = WORK_LEAST + 12ull * f->nterm * f->nsw;
	if (l.work_max > WORK_MOST)
		l.work_max = WORK_MOST;
	l.small = (uint64_t)f->nterm * f->nchan <= SIZE_SMALL;
	l.large = (uint64_t)f->nterm * f->nchan > SIZE_LARGE;
	rc = route(&l, err);
	grow_free(l.g);
	dagset_free(l.dags);
	sar_jobs_done(&l.jobs);
	if (rc)
		tables_put(l.t);
	else
		*out = l.t;
	return rc;
}
