/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/auto/auto_propose.h"

#include "console/live/agents.h"
#include "console/live/live_fabric.h"
#include "console/plan/safe_part.h"
#include "engines/verify/route_judge.h"
#include "fabric/base/memory/mem.h"
#include "fabric/plan/drain_names.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Unknown counts as absent: there is no operator to decide. */
static bool auto_propose_job_there(const struct agent_link *link, const struct fabric *f,
				   const struct job *job, struct progress *progress)
{
	struct agent_place *at = xcalloc(job->nterm, sizeof(*at));
	bool there;

	for (uint32_t i = 0; i < job->nterm; i++)
		at[i].guid = f->term_guid[job->terms[i]];
	there = !link->ops->present(link->ctx, at, job->nterm, progress, NULL);
	for (uint32_t i = 0; there && i < job->nterm; i++)
		there = at[i].there == AGENT_PRESENT;
	free(at);
	return there;
}

/* A connection of its own: whoever else has one to the plugin uses it in a thread of theirs.
 * all: of the jobs, not only of those that have to drain. */
static bool auto_propose_agents_there(const struct plan *p, const struct auto_agents *who, bool all,
				      struct progress *progress)
{
	const struct drain *d = &p->drain;
	struct live l = { .sm = p->sm };
	const struct live_opts opts = { .agents_key = who->key };
	struct agents a = { 0 };
	bool there = d->jobs && d->escape && (who->unassigned || !d->unassigned_lids);

	if (!there)
		return false;
	live_link(&l, who->socket);
	/* there is no operator to say which host a name means */
	there = l.osm && !drain_names_check(d, p->fabric, p->jobs, NULL);
	if (there)
		agents_open(&a, &l, &opts, false);
	there = there && !a.why[0];
	for (uint32_t i = 0; there && i < d->njob; i++)
		if (all || d->job[i].needed)
			there = auto_propose_job_there(&a.link, p->fabric,
						       &p->jobs->jobs[d->job[i].job], progress);
	agents_close(&a);
	live_close(&l);
	return there;
}

/* Of jobs that have paths in both; where the installed tables lose packets, times say nothing. */
static void auto_propose_times(struct auto_plan *out, const struct route_report *r)
{
	const struct time_gate *g = &r->message_gate[MESSAGES_LARGE];

	if (!g->known || r->before->unreachable)
		return;
	out->time_before = g->of[g->pattern].before;
	out->time_after = g->of[g->pattern].after;
	out->time_error = g->of[g->pattern].error;
	out->s_before = r->time_before.of[g->pattern].s_per_MiB;
	out->s_after = r->time.of[g->pattern].s_per_MiB;
	time_gate_text(out->slower, sizeof(out->slower), &r->gate);
}

static void auto_propose_sizes(struct auto_plan *out, const struct route_report *r)
{
	struct message_figures m;
	const struct time_change *small;

	route_report_message_figures(&m, r);
	out->by_size = m.known;
	if (!m.known)
		return;
	small = &m.gate[MESSAGES_SMALL].of[r->pattern];
	out->before = (uint64_t)ceil(m.now[MESSAGES_LARGE].efi.eff_efi_max);
	out->after = (uint64_t)ceil(m.plan[MESSAGES_LARGE].efi.eff_efi_max);
	if (out->time_before > 0) {
		out->small_before = small->before;
		out->small_after = small->after;
	}
	snprintf(out->base_loses, sizeof(out->base_loses), "%s", m.base_loses);
}

double auto_propose_reach(const struct notes *notes)
{
	const struct note *n = notes_find(notes, "sar_reach");

	return n ? (double)n->value / 1000 : 0;
}

/* How many jobs gain and lose. */
static void auto_propose_jobs(struct auto_plan *out, const struct route_report *r)
{
	struct job_time_changes c;

	route_report_job_time_changes(&c, r);
	out->jobs_timed = c.n > 0;
	for (uint32_t i = 0; i < c.n; i++) {
		out->jobs_faster += c.job[i].after < c.job[i].before * (1 - AUTO_JOB_CHANGE);
		out->jobs_slower += c.job[i].after > c.job[i].before * (1 + AUTO_JOB_CHANGE);
	}
	job_time_changes_done(&c);
}

static void auto_propose_figures(struct auto_plan *out, const struct route_report *r)
{
	uint64_t lost = r->before->unreachable;

	*out = (struct auto_plan){ .mends = lost > r->m->unreachable ? lost - r->m->unreachable : 0,
				   .before = r->before->eff_efi_max,
				   .after = r->m->eff_efi_max,
				   .bound = r->m->eff_efi_bound,
				   .more = notes_find(&r->notes, "sar_budget") != NULL,
				   .reach = auto_propose_reach(&r->notes) };
	if (r->pattern == PREDICT_ALLTOALL)
		out->time_bound = r->time_bound;
	snprintf(out->engine, sizeof(out->engine), "%s", r->engine);
	auto_propose_times(out, r);
	auto_propose_sizes(out, r);
	auto_propose_jobs(out, r);
}

static void auto_propose_drain(struct auto_plan *out, const struct plan *p,
			       const struct auto_agents *who, struct progress *progress)
{
	bool all = who->drain == AUTO_DRAIN_ALL;

	out->blocks = p->changes->nlft + p->changes->nsl2vl;
	out->drain = drain_needed(&p->drain);
	out->drain_lids = p->drain.nlid;
	out->drain_jobs = p->drain.nneeded;
	out->moved_jobs = p->drain.njob;
	out->agents = out->drain && auto_propose_agents_there(p, who, all, progress);
	if (all)
		out->agents_all =
			out->drain ? out->agents : auto_propose_agents_there(p, who, all, progress);
}

/* Instead of the whole, where that may not be written: its part without a drain, if there is one
 * and it is preferred. */
static int auto_propose_part(struct auto_plan *out, struct route_report *r,
			     const struct route_inputs *in, const struct auto_agents *who,
			     struct progress *progress)
{
	struct route_report part = { 0 };
	struct auto_plan plan = { 0 };
	struct err why = { "" };
	uint32_t rest;
	int rc = safe_part_find(&part, &rest, r, in, progress, &why);

	if (rc)
		return rc == -ECANCELED ? rc : 0;
	rc = route_report_steps(&part, in, AUTO_PART, progress, &why);
	if (!rc) {
		auto_propose_figures(&plan, &part);
		plan.sound = true;
		plan.rest_lids = rest;
		plan.rest_gain = auto_gain(out);
		snprintf(plan.engine, sizeof(plan.engine), "%s", out->engine);
		auto_propose_drain(&plan, part.plan, who, progress);
	}
	if (rc || !auto_part_preferred(&plan, out, who->gain)) {
		route_report_free(&part);
		return rc == -ECANCELED ? rc : 0;
	}
	*out = plan;
	part.made_s = r->made_s;
	route_report_free(r);
	*r = part;
	return 0;
}

int auto_propose(struct auto_plan *out, struct route_report *r, const struct route_inputs *in,
		 const struct auto_agents *who, struct progress *progress, struct err *err)
{
	const struct plan *p = r->plan;
	int rc = route_judge_refusal(r->v, in->f, err);

	auto_propose_figures(out, r);
	if (!rc && !plan_empty(p))
		rc = route_report_steps(r, in, AUTO_REST, progress, err);
	out->sound = !rc;
	if (rc)
		return rc == -ECANCELED ? rc : 0;
	auto_propose_drain(out, p, who, progress);
	if (out->drain && (!out->agents || who->drain == AUTO_DRAIN_NONE))
		return auto_propose_part(out, r, in, who, progress);
	return 0;
}
