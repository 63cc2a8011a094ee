/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/time/sar_time.h"

#include "engines/graph/balanced_sssp.h"
#include "engines/graph/graph.h"
#include "engines/sar/paper/sar_installed.h"
#include "engines/sar/paper/sar_leafwise.h"
#include "engines/sar/paper/sar_paths.h"
#include "engines/sar/time/sar_fit.h"
#include "engines/sar/time/sar_search.h"
#include "engines/time/time_gate.h"
#include "engines/vl/vl_layers.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FEW_VLS		4 /* detours are not worth more */
#define LOW_DIAMETER	3 /* hops up to which a detour of one may be worth it */
#define LOOKS		8 /* switches from which hops are counted */
#define NOTHING		"none were found with which jobs take less time"
#define WORTH		0.998	     /* of the time: what a step has to reach */
#define SIZE_LARGE	(1ull << 26) /* terminals * channels: beyond, less is tried */
#define GATE_PHASES	32	     /* of the all-to-all, which a plan measures again */
#define COPY_BYTES	(4u << 20)   /* between two reports */
#define FIT_TRIES	5
#define FIT_TRIES_LARGE 1

/* Flows in all phases, and cells of channels to look at, from scratch. */
#define FLOWS	    (1u << 19)
#define WORK	    (1ull << 28)
#define WORK_POLISH (1ull << 26)
#define POLISH	    2 /* times */
#define WORK_LARGE  (1ull << 26)

struct timing {
	const struct fabric *f;
	const struct jobset *jobs;
	const struct engine_params *params;
	struct progress *progress;
	struct err *err;
	struct sar_jobs crews;
	struct sar_search search;
	uint8_t lmc;
	bool large;
	unsigned detour;
	struct note kept; /* why the installed paths stay, should they */
};

static void sar_time_say_kept(struct timing *k, uint64_t jobs, const char *why)
{
	k->kept.value = jobs;
	snprintf(k->kept.text, sizeof(k->kept.text), "the installed paths stay: %s", why);
}

/* --- detours ------------------------------------------------------------------------------------
 */

/* Is every switch near that one, and are some cables between switches that are equally far? */
static bool sar_time_is_low(const struct fabric *f, uint32_t sw, uint32_t *hops, uint32_t *queue,
			    bool *odd)
{
	uint32_t n;

	queue[0] = sw;
	n = fabric_hops(hops, queue, f, 1);
	for (uint32_t c = 0; c < f->nchan && !*odd; c++)
		*odd = hops[f->chan_src[c]] == hops[f->chan_dst[c]];
	return hops[queue[n - 1]] <= LOW_DIAMETER;
}

/* Hops more than necessary: in trees, and where ways are long anyway, none. */
static unsigned sar_time_detour(const struct fabric *f, const struct engine_params *params)
{
	uint32_t *hops, *queue;
	bool low = true, odd = false;

	if (params->max_detour)
		return params->max_detour - 1u;
	hops = xcalloc(f->nsw, sizeof(*hops));
	queue = xcalloc(f->nsw, sizeof(*queue));
	for (uint32_t i = 0; i < LOOKS && i < f->nsw && low; i++)
		low = sar_time_is_low(f, (uint32_t)((uint64_t)i * f->nsw / LOOKS), hops, queue,
				      &odd);
	free(hops);
	free(queue);
	return low && odd;
}

/* --- from scratch -------------------------------------------------------------------------------
 */

static struct tables *sar_time_copy(const struct timing *k, const struct tables *t)
{
	struct tables *copy = graph_tables(k->f, "sar", k->params, k->progress);
	uint32_t slice = COPY_BYTES / t->stride + 1;

	for (uint32_t u = 0; u < t->nsw; u += slice) {
		uint32_t n = t->nsw - u < slice ? t->nsw - u : slice;

		memcpy(tables_row(copy, u), tables_row(t, u), (size_t)n * t->stride);
		if (progress_step(k->progress, "paths", 0, t->nsw))
			break; /* the next step says so */
	}
	return copy;
}

