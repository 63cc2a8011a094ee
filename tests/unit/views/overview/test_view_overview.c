/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The overview: what is in its panes, since when, and where its rows lead. */
#include "tests/unit/kit/console_kit.h"

#include "fabric/sim/topology/topo.h"
#include "views/data/summary/fabric_summary.h"
#include "views/view.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t jobs[] = { 48, 31, 24, 16, 16, 9, 4, 2, 0 };

#define TREE "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3"

static const int sizes[][2] = { { 80, 24 }, { 100, 30 }, { 200, 60 } };

static void open_tree(struct console_kit *k)
{
	struct err err;

	console_open(k, 80, 24);
	console_fabric(k, TREE, jobs);
	if (time_summary_compute(&k->s.time, NULL, k->fabric, k->tables, k->jobs, NULL, NULL, &err))
		fail_msg("%s", err.text);
	console_event(k, LOG_WARN, "pma", "spine3/7 gave no reply to 3 polls");
}

/* Ports down, silent, slow and with errors; no SM, no job source. */
static void break_it(struct console_kit *k)
{
	struct port *slow = &k->fabric->port[chan_fabric_port(k->fabric, 9)];

	k->fabric->port[chan_fabric_port(k->fabric, 30)].state = PORT_INIT;
	slow->rate_Mbps /= 2;
	k->samples[1]->port[chan_fabric_port(k->fabric, 50)].v[CTR_SYMBOL_ERR] = 3;
	console_no_reply(k, 17);
	console_no_reply(k, 60);
	k->s.sm.known = true;
	k->s.sm.lost = true;
	k->s.jobs_source.state = JOBS_UNREACHABLE;
	snprintf(k->s.jobs_source.sentence, sizeof(k->s.jobs_source.sentence),
		 "slurmctld on adm1 does not answer since 23:10");
}

static void the_time_of_jobs_is_beside_efi(void **state)
{
	struct console_kit k;

	(void)state;
	open_tree(&k);
	k.s.time.of[PREDICT_ALLTOALL].mean.mean = 4.344;
	k.s.time.of[PREDICT_ALLTOALL].s_per_MiB = .0010287;
	console_shows(&k, "unused links 2  job time 4.34x");
	console_size(&k, 100, 30);
	console_shows(&k, "unused links 2  job time 4.34x 1.029ms/MiB");
	k.s.time.of[PREDICT_ALLTOALL].s_per_MiB = NAN;
	console_shows(&k, "hops 1.90  job time 4.34x");
	console_hides(&k, "ms/MiB");
	k.s.time.known = false;
	console_shows(&k, "unused links 2 (0.6%)  hops 1.90");
	console_hides(&k, "time 4");
	console_close(&k);
}

static void rising_errors_are_among_the_problems_that_are_counted(void **state)
{
	uint32_t count[PROBLEM_KINDS];
	struct console_kit k;
	const struct fabric_summary *v;

	(void)state;
	open_tree(&k);
	break_it(&k);
	k.rates->port[chan_fabric_port(k.fabric, 51)].errors_per_min = 2;
	console_shows(&k, "x leaf");
	v = &shell_context(k.shell)->summary;
	sample_summary_problems(count, v->sample_summary, 0);
	assert_int_equal(count[PROBLEM_DOWN], 1);
	assert_int_equal(count[PROBLEM_NO_REPLY], 2);
	assert_int_equal(count[PROBLEM_REDUCED], 1);
	assert_int_equal(count[PROBLEM_ERRORS], 2); /* this one, and that of break_it() */
	assert_int_equal(v->errors, count[PROBLEM_ERRORS]);
	assert_int_equal(v->nproblem, 1 + 2 + 1 + 2);
	sample_summary_problems(count, v->sample_summary, 3);
	assert_true(count[PROBLEM_ERRORS] < 2);
	console_close(&k);
}

