/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Would OpenSM set any SL2VL table between two routings? */
#include "engines/opensm/sl_maps.h"

#include "tests/unit/kit/small_net.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

static void set_vls(struct fabric *f, uint8_t op_vls)
{
	for (uint32_t p = 0; p < f->nport; p++)
		f->port[p].op_vls = op_vls;
}

static bool cabled(const struct fabric *f, uint32_t sw, uint32_t p)
{
	const struct port *port = fabric_port(f, sw, (uint8_t)p);

	return port->chan != FAB_NONE || port->term != FAB_NONE;
}

/* VL = SL for each pair of ports, whatever is attached there. */
static struct tables *in_full(const struct fabric *f)
{
	struct tables *t = tables_new(f, "test");

	tables_sl2vl_form(t, SL2VL_FULL, f);
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t in = 0; in <= f->sw_nports[sw]; in++)
			for (uint32_t out = 0; out <= f->sw_nports[sw]; out++)
				for (uint8_t sl = 0; sl < FAB_SLS; sl++)
					tables_sl2vl_row(t, sw, in, out)[sl] = sl;
	return t;
}

static bool same(const struct fabric *f, const struct tables *a, const struct tables *b)
{
	struct digest of_a, of_b;

	sl_maps_hash(&of_a, a, f);
	sl_maps_hash(&of_b, b, f);
	return digest_equal(&of_a, &of_b);
}

static void the_form_does_not_matter(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=4,spines=3,hosts=2");
	struct tables *a = tables_new(f, "test"), *b = in_full(f);

	(void)state;
	assert_true(same(f, a, b));
	tables_put(a);
	tables_put(b);
	fabric_put(f);
}

/* One entry of each table in turn: it counts between ports with something on them. */
static void each_table_in_use_counts(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=4,spines=3,hosts=2");
	struct tables *a = in_full(f), *b = in_full(f);

	(void)state;
	set_vls(f, 8);
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t in = 0; in <= f->sw_nports[sw]; in++)
			for (uint32_t out = 0; out <= f->sw_nports[sw]; out++) {
				bool used = (!in || cabled(f, sw, in)) && out && cabled(f, sw, out);

				tables_sl2vl_row(b, sw, in, out)[5] = 2;
				assert_int_equal(same(f, a, b), !used);
				tables_sl2vl_row(b, sw, in, out)[5] = 5;
			}
	tables_put(a);
	tables_put(b);
	fabric_put(f);
}

static void vls_are_cut_off_to_what_a_port_has(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=4,spines=3,hosts=2");
	struct tables *a = in_full(f), *b = in_full(f);
	uint8_t port = f->chan_port[f->chan_off[0]];
	uint8_t *row = tables_sl2vl_row(b, 0, 0, port);

	(void)state;
	set_vls(f, 4);
	row[6] = 2; /* as 6 */
	assert_true(same(f, a, b));
	row[6] = 3;
	assert_false(same(f, a, b));
	row[6] = VL_DROP; /* is no VL, and stays */
	assert_false(same(f, a, b));
	row[6] = 2;
	set_vls(f, 8);
	assert_false(same(f, a, b));
	tables_put(a);
	tables_put(b);
	fabric_put(f);
}

/* 15 is no power of two: a port with all data VLs has the odd ones, too. */
static void a_port_with_all_vls_cuts_nothing_off(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=4,spines=3,hosts=2");
	struct tables *a = in_full(f), *b = in_full(f);
	uint8_t *row = tables_sl2vl_row(b, 0, 0, f->chan_port[f->chan_off[0]]);

	(void)state;
	assert_int_equal(sl_maps_vl_mask(1), 0);
	assert_int_equal(sl_maps_vl_mask(2), 1);
	assert_int_equal(sl_maps_vl_mask(4), 3);
	assert_int_equal(sl_maps_vl_mask(8), 7);
	assert_int_equal(sl_maps_vl_mask(15), 15);
	set_vls(f, 15);
	row[1] = 0;
	assert_false(same(f, a, b));
	tables_put(a);
	tables_put(b);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_form_does_not_matter),
		cmocka_unit_test(each_table_in_use_counts),
		cmocka_unit_test(vls_are_cut_off_to_what_a_port_has),
		cmocka_unit_test(a_port_with_all_vls_cuts_nothing_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
