/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of notes: nothing of it is believed, what others wrote stays. */
#include "console/config/note_file.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/message/plain.h"
#include "tests/unit/kit/temp_folder.h"
#include "tests/unit/kit/told_log.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char dir[] = "/tmp/test_note_file.XXXXXX";

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

static void read_notes(struct row_notes *out, const char *text)
{
	char *path = temp_folder_file("notes");
	struct err err;

	told_log_clear();
	*out = (struct row_notes){ 0 };
	temp_folder_put("notes", text);
	assert_int_equal(note_file_read(out, path, &err), 0);
	free(path);
}

static const struct note_subject of_link = { .kind = NOTE_LINK, .id = 0xabc, .port = 17 };
static const struct note_subject of_job = { .kind = NOTE_JOB, .id = 81234, .fabric = "hpc1" };
static const struct note_subject of_time = { .kind = NOTE_TIME,
					     .id = 1763608200,
					     .fabric = "hpc1" };

static void notes_of_all_kinds_are_read(void **state)
{
	const struct note_subject sw = { .kind = NOTE_SWITCH, .id = 0xabc };
	const struct note_subject host = { .kind = NOTE_HOST, .id = 0xdef };
	const struct note_subject begun = {
		.kind = NOTE_JOB, .id = 81234, .fabric = "hpc1", .begun_s = 1763608200
	};
	const struct note_subject elsewhere = { .kind = NOTE_JOB, .id = 81234, .fabric = "hpc2" };
	struct row_notes all;

	(void)state;
	read_notes(&all, "# mine\n\nlink 0xabc/17\t2026-11-20T03:10:00Z\told\n"
			 "switch 0x0000000000000abc\t2026-11-20T03:10:00Z\tspare fan\r\n"
			 "host def\t2026-11-20T03:10:00Z\tnew HCA\n"
			 "job 81234 hpc1\t2026-11-20T03:10:00Z\task \xc3\x84nne\n"
			 "job 81234 2025-11-20T03:10:00Z hpc1\t2026-11-20T03:10:00Z\tbegun\n"
			 "time 2025-11-20T03:10:00Z hpc1\t2026-11-20T03:10:00Z\tstorm\n"
			 "link 0xabc/17\t2026-11-21T03:10:00Z\tswapped");
	assert_string_equal(told_log_text(), "");
	assert_int_equal(all.list.n, 6);
	assert_string_equal(row_notes_find(&all, &begun)->text, "begun");
	assert_string_equal(row_notes_find(&all, &of_link)->text, "swapped"); /* the last */
	assert_string_equal(row_notes_find(&all, &sw)->text, "spare fan");
	assert_string_equal(row_notes_find(&all, &host)->text, "new HCA");
	assert_string_equal(row_notes_find(&all, &of_job)->text, "ask \xc3\x84nne");
	assert_string_equal(row_notes_find(&all, &of_time)->text, "storm");
	assert_null(row_notes_find(&all, &elsewhere));
	row_notes_done(&all);
}

static void what_is_wrong_is_told_with_its_line_and_left_out(void **state)
{
	static const struct {
		const char *line, *why;
	} bad[] = {
		{ "rubbish", "expected what it is on" },
		{ "link 0xabc/1\tno text", "expected what it is on" },
		{ "rack 7\t2026-11-20T03:10:00Z\tx", "this is no link" },
		{ "link 0xabc/255\t2026-11-20T03:10:00Z\tx", "this is no link" },
		{ "link 0xabc\t2026-11-20T03:10:00Z\tx", "this is no link" },
		{ "link 0xabc/1 more\t2026-11-20T03:10:00Z\tx", "this is no link" },
		{ "job 81234\t2026-11-20T03:10:00Z\tx", "this is no link" },
		{ "job x hpc1\t2026-11-20T03:10:00Z\tx", "this is no link" },
		{ "time yesterday hpc1\t2026-11-20T03:10:00Z\tx", "this is no link" },
		{ "switch 0xabc\tsoon\tx", "this is not a time" },
		{ "switch 0xabc\t2026-11-20T03:10:00Z\t", "a note has 1 to" },
		{ "switch 0xabc\t2026-11-20T03:10:00Z\t\x1b[2J", "control characters" },
		{ "switch 0xabc\t2026-11-20T03:10:00Z\t\xff\xfe", "control characters" },
	};
	struct row_notes all;
	char text[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), "\n%s\nlink 0xabc/17\t2026-11-21T03:10:00Z\tgood\n",
			 bad[i].line);
		read_notes(&all, text);
		if (!strstr(told_log_text(), bad[i].why) || !strstr(told_log_text(), "/notes:2: "))
			fail_msg("%s: told '%s'", bad[i].line, told_log_text());
		assert_int_equal(all.list.n, 1);
		row_notes_done(&all);
	}
	snprintf(text, sizeof(text), "switch 0xabc\t2026-11-20T03:10:00Z\t");
	memset(text + strlen(text), 'x', 300);
	text[340] = '\0';
	read_notes(&all, text);
	assert_int_equal(all.list.n, 0);
	assert_non_null(strstr(told_log_text(), ":1: a note has 1 to"));
}

