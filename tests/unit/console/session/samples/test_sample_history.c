/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The history: what is kept comes back as it was, in bounded memory, also through a file. */
#include "console/session/samples/sample_history.h"

#include "console/session/samples/sample_code.h"
#include "console/session/samples/sample_reading.h"
#include "fabric/base/hash/rng.h"
#include "fabric/model/topology/builder.h"
#include "fabric/sim/topology/topo.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fabric *fabric_of(const char *spec)
{
	struct freeze_opts opts = { .name = "hpc1", .lmc = -1 };
	struct builder *b = NULL;
	struct fabric *f = NULL;
	struct err err;

	if (topo_build(&b, spec, &err) || builder_freeze(&f, b, &opts, &err))
		fail_msg("%s", err.text);
	builder_free(b);
	return f;
}

/* Traffic on all cabled ports, an error now and then, and some without an answer. */
static struct sample *sample_after(const struct fabric *f, const struct sample *before,
				   struct rng *rng, int i)
{
	struct sample *s = sample_new(f);

	s->time_ns = 5000000000ull + 2000000000ull * (uint64_t)i;
	s->took_ns = 1000000 + rng_below(rng, 1000000);
	s->asked = s->answered = f->nchan;
	for (uint32_t p = 0; p < f->nport; p++) {
		struct port_counters *c = &s->port[p];

		if (f->port[p].chan == FAB_NONE && f->port[p].term == FAB_NONE)
			continue;
		if (before)
			*c = before->port[p];
		c->time_ns = s->time_ns + rng_below(rng, 100000);
		c->valid = rng_below(rng, 50) ? 0x3ff : 0;
		c->wide = 0x1f;
		c->v[CTR_TX_BYTES] += rng_below(rng, 20000000000ull);
		c->v[CTR_RX_BYTES] += rng_below(rng, 20000000000ull);
		c->v[CTR_TX_PKTS] += rng_below(rng, 5000000);
		c->v[CTR_RX_PKTS] += rng_below(rng, 5000000);
		c->v[CTR_TX_WAIT] += rng_below(rng, 100000);
		c->v[CTR_SYMBOL_ERR] += !rng_below(rng, 1000);
		if (!rng_below(rng, 2000)) /* somebody cleared it */
			c->v[CTR_RX_PKTS] = 0;
	}
	return s;
}

static void same_sample(const struct sample *a, const struct sample *b)
{
	assert_int_equal(a->time_ns, b->time_ns);
	assert_int_equal(a->took_ns, b->took_ns);
	assert_int_equal(a->asked, b->asked);
	assert_int_equal(a->answered, b->answered);
	assert_int_equal(a->nport, b->nport);
	assert_memory_equal(a->port, b->port, a->nport * sizeof(*a->port));
}

#define N 100

struct run {
	struct fabric *f;
	const struct sample *s[N];
	struct sample_history *past;
	struct backdrop b;
};

static void start(struct run *r, size_t bytes)
{
	struct rng rng;

	memset(r, 0, sizeof(*r));
	rng_seed(&rng, 7);
	r->f = fabric_of("fattree2:leaves=6,spines=3,hosts=6");
	r->past = sample_history_new(bytes, 600);
	r->b.fabric = r->f;
	for (int i = 0; i < N; i++) {
		r->s[i] = sample_after(r->f, i ? r->s[i - 1] : NULL, &rng, i);
		sample_history_add(r->past, &r->b, r->s[i], 1000 + 2 * i);
	}
}

static void end(struct run *r)
{
	sample_history_free(r->past);
	for (int i = 0; i < N; i++)
		sample_put(r->s[i]);
	fabric_put(r->f);
}

static void every_moment_comes_back_as_it_was(void **state)
{
	struct run r;

	(void)state;
	start(&r, 64 << 20);
	assert_int_equal(sample_history_count(r.past), N);
	for (int i = N - 1; i >= 0; i--) {
		const struct rates *want = i ? rates_new(r.f, r.s[i - 1], r.s[i]) : NULL;
		struct snapshot_at m;

		assert_true(sample_history_get(&m, r.past,
					       sample_history_oldest(r.past) + (uint64_t)i));
		same_sample(m.sample, r.s[i]);
		assert_int_equal(m.time_s, 1000 + 2 * i);
		assert_int_equal(sample_history_find(r.past, r.s[i]->time_ns), m.serial);
		assert_int_equal(want != NULL, m.rates != NULL);
		if (want)
			assert_memory_equal(m.rates->port, want->port,
					    want->nport * sizeof(*want->port));
		rates_put(want);
		snapshot_at_done(&m);
	}
	end(&r);
}

