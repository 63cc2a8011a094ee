/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/audit/audit.h"

#include "console/record/audit/audit_report.h"
#include "console/record/record.h"
#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/update_net.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINES 6 /* with start and end */

struct world {
	char *dir, *path, *text;
	char *line[LINES]; /* in text, without newlines */
};

static void write_session(const char *dir, char **path)
{
	struct record_opts o = { .dir = dir, .fabric = "testnet", .mode = "rw" };
	struct record *r;

	assert_int_equal(record_open(&r, &o, NULL), 0);
	*path = xstrdup(record_path(r));
	for (int i = 0; i < LINES - 2; i++)
		assert_int_equal(record_add(r, "note", json_pack("{s:i}", "n", i), NULL), 0);
	assert_int_equal(record_close(r, NULL), 0);
}

static int setup(void **state)
{
	static struct world w;
	size_t len;

	w.dir = net_tmpdir();
	write_session(w.dir, &w.path);
	assert_int_equal(store_read(&w.text, &len, w.path, NULL), 0);
	for (int i = 0; i < LINES; i++)
		w.line[i] = strtok(i ? NULL : w.text, "\n");
	*state = &w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	free(w->text);
	free(w->path);
	net_rmdir(w->dir);
	return 0;
}

/* Writes those lines (by number; LINES + i: a changed line i) and judges them. */
static struct audit_report judge(struct world *w, const int *order, int n)
{
	struct audit_report rep;
	FILE *f = fopen(w->path, "w");

	for (int i = 0; i < n; i++) {
		char *l = xstrdup(w->line[order[i] % LINES]);

		if (order[i] >= LINES)
			memcpy(strstr(l, "\"ts\":\"") + 6, "1999", 4);
		fprintf(f, "%s\n", l);
		free(l);
	}
	fclose(f);
	assert_int_equal(audit_verify(&rep, w->path, NULL, NULL), 0);
	return rep;
}

static void untouched_record_is_good(void **state)
{
	struct audit_report rep = judge(*state, (int[]){ 0, 1, 2, 3, 4, 5 }, 6);

	assert_true(rep.ok && rep.ended);
	assert_int_equal(rep.lines, LINES);
	assert_int_equal(rep.bad_line, 0);
	assert_string_equal(rep.fabric, "testnet");
	assert_string_equal(rep.mode, "rw");
	assert_true(strlen(rep.sid) > 0 && strlen(rep.start) == 24);
}

static void edited_line_is_found_wherever_another_follows(void **state)
{
	for (int i = 0; i < LINES - 1; i++) {
		int order[LINES] = { 0, 1, 2, 3, 4, 5 };
		struct audit_report rep;

		order[i] += LINES;
		rep = judge(*state, order, LINES);
		assert_false(rep.ok);
		assert_int_equal(rep.bad_line, i + 1);
		assert_int_equal(rep.lines, i);
		assert_non_null(strstr(rep.what, "changed"));
	}
}

static void removed_line_is_found(void **state)
{
	for (int i = 0; i < LINES - 1; i++) {
		int order[LINES], n = 0;
		struct audit_report rep;

		for (int k = 0; k < LINES; k++)
			if (k != i)
				order[n++] = k;
		rep = judge(*state, order, n);
		assert_false(rep.ok);
		assert_int_equal(rep.bad_line, i + 1);
		assert_non_null(strstr(rep.what, "removed"));
	}
}

static void inserted_line_is_found(void **state)
{
	for (int copy = 0; copy < LINES; copy++) {
		for (int i = 0; i <= LINES; i++) {
			int order[LINES + 1], n = 0;
			struct audit_report rep;

			for (int k = 0; k <= LINES; k++)
				order[n++] = k < i ? k : k == i ? copy : k - 1;
			rep = judge(*state, order, n);
			if (copy == i || copy == i - 1) /* the same bytes twice */
				assert_int_equal(rep.bad_line, copy + 2);
			assert_false(rep.ok);
		}
	}
}

static void swapped_lines_are_found(void **state)
{
	for (int i = 0; i < LINES; i++) {
		for (int k = i + 1; k < LINES; k++) {
			int order[LINES] = { 0, 1, 2, 3, 4, 5 };
			struct audit_report rep;

			order[i] = k;
			order[k] = i;
			rep = judge(*state, order, LINES);
			assert_false(rep.ok);
			assert_int_equal(rep.bad_line, i + 1);
		}
	}
}

