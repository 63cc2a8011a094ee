/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a collector keeps, and for how long. */
#include "console/collector/history/history.h"

#include "console/collector/frame/taken.h"
#include "console/collector/history/history_acts.h"
#include "console/collector/history/history_desk.h"
#include "console/collector/history/history_keeper.h"
#include "console/session/samples/sample_reading.h"
#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/builder.h"
#include "fabric/sim/topology/topo.h"
#include "tests/unit/kit/temp_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#define HOUR 3600000ll
#define DAY  (24 * HOUR)
#define T0   (1700000000000ll / 300000 * 300000)

static const struct history_keep long_keep = { .age_ms = 30 * DAY, .bytes = 1u << 30 };
static char folder[32], *path;

static int begin(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/history.XXXXXX");
	temp_folder_begin(folder);
	path = temp_folder_file("history.db");
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(path);
	temp_folder_end();
	return 0;
}

static struct history *opened(const struct history_keep *keep)
{
	struct history *h;
	struct err err = { "" };

	if (history_open(&h, path, keep, NULL, &err))
		fail_msg("%s", err.text);
	return h;
}

/* One of len bytes that cannot be compressed. */
static struct frame *frame_at(enum frame_kind kind, int64_t time_ms, uint32_t len, uint64_t seed)
{
	uint8_t *data = xcalloc(len, 1);
	struct rng rng;

	rng_seed(&rng, seed);
	for (uint32_t i = 0; i < len; i++)
		data[i] = (uint8_t)rng_u64(&rng);
	return frame_kept(kind, time_ms, data, len);
}

static void add(struct history *h, enum frame_kind kind, int64_t time_ms, uint32_t len,
		uint64_t seed)
{
	struct frame *f = frame_at(kind, time_ms, len, seed);
	struct err err = { "" };

	if (history_add(h, f, &err))
		fail_msg("%s", err.text);
	frame_put(f);
}

static int64_t sample_at(struct history *h, int64_t at_ms, int32_t step)
{
	int64_t t;
	int rc = history_sample_at(&t, h, at_ms, step, NULL);

	return rc ? rc : t;
}

static void the_last_of_a_kind_is_what_was_true_then(void **state)
{
	struct history *h = opened(&long_keep), *r;
	struct frame *f, *was;

	(void)state;
	add(h, FRAME_JOBS, T0, 100, 1);
	add(h, FRAME_JOBS, T0 + 5000, 100, 2);
	add(h, FRAME_SAMPLE, T0 + 1000, 1000, 3);
	r = opened(NULL);
	assert_int_equal(history_last(&f, r, FRAME_JOBS, T0 + 4999, NULL), 0);
	was = frame_at(FRAME_JOBS, T0, 100, 1);
	assert_int_equal(f->head.time_ms, T0);
	assert_int_equal(f->head.len, 100);
	assert_memory_equal(f->data, was->data, 100);
	frame_put(f);
	frame_put(was);
	assert_int_equal(history_last(&f, r, FRAME_JOBS, T0 + 5000, NULL), 0);
	assert_int_equal(f->head.time_ms, T0 + 5000);
	frame_put(f);
	assert_int_equal(history_last(&f, r, FRAME_JOBS, T0 - 1, NULL), -ENOENT);
	assert_int_equal(history_last(&f, r, FRAME_SM, T0 + 9000, NULL), -ENOENT);
	history_close(r);
	history_close(h);
}

static void the_same_is_kept_once_and_a_sample_always(void **state)
{
	struct history *h = opened(&long_keep);
	struct frame *f;

	(void)state;
	for (int i = 0; i < 5; i++) {
		add(h, FRAME_JOBS, T0 + i, 100, 1);
		add(h, FRAME_SAMPLE, T0 + i, 100, 1);
	}
	assert_int_equal(history_last(&f, h, FRAME_JOBS, T0 + 9, NULL), 0);
	assert_int_equal(f->head.time_ms, T0);
	frame_put(f);
	assert_int_equal(sample_at(h, T0 + 9, 0), T0 + 4);
	history_close(h);
}

static void one_goes_from_sample_to_sample(void **state)
{
	struct history *h = opened(&long_keep);
	struct err err;
	int64_t t;

	(void)state;
	assert_int_equal(history_sample_at(&t, h, T0, 0, &err), -ENOENT);
	assert_string_equal(err.text, "nothing is kept yet");
	for (int i = 0; i < 10; i++)
		add(h, FRAME_SAMPLE, T0 + 2000 * i, 100, 1);
	assert_int_equal(sample_at(h, T0 + 4100, 0), T0 + 4000);
	assert_int_equal(sample_at(h, T0 + 4000, -1), T0 + 2000);
	assert_int_equal(sample_at(h, T0 + 4000, 1), T0 + 6000);
	assert_int_equal(sample_at(h, T0 + 4000, 3), T0 + 10000);
	/* as far as there are any */
	assert_int_equal(sample_at(h, T0 + 4000, -50), T0);
	assert_int_equal(sample_at(h, T0 + 4000, 50), T0 + 18000);
	assert_int_equal(history_sample_at(&t, h, T0 - 1, 0, &err), -ENOENT);
	assert_non_null(strstr(err.text, "nothing is kept from before 20"));
	history_close(h);
}

