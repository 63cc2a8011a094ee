/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/auto/auto_policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NOW    1000u
#define PERIOD 300u

static struct auto_policy made(bool armed)
{
	struct auto_limits l = { .period_s = PERIOD, .gain = 0.05, .armed = armed };
	struct auto_policy p;

	auto_policy_init(&p, &l, NOW);
	return p;
}

static struct auto_look jobs(uint32_t n)
{
	return (struct auto_look){ .known = true, .njobs = n };
}

static struct auto_look other_jobs(uint32_t n)
{
	return (struct auto_look){
		.known = true, .njobs = n, .changed = true, .started = 2, .ended = 1
	};
}

/* 20 to 10: gains half. */
static struct auto_plan good(void)
{
	return (struct auto_plan){ .sound = true, .before = 20, .after = 10, .blocks = 7 };
}

static bool says(const struct auto_policy *p, const char *word)
{
	if (strstr(p->why, word))
		return true;
	printf("# it says: %s\n", p->why);
	return false;
}

/* As after a plan for these jobs that was too small. */
static struct auto_policy settled(bool armed)
{
	struct auto_policy p = made(armed);
	struct auto_look l = jobs(3);
	struct auto_plan small = good();

	small.after = 20;
	assert_int_equal(auto_policy_look(&p, NOW, &l), AUTO_COMPUTE);
	assert_int_equal(auto_policy_judge(&p, NOW, &small), AUTO_WAIT);
	return p;
}

/* --- when it computes --- */

static void test_first_jobs_are_computed_for_at_once(void **state)
{
	struct auto_policy p = made(false);
	struct auto_look l = jobs(3);

	(void)state;
	assert_true(auto_policy_due(&p, NOW));
	assert_int_equal(auto_policy_look(&p, NOW, &l), AUTO_COMPUTE);
	assert_true(says(&p, "for 3 jobs"));
}

static void test_same_jobs_are_not_computed_for_again(void **state)
{
	struct auto_policy p = settled(true);
	struct auto_look l = jobs(3);

	(void)state;
	for (uint32_t i = 1; i < 10; i++)
		assert_int_equal(auto_policy_look(&p, NOW + i * PERIOD, &l), AUTO_WAIT);
	assert_true(says(&p, "have not changed"));
}

static void test_changed_jobs_are_computed_for_at_the_next_look(void **state)
{
	struct auto_policy p = settled(true);
	struct auto_look l = other_jobs(4);

	(void)state;
	assert_int_equal(auto_policy_look(&p, NOW + PERIOD, &l), AUTO_COMPUTE);
	assert_true(says(&p, "2 jobs started, 1 ended"));
}

static void test_never_twice_within_a_period(void **state)
{
	struct auto_policy p = settled(true);
	struct auto_look l = other_jobs(4);

	(void)state;
	for (uint32_t t = 0; t < PERIOD; t++) {
		assert_false(auto_policy_due(&p, NOW + t));
		assert_int_equal(auto_policy_look(&p, NOW + t, &l), AUTO_WAIT);
	}
	assert_true(auto_policy_due(&p, NOW + PERIOD));
}

static void test_another_fabric_is_computed_for_with_the_same_jobs(void **state)
{
	struct auto_policy p = settled(true);
	struct auto_look l = jobs(3);

	(void)state;
	l.fabric_changed = true;
	assert_int_equal(auto_policy_look(&p, NOW + PERIOD, &l), AUTO_COMPUTE);
	assert_true(says(&p, "fabric has changed"));
}

static void test_unknown_jobs_leave_what_is_installed(void **state)
{
	struct auto_policy p = settled(true);
	struct auto_look l = other_jobs(4);

	(void)state;
	l.known = false;
	assert_int_equal(auto_policy_look(&p, NOW + PERIOD, &l), AUTO_WAIT);
	assert_true(says(&p, "unknown"));
	assert_true(says(&p, "stay"));
	l.known = true;
	assert_int_equal(auto_policy_look(&p, NOW + 2 * PERIOD, &l), AUTO_COMPUTE);
}

