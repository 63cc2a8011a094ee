/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/dfdn/dfdn.h"
#include "engines/engine_spec.h"
#include "engines/minhop.h"

#include "engines/dfdn/dfdn_levels.h"
#include "engines/dfsssp.h"
#include "engines/verify/verify.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_clean(const char *what, const struct fabric *f, const struct tables *t)
{
	struct verdict *v;
	char why[256];

	assert_int_equal(verify_tables(&v, f, t, NULL, NULL, NULL), 0);
	verdict_sentence(why, sizeof(why), v, f);
	if (!verdict_ok(v))
		fail_msg("%s: %s", what, why);
	assert_int_equal(v->vls_used, t->vls);
	assert_int_equal(v->sls_used, t->sls);
	verdict_free(v);
}

/* VLs on the channels of one path; returns the hops. */
static uint32_t path_vls(uint8_t *vl, const struct fabric *f, const struct tables *t, uint32_t end,
			 uint32_t lid)
{
	uint32_t sw = f->term_sw[end], n = 0, c;
	uint8_t in = f->term_port[end], sl = tables_path_sl(t, end, sw, lid);

	while ((c = fabric_chan(f, sw, tables_row(t, sw)[lid])) != FAB_NONE) {
		vl[n++] = tables_vl(t, f, sw, in, f->chan_port[c], sl);
		in = f->chan_rport[c];
		sw = f->chan_dst[c];
	}
	return n;
}

/* The paper's scheme, apart from hops at which nothing needs a new VL. */
static void assert_vls_never_fall(const struct fabric *f, const struct tables *t)
{
	uint8_t vl[64];

	for (uint32_t end = 0; end < f->nend; end++)
		for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
			uint32_t hops =
				f->lid_end[lid] == FAB_NONE ? 0 : path_vls(vl, f, t, end, lid);

			for (uint32_t i = 0; i < hops; i++)
				if (i ? vl[i] < vl[i - 1] : vl[i] != 0)
					fail_msg("from end %u to LID %u: VL %u at hop %u", end, lid,
						 vl[i], i);
		}
}

/* VLs of the paper's figures and SLs of its scheme with both alignments, which the engine must
 * not exceed, whosever paths it takes. */
static void vls_and_sls_are_no_more_with(enum dfdn_base base)
{
	struct engine_params params = { .threads = 1, .dfdn_base = base };
	static const struct {
		const char *spec;
		unsigned vls, sls;
	} want[] = {
		{ "slimfly:q=5", 2, 1 },
		{ "slimfly:q=7,hosts=11", 2, 1 },
		{ "dragonfly:p=2", 3, 4 },
		{ "dragonfly:p=3", 3, 4 },
		{ "dragonfly:p=4", 3, 4 },
		{ "random:switches=128,links=512,hosts=4,seed=1", 4, 6 },
		{ "random:switches=256,links=1536,hosts=4,seed=1", 4, 7 },
		{ "random:switches=256,links=768,hosts=4,seed=1", 5, 16 },
		{ "torus:dims=5x5,hosts=4", 4, 6 },
		{ "torus:dims=4x4x4,hosts=4", 6, 14 },
		{ "torus:dims=8x8,hosts=4", 8, 16 },
		{ "oft:k=6", 3, 4 },
		{ "kautz:b=5,n=3,hosts=7", 3, 4 },
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct fabric *f = net_spec(want[i].spec);
		struct tables *t = must_route(&engine_dfdn, f, NULL, &params);

		if (t->vls > want[i].vls || t->sls > want[i].sls)
			fail_msg("%s takes %u VLs and %u SLs", want[i].spec, t->vls, t->sls);
		assert_clean(want[i].spec, f, t);
		tables_put(t);
		fabric_put(f);
	}
}

static void vls_and_sls_are_no_more_than_those_of_the_paper(void **state)
{
	(void)state;
	vls_and_sls_are_no_more_with(DFDN_SSSP);
}

static void nor_over_the_paths_of_minhop(void **state)
{
	(void)state;
	vls_and_sls_are_no_more_with(DFDN_MINHOP);
}

