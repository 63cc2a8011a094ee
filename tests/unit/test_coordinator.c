/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/coordinator.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
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

struct walk {
	unsigned paths, confirmed, refused, back, incomplete;
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
	assert_true(w.confirmed && w.refused && w.back && w.incomplete);
	assert_int_equal(w.paths, w.confirmed + w.refused + w.back + w.incomplete);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(success_goes_through_the_phases_in_order),
		cmocka_unit_test(confirmation_that_cannot_be_kept_waits_again),
		cmocka_unit_test(
			every_order_of_failures_and_cancels_ends_and_never_writes_unjournalled),
		cmocka_unit_test(recovery_goes_straight_to_the_way_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
