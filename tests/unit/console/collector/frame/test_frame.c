/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a collector learns, as its viewers get it. */
#include "console/collector/frame/frame_taker.h"

#include "console/collector/newest.h"
#include "console/session/engine_list.h"
#include "console/collect/acts.h"
#include "console/collect/update_watch.h"
#include "console/session/samples/sample_columns.h"
#include "console/session/samples/sample_reading.h"
#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/baseline/findings.h"
#include "fabric/jobs/source.h"
#include "fabric/sim/topology/topo.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct world {
	struct fabric *f;
	const struct fabric_shape *shape;
	struct frame_taker *t;
};

static int begin(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));
	struct freeze_opts o = { .name = "hall", .lmc = -1 };
	struct builder *b;

	assert_int_equal(topo_build(&b, "fattree2:leaves=4,spines=2,hosts=4", NULL), 0);
	assert_int_equal(builder_freeze(&w->f, b, &o, NULL), 0);
	builder_free(b);
	w->shape = fabric_shape_new(w->f, NULL, NULL);
	w->t = frame_taker_new(NULL, NULL);
	*state = w;
	return 0;
}

static int end(void **state)
{
	struct world *w = *state;

	frame_taker_free(w->t);
	fabric_shape_put(w->shape);
	fabric_put(w->f);
	free(w);
	return 0;
}

/* Takes m; the answer is the caller's. */
static struct msg *through(struct world *w, struct msg *m)
{
	struct frame *f = frame_of_msg(m);
	struct msg *out = NULL;
	struct err err = { "" };
	int rc;

	assert_non_null(f);
	rc = frame_take(&out, w->t, &f->head, f->data, &err);
	if (rc)
		fail_msg("%s", err.text);
	frame_put(f);
	msg_drop(m);
	return out;
}

static struct msg *fabric_msg(const struct world *w)
{
	struct msg *m = msg_new(MSG_FABRIC);

	m->fabric = fabric_get(w->f);
	m->seconds = 1.5;
	m->partial = true;
	m->silent = xstrdup("leaf1/3\n");
	return m;
}

static struct sample *sample_of(const struct world *w, uint64_t time_ns)
{
	struct sample *s = sample_new(w->f);

	s->time_ns = time_ns;
	s->took_ns = 1000;
	s->asked = s->answered = s->nport;
	for (uint32_t i = 0; i < s->nport; i++) {
		s->port[i].valid = s->port[i].wide = 1u << CTR_TX_BYTES;
		s->port[i].v[CTR_TX_BYTES] = time_ns / 1000 * (i + 1);
		s->port[i].time_ns = time_ns;
	}
	return s;
}

static struct msg *sample_msg(const struct world *w, uint64_t time_ns)
{
	struct readings *r = sample_readings_new();
	struct msg *m = msg_new(MSG_SAMPLE);

	m->fabric = fabric_get(w->f);
	m->reading = sample_reading_new(r, w->shape, sample_of(w, time_ns));
	sample_readings_free(r);
	return m;
}

static struct msg *tables_msg(const struct world *w, uint8_t port)
{
	struct tables *t = tables_new(w->f, TABLES_WIRE);
	struct msg *m = msg_new(MSG_TABLES);

	tables_row(t, 0)[1] = port;
	tables_sl2vl_form(t, SL2VL_FULL, w->f);
	tables_weighted_form(t, w->f);
	t->weighted[3] = 0x0f;
	m->fabric = fabric_get(w->f);
	m->tables = t;
	m->total = 77;
	m->seconds = 2;
	return m;
}

static void a_fabric_comes_with_all_that_goes_with_it(void **state)
{
	struct world *w = *state;
	struct msg *m = through(w, fabric_msg(w));

	assert_int_equal(m->type, MSG_FABRIC);
	assert_memory_equal(&m->fabric->fingerprint, &w->f->fingerprint, sizeof(struct digest));
	assert_string_equal(m->fabric->name, "hall");
	assert_true(m->seconds > 1 && m->partial);
	assert_string_equal(m->silent, "leaf1/3\n");
	assert_non_null(m->engines);
	assert_ptr_equal(m->shape->fabric, m->fabric);
	msg_drop(m);
}

