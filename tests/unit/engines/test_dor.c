/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/dor.h"

#include "engines/metrics/metrics.h"
#include "engines/verify/verify.h"
#include "fabric/base/mem.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/shuffled.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_clean(const char *what, const struct fabric *f, const struct tables *t,
			 unsigned vls)
{
	struct verdict *v;
	char why[256];

	assert_int_equal(verify_tables(&v, f, t, NULL, NULL, NULL), 0);
	verdict_sentence(why, sizeof(why), v, f);
	if (!verdict_ok(v))
		fail_msg("%s: %s", what, why);
	assert_int_equal(v->vls_used, vls);
	assert_int_equal(t->vls, vls);
	verdict_free(v);
}

static void whole_grids_need_one_vl_and_two_when_they_have_rings(void **state)
{
	static const struct {
		const char *spec;
		unsigned vls;
	} want[] = {
		{ "torus:dims=7,hosts=2", 2 },
		{ "torus:dims=5x6,hosts=1", 2 },
		{ "torus:dims=5x5x6,links=3,lmc=1", 2 },
		{ "torus:dims=5x5x5x5,hosts=1", 2 },
		{ "torus:dims=2x3x5,hosts=2", 2 },
		{ "torus:dims=4x4x4,hosts=2", 1 },
		{ "torus:dims=3x4x2,hosts=2", 1 },
		{ "torus:dims=4,hosts=3", 1 },
		{ "hyperx:dims=5x4,hosts=3", 1 },
		{ "hyperx:dims=3x3x3,hosts=1,lmc=2,links=2", 1 },
		{ "hyperx:dims=2x2x2x2,hosts=1", 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		for (uint64_t seed = 0; seed <= 2; seed++) {
			struct fabric *f = shuffled_topo(want[i].spec, seed);
			struct tables *t = must_route(&engine_dor, f, NULL, NULL);

			assert_clean(want[i].spec, f, t, want[i].vls);
			if (f->nsw < 100)
				assert_shortest(f, t);
			tables_put(t);
			fabric_put(f);
		}
}

static void a_chain_needs_one_vl(void **state)
{
	struct fabric *f = net_chain(6, 2, FAB_NONE, NULL);
	struct tables *t = must_route(&engine_dor, f, NULL, NULL);

	(void)state;
	assert_clean("chain", f, t, 1);
	assert_shortest(f, t);
	tables_put(t);
	fabric_put(f);
}

/* All channels of a dimension carry the same when the shortest way round is the only one; with
 * an even ring the two ways round are taken by turns. */
static void loads_of_a_torus_are_even_on_parallel_cables_too(void **state)
{
	static const struct {
		const char *spec;
		uint64_t max;
	} want[] = {
		{ "torus:dims=7x7,hosts=2", 7 * 2 * 2 * 6 },
		{ "torus:dims=5x5,links=2,hosts=4", 5 * 4 * 4 * 3 / 2 },
		{ "hyperx:dims=4x3,hosts=2", 4 * 2 * 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct fabric *f = shuffled_topo(want[i].spec, i);
		struct tables *t = must_route(&engine_dor, f, NULL, NULL);

		assert_int_equal(max_routes(f, t), want[i].max);
		tables_put(t);
		fabric_put(f);
	}
}

static void a_hyperx_with_missing_cables_is_routed_by_detours(void **state)
{
	char spec[64];

	(void)state;
	for (unsigned seed = 1; seed <= 12; seed++) {
		struct notes notes = { 0 };
		struct engine_params p = { .notes = &notes };
		struct verdict *v;
		struct fabric *f;
		struct tables *t;

		snprintf(spec, sizeof(spec), "hyperx:dims=6x5,hosts=2,fail=%u,seed=%u,lmc=%u",
			 2 + seed % 4, seed, seed % 2);
		f = shuffled_topo(spec, seed % 3);
		t = must_route(&engine_dor, f, NULL, &p);
		assert_int_equal(verify_tables(&v, f, t, NULL, NULL, NULL), 0);
		assert_true(verdict_ok(v));
		assert_int_equal(notes_find(&notes, "detours")->value, 2 + seed % 4);
		assert_in_range(v->hops_max, 2, 4);
		verdict_free(v);
		notes_done(&notes);
		tables_put(t);
		fabric_put(f);
	}
}

static void a_ring_on_one_vl_is_refused(void **state)
{
	struct fabric *f = net_ring(6, 1, NULL), *four = net_ring(4, 1, NULL);
	struct engine_params p = { .vls = 1 };
	struct tables *t = NULL;
	struct err err;

	(void)state;
	assert_int_equal(engine_run(&engine_dor, &t, f, NULL, NULL, &p, NULL, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "needs 2 VLs"));
	t = must_route(&engine_dor, four, NULL, &p);
	assert_clean("ring of four", four, t, 1);
	tables_put(t);
	fabric_put(f);
	fabric_put(four);
}

static void what_is_no_grid_is_refused_with_the_reason(void **state)
{
	static const char *const specs[] = {
		"fattree2:leaves=6,spines=4,hosts=2", "dragonfly:p=2", "slimfly:q=5",
		"torus:dims=7x7,hosts=1,fail=2",      "kautz:b=3,n=2",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fabric *f = shuffled_topo(specs[i], 0);
		struct err err = { "" };

		assert_int_equal(engine_dor.suits(f, &err), -EINVAL);
		assert_non_null(strstr(err.text, "this is no"));
		fabric_put(f);
	}
}

static void a_hyperx_that_lacks_too_much_is_refused_and_names_a_pair(void **state)
{
	uint32_t refused = 0;
	char spec[64];

	(void)state;
	for (unsigned seed = 1; seed <= 60; seed++) {
		struct err err = { "" };
		struct fabric *f;

		snprintf(spec, sizeof(spec), "hyperx:dims=3x3x2,hosts=1,fail=6,seed=%u", seed);
		f = shuffled_topo(spec, 0);
		if (engine_dor.suits(f, &err)) {
			refused += strstr(err.text, "in one or two hops") != NULL;
		} else {
			struct tables *t = must_route(&engine_dor, f, NULL, NULL);

			assert_complete(f, t);
			tables_put(t);
		}
		fabric_put(f);
	}
	assert_true(refused > 0);
}

static void the_same_fabric_gives_the_same_bytes(void **state)
{
	struct fabric *f = shuffled_topo("torus:dims=6x5,links=2,hosts=3,lmc=1", 5);
	struct engine_params p = { .threads = 2, .seed = 7 };
	struct tables *a = must_route(&engine_dor, f, NULL, NULL);
	struct tables *b = must_route(&engine_dor, f, NULL, &p);

	(void)state;
	assert_same_tables(a, b);
	assert_int_equal(tables_sl2vl_bytes(a), tables_sl2vl_bytes(b));
	assert_memory_equal(a->sl2vl, b->sl2vl, tables_sl2vl_bytes(a));
	tables_put(a);
	tables_put(b);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_grids_need_one_vl_and_two_when_they_have_rings),
		cmocka_unit_test(a_chain_needs_one_vl),
		cmocka_unit_test(loads_of_a_torus_are_even_on_parallel_cables_too),
		cmocka_unit_test(a_hyperx_with_missing_cables_is_routed_by_detours),
		cmocka_unit_test(a_ring_on_one_vl_is_refused),
		cmocka_unit_test(what_is_no_grid_is_refused_with_the_reason),
		cmocka_unit_test(a_hyperx_that_lacks_too_much_is_refused_and_names_a_pair),
		cmocka_unit_test(the_same_fabric_gives_the_same_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
