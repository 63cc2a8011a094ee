/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables and the command line: keys and words in, text out. */
#include "tests/unit/kit/console_kit.h"
#include "fabric/base/memory/mem.h"
#include "views/shell/shell.h"
#include "views/table/table.h"

#include "views/prompt/command.h"
#include "views/prompt/prompt.h"
#include "views/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t jobs[] = { 48, 31, 24, 16, 16, 9, 4, 2, 0 };

#define TREE "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3"

static void tree(struct console_kit *k)
{
	console_open(k, 100, 30);
	console_fabric(k, TREE, jobs);
}

static void line(struct console_kit *k, const char *text)
{
	console_keys(k, text);
	console_key(k, K_ENTER);
}

/* The text right of the cursor's mark. */
static char *cursor_row(struct console_kit *k)
{
	char *screen = console_screen(k), *at = strstr(screen, "\n>"), *row = NULL;

	if (at)
		row = strndup(at + 2, strcspn(at + 2, "\n"));
	free(screen);
	return row;
}

static void cursor_on(struct console_kit *k, const char *text)
{
	char *row = cursor_row(k);

	if (!row || !strstr(row, text))
		fail_msg("the cursor is on '%s', not on '%s'", row ? row : "nothing", text);
	free(row);
}

static void every_key_has_a_command(void **state)
{
	size_t nb, nc;
	const struct binding *b = keymap_all(&nb);
	const struct command *c = command_all(&nc);

	(void)state;
	for (size_t i = 0; i < nb; i++) {
		bool found = b[i].req == REQ_COMMAND;

		for (size_t j = 0; j < nc && !found; j++)
			found = c[j].req == b[i].req &&
				(b[i].req != REQ_VIEW || c[j].view == b[i].view);
		if (!found)
			fail_msg("key %s (%s) has no command: add it to views/prompt/command.c",
				 b[i].shown ? b[i].shown : "?", b[i].help ? b[i].help : "");
	}
}

static void commands_have_names_of_their_own(void **state)
{
	size_t n;
	const struct command *c = command_all(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		assert_ptr_equal(command_find(c[i].name, strlen(c[i].name)), &c[i]);
		assert_true(strlen(c[i].help) > 1);
		assert_int_equal(c[i].arg == ARG_NONE,
				 c[i].args[0] == '\0' && !c[i].needed && c[i].arg == ARG_NONE);
	}
	assert_null(command_find("s", 1)); /* several begin so */
	assert_null(command_find("", 0));
	assert_null(command_find("nothing", 7));
	assert_int_equal(command_find("filt", 4)->req, REQ_FILTER);
}

static void a_filter_is_used_while_it_is_typed(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "3/leaf03");
	console_shows(&k, "/leaf03_");
	console_hides(&k, "leaf08  "); /* in a row */
	console_key(&k, K_ENTER);
	console_shows(&k, "filter: leaf03");
	console_keys(&k, "/");
	console_shows(&k, "/leaf03_");
	console_keys(&k, " and util>");
	console_shows(&k, "missing value"); /* not finished: what was there stays */
	console_keys(&k, "90");
	console_key(&k, K_ENTER);
	console_shows(&k, "2 of 312 links");
	console_key(&k, K_ESC);
	console_shows(&k, "312 links  filter: none");
	console_keys(&k, "/efi<0");
	console_key(&k, K_ENTER);
	console_shows(&k, "none of 312 links matches the filter: efi<0  (Esc: show all)");
	console_keys(&k, "/");
	console_key(&k, K_ESC);
	console_shows(&k, "filter: none");
	/* a mistake can be mended: what was typed stays, with what is wrong with it */
	console_keys(&k, "/nosuch>3");
	console_key(&k, K_ENTER);
	console_shows(&k, "/nosuch>3_");
	console_shows(&k, "links have no field 'nosuch'");
	console_key(&k, K_ESC);
	console_shows(&k, "312 links  filter: none");
	/* the beginning of a field's name is not looked for as a word */
	console_keys(&k, "/uti");
	console_hides(&k, "none of 312 links");
	console_keys(&k, "l>>3");
	console_key(&k, K_ENTER);
	console_shows(&k, "/util>>3_");
	console_key(&k, K_BACKSPACE);
	console_key(&k, K_BACKSPACE);
	console_keys(&k, "=0");
	console_key(&k, K_ENTER);
	console_hides(&k, "/util>");
	console_shows(&k, "filter: util>=0");
	console_keys(&k, "/");
	console_key(&k, K_ESC);
	console_shows(&k, "312 links  filter: none");
	console_close(&k);
}

