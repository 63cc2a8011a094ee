/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The SLs of paths as the SM tells them: read, kept in the cheapest form, checked by sampling. */
#include "fabric/wire/wire.h"

#include "fabric/sim/device/sim.h"
#include "fabric/sim/device/sim_wire.h"
#include "fabric/wire/queue.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/sim_faults.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

struct world {
	struct fabric *f;
	struct tables *t, *got;
	struct sim *sim;
	struct wire *w;
	struct path_sl_report r;
	struct err err;
};

/* 4 leaves with 3 hosts, 2 spines without any; random SLs of that form. */
static void world_up_with(struct world *x, enum sl_kind kind, double loss, enum sim_tables tables)
{
	struct net_opts no = { .lmc = 1 };
	struct wire_opts wo = { .term = 5, .timeout_ms = 1, .retries = 12 };
	struct sim_opts so;
	struct rng r;

	memset(x, 0, sizeof(*x));
	sim_opts_init(&so);
	so.virtual_clock = true;
	so.delay_us = 10;
	so.loss = loss;
	so.tables = tables;
	rng_seed(&r, 11);
	x->f = net_tree(4, 2, 3, &no);
	x->t = kit_bfs(x->f);
	if (kind == SL_CONST)
		x->t->sl_const = 3;
	else
		kit_random_sl(x->t, x->f, kind, 8, &r);
	x->got = tables_new(x->f, "got");
	assert_int_equal(sim_new(&x->sim, x->f, &so, &x->err), 0);
	assert_int_equal(sim_install_tables(x->sim, x->t, &x->err), 0);
	assert_int_equal(wire_open_sim(&x->w, x->sim, &wo, &x->err), 0);
}

static void world_up(struct world *x, enum sl_kind kind, double loss)
{
	world_up_with(x, kind, loss, SIM_TABLES_GOOD);
}

static void world_down(struct world *x)
{
	wire_close(x->w);
	sim_free(x->sim);
	tables_put(x->t);
	tables_put(x->got);
	fabric_put(x->f);
}

static int read_sls(struct world *x, uint64_t max)
{
	return wire_read_path_sls(x->got, x->w, x->f, max, 50, 3, &x->r, NULL, &x->err);
}

static void expect_all_equal(const struct world *x)
{
	const struct fabric *f = x->f;

	for (uint32_t term = 0; term < f->nterm; term++)
		for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
			uint32_t end = fabric_lid_end(f, lid);

			if (end != FAB_NONE && end != term)
				assert_int_equal(
					tables_path_sl(x->got, term, f->term_sw[term], lid),
					tables_path_sl(x->t, term, f->term_sw[term], lid));
		}
}

static void every_form_is_read_back_as_cheap_as_it_is(void **state)
{
	static const enum sl_kind kinds[] = { SL_CONST, SL_BY_DLID, SL_BY_SWITCH, SL_BY_TERM };

	(void)state;
	for (size_t k = 0; k < 4; k++) {
		struct world x;

		world_up(&x, kinds[k], 0);
		assert_int_equal(read_sls(&x, 100000), 0);
		assert_int_equal(x.got->sl_kind, kinds[k]);
		assert_int_equal(x.r.differ, 0);
		assert_int_equal(x.r.asked, x.r.answered);
		expect_all_equal(&x);
		world_down(&x);
	}
}

/* 12 hosts with 2 LIDs, 6 switches with 1: 30; 4 of the switches have hosts, of which the first
 * one's own 2 LIDs are asked from the second. */
#define LIDS	30
#define SOURCES 4
#define EXTRA	50 /* of read_sls() */

