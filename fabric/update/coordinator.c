/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/coordinator.h"

#include <stddef.h>

const char *phase_name(enum phase p)
{
	switch (p) {
	case PHASE_NONE:
		break;
	case PHASE_PREPARE:
		return "PREPARE";
	case PHASE_WRITE:
		return "WRITE";
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
	};

	return name[o];
}

void coordinator_init(struct coordinator *c, uint32_t nwaves, uint32_t max_tries)
{
	*c = (struct coordinator){ .action = ACT_STOP, .nwaves = nwaves, .max_tries = max_tries };
}

static enum coord_action finish(struct coordinator *c, enum outcome o)
{
	c->outcome = o;
	return ACT_FINISH;
}

/* Whatever stops an update: back if a switch may have been touched, else nothing happened. */
static enum coord_action back(struct coordinator *c)
{
	if (!c->touched)
		return finish(c, OUTCOME_REFUSED);
	c->phase = PHASE_ROLLBACK;
	c->tries = 0;
	return ACT_BEGIN_ROLLBACK;
}

static enum coord_action begin_wave(struct coordinator *c)
{
	if (c->cancelled)
		return back(c);
	if (c->wave == c->nwaves) {
		c->phase = PHASE_CONFIRM;
		return ACT_BEGIN_CONFIRM;
	}
	c->phase = PHASE_WRITE;
	c->tries = 0;
	return ACT_BEGIN_WAVE;
}

static enum coord_action write_again(struct coordinator *c)
{
	if (c->cancelled || c->tries >= c->max_tries)
		return back(c);
	c->tries++;
	return ACT_WRITE;
}

static enum coord_action write_back_again(struct coordinator *c)
{
	if (c->tries >= c->max_tries)
		return finish(c, OUTCOME_INCOMPLETE);
	c->tries++;
	return ACT_WRITE_BACK;
}

static enum coord_action forward(struct coordinator *c, bool ok)
{
	switch (c->action) {
	case ACT_PREPARE:
		return ok && !c->cancelled ? ACT_JOURNAL : back(c);
	case ACT_JOURNAL:
		c->journalled = ok;
		return ok ? begin_wave(c) : back(c);
	case ACT_BEGIN_WAVE:
		if (!ok || c->cancelled)
			return back(c);
		c->touched = true;
		return write_again(c);
	case ACT_WRITE: /* what failed shows when it is read */
		return c->cancelled ? back(c) : ACT_READ;
	case ACT_READ:
		if (!ok || c->cancelled)
			return write_again(c);
		c->wave++;
		return begin_wave(c);
	case ACT_BEGIN_CONFIRM:
		return ok && !c->cancelled ? ACT_WAIT : back(c);
	default:
		return ACT_STOP;
	}
}

/* Nothing keeps the way back from going on: a step that cannot be journalled, a switch that
 * does not answer. */
static enum coord_action backward(struct coordinator *c, bool ok)
{
	switch (c->action) {
	case ACT_BEGIN_ROLLBACK:
		return ACT_SCAN;
	case ACT_SCAN: /* ok: the old contents are everywhere already */
		return ok ? finish(c, OUTCOME_ROLLED_BACK) : write_back_again(c);
	case ACT_WRITE_BACK:
		return ACT_READ_BACK;
	case ACT_READ_BACK:
		return ok ? finish(c, OUTCOME_ROLLED_BACK) : write_back_again(c);
	default:
		return ACT_STOP;
	}
}

/* A confirmation that did not reach the disk is none: the operator may try again. */
static enum coord_action finished(struct coordinator *c, bool ok)
{
	if (ok || c->outcome != OUTCOME_CONFIRMED)
		return ACT_STOP;
	c->outcome = OUTCOME_NONE;
	return ACT_WAIT;
}

static enum coord_action start(struct coordinator *c, enum coord_event ev)
{
	c->outcome = OUTCOME_NONE;
	if (ev == EV_RECOVER) {
		c->touched = c->journalled = true;
		return back(c);
	}
	c->phase = PHASE_PREPARE;
	return ACT_PREPARE;
}

enum coord_action coordinator_step(struct coordinator *c, enum coord_event ev)
{
	if (ev == EV_START || ev == EV_RECOVER) {
		c->action = start(c, ev);
	} else if (ev == EV_CANCEL) {
		c->cancelled = true;
		if (c->action == ACT_WAIT)
			c->action = back(c);
	} else if (ev == EV_CONFIRM) {
		if (c->action == ACT_WAIT)
			c->action = finish(c, OUTCOME_CONFIRMED);
	} else if (c->action == ACT_FINISH) {
		c->action = finished(c, ev == EV_DONE);
	} else if (c->phase == PHASE_ROLLBACK) {
		c->action = backward(c, ev == EV_DONE);
	} else if (c->action != ACT_WAIT) {
		c->action = forward(c, ev == EV_DONE);
	}
	return c->action;
}
