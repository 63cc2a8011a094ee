/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/phase_model.h"

#include "fabric/update/protocol/coordinator.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

static void explore(struct phase_found *f, const char *name, struct phase_model m)
{
	m.safety = m.safety || m.lost || m.crashes || m.deaths;
	phase_model_explore(f, &m);
	print_message("%u agents, %s: %lu states, %.3g runs of up to %u steps\n", m.nagents, name,
		      (unsigned long)f->states, f->runs, f->longest);
	if (f->wrong)
		fail_msg("%s\n%s", f->wrong, f->trace);
	assert_true(f->complete);
	assert_true(f->refused + f->confirmed && f->back && f->writes);
}

static void one_agent_ends_well_whatever_happens(void **state)
{
	const struct phase_model base = {
		.nagents = 1, .nwaves = 2, .max_sends = 2, .lost = LOST_ANY
	};
	struct phase_model m = base;
	struct phase_found f;

	(void)state;
	m.doubled = 2;
	m.asks = 1;
	explore(&f, "loss, doubles, asking", m);
	m = base;
	m.earlier = true;
	m.doubled = 1;
	explore(&f, "and an earlier transaction's messages", m);
	m = base;
	m.max_sends = 1;
	m.faults = 3;
	m.hooks = m.cancels = 1;
	explore(&f, "switches and hooks that fail, cancel", m);
	m = base;
	m.sms = m.holds = 1;
	explore(&f, "another SM, hold over", m);
	m = base;
	m.max_sends = 1;
	m.deaths = m.crashes = 1;
	explore(&f, "death of agent and console", m);
	m = base;
	m.max_sends = 1;
	m.deaths = 2;
	m.doubled = 1;
	explore(&f, "console dies twice", m);
}

static void two_agents_end_well_whatever_happens(void **state)
{
	const struct phase_model base = {
		.nagents = 2, .nwaves = 1, .max_sends = 1, .lost = LOST_ANY
	};
	struct phase_model m = base;
	struct phase_found f;

	(void)state;
	m.doubled = m.deaths = 1;
	explore(&f, "loss, doubles, death of the console", m);
	m = base;
	m.crashes = m.ended = 1;
	m.without_silent = true;
	explore(&f, "death of an agent, job over, going on without the silent", m);
	m = base;
	m.sms = m.cancels = 1;
	explore(&f, "another SM, cancel", m);
	m = base;
	m.max_sends = 2;
	explore(&f, "resends", m);
}

/* The whole list at once.  Up to three agents with more of it: make explore. */
static void all_troubles_at_once_end_well(void **state)
{
	struct phase_model m = { .nwaves = 1, .max_sends = 1, .lost = LOST_ANY };
	struct phase_found f;

	(void)state;
	m.doubled = m.crashes = m.deaths = m.sms = 1;
	for (m.nagents = 1; m.nagents <= 2; m.nagents++) {
		explore(&f, "loss, doubles, death of agent and console, another SM", m);
		assert_true(f.lost && f.doubled && f.crashes && f.deaths && f.sms && f.late);
		assert_true(f.confirmed && f.refused && f.back && f.home);
	}
}

/* What the model leaves out cannot be told by who sees the update and the agents. */
static void what_is_left_out_shows_nothing_new(void **state)
{
	struct phase_model m = { .nwaves = 1, .max_sends = 1, .lost = LOST_ANY };
	struct phase_found less, all;

	(void)state;
	m.crashes = m.sms = m.doubled = m.ended = 1;
	for (m.nagents = 1; m.nagents <= 2; m.nagents++) {
		m.deaths = m.hooks = m.nagents == 1;
		m.doubled = m.ended = m.nagents == 1;
		m.literal = false;
		explore(&less, "less", m);
		m.literal = true;
		explore(&all, "all of the same", m);
		assert_true(less.states < all.states);
		assert_int_equal(less.faces, all.faces);
		assert_int_equal(less.faces_sum, all.faces_sum);
	}
}

