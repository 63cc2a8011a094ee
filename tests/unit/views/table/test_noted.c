/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes on rows: written by a key, marked and read wherever the thing appears. */
#include "views/table/noted.h"

#include "tests/unit/kit/console_kit.h"
#include "views/table/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t jobs[] = { 48, 31, 24, 16, 16, 9, 4, 2, 0 };
static struct row_notes all;

static void tree(struct console_kit *k)
{
	console_open(k, 100, 30);
	console_fabric(k, "fattree2:leaves=18,spines=9,hosts=9,fail=6,seed=3", jobs);
	k->s.row_notes = &all;
}

static void end(struct console_kit *k)
{
	row_notes_done(&all);
	console_close(k);
}

/* As the application does. */
static void note(struct console_kit *k, const char *text)
{
	k->last.type = REQ_NONE;
	console_keys(k, "i");
	console_key(k, K_CTRL('u'));
	console_keys(k, "note ");
	console_keys(k, text);
	console_key(k, K_ENTER);
	assert_int_equal(k->last.type, REQ_NOTE);
	assert_string_equal(k->last.note->text, text);
	assert_true(row_notes_put(&all, k->last.note));
}

static char mark_at_cursor(struct console_kit *k)
{
	const struct table_ops *ops;
	const struct table *t = shell_table(k->shell, &ops);

	free(console_screen(k));
	return (char)k->c->cell[(t->at.y + (int)(t->list.cursor - t->list.top)) * k->c->w + 2].ch;
}

static void a_cable_has_its_note_at_both_ends(void **state)
{
	const struct table_ops *ops;
	struct console_kit k;
	uint32_t chan;

	(void)state;
	tree(&k);
	console_keys(&k, "3jj");
	chan = table_cursor(shell_table_of(k.shell, &k.s, &ops));
	note(&k, "cable swapped");
	assert_true(strstr(k.last.text, " -> ") != NULL);
	assert_int_equal(mark_at_cursor(&k), NOTE_POINT);
	console_shows(&k, "note: cable swapped | ");
	console_keys(&k, "k");
	console_hides(&k, "cable swapped");
	assert_int_equal(mark_at_cursor(&k), ' ');
	assert_ptr_equal(row_notes_chan(&all, k.fabric, chan),
			 row_notes_chan(&all, k.fabric, k.fabric->chan_rev[chan]));
	/* a note on the other end is the same one */
	console_keys(&k, ":search ");
	console_key(&k, K_ESC);
	shell_context(k.shell)->chan = k.fabric->chan_rev[chan];
	free(console_screen(&k));
	console_shows(&k, "note: cable swapped");
	note(&k, "again");
	assert_int_equal(all.list.n, 1);
	console_keys(&k, "2"); /* the heatmap is at the same cable */
	console_shows(&k, "note: again");
	end(&k);
}

static void the_note_that_is_there_is_edited_and_deleted(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "4j");
	note(&k, "fan 3");
	console_keys(&k, "i");
	console_shows(&k, ":note fan 3_");
	console_keys(&k, " fails\r");
	assert_string_equal(k.last.note->text, "fan 3 fails");
	assert_int_equal(k.last.note->on.kind, NOTE_SWITCH);
	console_keys(&k, ":note\r");
	assert_int_equal(k.last.type, REQ_NOTE);
	assert_string_equal(k.last.note->text, "");
	console_keys(&k, "j");
	k.last.type = REQ_NONE;
	console_keys(&k, ":note\r");
	assert_int_equal(k.last.type, REQ_NONE);
	console_shows(&k, "there is no note on ");
	end(&k);
}

static void hosts_jobs_and_switches_have_theirs(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "4");
	note(&k, "of a switch");
	assert_int_equal(k.last.note->on.kind, NOTE_SWITCH);
	console_shows(&k, "note: of a switch");
	assert_int_equal(mark_at_cursor(&k), NOTE_POINT);
	console_keys(&k, "5j");
	note(&k, "of a job");
	assert_int_equal(k.last.note->on.kind, NOTE_JOB);
	console_shows(&k, "note: of a job");
	assert_int_equal(mark_at_cursor(&k), NOTE_POINT);
	console_keys(&k, "a");
	console_keys(&k, k.fabric->term_name[7]);
	console_key(&k, K_ENTER);
	note(&k, "of a host");
	assert_int_equal(k.last.note->on.kind, NOTE_HOST);
	console_shows(&k, "note: of a host");
	assert_int_equal(mark_at_cursor(&k), NOTE_POINT);
	end(&k);
}

