/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/agent/agent_state.h"
#include "fabric/update/protocol/coordinator.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

static unsigned notice(struct agent_state *a, enum phase what, uint64_t txn, uint32_t seq)
{
	struct phase_notice n = {
		.version = PHASE_NOTICE_VERSION, .phase = (uint8_t)what, .seq = seq, .txn = txn
	};

	return agent_state_notice(a, &n);
}

static void assert_answer(const struct agent_state *a, enum phase what, uint32_t seq,
			  uint16_t flags)
{
	struct phase_notice n;

	agent_state_ack(a, &n);
	assert_int_equal(n.version, PHASE_NOTICE_VERSION);
	assert_int_equal(n.phase, what);
	assert_int_equal(n.seq, seq);
	assert_int_equal(n.flags, flags);
}

static void drain(struct agent_state *a, uint64_t txn, uint32_t seq)
{
	assert_int_equal(notice(a, PHASE_UNPATH, txn, seq), AGENT_SAVE | AGENT_DRAIN);
	assert_int_equal(agent_state_step(a, AGENT_EV_DONE), AGENT_SAVE | AGENT_MIGRATE);
	assert_int_equal(agent_state_step(a, AGENT_EV_DONE), AGENT_SAVE | AGENT_ACK);
	assert_answer(a, PHASE_UNPATH, seq, 0);
	assert_int_equal(a->mode, AGENT_ESCAPE);
}

static void drains_migrates_answers_and_comes_back(void **state)
{
	struct agent_state a;

	(void)state;
	agent_state_init(&a, NULL);
	assert_int_equal(agent_state_step(&a, AGENT_EV_START), AGENT_SUBSCRIBE);
	assert_int_equal(agent_state_step(&a, AGENT_EV_SUBSCRIBED), 0);
	drain(&a, 7, 1);
	assert_int_equal(notice(&a, PHASE_REPATH, 7, 2), AGENT_SAVE | AGENT_RETURN);
	assert_int_equal(agent_state_step(&a, AGENT_EV_DONE), AGENT_SAVE | AGENT_ACK);
	assert_answer(&a, PHASE_REPATH, 2, 0);
	assert_int_equal(a.mode, AGENT_BASE);
	assert_int_equal(agent_state_step(&a, AGENT_EV_EXIT), AGENT_UNSUBSCRIBE | AGENT_EXIT);
}

/* Anybody may have said it: whoever leads the update hears of it before packets are elsewhere. */
static void who_is_wary_says_that_it_was_called_back_and_waits(void **state)
{
	struct agent_saved saved;
	struct agent_state a;

	(void)state;
	agent_state_init(&a, NULL);
	a.wary = true;
	drain(&a, 7, 1);
	assert_int_equal(notice(&a, PHASE_REPATH, 7, 2), AGENT_SAVE | AGENT_ACK);
	assert_answer(&a, PHASE_REPATH, 2, NOTICE_ASK);
	assert_int_equal(a.mode, AGENT_RECALLED);
	/* what is said again does not make it hurry; what it says is said again */
	assert_int_equal(notice(&a, PHASE_REPATH, 7, 3), AGENT_SAVE);
	assert_int_equal(agent_state_step(&a, AGENT_EV_SAFETY), 0);
	assert_int_equal(agent_state_step(&a, AGENT_EV_TIMEOUT),
			 AGENT_SUBSCRIBE | AGENT_SAVE | AGENT_ACK);
	assert_answer(&a, PHASE_REPATH, 3, NOTICE_ASK);
	/* asked again meanwhile: it never left */
	assert_int_equal(notice(&a, PHASE_UNPATH, 7, 4), AGENT_SAVE | AGENT_ACK);
	assert_answer(&a, PHASE_UNPATH, 4, 0);
	assert_int_equal(a.mode, AGENT_ESCAPE);
	assert_int_equal(agent_state_step(&a, AGENT_EV_GO), 0);
	/* nobody objects; one that dies meanwhile returns at its next start */
	notice(&a, PHASE_REPATH, 7, 5);
	agent_state_saved(&a, &saved);
	assert_int_equal(agent_state_step(&a, AGENT_EV_GO), AGENT_SAVE | AGENT_RETURN);
	assert_int_equal(agent_state_step(&a, AGENT_EV_DONE), AGENT_SAVE | AGENT_ACK);
	assert_answer(&a, PHASE_REPATH, 5, 0);
	assert_int_equal(a.mode, AGENT_BASE);
	agent_state_init(&a, &saved);
	assert_int_equal(agent_state_step(&a, AGENT_EV_START),
			 AGENT_SUBSCRIBE | AGENT_SAVE | AGENT_RETURN);
}