/* missed: that one never reached the past, so that the bytes of the next do not follow on. */
static void add_readings(struct sample_history *p, const struct run *r, int missed)
{
	const struct fabric_shape *shape = fabric_shape_new(r->f, NULL, NULL);
	struct readings *all = sample_readings_new();

	for (int i = 0; i < N; i++) {
		struct sample_reading *x = sample_reading_new(all, shape, sample_get(r->s[i]));

		assert_int_equal(i > 0, x->rates != NULL);
		if (i != missed) {
			sample_history_add_reading(p, &r->b, x, 1000 + 2 * i);
			assert_true(missed >= 0 || !x->code); /* taken over */
		}
		sample_reading_free(x);
	}
	sample_readings_free(all);
	fabric_shape_put(shape);
}

static void readings_of_another_thread_make_the_same_past(void **state)
{
	struct sample_history *p = sample_history_new(64 << 20, 600),
			      *gap = sample_history_new(64 << 20, 600);
	struct run r;

	(void)state;
	start(&r, 64 << 20);
	add_readings(p, &r, -1);
	add_readings(gap, &r, 40);
	assert_int_equal(sample_history_count(p), N);
	assert_int_equal(sample_history_count(gap), N - 1);
	assert_int_equal(sample_history_bytes(p), sample_history_bytes(r.past));
	for (int i = 0; i < N; i++) {
		struct snapshot_at m;

		assert_true(sample_history_get(&m, p, (uint64_t)i + 1));
		same_sample(m.sample, r.s[i]);
		snapshot_at_done(&m);
		if (i == 40)
			continue;
		assert_true(sample_history_get(&m, gap, (uint64_t)i + (i < 40)));
		same_sample(m.sample, r.s[i]);
		snapshot_at_done(&m);
	}
	sample_history_free(p);
	sample_history_free(gap);
	end(&r);
}

static void memory_is_bounded_and_the_oldest_goes(void **state)
{
	struct snapshot_at m;
	struct run r;

	(void)state;
	start(&r, 100000);
	assert_true(sample_history_bytes(r.past) <= 100000);
	assert_true(sample_history_count(r.past) < N);
	assert_true(sample_history_count(r.past) >= 32);
	assert_int_equal(sample_history_newest(r.past), N);
	assert_false(sample_history_get(&m, r.past, 1));
	assert_false(sample_history_get(&m, r.past, N + 1));
	assert_true(sample_history_get(&m, r.past, sample_history_oldest(r.past)));
	same_sample(m.sample, r.s[sample_history_oldest(r.past) - 1]);
	snapshot_at_done(&m);
	end(&r);
}

static void a_sample_that_is_kept_is_not_taken_twice(void **state)
{
	struct run r;

	(void)state;
	start(&r, 64 << 20);
	sample_history_add(r.past, &r.b, r.s[N - 1], 5000);
	sample_history_add(r.past, &r.b, r.s[3], 5000);
	assert_int_equal(sample_history_count(r.past), N);
	end(&r);
}

static void moments_keep_what_was_known_then(void **state)
{
	struct run r;
	struct snapshot_at m;
	struct metrics_set *old;
	struct backdrop b;
	struct rng rng;
	struct fabric *f2 = fabric_of("fattree2:leaves=4,spines=2,hosts=3");
	struct sample *s;

	(void)state;
	start(&r, 64 << 20);
	b = r.b;
	old = metrics_set_new(NULL, NULL, NULL, NULL);
	b.figures = old;
	sample_history_metrics(r.past, &b);
	rng_seed(&rng, 1);
	s = sample_after(f2, NULL, &rng, N);
	b = (struct backdrop){ .fabric = f2 };
	sample_history_add(r.past, &b, s, 2000);
	sample_put(s);
	metrics_set_put(old);
	assert_true(sample_history_get(&m, r.past, N + 1));
	assert_ptr_equal(m.was.fabric, f2);
	assert_null(m.rates); /* nothing of this fabric before it */
	snapshot_at_done(&m);
	fabric_put(f2);
	assert_true(sample_history_get(&m, r.past, N));
	assert_ptr_equal(m.was.fabric, r.f);
	assert_ptr_equal(m.was.figures, old);
	snapshot_at_done(&m);
	end(&r);
}

