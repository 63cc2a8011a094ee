/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/spdag.h"
#include "engines/vl/vl_layers.h"

#include "engines/dfsssp.h"
#include "engines/engine.h"
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

/* Every LID clockwise round the ring, as far as that goes. */
static struct tables *clockwise(const struct fabric *f)
{
	struct tables *t = tables_new(f, "clockwise");

	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		uint8_t out;
		uint32_t dst = fabric_lid_switch(f, lid, &out);

		for (uint32_t u = 0; u < f->nsw && dst != FAB_NONE; u++) {
			uint32_t c = f->chan_off[u];

			while (f->chan_dst[c] != (u + 1) % f->nsw)
				c++;
			tables_row(t, u)[lid] = u == dst ? out : f->chan_port[c];
		}
	}
	return t;
}

/* Each layer leaves out one turn; a path of n-1 hops avoids two turns only, so n layers / 2. */
static void a_one_way_ring_takes_as_many_layers_as_its_longest_paths_force(void **state)
{
	struct fabric *f = net_ring(7, 2, NULL);
	struct tables *t = clockwise(f);
	struct err err;

	(void)state;
	assert_int_equal(vl_layers_assign(t, f, &(struct engine_params){ .vls = 8 }, NULL, &err),
			 0);
	assert_int_equal(t->vls, 4);
	assert_int_equal(t->sls, 4);
	assert_int_equal(t->sl_kind, SL_BY_SWITCH);
	assert_no_deadlock(f, t);
	tables_put(t);
	fabric_put(f);
}

/* Switch 3 is reached over the ways of the first terminal there; switch 4 is not. */
static void a_switch_that_is_reached_like_its_terminal_has_its_sls(void **state)
{
	struct fabric *f = net_ring(7, 2, NULL);
	struct tables *t = clockwise(f);
	uint32_t last = f->term_list[f->term_off[4]];
	uint32_t like = f->term_list[f->term_off[3]];
	struct err err;

	(void)state;
	for (uint32_t u = 0; u < f->nsw; u++) {
		uint32_t c = f->chan_off[u];

		while (f->chan_dst[c] != (u + 6) % f->nsw)
			c++;
		if (u != 4)
			tables_row(t, u)[f->sw_lid[4]] = f->chan_port[c];
	}
	assert_int_equal(vl_layers_assign(t, f, &(struct engine_params){ .vls = 8 }, NULL, &err),
			 0);
	assert_int_equal(t->sl_kind, SL_BY_SWITCH);
	assert_no_deadlock(f, t);
	for (uint32_t u = 0; u < f->nsw; u++) {
		const uint8_t *sl = t->sl + (size_t)u * t->stride;

		assert_int_equal(sl[f->sw_lid[3]], sl[f->term_lid[like]]);
	}
	/* one hop back has no turn, the way round has the most */
	assert_int_not_equal(t->sl[(size_t)5 * t->stride + f->term_lid[last]],
			     t->sl[(size_t)5 * t->stride + f->sw_lid[4]]);
	tables_put(t);
	fabric_put(f);
}

static void a_tree_takes_one_layer_and_a_constant_sl(void **state)
{
	struct fabric *f = net_tree(5, 3, 3, NULL);
	struct tables *t = must_route(&engine_dfsssp, f, NULL, NULL);

	(void)state;
	assert_int_equal(t->vls, 1);
	assert_int_equal(t->sl_kind, SL_CONST);
	assert_int_equal(t->sl_const, 0);
	tables_put(t);
	fabric_put(f);
}

/* Round three switches, one path to each LID has a turn and the other fits everywhere. */
static void the_sl_is_kept_by_destination_where_that_holds_it(void **state)
{
	struct fabric *f = net_ring(3, 2, NULL);
	struct tables *t = clockwise(f);
	struct err err;

	(void)state;
	assert_int_equal(vl_layers_assign(t, f, &(struct engine_params){ .vls = 8 }, NULL, &err),
			 0);
	assert_int_equal(t->vls, 2);
	assert_int_equal(t->sl_kind, SL_BY_DLID);
	assert_no_deadlock(f, t);
	tables_put(t);
	fabric_put(f);
}

static void too_few_vls_say_how_many_it_takes_and_who_needs_fewer(void **state)
{
	struct fabric *f = net_torus(6, 6, 1, NULL);
	struct engine_params p = { .vls = 1 };
	struct tables *t, *none = NULL;
	const char *need;
	struct err err;

	(void)state;
	assert_int_equal(engine_dfsssp.route(&none, f, NULL, NULL, &p, NULL, &err), -ENOSPC);
	assert_null(none);
	need = strstr(err.text, "need ");
	assert_non_null(need);
	assert_non_null(strstr(err.text, "1 may be used"));
	assert_non_null(strstr(err.text, "updn"));
	assert_non_null(strstr(err.text, "nue"));
	p.vls = (unsigned)strtoul(need + strlen("need "), NULL, 10);
	assert_true(p.vls > 1);
	t = must_route(&engine_dfsssp, f, NULL, &p);
	assert_int_equal(t->vls, p.vls);
	tables_put(t);
	fabric_put(f);
}