static void a_broken_fabric_in_three_sizes(void **state)
{
	struct console_kit k;

	(void)state;
	open_tree(&k);
	console_shows(&k, "no port problems"); /* the survey has seen it whole */
	break_it(&k);
	console_shows(&k, "x leaf"); /* now not; noted at this second */
	k.s.now_s += 14 * 60;
	for (int i = 0; i < 3; i++) {
		console_size(&k, sizes[i][0], sizes[i][1]);
		console_golden(&k, "overview-broken");
	}
	console_shows(&k, "down 14m");
	console_hides(&k, "down 14m+");
	console_shows(&k, "errors 90/min 14m");
	console_shows(&k, "50 of 100 Gb/s 14m");
	console_shows(&k, "no reply 14m");
	console_close(&k);
}

static void what_was_so_at_the_start_may_be_older(void **state)
{
	struct console_kit k;

	(void)state;
	console_open(&k, 100, 30);
	console_fabric(&k, TREE, jobs);
	console_no_reply(&k, 17);
	console_shows(&k, "no reply");
	k.s.now_s += 65;
	console_shows(&k, "no reply 65s+");
	k.s.history_at.on = true; /* of a moment in the past nobody knows since when */
	console_hides(&k, "no reply 65s");
	console_close(&k);
}

static struct fabric *make(const char *spec)
{
	struct freeze_opts opts = { .lmc = -1 };
	struct builder *b = NULL;
	struct fabric *f = NULL;
	struct err err;

	if (topo_build(&b, spec, &err) || builder_freeze(&f, b, &opts, &err))
		fail_msg("%s: %s", spec, err.text);
	builder_free(b);
	return f;
}

/* A cable that is gone from the next sweep is told of from both its ends, until it is back. */
static void a_lost_link_is_remembered(void **state)
{
	struct fabric *whole = make("fattree2:leaves=6,spines=3,hosts=2");
	struct fabric *torn = make("fattree2:leaves=6,spines=3,hosts=2,fail=1,seed=5");
	struct fabric_summary v = { 0 };
	struct state s;
	bool longer;

	(void)state;
	state_init(&s);
	s.now_s = 1000;
	s.fabric = whole;
	fabric_summary_update(&v, &s);
	assert_int_equal(v.nproblem, 0);
	s.fabric = torn;
	s.now_s = 1060;
	fabric_summary_update(&v, &s);
	assert_int_equal(v.nproblem, 2);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t sw = v.problem_sw[i], other = v.problem_sw[1 - i];
		uint32_t port = torn->port_off[sw] + v.problem_port[i];
		char want[NAME_LEN + 8];

		snprintf(want, sizeof(want), "%s/%u", torn->sw_name[other], v.problem_port[1 - i]);
		assert_int_equal(v.problem[port], PROBLEM_DOWN);
		assert_string_equal(port_problems_was(v.port_problems, port), want);
		assert_true(port_problems_age_s(v.port_problems, port, 1100, &longer) == 40);
		assert_false(longer);
	}
	s.fabric = whole;
	s.now_s = 1200;
	fabric_summary_update(&v, &s);
	assert_int_equal(v.nproblem, 0);
	fabric_summary_done(&v);
	fabric_put(whole);
	fabric_put(torn);
}

static void what_another_thread_added_up_is_taken_over(void **state)
{
	struct fabric_summary own = { 0 }, given = { 0 };
	const struct fabric_shape *shape;
	struct console_kit k;
	struct sample_summary *t;

	(void)state;
	open_tree(&k);
	break_it(&k);
	fabric_summary_update(&own, &k.s);
	t = sample_summary_new(k.fabric, &own.shape->reference, k.s.sample, k.s.rates);
	k.s.sample_summary = t;
	k.s.shape = shape = fabric_shape_new(k.fabric, NULL, NULL);
	fabric_summary_update(&given, &k.s);
	assert_ptr_equal(given.topology, shape->topology);
	assert_ptr_equal(given.sample_summary, t);
	assert_memory_equal(given.problem, own.problem, k.fabric->nport);
	assert_memory_equal(t->top, own.sample_summary->top, sizeof(t->top));
	assert_int_equal(given.nproblem, own.nproblem);
	assert_int_equal(given.errors, 1);
	k.s.limits.errors_per_min = 1000; /* such errors are no problem then */
	fabric_summary_update(&given, &k.s);
	assert_ptr_equal(given.sample_summary, t);
	assert_int_equal(given.errors, 0);
	k.s.rates = NULL; /* not what was added up */
	fabric_summary_update(&given, &k.s);
	assert_ptr_not_equal(given.sample_summary, t);
	assert_int_equal(given.sample_summary->top[HISTORY_UTIL].n, 0);
	k.s.sample_summary = NULL;
	sample_summary_put(t);
	fabric_summary_done(&own);
	fabric_summary_done(&given);
	fabric_shape_put(shape);
	console_close(&k);
}