static uint32_t samples_between(struct history *h, int64_t from_ms, int64_t until_ms)
{
	uint32_t n = 0;

	for (int64_t t = from_ms - 1; history_sample_at(&t, h, t, 1, NULL) == 0 && t < until_ms;) {
		n++;
		if (t == sample_at(h, INT64_MAX, 0))
			break;
	}
	return n;
}

/* A day by a simulated clock: one sample every 10 s, thinned as it goes. */
static void older_samples_are_farther_apart(void **state)
{
	struct history *h = opened(&long_keep);
	bool more = true;
	int64_t now = T0;

	(void)state;
	for (int i = 0; i < 8640 + 360; i++, now += 10000)
		add(h, FRAME_SAMPLE, now, 20, (uint64_t)i);
	for (int64_t t = now - 3600000; t < now; t += 2000)
		add(h, FRAME_SAMPLE, t + 1, 20, (uint64_t)t);
	while (more)
		assert_int_equal(history_thin(h, now, &more, NULL), 0);
	/* older than a day: a minute apart; then 10 s; the last hour as it was */
	assert_int_equal(samples_between(h, T0, T0 + HOUR), 60);
	assert_int_equal(samples_between(h, T0 + 2 * HOUR, T0 + 3 * HOUR), 360);
	assert_int_equal(samples_between(h, now - HOUR, now), 360 + 1800);
	assert_int_equal(history_oldest_ms(h), T0);
	more = true;
	while (more)
		assert_int_equal(history_thin(h, now + 8 * DAY, &more, NULL), 0);
	assert_int_equal(samples_between(h, T0, T0 + HOUR), 12);
	history_close(h);
}

/* --- samples as differences ------------------------------------------------------------------ */

static struct fabric *small_fabric(void)
{
	struct freeze_opts o = { .name = "hall", .lmc = -1 };
	struct builder *b;
	struct fabric *f;

	assert_int_equal(topo_build(&b, "fattree2:leaves=3,spines=2,hosts=4", NULL), 0);
	assert_int_equal(builder_freeze(&f, b, &o, NULL), 0);
	builder_free(b);
	return f;
}

/* Each port counts 1 MB a second from T0 on, and its number on top of it. */
static uint64_t counted(int64_t time_ms, uint32_t port)
{
	return (uint64_t)(time_ms - T0) * 1000 + port;
}

static void add_counters(struct history *h, const struct fabric *f, int64_t time_ms)
{
	const struct fabric_shape *shape = fabric_shape_new(f, NULL, NULL);
	struct readings *r = sample_readings_new();
	struct msg *m = msg_new(MSG_SAMPLE);
	struct sample *s = sample_new(f);
	struct frame *frame;

	s->time_ns = (uint64_t)(time_ms - T0 + HOUR) * 1000000;
	for (uint32_t i = 0; i < s->nport; i++) {
		s->port[i].valid = 1u << CTR_TX_BYTES;
		s->port[i].v[CTR_TX_BYTES] = counted(time_ms, i);
	}
	m->fabric = fabric_get(f);
	m->reading = sample_reading_new(r, shape, s);
	frame = frame_of_columns(m, time_ms);
	assert_int_equal(history_add(h, frame, NULL), 0);
	frame_put(frame);
	msg_drop(m);
	sample_readings_free(r);
	fabric_shape_put(shape);
}

static struct sample *sample_of_frame(const struct frame *f, const struct fabric *of)
{
	struct sample *base = f->base ? sample_of_frame(f->base, of) : NULL, *s;
	struct bytes_in in = { .at = f->data, .left = f->head.len };

	assert_int_equal(taken_sample(&s, of, base, &in), 0);
	sample_put(base);
	return s;
}

/* Is what was kept of that time right to 1 % of 10 s, and of that time? */
static void assert_counters(struct history *h, const struct fabric *f, int64_t time_ms)
{
	struct frame *frame;
	struct sample *s;
	struct err err;

	if (history_last(&frame, h, FRAME_SAMPLE, time_ms, &err))
		fail_msg("%s", err.text);
	assert_int_equal(frame->head.time_ms, time_ms);
	s = sample_of_frame(frame, f);
	for (uint32_t i = 0; i < s->nport; i++)
		assert_true(counted(time_ms, i) - s->port[i].v[CTR_TX_BYTES] <= 100000);
	sample_put(s);
	frame_put(frame);
}

