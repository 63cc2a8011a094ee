/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saved views outlive the console; what is wrong in their file is an event. */
#include "tests/unit/kit/app_kit.h"

#include "tests/unit/kit/temp_folder.h"
#include "views/saved/saved_view.h"
#include "views/table/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SPEC "fattree2:leaves=6,spines=3,hosts=6,fail=2,seed=3"

static char dir[] = "/tmp/ibroute-test-saved-XXXXXX";

/* Sooner or later: another thread reads and writes. */
static void shows(struct app *a, const char *text)
{
	char *screen = app_kit_screen(a);

	for (int i = 0; i < 100 && !strstr(screen, text); i++) {
		free(screen);
		app_kit_run(a, 0.1);
		screen = app_kit_screen(a);
	}
	if (!strstr(screen, text))
		fail_msg("\"%s\" is not on the screen:\n%s", text, screen);
	free(screen);
}

static struct app *open_console(void)
{
	struct app *a = app_kit_open(SPEC, NULL, 100, 30);

	assert_non_null(a);
	assert_true(app_kit_ready(a, 2));
	return a;
}

static void a_view_is_there_in_the_next_console(void **state)
{
	struct app *a = open_console();
	const struct table_ops *ops;

	(void)state;
	app_kit_keys(a, "4:filter leaf\r:sort lid\r:view save leaves\r");
	shows(a, "ibroute-top/views: :view leaves shows it");
	app_end(a);

	a = open_console();
	assert_int_equal(a->state.saved_views->n, 1);
	app_kit_keys(a, ":view leaves\r");
	shows(a, "6 of 9 switches  filter: leaf");
	assert_string_equal(shell_table(a->shell, &ops)->sort->name, "lid");
	app_kit_keys(a, ":view delete leaves\r");
	shows(a, "saved view leaves deleted");
	assert_int_equal(a->state.saved_views->n, 0);
	app_kit_keys(a, ":view leaves\r");
	shows(a, "no view 'leaves'");
	app_end(a);
}

static void what_is_wrong_in_the_file_is_an_event(void **state)
{
	struct app *a;

	(void)state;
	temp_folder_put("ibroute-top/views", "[bad]\nview = links\ncolumns = colour\n"
					     "[good]\nview = jobs\n");
	a = open_console();
	assert_int_equal(a->state.saved_views->n, 1);
	app_kit_keys(a, "8");
	shows(a, "links have no column 'colour'");
	app_end(a);
}

static int setup(void **state)
{
	(void)state;
	temp_folder_begin(dir);
	setenv("XDG_CONFIG_HOME", dir, 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	temp_folder_end();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_view_is_there_in_the_next_console),
		cmocka_unit_test(what_is_wrong_in_the_file_is_an_event),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
