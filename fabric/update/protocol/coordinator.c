/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/protocol/coordinator.h"

#include <string.h>

#define SEQ_JUMP_MAX (PHASE_SEQ_MAX - 0xffff)

const char *phase_name(enum phase p)
{
	switch (p) {
	case PHASE_NONE:
		break;
	case PHASE_PREPARE:
		return "PREPARE";
	case PHASE_UNPATH:
		return "UNPATH";
	case PHASE_WRITE:
		return "WRITE";
	case PHASE_REPATH:
		return "REPATH";
	case PHASE_CONFIRM:
		return "CONFIRM";
	case PHASE_ROLLBACK:
		return "ROLLBACK";
	}
	return "-";
}

const char *outcome_name(enum outcome o)
{
	static const char *const name[] = {
		[OUTCOME_NONE] = "under way",
		[OUTCOME_CONFIRMED] = "confirmed",
		[OUTCOME_REFUSED] = "refused, nothing written",
		[OUTCOME_ROLLED_BACK] = "rolled back, verified",
		[OUTCOME_INCOMPLETE] = "rollback incomplete",
		[OUTCOME_SUPERSEDED] = "superseded: another SM or writer changed the routing",
		[OUTCOME_FABRIC_CHANGED] = "the fabric changed: the subnet manager routes it",
	};

	return o < OUTCOMES ? name[o] : "?";
}

enum outcome outcome_by_name(const char *name)
{
	for (int o = OUTCOME_NONE; o < OUTCOMES; o++)
		if (!strcmp(name, outcome_name((enum outcome)o)))
			return (enum outcome)o;
	return OUTCOME_NONE;
}

static const struct {
	const char *name, *text;
} coordinator_whys[COORD_WHYS] = {
	[WHY_NONE] = { "", "" },
	[WHY_FAILED] = { "failed", "a step of the update failed" },
	[WHY_OPERATOR] = { "operator", "cancelled by the operator" },
	[WHY_TIMEOUT] = { "timeout", "nobody confirmed in time" },
	[WHY_WATCH] = { "watch", "a watch condition tripped" },
	[WHY_SM] = { "sm", "the master subnet manager changed" },
	[WHY_SILENT] = { "agents", "agents did not drain in time" },
	[WHY_RECOVERED] = { "recovered", "the process that ran it ended early" },
	[WHY_FOREIGN] = { "foreign", "another writer changed the switches during the update" },
	[WHY_DISPUTED] = { "disputed", "somebody else speaks to the agents, or for one of them" },
};

const char *coord_why_name(enum coord_why w)
{
	return coordinator_whys[w].name;
}

enum coord_why coord_why_by_name(const char *name)
{
	for (int w = WHY_NONE; w < COORD_WHYS; w++)
		if (!strcmp(name, coordinator_whys[w].name))
			return (enum coord_why)w;
	return WHY_NONE;
}

const char *coord_why_text(enum coord_why w)
{
	return coordinator_whys[w].text;
}

void coordinator_init(struct coordinator *c, uint32_t nwaves, uint32_t max_tries)
{
	*c = (struct coordinator){ .action = ACT_STOP, .nwaves = nwaves, .max_tries = max_tries };
}

void coordinator_drain(struct coordinator *c, const struct coord_drain *d)
{
	c->drain = *d;
	c->seq = (uint32_t)d->epoch << 16;
	c->first_seq = c->seq + 1;
}

void coordinator_join(struct coordinator *c, struct coord_agent *agents, uint32_t n)
{
	c->drain.agents = agents;
	c->drain.nagents = n;
	c->drained = false;
	c->joined = true;
}

void coordinator_notice(const struct coordinator *c, struct phase_notice *out)
{
	*out = (struct phase_notice){
		.version = PHASE_NOTICE_VERSION,
		.phase = (uint8_t)c->asked,
		.flags = c->phase == PHASE_REPATH && !c->touched ? NOTICE_ABORT : 0,
		.hold_s = c->drain.hold_s,
		.seq = c->seq,
		.txn = c->drain.txn,
	};
}

static void coordinator_because(struct coordinator *c, enum coord_why why)
{
	if (!c->why)
		c->why = why;
}

static enum coord_action coordinator_finish(struct coordinator *c, enum outcome o)
{
	c->outcome = o;
	return ACT_FINISH;
}

static enum coord_action coordinator_notify(struct coordinator *c)
{
	c->sends++;
	c->seq++;
	return ACT_NOTIFY;
}

