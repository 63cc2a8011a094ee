/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/campaign/replay/way.h"

#include "console/auto/auto_propose.h"

#include "engines/metrics/metrics.h"
#include "engines/time/job_time.h"
#include "engines/time/time_gate.h"
#include "engines/transition/transition.h"
#include "engines/verify/route_judge.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/text/notes.h"
#include "fabric/jobs/filter.h"
#include "fabric/model/tables/tables_diff.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define INSTALLED "installed"

int way_parse(struct way *out, const char *text, struct err *err)
{
	const char *at = strchr(text, '@');
	char *name = at ? strndupa(text, (size_t)(at - text)) : strdupa(text);

	*out = (struct way){ .mode = WAY_FIXED };
	snprintf(out->label, sizeof(out->label), "%s", text);
	if (at && strcmp(at, "@always") && strcmp(at, "@scratch"))
		return err_set(err, -EINVAL,
			       "%s: only @always and @scratch may stand behind an engine", text);
	if (!strcmp(text, INSTALLED))
		return 0;
	if (engine_spec_parse(&out->spec, name, err))
		return -EINVAL;
	if (out->spec.engine->uses_jobs)
		out->mode = !at ? WAY_AUTOMATIC : !strcmp(at, "@always") ? WAY_ALWAYS : WAY_SCRATCH;
	else if (at)
		return err_set(err, -EINVAL, "%s: %s uses no jobs and routes once", text, name);
	return 0;
}

void way_free(struct way *w)
{
	tables_put(w->t);
	jobset_put(w->routed_for);
	w->t = NULL;
	w->routed_for = NULL;
}

void way_step_free(struct way_step *s)
{
	free(s->time);
	s->time = NULL;
}

static double way_cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- routing ------------------------------------------------------------------------------ */

static int way_route(const struct tables **out, const struct way *w, const struct way_rules *r,
		     const struct jobset *jobs, struct notes *notes, struct progress *progress,
		     struct err *err)
{
	struct engine_params p = r->params;
	struct verdict *v = NULL;
	struct route_judge_opts judge = { .verify = { .threads = 1 } };
	struct tables *t;
	int rc;

	engine_spec_apply(&w->spec, &p);
	p.threads = 1;
	p.pattern = r->pattern + 1u;
	p.notes = notes;
	p.current = w->mode == WAY_AUTOMATIC || w->mode == WAY_ALWAYS ? w->t : NULL;
	rc = engine_run(w->spec.engine, &t, r->f, jobs, NULL, &p, progress, err);
	if (rc)
		return rc;
	rc = route_judge(&v, r->f, t, &judge, progress, err);
	if (!rc)
		rc = route_judge_refusal(v, r->f, err);
	verdict_free(v);
	if (rc)
		tables_put(t);
	else
		*out = t;
	return rc;
}

/* Does a path between two ports of the job change?  From each of its switches to each port. */
static bool way_touches(const struct fabric *f, const struct tables *from, const struct tables *to,
			const struct job *job)
{
	for (uint32_t i = 0; i < job->nterm; i++) {
		uint32_t lid = f->term_lid[job->terms[i]], end = f->term_sw[job->terms[i]];

		for (uint32_t k = 0; k < job->nterm; k++) {
			uint32_t sw = f->term_sw[job->terms[k]];

			if (k && f->term_sw[job->terms[k - 1]] == sw)
				continue;
			for (uint32_t n = 0; sw != end && n < f->nsw; n++) {
				uint8_t port = tables_row(from, sw)[lid];
				uint32_t c;

				if (tables_row(to, sw)[lid] != port)
					return true;
				c = fabric_chan(f, sw, port);
				if (c == FAB_NONE)
					break;
				sw = f->chan_dst[c];
			}
		}
	}
	return false;
}

static uint32_t way_count_touched(const struct fabric *f, const struct tables *from,
				  const struct tables *to, const struct jobset *jobs)
{
	uint32_t n = 0;

	for (uint32_t j = 0; j < jobs->njob; j++)
		n += jobs->jobs[j].multi && way_touches(f, from, to, &jobs->jobs[j]);
	return n;
}

static void way_count_changes(struct way_step *s, const struct way_rules *r,
			      const struct tables *from, const struct tables *to)
{
	struct tables_diff *d = tables_diff_new(r->f, from, to);

	s->blocks = d->nblocks + d->nsl2vl;
	s->blocks_all = d->blocks_all;
	s->entries = d->entries;
	tables_diff_free(d);
}

