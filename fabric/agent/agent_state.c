/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/agent/agent_state.h"

#include "fabric/update/protocol/coordinator.h"

const char *agent_mode_name(enum agent_mode m)
{
	static const char *const name[] = {
		[AGENT_BASE] = "base",		 [AGENT_DRAINING] = "draining",
		[AGENT_MIGRATING] = "migrating", [AGENT_ESCAPE] = "escape",
		[AGENT_RETURNING] = "returning", [AGENT_MIXED] = "mixed",
		[AGENT_RECALLED] = "recalled",
	};

	return name[m];
}

/* A hook that was running when the process ended may have stopped at any point.  One that was
 * about to be started when it ended is started by the next process. */
void agent_state_init(struct agent_state *a, const struct agent_saved *saved)
{
	*a = (struct agent_state){ .mode = AGENT_BASE };
	if (!saved)
		return;
	a->txn = saved->txn;
	a->seq = saved->seq;
	a->repeat = saved->repeat;
	a->want = saved->want;
	a->mode = saved->mode;
	if (agent_state_busy(a))
		a->mode = AGENT_MIXED;
}

void agent_state_saved(const struct agent_state *a, struct agent_saved *out)
{
	*out = (struct agent_saved){
		.txn = a->txn,
		.seq = a->seq,
		.repeat = a->repeat,
		.want = a->want,
		.mode = (uint8_t)(a->mode == AGENT_RECALLED ? AGENT_RETURNING : a->mode),
	};
}

void agent_state_ack(const struct agent_state *a, struct phase_notice *out)
{
	*out = (struct phase_notice){
		.version = PHASE_NOTICE_VERSION,
		.phase = a->want,
		.flags = a->flags,
		.repeat = a->repeat,
		.seq = a->seq,
		.txn = a->txn,
	};
}

static unsigned agent_state_answer(struct agent_state *a, uint16_t flags)
{
	a->repeat++;
	a->flags = flags;
	return AGENT_SAVE | AGENT_ACK;
}

static unsigned agent_state_run(struct agent_state *a, enum agent_mode mode)
{
	a->mode = mode;
	return AGENT_SAVE | (mode == AGENT_DRAINING    ? AGENT_DRAIN
			     : mode == AGENT_MIGRATING ? AGENT_MIGRATE
						       : AGENT_RETURN);
}

/* No hook is running: start the next one, or answer. */
static unsigned agent_state_go_on(struct agent_state *a)
{
	if (a->failed)
		return agent_state_answer(a, NOTICE_FAILED);
	if (a->mode == AGENT_RECALLED)
		a->mode = AGENT_ESCAPE;
	if (a->want == PHASE_UNPATH)
		return a->mode == AGENT_ESCAPE ? agent_state_answer(a, 0)
					       : agent_state_run(a, AGENT_DRAINING);
	return a->mode == AGENT_BASE ? agent_state_answer(a, 0)
				     : agent_state_run(a, AGENT_RETURNING);
}

static unsigned agent_state_hook_ended(struct agent_state *a, bool ok)
{
	bool wanted = a->want == PHASE_UNPATH;

	switch (a->mode) {
	case AGENT_DRAINING:
		a->failed = wanted && !ok;
		return agent_state_run(a, wanted && ok ? AGENT_MIGRATING : AGENT_RETURNING);
	case AGENT_MIGRATING:
		a->failed = wanted && !ok;
		if (!ok)
			return agent_state_run(a, AGENT_RETURNING);
		a->mode = AGENT_ESCAPE;
		return AGENT_SAVE | agent_state_go_on(a);
	case AGENT_RETURNING:
		a->failed = a->failed || !ok;
		a->mode = ok ? AGENT_BASE : AGENT_MIXED;
		return AGENT_SAVE | agent_state_go_on(a);
	default:
		return 0;
	}
}

/* Nobody says anything: ask; and try again what did not work.  What was said about being called
 * back may be lost. */
static unsigned agent_state_silence(struct agent_state *a)
{
	unsigned act = a->subscribed ? 0 : AGENT_SUBSCRIBE;

	if (a->mode == AGENT_ESCAPE || a->mode == AGENT_RECALLED)
		return act | agent_state_answer(a, NOTICE_ASK);
	if (a->mode != AGENT_MIXED)
		return act;
	a->failed = a->want == PHASE_UNPATH;
	return act | agent_state_run(a, AGENT_RETURNING);
}