static int sar_time_start_even(struct tables **out, struct timing *k)
{
	struct balanced_sssp_how how = { .rounds = BALANCED_SSSP_ROUNDS };

	*out = graph_tables(k->f, "sar", k->params, k->progress);
	return balanced_sssp_route(*out, k->f, k->params, &how, k->progress);
}

static int sar_time_start_paper(struct tables **out, struct timing *k)
{
	struct sar_paths *s;
	struct pace pace;
	uint64_t done = 0;
	int rc;

	*out = graph_tables(k->f, "sar", k->params, k->progress);
	s = sar_paths_new(*out, k->f, k->jobs, k->lmc, SAR_PAPER);
	rc = pace_begin(&pace, k->progress, "paths", graph_count_lids(k->f, k->lmc)) ? -ECANCELED
										     : 0;
	if (!rc)
		rc = sar_paths_jobs(s, &pace, &done);
	if (!rc)
		rc = sar_paths_rest(s, &pace, &done);
	sar_paths_free(s);
	return rc;
}

/* The faster of *best and another start. */
static int sar_time_try_start(struct tables **best, double *cost, struct timing *k,
			      int (*make)(struct tables **out, struct timing *k))
{
	struct sar_clock clock = { .job = xcalloc(k->jobs->njob, sizeof(double)) };
	struct tables *t = NULL;
	int rc = *cost < 0 ? sar_search_time(&k->search, *best, &clock) : 0;

	if (*cost < 0)
		*cost = clock.cost;
	if (!rc)
		rc = make(&t, k);
	if (!rc)
		rc = sar_search_time(&k->search, t, &clock);
	if (!rc && clock.cost < *cost) {
		struct tables *worse = *best;

		*best = t;
		*cost = clock.cost;
		t = worse;
	}
	tables_put(t);
	free(clock.job);
	return rc;
}

static int sar_time_begin(struct timing *k, uint32_t flows, uint64_t sample, uint64_t work)
{
	int rc = sar_search_init(&k->search, &k->crews, k->params, flows, sample, k->progress);

	k->search.work_most = work;
	return rc;
}

static void sar_time_end(struct timing *k)
{
	sar_search_done(&k->search);
	k->search = (struct sar_search){ .f = NULL };
}

/* *out: the best start, and the search ready. */
static int sar_time_start(struct tables **out, struct timing *k)
{
	double cost = -1;
	int rc = sar_leafwise_paths(out, k->f, k->jobs, k->params, k->progress, k->err);

	if (!rc)
		rc = sar_time_begin(k, FLOWS, 0, k->large ? WORK_LARGE : WORK);
	if (!rc && !k->large)
		rc = sar_time_try_start(out, &cost, k, sar_time_start_even);
	if (!rc && !k->large)
		rc = sar_time_try_start(out, &cost, k, sar_time_start_paper);
	return rc;
}

/* Over shortest paths, but for where that takes too long; *longer: over others, too, or NULL. */
static int sar_time_search(struct tables *t, struct tables **longer, struct timing *k)
{
	struct sar_search_opts opts = { .limit = UINT64_MAX };
	uint64_t blocks;
	int rc = k->large && k->detour ? 0 : sar_search_run(&k->search, t, &opts, &blocks);

	*longer = NULL;
	if (rc || !k->detour)
		return rc;
	*longer = sar_time_copy(k, t);
	opts.from = t;
	opts.detour = k->detour;
	return sar_search_run(&k->search, *longer, &opts, &blocks);
}

/* start: so that only what was changed since may need more VLs than it; NULL: not known. */
static int sar_time_fit(struct tables *t, const struct tables *plain, const struct tables *start,
			unsigned few, uint32_t *back, struct timing *k)
{
	struct sar_fit_opts fit = { .plain = plain,
				    .keep = k->large || t == start ? NULL : start,
				    .few = few,
				    .tries = k->large ? FIT_TRIES_LARGE : FIT_TRIES };

	return sar_fit_layers(t, k->f, &fit, k->params, back, k->progress, k->err);
}

/* *faster: is a than b, by other distances than those that it was made for? */
static int sar_time_compare(bool *faster, const struct tables *a, const struct tables *b,
			    struct timing *k)
{
	struct job_time_opts opts = { .pattern = PREDICT_ALLTOALL,
				      .seed = 2,
				      .threads = k->params->threads };
	struct job_times *x = NULL, *y = NULL;
	int rc = job_times_compute(&x, k->f, a, k->jobs, &opts, k->progress, k->err);