static void a_table_a_source_switch_is_enough(void **state)
{
	const uint64_t need = SOURCES + SOURCES * 2 + EXTRA;
	struct world x;

	(void)state;
	world_up(&x, SL_BY_SWITCH, 0);
	assert_int_equal(read_sls(&x, need), 0);
	assert_int_equal(x.r.asked, SOURCES * LIDS + EXTRA);
	assert_int_equal(x.r.answered, x.r.asked);
	assert_int_equal(x.r.tables, SOURCES);
	assert_int_equal(x.r.queries, need);
	expect_all_equal(&x);
	assert_int_equal(read_sls(&x, need - 1), -E2BIG);
	assert_string_equal(
		x.err.text,
		"the SLs of all paths, by source switch, take 62 queries to the subnet manager; the limit is 61");
	assert_int_equal(x.r.queries, 1);
	world_down(&x);
}

static void without_tables_it_is_a_query_a_source_switch_and_lid(void **state)
{
	static const enum sim_tables none[] = { SIM_TABLES_NONE, SIM_TABLES_FIRST_MAD };
	const uint64_t need = 1 + SOURCES * LIDS + EXTRA; /* 1: for the table that does not come */

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		struct world x;

		world_up_with(&x, SL_BY_SWITCH, 0, none[k]);
		assert_int_equal(read_sls(&x, need), 0);
		assert_int_equal(x.r.queries, need);
		assert_int_equal(x.r.tables, 1);
		expect_all_equal(&x);
		assert_int_equal(read_sls(&x, need - 1), -E2BIG);
		assert_string_equal(
			x.err.text,
			"the SLs of all paths, by source switch, take 171 queries to the subnet manager; the limit is 170");
		world_down(&x);
	}
}

static void what_damaged_tables_do_not_say_is_asked_path_by_path(void **state)
{
	static const struct {
		enum sim_tables how;
		uint32_t tables; /* that are asked for */
	} damaged[] = {
		{ SIM_TABLES_NO_STEP, 1 }, { SIM_TABLES_SHORT_STEP, 1 },
		{ SIM_TABLES_CUT, 1 },	   { SIM_TABLES_ALIEN, 1 },
		{ SIM_TABLES_HOLES, 4 },   { SIM_TABLES_FIRST_SOURCE, 4 },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(damaged) / sizeof(damaged[0]); k++) {
		struct world x;

		world_up_with(&x, SL_BY_SWITCH, 0, damaged[k].how);
		assert_int_equal(read_sls(&x, 100000), 0);
		assert_int_equal(x.r.tables, damaged[k].tables);
		assert_int_equal(x.r.answered, x.r.asked);
		assert_int_equal(x.r.differ, 0);
		expect_all_equal(&x);
		world_down(&x);
	}
}

/* 12 tables, of which the first one only is good, and no more than a few others are tried. */
static void tables_that_fail_are_not_asked_for_over_and_over(void **state)
{
	struct world x;

	(void)state;
	world_up_with(&x, SL_BY_TERM, 0, SIM_TABLES_FIRST_SOURCE);
	assert_int_equal(read_sls(&x, 100000), 0);
	assert_int_equal(x.got->sl_kind, SL_BY_TERM);
	assert_in_range(x.r.tables, 1, 11);
	expect_all_equal(&x);
	world_down(&x);
}

static void too_many_hosts_with_sls_of_their_own_are_an_error(void **state)
{
	struct world x;

	(void)state;
	world_up_with(&x, SL_BY_TERM, 0, SIM_TABLES_NONE);
	assert_int_equal(read_sls(&x, 300), -E2BIG);
	assert_non_null(strstr(x.err.text, "which differ between the hosts of a switch"));
	world_down(&x);
	world_up(&x, SL_BY_TERM, 0); /* 12 tables do */
	assert_int_equal(read_sls(&x, 12 + EXTRA), 0);
	assert_int_equal(x.r.tables, 12);
	expect_all_equal(&x);
	world_down(&x);
}

static void lost_packets_are_asked_for_again(void **state)
{
	struct world x;

	(void)state;
	for (int tables = 0; tables < 2; tables++) {
		world_up_with(&x, SL_BY_SWITCH, 0.2, tables ? SIM_TABLES_GOOD : SIM_TABLES_NONE);
		assert_int_equal(read_sls(&x, 100000), 0);
		assert_int_equal(x.r.differ, 0);
		expect_all_equal(&x);
		world_down(&x);
	}
}