static void way_adopt(struct way *w, struct way_step *s, const struct way_rules *r,
		      const struct tables *t, const struct jobset *jobs)
{
	if (w->t) {
		way_count_changes(s, r, w->t, t);
		s->jobs_touched = way_count_touched(r->f, w->t, t, jobs);
		s->adopted = s->blocks > 0;
	}
	tables_put(w->t);
	w->t = t;
}

static void way_remember(struct way *w, const struct jobset *jobs, uint32_t index)
{
	const struct jobset *keep = jobset_get(jobs);

	jobset_put(w->routed_for);
	w->routed_for = (struct jobset *)(uintptr_t)keep;
	w->routed_at = index;
}

/* What an engine cannot do is a finding, not an error. */
static int way_refuse(struct way *w, struct way_step *s, int rc, const struct err *why)
{
	if (rc == -ECANCELED)
		return rc;
	s->refused = true;
	w->dead = w->mode == WAY_FIXED;
	snprintf(s->why, sizeof(s->why), "%s", why->text);
	return 0;
}

/* Once, or at each change of the jobs. */
static int way_follow(struct way_step *s, struct way *w, const struct way_rules *r,
		      const struct jobset *jobs, uint32_t index, struct progress *progress,
		      struct err *err)
{
	const struct tables *t;
	struct notes notes = { 0 };
	int rc;

	if (w->dead || (w->t && w->mode == WAY_FIXED))
		return 0;
	if (w->t && jobset_same(w->routed_for, jobs))
		return 0;
	s->computed = true;
	rc = way_route(&t, w, r, jobs, &notes, progress, err);
	notes_done(&notes);
	if (rc)
		return way_refuse(w, s, rc, err);
	way_adopt(w, s, r, t, jobs);
	way_remember(w, jobs, index);
	return 0;
}

/* --- the automatic mode ------------------------------------------------------------------- */

static int way_order(struct auto_plan *plan, struct way_step *s, const struct way_rules *r,
		     const struct tables *from, const struct tables *to, struct progress *progress,
		     struct err *err)
{
	struct transition *tr;
	int rc = transition_plan(&tr, r->f, from, to, NULL, progress, err);

	plan->sound = !rc;
	if (rc)
		return rc == -ECANCELED ? rc : 0;
	s->ordered = true;
	s->waves = tr->nwaves;
	s->drain_lids = tr->ndrain;
	plan->drain = tr->ndrain > 0;
	plan->agents = !r->no_agents;
	transition_free(tr);
	return 0;
}

/* What auto_propose() finds out from a report, of what a replay knows. */
static int way_propose(struct auto_plan *plan, struct way_step *s, const struct way *w,
		       const struct way_rules *r, const struct tables *t,
		       const struct jobset *counted, struct progress *progress, struct err *err)
{
	struct job_time_opts opts = { .pattern = r->pattern, .seed = r->seed, .threads = 1 };
	struct time_gate g;
	int rc = time_gate_compute(&g, r->f, w->t, t, counted, &opts, progress, err);

	if (rc)
		return rc;
	plan->sound = true;
	if (g.known) {
		plan->time_before = g.of[g.pattern].before;
		plan->time_after = g.of[g.pattern].after;
		plan->time_error = g.of[g.pattern].error;
		time_gate_text(plan->slower, sizeof(plan->slower), &g);
	}
	way_count_changes(s, r, w->t, t);
	plan->blocks = s->blocks;
	if (!plan->blocks || auto_gain(plan) <= r->limits.gain)
		return 0;
	return way_order(plan, s, r, w->t, t, progress, err);
}

static int way_compute(struct way_step *s, struct way *w, const struct way_rules *r,
		       const struct jobset *counted, const struct jobset *jobs,
		       struct progress *progress, struct err *err)
{
	uint64_t now_s = (uint64_t)jobs->time_s;
	struct auto_plan plan = { 0 };
	struct notes notes = { 0 };
	const struct tables *t;
	int rc = way_route(&t, w, r, counted, &notes, progress, err);