static int64_t rows(const char *where)
{
	char *sql = xasprintf("SELECT count(*) FROM frame WHERE %s", where);
	sqlite3_stmt *q;
	sqlite3 *db;
	int64_t n;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(q), SQLITE_ROW);
	n = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	sqlite3_close(db);
	free(sql);
	return n;
}

/* 5 minutes have one that is whole, and so has each start and each fabric; all can be read, also
 * when most of them have gone. */
static void samples_are_the_difference_to_the_first_of_five_minutes(void **state)
{
	struct history *h = opened(&long_keep), *r;
	struct fabric *f = small_fabric();
	bool more = true;

	(void)state;
	for (int i = 0; i < 40; i++)
		add_counters(h, f, T0 + 10000 * i);
	history_close(h);
	h = opened(&long_keep);
	for (int i = 40; i < 360; i++)
		add_counters(h, f, T0 + 10000 * i);
	assert_int_equal(rows("base IS NULL"), 13);
	assert_int_equal(rows("base IS NOT NULL"), 347);
	r = opened(NULL);
	for (int i = 359; i >= 0; i--)
		assert_counters(r, f, T0 + 10000 * i);
	while (more)
		assert_int_equal(history_thin(h, T0 + 27 * HOUR, &more, NULL), 0);
	assert_int_equal(rows("1"), 60 + 1); /* that which others are added to */
	for (int i = 0; i < 60; i++)
		assert_counters(r, f, T0 + 60000 * i);
	more = true;
	while (more)
		assert_int_equal(history_thin(h, T0 + 9 * DAY, &more, NULL), 0);
	assert_int_equal(rows("base IS NOT NULL"), 0);
	assert_int_equal(rows("1"), 12 + 1);
	for (int i = 0; i < 12; i++)
		assert_counters(r, f, T0 + 300000 * i);
	history_close(r);
	history_close(h);
	fabric_put(f);
}

static void what_a_difference_is_to_is_missed_when_it_has_gone(void **state)
{
	struct history *h = opened(&long_keep), *r;
	struct fabric *f = small_fabric();
	struct frame *frame;
	sqlite3 *db;

	(void)state;
	for (int i = 0; i < 3; i++)
		add_counters(h, f, T0 + 10000 * i);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "DELETE FROM frame WHERE base IS NULL", NULL, NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(db);
	r = opened(NULL);
	assert_int_equal(history_last(&frame, r, FRAME_SAMPLE, T0 + 20000, NULL), -ENOENT);
	assert_null(frame);
	history_close(r);
	history_close(h);
	fabric_put(f);
}

/* --- of the version before ------------------------------------------------------------------- */

/* As format 1 was: packed by zlib, without bases. */
static void write_format_1(void)
{
	static const char *const sql =
		"PRAGMA user_version = 1; CREATE TABLE frame(id INTEGER PRIMARY KEY, kind INTEGER NOT "
		"NULL, time_ms INTEGER NOT NULL, size INTEGER NOT NULL, body BLOB NOT NULL);"
		"CREATE INDEX frame_at ON frame(kind, time_ms);"
		"CREATE TABLE event(id INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, level INTEGER "
		"NOT NULL, area TEXT NOT NULL, text TEXT NOT NULL);"
		"CREATE INDEX event_at ON event(time_ms)";
	sqlite3_stmt *q;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db,
					    "INSERT INTO frame(kind, time_ms, size, body) "
					    "VALUES(?1, ?2, 500, ?3)",
					    -1, &q, NULL),
			 SQLITE_OK);
	for (int i = 0; i < 50; i++) {
		struct frame *f = frame_at(FRAME_SAMPLE, T0 + 2000 * i, 500, (uint64_t)i);
		uint8_t packed[1000];
		uLongf len = sizeof(packed);

		assert_int_equal(compress2(packed, &len, f->data, 500, 6), Z_OK);
		sqlite3_bind_int(q, 1, FRAME_SAMPLE);
		sqlite3_bind_int64(q, 2, f->head.time_ms);
		sqlite3_bind_blob(q, 3, packed, (int)len, SQLITE_STATIC);
		assert_int_equal(sqlite3_step(q), SQLITE_DONE);
		sqlite3_reset(q);
		frame_put(f);
	}
	sqlite3_finalize(q);
	sqlite3_close(db);
}

