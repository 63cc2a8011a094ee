/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes outlive the console, and are in the record of the session that wrote them. */
#include "tests/unit/kit/app_kit.h"

#include "tests/unit/kit/temp_folder.h"
#include "views/table/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SPEC "fattree2:leaves=6,spines=3,hosts=6,fail=2,seed=3"

static char dir[] = "/tmp/ibroute-test-notes-XXXXXX", *records;

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
	const struct app_opts o = { .demo = true,
				    .demo_spec = SPEC,
				    .interval_s = 0.2,
				    .jobs_interval_s = 10,
				    .params.seed = 1,
				    .live.record_dir = records };
	struct app *a = app_kit_open_opts(&o, 100, 30);

	assert_non_null(a);
	assert_true(app_kit_ready(a, 2));
	return a;
}

static bool file_has(const char *path, const char *text)
{
	char *all = calloc(1, 1 << 20);
	FILE *f = fopen(path, "r");
	bool has;

	assert_true(all && f && fread(all, 1, (1 << 20) - 1, f) > 0);
	has = strstr(all, text) != NULL;
	fclose(f);
	free(all);
	return has;
}

static void a_note_is_there_in_the_next_console_and_in_the_record(void **state)
{
	struct app *a = open_console();
	char *record = strdup(record_path(a->record));

	(void)state;
	app_kit_keys(a, ":switches spine\r:note fan 3, ticket 4711\r");
	shows(a, "noted on spine");
	shows(a, "note: fan 3, ticket 4711");
	app_end(a);
	assert_true(file_has(record, "fan 3, ticket 4711"));
	free(record);

	a = open_console();
	record = strdup(record_path(a->record));
	app_kit_keys(a, ":switches spine\r");
	shows(a, "note: fan 3, ticket 4711");
	app_kit_keys(a, ":note\r");
	shows(a, "note on spine");
	app_end(a);
	assert_true(file_has(record, "note.delete"));
	free(record);
}

static void what_is_wrong_in_the_file_is_an_event(void **state)
{
	struct app *a;

	(void)state;
	temp_folder_put("ibroute-top/notes", "rack 7\tnow\tx\n");
	a = open_console();
	app_kit_keys(a, "8/notes\r");
	shows(a, "job or time");
	app_end(a);
}

static int setup(void **state)
{
	(void)state;
	temp_folder_begin(dir);
	records = temp_folder_file("records");
	return setenv("XDG_STATE_HOME", dir, 1);
}

static int teardown(void **state)
{
	(void)state;
	temp_folder_end();
	free(records);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_note_is_there_in_the_next_console_and_in_the_record),
		cmocka_unit_test(what_is_wrong_in_the_file_is_an_event),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