static void old_and_doubled_notices_change_nothing(void **state)
{
	struct agent_state a;

	(void)state;
	agent_state_init(&a, NULL);
	drain(&a, 7, 5);
	assert_int_equal(notice(&a, PHASE_UNPATH, 7, 5), 0);
	assert_int_equal(notice(&a, PHASE_REPATH, 7, 4), 0);
	assert_int_equal(notice(&a, PHASE_REPATH, 6, 90), AGENT_REFUSE);
	assert_int_equal(notice(&a, PHASE_WRITE, 7, 90), 0);
	assert_int_equal(a.mode, AGENT_ESCAPE);
	/* sent again: the answer was lost */
	assert_int_equal(notice(&a, PHASE_UNPATH, 7, 6), AGENT_SAVE | AGENT_ACK);
	assert_answer(&a, PHASE_UNPATH, 6, 0);
}

static void refuses(struct agent_state *a, const struct phase_notice *n, uint16_t why)
{
	struct agent_state was = *a;
	uint16_t repeat = a->refused.repeat;

	assert_int_equal(agent_state_notice(a, n), AGENT_REFUSE);
	assert_int_equal(a->refused.flags, NOTICE_FAILED | why);
	assert_int_equal(a->refused.version, PHASE_NOTICE_VERSION);
	assert_int_equal(a->refused.phase, n->phase);
	assert_int_equal(a->refused.seq, n->seq);
	assert_int_equal(a->refused.txn, n->txn);
	assert_true(a->refused.repeat > repeat && a->refused.repeat & 0x8000);
	was.refused = a->refused;
	assert_memory_equal(&was, a, sizeof(was));
}

static void a_question_of_an_earlier_transaction_is_refused_and_told(void **state)
{
	struct phase_notice n = {
		.version = PHASE_NOTICE_VERSION, .phase = PHASE_UNPATH, .seq = 90, .txn = 6
	};
	struct agent_state a;

	(void)state;
	agent_state_init(&a, NULL);
	drain(&a, 7, 0x20001);
	refuses(&a, &n, NOTICE_LATER);
	n.phase = PHASE_REPATH;
	refuses(&a, &n, NOTICE_LATER);
	/* of a process that another one has taken over from; merely late is nothing to tell */
	n.txn = 7;
	n.seq = 0x1ffff;
	refuses(&a, &n, NOTICE_LATER);
	n.seq = 0x20001;
	assert_int_equal(agent_state_notice(&a, &n), 0);
	assert_int_equal(a.mode, AGENT_ESCAPE);
}

static void numbers_out_of_bounds_are_refused_and_told(void **state)
{
	const struct phase_notice good = { .version = PHASE_NOTICE_VERSION,
					   .phase = PHASE_UNPATH,
					   .hold_s = PHASE_HOLD_MAX,
					   .seq = PHASE_SEQ_MAX,
					   .txn = PHASE_TXN_MAX };
	struct phase_notice n;
	struct agent_state a;

	(void)state;
	agent_state_init(&a, NULL);
	n = good;
	n.hold_s++;
	refuses(&a, &n, NOTICE_BOUNDS);
	n = good;
	n.seq++;
	refuses(&a, &n, NOTICE_BOUNDS);
	n = good;
	n.txn++;
	refuses(&a, &n, NOTICE_BOUNDS);
	/* what the driver allows may be less */
	a.txn_max = 1000;
	n = good;
	refuses(&a, &n, NOTICE_BOUNDS);
	n.txn = 1000;
	assert_int_equal(agent_state_notice(&a, &n), AGENT_SAVE | AGENT_DRAIN);
}

static void what_is_forgotten_counts_for_nothing(void **state)
{
	struct agent_state a;

	(void)state;
	agent_state_init(&a, NULL);
	drain(&a, 700, 5);
	assert_int_equal(agent_state_step(&a, AGENT_EV_FORGET), 0); /* not on the escape LIDs */
	assert_int_equal(a.txn, 700);
	notice(&a, PHASE_REPATH, 700, 6);
	agent_state_step(&a, AGENT_EV_DONE);
	assert_int_equal(notice(&a, PHASE_UNPATH, 7, 1), AGENT_REFUSE);
	assert_int_equal(agent_state_step(&a, AGENT_EV_FORGET), AGENT_SAVE);
	drain(&a, 7, 1);
}

static void a_drain_that_is_called_off_is_hurried_and_undone(void **state)
{
	struct agent_state a;

	(void)state;
	agent_state_init(&a, NULL);
	notice(&a, PHASE_UNPATH, 7, 1);
	assert_int_equal(notice(&a, PHASE_REPATH, 7, 2), AGENT_SAVE | AGENT_CANCEL);
	assert_int_equal(agent_state_step(&a, AGENT_EV_FAILED), AGENT_SAVE | AGENT_RETURN);
	assert_int_equal(agent_state_step(&a, AGENT_EV_DONE), AGENT_SAVE | AGENT_ACK);
	assert_answer(&a, PHASE_REPATH, 2, 0);
}

