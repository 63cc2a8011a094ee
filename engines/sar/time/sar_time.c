/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar/time/sar_time.h"

#include "engines/graph/graph.h"
#include "engines/repair/repair.h"
#include "engines/sar/paper/sar_installed.h"
#include "engines/sar/paper/sar_leafwise.h"
#include "engines/sar/time/sar_scratch.h"
#include "engines/sar/time/sar_step.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define LOW_DIAMETER 3		  /* hops up to which a detour of one may be worth it */
#define LOOKS	     8		  /* switches from which hops are counted */
#define SIZE_LARGE   (1ull << 26) /* terminals * channels: beyond, less is tried */

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

/* The installed tables with paths for what they lose; NULL: there are none beside the others. */
static int sar_time_repair(struct tables **out, const struct sar_timing *k)
{
	struct engine_params params = *k->params;
	struct notes notes = { 0 };
	const struct note *changed;
	uint64_t n;
	struct err why;
	int rc;

	*out = NULL;
	params.sar_change = 0;
	params.notes = &notes;
	rc = engine_repair.route(out, k->f, k->jobs, NULL, &params, k->progress, &why);
	changed = notes_find(&notes, "entries_changed");
	n = changed ? changed->value : 0;
	if (!rc)
		notes_set(k->params->notes, "sar_repaired", n,
			  "the installed tables lack paths: %" PRIu64
			  " LFT entr%s repaired before the jobs are looked at",
			  n, n == 1 ? "y is" : "ies are");
	notes_done(&notes);
	return rc == -ECANCELED ? err_set(k->err, rc, "cancelled") : 0;
}

/* From tables that lead from every switch to every LID. */
static int sar_time_step_from(struct tables **out, struct sar_timing *k, const struct tables *from)
{
	const struct engine_params *given = k->params;
	struct engine_params own = *given;
	int rc;

	own.current = from;
	k->params = &own;
	rc = sar_step_route(out, k);
	k->params = given;
	return rc;
}

static int sar_time_do_route(struct tables **out, struct sar_timing *k)
{
	const struct tables *current = k->params->current;
	struct tables *repaired = NULL;
	struct err why;
	bool usable = false;
	int rc = 0;

	if (current)
		rc = sar_installed_check(&usable, current, k->f, k->lmc, k->progress, &why);
	if (!rc && current && !usable && digest_equal(&current->fingerprint, &k->f->fingerprint))
		rc = sar_time_repair(&repaired, k);
	if (rc)
		return rc;
	if (current && !usable && !repaired)
		notes_set(k->params->notes, "sar_from_scratch", 1,
			  "the installed tables cannot be used: %s", why.text);
	rc = usable || repaired ? sar_time_step_from(out, k, repaired ? repaired : current)
				: -ENOSPC;
	tables_put(repaired);
	return rc == -ENOSPC ? sar_scratch_route(out, k) : rc;
}

static int sar_time_run(struct tables **out, struct sar_timing *k)
{
	int rc;

	sar_jobs_init(&k->groups, k->f, k->jobs);
	k->detour = sar_time_detour(k->f, k->params);
	rc = sar_time_do_route(out, k);
	sar_timing_end(k);
	sar_jobs_done(&k->groups);
	return rc;
}

int sar_time_route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		   const struct demand *demand, const struct engine_params *params,
		   struct progress *progress, struct err *err)
{
	struct sar_timing k = { .f = f,
				.objective = { .pattern = PREDICT_ALLTOALL, .demand = demand },
				.params = params,
				.progress = progress,
				.err = err,
				.lmc = graph_lmc(f, params),
				.large = (uint64_t)f->nterm * f->nchan > SIZE_LARGE };
	int rc = graph_check_connected(f, err);

	if (rc)
		return rc;
	if (!demand && (!jobs || !jobs->nmulti))
		return sar_leafwise_route(out, f, jobs, params, progress, err);
	if (params->pattern)
		k.objective.pattern = (enum predict_pattern)(params->pattern - 1);
	k.jobs = jobs ? jobset_get(jobs) : jobset_build(jobset_builder_new(f, "none"));
	k.memo = params->memo ? time_memo_get(params->memo) : time_memo_new();
	rc = sar_time_run(out, &k);
	time_memo_put(k.memo);
	jobset_put(k.jobs);
	return rc;
}