static void assert_old_rows(struct history *h)
{
	for (int i = 0; i < 50; i++) {
		struct frame *was = frame_at(FRAME_SAMPLE, T0 + 2000 * i, 500, (uint64_t)i), *f;

		assert_int_equal(history_last(&f, h, FRAME_SAMPLE, T0 + 2000 * i, NULL), 0);
		assert_int_equal(f->head.len, 500);
		assert_memory_equal(f->data, was->data, 500);
		frame_put(f);
		frame_put(was);
	}
}

static void a_history_of_the_version_before_is_read_and_goes_on(void **state)
{
	struct fabric *f = small_fabric();
	struct history *h, *r;
	bool more = true;

	(void)state;
	write_format_1();
	r = opened(NULL);
	assert_old_rows(r);
	history_close(r);
	h = opened(&long_keep);
	for (int i = 0; i < 10; i++)
		add_counters(h, f, T0 + 100000 + 2000 * i);
	r = opened(NULL);
	assert_old_rows(r);
	for (int i = 0; i < 10; i++)
		assert_counters(r, f, T0 + 100000 + 2000 * i);
	while (more)
		assert_int_equal(history_thin(h, T0 + 2 * HOUR, &more, NULL), 0);
	assert_int_equal(rows("time_ms < 1700000000000 / 300000 * 300000 + 100000"), 10);
	assert_counters(r, f, T0 + 100000);
	assert_counters(r, f, T0 + 110000);
	history_close(r);
	history_close(h);
	fabric_put(f);
}

static void add_line(struct history *h, int64_t time_ms, const char *text)
{
	struct msg *m = msg_new(MSG_LOG);
	struct frame *f;

	m->line = (struct log_line){ .level = LOG_WARN, .area = "sweep" };
	snprintf(m->line.text, sizeof(m->line.text), "%s", text);
	f = frame_of_msg(m);
	f->head.time_ms = time_ms;
	assert_int_equal(history_add(h, f, NULL), 0);
	frame_put(f);
	msg_drop(m);
}

static bool has(const struct frame *f, const char *text)
{
	return memmem(f->data, f->head.len, text, strlen(text));
}

/* --- what was done --------------------------------------------------------------------------- */

static struct act update_of(const char *id, int64_t begin_ms, int64_t end_ms, const char *state)
{
	struct act a = { .kind = ACT_UPDATE, .begin_ms = begin_ms, .end_ms = end_ms, .blocks = 12 };

	snprintf(a.id, sizeof(a.id), "%s", id);
	snprintf(a.state, sizeof(a.state), "%s", state);
	snprintf(a.engine, sizeof(a.engine), "sar");
	snprintf(a.user, sizeof(a.user), "root");
	snprintf(a.host, sizeof(a.host), "admin1");
	snprintf(a.plan, sizeof(a.plan), "p-1234");
	snprintf(a.fabric, sizeof(a.fabric), "hall");
	return a;
}

static struct act baseline_at(int64_t at_ms, const char *state)
{
	struct act a = { .kind = ACT_BASELINE, .begin_ms = at_ms, .end_ms = at_ms };

	snprintf(a.id, sizeof(a.id), "hall@%lld", (long long)at_ms);
	snprintf(a.fabric, sizeof(a.fabric), "hall");
	snprintf(a.state, sizeof(a.state), "%s", state);
	snprintf(a.user, sizeof(a.user), "alice");
	return a;
}

static void put(struct history *h, struct act a)
{
	assert_int_equal(history_put_act(h, &a, NULL), 0);
}

static int64_t event_at(struct history *h, int64_t at_ms, int32_t by)
{
	struct log_line l;
	struct err err;
	int rc = history_event(&l, h, at_ms, by, &err);

	return rc ? rc : (int64_t)(l.time_ns / 1000000);
}

/* Of another sample than the one shown; what was done is one, too. */
static void the_next_event_is_found_in_either_direction(void **state)
{
	struct history *h = opened(&long_keep);
	struct act act = { .kind = ACT_UPDATE, .begin_ms = T0 + 60000, .end_ms = T0 + 62000 };
	struct err err;

	(void)state;
	assert_int_equal(event_at(h, T0, 1), -ENOENT);
	for (int i = 0; i < 10; i++)
		add(h, FRAME_SAMPLE, T0 + 10000 * i, 100, 1);
	assert_int_equal(event_at(h, T0, 1), -ENOENT);
	add_line(h, T0 + 12000, "first");
	add_line(h, T0 + 13000, "of the same sample");
	add_line(h, T0 + 41000, "second");
	snprintf(act.id, sizeof(act.id), "u1");
	assert_int_equal(history_put_act(h, &act, &err), 0);
	assert_int_equal(event_at(h, T0, 1), T0 + 12000);
	assert_int_equal(event_at(h, T0 + 10000, 1), T0 + 41000);
	assert_int_equal(event_at(h, T0 + 40000, 1), T0 + 62000);
	assert_int_equal(event_at(h, T0 + 60000, 1), -ENOENT);
	assert_int_equal(event_at(h, T0 + 90000, -1), T0 + 62000);
	assert_int_equal(event_at(h, T0 + 60000, -1), T0 + 41000);
	assert_int_equal(event_at(h, T0 + 40000, -1), T0 + 13000);
	assert_int_equal(event_at(h, T0 + 10000, -1), -ENOENT);
	history_close(h);
}