static void commands_do_what_keys_do(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	line(&k, ":view li");
	console_shows(&k, "Links by congestion");
	line(&k, ":sort wait");
	console_shows(&k, "Links by wait");
	line(&k, ":reverse");
	console_shows(&k, "(reversed)");
	line(&k, ":filter leaf07");
	console_shows(&k, "filter: leaf07");
	line(&k, ":filter");
	console_shows(&k, "filter: none");
	line(&k, ":sort nosuch");
	console_shows(&k, "links have no column 'nosuch'; there are");
	line(&k, ":columns link,nosuch");
	console_shows(&k, "links have no column 'nosuch'; there are");
	line(&k, ":view over"); /* whose panes are the heads of tables */
	line(&k, ":columns nosuch");
	console_shows(&k, "links have no column 'nosuch'; there are");
	line(&k, ":view over");
	line(&k, ":filter nosuch=1");
	console_shows(&k, "links have no field 'nosuch'; there are");
	line(&k, ":filter");
	line(&k, ":bottom");
	console_shows(&k, "-312 of 312");
	line(&k, ":columns link,util,tx");
	console_hides(&k, "job EFI   ");
	line(&k, ":columns");
	line(&k, ":goto spine3/2");
	cursor_on(&k, "spine3    2 ");
	line(&k, ":interval 5");
	assert_int_equal(k.last.type, REQ_INTERVAL);
	assert_string_equal(k.last.text, "5");
	line(&k, ":save /tmp/x y");
	assert_int_equal(k.last.type, REQ_SNAPSHOT);
	assert_string_equal(k.last.text, "/tmp/x y");
	line(&k, ":units bits");
	console_shows(&k, "rates in Gb/s");
	line(&k, ":palette civ");
	console_shows(&k, "palette: cividis");
	line(&k, ":quit");
	assert_int_equal(k.last.type, REQ_QUIT);
	console_close(&k);
}

static void commands_say_what_is_wrong(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	line(&k, ":frobnicate");
	console_shows(&k, "unknown or ambiguous command 'frobnicate'");
	line(&k, ":interval");
	console_shows(&k, "interval SECONDS");
	line(&k, ":quit now");
	console_shows(&k, "'quit' takes no argument");
	assert_int_not_equal(k.last.type, REQ_QUIT);
	line(&k, ":view nowhere");
	console_shows(&k, "no view 'nowhere'");
	console_keys(&k, "2");
	line(&k, ":sort util");
	console_shows(&k, "does nothing here: it works in view links");
	console_keys(&k, "1");
	line(&k, ":job 5");
	console_shows(&k, "no job '5'");
	line(&k, ":goto nobody");
	console_shows(&k, "nobody");
	console_close(&k);
}

/* Fewer rows, where the table is not drawn. */
static void the_cursor_stays_on_a_row_on_tiny_screens(void **state)
{
	const struct table_ops *ops;
	struct console_kit k;
	struct table *t;

	(void)state;
	tree(&k);
	console_keys(&k, "3G");
	t = shell_table(k.shell, &ops);
	assert_int_equal(t->list.cursor, 311);
	console_size(&k, 104, 1);
	console_keys(&k, "/efi>600");
	console_key(&k, K_ENTER);
	console_keys(&k, "S");
	assert_true(t->nrow && t->nrow < 312);
	assert_true(t->list.cursor < t->nrow);
	console_close(&k);
}

static void the_overview_leads_to_whole_tables(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "/efi>600");
	console_key(&k, K_ENTER);
	console_shows(&k, "Links by congestion");
	console_shows(&k, "filter: efi>600");
	console_keys(&k, "1\ts");
	console_shows(&k, "Sort by");
	console_key(&k, K_ESC);
	console_shows(&k, "of 312 links");
	console_keys(&k, "1\tf");
	console_shows(&k, "[5Jobs]");
	console_key(&k, K_ESC);
	console_keys(&k, "1\t"); /* the first pane again */
	line(&k, ":sort wait");
	console_shows(&k, "Links by wait");
	console_close(&k);
}