static void an_event_has_the_note_of_its_moment(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_event(&k, LOG_WARN, "links", "leaf03/10: congested");
	console_keys(&k, "8");
	note(&k, "the storm");
	assert_int_equal(k.last.note->on.kind, NOTE_TIME);
	assert_int_equal((int64_t)k.last.note->on.id,
			 (int64_t)(k.events.line[0].time_ns / 1000000000));
	assert_int_equal(mark_at_cursor(&k), NOTE_POINT);
	console_shows(&k, "note: the storm");
	end(&k);
}

/* Where there is no row the moment that is shown is meant. */
static void a_moment_of_the_past_has_its_note(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "6");
	k.s.history_at =
		(struct state_history_at){ .on = true, .time_s = k.s.now_s - 60, .count = 9 };
	note(&k, "here it began");
	assert_int_equal(k.last.note->on.kind, NOTE_TIME);
	assert_int_equal((int64_t)k.last.note->on.id, k.s.now_s - 60);
	console_shows(&k, "note: here it began");
	k.s.history_at.time_s++;
	console_hides(&k, "here it began");
	k.s.history_at.on = false;
	console_hides(&k, "here it began");
	end(&k);
}

/* Its rows are of no table. */
static void rows_of_the_overview_have_theirs(void **state)
{
	struct console_kit k;
	bool job = false;

	(void)state;
	tree(&k);
	console_shows(&k, "Hot links");
	note(&k, "hot since Monday");
	assert_int_equal(k.last.note->on.kind, NOTE_LINK);
	assert_non_null(strstr(k.last.text, " -> "));
	console_shows(&k, "note: hot since Monday");
	console_keys(&k, "j");
	console_hides(&k, "note: hot since Monday");
	console_keys(&k, "k\r"); /* the same link in its table */
	console_shows(&k, "note: hot since Monday");
	console_keys(&k, "1");
	for (int i = 0; i < 3 && !job; i++) {
		console_key(&k, K_TAB);
		free(console_screen(&k));
		note(&k, "of the next pane");
		job = k.last.note->on.kind == NOTE_JOB;
	}
	assert_true(job);
	console_shows(&k, "note: of the next pane");
	for (uint32_t j = 0; j < k.jobs->njob; j++)
		if (k.jobs->jobs[j].id == k.last.note->on.id)
			assert_string_equal(row_notes_job(&all, k.fabric, &k.jobs->jobs[j])->text,
					    "of the next pane");
	end(&k);
}

/* Numbers come again; also in a file of before a job's begin was kept. */
static void a_later_job_of_the_same_number_has_no_note(void **state)
{
	struct job first = { .id = 7, .start_s = 1000 }, later = { .id = 7, .start_s = 5000 };
	struct job unknown = { .id = 7 };
	struct row_note n = { .time_s = 2000, .text = "slow" };
	struct console_kit k;

	(void)state;
	tree(&k);
	note_subject_job(&n.on, k.fabric, &first);
	assert_true(row_notes_put(&all, &n));
	assert_string_equal(row_notes_job(&all, k.fabric, &first)->text, "slow");
	assert_null(row_notes_job(&all, k.fabric, &later));
	assert_string_equal(row_notes_job(&all, k.fabric, &unknown)->text, "slow");
	note_subject_job(&n.on, k.fabric, &later);
	snprintf(n.text, sizeof(n.text), "fast");
	assert_true(row_notes_put(&all, &n));
	assert_string_equal(row_notes_job(&all, k.fabric, &first)->text, "slow");
	assert_string_equal(row_notes_job(&all, k.fabric, &later)->text, "fast");
	row_notes_done(&all);
	n.on.begun_s = 0;
	assert_true(row_notes_put(&all, &n));
	assert_string_equal(row_notes_job(&all, k.fabric, &first)->text, "fast");
	assert_null(row_notes_job(&all, k.fabric, &later));
	end(&k);
}