static void test_no_jobs_leave_what_is_installed(void **state)
{
	struct auto_policy p = settled(true);
	struct auto_look none = jobs(0), again = jobs(3);

	(void)state;
	none.changed = true;
	assert_int_equal(auto_policy_look(&p, NOW + PERIOD, &none), AUTO_WAIT);
	assert_int_equal(auto_policy_look(&p, NOW + 2 * PERIOD, &again), AUTO_COMPUTE);
}

static void test_update_of_another_is_waited_for_and_looked_at_soon(void **state)
{
	struct auto_policy p = settled(true);
	struct auto_look l = other_jobs(4);

	(void)state;
	l.busy = true;
	assert_int_equal(auto_policy_look(&p, NOW + PERIOD, &l), AUTO_WAIT);
	assert_true(says(&p, "another update"));
	assert_int_equal(p.next_s, NOW + PERIOD + AUTO_BUSY_S);
	l.busy = false;
	assert_int_equal(auto_policy_look(&p, p.next_s, &l), AUTO_COMPUTE);
}

static void test_short_period_also_bounds_the_wait_for_another_update(void **state)
{
	struct auto_policy p = made(true);
	struct auto_look l = jobs(3);

	(void)state;
	p.limits.period_s = 2;
	l.busy = true;
	auto_policy_look(&p, NOW, &l);
	assert_int_equal(p.next_s, NOW + 2);
}

/* --- what becomes of a plan --- */

static void test_gain_of_the_threshold_is_not_enough_more_is(void **state)
{
	struct auto_plan in = good();
	struct auto_policy p = made(true);

	(void)state;
	in.before = 100;
	in.after = 95;
	p.limits.gain = auto_gain(&in);
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_WAIT);
	assert_true(says(&p, "not more than 5.0 %"));
	in.after = 94;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_APPLY);
}

/* A step that used up what it may change at a time. */
static void test_a_part_of_a_change_has_to_gain_less(void **state)
{
	struct auto_plan in = good();
	struct auto_policy p = made(true);

	(void)state;
	p.limits.gain = 0.05;
	in.before = 1000;
	in.after = 970;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_WAIT);
	in.more = true;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_APPLY);
	assert_true(says(&p, "a part of what there is to gain"));
	in.after = 980;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_WAIT);
	assert_true(says(&p, "not more than 2.5 %"));
	in.reach = 0.2; /* all of it gains 20 % */
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_APPLY);
	in.after = 995;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_WAIT);
	assert_true(says(&p, "not more than 1.0 %"));
	in.reach = 0.04; /* all of it is not worth it */
	in.after = 980;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_WAIT);
}

/* Half the EFI, at those times of the jobs. */
static struct auto_plan timed(double before, double after)
{
	struct auto_plan in = good();

	in.time_before = before;
	in.time_after = after;
	return in;
}

/* Time first, with its units; EFI explains. */
static void test_every_line_of_a_plan_tells_the_time_of_jobs(void **state)
{
	struct auto_plan in = good();
	struct auto_policy p = made(true);

	(void)state;
	auto_policy_judge(&p, NOW, &in);
	assert_true(says(&p, "gain 50.0 % (max job EFI 20 -> 10)"));
	in = timed(4, 3.5);
	auto_policy_judge(&p, NOW, &in);
	assert_true(says(&p, "gain 12.5 % (mean time of jobs 4.00 -> 3.50; max job EFI 20 -> 10)"));
	in.time_error = .02;
	in.s_before = 0.000334;
	in.s_after = 0.000292;
	p.disarmed = true;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_PROPOSE);
	assert_true(says(&p, "gain 12.5 +- 0.5 % (mean time of jobs 4.00 -> 3.50, 0.33 -> 0.29 "
			     "ms/MiB; max job EFI 20 -> 10), but"));
	assert_true(says(&p, "then restart automatic mode"));
}

/* With LIDs by the size of messages; what software loses that does not know them is said. */
static void test_a_plan_of_sizes_tells_both(void **state)
{
	struct auto_plan in = timed(4, 3.5);
	struct auto_policy p = made(true);

	(void)state;
	in.by_size = true;
	in.small_before = 3;
	in.small_after = 2.9;
	auto_policy_judge(&p, NOW, &in);
	assert_true(says(&p, "(mean time of jobs, large messages 4.00 -> 3.50; small messages "
			     "3.00 -> 2.90; max job EFI 20 -> 10)"));
	snprintf(in.base_loses, sizeof(in.base_loses), "software that knows base LIDs only gets 5");
	auto_policy_judge(&p, NOW, &in);
	assert_true(says(&p, "2.90; software that knows base LIDs only gets 5; max job EFI"));
}

