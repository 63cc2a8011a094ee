/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/lft_columns.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NSW    37
#define STRIDE 128

/* LIDs that follow each other, in one piece and in several, and one alone. */
static uint32_t some_dests(struct dest *d)
{
	static const uint8_t lids[] = { 64, 65, 66, 67, 68, 69, 70, 71, 72, 9, 10, 127, 3 };

	for (uint32_t k = 0; k < sizeof(lids); k++)
		d[k] = (struct dest){ .lid = lids[k] };
	return sizeof(lids);
}

static void bytes_come_lid_by_lid_and_go_back_to_their_places(void **state)
{
	uint8_t rows[NSW * STRIDE], back[NSW * STRIDE], column[16 * NSW];
	struct dest d[16];
	uint32_t n = some_dests(d);
	struct rng r;

	(void)state;
	rng_seed(&r, 5);
	for (size_t i = 0; i < sizeof(rows); i++)
		rows[i] = (uint8_t)rng_below(&r, 256);
	memset(back, 0xa5, sizeof(back));
	lft_columns_turn(column, rows, STRIDE, NSW, d, n);
	lft_columns_turn_back(back, column, STRIDE, NSW, d, n);
	for (uint32_t u = 0; u < NSW; u++) {
		for (uint32_t lid = 0; lid < STRIDE; lid++) {
			uint32_t k = 0;

			while (k < n && d[k].lid != lid)
				k++;
			if (k < n)
				assert_int_equal(column[k * NSW + u], rows[u * STRIDE + lid]);
			assert_int_equal(back[u * STRIDE + lid],
					 k < n ? rows[u * STRIDE + lid] : 0xa5);
		}
	}
}

static void places_that_differ_are_found_wherever_they_lie(void **state)
{
	uint8_t a[NSW] = { 0 }, b[NSW];
	uint32_t at[NSW];

	(void)state;
	assert_int_equal(lft_columns_differ(a, a, NSW, at), 0);
	for (uint32_t first = 0; first < NSW; first++) {
		for (uint32_t last = first + 1; last < NSW; last++) {
			memcpy(b, a, NSW);
			b[first] = b[last] = 1;
			assert_int_equal(lft_columns_differ(a, b, NSW, at), 2);
			assert_int_equal(at[0], first);
			assert_int_equal(at[1], last);
		}
	}
}

/* Ports that a switch does not have, and those of the LID's own switch, lead nowhere. */
static void a_column_leads_over_the_channels_of_the_ports(void **state)
{
	struct fabric *f = net_ring(5, 2, NULL);
	struct tables *t = tables_new(f, "test");
	struct dest d = { .sw = 2, .lid = f->term_lid[f->term_list[f->term_off[2]]], .port = 1 };
	uint32_t *out = lft_columns_ports(f), *chan = xcalloc(f->nsw, sizeof(*chan));
	struct lft_columns col;

	(void)state;
	lft_columns_init(&col, f, out);
	for (uint32_t u = 0; u < f->nsw; u++)
		tables_row(t, u)[d.lid] = f->chan_port[f->chan_off[u] + u % 2];
	tables_row(t, 4)[d.lid] = f->sw_nports[4] + 1;
	lft_columns_read(&col, t, &d, 1);
	lft_columns_chans(&col, 0, chan);
	for (uint32_t u = 0; u < f->nsw; u++) {
		bool leads = u != 4 && u != d.sw;

		assert_int_equal(chan[u], leads ? f->chan_off[u] + u % 2 : FAB_NONE);
		assert_int_equal(lft_columns_chan(&col, 0, u), chan[u]);
	}
	lft_columns_done(&col);
	free(chan);
	free(out);
	tables_put(t);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_come_lid_by_lid_and_go_back_to_their_places),
		cmocka_unit_test(places_that_differ_are_found_wherever_they_lie),
		cmocka_unit_test(a_column_leads_over_the_channels_of_the_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
