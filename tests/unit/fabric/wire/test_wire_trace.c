/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One path asked hop by hop: what is found of it is what the whole fabric has, and little is asked.
 */
#include "fabric/wire/wire_trace.h"

#include "fabric/model/tables/path.h"
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

#define MADS_HOP  5 /* and six for the ends and the SM */
#define MADS_ENDS 10

struct world {
	struct fabric *f, *seen;
	struct tables *t, *got;
	struct sim *sim;
	struct wire *w;
	struct err err;
};

/* 4 leaves with 3 hosts, 2 spines without any. */
static void world_up(struct world *x, double loss)
{
	struct net_opts no = { .lmc = 1 };
	struct wire_opts wo = { .term = 5, .timeout_ms = 1, .retries = 12 };
	struct sim_opts so;

	memset(x, 0, sizeof(*x));
	sim_opts_init(&so);
	so.virtual_clock = true;
	so.delay_us = 10;
	so.loss = loss;
	x->f = net_tree(4, 2, 3, &no);
	x->t = kit_bfs(x->f);
	assert_int_equal(sim_new(&x->sim, x->f, &so, &x->err), 0);
	assert_int_equal(sim_install_tables(x->sim, x->t, &x->err), 0);
	assert_int_equal(wire_open_sim(&x->w, x->sim, &wo, &x->err), 0);
}

static void world_down(struct world *x)
{
	wire_close(x->w);
	sim_free(x->sim);
	tables_put(x->t);
	fabric_put(x->f);
}

static int trace(struct world *x, uint16_t slid, uint16_t dlid)
{
	return wire_trace(&x->seen, &x->got, x->w, slid, dlid, NULL, &x->err);
}

static void drop(struct world *x)
{
	tables_put(x->got);
	fabric_put(x->seen);
}

/* The same hops, whatever the switches are called in either. */
static void expect_same_path(const struct world *x, uint16_t slid, uint16_t dlid)
{
	struct path a, b;

	path_walk(&a, x->f, x->t, fabric_lid_end(x->f, slid), dlid);
	path_walk(&b, x->seen, x->got, fabric_lid_end(x->seen, slid), dlid);
	assert_int_equal(a.fate, b.fate);
	assert_int_equal(a.nhop, b.nhop);
	for (uint32_t i = 0; i < a.nhop; i++) {
		assert_true(x->f->sw_guid[a.hop[i].sw] == x->seen->sw_guid[b.hop[i].sw]);
		assert_int_equal(a.hop[i].in, b.hop[i].in);
		assert_int_equal(a.hop[i].out, b.hop[i].out);
	}
}

static void every_pair_has_the_path_that_the_whole_fabric_has(void **state)
{
	struct world x;

	(void)state;
	world_up(&x, 0);
	for (uint16_t s = 1; s <= x.f->max_lid; s++)
		for (uint16_t d = 1; d <= x.f->max_lid; d++) {
			uint32_t from = fabric_lid_end(x.f, s), to = fabric_lid_end(x.f, d);

			if (from == FAB_NONE || to == FAB_NONE || from == to)
				continue;
			assert_int_equal(trace(&x, s, d), 0);
			expect_same_path(&x, s, d);
			drop(&x);
		}
	world_down(&x);
}

static void a_path_takes_a_handful_of_mads_a_hop(void **state)
{
	struct world x;
	uint64_t before;
	struct path p;

	(void)state;
	world_up(&x, 0);
	before = wire_stats(x.w)->sent;
	assert_int_equal(trace(&x, x.f->term_lid[0], x.f->term_lid[11]), 0);
	path_walk(&p, x.seen, x.got, fabric_lid_end(x.seen, x.f->term_lid[0]), x.f->term_lid[11]);
	assert_int_equal(p.nhop, 3);
	assert_in_range(wire_stats(x.w)->sent - before, p.nhop, MADS_HOP * p.nhop + MADS_ENDS);
	assert_int_equal(x.seen->nsw, 3);
	drop(&x);
	world_down(&x);
}

static void lost_mads_are_sent_again(void **state)
{
	struct world x;

	(void)state;
	world_up(&x, 0.2);
	assert_int_equal(trace(&x, x.f->term_lid[1], x.f->term_lid[10]), 0);
	expect_same_path(&x, x.f->term_lid[1], x.f->term_lid[10]);
	drop(&x);
	world_down(&x);
}

