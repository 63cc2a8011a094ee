/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/file/lines.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/format/opensm/guid2lid.h"
#include "tests/unit/kit/text_files.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void assert_lines(const char *text, size_t len, const char *const *want, size_t n)
{
	FILE *in = text_file(text, len);
	struct lines *l = lines_new(in, "x", NULL);

	for (size_t i = 0; i < n; i++) {
		size_t got;
		char *s = lines_next(l, &got);

		assert_non_null(s);
		assert_string_equal(s, want[i]);
		assert_int_equal(got, strlen(want[i]));
		assert_int_equal(lines_number(l), i + 1);
	}
	assert_null(lines_next(l, NULL));
	assert_null(lines_next(l, NULL));
	assert_int_equal(lines_error(l), 0);
	lines_free(l);
	fclose(in);
}

static void ends_of_line_marks_and_zero_bytes_do_not_matter(void **state)
{
	static const char text[] = "\xef\xbb\xbf"
				   "a\r\n\nb\0c\r\r\nlast";
	static const char *const want[] = { "a", "", "b c", "last" };

	(void)state;
	assert_lines(text, sizeof(text) - 1, want, 4);
	assert_lines("", 0, NULL, 0);
	assert_lines("a\n", 2, want, 1);
}

static void lines_longer_than_the_limit_are_left_out_and_told(void **state)
{
	size_t len = 3 * (size_t)LINES_MAX;
	char *text = xcalloc(len + 8, 1);
	struct read_report report;
	struct lines *l;
	FILE *in;

	(void)state;
	memset(text, 'x', len);
	memcpy(text, "one\n", 4);
	memcpy(text + len, "\ntwo\n", 5);
	in = text_file(text, len + 5);
	read_report_begin(&report, "x");
	l = lines_new(in, "x", &report);
	assert_string_equal(lines_next(l, NULL), "one");
	assert_string_equal(lines_next(l, NULL), "two");
	assert_int_equal(lines_number(l), 3);
	assert_null(lines_next(l, NULL));
	assert_int_equal(report.skipped, 1);
	assert_int_equal(report.notes[0].line, 2);
	lines_free(l);
	fclose(in);
	free(text);
}

static void lines_across_the_buffer_stay_whole(void **state)
{
	char *text = NULL, *s;
	size_t len, i = 0;
	FILE *out = open_memstream(&text, &len), *in;
	struct lines *l;

	(void)state;
	for (unsigned k = 0; k < 30000; k++)
		fprintf(out, "%u:%0*u\n", k, (int)(k % 97), k);
	fclose(out);
	in = text_file(text, len);
	l = lines_new(in, "x", NULL);
	for (; (s = lines_next(l, NULL)); i++) {
		char want[128];

		snprintf(want, sizeof(want), "%zu:%0*zu", i, (int)(i % 97), i);
		assert_string_equal(s, want);
	}
	assert_int_equal(i, 30000);
	lines_free(l);
	fclose(in);
	free(text);
}

struct watch {
	struct progress p;
	uint64_t done, total;
	unsigned calls, most; /* after so many it cancels */
};

static void watched(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct watch *w = ctx;

	assert_string_equal(step, "reading");
	assert_true(done > w->done && done <= total);
	w->done = done;
	w->total = total;
	if (++w->calls == w->most)
		atomic_store(&w->p.cancel, true);
}

static void who_watches_large_files_is_told_and_can_end_them(void **state)
{
	enum { MB = 1 << 20, LINE = 64 };
	char *text = xcalloc(8, MB);
	struct watch w = { .p = { .report = watched, .ctx = &w } };
	struct lines *l;
	uint64_t n = 0;
	FILE *in;

	(void)state;
	memset(text, 'x', 8 * (size_t)MB);
	for (size_t i = LINE - 1; i < 8 * (size_t)MB; i += LINE)
		text[i] = '\n';
	in = tmpfile(); /* one in memory has no size */
	assert_int_equal(fwrite(text, MB, 8, in), 8);
	rewind(in);
	assert_null(file_progress_set(&w.p));
	l = lines_new(in, "x", NULL);
	while (lines_next(l, NULL))
		n++;
	assert_int_equal(lines_error(l), 0);
	assert_int_equal(n, 8 * MB / LINE);
	assert_true(w.calls >= 7);
	assert_int_equal(w.total, 8 * MB);
	lines_free(l);

	rewind(in);
	w.done = 0;
	w.most = w.calls + 2;
	l = lines_new(in, "x", NULL);
	for (n = 0; lines_next(l, NULL);)
		n++;
	assert_int_equal(lines_error(l), -ECANCELED);
	assert_true(n < 4 * MB / LINE);
	lines_free(l);

	atomic_store(&w.p.cancel, false);
	assert_ptr_equal(file_progress_set(NULL), &w.p);
	w.calls = 0;
	rewind(in);
	l = lines_new(in, "x", NULL);
	while (lines_next(l, NULL))
		;
	assert_int_equal(w.calls, 0);
	lines_free(l);
	fclose(in);
	free(text);
}

