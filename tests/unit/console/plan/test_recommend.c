/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which routing is recommended, and in what words; of reports that are made up. */
#include "console/plan/recommend.h"

#include "fabric/base/memory/mem.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define MOST 4

struct world {
	struct fabric f;
	struct tables t;
	struct verdict v[MOST];
	struct route_report r[MOST];
	struct tables_diff diff[MOST];
	struct recommend_case c[MOST];
	size_t n;
	struct recommendation out;
};

/* One that passes all checks; its jobs take that long, NAN: there are none. */
static struct route_report *add(struct world *w, const char *name, double time, double error,
				uint32_t vls, double hops)
{
	size_t i = w->n++;
	struct route_report *r = &w->r[i];
	struct pattern_time *x = &r->time.of[PREDICT_ALLTOALL];

	w->v[i] = (struct verdict){ .connected = true,
				    .loop_free = true,
				    .deadlock_free = true,
				    .vls_fit = true,
				    .vls_used = vls,
				    .sls_used = 1,
				    .hops_mean = hops };
	*r = (struct route_report){ .f = &w->f, .t = &w->t, .v = &w->v[i] };
	r->pattern = PREDICT_ALLTOALL;
	r->time.known = true;
	r->time.jobs = !isnan(time);
	x->mean = (struct phase_mean){ time, error };
	x->worst = (struct phase_mean){ 2 * time, 0 };
	x->worst_job = 4711;
	w->c[i] = (struct recommend_case){ .name = name, .report = r };
	return r;
}

static void shifts(struct route_report *r, double sync, double rate)
{
	r->time.shift.flows = 1;
	r->time.shift.sync.mean = sync;
	r->time.shift.rate.mean = rate;
}

static void changes(struct world *w, size_t i, uint32_t blocks)
{
	w->diff[i] = (struct tables_diff){ .nblocks = blocks, .blocks_all = 100 };
	w->r[i].diff = &w->diff[i];
}

static void refuses(struct world *w, const char *name, const char *why)
{
	w->c[w->n++] = (struct recommend_case){ .name = name, .why = why };
}

static void choose(struct world *w)
{
	recommendation_free(&w->out);
	recommend(&w->out, w->c, w->n);
}

#define assert_says(text, part)                                                                    \
	do {                                                                                       \
		if (!(text) || !strstr(text, part))                                                \
			fail_msg("\"%s\" does not say \"%s\"", (text) ? (text) : "", part);        \
	} while (0)

static int setup(void **state)
{
	*state = xcalloc(1, sizeof(struct world));
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	recommendation_free(&w->out);
	free(w);
	return 0;
}

static void none_is_recommended_where_none_passes(void **state)
{
	struct world *w = *state;

	add(w, "minhop", 1, 0, 1, 2);
	w->v[0].deadlock_free = false;
	refuses(w, "dor", "this is no grid");
	choose(w);
	assert_int_equal(w->out.pick, 2);
	assert_says(w->out.why, "No recommendation");
	assert_null(w->out.cost);
	assert_string_equal(w->out.reason[0], "is not free of deadlocks");
	assert_string_equal(w->out.reason[1], "gave no routing");
	assert_string_equal(w->out.change, "dor could not be judged: this is no grid.");
}

/* What can be changed comes first, with its reason; the shape of the fabric cannot. */
static void engines_for_other_fabrics_are_only_named(void **state)
{
	struct world *w = *state;

	refuses(w, "dor", "this is no grid");
	w->c[0].unsuited = true;
	add(w, "minhop", 1, 0, 1, 2);
	refuses(w, "parx", "raise the LMC");
	refuses(w, "ftree", "this is no tree");
	w->c[3].unsuited = true;
	choose(w);
	assert_string_equal(w->out.change, "parx could not be judged: raise the LMC. Not for a "
					   "fabric of this shape: dor, ftree.");
}

static void the_only_candidate_is_taken(void **state)
{
	struct world *w = *state;

	add(w, "minhop", 1, 0, 1, 2);
	w->v[0].connected = false;
	add(w, "updn", 1.5, .02, 1, 2.25);
	choose(w);
	assert_int_equal(w->out.pick, 1);
	assert_string_equal(w->out.why,
			    "Recommended: updn: time of jobs 1.500 +- 0.020 on average (alltoall), "
			    "3.000 of the slowest, job 4711.");
	assert_string_equal(w->out.cost, "1 VL, 2.25 hops on average, LMC 0");
	assert_null(w->out.change);
}

static void the_time_of_jobs_decides(void **state)
{
	struct world *w = *state;

	shifts(add(w, "dfsssp", 1.6, .01, 1, 2), .9, .9);
	shifts(add(w, "sar", 1.2, .01, 4, 3), .3, .3);
	choose(w);
	assert_int_equal(w->out.pick, 1);
	assert_string_equal(w->out.reason[0], "time of jobs 1.600 +- 0.010, 33.3 % worse than sar");
	assert_says(w->out.why, "Next is dfsssp: ");
}

