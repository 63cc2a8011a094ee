/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Views under a name: what is saved of a table, and the table made so again. */
#include "views/saved/saved_view.h"

#include "tests/unit/kit/console_kit.h"
#include "views/heatmap/heat_window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t jobs[] = { 48, 31, 24, 16, 16, 9, 4, 2, 0 };
static struct saved_views all;

static void tree(struct console_kit *k)
{
	console_open(k, 100, 30);
	console_fabric(k, "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3", jobs);
	all.n = 0;
	k->s.saved_views = &all;
}

static void run(struct console_kit *k, const char *command)
{
	k->last.type = REQ_NONE;
	console_keys(k, ":");
	console_keys(k, command);
	console_key(k, K_ENTER);
}

/* As the application does. */
static void save(struct console_kit *k, const char *name)
{
	char command[80];
	struct err err;

	snprintf(command, sizeof(command), "view save %s", name);
	run(k, command);
	assert_int_equal(k->last.type, REQ_VIEW_SAVE);
	assert_int_equal(saved_view_check(k->last.saved, &err), 0);
	assert_int_equal(saved_views_put(&all, k->last.saved, &err), 0);
}

static void a_table_comes_back_as_it_was_saved(void **state)
{
	struct console_kit k;
	const struct table_ops *ops;
	const struct table *t;

	(void)state;
	tree(&k);
	run(&k, "links util>10");
	run(&k, "columns util,wait,a");
	run(&k, "sort wait");
	console_keys(&k, "S!");
	save(&k, "hot");
	console_keys(&k, "!S");
	run(&k, "columns");
	run(&k, "filter");
	run(&k, "sort efi");
	console_keys(&k, "1");
	run(&k, "view hot");
	assert_int_equal(k.last.type, REQ_VIEW);
	t = shell_table_of(k.shell, &k.s, &ops);
	assert_int_equal(ops->kind, ROWS_LINKS);
	assert_string_equal(t->filter_text, "util>10");
	assert_string_equal(t->columns, "util,wait,a");
	assert_string_equal(t->sort->name, "wait_pct");
	assert_true(t->reverse && t->problems);
	console_shows(&k, "filter: util>10");
	console_close(&k);
}

/* A view whose order nobody chose has the usual one again. */
static void what_was_not_chosen_is_as_usual_again(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "5");
	save(&k, "plain");
	run(&k, "sort nodes");
	run(&k, "filter nodes>5");
	run(&k, "view plain");
	console_shows(&k, "Jobs by slowdown");
	console_hides(&k, "filter: nodes>5");
	console_close(&k);
}

static void what_is_open_instead_is_closed(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	run(&k, "switches leaf");
	save(&k, "leaves");
	run(&k, "filter");
	console_key(&k, K_ENTER); /* inside a switch */
	run(&k, "view save inside");
	assert_int_equal(k.last.type, REQ_NONE);
	console_shows(&k, "close what is open here first");
	run(&k, "view leaves");
	console_shows(&k, "18 of 27 switches  filter: leaf");
	console_close(&k);
}

static void views_without_a_table_are_saved_too(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "2");
	save(&k, "map");
	console_keys(&k, "1");
	run(&k, "view MAP");
	assert_int_equal(shell_view(k.shell), VIEW_HEATMAP);
	console_close(&k);
}

/* Also in a console that has not drawn its heatmap yet. */
static void the_heatmap_comes_back_with_layout_and_metric(void **state)
{
	struct console_kit k;
	char *text;

	(void)state;
	tree(&k);
	console_keys(&k, "2");
	free(console_screen(&k));
	console_keys(&k, "vm");
	text = console_screen(&k);
	assert_non_null(strstr(text, "layout 2/"));
	save(&k, "map");
	assert_string_equal(all.view[0].choice.metric, "wait");
	assert_non_null(strstr(text, all.view[0].choice.layout));
	free(text);
	console_keys(&k, "vm1");
	run(&k, "view map");
	console_shows(&k, "layout 2/");
	console_shows(&k, all.view[0].choice.metric);
	console_close(&k);
	console_open(&k, 100, 30);
	console_fabric(&k, "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3", jobs);
	k.s.saved_views = &all;
	run(&k, "view map");
	console_shows(&k, "layout 2/");
	console_shows(&k, all.view[0].choice.metric);
	console_close(&k);
}

static void every_metric_is_known_by_its_name(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < CHAN_METRICS; i++)
		assert_int_equal(heat_metric_named(chan_metric_name((enum chan_metric)i)), i);
}

static void names_that_mean_something_else_are_refused(void **state)
{
	static const char *const bad[] = {
		"links", "4", "save", "a b", "x[y", "", "a-name-that-is-longer-than-31-bytes"
	};
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "3");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char command[80];

		snprintf(command, sizeof(command), "view save %s", bad[i]);
		run(&k, command);
		if (k.last.type == REQ_VIEW_SAVE)
			fail_msg("'%s' was taken", bad[i]);
	}
	run(&k, "view delete nothing");
	console_shows(&k, "no saved view 'nothing'");
	assert_int_equal(k.last.type, REQ_NONE);
	console_close(&k);
}

static void saved_views_are_completed_and_found(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	run(&k, "links util>10");
	save(&k, "zebra");
	console_keys(&k, "1:view ze\t");
	console_shows(&k, ":view zebra");
	console_key(&k, K_ESC);
	console_keys(&k, "azebra");
	console_shows(&k, "saved    zebra");
	console_shows(&k, "links: util>10");
	console_key(&k, K_ENTER);
	console_shows(&k, "filter: util>10");
	run(&k, "view");
	console_shows(&k, "saved views: zebra");
	run(&k, "view delete zebra");
	assert_int_equal(k.last.type, REQ_VIEW_DELETE);
	assert_string_equal(k.last.text, "zebra");
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_comes_back_as_it_was_saved),
		cmocka_unit_test(what_was_not_chosen_is_as_usual_again),
		cmocka_unit_test(what_is_open_instead_is_closed),
		cmocka_unit_test(views_without_a_table_are_saved_too),
		cmocka_unit_test(the_heatmap_comes_back_with_layout_and_metric),
		cmocka_unit_test(every_metric_is_known_by_its_name),
		cmocka_unit_test(names_that_mean_something_else_are_refused),
		cmocka_unit_test(saved_views_are_completed_and_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
