/* SPDX-License-Identifier: GPL-2.0-or-later */
/* View 9: the records, their verdicts, and what was done in one of them. */
#include "tests/unit/kit/console_kit.h"
#include "tests/unit/kit/console_moods.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int sizes[][2] = { { 80, 24 }, { 100, 30 }, { 200, 60 } };

static struct sessions *records;

static void open_view(struct console_kit *k)
{
	records = console_records();
	console_open(k, 80, 24);
	k->s.sessions = records;
	console_keys(k, "9");
	assert_int_equal(k->last.type, REQ_VIEW);
	assert_int_equal(k->last.view, VIEW_AUDIT);
}

static void golden_sizes(struct console_kit *k, const char *name)
{
	for (int i = 0; i < 3; i++) {
		console_size(k, sizes[i][0], sizes[i][1]);
		console_golden(k, name);
	}
	console_size(k, 80, 24);
}

static void records_in_three_sizes(void **state)
{
	struct console_kit k;

	(void)state;
	open_view(&k);
	golden_sizes(&k, "sessions");
	console_keys(&k, "j");
	console_shows(&k, "changed after it was written");
	console_keys(&k, "jj");
	console_shows(&k, "sealed");
	console_shows(&k, "screen none");
	console_close(&k);
}

static void large_screens_have_the_actions_of_the_record_under_the_cursor(void **state)
{
	struct console_kit k;

	(void)state;
	open_view(&k);
	console_record_opened(records, records->row[0].file);
	console_hides(&k, "plan.create");
	console_keys(&k, "j");
	assert_int_not_equal(k.last.type, REQ_SESSION_OPEN); /* nobody would see it */
	console_keys(&k, "k");
	golden_sizes(&k, "sessions-read");
	console_size(&k, 200, 60);
	console_shows(&k, "ticket 4711");
	console_keys(&k, "jj");
	assert_int_equal(k.last.type, REQ_SESSION_OPEN);
	assert_string_equal(k.last.text, records->row[2].file);
	console_hides(&k, "ticket 4711"); /* that is another record */
	console_shows(&k, "Enter: what was done in it");
	k.s.sessions_busy = true;
	console_shows(&k, "reading");
	k.s.sessions_busy = false;
	console_record_opened(records, records->row[2].file);
	console_shows(&k, "ticket 4711");
	k.s.sessions_busy = true; /* those of another one are about to come */
	k.last.type = REQ_NONE;
	console_keys(&k, "jk");
	assert_int_equal(k.last.type, REQ_SESSION_OPEN);
	assert_string_equal(k.last.text, records->row[2].file);
	k.s.sessions_busy = false;
	records->row[3].told = true; /* nobody here may read it */
	k.last.type = REQ_NONE;
	console_keys(&k, "j");
	assert_int_equal(k.last.type, REQ_NONE);
	console_shows(&k, "this user may not read the record");
	console_close(&k);
}

static void enter_shows_what_was_done_and_then_replays_from_there(void **state)
{
	struct console_kit k;

	(void)state;
	open_view(&k);
	console_keys(&k, "jj");
	console_key(&k, K_ENTER);
	assert_int_equal(k.last.type, REQ_SESSION_OPEN);
	assert_string_equal(k.last.text, records->row[2].file);
	console_shows(&k, "reading");
	console_record_opened(records, records->row[2].file);
	golden_sizes(&k, "session-actions");
	console_keys(&k, "jjj");
	console_key(&k, K_ENTER);
	assert_int_equal(k.last.type, REQ_REPLAY);
	assert_string_equal(k.last.text, "20261120T232000Z-4720.jsonl 3");
	console_key(&k, K_ESC);
	console_shows(&k, "4 records, 1 tampered with");
	assert_int_equal(shell_view(k.shell), VIEW_AUDIT);
	console_key(&k, K_ESC);
	assert_int_equal(shell_view(k.shell), VIEW_OVERVIEW);
	console_close(&k);
}

