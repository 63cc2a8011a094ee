/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/drain_set.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/model/topology/end_find.h"
#include "fabric/plan/drain_names.h"
#include "fabric/update/protocol/site_key.h"
#include "fabric/update/transaction.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS     1000000ull
#define SLICE  (200 * MS)  /* longest time without a look at cancel and at who is there */
#define JOIN   (5000 * MS) /* for the agents of a job that began to be there */
#define HOLD_S 900

static void drain_set_note(struct transaction *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void drain_set_note(struct transaction *t, const char *fmt, ...)
{
	struct executor_event ev = { .kind = APPLY_ANSWER };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ev.text, sizeof(ev.text), fmt, ap);
	va_end(ap);
	log_add(LOG_WARN, "apply", "%s", ev.text);
	transaction_emit(t, &ev);
}

static struct agent_place *drain_set_places_of(const struct transaction *t, const struct job *job)
{
	struct agent_place *at = xcalloc(job->nterm, sizeof(*at));

	for (uint32_t i = 0; i < job->nterm; i++)
		at[i].guid = t->fabric->term_guid[job->terms[i]];
	return at;
}

/* How many of its ports have an agent, of how many it is not known; the first that has none. */
static void drain_set_count_there(const struct job *job, const struct agent_place *at,
				  uint32_t *there, uint32_t *unknown, uint32_t *absent)
{
	*there = *unknown = 0;
	*absent = FAB_NONE;
	for (uint32_t i = 0; i < job->nterm; i++) {
		*there += at[i].there == AGENT_PRESENT;
		*unknown += at[i].there == AGENT_UNKNOWN;
		if (at[i].there == AGENT_ABSENT && *absent == FAB_NONE)
			*absent = job->terms[i];
	}
}

static const char *drain_set_end_name(char *buf, size_t size, const struct fabric *f, uint32_t end)
{
	if (end == FAB_NONE)
		return "";
	return end_name(buf, size, f, end);
}

static void drain_set_add_job(struct transaction *t, const struct job *job)
{
	struct agent_set *w = &t->agents;
	const struct fabric *f = t->fabric;

	w->port = xrealloc(w->port, (size_t)w->nport + job->nterm, sizeof(*w->port));
	for (uint32_t i = 0; i < job->nterm; i++) {
		uint32_t term = job->terms[i];
		struct txn_agent *g = &w->port[w->nport++];

		*g = (struct txn_agent){ .guid = f->term_guid[term],
					 .lid = f->term_lid[term],
					 .nlids = (uint16_t)(1u << f->lmc),
					 .job = job->id };
		end_name(g->name, sizeof(g->name), f, term);
	}
}

/* A port of the job whose name does not tell whose it is; FAB_NONE: there is none. */
static uint32_t drain_set_uncertain(const struct transaction *t, const struct job *job)
{
	uint32_t term = job_ambiguous(job, t->fabric);

	if (term != FAB_NONE || !t->names)
		return term;
	return drain_names_moved(job, t->fabric, t->names);
}

/* Is it known on which hosts it runs, or was it said that all of its names do? */
static bool drain_set_sure(const struct transaction *t, const struct job *job)
{
	return t->o.accept_names || (!job->unknown && drain_set_uncertain(t, job) == FAB_NONE);
}

static const char *drain_set_doubtful(const struct transaction *t, const struct job *job)
{
	uint32_t term = drain_set_uncertain(t, job);

	return term == FAB_NONE ? "a node" : t->fabric->term_name[term];
}

/* A job is asked as a whole or not at all: both ends of a connection have to move.  false:
 * refused. */
static bool drain_set_take_job(struct transaction *t, const struct job *job, bool needed)
{
	const struct agent_link *l = t->o.agents;
	struct agent_place *at;
	uint32_t there, unknown, absent;
	char name[100];
	struct err err = { "" };
	bool ok = true;
	int rc;

	if (!drain_set_sure(t, job)) { /* only its order is at stake */
		drain_set_note(t,
			       "job %s is not asked to drain: it is not certain which host %.60s "
			       "is; its packets may be reordered",
			       JOB_TEXT(job), drain_set_doubtful(t, job));
		return true;
	}
	at = drain_set_places_of(t, job);
	rc = l->ops->present ? l->ops->present(l->ctx, at, job->nterm, &t->progress, &err) : 0;

	if (rc == -ECANCELED) {
		free(at);
		return transaction_fail(t, rc, "cancelled before anything was written");
	}
	drain_set_count_there(job, at, &there, &unknown, &absent);
	drain_set_end_name(name, sizeof(name), t->fabric, absent);
	free(at);
	if (there + unknown == job->nterm && (needed || !unknown)) {
		drain_set_add_job(t, job);
	} else if (!needed) {
		if (there)
			drain_set_note(t,
				       "job %s is not asked to drain: only %u of its %u ports have "
				       "agents; its packets may be reordered",
				       JOB_TEXT(job), there, job->nterm);
	} else if (t->o.without_silent) {
		drain_set_note(t,
			       "continuing without job %s, which should drain: %u of its %u ports "
			       "have no agent (%s)",
			       JOB_TEXT(job), job->nterm - there - unknown, job->nterm, name);
	} else {
		ok = transaction_fail(
			t, -EHOSTUNREACH,
			"job %s sends to LIDs that must be drained, and %u of its %u ports have "
			"no agent (%s): start ibroute-top agent there, or continue without such "
			"jobs (--on-silent continue)",
			JOB_TEXT(job), job->nterm - there - unknown, job->nterm, name);
	}
	return ok;
}

