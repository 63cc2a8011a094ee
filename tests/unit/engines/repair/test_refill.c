/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cables that came back get paths again, in steps that harm nobody. */
#include "engines/repair/repair.h"

#include "engines/predict/predict.h"
#include "engines/transition/transition.h"
#include "engines/verify/verify.h"
#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/tables/tables_diff.h"
#include "fabric/model/topology/without.h"
#include "tests/unit/kit/cable_events.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"
#include "tests/unit/kit/write_judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct engine *must_find(const char *name)
{
	struct err err;
	const struct engine *e = engine_find(name, &err);

	if (!e)
		fail_msg("%s", err.text);
	return e;
}

static void must_verify(const struct fabric *f, const struct tables *t)
{
	struct verdict *v;
	char text[300];

	assert_int_equal(verify_tables(&v, f, t, NULL, NULL, NULL), 0);
	verdict_sentence(text, sizeof(text), v, f);
	if (!verdict_ok(v))
		fail_msg("%s", text);
	verdict_free(v);
}

static struct tables *step_of(const struct fabric *f, const struct tables *t, double share,
			      unsigned threads)
{
	struct engine_params params = { .threads = threads, .current = t, .sar_change = share };

	return must_route(must_find("repair"), f, NULL, &params);
}

/* Any order of writes is safe, and nobody drains. */
static void must_be_harmless(const struct fabric *f, const struct tables *was,
			     const struct tables *t)
{
	struct judge_count count = { 0 };
	struct transition *plan;
	const char *what;
	struct err err;

	assert_int_equal(transition_plan(&plan, f, was, t, NULL, NULL, &err), 0);
	assert_int_equal(plan->ndrain, 0);
	assert_true(plan->nwaves <= 1);
	/* it tries orders one by one */
	what = f->nsw > 12 ? NULL : judge_transition(f, was, t, plan, true, 3, 1, &count);
	if (what)
		fail_msg("%s", what);
	transition_free(plan);
}

static uint32_t blocks_between(const struct fabric *f, const struct tables *a,
			       const struct tables *b)
{
	struct tables_diff *d = tables_diff_new(f, a, b);
	uint32_t n = d->nblocks;

	tables_diff_free(d);
	return n;
}

/* Tables of a time when so many cables were out, and no switch; fewer where that cannot be. */
static struct tables *tables_without(const struct fabric *f, uint32_t cables, const char *engine)
{
	struct engine_params params = { .threads = 1, .seed = 3 };
	struct cable_events e;
	struct fabric *less;
	struct tables *t;

	cable_events_init(&e, f, 5);
	while (cables-- && cable_events_happen(&e, LOSE_CABLE) && !cable_events_any_gone(&e))
		;
	if (cable_events_any_gone(&e))
		cable_events_all_back(&e);
	less = fabric_without(f, e.down);
	t = must_route(must_find(engine), less, NULL, &params);
	fabric_put(less);
	cable_events_done(&e);
	return t;
}

/* Returns the tables after the last step, which no other follows.  even: all cables are as fast. */
static struct tables *refilled(const struct fabric *f, struct tables *t, double share, bool even)
{
	uint32_t most = (uint32_t)(share * f->nsw * (f->max_lid / LFT_BLOCK + 1u));
	uint64_t routes = max_routes(f, t);

	most = most < 8 ? 8 : most;
	for (int i = 0; i < 200; i++) {
		struct tables *next = step_of(f, t, share, 1), *two = step_of(f, t, share, 2);
		uint32_t blocks = blocks_between(f, t, next);

		assert_same_tables(next, two);
		tables_put(two);
		assert_true(blocks <= most);
		must_verify(f, next);
		must_be_harmless(f, t, next);
		assert_true(max_routes(f, next) <= routes || !even);
		routes = max_routes(f, next);
		tables_put(t);
		t = next;
		if (!blocks)
			return t;
	}
	fail_msg("no end of steps");
	return t;
}