static void without_jobs_shifts_decide(void **state)
{
	struct world *w = *state;

	shifts(add(w, "dfsssp", NAN, 0, 1, 2), .5, .9);
	shifts(add(w, "ftree", NAN, 0, 1, 2), 1, .8);
	shifts(add(w, "updn", NAN, 0, 1, 2), .995, .9);
	choose(w);
	assert_int_equal(w->out.pick, 2); /* as good in sync, and better in the rate */
	assert_says(w->out.why, "updn: sync 0.995, mean rate 0.900. Next is");
	assert_says(w->out.reason[1], "mean rate 0.800, 11.1 % worse than updn");
	assert_says(w->out.reason[0], "sync 0.500");
}

static void among_equals_cost_decides(void **state)
{
	struct world *w = *state;

	add(w, "a", 1.200, .001, 2, 2);
	add(w, "b", 1.205, .001, 1, 2.5);
	add(w, "c", 1.209, .001, 1, 2.5);
	changes(w, 1, 20);
	changes(w, 2, 10);
	choose(w);
	assert_int_equal(w->out.pick, 2);
	assert_says(w->out.reason[0], "as good as c, more VLs");
	assert_says(w->out.reason[1], "as good as c, more blocks changed");
	assert_says(w->out.cost, "10 of 100 LFT blocks");
	changes(w, 2, 20);
	choose(w);
	assert_int_equal(w->out.pick, 1); /* the first */
	assert_says(w->out.reason[2], "as good as b, either will do");
	w->v[2].hops_mean = 2;
	choose(w);
	assert_int_equal(w->out.pick, 2);
}

static void what_chance_explains_is_a_tie(void **state)
{
	struct world *w = *state;

	add(w, "a", 1.20, .05, 2, 2);
	add(w, "b", 1.24, .05, 1, 2);
	choose(w);
	assert_int_equal(w->out.pick, 1);
	w->r[0].time.of[PREDICT_ALLTOALL].mean.error = .03;
	choose(w);
	assert_int_equal(w->out.pick, 0);
}

static void a_better_one_that_needs_a_vl_more_is_named(void **state)
{
	struct world *w = *state;
	struct route_report *more;

	add(w, "updn", 2, .01, 1, 2);
	add(w, "nue:3", 1.5, .01, 3, 2);
	w->v[1].vls_fit = false;
	w->v[1].misfit_vl = 2;
	w->v[1].misfit_op_vls = 2;
	choose(w);
	assert_int_equal(w->out.pick, 0);
	assert_string_equal(w->out.reason[1], "needs 3 VLs, and links have 2");
	assert_string_equal(w->out.change,
			    "With 3 VLs nue:3 would be better: time of jobs 1.500 +- 0.010.");
	more = add(w, "with VLs", 1.4, .01, 4, 2);
	w->n--;
	refuses(w, "dfsssp", "it needs 4 VLs, and 2 may be used");
	w->c[2].with_vls = more;
	choose(w);
	assert_int_equal(w->out.pick, 0);
	assert_says(w->out.change, "With 4 VLs dfsssp would be better: time of jobs 1.400");
	w->r[2].time.of[PREDICT_ALLTOALL].mean.mean = 2;
	w->r[1].time.of[PREDICT_ALLTOALL].mean.mean = 2;
	choose(w);
	assert_null(w->out.change);
}

static void one_for_the_plugin_alone_says_so(void **state)
{
	struct world *w = *state;

	add(w, "installed", 3, .01, 1, 2);
	w->c[0].installed = true;
	add(w, "updn", 2, .01, 1, 2);
	changes(w, 1, 5);
	add(w, "sar", 1, .01, 4, 2);
	changes(w, 2, 5);
	w->diff[2].sl_pairs = 7;
	choose(w);
	assert_int_equal(w->out.pick, 2);
	assert_says(w->out.cost, "OpenSM's plugin");
	assert_says(w->out.change, "Without the plugin the best is updn: time of jobs 2.000");
	w->r[0].time.of[PREDICT_ALLTOALL].mean.mean = 1;
	choose(w);
	assert_says(w->out.why, "Recommended: keep what is installed");
	assert_null(w->out.change);
}

static void what_gets_slower_and_base_lids_are_costs(void **state)
{
	static struct message_metrics messages[MESSAGE_SIZES];
	struct world *w = *state;
	struct route_report *r = add(w, "parx", 2, 0, 2, 2);

	messages[MESSAGES_BASE].time = r->time;
	messages[MESSAGES_BASE].time.of[PREDICT_ALLTOALL].mean.mean = 3;
	r->messages = messages;
	r->gate.demand = (struct time_change){ 1, 1.5, 0 };
	choose(w);
	assert_says(w->out.cost, "on base LIDs alone: time of jobs 3.000");
	assert_says(w->out.cost, "; slower than the installed routing: ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(none_is_recommended_where_none_passes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_only_candidate_is_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(engines_for_other_fabrics_are_only_named, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_time_of_jobs_decides, setup, teardown),
		cmocka_unit_test_setup_teardown(without_jobs_shifts_decide, setup, teardown),
		cmocka_unit_test_setup_teardown(among_equals_cost_decides, setup, teardown),
		cmocka_unit_test_setup_teardown(what_chance_explains_is_a_tie, setup, teardown),
		cmocka_unit_test_setup_teardown(a_better_one_that_needs_a_vl_more_is_named, setup,
						teardown),
		cmocka_unit_test_setup_teardown(one_for_the_plugin_alone_says_so, setup, teardown),
		cmocka_unit_test_setup_teardown(what_gets_slower_and_base_lids_are_costs, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
