/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agents of an update: who they are, what they are asked, what they say. */
#include "fabric/update/apply_priv.h"

#include "fabric/base/log.h"
#include "fabric/base/mem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS	   1000000ull
#define SECOND	   (1000 * MS)
#define SLICE	   (20 * MS) /* longest time without a look at cancel */
#define RESEND	   (100 * MS)
#define RESEND_MAX (2 * SECOND)
#define LISTEN	   (2 * SECOND)
#define GREET	   (50 * MS) /* between answers to agents that begin: all hear each */
#define JOBS	   (500 * MS)
#define ANSWER_MS  30000
#define JOIN	   (5 * SECOND) /* for the agents of a job that began to be there */
#define HOLD_S	   900
#define LIDS	   0x10000u

/* ---- who ---- */

void crowd_free(struct crowd *w)
{
	free(w->port);
	free(w->first);
	free(w->by_guid);
	free(w->by_lid);
	free(w->state);
	free(w->told);
	*w = (struct crowd){ 0 };
}

static int by_name(const void *a, const void *b)
{
	const struct txn_agent *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	if (c)
		return c;
	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return (x->job > y->job) - (x->job < y->job);
}

static int by_guid(const void *a, const void *b, void *ctx)
{
	const struct txn_agent *port = ctx;
	uint64_t x = port[*(const uint32_t *)a].guid, y = port[*(const uint32_t *)b].guid;

	return (x > y) - (x < y);
}

/* Ports of one name are one agent, whichever port and job they are of. */
static void crowd_index(struct crowd *w)
{
	if (w->nport)
		qsort(w->port, w->nport, sizeof(*w->port), by_name);
	w->first = xcalloc((size_t)w->nport + 1, sizeof(*w->first));
	w->by_guid = xcalloc(w->nport, sizeof(*w->by_guid));
	w->by_lid = xcalloc(LIDS, sizeof(*w->by_lid));
	memset(w->by_lid, 0xff, LIDS * sizeof(*w->by_lid));
	w->n = 0;
	for (uint32_t i = 0; i < w->nport; i++) {
		if (!i || strcmp(w->port[i].name, w->port[i - 1].name))
			w->first[w->n++] = i;
		w->by_guid[i] = i;
		for (uint32_t k = 0; k < w->port[i].nlids; k++)
			w->by_lid[(w->port[i].lid + k) % LIDS] = w->n - 1;
	}
	w->first[w->n] = w->nport;
	if (w->nport)
		qsort_r(w->by_guid, w->nport, sizeof(*w->by_guid), by_guid, w->port);
	w->state = xcalloc(w->n, sizeof(*w->state));
	w->told = xcalloc(w->n, sizeof(*w->told));
}

static uint32_t agent_of_port(const struct crowd *w, uint32_t port)
{
	uint32_t a = 0, b = w->n;

	while (b - a > 1) {
		uint32_t m = a + (b - a) / 2;

		if (w->first[m] <= port)
			a = m;
		else
			b = m;
	}
	return a;
}

static uint32_t agent_of(const struct crowd *w, const struct agent_answer *ans)
{
	uint32_t a = 0, b = w->nport;

	if (!ans->guid)
		return w->by_lid ? w->by_lid[ans->lid] : FAB_NONE;
	while (a < b) {
		uint32_t m = a + (b - a) / 2;

		if (w->port[w->by_guid[m]].guid < ans->guid)
			a = m + 1;
		else
			b = m;
	}
	if (a == w->nport || w->port[w->by_guid[a]].guid != ans->guid)
		return FAB_NONE;
	return agent_of_port(w, w->by_guid[a]);
}

static const char *agent_name(const struct crowd *w, uint32_t agent)
{
	return w->port[w->first[agent]].name;
}

static void take_answer(struct apply *a, const struct agent_answer *ans);

/* ---- whom a plan wants ---- */

static void note(struct apply *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void note(struct apply *a, const char *fmt, ...)
{
	struct apply_event ev = { .kind = APPLY_ANSWER };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ev.text, sizeof(ev.text), fmt, ap);
	va_end(ap);
	log_add(LOG_WARN, "apply", "%s", ev.text);
	apply_emit(a, &ev);
}

static struct agent_place *places_of(const struct apply *a, const struct job *job)
{
	struct agent_place *at = xcalloc(job->nterm, sizeof(*at));