static void the_sm_s_sls_are_told_from_a_claim(void **state)
{
	struct tables *claim;
	struct world x;
	uint64_t first;

	(void)state;
	world_up(&x, SL_BY_SWITCH, 0);
	assert_int_equal(wire_check_path_sls(x.w, x.f, x.t, 100, 1, &x.r, NULL, &x.err), 0);
	assert_int_equal(x.r.asked, 100);
	assert_int_equal(x.r.answered, 100);
	assert_int_equal(x.r.differ, 0);
	claim = kit_bfs(x.f); /* SL 0 everywhere */
	assert_int_equal(wire_check_path_sls(x.w, x.f, claim, 100, 1, &x.r, NULL, &x.err), 0);
	first = x.r.differ;
	assert_in_range(first, 70, 99); /* 7 of 8 SLs are others */
	assert_int_equal(x.r.claimed, 0);
	assert_int_equal(x.r.actual,
			 tables_path_sl(x.t, x.r.term, x.f->term_sw[x.r.term], x.r.dlid));
	assert_int_equal(wire_check_path_sls(x.w, x.f, claim, 100, 1, &x.r, NULL, &x.err), 0);
	assert_int_equal(x.r.differ, first);
	/* the SM takes them on; the switches have nothing to do with it */
	sim_set_path_sls(x.sim, claim);
	assert_int_equal(wire_check_path_sls(x.w, x.f, claim, 100, 1, &x.r, NULL, &x.err), 0);
	assert_int_equal(x.r.differ, 0);
	tables_put(claim);
	world_down(&x);
}

static void an_sm_that_does_not_answer_is_said(void **state)
{
	struct world x;

	(void)state;
	world_up(&x, SL_BY_DLID, 0);
	sim_stop_sm(x.sim, true);
	assert_int_equal(wire_check_path_sls(x.w, x.f, x.t, 10, 1, &x.r, NULL, &x.err), -ETIMEDOUT);
	assert_string_equal(x.err.text, "the subnet manager at LID 2: no response");
	assert_int_equal(read_sls(&x, 100000), -ETIMEDOUT);
	world_down(&x);
}

/* LIDs that the SM does not know: of a fabric that is not there any more. */
static void refused_paths_are_said_with_the_reason(void **state)
{
	struct net_opts no = { .lmc = 1 };
	struct fabric *bigger;
	struct tables *t;
	struct world x;

	(void)state;
	world_up(&x, SL_BY_DLID, 0);
	bigger = net_tree(5, 2, 3, &no);
	t = tables_new(bigger, "got");
	assert_int_equal(wire_read_path_sls(t, x.w, bigger, 100000, 0, 1, &x.r, NULL, &x.err),
			 -EIO);
	assert_non_null(strstr(x.err.text, "paths: it has no such record"));
	tables_put(t);
	fabric_put(bigger);
	world_down(&x);
}

/* What a hostile node's answers may leave: switches alone, from which no path begins. */
static void a_fabric_without_hosts_has_no_path_to_check(void **state)
{
	struct net_opts no = { .lmc = 0 };
	struct fabric *bare;
	struct tables *t;
	struct world x;

	(void)state;
	world_up(&x, SL_BY_DLID, 0);
	bare = net_tree(2, 1, 0, &no);
	assert_int_equal(bare->nterm, 0);
	t = kit_bfs(bare);
	assert_int_equal(wire_check_path_sls(x.w, bare, t, 10, 1, &x.r, NULL, &x.err), 0);
	assert_int_equal(x.r.asked, 0);
	assert_int_equal(x.r.differ, 0);
	assert_int_equal(wire_read_path_sls(t, x.w, bare, 100, 10, 1, &x.r, NULL, &x.err), 0);
	assert_int_equal(x.r.asked, 0);
	tables_put(t);
	fabric_put(bare);
	world_down(&x);
}

