/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/cast.h"

#include "console/record/audit/audit.h"
#include "console/record/record.h"
#include "console/record/recording/cast_read.h"
#include "console/record/recording/cast_screen.h"
#include "console/record/recording/export_tlog.h"
#include "fabric/base/file/store.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/base/time/clock.h"
#include "tests/unit/kit/update_net.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int setup(void **state)
{
	*state = net_tmpdir();
	return 0;
}

static int teardown(void **state)
{
	net_rmdir(*state);
	return 0;
}

static uint64_t file_size(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (uint64_t)st.st_size;
}

/* Something on every line, with wide characters, all roles, quotes and a backslash. */
static void paint(struct canvas *c, unsigned seed)
{
	canvas_clear(c);
	for (int y = 0; y < c->h; y++) {
		enum role role = (enum role)((seed + (unsigned)y) % ROLE_COUNT);

		canvas_textf(c, canvas_rect(c), (int)(seed + (unsigned)y) % 7, y, role,
			     "row %d \"of\" C:\\%u %s caf\xc3\xa9 \xe6\xbc\xa2\xe5\xad\x97 #", y,
			     seed, seed % 2 ? "odd" : "\xe2\x94\x80 even");
	}
	canvas_style(c, (struct rect){ 3, (int)seed % c->h, 9, 1 }, ROLE_WARN, true);
}

static void shows(const char *path, uint32_t events, const struct canvas *c)
{
	struct cast_events e = { 0 };
	struct cast_screen s;
	struct err err = { "" };
	char *was = canvas_dump(c), *is;

	if (cast_read(&e, path, &err))
		fail_msg("%s", err.text);
	assert_int_equal(cast_screen_at(&s, &e, events ? events : e.n), 0);
	is = cast_screen_text(&s);
	assert_string_equal(is, was);
	free(is);
	free(was);
	cast_screen_free(&s);
	cast_events_free(&e);
}

static void played_back_it_shows_every_frame(void **state)
{
	static const int colours[] = { 256, 16, 0 };

	for (size_t k = 0; k < 3; k++) {
		char *path = xasprintf("%s/%zu.cast", (char *)*state, k);
		struct canvas *c = canvas_new(60, 12, false);
		struct cast *cast;

		assert_int_equal(
			cast_open(&cast, path, 60, 12, colours[k], clock_s(), clock_s(), NULL), 0);
		for (unsigned i = 0; i < 20; i++) {
			paint(c, i);
			assert_int_equal(cast_frame(cast, c, colours[k], NULL), 0);
			shows(path, 0, c);
		}
		cast_free(cast);
		canvas_free(c);
		free(path);
	}
}

static void colours_and_bold_come_back(void **state)
{
	char *path = xasprintf("%s/x.cast", (char *)*state);
	struct canvas *c = canvas_new(10, 1, false);
	struct cast_events e = { 0 };
	struct cast_screen s;
	struct cast *cast;

	canvas_text(c, canvas_rect(c), 0, 0, ROLE_LOUD, "ab");
	canvas_style(c, (struct rect){ 1, 0, 1, 1 }, ROLE_LOUD, true);
	assert_int_equal(cast_open(&cast, path, 10, 1, 256, clock_s(), clock_s(), NULL), 0);
	assert_int_equal(cast_frame(cast, c, 256, NULL), 0);
	assert_int_equal(cast_read(&e, path, NULL), 0);
	assert_int_equal(cast_screen_at(&s, &e, e.n), 0);
	assert_int_equal(s.cell[0].pen.fg, role_style(ROLE_LOUD)->fg);
	assert_int_equal(s.cell[0].pen.bg, role_style(ROLE_LOUD)->bg);
	assert_true(s.cell[0].pen.bold && !s.cell[0].pen.reverse && s.cell[1].pen.reverse);
	assert_int_equal(s.cell[2].pen.bg, role_style(ROLE_TEXT)->bg);
	cast_screen_free(&s);
	cast_events_free(&e);
	cast_free(cast);
	canvas_free(c);
	free(path);
}