static void updates_and_baselines_come_back_with_what_became_of_them(void **state)
{
	const struct act record = { .kind = ACT_RECORD,
				    .begin_ms = T0,
				    .end_ms = T0 + 9000,
				    .bytes = 4711,
				    .id = "20231114T221320Z-1.jsonl",
				    .text = "20231114T221320Z-1",
				    .user = "bob",
				    .state = "open" };
	struct act done = update_of("u1", T0 + 1000, T0 + 5000, "confirmed");
	struct history *h = opened(&long_keep);
	struct acts *l;

	(void)state;
	put(h, update_of("u1", T0 + 1000, T0 + 2000, "writing"));
	put(h, done);
	put(h, update_of("u2", T0 + 7000, T0 + 8000, "rolled-back"));
	put(h, baseline_at(T0, "learnt"));
	put(h, baseline_at(T0 + 3000, "accepted"));
	put(h, record);
	assert_int_equal(history_acts(&l, h, NULL), 0);
	assert_int_equal(l->n, 5);
	assert_string_equal(l->v[0].state, "accepted");
	assert_int_equal(l->v[1].begin_ms, T0);
	assert_string_equal(l->v[2].id, "u2");
	assert_true(act_same(&l->v[3], &done));
	assert_string_equal(l->v[3].engine, "sar");
	assert_string_equal(l->v[3].plan, "p-1234");
	assert_string_equal(l->v[3].host, "admin1");
	assert_true(act_same(&l->v[4], &record));
	acts_put(l);
	history_close(h);
}

static void the_log_of_then_has_what_was_done(void **state)
{
	struct history *h = opened(&long_keep);
	struct frame *f;

	(void)state;
	add_line(h, T0 + 2000, "a cable has gone");
	put(h, update_of("u1", T0 + 1000, T0 + 5000, "confirmed"));
	put(h, baseline_at(T0 + 6000, "accepted"));
	history_lines(&f, h, T0 + 5000, NULL, 0);
	assert_true(has(f, "a cable has gone"));
	assert_true(has(f, "u1: confirmed, sar, 12 blocks, by root"));
	assert_false(has(f, "accepted by alice"));
	frame_put(f);
	history_lines(&f, h, T0 + 6000, NULL, 0);
	assert_true(has(f, "of hall: accepted by alice"));
	frame_put(f);
	history_close(h);
}

/* The baseline that still counts stays. */
static void what_was_done_goes_with_its_age(void **state)
{
	struct history *h = opened(&long_keep);
	struct acts *l;
	bool more;

	(void)state;
	put(h, update_of("u1", T0, T0, "confirmed"));
	put(h, update_of("u2", T0 + 2 * DAY, T0 + 2 * DAY, "confirmed"));
	put(h, baseline_at(T0 - DAY, "learnt"));
	put(h, baseline_at(T0, "accepted"));
	do
		assert_int_equal(history_thin(h, T0 + 31 * DAY, &more, NULL), 0);
	while (more);
	assert_int_equal(history_acts(&l, h, NULL), 0);
	assert_int_equal(l->n, 2);
	assert_string_equal(l->v[0].state, "accepted");
	assert_string_equal(l->v[1].id, "u2");
	acts_put(l);
	history_close(h);
}

static void the_keeper_finds_baselines_and_records_and_what_becomes_of_them(void **state)
{
	char *base = temp_folder_file("baseline"), *records = temp_folder_file("records");
	struct acts_dirs dirs = { .state = folder, .record = records };
	const struct acts *l = NULL;
	struct history_keeper *k;

	(void)state;
	assert_int_equal(mkdir(base, 0700), 0);
	assert_int_equal(mkdir(records, 0700), 0);
	temp_folder_put("baseline/hall%20a.topology", "# ibroute-top baseline 1: accepted\n");
	temp_folder_put("baseline/hall%20a.errors", "none");
	temp_folder_put("records/20231114T221320Z-1.jsonl", "{\"type\":\"session.start\"}\n");
	temp_folder_put("records/20231115T221320Z-2.jsonl", "{\"type\":\"session.end\"}\n");
	assert_int_equal(history_keeper_start(&k, path, &long_keep, &dirs, NULL), 0);
	for (int i = 0; i < 200 && !l; i++, usleep(50000))
		l = history_keeper_acts(k);
	assert_non_null(l);
	assert_int_equal(l->n, 3);
	assert_string_equal(l->v[0].fabric, "hall a");
	assert_string_equal(l->v[0].state, "accepted");
	assert_string_equal(l->v[1].id, "20231115T221320Z-2.jsonl");
	assert_string_equal(l->v[1].state, "closed");
	assert_string_equal(l->v[2].state, "open");
	assert_int_equal(l->v[2].begin_ms, 1700000000000);
	assert_true(l->v[0].user[0] && l->v[2].bytes > 0);
	acts_put(l);
	assert_null(history_keeper_acts(k));
	history_keeper_stop(k);
	free(base);
	free(records);
}