	for (uint32_t i = 0; i < job->nterm; i++)
		at[i].guid = a->fabric->term_guid[job->terms[i]];
	return at;
}

static bool same_node(const struct apply *a, const struct job *job, uint32_t i, uint32_t k)
{
	return !strcmp(a->fabric->term_name[job->terms[i]], a->fabric->term_name[job->terms[k]]);
}

/* How many ports are of nodes with an agent (of any of their ports), how many are not known; the
 * first node without one. */
static void count_there(const struct apply *a, const struct job *job, const struct agent_place *at,
			uint32_t *there, uint32_t *unknown, const char **absent)
{
	*there = *unknown = 0;
	*absent = "";
	for (uint32_t i = 0, k; i < job->nterm; i = k) {
		bool yes = false, dunno = false;

		for (k = i; k < job->nterm && same_node(a, job, i, k); k++) {
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

static void add_job(struct apply *a, const struct job *job)
{
	struct crowd *w = &a->crowd;
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
static bool take_job(struct apply *a, const struct job *job, bool needed)
{
	const struct agent_link *l = a->o.agents;
	struct agent_place *at = places_of(a, job);
	uint32_t there, unknown;
	const char *absent;
	struct err err = { "" };
	bool ok = true;
	int rc = l->ops->present ? l->ops->present(l->ctx, at, job->nterm, &a->progress, &err) : 0;

	if (rc == -ECANCELED) {
		free(at);
		return apply_fail(a, rc, "cancelled before anything was written");
	}
	count_there(a, job, at, &there, &unknown, &absent);
	free(at);
	if (there + unknown == job->nterm && (needed || !unknown)) {
		add_job(a, job);
	} else if (!needed) {
		if (there)
			note(a,
			     "job %lu is not asked to drain: only %u of its %u ports have agents; its "
			     "packets may come out of order",
			     (unsigned long)job->id, there, job->nterm);
	} else if (a->o.without_silent) {
		note(a,
		     "going on without job %lu, which needs the drain: %u of its %u ports have no "
		     "agent (%s)",
		     (unsigned long)job->id, job->nterm - there - unknown, job->nterm, absent);
	} else {
		ok = apply_fail(a, -EHOSTUNREACH,
				"job %lu sends to LIDs that need the drain, and %u of its %u ports "
				"have no agent (%s): start ibroute-top agent there, or go on "
				"without such jobs (--on-silent continue)",
				(unsigned long)job->id, job->nterm - there - unknown, job->nterm,
				absent);
	}
	return ok;
}

static const char *no_way(const struct apply *a)
{
	const char *why = a->o.no_agents;

	return why && *why ? why : "there is no way to ask agents from here";
}

static bool cannot_ask(struct apply *a, int rc, const char *why)
{
	const struct drain *d = &a->plan->drain;

	if (!d->nneeded) {
		note(a, "nobody is asked to drain (%.110s): packets may come out of order", why);
		return true;
	}
	return apply_fail(
		a, rc,
		"%u jobs send to %u LIDs that need the drain before the first write, and "
		"%s; --without-agents writes all the same, and their packets may get lost "
		"or stuck",
		d->nneeded, d->nlid, why);
}

static void name_without(struct apply *a)
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
		note(a, "going on without %u jobs that need the drain, nobody is asked: %s",
		     p->drain.nneeded, ids);
}

bool crowd_gather(struct apply *a)
{
	const struct drain *d = &a->plan->drain;
	struct err err = { "" };
	bool ok = true;
	int rc;

	if (!d->known)
		return true;
	if (drain_needed(d) && !d->jobs && !a->o.without_agents)
		return apply_fail(
			a, -ENODATA,
			"%u LIDs need the drain before the first write, and which jobs send "
			"there is not known: make the plan with --jobs, or write all the same "
			"with --without-agents",
			d->nlid);
	if (d->strangers)
		note(a,
		     "%u LIDs need the drain that no job has: what else sends there should pause",
		     d->strangers);
	if (a->o.without_agents)
		name_without(a);
	if (!d->njob || a->o.without_agents)
		return true;
	if (!d->escape)
		return cannot_ask(a, -EADDRNOTAVAIL,
				  "there are no escape LIDs to move to that the new tables leave "
				  "alone: install routes with --escape first (LMC 1 or more)");
	if (!a->o.agents)
		return cannot_ask(a, -ENOTCONN, no_way(a));
	rc = a->o.agents->ops->listen(a->o.agents->ctx, &a->progress, &err);
	if (rc)
		return cannot_ask(a, rc, err.text);
	for (uint32_t i = 0; i < d->njob && ok; i++)
		ok = take_job(a, &a->plan->jobs->jobs[d->job[i].job], d->job[i].needed);
	if (ok && a->crowd.nport)
		crowd_index(&a->crowd);
	return ok;
}

static void drain_on(struct apply *a, uint16_t epoch)
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

bool crowd_begin(struct apply *a)
{
	struct err err = { "" };
	int rc;

	if (!a->crowd.n)
		return true;
	rc = journal_put_agents(a->journal, a->crowd.port, a->crowd.nport, &err);
	if (rc)
		return apply_fail(a, rc, "%s", err.text);
	drain_on(a, 0);
	return true;
}

static bool all_there(struct apply *a, const struct job *job)
{
	const struct agent_link *l = a->crowd.link;
	struct agent_place *at = places_of(a, job);
	uint32_t there, unknown;
	const char *absent;
	int rc = l->ops->present(l->ctx, at, job->nterm, &a->progress, NULL);

	count_there(a, job, at, &there, &unknown, &absent);
	free(at);
	return !rc && there == job->nterm;
}

/* They may have been started with the job. */
static bool come_in_time(struct apply *a, const struct job *job, uint64_t patience)
{
	const struct agent_link *l = a->crowd.link;
	uint64_t until = l->ops->now_ns(l->ctx) + patience;
	bool there;

	if (!l->ops->present)
		return false;
	while (!(there = all_there(a, job)) && l->ops->now_ns(l->ctx) < until &&
	       !atomic_load(&a->progress.cancel)) {
		struct agent_answer ans;

		if (l->ops->recv(l->ctx, &ans, 10 * SLICE, NULL) == 1)
			take_answer(a, &ans);
	}
	return there;
}

/* Who was there before, as he was. */
static void keep_states(struct crowd *w, const struct txn_agent *port, const uint32_t *first,
			const struct coord_agent *state, uint32_t n)
{
	for (uint32_t i = 0, k = 0; i < w->n && k < n; i++)
		if (!strcmp(agent_name(w, i), port[first[k]].name))
			w->state[i] = state[k++];
}

bool crowd_has(const struct apply *a, const struct job *job)
{
	const struct crowd *w = &a->crowd;
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->nport; i++)
		for (uint32_t k = 0; w->port[i].job == job->id && k < job->nterm; k++)
			n += w->port[i].guid == a->fabric->term_guid[job->terms[k]];
	return n >= job->nterm;
}

/* Nobody was to be asked so far.  Not on the way back: the journal says that nobody was. */
static bool crowd_start(struct apply *a)
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
	drain_on(a, 0);
	return true;
}

/* A node whose jobs were over and that has this one now. */
static void call_again(struct crowd *w, uint64_t job)
{
	for (uint32_t i = 0; i < w->n; i++)
		for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++)
			if (w->port[k].job == job && w->state[i].state == COORD_GONE)
				w->state[i] = (struct coord_agent){ .state = COORD_IDLE };
}

