/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Menus over a view: columns and settings, by keys and by the mouse. */
#include "tests/unit/kit/console_kit.h"
#include "views/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t jobs[] = { 48, 31, 24, 16, 16, 9, 4, 2, 0 };

static void tree(struct console_kit *k)
{
	console_open(k, 100, 30);
	console_fabric(k, "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3", jobs);
}

static void columns_are(struct console_kit *k, enum view_id view, const char *text)
{
	char buf[200];

	assert_true(shell_columns(k->shell, view, buf, sizeof(buf)));
	assert_string_equal(buf, text);
}

static void columns_are_chosen_from_a_list(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "5");
	columns_are(&k, VIEW_JOBS, "");
	console_keys(&k, "C");
	console_golden(&k, "columns");
	console_keys(&k, "j "); /* the second goes away */
	columns_are(&k, VIEW_JOBS, "id,nodes,tx_Bps,hot_links,links,efi,efi_mean,slowdown,age_s");
	console_keys(&k, "gl"); /* the first becomes the second */
	columns_are(&k, VIEW_JOBS, "nodes,id,tx_Bps,hot_links,links,efi,efi_mean,slowdown,age_s");
	console_key(&k, K_LEFT);
	console_keys(&k, "G "); /* the last of all comes behind those that are there */
	console_hides(&k, "no room");
	console_key(&k, K_ESC);
	console_hides(&k, "Columns");
	console_shows(&k, "[5Jobs]");
	console_keys(&k, "Cr");
	columns_are(&k, VIEW_JOBS, "");
	console_close(&k);
}

static void one_column_stays(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "3");
	assert_true(shell_columns_set(k.shell, VIEW_LINKS, "link"));
	console_shows(&k, "Links by congestion");
	console_keys(&k, "C ");
	console_shows(&k, "at least one column must stay");
	columns_are(&k, VIEW_LINKS, "link");
	console_keys(&k, "j");
	for (int i = 0; i < 40; i++) /* and not more than there is room for */
		console_keys(&k, " ");
	console_shows(&k, "no room for more columns");
	console_close(&k);
}

static void a_menu_takes_the_mouse(void **state)
{
	struct console_kit k;
	struct input click = { .req = REQ_CLICK, .x = 10, .y = 5 };
	struct request out;

	(void)state;
	tree(&k);
	console_keys(&k, "3C");
	console_shows(&k, "[x] congestion");
	shell_input(k.shell, &click, &k.s, &out);
	columns_are(&k, VIEW_LINKS,
		    "util_pct,wait_pct,efi,eff_efi,errors_per_min,lanes,a,a_port,b,b_port");
	click.x = 99; /* beside it */
	shell_input(k.shell, &click, &k.s, &out);
	console_hides(&k, "Columns");
	console_close(&k);
}

static struct setting settings[] = {
	{ .name = "interval", .about = "seconds between polls", .value = "2" },
	{ .name = "units", .words = " bytes bits ", .about = "of rates", .value = "bytes" },
	{ .name = "sort",
	  .about = "sort key of the links table",
	  .value = "-util_pct",
	  .changed = true },
};

static bool setting(void *of, uint32_t i, struct setting *out)
{
	(void)of;
	if (i >= sizeof(settings) / sizeof(settings[0]))
		return false;
	*out = settings[i];
	return true;
}

static void asked(struct console_kit *k, enum req req, const char *text)
{
	assert_int_equal(k->last.type, req);
	assert_string_equal(k->last.text, text);
	k->last.type = REQ_NONE;
}

static void settings_are_changed_in_a_list(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	k.s.setting = setting;
	console_key(&k, K_F2);
	console_golden(&k, "settings");
	console_keys(&k, "j");
	console_key(&k, K_ENTER); /* a word becomes the next */
	asked(&k, REQ_SET, "units=bits");
	console_key(&k, K_LEFT);
	asked(&k, REQ_SET, "units=bits");
	console_keys(&k, "k");
	console_key(&k, K_ENTER); /* a number is typed, with the menu still there */
	assert_true(shell_typing(k.shell, &k.s));
	console_key(&k, K_BACKSPACE);
	console_keys(&k, "0.5");
	console_key(&k, K_ENTER);
	asked(&k, REQ_SET, "interval=0.5");
	console_shows(&k, "Display settings");
	console_keys(&k, "w");
	asked(&k, REQ_KEEP, "");
	console_keys(&k, "q"); /* leaves the menu, not the program */
	console_hides(&k, "Display settings");
	assert_int_equal(k.last.type, REQ_NONE);
	console_close(&k);
}

static void a_setting_is_completed_with_its_words(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	k.s.setting = setting;
	console_keys(&k, ":set un\t\t");
	console_shows(&k, ":set units=b");
	console_shows(&k, "units=bits");
	console_key(&k, K_BACKTAB);
	console_shows(&k, ":set units=bits");
	console_key(&k, K_ENTER);
	asked(&k, REQ_SET, "units=bits");
	console_close(&k);
}