static const char *drain_set_why_unreachable(const struct transaction *t)
{
	const char *why = t->o.no_agents;

	return why && *why ? why : "agents cannot be reached from here";
}

static bool drain_set_cannot_ask(struct transaction *t, int rc, const char *why)
{
	const struct drain *d = &t->plan->drain;

	if (!d->nneeded) {
		drain_set_note(t, "no agents are notified (%.110s): packets may be reordered", why);
		return true;
	}
	return transaction_fail(
		t, rc,
		"%u jobs send to %u LIDs that must be drained before the first write, and %s; "
		"--without-agents writes all the same, and their packets may be lost or stuck",
		d->nneeded, d->nlid, why);
}

static void drain_set_name_without(struct transaction *t)
{
	const struct plan *p = t->plan;
	char ids[120] = "";
	size_t len = 0;

	for (uint32_t i = 0; i < p->drain.njob; i++) {
		if (!p->drain.job[i].needed)
			continue;
		len += (size_t)snprintf(ids + len, sizeof(ids) - len, "%s%lu", len ? ", " : "",
					(unsigned long)p->jobs->jobs[p->drain.job[i].job].id);
		if (len + 30 > sizeof(ids)) {
			snprintf(ids + len, sizeof(ids) - len, ", ...");
			break;
		}
	}
	if (len)
		drain_set_note(t,
			       "continuing without %u jobs that should drain, no agents are "
			       "notified: %s",
			       p->drain.nneeded, ids);
}

/* Nobody can be asked there: an operator has to know what else sends there, and pause it. */
static bool drain_set_unassigned(struct transaction *t)
{
	const struct plan *p = t->plan;
	char who[120];
	struct err err;

	if (!p->drain.unassigned_lids)
		return true;
	if (!t->o.accept_unassigned && !t->o.without_agents)
		return !drain_check_unassigned(&p->drain, p->fabric, p->jobs, &err) ||
		       transaction_fail(t, -EPERM, "%s", err.text);
	drain_unassigned_text(who, sizeof(who), &p->drain, p->fabric, p->jobs);
	drain_set_note(t,
		       "%u LIDs of no job must be drained: whatever sends there should pause: %s",
		       p->drain.unassigned_lids, who);
	return true;
}

/* Whom a job's nodes are is for an operator to say. */
static bool drain_set_names(struct transaction *t)
{
	const struct plan *p = t->plan;
	char who[120];
	struct err err;

	if (t->o.without_agents)
		return true;
	if (!t->o.accept_names && drain_names_check(&p->drain, p->fabric, p->jobs, &err))
		return transaction_fail(t, -EPERM, "%s", err.text);
	drain_names_text(who, sizeof(who), &p->drain, p->fabric, p->jobs);
	if (t->o.accept_names && who[0])
		drain_set_note(t, "each port of these names is asked to drain: %s", who);
	return true;
}

static bool drain_set_sealed(const struct agent_link *l)
{
	return l->ops->sealed && l->ops->sealed(l->ctx);
}