static void bookmarks_go_with_their_samples(void **state)
{
	const struct mark *mark;
	struct run r;
	struct rng rng;
	uint64_t at;

	(void)state;
	start(&r, 100000);
	at = sample_history_oldest(r.past);
	assert_true(sample_history_mark(r.past, N, sample_history_time(r.past, N), "storm"));
	assert_true(sample_history_mark(r.past, at, sample_history_time(r.past, at), ""));
	assert_int_equal(sample_history_marks(r.past, &mark), 2);
	assert_int_equal(mark[0].serial, at);
	assert_string_equal(mark[0].name, "1");
	assert_string_equal(mark[1].name, "storm");
	rng_seed(&rng, 3);
	for (int i = N; sample_history_oldest(r.past) == at; i++) {
		struct sample *s = sample_after(r.f, r.s[N - 1], &rng, i);

		sample_history_add(r.past, &r.b, s, 3000 + i);
		sample_put(s);
	}
	assert_int_equal(sample_history_marks(r.past, &mark), 1);
	assert_string_equal(mark[0].name, "storm");
	end(&r);
}

static void a_file_gives_all_of_it_back(void **state)
{
	struct fabric *f;
	struct sample_history *q = sample_history_new(64 << 20, 600);
	const struct mark *mark;
	struct run r;
	struct err err;
	FILE *file = tmpfile();

	(void)state;
	start(&r, 64 << 20);
	r.f->port[3].state = PORT_DOWN;
	snprintf(r.f->port[4].speed, sizeof(r.f->port[4].speed), "FDR10");
	sample_history_mark(r.past, 50, sample_history_time(r.past, 50), "storm");
	assert_int_equal(sample_history_write(file, r.past, &r.b, &err), 0);
	rewind(file);
	f = fabric_of("fattree2:leaves=6,spines=3,hosts=6");
	if (sample_history_read_ports(file, f, "test", &err))
		fail_msg("%s", err.text);
	rewind(file);
	if (sample_history_read(q, file, f, NULL, NULL, "test", &err))
		fail_msg("%s", err.text);
	assert_int_equal(sample_history_count(q), N);
	assert_int_equal(f->port[3].state, PORT_DOWN);
	assert_string_equal(f->port[4].speed, "FDR10");
	for (int i = 0; i < N; i++) {
		struct snapshot_at m;

		assert_true(sample_history_get(&m, q, (uint64_t)i + 1));
		same_sample(m.sample, r.s[i]);
		snapshot_at_done(&m);
	}
	assert_int_equal(sample_history_marks(q, &mark), 1);
	assert_int_equal(mark[0].serial, 50);
	assert_string_equal(mark[0].name, "storm");
	fclose(file);
	sample_history_free(q);
	fabric_put(f);
	end(&r);
}

/* One job more for each; the first has a partition only. */
static struct jobset *jobs_with_attrs(const struct fabric *f, unsigned n)
{
	struct jobset_builder *b = jobset_builder_new(f, "slurm");
	const uint32_t terms[] = { 1, 2, 7 };
	char name[] = "wrf", user[] = "al", nodes[] = "n[2-3,8]";

	for (unsigned i = 0; i < n; i++) {
		struct job head = { .id = 10 + i, .name = name, .user = user, .nodes = nodes };

		head.nnodes = 3;
		head.attr[JOB_PARTITION] = i ? "gpu" : "batch";
		head.attr[JOB_ACCOUNT] = i ? "met" : "";
		head.attr[JOB_LABEL] = i ? "5_1" : "";
		jobset_builder_add_ports(b, &head, terms, 3);
	}
	return jobset_build(b);
}

