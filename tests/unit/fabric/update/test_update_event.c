/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/update_event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct executor_status full_status(void)
{
	struct executor_status st = {
		.phase = PHASE_UNPATH,
		.wave = 3,
		.nwaves = 9,
		.total = 100,
		.written = 50,
		.verified = 40,
		.retries = 2,
		.failed = 1,
		.foreign = 4,
		.waiting = true,
		.why = WHY_FOREIGN,
		.txn = "20261122T041936Z-6788",
		.step = "asking",
		.text = "leaf\xff is slow",
	};

	st.agents.asked = PHASE_UNPATH;
	st.agents.expected = 8;
	st.agents.waiting = 3;
	st.agents.done = 4;
	st.agents.failed = 1;
	st.agents.silent = 2;
	st.agents.gone = 1;
	st.agents.resent = 5;
	snprintf(st.agents.who, sizeof(st.agents.who), "n0001 n0002");
	st.slow[0].guid = 0x2000000000000010;
	st.slow[0].us = 1234;
	return st;
}

static void same_status(const struct executor_status *a, const struct executor_status *b)
{
	assert_int_equal(a->phase, b->phase);
	assert_int_equal(a->wave, b->wave);
	assert_int_equal(a->nwaves, b->nwaves);
	assert_int_equal(a->total, b->total);
	assert_int_equal(a->written, b->written);
	assert_int_equal(a->verified, b->verified);
	assert_int_equal(a->retries, b->retries);
	assert_int_equal(a->failed, b->failed);
	assert_int_equal(a->foreign, b->foreign);
	assert_int_equal(a->waiting, b->waiting);
	assert_int_equal(a->why, b->why);
	assert_string_equal(a->txn, b->txn);
	assert_string_equal(a->step, b->step);
	assert_int_equal(a->agents.asked, b->agents.asked);
	assert_int_equal(a->agents.expected, b->agents.expected);
	assert_int_equal(a->agents.waiting, b->agents.waiting);
	assert_int_equal(a->agents.done, b->agents.done);
	assert_int_equal(a->agents.failed, b->agents.failed);
	assert_int_equal(a->agents.silent, b->agents.silent);
	assert_int_equal(a->agents.gone, b->agents.gone);
	assert_int_equal(a->agents.resent, b->agents.resent);
	assert_string_equal(a->agents.who, b->agents.who);
	assert_int_equal(a->slow[0].guid, b->slow[0].guid);
	assert_int_equal(a->slow[0].us, b->slow[0].us);
}

static void through(const struct executor_event *ev, const struct executor_status *st,
		    struct executor_event *ev2, struct executor_status *st2)
{
	json_t *j = update_event_json(ev, st, NULL);

	assert_non_null(j);
	assert_true(update_event_parse(ev2, st2, j));
	json_decref(j);
}

static void an_event_comes_as_it_was_sent(void **state)
{
	struct executor_event ev = { .kind = APPLY_PHASE_END,
				     .phase = PHASE_WRITE,
				     .wave = 2,
				     .items = 17,
				     .rc = -5 },
			      ev2;
	struct executor_status st = full_status(), st2;

	(void)state;
	snprintf(ev.text, sizeof(ev.text), "written");
	through(&ev, &st, &ev2, &st2);
	assert_int_equal(ev2.kind, ev.kind);
	assert_int_equal(ev2.phase, ev.phase);
	assert_int_equal(ev2.wave, ev.wave);
	assert_int_equal(ev2.items, ev.items);
	assert_int_equal(ev2.rc, ev.rc);
	assert_string_equal(ev2.text, ev.text);
	assert_int_equal(ev2.why, WHY_FOREIGN);
	same_status(&st, &st2);
	assert_string_equal(st2.text, "leaf? is slow");
}

static void one_of_which_nothing_is_known_does_too(void **state)
{
	struct executor_event ev = { .kind = APPLY_PHASE_BEGIN, .phase = PHASE_PREPARE }, ev2;
	struct executor_status st = { .phase = PHASE_PREPARE }, st2;

	(void)state;
	through(&ev, &st, &ev2, &st2);
	assert_int_equal(ev2.phase, PHASE_PREPARE);
	same_status(&st, &st2);
}

static void every_kind_has_a_word(void **state)
{
	(void)state;
	for (int k = APPLY_PHASE_BEGIN; k <= APPLY_SETTLED; k++) {
		struct executor_event ev = { .kind = (enum executor_event_kind)k }, ev2;
		struct executor_status st = full_status(), st2;

		through(&ev, &st, &ev2, &st2);
		assert_int_equal(ev2.kind, k);
	}
}

static void what_is_no_event_is_refused(void **state)
{
	json_t *j = json_pack("{s:s}", "event", "hello");
	struct executor_event ev;
	struct executor_status st;

	(void)state;
	assert_false(update_event_parse(&ev, &st, j));
	json_decref(j);
}

static void no_wave_is_behind_the_last(void **state)
{
	(void)state;
	assert_int_equal(update_event_wave(0, 1), 1);
	assert_int_equal(update_event_wave(1, 1), 1); /* all are written */
	assert_int_equal(update_event_wave(0, 9), 1);
	assert_int_equal(update_event_wave(8, 9), 9);
	assert_int_equal(update_event_wave(9, 9), 9);
	assert_int_equal(update_event_wave(3, 0), 4); /* how many there are is not known */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_wave_is_behind_the_last),
		cmocka_unit_test(an_event_comes_as_it_was_sent),
		cmocka_unit_test(one_of_which_nothing_is_known_does_too),
		cmocka_unit_test(every_kind_has_a_word),
		cmocka_unit_test(what_is_no_event_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
