/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/protocol/coordinator.h"

#include "fabric/update/executor.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

static void success_goes_through_the_phases_in_order(void **state)
{
	static const enum coord_action want[] = {
		ACT_PREPARE,	ACT_JOURNAL, ACT_BEGIN_WAVE, ACT_WRITE,		ACT_READ,
		ACT_BEGIN_WAVE, ACT_WRITE,   ACT_READ,	     ACT_BEGIN_CONFIRM, ACT_WAIT,
	};
	struct coordinator c;

	(void)state;
	coordinator_init(&c, 2, 3);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		assert_int_equal(coordinator_step(&c, i ? EV_DONE : EV_START), want[i]);
	assert_int_equal(c.phase, PHASE_CONFIRM);
	assert_int_equal(coordinator_step(&c, EV_DONE), ACT_WAIT);
	assert_int_equal(coordinator_step(&c, EV_CONFIRM), ACT_FINISH);
	assert_int_equal(c.outcome, OUTCOME_CONFIRMED);
	assert_int_equal(coordinator_step(&c, EV_DONE), ACT_STOP);
}

static void confirmation_that_cannot_be_kept_waits_again(void **state)
{
	struct coordinator c;

	(void)state;
	coordinator_init(&c, 1, 1);
	coordinator_step(&c, EV_START);
	while (c.action != ACT_WAIT)
		coordinator_step(&c, EV_DONE);
	coordinator_step(&c, EV_CONFIRM);
	assert_int_equal(coordinator_step(&c, EV_FAILED), ACT_WAIT);
	assert_int_equal(c.outcome, OUTCOME_NONE);
	assert_int_equal(coordinator_step(&c, EV_CANCEL), ACT_BEGIN_ROLLBACK);
}

static void what_ends_the_confirm_window_is_told_apart(void **state)
{
	static const struct {
		enum coord_event ev;
		enum coord_why why;
		int code;
	} ends[] = { { EV_CANCEL, WHY_OPERATOR, 5 },
		     { EV_WATCH, WHY_WATCH, 5 },
		     { EV_SM, WHY_SM, 5 },
		     { EV_FOREIGN, WHY_FOREIGN, 10 },
		     { EV_TIMEOUT, WHY_TIMEOUT, 7 } };
	struct coordinator c;

	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		coordinator_init(&c, 1, 1);
		coordinator_step(&c, EV_START);
		while (c.action != ACT_WAIT)
			coordinator_step(&c, EV_DONE);
		assert_int_equal(coordinator_step(&c, ends[i].ev), ACT_BEGIN_ROLLBACK);
		while (c.action != ACT_FINISH)
			coordinator_step(&c, EV_DONE);
		assert_int_equal(c.outcome, OUTCOME_ROLLED_BACK);
		assert_int_equal(c.why, ends[i].why);
		assert_int_equal(outcome_exit_code(c.outcome, c.why), ends[i].code);
	}
}

struct walk {
	unsigned paths, confirmed, refused, back, incomplete, superseded;
};

/* Where an action writes to a switch, the journal must have been told before. */
static void check(const struct coordinator *c, const unsigned *seen, enum coord_action act)
{
	if (act == ACT_WRITE)
		assert_true(seen[ACT_JOURNAL] && seen[ACT_BEGIN_WAVE] > c->wave && c->journalled);
	if (act == ACT_WRITE_BACK)
		assert_true(seen[ACT_BEGIN_ROLLBACK] && seen[ACT_SCAN]);
	if (act == ACT_FINISH && c->outcome == OUTCOME_REFUSED)
		assert_false(seen[ACT_WRITE]);
	if (act == ACT_FINISH && c->outcome == OUTCOME_CONFIRMED)
		assert_true(seen[ACT_READ] >= c->nwaves && seen[ACT_WAIT] &&
			    !seen[ACT_BEGIN_ROLLBACK]);
}

static void tally(struct walk *w, const struct coordinator *c)
{
	w->paths++;
	w->confirmed += c->outcome == OUTCOME_CONFIRMED;
	w->refused += c->outcome == OUTCOME_REFUSED;
	w->back += c->outcome == OUTCOME_ROLLED_BACK;
	w->incomplete += c->outcome == OUTCOME_INCOMPLETE;
	w->superseded += c->outcome == OUTCOME_SUPERSEDED;
	assert_true(c->outcome != OUTCOME_NONE);
}

