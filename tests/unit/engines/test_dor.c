/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/dor.h"

#include "engines/metrics/metrics.h"
#include "engines/verify/verify.h"
#include "engines/time/shift_time.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/builder.h"
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
		"random:switches=30,links=70,seed=1", "kautz:b=3,n=2",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fabric *f = shuffled_topo(specs[i], 0);
		struct err err = { "" };

		assert_int_equal(engine_dor.suits(f, &err), -EINVAL);
		assert_non_null(strstr(err.text, "no torus, mesh or HyperX"));
		fabric_put(f);
	}
}

/* Where a detour of two hops along the line is not enough, paths go around as they can. */
static void a_hyperx_that_lacks_more_than_detours_mend_is_routed_around(void **state)
{
	uint32_t around = 0;
	char spec[64];

	(void)state;
	for (unsigned seed = 1; seed <= 60; seed++) {
		struct notes notes = { 0 };
		struct engine_params p = { .notes = &notes };
		struct verdict *v;
		struct fabric *f;
		struct tables *t;

		snprintf(spec, sizeof(spec), "hyperx:dims=3x3x2,hosts=1,fail=6,seed=%u", seed);
		f = shuffled_topo(spec, 0);
		t = must_route(&engine_dor, f, NULL, &p);
		assert_int_equal(verify_tables(&v, f, t, NULL, NULL, NULL), 0);
		assert_true(verdict_ok(v));
		around += notes_find(&notes, "missing") != NULL;
		verdict_free(v);
		notes_done(&notes);
		tables_put(t);
		fabric_put(f);
	}
	assert_true(around > 0);
}

static bool are_cabled(const struct fabric *f, const char *a, const char *b)
{
	for (uint32_t c = 0; c < f->nchan; c++)
		if (!strcmp(f->sw_name[f->chan_src[c]], a) &&
		    !strcmp(f->sw_name[f->chan_dst[c]], b))
			return true;
	return false;
}

/* "(sw3 to sw4)" or "(the first: sw3 to sw4)" names two switches without a cable. */
static void assert_names_a_missing_cable(const char *text, const struct fabric *f)
{
	const char *at = strchr(text, '(');
	char a[16], b[16];

	assert_non_null(at);
	at += strncmp(at, "(the first: ", 12) ? 1 : 12;
	assert_int_equal(sscanf(at, "%15s to %15[^)]", a, b), 2);
	assert_false(are_cabled(f, a, b));
}