/* In the heatmap's line of the cell, the picture, paths: of a cable and a switch. */
static void notes_are_shown_in_views_without_a_table(void **state)
{
	struct console_kit k;
	struct row_note n = { .time_s = 1, .text = "bad connector" };

	(void)state;
	tree(&k);
	console_keys(&k, "2");
	free(console_screen(&k));
	console_hides(&k, "\" bad connector");
	for (uint32_t c = 0; c < k.fabric->nchan; c++) { /* whatever cell the cursor is on */
		note_subject_port(&n.on, k.fabric, k.fabric->chan_src[c], k.fabric->chan_port[c]);
		assert_true(row_notes_put(&all, &n));
	}
	console_shows(&k, "\" bad connector");
	console_keys(&k, "t");
	console_shows(&k, "\"");
	row_notes_done(&all);
	console_hides(&k, "\"");
	note_subject_switch(&n.on, k.fabric, 0);
	assert_true(row_notes_put(&all, &n));
	console_shows(&k, "\"");
	end(&k);
}

/* Not what another view chose last, or the moment. */
static void heatmap_and_picture_note_what_is_under_their_cursor(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "2"); /* nothing is chosen yet */
	free(console_screen(&k));
	note(&k, "of the first cell");
	assert_int_equal(k.last.note->on.kind, NOTE_LINK);
	assert_non_null(strstr(k.last.text, "leaf01/"));
	console_shows(&k, "\" of the first cell");
	console_shows(&k, "note: of the first cell");
	console_keys(&k, "jj");
	free(console_screen(&k));
	console_hides(&k, "of the first cell");
	note(&k, "of the third");
	assert_non_null(strstr(k.last.text, "leaf03/"));
	console_keys(&k, "zzz"); /* its cables, by name */
	console_shows(&k, "note: of the third");
	console_key(&k, K_ESC);
	console_keys(&k, "t");
	free(console_screen(&k));
	note(&k, "of a switch");
	assert_int_equal(k.last.note->on.kind, NOTE_SWITCH);
	console_shows(&k, "note: of a switch");
	console_keys(&k, "l");
	console_hides(&k, "of a switch");
	end(&k);
}

static void a_path_shows_notes_of_its_hosts_and_hops(void **state)
{
	struct console_kit k;
	struct row_note n = { .time_s = 1, .text = "loose" };

	(void)state;
	tree(&k);
	console_keys(&k, "0");
	free(console_screen(&k));
	console_hides(&k, "1\"");
	for (uint32_t sw = 0; sw < k.fabric->nsw; sw++) {
		note_subject_switch(&n.on, k.fabric, sw);
		assert_true(row_notes_put(&all, &n));
	}
	console_keys(&k, ":path ");
	console_keys(&k, k.fabric->term_name[0]);
	console_keys(&k, " ");
	console_keys(&k, k.fabric->term_name[k.fabric->nterm - 1]);
	console_key(&k, K_ENTER);
	console_shows(&k, "1\"");
	note_subject_host(&n.on, k.fabric, 0);
	assert_true(row_notes_put(&all, &n));
	console_shows(&k, "\" loose");
	end(&k);
}

static void what_is_no_note_is_refused(void **state)
{
	struct console_kit k;

	(void)state;
	tree(&k);
	console_keys(&k, "4:note ");
	for (int i = 0; i < 250; i++)
		console_keys(&k, "x");
	k.last.type = REQ_NONE;
	console_key(&k, K_ENTER);
	assert_int_equal(k.last.type, REQ_NONE);
	console_shows(&k, "a note has at most 199 bytes");
	console_keys(&k, "7:note to the record\r"); /* there it is another one */
	assert_int_equal(k.last.type, REQ_APPLY_NOTE);
	end(&k);
}

