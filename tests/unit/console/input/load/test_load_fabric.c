/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Damaged files of fabrics: what is there is loaded and marked, or refused where that is wanted. */
#include "console/input/load/load_fabric.h"

#include "fabric/base/message/log.h"
#include "tests/unit/kit/temp_folder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static unsigned warned;
static char last[400];

static void count_warnings(void *ctx, const struct log_line *line)
{
	(void)ctx;
	warned += line->level == LOG_WARN;
	snprintf(last, sizeof(last), "%s", line->text);
}

static const char whole[] = "Switch 8 \"S-1\"\n[1] \"H-3\"[1]\n[2] \"H-4\"[1]\n\n"
			    "Ca 1 \"H-3\"\n[1] \"S-1\"[1]\n\nCa 1 \"H-4\"\n[1] \"S-1\"[2]\n";
static const char gap[] = "Switch 8 \"S-1\"\n[1] \"H-3\"[1]\n[2] \"H-4\"[1]\n\n"
			  "Ca 1 \"H-3\"\n[1] \"S-1\"[1]\n";

static int load(struct fabric **f, bool *incomplete, const char *text, bool strict, struct err *err)
{
	struct load_fabric_opts opts = { .lmc = -1, .strict = strict };
	char *path;
	int rc;

	temp_folder_put("net", text);
	path = temp_folder_file("net");
	warned = 0;
	rc = load_fabric_of(f, incomplete, path, &opts, err);
	free(path);
	return rc;
}

static void a_whole_file_is_not_marked_and_is_not_refused(void **state)
{
	struct fabric *f;
	struct err err;
	bool incomplete = true;

	(void)state;
	for (int strict = 0; strict < 2; strict++) {
		assert_int_equal(load(&f, &incomplete, whole, strict, &err), 0);
		assert_false(incomplete);
		assert_int_equal(f->nterm, 2);
		assert_int_equal(warned, 0);
		fabric_put(f);
	}
}

static void what_is_left_of_a_file_is_loaded_and_marked(void **state)
{
	struct fabric *f;
	struct err err;
	bool incomplete = false;

	(void)state;
	assert_int_equal(load(&f, &incomplete, gap, false, &err), 0);
	assert_true(incomplete);
	assert_int_equal(f->nterm, 1);
	assert_int_equal(warned, 2);
	assert_non_null(strstr(last, "/net is incomplete (1 gap)"));
	fabric_put(f);
}

static void strict_refuses_it_with_the_line(void **state)
{
	struct fabric *f = (struct fabric *)1;
	struct err err = { "" };
	bool incomplete;

	(void)state;
	assert_int_equal(load(&f, &incomplete, gap, true, &err), -ENODATA);
	assert_null(f);
	assert_non_null(
		strstr(err.text, "/net:3: port 2 leads to \"H-4\"[1], which has no record"));
	assert_non_null(strstr(err.text, "the file is incomplete (1 gap)"));
}

static void a_line_that_cannot_be_read_is_no_gap_where_the_other_end_has_the_cable(void **state)
{
	struct fabric *f;
	struct err err;
	bool incomplete = true;

	(void)state;
	assert_int_equal(
		load(&f, &incomplete,
		     "Switch 8 \"S-1\"\n[1] \"H-3\"[1]\n[x]\n\nCa 1 \"H-3\"\n[1] \"S-1\"[1]\n",
		     true, &err),
		0);
	assert_false(incomplete);
	assert_int_equal(warned, 1);
	fabric_put(f);
}

static int setup(void **state)
{
	static char folder[] = "/tmp/load_fabric.XXXXXX";

	(void)state;
	temp_folder_begin(folder);
	log_set_sink(count_warnings, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	log_set_sink(NULL, NULL);
	temp_folder_end();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_file_is_not_marked_and_is_not_refused),
		cmocka_unit_test(what_is_left_of_a_file_is_loaded_and_marked),
		cmocka_unit_test(strict_refuses_it_with_the_line),
		cmocka_unit_test(
			a_line_that_cannot_be_read_is_no_gap_where_the_other_end_has_the_cable),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
