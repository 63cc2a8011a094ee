/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/layers.h"

#include "engines/dfsssp.h"
#include "engines/engine.h"
#include "fabric/base/mem.h"
#include "tests/unit/route_check.h"
#include "tests/unit/small_net.h"

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
	assert_int_equal(layers_assign(t, f, &(struct engine_params){ .vls = 8 }, NULL, &err), 0);
	assert_int_equal(t->vls, 4);
	assert_int_equal(t->sls, 4);
	assert_int_equal(t->sl_kind, SL_BY_SWITCH);
	assert_no_deadlock(f, t);
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
	assert_int_equal(layers_assign(t, f, &(struct engine_params){ .vls = 8 }, NULL, &err), 0);
	assert_int_equal(t->vls, 2);
	assert_int_equal(t->sl_kind, SL_BY_DLID);
	assert_no_deadlock(f, t);
	tables_put(t);
	fabric_put(f);
}

static void too_few_vls_say_how_many_it_takes_and_who_needs_fewer(void **state)
{
	struct fabric *f = net_torus(6, 6, 1, NULL);
	struct tables *t = must_route(&engine_dfsssp, f, NULL, NULL);
	struct engine_params p = { .vls = 1 };
	struct tables *none = NULL;
	struct err err;
	char need[32];

	(void)state;
	assert_true(t->vls > 1);
	snprintf(need, sizeof(need), "need %u VLs", t->vls);
	assert_int_equal(engine_dfsssp.route(&none, f, NULL, NULL, &p, NULL, &err), -ENOSPC);
	assert_null(none);
	assert_non_null(strstr(err.text, need));
	assert_non_null(strstr(err.text, "1 may be used"));
	assert_non_null(strstr(err.text, "updn"));
	p.vls = t->vls;
	tables_put(t);
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
	assert_int_equal(layers_assign(t, f, &(struct engine_params){ .vls = 8 }, NULL, &err),
			 -EINVAL);
	tables_row(t, 3)[f->term_lid[0]] = tables_row(t, 3)[f->term_lid[2]];
	for (uint32_t c = f->chan_off[3]; c < f->chan_off[4]; c++)
		if (f->chan_dst[c] == 2)
			tables_row(t, 3)[f->term_lid[0]] = f->chan_port[c];
	assert_int_equal(layers_assign(t, f, &(struct engine_params){ .vls = 8 }, NULL, &err),
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
	assert_int_equal(layers_assign(t, f, &(struct engine_params){ .vls = 15 }, NULL, &err),
			 -ENOSPC);
	assert_non_null(strstr(err.text, "more than 16 VLs"));
	tables_put(t);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_one_way_ring_takes_as_many_layers_as_its_longest_paths_force),
		cmocka_unit_test(a_tree_takes_one_layer_and_a_constant_sl),
		cmocka_unit_test(the_sl_is_kept_by_destination_where_that_holds_it),
		cmocka_unit_test(too_few_vls_say_how_many_it_takes_and_who_needs_fewer),
		cmocka_unit_test(tables_that_do_not_arrive_are_refused),
		cmocka_unit_test(more_layers_than_there_are_is_said_as_such),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
