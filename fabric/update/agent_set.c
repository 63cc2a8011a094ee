/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/agent_set.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/log.h"
#include "fabric/update/transaction.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIDS	   0x10000u
#define MS	   1000000ull
#define SECOND	   (1000 * MS)
#define SLICE	   (20 * MS) /* longest time without a look at cancel */
#define RESEND	   (100 * MS)
#define RESEND_MAX (2 * SECOND)
#define LISTEN	   (2 * SECOND)
#define ANSWER_NEW (50 * MS) /* between answers to agents that begin: all hear each */
#define JOBS	   (500 * MS)
#define DAY_S	   86400 /* transactions are numbered by Unix time */

/* ---- who they are ---- */

void agent_set_free(struct agent_set *w)
{
	free(w->port);
	free(w->first);
	free(w->by_lid);
	free(w->state);
	free(w->reported);
	*w = (struct agent_set){ 0 };
}

static int agent_set_by_guid(const void *a, const void *b)
{
	const struct txn_agent *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return (x->job > y->job) - (x->job < y->job);
}

void agent_set_index(struct agent_set *w)
{
	if (w->nport)
		qsort(w->port, w->nport, sizeof(*w->port), agent_set_by_guid);
	w->first = xcalloc((size_t)w->nport + 1, sizeof(*w->first));
	w->by_lid = xcalloc(LIDS, sizeof(*w->by_lid));
	memset(w->by_lid, 0xff, LIDS * sizeof(*w->by_lid));
	w->n = 0;
	for (uint32_t i = 0; i < w->nport; i++) {
		if (!i || w->port[i].guid != w->port[i - 1].guid)
			w->first[w->n++] = i;
		for (uint32_t k = 0; k < w->port[i].nlids; k++)
			w->by_lid[(w->port[i].lid + k) % LIDS] = w->n - 1;
	}
	w->first[w->n] = w->nport;
	w->state = xcalloc(w->n, sizeof(*w->state));
	w->reported = xcalloc(w->n, sizeof(*w->reported));
}

static uint32_t agent_set_find(const struct agent_set *w, const struct agent_answer *ans)
{
	uint32_t a = 0, b = w->n;

	if (!ans->guid)
		return w->by_lid ? w->by_lid[ans->lid] : FAB_NONE;
	while (a < b) {
		uint32_t m = a + (b - a) / 2;

		if (agent_set_guid(w, m) < ans->guid)
			a = m + 1;
		else
			b = m;
	}
	if (a == w->n || agent_set_guid(w, a) != ans->guid)
		return FAB_NONE;
	/* the LID is as the sender tells it: one of another port is none of this agent's answers */
	return !ans->lid || w->by_lid[ans->lid] == a ? a : FAB_NONE;
}

uint64_t agent_set_guid(const struct agent_set *w, uint32_t agent)
{
	return w->port[w->first[agent]].guid;
}

const char *agent_set_name(const struct agent_set *w, uint32_t agent)
{
	return w->port[w->first[agent]].name;
}

/* ---- what has become of them ---- */

static uint64_t agent_set_now_ns(const struct transaction *t)
{
	return t->agents.link->ops->now_ns(t->agents.link->ctx);
}

static bool agent_set_worth_naming(const struct coord_agent *g)
{
	return g->state == COORD_FAILED || g->state == COORD_SILENT;
}

static void agent_set_name_some(char *buf, size_t size, const struct transaction *t)
{
	const struct agent_set *w = &t->agents;
	size_t len = 0;

	buf[0] = '\0';
	/* who did not do it before who is only awaited */
	for (int pass = 0; pass < 2 && !len; pass++)
		for (uint32_t i = 0; i < w->n && len + 8 < size; i++) {
			const struct coord_agent *g = &w->state[i];
			size_t need = strlen(agent_set_name(w, i)) + 8;

			if (pass ? g->state != COORD_ASKED : !agent_set_worth_naming(g))
				continue;
			if (len + need > size) {
				snprintf(buf + len, size - len, ", ...");
				return;
			}
			len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? ", " : "",
						agent_set_name(w, i));
		}
}