/* EFI says nothing where the time is known: a plan of half the EFI whose jobs take longer is none,
 * and one of twice the EFI is written when jobs gain. */
static void test_the_time_of_jobs_decides_not_their_efi(void **state)
{
	struct auto_plan slower = timed(3.96, 4.1), faster = timed(4, 3.5);
	struct auto_policy p = made(true);

	(void)state;
	assert_int_equal(auto_policy_judge(&p, NOW, &slower), AUTO_WAIT);
	assert_true(auto_gain(&slower) < 0);
	assert_true(says(&p, "not more than 5.0 %"));
	faster.after = 40;
	assert_int_equal(auto_policy_judge(&p, NOW, &faster), AUTO_APPLY);
}

static void test_what_the_draw_of_phases_may_have_made_is_no_gain(void **state)
{
	struct auto_plan in = timed(4, 3.5);
	struct auto_policy p = made(true);

	(void)state;
	in.time_error = .26;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_WAIT);
	in.time_error = .24;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_APPLY);
}

/* Whatever else it gains. */
static void test_what_makes_a_job_slower_is_written_only_where_that_is_accepted(void **state)
{
	struct auto_plan in = timed(4, 3);
	struct auto_policy p = made(true);

	(void)state;
	snprintf(in.slower, sizeof(in.slower), "job 81234 in alltoall 2.00 -> 2.50");
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_PROPOSE);
	assert_true(says(&p, "job 81234 in alltoall 2.00 -> 2.50"));
	assert_true(says(&p, "--accept-slower"));
	p.limits.accept_slower = true;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_APPLY);
	assert_true(says(&p, "slower, as accepted: job 81234"));
}

static void test_worse_routes_are_never_applied_even_without_threshold(void **state)
{
	struct auto_plan in = good();
	struct auto_policy p = made(true);

	(void)state;
	p.limits.gain = 0;
	in.after = 21;
	assert_true(auto_gain(&in) < 0);
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_WAIT);
	in.after = in.before;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_WAIT);
}

static void test_no_effective_traffic_is_no_gain(void **state)
{
	struct auto_plan in = good();

	(void)state;
	in.before = in.after = 0;
	assert_true(auto_gain(&in) == 0);
}

static void test_nothing_to_write_is_said_and_not_proposed(void **state)
{
	struct auto_plan in = good();
	struct auto_policy p = made(true);

	(void)state;
	in.blocks = 0;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_WAIT);
	assert_true(says(&p, "installed one stays"));
}

static void test_unsound_tables_are_neither_proposed_nor_applied(void **state)
{
	struct auto_plan in = good();
	struct auto_policy p = made(true);

	(void)state;
	in.sound = false;
	in.why_not = "two cycles of dependencies";
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_WAIT);
	assert_true(says(&p, "two cycles"));
	assert_int_equal(p.failures, 1);
}

/* Every combination of what decides between writing and not writing. */
static void test_writes_only_when_all_conditions_hold(void **state)
{
	(void)state;
	for (unsigned bits = 0; bits < 128; bits++) {
		bool armed = bits & 1, sound = bits & 2, drain = bits & 4, agents = bits & 8,
		     busy = bits & 16, gain = bits & 32, blocks = bits & 64;
		bool wanted = sound && gain && blocks;
		bool may = armed && (!drain || agents);
		struct auto_policy p = made(armed);
		struct auto_plan in = { .sound = sound,
					.before = 20,
					.after = gain ? 10 : 20,
					.blocks = blocks ? 7 : 0,
					.drain = drain,
					.agents = agents,
					.busy = busy };
		enum auto_act act = auto_policy_judge(&p, NOW, &in);

		assert_int_equal(act == AUTO_APPLY, wanted && may && !busy);
		assert_int_equal(act == AUTO_PROPOSE, wanted && !may);
		assert_true(p.why[0]);
		assert_true(p.next_s > NOW);
	}
}