/* Questions asked twice are what numbers are for. */
static void which_numbers_questions_have_shows_nothing_new(void **state)
{
	struct phase_model m = {
		.nagents = 1, .nwaves = 1, .max_sends = 2, .lost = LOST_ANY, .doubled = 1
	};
	struct phase_found less, all;

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		m.crashes = k == 0;
		m.sms = m.holds = k == 1;
		m.deaths = m.faults = k == 2;
		m.literal = false;
		explore(&less, "less", m);
		m.literal = true;
		explore(&all, "all of the same", m);
		assert_true(less.doubled && all.doubled);
		assert_true(less.states < all.states);
		assert_int_equal(less.faces, all.faces);
		assert_int_equal(less.faces_sum, all.faces_sum);
	}
}

static void three_agents_end_well_whatever_happens(void **state)
{
	const struct phase_model base = {
		.nagents = 3, .nwaves = 1, .max_sends = 1, .lost = LOST_ANY
	};
	struct phase_model m = base;
	struct phase_found f;

	(void)state;
	m.deaths = 1;
	explore(&f, "loss, death of the console", m);
	assert_true(f.late && f.deaths);
	m = base;
	m.doubled = 1;
	explore(&f, "loss, doubles", m);
	assert_true(f.late && f.doubled && f.lost);
}

/* Its job begins at any moment; agents of before that hear nothing, and death of the console. */
static void one_that_joins_late_ends_well(void **state)
{
	struct phase_model m = { .nwaves = 2, .max_sends = 1, .late = 1, .lost = LOST_ANY };
	struct phase_found f;

	(void)state;
	m.nagents = 1;
	m.deaths = m.crashes = m.cancels = 1;
	explore(&f, "late, alone, in two waves; cancel, death of agent and console", m);
	assert_true(f.joined && f.joined_in & 1u << ACT_BEGIN_CONFIRM);
	assert_true(f.joined_in & 1u << ACT_SCAN);
	m.nagents = 2;
	m.nwaves = 1;
	m.deaths = m.crashes = m.cancels = 0;
	explore(&f, "one of them late", m);
	assert_int_equal(f.joined_in, 1u << ACT_BEGIN_WAVE | 1u << ACT_BEGIN_REPATH |
					      1u << ACT_BEGIN_ROLLBACK | 1u << ACT_READ_BACK);
	assert_int_equal(f.begun_in, f.actions & ~(1u << ACT_STOP));
}

/* Whatever the coordinator is doing: another SM, its own end, the end of an agent. */
static void trouble_comes_during_every_action(void **state)
{
	struct phase_model m = { .nagents = 2, .nwaves = 1, .max_sends = 1, .lost = LOST_ANY };
	struct phase_found f;

	(void)state;
	m.sms = 1;
	explore(&f, "another SM", m);
	assert_int_equal(f.sm_in, f.actions);
	m.sms = 0;
	m.deaths = 1;
	explore(&f, "death of the console", m);
	assert_int_equal(f.death_in, f.actions & ~(1u << ACT_STOP));
	m.deaths = 0;
	m.crashes = m.faults = 1;
	explore(&f, "death of an agent", m);
	assert_int_equal(f.crash_in, f.actions);
	assert_int_equal(f.actions, (1u << (ACT_STOP + 1)) - 1);
}

/* It writes over whatever there is, at any moment until the last look at it. */
static void another_sm_that_routes_is_told_of_whenever_it_comes(void **state)
{
	const uint32_t late = 1u << ACT_FINISH | 1u << ACT_STOP;
	struct phase_model m = { .nwaves = 2, .max_sends = 1, .lost = LOST_ANY, .others = 1 };
	struct phase_found f;

	(void)state;
	m.faults = 2;
	for (m.nagents = 0; m.nagents <= 1; m.nagents++) {
		explore(&f, "another SM routes, switches that fail", m);
		assert_true(f.others && f.superseded);
	}
	m = (struct phase_model){ .nagents = 2, .nwaves = 1, .max_sends = 1, .lost = LOST_ANY };
	m.others = m.deaths = 1;
	explore(&f, "another SM routes, death of the console", m);
	assert_true(f.others && f.superseded && f.deaths && f.back);
	assert_int_equal(f.other_in, f.actions & ~late);
	m.deaths = 0;
	m.late = 1;
	explore(&f, "another SM routes, a job begins", m);
	assert_true(f.others && f.superseded && f.joined);
}