void agent_set_status(struct transaction *t)
{
	uint32_t n[COORD_GONE + 1] = { 0 };
	char who[sizeof(t->st.agents.who)];

	if (!t->agents.n)
		return;
	for (uint32_t i = 0; i < t->agents.n; i++)
		n[t->agents.state[i].state]++;
	agent_set_name_some(who, sizeof(who), t);
	pthread_mutex_lock(&t->lock);
	t->st.agents.asked = t->c.asked;
	t->st.agents.expected = t->agents.n;
	if (t->c.sends)
		t->st.agents.resent = t->c.sends - 1;
	t->st.agents.waiting = n[COORD_ASKED];
	t->st.agents.done = n[COORD_DONE];
	t->st.agents.failed = n[COORD_FAILED];
	t->st.agents.silent = n[COORD_SILENT];
	t->st.agents.gone = n[COORD_GONE];
	memcpy(t->st.agents.who, who, sizeof(who));
	pthread_mutex_unlock(&t->lock);
}

static const char *agent_set_words(const struct coord_agent *g)
{
	if (g->state == COORD_GONE)
		return "its jobs have ended";
	if (g->state == COORD_SILENT)
		return "did not respond in time";
	if (g->flags & NOTICE_LATER)
		return "refuses: it has seen a later transaction";
	if (g->flags & NOTICE_BOUNDS)
		return "refuses: a number of the update is out of bounds there; do the clocks of "
		       "both machines agree?";
	return "could not";
}

static void agent_set_report(struct transaction *t, uint32_t agent)
{
	const struct coord_agent *g = &t->agents.state[agent];
	struct executor_event ev = { .kind = APPLY_ANSWER, .asked = t->c.asked, .items = 1 };

	if (g->state < COORD_FAILED || t->agents.reported[agent])
		return;
	t->agents.reported[agent] = true;
	ev.rc = g->state == COORD_FAILED ? -EREMOTEIO : g->state == COORD_SILENT ? -ETIMEDOUT : 0;
	snprintf(ev.text, sizeof(ev.text), "%.70s (job %lu) %s: %s",
		 agent_set_name(&t->agents, agent),
		 (unsigned long)t->agents.port[t->agents.first[agent]].job, agent_set_words(g),
		 t->c.asked == PHASE_UNPATH ? "drain" : "return");
	transaction_emit(t, &ev);
}

/* The first one that refuses, or NULL. */
static const char *agent_set_refuser(const struct transaction *t, uint16_t *why)
{
	for (uint32_t i = 0; i < t->agents.n; i++) {
		const struct coord_agent *g = &t->agents.state[i];

		*why = g->flags & NOTICE_REFUSALS;
		if (g->state == COORD_FAILED && *why)
			return agent_set_name(&t->agents, i);
	}
	return NULL;
}

/* Why the update ends, and what to do about it. */
static void agent_set_not_drained(struct transaction *t)
{
	const char *without = t->c.touched ? "the new routing is not kept" : "nothing is written";
	uint16_t why;
	const char *who = agent_set_refuser(t, &why);

	if (who && why & NOTICE_LATER)
		transaction_fail(t, -ETIMEDOUT,
				 "%.70s refuses to drain: it has seen a later transaction, and %s; "
				 "if that was none of this site's updates, on that node: "
				 "ibroute-top agent --forget-transaction",
				 who, without);
	else if (who)
		transaction_fail(t, -ETIMEDOUT,
				 "%.70s refuses to drain: a number of the update is out of bounds "
				 "there, and %s; do the clocks of both machines agree?",
				 who, without);
	else
		transaction_fail(t, -ETIMEDOUT,
				 "agents did not drain in time, and %s without them: %s "
				 "(--on-silent continue proceeds without their jobs)",
				 without, t->st.agents.who);
}