static void test_unarmed_proposes_once_per_change(void **state)
{
	struct auto_policy p = made(false);
	struct auto_plan in = good();
	struct auto_look l = jobs(3), other = other_jobs(4);

	(void)state;
	assert_int_equal(auto_policy_look(&p, NOW, &l), AUTO_COMPUTE);
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_PROPOSE);
	assert_true(says(&p, "not armed"));
	assert_true(says(&p, "20 -> 10"));
	assert_int_equal(auto_policy_look(&p, NOW + PERIOD, &l), AUTO_WAIT);
	assert_int_equal(auto_policy_look(&p, NOW + 2 * PERIOD, &other), AUTO_COMPUTE);
}

static void test_drain_without_agents_is_left_to_an_operator(void **state)
{
	struct auto_policy p = made(true);
	struct auto_plan in = good();

	(void)state;
	in.drain = true;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_PROPOSE);
	assert_true(says(&p, "agents"));
	in.agents = true;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_APPLY);
	assert_true(says(&p, "agents drain"));
}

/* One line says who made it, for what, what it costs and why it is not written. */
static void test_a_decision_tells_all_that_led_to_it(void **state)
{
	struct auto_plan in = timed(4, 3.5);
	struct auto_policy p = made(true);

	(void)state;
	snprintf(in.engine, sizeof(in.engine), "sar");
	in.cpu_s = 1.34;
	in.time_bound = 2.5;
	in.bound = 8;
	in.jobs_timed = true;
	in.jobs_faster = 3;
	in.jobs_slower = 1;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_APPLY);
	assert_string_equal(
		p.why, "sar, 1.340 s of CPU: writing 7 blocks: gain 12.5 % (mean time of jobs 4.00 "
		       "-> 3.50, bound 2.50; max job EFI 20 -> 10, bound 8; 3 jobs faster, 1 "
		       "slower); no drain");
	in.drain = true;
	in.drain_lids = 12;
	in.drain_jobs = 2;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_PROPOSE);
	assert_true(says(&p, "1 slower); 12 LIDs of 2 jobs have to drain, but not all jobs"));
	in.time_after = 4;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_WAIT);
	assert_true(says(&p, "sar, 1.340 s of CPU: 7 blocks: gain 0.0 %"));
	in.blocks = 0;
	auto_policy_judge(&p, NOW, &in);
	assert_true(says(&p, "sar, 1.340 s of CPU: the engine finds no better routing"));
}

static void test_with_drain_none_only_what_needs_no_drain_is_written(void **state)
{
	struct auto_policy p = made(true);
	struct auto_plan in = good();

	(void)state;
	p.limits.drain = AUTO_DRAIN_NONE;
	in.drain = in.agents = true;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_PROPOSE);
	assert_true(says(&p, "--auto-drain none"));
	in.drain = in.agents = false;
	in.moved_jobs = 4;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_APPLY);
}

static void test_with_drain_all_jobs_whose_paths_change_need_agents_too(void **state)
{
	struct auto_policy p = made(true);
	struct auto_plan in = good();

	(void)state;
	p.limits.drain = AUTO_DRAIN_ALL;
	in.moved_jobs = 2;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_PROPOSE);
	assert_true(says(&p, "--auto-drain all"));
	in.agents_all = true;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_APPLY);
	in.agents_all = false;
	in.moved_jobs = 0;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_APPLY);
}

static void test_a_part_says_what_it_leaves(void **state)
{
	struct auto_policy p = made(true);
	struct auto_plan in = good();

	(void)state;
	snprintf(in.engine, sizeof(in.engine), "sar");
	in.rest_lids = 10;
	in.rest_gain = .6;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_APPLY);
	assert_true(says(&p, "no drain: 10 LIDs that would need one stay as installed (gain with "
			     "them: 60.0 %)"));
}