bool crowd_join(struct apply *a, const struct job *job, bool wait)
{
	struct crowd *w = &a->crowd, was;
	struct err err = { "" };
	bool ok;

	if ((!w->n && !crowd_start(a)) || !come_in_time(a, job, wait ? JOIN : 0))
		return false;
	was = *w;
	w->port = xcalloc(was.nport, sizeof(*w->port));
	if (was.nport)
		memcpy(w->port, was.port, was.nport * sizeof(*w->port));
	add_job(a, job);
	ok = !journal_put_agents(a->journal, w->port, w->nport, &err);
	if (!ok) { /* those of before are in the journal */
		log_add(LOG_ERROR, "apply", "%s", err.text);
		free(w->port);
		w->port = was.port;
		w->nport = was.nport;
		return false;
	}
	crowd_index(w);
	keep_states(w, was.port, was.first, was.state, was.n);
	call_again(w, job->id);
	coordinator_join(&a->c, w->state, w->n);
	if (w->n > was.n)
		note(a, "job %lu (%.60s) began meanwhile: %u agents join, all are asked once more",
		     (unsigned long)job->id, job->nodes, w->n - was.n);
	else
		note(a,
		     "job %lu (%.60s) began meanwhile on nodes whose agents take part: all are "
		     "asked once more",
		     (unsigned long)job->id, job->nodes);
	crowd_free(&was);
	return true;
}

