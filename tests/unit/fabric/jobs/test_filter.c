/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/jobs/filter.h"

#include "fabric/jobs/job_list.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NOW 1000000

/* Four leaves of four hosts n0000..n0015, two spines. */
static const struct fabric *tree(void)
{
	return net_tree(4, 2, 4, NULL);
}

/* A job on the hosts first..last, counted from 1. */
struct span {
	uint64_t id;
	uint32_t first, last;
	int64_t start_s;
};

static struct job_list *list_of(const struct span *v, uint32_t n)
{
	struct job_list *l = job_list_new("test", NOW);

	for (uint32_t i = 0; i < n; i++) {
		char text[17][8];
		const char *hosts[17];
		uint32_t k = 0;

		for (uint32_t h = v[i].first; h <= v[i].last && k < 17; h++, k++) {
			snprintf(text[k], sizeof(text[k]), "n%04u", h - 1);
			hosts[k] = text[k];
		}
		job_list_add(l, &(struct job_rec){ .id = v[i].id,
						   .hosts = hosts,
						   .nhost = k,
						   .start_s = v[i].start_s });
	}
	l->pending = 5;
	job_list_sort(l);
	return l;
}

static struct jobset *set_of(const struct fabric *f, const struct span *v, uint32_t n)
{
	struct job_list *l = list_of(v, n);
	struct jobset *js;

	jobset_from_list(&js, l, f, NULL);
	job_list_put(l);
	return js;
}

static struct job_change change_of(const struct span *a, uint32_t na, const struct span *b,
				   uint32_t nb)
{
	const struct fabric *f = tree();
	struct jobset *x = set_of(f, a, na), *y = set_of(f, b, nb);
	struct job_change c;

	job_change(&c, x, y);
	assert_int_equal(c.changed, !jobset_same(x, y));
	jobset_put(x);
	jobset_put(y);
	fabric_put(f);
	return c;
}

static void a_list_maps_to_terminals_by_node_name(void **state)
{
	const struct span v[] = { { 1, 1, 4, 7 }, { 2, 5, 12, 8 }, { 3, 16, 17, 9 } };
	const struct fabric *f = tree();
	struct job_list *l = list_of(v, 3);
	struct jobset *js;

	(void)state;
	assert_int_equal(jobset_from_list(&js, l, f, NULL), 0);
	assert_int_equal(js->njob, 3);
	assert_int_equal(js->nmulti, 1);
	assert_int_equal(js->pending, 5);
	assert_int_equal(js->time_s, NOW);
	assert_int_equal(js->jobs[0].id, 2);
	assert_int_equal(js->jobs[0].nterm, 8);
	assert_int_equal(js->jobs[0].nsw, 2);
	assert_string_equal(f->term_name[js->jobs[1].terms[0]], "n0000");
	/* n0016 is not there */
	assert_int_equal(js->jobs[2].unknown, 1);
	assert_int_equal(js->jobs[2].nterm, 1);
	jobset_put(js);
	job_list_put(l);
	fabric_put(f);
}

static void names_that_all_differ_are_told_with_an_example_of_both(void **state)
{
	static const char *const hosts[] = { "node7" };
	const struct fabric *f = tree();
	struct job_list *l = job_list_new("slurm", NOW);
	struct jobset *js;
	struct err err;

	(void)state;
	job_list_add(l, &(struct job_rec){ .id = 1, .hosts = hosts, .nhost = 1 });
	assert_int_equal(jobset_from_list(&js, l, f, &err), -ENOENT);
	assert_non_null(strstr(err.text, "node7"));
	assert_non_null(strstr(err.text, "n0000"));
	assert_int_equal(js->njob, 1);
	jobset_put(js);
	job_list_put(l);
	fabric_put(f);
}

static void an_empty_list_is_no_error(void **state)
{
	const struct fabric *f = tree();
	struct job_list *l = job_list_new("slurm", NOW);
	struct jobset *js;

	(void)state;
	assert_int_equal(jobset_from_list(&js, l, f, NULL), 0);
	assert_int_equal(js->njob, 0);
	jobset_put(js);
	job_list_put(l);
	fabric_put(f);
}

static void new_ids_on_the_same_nodes_are_no_change(void **state)
{
	const struct span a[] = { { 1, 1, 8, 0 }, { 2, 9, 16, 0 } };
	const struct span b[] = { { 8, 9, 16, 0 }, { 9, 1, 8, 0 } };
	struct job_change c = change_of(a, 2, b, 2);

	(void)state;
	assert_false(c.changed);
	assert_int_equal(c.kept, 2);
}