static void agent_set_settled(struct transaction *t, enum phase phase, enum phase asked)
{
	struct executor_event ev = { .kind = APPLY_SETTLED, .asked = asked };
	double took_s = (double)(agent_set_now_ns(t) - t->agents.ask_ns) / 1e9;

	for (uint32_t i = 0; i < t->agents.n; i++)
		agent_set_report(t, i);
	agent_set_status(t);
	ev.items = t->st.agents.done;
	ev.rc = ev.items + t->st.agents.gone < t->agents.n ? -ETIMEDOUT : 0;
	snprintf(ev.text, sizeof(ev.text),
		 "%s%u of %u agents %s in %.2f s; %u failed, %u did not respond%s%.90s",
		 t->st.agents.waiting ? "called off: " : "", ev.items, t->agents.n,
		 asked == PHASE_UNPATH ? "are on their escape LIDs" : "have returned", took_s,
		 t->st.agents.failed, t->st.agents.silent, t->st.agents.who[0] ? ": " : "",
		 t->st.agents.who);
	transaction_emit(t, &ev);
	if (phase != PHASE_ROLLBACK) {
		ev.kind = APPLY_PHASE_END;
		ev.phase = phase;
		if (t->o.event) {
			ev.txn = t->txn;
			t->o.event(t->o.driver, &ev);
		}
	}
	if (t->c.why == WHY_SILENT)
		agent_set_not_drained(t);
}

static bool agent_set_is_back(const struct transaction *t, const struct coord_agent *g)
{
	if (g->state == COORD_GONE)
		return true;
	return t->c.asked == PHASE_REPATH && g->state == COORD_DONE;
}

void agent_set_note_away(struct transaction *t)
{
	const struct agent_set *w = &t->agents;
	struct txn_agent *away = xcalloc(w->nport, sizeof(*away));
	struct err err = { "" };
	uint32_t n = 0;

	for (uint32_t g = 0; g < w->n && t->c.asked; g++)
		for (uint32_t i = w->first[g]; i < w->first[g + 1]; i++)
			if (!agent_set_is_back(t, &w->state[g]))
				away[n++] = w->port[i];
	if (n && t->journal && journal_put_away(t->journal, away, n, &err))
		log_add(LOG_WARN, "apply", "%s", err.text);
	free(away);
}

/* ---- the question ---- */

/* The SM may have been restarted: listen again; or be another one. */
static void agent_set_look_for_sm(struct transaction *t)
{
	bool back = t->c.phase == PHASE_ROLLBACK || t->c.cancelled;
	struct err err = { "" };
	int rc = t->agents.link->ops->listen(t->agents.link->ctx, back ? NULL : &t->progress, &err);

	if (rc == -ESTALE) {
		transaction_fail(t, rc, "%s", err.text);
		coordinator_step(&t->c, EV_SM);
	}
	if (rc && rc != -ESTALE && !t->agents.no_sm)
		log_add(LOG_WARN, "apply", "agents cannot be reached now: %s", err.text);
	t->agents.no_sm = rc && rc != -ESTALE;
	t->agents.listen_ns = agent_set_now_ns(t) + LISTEN;
}

/* The last question before the first write is a part of the one before, to people. */
static bool agent_set_asks_again(const struct transaction *t)
{
	return t->c.rechecked && t->c.asked == PHASE_UNPATH;
}

static void agent_set_first_notice(struct transaction *t)
{
	struct executor_event ev = { .kind = APPLY_ASK,
				     .asked = t->c.asked,
				     .items = t->c.pending };
	uint32_t ms = t->o.answer_ms ? t->o.answer_ms : APPLY_ANSWER_MS;
	struct agent_set *w = &t->agents;
	uint64_t now = agent_set_now_ns(t);

	w->until_ns = now + ms * MS;
	w->pause_ns = RESEND;
	w->listen_ns = now + LISTEN;
	w->jobs_ns = now;
	w->no_sm = false;
	w->hold_ns = t->c.asked == PHASE_UNPATH ? now + t->c.drain.hold_s * SECOND : 0;
	if (agent_set_asks_again(t))
		return;
	w->ask_ns = now;
	memset(w->reported, 0, w->n * sizeof(*w->reported));
	transaction_emit(t, &ev);
}