static void walk(struct walk *w, struct coordinator c, const unsigned *before, unsigned depth)
{
	unsigned seen[ACT_STOP + 1];

	assert_true(depth < 64);
	for (int i = 0; i <= ACT_STOP; i++)
		seen[i] = before[i] + (i == (int)c.action);
	check(&c, before, c.action);
	if (c.action == ACT_STOP) {
		tally(w, &c);
		return;
	}
	if (c.action == ACT_FINISH) {
		coordinator_step(&c, EV_DONE);
		walk(w, c, seen, depth + 1);
		return;
	}
	for (int k = 0; k < 4; k++) {
		struct coordinator next = c;

		if (c.action == ACT_WAIT) {
			if (k < 2)
				coordinator_step(&next, k ? EV_CONFIRM : EV_CANCEL);
		} else {
			if (k & 2)
				coordinator_step(&next, EV_CANCEL);
			coordinator_step(&next, k & 1 ? EV_DONE : EV_FAILED);
		}
		if (c.action != ACT_WAIT || k < 2)
			walk(w, next, seen, depth + 1);
	}
	if (c.action == ACT_SCAN || c.action == ACT_READ_BACK) {
		coordinator_step(&c, EV_SUPERSEDED);
		assert_int_equal(c.outcome, OUTCOME_SUPERSEDED);
		walk(w, c, seen, depth + 1);
	} else {
		enum coord_action was = c.action;

		assert_int_equal(coordinator_step(&c, EV_SUPERSEDED), was); /* of nothing else */
	}
}

static void every_order_of_failures_and_cancels_ends_and_never_writes_unjournalled(void **state)
{
	unsigned none[ACT_STOP + 1] = { 0 };
	struct coordinator c;
	struct walk w = { 0 };

	(void)state;
	coordinator_init(&c, 2, 2);
	coordinator_step(&c, EV_START);
	walk(&w, c, none, 0);
	assert_true(w.confirmed && w.refused && w.back && w.incomplete && w.superseded);
	assert_int_equal(w.paths, w.confirmed + w.refused + w.back + w.incomplete + w.superseded);
}

/* Agents are called back as after a rollback; who comes back later begins with nothing known. */
static void somebody_elses_routing_ends_it_with_the_agents_called_back(void **state)
{
	struct coord_agent agent = { 0 };
	struct coord_drain d = { .agents = &agent, .nagents = 1, .txn = 7, .max_sends = 1 };
	struct phase_notice n, ask;
	struct coordinator c;

	(void)state;
	coordinator_init(&c, 1, 1);
	coordinator_drain(&c, &d);
	coordinator_step(&c, EV_RECOVER);
	assert_int_equal(coordinator_step(&c, EV_DONE), ACT_SCAN);
	/* nobody knows whether it had drained */
	assert_int_equal(coordinator_step(&c, EV_SUPERSEDED), ACT_NOTIFY);
	coordinator_notice(&c, &n);
	assert_int_equal(n.phase, PHASE_UNPATH);
	assert_int_equal(coordinator_step(&c, EV_DONE), ACT_AWAIT);
	assert_int_equal(coordinator_ack(&c, 0, &n), ACT_NOTIFY);
	coordinator_notice(&c, &n);
	assert_int_equal(n.phase, PHASE_REPATH);
	assert_int_equal(coordinator_step(&c, EV_DONE), ACT_AWAIT);
	assert_int_equal(coordinator_step(&c, EV_DEADLINE), ACT_FINISH);
	assert_int_equal(c.outcome, OUTCOME_SUPERSEDED);
	assert_int_equal(coordinator_step(&c, EV_DONE), ACT_STOP);
	/* who is drained and asks later is told to come back, too */
	ask = n;
	ask.phase = PHASE_UNPATH;
	assert_true(coordinator_answer(&n, &c, &ask));
	assert_int_equal(n.phase, PHASE_REPATH);
	coordinator_step(&c, EV_RECOVER);
	assert_int_equal(c.instead, OUTCOME_NONE);
}

