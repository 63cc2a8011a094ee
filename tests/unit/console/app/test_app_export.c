/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table in view as a file. */
#include "tests/unit/kit/app_kit.h"

#include "views/table/table.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SPEC "fattree2:leaves=6,spines=3,hosts=6,fail=2,seed=3"

static char dir[] = "/tmp/ibroute-test-export-XXXXXX";

/* Sooner or later: another thread writes. */
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

/* What is in the file that the console wrote; the caller frees. */
static char *exported(struct app *a, const char *end)
{
	char command[200], *text = calloc(1, 1 << 20);
	FILE *f;

	assert_non_null(text);
	free(app_kit_screen(a));
	snprintf(command, sizeof(command), ":export! %s/rows.%s\r", dir, end);
	app_kit_keys(a, command);
	shows(a, " written to ");
	snprintf(command, sizeof(command), "%s/rows.%s", dir, end);
	f = fopen(command, "r");
	assert_non_null(f);
	assert_in_range(fread(text, 1, (1 << 20) - 1, f), 1, (1 << 20) - 2);
	fclose(f);
	return text;
}

static uint32_t lines(const char *text)
{
	uint32_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void a_table_is_written_as_it_is_shown(void **state)
{
	struct app *a = app_kit_open(SPEC, NULL, 100, 30);
	const struct table_ops *ops;
	const struct table *t;
	char *csv, *txt, *text;
	json_t *json;

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 3));
	app_kit_keys(a, "Z4:sort name\r:columns name,lid,hosts\r:filter leaf\r");
	csv = exported(a, "csv");
	t = shell_table(a->shell, &ops);
	assert_int_equal(t->nrow, 6);
	assert_int_equal(lines(csv), 7);
	assert_memory_equal(csv, "name,lid,hosts\r\n\"leaf1\",", 23);
	txt = exported(a, "txt");
	assert_int_equal(lines(txt), 7);
	assert_non_null(strstr(txt, "leaf6"));
	assert_null(strstr(txt, "spine"));
	text = exported(a, "json");
	json = json_loads(text, 0, NULL);
	assert_int_equal(json_array_size(json), 6);
	assert_string_equal(json_string_value(json_object_get(json_array_get(json, 5), "name")),
			    "leaf6");
	assert_int_equal(json_object_size(json_array_get(json, 0)), 3);
	/* names come from the nodes themselves, and go into spreadsheets */
	free(csv);
	a->state.fabric->sw_name[0] = a->state.fabric->sw_short[0] = (char *)"=cmd|' /C calc'!A0";
	app_kit_keys(a, ":filter\r");
	csv = exported(a, "csv");
	assert_non_null(strstr(csv, "\"'=cmd|"));
	assert_null(strstr(csv, "\"=cmd|"));
	app_kit_keys(a, ":filter leaf\r");
	/* the other way round */
	free(csv);
	app_kit_keys(a, "S");
	csv = exported(a, "csv");
	assert_non_null(strstr(csv, "hosts\r\n\"leaf"));
	json_decref(json);
	free(text);
	free(txt);
	free(csv);
	app_end(a);
}

static void what_cannot_be_written_is_told(void **state)
{
	struct app *a = app_kit_open(SPEC, NULL, 100, 30);

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 2));
	app_kit_keys(a, "3:export rows.gif\r");
	shows(a, "has to end in .txt, .csv or .json");
	free(app_kit_screen(a));
	app_kit_keys(a, "3:export /nonexistent/rows.csv\r");
	shows(a, "/nonexistent/rows.csv");
	free(app_kit_screen(a));
	app_kit_keys(a, "3:export /nonexistent/rows.png\r");
	shows(a, "/nonexistent/rows.png");
	app_end(a);
}

static void a_file_that_is_there_stays(void **state)
{
	struct app *a = app_kit_open(SPEC, NULL, 160, 30);
	char command[200], *text;

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 2));
	app_kit_keys(a, "Z4");
	free(exported(a, "csv"));
	snprintf(command, sizeof(command), ":filter leaf1\r:export %s/rows.csv\r", dir);
	app_kit_keys(a, command);
	shows(a, "exists: 'export!' overwrites it");
	text = exported(a, "csv"); /* by export! */
	assert_int_equal(lines(text), 2);
	free(text);
	app_kit_keys(a, ":export!");
	shows(a, "FILE: write the table");
	app_kit_keys(a, "\033:sort! name\r");
	shows(a, "'sort' takes no !");
	app_end(a);
}

