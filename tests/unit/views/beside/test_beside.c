/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tagged rows side by side, and ranges of tags. */
#include "views/beside/beside.h"

#include "tests/unit/kit/console_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t jobs[] = { 48, 31, 24, 16, 16, 9, 4, 2, 0 };
static const uint32_t fewer[] = { 31, 24, 0 };

static void tree(struct console_kit *k, const uint32_t *with)
{
	console_open(k, 100, 30);
	console_fabric(k, "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3", with);
}

static uint32_t tags(struct console_kit *k)
{
	const struct table_ops *ops;

	return shell_table(k->shell, &ops)->ntag;
}

static void two_links_stand_side_by_side(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k, jobs);
	console_keys(&k, "3c");
	console_shows(&k, "two rows have to be tagged");
	console_keys(&k, " c");
	console_shows(&k, "two rows have to be tagged");
	console_keys(&k, " c");
	console_golden(&k, "beside");
	console_keys(&k, "jjj");
	console_keys(&k, "3q"); /* closes it, and nothing else */
	console_hides(&k, "-- Tagged");
	console_shows(&k, "[3Links]");
	assert_int_equal(tags(&k), 2);
	console_close(&k);
}

static void more_rows_have_a_column_each(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k, jobs);
	console_keys(&k, "4   "); /* three switches */
	console_keys(&k, "c");
	console_shows(&k, "-- Tagged");
	console_hides(&k, " change ");
	console_size(&k, 80, 24);
	console_shows(&k, "problems");
	console_key(&k, K_ESC);
	console_keys(&k, "\x14"); /* no tags */
	assert_int_equal(tags(&k), 0);
	console_close(&k);
}

/* What there is no room for is told, and one key away. */
static void rows_beyond_the_edge_are_moved_into_sight(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k, jobs);
	console_size(&k, 80, 24);
	console_keys(&k, "3      "); /* six links */
	console_keys(&k, "c");
	console_shows(&k, "-- Tagged 1-4/6 --");
	console_key(&k, K_LEFT);
	console_shows(&k, "-- Tagged 1-4/6 --");
	console_keys(&k, "lll");
	console_shows(&k, "-- Tagged 3-6/6 --");
	console_key(&k, K_LEFT);
	console_shows(&k, "-- Tagged 2-5/6 --");
	console_size(&k, 200, 60);
	console_shows(&k, "-- Tagged ---");
	console_close(&k);
}

/* A message too long for the line ends as such. */
static void a_long_message_shows_that_it_is_cut(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k, jobs);
	console_size(&k, 80, 24);
	console_keys(&k, "3  X");
	console_shows(&k,
		      "2 tagged rows excluded (X: undo); the next .. around leaf03/10,leaf08/10");
	console_close(&k);
}

/* Of jobs of which both have ended since. */
static void what_is_gone_has_no_values(void **state)
{
	struct console_kit k, later;
	char *text;

	(void)state;
	tree(&k, jobs);
	tree(&later, fewer);
	console_keys(&k, "5GkkkE  c"); /* two that are not there later */
	console_shows(&k, "-- Tagged");
	shell_draw(k.shell, k.c, &later.s);
	text = canvas_dump(k.c);
	assert_non_null(strstr(text, " gone "));
	free(text);
	console_close(&k);
	console_close(&later);
}

static void a_range_is_tagged_in_either_direction(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k, jobs);
	console_keys(&k, "3E");
	console_shows(&k, "tag the first row of the range by Space");
	console_keys(&k, "jj jjjE"); /* Space goes on to the next row */
	console_shows(&k, "5 rows tagged");
	assert_int_equal(tags(&k), 5);
	console_keys(&k, "gE"); /* from there back to the first */
	console_shows(&k, "7 rows tagged");
	assert_int_equal(tags(&k), 7);
	console_keys(&k, "T"); /* what is tagged is what is there */
	console_shows(&k, "7 of 312 links");
	console_keys(&k, "T\x14:range\r"); /* no tags: no range */
	console_shows(&k, "tag the first row of the range by Space");
	assert_int_equal(tags(&k), 0);
	console_close(&k);
}

/* Where the filter hides the row tagged last there is no range. */
static void a_range_does_not_begin_at_a_hidden_row(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k, jobs);
	console_keys(&k, "4:goto leaf01\r");
	console_keys(&k, " ");
	console_keys(&k, ":filter spine\r");
	console_keys(&k, "GE");
	console_shows(&k, "tag the first row of the range by Space");
	assert_int_equal(tags(&k), 1);
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_links_stand_side_by_side),
		cmocka_unit_test(more_rows_have_a_column_each),
		cmocka_unit_test(rows_beyond_the_edge_are_moved_into_sight),
		cmocka_unit_test(a_long_message_shows_that_it_is_cut),
		cmocka_unit_test(what_is_gone_has_no_values),
		cmocka_unit_test(a_range_is_tagged_in_either_direction),
		cmocka_unit_test(a_range_does_not_begin_at_a_hidden_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