/* A console knows by that that nothing has changed. */
static void what_is_told_again_is_the_same_object(void **state)
{
	struct world *w = *state;
	struct msg *a = through(w, fabric_msg(w)), *b = through(w, fabric_msg(w));
	struct msg *s = through(w, tables_msg(w, 2)), *t = through(w, tables_msg(w, 2)),
		   *u = through(w, tables_msg(w, 3));

	assert_ptr_equal(a->fabric, b->fabric);
	assert_ptr_equal(a->shape, b->shape);
	assert_ptr_equal(s->tables, t->tables);
	assert_ptr_not_equal(s->tables, u->tables);
	msg_drop(a);
	msg_drop(b);
	msg_drop(s);
	msg_drop(t);
	msg_drop(u);
}

static void tables_come_with_their_vls(void **state)
{
	struct world *w = *state;
	struct msg *m;

	msg_drop(through(w, fabric_msg(w)));
	m = through(w, tables_msg(w, 2));
	assert_int_equal(tables_row(m->tables, 0)[1], 2);
	assert_true(tables_know_vls(m->tables));
	assert_string_equal(m->tables->engine, TABLES_WIRE);
	assert_int_equal(m->tables->weighted[3], 0x0f);
	assert_int_equal(m->total, 77);
	msg_drop(m);
}

static void rates_are_made_from_two_samples(void **state)
{
	struct world *w = *state;
	struct msg *m;

	msg_drop(through(w, fabric_msg(w)));
	m = through(w, sample_msg(w, 1000000000));
	assert_null(m->reading->rates);
	msg_drop(m);
	m = through(w, sample_msg(w, 3000000000));
	assert_non_null(m->reading->rates);
	assert_float_equal(m->reading->rates->port[4].tx_Bps, 5e6, 1);
	assert_int_equal(m->reading->sample->port[4].v[CTR_TX_BYTES], 15000000);
	msg_drop(m);
}

static void what_is_kept_is_rounded_to_a_part_of_what_was_counted(void **state)
{
	struct world *w = *state;
	struct msg *m[2], *got = NULL;
	struct frame *f[2], *kept;
	uint64_t is[2];

	for (int i = 0; i < 2; i++) {
		m[i] = sample_msg(w, 1000000000 + 2000000123ull * (unsigned)i);
		is[i] = m[i]->reading->sample->port[3].v[CTR_TX_BYTES];
		f[i] = frame_of_columns(m[i], 42 + i);
	}
	kept = frame_sample_kept(f[1], f[0], NULL);
	assert_int_equal(kept->head.time_ms, 43);
	assert_null(kept->base);
	msg_drop(through(w, fabric_msg(w)));
	assert_int_equal(frame_take(&got, w->t, &kept->head, kept->data, NULL), 0);
	assert_in_range(got->reading->sample->port[3].v[CTR_TX_BYTES],
			is[1] - (is[1] - is[0]) / SAMPLE_COLUMNS_PARTS, is[1] - 1);
	assert_int_equal(got->reading->sample->time_ns, m[1]->reading->sample->time_ns);
	frame_put(kept);
	msg_drop(got);
	for (int i = 0; i < 2; i++) {
		frame_put(f[i]);
		msg_drop(m[i]);
	}
}

static void jobs_come_with_their_nodes_and_users(void **state)
{
	static const char *const hosts[] = { "n1", "n2" };
	const struct job_rec rec = { .id = 42,
				     .name = "cfd",
				     .user = "ann",
				     .nodes = "n[1-2]",
				     .hosts = hosts,
				     .nhost = 2,
				     .start_s = 99,
				     .attr = { "batch" } };
	struct job_list *l = job_list_new("slurm", 1234);
	struct world *w = *state;
	struct msg *m = msg_new(MSG_JOBS);

	job_list_add(l, &rec);
	job_list_failed(l, 7);
	l->pending = 3;
	job_list_sort(l);
	m->list = l;
	m = through(w, m);
	assert_int_equal(m->list->njob, 1);
	assert_int_equal(m->list->jobs[0].id, 42);
	assert_string_equal(m->list->jobs[0].user, "ann");
	assert_string_equal(m->list->jobs[0].attr[0], "batch");
	assert_string_equal(m->list->jobs[0].hosts[1], "n2");
	assert_int_equal(m->list->jobs[0].start_s, 99);
	assert_int_equal(m->list->failed[0], 7);
	assert_int_equal(m->list->pending, 3);
	assert_int_equal(m->list->time_s, 1234);
	assert_string_equal(m->list->source, "slurm");
	msg_drop(m);
}