static void what_stands_still_costs_nothing_and_little_costs_little(void **state)
{
	char *path = xasprintf("%s/x.cast", (char *)*state);
	struct canvas *c = canvas_new(200, 60, false);
	struct cast *cast;
	uint64_t full, size;

	assert_int_equal(cast_open(&cast, path, 200, 60, 256, clock_s(), clock_s(), NULL), 0);
	paint(c, 1);
	assert_int_equal(cast_frame(cast, c, 256, NULL), 0);
	full = cast_size(cast);
	for (int i = 0; i < 100; i++)
		assert_int_equal(cast_frame(cast, c, 256, NULL), 0);
	assert_int_equal(cast_size(cast), full);
	assert_int_equal(file_size(path), full);
	canvas_text(c, canvas_rect(c), 190, 0, ROLE_DIM, "1.5s");
	assert_int_equal(cast_frame(cast, c, 256, NULL), 0);
	size = cast_size(cast) - full;
	assert_true(size > 4 && size < 80);
	cast_free(cast);
	canvas_free(c);
	free(path);
}

static void another_size_is_reported_and_drawn_again(void **state)
{
	static const int sizes[][2] = { { 80, 24 }, { 40, 10 }, { 100, 30 }, { 1, 1 }, { 80, 24 } };
	char *path = xasprintf("%s/x.cast", (char *)*state), *text;
	struct cast *cast;
	size_t len;

	assert_int_equal(cast_open(&cast, path, 80, 24, 256, clock_s(), clock_s(), NULL), 0);
	for (size_t i = 0; i < 5; i++) {
		struct canvas *c = canvas_new(sizes[i][0], sizes[i][1], false);

		paint(c, (unsigned)i);
		assert_int_equal(cast_frame(cast, c, 256, NULL), 0);
		shows(path, 0, c);
		canvas_free(c);
	}
	assert_int_equal(store_read(&text, &len, path, NULL), 0);
	assert_non_null(strstr(text, ",\"r\",\"40x10\"]\n"));
	assert_non_null(strstr(text, ",\"r\",\"100x30\"]\n"));
	assert_null(strstr(text, "\n#"));
	free(text);
	cast_free(cast);
	free(path);
}

static void its_digest_is_that_of_the_file(void **state)
{
	char *path = xasprintf("%s/x.cast", (char *)*state), *text;
	struct canvas *c = canvas_new(30, 5, false);
	struct digest is, was;
	struct cast *cast;
	size_t len;

	assert_int_equal(cast_open(&cast, path, 30, 5, 16, clock_s(), clock_s(), NULL), 0);
	for (unsigned i = 0; i < 5; i++) {
		paint(c, i);
		assert_int_equal(cast_frame(cast, c, 16, NULL), 0);
		assert_int_equal(cast_mark(cast, "phase WRITE", NULL), 0);
		assert_int_equal(store_read(&text, &len, path, NULL), 0);
		digest_of(&is, text, len);
		free(text);
		cast_digest(&was, cast);
		assert_true(digest_equal(&is, &was));
		assert_int_equal(len, cast_size(cast));
	}
	cast_free(cast);
	canvas_free(c);
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

static void frame_that_does_not_fit_is_taken_back_and_drawn_later(void **state)
{
	char *path = xasprintf("%s/x.cast", (char *)*state);
	struct canvas *c = canvas_new(60, 12, false);
	struct cast *cast;
	uint64_t size;

	assert_int_equal(cast_open(&cast, path, 60, 12, 256, clock_s(), clock_s(), NULL), 0);
	paint(c, 1);
	assert_int_equal(cast_frame(cast, c, 256, NULL), 0);
	size = cast_size(cast);
	paint(c, 2);
	limit_file_size(size + 40);
	assert_int_equal(cast_frame(cast, c, 256, NULL), -EFBIG);
	assert_int_equal(file_size(path), size);
	limit_file_size(RLIM_INFINITY);
	assert_int_equal(cast_frame(cast, c, 256, NULL), 0);
	shows(path, 0, c);
	cast_free(cast);
	canvas_free(c);
	free(path);
}

static void what_is_no_cast_is_refused_by_line(void **state)
{
	static const char *const cases[][2] = {
		{ "", "empty" },
		{ "hello\n", ":1:" },
		{ "{\"version\":3,\"width\":80,\"height\":24}\n", ":1:" },
		{ "{\"version\":2,\"width\":80000,\"height\":24}\n", ":1:" },
		{ "{\"version\":2,\"width\":80,\"height\":24}\n[1.0,\"o\",\"x\"]\n[2,3]\n", ":3:" },
	};
	char *path = xasprintf("%s/x.cast", (char *)*state);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cast_events e = { 0 };
		struct err err = { "" };

		unlink(path);
		assert_int_equal(store_write(path, cases[i][0], strlen(cases[i][0]), NULL), 0);
		assert_int_equal(cast_read(&e, path, &err), -EINVAL);
		assert_non_null(strstr(err.text, path));
		assert_non_null(strstr(err.text, cases[i][1]));
		cast_events_free(&e);
	}
	free(path);
}