static void any_view_is_written_with_its_colours(void **state)
{
	static const char views[] = "12345678t";
	struct app *a = app_kit_open(SPEC, NULL, 100, 30);
	char key[2] = "", *html, *svg, *txt;

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 2));
	app_kit_keys(a, "Z");
	for (size_t i = 0; i < sizeof(views) - 1; i++) {
		key[0] = views[i];
		app_kit_keys(a, key);
		html = exported(a, "html");
		svg = exported(a, "svg");
		assert_int_equal(strncmp(html, "<!DOCTYPE html>", 15), 0);
		assert_true(lines(html) > 30);
		assert_non_null(strstr(html, "Over"));
		assert_non_null(strstr(html, "color:#"));
		assert_null(strstr(html, ":export"));
		assert_int_equal(strncmp(svg, "<svg ", 5), 0);
		assert_non_null(strstr(svg, "</svg>\n"));
		free(html);
		free(svg);
	}
	app_kit_keys(a, "2");
	txt = exported(a, "txt");
	assert_non_null(strstr(txt, "leaf x spine"));
	free(txt);
	app_end(a);
}

/* A heatmap and a picture are drawn from links; other views are their lines. */
static void views_without_a_table_are_data_too(void **state)
{
	static const char views[] = "2t160";
	struct app *a = app_kit_open(SPEC, NULL, 100, 30);
	char key[2] = "", *csv, *text;

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 2));
	app_kit_keys(a, "Z");
	for (size_t i = 0; i < sizeof(views) - 1; i++) {
		uint32_t nlink = a->state.fabric->nchan;
		json_t *json, *lines_of;

		key[0] = views[i];
		app_kit_keys(a, key);
		csv = exported(a, "csv");
		text = exported(a, "json");
		json = json_loads(text, 0, NULL);
		lines_of = json_object_get(json, "lines");
		if (i < 2) {
			assert_int_equal(lines(csv), nlink + 1);
			assert_int_equal(json_array_size(json), nlink);
			assert_true(
				json_is_real(json_object_get(json_array_get(json, 0), "util_pct")));
		} else {
			assert_memory_equal(csv, "line\r\n\"", 7);
			assert_int_equal(lines(csv), 31);
			assert_int_equal(json_array_size(lines_of), 30);
			assert_non_null(
				strstr(json_string_value(json_array_get(lines_of, 1)), "Over"));
		}
		json_decref(json);
		free(text);
		free(csv);
	}
	app_end(a);
}

/* With its settings, as a file that stays. */
static void any_view_is_written_as_a_picture(void **state)
{
	struct app *a = app_kit_open(SPEC, NULL, 100, 30);
	char command[200];
	char *png;
	int high;

	(void)state;
#if !WITH_PNG
	app_end(a);
	skip();
#endif
	assert_non_null(a);
	assert_true(app_kit_ready(a, 2));
	app_kit_keys(a, "Z2");
	png = exported(a, "png");
	assert_memory_equal(png, "\x89PNG\r\n\x1a\n", 8);
	high = (unsigned char)png[22] << 8 | (unsigned char)png[23];
	free(png);
	app_kit_keys(a, "3:set png-size=32\r");
	png = exported(a, "png"); /* in place of rows */
	assert_true((((unsigned char)png[22] << 8) | (unsigned char)png[23]) > 3 * high / 2);
	free(png);
	free(app_kit_screen(a));
	snprintf(command, sizeof(command), ":export %s/rows.png\r", dir);
	app_kit_keys(a, command);
	shows(a, "exists: 'export!' overwrites it");
	app_kit_keys(a, ":set png-font=/nonexistent.ttf\r");
	free(app_kit_screen(a));
	snprintf(command, sizeof(command), ":export! %s/rows.png\r", dir);
	app_kit_keys(a, command);
	shows(a, "font /nonexistent.ttf cannot be read");
	app_kit_keys(a, ":set png-size=7\r");
	shows(a, "png-size: '7' is not a number between 8 and 48");
	app_end(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_is_written_as_it_is_shown),
		cmocka_unit_test(what_cannot_be_written_is_told),
		cmocka_unit_test(a_file_that_is_there_stays),
		cmocka_unit_test(any_view_is_written_with_its_colours),
		cmocka_unit_test(views_without_a_table_are_data_too),
		cmocka_unit_test(any_view_is_written_as_a_picture),
	};
	char cmd[80];
	int rc;

	if (!mkdtemp(dir))
		return 1;
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd) || rc;
}
