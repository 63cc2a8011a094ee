/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which jobs' agents an update asks: those that its plan wants, and those that begin meanwhile. */
#include "fabric/update/executor_priv.h"

#include "fabric/base/log.h"
#include "fabric/base/mem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS     1000000ull
#define SLICE  (200 * MS)  /* longest time without a look at cancel and at who is there */
#define JOIN   (5000 * MS) /* for the agents of a job that began to be there */
#define HOLD_S 900

static void agent_set_note(struct executor *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void agent_set_note(struct executor *a, const char *fmt, ...)
{
	struct executor_event ev = { .kind = APPLY_ANSWER };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ev.text, sizeof(ev.text), fmt, ap);
	va_end(ap);
	log_add(LOG_WARN, "apply", "%s", ev.text);
	executor_emit(a, &ev);
}

static struct agent_place *agent_set_places_of(const struct executor *a, const struct job *job)
{
	struct agent_place *at = xcalloc(job->nterm, sizeof(*at));

	for (uint32_t i = 0; i < job->nterm; i++)
		at[i].guid = a->fabric->term_guid[job->terms[i]];
	return at;
}

static bool agent_set_same_node(const struct executor *a, const struct job *job, uint32_t i,
				uint32_t k)
{
	return !strcmp(a->fabric->term_name[job->terms[i]], a->fabric->term_name[job->terms[k]]);
}

/* How many ports are of nodes with an agent (of any of their ports), how many are not known; the
 * first node without one. */
static void agent_set_count_there(const struct executor *a, const struct job *job,
				  const struct agent_place *at, uint32_t *there, uint32_t *unknown,
				  const char **absent)
{
	*there = *unknown = 0;
	*absent = "";
	for (uint32_t i = 0, k; i < job->nterm; i = k) {
		bool yes = false, dunno = false;

		for (k = i; k < job->nterm && agent_set_same_node(a, job, i, k); k++) {
			yes = yes || at[k].there == AGENT_PRESENT;
			dunno = dunno || at[k].there == AGENT_UNKNOWN;
		}
		if (yes)
			*there += k - i;
		else if (dunno)
			*unknown += k - i;
		else if (!**absent)
			*absent = a->fabric->term_name[job->terms[i]];
	}
}

static void agent_set_add_job(struct executor *a, const struct job *job)
{
	struct agent_set *w = &a->crowd;
	const struct fabric *f = a->fabric;

	w->port = xrealloc(w->port, (size_t)w->nport + job->nterm, sizeof(*w->port));
	for (uint32_t i = 0; i < job->nterm; i++) {
		uint32_t t = job->terms[i];
		struct txn_agent *g = &w->port[w->nport++];

		*g = (struct txn_agent){ .guid = f->term_guid[t],
					 .lid = f->term_lid[t],
					 .nlids = (uint16_t)(1u << f->lmc),
					 .job = job->id };
		snprintf(g->name, sizeof(g->name), "%.63s", f->term_name[t]);
	}
}

/* A job is asked as a whole or not at all: both ends of a connection have to move.  false:
 * refused. */
static bool agent_set_take_job(struct executor *a, const struct job *job, bool needed)
{
	const struct agent_link *l = a->o.agents;
	struct agent_place *at = agent_set_places_of(a, job);
	uint32_t there, unknown;
	const char *absent;
	struct err err = { "" };
	bool ok = true;
	int rc = l->ops->present ? l->ops->present(l->ctx, at, job->nterm, &a->progress, &err) : 0;

	if (rc == -ECANCELED) {
		free(at);
		return executor_fail(a, rc, "cancelled before anything was written");
	}
	agent_set_count_there(a, job, at, &there, &unknown, &absent);
	free(at);
	if (there + unknown == job->nterm && (needed || !unknown)) {
		agent_set_add_job(a, job);
	} else if (!needed) {
		if (there)
			agent_set_note(
				a,
				"job %lu is not asked to drain: only %u of its %u ports have agents; its "
				"packets may come out of order",
				(unsigned long)job->id, there, job->nterm);
	} else if (a->o.without_silent) {
		agent_set_note(
			a,
			"going on without job %lu, which needs the drain: %u of its %u ports have no "
			"agent (%s)",
			(unsigned long)job->id, job->nterm - there - unknown, job->nterm, absent);
	} else {
		ok = executor_fail(
			a, -EHOSTUNREACH,
			"job %lu sends to LIDs that need the drain, and %u of its %u ports "
			"have no agent (%s): start ibroute-top agent there, or go on "
			"without such jobs (--on-silent continue)",
			(unsigned long)job->id, job->nterm - there - unknown, job->nterm, absent);
	}
	return ok;
}