static void lists_of_the_same_jobs_are_kept_once(void **state)
{
	struct digest d[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct msg *m = msg_new(MSG_JOBS);
		struct frame *f;

		m->list = job_list_new("slurm", 1000 + i);
		f = frame_of_msg(m);
		frame_digest(&d[i], f);
		frame_put(f);
		msg_drop(m);
	}
	assert_true(digest_equal(&d[0], &d[1]));
}

static void what_is_said_of_the_sm_and_of_jobs_arrives(void **state)
{
	struct world *w = *state;
	struct msg *m = msg_new(MSG_SM);

	m->sm = (struct wire_sm){ .lid = 9, .guid = 0xabc, .act_count = 5, .state = 3 };
	snprintf(m->engine, sizeof(m->engine), "sar");
	snprintf(m->owner, sizeof(m->owner), "root");
	m->adapts = (struct adaptive){ ADAPTIVE_NO, "the engine is updn" };
	m->counted = true;
	m->counts = (struct osm_counts){ .sweeps = 7, .routings = 6, .link_events = 1ull << 40 };
	m = through(w, m);
	assert_int_equal(m->adapts.state, ADAPTIVE_NO);
	assert_string_equal(m->adapts.why, "the engine is updn");
	assert_true(m->counted);
	assert_int_equal(m->counts.sweeps, 7);
	assert_int_equal(m->counts.routings, 6);
	assert_int_equal(m->counts.link_events, 1ull << 40);
	assert_int_equal(m->sm.lid, 9);
	assert_int_equal(m->sm.guid, 0xabc);
	assert_int_equal(m->sm.act_count, 5);
	assert_string_equal(m->engine, "sar");
	assert_string_equal(m->owner, "root");
	msg_drop(m);
	m = msg_new(MSG_JOBS_SOURCE);
	m->rc = SOURCE_UNREACHABLE;
	snprintf(m->text, sizeof(m->text), "slurmctld is down");
	m = through(w, m);
	assert_int_equal(m->rc, SOURCE_UNREACHABLE);
	assert_string_equal(m->text, "slurmctld is down");
	msg_drop(m);
	m = msg_new(MSG_LOST);
	snprintf(m->text, sizeof(m->text), "no link");
	m = through(w, m);
	assert_int_equal(m->type, MSG_LOST);
	assert_string_equal(m->text, "no link");
	msg_drop(m);
}

/* rc of MSG_LOST says so, and only who has lost the collector knows. */
static void what_a_collector_has_lost_is_not_the_collector(void **state)
{
	struct msg *m = msg_new(MSG_LOST);

	m->rc = -EPIPE;
	m = through(*state, m);
	assert_int_equal(m->type, MSG_LOST);
	assert_int_equal(m->rc, 0);
	msg_drop(m);
}

static struct frame *keeping_frame(int rc, const char *why)
{
	struct msg *m = msg_new(MSG_KEEPING);
	struct frame *f;

	m->rc = rc;
	snprintf(m->text, sizeof(m->text), "%s", why);
	f = frame_of_msg(m);
	msg_drop(m);
	return f;
}

static void who_comes_later_hears_that_nothing_is_kept(void **state)
{
	struct frame *well = keeping_frame(0, ""), *full = keeping_frame(-ENOSPC, "disk is full");
	const struct frame *list[NEWEST_MAX], *last = NULL;
	struct newest n = { 0 };
	struct world *w = *state;
	struct msg *m;

	newest_take(&n, well);
	newest_take(&n, full);
	for (uint32_t i = newest_list(list, &n, NULL); i--;)
		last = list[i] ? list[i] : last;
	assert_ptr_equal(last, full);
	assert_int_equal(frame_take(&m, w->t, &last->head, last->data, NULL), 0);
	assert_int_equal(m->type, MSG_KEEPING);
	assert_int_equal(m->rc, -ENOSPC);
	assert_string_equal(m->text, "disk is full");
	msg_drop(m);
	newest_free(&n);
	frame_put(well);
	frame_put(full);
}