static void commands_that_write_need_rw_as_their_keys_do(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_preview(&k, "sar");
	console_keys(&k, "6");
	k.last.type = REQ_NONE;
	line(&k, ":prepare");
	console_shows(&k, "read-only");
	assert_int_equal(k.last.type, REQ_NONE);
	console_plan(&k);
	console_keys(&k, "7");
	k.last.type = REQ_NONE;
	line(&k, ":rollback");
	console_shows(&k, "read-only");
	line(&k, ":yes");
	line(&k, ":close");
	line(&k, ":open");
	line(&k, ":hpc1");
	assert_int_equal(k.last.type, REQ_NONE);
	k.s.rw = true;
	/* and with it, they still confirm nothing by themselves */
	line(&k, ":open");
	console_key(&k, K_ESC);
	line(&k, ":yes");
	assert_int_equal(k.last.type, REQ_NONE);
	console_close(&k);
}

static void tab_completes(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "3:int");
	console_key(&k, K_TAB);
	console_shows(&k, ":interval _");
	console_key(&k, K_ESC);
	console_keys(&k, ":view ov");
	console_key(&k, K_TAB);
	console_shows(&k, ":view overview");
	console_key(&k, K_ESC);
	console_keys(&k, ":sort w");
	console_key(&k, K_TAB);
	console_shows(&k, ":sort width");
	console_shows(&k, "width  wait_pct");
	console_key(&k, K_TAB);
	console_shows(&k, ":sort wait_pct");
	console_key(&k, K_ENTER);
	console_shows(&k, "Links by wait");
	console_keys(&k, ":goto spine9");
	console_key(&k, K_TAB);
	console_shows(&k, ":goto spine9");
	console_key(&k, K_ESC);
	console_keys(&k, "/tx_B");
	console_key(&k, K_TAB);
	console_shows(&k, "/tx_Bps");
	console_close(&k);
}

static void lines_can_be_edited_and_come_back(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "3");
	line(&k, ":sort wait");
	line(&k, ":sort efi");
	console_keys(&k, ":");
	console_key(&k, K_UP);
	console_shows(&k, ":sort efi_");
	console_key(&k, K_UP);
	console_shows(&k, ":sort wait_");
	console_key(&k, K_DOWN);
	console_key(&k, K_DOWN);
	console_shows(&k, "a command; Tab lists them");
	/* what help there is no room for ends with a mark, behind an argument, too */
	console_keys(&k, "export ");
	console_shows(&k, ":export _FILE: write the table in view as shown");
	console_shows(&k, " ..\n");
	console_keys(&k, "x");
	console_shows(&k, ":export x_ write the table");
	console_key(&k, K_CTRL('u'));
	console_keys(&k, "view inks");
	for (int i = 0; i < 4; i++)
		console_key(&k, K_LEFT);
	console_keys(&k, "l");
	console_shows(&k, ":view links");
	console_key(&k, K_END);
	console_key(&k, K_BACKSPACE);
	console_shows(&k, ":view link_");
	console_key(&k, K_CTRL('u'));
	console_key(&k, K_BACKSPACE); /* of nothing: leaves */
	assert_false(shell_typing(k.shell, &k.s));
	console_close(&k);
}

static void tags_count_and_filter(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "3  ");
	console_shows(&k, "tagged: 2");
	console_keys(&k, "T");
	console_shows(&k, "2 of 312 links");
	console_shows(&k, "(tagged)");
	console_keys(&k, "g ");
	console_shows(&k, "1 of 312 links");
	console_key(&k, K_ESC);
	console_shows(&k, "312 links");
	console_key(&k, K_CTRL('t'));
	console_hides(&k, "tagged");
	console_keys(&k, "T");
	console_shows(&k, "no row is tagged");
	console_close(&k);
}

static void a_search_goes_to_rows_as_it_is_typed(void **state)
{
	struct console_kit k;
	char *first, *second;

	(void)state;
	tree(&k);
	console_keys(&k, "3fspine4");
	cursor_on(&k, "spine4");
	first = cursor_row(&k);
	console_key(&k, K_ENTER);
	console_keys(&k, "n");
	cursor_on(&k, "spine4");
	second = cursor_row(&k);
	assert_string_not_equal(first, second);
	console_keys(&k, "N");
	free(second);
	second = cursor_row(&k);
	assert_string_equal(first, second);
	console_keys(&k, "fxyz");
	console_shows(&k, "find: xyz_");
	console_key(&k, K_ENTER);
	console_keys(&k, "n");
	console_shows(&k, "no other row matches 'xyz'");
	console_key(&k, K_ESC);
	console_hides(&k, "find:");
	free(first);
	free(second);
	console_close(&k);
}