static void cut_anywhere_is_seen(void **state)
{
	struct world *w = *state;
	char *whole;
	size_t len;

	judge(w, (int[]){ 0, 1, 2, 3, 4, 5 }, 6);
	assert_int_equal(store_read(&whole, &len, w->path, NULL), 0);
	for (size_t cut = 0; cut < len; cut++) {
		FILE *f = fopen(w->path, "w");
		struct audit_report rep;

		assert_int_equal(fwrite(whole, 1, cut, f), cut);
		fclose(f);
		assert_int_equal(audit_verify(&rep, w->path, NULL, NULL), 0);
		/* at the end of a line the chain fits, but the session has no end */
		assert_true(!rep.ok || !rep.ended);
		assert_int_equal(rep.ok, cut && whole[cut - 1] == '\n');
	}
	free(whole);
}

static void any_changed_byte_before_the_last_line_is_found(void **state)
{
	struct world *w = *state;
	size_t len, last;
	char *whole;

	judge(w, (int[]){ 0, 1, 2, 3, 4, 5 }, 6);
	assert_int_equal(store_read(&whole, &len, w->path, NULL), 0);
	last = len - strlen(w->line[LINES - 1]) - 1;
	for (size_t i = 0; i < last; i++) {
		struct audit_report rep;
		FILE *f;

		whole[i] ^= 1;
		f = fopen(w->path, "w");
		assert_int_equal(fwrite(whole, 1, len, f), len);
		fclose(f);
		whole[i] ^= 1;
		assert_int_equal(audit_verify(&rep, w->path, NULL, NULL), 0);
		assert_false(rep.ok);
	}
	free(whole);
}

static void next_session_vouches_for_the_end(void **state)
{
	struct world *w = *state;
	struct audit_report rep;
	char *next;

	judge(w, (int[]){ 0, 1, 2, 3, 4, 5 }, 6);
	write_session(w->dir, &next);
	assert_int_equal(audit_verify(&rep, w->path, NULL, NULL), 0);
	assert_true(rep.ok);
	assert_non_null(strstr(next, rep.next_sid));
	/* neither a tail that was cut nor a last line that was edited goes unseen */
	rep = judge(w, (int[]){ 0, 1, 2, 3, 4 }, 5);
	assert_false(rep.ok);
	assert_non_null(strstr(rep.what, "next session"));
	rep = judge(w, (int[]){ 0, 1, 2, 3, 4, 5 + LINES }, 6);
	assert_false(rep.ok);
	free(next);
}

static void what_is_no_record_is_said(void **state)
{
	struct world *w = *state;
	struct audit_report rep;
	struct err err = { "" };
	FILE *f = fopen(w->path, "w");

	fputs("hello\n", f);
	fclose(f);
	assert_int_equal(audit_verify(&rep, w->path, NULL, NULL), 0);
	assert_false(rep.ok);
	assert_int_equal(rep.bad_line, 1);
	assert_int_equal(audit_verify(&rep, "/no/such/file", NULL, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/no/such/file"));
}

/* Who detached from it has only an action that names it, in a record that is read first. */
static void the_console_that_left_an_update_is_in_its_report(void **state)
{
	static const char id[] = "20260101T000000Z-7";
	struct record_opts o = { .fabric = "testnet", .mode = "rw" };
	char *dir = net_tmpdir(), *names[2];
	struct audit_change c;
	struct record *r;

	(void)state;
	o.dir = dir;
	assert_int_equal(record_open(&r, &o, NULL), 0);
	names[0] = xstrdup(record_path(r));
	record_add(r, "plan.create", json_pack("{s:s}", "plan", "p-7f3a"), NULL);
	record_add(r, "key.action",
		   json_pack("{s:s, s:s}", "action", "apply.start", "detail", "p-7f3a"), NULL);
	record_add(r, "key.action", json_pack("{s:s, s:s}", "action", "computed", "detail", id),
		   NULL);
	record_add(r, "key.action", json_pack("{s:s, s:s}", "action", "detach", "detail", id),
		   NULL);
	assert_int_equal(record_close(r, NULL), 0);
	assert_int_equal(record_open(&r, &o, NULL), 0);
	names[1] = xstrdup(record_path(r));
	record_add(r, "apply.begin", json_pack("{s:s}", "txn", id), NULL);
	assert_int_equal(record_close(r, NULL), 0);
	assert_int_equal(audit_change_read(&c, "20260101", names, 2, NULL), 0);
	assert_int_equal(c.nfiles, 2);
	assert_int_equal(c.n, 4); /* not what only looks like it */
	assert_non_null(c.plan);
	audit_change_free(&c);
	free(names[0]);
	free(names[1]);
	net_rmdir(dir);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(untouched_record_is_good),
		cmocka_unit_test(the_console_that_left_an_update_is_in_its_report),
		T(edited_line_is_found_wherever_another_follows),
		T(removed_line_is_found),
		T(inserted_line_is_found),
		T(swapped_lines_are_found),
		T(cut_anywhere_is_seen),
		T(any_changed_byte_before_the_last_line_is_found),
		T(next_session_vouches_for_the_end),
		T(what_is_no_record_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