bool drain_set_gather(struct transaction *t)
{
	const struct drain *d = &t->plan->drain;
	struct err err = { "" };
	bool ok = true;
	int rc;

	if (!d->known)
		return true;
	if (drain_needed(d) && !d->jobs && !t->o.without_agents)
		return transaction_fail(
			t, -ENODATA,
			"%u LIDs must be drained before the first write, and it is unknown which "
			"jobs send there: make the plan with --jobs, or write all the same with "
			"--without-agents",
			d->nlid);
	if (!drain_set_unassigned(t) || !drain_set_names(t))
		return false;
	if (t->o.without_agents)
		drain_set_name_without(t);
	if (!d->njob || t->o.without_agents)
		return true;
	if (!d->escape)
		return drain_set_cannot_ask(
			t, -EADDRNOTAVAIL,
			"there are no escape LIDs whose paths stay the same: install a routing "
			"with --escape first (LMC 1 or more)");
	if (!t->o.agents)
		return drain_set_cannot_ask(t, -ENOTCONN, drain_set_why_unreachable(t));
	rc = t->o.agents->ops->listen(t->o.agents->ctx, &t->progress, &err);
	if (rc)
		return drain_set_cannot_ask(t, rc, err.text);
	for (uint32_t i = 0; i < d->njob && ok; i++)
		ok = drain_set_take_job(t, &t->plan->jobs->jobs[d->job[i].job], d->job[i].needed);
	if (ok && t->agents.nport)
		agent_set_index(&t->agents);
	if (ok && t->agents.n && !drain_set_sealed(t->o.agents))
		drain_set_note(t, SITE_KEY_NONE);
	return ok;
}

static void drain_set_drain_on(struct transaction *t, uint16_t epoch)
{
	struct coord_drain d = {
		.agents = t->agents.state,
		.nagents = t->agents.n,
		.txn = journal_info(t->journal)->head.number,
		.epoch = epoch,
		.hold_s = (uint16_t)(t->o.hold_s ? t->o.hold_s : HOLD_S),
		.max_sends = 1000,
		.without_silent = t->o.without_silent,
		/* nobody else can have called them back then */
		.recheck = !drain_set_sealed(t->o.agents),
	};

	t->agents.link = t->o.agents;
	coordinator_drain(&t->c, &d);
}

bool drain_set_begin(struct transaction *t)
{
	struct err err = { "" };
	int rc;

	if (!t->agents.n)
		return true;
	rc = journal_put_agents(t->journal, t->agents.port, t->agents.nport, &err);
	if (rc)
		return transaction_fail(t, rc, "%s", err.text);
	drain_set_drain_on(t, 0);
	return true;
}

static bool drain_set_all_there(struct transaction *t, const struct job *job)
{
	const struct agent_link *l = t->agents.link;
	struct agent_place *at = drain_set_places_of(t, job);
	uint32_t there, unknown, absent;
	int rc = l->ops->present(l->ctx, at, job->nterm, &t->progress, NULL);

	drain_set_count_there(job, at, &there, &unknown, &absent);
	free(at);
	return !rc && there == job->nterm;
}

/* They may have been started with the job. */
static bool drain_set_come_in_time(struct transaction *t, const struct job *job, uint64_t patience)
{
	const struct agent_link *l = t->agents.link;
	uint64_t until = l->ops->now_ns(l->ctx) + patience;
	bool there;

	if (!l->ops->present)
		return false;
	while (!(there = drain_set_all_there(t, job)) && l->ops->now_ns(l->ctx) < until &&
	       !atomic_load(&t->progress.cancel)) {
		struct agent_answer ans;

		if (l->ops->recv(l->ctx, &ans, SLICE, NULL) == 1)
			agent_set_take_answer(t, &ans);
	}
	return there;
}

/* Who was there before, as he was. */
static void drain_set_keep_states(struct agent_set *w, const struct txn_agent *port,
				  const uint32_t *first, const struct coord_agent *state,
				  uint32_t n)
{
	for (uint32_t i = 0, k = 0; i < w->n && k < n; i++)
		if (agent_set_guid(w, i) == port[first[k]].guid)
			w->state[i] = state[k++];
}

static bool drain_set_has(const struct transaction *t, const struct job *job)
{
	const struct agent_set *w = &t->agents;
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->nport; i++)
		for (uint32_t k = 0; w->port[i].job == job->id && k < job->nterm; k++)
			n += w->port[i].guid == t->fabric->term_guid[job->terms[k]];
	return n >= job->nterm;
}

/* No agent was to be asked until now.  Not in a rollback: the journal says that none was. */
static bool drain_set_start(struct transaction *t)
{
	const struct agent_link *l = t->o.agents;
	struct err err = { "" };
	int rc;

	if (!l || t->o.without_agents || !t->plan || !t->plan->drain.escape ||
	    t->c.phase == PHASE_ROLLBACK)
		return false;
	rc = l->ops->listen(l->ctx, &t->progress, &err);
	if (rc) {
		log_add(LOG_WARN, "apply", "agents of jobs that start: %s", err.text);
		return false;
	}
	drain_set_drain_on(t, 0);
	return true;
}