static void the_order_holds_while_the_cursor_moves(void **state)
{
	struct console_kit k;
	char *before, *now;

	(void)state;
	tree(&k);
	console_keys(&k, "3jj");
	before = cursor_row(&k);
	console_no_reply(&k, 3);
	k.s.sample = k.samples[0]; /* another sample */
	console_shows(&k, "sorting paused");
	now = cursor_row(&k);
	assert_string_equal(before, now);
	k.s.now_s += 6;
	console_hides(&k, "sorting paused");
	free(before);
	free(now);
	console_close(&k);
}

static void the_mouse_chooses_tabs_rows_and_columns(void **state)
{
	struct input in = { .req = REQ_CLICK, .x = 13, .y = 1 };
	struct console_kit k;
	struct request out;

	(void)state;
	tree(&k);
	shell_draw(k.shell, k.c, &k.s);
	in.x = (int)(strstr("[1Over]2Heat 3Links", "3Links") - "[1Over]2Heat 3Links") + 1;
	shell_input(k.shell, &in, &k.s, &out);
	console_shows(&k, "Links by congestion");
	in = (struct input){ .req = REQ_CLICK, .x = 20, .y = 7 };
	shell_input(k.shell, &in, &k.s, &out);
	cursor_on(&k, "");
	in = (struct input){ .req = REQ_CLICK, .x = 21, .y = 3 }; /* the head of "wait" */
	shell_input(k.shell, &in, &k.s, &out);
	console_shows(&k, "Links by wait");
	shell_input(k.shell, &in, &k.s, &out);
	console_shows(&k, "(reversed)");
	in = (struct input){ .req = REQ_WHEEL_DOWN, .x = 20, .y = 7 };
	shell_input(k.shell, &in, &k.s, &out);
	assert_int_equal(out.type, REQ_NONE);
	console_close(&k);
}

static void a_list_offers_the_columns_to_sort_by(void **state)
{
	struct input in = { .req = REQ_CLICK, .x = 4 };
	struct request out;
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "3s");
	console_shows(&k, "Sort by (Enter: select, Esc: cancel)");
	console_shows(&k, "- congestion");
	console_shows(&k, "time with data to send but no credits (XmitWait)");
	console_keys(&k, "s"); /* again: the next */
	console_golden(&k, "sort-menu");
	console_key(&k, K_ESC);
	console_hides(&k, "Sort by");
	console_shows(&k, "Links by congestion");
	console_keys(&k, "ssjjj\r"); /* the fourth in sight */
	console_hides(&k, "Sort by");
	console_shows(&k, "Links by EFI");
	console_shows(&k, "-EFI");
	console_keys(&k, "S");
	console_shows(&k, "+EFI");
	/* columns that are not in sight are offered, too */
	console_keys(&k, "sG\r");
	console_shows(&k, "Links by note (reversed)");
	/* any other key does nothing while the list is open */
	console_keys(&k, "s5D:Z");
	console_shows(&k, "Sort by");
	assert_int_equal(shell_view(k.shell), VIEW_LINKS);
	console_key(&k, 'q');
	console_hides(&k, "Sort by");
	assert_int_not_equal(k.last.type, REQ_QUIT);
	assert_int_not_equal(k.last.type, REQ_DETACH);
	console_keys(&k, "5");
	assert_int_equal(shell_view(k.shell), VIEW_JOBS);
	/* and so does the mouse beside it; on a line it chooses */
	console_keys(&k, "3:sort efi\rs");
	console_shows(&k, "Sort by");
	in.y = 5;
	shell_input(k.shell, &in, &k.s, &out);
	console_shows(&k, "Links by congestion");
	console_keys(&k, "s");
	console_shows(&k, "Sort by");
	in.y = 22;
	shell_input(k.shell, &in, &k.s, &out);
	console_hides(&k, "Sort by");
	console_shows(&k, "Links by congestion");
	console_keys(&k, ":sort\r");
	console_shows(&k, "Sort by");
	console_close(&k);
}

