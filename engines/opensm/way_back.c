/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/way_back.h"

#include "fabric/base/process/clock.h"
#include "fabric/update/protocol/coordinator.h"
#include "fabric/update/protocol/phase_codec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DRAIN_MS 3000 /* for agents, on a way back that nobody else leads */

void way_back_free(struct way_back *b)
{
	vec_free(&b->own);
	agents_heard_free(&b->agents);
}

/* ---- notices of its own ---- */

static void way_back_queue(struct way_back *b, const struct phase_notice *p)
{
	static const struct notice_sender nobody = { 0 };
	struct own_notice own = { 0 };
	struct notice n;

	phase_codec_encode(&n, p, false, &nobody);
	notice_encode(own.d, sizeof(own.d), &n);
	vec_push(&b->own, own);
}

/* To the agents of an update whose client is gone. */
static void way_back_tell_agents(struct way_back *b, enum phase what)
{
	struct phase_notice p = {
		.version = PHASE_NOTICE_VERSION,
		.phase = (uint8_t)what,
		.seq = ++b->now.who.seq,
		.txn = b->now.who.txn,
	};

	way_back_queue(b, &p);
}

/* Whoever leads an update answers its agents.  One that began under an OpenSM before this one may
 * not have come back yet; one without agents answers nobody. */
static bool way_back_may_call_back(const struct way_back *b)
{
	struct osm_update who;

	if (b->now.under_way || clock_ms() - b->start_ms < b->quiet_ms)
		return false;
	return !sm_session_open(b->session, &who) || !who.seq;
}

/* Agents on their escape LIDs ask about an update that is over: nobody else may be there. */
static void way_back_call_back(struct way_back *b)
{
	struct phase_notice answer;

	while (way_back_may_call_back(b) && agents_heard_next(&b->agents, &answer, clock_ms()))
		way_back_queue(b, &answer);
}

static void way_back_send(struct way_back *b)
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

void way_back_begin(struct way_back *b)
{
	if (!b->now.under_way)
		b->now = (struct going_back){ .under_way = true };
}

static void way_back_end(struct way_back *b, const struct osm_answer *a)
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
		way_back_tell_agents(b, PHASE_REPATH);
}

/* Each step is written before the next one is ordered. */
static int way_back_step(struct way_back *b, struct err *err)
{
	struct going_back *g = &b->now;
	struct osm_answer a = { 0 };

	if (g->order && !sm_session_answered(b->session, g->order, &a))
		return clock_ms() - g->since_ms < b->reroute_ms
			       ? 0
			       : err_set(err, -ETIMEDOUT, "OpenSM has not finished in time");
	if (g->order && !g->more) {
		way_back_end(b, &a);
		return 0;
	}
	g->more = sm_session_back(b->session, g->by_itself ? g->why : NULL);
	g->order = sm_session_order(b->session, false);
	g->since_ms = clock_ms();
	return b->ops->reroute(b->ctx, err);
}

static void way_back_go(struct way_back *b)
{
	struct osm_answer a = { 0 };
	struct err err = { "" };

	if (!b->now.under_way || clock_ms() < b->now.begin_ms)
		return;
	a.rc = way_back_step(b, &err);
	if (!a.rc)
		return;
	snprintf(a.text, sizeof(a.text), "%s", err.text);
	/* it must not stay open: the next routing is by what was before it */
	while (sm_session_back(b->session, b->now.by_itself ? b->now.why : a.text))
		;
	way_back_end(b, &a);
}

/* The last watchdog: whoever was to speak for the update does not. */
static void way_back_watch(struct way_back *b)
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
	way_back_tell_agents(b, PHASE_UNPATH);
	b->now.begin_ms = clock_ms() + DRAIN_MS;
}

void way_back_turn(struct way_back *b)
{
	way_back_watch(b);
	way_back_go(b);
	way_back_call_back(b);
	way_back_send(b);
}

bool way_back_busy(const struct way_back *b)
{
	return b->own.n || b->now.under_way;
}
