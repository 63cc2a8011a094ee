/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of saved views: what is wrong in it is told and left out, what others wrote
 * stays. */
#include "console/config/saved_file.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/temp_folder.h"
#include "tests/unit/kit/told_log.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/test_saved_file.XXXXXX";

static int setup(void **state)
{
	(void)state;
	temp_folder_begin(dir);
	told_log_begin();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	told_log_end();
	temp_folder_end();
	return 0;
}

static void read_views(struct saved_views *out, const char *text)
{
	char *path = temp_folder_file("views");
	struct err err;

	told_log_clear();
	temp_folder_put("views", text);
	assert_int_equal(saved_file_read(out, path, &err), 0);
	free(path);
}

static void views_are_read_with_all_that_is_said_of_them(void **state)
{
	struct saved_views all;
	const struct saved_view *v;

	(void)state;
	read_views(&all,
		   "# mine\n\n[hot]\r\nview = links\r\nfilter = util>80 tier~spine\n"
		   "columns=util,wait , a\nsort = -util\nproblems = yes\n[Map]\n view = heat\n"
		   "metric = EFI\nlayout = switch x switch\n");
	assert_string_equal(told_log_text(), "");
	assert_int_equal(all.n, 2);
	v = saved_views_find(&all, "HOT");
	assert_non_null(v);
	assert_int_equal(v->view, VIEW_LINKS);
	assert_string_equal(v->filter, "util>80 tier~spine");
	assert_string_equal(v->columns, "util,wait , a");
	assert_string_equal(v->sort, "-util");
	assert_true(v->problems);
	assert_int_equal(saved_views_find(&all, "map")->view, VIEW_HEATMAP);
	assert_string_equal(saved_views_find(&all, "map")->choice.metric, "EFI");
	assert_string_equal(saved_views_find(&all, "map")->choice.layout, "switch x switch");
}

static void what_is_wrong_is_told_with_its_line_and_left_out(void **state)
{
	static const struct {
		const char *text, *line;
	} bad[] = {
		{ "[x]\nview = nowhere\n", ":2: unknown view 'nowhere'" },
		{ "[x]\nview =\n", ":2: unknown view ''" },
		{ "[x]\nfilter = a\n", ":1: no view = NAME follows" },
		{ "[x]\nview = links\nfilter = util>>3\n", ":1: filter: " },
		{ "[x]\nview = links\ncolumns = util,slowdown\n",
		  ":1: columns: links have no column 'slowdown'" },
		{ "[x]\nview = jobs\nsort = -wait\n", ":1: sort: jobs have no column 'wait'" },
		{ "[x]\nview = heatmap\nfilter = a\n", ":1: this view has no table" },
		{ "[x]\nview = links\nmetric = EFI\n", ":1: layout and metric are those of" },
		{ "[x]\nview = heatmap\nmetric = joy\n", ":1: metric: there is no 'joy'" },
		{ "[x]\nview = links\nproblems = maybe\n", ":3: problems: neither yes nor no" },
		{ "[x]\nview = links\ncolour = red\n", ":3: 'colour' is not one of view" },
		{ "[x]\nview = links\nrubbish\n", ":3: expected NAME = VALUE" },
		{ "view = links\n", ":1: this is before the first [NAME]" },
		{ "[x\nview = links\n", ":1: expected [NAME]" },
		{ "[x] y\nview = links\n", ":1: expected [NAME]" },
		{ "[]\nview = links\n", ":1: a name of a view has" },
		{ "[a b]\nview = links\n", ":1: a name of a view has" },
		{ "[links]\nview = links\n", ":1: a view of the console has that name" },
		{ "[save]\nview = links\n", ":1: a view of the console has that name" },
		{ "[x\x1b]\nview = links\n", ":1: a name of a view has" },
		{ "[x]\nview = links\nfilter = \x1b[2J\n", ":1: filter: has a control character" },
		{ "[y]\nview = links\n[Y]\nview = jobs\n", ":3: a view of that name was there" },
	};
	struct saved_views all;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[400];

		snprintf(text, sizeof(text), "%s[good]\nview = jobs\n", bad[i].text);
		read_views(&all, text);
		if (!strstr(told_log_text(), bad[i].line) || !strstr(told_log_text(), "/views:"))
			fail_msg("%s: told '%s'", bad[i].text, told_log_text());
		if (!saved_views_find(&all, "good") || saved_views_find(&all, "x"))
			fail_msg("%s: not what is good", bad[i].text);
	}
	assert_int_equal(saved_views_find(&all, "y")->view, VIEW_LINKS);
}