/* All switches send a LID the same way round, or nowhere. */
static void paths_that_do_not_arrive_are_traced_as_far_as_they_go(void **state)
{
	struct world x;
	uint16_t d;
	uint32_t leaf, spine, c;

	(void)state;
	world_up(&x, 0);
	d = x.f->term_lid[11];
	leaf = x.f->term_sw[0];
	c = fabric_chan(x.f, leaf, tables_row(x.t, leaf)[d]);
	spine = x.f->chan_dst[c];
	tables_row(x.t, spine)[d] = x.f->chan_rport[c];
	assert_int_equal(sim_install_tables(x.sim, x.t, &x.err), 0);
	assert_int_equal(trace(&x, x.f->term_lid[0], d), 0);
	expect_same_path(&x, x.f->term_lid[0], d);
	drop(&x);
	tables_row(x.t, spine)[d] = FAB_NO_PORT;
	assert_int_equal(sim_install_tables(x.sim, x.t, &x.err), 0);
	assert_int_equal(trace(&x, x.f->term_lid[0], d), 0);
	expect_same_path(&x, x.f->term_lid[0], d);
	drop(&x);
	world_down(&x);
}

static void who_does_not_exist_or_answer_is_named(void **state)
{
	struct world x;

	(void)state;
	world_up(&x, 0);
	assert_int_equal(trace(&x, x.f->term_lid[0], 4000), -ENOENT);
	assert_string_equal(x.err.text, "no port has LID 4000");
	sim_stop_sm(x.sim, true);
	assert_true(trace(&x, x.f->term_lid[0], x.f->term_lid[3]) < 0);
	assert_non_null(strstr(x.err.text, "subnet manager"));
	world_down(&x);
}

static void guids_of_ports_and_nodes_lead_to_lids(void **state)
{
	struct world x;
	uint16_t lid;

	(void)state;
	world_up(&x, 0);
	assert_int_equal(wire_guid_lid(&lid, x.w, x.f->term_guid[7], &x.err), 0);
	assert_int_equal(lid, x.f->term_lid[7]);
	assert_int_equal(wire_guid_lid(&lid, x.w, x.f->term_node_guid[2], &x.err), 0);
	assert_int_equal(lid, x.f->term_lid[2]);
	assert_int_equal(wire_guid_lid(&lid, x.w, x.f->sw_guid[1], &x.err), 0);
	assert_int_equal(lid, x.f->sw_lid[1]);
	assert_int_equal(wire_guid_lid(&lid, x.w, 0x123456, &x.err), -ENOENT);
	assert_string_equal(x.err.text, "no port or node has the GUID 0x0000000000123456");
	world_down(&x);
}

static void tables_of_a_discovered_fabric_have_the_entries_of_the_path(void **state)
{
	struct world x;

	(void)state;
	world_up(&x, 0);
	assert_int_equal(wire_sweep(&x.seen, NULL, x.w, NULL, NULL, &x.err), 0);
	assert_int_equal(wire_trace_tables(&x.got, x.w, x.seen,
					   fabric_lid_end(x.seen, x.f->term_lid[0]),
					   x.f->term_lid[11], &x.err),
			 0);
	expect_same_path(&x, x.f->term_lid[0], x.f->term_lid[11]);
	drop(&x);
	world_down(&x);
}

/* A host's first block, and the rest only where that does not do. */
static void pkeys_are_read_until_one_is_shared(void **state)
{
	uint16_t far[SIM_PKEYS] = { [3] = 0x0009, [40] = 0x8011 }, near[] = { 0x0011, 0x8012 };
	struct pkeys keys[2] = { { 0 } };
	const uint32_t term[2] = { 0, 11 };
	struct world x;
	uint64_t before;
	uint16_t value;

	(void)state;
	world_up(&x, 0);
	before = wire_stats(x.w)->sent;
	assert_int_equal(wire_read_pkeys(keys, x.w, x.f, term, &x.err), 0);
	assert_int_equal(wire_stats(x.w)->sent - before, 2);
	assert_true(pkeys_shared(&value, &keys[0], &keys[1]));
	assert_int_equal(value, 0x7fff);
	pkeys_free(&keys[0]);
	pkeys_free(&keys[1]);
	sim_set_pkeys(x.sim, 0, far, SIM_PKEYS);
	sim_set_pkeys(x.sim, 11, near, 2);
	assert_int_equal(wire_read_pkeys(keys, x.w, x.f, term, &x.err), 0);
	assert_int_equal(keys[0].n, 2);
	assert_true(pkeys_shared(&value, &keys[0], &keys[1]));
	assert_int_equal(value, 0x11);
	pkeys_free(&keys[0]);
	pkeys_free(&keys[1]);
	world_down(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pair_has_the_path_that_the_whole_fabric_has),
		cmocka_unit_test(a_path_takes_a_handful_of_mads_a_hop),
		cmocka_unit_test(lost_mads_are_sent_again),
		cmocka_unit_test(paths_that_do_not_arrive_are_traced_as_far_as_they_go),
		cmocka_unit_test(who_does_not_exist_or_answer_is_named),
		cmocka_unit_test(guids_of_ports_and_nodes_lead_to_lids),
		cmocka_unit_test(tables_of_a_discovered_fabric_have_the_entries_of_the_path),
		cmocka_unit_test(pkeys_are_read_until_one_is_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