static const char *agent_set_no_way(const struct executor *a)
{
	const char *why = a->o.no_agents;

	return why && *why ? why : "there is no way to ask agents from here";
}

static bool agent_set_cannot_ask(struct executor *a, int rc, const char *why)
{
	const struct drain *d = &a->plan->drain;

	if (!d->nneeded) {
		agent_set_note(
			a, "nobody is asked to drain (%.110s): packets may come out of order", why);
		return true;
	}
	return executor_fail(
		a, rc,
		"%u jobs send to %u LIDs that need the drain before the first write, and "
		"%s; --without-agents writes all the same, and their packets may get lost "
		"or stuck",
		d->nneeded, d->nlid, why);
}

static void agent_set_name_without(struct executor *a)
{
	const struct plan *p = a->plan;
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
		agent_set_note(a,
			       "going on without %u jobs that need the drain, nobody is asked: %s",
			       p->drain.nneeded, ids);
}

bool agent_set_gather(struct executor *a)
{
	const struct drain *d = &a->plan->drain;
	struct err err = { "" };
	bool ok = true;
	int rc;

	if (!d->known)
		return true;
	if (drain_needed(d) && !d->jobs && !a->o.without_agents)
		return executor_fail(
			a, -ENODATA,
			"%u LIDs need the drain before the first write, and which jobs send "
			"there is not known: make the plan with --jobs, or write all the same "
			"with --without-agents",
			d->nlid);
	if (d->strangers)
		agent_set_note(
			a,
			"%u LIDs need the drain that no job has: what else sends there should pause",
			d->strangers);
	if (a->o.without_agents)
		agent_set_name_without(a);
	if (!d->njob || a->o.without_agents)
		return true;
	if (!d->escape)
		return agent_set_cannot_ask(
			a, -EADDRNOTAVAIL,
			"there are no escape LIDs to move to that the new tables leave "
			"alone: install routes with --escape first (LMC 1 or more)");
	if (!a->o.agents)
		return agent_set_cannot_ask(a, -ENOTCONN, agent_set_no_way(a));
	rc = a->o.agents->ops->listen(a->o.agents->ctx, &a->progress, &err);
	if (rc)
		return agent_set_cannot_ask(a, rc, err.text);
	for (uint32_t i = 0; i < d->njob && ok; i++)
		ok = agent_set_take_job(a, &a->plan->jobs->jobs[d->job[i].job], d->job[i].needed);
	if (ok && a->crowd.nport)
		agent_set_index(&a->crowd);
	return ok;
}

static void agent_set_drain_on(struct executor *a, uint16_t epoch)
{
	struct coord_drain d = {
		.agents = a->crowd.state,
		.nagents = a->crowd.n,
		.txn = journal_info(a->journal)->head.number,
		.epoch = epoch,
		.hold_s = (uint16_t)(a->o.hold_s ? a->o.hold_s : HOLD_S),
		.max_sends = 1000,
		.without_silent = a->o.without_silent,
	};

	a->crowd.link = a->o.agents;
	coordinator_drain(&a->c, &d);
}

bool agent_set_begin(struct executor *a)
{
	struct err err = { "" };
	int rc;

	if (!a->crowd.n)
		return true;
	rc = journal_put_agents(a->journal, a->crowd.port, a->crowd.nport, &err);
	if (rc)
		return executor_fail(a, rc, "%s", err.text);
	agent_set_drain_on(a, 0);
	return true;
}

static bool agent_set_all_there(struct executor *a, const struct job *job)
{
	const struct agent_link *l = a->crowd.link;
	struct agent_place *at = agent_set_places_of(a, job);
	uint32_t there, unknown;
	const char *absent;
	int rc = l->ops->present(l->ctx, at, job->nterm, &a->progress, NULL);

	agent_set_count_there(a, job, at, &there, &unknown, &absent);
	free(at);
	return !rc && there == job->nterm;
}

/* They may have been started with the job. */
static bool agent_set_come_in_time(struct executor *a, const struct job *job, uint64_t patience)
{
	const struct agent_link *l = a->crowd.link;
	uint64_t until = l->ops->now_ns(l->ctx) + patience;
	bool there;

	if (!l->ops->present)
		return false;
	while (!(there = agent_set_all_there(a, job)) && l->ops->now_ns(l->ctx) < until &&
	       !atomic_load(&a->progress.cancel)) {
		struct agent_answer ans;

		if (l->ops->recv(l->ctx, &ans, SLICE, NULL) == 1)
			agent_set_take_answer(a, &ans);
	}
	return there;
}