static void without_records_it_says_so(void **state)
{
	struct console_kit k;

	(void)state;
	open_view(&k);
	k.s.sessions = NULL;
	console_shows(&k, "V: read and verify the records");
	k.s.sessions_busy = true;
	console_shows(&k, "reading and verifying");
	console_keys(&k, "V");
	assert_int_equal(k.last.type, REQ_VERIFY);
	console_keys(&k, "jGk");
	console_key(&k, K_ENTER);
	records->nrow = 0;
	k.s.sessions = records;
	console_shows(&k, "no sessions");
	console_key(&k, K_ENTER);
	console_keys(&k, "jG");
	console_shows(&k, "0 records");
	console_close(&k);
}

static void command(struct console_kit *k, const char *line)
{
	console_keys(k, ":");
	console_keys(k, line);
	console_key(k, K_ENTER);
}

static void sessions_and_lines_are_filtered_sorted_and_searched(void **state)
{
	struct console_kit k;

	(void)state;
	open_view(&k);
	command(&k, "filter ok=no");
	console_shows(&k, "1 of 4 sessions");
	console_shows(&k, "changed after it was written");
	console_key(&k, K_ESC);
	console_keys(&k, "T"); /* none is tagged */
	console_shows(&k, "no row is tagged");
	console_key(&k, K_ESC);
	console_shows(&k, "4 sessions");
	console_keys(&k, "!");
	console_shows(&k, "3 of 4 sessions");
	console_keys(&k, "!");
	command(&k, "sort uid");
	console_shows(&k, "by uid");
	console_keys(&k, "S");
	console_key(&k, K_ENTER);
	assert_string_equal(k.last.text, records->row[3].file); /* the least */
	console_record_opened(records, records->row[3].file);
	command(&k, "filter type=key.action or text~wave");
	console_shows(&k, "2 of 6 lines");
	console_keys(&k, "G");
	console_key(&k, K_ENTER);
	assert_string_equal(k.last.text, "20261120T231000Z-4710.jsonl 3");
	console_key(&k, K_ESC);
	console_shows(&k, "6 lines");
	command(&k, "find ticket");
	console_key(&k, K_ENTER);
	assert_string_equal(k.last.text, "20261120T231000Z-4710.jsonl 5");
	console_key(&k, K_ESC);
	console_shows(&k, "6 lines"); /* the search first */
	console_key(&k, K_ESC);
	console_shows(&k, "4 sessions");
	console_close(&k);
}

static void sessions_read_again_are_other_rows(void **state)
{
	struct console_kit k;

	(void)state;
	open_view(&k);
	console_keys(&k, "G");
	records->nrow = 2;
	records->serial++;
	console_shows(&k, "2 sessions");
	records->nrow = 4;
	records->row[0].ok = false;
	records->serial++;
	console_keys(&k, "j");
	console_shows(&k, "4 sessions");
	console_shows(&k, "4 records, 2 tampered with");
	console_close(&k);
}

static void session_without_lines_does_no_harm(void **state)
{
	struct console_kit k;

	(void)state;
	open_view(&k);
	console_key(&k, K_ENTER);
	console_record_opened(records, records->row[0].file);
	records->naction = 0;
	snprintf(records->why, sizeof(records->why), "it cannot be opened");
	console_shows(&k, "cannot be opened");
	console_keys(&k, "jGgk");
	console_key(&k, K_ENTER);
	for (int w = 1; w < 60; w += 7) {
		console_size(&k, w, w / 2 + 1);
		free(console_screen(&k));
	}
	console_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_in_three_sizes),
		cmocka_unit_test(large_screens_have_the_actions_of_the_record_under_the_cursor),
		cmocka_unit_test(enter_shows_what_was_done_and_then_replays_from_there),
		cmocka_unit_test(without_records_it_says_so),
		cmocka_unit_test(sessions_and_lines_are_filtered_sorted_and_searched),
		cmocka_unit_test(sessions_read_again_are_other_rows),
		cmocka_unit_test(session_without_lines_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
