/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record of a session whose disk is slow, full, or not there. */
#include "console/record/audit/audit.h"
#include "console/record/record.h"
#include "console/record/record_files.h"
#include "console/record/record_read.h"
#include "console/record/recording/cast_read.h"
#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/text/json_text.h"
#include "fabric/base/time/clock.h"
#include "tests/unit/kit/slow_disk.h"
#include "tests/unit/kit/update_net.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <cmocka.h>

static int setup(void **state)
{
	*state = net_tmpdir();
	slow_disk_screen = pthread_self();
	slow_disk_on_screen = 0;
	return 0;
}

static int teardown(void **state)
{
	atomic_store(&slow_disk_folder, NULL);
	net_rmdir(*state);
	return 0;
}

static struct record *start_in(const char *dir, size_t bytes)
{
	struct record_opts o = { .dir = dir, .mode = "rw", .queue_bytes = bytes };
	struct record *r;

	assert_int_equal(record_start(&r, &o, NULL), 0);
	return r;
}

static int add_number(struct record *r, int n, struct err *err)
{
	return record_add(r, "note", json_pack("{s:i}", "n", n), err);
}

static void is_whole(const char *path, uint64_t lines, uint64_t gaps)
{
	struct audit_report rep;

	assert_int_equal(audit_verify(&rep, path, NULL, NULL), 0);
	assert_true(rep.ok && rep.ended);
	assert_int_equal(rep.lines, lines);
	assert_int_equal(rep.gaps, gaps);
}

static void until_slow(void)
{
	while (!slow_disk_waits)
		usleep(1000);
}

struct order {
	int n, frames;
	double mono_s;
};

static bool in_order(void *ctx, json_t *line)
{
	struct order *o = ctx;
	double mono_s = (double)json_integer_at(line, "mono_ns") / 1e9;
	json_t *data = json_object_get(line, "data");

	assert_true(mono_s >= o->mono_s);
	o->mono_s = mono_s;
	if (!strcmp(json_string_at(line, "type"), "note"))
		assert_int_equal(json_integer_at(data, "n"), o->n++);
	return true;
}

static void has_frames_and_marks(const char *path, uint32_t n, double seconds)
{
	char *cast = record_cast_path(path);
	struct cast_events e = { 0 };
	uint32_t shown = 0, marks = 0;

	assert_int_equal(cast_read(&e, cast, NULL), 0);
	for (size_t i = 0; i < e.n; i++) {
		shown += e.v[i].code == 'o' && e.v[i].at_s <= seconds;
		marks += e.v[i].code == 'm' && e.v[i].at_s <= seconds;
	}
	assert_true(shown >= n);
	assert_int_equal(marks, n);
	cast_events_free(&e);
	free(cast);
}

static void what_waits_is_written_in_order_and_with_its_time(void **state)
{
	struct order order = { 0 };
	struct canvas *c;
	struct record *r;
	double mono_s, start_s = clock_s();
	char *path;

	atomic_store(&slow_disk_folder, *state);
	r = start_in(*state, 0);
	c = canvas_new(40, 10, true);
	assert_int_equal(record_opened(r, false, NULL), -EINPROGRESS);
	assert_string_equal(record_path(r), "");
	for (int i = 0; i < 20; i++) {
		canvas_char(c, canvas_rect(c), i, 0, ROLE_TEXT, 'a' + (uint32_t)i);
		assert_int_equal(record_screen(r, c, 256, NULL), 0);
		record_mark(r, "here");
		assert_int_equal(add_number(r, i, NULL), 0);
	}
	canvas_free(c);
	mono_s = clock_s();
	until_slow();
	usleep(300000);
	assert_int_equal(record_seq(r), 0);
	assert_false(record_lost(r, NULL));
	atomic_store(&slow_disk_folder, NULL);
	assert_int_equal(record_opened(r, true, NULL), 0);
	path = xstrdup(record_path(r));
	assert_int_equal(record_sync(r, NULL), 0);
	assert_int_equal(record_seq(r), 21);
	assert_int_equal(record_lines(path, in_order, &order, NULL), 0);
	assert_int_equal(order.n, 20);
	assert_true(order.mono_s <= mono_s);
	assert_int_equal(record_close(r, NULL), 0);
	assert_int_equal(slow_disk_on_screen, 0);
	is_whole(path, 22, 0);
	has_frames_and_marks(path, 20, mono_s - start_s);
	free(path);
}

