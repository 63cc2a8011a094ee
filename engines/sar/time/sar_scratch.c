/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/time/sar_scratch.h"

#include "engines/graph/balance/balanced_sssp.h"
#include "engines/graph/graph.h"
#include "engines/sar/paper/sar_leafwise.h"
#include "engines/sar/paper/sar_paths.h"
#include "engines/sar/time/sar_fit.h"
#include "engines/vl/vl_layers.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>

#define WORTH		0.998 /* of the time: what is taken for faster */
#define FIT_TRIES	5
#define FIT_TRIES_LARGE 1

/* Flows in all phases, and cells of channels to look at. */
#define FLOWS	    (1u << 19)
#define WORK	    (1ull << 28)
#define WORK_POLISH (1ull << 26)
#define POLISH	    2 /* times */
#define WORK_LARGE  (1ull << 26)

static int sar_scratch_start_even(struct tables **out, struct sar_timing *k)
{
	struct balanced_sssp_how how = { .rounds = BALANCED_SSSP_ROUNDS };

	*out = graph_tables(k->f, "sar", k->params, k->progress);
	return balanced_sssp_route(*out, k->f, k->params, &how, k->progress);
}

static int sar_scratch_start_paper(struct tables **out, struct sar_timing *k)
{
	*out = graph_tables(k->f, "sar", k->params, k->progress);
	return sar_paths_all(*out, k->f, k->jobs, k->lmc, SAR_PAPER, k->progress);
}

