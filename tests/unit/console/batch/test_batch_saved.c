/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saved views as options of batch output. */
#include "console/batch/batch_saved.h"
#include "tests/unit/kit/temp_folder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char dir[] = "/tmp/test_batch_saved.XXXXXX";

static void put(const char *text)
{
	temp_folder_put("ibroute-top/views", text);
}

static void a_view_is_what_its_options_would_be(void **state)
{
	struct batch_saved s;
	struct err err;

	(void)state;
	put("[hot]\nview = links\nfilter = util>80 a~leaf\ncolumns = util, wait,a  b\n"
	    "sort = -util_pct\nproblems = yes\n");
	assert_int_equal(batch_saved_find(&s, "HOT", &err), 0);
	assert_string_equal(s.view.name, "hot");
	assert_int_equal(s.view.view, VIEW_LINKS);
	assert_string_equal(s.filter, "util>80 a~leaf");
	assert_string_equal(s.fields, "util,wait,a,b");
	assert_string_equal(s.sort, "-util_pct");
	assert_true(s.view.problems);
	assert_null(s.metric);
}

static void metrics_of_the_heatmap_are_fields_of_links(void **state)
{
	static const struct {
		const char *saved, *field;
	} of[] = { { "utilisation", "util_pct" }, { "EFI", "efi" },
		   { "job EFI", "eff_efi" },	  { "errors", "errors_per_min" },
		   { "unused links", "dark" },	  { "wait change", "wait_change_pct" },
		   { "problems", NULL } };
	char text[200];
	struct batch_saved s;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		snprintf(text, sizeof(text), "[map]\nview = heatmap\nmetric = %s\n", of[i].saved);
		put(text);
		assert_int_equal(batch_saved_find(&s, "map", &err), 0);
		if (of[i].field)
			assert_string_equal(s.metric, of[i].field);
		else
			assert_null(s.metric);
		if (s.metric)
			assert_non_null(field_find(ROWS_LINKS, s.metric, strlen(s.metric)));
	}
}

static void one_that_is_not_there_is_told(void **state)
{
	struct batch_saved s;
	struct err err;

	(void)state;
	put("[map]\nview = heatmap\n[bad]\nview = nowhere\n");
	assert_int_equal(batch_saved_find(&s, "hot", &err), -ENOENT);
	assert_string_equal(err.text, "no view was saved as 'hot'");
	assert_int_equal(batch_saved_find(&s, "bad", &err), -ENOENT);
	assert_int_equal(unsetenv("XDG_CONFIG_HOME"), 0);
	assert_int_equal(setenv("HOME", "", 1), 0);
	assert_int_equal(batch_saved_find(&s, "map", &err), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_view_is_what_its_options_would_be),
		cmocka_unit_test(metrics_of_the_heatmap_are_fields_of_links),
		cmocka_unit_test(one_that_is_not_there_is_told),
	};
	char *sub;
	int rc;

	temp_folder_begin(dir);
	sub = temp_folder_file("ibroute-top");
	mkdir(sub, 0700);
	free(sub);
	setenv("XDG_CONFIG_HOME", dir, 1);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	temp_folder_end();
	return rc;
}