static void a_full_queue_is_told_and_never_waited_for(void **state)
{
	struct record *r = start_in(*state, 20000);
	struct err err = { "" };
	int taken = 0, lost = 0;
	char *path, *text, want[40];
	size_t len;

	assert_int_equal(record_opened(r, true, NULL), 0);
	path = xstrdup(record_path(r));
	atomic_store(&slow_disk_folder, *state);
	while (!add_number(r, taken, &err))
		taken++;
	assert_true(taken > 10);
	for (lost = 1; lost < 50; lost++)
		assert_int_equal(add_number(r, taken, &err), -ENOBUFS);
	assert_non_null(strstr(err.text, "too slow"));
	assert_true(record_lost(r, &err));
	atomic_store(&slow_disk_folder, NULL);
	while (record_lost(r, &err))
		usleep(1000);
	assert_int_equal(add_number(r, taken, &err), 0);
	assert_int_equal(record_sync(r, &err), 0);
	assert_int_equal(record_close(r, &err), 0);
	is_whole(path, (uint64_t)taken + 4, 1);
	assert_int_equal(store_read(&text, &len, path, NULL), 0);
	snprintf(want, sizeof(want), "\"data\":{\"lost\":%d}", lost);
	assert_non_null(strstr(text, want));
	free(text);
	free(path);
}

static void what_is_lost_at_the_end_is_told_there(void **state)
{
	struct record *r = start_in(*state, 20000);
	struct canvas *c = canvas_new(200, 60, true);
	struct err err = { "" };
	char *path, *text;
	size_t len;

	assert_int_equal(record_opened(r, true, NULL), 0);
	path = xstrdup(record_path(r));
	assert_int_equal(record_screen(r, c, 256, &err), 0);
	atomic_store(&slow_disk_folder, *state);
	while (!record_screen(r, c, 256, &err))
		;
	assert_int_equal(add_number(r, 0, &err), -ENOBUFS);
	atomic_store(&slow_disk_folder, NULL);
	assert_int_equal(record_close(r, &err), -EIO);
	assert_int_equal(store_read(&text, &len, path, NULL), 0);
	assert_non_null(strstr(text, "\"data\":{\"lost\":1,\"frames\":1}"));
	free(text);
	is_whole(path, 3, 1);
	canvas_free(c);
	free(path);
}

static void a_place_that_cannot_be_written_is_told_to_who_waits(void **state)
{
	char *path = xasprintf("%s/file", (char *)*state);
	struct err err = { "" };
	struct record *r;
	FILE *f = fopen(path, "w");

	fclose(f);
	r = start_in(path, 0);
	add_number(r, 0, NULL);
	assert_int_equal(record_opened(r, true, &err), -ENOTDIR);
	assert_non_null(strstr(err.text, path));
	assert_int_equal(add_number(r, 1, NULL), 0);
	assert_int_equal(record_sync(r, &err), -ENOTDIR);
	assert_int_equal(record_close(r, NULL), 0);
	free(path);
}

static void limit_file_size(rlim_t size)
{
	struct rlimit l;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
	l.rlim_cur = size;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

/* Also to whoever asks after a frame could be written again. */
static void a_full_disk_is_told_once_it_is_met(void **state)
{
	struct record *r = start_in(*state, 0);
	struct err err = { "" };
	struct canvas *c = canvas_new(10, 3, true);
	char *path;

	assert_int_equal(record_opened(r, true, NULL), 0);
	path = xstrdup(record_path(r));
	limit_file_size(10);
	assert_int_equal(add_number(r, 0, NULL), 0);
	assert_int_equal(record_sync(r, &err), -EFBIG);
	assert_true(record_lost(r, &err));
	assert_non_null(strstr(err.text, path));
	assert_true(record_lost(r, &err)); /* still */
	limit_file_size(RLIM_INFINITY);
	assert_int_equal(record_screen(r, c, 0, NULL), 0);
	assert_int_equal(record_sync(r, &err), 0);
	assert_true(record_lost(r, &err));
	assert_false(record_lost(r, &err));
	assert_int_equal(record_close(r, NULL), 0);
	is_whole(path, 3, 1);
	canvas_free(c);
	free(path);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(what_waits_is_written_in_order_and_with_its_time),
		T(a_full_queue_is_told_and_never_waited_for),
		T(what_is_lost_at_the_end_is_told_there),
		T(a_place_that_cannot_be_written_is_told_to_who_waits),
		T(a_full_disk_is_told_once_it_is_met),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