/* A question to everybody, awaited from all but those who are known not to answer. */
static enum coord_action coordinator_ask(struct coordinator *c, enum phase what)
{
	c->asked = what;
	c->drained = c->joined = false;
	c->first_seq = c->seq + 1;
	c->sends = c->pending = 0;
	for (uint32_t i = 0; i < c->drain.nagents; i++) {
		struct coord_agent *g = &c->drain.agents[i];

		if (g->state == COORD_GONE || (g->without && g->state == COORD_SILENT))
			continue;
		g->state = COORD_ASKED;
		c->pending++;
	}
	return coordinator_notify(c);
}

static enum coord_action coordinator_begin_repath(struct coordinator *c)
{
	c->phase = PHASE_REPATH;
	return ACT_BEGIN_REPATH;
}

/* Whatever stops an update: back if a switch may have been touched, else nothing happened but
 * that agents may have moved. */
static enum coord_action coordinator_back(struct coordinator *c)
{
	coordinator_because(c, WHY_FAILED);
	if (!c->touched)
		return c->asked ? coordinator_begin_repath(c)
				: coordinator_finish(c, OUTCOME_REFUSED);
	c->phase = PHASE_ROLLBACK;
	c->tries = 0;
	c->restored = false;
	return ACT_BEGIN_ROLLBACK;
}

static bool coordinator_must_drain(const struct coordinator *c)
{
	return c->drain.nagents && !c->drained;
}

static enum coord_action coordinator_begin_confirm(struct coordinator *c)
{
	c->phase = PHASE_CONFIRM;
	return ACT_BEGIN_CONFIRM;
}

static enum coord_action coordinator_begin_unpath(struct coordinator *c)
{
	c->rechecked = false;
	c->phase = PHASE_UNPATH;
	return ACT_BEGIN_UNPATH;
}

static enum coord_action coordinator_begin_wave(struct coordinator *c)
{
	if (c->cancelled)
		return coordinator_back(c);
	if (c->wave == c->nwaves)
		return c->asked ? coordinator_begin_repath(c) : coordinator_begin_confirm(c);
	if (coordinator_must_drain(c))
		return coordinator_begin_unpath(c);
	c->phase = PHASE_WRITE;
	return ACT_BEGIN_WAVE;
}

static enum coord_action coordinator_write_again(struct coordinator *c)
{
	if (c->cancelled || c->tries >= c->max_tries)
		return coordinator_back(c);
	if (coordinator_must_drain(c))
		return coordinator_begin_wave(c);
	c->tries++;
	c->touched = true;
	return ACT_WRITE;
}

static enum coord_action coordinator_write_back_again(struct coordinator *c)
{
	if (c->tries >= c->max_tries)
		return coordinator_finish(c, OUTCOME_INCOMPLETE);
	if (coordinator_must_drain(c))
		return coordinator_ask(c, PHASE_UNPATH);
	c->tries++;
	return ACT_WRITE_BACK;
}

static enum outcome coordinator_end_of_rollback(const struct coordinator *c)
{
	return c->instead ? c->instead : OUTCOME_ROLLED_BACK;
}

static enum coord_action coordinator_written_back(struct coordinator *c, enum outcome instead)
{
	/* whoever was being asked at that time has had packets on both routings */
	bool again =
		instead && !c->restored && c->asked == PHASE_UNPATH && coordinator_must_drain(c);

	c->instead = instead;
	c->restored = true;
	if (c->joined || again)
		return coordinator_ask(c, PHASE_UNPATH);
	return c->asked ? coordinator_ask(c, PHASE_REPATH)
			: coordinator_finish(c, coordinator_end_of_rollback(c));
}

static enum coord_action coordinator_forward(struct coordinator *c, bool ok)
{
	switch (c->action) {
	case ACT_PREPARE:
		return ok && !c->cancelled ? ACT_JOURNAL : coordinator_back(c);
	case ACT_JOURNAL:
		c->journalled = ok;
		return ok ? coordinator_begin_wave(c) : coordinator_back(c);
	case ACT_BEGIN_UNPATH:
		return ok && !c->cancelled ? coordinator_ask(c, PHASE_UNPATH) : coordinator_back(c);
	case ACT_BEGIN_WAVE:
		return ok ? coordinator_write_again(c) : coordinator_back(c);
	case ACT_WRITE: /* what failed shows when it is read */
		return c->cancelled ? coordinator_back(c) : ACT_READ;
	case ACT_READ:
		if (!ok || c->cancelled)
			return coordinator_write_again(c);
		c->wave++;
		c->tries = 0;
		return coordinator_begin_wave(c);
	case ACT_BEGIN_REPATH: /* agents are called back though nobody may know of it later */
		if (c->touched && (!ok || c->cancelled))
			return coordinator_back(c);
		return c->touched && c->joined ? coordinator_begin_unpath(c)
					       : coordinator_ask(c, PHASE_REPATH);
	case ACT_BEGIN_CONFIRM:
		if (!ok || c->cancelled)
			return coordinator_back(c);
		return c->joined ? coordinator_begin_unpath(c) : ACT_WAIT;
	default:
		return ACT_STOP;
	}
}