/* A port whose jobs were over and that has this one now. */
static void drain_set_call_again(struct agent_set *w, uint64_t job)
{
	for (uint32_t i = 0; i < w->n; i++)
		for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++)
			if (w->port[k].job == job && w->state[i].state == COORD_GONE)
				w->state[i] = (struct coord_agent){ .state = COORD_IDLE };
}

/* Asks the agents of a job that started during the update as well; false: some node has no
 * agent, or none can be reached. wait: allow a few seconds for them to start. */
static bool drain_set_join(struct transaction *t, const struct job *job, bool wait)
{
	struct agent_set *w = &t->agents, was;
	struct err err = { "" };
	bool ok;

	if (!drain_set_sure(t, job) || (!w->n && !drain_set_start(t)) ||
	    !drain_set_come_in_time(t, job, wait ? JOIN : 0))
		return false;
	was = *w;
	w->port = xcalloc(was.nport, sizeof(*w->port));
	if (was.nport)
		memcpy(w->port, was.port, was.nport * sizeof(*w->port));
	drain_set_add_job(t, job);
	ok = !journal_put_agents(t->journal, w->port, w->nport, &err);
	if (!ok) { /* those of before are in the journal */
		log_add(LOG_ERROR, "apply", "%s", err.text);
		free(w->port);
		w->port = was.port;
		w->nport = was.nport;
		return false;
	}
	agent_set_index(w);
	drain_set_keep_states(w, was.port, was.first, was.state, was.n);
	drain_set_call_again(w, job->id);
	coordinator_join(&t->c, w->state, w->n);
	if (w->n > was.n)
		drain_set_note(
			t,
			"job %s (%.60s) started during the update: %u agents join, all are asked "
			"again",
			JOB_TEXT(job), job->nodes, w->n - was.n);
	else
		drain_set_note(
			t,
			"job %s (%.60s) started during the update on nodes whose agents take "
			"part: all are asked again",
			JOB_TEXT(job), job->nodes);
	agent_set_free(&was);
	return true;
}

/* Nothing here keeps the old tables from coming back. */
void drain_set_recover(struct transaction *t)
{
	struct agent_set *w = &t->agents;
	struct err err = { "" };
	int rc;

	if (w->n)
		return;
	rc = journal_agents(&w->port, &w->nport, t->journal, &err);
	if (rc == -ENOENT)
		return;
	if (journal_take(t->journal, &err))
		log_add(LOG_ERROR, "apply", "%s; continuing all the same", err.text);
	if (!rc && t->o.agents)
		rc = t->o.agents->ops->listen(t->o.agents->ctx, NULL, &err);
	else if (!rc)
		rc = err_set(&err, -ENOTCONN, "%s", drain_set_why_unreachable(t));
	if (rc && rc != -ETIMEDOUT) {
		log_add(LOG_ERROR, "apply",
			"%s: %u ports may be on their escape LIDs and are not told to return "
			"(they do so by themselves after a while): %s",
			t->txn, w->nport, err.text);
		free(w->port);
		w->port = NULL;
		w->nport = 0;
		return;
	}
	agent_set_index(w);
	drain_set_drain_on(t, (uint16_t)(journal_info(t->journal)->taken));
}

/* ---- jobs that began after agents were gathered: nobody has asked them to drain yet ---- */

/* A job that was requeued has the same id on other nodes. */
static bool drain_set_same_job(const struct job *a, const struct job *b)
{
	return a->id == b->id && a->nterm == b->nterm &&
	       !memcmp(a->terms, b->terms, a->nterm * sizeof(*a->terms));
}

static bool drain_set_was_planned(const struct jobset *jobs, const struct job *job)
{
	for (uint32_t i = 0; i < jobs->njob; i++)
		if (drain_set_same_job(&jobs->jobs[i], job))
			return true;
	return false;
}

static bool drain_set_was_named(const struct transaction *t, uint64_t id)
{
	for (size_t i = 0; i < t->named.n; i++)
		if (t->named.v[i] == id)
			return true;
	return false;
}

static void drain_set_put_job(struct jobset_builder *b, const struct job *job)
{
	struct job head = *job;

	jobset_builder_add_ports(b, &head, job->terms, job->nterm);
}

/* The last list that the batch system gave; fresh: it has not been looked at. */
static const struct jobset *drain_set_jobs_now(struct transaction *t, bool *fresh)
{
	const struct jobset *now = t->o.running ? t->o.running(t->o.ctx) : NULL;

	*fresh = now != NULL;
	if (now) {
		jobset_put(t->jobs);
		t->jobs = now;
	}
	return t->jobs;
}