static void jobs_on_one_switch_are_no_change(void **state)
{
	const struct span a[] = { { 1, 1, 8, 0 } };
	const struct span b[] = { { 1, 1, 8, 0 }, { 2, 9, 12, 0 }, { 3, 13, 13, 0 } };
	struct job_change c = change_of(a, 1, b, 3);

	(void)state;
	assert_false(c.changed);
	assert_int_equal(c.started + c.ended, 0);
}

static void started_and_ended_jobs_are_counted(void **state)
{
	const struct span a[] = { { 1, 1, 5, 0 }, { 2, 7, 10, 0 }, { 3, 11, 16, 0 } };
	const struct span b[] = { { 2, 7, 10, 0 }, { 4, 1, 6, 0 } };
	struct job_change c = change_of(a, 3, b, 2);

	(void)state;
	assert_true(c.changed);
	assert_int_equal(c.kept, 1);
	assert_int_equal(c.started, 1);
	assert_int_equal(c.ended, 2);
}

static void two_jobs_on_the_same_nodes_count_twice(void **state)
{
	const struct span a[] = { { 1, 1, 8, 0 } };
	const struct span b[] = { { 1, 1, 8, 0 }, { 2, 1, 8, 0 } };
	struct job_change c = change_of(a, 1, b, 2);

	(void)state;
	assert_true(c.changed);
	assert_int_equal(c.started, 1);
	assert_int_equal(c.kept, 1);
}

static void no_jobs_at_all_is_compared_too(void **state)
{
	const struct span a[] = { { 1, 1, 8, 0 } };
	const struct fabric *f = tree();
	struct jobset *js = set_of(f, a, 1);
	struct job_change c;

	(void)state;
	job_change(&c, NULL, js);
	assert_int_equal(c.started, 1);
	job_change(&c, js, NULL);
	assert_int_equal(c.ended, 1);
	job_change(&c, NULL, NULL);
	assert_false(c.changed);
	jobset_put(js);
	fabric_put(f);
}

static uint32_t passing(const struct job_filter *flt)
{
	/* a young one, an old one, one of unknown age, a small one, one below a single switch */
	const struct span v[] = { { 1, 1, 8, NOW - 599 },
				  { 2, 5, 12, NOW - 600 },
				  { 3, 9, 16, 0 },
				  { 4, 4, 5, NOW - 9999 },
				  { 5, 1, 4, NOW - 9999 } };
	const struct fabric *f = tree();
	struct jobset *all = set_of(f, v, 5), *some = job_filter_apply(flt, all, f, NOW);
	uint32_t mask = 0;

	for (uint32_t i = 0; i < some->njob; i++)
		mask |= 1u << some->jobs[i].id;
	assert_int_equal(some->nmulti, some->njob);
	assert_int_equal(some->time_s, all->time_s);
	jobset_put(all);
	jobset_put(some);
	fabric_put(f);
	return mask;
}

static void the_filter_keeps_jobs_of_two_switches_and_more(void **state)
{
	(void)state;
	assert_int_equal(passing(&(struct job_filter){ 0 }), 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4);
}

static void young_jobs_are_left_out_until_they_are_old_enough(void **state)
{
	(void)state;
	assert_int_equal(passing(&(struct job_filter){ .min_age_s = 600 }),
			 1 << 2 | 1 << 3 | 1 << 4);
}

static void small_jobs_are_left_out(void **state)
{
	(void)state;
	assert_int_equal(passing(&(struct job_filter){ .min_nodes = 3 }), 1 << 1 | 1 << 2 | 1 << 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_maps_to_terminals_by_node_name),
		cmocka_unit_test(names_that_all_differ_are_told_with_an_example_of_both),
		cmocka_unit_test(an_empty_list_is_no_error),
		cmocka_unit_test(new_ids_on_the_same_nodes_are_no_change),
		cmocka_unit_test(jobs_on_one_switch_are_no_change),
		cmocka_unit_test(started_and_ended_jobs_are_counted),
		cmocka_unit_test(two_jobs_on_the_same_nodes_count_twice),
		cmocka_unit_test(no_jobs_at_all_is_compared_too),
		cmocka_unit_test(the_filter_keeps_jobs_of_two_switches_and_more),
		cmocka_unit_test(young_jobs_are_left_out_until_they_are_old_enough),
		cmocka_unit_test(small_jobs_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