/* Nothing here keeps the old tables from coming back. */
void crowd_recover(struct apply *a)
{
	struct crowd *w = &a->crowd;
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
		rc = err_set(&err, -ENOTCONN, "%s", no_way(a));
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
	crowd_index(w);
	drain_on(a, (uint16_t)(journal_info(a->journal)->taken));
}

/* ---- what becomes of it ---- */

static uint64_t now_ns(const struct apply *a)
{
	return a->crowd.link->ops->now_ns(a->crowd.link->ctx);
}

static bool worth_naming(const struct coord_agent *g)
{
	return g->state == COORD_FAILED || g->state == COORD_SILENT;
}

static void name_some(char *buf, size_t size, const struct apply *a)
{
	const struct crowd *w = &a->crowd;
	size_t len = 0;

	buf[0] = '\0';
	/* who did not do it before who is only awaited */
	for (int pass = 0; pass < 2 && !len; pass++)
		for (uint32_t i = 0; i < w->n && len + 8 < size; i++) {
			const struct coord_agent *g = &w->state[i];
			size_t need = strlen(agent_name(w, i)) + 8;

			if (pass ? g->state != COORD_ASKED : !worth_naming(g))
				continue;
			if (len + need > size) {
				snprintf(buf + len, size - len, ", ...");
				return;
			}
			len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? ", " : "",
						agent_name(w, i));
		}
}

void crowd_status(struct apply *a)
{
	uint32_t n[COORD_GONE + 1] = { 0 };
	char who[sizeof(a->st.agents.who)];

	if (!a->crowd.n)
		return;
	for (uint32_t i = 0; i < a->crowd.n; i++)
		n[a->crowd.state[i].state]++;
	name_some(who, sizeof(who), a);
	pthread_mutex_lock(&a->lock);
	a->st.agents.asked = a->c.asked;
	a->st.agents.expected = a->crowd.n;
	if (a->c.sends)
		a->st.agents.resent = a->c.sends - 1;
	a->st.agents.waiting = n[COORD_ASKED];
	a->st.agents.done = n[COORD_DONE];
	a->st.agents.failed = n[COORD_FAILED];
	a->st.agents.silent = n[COORD_SILENT];
	a->st.agents.gone = n[COORD_GONE];
	memcpy(a->st.agents.who, who, sizeof(who));
	pthread_mutex_unlock(&a->lock);
}

static void tell(struct apply *a, uint32_t agent)
{
	static const char *const words[] = {
		[COORD_FAILED] = "could not",
		[COORD_SILENT] = "did not answer in time",
		[COORD_GONE] = "its jobs are over",
	};
	const struct coord_agent *g = &a->crowd.state[agent];
	struct apply_event ev = { .kind = APPLY_ANSWER, .asked = a->c.asked, .items = 1 };

	if (g->state < COORD_FAILED || a->crowd.told[agent])
		return;
	a->crowd.told[agent] = true;
	ev.rc = g->state == COORD_FAILED ? -EREMOTEIO : g->state == COORD_SILENT ? -ETIMEDOUT : 0;
	snprintf(ev.text, sizeof(ev.text), "%.70s (job %lu) %s: %s", agent_name(&a->crowd, agent),
		 (unsigned long)a->crowd.port[a->crowd.first[agent]].job, words[g->state],
		 a->c.asked == PHASE_UNPATH ? "drain" : "return");
	apply_emit(a, &ev);
}