bool agent_set_notify(struct transaction *t)
{
	struct agent_set *w = &t->agents;
	struct phase_notice n;
	struct err err = { "" };
	int rc;

	if (t->c.sends == 1)
		agent_set_first_notice(t);
	if (t->c.sends == 1 && t->c.why == WHY_SM)
		agent_set_look_for_sm(t); /* through the new one */
	coordinator_notice(&t->c, &n);
	rc = w->link->ops->send(w->link->ctx, &n, &err);
	if (rc)
		log_add(LOG_WARN, "apply", "a notice to agents was not sent: %s", err.text);
	w->resend_ns = agent_set_now_ns(t) + w->pause_ns;
	w->pause_ns = 2 * w->pause_ns < RESEND_MAX ? 2 * w->pause_ns : RESEND_MAX;
	agent_set_status(t);
	return !rc;
}

/* Said once, and the coordinator has stopped by itself. */
static void agent_set_dispute(struct transaction *t)
{
	static const char *const words[] = {
		[DISPUTE_UNASKED] = "has answered a question that was not asked",
		[DISPUTE_RETURN] = "was told to return while it should be drained",
		[DISPUTE_TWO] = "has given two different answers",
		[DISPUTE_LATER] = "takes part in a later transaction",
	};
	struct executor_event ev = { .kind = APPLY_ANSWER, .asked = t->c.asked, .items = 1 };

	if (!t->c.dispute || t->agents.disputed)
		return;
	t->agents.disputed = true;
	ev.rc = -EREMOTEIO;
	snprintf(ev.text, sizeof(ev.text),
		 "%.70s (job %lu) %s: somebody else speaks to the agents, or for it",
		 agent_set_name(&t->agents, t->c.disputed),
		 (unsigned long)t->agents.port[t->agents.first[t->c.disputed]].job,
		 words[t->c.dispute]);
	transaction_emit(t, &ev);
	atomic_store(&t->progress.cancel, true); /* a write that is under way */
	transaction_fail(t, ev.rc, "%s; %s", ev.text,
			 t->c.touched ? "what was written is undone" : "nothing is written");
}

void agent_set_take_answer(struct transaction *t, const struct agent_answer *ans)
{
	uint32_t agent = agent_set_find(&t->agents, ans);
	struct phase_notice n;
	struct err err;

	if (!phase_notice_in_bounds(&ans->notice))
		return;
	if (agent != FAB_NONE)
		coordinator_doubt(&t->c, agent, &ans->notice);
	agent_set_dispute(t);
	if (ans->notice.flags & NOTICE_ASK) {
		/* with a number above his: not for him to choose */
		if (ans->notice.txn > t->c.drain.txn + DAY_S)
			return;
		if (!coordinator_answer(&n, &t->c, &ans->notice))
			return;
		if (n.phase == PHASE_UNPATH)
			t->agents.must_answer = true;
		else
			t->agents.link->ops->send(t->agents.link->ctx, &n, &err);
		return;
	}
	if (agent == FAB_NONE)
		return;
	coordinator_ack(&t->c, agent, &ans->notice);
	if (t->agents.state[agent].state == COORD_FAILED)
		agent_set_report(t, agent);
}

static void agent_set_look_for_ended(struct transaction *t)
{
	struct agent_set *w = &t->agents;
	uint64_t *id = xcalloc(w->nport, sizeof(*id));
	bool *over = xcalloc(w->nport, sizeof(*over));

	for (uint32_t i = 0; i < w->nport; i++)
		id[i] = w->port[i].job;
	t->o.ended(t->o.ctx, id, over, w->nport);
	for (uint32_t g = 0; g < w->n; g++) {
		bool all = true;

		for (uint32_t i = w->first[g]; i < w->first[g + 1]; i++)
			all = all && over[i];
		if (!all || w->state[g].state == COORD_GONE)
			continue;
		w->reported[g] = false;
		coordinator_gone(&t->c, g);
		agent_set_report(t, g);
	}
	free(id);
	free(over);
}

