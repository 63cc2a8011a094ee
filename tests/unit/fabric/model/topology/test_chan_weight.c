/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/topology/chan_weight.h"

#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { QDR = 32000, FDR = 54545, EDR = 100000, HDR = 200000 };

static void weights_of(struct chan_weights *w, struct fabric *f, uint32_t slow, uint32_t fast,
		       bool ignore)
{
	for (uint32_t c = 0; c < f->nchan; c++)
		net_set_rate(f, c, fast);
	net_set_rate(f, 0, slow);
	chan_weights_init(w, f, ignore);
}

static void the_ratio_of_rates_is_kept(void **state)
{
	static const struct {
		uint32_t slow, fast, unit, weight;
	} cases[] = {
		{ EDR, HDR, 1, 2 }, { QDR, EDR, 7, 22 },   { FDR, EDR, 6, 11 },
		{ EDR, EDR, 1, 1 }, { 2000, HDR, 1, 100 }, { 0, EDR, 1, 1 },
	};
	struct fabric *f = net_tree(3, 2, 2, NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct chan_weights w;

		weights_of(&w, f, cases[i].slow, cases[i].fast, false);
		assert_int_equal(w.unit, cases[i].unit);
		assert_int_equal(chan_weight(&w, 0), cases[i].weight);
		assert_int_equal(chan_weight(&w, f->chan_rev[0]), cases[i].weight);
		assert_int_equal(chan_weight(&w, f->nchan - 1), cases[i].unit);
		assert_true((w.of == NULL) == (cases[i].weight == cases[i].unit));
		chan_weights_done(&w);
	}
	fabric_put(f);
}

static void rates_can_be_ignored(void **state)
{
	struct fabric *f = net_tree(3, 2, 2, NULL);
	struct chan_weights w;

	(void)state;
	weights_of(&w, f, QDR, EDR, true);
	assert_null(w.of);
	assert_int_equal(chan_weight(&w, 0), 1);
	chan_weights_done(&w);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ratio_of_rates_is_kept),
		cmocka_unit_test(rates_can_be_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