static void findings_go_with_the_fabric_that_follows(void **state)
{
	struct findings *l = findings_new();
	struct finding f = {
		.kind = FINDING_GONE, .what = "cable", .port = 4, .guid = 5, .rise = 6
	};
	struct world *w = *state;
	struct error_set *errors = error_set_new(1);
	struct msg *m;

	f.subject = xstrdup("leaf1/4 - spine1/1");
	errors->n = errors->asked = 1;
	errors->port[0] = (struct port_errors){ .guid = 77, .port = 1 };
	l->v = xcalloc(1, sizeof(f));
	l->v[l->n++] = f;
	l->cap = 1;
	l->expected = fabric_get(w->f);
	l->errors = errors;
	l->path = xstrdup("/x");
	m = msg_new(MSG_FINDINGS);
	m->findings = l;
	m = through(w, m);
	assert_string_equal(m->findings->v[0].subject, "leaf1/4 - spine1/1");
	assert_string_equal(m->findings->v[0].what, "cable");
	assert_int_equal(m->findings->expected->nsw, w->f->nsw);
	assert_non_null(error_set_find(m->findings->errors, 77, 1));
	msg_drop(m);
	m = through(w, fabric_msg(w));
	assert_int_equal(m->findings->n, 1);
	msg_drop(m);
}

/* A sample, the one before it, its fabric, its tables. */
static struct frame *past_of(struct world *w, uint64_t serial)
{
	struct msg *m[] = { fabric_msg(w), tables_msg(w, 2), sample_msg(w, 1000000000),
			    sample_msg(w, 3000000000) };
	const struct log_line line = {
		.time_ns = 7, .level = LOG_WARN, .area = "sweep", .text = "gone"
	};
	struct frame *f[4], *out, *lines = frame_of_lines(&line, 1);
	struct past_answer a = { .serial = serial, .time_ms = 5000, .events = lines };

	for (int i = 0; i < 4; i++)
		f[i] = frame_of_msg(m[i]);
	a.fabric = f[0];
	a.tables = f[1];
	a.before = f[2];
	a.sample = f[3];
	out = frame_of_past(&a);
	frame_put(lines);
	for (int i = 0; i < 4; i++) {
		frame_put(f[i]);
		msg_drop(m[i]);
	}
	return out;
}

static void a_moment_of_the_past_has_its_rates_and_the_objects_of_now(void **state)
{
	struct world *w = *state;
	struct msg *now = through(w, fabric_msg(w)), *t = through(w, tables_msg(w, 2)), *m;
	struct frame *f = past_of(w, 12);

	assert_int_equal(frame_take(&m, w->t, &f->head, f->data, NULL), 0);
	assert_int_equal(m->type, MSG_PAST);
	assert_int_equal(m->rc, 0);
	assert_int_equal(m->total, 12);
	assert_int_equal(m->time_ms, 5000);
	assert_ptr_equal(m->fabric, now->fabric);
	assert_ptr_equal(m->tables, t->tables);
	assert_int_equal(m->nlines, 1);
	assert_string_equal(m->lines[0].text, "gone");
	assert_int_equal(m->lines[0].level, LOG_WARN);
	assert_float_equal(m->reading->rates->port[4].tx_Bps, 5e6, 1);
	frame_put(f);
	msg_drop(m);
	msg_drop(now);
	msg_drop(t);
}

/* As of the middle of a group, or of its second sample: both are, or one is, the difference to the
 * first. */
static struct frame *past_of_kept(const struct world *w, bool second)
{
	struct msg *m[4] = { fabric_msg(w) };
	struct frame *f[4] = { frame_of_msg(m[0]) }, *base, *kept[2], *out;
	struct past_answer a = { .time_ms = 5000, .fabric = f[0] };

