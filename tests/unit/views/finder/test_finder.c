/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of all that one may go to: narrows as one types, leads there, takes any name. */
#include "tests/unit/kit/console_kit.h"
#include "views/data/row_notes.h"
#include "views/finder/finder_names.h"
#include "views/table/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t jobs[] = { 48, 31, 24, 16, 16, 9, 4, 2, 0 };

static void tree(struct console_kit *k)
{
	console_open(k, 100, 30);
	console_fabric(k, "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3", jobs);
}

static void find(struct console_kit *k, const char *text)
{
	console_key(k, K_CTRL('p'));
	console_keys(k, text);
}

static uint32_t chan_at(const struct console_kit *k, const char *sw, uint8_t port)
{
	for (uint32_t c = 0; c < k->fabric->nchan; c++)
		if (k->fabric->chan_port[c] == port &&
		    !strcmp(k->fabric->sw_short[k->fabric->chan_src[c]], sw))
			return c;
	return FAB_NONE;
}

static void one_key_opens_it_and_it_narrows(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "a");
	console_shows(&k, "search everything: _");
	console_shows(&k, "view     heatmap");
	assert_true(shell_typing(k.shell, &k.s));
	console_keys(&k, "leaf03 sp");
	console_golden(&k, "finder");
	console_hides(&k, "heatmap");
	console_keys(&k, "zz");
	console_shows(&k, "nothing has that name");
	console_key(&k, K_ENTER); /* and nowhere to go */
	console_shows(&k, "nothing has that name");
	console_key(&k, K_CTRL('u'));
	console_shows(&k, "view     heatmap");
	console_key(&k, K_ESC);
	console_hides(&k, "search everything");
	assert_int_equal(shell_view(k.shell), VIEW_OVERVIEW);
	console_close(&k);
}

static void enter_goes_to_what_was_found(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	find(&k, "leaf03/10");
	console_key(&k, K_ENTER);
	assert_int_equal(shell_view(k.shell), VIEW_LINKS);
	console_shows(&k, "Links by congestion");
	assert_int_equal(shell_context(k.shell)->chan, chan_at(&k, "leaf03", 10));
	find(&k, "leaf11");
	console_key(&k, K_ENTER);
	console_shows(&k, "Switch leaf11");
	console_key(&k, K_ESC);
	console_shows(&k, "[4Switch]");
	find(&k, "leaf11"); /* the same again, which was left */
	console_key(&k, K_ENTER);
	console_shows(&k, "Switch leaf11");
	find(&k, "jobs");
	console_key(&k, K_ENTER);
	assert_int_equal(shell_view(k.shell), VIEW_JOBS);
	console_close(&k);
}

/* A host is shown at its port. */
static void a_host_is_found_at_its_port(void **state)
{
	struct console_kit k;
	const struct table_ops *ops;
	const struct table *t;
	const struct fabric *f;
	uint32_t term, row;

	(void)state;
	tree(&k);
	f = k.fabric;
	term = f->nterm / 2;
	find(&k, f->term_name[term]);
	console_key(&k, K_ENTER);
	t = shell_table_of(k.shell, &k.s, &ops);
	assert_non_null(t);
	assert_int_equal(ops->kind, ROWS_PORTS);
	row = table_cursor(t);
	assert_int_equal(f->port[row].term, term);
	console_close(&k);
}

static void a_job_is_found_by_who_runs_it_behind_a_filter(void **state)
{
	struct console_kit k;
	const struct table_ops *ops;
	const struct table *t;
	uint64_t id;
	char text[80];

	(void)state;
	tree(&k);
	id = k.jobs->jobs[5].id;
	console_keys(&k, "5/nodes>1000");
	console_key(&k, K_ENTER);
	console_shows(&k, "none of 8 jobs matches");
	console_keys(&k, "1");
	snprintf(text, sizeof(text), "%llu %s", (unsigned long long)id, k.jobs->jobs[5].user);
	find(&k, text);
	console_key(&k, K_ENTER);
	t = shell_table_of(k.shell, &k.s, &ops);
	assert_int_equal(ops->kind, ROWS_JOBS);
	assert_int_equal(k.jobs->jobs[table_cursor(t)].id, id);
	assert_string_equal(t->filter_text, "");
	console_close(&k);
}

