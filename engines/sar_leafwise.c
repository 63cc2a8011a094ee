/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar_leafwise.h"

#include "engines/even.h"
#include "engines/graph.h"
#include "engines/layers.h"
#include "engines/metrics.h"
#include "engines/sar_grow.h"
#include "engines/sar_installed.h"
#include "engines/sar_jobs.h"
#include "engines/sar_paths.h"
#include "fabric/base/mem.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HOT_ROUNDS   8
#define STALE_ROUNDS 2	  /* without a lower maximum, then it is given up */
#define PLIGHT	     1.5  /* a job fares badly from so many times its bound on */
#define NEAR	     1.04 /* the maximum is good enough up to so many times the bound ... */
#define FEW_BLOCKS   0.04 /* ... to stop once this share of all blocks has changed */

#define OWN_SHARE  0.5 /* of a tree's own routes among those that its routes may meet */
#define COUNT_WORK 6   /* of a step along a path against an edge that is looked at */
#define JOB_WEIGHT 8   /* of a route inside a job against any other */

/* Fabrics by terminals * channels: up to the first a better start is worth its time; beyond the
 * second trees are not grown without need. */
#define SIZE_SMALL (1ull << 22)
#define SIZE_LARGE (1ull << 26)

/* What is to be small; see the header. */
struct objective {
	double max, jobs, meet;
};

/* edges to look at for all trees once, and for cooling them; up to which more is tried */
#define WORK_LEAST (1ull << 22)
#define WORK_MOST  (1ull << 27)
#define WORK_TWICE (1ull << 26)

/* A job that fares badly. */
struct plight {
	uint32_t crew;
	double ratio; /* of its largest EFI to the bound */
};

/* How much may change. */
enum effort {
	EFFORT_COOL,   /* only full channels are looked at */
	EFFORT_LITTLE, /* jobs that fare badly are helped within a share of the blocks */
	EFFORT_REPAIR, /* all of them are */
	EFFORT_AFRESH, /* all jobs' trees are grown, whatever is installed */
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
	bool small, large; /* the fabric */
	struct tables *t;  /* in the making */
	struct grow *g;
	struct objective reached; /* by t */
	uint32_t batch;		  /* source switches of the crew in hand that are placed at once */
	struct pace pace;
	uint64_t done;
};