	plan.more = notes_find(&notes, "sar_budget") != NULL;
	plan.reach = auto_propose_reach(&notes);
	notes_done(&notes);
	s->computed = true;
	if (rc && rc != -ECANCELED) {
		auto_policy_failed(&w->policy, now_s, err->text);
		return way_refuse(w, s, rc, err);
	}
	if (rc)
		return rc;
	if (!w->t) { /* nothing to compare with */
		way_adopt(w, s, r, t, jobs);
		auto_policy_ended(&w->policy, now_s, AUTO_KEPT, NULL);
		return 0;
	}
	rc = way_propose(&plan, s, w, r, t, counted, progress, err);
	if (!plan.sound)
		plan.why_not = err->text;
	if (!rc && auto_policy_judge(&w->policy, now_s, &plan) == AUTO_APPLY) {
		snprintf(s->why, sizeof(s->why), "%s", w->policy.why);
		way_adopt(w, s, r, t, jobs);
		auto_policy_ended(&w->policy, now_s, AUTO_KEPT, NULL);
		return 0;
	}
	snprintf(s->why, sizeof(s->why), "%s", rc ? err->text : w->policy.why);
	s->blocks = 0;
	s->entries = 0;
	s->ordered = false;
	tables_put((struct tables *)(uintptr_t)t);
	return rc;
}

static int way_look(struct way_step *s, struct way *w, const struct way_rules *r,
		    const struct jobset *jobs, uint32_t index, struct progress *progress,
		    struct err *err)
{
	struct job_filter filter = { .min_age_s = r->min_age_s,
				     .min_nodes = r->params.job_nodes_min };
	struct jobset *counted;
	struct job_change change;
	struct auto_look look = { .known = true };
	int rc = 0;

	if (!auto_policy_due(&w->policy, (uint64_t)jobs->time_s))
		return 0;
	counted = job_filter_apply(&filter, jobs, r->f, jobs->time_s);
	job_change(&change, w->routed_for, counted);
	look.njobs = counted->nmulti;
	look.changed = change.changed;
	look.started = change.started;
	look.ended = change.ended;
	if (auto_policy_look(&w->policy, (uint64_t)jobs->time_s, &look) == AUTO_COMPUTE) {
		rc = way_compute(s, w, r, counted, jobs, progress, err);
		way_remember(w, counted, index);
	}
	jobset_put(counted);
	return rc;
}

/* --- figures ------------------------------------------------------------------------------ */

static void way_take_metrics(struct way_step *s, const struct metrics *m)
{
	s->vls = m->vls_used;
	s->figure[WAY_EFI] = (double)m->eff_efi_max;
	s->figure[WAY_EFI_BOUND] = (double)m->eff_efi_bound;
	s->figure[WAY_JOB_EFI] = m->job_efi_max_mean;
	s->figure[WAY_DARK] = m->dark_fiber_pct;
	s->figure[WAY_LINKS] = m->links_per_job_mean;
}

static void way_take_times(struct way_step *s, const struct job_times *t)
{
	s->figure[WAY_TIME] = t->mean.mean;
	s->figure[WAY_TIME_ERROR] = t->mean.error;
	s->figure[WAY_TIME_WORST] = t->worst.mean;
	s->time = xcalloc(t->njob, sizeof(*s->time));
	for (uint32_t j = 0; j < t->njob; j++)
		s->time[j] = t->job[j].flows ? t->job[j].time.mean : 0;
}

static int way_measure(struct way_step *s, const struct way *w, const struct way_rules *r,
		       const struct jobset *jobs, struct progress *progress, struct err *err)
{
	struct job_time_opts opts = { .pattern = r->pattern, .seed = r->seed, .threads = 1 };
	struct metrics_opts mo = { .threads = 1 };
	struct job_times *times;
	struct metrics *m;
	int rc = metrics_compute(&m, r->f, w->t, jobs, &mo, progress, err);

	if (rc)
		return rc;
	way_take_metrics(s, m);
	metrics_free(m);
	rc = job_times_compute(&times, r->f, w->t, jobs, &opts, progress, err);
	if (rc)
		return rc;
	way_take_times(s, times);
	job_times_free(times);
	s->measured = true;
	return 0;
}

int way_at(struct way_step *out, struct way *w, const struct way_rules *r,
	   const struct jobset *jobs, uint32_t index, struct progress *progress, struct err *err)
{
	double begin = way_cpu_s();
	int rc;

	*out = (struct way_step){ .computed = false };
	rc = w->mode == WAY_AUTOMATIC ? way_look(out, w, r, jobs, index, progress, err)
				      : way_follow(out, w, r, jobs, index, progress, err);
	out->cpu_s = way_cpu_s() - begin;
	if (!rc && w->t)
		rc = way_measure(out, w, r, jobs, progress, err);
	return rc;
}