static void the_log_until_then_is_there(void **state)
{
	struct history *h = opened(&long_keep);
	struct frame *f;
	char text[40];

	(void)state;
	for (int i = 0; i < 300; i++) {
		snprintf(text, sizeof(text), "line %03d.", i);
		add_line(h, T0 + 1000 * i, text);
	}
	history_lines(&f, h, T0 + 280000, NULL, 0);
	assert_true(has(f, "line 280.") && has(f, "line 025."));
	assert_false(has(f, "line 281.") || has(f, "line 024."));
	frame_put(f);
	history_lines(&f, h, T0 - 1, NULL, 0);
	assert_int_equal(f->head.len, sizeof(uint32_t));
	frame_put(f);
	history_close(h);
}

static void what_is_too_old_goes_but_not_what_is_still_true(void **state)
{
	static const struct history_keep day = { .age_ms = DAY, .bytes = 1u << 30 };
	struct history *h = opened(&day);
	struct frame *f;
	bool more;

	(void)state;
	add(h, FRAME_FABRIC, T0, 100, 1);
	add(h, FRAME_FABRIC, T0 + HOUR, 100, 2);
	add(h, FRAME_SAMPLE, T0 + HOUR, 100, 3);
	add(h, FRAME_SAMPLE, T0 + 40 * HOUR, 100, 3);
	do
		assert_int_equal(history_thin(h, T0 + 41 * HOUR, &more, NULL), 0);
	while (more);
	assert_int_equal(history_oldest_ms(h), T0 + 40 * HOUR);
	assert_int_equal(history_last(&f, h, FRAME_FABRIC, T0 + 40 * HOUR, NULL), 0);
	assert_int_equal(f->head.time_ms, T0 + HOUR);
	frame_put(f);
	assert_int_equal(history_last(&f, h, FRAME_FABRIC, T0 + HOUR - 1, NULL), -ENOENT);
	history_close(h);
}

static void the_file_stays_below_its_size(void **state)
{
	static const struct history_keep small = { .age_ms = 30 * DAY, .bytes = 4u << 20 };
	struct history *h = opened(&small);
	bool more;

	(void)state;
	for (int i = 0; i < 600; i++) {
		add(h, FRAME_SAMPLE, T0 + 2000 * i, 20000, (uint64_t)i);
		if (i % 20)
			continue;
		for (int k = 0; k < 100; k++) {
			assert_int_equal(history_thin(h, T0 + 2000 * i, &more, NULL), 0);
			if (!more)
				break;
		}
	}
	do
		assert_int_equal(history_thin(h, T0 + 1200000, &more, NULL), 0);
	while (more);
	assert_true(history_bytes(h) <= small.bytes);
	assert_true(history_oldest_ms(h) > T0 + 2000 * 300);
	assert_int_equal(sample_at(h, INT64_MAX, 0), T0 + 2000 * 599);
	history_close(h);
}

static void a_file_that_is_none_is_set_aside(void **state)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);
	struct history *h, *r;
	char *aside;
	struct stat st;

	(void)state;
	assert_int_equal(write(fd, "not a database at all, but long enough to be one", 48), 48);
	close(fd);
	assert_int_equal(history_open(&r, path, NULL, NULL, NULL), -EIO);
	assert_int_equal(history_open(&h, path, &long_keep, &aside, NULL), 0);
	assert_non_null(strstr(aside, ".damaged-"));
	assert_int_equal(stat(aside, &st), 0);
	add(h, FRAME_SAMPLE, T0, 100, 1);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	free(aside);
	history_close(h);
}