static void recovery_goes_straight_to_the_way_back(void **state)
{
	struct coordinator c;

	(void)state;
	coordinator_init(&c, 3, 2);
	assert_int_equal(coordinator_step(&c, EV_RECOVER), ACT_BEGIN_ROLLBACK);
	assert_int_equal(coordinator_step(&c, EV_FAILED), ACT_SCAN);
	assert_int_equal(coordinator_step(&c, EV_FAILED), ACT_WRITE_BACK);
	assert_int_equal(coordinator_step(&c, EV_DONE), ACT_READ_BACK);
	assert_int_equal(coordinator_step(&c, EV_FAILED), ACT_WRITE_BACK);
	assert_int_equal(coordinator_step(&c, EV_DONE), ACT_READ_BACK);
	assert_int_equal(coordinator_step(&c, EV_FAILED), ACT_FINISH);
	assert_int_equal(c.outcome, OUTCOME_INCOMPLETE);
	assert_int_equal(coordinator_step(&c, EV_DONE), ACT_STOP);
	/* and once more, when the switch is back */
	assert_int_equal(coordinator_step(&c, EV_RECOVER), ACT_BEGIN_ROLLBACK);
	coordinator_step(&c, EV_DONE);
	assert_int_equal(coordinator_step(&c, EV_DONE), ACT_FINISH);
	assert_int_equal(c.outcome, OUTCOME_ROLLED_BACK);
}

#define AGENTS 1000

struct drained {
	struct coordinator c;
	struct coord_agent agents[AGENTS];
};

static void begin_drain(struct drained *d, uint32_t nagents, bool without_silent)
{
	struct coord_drain dr = { .agents = d->agents,
				  .nagents = nagents,
				  .txn = 9,
				  .max_sends = 2,
				  .without_silent = without_silent };

	memset(d, 0, sizeof(*d));
	coordinator_init(&d->c, 1, 2);
	coordinator_drain(&d->c, &dr);
	coordinator_step(&d->c, EV_START);
	while (d->c.action != ACT_NOTIFY)
		coordinator_step(&d->c, EV_DONE);
}

static enum coord_action answer(struct drained *d, uint32_t agent, uint32_t seq, uint16_t flags)
{
	struct phase_notice n = { .version = PHASE_NOTICE_VERSION,
				  .phase = (uint8_t)d->c.asked,
				  .flags = flags,
				  .repeat = 1,
				  .seq = seq,
				  .txn = 9 };

	return coordinator_ack(&d->c, agent, &n);
}

static void agents_are_drained_before_and_called_back_after(void **state)
{
	static const enum coord_action want[] = { ACT_WRITE, ACT_READ, ACT_BEGIN_REPATH,
						  ACT_NOTIFY };
	struct drained d;
	struct phase_notice n;

	(void)state;
	begin_drain(&d, 2, false);
	assert_int_equal(d.c.phase, PHASE_UNPATH);
	coordinator_notice(&d.c, &n);
	assert_int_equal(n.phase, PHASE_UNPATH);
	assert_int_equal(n.txn, 9);
	assert_int_equal(coordinator_step(&d.c, EV_DONE), ACT_AWAIT);
	assert_int_equal(answer(&d, 0, n.seq, 0), ACT_AWAIT);
	assert_int_equal(answer(&d, 0, n.seq, 0), ACT_AWAIT);
	assert_int_equal(answer(&d, 2, n.seq, 0), ACT_AWAIT);
	assert_int_equal(coordinator_step(&d.c, EV_RESEND), ACT_NOTIFY);
	assert_int_equal(coordinator_step(&d.c, EV_DONE), ACT_AWAIT);
	assert_int_equal(coordinator_step(&d.c, EV_RESEND), ACT_AWAIT);
	assert_int_equal(answer(&d, 1, n.seq, 0), ACT_BEGIN_WAVE);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		assert_int_equal(coordinator_step(&d.c, EV_DONE), want[i]);
	coordinator_notice(&d.c, &n);
	assert_int_equal(n.phase, PHASE_REPATH);
	assert_int_equal(n.flags, 0);
	coordinator_step(&d.c, EV_DONE);
	answer(&d, 0, n.seq, 0);
	assert_int_equal(coordinator_gone(&d.c, 1), ACT_BEGIN_CONFIRM);
	assert_int_equal(coordinator_step(&d.c, EV_DONE), ACT_WAIT);
	coordinator_step(&d.c, EV_EXTEND);
	assert_int_equal(d.c.extended, 1);
	assert_int_equal(coordinator_step(&d.c, EV_TIMEOUT), ACT_BEGIN_ROLLBACK);
	assert_int_equal(d.c.why, WHY_TIMEOUT);
}