static void links_that_wait_or_have_errors_are_a_list_of_their_own(void **state)
{
	struct console_kit k;

	(void)state;
	open_tree(&k);
	break_it(&k);
	console_shows(&k, "Hot links (Enter");
	console_keys(&k, "m");
	console_shows(&k, "Congested links by XmitWait (Enter");
	console_keys(&k, "m");
	console_shows(&k, "Links with errors (Enter");
	console_shows(&k, " 90 "); /* a minute, on the one that has them */
	console_size(&k, 200, 60);
	console_shows(&k, "errors, newest right");
	console_keys(&k, ":metric nothing");
	console_key(&k, K_ENTER);
	console_shows(&k, "no history of 'nothing': choose util, wait or errors");
	console_keys(&k, ":metric util");
	console_key(&k, K_ENTER);
	console_shows(&k, "Hot links (Enter");
	console_close(&k);
}

static void jobs_come_by_what_they_suffer(void **state)
{
	struct console_kit k;
	const struct fabric_summary *v;

	(void)state;
	open_tree(&k);
	console_keys(&k, "1");
	v = &shell_context(k.shell)->summary;
	for (uint32_t i = 1; i < v->jobs->njob; i++)
		assert_true(!(v->job_slowdown[v->by_suffering[i]] >
			      v->job_slowdown[v->by_suffering[i - 1]] + 0.1));
	/* and where nobody knows that, by what they send */
	k.s.usage = NULL;
	console_keys(&k, "1");
	v = &shell_context(k.shell)->summary;
	for (uint32_t i = 1; i < v->jobs->njob; i++)
		assert_true(!(v->job_Bps[v->by_suffering[i]] > v->job_Bps[v->by_suffering[i - 1]]));
	/* nobody knows what a job sends when a rate of its hosts is missing: it comes last */
	for (uint32_t t = 0; t < k.jobs->jobs[0].nterm; t++)
		k.rates->port[k.fabric->port_off[k.fabric->term_sw[k.jobs->jobs[0].terms[t]]] +
			      k.fabric->term_port[k.jobs->jobs[0].terms[t]]]
			.rx_Bps = NAN;
	k.s.jobs = NULL;
	console_keys(&k, "1");
	k.s.jobs = k.jobs;
	console_keys(&k, "1");
	v = &shell_context(k.shell)->summary;
	assert_int_equal(v->by_suffering[v->jobs->njob - 1], 0);
	console_close(&k);
}

static void rows_lead_where_they_belong(void **state)
{
	struct console_kit k;
	uint32_t hot;

	(void)state;
	open_tree(&k);
	console_keys(&k, "1j");
	hot = shell_context(k.shell)->summary.sample_summary->top[HISTORY_UTIL].chan[1];
	console_key(&k, K_ENTER);
	assert_int_equal(shell_view(k.shell), VIEW_LINKS);
	assert_int_equal(shell_context(k.shell)->chan, hot);
	console_keys(&k, "1");
	console_key(&k, K_TAB);
	console_key(&k, K_TAB);
	console_key(&k, K_ENTER);
	assert_int_equal(shell_view(k.shell), VIEW_JOBS);
	assert_int_equal(shell_context(k.shell)->job.id,
			 k.jobs->jobs[shell_context(k.shell)->summary.by_suffering[0]].id);
	console_shows(&k, "JOB 81");
	console_close(&k);
}