/* Nothing stops a rollback: neither a step that cannot be journalled, nor a switch that does not
 * respond, nor a silent agent. */
static enum coord_action coordinator_backward(struct coordinator *c, bool ok)
{
	switch (c->action) {
	case ACT_BEGIN_ROLLBACK:
		return ACT_SCAN;
	case ACT_SCAN: /* ok: the old contents are everywhere already */
		return ok ? coordinator_written_back(c, OUTCOME_NONE)
			  : coordinator_write_back_again(c);
	case ACT_WRITE_BACK:
		return ACT_READ_BACK;
	case ACT_READ_BACK:
		return ok ? coordinator_written_back(c, OUTCOME_NONE)
			  : coordinator_write_back_again(c);
	default:
		return ACT_STOP;
	}
}

/* Everybody has drained who will.  Returns whether to write. */
static bool coordinator_drain_settled(struct coordinator *c)
{
	bool forced = c->drain.without_silent || c->phase == PHASE_ROLLBACK;
	bool all = true;

	for (uint32_t i = 0; i < c->drain.nagents; i++) {
		struct coord_agent *g = &c->drain.agents[i];

		g->without = g->state == COORD_FAILED || g->state == COORD_SILENT;
		all = all && !g->without;
	}
	if (!all && !forced) {
		coordinator_because(c, WHY_SILENT);
		return false;
	}
	c->drained = true;
	return true;
}

/* Who drained first may have been called back by somebody since. */
static bool coordinator_rechecks(const struct coordinator *c)
{
	return c->drain.recheck && !c->rechecked && c->wave < c->nwaves;
}

static enum coord_action coordinator_settled(struct coordinator *c)
{
	bool write;

	for (uint32_t i = 0; i < c->drain.nagents; i++)
		if (c->drain.agents[i].state == COORD_ASKED)
			c->drain.agents[i].state = COORD_SILENT;
	c->pending = 0;
	if (c->asked == PHASE_UNPATH) {
		write = coordinator_drain_settled(c);
		if (c->phase == PHASE_ROLLBACK)
			return c->restored ? coordinator_written_back(c, c->instead)
					   : coordinator_write_back_again(c);
		if (!write)
			return coordinator_back(c);
		if (!coordinator_rechecks(c))
			return coordinator_begin_wave(c);
		c->rechecked = true;
		return coordinator_ask(c, PHASE_UNPATH);
	}
	if (c->phase == PHASE_ROLLBACK)
		return coordinator_finish(c, coordinator_end_of_rollback(c));
	return c->touched ? coordinator_begin_confirm(c) : coordinator_finish(c, OUTCOME_REFUSED);
}

/* Being called off or rolled back cannot be called off. */
static bool coordinator_stoppable(const struct coordinator *c)
{
	return c->phase != PHASE_ROLLBACK && (c->phase != PHASE_REPATH || c->touched);
}

static enum coord_action coordinator_talk(struct coordinator *c, enum coord_event ev)
{
	if (c->action == ACT_NOTIFY) { /* what was not sent is sent again in its time */
		if (c->cancelled && coordinator_stoppable(c))
			return coordinator_back(c);
		return c->pending ? ACT_AWAIT : coordinator_settled(c);
	}
	if (ev == EV_RESEND && c->sends < c->drain.max_sends)
		return coordinator_notify(c);
	return ev == EV_DEADLINE ? coordinator_settled(c) : ACT_AWAIT;
}

/* A confirmation that did not reach the disk is none: the operator may try again. */
static enum coord_action coordinator_finished(struct coordinator *c, bool ok)
{
	if (ok || c->outcome != OUTCOME_CONFIRMED)
		return ACT_STOP;
	c->outcome = OUTCOME_NONE;
	return ACT_WAIT;
}

/* Whoever recovers does not know whom the one before had asked, nor who has drained since he was
 * asked for the first time. */