static void the_list_stays_in_order_and_is_bounded(void **state)
{
	struct row_note n = { .text = "x" };
	struct row_notes many = { 0 };

	(void)state;
	for (uint32_t i = 0; i < NOTE_MOST; i++) {
		n.on = (struct note_subject){ .kind = i % 2 ? NOTE_LINK : NOTE_SWITCH,
					      .id = i * 2654435761u,
					      .port = (uint8_t)i };
		assert_true(row_notes_put(&many, &n));
	}
	assert_true(row_notes_put(&many, &n)); /* again */
	assert_int_equal(many.list.n, NOTE_MOST);
	for (uint32_t i = 0; i < NOTE_MOST; i++) {
		n.on = (struct note_subject){ .kind = i % 2 ? NOTE_LINK : NOTE_SWITCH,
					      .id = i * 2654435761u,
					      .port = (uint8_t)i };
		assert_non_null(row_notes_find(&many, &n.on));
		n.on.port ^= 1;
		assert_null(row_notes_find(&many, &n.on));
	}
	assert_false(row_notes_put(&many, &n));
	row_notes_done(&many);
}

static const char *said(const struct console_kit *k, enum row_kind kind, uint32_t row)
{
	const struct rows rows = { kind, &k->s, &shell_context(k->shell)->summary };
	struct value v;

	field_get(&v, field_find(kind, "note", 4), &rows, row);
	return v.text;
}

static void a_note_is_a_field_of_its_row(void **state)
{
	struct console_kit k;
	struct row_note n = { .time_s = 1 };
	const struct table_ops *ops;
	const struct fabric *f;
	uint32_t chan;

	(void)state;
	tree(&k);
	free(console_screen(&k));
	f = k.s.fabric;
	chan = f->nchan / 2;
	assert_null(said(&k, ROWS_LINKS, chan));
	note_subject_port(&n.on, f, f->chan_src[chan], f->chan_port[chan]);
	snprintf(n.text, sizeof(n.text), "swapped");
	assert_true(row_notes_put(&all, &n));
	note_subject_switch(&n.on, f, 3);
	snprintf(n.text, sizeof(n.text), "old");
	assert_true(row_notes_put(&all, &n));
	note_subject_job(&n.on, f, &k.s.jobs->jobs[1]);
	snprintf(n.text, sizeof(n.text), "slow");
	n.time_s = INT32_MAX;
	assert_true(row_notes_put(&all, &n));
	assert_string_equal(said(&k, ROWS_LINKS, chan), "swapped");
	assert_string_equal(said(&k, ROWS_LINKS, f->chan_rev[chan]), "swapped");
	assert_string_equal(said(&k, ROWS_PORTS, chan_fabric_port(f, chan)), "swapped");
	assert_string_equal(said(&k, ROWS_SWITCHES, 3), "old");
	assert_null(said(&k, ROWS_SWITCHES, 4));
	assert_string_equal(said(&k, ROWS_JOBS, 1), "slow");
	assert_null(said(&k, ROWS_JOBS, 0));
	console_keys(&k, "3/note~swap");
	console_key(&k, K_ENTER);
	free(console_screen(&k));
	assert_int_equal(shell_table(k.shell, &ops)->nrow, 2);
	end(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cable_has_its_note_at_both_ends),
		cmocka_unit_test(the_note_that_is_there_is_edited_and_deleted),
		cmocka_unit_test(hosts_jobs_and_switches_have_theirs),
		cmocka_unit_test(an_event_has_the_note_of_its_moment),
		cmocka_unit_test(a_moment_of_the_past_has_its_note),
		cmocka_unit_test(rows_of_the_overview_have_theirs),
		cmocka_unit_test(a_later_job_of_the_same_number_has_no_note),
		cmocka_unit_test(notes_are_shown_in_views_without_a_table),
		cmocka_unit_test(heatmap_and_picture_note_what_is_under_their_cursor),
		cmocka_unit_test(a_path_shows_notes_of_its_hosts_and_hops),
		cmocka_unit_test(what_is_no_note_is_refused),
		cmocka_unit_test(a_note_is_a_field_of_its_row),
		cmocka_unit_test(the_list_stays_in_order_and_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