	if (!rc)
		rc = job_times_compute(&y, k->f, b, k->jobs, &opts, k->progress, k->err);
	*faster = !rc && x->mean.mean < WORTH * y->mean.mean;
	job_times_free(x);
	job_times_free(y);
	return rc;
}

/* *t: longer, where that is faster and needs few VLs, or can be made to; else -ENOSPC. */
static int sar_time_take_longer(struct tables **t, struct tables *longer,
				const struct tables *start, struct timing *k)
{
	unsigned all = graph_vls(k->f, k->params), few = all < FEW_VLS ? all : FEW_VLS;
	uint32_t back = 0, more = 0;
	bool faster;
	int rc = sar_time_compare(&faster, longer, *t, k);

	if (!rc && !faster)
		return -ENOSPC;
	if (!rc)
		rc = sar_time_fit(longer, *t, start, few, &back, k);
	if (start && ((!rc && longer->vls > few) || rc == -ENOSPC))
		rc = sar_time_fit(longer, start, start, few, &more, k);
	if (!rc && back + more)
		rc = sar_time_compare(&faster, longer, *t, k);
	if (!rc && !faster)
		return -ENOSPC;
	if (rc)
		return rc;
	tables_put(*t);
	*t = (struct tables *)tables_get(longer);
	return 0;
}

/* *t: start, unless it is faster. */
static int sar_time_take_start(struct tables **t, struct tables *start, struct timing *k)
{
	bool faster;
	int rc = sar_time_compare(&faster, *t, start, k);

	if (rc || faster)
		return rc;
	tables_put(*t);
	*t = (struct tables *)tables_get(start);
	return 0;
}

/* Those that need more VLs than there are take back what start had; NULL: nothing. */
static int sar_time_take_shortest(struct tables **t, struct tables *start, struct timing *k)
{
	uint32_t back;
	int rc = start ? sar_time_take_start(t, start, k) : 0;

	return rc ? rc : sar_time_fit(*t, start, start, graph_vls(k->f, k->params), &back, k);
}

/* With SLs, but for large ones; NULL where it cannot be run with as it is. */
static int sar_time_keep_start(struct tables **start, const struct tables *t, struct timing *k)
{
	struct engine_params quiet = *k->params;
	int rc;

	quiet.notes = NULL;
	quiet.spread = false;
	*start = sar_time_copy(k, t);
	if (k->large)
		return 0;
	rc = vl_layers_assign(*start, k->f, &quiet, k->progress, k->err);
	if (!rc)
		return 0;
	tables_put(*start);
	*start = NULL;
	return rc == -ENOSPC ? 0 : rc;
}

static void sar_time_pass_on(struct notes *out, const struct notes *in)
{
	for (size_t i = 0; i < in->n; i++)
		notes_set(out, in->list[i].key, in->list[i].value, "%s", in->list[i].text);
}

/* Better tables than *t that need no more VLs, or few: what went back is tried again over what has
 * become of the others. */
static int sar_time_polish(struct tables **t, struct timing *k)
{
	unsigned few = graph_vls(k->f, k->params);
	struct sar_search_opts opts = { .from = *t, .detour = k->detour, .limit = UINT64_MAX };
	struct sar_fit_opts fit = { .plain = *t, .keep = *t, .tries = FIT_TRIES };
	struct engine_params own = *k->params;
	struct tables *next = sar_time_copy(k, *t);
	struct notes notes = { 0 };
	bool faster = false;
	uint64_t blocks;
	uint32_t back;
	int rc = sar_search_run(&k->search, next, &opts, &blocks);

	own.notes = &notes;
	few = few < FEW_VLS ? few : FEW_VLS;
	fit.few = (*t)->vls > few ? (*t)->vls : few;
	if (!rc)
		rc = sar_fit_layers(next, k->f, &fit, &own, &back, k->progress, k->err);
	if (!rc && next->vls <= fit.few)
		rc = sar_time_compare(&faster, next, *t, k);
	if (faster) {
		struct tables *worse = *t;

		*t = next;
		next = worse;
		sar_time_pass_on(k->params->notes, &notes);
	}
	notes_done(&notes);
	tables_put(next);
	return rc == -ENOSPC ? 0 : rc;
}