static enum coord_action coordinator_start(struct coordinator *c, enum coord_event ev)
{
	c->outcome = OUTCOME_NONE;
	c->instead = OUTCOME_NONE;
	if (ev == EV_RECOVER) {
		coordinator_because(c, WHY_RECOVERED);
		c->touched = c->journalled = true;
		c->drained = false;
		c->joined = c->drain.nagents > 0;
		if (c->drain.nagents && !c->asked)
			c->asked = PHASE_REPATH;
		return coordinator_back(c);
	}
	if (ev == EV_KEEP) {
		c->touched = c->journalled = true;
		c->wave = c->nwaves;
		if (c->drain.nagents)
			c->asked = PHASE_REPATH;
		return coordinator_begin_wave(c);
	}
	c->phase = PHASE_PREPARE;
	return ACT_PREPARE;
}

static enum coord_action coordinator_stop(struct coordinator *c, enum coord_why why)
{
	if (c->action == ACT_STOP || c->action == ACT_FINISH || !coordinator_stoppable(c))
		return c->action;
	coordinator_because(c, why);
	c->cancelled = true;
	return c->action == ACT_WAIT || c->action == ACT_AWAIT ? coordinator_back(c) : c->action;
}

static enum coord_action coordinator_outside(struct coordinator *c, enum coord_event ev)
{
	bool waiting = c->action == ACT_WAIT;

	switch (ev) {
	case EV_CANCEL:
		return coordinator_stop(c, WHY_OPERATOR);
	case EV_WATCH:
		return coordinator_stop(c, WHY_WATCH);
	case EV_SM:
		return coordinator_stop(c, WHY_SM);
	case EV_FOREIGN:
		return coordinator_stop(c, WHY_FOREIGN);
	case EV_TIMEOUT:
		return waiting ? coordinator_stop(c, WHY_TIMEOUT) : c->action;
	case EV_CONFIRM:
		return waiting ? coordinator_finish(c, OUTCOME_CONFIRMED) : c->action;
	case EV_EXTEND:
		c->extended += waiting;
		return c->action;
	case EV_HOLD_OVER:
		c->drained = false;
		return c->action;
	default:
		return c->action == ACT_AWAIT ? coordinator_talk(c, ev) : c->action;
	}
}

/* What was read is not what was written back, and is to stay. */
static enum coord_action coordinator_not_ours(struct coordinator *c, enum coord_event ev)
{
	if (c->action != ACT_SCAN && c->action != ACT_READ_BACK)
		return c->action;
	return coordinator_written_back(c, ev == EV_CHANGED ? OUTCOME_FABRIC_CHANGED
							    : OUTCOME_SUPERSEDED);
}

enum coord_action coordinator_step(struct coordinator *c, enum coord_event ev)
{
	bool ok = ev == EV_DONE;

	if (ev == EV_START || ev == EV_RECOVER || ev == EV_KEEP)
		c->action = coordinator_start(c, ev);
	else if (ev == EV_SUPERSEDED || ev == EV_CHANGED)
		c->action = coordinator_not_ours(c, ev);
	else if (ev != EV_DONE && ev != EV_FAILED)
		c->action = coordinator_outside(c, ev);
	else if (c->action == ACT_NOTIFY)
		c->action = coordinator_talk(c, ev);
	else if (c->action == ACT_FINISH)
		c->action = coordinator_finished(c, ok);
	else if (c->action == ACT_WAIT || c->action == ACT_AWAIT)
		return c->action;
	else if (c->phase == PHASE_ROLLBACK)
		c->action = coordinator_backward(c, ok);
	else
		c->action = coordinator_forward(c, ok);
	return c->action;
}

static enum coord_action coordinator_answered(struct coordinator *c, struct coord_agent *g,
					      uint8_t state)
{
	bool awaited = g->state == COORD_ASKED;

	g->state = state;
	if (!awaited)
		return c->action;
	c->pending--;
	if (!c->pending && c->action == ACT_AWAIT)
		c->action = coordinator_settled(c);
	return c->action;
}

static bool coordinator_newer(const struct coord_agent *g, const struct phase_notice *ack)
{
	return ack->seq > g->seq || (ack->seq == g->seq && ack->repeat > g->repeat);
}