/* The whole gains 25 %, and is left to an operator where its part may be nothing but the draw. */
static void test_a_part_within_its_uncertainty_does_not_hide_the_whole(void **state)
{
	struct auto_plan whole = timed(4, 3), part = timed(4, 3.6);
	struct auto_policy p = made(true);

	(void)state;
	whole.drain = true;
	part.time_error = .24;
	assert_false(auto_part_preferred(&part, &whole, .05));
	assert_int_equal(auto_policy_judge(&p, NOW, &whole), AUTO_PROPOSE);
	assert_true(says(&p, "gain 25.0"));
	assert_true(says(&p, "an operator has to apply it"));
	part.time_error = .1;
	assert_true(auto_part_preferred(&part, &whole, .05));
	assert_false(auto_part_preferred(&part, &whole, .15));
	snprintf(part.slower, sizeof(part.slower), "job 81234 in alltoall 2.00 -> 2.50");
	assert_false(auto_part_preferred(&part, &whole, .05));
	snprintf(whole.slower, sizeof(whole.slower), "job 81234 in alltoall 2.00 -> 3.00");
	assert_true(auto_part_preferred(&part, &whole, .05));
}

static void test_what_was_overwritten_is_not_written_again(void **state)
{
	struct auto_policy p = made(true);
	struct auto_plan in = good();

	(void)state;
	auto_policy_overwritten(&p, "the subnet manager has overwritten 5 entries");
	assert_true(says(&p, "writes nothing any more"));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_PROPOSE);
		assert_true(says(&p, "has overwritten 5 entries"));
	}
}

static void test_update_that_began_meanwhile_makes_it_compute_again(void **state)
{
	struct auto_policy p = made(true);
	struct auto_plan in = good();
	struct auto_look l = jobs(3);

	(void)state;
	in.busy = true;
	assert_int_equal(auto_policy_look(&p, NOW, &l), AUTO_COMPUTE);
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_WAIT);
	assert_int_equal(auto_policy_look(&p, p.next_s, &l), AUTO_COMPUTE);
}

/* --- after an update --- */

static void test_kept_update_waits_for_other_jobs(void **state)
{
	struct auto_policy p = made(true);
	struct auto_plan in = good();
	struct auto_look l = jobs(3);

	(void)state;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_APPLY);
	auto_policy_ended(&p, NOW + 70, AUTO_KEPT, NULL);
	assert_int_equal(p.next_s, NOW + 70 + PERIOD);
	assert_int_equal(auto_policy_look(&p, p.next_s, &l), AUTO_WAIT);
}

static void test_kept_update_that_left_something_goes_on(void **state)
{
	struct auto_policy p = made(true);
	struct auto_plan in = good();
	struct auto_look l = jobs(3);

	(void)state;
	in.more = true;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_APPLY);
	auto_policy_ended(&p, NOW + 70, AUTO_KEPT, NULL);
	assert_true(says(&p, "what is left to gain comes next"));
	assert_int_equal(p.next_s, NOW + 70 + PERIOD);
	assert_int_equal(auto_policy_look(&p, p.next_s, &l), AUTO_COMPUTE);
	assert_true(says(&p, "left something to gain"));
	/* until it is not worth it any more */
	in.time_after = in.time_before;
	in.after = in.before;
	assert_int_equal(auto_policy_judge(&p, p.next_s, &in), AUTO_WAIT);
	assert_int_equal(auto_policy_look(&p, p.next_s, &l), AUTO_WAIT);
}

static uint64_t pause_after(struct auto_policy *p, enum auto_end end)
{
	auto_policy_ended(p, NOW, end, "because");
	return p->next_s - NOW;
}

static void test_rolled_back_updates_are_tried_ever_more_rarely(void **state)
{
	struct auto_policy p = made(true);
	uint64_t pause, last = 0;

	(void)state;
	assert_int_equal(pause_after(&p, AUTO_ROLLED_BACK), 2 * PERIOD);
	assert_int_equal(pause_after(&p, AUTO_ROLLED_BACK), 4 * PERIOD);
	assert_true(says(&p, "because"));
	for (int i = 0; i < 100; i++, last = pause) {
		pause = pause_after(&p, AUTO_ROLLED_BACK);
		assert_true(pause >= last && pause <= AUTO_BACKOFF_S);
	}
	assert_int_equal(last, AUTO_BACKOFF_S);
}

static void test_refused_update_waits_less_than_one_rolled_back(void **state)
{
	struct auto_policy p = made(true);

	(void)state;
	assert_int_equal(pause_after(&p, AUTO_REFUSED), PERIOD);
	assert_int_equal(pause_after(&p, AUTO_REFUSED), 2 * PERIOD);
	assert_true(says(&p, "nothing was written"));
}