	for (int i = 1; i < 4; i++) {
		m[i] = sample_msg(w, 1000000000ull * (unsigned)i);
		f[i] = frame_of_columns(m[i], i);
	}
	base = frame_sample_kept(f[1], NULL, NULL);
	for (int i = 0; i < 2; i++) {
		kept[i] = frame_sample_kept(f[2 + i], f[1 + i], base);
		assert_ptr_equal(kept[i]->base, base);
	}
	a.before = second ? base : kept[0];
	a.sample = kept[1];
	out = frame_of_past(&a);
	frame_put(base);
	for (int i = 0; i < 4; i++) {
		frame_put(f[i]);
		msg_drop(m[i]);
	}
	for (int i = 0; i < 2; i++)
		frame_put(kept[i]);
	return out;
}

static void samples_of_the_past_may_be_differences(void **state)
{
	struct world *w = *state;

	for (int second = 0; second < 2; second++) {
		struct frame *f = past_of_kept(w, second);
		struct msg *got;

		assert_int_equal(frame_take(&got, w->t, &f->head, f->data, NULL), 0);
		assert_int_equal(got->rc, 0);
		assert_float_equal(got->reading->rates->port[4].tx_Bps, 5e6, 5e6 / 100);
		assert_int_equal(got->reading->sample->time_ns, 3000000000);
		frame_put(f);
		msg_drop(got);
	}
}

static void what_was_done_comes_with_all_its_fields(void **state)
{
	const struct act a = { .kind = ACT_UPDATE,
			       .id = "20261120T231951Z-4711",
			       .fabric = "hall",
			       .user = "root",
			       .host = "admin1",
			       .plan = "p-12",
			       .engine = "sar",
			       .state = "confirmed",
			       .text = "kept",
			       .begin_ms = 5,
			       .end_ms = 7,
			       .blocks = 12,
			       .bytes = 3 };
	struct msg *m = msg_new(MSG_ACTS), *got;
	struct acts *l = acts_new();
	struct world *w = *state;

	vec_push(l, a);
	m->acts = l;
	got = through(w, m);
	assert_int_equal(got->type, MSG_ACTS);
	assert_int_equal(got->acts->n, 1);
	assert_true(act_same(&got->acts->v[0], &a));
	assert_string_equal(got->acts->v[0].host, "admin1");
	assert_string_equal(got->acts->v[0].plan, "p-12");
	assert_string_equal(got->acts->v[0].engine, "sar");
	msg_drop(got);
}

static struct msg *updates_msg(double gain)
{
	struct update_counts *c = update_counts_new();
	struct journal_count one = { .fabric = "hall", .engine = "sar", .gain = gain };
	struct msg *m = msg_new(MSG_UPDATES);

	one.ended[TXN_CONFIRMED] = 3;
	one.why[WHY_WATCH] = 2;
	one.jobs = 12;
	vec_push(&c->by, one);
	c->left = 1;
	c->step_ms = 5000;
	c->confirmed_s = 4;
	c->gain = (struct txn_gain){ "ring", 2, 1.5 };
	m->updates = c;
	return m;
}

static void counts_of_updates_come_with_all_their_numbers(void **state)
{
	struct msg *m = through(*state, updates_msg(0.25));
	const struct update_counts *c = m->updates;

	assert_int_equal(m->type, MSG_UPDATES);
	assert_int_equal(c->by.n, 1);
	assert_string_equal(c->by.v[0].engine, "sar");
	assert_int_equal(c->by.v[0].ended[TXN_CONFIRMED], 3);
	assert_int_equal(c->by.v[0].why[WHY_WATCH], 2);
	assert_int_equal(c->by.v[0].jobs, 12);
	assert_float_equal(c->by.v[0].gain, 0.25, 0);
	assert_int_equal(c->left, 1);
	assert_int_equal(c->step_ms, 5000);
	assert_int_equal(c->confirmed_s, 4);
	assert_string_equal(c->gain.pattern, "ring");
	assert_float_equal(c->gain.after, 1.5, 0);
	msg_drop(m);
}