static void the_line_below_tells_of_the_link_under_the_cursor(void **state)
{
	struct console_kit k;
	char label[256], line[300];

	(void)state;
	open_tree(&k);
	console_size(&k, 100, 30);
	console_keys(&k, "1jj");
	snprintf(
		line, sizeof(line), "selected %s",
		chan_label(
			label, sizeof(label), k.fabric,
			shell_context(k.shell)->summary.sample_summary->top[HISTORY_UTIL].chan[2]));
	console_shows(&k, line);
	console_close(&k);
}

static void a_marked_job_is_seen_in_all_panes(void **state)
{
	struct console_kit k;

	(void)state;
	open_tree(&k);
	context_select_job(shell_context(k.shell), 81207);
	console_size(&k, 200, 60);
	console_golden(&k, "overview-job");
	console_close(&k);
}

/* A click on the verdict, or on the hint at the end, leads where it says. */
static void the_verdict_and_the_hint_lead_where_they_say(void **state)
{
	struct input click = { .req = REQ_CLICK, .x = 10, .y = 2 };
	struct console_kit k;

	(void)state;
	open_tree(&k);
	console_shows(&k, "6 computes better");
	shell_input(k.shell, &click, &k.s, &k.last);
	assert_int_equal(shell_view(k.shell), VIEW_PREVIEW);
	console_keys(&k, "1");
	console_shows(&k, "To change the routing: 6");
	click.y = 21;
	shell_input(k.shell, &click, &k.s, &k.last);
	assert_int_equal(shell_view(k.shell), VIEW_PREVIEW);
	console_keys(&k, "1");
	k.s.sm.known = k.s.sm.lost = true;
	console_shows(&k, "8: events");
	click.y = 2;
	shell_input(k.shell, &click, &k.s, &k.last);
	assert_int_equal(shell_view(k.shell), VIEW_EVENTS);
	console_close(&k);
}

static void one_pane_takes_the_page_and_gives_it_back(void **state)
{
	struct console_kit k;

	(void)state;
	open_tree(&k);
	console_keys(&k, "z");
	console_shows(&k, "-- Hot links");
	console_hides(&k, "-- Slowest jobs");
	console_hides(&k, "-- Events");
	console_shows(&k, "Esc: all panes");
	console_shows(&k, "To change the routing: 6");
	console_key(&k, K_TAB); /* the page is the next pane's */
	console_shows(&k, "-- Problem ports");
	console_hides(&k, "-- Hot links");
	console_key(&k, K_TAB);
	console_shows(&k, "-- Jobs by slowdown");
	console_key(&k, K_ENTER);
	assert_int_equal(shell_view(k.shell), VIEW_JOBS);
	console_key(&k, K_ESC); /* the job that was marked */
	console_key(&k, K_ESC);
	console_shows(&k, "Esc: all panes");
	console_key(&k, K_ESC);
	console_shows(&k, "-- Events");
	console_shows(&k, "-- Slowest jobs");
	console_close(&k);
}

/* In colour and with lines where a terminal can; the words are the same. */
static void without_ascii_lines_are_lines(void **state)
{
	struct console_kit k;

	(void)state;
	open_tree(&k);
	canvas_free(k.c);
	k.c = canvas_new(100, 30, false);
	console_golden(&k, "overview-utf8");
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_time_of_jobs_is_beside_efi),
		cmocka_unit_test(rising_errors_are_among_the_problems_that_are_counted),
		cmocka_unit_test(a_broken_fabric_in_three_sizes),
		cmocka_unit_test(what_was_so_at_the_start_may_be_older),
		cmocka_unit_test(a_lost_link_is_remembered),
		cmocka_unit_test(what_another_thread_added_up_is_taken_over),
		cmocka_unit_test(links_that_wait_or_have_errors_are_a_list_of_their_own),
		cmocka_unit_test(jobs_come_by_what_they_suffer),
		cmocka_unit_test(rows_lead_where_they_belong),
		cmocka_unit_test(the_line_below_tells_of_the_link_under_the_cursor),
		cmocka_unit_test(a_marked_job_is_seen_in_all_panes),
		cmocka_unit_test(the_verdict_and_the_hint_lead_where_they_say),
		cmocka_unit_test(one_pane_takes_the_page_and_gives_it_back),
		cmocka_unit_test(without_ascii_lines_are_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