static void the_name_says_whose_paths(void **state)
{
	struct fabric *f = net_spec("kary:k=4,n=3,hosts=4"); /* where minhop moves no entries */
	struct engine_params params = { .threads = 1, .vls = 15 };
	struct engine_spec spec;
	struct tables *a, *b;
	struct err err;

	(void)state;
	b = must_route(&engine_minhop, f, NULL, &params);
	assert_int_equal(engine_spec_parse(&spec, "dfdn:minhop", NULL), 0);
	engine_spec_apply(&spec, &params);
	a = must_route(spec.engine, f, NULL, &params);
	assert_memory_equal(a->lft, b->lft, (size_t)f->nsw * a->stride);
	assert_non_null(strstr(a->params, "paths=minhop"));
	assert_int_equal(engine_spec_parse(&spec, "dfdn:fast", &err), -EINVAL);
	assert_non_null(strstr(err.text, "or the engine of the paths: sssp, minhop"));
	assert_int_equal(engine_spec_parse(&spec, "nue:minhop", &err), -EINVAL);
	tables_put(a);
	tables_put(b);
	fabric_put(f);
}

static void vls_never_fall_on_a_path(void **state)
{
	static const char *const specs[] = {
		"dragonfly:p=2,fail=6",
		"torus:dims=5x4,hosts=2,lmc=1",
		"random:switches=30,links=60,hosts=2,seed=4,lids=random",
		"slimfly:q=5,hosts=2",
		"fattree3:k=4",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fabric *f = net_spec(specs[i]);
		struct tables *t = must_route(&engine_dfdn, f, NULL, NULL);

		assert_vls_never_fall(f, t);
		assert_shortest(f, t);
		assert_clean(specs[i], f, t);
		tables_put(t);
		fabric_put(f);
	}
}

/* OpenSM's dfsssp and lash both give up on it (the former with 15 VLs, too). */
static void a_torus_of_343_switches_is_routed_on_the_8_vls_of_real_links(void **state)
{
	struct fabric *f = net_spec("torus:dims=7x7x7,hosts=1");
	struct engine_params p = { .vls = 8 };
	struct tables *t = must_route(&engine_dfdn, f, NULL, &p);

	(void)state;
	assert_true(t->vls <= 8);
	assert_clean("torus", f, t);
	tables_put(t);
	fabric_put(f);
}

static void two_hops_need_no_sl_and_one_row_per_kind_of_input(void **state)
{
	struct fabric *f = net_spec("slimfly:q=5,hosts=3");
	struct tables *t = must_route(&engine_dfdn, f, NULL, NULL);

	(void)state;
	assert_int_equal(t->sl_kind, SL_CONST);
	assert_int_equal(t->sl2vl_kind, SL2VL_BY_INPUT);
	for (uint8_t sl = 0; sl < FAB_SLS; sl++) {
		assert_int_equal(t->sl2vl[FAB_SLS + sl], 0);
		assert_int_equal(t->sl2vl[2 * FAB_SLS + sl], 1);
	}
	tables_put(t);
	fabric_put(f);
}

static void adapters_with_one_vl_get_their_packets_on_vl_0(void **state)
{
	struct fabric *f = net_spec("slimfly:q=5,hosts=3");
	struct tables *t;

	(void)state;
	for (uint32_t p = 0; p < f->nport; p++)
		f->port[p].op_vls = f->port[p].term == FAB_NONE ? 8 : 1;
	t = must_route(&engine_dfdn, f, NULL, NULL);
	assert_int_equal(t->sl2vl_kind, SL2VL_FULL);
	assert_int_equal(t->vls, 2);
	assert_clean("one VL at the adapters", f, t);
	tables_put(t);
	fabric_put(f);
}

static void a_tree_needs_one_vl_and_no_sl2vl(void **state)
{
	static const char *const specs[] = {
		"fattree2:leaves=8,spines=4,hosts=6",
		"fattree3:k=6",
		"kary:k=4,n=3,hosts=4",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fabric *f = net_spec(specs[i]);
		struct tables *t = must_route(&engine_dfdn, f, NULL, NULL);

		assert_int_equal(t->vls, 1);
		assert_int_equal(t->sl_kind, SL_CONST);
		assert_int_equal(t->sl2vl_kind, SL2VL_IDENTITY);
		tables_put(t);
		fabric_put(f);
	}
}

/* Where cables are missing some paths turn up again at a leaf.  A LID's paths may join one that the
 * LID before had and nobody took. */
static void one_vl_is_not_enough_for_paths_that_others_join_later(void **state)
{
	static const char *const specs[] = {
		"fattree3:pods=5,leaves=7,aggs=4,cores=3,hosts=2,parallel=2,fail=2,seed=434",
		"kary:k=3,n=3,hosts=5,fail=6,lids=random,seed=939",
		"kary:k=3,n=3,hosts=6,fail=5%,seed=507",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fabric *f = net_spec(specs[i]);
		struct tables *t = must_route(&engine_dfdn, f, NULL, NULL);

		assert_clean(specs[i], f, t);
		assert_int_equal(t->vls, 2);
		tables_put(t);
		fabric_put(f);
	}
}