/* --- as a part of a record --- */

static struct record *open_record(const char *dir, uint64_t part_bytes, uint64_t cast_bytes)
{
	struct record_opts o = { .dir = dir,
				 .fabric = "net",
				 .mode = "rw",
				 .part_bytes = part_bytes,
				 .cast_bytes = cast_bytes };
	struct record *r;
	struct err err = { "" };

	if (record_open(&r, &o, &err))
		fail_msg("%s", err.text);
	return r;
}

static struct audit_report verify(const char *path)
{
	struct audit_report rep;

	assert_int_equal(audit_verify(&rep, path, NULL, NULL), 0);
	return rep;
}

static void some_session(struct record *r, unsigned frames)
{
	struct canvas *c = canvas_new(80, 24, false);

	for (unsigned i = 0; i < frames; i++) {
		paint(c, i);
		assert_int_equal(record_screen(r, c, 256, NULL), 0);
		if (i % 5 == 0)
			record_mark(r, "phase WRITE wave 1");
		if (i % 3 == 0)
			assert_int_equal(record_add(r, "note", json_pack("{s:i}", "n", i), NULL),
					 0);
	}
	canvas_free(c);
}

static void lines_say_what_the_screen_was(void **state)
{
	struct record *r = open_record(*state, 0, 0);
	char *path = xstrdup(record_path(r)),
	     *cast = xasprintf("%s/%s.cast", (char *)*state, record_sid(r));
	struct audit_report rep;
	char *data;
	size_t len;

	some_session(r, 10);
	assert_int_equal(record_close(r, NULL), 0);
	rep = verify(path);
	assert_true(rep.ok && rep.ended);
	assert_int_equal(rep.cast, AUDIT_CAST_GOOD);
	assert_int_equal(rep.cast_bytes, file_size(cast));
	assert_int_equal(store_read(&data, &len, cast, NULL), 0);
	for (size_t i = 0; i < len; i += 97) { /* any byte; added; cut */
		data[i] ^= 1;
		unlink(cast);
		assert_int_equal(store_write(cast, data, len, NULL), 0);
		data[i] ^= 1;
		rep = verify(path);
		assert_false(rep.ok);
		assert_non_null(strstr(rep.what, "recorded screen"));
	}
	unlink(cast);
	assert_int_equal(store_write(cast, data, len - 1, NULL), 0);
	assert_false(verify(path).ok);
	unlink(cast);
	data[len] = '\n';
	assert_int_equal(store_write(cast, data, len + 1, NULL), 0);
	assert_false(verify(path).ok);
	unlink(cast);
	rep = verify(path);
	assert_true(rep.ok); /* the lines alone say as much as before */
	assert_int_equal(rep.cast, AUDIT_CAST_ABSENT);
	free(data);
	free(cast);
	free(path);
}

static void long_session_goes_on_in_chained_parts(void **state)
{
	struct record *r = open_record(*state, 20000, 0);
	char *path, *sid = xstrdup(record_sid(r)), *cmd;
	struct cast_events e = { 0 };
	struct audit_report rep = { 0 };
	uint64_t seq = 0;
	uint32_t parts = 0;

	some_session(r, 200);
	assert_int_equal(record_close(r, NULL), 0);
	for (;; parts++) {
		path = parts ? xasprintf("%s/%s.%u.jsonl", (char *)*state, sid, parts + 1)
			     : xasprintf("%s/%s.jsonl", (char *)*state, sid);
		if (access(path, F_OK))
			break;
		rep = verify(path);
		if (!rep.ok)
			fail_msg("%s: %s", path, rep.what);
		assert_int_equal(rep.first_seq, seq);
		assert_int_equal(rep.part, parts + 1);
		assert_int_equal(rep.bytes, file_size(path));
		assert_true(rep.bytes < 25000 && rep.cast_bytes < 25000);
		seq += rep.lines;
		free(path);
	}
	free(path);
	assert_true(parts > 5);
	assert_true(rep.ended && !rep.rotated);
	path = xasprintf("%s/%s.jsonl", (char *)*state, sid);
	assert_int_equal(cast_read_session(&e, path, NULL), 0);
	assert_true(e.nfiles >= parts - 1 && e.nfiles <= parts);
	for (uint32_t i = 1; i < e.n; i++)
		assert_true(e.v[i].at_s >= e.v[i - 1].at_s - 1e-3);
	cast_events_free(&e);
	/* a last line of a part that was cut off, and a part that was left out */
	cmd = xasprintf("sed -i '$d' '%s'", path);
	assert_int_equal(system(cmd), 0);
	rep = verify(path);
	assert_false(rep.ok);
	assert_non_null(strstr(rep.what, "next part"));
	free(cmd);
	free(path);
	free(sid);
}