static void agent_set_due(struct transaction *t)
{
	struct agent_set *w = &t->agents;
	uint64_t now = agent_set_now_ns(t);

	if (w->hold_ns && now >= w->hold_ns) {
		w->hold_ns = 0;
		coordinator_step(&t->c, EV_HOLD_OVER);
	}
	if (t->c.action !=
	    ACT_AWAIT) /* the link looks at the SM itself, and over which it speaks */
		return;
	if (t->o.ended && now >= w->jobs_ns) {
		w->jobs_ns = now + JOBS;
		agent_set_look_for_ended(t);
	}
	if (t->c.action == ACT_AWAIT && now >= w->listen_ns)
		agent_set_look_for_sm(t);
	/* without an SM nobody hears that he is called back: he waits as well, but not for ever */
	if (w->no_sm && t->c.asked == PHASE_REPATH && now < w->ask_ns + t->c.drain.hold_s * SECOND)
		w->until_ns = now + (t->o.answer_ms ? t->o.answer_ms : APPLY_ANSWER_MS) * MS;
	if (t->c.action == ACT_AWAIT && now >= w->until_ns)
		coordinator_step(&t->c, EV_DEADLINE);
	else if (t->c.action == ACT_AWAIT && now >= w->resend_ns)
		coordinator_step(&t->c, EV_RESEND);
}

/* Agents that have just started are sent the current request: to a thousand that start together
 * a few notices, and not one each that all of them receive. */
static void agent_set_answer_new(struct transaction *t)
{
	struct agent_set *w = &t->agents;
	struct phase_notice n;
	struct err err;

	if (!w->must_answer || agent_set_now_ns(t) < w->answered_ns + ANSWER_NEW)
		return;
	w->must_answer = false;
	if (t->c.asked != PHASE_UNPATH)
		return;
	w->answered_ns = agent_set_now_ns(t);
	coordinator_notice(&t->c, &n);
	if (w->link->ops->send(w->link->ctx, &n, &err))
		log_add(LOG_WARN, "apply", "a notice to agents was not sent: %s", err.text);
}

void agent_set_listen(struct transaction *t)
{
	const struct agent_link *l = t->agents.link;
	struct agent_answer ans;
	struct err err;

	if (!t->agents.n || !l)
		return;
	while (l->ops->recv(l->ctx, &ans, 0, &err) == 1)
		agent_set_take_answer(t, &ans);
	agent_set_answer_new(t);
}

void agent_set_hear(struct transaction *t)
{
	if (!t->agents.n || !t->agents.link)
		return;
	agent_set_listen(t);
	agent_set_due(t);
}

static void agent_set_cancelled(struct transaction *t)
{
	if (!atomic_load(&t->progress.cancel) || t->c.cancelled)
		return;
	transaction_fail(t, -ECANCELED, "cancelled by the operator");
	coordinator_step(&t->c, EV_CANCEL);
}

enum coord_action agent_set_await(struct transaction *t)
{
	const struct agent_link *l = t->agents.link;
	enum phase phase = t->c.phase, asked = t->c.asked;
	bool again = agent_set_asks_again(t);
	uint64_t shown = agent_set_now_ns(t);
	struct agent_answer ans;
	struct err err = { "" };

	while (t->c.action == ACT_AWAIT) {
		int rc = l->ops->recv(l->ctx, &ans, SLICE, &err);

		if (rc == 1)
			agent_set_take_answer(t, &ans);
		if (rc < 0) /* as good as silent; resends and the deadline go on */
			log_add(LOG_WARN, "apply", "answers of agents: %s", err.text);
		agent_set_cancelled(t);
		transaction_grant(t, GRANT_ALIVE, 0, &err);
		agent_set_answer_new(t);
		agent_set_due(t);
		if (agent_set_now_ns(t) - shown >= 2 * SLICE) {
			shown = agent_set_now_ns(t);
			agent_set_status(t);
		}
	}
	if (t->c.action == ACT_NOTIFY && !again && agent_set_asks_again(t))
		return t->c.action;
	if (t->c.action != ACT_NOTIFY || t->c.asked != asked || t->c.sends == 1)
		agent_set_settled(t, phase, asked);
	return t->c.action;
}