static void settled(struct apply *a, enum phase phase, enum phase asked)
{
	struct apply_event ev = { .kind = APPLY_SETTLED, .asked = asked };
	double took_s = (double)(now_ns(a) - a->crowd.ask_ns) / 1e9;

	for (uint32_t i = 0; i < a->crowd.n; i++)
		tell(a, i);
	crowd_status(a);
	ev.items = a->st.agents.done;
	ev.rc = ev.items + a->st.agents.gone < a->crowd.n ? -ETIMEDOUT : 0;
	snprintf(ev.text, sizeof(ev.text),
		 "%s%u of %u agents %s in %.2f s; %u failed, %u silent%s%.90s",
		 a->st.agents.waiting ? "called off: " : "", ev.items, a->crowd.n,
		 asked == PHASE_UNPATH ? "are on their escape LIDs" : "have returned", took_s,
		 a->st.agents.failed, a->st.agents.silent, a->st.agents.who[0] ? ": " : "",
		 a->st.agents.who);
	apply_emit(a, &ev);
	if (phase != PHASE_ROLLBACK) {
		ev.kind = APPLY_PHASE_END;
		ev.phase = phase;
		if (a->o.event) {
			ev.txn = a->txn;
			a->o.event(a->o.ctx, &ev);
		}
	}
	if (a->c.why == WHY_SILENT)
		apply_fail(a, -ETIMEDOUT,
			   "agents did not drain in time, and %s without them: %s "
			   "(--on-silent continue goes on without their jobs)",
			   a->c.touched ? "the new routes do not stay" : "nothing is written",
			   a->st.agents.who);
}

/* ---- the question ---- */

/* The SM may have been restarted: listen anew; or be another one. */
static void look_for_sm(struct apply *a)
{
	bool back = a->c.phase == PHASE_ROLLBACK || a->c.cancelled;
	struct err err = { "" };
	int rc = a->crowd.link->ops->listen(a->crowd.link->ctx, back ? NULL : &a->progress, &err);

	if (rc == -ESTALE) {
		apply_fail(a, rc, "%s", err.text);
		coordinator_step(&a->c, EV_SM);
	}
	if (rc && rc != -ESTALE && !a->crowd.deaf)
		log_add(LOG_WARN, "apply", "agents cannot be asked now: %s", err.text);
	a->crowd.deaf = rc && rc != -ESTALE;
	a->crowd.listen_ns = now_ns(a) + LISTEN;
}

bool crowd_notify(struct apply *a)
{
	struct crowd *w = &a->crowd;
	uint64_t now = now_ns(a);
	struct phase_notice n;
	struct err err = { "" };
	int rc;

	if (a->c.sends == 1) {
		struct apply_event ev = { .kind = APPLY_ASK,
					  .asked = a->c.asked,
					  .items = a->c.pending };
		uint32_t ms = a->o.answer_ms ? a->o.answer_ms : ANSWER_MS;

		w->ask_ns = now;
		w->until_ns = now + ms * MS;
		w->pause_ns = RESEND;
		w->listen_ns = now + LISTEN;
		w->jobs_ns = now;
		w->deaf = false;
		memset(w->told, 0, w->n * sizeof(*w->told));
		if (a->c.asked == PHASE_UNPATH)
			w->hold_ns = now + a->c.drain.hold_s * SECOND;
		else
			w->hold_ns = 0;
		apply_emit(a, &ev);
	}
	if (a->c.sends == 1 && a->c.why == WHY_SM)
		look_for_sm(a); /* through the new one */
	coordinator_notice(&a->c, &n);
	rc = w->link->ops->send(w->link->ctx, &n, &err);
	if (rc)
		log_add(LOG_WARN, "apply", "a notice to agents was not sent: %s", err.text);
	w->resend_ns = now_ns(a) + w->pause_ns;
	w->pause_ns = 2 * w->pause_ns < RESEND_MAX ? 2 * w->pause_ns : RESEND_MAX;
	crowd_status(a);
	return !rc;
}

static void take_answer(struct apply *a, const struct agent_answer *ans)
{
	uint32_t agent = agent_of(&a->crowd, ans);
	struct phase_notice n;
	struct err err;

	if (ans->notice.flags & NOTICE_ASK) {
		if (!coordinator_answer(&n, &a->c, &ans->notice))
			return;
		if (n.phase == PHASE_UNPATH)
			a->crowd.greets = true;
		else
			a->crowd.link->ops->send(a->crowd.link->ctx, &n, &err);
		return;
	}
	if (agent == FAB_NONE)
		return;
	coordinator_ack(&a->c, agent, &ans->notice);
	if (a->crowd.state[agent].state == COORD_FAILED)
		tell(a, agent);
}