static void next_session_is_chained_to_the_last_part(void **state)
{
	struct record *r = open_record(*state, 20000, 0);
	char *first = xstrdup(record_path(r)), *sid = xstrdup(record_sid(r)), *cmd;
	struct audit_report rep, last;
	uint32_t parts = 1;
	char *path = NULL;

	some_session(r, 60);
	assert_int_equal(record_close(r, NULL), 0);
	do {
		free(path);
		path = xasprintf("%s/%s.%u.jsonl", (char *)*state, sid, ++parts);
	} while (!access(path, F_OK));
	free(path);
	path = xasprintf("%s/%s.%u.jsonl", (char *)*state, sid, parts - 1);
	r = open_record(*state, 0, 0);
	rep = verify(record_path(r));
	last = verify(path);
	assert_string_equal(rep.genesis_sid, sid);
	assert_true(digest_equal(&rep.genesis, &last.head));
	assert_string_equal(last.next_sid, record_sid(r));
	assert_string_equal(verify(first).next_sid, "");
	record_close(r, NULL);
	cmd = xasprintf("sed -i '$d' '%s'", path);
	assert_int_equal(system(cmd), 0);
	rep = verify(path);
	assert_false(rep.ok);
	assert_non_null(strstr(rep.what, "next session"));
	free(cmd);
	free(path);
	free(sid);
	free(first);
}

static void screens_beyond_the_limit_go_unless_something_happened_in_them(void **state)
{
	struct record *r = open_record(*state, 20000, 60000);
	char *cmd = xasprintf("cat '%s'/*.jsonl | grep -c '\"type\":\"record.drop\"' >'%s/drops'; "
			      "[ $(cat '%s'/*.cast | wc -c) -lt 85000 ] && "
			      "[ $(cat '%s/drops') -gt 3 ] && [ -f '%s/%s.cast' ]",
			      (char *)*state, (char *)*state, (char *)*state, (char *)*state,
			      (char *)*state, record_sid(r));
	char *path = xstrdup(record_path(r));
	struct canvas *c = canvas_new(80, 24, false);

	for (unsigned i = 0; i < 200; i++) {
		paint(c, i);
		assert_int_equal(record_screen(r, c, 256, NULL), 0);
		if (!i)
			record_mark(r, "apply.start p-1");
	}
	canvas_free(c);
	assert_int_equal(record_close(r, NULL), 0);
	assert_int_equal(system(cmd), 0);
	assert_true(verify(path).ok);
	free(cmd);
	free(path);
}

static void screen_that_cannot_be_recorded_keeps_from_acting(void **state)
{
	struct record *r = open_record(*state, 0, 0);
	struct canvas *c = canvas_new(80, 24, false);
	char *path = xstrdup(record_path(r)), *text;
	struct err err = { "" };
	struct audit_report rep;
	size_t len;

	paint(c, 1);
	assert_int_equal(record_screen(r, c, 256, NULL), 0);
	assert_int_equal(record_sync(r, &err), 0);
	paint(c, 2);
	limit_file_size(3000); /* the lines still fit */
	assert_int_equal(record_screen(r, c, 256, &err), -EFBIG);
	assert_int_equal(record_add(r, "note", json_object(), &err), 0);
	assert_int_equal(record_sync(r, &err), -EIO);
	assert_non_null(strstr(err.text, ".cast"));
	limit_file_size(RLIM_INFINITY);
	assert_int_equal(record_screen(r, c, 256, &err), 0);
	assert_int_equal(record_sync(r, &err), 0);
	assert_int_equal(record_close(r, NULL), 0);
	rep = verify(path);
	assert_true(rep.ok && rep.ended);
	assert_int_equal(rep.gaps, 1);
	assert_int_equal(store_read(&text, &len, path, NULL), 0);
	assert_non_null(strstr(text, "{\"lost\":0,\"frames\":1}"));
	free(text);
	canvas_free(c);
	free(path);
}

struct told {
	struct progress p;
	unsigned words, end_at;
};

static void count(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct told *t = ctx;

	assert_non_null(step);
	assert_true(done <= total);
	if (++t->words == t->end_at)
		atomic_store(&t->p.cancel, true);
}