static void tables_that_do_not_arrive_are_refused(void **state)
{
	struct fabric *f = net_ring(6, 1, NULL);
	struct tables *t = clockwise(f);
	struct err err;

	(void)state;
	tables_row(t, 3)[f->term_lid[0]] = FAB_NO_PORT;
	assert_int_equal(vl_layers_assign(t, f, &(struct engine_params){ .vls = 8 }, NULL, &err),
			 -EINVAL);
	tables_row(t, 3)[f->term_lid[0]] = tables_row(t, 3)[f->term_lid[2]];
	for (uint32_t c = f->chan_off[3]; c < f->chan_off[4]; c++)
		if (f->chan_dst[c] == 2)
			tables_row(t, 3)[f->term_lid[0]] = f->chan_port[c];
	assert_int_equal(vl_layers_assign(t, f, &(struct engine_params){ .vls = 8 }, NULL, &err),
			 -EINVAL);
	assert_non_null(strstr(err.text, "LID"));
	tables_put(t);
	fabric_put(f);
}

static void more_layers_than_there_are_is_said_as_such(void **state)
{
	struct fabric *f = net_ring(40, 1, NULL);
	struct tables *t = clockwise(f);
	struct err err;

	(void)state;
	assert_int_equal(vl_layers_assign(t, f, &(struct engine_params){ .vls = 15 }, NULL, &err),
			 -ENOSPC);
	assert_non_null(strstr(err.text, "more than 16 VLs"));
	tables_put(t);
	fabric_put(f);
}

/* Most routes to traffic LIDs that share a channel and VL. */
static uint64_t busiest(const struct fabric *f, const struct tables *t)
{
	uint64_t *load = xcalloc((size_t)f->nchan * FAB_SLS, sizeof(*load)), max = 0;

	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		uint8_t port;
		uint32_t dst = fabric_lid_switch(f, lid, &port);

		for (uint32_t s = 0; s < f->nterm && f->lid_end[lid] < f->nterm; s++) {
			uint8_t vl = tables_path_sl(t, s, f->term_sw[s], lid);

			for (uint32_t u = f->term_sw[s]; u != dst;) {
				uint32_t c = fabric_chan(f, u, tables_row(t, u)[lid]);
				uint64_t n = ++load[(size_t)c * FAB_SLS + vl];

				max = n > max ? n : max;
				u = f->chan_dst[c];
			}
		}
	}
	free(load);
	return max;
}

static void spread_is_less_on_each_vl(const struct fabric *f, unsigned vls)
{
	struct notes notes = { NULL, 0 };
	struct engine_params few = { .vls = vls, .notes = &notes };
	struct engine_params all = { .vls = vls, .notes = &notes, .spread = true };
	struct tables *a = must_route(&engine_dfsssp, f, NULL, &few);
	struct tables *b = must_route(&engine_dfsssp, f, NULL, &all);
	uint64_t before = busiest(f, a), after = busiest(f, b);

	assert_true(a->vls < vls);
	assert_int_equal(notes_find(&notes, "vls_needed")->value, a->vls);
	assert_int_equal(notes_find(&notes, "vls_spread")->value, vls);
	assert_int_equal(b->vls, vls);
	assert_int_equal(b->sls, vls);
	/* at least halfway to an even share of the channel */
	assert_true(2 * after < before + before * a->vls / vls);
	assert_memory_equal(a->lft, b->lft, (size_t)a->nsw * a->stride);
	assert_no_deadlock(f, b);
	tables_put(a);
	tables_put(b);
	notes_done(&notes);
}

static void spare_vls_take_their_share_of_every_channel(void **state)
{
	struct net_opts o = { .lmc = 1, .storage = 2, .aggregation = 1 };
	struct fabric *tree = net_tree(6, 4, 4, NULL), *torus = net_torus(4, 5, 3, &o);
	struct fabric *random = net_random(3, 12, 26, 4, &o);

	(void)state;
	spread_is_less_on_each_vl(tree, 2);
	spread_is_less_on_each_vl(tree, 4);
	spread_is_less_on_each_vl(torus, 8);
	spread_is_less_on_each_vl(random, 5);
	fabric_put(tree);
	fabric_put(torus);
	fabric_put(random);
}

/* Two hosts on two switches have one path each way. */
static void vls_without_a_path_are_not_counted(void **state)
{
	struct fabric *f = net_chain(2, 1, FAB_NONE, NULL);
	struct engine_params p = { .vls = 8, .spread = true };
	struct tables *t = must_route(&engine_dfsssp, f, NULL, &p);

	(void)state;
	assert_int_equal(t->vls, 1);
	assert_no_deadlock(f, t);
	tables_put(t);
	fabric_put(f);
}