static void test_changed_jobs_do_not_shorten_the_pause_after_a_rollback(void **state)
{
	struct auto_policy p = made(true);
	struct auto_look l = other_jobs(9);

	(void)state;
	auto_policy_ended(&p, NOW, AUTO_ROLLED_BACK, NULL);
	for (uint32_t t = 0; t < 2 * PERIOD; t += 7)
		assert_int_equal(auto_policy_look(&p, NOW + t, &l), AUTO_WAIT);
	assert_int_equal(auto_policy_look(&p, NOW + 2 * PERIOD, &l), AUTO_COMPUTE);
}

static void test_same_jobs_are_tried_again_after_a_rollback(void **state)
{
	struct auto_policy p = made(true);
	struct auto_look l = jobs(3);

	(void)state;
	auto_policy_ended(&p, NOW, AUTO_ROLLED_BACK, NULL);
	assert_int_equal(auto_policy_look(&p, p.next_s, &l), AUTO_COMPUTE);
}

static void test_kept_update_ends_the_back_off(void **state)
{
	struct auto_policy p = made(true);

	(void)state;
	for (int i = 0; i < 5; i++)
		auto_policy_ended(&p, NOW, AUTO_ROLLED_BACK, NULL);
	auto_policy_ended(&p, NOW, AUTO_KEPT, NULL);
	assert_int_equal(pause_after(&p, AUTO_ROLLED_BACK), 2 * PERIOD);
}

static void test_failing_engine_backs_off_and_recovers(void **state)
{
	struct auto_policy p = made(true);
	struct auto_plan in = good();

	(void)state;
	auto_policy_failed(&p, NOW, "the fabric does not answer");
	assert_int_equal(p.next_s, NOW + PERIOD);
	assert_true(says(&p, "the fabric does not answer"));
	auto_policy_failed(&p, NOW, NULL);
	assert_int_equal(p.next_s, NOW + 2 * PERIOD);
	in.after = in.before;
	auto_policy_judge(&p, NOW, &in);
	assert_int_equal(p.failures, 0);
}

static void test_update_left_alone_or_incomplete_is_not_counted_as_kept(void **state)
{
	struct auto_policy p = made(true);
	struct auto_look l = jobs(3);

	(void)state;
	assert_true(pause_after(&p, AUTO_LEFT) >= 2 * PERIOD);
	assert_true(says(&p, "left to its watchdog"));
	assert_true(pause_after(&p, AUTO_INCOMPLETE) >= 2 * PERIOD);
	assert_true(says(&p, "operator"));
	assert_int_equal(auto_policy_look(&p, p.next_s, &l), AUTO_COMPUTE);
}

static void test_update_superseded_disarms(void **state)
{
	struct auto_policy p = made(true);
	struct auto_plan in = good();
	struct auto_look l = jobs(3);

	(void)state;
	assert_int_equal(auto_policy_judge(&p, NOW, &in), AUTO_APPLY);
	assert_true(pause_after(&p, AUTO_SUPERSEDED) >= 2 * PERIOD);
	assert_true(says(&p, "writes nothing any more"));
	/* it goes on to look and to propose, whatever comes */
	assert_int_equal(auto_policy_look(&p, p.next_s, &l), AUTO_COMPUTE);
	assert_int_equal(auto_policy_judge(&p, p.next_s, &in), AUTO_PROPOSE);
	assert_true(says(&p, "disarmed itself"));
	auto_policy_ended(&p, NOW, AUTO_KEPT, NULL);
	assert_int_equal(auto_policy_judge(&p, p.next_s, &in), AUTO_PROPOSE);
}

static void test_period_longer_than_the_longest_pause_is_kept(void **state)
{
	struct auto_policy p = made(true);

	(void)state;
	p.limits.period_s = 86400;
	assert_int_equal(pause_after(&p, AUTO_ROLLED_BACK), 86400);
}

