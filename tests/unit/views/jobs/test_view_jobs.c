/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The jobs: what the table says, and what a marked job changes elsewhere. */
#include "tests/unit/kit/console_kit.h"

#include "fabric/base/memory/mem.h"
#include "views/view.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t jobs[] = { 48, 31, 24, 16, 16, 9, 4, 2, 0 };

#define TREE "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3"

static void open_jobs(struct console_kit *k)
{
	console_open(k, 80, 24);
	console_fabric(k, TREE, jobs);
	console_keys(k, "5");
}

static void enter_marks_a_job_in_all_views_and_takes_it_back(void **state)
{
	struct console_kit k;

	(void)state;
	open_jobs(&k);
	console_hides(&k, "JOB 81200");
	console_keys(&k, "j");
	console_key(&k, K_ENTER);
	console_shows(&k, "JOB 81207");
	console_shows(&k, "marked in all views");
	for (const char *v = "12368"; *v; v++) {
		char key[2] = { *v, 0 };

		console_keys(&k, key);
		console_shows(&k, "JOB 81207");
	}
	assert_int_equal(shell_context(k.shell)->job.id, 81207);
	console_keys(&k, "5");
	console_key(&k, K_ENTER);
	console_hides(&k, "JOB 81207");
	console_key(&k, K_ENTER);
	console_keys(&k, "2");
	console_key(&k, K_ESC);
	console_hides(&k, "JOB 81207");
	assert_int_equal(shell_view(k.shell), VIEW_HEATMAP);
	console_key(&k, K_ESC);
	assert_int_equal(shell_view(k.shell), VIEW_JOBS);
	console_close(&k);
}

static void the_links_of_a_marked_job_are_those_of_its_routes(void **state)
{
	struct console_kit k;
	uint32_t n = 0, job;
	char name[32];

	(void)state;
	open_jobs(&k);
	console_key(&k, K_ENTER);
	job = link_usage_job(k.usage, shell_context(k.shell)->job.id);
	for (uint32_t c = 0; c < k.fabric->nchan; c++) {
		uint32_t routes = job_routes_on(k.usage->routes, job, c);

		assert_int_equal(context_job_routes(shell_context(k.shell), c), routes);
		assert_int_equal(context_dims(shell_context(k.shell), c), !routes);
		n += routes > 0;
	}
	assert_int_equal(shell_context(k.shell)->job.links, n);
	assert_int_equal(n, k.metrics->job[job].links);
	/* other tables: nothing is known until they were looked at */
	k.s.usage = NULL;
	console_keys(&k, "2");
	assert_false(context_dims(shell_context(k.shell), 0));
	snprintf(name, sizeof(name), "JOB %llu",
		 (unsigned long long)shell_context(k.shell)->job.id);
	console_shows(&k, name);
	console_close(&k);
}

static const int sizes[][2] = { { 80, 24 }, { 100, 30 }, { 200, 60 } };

/* Until it is known what jobs suffer, the largest one is on top. */
static void the_job_that_suffers_most_comes_first(void **state)
{
	struct console_kit k;
	double worst = 0;

	(void)state;
	open_jobs(&k);
	for (uint32_t i = 0; i < k.jobs->njob; i++)
		worst = fmax(worst, link_usage_slowdown(k.usage, k.jobs->jobs[i].id));
	console_key(&k, K_ENTER);
	assert_true(link_usage_slowdown(k.usage, shell_context(k.shell)->job.id) >= worst);
	console_close(&k);
}

static void a_marked_job_in_three_sizes(void **state)
{
	struct console_kit k;

	(void)state;
	open_jobs(&k);
	console_preview(&k, "sar");
	console_keys(&k, "jj");
	console_key(&k, K_ENTER);
	for (int i = 0; i < 3; i++) {
		console_size(&k, sizes[i][0], sizes[i][1]);
		console_golden(&k, "jobs-marked");
	}
	console_close(&k);
}

/* Of a plan that was applied, or that is of other jobs, there is nothing to compare. */
static void a_stale_plan_has_no_column(void **state)
{
	struct console_kit k;
	struct plan_preview *x;

	(void)state;
	open_jobs(&k);
	console_preview(&k, "sar");
	console_shows(&k, "plan EFI");
	x = &k.s.preview.list[0];
	snprintf(x->stale, sizeof(x->stale), "the installed tables have changed");
	k.s.sample = NULL; /* the next one makes the rows again */
	console_hides(&k, "plan EFI");
	console_size(&k, 100, 30);
	console_hides(&k, "change");
	console_close(&k);
}