/* Each time with other distances: what looked better by chance is found out. */
static int sar_time_polish_all(struct tables **t, struct timing *k)
{
	int rc = 0;

	if (k->large || k->params->spread)
		return 0;
	for (uint64_t i = 1; i <= POLISH && !rc; i++) {
		sar_time_end(k);
		rc = sar_time_begin(k, FLOWS, i, WORK_POLISH);
		if (!rc)
			rc = sar_time_polish(t, k);
	}
	return rc;
}

static int sar_time_from_scratch(struct tables **out, struct timing *k)
{
	struct tables *t = NULL, *longer = NULL, *start = NULL;
	int rc = sar_time_start(&t, k);

	if (!rc && !(k->large && k->detour))
		rc = sar_time_keep_start(&start, t, k);
	if (!rc)
		rc = sar_time_search(t, &longer, k);
	if (!rc)
		rc = longer ? sar_time_take_longer(&t, longer, start, k) : -ENOSPC;
	if (rc == -ENOSPC)
		rc = sar_time_take_shortest(&t, start, k);
	if (!rc)
		rc = sar_time_polish_all(&t, k);
	tables_put(start);
	tables_put(longer);
	if (rc) {
		tables_put(t);
		return rc == -ENOSPC ? sar_leafwise_route(out, k->f, k->jobs, k->params,
							  k->progress, k->err)
				     : rc;
	}
	*out = t;
	return 0;
}

/* --- from installed tables ----------------------------------------------------------------------
 */

/* Other tables, other distances: what one sample makes look better than it is the next does not. */
static uint64_t sar_time_sample(const struct tables *t)
{
	const uint64_t *v = (const uint64_t *)(const void *)t->lft;
	uint64_t h = 1;

	for (size_t i = 0; i < (size_t)t->nsw * t->stride / sizeof(*v); i++)
		h = (h ^ v[i]) * 0x9e3779b97f4a7c15ull;
	return h;
}

/* How hard a step tries: on with more where less finds nothing. */
static const struct effort {
	uint32_t flows;
	uint64_t work;
	double patterns; /* so many times do these count */
} efforts[] = { { 1u << 17, 1ull << 24, 1 }, { 1u << 19, 1ull << 27, 4 } };

#define EFFORTS ((uint32_t)(sizeof(efforts) / sizeof(*efforts)))

/* VLs that an update may need: those that are needed now, or few. */
static unsigned sar_time_vls(const struct timing *k)
{
	unsigned now = k->params->current->vls, most = graph_vls(k->f, k->params);

	now = now > FEW_VLS ? now : FEW_VLS;
	return now < most ? now : most;
}

static int sar_time_step(struct tables *t, struct timing *k, const struct effort *effort,
			 const struct engine_params *params, uint64_t *blocks)
{
	const struct tables *current = k->params->current;
	struct sar_search_opts opts = { .from = current,
					.detour = k->detour,
					.limit = sar_installed_budget(k->f, k->params),
					.blocks_all = sar_installed_blocks(k->f),
					.fair = !k->params->sar_slower,
					.patterns = effort->patterns };
	struct sar_fit_opts fit = { .plain = current,
				    .keep = current,
				    .few = sar_time_vls(k),
				    .tries = k->large ? FIT_TRIES_LARGE : FIT_TRIES };
	uint32_t back;
	int rc = sar_time_begin(k, effort->flows, sar_time_sample(current), effort->work);

	if (!rc)
		rc = sar_search_run(&k->search, t, &opts, blocks);
	if (rc || !*blocks)
		return rc;
	return sar_fit_layers(t, k->f, &fit, params, &back, k->progress, k->err);
}