static void counts_of_updates_that_cannot_be_are_refused(void **state)
{
	static const double bad[] = { -1, NAN, INFINITY };
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct msg *m = updates_msg(bad[i]), *out;
		struct frame *f = frame_of_msg(m);

		assert_int_equal(frame_take(&out, w->t, &f->head, f->data, NULL), -EPROTO);
		frame_put(f);
		msg_drop(m);
	}
}

static void why_there_is_no_past_is_said(void **state)
{
	const struct past_answer none = { .serial = 3, .rc = -ENOENT, .text = "nothing is kept" };
	struct frame *f = frame_of_past(&none);
	struct world *w = *state;
	struct msg *m;

	assert_int_equal(frame_take(&m, w->t, &f->head, f->data, NULL), 0);
	assert_int_equal(m->rc, -ENOENT);
	assert_string_equal(m->text, "nothing is kept");
	frame_put(f);
	msg_drop(m);
}

static void counters_of_another_fabric_are_left_out(void **state)
{
	struct world *w = *state;
	struct msg *m = sample_msg(w, 1), *out;
	struct frame *f = frame_of_msg(m);

	assert_int_equal(frame_take(&out, w->t, &f->head, f->data, NULL), -ESTALE);
	assert_null(out);
	frame_put(f);
	msg_drop(m);
}

/* Whoever has written the history may have written anything. */
static void damaged_frames_end_in_an_error_or_a_message(void **state)
{
	struct world *w = *state;
	struct msg *m[] = { fabric_msg(w), tables_msg(w, 2), sample_msg(w, 1), updates_msg(1),
			    NULL };
	struct frame *past[] = { past_of(w, 1), past_of_kept(w, false) };
	uint32_t refused = 0;
	struct rng rng;

	log_set_sink(NULL, NULL);
	rng_seed(&rng, 3);
	msg_drop(through(w, fabric_msg(w)));
	for (int i = 0; i < 4000; i++) {
		struct frame *f = i % 5 < 4 ? frame_of_msg(m[i % 5]) : NULL;
		const struct frame *of = f ? f : past[i / 5 % 2];
		uint8_t *data = xcalloc(of->head.len, 1);
		struct frame_head head = of->head;
		struct msg *out = NULL;

		memcpy(data, of->data, head.len);
		if (i % 6)
			data[rng_below(&rng, head.len)] ^= (uint8_t)(1 + rng_below(&rng, 255));
		else
			head.len = (uint32_t)rng_below(&rng, head.len);
		if (i % 16 == 15)
			head.kind = (uint32_t)rng_below(&rng, FRAME_KINDS + 2);
		if (head.kind != FRAME_LOG && frame_take(&out, w->t, &head, data, NULL))
			refused++;
		msg_drop(out);
		free(data);
		frame_put(f);
	}
	assert_true(refused > 500);
	for (int i = 0; m[i]; i++)
		msg_drop(m[i]);
	frame_put(past[0]);
	frame_put(past[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_fabric_comes_with_all_that_goes_with_it),
		TEST(what_is_told_again_is_the_same_object),
		TEST(tables_come_with_their_vls),
		TEST(rates_are_made_from_two_samples),
		TEST(what_is_kept_is_rounded_to_a_part_of_what_was_counted),
		TEST(jobs_come_with_their_nodes_and_users),
		TEST(lists_of_the_same_jobs_are_kept_once),
		TEST(what_is_said_of_the_sm_and_of_jobs_arrives),
		TEST(what_a_collector_has_lost_is_not_the_collector),
		TEST(who_comes_later_hears_that_nothing_is_kept),
		TEST(findings_go_with_the_fabric_that_follows),
		TEST(a_moment_of_the_past_has_its_rates_and_the_objects_of_now),
		TEST(samples_of_the_past_may_be_differences),
		TEST(what_was_done_comes_with_all_its_fields),
		TEST(counts_of_updates_come_with_all_their_numbers),
		TEST(counts_of_updates_that_cannot_be_are_refused),
		TEST(why_there_is_no_past_is_said),
		TEST(counters_of_another_fabric_are_left_out),
		TEST(damaged_frames_end_in_an_error_or_a_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