/* Those that neither the plan knows nor the agents who are asked. */
static struct jobset *drain_set_find_late(const struct transaction *t, const struct jobset *now)
{
	struct jobset_builder *b = jobset_builder_new(t->fabric, now->source);

	for (uint32_t i = 0; i < now->njob; i++) {
		const struct job *job = &now->jobs[i];

		if (job->multi && !(t->plan && drain_set_was_planned(t->plan->jobs, job)) &&
		    !drain_set_has(t, job))
			drain_set_put_job(b, job);
	}
	return jobset_build(b);
}

static bool drain_set_said_before(struct transaction *t, uint64_t id)
{
	if (drain_set_was_named(t, id))
		return true;
	vec_push(&t->named, id);
	return false;
}

/* false: it is not to go on. */
static bool drain_set_judge(struct transaction *t, const struct job *job, bool needed)
{
	bool over = t->c.wave == t->c.nwaves, back = t->c.phase == PHASE_ROLLBACK;
	bool known = drain_set_was_named(t, job->id), waits = t->c.action == ACT_WAIT;
	char text[260];

	if (over && !back && job->start_s > t->written_s) {
		/* by the new routes from its first packet on */
		if (!waits)
			log_add(LOG_INFO, "apply", "job %s (%.60s) started after the last write",
				JOB_TEXT(job), job->nodes);
		return true;
	}
	if (!waits && drain_set_join(t, job, needed && !back && !known))
		return true;
	if (drain_set_said_before(t, job->id))
		return true;
	snprintf(text, sizeof(text),
		 "job %s (%.60s) started after jobs were asked to drain%s%.40s: %s", JOB_TEXT(job),
		 job->nodes, drain_set_sure(t, job) ? "" : ", it is not certain which host is ",
		 drain_set_sure(t, job) ? "" : drain_set_doubtful(t, job),
		 !needed ? "its packets may be reordered"
		 : over && !back
			 ? "everything is written by now; if it hangs, requeue it or roll back"
			 : "it sends to LIDs that must be drained");
	drain_set_note(t, "%s", text);
	if (!needed || over || back || t->o.without_silent)
		return true;
	return transaction_fail(
		t, -EBUSY,
		"%s, and nothing more is written (--on-silent continue proceeds without such jobs)",
		text);
}

/* Which of them it concerns. */
static bool drain_set_judge_all(struct transaction *t, const struct jobset *new)
{
	const struct plan *p = t->plan;
	struct drain d;
	struct err err = { "" };
	bool ok = true;

	drain_copy(&d, &p->drain);
	free(d.job);
	d.job = NULL;
	if (drain_find(&d, t->fabric, p->from, p->to, new, p->diff, NULL, &err))
		log_add(LOG_ERROR, "apply", "jobs that started: %s", err.text);
	for (uint32_t i = 0; i < d.njob && d.job; i++)
		ok = drain_set_judge(t, &new->jobs[d.job[i].job], d.job[i].needed) && ok;
	drain_clear(&d);
	return ok;
}

/* Jobs are known by the names of their nodes: what these mean now. */
static void drain_set_read_names(struct transaction *t)
{
	const struct drain nobody = { 0 };
	struct drain_renamed r;
	struct fabric *now = NULL;
	struct err err = { "" };

	if (!t->o.names)
		return;
	if (t->o.names(t->o.ctx, &now, &err)) {
		log_add(LOG_WARN, "apply", "names of hosts: %s", err.text);
		return;
	}
	drain_names_compare(&r, t->names ? t->names : t->fabric, now ? now : t->fabric, &nobody,
			    NULL);
	if (r.n)
		drain_set_note(t, "%u ports changed their names during the update: %.120s", r.n,
			       r.text);
	fabric_put(t->names);
	t->names = now;
}

bool drain_set_late_jobs(struct transaction *t)
{
	const struct plan *p = t->plan;
	const struct jobset *now;
	struct jobset *new;
	bool ok = true, fresh;

	if (p && (!p->jobs || !p->drain.known))
		return true;
	now = drain_set_jobs_now(t, &fresh);
	if (!now || (t->c.action == ACT_WAIT && !fresh))
		return true;
	new = drain_set_find_late(t, now);
	if (new->njob && fresh)
		drain_set_read_names(t);
	if (p && new->njob)
		ok = drain_set_judge_all(t, new);
	/* who recovers does not know whose routes change */
	for (uint32_t i = 0; !p && i < new->njob; i++)
		drain_set_join(t, &new->jobs[i], false);
	jobset_put(new);
	return ok;
}
