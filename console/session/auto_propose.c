/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/session/auto_propose.h"

#include "console/session/agents.h"
#include "console/session/plan_order.h"
#include "engines/metrics/metrics.h"
#include "engines/verify/verify.h"
#include "fabric/base/log.h"
#include "fabric/base/mem.h"
#include "fabric/format/native/limits_text.h"
#include "fabric/format/native/pin_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A node with an agent on any of its ports counts with all of them. */
static bool auto_propose_node_there(const struct fabric *f, const struct job *job,
				    const struct agent_place *at, uint32_t i)
{
	for (uint32_t k = 0; k < job->nterm; k++)
		if (at[k].there == AGENT_PRESENT &&
		    !strcmp(f->term_name[job->terms[i]], f->term_name[job->terms[k]]))
			return true;
	return false;
}

/* Not known counts as absent: nobody looks on who could decide. */
static bool auto_propose_job_there(const struct agent_link *link, const struct fabric *f,
				   const struct job *job, struct progress *progress)
{
	struct agent_place *at = xcalloc(job->nterm, sizeof(*at));
	bool there;

	for (uint32_t i = 0; i < job->nterm; i++)
		at[i].guid = f->term_guid[job->terms[i]];
	there = !link->ops->present(link->ctx, at, job->nterm, progress, NULL);
	for (uint32_t i = 0; there && i < job->nterm; i++)
		there = auto_propose_node_there(f, job, at, i);
	free(at);
	return there;
}

static bool auto_propose_agents_there(struct live *l, const struct live_opts *o,
				      const struct plan *p, bool strangers,
				      struct progress *progress)
{
	const struct drain *d = &p->drain;
	struct agents a = { 0 };
	bool there = d->jobs && d->escape && (strangers || !d->unassigned_lids);

	if (!there || !l->osm) /* only the plugin knows who subscribes */
		return false;
	agents_open(&a, l, o, false);
	there = a.link.ops && a.link.ops->present;
	for (uint32_t i = 0; there && i < d->njob; i++)
		if (d->job[i].needed)
			there = auto_propose_job_there(&a.link, p->fabric,
						       &p->jobs->jobs[d->job[i].job], progress);
	agents_close(&a);
	return there;
}

static int auto_propose_worst_effective(uint64_t *out, const struct live *l, const struct tables *t,
					const struct jobset *jobs, struct progress *progress,
					struct err *err)
{
	struct metrics *m = NULL;
	int rc = metrics_compute(&m, l->f, t, jobs, NULL, progress, err);

	*out = rc ? 0 : m->eff_efi_max;
	metrics_free(m);
	return rc;
}

static int auto_propose_unsound(struct auto_routes *r)
{
	r->proposal.sound = false;
	plan_free(r->plan);
	r->plan = NULL;
	return 0;
}

/* In which order it is written, whether the links carry it, and who has to drain. */
static int auto_propose_order(struct auto_routes *r, struct live *l, const struct live_opts *o,
			      bool strangers, struct progress *progress, struct err *err)
{
	struct err why = { "" };
	int rc = plan_check_vls(r->plan, &why);

	if (!rc)
		rc = plan_order_find(r->plan, NULL, progress, &why);
	if (rc == -ECANCELED)
		return err_set(err, rc, "%s", why.text);
	if (rc) {
		snprintf(r->why_not, sizeof(r->why_not), "%.199s", why.text);
		return auto_propose_unsound(r);
	}
	r->proposal.blocks = r->plan->changes->nlft + r->plan->changes->nsl2vl;
	r->proposal.drain = drain_needed(&r->plan->drain);
	r->proposal.agents =
		r->proposal.drain && auto_propose_agents_there(l, o, r->plan, strangers, progress);
	return 0;
}

static int auto_propose_judge(struct auto_routes *r, struct live *l, const struct live_opts *o,
			      bool strangers, const struct tables *t,
			      const struct route_limits *limits, const struct jobset *counted,
			      const struct jobset *all, struct progress *progress, struct err *err)
{
	struct verify_opts opts = { .limits = limits, .installed = l->t };
	struct verdict *v = NULL;
	int rc = verify_tables(&v, l->f, t, &opts, progress, err);

	if (rc)
		return rc;
	r->proposal.sound = verdict_ok(v);
	if (!r->proposal.sound)
		verdict_sentence(r->why_not, sizeof(r->why_not), v, l->f);
	verdict_free(v);
	if (!r->proposal.sound)
		return 0;
	rc = auto_propose_worst_effective(&r->proposal.before, l, l->t, counted, progress, err);
	if (!rc)
		rc = auto_propose_worst_effective(&r->proposal.after, l, t, counted, progress, err);
	if (!rc)
		rc = plan_new_with_progress(&r->plan, l->f, l->t, t, all, &l->sm, time(NULL),
					    progress, err);
	if (!rc && !plan_empty(r->plan))
		rc = auto_propose_order(r, l, o, strangers, progress, err);
	return rc;
}

void auto_exclude_gone(void *ctx, const char *sentence)
{
	(void)ctx;
	log_add(LOG_INFO, "auto", "left out: %s", sentence);
}

/* Jobs that have ended are pinned no longer. */
static int auto_propose_find_limits(struct route_limits **out, const struct auto_opts *how,
				    const struct fabric *f, const struct jobset *all,
				    struct err *err)
{
	char *now = how->pin ? pin_text_of_now(how->pin, all) : NULL;
	int rc = now ? route_limits_pin(out, f, all, now, err) : 0;
	const struct limits_missing gone = { auto_exclude_gone, NULL };

	if (!rc && how->exclude)
		rc = route_limits_exclude_there(out, f, how->exclude, &gone, err);
	free(now);
	return rc;
}

int auto_propose(struct auto_routes *out, struct live *l, const struct live_opts *o,
		 const struct auto_opts *how, uint64_t seed, const struct jobset *counted,
		 const struct jobset *all, struct progress *progress, struct err *err)
{
	struct engine_params params = { .seed = seed,
					.current = l->t,
					.job_nodes_min = how->job_nodes_min,
					.escape = how->escape || l->t->escape };
	struct route_limits *limits = NULL;
	struct tables *t = NULL;
	int rc;

	*out = (struct auto_routes){ 0 };
	engine_spec_apply(&how->engine, &params);
	if (l->t->escape && !params.vls)
		params.vls = l->t->vls; /* escape LIDs are on the last: they must stay there */
	rc = auto_propose_find_limits(&limits, how, l->f, all, err);
	params.limits = limits;
	if (!rc)
		rc = engine_run(how->engine.engine, &t, l->f, counted, NULL, &params, progress,
				err);
	if (!rc)
		rc = auto_propose_judge(out, l, o, how->strangers, t, limits, counted, all,
					progress, err);
	tables_put(t);
	route_limits_free(limits);
	out->proposal.why_not = out->why_not;
	return rc;
}

void auto_routes_clear(struct auto_routes *r)
{
	plan_free(r->plan);
	*r = (struct auto_routes){ 0 };
}