/* Then, half of the ports carried and waited half as much, and the others a quarter more. */
static struct rates *rates_of_then(const struct console_kit *k)
{
	struct rates *then = xcalloc(1, sizeof(*then));

	*then = *k->rates;
	then->port = xcalloc(then->nport, sizeof(*then->port));
	for (uint32_t p = 0; p < then->nport; p++) {
		double by = p % 2 ? 0.5 : 1.25;

		then->port[p] = k->rates->port[p];
		then->port[p].util_pct *= by;
		then->port[p].wait_pct *= by;
		then->port[p].tx_Bps *= by;
		then->port[p].rx_Bps *= by;
	}
	return then;
}

static const int sizes[][2] = { { 80, 24 }, { 100, 30 }, { 200, 60 } };

static void two_moments_have_columns_while_they_are_compared(void **state)
{
	static const char *const views[] = { "3", "4", "5" };
	static const char *const goldens[] = { "links-against", "switches-against",
					       "jobs-against" };
	struct console_kit k;
	struct rates *then;

	(void)state;
	tree(&k);
	then = rates_of_then(&k);
	for (int v = 0; v < 3; v++) {
		console_keys(&k, views[v]);
		for (int i = 0; i < 3; i++) {
			console_size(&k, sizes[i][0], sizes[i][1]);
			k.s.against = NULL;
			console_hides(&k, "change");
			console_hides(&k, " then");
			k.s.against = then;
			k.s.against_s = k.s.now_s - 6;
			console_shows(&k, " change");
			console_golden(&k, goldens[v]);
			if (i)
				console_shows(&k, " then");
		}
		line(&k, ":columns util"); /* one's own choice */
		console_hides(&k, "change");
		line(&k, ":columns");
		console_shows(&k, " change");
	}
	k.s.against = NULL;
	console_hides(&k, "change");
	free(then->port);
	free(then);
	console_close(&k);
}

/* Sorted by the change, the rows are in another order as soon as it is against another moment. */
static void rows_sorted_by_the_change_follow_the_moment(void **state)
{
	struct console_kit k;
	struct rates *then, *idle;

	(void)state;
	tree(&k);
	then = rates_of_then(&k);
	idle = rates_of_then(&k);
	for (uint32_t p = 0; p < idle->nport; p++)
		idle->port[p].util_pct = 0;
	k.s.against = idle;
	k.s.against_s = k.s.now_s - 6;
	line(&k, "3:sort util_change_pct");
	console_shows(&k, "  100      0   +100");
	k.s.against = then;
	console_hides(&k, "+100");
	console_shows(&k, "+48");
	cursor_on(&k, "+48");
	k.s.against = NULL;
	free(then->port);
	free(then);
	free(idle->port);
	free(idle);
	console_close(&k);
}

static void columns_of_the_past_leave_where_none_is_kept(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "3");
	console_shows(&k, "newest right");
	k.s.history = NULL;
	console_hides(&k, "newest right");
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_has_a_command),
		cmocka_unit_test(commands_have_names_of_their_own),
		cmocka_unit_test(a_filter_is_used_while_it_is_typed),
		cmocka_unit_test(commands_do_what_keys_do),
		cmocka_unit_test(commands_say_what_is_wrong),
		cmocka_unit_test(the_cursor_stays_on_a_row_on_tiny_screens),
		cmocka_unit_test(the_overview_leads_to_whole_tables),
		cmocka_unit_test(commands_that_write_need_rw_as_their_keys_do),
		cmocka_unit_test(tab_completes),
		cmocka_unit_test(lines_can_be_edited_and_come_back),
		cmocka_unit_test(tags_count_and_filter),
		cmocka_unit_test(a_search_goes_to_rows_as_it_is_typed),
		cmocka_unit_test(the_order_holds_while_the_cursor_moves),
		cmocka_unit_test(the_mouse_chooses_tabs_rows_and_columns),
		cmocka_unit_test(a_list_offers_the_columns_to_sort_by),
		cmocka_unit_test(two_moments_have_columns_while_they_are_compared),
		cmocka_unit_test(rows_sorted_by_the_change_follow_the_moment),
		cmocka_unit_test(columns_of_the_past_leave_where_none_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