static bool same_path(const struct fabric *f, const struct tables *a, const struct tables *b,
		      uint32_t u, uint32_t lid, uint32_t dst)
{
	while (u != dst) {
		uint8_t port = tables_row(a, u)[lid];

		if (port != tables_row(b, u)[lid])
			return false;
		u = f->chan_dst[fabric_chan(f, u, port)];
	}
	return true;
}

/* Paths from switches with terminals that are the same but for the SL; *moved: that are others. */
static uint32_t other_sls(const struct fabric *f, const struct tables *a, const struct tables *b,
			  uint32_t *moved)
{
	uint32_t n = 0;

	*moved = 0;
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		uint8_t port;
		uint32_t dst = fabric_lid_switch(f, lid, &port);

		for (uint32_t u = 0; u < f->nsw && dst != FAB_NONE; u++) {
			uint32_t term = f->term_list[f->term_off[u]];

			if (!same_path(f, a, b, u, lid, dst))
				++*moved;
			else
				n += tables_path_sl(a, term, u, lid) !=
				     tables_path_sl(b, term, u, lid);
		}
	}
	return n;
}

/* Sends every nth LID by the last port that leads nearer, where dfsssp mostly takes another. */
static void reroute(struct tables *t, const struct fabric *f, uint32_t nth)
{
	for (uint32_t lid = nth; lid <= f->max_lid; lid += nth) {
		uint8_t port;
		uint32_t dst = fabric_lid_switch(f, lid, &port);
		struct spdag g;

		if (dst == FAB_NONE)
			continue;
		spdag_init(&g, f);
		spdag_shortest(&g, f, dst);
		for (uint32_t i = 1; i < g.n; i++)
			tables_row(t, g.sw[i])[lid] = f->chan_port[g.chan[g.off[i + 1] - 1]];
		spdag_done(&g);
	}
}

static void paths_that_stay_keep_their_sls(void **state)
{
	struct fabric *f = net_torus(5, 5, 2, NULL);
	struct engine_params p = { .vls = 8, .threads = 1 };
	struct tables *from = must_route(&engine_dfsssp, f, NULL, &p);
	struct tables *t = tables_new(f, "test"), *two = tables_new(f, "test");
	uint32_t moved;
	struct err err;

	(void)state;
	assert_true(from->vls > 1);
	memcpy(t->lft, from->lft, (size_t)f->nsw * t->stride);
	reroute(t, f, 9);
	memcpy(two->lft, t->lft, (size_t)f->nsw * t->stride);
	assert_int_equal(vl_layers_assign(t, f, &p, NULL, &err), 0);
	assert_true(other_sls(f, from, t, &moved) > 0); /* else nothing is shown */
	assert_true(moved > 0);
	assert_int_equal(vl_layers_assign_from(t, f, from, &p, NULL, &err), 0);
	assert_no_deadlock(f, t);
	assert_int_equal(other_sls(f, from, t, &moved), 0);
	p.threads = 2;
	assert_int_equal(vl_layers_assign_from(two, f, from, &p, NULL, &err), 0);
	assert_same_tables(t, two);
	tables_put(two);
	tables_put(t);
	tables_put(from);
	fabric_put(f);
}

static void sls_that_would_deadlock_are_not_kept(void **state)
{
	struct fabric *f = net_ring(7, 2, NULL);
	struct tables *from = clockwise(f), *t = clockwise(f);
	struct err err;

	(void)state; /* all of them SL 0 */
	assert_int_equal(
		vl_layers_assign_from(t, f, from, &(struct engine_params){ .vls = 8 }, NULL, &err),
		0);
	assert_no_deadlock(f, t);
	assert_int_equal(t->vls, 4);
	tables_put(t);
	tables_put(from);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_one_way_ring_takes_as_many_layers_as_its_longest_paths_force),
		cmocka_unit_test(a_switch_that_is_reached_like_its_terminal_has_its_sls),
		cmocka_unit_test(a_tree_takes_one_layer_and_a_constant_sl),
		cmocka_unit_test(the_sl_is_kept_by_destination_where_that_holds_it),
		cmocka_unit_test(too_few_vls_say_how_many_it_takes_and_who_needs_fewer),
		cmocka_unit_test(paths_that_stay_keep_their_sls),
		cmocka_unit_test(sls_that_would_deadlock_are_not_kept),
		cmocka_unit_test(tables_that_do_not_arrive_are_refused),
		cmocka_unit_test(more_layers_than_there_are_is_said_as_such),
		cmocka_unit_test(spare_vls_take_their_share_of_every_channel),
		cmocka_unit_test(vls_without_a_path_are_not_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