/* Reads, draws and converts a cast; 0, or what the first of them says that was ended. */
static int go_through(const char *path, struct told *t)
{
	struct cast_events e = { 0 };
	struct cast_screen s;
	FILE *f = fopen("/dev/null", "w");
	int rc;

	*t = (struct told){ .p = { .report = count, .ctx = t }, .end_at = t->end_at };
	file_progress_set(&t->p);
	rc = cast_read(&e, path, NULL);
	if (!rc) {
		rc = cast_screen_at(&s, &e, e.n);
		cast_screen_free(&s);
	}
	if (!rc)
		rc = export_tlog(f, &e, NULL);
	file_progress_set(NULL);
	cast_events_free(&e);
	fclose(f);
	return rc;
}

static void reading_drawing_and_converting_tell_and_can_be_ended(void **state)
{
	char *path = xasprintf("%s/a.cast", (char *)*state);
	struct canvas *c = canvas_new(20, 4, false);
	struct told t = { .end_at = 0 };
	struct cast *cast;
	unsigned all;

	assert_int_equal(cast_open(&cast, path, 20, 4, 256, clock_s(), clock_s(), NULL), 0);
	for (unsigned i = 0; i < 3; i++) {
		paint(c, i);
		assert_int_equal(cast_frame(cast, c, 256, NULL), 0);
	}
	cast_free(cast);
	assert_int_equal(go_through(path, &t), 0);
	all = t.words;
	assert_in_range(all, 4, 40);
	for (t.end_at = 1; t.end_at <= all; t.end_at++)
		assert_int_equal(go_through(path, &t), -ECANCELED);
	canvas_free(c);
	free(path);
}

/* Whoever can write a recording could otherwise steer the terminal of whoever exports it. */
static void only_what_a_recording_draws_with_is_taken(void **state)
{
	static const char file[] =
		"{\"version\":2,\"width\":9,\"height\":2,\"timestamp\":1}\n"
		"[0,\"o\",\"\\u001b[?7l\\u001b[?25l\\u001b[0m\\u001b[2J\\u001b[1;2H\\u001b[0;38;5;7mx\\r\\n\"]\n"
		"[1,\"o\",\"\\u001b]52;c;ZQ==\\u0007\\u001bP1$r\\u001b\\\\\\u009b31m\\u001b[5n\\u001b[21t\"]\n"
		"[2,\"o\",\"\\u001b[?1049h\\u001b[3J\\u001b[1;2\\u202eA\\u001b\"]\n"
		"[3,\"m\",\"mark\\u001b]0;MARK\\u0007\\n\"]\n[4,\"r\",\"9x\\u001b2\"]\n";
	static const char *const want[] = {
		"\x1b[?7l\x1b[?25l\x1b[0m\x1b[2J\x1b[1;2H\x1b[0;38;5;7mx\r\n",
		"?]52;c;ZQ==??P1$r?\\??31m?[5n?[21t",
		"?[?1049h?[3J?[1;2???A?",
		"mark?]0;MARK??",
		"9x?2",
	};
	char *path = xasprintf("%s/x.cast", (char *)*state);
	struct cast_events e = { 0 };
	struct err err;

	assert_int_equal(store_write(path, file, sizeof(file) - 1, NULL), 0);
	assert_int_equal(cast_read(&e, path, NULL), 0);
	assert_int_equal(e.n, sizeof(want) / sizeof(*want));
	for (uint32_t i = 0; i < e.n; i++)
		assert_string_equal(e.v[i].text, want[i]);
	cast_events_free(&e);
	unlink(path);
	assert_int_equal(
		store_write(path,
			    "{\"version\":2,\"width\":9,\"height\":2}\n[0,\"\\u00e9\",\"\"]\n", 52,
			    NULL),
		0);
	assert_int_equal(cast_read(&e, path, &err), -EINVAL);
	cast_events_free(&e);
	free(path);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(played_back_it_shows_every_frame),
		T(colours_and_bold_come_back),
		T(what_stands_still_costs_nothing_and_little_costs_little),
		T(another_size_is_reported_and_drawn_again),
		T(its_digest_is_that_of_the_file),
		T(frame_that_does_not_fit_is_taken_back_and_drawn_later),
		T(what_is_no_cast_is_refused_by_line),
		T(only_what_a_recording_draws_with_is_taken),
		T(lines_say_what_the_screen_was),
		T(long_session_goes_on_in_chained_parts),
		T(next_session_is_chained_to_the_last_part),
		T(screens_beyond_the_limit_go_unless_something_happened_in_them),
		T(screen_that_cannot_be_recorded_keeps_from_acting),
		T(reading_drawing_and_converting_tell_and_can_be_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