static void an_unreadable_file_is_an_error_and_not_an_end(void **state)
{
	FILE *in = fopen("/tmp", "r"); /* reading a folder fails */
	struct lines *l;

	(void)state;
	assert_non_null(in);
	l = lines_new(in, "x", NULL);
	assert_null(lines_next(l, NULL));
	assert_int_equal(lines_error(l), -EISDIR);
	lines_free(l);
	fclose(in);
}

static void scanners_take_numbers_whole_or_not_at_all(void **state)
{
	static const char *const bad_hex[] = { "", "x1", "0123456789abcdef0", "g" };
	static const char *const bad_dec[] = { "", "-1", "12345678901234567890", "a" };
	uint64_t v = 0;
	const char *s = "0xFFffFFffFFffFFff rest";

	(void)state;
	assert_true(scan_hex(&v, &s));
	assert_true(v == UINT64_MAX);
	assert_string_equal(s, " rest");
	s = "9999999999999999999";
	assert_true(scan_dec(&v, &s));
	assert_true(v == 9999999999999999999u);
	for (size_t i = 0; i < 4; i++) {
		s = bad_hex[i];
		assert_false(scan_hex(&v, &s));
		assert_ptr_equal(s, bad_hex[i]);
		s = bad_dec[i];
		assert_false(scan_dec(&v, &s));
		assert_ptr_equal(s, bad_dec[i]);
	}
}

static void the_guid_cache_of_opensm_is_sorted_and_the_last_line_of_a_guid_holds(void **state)
{
	static const char text[] = "0x0002000000000080 0x0026 0x0026\r\n\r\n"
				   "0x0001000000000081 0x0028 0x0029\r\n"
				   "0x0002000000000080 0x0030 0x0030\r\n"
				   "0x01 0x9 0x2\r\n"
				   "0x02 0xc001 0xc001\r\n";
	struct read_report report;
	struct guid_lid *list = NULL;
	struct err err = { "" };
	FILE *in = text_file(text, strlen(text));
	uint32_t n;

	(void)state;
	assert_int_equal(guid2lid_read(&list, &n, in, "guid2lid", &report, &err), 0);
	assert_int_equal(n, 2);
	assert_int_equal(list[0].port_guid, 0x0001000000000081);
	assert_int_equal(list[0].max_lid, 0x29);
	assert_int_equal(list[1].min_lid, 0x30);
	assert_int_equal(report.skipped, 2);
	free(list);
	fclose(in);
	in = text_file("nothing\n", 8);
	assert_int_equal(guid2lid_read(&list, &n, in, "guid2lid", NULL, &err), -EINVAL);
	fclose(in);
}

static int try_guids(FILE *in, void *ctx)
{
	struct guid_lid *list = NULL;
	struct err err = { "" };
	uint32_t n;
	int rc = guid2lid_read(&list, &n, in, "damaged", NULL, &err);

	(void)ctx;
	assert_true(!rc || err.text[0]);
	for (uint32_t i = 1; i < n; i++)
		assert_true(list[i - 1].port_guid < list[i].port_guid);
	free(list);
	return rc;
}

static void a_damaged_guid_cache_does_no_harm(void **state)
{
	static const char text[] = "0x0002000000000080 0x0026 0x0026\n\n"
				   "0x0001000000000081 0x0028 0x0029\n\n"
				   "0x0001000000000091 0x002a 0x002b\n\n";
	struct survived s = damage(text, strlen(text), 81, 3000, try_guids, NULL);

	(void)state;
	assert_true(s.accepted > 500);
	assert_true(s.refused > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_of_line_marks_and_zero_bytes_do_not_matter),
		cmocka_unit_test(lines_longer_than_the_limit_are_left_out_and_told),
		cmocka_unit_test(lines_across_the_buffer_stay_whole),
		cmocka_unit_test(who_watches_large_files_is_told_and_can_end_them),
		cmocka_unit_test(an_unreadable_file_is_an_error_and_not_an_end),
		cmocka_unit_test(scanners_take_numbers_whole_or_not_at_all),
		cmocka_unit_test(
			the_guid_cache_of_opensm_is_sorted_and_the_last_line_of_a_guid_holds),
		cmocka_unit_test(a_damaged_guid_cache_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