static void what_tables_are_sorted_by_can_be_told_and_set(void **state)
{
	struct console_kit k;
	char buf[80];

	(void)state;
	tree(&k);
	console_keys(&k, "3S");
	assert_true(shell_sort(k.shell, VIEW_LINKS, buf, sizeof(buf)));
	assert_string_equal(buf, "-congestion_rank");
	assert_true(shell_sort_set(k.shell, VIEW_LINKS, "wait"));
	console_shows(&k, "Links by wait");
	assert_false(shell_sort_set(k.shell, VIEW_LINKS, "slowdown")); /* of jobs */
	assert_true(shell_sort_set(k.shell, VIEW_LINKS, ""));
	console_shows(&k, "Links by congestion");
	console_keys(&k, "4");
	console_key(&k, K_ENTER); /* inside a switch there is another table */
	assert_false(shell_sort(k.shell, VIEW_SWITCHES, buf, sizeof(buf)));
	console_close(&k);
}

static void a_view_is_called_with_its_filter(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, ":links efi>6");
	console_key(&k, K_ENTER);
	console_shows(&k, "[3Links]");
	console_shows(&k, "filter: efi>6");
	console_keys(&k, "1:jobs hot_l\t>0"); /* columns of jobs, seen from elsewhere */
	console_key(&k, K_ENTER);
	console_shows(&k, "[5Jobs]");
	console_shows(&k, "filter: hot_links>0");
	console_keys(&k, ":links efi>>6");
	console_key(&k, K_ENTER);
	console_shows(&k, "filter: column");
	console_keys(&k, ":links");
	console_key(&k, K_ENTER); /* alone: as it was */
	console_shows(&k, "[3Links]");
	console_close(&k);
}

/* What is open in a view, over it or instead of it. */
static void q_closes_what_is_open_and_then_ends(void **state)
{
	static const char *const opens[] = { "3\r", "?", "3s", "3C", "6e", "6\t", "4\r", "2zz" };
	struct console_kit k;

	(void)state;
	tree(&k);
	k.s.setting = setting;
	for (size_t i = 0; i < sizeof(opens) / sizeof(opens[0]); i++) {
		console_keys(&k, opens[i]);
		k.last.type = REQ_NONE;
		console_keys(&k, "q");
		if (k.last.type == REQ_QUIT && strcmp(opens[i], "2zz"))
			fail_msg("q ends it after %s", opens[i]);
		for (int n = 0; n < 3 && k.last.type != REQ_QUIT; n++)
			console_keys(&k, "q");
		if (k.last.type != REQ_QUIT)
			fail_msg("q does not end it after %s", opens[i]);
	}
	console_keys(&k, "3\r:quit"); /* what is spelled out is meant */
	k.last.type = REQ_NONE;
	console_key(&k, K_ENTER);
	assert_int_equal(k.last.type, REQ_QUIT);
	console_close(&k);
}

/* Keys with another meaning below do nothing while a menu is open. */
static void open_menus_take_all_keys(void **state)
{
	static const char *const opens[] = { "3s", "3C", "6e" };
	struct console_kit k;

	(void)state;
	tree(&k);
	k.s.setting = setting;
	for (size_t i = 0; i < sizeof(opens) / sizeof(opens[0]); i++) {
		enum view_id at;

		console_keys(&k, opens[i]);
		at = shell_view(k.shell);
		k.last.type = REQ_NONE;
		console_keys(&k, "DAZMwB15t?");
		if (k.last.type != REQ_NONE || shell_view(k.shell) != at)
			fail_msg("request %d in view %d after %s", k.last.type, shell_view(k.shell),
				 opens[i]);
		console_keys(&k, "q");
	}
	console_close(&k);
}

static void keys_without_use_say_so(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "4m");
	console_shows(&k, "inside a switch: Enter opens");
	console_keys(&k, "0o");
	console_shows(&k, "set both ends of the path first");
	console_keys(&k, "4");
	console_key(&k, K_ENTER);
	console_keys(&k, "v"); /* of the LFT, and the ports are shown */
	console_shows(&k, "v does nothing here; it is for: show the LFT");
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_chosen_from_a_list),
		cmocka_unit_test(one_column_stays),
		cmocka_unit_test(a_menu_takes_the_mouse),
		cmocka_unit_test(settings_are_changed_in_a_list),
		cmocka_unit_test(a_setting_is_completed_with_its_words),
		cmocka_unit_test(what_tables_are_sorted_by_can_be_told_and_set),
		cmocka_unit_test(a_view_is_called_with_its_filter),
		cmocka_unit_test(keys_without_use_say_so),
		cmocka_unit_test(q_closes_what_is_open_and_then_ends),
		cmocka_unit_test(open_menus_take_all_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
