/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/jobs/placement.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void add(struct job_log *log, uint64_t id, int64_t start_s, int64_t end_s, uint32_t wants)
{
	char none[] = "";
	struct job_record r = { .id = id,
				.start_s = start_s,
				.end_s = end_s,
				.wants = wants,
				.name = none,
				.user = none,
				.nodes = none };

	job_log_add(log, &r);
}

/* 4 leaves of 4 hosts, n0000 .. n0015 */
static struct job_log *day(void)
{
	struct job_log *log = job_log_new();

	add(log, 4, 40, 90, 4);
	add(log, 1, 10, 100, 2);
	add(log, 2, 20, 30, 3);
	add(log, 3, 30, 90, 10);
	add(log, 5, 50, 60, 16);
	add(log, 6, 5, 5, 16); /* ran at no time */
	return log;
}

static const char *nodes_of(const struct job_log *log, uint64_t id)
{
	for (uint32_t i = 0; i < log->n; i++)
		if (log->jobs[i].id == id)
			return log->jobs[i].nodes;
	return NULL;
}

static struct job_log *placed(const struct fabric *f, enum placement policy,
			      struct placement_report *report)
{
	struct placement_opts opts = { policy, 1, JOB_LOG_ALL, JOB_LOG_ALL };
	struct job_log *log = day();

	job_log_place(log, f, &opts, report);
	return log;
}

static void first_fit_takes_the_first_free_nodes(void **state)
{
	struct fabric *f = net_tree(4, 2, 4, NULL);
	struct placement_report report;
	struct job_log *log = placed(f, PLACEMENT_FIRST_FIT, &report);

	(void)state;
	assert_string_equal(nodes_of(log, 1), "n[0000-0001]");
	assert_string_equal(nodes_of(log, 2), "n[0002-0004]");
	assert_string_equal(nodes_of(log, 3), "n[0002-0011]"); /* 2 has just ended */
	assert_string_equal(nodes_of(log, 4), "n[0012-0015]");
	assert_null(nodes_of(log, 5));
	assert_int_equal(report.placed, 4);
	assert_int_equal(report.no_room, 1);
	assert_int_equal(report.first_id, 5);
	assert_int_equal(report.nodes, 16);
	job_log_free(log);
	fabric_put(f);
}

static void topology_keeps_a_job_on_one_switch_where_it_can(void **state)
{
	struct fabric *f = net_tree(4, 2, 4, NULL);
	struct placement_report report;
	struct job_log *log = placed(f, PLACEMENT_TOPOLOGY, &report);

	(void)state;
	assert_string_equal(nodes_of(log, 1), "n[0000-0001]");
	assert_string_equal(nodes_of(log, 2), "n[0004-0006]"); /* no room on the first leaf */
	assert_int_equal(report.placed, 4);
	job_log_free(log);
	fabric_put(f);
}

static void what_is_drawn_depends_on_the_seed_alone(void **state)
{
	struct fabric *f = net_tree(4, 2, 4, NULL);
	struct placement_report report;
	struct job_log *a = placed(f, PLACEMENT_SCATTERED, &report);
	struct job_log *b = placed(f, PLACEMENT_SCATTERED, &report);

	(void)state;
	for (uint32_t i = 0; i < a->n; i++)
		assert_string_equal(a->jobs[i].nodes, b->jobs[i].nodes);
	assert_string_not_equal(nodes_of(a, 3), "n[0002-0011]");
	job_log_free(a);
	job_log_free(b);
	fabric_put(f);
}

/* Of a moment, only who runs then is written out; the others have their places all the same. */
static void only_the_jobs_of_a_window_are_kept(void **state)
{
	struct fabric *f = net_tree(4, 2, 4, NULL);
	struct placement_opts opts = { PLACEMENT_FIRST_FIT, 1, 85, 85 };
	struct placement_report report;
	struct job_log *log = day();

	(void)state;
	job_log_place(log, f, &opts, &report);
	assert_int_equal(log->n, 3);
	assert_string_equal(nodes_of(log, 3), "n[0002-0011]");
	assert_null(nodes_of(log, 2));
	job_log_free(log);
	fabric_put(f);
}

static void add_part(struct job_log *log, uint64_t id, int64_t start_s, int64_t end_s,
		     uint32_t procs)
{
	add(log, id, start_s, end_s, 1);
	log->jobs[log->n - 1].procs = procs;
	log->jobs[log->n - 1].node_procs = 8;
}

/* 2 leaves of 2 hosts: n0000 .. n0003, of 8 processors each. */
static void jobs_of_some_processors_share_nodes(void **state)
{
	struct placement_opts opts = { PLACEMENT_FIRST_FIT, 1, JOB_LOG_ALL, JOB_LOG_ALL };
	struct fabric *f = net_tree(2, 2, 2, NULL);
	struct placement_report report;
	struct job_log *log = job_log_new();

	(void)state;
	add_part(log, 1, 10, 50, 3);
	add_part(log, 2, 11, 40, 6);
	add_part(log, 3, 12, 90, 2); /* room on both: on the fuller */
	add_part(log, 4, 13, 90, 4);
	add(log, 5, 14, 60, 2);	     /* whole nodes */
	add_part(log, 6, 15, 90, 1); /* no node is free, and one has a processor left */
	add_part(log, 7, 16, 90, 1); /* none has */
	add(log, 8, 45, 90, 1);	     /* 2 has ended, 3 has not */
	add_part(log, 9, 55, 90, 3); /* where 1 was */
	job_log_place(log, f, &opts, &report);
	assert_string_equal(nodes_of(log, 1), "n0000");
	assert_string_equal(nodes_of(log, 2), "n0001");
	assert_string_equal(nodes_of(log, 3), "n0001");
	assert_string_equal(nodes_of(log, 4), "n0000");
	assert_string_equal(nodes_of(log, 5), "n[0002-0003]");
	assert_string_equal(nodes_of(log, 6), "n0000");
	assert_null(nodes_of(log, 7));
	assert_null(nodes_of(log, 8));
	assert_string_equal(nodes_of(log, 9), "n0000");
	assert_int_equal(report.placed, 7);
	assert_int_equal(report.no_room, 2);
	assert_int_equal(report.first_id, 7);
	job_log_free(log);
	fabric_put(f);
}

/* A node that jobs have shared is whole again once the last of them has ended. */
static void a_shared_node_is_free_after_the_last_of_them(void **state)
{
	struct placement_opts opts = { PLACEMENT_FIRST_FIT, 1, JOB_LOG_ALL, JOB_LOG_ALL };
	struct fabric *f = net_tree(2, 2, 2, NULL);
	struct placement_report report;
	struct job_log *log = job_log_new();

	(void)state;
	add_part(log, 1, 10, 50, 3);
	add_part(log, 2, 11, 40, 5);
	add(log, 3, 50, 60, 4);
	job_log_place(log, f, &opts, &report);
	assert_string_equal(nodes_of(log, 2), "n0000");
	assert_string_equal(nodes_of(log, 3), "n[0000-0003]");
	assert_int_equal(report.no_room, 0);
	job_log_free(log);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_fit_takes_the_first_free_nodes),
		cmocka_unit_test(topology_keeps_a_job_on_one_switch_where_it_can),
		cmocka_unit_test(what_is_drawn_depends_on_the_seed_alone),
		cmocka_unit_test(only_the_jobs_of_a_window_are_kept),
		cmocka_unit_test(jobs_of_some_processors_share_nodes),
		cmocka_unit_test(a_shared_node_is_free_after_the_last_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
