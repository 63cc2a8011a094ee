/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs that began after agents were gathered: nobody has asked them to drain yet. */
#include "fabric/update/executor_priv.h"

#include "fabric/base/log.h"
#include "fabric/base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A job that was requeued has the same id on other nodes. */
static bool agent_set_same_job(const struct job *a, const struct job *b)
{
	return a->id == b->id && a->nterm == b->nterm &&
	       !memcmp(a->terms, b->terms, a->nterm * sizeof(*a->terms));
}

static bool agent_set_was_planned(const struct jobset *jobs, const struct job *job)
{
	for (uint32_t i = 0; i < jobs->njob; i++)
		if (agent_set_same_job(&jobs->jobs[i], job))
			return true;
	return false;
}

static bool agent_set_was_named(const struct executor *a, uint64_t id)
{
	for (size_t i = 0; i < a->newcomers.n; i++)
		if (a->newcomers.v[i] == id)
			return true;
	return false;
}

static void agent_set_put_job(struct jobset_builder *b, const struct fabric *f,
			      const struct job *job)
{
	const char **names = xcalloc(job->nterm, sizeof(*names));
	struct job head = { .id = job->id,
			    .name = job->name,
			    .user = job->user,
			    .nodes = job->nodes,
			    .start_s = job->start_s };

	for (uint32_t i = 0; i < job->nterm; i++)
		names[i] = f->term_name[job->terms[i]];
	jobset_builder_add(b, &head, names, job->nterm);
	free(names);
}

/* The last list that the batch system gave; fresh: it has not been looked at. */
static const struct jobset *agent_set_jobs_now(struct executor *a, bool *fresh)
{
	const struct jobset *now = a->o.running ? a->o.running(a->o.ctx) : NULL;

	*fresh = now != NULL;
	if (now) {
		jobset_put(a->jobs);
		a->jobs = now;
	}
	return a->jobs;
}

/* Those that neither the plan knows nor the agents who are asked. */
static struct jobset *agent_set_newcomers(const struct executor *a, const struct jobset *now)
{
	struct jobset_builder *b = jobset_builder_new(a->fabric, now->source);

	for (uint32_t i = 0; i < now->njob; i++) {
		const struct job *job = &now->jobs[i];

		if (job->multi && !(a->plan && agent_set_was_planned(a->plan->jobs, job)) &&
		    !agent_set_has(a, job))
			agent_set_put_job(b, a->fabric, job);
	}
	return jobset_build(b);
}

static void agent_set_say(struct executor *a, const char *text)
{
	struct executor_event ev = { .kind = APPLY_ANSWER };

	snprintf(ev.text, sizeof(ev.text), "%s", text);
	log_add(LOG_WARN, "apply", "%s", text);
	executor_emit(a, &ev);
}

static bool agent_set_said_before(struct executor *a, uint64_t id)
{
	if (agent_set_was_named(a, id))
		return true;
	vec_push(&a->newcomers, id);
	return false;
}

/* false: it is not to go on. */
static bool agent_set_judge(struct executor *a, const struct job *job, bool needed)
{
	bool over = a->c.wave == a->c.nwaves, back = a->c.phase == PHASE_ROLLBACK;
	bool known = agent_set_was_named(a, job->id), waits = a->c.action == ACT_WAIT;
	char text[200];

	if (over && !back && job->start_s > a->written_s) {
		/* by the new routes from its first packet on */
		if (!waits)
			log_add(LOG_INFO, "apply", "job %lu (%.60s) began when all was written",
				(unsigned long)job->id, job->nodes);
		return true;
	}
	if (!waits && agent_set_join(a, job, needed && !back && !known))
		return true;
	if (agent_set_said_before(a, job->id))
		return true;
	snprintf(text, sizeof(text), "job %lu (%.60s) began after jobs were asked to drain: %s",
		 (unsigned long)job->id, job->nodes,
		 !needed ? "its packets may come out of order"
		 : over && !back
			 ? "all was written meanwhile; should it hang, requeue it or roll back"
			 : "it sends to LIDs that need the drain");
	agent_set_say(a, text);
	if (!needed || over || back || a->o.without_silent)
		return true;
	return executor_fail(
		a, -EBUSY,
		"%s, and nothing more is written (--on-silent continue goes on without "
		"such jobs)",
		text);
}

/* Which of them it concerns. */
static bool agent_set_judge_all(struct executor *a, const struct jobset *new)
{
	const struct plan *p = a->plan;
	struct drain d;
	struct err err = { "" };
	bool ok = true;

	drain_copy(&d, &p->drain);
	free(d.job);
	d.job = NULL;
	if (drain_find(&d, a->fabric, p->from, p->to, new, p->diff, NULL, &err))
		log_add(LOG_ERROR, "apply", "jobs that began: %s", err.text);
	for (uint32_t i = 0; i < d.njob && d.job; i++)
		ok = agent_set_judge(a, &new->jobs[d.job[i].job], d.job[i].needed) && ok;
	drain_clear(&d);
	return ok;
}

bool executor_newcomers(struct executor *a)
{
	const struct plan *p = a->plan;
	const struct jobset *now;
	struct jobset *new;
	bool ok = true, fresh;

	if (p && (!p->jobs || !p->drain.known))
		return true;
	now = agent_set_jobs_now(a, &fresh);
	if (!now || (a->c.action == ACT_WAIT && !fresh))
		return true;
	new = agent_set_newcomers(a, now);
	if (p && new->njob)
		ok = agent_set_judge_all(a, new);
	/* who recovers does not know whose routes change */
	for (uint32_t i = 0; !p && i < new->njob; i++)
		agent_set_join(a, &new->jobs[i], false);
	jobset_put(new);
	return ok;
}