static void a_hook_that_fails_is_undone_and_told(void **state)
{
	struct agent_state a;

	(void)state;
	agent_state_init(&a, NULL);
	notice(&a, PHASE_UNPATH, 7, 1);
	agent_state_step(&a, AGENT_EV_DONE);
	assert_int_equal(agent_state_step(&a, AGENT_EV_FAILED), AGENT_SAVE | AGENT_RETURN);
	assert_int_equal(agent_state_step(&a, AGENT_EV_DONE), AGENT_SAVE | AGENT_ACK);
	assert_answer(&a, PHASE_UNPATH, 1, NOTICE_FAILED);
	assert_int_equal(a.mode, AGENT_BASE);
	drain(&a, 7, 2);
	/* the way back fails, and is tried again */
	notice(&a, PHASE_REPATH, 7, 3);
	assert_int_equal(agent_state_step(&a, AGENT_EV_FAILED), AGENT_SAVE | AGENT_ACK);
	assert_answer(&a, PHASE_REPATH, 3, NOTICE_FAILED);
	assert_int_equal(agent_state_step(&a, AGENT_EV_TIMEOUT),
			 AGENT_SUBSCRIBE | AGENT_SAVE | AGENT_RETURN);
	agent_state_step(&a, AGENT_EV_DONE);
	assert_answer(&a, PHASE_REPATH, 3, 0);
}

static void a_restarted_agent_knows_where_it_was(void **state)
{
	struct agent_saved saved;
	struct agent_state a, b;

	(void)state;
	agent_state_init(&a, NULL);
	drain(&a, 7, 5);
	agent_state_saved(&a, &saved);
	agent_state_init(&b, &saved);
	assert_int_equal(agent_state_step(&b, AGENT_EV_START), AGENT_SUBSCRIBE);
	assert_int_equal(b.mode, AGENT_ESCAPE);
	assert_int_equal(notice(&b, PHASE_REPATH, 7, 4), 0);
	/* in the middle of a hook */
	notice(&a, PHASE_REPATH, 7, 6);
	agent_state_saved(&a, &saved);
	agent_state_init(&b, &saved);
	assert_int_equal(agent_state_step(&b, AGENT_EV_START),
			 AGENT_SUBSCRIBE | AGENT_SAVE | AGENT_RETURN);
	agent_state_step(&b, AGENT_EV_DONE);
	assert_answer(&b, PHASE_REPATH, 6, 0);
}

static void silence_is_asked_about_and_ends_after_the_hold(void **state)
{
	struct agent_state a;
	uint16_t repeat;

	(void)state;
	agent_state_init(&a, NULL);
	agent_state_step(&a, AGENT_EV_SUBSCRIBED);
	assert_int_equal(agent_state_step(&a, AGENT_EV_TIMEOUT), 0);
	assert_int_equal(agent_state_step(&a, AGENT_EV_SAFETY), 0);
	drain(&a, 7, 1);
	repeat = a.repeat;
	assert_int_equal(agent_state_step(&a, AGENT_EV_TIMEOUT), AGENT_SAVE | AGENT_ACK);
	assert_answer(&a, PHASE_UNPATH, 1, NOTICE_ASK);
	assert_true(a.repeat > repeat);
	assert_int_equal(agent_state_step(&a, AGENT_EV_SM), AGENT_SUBSCRIBE);
	assert_int_equal(agent_state_step(&a, AGENT_EV_SAFETY), AGENT_SAVE | AGENT_RETURN);
	agent_state_step(&a, AGENT_EV_DONE);
	assert_answer(&a, PHASE_UNPATH, 1, NOTICE_FAILED);
	assert_int_equal(a.mode, AGENT_BASE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drains_migrates_answers_and_comes_back),
		cmocka_unit_test(who_is_wary_says_that_it_was_called_back_and_waits),
		cmocka_unit_test(old_and_doubled_notices_change_nothing),
		cmocka_unit_test(a_question_of_an_earlier_transaction_is_refused_and_told),
		cmocka_unit_test(numbers_out_of_bounds_are_refused_and_told),
		cmocka_unit_test(what_is_forgotten_counts_for_nothing),
		cmocka_unit_test(a_drain_that_is_called_off_is_hurried_and_undone),
		cmocka_unit_test(a_hook_that_fails_is_undone_and_told),
		cmocka_unit_test(a_restarted_agent_knows_where_it_was),
		cmocka_unit_test(silence_is_asked_about_and_ends_after_the_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