static void commands_run_or_ask_for_their_argument(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	find(&k, "rero"); /* another word for a view */
	console_shows(&k, "> command  reroute");
	console_key(&k, K_ENTER);
	assert_int_equal(shell_view(k.shell), VIEW_PREVIEW);
	console_keys(&k, "1");
	find(&k, "freeze");
	console_key(&k, K_ENTER);
	assert_int_equal(k.last.type, REQ_FREEZE);
	find(&k, "interval");
	console_key(&k, K_ENTER);
	console_shows(&k, ":interval ");
	assert_true(shell_typing(k.shell, &k.s));
	console_key(&k, K_ESC);
	k.last.type = REQ_NONE;
	find(&k, "prepare"); /* what needs --rw needs it here, too */
	console_keys(&k, "\r");
	console_shows(&k, "'prepare' does nothing here");
	assert_int_equal(k.last.type, REQ_NONE);
	console_close(&k);
}

static void bookmarks_are_there(void **state)
{
	static const char *const marks[] = { "storm", "1", NULL };
	struct console_kit k;

	(void)state;
	tree(&k);
	k.s.bookmarks = marks;
	find(&k, "storm");
	console_shows(&k, "bookmark storm");
	console_key(&k, K_ENTER);
	assert_int_equal(k.last.type, REQ_BOOKMARKS);
	assert_string_equal(k.last.text, "storm");
	console_close(&k);
}

static void note_on(struct row_notes *all, struct note_subject on, const char *text)
{
	struct row_note n = { .on = on };

	snprintf(n.text, sizeof(n.text), "%s", text);
	assert_true(row_notes_put(all, &n));
}

/* Of all kinds; and of what is not there. */
static void notes_lead_to_what_they_are_on(void **state)
{
	struct console_kit k;
	struct row_notes all = { 0 };
	struct note_subject on;
	const struct table_ops *ops;
	const struct table *t;

	(void)state;
	tree(&k);
	k.s.row_notes = &all;
	note_subject_switch(&on, k.fabric, 4);
	note_on(&all, on, "fan fails");
	note_subject_port(&on, k.fabric, 2, 10);
	note_on(&all, on, "cable swapped");
	note_subject_host(&on, k.fabric, 9);
	note_on(&all, on, "new HCA");
	note_subject_job(&on, k.fabric, &k.jobs->jobs[3]);
	note_on(&all, on, "ask her");
	note_subject_moment(&on, k.fabric, 1763608200);
	note_on(&all, on, "the storm");
	on = (struct note_subject){ .kind = NOTE_SWITCH, .id = 1 };
	note_on(&all, on, "elsewhere");
	find(&k, "fan fails\r");
	assert_int_equal(shell_context(k.shell)->sw, 4);
	find(&k, "swapped\r");
	t = shell_table_of(k.shell, &k.s, &ops);
	assert_int_equal(table_cursor(t), k.fabric->port_off[2] + 10);
	find(&k, "new hca\r");
	t = shell_table_of(k.shell, &k.s, &ops);
	assert_int_equal(k.fabric->port[table_cursor(t)].term, 9);
	find(&k, "ask her\r");
	t = shell_table_of(k.shell, &k.s, &ops);
	assert_int_equal(ops->kind, ROWS_JOBS);
	assert_int_equal(table_cursor(t), 3);
	find(&k, "storm");
	console_shows(&k, "on a moment");
	console_key(&k, K_ENTER);
	assert_int_equal(k.last.type, REQ_AT);
	assert_string_equal(k.last.text, "@1763608200");
	find(&k, "elsewhere\r");
	console_shows(&k, "not in this fabric");
	find(&k, "storm");
	row_notes_done(&all); /* another console has deleted them */
	console_key(&k, K_ENTER);
	console_shows(&k, "this note is not there any more");
	console_close(&k);
}