/* Wherever a page is damaged, the reader says so, or what it gives is right. */
static void damaged_pages_give_an_error_or_the_truth(void **state)
{
	struct history *h = opened(&long_keep), *r;
	uint32_t wrong = 0, told = 0;
	struct rng rng;
	struct stat st;
	int fd;

	(void)state;
	for (int i = 0; i < 40; i++)
		add(h, FRAME_SAMPLE, T0 + 2000 * i, 3000, 5);
	history_close(h);
	assert_int_equal(stat(path, &st), 0);
	fd = open(path, O_RDWR);
	rng_seed(&rng, 9);
	for (int i = 0; i < 400; i++) {
		off_t at = (off_t)(4096 + rng_below(&rng, (uint64_t)st.st_size - 4096));
		struct frame *was = frame_at(FRAME_SAMPLE, T0, 3000, 5), *f;
		uint8_t byte, other;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		other = byte ^ 0x41;
		assert_int_equal(pwrite(fd, &other, 1, at), 1);
		if (history_open(&r, path, NULL, NULL, NULL)) {
			told++;
			r = NULL;
		}
		for (int k = 0; r && k < 40; k++) {
			int rc = history_last(&f, r, FRAME_SAMPLE, T0 + 2000 * k, NULL);

			told += rc != 0;
			wrong += !rc && (f->head.len != 3000 || memcmp(f->data, was->data, 3000));
			if (!rc)
				frame_put(f);
		}
		history_close(r);
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		frame_put(was);
	}
	close(fd);
	assert_true(told > 50);
	assert_int_equal(wrong, 0);
}

/* As after a kill: what was added is there. */
static void a_killed_writer_loses_nothing_that_it_had_added(void **state)
{
	(void)state;
	for (int round = 0; round < 5; round++) {
		int64_t last = T0 + round * 100000 + 49;
		struct history *h;
		pid_t pid = fork();

		if (!pid) {
			if (history_open(&h, path, &long_keep, NULL, NULL))
				_exit(1);
			for (int i = 0; i < 50; i++) {
				struct frame *f =
					frame_at(FRAME_SAMPLE, T0 + round * 100000 + i, 5000, 1);

				if (history_add(h, f, NULL))
					_exit(1);
			}
			kill(getpid(), SIGKILL);
		}
		waitpid(pid, NULL, 0);
		h = opened(NULL);
		assert_int_equal(sample_at(h, INT64_MAX, 0), last);
		history_close(h);
	}
}

static void a_newer_format_is_refused_and_left_alone(void **state)
{
	struct history *h = opened(&long_keep);
	struct err err;
	sqlite3 *db;
	char *aside;

	(void)state;
	history_close(h);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(history_open(&h, path, &long_keep, &aside, &err), -EPROTO);
	assert_non_null(strstr(err.text, "newer version"));
	assert_null(aside);
}