static void silence_aborts_before_anything_is_written(void **state)
{
	struct drained d;
	struct phase_notice n;

	(void)state;
	begin_drain(&d, 2, false);
	coordinator_step(&d.c, EV_DONE);
	answer(&d, 0, 1, 0);
	assert_int_equal(coordinator_step(&d.c, EV_DEADLINE), ACT_BEGIN_REPATH);
	assert_int_equal(d.c.why, WHY_SILENT);
	assert_true(d.agents[1].without && !d.agents[0].without);
	assert_int_equal(coordinator_step(&d.c, EV_FAILED), ACT_NOTIFY);
	coordinator_notice(&d.c, &n);
	assert_int_equal(n.flags, NOTICE_ABORT);
	coordinator_step(&d.c, EV_DONE);
	assert_int_equal(answer(&d, 0, n.seq, 0), ACT_FINISH); /* nobody waits for the silent */
	assert_int_equal(d.c.outcome, OUTCOME_REFUSED);
}

static void silence_is_named_when_it_goes_on_without(void **state)
{
	struct drained d;

	(void)state;
	begin_drain(&d, 3, true);
	coordinator_step(&d.c, EV_DONE);
	answer(&d, 0, 1, 0);
	answer(&d, 1, 1, NOTICE_FAILED);
	assert_int_equal(coordinator_step(&d.c, EV_DEADLINE), ACT_BEGIN_WAVE);
	assert_false(d.agents[0].without);
	assert_true(d.agents[1].without && d.agents[1].state == COORD_FAILED);
	assert_true(d.agents[2].without && d.agents[2].state == COORD_SILENT);
	answer(&d, 2, 1, 0); /* late, but it did */
	assert_false(d.agents[2].without);
}

/* Agent 1 says it, agent 0 has drained. */
static void disputed(const struct phase_notice *said, enum coord_dispute what)
{
	struct drained d;

	begin_drain(&d, 2, true);
	coordinator_step(&d.c, EV_DONE);
	answer(&d, 0, 1, 0);
	coordinator_ack(&d.c, 1, said);
	assert_int_equal(d.c.dispute, what);
	if (!what)
		return;
	assert_int_equal(d.c.disputed, 1);
	assert_int_equal(d.c.action, ACT_BEGIN_REPATH); /* on-silent continue or not */
	assert_int_equal(d.c.why, WHY_DISPUTED);
	assert_false(d.c.touched);
	coordinator_step(&d.c, EV_DONE);
	coordinator_step(&d.c, EV_DONE);
	assert_int_equal(coordinator_step(&d.c, EV_DEADLINE), ACT_FINISH);
	assert_int_equal(d.c.outcome, OUTCOME_REFUSED);
}

static void what_an_agent_cannot_have_said_stops_before_anything_is_written(void **state)
{
	const struct phase_notice done = { .version = PHASE_NOTICE_VERSION,
					   .phase = PHASE_UNPATH,
					   .repeat = 1,
					   .seq = 1,
					   .txn = 9 };
	struct phase_notice n = done;

	(void)state;
	disputed(&done, DISPUTE_NONE);
	n.seq = 2;
	disputed(&n, DISPUTE_UNASKED);
	n.phase = PHASE_REPATH;
	disputed(&n, DISPUTE_RETURN);
	n.seq = 1;
	disputed(&n, DISPUTE_RETURN);
	n.flags = NOTICE_FAILED;
	disputed(&n, DISPUTE_RETURN);
	n = done;
	n.txn = 10;
	disputed(&n, DISPUTE_LATER);
	n.txn = 8; /* late */
	disputed(&n, DISPUTE_NONE);
}

static void two_answers_of_one_number_stop_it(void **state)
{
	struct drained d;

	(void)state;
	begin_drain(&d, 3, false);
	coordinator_step(&d.c, EV_DONE);
	answer(&d, 0, 1, 0);
	answer(&d, 0, 1, 0);
	assert_int_equal(d.c.dispute, DISPUTE_NONE);
	assert_int_equal(answer(&d, 0, 1, NOTICE_FAILED), ACT_BEGIN_REPATH);
	assert_int_equal(d.c.dispute, DISPUTE_TWO);
}