static void too_long_and_too_many_are_refused(void **state)
{
	char *text = calloc(1, 1 << 16), name[80];
	struct saved_views all;

	(void)state;
	strcpy(text, "[x]\nview = links\nfilter = ");
	memset(text + strlen(text), 'a', 200);
	strcat(text, "\n[good]\nview = jobs\n");
	read_views(&all, text);
	assert_non_null(strstr(told_log_text(), ":3: this is too long"));
	assert_int_equal(all.n, 1);
	text[0] = '\0';
	for (int i = 0; i < SAVED_MAX + 3; i++) {
		snprintf(name, sizeof(name), "[v%d]\nview = jobs\n", i);
		strcat(text, name);
	}
	read_views(&all, text);
	assert_int_equal(all.n, SAVED_MAX);
	assert_non_null(strstr(told_log_text(), "no more than 64 views"));
	free(text);
}

/* Whatever bytes are in it: what is taken is a view as it could have been typed. */
static void any_bytes_are_read_without_harm(void **state)
{
	static const char *const parts[] = { "[x]",	 "\n",	   "view", " = ",  "links",
					     "filter",	 "util>8", "\xff", "[",	   "]",
					     "columns",	 "sort",   "-",	   "util", "#",
					     "problems", "yes",	   "\r",   "\t",   "(" };
	struct saved_views all;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 11);
	for (int i = 0; i < 3000; i++) {
		char text[400] = "";
		struct err err;

		for (uint64_t n = rng_below(&rng, 30); n; n--)
			strcat(text, parts[rng_below(&rng, sizeof(parts) / sizeof(parts[0]))]);
		read_views(&all, text);
		for (uint32_t k = 0; k < all.n; k++)
			assert_int_equal(saved_view_check(&all.view[k], &err), 0);
	}
}

static char *text_of(const char *name)
{
	char *text = calloc(1, 1 << 16);
	FILE *f = temp_folder_open(name, "r");

	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
	fclose(f);
	return text;
}

static void one_is_put_in_and_all_else_stays(void **state)
{
	char *path = temp_folder_file("views"), *text;
	struct saved_view v = {
		.name = "hot", .view = VIEW_JOBS, .sort = "-nodes", .problems = true
	};
	struct stat st;
	struct err err;

	(void)state;
	temp_folder_put("views", "# of all\n[Hot]\nview = links\nfilter = old\n# of b\n[b]\n"
				 "view = nowhere\n[c]\nview = links");
	assert_int_equal(saved_file_change(path, "hot", &v, &err), 0);
	text = text_of("views");
	assert_string_equal(text, "# of all\n# of b\n[b]\nview = nowhere\n[c]\nview = links\n"
				  "[hot]\nview = jobs\nsort = -nodes\nproblems = yes\n");
	free(text);
	assert_int_equal(saved_file_change(path, "B", NULL, &err), 0);
	assert_int_equal(saved_file_change(path, "nothing", NULL, &err), 0);
	text = text_of("views");
	assert_string_equal(text, "# of all\n# of b\n[c]\nview = links\n"
				  "[hot]\nview = jobs\nsort = -nodes\nproblems = yes\n");
	free(text);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 077, 0);
	v.sort[0] = '?';
	assert_int_equal(saved_file_change(path, "hot", &v, &err), -EINVAL);
	free(path);
}

static void a_link_stays_a_link_and_no_pipe_is_replaced(void **state)
{
	char *path = temp_folder_file("linked"), *to = temp_folder_file("views");
	char *pipe = temp_folder_file("pipe");
	const struct saved_view v = { .name = "hot", .view = VIEW_JOBS };
	struct saved_views all;
	struct stat st;
	struct err err;

	(void)state;
	assert_int_equal(symlink(to, path), 0);
	assert_int_equal(saved_file_change(path, "hot", &v, &err), 0);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(mkfifo(pipe, 0600), 0);
	assert_int_equal(saved_file_read(&all, pipe, &err), -EINVAL);
	assert_int_not_equal(saved_file_change(pipe, "hot", &v, &err), 0);
	free(path);
	free(to);
	free(pipe);
}

static void a_file_that_is_not_there_has_none(void **state)
{
	char *path = temp_folder_file("new/deeper/views");
	const struct saved_view v = { .name = "hot", .view = VIEW_JOBS };
	struct saved_views all = { .n = 3 };
	struct err err;

	(void)state;
	assert_int_equal(saved_file_read(&all, path, &err), 0);
	assert_int_equal(all.n, 0);
	assert_int_equal(saved_file_change(path, "hot", &v, &err), 0); /* folders too */
	assert_int_equal(saved_file_read(&all, path, &err), 0);
	assert_int_equal(all.n, 1);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(views_are_read_with_all_that_is_said_of_them),
		cmocka_unit_test(what_is_wrong_is_told_with_its_line_and_left_out),
		cmocka_unit_test(too_long_and_too_many_are_refused),
		cmocka_unit_test(any_bytes_are_read_without_harm),
		cmocka_unit_test(one_is_put_in_and_all_else_stays),
		cmocka_unit_test(a_link_stays_a_link_and_no_pipe_is_replaced),
		cmocka_unit_test(a_file_that_is_not_there_has_none),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