/* Late and doubled answers are none of it. */
static enum coord_dispute coordinator_dispute_of(const struct coordinator *c,
						 const struct coord_agent *g,
						 const struct phase_notice *said)
{
	if (said->txn != c->drain.txn)
		return said->txn > c->drain.txn ? DISPUTE_LATER : DISPUTE_NONE;
	if (said->seq > c->seq)
		return said->phase == PHASE_REPATH ? DISPUTE_RETURN : DISPUTE_UNASKED;
	if (c->asked && said->seq >= c->first_seq && said->phase != c->asked)
		return said->phase == PHASE_REPATH ? DISPUTE_RETURN : DISPUTE_UNASKED;
	if (g->seq && said->seq == g->seq && said->repeat == g->repeat && said->flags != g->flags)
		return DISPUTE_TWO;
	return DISPUTE_NONE;
}

enum coord_action coordinator_doubt(struct coordinator *c, uint32_t agent,
				    const struct phase_notice *said)
{
	bool writes = c->phase && c->phase < PHASE_REPATH && c->wave < c->nwaves;
	enum coord_dispute what;

	if (!writes || c->dispute || agent >= c->drain.nagents ||
	    said->version != PHASE_NOTICE_VERSION || c->drain.agents[agent].state == COORD_GONE)
		return c->action;
	what = coordinator_dispute_of(c, &c->drain.agents[agent], said);
	if (!what)
		return c->action;
	c->dispute = what;
	c->disputed = agent;
	c->drained = false; /* before what was written is taken back all are asked again */
	/* what agents are asked next has to be news to whoever obeyed somebody else */
	if (said->txn == c->drain.txn && said->seq > c->seq && said->seq < SEQ_JUMP_MAX)
		c->seq = said->seq;
	c->action = coordinator_stop(c, WHY_DISPUTED);
	return c->action;
}

enum coord_action coordinator_ack(struct coordinator *c, uint32_t agent,
				  const struct phase_notice *ack)
{
	struct coord_agent *g;
	bool failed = ack->flags & NOTICE_FAILED;

	coordinator_doubt(c, agent, ack);
	if (agent >= c->drain.nagents || ack->version != PHASE_NOTICE_VERSION ||
	    ack->txn != c->drain.txn || ack->phase != c->asked || ack->seq < c->first_seq ||
	    ack->seq > c->seq)
		return c->action;
	g = &c->drain.agents[agent];
	if (g->state == COORD_GONE || !coordinator_newer(g, ack))
		return c->action;
	/* one that has left the escape LIDs: not again before all are asked again */
	if (failed && c->asked == PHASE_UNPATH && g->state == COORD_DONE)
		c->drained = false;
	g->seq = ack->seq;
	g->repeat = ack->repeat;
	g->flags = ack->flags;
	if (!failed && c->asked == PHASE_UNPATH)
		g->without = false;
	return coordinator_answered(c, g, failed ? COORD_FAILED : COORD_DONE);
}

enum coord_action coordinator_gone(struct coordinator *c, uint32_t agent)
{
	if (agent >= c->drain.nagents || c->drain.agents[agent].state == COORD_GONE)
		return c->action;
	c->drain.agents[agent].without = false;
	return coordinator_answered(c, &c->drain.agents[agent], COORD_GONE);
}

/* Nobody has to be away for this transaction, or any more. */
static bool coordinator_all_may_return(const struct coordinator *c)
{
	if (!c->drain.nagents)
		return true;
	return c->asked == PHASE_REPATH && (c->phase != PHASE_ROLLBACK || c->restored);
}

bool coordinator_answer(struct phase_notice *out, const struct coordinator *c,
			const struct phase_notice *ask)
{
	bool over = !c || c->action == ACT_STOP;
	bool ours = c && c->drain.txn == ask->txn;
	uint32_t last = ours && c->seq > ask->seq ? c->seq : ask->seq;

	if (!over && c->asked == PHASE_UNPATH && ask->txn < c->drain.txn) {
		coordinator_notice(c, out);
		return true;
	}
	if (ask->phase != PHASE_UNPATH) /* it is where it belongs */
		return false;
	if (!over && (ask->txn > c->drain.txn || !coordinator_all_may_return(c)))
		return false;
	if (!over && ours) { /* the call back is what it has missed */
		coordinator_notice(c, out);
		return c->drain.nagents && c->seq > ask->seq;
	}
	if (c && c->outcome == OUTCOME_INCOMPLETE)
		return false;
	*out = (struct phase_notice){
		.version = PHASE_NOTICE_VERSION,
		.phase = PHASE_REPATH,
		.seq = last + 1 + ask->repeat,
		.txn = ask->txn,
	};
	return true;
}
