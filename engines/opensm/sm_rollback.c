/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/sm_rollback.h"

#include "fabric/base/time/clock.h"
#include "fabric/update/protocol/coordinator.h"
#include "fabric/update/protocol/phase_codec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DRAIN_MS 3000 /* for agents, on a way back that nobody else leads */

void sm_rollback_free(struct sm_rollback *b)
{
	vec_free(&b->own);
	agents_heard_free(&b->agents);
}

/* ---- notices of its own ---- */

static void sm_rollback_queue(struct sm_rollback *b, const struct phase_notice *p)
{
	static const struct notice_sender nobody = { 0 };
	struct own_notice own = { 0 };
	struct notice n;

	phase_codec_encode(&n, p, false, &nobody);
	notice_encode(own.d, sizeof(own.d), &n);
	vec_push(&b->own, own);
}

/* To the agents of an update whose client is gone. */
static void sm_rollback_tell_agents(struct sm_rollback *b, enum phase what)
{
	struct phase_notice p = {
		.version = PHASE_NOTICE_VERSION,
		.phase = (uint8_t)what,
		.seq = ++b->now.who.seq,
		.txn = b->now.who.txn,
	};

	sm_rollback_queue(b, &p);
}

/* Whoever leads an update answers its agents.  One that began under an OpenSM before this one may
 * not have come back yet; one without agents answers nobody. */
static bool sm_rollback_may_call_back(const struct sm_rollback *b)
{
	struct osm_update who;

	if (b->now.under_way || clock_ms() - b->start_ms < b->quiet_ms)
		return false;
	return !sm_session_open(b->session, &who) || !who.seq;
}

/* Agents on their escape LIDs ask about an update that is over: nobody else may be there. */
static void sm_rollback_call_back(struct sm_rollback *b)
{
	struct phase_notice answer;

	while (sm_rollback_may_call_back(b) && agents_heard_next(&b->agents, &answer, clock_ms()))
		sm_rollback_queue(b, &answer);
}

static void sm_rollback_send(struct sm_rollback *b)
{
	struct err err;
	size_t n = 0;

	while (n < b->own.n && b->ops->notice(b->ctx, b->own.v[n].d, &err) != -EAGAIN)
		n++;
	if (n)
		memmove(b->own.v, b->own.v + n, (b->own.n - n) * sizeof(*b->own.v));
	b->own.n -= n;
	b->nnotices += n;
}

/* ---- step by step ---- */

void sm_rollback_begin(struct sm_rollback *b)
{
	if (!b->now.under_way)
		b->now = (struct going_back){ .under_way = true };
}

static void sm_rollback_end(struct sm_rollback *b, const struct osm_answer *a)
{
	const struct going_back *g = &b->now;
	char sentence[900];

	b->now.under_way = false;
	b->ended(b->ended_ctx, a);
	if (!g->by_itself)
		return;
	snprintf(sentence, sizeof(sentence), "update %s %s: %s%s%s", g->who.id,
		 a->rc ? "was ended, but the previous tables are not installed" : "was rolled back",
		 g->why, a->rc ? "; " : "", a->rc ? a->text : "");
	b->ops->say(b->ctx, sentence);
	if (g->who.seq)
		sm_rollback_tell_agents(b, PHASE_REPATH);
}

/* Each step is written before the next one is ordered. */
static int sm_rollback_step(struct sm_rollback *b, struct err *err)
{
	struct going_back *g = &b->now;
	struct osm_answer a = { 0 };

	if (g->order && !sm_session_answered(b->session, g->order, &a))
		return clock_ms() - g->since_ms < b->reroute_ms
			       ? 0
			       : err_set(err, -ETIMEDOUT, "OpenSM has not finished in time");
	if (g->order && !g->more) {
		sm_rollback_end(b, &a);
		return 0;
	}
	g->more = sm_session_back(b->session, g->by_itself ? g->why : NULL);
	g->order = sm_session_order(b->session, false);
	g->since_ms = clock_ms();
	return b->ops->reroute(b->ctx, err);
}

static void sm_rollback_go(struct sm_rollback *b)
{
	struct osm_answer a = { 0 };
	struct err err = { "" };

	if (!b->now.under_way || clock_ms() < b->now.begin_ms)
		return;
	a.rc = sm_rollback_step(b, &err);
	if (!a.rc)
		return;
	snprintf(a.text, sizeof(a.text), "%s", err.text);
	/* it must not stay open: the next routing is by what was before it */
	while (sm_session_back(b->session, b->now.by_itself ? b->now.why : a.text))
		;
	sm_rollback_end(b, &a);
}

/* The last watchdog: whoever was to speak for the update does not. */
static void sm_rollback_watch(struct sm_rollback *b)
{
	struct going_back g = { .under_way = true, .by_itself = true };
	char sentence[400];

	if (b->now.under_way || !sm_session_overdue(b->session, &g.who, g.why, sizeof(g.why)))
		return;
	snprintf(sentence, sizeof(sentence), "update %s is being rolled back: %s", g.who.id, g.why);
	b->ops->say(b->ctx, sentence);
	b->now = g;
	if (!g.who.seq)
		return;
	sm_rollback_tell_agents(b, PHASE_UNPATH);
	b->now.begin_ms = clock_ms() + DRAIN_MS;
}

void sm_rollback_turn(struct sm_rollback *b)
{
	sm_rollback_watch(b);
	sm_rollback_go(b);
	sm_rollback_call_back(b);
	sm_rollback_send(b);
}

bool sm_rollback_busy(const struct sm_rollback *b)
{
	return b->own.n || b->now.under_way;
}