static void sls_are_learnt_with_64_queries_where_all_are_0(void **state)
{
	struct world x;
	uint64_t before;

	(void)state;
	world_up(&x, SL_CONST, 0);
	x.t->sl_const = 0;
	assert_int_equal(sim_install_tables(x.sim, x.t, &x.err), 0);
	before = wire_stats(x.w)->sent;
	assert_int_equal(wire_learn_path_sls(x.got, x.w, x.f, 100, NULL, &x.err), 0);
	assert_true(x.got->sls_told);
	assert_in_range(wire_stats(x.w)->sent - before, 64, 80);
	expect_all_equal(&x);
	world_down(&x);
}

static void sls_are_learnt_with_all_queries_where_some_are_not_0(void **state)
{
	static const enum sl_kind kinds[] = { SL_CONST, SL_BY_DLID, SL_BY_SWITCH };

	(void)state;
	for (size_t k = 0; k < 3; k++) {
		struct world x;

		world_up(&x, kinds[k], 0);
		assert_int_equal(wire_learn_path_sls(x.got, x.w, x.f, 1000, NULL, &x.err), 0);
		assert_true(x.got->sls_told);
		expect_all_equal(&x);
		world_down(&x);
	}
}

/* A repair may have put it on a VL of its own: by chance it would be missed. */
static void one_path_of_another_sl_is_found_where_paths_are_few(void **state)
{
	struct world x;

	(void)state;
	world_up(&x, SL_BY_SWITCH, 0);
	memset(x.t->sl, 0, (size_t)x.t->nsw * x.t->stride);
	x.t->sl[x.f->term_sw[1] * x.t->stride + x.f->term_lid[x.f->nterm - 1]] = 1;
	assert_int_equal(sim_install_tables(x.sim, x.t, &x.err), 0);
	assert_int_equal(wire_learn_path_sls(x.got, x.w, x.f, 20000, NULL, &x.err), 0);
	assert_true(x.got->sls_told);
	expect_all_equal(&x);
	world_down(&x);
}

static void sls_that_take_too_many_queries_are_not_known_and_0(void **state)
{
	struct world x;

	(void)state;
	world_up_with(&x, SL_BY_SWITCH, 0, SIM_TABLES_NONE);
	assert_int_equal(wire_learn_path_sls(x.got, x.w, x.f, 100, NULL, &x.err), -E2BIG);
	assert_false(x.got->sls_told);
	assert_int_equal(x.got->sl_kind, SL_CONST);
	assert_int_equal(x.got->sl_const, 0);
	world_down(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_is_read_back_as_cheap_as_it_is),
		cmocka_unit_test(a_table_a_source_switch_is_enough),
		cmocka_unit_test(without_tables_it_is_a_query_a_source_switch_and_lid),
		cmocka_unit_test(what_damaged_tables_do_not_say_is_asked_path_by_path),
		cmocka_unit_test(tables_that_fail_are_not_asked_for_over_and_over),
		cmocka_unit_test(too_many_hosts_with_sls_of_their_own_are_an_error),
		cmocka_unit_test(lost_packets_are_asked_for_again),
		cmocka_unit_test(the_sm_s_sls_are_told_from_a_claim),
		cmocka_unit_test(an_sm_that_does_not_answer_is_said),
		cmocka_unit_test(refused_paths_are_said_with_the_reason),
		cmocka_unit_test(a_fabric_without_hosts_has_no_path_to_check),
		cmocka_unit_test(sls_are_learnt_with_64_queries_where_all_are_0),
		cmocka_unit_test(sls_are_learnt_with_all_queries_where_some_are_not_0),
		cmocka_unit_test(one_path_of_another_sl_is_found_where_paths_are_few),
		cmocka_unit_test(sls_that_take_too_many_queries_are_not_known_and_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