static void look_for_ended(struct apply *a)
{
	struct crowd *w = &a->crowd;
	uint64_t *id = xcalloc(w->nport, sizeof(*id));
	bool *over = xcalloc(w->nport, sizeof(*over));

	for (uint32_t i = 0; i < w->nport; i++)
		id[i] = w->port[i].job;
	a->o.ended(a->o.ctx, id, over, w->nport);
	for (uint32_t g = 0; g < w->n; g++) {
		bool all = true;

		for (uint32_t i = w->first[g]; i < w->first[g + 1]; i++)
			all = all && over[i];
		if (!all || w->state[g].state == COORD_GONE)
			continue;
		w->told[g] = false;
		coordinator_gone(&a->c, g);
		tell(a, g);
	}
	free(id);
	free(over);
}

static void due(struct apply *a)
{
	struct crowd *w = &a->crowd;
	uint64_t now = now_ns(a);

	if (w->hold_ns && now >= w->hold_ns) {
		w->hold_ns = 0;
		coordinator_step(&a->c, EV_HOLD_OVER);
	}
	if (a->c.action !=
	    ACT_AWAIT) /* the link looks at the SM itself, and over which it speaks */
		return;
	if (a->o.ended && now >= w->jobs_ns) {
		w->jobs_ns = now + JOBS;
		look_for_ended(a);
	}
	if (a->c.action == ACT_AWAIT && now >= w->listen_ns)
		look_for_sm(a);
	/* without an SM nobody hears that he is called back: he waits as well, but not for ever */
	if (w->deaf && a->c.asked == PHASE_REPATH && now < w->ask_ns + a->c.drain.hold_s * SECOND)
		w->until_ns = now + (a->o.answer_ms ? a->o.answer_ms : ANSWER_MS) * MS;
	if (a->c.action == ACT_AWAIT && now >= w->until_ns)
		coordinator_step(&a->c, EV_DEADLINE);
	else if (a->c.action == ACT_AWAIT && now >= w->resend_ns)
		coordinator_step(&a->c, EV_RESEND);
}

/* Agents that have just begun are told what all were asked: a thousand that begin together by a few
 * notices, not by one each that a thousand hear. */
static void greet(struct apply *a)
{
	struct crowd *w = &a->crowd;
	struct phase_notice n;
	struct err err;

	if (!w->greets || now_ns(a) < w->greeted_ns + GREET)
		return;
	w->greets = false;
	if (a->c.asked != PHASE_UNPATH)
		return;
	w->greeted_ns = now_ns(a);
	coordinator_notice(&a->c, &n);
	if (w->link->ops->send(w->link->ctx, &n, &err))
		log_add(LOG_WARN, "apply", "a notice to agents was not sent: %s", err.text);
}

void crowd_listen(struct apply *a)
{
	const struct agent_link *l = a->crowd.link;
	struct agent_answer ans;
	struct err err;

	if (!a->crowd.n || !l)
		return;
	while (l->ops->recv(l->ctx, &ans, 0, &err) == 1)
		take_answer(a, &ans);
	greet(a);
}

void crowd_hear(struct apply *a)
{
	if (!a->crowd.n || !a->crowd.link)
		return;
	crowd_listen(a);
	due(a);
}

static void cancelled(struct apply *a)
{
	if (!atomic_load(&a->progress.cancel) || a->c.cancelled)
		return;
	apply_fail(a, -ECANCELED, "cancelled by the operator");
	coordinator_step(&a->c, EV_CANCEL);
}

enum coord_action crowd_await(struct apply *a)
{
	const struct agent_link *l = a->crowd.link;
	enum phase phase = a->c.phase, asked = a->c.asked;
	uint64_t shown = now_ns(a);
	struct agent_answer ans;
	struct err err = { "" };

	while (a->c.action == ACT_AWAIT) {
		int rc = l->ops->recv(l->ctx, &ans, SLICE, &err);

		if (rc == 1)
			take_answer(a, &ans);
		if (rc < 0) /* as good as silent; resends and the deadline go on */
			log_add(LOG_WARN, "apply", "answers of agents: %s", err.text);
		cancelled(a);
		greet(a);
		due(a);
		if (now_ns(a) - shown >= 2 * SLICE) {
			shown = now_ns(a);
			crowd_status(a);
		}
	}
	if (a->c.action != ACT_NOTIFY || a->c.asked != asked || a->c.sends == 1)
		settled(a, phase, asked);
	return a->c.action;
}