/* Some queue pairs may stand still: they come first.  Whoever asked for the escape LIDs was not
 * answered yet. */
static unsigned agent_state_start(struct agent_state *a)
{
	if (a->mode != AGENT_MIXED)
		return AGENT_SUBSCRIBE;
	a->failed = a->want == PHASE_UNPATH;
	return AGENT_SUBSCRIBE | agent_state_run(a, AGENT_RETURNING);
}

unsigned agent_state_step(struct agent_state *a, enum agent_event ev)
{
	switch (ev) {
	case AGENT_EV_START:
		return agent_state_start(a);
	case AGENT_EV_DONE:
		return agent_state_hook_ended(a, true);
	case AGENT_EV_FAILED:
		return agent_state_hook_ended(a, false);
	case AGENT_EV_SUBSCRIBED:
		a->subscribed = true;
		return 0;
	case AGENT_EV_NEWS:
		return a->mode == AGENT_BASE ? agent_state_answer(a, NOTICE_ASK) : 0;
	case AGENT_EV_SM:
		a->subscribed = false;
		return AGENT_SUBSCRIBE;
	case AGENT_EV_TIMEOUT:
		return agent_state_silence(a);
	case AGENT_EV_GO:
		return a->mode == AGENT_RECALLED ? agent_state_run(a, AGENT_RETURNING) : 0;
	case AGENT_EV_SAFETY:
		if (a->mode != AGENT_ESCAPE)
			return 0;
		a->failed = true; /* the answer says that the escape LIDs were left */
		return agent_state_run(a, AGENT_RETURNING);
	case AGENT_EV_FORGET:
		if (a->mode != AGENT_BASE)
			return 0;
		a->txn = a->seq = a->repeat = a->want = 0;
		a->failed = false;
		return AGENT_SAVE;
	case AGENT_EV_EXIT:
		return (a->subscribed ? AGENT_UNSUBSCRIBE : 0) | AGENT_EXIT;
	}
	return 0;
}

/* Its repeat is none of an answer's: a question that is obeyed later is answered again. */
static unsigned agent_state_refuse(struct agent_state *a, const struct phase_notice *n,
				   uint16_t why)
{
	uint16_t repeat = a->refused.repeat;

	a->refused = (struct phase_notice){
		.version = PHASE_NOTICE_VERSION,
		.phase = n->phase,
		.flags = NOTICE_FAILED | why,
		.repeat = (uint16_t)(repeat + 1) | 0x8000,
		.seq = n->seq,
		.txn = n->txn,
	};
	return AGENT_REFUSE;
}

/* Late ones of the same process are none to tell of. */
static bool agent_state_outdated(const struct agent_state *a, const struct phase_notice *n)
{
	return n->txn < a->txn || (n->txn == a->txn && n->seq >> 16 < a->seq >> 16);
}

unsigned agent_state_notice(struct agent_state *a, const struct phase_notice *n)
{
	if (n->version != PHASE_NOTICE_VERSION ||
	    (n->phase != PHASE_UNPATH && n->phase != PHASE_REPATH))
		return 0;
	if (!phase_notice_in_bounds(n) || (a->txn_max && n->txn > a->txn_max))
		return agent_state_refuse(a, n, NOTICE_BOUNDS);
	if (agent_state_outdated(a, n))
		return agent_state_refuse(a, n, NOTICE_LATER);
	if (n->txn == a->txn && n->seq <= a->seq)
		return 0;
	a->txn = n->txn;
	a->seq = n->seq;
	a->want = n->phase;
	a->repeat = 0;
	a->failed = false;
	a->aborted = n->flags & NOTICE_ABORT;
	a->hold_s = n->hold_s;
	if (a->mode == AGENT_RECALLED && a->want == PHASE_REPATH)
		return AGENT_SAVE;
	if (a->wary && a->mode == AGENT_ESCAPE && a->want == PHASE_REPATH) {
		a->mode = AGENT_RECALLED;
		return agent_state_answer(a, NOTICE_ASK);
	}
	if (!agent_state_busy(a))
		return AGENT_SAVE | agent_state_go_on(a);
	if (a->want == PHASE_REPATH && a->mode != AGENT_RETURNING)
		return AGENT_SAVE | AGENT_CANCEL;
	return AGENT_SAVE;
}