/* The faster of *best and another start. */
static int sar_scratch_try_start(struct tables **best, double *cost, struct sar_timing *k,
				 int (*make)(struct tables **out, struct sar_timing *k))
{
	struct sar_clock clock = { .job = xcalloc(k->search.x.njob, sizeof(double)) };
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

/* *out: the best start, and the search ready. */
static int sar_scratch_start(struct tables **out, struct sar_timing *k)
{
	double cost = -1;
	int rc = sar_leafwise_paths(out, k->f, k->jobs, k->params, k->progress, k->err);

	if (!rc)
		rc = sar_timing_begin(k, FLOWS, 0, k->large ? WORK_LARGE : WORK);
	if (!rc && !k->large)
		rc = sar_scratch_try_start(out, &cost, k, sar_scratch_start_even);
	if (!rc && !k->large)
		rc = sar_scratch_try_start(out, &cost, k, sar_scratch_start_paper);
	return rc;
}

/* Over shortest paths, but for where that takes too long; *longer: over others, too, or NULL. */
static int sar_scratch_search(struct tables *t, struct tables **longer, struct sar_timing *k)
{
	struct sar_search_opts opts = { .limit = UINT64_MAX };
	uint64_t blocks;
	int rc = k->large && k->detour ? 0 : sar_search_run(&k->search, t, &opts, &blocks);

	*longer = NULL;
	if (rc || !k->detour)
		return rc;
	*longer = sar_timing_copy(k, t);
	opts.from = t;
	opts.detour = k->detour;
	return sar_search_run(&k->search, *longer, &opts, &blocks);
}

/* start: so that only what was changed since may need more VLs than it; NULL: not known. */
static int sar_scratch_fit(struct tables *t, const struct tables *plain, const struct tables *start,
			   unsigned few, uint32_t *back, struct sar_timing *k)
{
	struct sar_fit_opts fit = { .plain = plain,
				    .keep = k->large || t == start ? NULL : start,
				    .few = few,
				    .tries = k->large ? FIT_TRIES_LARGE : FIT_TRIES };

	return sar_fit_layers(t, k->f, &fit, k->params, back, k->progress, k->err);
}

/* *faster: is a than b, by other distances than those that it was made for? */
static int sar_scratch_compare(bool *faster, const struct tables *a, const struct tables *b,
			       struct sar_timing *k)
{
	double x = 0, y = 0;
	int rc = sar_timing_measure(&x, k, a, 2);

	if (!rc)
		rc = sar_timing_measure(&y, k, b, 2);
	*faster = !rc && x < WORTH * y;
	return rc;
}

/* *t: longer, where that is faster and needs few VLs, or can be made to; else -ENOSPC. */
static int sar_scratch_take_longer(struct tables **t, struct tables *longer,
				   const struct tables *start, struct sar_timing *k)
{
	unsigned all = graph_vls(k->f, k->params), few = all < SAR_FEW_VLS ? all : SAR_FEW_VLS;
	uint32_t back = 0, more = 0;
	bool faster;
	int rc = sar_scratch_compare(&faster, longer, *t, k);

	if (!rc && !faster)
		return -ENOSPC;
	if (!rc)
		rc = sar_scratch_fit(longer, *t, start, few, &back, k);
	if (start && ((!rc && longer->vls > few) || rc == -ENOSPC))
		rc = sar_scratch_fit(longer, start, start, few, &more, k);
	if (!rc && back + more)
		rc = sar_scratch_compare(&faster, longer, *t, k);
	if (!rc && !faster)
		return -ENOSPC;
	if (rc)
		return rc;
	tables_put(*t);
	*t = (struct tables *)tables_get(longer);
	return 0;
}

/* *t: start, unless it is faster. */
static int sar_scratch_take_start(struct tables **t, struct tables *start, struct sar_timing *k)
{
	bool faster;
	int rc = sar_scratch_compare(&faster, *t, start, k);

	if (rc || faster)
		return rc;
	tables_put(*t);
	*t = (struct tables *)tables_get(start);
	return 0;
}

/* Those that need more VLs than there are take back what start had; NULL: nothing. */
static int sar_scratch_take_shortest(struct tables **t, struct tables *start, struct sar_timing *k)
{
	uint32_t back;
	int rc = start ? sar_scratch_take_start(t, start, k) : 0;

	return rc ? rc : sar_scratch_fit(*t, start, start, graph_vls(k->f, k->params), &back, k);
}

/* With SLs, but for large ones; NULL where it cannot be run with as it is. */
static int sar_scratch_keep_start(struct tables **start, const struct tables *t,
				  struct sar_timing *k)
{
	struct engine_params quiet = *k->params;
	int rc;

	quiet.notes = NULL;
	quiet.spread = false;
	*start = sar_timing_copy(k, t);
	if (k->large)
		return 0;
	rc = vl_layers_assign(*start, k->f, &quiet, k->progress, k->err);
	if (!rc)
		return 0;
	tables_put(*start);
	*start = NULL;
	return rc == -ENOSPC ? 0 : rc;
}

/* Better tables than *t that need no more VLs, or few: what went back is tried again over what has
 * become of the others. */
static int sar_scratch_polish(struct tables **t, struct sar_timing *k)
{
	unsigned few = graph_vls(k->f, k->params);
	struct sar_search_opts opts = { .from = *t, .detour = k->detour, .limit = UINT64_MAX };
	struct sar_fit_opts fit = { .plain = *t, .keep = *t, .tries = FIT_TRIES };
	struct engine_params own = *k->params;
	struct tables *next = sar_timing_copy(k, *t);
	struct notes notes = { 0 };
	bool faster = false;
	uint64_t blocks;
	uint32_t back;
	int rc = sar_search_run(&k->search, next, &opts, &blocks);

	own.notes = &notes;
	few = few < SAR_FEW_VLS ? few : SAR_FEW_VLS;
	fit.few = (*t)->vls > few ? (*t)->vls : few;
	if (!rc)
		rc = sar_fit_layers(next, k->f, &fit, &own, &back, k->progress, k->err);
	if (!rc && next->vls <= fit.few)
		rc = sar_scratch_compare(&faster, next, *t, k);
	if (faster) {
		struct tables *worse = *t;

		*t = next;
		next = worse;
		notes_set_all(k->params->notes, &notes);
	}
	notes_done(&notes);
	tables_put(next);
	return rc == -ENOSPC ? 0 : rc;
}

/* Each time with other distances: what looked better by chance is found out. */
static int sar_scratch_polish_all(struct tables **t, struct sar_timing *k)
{
	int rc = 0;

	if (k->large || k->params->spread)
		return 0;
	for (uint64_t i = 1; i <= POLISH && !rc; i++) {
		sar_timing_end(k);
		rc = sar_timing_begin(k, FLOWS, i, WORK_POLISH);
		if (!rc)
			rc = sar_scratch_polish(t, k);
	}
	return rc;
}

int sar_scratch_route(struct tables **out, struct sar_timing *k)
{
	struct tables *t = NULL, *longer = NULL, *start = NULL;
	int rc = sar_scratch_start(&t, k);

	if (!rc && !(k->large && k->detour))
		rc = sar_scratch_keep_start(&start, t, k);
	if (!rc)
		rc = sar_scratch_search(t, &longer, k);
	if (!rc)
		rc = longer ? sar_scratch_take_longer(&t, longer, start, k) : -ENOSPC;
	if (rc == -ENOSPC)
		rc = sar_scratch_take_shortest(&t, start, k);
	if (!rc)
		rc = sar_scratch_polish_all(&t, k);
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