/* In the middle of a wave what was written goes back. */
static void a_return_while_it_is_written_leads_back(void **state)
{
	struct phase_notice n = {
		.version = PHASE_NOTICE_VERSION, .phase = PHASE_REPATH, .seq = 77, .txn = 9
	};
	struct drained d;

	(void)state;
	begin_drain(&d, 1, false);
	coordinator_step(&d.c, EV_DONE);
	answer(&d, 0, 1, 0);
	assert_int_equal(coordinator_step(&d.c, EV_DONE), ACT_WRITE);
	coordinator_ack(&d.c, 0, &n);
	assert_int_equal(d.c.action, ACT_WRITE);
	assert_int_equal(coordinator_step(&d.c, EV_DONE), ACT_BEGIN_ROLLBACK);
	assert_int_equal(d.c.why, WHY_DISPUTED);
	/* nothing keeps the old tables from coming back, once it was asked again */
	coordinator_ack(&d.c, 0, &n);
	assert_int_equal(d.c.action, ACT_BEGIN_ROLLBACK);
	assert_int_equal(coordinator_step(&d.c, EV_DONE), ACT_SCAN);
	assert_int_equal(coordinator_step(&d.c, EV_FAILED), ACT_NOTIFY);
	coordinator_notice(&d.c, &n);
	assert_int_equal(n.phase, PHASE_UNPATH);
	assert_int_equal(n.seq, 78);
}

/* An agent that was called back says so before it returns. */
static void what_an_agent_says_before_it_returns_stops_the_write(void **state)
{
	struct phase_notice n = { .version = PHASE_NOTICE_VERSION,
				  .phase = PHASE_REPATH,
				  .flags = NOTICE_ASK,
				  .repeat = 1,
				  .seq = 2,
				  .txn = 9 };
	struct drained d;

	(void)state;
	begin_drain(&d, 1, false);
	coordinator_step(&d.c, EV_DONE);
	answer(&d, 0, 1, 0);
	assert_int_equal(coordinator_step(&d.c, EV_DONE), ACT_WRITE);
	coordinator_doubt(&d.c, 0, &n);
	assert_int_equal(d.c.dispute, DISPUTE_RETURN);
	assert_int_equal(coordinator_step(&d.c, EV_DONE), ACT_BEGIN_ROLLBACK);
}

static void who_has_drained_is_asked_once_more_before_the_first_write(void **state)
{
	struct drained d;
	struct phase_notice n;

	(void)state;
	begin_drain(&d, 2, false);
	d.c.drain.recheck = true;
	coordinator_step(&d.c, EV_DONE);
	answer(&d, 0, 1, 0);
	assert_int_equal(answer(&d, 1, 1, 0), ACT_NOTIFY);
	coordinator_notice(&d.c, &n);
	assert_int_equal(n.phase, PHASE_UNPATH);
	assert_int_equal(n.seq, 2);
	coordinator_step(&d.c, EV_DONE);
	answer(&d, 0, 1, 0); /* old */
	answer(&d, 0, 2, 0);
	assert_int_equal(d.c.action, ACT_AWAIT);
	assert_int_equal(coordinator_step(&d.c, EV_DEADLINE), ACT_BEGIN_REPATH);
	assert_int_equal(d.c.why, WHY_SILENT);
	/* once */
	begin_drain(&d, 1, false);
	d.c.drain.recheck = true;
	coordinator_step(&d.c, EV_DONE);
	answer(&d, 0, 1, 0);
	coordinator_step(&d.c, EV_DONE);
	assert_int_equal(answer(&d, 0, 2, 0), ACT_BEGIN_WAVE);
}

static void settle(struct drained *d, uint32_t nagents)
{
	assert_int_equal(d->c.action, ACT_NOTIFY);
	coordinator_step(&d->c, EV_DONE);
	for (uint32_t i = 0; i < nagents; i++)
		answer(d, i, d->c.seq, 0);
}

static void who_joins_when_all_is_written_drains_before_the_way_home(void **state)
{
	struct drained d;

	(void)state;
	begin_drain(&d, 1, false);
	settle(&d, 1);
	while (d.c.action != ACT_BEGIN_REPATH)
		coordinator_step(&d.c, EV_DONE);
	coordinator_join(&d.c, d.agents, 2);
	assert_int_equal(coordinator_step(&d.c, EV_DONE), ACT_BEGIN_UNPATH);
	coordinator_step(&d.c, EV_DONE);
	settle(&d, 2);
	assert_int_equal(d.c.action, ACT_BEGIN_REPATH);
	assert_int_equal(coordinator_step(&d.c, EV_DONE), ACT_NOTIFY);
	assert_int_equal(d.c.asked, PHASE_REPATH);
	settle(&d, 2);
	assert_int_equal(d.c.action, ACT_BEGIN_CONFIRM);
}