static void change(const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static struct frame *answer_of(struct history_desk *d)
{
	const struct past_ask ask = { .serial = 8, .at_ms = INT64_MAX };
	struct frame *f = NULL;
	uint64_t viewer;

	history_desk_ask(d, 77, &ask);
	for (int i = 0; i < 600 && !(f = history_desk_take(d, &viewer)); i++) {
		struct pollfd p = { .fd = history_desk_fd(d), .events = POLLIN };

		poll(&p, 1, 100);
	}
	assert_non_null(f);
	return f;
}

/* The rest of that moment is there. */
static void what_is_damaged_of_a_moment_is_told_in_its_log(void **state)
{
	struct history *h = opened(&long_keep);
	struct history_desk *d;
	struct frame *f;

	(void)state;
	add(h, FRAME_FABRIC, T0, 200, 1);
	add(h, FRAME_JOBS, T0, 200, 2);
	add(h, FRAME_TABLES, T0, 200, 3);
	add(h, FRAME_SAMPLE, T0 + 1, 200, 4);
	add_line(h, T0, "a cable has gone");
	assert_int_equal(history_desk_start(&d, path, NULL), 0);
	f = answer_of(d);
	assert_true(has(f, "a cable has gone"));
	assert_false(has(f, "damaged"));
	frame_put(f);
	change("UPDATE frame SET body = x'28b52ffd0000' WHERE kind = 5; DROP TABLE txn");
	f = answer_of(d);
	assert_true(has(f, "a cable has gone"));
	assert_true(has(f, "a row of the history is damaged"));
	assert_true(has(f, "no such table: txn"));
	frame_put(f);
	change("UPDATE frame SET body = x'28b52ffd0000' WHERE kind = 4");
	f = answer_of(d);
	assert_false(has(f, "a cable has gone"));
	frame_put(f);
	history_desk_stop(d);
	history_close(h);
}

static void samples_are_kept_where_what_was_done_cannot_be(void **state)
{
	char *base = temp_folder_file("baseline");
	struct acts_dirs dirs = { .state = folder, .record = "" };
	struct err why = { "" };
	struct history_keeper *k;
	struct history *h = opened(&long_keep);
	struct frame *f = frame_at(FRAME_SAMPLE, T0, 200, 1);

	(void)state;
	log_set_sink(NULL, NULL);
	history_close(h);
	assert_int_equal(mkdir(base, 0700), 0);
	temp_folder_put("baseline/hall.topology", "# ibroute-top baseline 1: accepted\n");
	change("DROP TABLE baseline");
	assert_int_equal(history_keeper_start(&k, path, &long_keep, &dirs, NULL), 0);
	for (int i = 0; i < 40; i++, usleep(50000))
		assert_int_equal(history_keeper_state(k, &why), 0);
	history_keeper_add(k, f);
	history_keeper_stop(k);
	h = opened(NULL);
	assert_int_equal(sample_at(h, INT64_MAX, 0), T0);
	history_close(h);
	frame_put(f);
	free(base);
}

static void the_keeper_writes_and_the_desk_answers(void **state)
{
	struct past_ask ask = { .serial = 8, .at_ms = INT64_MAX };
	struct history_keeper *k;
	struct history_desk *d;
	struct frame *f;
	uint64_t viewer = 0;

	(void)state;
	assert_int_equal(history_keeper_start(&k, path, &long_keep, NULL, NULL), 0);
	for (int i = 0; i < 3; i++) {
		f = frame_at(i ? FRAME_SAMPLE : FRAME_FABRIC, T0 + i, 200, 1);
		history_keeper_add(k, f);
		frame_put(f);
	}
	history_keeper_stop(k);
	assert_int_equal(history_desk_start(&d, path, NULL), 0);
	history_desk_ask(d, 77, &ask);
	for (int i = 0; i < 600 && !(f = history_desk_take(d, &viewer)); i++) {
		struct pollfd p = { .fd = history_desk_fd(d), .events = POLLIN };

		poll(&p, 1, 100);
	}
	assert_non_null(f);
	assert_int_equal(viewer, 77);
	assert_int_equal(f->head.kind, FRAME_PAST);
	assert_true(f->head.len > 600);
	frame_put(f);
	history_desk_stop(d);
}

static bool keeper_fails(struct history_keeper *k, struct err *why)
{
	for (int i = 0; i < 600 && !history_keeper_state(k, why); i++)
		usleep(10000);
	return history_keeper_state(k, why) != 0;
}

/* A limit on the size of files stands for a disk. */
static void the_keeper_says_why_it_cannot_write(void **state)
{
	struct frame *f = frame_at(FRAME_SAMPLE, T0, 1u << 20, 1);
	struct rlimit was, small;
	struct history_keeper *k;
	struct err why = { "" };
	void (*xfsz)(int) = signal(SIGXFSZ, SIG_IGN);

	(void)state;
	log_set_sink(NULL, NULL);
	assert_int_equal(history_keeper_start(&k, path, &long_keep, NULL, NULL), 0);
	assert_int_equal(history_keeper_state(k, &why), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	small = was;
	small.rlim_cur = 256u << 10;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	history_keeper_add(k, f);
	assert_true(keeper_fails(k, &why));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	signal(SIGXFSZ, xfsz);
	assert_non_null(strstr(why.text, "history cannot be written"));
	history_keeper_stop(k);
	frame_put(f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_last_of_a_kind_is_what_was_true_then),
		TEST(the_same_is_kept_once_and_a_sample_always),
		TEST(one_goes_from_sample_to_sample),
		TEST(older_samples_are_farther_apart),
		TEST(samples_are_the_difference_to_the_first_of_five_minutes),
		TEST(what_a_difference_is_to_is_missed_when_it_has_gone),
		TEST(a_history_of_the_version_before_is_read_and_goes_on),
		TEST(updates_and_baselines_come_back_with_what_became_of_them),
		TEST(the_log_of_then_has_what_was_done),
		TEST(the_next_event_is_found_in_either_direction),
		TEST(what_was_done_goes_with_its_age),
		TEST(the_keeper_finds_baselines_and_records_and_what_becomes_of_them),
		TEST(the_log_until_then_is_there),
		TEST(what_is_too_old_goes_but_not_what_is_still_true),
		TEST(the_file_stays_below_its_size),
		TEST(a_file_that_is_none_is_set_aside),
		TEST(damaged_pages_give_an_error_or_the_truth),
		TEST(a_killed_writer_loses_nothing_that_it_had_added),
		TEST(a_newer_format_is_refused_and_left_alone),
		TEST(what_is_damaged_of_a_moment_is_told_in_its_log),
		TEST(samples_are_kept_where_what_was_done_cannot_be),
		TEST(the_keeper_writes_and_the_desk_answers),
		TEST(the_keeper_says_why_it_cannot_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