static void a_torus_or_mesh_with_missing_cables_is_routed_around_them(void **state)
{
	static const struct {
		const char *spec;
		uint32_t fail;
		const char *dims;
		uint32_t vls; /* at most */
	} want[] = {
		{ "torus:dims=7x7,hosts=2", 1, "7x7", 4 },
		{ "torus:dims=12x10,hosts=1", 4, "12x10", 5 },
		{ "torus:dims=5x5x5,hosts=1,lmc=1", 3, "5x5x5", 5 },
		{ "torus:dims=6x5x5,hosts=1,links=2", 0, "6x5x5", 2 },
		{ "torus:dims=4x4x4,hosts=2", 2, "2x2x2x2x2x2", 4 },
		{ "mesh:dims=6x5x3,hosts=2", 3, "6x5x3", 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		for (unsigned seed = 1; seed <= 5; seed++) {
			struct notes notes = { 0 };
			struct engine_params p = { .notes = &notes };
			const struct note *n;
			struct verdict *v;
			struct fabric *f;
			struct tables *t;
			char spec[96];

			snprintf(spec, sizeof(spec), "%s,fail=%u,seed=%u", want[i].spec,
				 want[i].fail, seed);
			f = net_spec(spec);
			t = must_route(&engine_dor, f, NULL, &p);
			assert_int_equal(verify_tables(&v, f, t, NULL, NULL, NULL), 0);
			if (!verdict_ok(v))
				fail_msg("%s", spec);
			assert_in_range(v->vls_used, 1, want[i].vls);
			n = notes_find(&notes, "missing");
			if (n && strstr(n->text, "the other way round"))
				assert_in_range(v->vls_used, 1, 2);
			else
				assert_shortest(f, t);
			assert_non_null(
				strstr(notes_find(&notes, "dimensions")->text, want[i].dims));
			assert_int_equal(n ? n->value : 0, want[i].fail);
			if (n)
				assert_names_a_missing_cable(n->text, f);
			verdict_free(v);
			notes_done(&notes);
			tables_put(t);
			fabric_put(f);
		}
}

/* As OpenSM's torus-2QoS does: sync .266 and .432 of the bisection there. */
static void the_other_way_round_a_ring_is_taken_where_bisections_lose_nothing(void **state)
{
	static const struct shift_time_opts so = { .shifts = SHIFT_TIME_ALL };
	struct notes notes = { 0 };
	struct engine_params p = { .notes = &notes };
	struct fabric *f = net_spec("torus:dims=5x5x5,hosts=2,fail=1");
	struct tables *t = must_route(&engine_dor, f, NULL, &p);
	struct shift_time s;
	struct verdict *v;

	(void)state;
	assert_int_equal(verify_tables(&v, f, t, NULL, NULL, NULL), 0);
	assert_true(verdict_ok(v));
	verdict_free(v);
	assert_int_equal(t->vls, 2);
	assert_non_null(strstr(notes_find(&notes, "missing")->text, "the other way round"));
	assert_int_equal(notes_find(&notes, "vls_needed")->value, 2);
	assert_int_equal(shift_time_compute(&s, f, t, &so, NULL, NULL), 0);
	assert_true(s.sync.mean > .265);
	notes_done(&notes);
	tables_put(t);
	fabric_put(f);
}

/* The same fabric without one of its switches and all that hangs on it. */
static struct fabric *without(const struct fabric *f, uint32_t gone)
{
	struct freeze_opts opts = { .lmc = 0 };
	struct builder *b = builder_new();
	uint32_t *id = xcalloc(f->nsw, sizeof(*id)), host;
	struct fabric *out = NULL;
	struct err err;

	for (uint32_t u = 0; u < f->nsw; u++)
		if (u != gone)
			assert_int_equal(builder_node(&id[u], b, NODE_SWITCH, f->sw_guid[u],
						      f->sw_nports[u], f->sw_name[u], &err),
					 0);
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t u = f->chan_src[c], v = f->chan_dst[c];

		if (u < v && u != gone && v != gone)
			assert_int_equal(builder_link(b, id[u], f->chan_port[c], id[v],
						      f->chan_rport[c], &err),
					 0);
	}
	for (uint32_t t = 0; t < f->nterm; t++) {
		if (f->term_sw[t] == gone)
			continue;
		assert_int_equal(builder_node(&host, b, NODE_CA, 0x90000 + t, 1, "n", &err), 0);
		assert_int_equal(builder_link(b, id[f->term_sw[t]], f->term_port[t], host, 1, &err),
				 0);
	}
	assert_int_equal(builder_freeze(&out, b, &opts, &err), 0);
	builder_free(b);
	free(id);
	return out;
}

static void a_grid_without_one_switch_is_routed_around_the_hole(void **state)
{
	static const char *const specs[] = { "torus:dims=6x5x4,hosts=1", "torus:dims=9x8,hosts=1",
					     "mesh:dims=6x5x3,hosts=1", "hyperx:dims=5x4,hosts=1" };

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fabric *whole = net_spec(specs[i]), *f = without(whole, 13);
		struct notes notes = { 0 };
		struct engine_params p = { .notes = &notes };
		struct tables *t = must_route(&engine_dor, f, NULL, &p);
		struct verdict *v;

		assert_int_equal(verify_tables(&v, f, t, NULL, NULL, NULL), 0);
		assert_true(verdict_ok(v));
		assert_shortest(f, t);
		assert_non_null(
			strstr(notes_find(&notes, "missing")->text, "1 point has no switch"));
		verdict_free(v);
		notes_done(&notes);
		tables_put(t);
		fabric_put(f);
		fabric_put(whole);
	}
}

static void too_few_vls_for_the_way_around_name_the_missing_cable(void **state)
{
	struct fabric *f = net_spec("torus:dims=7x7,hosts=2,fail=2,seed=1");
	struct engine_params p = { .vls = 2 };
	struct tables *t = NULL;
	struct err err;

	(void)state;
	assert_int_equal(engine_run(&engine_dor, &t, f, NULL, NULL, &p, NULL, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "2 cables are missing"));
	assert_names_a_missing_cable(err.text, f);
	fabric_put(f);
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

/* Parallel cables, for which loads decide, missing cables, and detours. */
static void any_number_of_threads_gives_the_same_bytes(void **state)
{
	static const char *const spec[] = { "torus:dims=6x5x4,hosts=3,links=3,lmc=1",
					    "torus:dims=5x5x5,hosts=1,fail=3",
					    "torus:dims=5x5,hosts=1,fail=2",
					    "hyperx:dims=7x6,hosts=4,links=2",
					    "hyperx:dims=7x6,hosts=4,fail=9" };

	(void)state;
	for (size_t i = 0; i < sizeof(spec) / sizeof(*spec); i++) {
		struct fabric *f = shuffled_topo(spec[i], 3);
		struct engine_params p = { .threads = 1 };
		struct tables *one = must_route(&engine_dor, f, NULL, &p), *t;

		for (p.threads = 2; p.threads <= 4; p.threads += 2) {
			t = must_route(&engine_dor, f, NULL, &p);
			assert_same_tables(one, t);
			tables_put(t);
		}
		tables_put(one);
		fabric_put(f);
	}
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
		cmocka_unit_test(a_hyperx_that_lacks_more_than_detours_mend_is_routed_around),
		cmocka_unit_test(a_torus_or_mesh_with_missing_cables_is_routed_around_them),
		cmocka_unit_test(the_other_way_round_a_ring_is_taken_where_bisections_lose_nothing),
		cmocka_unit_test(a_grid_without_one_switch_is_routed_around_the_hole),
		cmocka_unit_test(too_few_vls_for_the_way_around_name_the_missing_cable),
		cmocka_unit_test(the_same_fabric_gives_the_same_bytes),
		cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