static void nobody_needs_its_own_patience_when_nothing_is_lost(void **state)
{
	struct phase_model m = { .nagents = 2, .nwaves = 2, .max_sends = 1, .doubled = 1 };
	struct phase_found f;

	(void)state;
	m.cancels = 1;
	m.hooks = 1;
	explore(&f, "late and doubled, nothing lost, nobody leaves by itself", m);
}

static void without_agents_the_same_machine_ends_well(void **state)
{
	struct phase_model m = { .nwaves = 2, .max_sends = 1, .faults = 3 };
	struct phase_found f;

	(void)state;
	m.cancels = m.deaths = m.sms = 1;
	explore(&f, "faults, cancel, death of the console", m);
}

/* It sends, repeats and withholds, at every moment; and nothing of it counts. */
static void a_hostile_node_changes_nothing(void **state)
{
	struct phase_model m = { .nwaves = 1, .max_sends = 1, .lost = LOST_ANY, .doubled = 1 };
	struct phase_found without, f;

	(void)state;
	for (m.nagents = 1; m.nagents <= 2; m.nagents++) {
		m.crashes = m.deaths = m.sms = 1;
		m.hostile = m.keyed = m.recheck = false;
		explore(&without, "nobody means harm", m);
		m.hostile = m.keyed = true;
		explore(&f, "a hostile node, a key", m);
		assert_true(f.forged >= 6 * m.nagents * 100 && !f.believed);
		assert_int_equal(f.states, without.states);
		m.recheck = true;
		m.keyed = false;
		explore(&f, "a hostile node, no key: asked once more before the first write", m);
		assert_true(f.forged && !f.believed);
	}
	m = (struct phase_model){ .nagents = 2, .nwaves = 1, .max_sends = 1, .lost = LOST_ANY };
	m.hostile = m.keyed = m.earlier = true;
	m.doubled = m.hooks = 1;
	explore(&f, "a hostile node, a key, what was said in an earlier transaction", m);
	assert_true(f.forged && !f.believed);
	m.earlier = false;
	m.hooks = 0;
	m.late = 1;
	m.cancels = m.faults = 1;
	explore(&f, "a hostile node, a key, a job that begins", m);
	assert_true(f.forged && !f.believed);
}

/* Without a key drained agents believe who calls them back, at any moment before all is written:
 * they say so, and nothing is written once one of them has left its escape LIDs. */
static void who_is_called_back_by_a_hostile_node_is_heard_before_it_returns(void **state)
{
	struct phase_model m = { .nwaves = 2, .max_sends = 1, .hostile = true, .safety = true };
	struct phase_found f;

	(void)state;
	m.recheck = true;
	m.callbacks = 1;
	for (m.nagents = 1; m.nagents <= 2; m.nagents++) {
		explore(&f, "a hostile node, no key: it calls an agent back", m);
		assert_true(f.believed);
	}
	m.nagents = m.deaths = 1;
	m.callbacks = 2;
	explore(&f, "likewise, and the console dies", m);
}