static void jobs_of_each_moment_keep_partition_and_account(void **state)
{
	struct sample_history *q = sample_history_new(64 << 20, 600);
	struct jobset *one, *two;
	struct snapshot_at m;
	FILE *file = tmpfile();
	struct backdrop b;
	struct run r;
	struct err err;

	(void)state;
	start(&r, 64 << 20);
	one = jobs_with_attrs(r.f, 1);
	two = jobs_with_attrs(r.f, 2);
	sample_history_free(r.past);
	r.past = sample_history_new(64 << 20, 600);
	b = r.b;
	for (int i = 0; i < 4; i++) {
		b.jobs = i < 2 ? one : i == 2 ? two : NULL;
		sample_history_add(r.past, &b, r.s[i], 1000 + 2 * i);
	}
	sample_history_mark(r.past, 2, 1002, "storm");
	assert_int_equal(sample_history_write(file, r.past, &b, &err), 0);
	rewind(file);
	if (sample_history_read(q, file, r.f, NULL, NULL, "test", &err))
		fail_msg("%s", err.text);
	assert_true(sample_history_get(&m, q, 2));
	assert_int_equal(m.was.jobs->njob, 1);
	assert_string_equal(m.was.jobs->jobs[0].attr[JOB_PARTITION], "batch");
	assert_string_equal(m.was.jobs->jobs[0].attr[JOB_ACCOUNT], "");
	snapshot_at_done(&m);
	assert_true(sample_history_get(&m, q, 3));
	assert_int_equal(m.was.jobs->njob, 2);
	assert_int_equal(m.was.jobs->jobs[1].id, 11);
	assert_string_equal(m.was.jobs->jobs[0].attr[JOB_PARTITION], "batch");
	assert_string_equal(m.was.jobs->jobs[1].attr[JOB_PARTITION], "gpu");
	assert_string_equal(m.was.jobs->jobs[1].attr[JOB_ACCOUNT], "met");
	assert_string_equal(JOB_TEXT(&m.was.jobs->jobs[1]), "5_1");
	snapshot_at_done(&m);
	assert_true(sample_history_get(&m, q, 4));
	assert_null(m.was.jobs);
	snapshot_at_done(&m);
	assert_string_equal(sample_history_mark_name(q, 2), "storm");
	fclose(file);
	jobset_put(one);
	jobset_put(two);
	sample_history_free(q);
	end(&r);
}

/* What the ports are said to have is checked, whoever has written it. */
static void ports_that_cannot_be_are_refused(void **state)
{
	static const char evil[7] = "\x1b[2J\xff";
	struct fabric *f = fabric_of("fattree2:leaves=6,spines=3,hosts=6");
	struct run r;
	struct err err;

	(void)state;
	start(&r, 64 << 20);
	for (unsigned what = 0; what < 4; what++) {
		struct port *p = &r.f->port[4], was = *p;
		FILE *file = tmpfile();

		p->op_vls = what == 0 ? 69 : p->op_vls;
		p->state = what == 1 ? PORT_ACTIVE + 1 : p->state;
		p->width = what == 2 ? 13 : p->width;
		if (what == 3)
			memcpy(p->speed, evil, sizeof(evil));
		assert_int_equal(sample_history_write(file, r.past, &r.b, &err), 0);
		*p = was;
		rewind(file);
		assert_int_equal(sample_history_read_ports(file, f, "test", &err),
				 what < 3 ? -EINVAL : 0);
		fclose(file);
	}
	assert_string_equal(f->port[4].speed, "?[2J?");
	fabric_put(f);
	end(&r);
}

static void what_a_file_says_is_text(void **state)
{
	struct sample_history *q = sample_history_new(64 << 20, 600);
	const struct mark *mark;
	struct run r;
	struct err err;
	FILE *file = tmpfile();

	(void)state;
	start(&r, 64 << 20);
	sample_history_mark(r.past, 50, sample_history_time(r.past, 50), "m\x1b]0;x\x07");
	assert_int_equal(sample_history_write(file, r.past, &r.b, &err), 0);
	rewind(file);
	if (sample_history_read(q, file, r.f, NULL, NULL, "test", &err))
		fail_msg("%s", err.text);
	assert_int_equal(sample_history_marks(q, &mark), 1);
	assert_string_equal(mark[0].name, "m?]0;x?");
	fclose(file);
	sample_history_free(q);
	end(&r);
}