/* Whatever the routing that loses messages had better. */
static void lost_paths_are_reason_enough(void **state)
{
	struct auto_policy p = made(true);
	struct auto_look l = jobs(3);
	struct auto_plan mends = good(), part = good();

	(void)state;
	mends.after = 23;
	mends.mends = 1224;
	assert_int_equal(auto_policy_look(&p, NOW, &l), AUTO_COMPUTE);
	assert_int_equal(auto_policy_judge(&p, NOW, &mends), AUTO_APPLY);
	assert_true(says(&p, "writing 7 blocks: paths for 1224 pairs of ports that have none"));
	/* without a drain only where it finds as many */
	assert_false(auto_part_preferred(&part, &mends, 0.05));
	part.mends = 1224;
	assert_true(auto_part_preferred(&part, &mends, 0.05));
	/* what keeps others back keeps it back */
	p = made(false);
	assert_int_equal(auto_policy_look(&p, NOW, &l), AUTO_COMPUTE);
	assert_int_equal(auto_policy_judge(&p, NOW, &mends), AUTO_PROPOSE);
	assert_true(says(&p, "not armed"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lost_paths_are_reason_enough),
		cmocka_unit_test(test_first_jobs_are_computed_for_at_once),
		cmocka_unit_test(test_same_jobs_are_not_computed_for_again),
		cmocka_unit_test(test_changed_jobs_are_computed_for_at_the_next_look),
		cmocka_unit_test(test_never_twice_within_a_period),
		cmocka_unit_test(test_another_fabric_is_computed_for_with_the_same_jobs),
		cmocka_unit_test(test_unknown_jobs_leave_what_is_installed),
		cmocka_unit_test(test_no_jobs_leave_what_is_installed),
		cmocka_unit_test(test_update_of_another_is_waited_for_and_looked_at_soon),
		cmocka_unit_test(test_short_period_also_bounds_the_wait_for_another_update),
		cmocka_unit_test(test_gain_of_the_threshold_is_not_enough_more_is),
		cmocka_unit_test(test_a_part_of_a_change_has_to_gain_less),
		cmocka_unit_test(test_every_line_of_a_plan_tells_the_time_of_jobs),
		cmocka_unit_test(test_a_plan_of_sizes_tells_both),
		cmocka_unit_test(test_the_time_of_jobs_decides_not_their_efi),
		cmocka_unit_test(test_what_the_draw_of_phases_may_have_made_is_no_gain),
		cmocka_unit_test(
			test_what_makes_a_job_slower_is_written_only_where_that_is_accepted),
		cmocka_unit_test(test_worse_routes_are_never_applied_even_without_threshold),
		cmocka_unit_test(test_no_effective_traffic_is_no_gain),
		cmocka_unit_test(test_nothing_to_write_is_said_and_not_proposed),
		cmocka_unit_test(test_unsound_tables_are_neither_proposed_nor_applied),
		cmocka_unit_test(test_writes_only_when_all_conditions_hold),
		cmocka_unit_test(test_unarmed_proposes_once_per_change),
		cmocka_unit_test(test_drain_without_agents_is_left_to_an_operator),
		cmocka_unit_test(test_a_decision_tells_all_that_led_to_it),
		cmocka_unit_test(test_with_drain_none_only_what_needs_no_drain_is_written),
		cmocka_unit_test(test_with_drain_all_jobs_whose_paths_change_need_agents_too),
		cmocka_unit_test(test_a_part_says_what_it_leaves),
		cmocka_unit_test(test_a_part_within_its_uncertainty_does_not_hide_the_whole),
		cmocka_unit_test(test_what_was_overwritten_is_not_written_again),
		cmocka_unit_test(test_update_that_began_meanwhile_makes_it_compute_again),
		cmocka_unit_test(test_kept_update_waits_for_other_jobs),
		cmocka_unit_test(test_kept_update_that_left_something_goes_on),
		cmocka_unit_test(test_rolled_back_updates_are_tried_ever_more_rarely),
		cmocka_unit_test(test_refused_update_waits_less_than_one_rolled_back),
		cmocka_unit_test(test_changed_jobs_do_not_shorten_the_pause_after_a_rollback),
		cmocka_unit_test(test_same_jobs_are_tried_again_after_a_rollback),
		cmocka_unit_test(test_kept_update_ends_the_back_off),
		cmocka_unit_test(test_failing_engine_backs_off_and_recovers),
		cmocka_unit_test(test_update_left_alone_or_incomplete_is_not_counted_as_kept),
		cmocka_unit_test(test_update_superseded_disarms),
		cmocka_unit_test(test_period_longer_than_the_longest_pause_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
