/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The jobs: what the table says, and what a marked job changes elsewhere. */
#include "tests/unit/console_kit.h"

#include "views/view.h"

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
	console_shows(&k, "are marked in all views");
	for (const char *v = "12368"; *v; v++) {
		char key[2] = { *v, 0 };

		console_keys(&k, key);
		console_shows(&k, "JOB 81207");
	}
	assert_int_equal(ui_selected_job(k.ui), 81207);
	console_keys(&k, "5");
	console_key(&k, K_ENTER);
	console_hides(&k, "JOB 81207");
	console_key(&k, K_ENTER);
	console_keys(&k, "2");
	console_key(&k, K_ESC);
	console_hides(&k, "JOB 81207");
	assert_int_equal(ui_view(k.ui), VIEW_HEATMAP);
	console_key(&k, K_ESC);
	assert_int_equal(ui_view(k.ui), VIEW_JOBS);
	console_close(&k);
}

static void the_links_of_a_marked_job_are_those_of_its_routes(void **state)
{
	struct console_kit k;
	uint32_t n = 0;

	(void)state;
	open_jobs(&k);
	console_key(&k, K_ENTER);
	for (uint32_t c = 0; c < k.fabric->nchan; c++) {
		uint32_t routes = job_routes_on(k.usage->routes, 0, c);

		assert_int_equal(ui_job_routes(k.ui, c), routes);
		assert_int_equal(ui_job_dims(k.ui, c), !routes);
		n += routes > 0;
	}
	assert_int_equal(ui_job_links(k.ui), n);
	assert_int_equal(n, k.metrics->job[0].links);
	/* other tables: nothing is known until they were looked at */
	k.s.usage = NULL;
	console_keys(&k, "2");
	assert_false(ui_job_dims(k.ui, 0));
	console_shows(&k, "JOB 81200");
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(enter_marks_a_job_in_all_views_and_takes_it_back),
		cmocka_unit_test(the_links_of_a_marked_job_are_those_of_its_routes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