/* Before the first write of the way back, and once more when one joins after the last. */
static void who_joins_on_the_way_back_drains_as_well(void **state)
{
	struct drained d;

	(void)state;
	begin_drain(&d, 1, false);
	settle(&d, 1);
	while (d.c.action != ACT_NOTIFY)
		coordinator_step(&d.c, EV_DONE);
	settle(&d, 1);
	coordinator_step(&d.c, EV_DONE);
	assert_int_equal(coordinator_step(&d.c, EV_TIMEOUT), ACT_BEGIN_ROLLBACK);
	coordinator_join(&d.c, d.agents, 2);
	coordinator_step(&d.c, EV_DONE);
	assert_int_equal(coordinator_step(&d.c, EV_FAILED), ACT_NOTIFY);
	settle(&d, 2);
	assert_int_equal(d.c.action, ACT_WRITE_BACK);
	assert_int_equal(coordinator_step(&d.c, EV_DONE), ACT_READ_BACK);
	coordinator_join(&d.c, d.agents, 3);
	assert_int_equal(coordinator_step(&d.c, EV_DONE), ACT_NOTIFY);
	assert_int_equal(d.c.asked, PHASE_UNPATH);
	settle(&d, 3);
	assert_int_equal(d.c.action, ACT_NOTIFY); /* not written once more */
	assert_int_equal(d.c.asked, PHASE_REPATH);
	settle(&d, 3);
	assert_int_equal(d.c.action, ACT_FINISH);
	assert_int_equal(d.c.outcome, OUTCOME_ROLLED_BACK);
}

static void who_asks_after_the_end_is_called_back(void **state)
{
	struct phase_notice ask = { .version = PHASE_NOTICE_VERSION,
				    .phase = PHASE_UNPATH,
				    .flags = NOTICE_ASK,
				    .repeat = 2,
				    .seq = 4,
				    .txn = 9 };
	struct drained d;
	struct phase_notice n;

	(void)state;
	begin_drain(&d, 1, false);
	assert_false(coordinator_answer(&n, &d.c, &ask));
	coordinator_step(&d.c, EV_DONE);
	while (d.c.action != ACT_STOP)
		coordinator_step(&d.c, d.c.action == ACT_AWAIT ? EV_DEADLINE : EV_DONE);
	assert_true(coordinator_answer(&n, &d.c, &ask));
	assert_int_equal(n.phase, PHASE_REPATH);
	assert_int_equal(n.txn, 9);
	assert_true(n.seq > ask.seq && n.seq > d.c.seq);
	assert_true(coordinator_answer(&n, NULL, &ask));
}

static void who_begins_while_others_are_drained_is_asked_as_they_were(void **state)
{
	struct phase_notice ask = { .version = PHASE_NOTICE_VERSION,
				    .phase = PHASE_REPATH,
				    .flags = NOTICE_ASK,
				    .repeat = 1 };
	struct drained d;
	struct phase_notice n;

	(void)state;
	assert_false(coordinator_answer(&n, NULL, &ask));
	begin_drain(&d, 1, false);
	assert_true(coordinator_answer(&n, &d.c, &ask));
	assert_int_equal(n.phase, PHASE_UNPATH);
	assert_int_equal(n.txn, 9);
	assert_int_equal(n.seq, d.c.seq);
	ask.txn = 9; /* who knows of it is asked in its time */
	assert_false(coordinator_answer(&n, &d.c, &ask));
	ask.txn = 8;
	settle(&d, 1);
	while (d.c.action != ACT_NOTIFY) {
		assert_true(coordinator_answer(&n, &d.c, &ask));
		coordinator_step(&d.c, EV_DONE);
	}
	assert_int_equal(d.c.asked, PHASE_REPATH);
	while (d.c.action != ACT_STOP) {
		assert_false(coordinator_answer(&n, &d.c, &ask));
		coordinator_step(&d.c, d.c.action == ACT_AWAIT ? EV_DEADLINE : EV_DONE);
		if (d.c.action == ACT_WAIT)
			coordinator_step(&d.c, EV_CONFIRM);
	}
	assert_false(coordinator_answer(&n, &d.c, &ask));
}