static double ebb_of(const struct fabric *f, const struct tables *t)
{
	static const struct ebb_opts opts = { .bisections = 50, .seed = 1, .threads = 1 };
	struct ebb ebb;

	assert_int_equal(predict_ebb(&ebb, f, t, &opts, NULL, NULL), 0);
	return ebb.mean;
}

static void cables_that_came_back_are_filled(void **state)
{
	static const struct {
		const char *net, *engine;
		uint32_t out;
	} cases[] = { { "xgft:h=2,m=6x12,w=1x6", "dfsssp", 2 },
		      { "dragonfly:p=2", "nue", 3 },
		      { "torus:dims=4x4x3,hosts=2,links=2", "nue", 4 },
		      { "fattree3:k=6", "updn", 3 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fabric *f = net_spec(cases[i].net);
		struct tables *t = tables_without(f, cases[i].out, cases[i].engine);
		struct tables *fresh =
			must_route(must_find(cases[i].engine), f, NULL,
				   &(struct engine_params){ .threads = 1, .seed = 3 });
		double before = ebb_of(f, t), after;

		t = refilled(f, t, .2, true);
		after = ebb_of(f, t);
		if (after < .96 * ebb_of(f, fresh) || after < before - .01)
			fail_msg("%s: eBB %.4f after steps, %.4f before, %.4f afresh", cases[i].net,
				 after, before, ebb_of(f, fresh));
		tables_put(fresh);
		tables_put(t);
		fabric_put(f);
	}
}

/* A cable at a tenth of its rate gets a tenth of the paths, as far as there are others. */
static void slower_cables_get_fewer_paths(void **state)
{
	struct fabric *f = net_spec("xgft:h=2,m=6x8,w=1x6");
	struct tables *t = even_paths(f);
	uint64_t *routes = count_routes(f, t), *later;
	uint32_t up = f->chan_off[f->term_sw[0]];

	(void)state;
	assert_true(routes[up] > 0);
	net_set_rate(f, up, 10000);
	t = refilled(f, t, .5, false);
	later = count_routes(f, t);
	if (2 * later[up] > routes[up])
		fail_msg("%u routes on the slow channel, %u before", (unsigned)later[up],
			 (unsigned)routes[up]);
	free(routes);
	free(later);
	tables_put(t);
	fabric_put(f);
}

static void random_fabrics_are_refilled_without_harm(void **state)
{
	static const char *const engines[] = { "nue", "dfsssp", "updn", "minhop" };

	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct net_opts opts = { .lmc = seed % 4 == 3, .random_lids = seed };
		struct fabric *f = net_random(seed, 6 + seed % 5, 14 + seed, 3, &opts);
		struct tables *t = tables_without(f, 1 + seed % 3, engines[seed % 4]);

		t = refilled(f, t, seed % 2 ? 1 : .1, true);
		tables_put(t);
		fabric_put(f);
	}
}

/* What is broken is repaired first, and nothing else then. */
static void a_step_waits_for_the_repair(void **state)
{
	struct fabric *f = net_spec("dragonfly:p=2"), *less;
	struct tables *t = even_paths(f), *was, *plain, *with;
	struct cable_events e;

	(void)state;
	cable_events_init(&e, f, 1);
	assert_true(cable_events_happen(&e, LOSE_CABLE));
	less = cable_events_fabric(&e);
	was = cable_events_tables(&e, less, t);
	plain = step_of(less, was, 0, 1);
	with = step_of(less, was, 1, 1);
	assert_same_tables(plain, with);
	tables_put(plain);
	tables_put(with);
	tables_put(was);
	tables_put(t);
	cable_events_done(&e);
	fabric_put(less);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cables_that_came_back_are_filled),
		cmocka_unit_test(slower_cables_get_fewer_paths),
		cmocka_unit_test(random_fabrics_are_refilled_without_harm),
		cmocka_unit_test(a_step_waits_for_the_repair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