/* At 80x24 there is room for one of the two. */
static void while_moments_are_compared_the_plan_gives_way(void **state)
{
	struct console_kit k;
	struct rates then;

	(void)state;
	open_jobs(&k);
	console_preview(&k, "sar");
	console_size(&k, 80, 24);
	console_shows(&k, "plan EFI");
	console_hides(&k, " change ");
	then = *k.rates;
	then.port = xcalloc(then.nport, sizeof(*then.port));
	memcpy(then.port, k.rates->port, then.nport * sizeof(*then.port));
	k.s.against = &then;
	k.s.against_s = k.s.now_s - 600;
	k.s.sample = NULL; /* the next one makes the rows again */
	console_shows(&k, " change ");
	console_hides(&k, "plan EFI");
	k.s.against = NULL;
	free(then.port);
	console_close(&k);
}

static void figures_of_a_job_are_those_of_its_links(void **state)
{
	struct console_kit k;
	const struct job_load *l;

	(void)state;
	open_jobs(&k);
	for (uint32_t j = 0; j < k.jobs->njob; j++) {
		uint32_t hot = 0, links = 0;
		double most = -1, routes = 0;

		l = fabric_summary_job_load(&shell_context(k.shell)->summary, &k.s, j);
		assert_non_null(l);
		for (uint32_t c = 0; c < k.fabric->nchan; c++) {
			uint32_t n = job_routes_on(k.usage->routes, j, c);
			double util = state_rate(&k.s, chan_fabric_port(k.fabric, c))->util_pct;

			links += n > 0;
			routes += n;
			hot += n && util >= k.s.limits.util_pct;
			most = n && util > most ? util : most;
		}
		assert_int_equal(l->links, links);
		assert_int_equal(l->hot, hot);
		if (!links)
			continue;
		assert_true(fabs(l->util_max - most) < 1e-9);
		assert_true(fabs(l->efi_mean - routes / links) < 1e-9);
	}
	console_close(&k);
}

static void what_is_not_known_is_a_dash(void **state)
{
	struct console_kit k;

	(void)state;
	open_jobs(&k);
	k.s.usage = NULL;
	k.s.rates = NULL;
	k.s.sample = NULL;
	k.s.metrics = NULL;
	console_size(&k, 100, 30);
	console_golden(&k, "jobs-unknown");
	console_key(&k, K_ENTER);
	console_shows(&k, "its links are not computed yet");
	console_close(&k);
}

static void jobs_are_filtered_by_slowdown_and_state(void **state)
{
	struct console_kit k;

	(void)state;
	open_jobs(&k);
	console_keys(&k, "/slowdown>3.1\r");
	console_shows(&k, "3 of 8 jobs");
	console_key(&k, K_ESC);
	console_keys(&k, "/hot>0 user=ana\r");
	console_shows(&k, "2 of 8 jobs");
	console_key(&k, K_ESC);
	console_keys(&k, ":sort slowdown\r");
	console_shows(&k, "Jobs by slowdown");
	console_close(&k);
}

/* A snapshot of yesterday's does not tell of jobs that run for a day longer. */
static void jobs_are_as_old_as_they_were_at_the_moment_shown(void **state)
{
	struct console_kit k;

	(void)state;
	open_jobs(&k);
	console_size(&k, 200, 60);
	console_shows(&k, " 60m ");
	k.s.history_at = (struct state_history_at){ .on = true, .time_s = k.s.now_s, .count = 9 };
	k.s.now_s += 86400;
	console_shows(&k, "HIST");
	console_shows(&k, " 60m ");
	k.s.history_at.on = false;
	k.s.mode = RUN_FILE;
	console_shows(&k, "FILE");
	console_shows(&k, " 60m ");
	k.s.mode = RUN_LIVE;
	console_hides(&k, " 60m ");
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(enter_marks_a_job_in_all_views_and_takes_it_back),
		cmocka_unit_test(the_links_of_a_marked_job_are_those_of_its_routes),
		cmocka_unit_test(the_job_that_suffers_most_comes_first),
		cmocka_unit_test(a_marked_job_in_three_sizes),
		cmocka_unit_test(a_stale_plan_has_no_column),
		cmocka_unit_test(while_moments_are_compared_the_plan_gives_way),
		cmocka_unit_test(figures_of_a_job_are_those_of_its_links),
		cmocka_unit_test(what_is_not_known_is_a_dash),
		cmocka_unit_test(jobs_are_filtered_by_slowdown_and_state),
		cmocka_unit_test(jobs_are_as_old_as_they_were_at_the_moment_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