/* Who was there before, as he was. */
static void agent_set_keep_states(struct agent_set *w, const struct txn_agent *port,
				  const uint32_t *first, const struct coord_agent *state,
				  uint32_t n)
{
	for (uint32_t i = 0, k = 0; i < w->n && k < n; i++)
		if (!strcmp(agent_set_name(w, i), port[first[k]].name))
			w->state[i] = state[k++];
}

bool agent_set_has(const struct executor *a, const struct job *job)
{
	const struct agent_set *w = &a->crowd;
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->nport; i++)
		for (uint32_t k = 0; w->port[i].job == job->id && k < job->nterm; k++)
			n += w->port[i].guid == a->fabric->term_guid[job->terms[k]];
	return n >= job->nterm;
}

/* Nobody was to be asked so far.  Not on the way back: the journal says that nobody was. */
static bool agent_set_crowd_start(struct executor *a)
{
	const struct agent_link *l = a->o.agents;
	struct err err = { "" };
	int rc;

	if (!l || a->o.without_agents || !a->plan || !a->plan->drain.escape ||
	    a->c.phase == PHASE_ROLLBACK)
		return false;
	rc = l->ops->listen(l->ctx, &a->progress, &err);
	if (rc) {
		log_add(LOG_WARN, "apply", "agents of jobs that begin: %s", err.text);
		return false;
	}
	agent_set_drain_on(a, 0);
	return true;
}

/* A node whose jobs were over and that has this one now. */
static void agent_set_call_again(struct agent_set *w, uint64_t job)
{
	for (uint32_t i = 0; i < w->n; i++)
		for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++)
			if (w->port[k].job == job && w->state[i].state == COORD_GONE)
				w->state[i] = (struct coord_agent){ .state = COORD_IDLE };
}

bool agent_set_join(struct executor *a, const struct job *job, bool wait)
{
	struct agent_set *w = &a->crowd, was;
	struct err err = { "" };
	bool ok;

	if ((!w->n && !agent_set_crowd_start(a)) ||
	    !agent_set_come_in_time(a, job, wait ? JOIN : 0))
		return false;
	was = *w;
	w->port = xcalloc(was.nport, sizeof(*w->port));
	if (was.nport)
		memcpy(w->port, was.port, was.nport * sizeof(*w->port));
	agent_set_add_job(a, job);
	ok = !journal_put_agents(a->journal, w->port, w->nport, &err);
	if (!ok) { /* those of before are in the journal */
		log_add(LOG_ERROR, "apply", "%s", err.text);
		free(w->port);
		w->port = was.port;
		w->nport = was.nport;
		return false;
	}
	agent_set_index(w);
	agent_set_keep_states(w, was.port, was.first, was.state, was.n);
	agent_set_call_again(w, job->id);
	coordinator_join(&a->c, w->state, w->n);
	if (w->n > was.n)
		agent_set_note(
			a,
			"job %lu (%.60s) began meanwhile: %u agents join, all are asked once more",
			(unsigned long)job->id, job->nodes, w->n - was.n);
	else
		agent_set_note(
			a,
			"job %lu (%.60s) began meanwhile on nodes whose agents take part: all are "
			"asked once more",
			(unsigned long)job->id, job->nodes);
	agent_set_free(&was);
	return true;
}

/* Nothing here keeps the old tables from coming back. */
void agent_set_recover(struct executor *a)
{
	struct agent_set *w = &a->crowd;
	struct err err = { "" };
	int rc;

	if (w->n)
		return;
	rc = journal_agents(&w->port, &w->nport, a->journal, &err);
	if (rc == -ENOENT)
		return;
	if (journal_take(a->journal, &err))
		log_add(LOG_ERROR, "apply", "%s; going on all the same", err.text);
	if (!rc && a->o.agents)
		rc = a->o.agents->ops->listen(a->o.agents->ctx, NULL, &err);
	else if (!rc)
		rc = err_set(&err, -ENOTCONN, "%s", agent_set_no_way(a));
	if (rc && rc != -ETIMEDOUT) {
		log_add(LOG_ERROR, "apply",
			"%s: %u ports may be on their escape LIDs and are not told to return "
			"(they do by themselves after a while): %s",
			a->txn, w->nport, err.text);
		free(w->port);
		w->port = NULL;
		w->nport = 0;
		return;
	}
	agent_set_index(w);
	agent_set_drain_on(a, (uint16_t)(journal_info(a->journal)->taken));
}