static void paths_are_those_of_dfsssp(void **state)
{
	struct fabric *f = net_spec("dragonfly:p=2,lmc=1");
	struct tables *t = must_route(&engine_dfdn, f, NULL, NULL);
	struct tables *other = must_route(&engine_dfsssp, f, NULL, NULL);

	(void)state;
	assert_memory_equal(t->lft, other->lft, (size_t)f->nsw * t->stride);
	tables_put(t);
	tables_put(other);
	fabric_put(f);
}

static void too_few_vls_say_how_many_it_takes_and_who_needs_fewer(void **state)
{
	struct fabric *two = net_spec("slimfly:q=5,hosts=2");
	struct fabric *more = net_spec("torus:dims=8x8,hosts=2");
	struct engine_params p = { .vls = 1 };
	struct tables *t = NULL;
	struct err err;

	(void)state;
	assert_int_equal(engine_run(&engine_dfdn, &t, two, NULL, NULL, &p, NULL, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "need 2 VLs"));
	assert_non_null(strstr(err.text, "1 may be used"));
	assert_non_null(strstr(err.text, "nue"));
	p.vls = 3;
	assert_int_equal(engine_run(&engine_dfdn, &t, more, NULL, NULL, &p, NULL, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "need 4 VLs"));
	assert_null(t);
	p.vls = 4;
	t = must_route(&engine_dfdn, more, NULL, &p);
	assert_int_equal(t->vls, 4);
	tables_put(t);
	fabric_put(two);
	fabric_put(more);
}

static void too_few_sls_say_how_many_it_takes(void **state)
{
	struct fabric *f = net_spec("torus:dims=24x24,hosts=1");
	struct engine_params p = { .vls = 15 };
	struct tables *t = NULL;
	struct err err;

	(void)state;
	assert_int_equal(engine_run(&engine_dfdn, &t, f, NULL, NULL, &p, NULL, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "and there are 16 SLs"));
	assert_non_null(strstr(err.text, "updn"));
	assert_null(t);
	fabric_put(f);
}

static void results_are_the_same_again_and_with_two_threads(void **state)
{
	static const char *const specs[] = {
		"dragonfly:p=3",
		"torus:dims=6x5x5,hosts=2",
		"random:switches=60,links=130,hosts=3,seed=5",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fabric *f = net_spec(specs[i]);
		struct engine_params p = { .threads = 1, .vls = 15 };
		struct tables *t = must_route(&engine_dfdn, f, NULL, &p);

		for (unsigned threads = 1; threads <= 2; threads++) {
			struct tables *again;

			p.threads = threads;
			again = must_route(&engine_dfdn, f, NULL, &p);
			assert_int_equal(again->sl2vl_kind, t->sl2vl_kind);
			assert_true(tables_same(t, again, f));
			tables_put(again);
		}
		tables_put(t);
		fabric_put(f);
	}
}

struct stop {
	struct progress p;
	unsigned calls, at;
};

static void count_calls(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct stop *s = ctx;

	(void)step;
	assert_true(done <= total);
	if (++s->calls == s->at)
		atomic_store(&s->p.cancel, true);
}

static void a_cancel_is_heard_wherever_it_comes(void **state)
{
	struct fabric *f = net_spec("torus:dims=6x5x5,hosts=2");
	struct engine_params params = { .vls = 15 };
	struct stop all = { .p = { .report = count_calls } };
	struct tables *t = NULL;

	(void)state;
	all.p.ctx = &all;
	assert_int_equal(engine_run(&engine_dfdn, &t, f, NULL, NULL, &params, &all.p, NULL), 0);
	tables_put(t);
	assert_true(all.calls > 10);
	for (unsigned at = 1; at <= all.calls; at += 1 + all.calls / 16) {
		struct stop s = { .p = { .report = count_calls }, .at = at };

		s.p.ctx = &s;
		t = NULL;
		assert_int_equal(engine_run(&engine_dfdn, &t, f, NULL, NULL, &params, &s.p, NULL),
				 -ECANCELED);
		assert_null(t);
		assert_int_equal(s.calls, at);
	}
	fabric_put(f);
}

