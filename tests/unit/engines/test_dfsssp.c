/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/dfsssp.h"

#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void routes_every_lid_shortest_and_without_deadlock(void **state)
{
	(void)state;
	for (int lmc = 0; lmc <= 2; lmc++) {
		struct net_opts o = { .lmc = lmc, .storage = 2, .aggregation = 3 };

		for (uint64_t seed = 1; seed <= 12; seed++) {
			struct fabric *f =
				net_random(seed, 4 + (uint32_t)seed, 9 + 2 * (uint32_t)seed, 3, &o);
			struct tables *t = must_route(&engine_dfsssp, f, NULL, NULL);

			assert_complete(f, t);
			assert_shortest(f, t);
			assert_no_deadlock(f, t);
			tables_put(t);
			fabric_put(f);
		}
	}
}

static void balances_a_full_tree_perfectly(void **state)
{
	struct fabric *f = net_tree(6, 4, 4, NULL);
	struct tables *t = must_route(&engine_dfsssp, f, NULL, NULL);

	(void)state;
	/* 4 hosts x 20 others over 4 uplinks */
	assert_int_equal(max_routes(f, t), 20);
	assert_int_equal(t->vls, 1);
	assert_int_equal(t->sl_kind, SL_CONST);
	tables_put(t);
	fabric_put(f);
}

static void lids_of_one_port_take_different_spines(void **state)
{
	struct net_opts o = { .lmc = 2 };
	struct fabric *f = net_tree(3, 4, 2, &o);
	struct tables *t = must_route(&engine_dfsssp, f, NULL, NULL);
	uint32_t ports = 0;

	(void)state;
	for (uint32_t k = 0; k < 4; k++)
		ports |= 1u << tables_row(t, f->term_sw[5])[f->term_lid[0] + k];
	assert_int_equal(__builtin_popcount(ports), 4);
	tables_put(t);
	fabric_put(f);
}

static void same_input_gives_the_same_bytes(void **state)
{
	struct net_opts o = { .lmc = 1, .random_lids = 7 };
	struct fabric *f = net_random(5, 20, 45, 3, &o);
	struct engine_params one = { .threads = 1 }, four = { .threads = 4 };
	struct tables *a = must_route(&engine_dfsssp, f, NULL, &one);
	struct tables *b = must_route(&engine_dfsssp, f, NULL, &four);

	(void)state;
	assert_same_tables(a, b);
	tables_put(a);
	tables_put(b);
	fabric_put(f);
}

static void a_disconnected_fabric_is_refused_with_names(void **state)
{
	struct fabric *f = net_chain(4, 1, 1, NULL);
	struct engine_params p = { 0 };
	struct tables *t = NULL;
	struct err err = { "" };

	(void)state;
	assert_int_equal(engine_dfsssp.route(&t, f, NULL, NULL, &p, NULL, &err), -ENETUNREACH);
	assert_null(t);
	assert_non_null(strstr(err.text, "n0000"));
	assert_non_null(strstr(err.text, "n0002"));
	assert_int_equal(engine_dfsssp.suits(f, &err), -ENETUNREACH);
	fabric_put(f);
}

struct watch {
	struct progress p;
	unsigned paths, layers, stop_at;
};

static void watch_report(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct watch *w = ctx;

	assert_true(done <= total);
	w->paths += !strcmp(step, "paths");
	w->layers += !strcmp(step, "layers");
	if (w->paths + w->layers == w->stop_at)
		atomic_store(&w->p.cancel, true);
}

static void tells_its_steps_and_stops_at_a_cancel(void **state)
{
	struct fabric *f = net_tree(6, 4, 4, NULL);
	struct engine_params p = { 0 };
	struct tables *t = NULL;

	(void)state;
	for (unsigned stop = 0; stop <= 4; stop++) {
		struct watch w = { .p = { .report = watch_report }, .stop_at = stop };
		int rc;

		w.p.ctx = &w;
		rc = engine_dfsssp.route(&t, f, NULL, NULL, &p, &w.p, NULL);
		assert_int_equal(rc, stop ? -ECANCELED : 0);
		if (rc)
			continue;
		assert_true(w.paths >= 2);
		assert_true(w.layers >= 2);
		tables_put(t);
	}
	fabric_put(f);
}

/* 160 terminals with 128 LIDs each: 6 hops of P*P do not fit in 31 bits. */
static void routes_the_chain_with_lmc_7(void **state)
{
	struct net_opts o = { .lmc = 7 };
	struct fabric *f = net_chain(8, 20, FAB_NONE, &o);
	struct tables *t = must_route(&engine_dfsssp, f, NULL, NULL);

	(void)state;
	assert_complete(f, t);
	assert_int_equal(t->vls, 1);
	tables_put(t);
	fabric_put(f);
}

/* The most even paths take 7 there; refused with 1, others are named that need only 6. */
static void the_number_named_by_a_refusal_is_enough(void **state)
{
	struct fabric *f = net_spec("torus:dims=4x4x4,hosts=4");
	struct engine_params p = { .vls = 1 };
	struct tables *t = NULL;
	struct err err;
	const char *need;

	(void)state;
	assert_int_equal(engine_dfsssp.route(&t, f, NULL, NULL, &p, NULL, &err), -ENOSPC);
	need = strstr(err.text, "need ");
	assert_non_null(need);
	p.vls = (unsigned)strtoul(need + strlen("need "), NULL, 10);
	assert_int_equal(p.vls, 6);
	t = must_route(&engine_dfsssp, f, NULL, &p);
	assert_int_equal(t->vls, p.vls);
	assert_no_deadlock(f, t);
	tables_put(t);
	fabric_put(f);
}

/* Paths from spine to spine go down and up again: with shortest ones 2 VLs, with minhop 3. */
static void aggregation_nodes_on_spines_take_no_vl_of_their_own(void **state)
{
	static const char *const engines[] = { "dfsssp", "minhop" };
	struct fabric *tree =
		net_spec("fattree3:pods=6,leaves=9,aggs=9,cores=3,parallel=3,hosts=10");
	struct fabric *plain = net_with_extras(tree, false, false);
	struct fabric *f = net_with_extras(tree, false, true);

	(void)state;
	assert_int_equal(f->nend - f->nterm, f->nsw);
	for (size_t i = 0; i < sizeof(engines) / sizeof(*engines); i++) {
		const struct engine *e = engine_find(engines[i], NULL);
		struct tables *t = must_route(e, f, NULL, NULL);
		struct tables *u = must_route(e, plain, NULL, NULL);

		assert_complete(f, t);
		assert_no_deadlock(f, t);
		assert_int_equal(t->vls, 1);
		assert_int_equal(max_routes(f, t), max_routes(plain, u));
		tables_put(t);
		tables_put(u);
	}
	fabric_put(f);
	fabric_put(plain);
	fabric_put(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(routes_every_lid_shortest_and_without_deadlock),
		cmocka_unit_test(balances_a_full_tree_perfectly),
		cmocka_unit_test(lids_of_one_port_take_different_spines),
		cmocka_unit_test(same_input_gives_the_same_bytes),
		cmocka_unit_test(a_disconnected_fabric_is_refused_with_names),
		cmocka_unit_test(tells_its_steps_and_stops_at_a_cancel),
		cmocka_unit_test(routes_the_chain_with_lmc_7),
		cmocka_unit_test(the_number_named_by_a_refusal_is_enough),
		cmocka_unit_test(aggregation_nodes_on_spines_take_no_vl_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
