/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/app/update/option_tries.h"

#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

struct world {
	struct fabric *f;
	struct tables *from;
	struct jobset *jobs;
	struct tables_diff diff;
	struct option_tries tries;
	struct plan_preview x; /* the newest */
};

static void world_up(struct world *w)
{
	*w = (struct world){ .f = net_tree(4, 2, 2, NULL) };
	w->from = kit_bfs(w->f);
	w->jobs = kit_jobs(w->f, (uint64_t[]){ 1, 2, 4, 1, 2, 4, 0, 0 }, 3);
}

static void world_down(struct world *w)
{
	option_tries_clear(&w->tries);
	jobset_put(w->jobs);
	tables_put(w->from);
	fabric_put(w->f);
}

/* As when an engine has computed a plan that writes so many blocks. */
static void compute(struct world *w, uint32_t engine, unsigned vls, uint32_t blocks)
{
	w->diff.nblocks = blocks;
	w->x = (struct plan_preview){ .engine = engine,
				      .options.params = { .seed = 1, .vls = vls },
				      .from = w->from,
				      .jobs = w->jobs,
				      .diff = &w->diff };
	option_tries_take(&w->tries, &w->x, w->f);
}

/* The newest is held against one of so many VLs and blocks. */
static void assert_was(const struct world *w, unsigned vls, uint32_t blocks)
{
	assert_true(w->x.was.known);
	assert_int_equal(w->x.was.options.params.vls, vls);
	assert_true(w->x.was.metric[OPTION_BLOCKS] == blocks);
}

static void a_result_is_held_against_the_newest_of_its_engine_with_other_options(void **state)
{
	struct world w;

	(void)state;
	world_up(&w);
	compute(&w, 0, 4, 40);
	assert_false(w.x.was.known);
	compute(&w, 1, 2, 99); /* of another engine */
	assert_false(w.x.was.known);
	compute(&w, 0, 2, 20);
	assert_was(&w, 4, 40);
	compute(&w, 0, 3, 30);
	assert_was(&w, 2, 20);
	compute(&w, 0, 3, 31); /* the same again: still against what was before */
	assert_was(&w, 2, 20);
	compute(&w, 0, 2, 21);
	assert_was(&w, 3, 31);
	compute(&w, 1, 4, 98);
	assert_was(&w, 2, 99);
	world_down(&w);
}

static void results_for_other_jobs_or_from_other_tables_are_not_compared(void **state)
{
	struct tables *same, *other;
	struct jobset *jobs;
	struct world w;

	(void)state;
	world_up(&w);
	compute(&w, 0, 4, 40);
	same = kit_bfs(w.f); /* read again */
	tables_put(w.from);
	w.from = same;
	compute(&w, 0, 2, 20);
	assert_was(&w, 4, 40);
	jobs = kit_jobs(w.f, (uint64_t[]){ 1, 2, 1, 2, 0, 0, 0, 0 }, 2);
	jobset_put(w.jobs);
	w.jobs = jobs;
	compute(&w, 0, 4, 44);
	assert_false(w.x.was.known);
	compute(&w, 0, 2, 22);
	assert_was(&w, 4, 44);
	other = kit_bfs(w.f);
	tables_row(other, 0)[w.f->term_lid[7]] ^= 1;
	tables_put(w.from);
	w.from = other;
	compute(&w, 0, 4, 41);
	assert_false(w.x.was.known);
	world_down(&w);
}

static void only_the_last_results_are_kept(void **state)
{
	struct world w;

	(void)state;
	world_up(&w);
	compute(&w, 0, 15, 1);
	for (unsigned i = 1; i <= OPTION_TRIES; i++)
		compute(&w, 1, i, i);
	assert_int_equal(w.tries.n, OPTION_TRIES);
	compute(&w, 0, 14, 1); /* its own one has made room */
	assert_false(w.x.was.known);
	world_down(&w);
}

static void assert_options(const struct preview_options *was, const struct preview_options *now,
			   const char *want)
{
	char text[200];

	assert_string_equal(option_result_options(text, sizeof(text), was, now), want);
}

static void the_options_that_differ_are_named_with_both_values(void **state)
{
	struct preview_options a = { .params.seed = 1 }, b = a;

	(void)state;
	assert_options(&a, &b, "");
	b.params.threads = 7; /* changes no result */
	assert_options(&a, &b, "");
	b.params.vls = 2;
	b.params.seed = 7;
	b.params.spread = true;
	assert_options(&a, &b, "VLs default -> 2, seed 1 -> 7, spread VLs no -> yes");
	assert_options(&b, &a, "VLs 2 -> default, seed 7 -> 1, spread VLs yes -> no");
	b = a;
	b.params.sar_change = 0.2;
	b.params.sar_slower = true; /* not in the form: as on the command line */
	assert_options(&a, &b, "change default -> 20%, sar-slower no -> yes");
	b = a;
	snprintf(b.text[PARAM_EXCLUDE], PATH_TEXT, "spine01,spine02,spine03,spine04");
	snprintf(b.text[PARAM_ROOTS], PATH_TEXT, "/etc/opensm/roots.txt");
	assert_options(
		&a, &b,
		"exclude nothing -> spine01,spine02,spine03,.., roots detected -> roots.txt");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_result_is_held_against_the_newest_of_its_engine_with_other_options),
		cmocka_unit_test(results_for_other_jobs_or_from_other_tables_are_not_compared),
		cmocka_unit_test(only_the_last_results_are_kept),
		cmocka_unit_test(the_options_that_differ_are_named_with_both_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