static void what_was_done_is_noted(void **state)
{
	static const struct {
		const char *spec;
		const char *text;
	} want[] = {
		{ "fattree3:k=4", "one VL is enough" },
		{ "slimfly:q=5,hosts=2", "DF-D2" },
		{ "dragonfly:p=2", "DF-DN" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct fabric *f = net_spec(want[i].spec);
		struct notes notes = { 0 };
		struct engine_params p = { .notes = &notes };
		struct tables *t = must_route(&engine_dfdn, f, NULL, &p);

		assert_non_null(notes_find(&notes, "rises"));
		assert_int_equal(notes_find(&notes, "rises")->value, t->vls - 1);
		assert_non_null(strstr(notes_find(&notes, "rises")->text, want[i].text));
		notes_done(&notes);
		tables_put(t);
		fabric_put(f);
	}
}

/* Turns 0, 1, 2 in a row and back: no SL has both orders. */
static void levels_take_the_first_sl_in_which_the_vl_rises(void **state)
{
	static const uint8_t rise[] = { 1, 1, 1 };
	static const uint32_t there[] = { 0, 1, 2 }, back[] = { 2, 1, 0 }, tail[] = { 1, 2 };
	struct dfdn_levels *l = dfdn_levels_new(3, 4, rise, NULL);
	const uint16_t seen[] = { 3, 3, 3 };
	uint32_t taken;
	uint8_t vl[16];

	(void)state;
	assert_int_equal(dfdn_levels_place(l, there, 3, 16, DFDN_ALIGN_DESTINATION, &taken), 0);
	assert_int_equal(taken, 3);
	assert_int_equal(dfdn_levels_place(l, back, 3, 1, DFDN_ALIGN_SOURCE, NULL), 1);
	assert_false(dfdn_levels_fits(l, back, 3, 0));
	assert_int_equal(dfdn_levels_place(l, back, 3, 16, DFDN_ALIGN_SOURCE, &taken), 1);
	assert_int_equal(dfdn_levels_place(l, tail, 2, 16, DFDN_ALIGN_SOURCE, &taken), 0);
	assert_int_equal(taken, 0);
	assert_int_equal(dfdn_levels_close(l, seen), 4);
	dfdn_levels_row(vl, l, 0, seen[0]);
	assert_int_equal(vl[0], 1);
	assert_int_equal(vl[1], 3);
	dfdn_levels_free(l);
}

static void levels_count_sls_beyond_those_there_are(void **state)
{
	enum { N = 20 }; /* turn i before turn i+1, and all turns before turn 0 once */
	uint8_t rise[N];
	struct dfdn_levels *l;

	(void)state;
	memset(rise, 1, sizeof(rise));
	l = dfdn_levels_new(N, 3, rise, NULL);
	for (uint32_t i = 0; i < N; i++) {
		uint32_t pair[] = { i, (i + 1) % N };

		assert_true(dfdn_levels_place(l, pair, 2, DFDN_SLS, DFDN_ALIGN_SOURCE, NULL) < 3);
	}
	for (uint32_t i = 0, most = 0; i < N; i++)
		for (uint32_t k = 0; k < N; k++) {
			uint32_t pair[] = { i, k };
			unsigned sl;

			if (i == k)
				continue;
			sl = dfdn_levels_place(l, pair, 2, DFDN_SLS, DFDN_ALIGN_SOURCE, NULL);
			assert_true(sl < DFDN_SLS);
			most = sl > most ? sl : most;
			if (i == N - 1 && k == N - 2)
				assert_true(most >= 4); /* 2^sls >= N */
		}
	dfdn_levels_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vls_and_sls_are_no_more_than_those_of_the_paper),
		cmocka_unit_test(nor_over_the_paths_of_minhop),
		cmocka_unit_test(the_name_says_whose_paths),
		cmocka_unit_test(vls_never_fall_on_a_path),
		cmocka_unit_test(a_torus_of_343_switches_is_routed_on_the_8_vls_of_real_links),
		cmocka_unit_test(two_hops_need_no_sl_and_one_row_per_kind_of_input),
		cmocka_unit_test(adapters_with_one_vl_get_their_packets_on_vl_0),
		cmocka_unit_test(a_tree_needs_one_vl_and_no_sl2vl),
		cmocka_unit_test(one_vl_is_not_enough_for_paths_that_others_join_later),
		cmocka_unit_test(paths_are_those_of_dfsssp),
		cmocka_unit_test(too_few_vls_say_how_many_it_takes_and_who_needs_fewer),
		cmocka_unit_test(too_few_sls_say_how_many_it_takes),
		cmocka_unit_test(results_are_the_same_again_and_with_two_threads),
		cmocka_unit_test(a_cancel_is_heard_wherever_it_comes),
		cmocka_unit_test(what_was_done_is_noted),
		cmocka_unit_test(levels_take_the_first_sl_in_which_the_vl_rises),
		cmocka_unit_test(levels_count_sls_beyond_those_there_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