static bool better(const struct objective *a, const struct objective *b)
{
	if (a->max != b->max)
		return a->max < b->max;
	return a->jobs != b->jobs ? a->jobs < b->jobs : a->meet < b->meet;
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

/* More than these are changed only for the maximum's sake. */
static uint64_t few_blocks(const struct leafwise *l)
{
	return l->effort == EFFORT_AFRESH || l->effort == EFFORT_COOL
		       ? UINT64_MAX
		       : (uint64_t)(FEW_BLOCKS * l->f->nsw * tables_blocks(l->t));
}

/* No more changes then. */
static bool spent(const struct leafwise *l)
{
	return l->effort == EFFORT_LITTLE && grow_blocks(l->g) >= few_blocks(l);
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

/* What the fullest uplink of a switch with terminals of this job has to carry at least. */
static double job_bound(const struct leafwise *l, const struct sar_crew *crew)
{
	uint32_t size = l->jobs.jobs->jobs[crew->job].nterm;
	double bound = 0;

	for (uint32_t i = 0; i < crew->nsource; i++) {
		uint32_t sw = crew->sources[i].sw, n = crew->sources[i].n;
		uint32_t links = l->f->chan_off[sw + 1] - l->f->chan_off[sw];
		double least = (double)n * ((size - n + links - 1) / links);

		bound = least > bound ? least : bound;
	}
	return bound;
}

/* Counts the loads of one job; *max gets the largest. */
static int count_crew(struct leafwise *l, const struct sar_crew *crew, uint32_t plane, double *max)
{
	*max = 0;
	for (uint32_t i = 0; i < crew->nterm; i++) {
		struct dest d = dest_of(l, crew->terms[i], plane);
		uint64_t before = grow_work(l->g);
		uint32_t n;
		const struct sar_source *s = sar_jobs_sources(&l->jobs, crew->terms[i], &n);
		double most = grow_count_job(l->g, &d, s, n);

		*max = most > *max ? most : *max;
		if (pace_tick(&l->pace, l->done, COUNT_WORK * (grow_work(l->g) - before)))
			return -ECANCELED;
	}
	return 0;
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
static int measure(struct leafwise *l, struct objective *o)
{
	const struct grow_load *load = grow_loads(l->g);

	*o = (struct objective){ .max = fullest(l) };
	for (uint32_t c = 0; c < l->f->nchan; c++)
		o->meet += load[c].all * load[c].all - (1 - OWN_SHARE) * load[c].same;
	for (uint32_t k = 0; k < l->jobs.ncrew && !l->large; k++) {
		double max;
		int rc = count_crew(l, &l->jobs.crew[k], 0, &max);

		grow_forget_job(l->g);
		if (rc)
			return rc;
		o->jobs += max;
	}
	return 0;
}

/* All jobs, in descending size. */
static int grow_jobs(struct leafwise *l, uint32_t plane)
{
	struct grow_rule rule = { 2, 16, OWN_SHARE, 1, 1, 1 };

	for (uint32_t k = 0; k < l->jobs.ncrew; k++) {
		const struct sar_crew *crew = &l->jobs.crew[k];

		l->batch = 1;
		for (uint32_t i = 0; i < crew->nterm; i++) {
			struct dest d = dest_of(l, crew->terms[i], plane);
			uint64_t before = grow_work(l->g);
			uint32_t n;
			const struct sar_source *s = sar_jobs_sources(&l->jobs, crew->terms[i], &n);

			rule.batch = l->batch;
			grow_tree(l->g, &d, s, n, &rule);
			if (tick(l, before))
				return -ECANCELED;
		}
		grow_forget_job(l->g);
	}
	return 0;
}

static int worst_first(const void *a, const void *b)
{
	const struct plight *x = a, *y = b;

	if (x->ratio != y->ratio)
		return x->ratio > y->ratio ? -1 : 1;
	return x->crew < y->crew ? -1 : x->crew > y->crew;
}

/* Jobs whose fullest channel carries far more of their routes than it has to. */
static int find_plights(struct leafwise *l, struct plight *list, uint32_t *n, uint32_t plane)
{
	*n = 0;
	for (uint32_t k = 0; k < l->jobs.ncrew; k++) {
		const struct sar_crew *crew = &l->jobs.crew[k];
		double bound = job_bound(l, crew), max;
		int rc = count_crew(l, crew, plane, &max);

		grow_forget_job(l->g);
		if (rc)
			return rc;
		if (max > PLIGHT * bound)
			list[(*n)++] = (struct plight){ .crew = k, .ratio = max / bound };
	}
	qsort(list, *n, sizeof(*list), worst_first);
	return 0;
}

static int repair_crew(struct leafwise *l, const struct sar_crew *crew, uint32_t plane,
		       uint64_t blocks)
{
	struct grow_rule rule = { 2, 16, OWN_SHARE, 1.5, 0.95, 1 };
	double max;
	int rc = count_crew(l, crew, plane, &max);

	if (rc)
		return rc;
	l->batch = 1;
	for (uint32_t i = 0; i < crew->nterm && grow_blocks(l->g) < blocks; i++) {
		struct dest d = dest_of(l, crew->terms[i], plane);
		uint64_t before = grow_work(l->g);
		uint32_t n;
		const struct sar_source *s = sar_jobs_sources(&l->jobs, crew->terms[i], &n);

		rule.batch = l->batch;
		grow_again(l->g, &d, s, n, &rule);
		if (tick(l, before))
			return -ECANCELED;
	}
	return 0;
}

/* Helps the jobs that fare badly, the worst first, as long as few blocks have changed. */
static int repair_jobs(struct leafwise *l, uint32_t plane)
{
	uint64_t blocks = l->effort == EFFORT_LITTLE ? few_blocks(l) : UINT64_MAX;
	struct plight *list = xcalloc(l->jobs.ncrew, sizeof(*list));
	uint32_t n;
	int rc = find_plights(l, list, &n, plane);

	for (uint32_t i = 0; i < n && !rc && grow_blocks(l->g) < blocks; i++) {
		rc = repair_crew(l, &l->jobs.crew[list[i].crew], plane, blocks);
		grow_forget_job(l->g);
	}
	free(list);
	return rc;
}

/* Grows the trees of the crew anew that use a channel with a load of at least limit. */
static int cool_crew(struct leafwise *l, const struct sar_crew *crew, uint32_t plane, double limit,
		     struct grow_rule *rule, uint32_t *changed)
{
	bool counted = false;
	uint32_t done = 0;
	double max;

	l->batch = 1;
	for (uint32_t i = 0; i < crew->nterm; i++) {
		struct dest d = dest_of(l, crew->terms[i], plane);
		uint64_t before = grow_work(l->g);
		uint32_t n;
		const struct sar_source *s = sar_jobs_sources(&l->jobs, crew->terms[i], &n);

		if (!spent(l) && grow_hottest(l->g, &d, s, n) >= limit) {
			if (!counted && count_crew(l, crew, plane, &max))
				break;
			counted = true;
			before = grow_work(l->g);
			s = sar_jobs_sources(&l->jobs, crew->terms[i], &n);
			rule->batch = l->batch;
			*changed += grow_again(l->g, &d, s, n, rule);
		}
		if (tick(l, before))
			break;
		done++;
	}
	grow_forget_job(l->g);
	return done < crew->nterm ? -ECANCELED : 0;
}

/* Takes load off the fullest channels: gently at first, so that little changes. */
static int cool(struct leafwise *l, uint32_t plane)
{
	struct grow_rule rule = { 4, 1, 1, 1.5, 0.999, 1 };
	double bound = (double)l->bound * (plane + 1), last = HUGE_VAL;
	uint64_t before = grow_work(l->g);
	uint32_t stale = 0;

	for (uint32_t round = 0; round < HOT_ROUNDS; round++) {
		double max = fullest(l), limit = max > 20 ? 0.95 * max : max - 1;
		bool enough = near_bound(l, plane, max) || max > 0.98 * last;
		uint32_t changed = 0;

		if (max <= bound || (enough && grow_blocks(l->g) > few_blocks(l)))
			return 0;
		stale = max > 0.995 * last ? stale + 1 : 0;
		if (stale == STALE_ROUNDS)
			return 0;
		last = max;
		limit = limit > bound + 1 ? limit : bound + 1;
		for (uint32_t k = 0; k < l->jobs.ncrew; k++) {
			int rc = cool_crew(l, &l->jobs.crew[k], plane, limit, &rule, &changed);

			if (rc || grow_work(l->g) - before > l->work_max || spent(l))
				return rc;
		}
		if (!changed && rule.keep < 1.5)
			return 0;
		if (!changed || round >= HOT_ROUNDS / 2)
			rule.keep = 1.1;
	}
	return 0;
}

static int grow_plane(struct leafwise *l, uint32_t plane, struct objective *installed)
{
	int rc = l->effort == EFFORT_AFRESH ? 0 : count_all(l, plane);

	if (!rc && !plane && l->effort != EFFORT_AFRESH)
		rc = measure(l, installed);
	if (!rc && l->effort == EFFORT_AFRESH)
		rc = grow_jobs(l, plane);
	else if (!rc && l->effort != EFFORT_COOL)
		rc = repair_jobs(l, plane);
	return rc ? rc : cool(l, plane);
}

/* Grows the trees of jobs.  installed gets what the tables at the beginning reach; unless all
 * are grown afresh. */
static int grow_planes(struct leafwise *l, struct objective *installed)
{
	for (uint32_t plane = 0; plane < 1u << l->lmc; plane++) {
		int rc = grow_plane(l, plane, installed);

		if (!rc && !plane)
			rc = measure(l, &l->reached);
		if (rc)
			return rc;
	}
	return 0;
}

static int begin(struct leafwise *l, enum effort effort)
{
	uint64_t total = (uint64_t)l->members * (1 + HOT_ROUNDS) << l->lmc;

	tables_put(l->t);
	grow_free(l->g);
	l->t = graph_tables(l->f, "sar", l->params, l->progress);
	l->g = grow_new(l->f, l->t);
	l->done = 0;
	l->effort = effort;
	if (effort == EFFORT_AFRESH)
		total += graph_count_lids(l->f, l->lmc);
	return pace_begin(&l->pace, l->progress, "paths", total) ? -ECANCELED : 0;
}

static int from_installed(struct leafwise *l, enum effort effort, struct objective *installed)
{
	int rc = begin(l, effort);

	if (rc)
		return rc;
	sar_installed_copy_lfts(l->t, l->params->current);
	return grow_planes(l, installed);
}

/* Tries harder, which changes more blocks, as long as the maximum is far from the bound and
 * what was looked at is little; what comes out is kept when the maximum falls for it. */
static int start_from_installed(struct leafwise *l, struct objective *installed)
{
	static const double worth[] = { [EFFORT_REPAIR] = 1.09, [EFFORT_AFRESH] = 1.15 };
	int rc = from_installed(l, EFFORT_LITTLE, installed);

	for (int effort = EFFORT_REPAIR; effort <= EFFORT_AFRESH && !rc; effort++) {
		struct objective first = l->reached, again;
		struct tables *t;

		if (near_bound(l, 0, first.max) || grow_work(l->g) > WORK_TWICE)
			return 0;
		t = (struct tables *)tables_get(l->t);
		rc = from_installed(l, (enum effort)effort, &again);
		if (rc || worth[effort] * l->reached.max <= first.max) {
			tables_put(t);
			continue;
		}
		tables_put(l->t);
		l->t = t;
		l->reached = first;
	}
	return rc;
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
	int rc = begin(l, EFFORT_COOL);

	sar_installed_copy_lfts(l->t, even);
	for (uint32_t plane = 0; plane < 1u << l->lmc && !rc; plane++) {
		rc = count_all(l, plane);
		if (!rc && !plane)
			rc = measure(l, o);
	}
	return rc;
}

/* Takes the hot trees of those tables elsewhere, unless that is not better. */
static int cool_even(struct leafwise *l, const struct tables *even)
{
	struct objective first;
	int rc = begin(l, EFFORT_COOL);

	if (rc)
		return rc;
	sar_installed_copy_lfts(l->t, even);
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
		  "the installed paths stay: none were found with a lower maximum than their %.0f",
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
		rc = layers_assign(l->t, l->f, l->params, l->progress, err);
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
	int rc = begin(l, EFFORT_AFRESH);

	sar_installed_copy_lfts(l->t, even);
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

static int route_from_scratch(struct leafwise *l, struct err *err)
{
	struct tables *even;
	int rc = copy_even(l, &even);

	if (!rc && l->large)
		rc = cool_even(l, even);
	else if (!rc)
		rc = grow_or_cool(l, even);
	if (!rc && !l->large)
		rc = route_rest(l);
	tables_put(even);
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
	l.bound = metrics_eff_efi_bound(f, jobs);
	for (uint32_t k = 0; k < l.jobs.ncrew; k++)
		l.members += l.jobs.crew[k].nterm;
	l.work_max = WORK_LEAST + 12ull * f->nterm * f->nsw;
	if (l.work_max > WORK_MOST)
		l.work_max = WORK_MOST;
	l.small = (uint64_t)f->nterm * f->nchan <= SIZE_SMALL;
	l.large = (uint64_t)f->nterm * f->nchan > SIZE_LARGE;
	rc = route(&l, err);
	grow_free(l.g);
	sar_jobs_done(&l.jobs);
	if (rc)
		tables_put(l.t);
	else
		*out = l.t;
	return rc;
}
