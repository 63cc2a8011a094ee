/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the agents of an update are asked, and what they say. */
#include "fabric/update/executor_priv.h"

#include "fabric/base/log.h"
#include "fabric/base/mem.h"

#include <errno.h>
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

static uint64_t agent_set_now_ns(const struct executor *a)
{
	return a->crowd.link->ops->now_ns(a->crowd.link->ctx);
}

static bool agent_set_worth_naming(const struct coord_agent *g)
{
	return g->state == COORD_FAILED || g->state == COORD_SILENT;
}

static void agent_set_name_some(char *buf, size_t size, const struct executor *a)
{
	const struct agent_set *w = &a->crowd;
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

void agent_set_status(struct executor *a)
{
	uint32_t n[COORD_GONE + 1] = { 0 };
	char who[sizeof(a->st.agents.who)];

	if (!a->crowd.n)
		return;
	for (uint32_t i = 0; i < a->crowd.n; i++)
		n[a->crowd.state[i].state]++;
	agent_set_name_some(who, sizeof(who), a);
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

static void agent_set_tell(struct executor *a, uint32_t agent)
{
	static const char *const words[] = {
		[COORD_FAILED] = "could not",
		[COORD_SILENT] = "did not answer in time",
		[COORD_GONE] = "its jobs are over",
	};
	const struct coord_agent *g = &a->crowd.state[agent];
	struct executor_event ev = { .kind = APPLY_ANSWER, .asked = a->c.asked, .items = 1 };

	if (g->state < COORD_FAILED || a->crowd.told[agent])
		return;
	a->crowd.told[agent] = true;
	ev.rc = g->state == COORD_FAILED ? -EREMOTEIO : g->state == COORD_SILENT ? -ETIMEDOUT : 0;
	snprintf(ev.text, sizeof(ev.text), "%.70s (job %lu) %s: %s",
		 agent_set_name(&a->crowd, agent),
		 (unsigned long)a->crowd.port[a->crowd.first[agent]].job, words[g->state],
		 a->c.asked == PHASE_UNPATH ? "drain" : "return");
	executor_emit(a, &ev);
}

static void agent_set_settled(struct executor *a, enum phase phase, enum phase asked)
{
	struct executor_event ev = { .kind = APPLY_SETTLED, .asked = asked };
	double took_s = (double)(agent_set_now_ns(a) - a->crowd.ask_ns) / 1e9;

	for (uint32_t i = 0; i < a->crowd.n; i++)
		agent_set_tell(a, i);
	agent_set_status(a);
	ev.items = a->st.agents.done;
	ev.rc = ev.items + a->st.agents.gone < a->crowd.n ? -ETIMEDOUT : 0;
	snprintf(ev.text, sizeof(ev.text),
		 "%s%u of %u agents %s in %.2f s; %u failed, %u silent%s%.90s",
		 a->st.agents.waiting ? "called off: " : "", ev.items, a->crowd.n,
		 asked == PHASE_UNPATH ? "are on their escape LIDs" : "have returned", took_s,
		 a->st.agents.failed, a->st.agents.silent, a->st.agents.who[0] ? ": " : "",
		 a->st.agents.who);
	executor_emit(a, &ev);
	if (phase != PHASE_ROLLBACK) {
		ev.kind = APPLY_PHASE_END;
		ev.phase = phase;
		if (a->o.event) {
			ev.txn = a->txn;
			a->o.event(a->o.ctx, &ev);
		}
	}
	if (a->c.why == WHY_SILENT)
		executor_fail(a, -ETIMEDOUT,
			      "agents did not drain in time, and %s without them: %s "
			      "(--on-silent continue goes on without their jobs)",
			      a->c.touched ? "the new routes do not stay" : "nothing is written",
			      a->st.agents.who);
}

/* ---- the question ---- */

/* The SM may have been restarted: listen anew; or be another one. */
static void agent_set_look_for_sm(struct executor *a)
{
	bool back = a->c.phase == PHASE_ROLLBACK || a->c.cancelled;
	struct err err = { "" };
	int rc = a->crowd.link->ops->listen(a->crowd.link->ctx, back ? NULL : &a->progress, &err);

	if (rc == -ESTALE) {
		executor_fail(a, rc, "%s", err.text);
		coordinator_step(&a->c, EV_SM);
	}
	if (rc && rc != -ESTALE && !a->crowd.deaf)
		log_add(LOG_WARN, "apply", "agents cannot be asked now: %s", err.text);
	a->crowd.deaf = rc && rc != -ESTALE;
	a->crowd.listen_ns = agent_set_now_ns(a) + LISTEN;
}

bool agent_set_notify(struct executor *a)
{
	struct agent_set *w = &a->crowd;
	uint64_t now = agent_set_now_ns(a);
	struct phase_notice n;
	struct err err = { "" };
	int rc;

	if (a->c.sends == 1) {
		struct executor_event ev = { .kind = APPLY_ASK,
					     .asked = a->c.asked,
					     .items = a->c.pending };
		uint32_t ms = a->o.answer_ms ? a->o.answer_ms : APPLY_ANSWER_MS;

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
		executor_emit(a, &ev);
	}
	if (a->c.sends == 1 && a->c.why == WHY_SM)
		agent_set_look_for_sm(a); /* through the new one */
	coordinator_notice(&a->c, &n);
	rc = w->link->ops->send(w->link->ctx, &n, &err);
	if (rc)
		log_add(LOG_WARN, "apply", "a notice to agents was not sent: %s", err.text);
	w->resend_ns = agent_set_now_ns(a) + w->pause_ns;
	w->pause_ns = 2 * w->pause_ns < RESEND_MAX ? 2 * w->pause_ns : RESEND_MAX;
	agent_set_status(a);
	return !rc;
}

void agent_set_take_answer(struct executor *a, const struct agent_answer *ans)
{
	uint32_t agent = agent_set_find(&a->crowd, ans);
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
		agent_set_tell(a, agent);
}

static void agent_set_look_for_ended(struct executor *a)
{
	struct agent_set *w = &a->crowd;
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
		agent_set_tell(a, g);
	}
	free(id);
	free(over);
}

static void agent_set_due(struct executor *a)
{
	struct agent_set *w = &a->crowd;
	uint64_t now = agent_set_now_ns(a);

	if (w->hold_ns && now >= w->hold_ns) {
		w->hold_ns = 0;
		coordinator_step(&a->c, EV_HOLD_OVER);
	}
	if (a->c.action !=
	    ACT_AWAIT) /* the link looks at the SM itself, and over which it speaks */
		return;
	if (a->o.ended && now >= w->jobs_ns) {
		w->jobs_ns = now + JOBS;
		agent_set_look_for_ended(a);
	}
	if (a->c.action == ACT_AWAIT && now >= w->listen_ns)
		agent_set_look_for_sm(a);
	/* without an SM nobody hears that he is called back: he waits as well, but not for ever */
	if (w->deaf && a->c.asked == PHASE_REPATH && now < w->ask_ns + a->c.drain.hold_s * SECOND)
		w->until_ns = now + (a->o.answer_ms ? a->o.answer_ms : APPLY_ANSWER_MS) * MS;
	if (a->c.action == ACT_AWAIT && now >= w->until_ns)
		coordinator_step(&a->c, EV_DEADLINE);
	else if (a->c.action == ACT_AWAIT && now >= w->resend_ns)
		coordinator_step(&a->c, EV_RESEND);
}

/* Agents that have just begun are told what all were asked: a thousand that begin together by a few
 * notices, not by one each that a thousand hear. */
static void agent_set_greet(struct executor *a)
{
	struct agent_set *w = &a->crowd;
	struct phase_notice n;
	struct err err;

	if (!w->greets || agent_set_now_ns(a) < w->greeted_ns + GREET)
		return;
	w->greets = false;
	if (a->c.asked != PHASE_UNPATH)
		return;
	w->greeted_ns = agent_set_now_ns(a);
	coordinator_notice(&a->c, &n);
	if (w->link->ops->send(w->link->ctx, &n, &err))
		log_add(LOG_WARN, "apply", "a notice to agents was not sent: %s", err.text);
}

void agent_set_listen(struct executor *a)
{
	const struct agent_link *l = a->crowd.link;
	struct agent_answer ans;
	struct err err;

	if (!a->crowd.n || !l)
		return;
	while (l->ops->recv(l->ctx, &ans, 0, &err) == 1)
		agent_set_take_answer(a, &ans);
	agent_set_greet(a);
}

void agent_set_hear(struct executor *a)
{
	if (!a->crowd.n || !a->crowd.link)
		return;
	agent_set_listen(a);
	agent_set_due(a);
}

static void agent_set_cancelled(struct executor *a)
{
	if (!atomic_load(&a->progress.cancel) || a->c.cancelled)
		return;
	executor_fail(a, -ECANCELED, "cancelled by the operator");
	coordinator_step(&a->c, EV_CANCEL);
}

enum coord_action agent_set_await(struct executor *a)
{
	const struct agent_link *l = a->crowd.link;
	enum phase phase = a->c.phase, asked = a->c.asked;
	uint64_t shown = agent_set_now_ns(a);
	struct agent_answer ans;
	struct err err = { "" };

	while (a->c.action == ACT_AWAIT) {
		int rc = l->ops->recv(l->ctx, &ans, SLICE, &err);

		if (rc == 1)
			agent_set_take_answer(a, &ans);
		if (rc < 0) /* as good as silent; resends and the deadline go on */
			log_add(LOG_WARN, "apply", "answers of agents: %s", err.text);
		agent_set_cancelled(a);
		agent_set_greet(a);
		agent_set_due(a);
		if (agent_set_now_ns(a) - shown >= 2 * SLICE) {
			shown = agent_set_now_ns(a);
			agent_set_status(a);
		}
	}
	if (a->c.action != ACT_NOTIFY || a->c.asked != asked || a->c.sends == 1)
		agent_set_settled(a, phase, asked);
	return a->c.action;
}
