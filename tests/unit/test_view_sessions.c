/* SPDX-License-Identifier: GPL-2.0-or-later */
/* View 9: the records, their verdicts, and what was done in one of them. */
#include "tests/unit/console_kit.h"
#include "views/sessions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int sizes[][2] = { { 80, 24 }, { 100, 30 }, { 200, 60 } };

static struct session_row rows[4];
static struct session_action actions[6];
static struct sessions records;

static void fill_row(struct session_row *r, int n, bool ok)
{
	memset(r, 0, sizeof(*r));
	snprintf(r->sid, sizeof(r->sid), "20261120T23%02d00Z-47%02d", n, n);
	snprintf(r->file, sizeof(r->file), "%s.jsonl", r->sid);
	snprintf(r->start, sizeof(r->start), "2026-11-20T23:%02d:00.123Z", n);
	snprintf(r->end, sizeof(r->end), "2026-11-20T23:%02d:41.000Z", n + 5);
	snprintf(r->fabric, sizeof(r->fabric), "hpc1");
	snprintf(r->mode, sizeof(r->mode), "rw");
	snprintf(r->head, sizeof(r->head),
		 "4736c0ffee001122334455667788990011223344556677889900aabbccdd44d0");
	r->part = 1;
	r->uid = 1000 + (uint32_t)n;
	r->lines = 118;
	r->updates = 1;
	r->bytes = 1 << 20;
	r->ok = ok;
	r->screen = true;
}

static void fill(void)
{
	static const char *const lines[][2] = {
		{ "session.start", "fabric hpc1 on admin1" },
		{ "key.action", "preview sar" },
		{ "plan.create", "p-7f3a sar vls=8" },
		{ "phase.begin", "WRITE wave 1" },
		{ "rollback.begin", "ROLLBACK errors on 2 links that were changed" },
		{ "note", "ticket 4711: cable of leaf17/33 is to be replaced" },
	};

	for (int i = 0; i < 4; i++)
		fill_row(&rows[i], 40 - i * 10, i != 1);
	snprintf(rows[1].what, sizeof(rows[1].what),
		 "changed after it was written: not the line that the next one was chained to");
	rows[2].open_end = true;
	rows[2].part = 2;
	rows[3].gaps = 2;
	rows[3].screen = false;
	rows[3].epoch = 7;
	for (unsigned i = 0; i < 6; i++) {
		memset(&actions[i], 0, sizeof(actions[i]));
		actions[i].seq = i;
		snprintf(actions[i].time, sizeof(actions[i].time), "23:19:%02u", 40 + i);
		snprintf(actions[i].what, sizeof(actions[i].what), "%s", lines[i][0]);
		snprintf(actions[i].text, sizeof(actions[i].text), "%s", lines[i][1]);
		actions[i].loud = i == 4;
	}
	records = (struct sessions){ .row = rows, .nrow = 4 };
	snprintf(records.dir, sizeof(records.dir), "/var/log/ibroute-top");
}

static void open_view(struct console_kit *k)
{
	fill();
	console_open(k, 80, 24);
	k->s.sessions = &records;
	console_keys(k, "9");
	assert_int_equal(k->last.type, REQ_VIEW);
	assert_int_equal(k->last.view, VIEW_AUDIT);
}

static void opened(const char *file)
{
	snprintf(records.opened, sizeof(records.opened), "%s", file);
	records.action = actions;
	records.naction = 6;
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
	console_shows(&k, "screen not there");
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
	assert_string_equal(k.last.text, rows[2].file);
	console_shows(&k, "being read");
	opened(rows[2].file);
	golden_sizes(&k, "session-actions");
	console_keys(&k, "jjj");
	console_key(&k, K_ENTER);
	assert_int_equal(k.last.type, REQ_REPLAY);
	assert_string_equal(k.last.text, "20261120T232000Z-4720.jsonl 3");
	console_key(&k, K_ESC);
	console_shows(&k, "4 records, 1 changed");
	assert_int_equal(ui_view(k.ui), VIEW_AUDIT);
	console_key(&k, K_ESC);
	assert_int_equal(ui_view(k.ui), VIEW_OVERVIEW);
	console_close(&k);
}

static void without_records_it_says_so(void **state)
{
	struct console_kit k;

	(void)state;
	open_view(&k);
	k.s.sessions = NULL;
	console_shows(&k, "V reads the records");
	k.s.sessions_busy = true;
	console_shows(&k, "being read and verified");
	console_keys(&k, "V");
	assert_int_equal(k.last.type, REQ_VERIFY);
	console_keys(&k, "jGk");
	console_key(&k, K_ENTER);
	records.nrow = 0;
	k.s.sessions = &records;
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
	assert_string_equal(k.last.text, rows[3].file); /* the least */
	opened(rows[3].file);
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

static void sessions_read_anew_are_other_rows(void **state)
{
	struct console_kit k;

	(void)state;
	open_view(&k);
	console_keys(&k, "G");
	records.nrow = 2;
	records.serial++;
	console_shows(&k, "2 sessions");
	records.nrow = 4;
	rows[0].ok = false;
	records.serial++;
	console_keys(&k, "j");
	console_shows(&k, "4 sessions");
	console_shows(&k, "4 records, 2 changed");
	console_close(&k);
}

static void session_without_lines_does_no_harm(void **state)
{
	struct console_kit k;

	(void)state;
	open_view(&k);
	console_key(&k, K_ENTER);
	opened(rows[0].file);
	records.naction = 0;
	snprintf(records.why, sizeof(records.why), "it cannot be opened");
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
		cmocka_unit_test(enter_shows_what_was_done_and_then_replays_from_there),
		cmocka_unit_test(without_records_it_says_so),
		cmocka_unit_test(sessions_and_lines_are_filtered_sorted_and_searched),
		cmocka_unit_test(sessions_read_anew_are_other_rows),
		cmocka_unit_test(session_without_lines_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