/* It missed the call back of this update, or of an earlier one. */
static void who_was_left_behind_is_called_back_as_soon_as_nobody_has_to_be_away(void **state)
{
	struct phase_notice missed = { .version = PHASE_NOTICE_VERSION,
				       .phase = PHASE_UNPATH,
				       .flags = NOTICE_ASK,
				       .repeat = 2,
				       .seq = 1,
				       .txn = 9 },
			    earlier = missed;
	struct drained d;
	struct phase_notice n;

	(void)state;
	earlier.txn = 7;
	begin_drain(&d, 2, false);
	settle(&d, 2);
	while (d.c.action != ACT_NOTIFY) {
		assert_false(coordinator_answer(&n, &d.c, &missed));
		coordinator_step(&d.c, EV_DONE);
	}
	while (d.c.action != ACT_WAIT)
		coordinator_step(&d.c, d.c.action == ACT_AWAIT ? EV_DEADLINE : EV_DONE);
	assert_int_equal(d.c.drain.agents[0].state, COORD_SILENT);
	assert_true(coordinator_answer(&n, &d.c, &missed));
	assert_int_equal(n.phase, PHASE_REPATH);
	assert_int_equal(n.seq, d.c.seq); /* so that its answer counts */
	answer(&d, 0, n.seq, 0);
	assert_int_equal(d.c.drain.agents[0].state, COORD_DONE);
	assert_true(coordinator_answer(&n, &d.c, &earlier));
	assert_int_equal(n.phase, PHASE_REPATH);
	assert_int_equal(n.txn, 7);
	/* while it is rolled back it is asked in its time */
	coordinator_step(&d.c, EV_TIMEOUT);
	assert_int_equal(d.c.phase, PHASE_ROLLBACK);
	assert_false(coordinator_answer(&n, &d.c, &missed));
	assert_false(coordinator_answer(&n, &d.c, &earlier));
}

static void a_thousand_agents_take_one_notice_a_question(void **state)
{
	static struct drained d;
	unsigned notices = 0, answers = 0;

	(void)state;
	begin_drain(&d, AGENTS, false);
	while (d.c.action != ACT_WAIT) {
		notices += d.c.action == ACT_NOTIFY;
		coordinator_step(&d.c, EV_DONE);
		for (uint32_t i = 0; d.c.action == ACT_AWAIT; i++, answers++)
			answer(&d, i, d.c.seq, 0);
	}
	assert_int_equal(notices, 2);
	assert_int_equal(answers, 2 * AGENTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(success_goes_through_the_phases_in_order),
		cmocka_unit_test(confirmation_that_cannot_be_kept_waits_again),
		cmocka_unit_test(what_ends_the_confirm_window_is_told_apart),
		cmocka_unit_test(
			every_order_of_failures_and_cancels_ends_and_never_writes_unjournalled),
		cmocka_unit_test(recovery_goes_straight_to_the_way_back),
		cmocka_unit_test(somebody_elses_routing_ends_it_with_the_agents_called_back),
		cmocka_unit_test(agents_are_drained_before_and_called_back_after),
		cmocka_unit_test(silence_aborts_before_anything_is_written),
		cmocka_unit_test(what_an_agent_cannot_have_said_stops_before_anything_is_written),
		cmocka_unit_test(two_answers_of_one_number_stop_it),
		cmocka_unit_test(a_return_while_it_is_written_leads_back),
		cmocka_unit_test(what_an_agent_says_before_it_returns_stops_the_write),
		cmocka_unit_test(who_has_drained_is_asked_once_more_before_the_first_write),
		cmocka_unit_test(silence_is_named_when_it_goes_on_without),
		cmocka_unit_test(who_joins_when_all_is_written_drains_before_the_way_home),
		cmocka_unit_test(who_joins_on_the_way_back_drains_as_well),
		cmocka_unit_test(who_asks_after_the_end_is_called_back),
		cmocka_unit_test(who_begins_while_others_are_drained_is_asked_as_they_were),
		cmocka_unit_test(
			who_was_left_behind_is_called_back_as_soon_as_nobody_has_to_be_away),
		cmocka_unit_test(a_thousand_agents_take_one_notice_a_question),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
