/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets in a campaign: what a bottleneck and a circle leave of the rate, and that it is the same twice. */
#include "console/campaign/failures/packet_load.h"

#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void measure(struct packet_load *out, const struct fabric *f, const struct tables *t)
{
	struct err err = { "" };

	assert_int_equal(packet_load_measure(out, f, t, 7, &err), 0);
}

/* Two leaves with four hosts each: over one spine a shift that crosses takes four times as long as over
 * four, of which all can be used. */
static void a_narrow_tree_carries_less_than_a_wide_one(void **state)
{
	struct fabric *narrow = net_tree(2, 1, 4, NULL), *wide = net_tree(2, 4, 4, NULL);
	struct tables *a = kit_bfs(narrow), *b = tables_new(wide, "spread");
	struct packet_load x, y;

	(void)state;
	for (uint32_t sw = 0; sw < wide->nsw; sw++)
		for (uint32_t lid = 1; lid <= wide->max_lid; lid++) {
			uint8_t port;
			uint32_t to = fabric_lid_switch(wide, lid, &port), n = 0;

			if (to == FAB_NONE)
				continue;
			for (uint32_t c = wide->chan_off[sw]; c < wide->chan_off[sw + 1]; c++)
				if (to != sw && (wide->sw_nterm[sw] ? n++ == lid % 4
								    : wide->chan_dst[c] == to))
					port = wide->chan_port[c];
			tables_row(b, sw)[lid] = port;
		}
	measure(&x, narrow, a);
	measure(&y, wide, b);
	assert_int_equal(x.deadlocks + y.deadlocks, 0);
	assert_true(x.shift_GBps > 0 && x.all_to_all_GBps > 0);
	assert_true(y.shift_GBps > 1.3 * x.shift_GBps);
	assert_true(y.all_to_all_GBps > 1.3 * x.all_to_all_GBps);
	tables_put(a);
	tables_put(b);
	fabric_put(narrow);
	fabric_put(wide);
}

static void a_circle_ends_in_deadlocks(void **state)
{
	struct fabric *f = net_ring(5, 6, NULL);
	struct tables *t = kit_clockwise(f);
	struct packet_load x;

	(void)state;
	measure(&x, f, t);
	assert_true(x.deadlocks > 0);
	tables_put(t);
	fabric_put(f);
}

static void the_same_tables_have_the_same_rates(void **state)
{
	struct fabric *f = net_torus(3, 3, 2, NULL);
	struct tables *t = kit_bfs(f);
	struct packet_load x, y;

	(void)state;
	measure(&x, f, t);
	measure(&y, f, t);
	assert_memory_equal(&x, &y, sizeof(x));
	tables_put(t);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_narrow_tree_carries_less_than_a_wide_one),
		cmocka_unit_test(a_circle_ends_in_deadlocks),
		cmocka_unit_test(the_same_tables_have_the_same_rates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