/* As a snapshot is written by another thread. */
static void a_copy_stays_as_it_was_while_samples_go_on(void **state)
{
	struct sample_history *copy;
	char *before, *after;
	size_t nbefore, nafter;
	struct run r;
	struct err err;
	FILE *file = open_memstream(&before, &nbefore);
	struct rng rng;

	(void)state;
	start(&r, 64 << 20);
	sample_history_mark(r.past, 50, sample_history_time(r.past, 50), "storm");
	assert_int_equal(sample_history_write(file, r.past, &r.b, &err), 0);
	fclose(file);
	copy = sample_history_copy(r.past);
	rng_seed(&rng, 3);
	for (int i = N; sample_history_oldest(r.past) == 1; i++) {
		struct sample *s = sample_after(r.f, r.s[N - 1], &rng, i);

		sample_history_add(r.past, &r.b, s, 3000 + i);
		sample_put(s);
	}
	assert_int_equal(sample_history_oldest(copy), 1);
	assert_int_equal(sample_history_count(copy), N);
	file = open_memstream(&after, &nafter);
	assert_int_equal(sample_history_write(file, copy, &r.b, &err), 0);
	fclose(file);
	assert_int_equal(nbefore, nafter);
	assert_memory_equal(before, after, nbefore);
	sample_history_free(copy);
	free(before);
	free(after);
	end(&r);
}

static void a_damaged_file_is_refused(void **state)
{
	struct fabric *f = fabric_of("fattree2:leaves=6,spines=3,hosts=6");
	struct fabric *other = fabric_of("fattree2:leaves=6,spines=3,hosts=5");
	char *text;
	size_t len;
	struct run r;
	struct err err;
	FILE *file = open_memstream(&text, &len);

	(void)state;
	start(&r, 64 << 20);
	sample_history_write(file, r.past, &r.b, &err);
	fclose(file);
	for (size_t cut = 0; cut < len; cut += 1 + len / 37) {
		struct sample_history *q = sample_history_new(64 << 20, 600);
		FILE *in = cut ? fmemopen(text, cut, "r") : fopen("/dev/null", "r");

		assert_true(sample_history_read(q, in, f, NULL, NULL, "cut", &err) < 0);
		fclose(in);
		sample_history_free(q);
	}
	for (size_t i = 8; i < len; i += 1 + len / 61) {
		struct sample_history *q = sample_history_new(64 << 20, 600);
		FILE *in;

		text[i] ^= 0x10;
		in = fmemopen(text, len, "r");
		assert_true(sample_history_read(q, in, f, NULL, NULL, "bent", &err) < 0);
		fclose(in);
		sample_history_free(q);
		text[i] ^= 0x10;
	}
	file = fmemopen(text, len, "r");
	{
		struct sample_history *q = sample_history_new(64 << 20, 600);

		assert_true(sample_history_read(q, file, other, NULL, NULL, "other", &err) < 0);
		assert_non_null(strstr(err.text, "another fabric"));
		sample_history_free(q);
	}
	fclose(file);
	free(text);
	fabric_put(f);
	fabric_put(other);
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_moment_comes_back_as_it_was),
		cmocka_unit_test(readings_of_another_thread_make_the_same_past),
		cmocka_unit_test(memory_is_bounded_and_the_oldest_goes),
		cmocka_unit_test(a_sample_that_is_kept_is_not_taken_twice),
		cmocka_unit_test(moments_keep_what_was_known_then),
		cmocka_unit_test(bookmarks_go_with_their_samples),
		cmocka_unit_test(a_file_gives_all_of_it_back),
		cmocka_unit_test(jobs_of_each_moment_keep_partition_and_account),
		cmocka_unit_test(ports_that_cannot_be_are_refused),
		cmocka_unit_test(what_a_file_says_is_text),
		cmocka_unit_test(a_copy_stays_as_it_was_while_samples_go_on),
		cmocka_unit_test(a_damaged_file_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