/* Is it worth it, and does nobody wait clearly longer?  Says so where it is not. */
static int sar_time_judge(bool *good, const struct tables *t, struct timing *k)
{
	struct job_time_opts opts = { .pattern = PREDICT_ALLTOALL,
				      .phases = GATE_PHASES,
				      .seed = 1,
				      .threads = k->params->threads };
	const struct time_change *all;
	struct time_gate gate;
	char text[120];
	bool slower;
	int rc = time_gate_compute(&gate, k->f, k->params->current, t, k->jobs, &opts, k->progress,
				   k->err);

	if (rc)
		return rc;
	all = &gate.of[PREDICT_ALLTOALL];
	slower = time_gate_slower(&gate) && !k->params->sar_slower;
	*good = !slower && all->after <= WORTH * all->before;
	if (slower)
		sar_time_say_kept(k, gate.jobs_slower, time_gate_text(text, sizeof(text), &gate));
	else
		sar_time_say_kept(k, 0, NOTHING);
	return 0;
}

static void sar_time_tell(struct timing *k, const struct notes *notes, uint64_t blocks)
{
	uint64_t limit = sar_installed_budget(k->f, k->params);

	sar_time_pass_on(k->params->notes, notes);
	if (blocks + k->f->nsw / 64 + 1 >= limit)
		notes_set(k->params->notes, "sar_budget", limit,
			  "it changes %llu LFT blocks, the limit is %llu; further updates lower "
			  "the time of jobs further",
			  (unsigned long long)blocks, (unsigned long long)limit);
}

static int sar_time_try(struct tables **out, bool *good, struct timing *k,
			const struct effort *effort)
{
	struct tables *t = sar_time_copy(k, k->params->current);
	struct engine_params own = *k->params;
	struct notes notes = { 0 };
	uint64_t blocks = 0;
	int rc;

	own.notes = &notes;
	*good = false;
	rc = sar_time_step(t, k, effort, &own, &blocks);
	if (!rc && blocks)
		rc = sar_time_judge(good, t, k);
	if (!rc && *good) {
		sar_time_tell(k, &notes, blocks);
		*out = t;
	} else {
		tables_put(t);
	}
	notes_done(&notes);
	return rc;
}

static int sar_time_improve(struct tables **out, struct timing *k)
{
	bool good = false;
	int rc = 0;

	sar_time_say_kept(k, 0, NOTHING);
	for (uint32_t i = 0; i < EFFORTS && !good && !rc; i++) {
		rc = i && k->large ? -ENOSPC : sar_time_try(out, &good, k, &efforts[i]);
		sar_time_end(k);
	}
	if (good || (rc && rc != -ENOSPC))
		return rc;
	rc = sar_installed_keep(out, k->f, k->params, k->progress, k->err);
	if (!rc)
		notes_set(k->params->notes, "sar_kept_installed", k->kept.value, "%s",
			  k->kept.text);
	return rc;
}

/* ------------------------------------------------------------------------------------------------
 */

static int sar_time_do_route(struct tables **out, struct timing *k)
{
	struct err why;
	bool usable = false;
	int rc = 0;

	if (k->params->current)
		rc = sar_installed_check(&usable, k->params->current, k->f, k->lmc, k->progress,
					 &why);
	if (rc)
		return rc;
	if (k->params->current && !usable)
		notes_set(k->params->notes, "sar_from_scratch", 1,
			  "the installed tables cannot be used: %s", why.text);
	rc = usable ? sar_time_improve(out, k) : -ENOSPC;
	return rc == -ENOSPC ? sar_time_from_scratch(out, k) : rc;
}

int sar_time_route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		   const struct engine_params *params, struct progress *progress, struct err *err)
{
	struct timing k = { .f = f,
			    .jobs = jobs,
			    .params = params,
			    .progress = progress,
			    .err = err,
			    .lmc = graph_lmc(f, params),
			    .large = (uint64_t)f->nterm * f->nchan > SIZE_LARGE };
	int rc = graph_check_connected(f, err);

	if (rc)
		return rc;
	if (!jobs || !jobs->nmulti)
		return sar_leafwise_route(out, f, jobs, params, progress, err);
	sar_jobs_init(&k.crews, f, jobs);
	k.detour = sar_time_detour(f, params);
	rc = sar_time_do_route(out, &k);
	sar_time_end(&k);
	sar_jobs_done(&k.crews);
	return rc;
}