static void the_mouse_chooses_and_leaves(void **state)
{
	struct console_kit k;
	struct input click = { .req = REQ_CLICK, .x = 14, .y = 4 };
	struct request out;

	(void)state;
	tree(&k);
	find(&k, "");
	free(console_screen(&k));
	shell_input(k.shell, &click, &k.s, &out);
	assert_int_equal(shell_view(k.shell), VIEW_HEATMAP); /* the second line */
	find(&k, "heat");
	free(console_screen(&k));
	click.y = 28;
	shell_input(k.shell, &click, &k.s, &out);
	console_hides(&k, "search everything");
	console_close(&k);
}

/* Numbers in the list are of the fabric that is there when Enter comes. */
static void another_fabric_is_not_gone_to_by_old_numbers(void **state)
{
	const struct input enter = { .req = REQ_ENTER };
	struct console_kit k, other;
	struct request out;
	char *text;

	(void)state;
	tree(&k);
	console_open(&other, 80, 24);
	console_fabric(&other, "fattree2:leaves=4,spines=2,hosts=2", NULL);
	find(&k, "leaf17/1");
	console_shows(&k, "leaf17/1");
	shell_input(k.shell, &enter, &other.s, &out); /* there is no leaf17: it stays open */
	shell_draw(k.shell, k.c, &other.s);
	text = canvas_dump(k.c);
	assert_non_null(strstr(text, "search everything: leaf17/1"));
	assert_non_null(strstr(text, "nothing has that name"));
	free(text);
	console_close(&k);
	console_close(&other);
}

/* Any bytes in names and in what is typed: shown as something, and nothing else happens. */
static void hostile_names_are_only_names(void **state)
{
	static const char *const bad[] = {
		"\x1b[2J\x1b]0;x\x07",	    "%s%n%d", "\xff\xfe\xc3", "a\nb\tc",
		"\xe6\xbc\xa2\xe5\xad\x97", ""
	};
	struct console_kit k;
	char name[3000];
	struct finder_word w[8];
	struct finder_names m = { 0 };

	(void)state;
	tree(&k);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (size_t i = 0; i < 6; i++)
		w[i] = (struct finder_word){ FINDER_BOOKMARK, (char *)(uintptr_t)bad[i], NULL, 0 };
	w[6] = (struct finder_word){ FINDER_BOOKMARK, name, NULL, 0 };
	finder_names_make(&m, w, 7, NULL, NULL);
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(strlen(finder_names_text(&m, i)),
				 strlen(finder_names_lower(&m, i)));
	assert_true(strlen(finder_names_text(&m, 6)) < 256);
	finder_names_done(&m);
	k.s.bookmarks = (const char *const[]){ bad[0], bad[1], bad[2], bad[3], bad[4], name, NULL };
	find(&k, "bookmark");
	for (const char *p = "[%\xc3\xff?*\\\"'"; *p; p++) {
		console_key(&k, (unsigned char)*p);
		free(console_screen(&k));
		console_key(&k, K_BACKSPACE);
	}
	console_key(&k, K_CTRL('u'));
	console_keys(&k, "xxxx");
	console_shows(&k, "xx..xx"); /* shortened */
	for (int i = 0; i < 3000; i++)
		console_keys(&k, "x");
	free(console_screen(&k));
	console_key(&k, K_ESC);
	console_hides(&k, "search everything");
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_key_opens_it_and_it_narrows),
		cmocka_unit_test(enter_goes_to_what_was_found),
		cmocka_unit_test(a_host_is_found_at_its_port),
		cmocka_unit_test(a_job_is_found_by_who_runs_it_behind_a_filter),
		cmocka_unit_test(commands_run_or_ask_for_their_argument),
		cmocka_unit_test(bookmarks_are_there),
		cmocka_unit_test(notes_lead_to_what_they_are_on),
		cmocka_unit_test(the_mouse_chooses_and_leaves),
		cmocka_unit_test(another_fabric_is_not_gone_to_by_old_numbers),
		cmocka_unit_test(hostile_names_are_only_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