static void any_bytes_are_read_without_harm(void **state)
{
	static const char *const parts[] = { "link ",
					     "job ",
					     "time ",
					     "switch ",
					     "0xabc",
					     "/",
					     "17",
					     "\t",
					     "\n",
					     " ",
					     "hpc1",
					     "\xff",
					     "note",
					     "2026-11-20T03:10:00Z",
					     "99999999999999999999",
					     "\r" };
	struct rng rng;

	(void)state;
	rng_seed(&rng, 5);
	for (int i = 0; i < 3000; i++) {
		struct row_notes all;
		char text[800] = "", plain[NOTE_TEXT];

		for (uint64_t n = rng_below(&rng, 30); n; n--)
			strcat(text, parts[rng_below(&rng, sizeof(parts) / sizeof(parts[0]))]);
		read_notes(&all, text);
		for (size_t k = 0; k < all.list.n; k++) {
			memcpy(plain, all.list.v[k].text, sizeof(plain));
			assert_string_equal(plain_text(plain, ""), all.list.v[k].text);
			assert_true(plain[0]);
			assert_true(all.list.v[k].on.kind < NOTE_KINDS);
		}
		row_notes_done(&all);
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
	char *path = temp_folder_file("notes"), *text;
	struct row_note n = { .on = of_link, .time_s = 1763608200, .text = "swapped" };
	struct row_notes all = { 0 };
	struct stat st;
	struct err err;

	(void)state;
	temp_folder_put("notes",
			"# mine\nlink 0xABC/17\t2026-11-20T03:10:00Z\told\nrubbish");
	assert_int_equal(note_file_change(path, &n, &err), 0);
	text = text_of("notes");
	assert_string_equal(text, "# mine\nrubbish\n"
				  "link 0x0000000000000abc/17\t2025-11-20T03:10:00Z\tswapped\n");
	free(text);
	n.text[0] = '\0';
	assert_int_equal(note_file_change(path, &n, &err), 0);
	text = text_of("notes");
	assert_string_equal(text, "# mine\nrubbish\n");
	free(text);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 077, 0);
	free(path);
	/* what is written is read again as it was */
	path = temp_folder_file("new/folder/notes");
	n = (struct row_note){ .on = of_job, .time_s = 1763608200, .text = "a\xc3\xa4 b" };
	n.on.begun_s = 1763600000;
	assert_int_equal(note_file_change(path, &n, &err), 0);
	n.on = of_time;
	assert_int_equal(note_file_change(path, &n, &err), 0);
	told_log_clear();
	assert_int_equal(note_file_read(&all, path, &err), 0);
	assert_string_equal(told_log_text(), "");
	assert_int_equal(all.list.n, 2);
	assert_string_equal(row_notes_find(&all, &n.on)->text, n.text);
	assert_int_equal(row_notes_find(&all, &of_time)->time_s, n.time_s);
	row_notes_done(&all);
	free(path);
}

static void no_pipe_is_waited_for_or_replaced(void **state)
{
	char *path = temp_folder_file("pipe");
	const struct row_note n = { .on = of_link, .text = "x" };
	struct row_notes all = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(note_file_read(&all, path, &err), -EINVAL);
	assert_int_equal(note_file_change(path, &n, &err), -EINVAL);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notes_of_all_kinds_are_read),
		cmocka_unit_test(what_is_wrong_is_told_with_its_line_and_left_out),
		cmocka_unit_test(any_bytes_are_read_without_harm),
		cmocka_unit_test(one_is_put_in_and_all_else_stays),
		cmocka_unit_test(no_pipe_is_waited_for_or_replaced),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