/* A part that does not do what it should is found out. */
static void mistakes_are_found(void **state)
{
	struct phase_model m[MUTANTS];

	(void)state;
	for (int i = 1; i < MUTANTS; i++)
		m[i] = (struct phase_model){ .nagents = 1,
					     .nwaves = 1,
					     .max_sends = 1,
					     .lost = LOST_ANY,
					     .safety = true,
					     .mutant = (enum phase_mutant)i };
	m[MUTANT_ACK_SEQ].max_sends = m[MUTANT_NOTICE_SEQ].max_sends = 2;
	m[MUTANT_ACK_TXN].earlier = m[MUTANT_NOTICE_TXN].earlier = true;
	m[MUTANT_EPOCH].deaths = m[MUTANT_EPOCH].doubled = 1;
	m[MUTANT_UNSAVED].crashes = 1;
	m[MUTANT_NO_REPATH].safety = false;
	m[MUTANT_NO_REPATH].lost = 0;
	m[MUTANT_BLIND_READ].faults = 1;
	m[MUTANT_UNASKED].deaths = 1;
	m[MUTANT_BLAND].others = 1;
	m[MUTANT_UNLOOKED].late = m[MUTANT_UNINVITED].late = 1;
	m[MUTANT_UNINVITED].nagents = 2;
	m[MUTANT_OBEYS_ANYBODY].hostile = m[MUTANT_HEARS_ANYBODY].hostile = true;
	m[MUTANT_HASTY].hostile = true;
	m[MUTANT_HASTY].callbacks = 1;
	for (int i = 1; i < MUTANTS; i++) {
		struct phase_model whole = m[i];
		struct phase_found f;

		phase_model_explore(&f, &m[i]);
		print_message("%s: %s after %lu states\n", phase_mutant_name(m[i].mutant),
			      f.wrong ? f.wrong : "not found", (unsigned long)f.states);
		assert_non_null(f.wrong);
		whole.mutant = MUTANT_NONE;
		/* without the mistake these are the same models as those of the answers */
		if (i == MUTANT_NOTICE_SEQ || i == MUTANT_NOTICE_TXN)
			continue;
		phase_model_explore(&f, &whole);
		assert_null(f.wrong);
	}
}

/* Also among all the other troubles; with three agents: explore. */
static void mistakes_are_found_among_all_troubles(void **state)
{
	static const enum phase_mutant mistakes[] = { MUTANT_EARLY_ACK,	 MUTANT_NO_HOLD,
						      MUTANT_BLIND_READ, MUTANT_NO_JOURNAL,
						      MUTANT_UNASKED,	 MUTANT_TRUSTING,
						      MUTANT_BLAND };
	struct phase_model m = {
		.nagents = 2, .nwaves = 1, .max_sends = 1, .lost = LOST_ANY, .safety = true
	};
	struct phase_found f;

	(void)state;
	m.doubled = m.crashes = m.deaths = m.sms = 1;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(*mistakes); i++) {
		m.mutant = mistakes[i];
		m.faults = m.mutant == MUTANT_BLIND_READ;
		m.others = m.mutant == MUTANT_BLAND;
		phase_model_explore(&f, &m);
		print_message("%s: %s after %lu states\n", phase_mutant_name(m.mutant),
			      f.wrong ? f.wrong : "not found", (unsigned long)f.states);
		assert_non_null(f.wrong);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_agent_ends_well_whatever_happens),
		cmocka_unit_test(two_agents_end_well_whatever_happens),
		cmocka_unit_test(all_troubles_at_once_end_well),
		cmocka_unit_test(what_is_left_out_shows_nothing_new),
		cmocka_unit_test(which_numbers_questions_have_shows_nothing_new),
		cmocka_unit_test(three_agents_end_well_whatever_happens),
		cmocka_unit_test(one_that_joins_late_ends_well),
		cmocka_unit_test(trouble_comes_during_every_action),
		cmocka_unit_test(another_sm_that_routes_is_told_of_whenever_it_comes),
		cmocka_unit_test(nobody_needs_its_own_patience_when_nothing_is_lost),
		cmocka_unit_test(without_agents_the_same_machine_ends_well),
		cmocka_unit_test(a_hostile_node_changes_nothing),
		cmocka_unit_test(who_is_called_back_by_a_hostile_node_is_heard_before_it_returns),
		cmocka_unit_test(mistakes_are_found),
		cmocka_unit_test(mistakes_are_found_among_all_troubles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
