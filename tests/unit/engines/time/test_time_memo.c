/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/time/time_memo.h"

#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TABLES 9

static struct jobset *a_job(const struct fabric *f, uint32_t from)
{
	struct jobset_builder *b = jobset_builder_new(f, "test");
	const char *names[6];

	for (uint32_t i = 0; i < 6; i++)
		names[i] = f->term_name[f->term_list[from + 2 * i]];
	jobset_builder_add(b, &(struct job){ .id = 1 }, names, 6);
	return jobset_build(b);
}

/* All to LIDs of a leaf's first hosts by one spine: others for each n. */
static struct tables *some_tables(const struct fabric *f, uint32_t n)
{
	struct tables *t = kit_bfs(f);

	for (uint32_t i = 0; i < n; i++)
		if (f->term_sw[i])
			tables_row(t, 0)[f->term_lid[i]] = f->chan_port[kit_chan(f, 0, 5)];
	return t;
}

static double time_of(struct time_memo *m, const struct fabric *f, const struct tables *t,
		      const struct jobset *js, uint64_t seed)
{
	struct job_time_opts o = { .seed = seed };
	struct time_sheet *s;
	struct err err;
	double v;

	assert_int_equal(time_memo_sheet(&s, m, f, t, js, &o, NULL, &err), 0);
	v = s->of[PREDICT_ALLTOALL]->mean.mean + s->of[PREDICT_RING]->mean.mean;
	time_sheet_put(s);
	return v;
}

static double sync_of(struct time_memo *m, const struct fabric *f, const struct tables *t,
		      const struct jobset *js, uint32_t shifts)
{
	struct shift_time_opts o = { .shifts = shifts, .seed = 1 };
	struct shift_time x;
	struct err err;

	assert_int_equal(time_memo_shifts(&x, m, f, t, js, &o, NULL, &err), 0);
	return x.sync.mean;
}

static void it_says_what_would_be_measured(void **state)
{
	struct fabric *f = net_tree(4, 2, 8, NULL);
	struct jobset *js[2] = { a_job(f, 0), a_job(f, 5) };
	struct time_memo *m = time_memo_new();
	struct tables *t[TABLES];

	(void)state;
	for (uint32_t i = 0; i < TABLES; i++)
		t[i] = some_tables(f, 3 * i);
	for (uint32_t k = 0; k < 4 * TABLES; k++) {
		uint32_t i = k * 5 % TABLES;
		const struct jobset *jobs = js[k / (2 * TABLES)];

		for (uint64_t seed = 1; seed <= 2; seed++)
			assert_true(time_of(m, f, t[i], jobs, seed) ==
				    time_of(NULL, f, t[i], jobs, seed));
		for (uint32_t shifts = 3; shifts <= 4; shifts++)
			assert_true(sync_of(m, f, t[i], jobs, shifts) ==
				    sync_of(NULL, f, t[i], jobs, shifts));
	}
	time_memo_put(m);
	for (uint32_t i = 0; i < TABLES; i++)
		tables_put(t[i]);
	jobset_put(js[0]);
	jobset_put(js[1]);
	fabric_put(f);
}

/* A sheet that was looked up is the same one. */
static void nothing_is_measured_twice(void **state)
{
	struct fabric *f = net_tree(4, 2, 8, NULL);
	struct jobset *js = a_job(f, 0);
	struct time_memo *m = time_memo_new(), *other = time_memo_get(m);
	struct tables *a = some_tables(f, 4), *b = some_tables(f, 4);
	struct job_time_opts o = { .seed = 1 }, few = { .seed = 1, .phases = 3 };
	struct time_sheet *s[4];
	struct err err;

	(void)state;
	assert_int_equal(time_memo_sheet(&s[0], m, f, a, js, &o, NULL, &err), 0);
	assert_int_equal(time_memo_sheet(&s[1], other, f, b, js, &o, NULL, &err), 0);
	assert_int_equal(time_memo_sheet(&s[2], m, f, a, js, &few, NULL, &err), 0);
	assert_ptr_equal(s[0], s[1]);
	assert_int_equal(s[2]->of[PREDICT_ALLTOALL]->phases, 3);
	tables_row(b, 0)[f->term_lid[30]] ^= 1; /* the entries count, whoever holds them */
	time_memo_put(m);
	assert_int_equal(time_memo_sheet(&s[3], other, f, b, js, &o, NULL, &err), 0);
	assert_ptr_not_equal(s[0], s[3]);
	time_memo_put(other);
	for (int i = 0; i < 4; i++)
		time_sheet_put(s[i]);
	tables_put(a);
	tables_put(b);
	jobset_put(js);
	fabric_put(f);
}

static void a_target_is_that_of_its_jobs_and_name(void **state)
{
	struct fabric *f = net_tree(4, 2, 8, NULL);
	struct jobset *js = a_job(f, 0), *others = a_job(f, 1);
	struct time_memo *m = time_memo_new();
	struct tables *t = some_tables(f, 4), *found;

	(void)state;
	assert_null(time_memo_target(m, f, js, "x"));
	time_memo_keep_target(m, f, js, "x", t);
	found = time_memo_target(m, f, js, "x");
	assert_ptr_equal(found, t);
	tables_put(found);
	assert_null(time_memo_target(m, f, js, "y"));
	assert_null(time_memo_target(m, f, others, "x"));
	time_of(m, f, t, others, 1);
	assert_null(time_memo_target(m, f, js, "x"));
	time_memo_put(m);
	tables_put(t);
	jobset_put(js);
	jobset_put(others);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_says_what_would_be_measured),
		cmocka_unit_test(nothing_is_measured_twice),
		cmocka_unit_test(a_target_is_that_of_its_jobs_and_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
