/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/engine_spec.h"
#include "engines/time/shift_time.h"
#include "fabric/model/topology/chan_weight.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { EDR = 100000 };

/* The slowest flow while all hosts send to all that are elsewhere, of what the fastest cable
 * carries. */
static double slowest_flow(const struct fabric *f, const struct tables *t)
{
	uint64_t *routes = count_routes(f, t);
	struct chan_weights w;
	double max = 0;
	uint32_t leaf = 0;

	while (!f->sw_nterm[leaf])
		leaf++;
	chan_weights_init(&w, f, false);
	for (uint32_t c = 0; c < f->nchan; c++)
		max = chan_weight_load(&w, c, routes[c]) > max ? chan_weight_load(&w, c, routes[c])
							       : max;
	chan_weights_done(&w);
	free(routes);
	return (double)(f->nterm - f->sw_nterm[leaf]) / max;
}

static double slowest_flow_of(const char *engine, const struct fabric *f)
{
	struct engine_params params = { .vls = 4, .threads = 1 };
	struct engine_spec spec;
	struct tables *t;
	double v;

	assert_int_equal(engine_spec_parse(&spec, engine, NULL), 0);
	engine_spec_apply(&spec, &params);
	t = must_route(spec.engine, f, NULL, &params);
	assert_complete(f, t);
	assert_no_deadlock(f, t);
	v = slowest_flow(f, t);
	tables_put(t);
	return v;
}

struct reach {
	const char *engine;
	double ignored, weighed;
};

static void assert_reached(const struct reach *r, size_t n, const struct fabric *f)
{
	char ignored[64];

	for (size_t i = 0; i < n; i++) {
		snprintf(ignored, sizeof(ignored), "%s:ignore-rates", r[i].engine);
		assert_float_equal(slowest_flow_of(ignored, f), r[i].ignored, 1e-9);
		assert_true(slowest_flow_of(r[i].engine, f) >= r[i].weighed - 1e-9);
	}
}

/* Three of the four rates are there, so that .375 is what eight hosts can get of them. */
static void spines_of_half_the_rate_get_half_the_paths(void **state)
{
	static const struct reach reach[] = {
		{ "dfsssp", .25, .375 },
		{ "dfdn", .25, .375 },
		{ "nue", .25, 1 / 3. },
		{ "ftree", .25, 1 / 3. },
	};
	struct fabric *f = net_spec("fattree2:leaves=4,spines=4,hosts=8,speed=4xHDR");

	(void)state;
	for (uint32_t c = 0, n = 0; c < f->nchan; c++)
		if (!f->sw_nterm[f->chan_src[c]] && n++ / 4 % 2)
			net_set_rate(f, c, EDR);
	assert_reached(reach, sizeof(reach) / sizeof(*reach), f);
	fabric_put(f);
}

/* Sixteen hosts share eight cables, four of them of half the rate: with equal turns two flows meet
 * on each of those; with three times as many on the fast ones, three meet on these. */
static void turns_follow_the_rates_of_spines(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=14,spines=8,hosts=16,speed=4xHDR");
	static const struct shift_time_opts all = { .shifts = SHIFT_TIME_ALL };
	double sync[2];

	(void)state;
	for (uint32_t c = 0; c < f->nchan; c++)
		if (!f->sw_nterm[f->chan_src[c]] && f->chan_src[c] % 2)
			net_set_rate(f, c, EDR);
	for (int ignore = 0; ignore < 2; ignore++) {
		struct engine_params params = { .ignore_rates = ignore, .threads = 1 };
		struct tables *t = must_route(engine_find("ftree", NULL), f, NULL, &params);
		struct shift_time s;

		assert_int_equal(shift_time_compute(&s, f, t, &all, NULL, NULL), 0);
		sync[ignore] = s.sync.mean;
		tables_put(t);
	}
	assert_true(sync[1] < .27);
	assert_true(sync[0] > .34);
	fabric_put(f);
}

/* Without that cable it would be .25 as well. */
static void a_cable_of_one_lane_slows_nobody_down(void **state)
{
	static const struct reach reach[] = {
		{ "minhop", .125, .25 }, { "updn", .125, .25 },	 { "dfsssp", .125, .25 },
		{ "dfdn", .125, .25 },	 { "ftree", .125, .25 }, { "nue", .125, .25 },
	};
	struct fabric *f = net_spec("fattree2:leaves=4,spines=4,hosts=8");

	(void)state;
	net_set_rate(f, 0, EDR / 4);
	assert_reached(reach, sizeof(reach) / sizeof(*reach), f);
	fabric_put(f);
}

/* As when one end was read before a cable trained again and the other one afterwards. */
static void ends_of_a_cable_that_say_two_rates_break_no_engine(void **state)
{
	static const char *const engines[] = { "minhop", "updn", "dfsssp", "dfdn",
					       "ftree",	 "nue",	 "sar" };
	struct fabric *f = net_spec("fattree2:leaves=6,spines=3,hosts=4");

	(void)state;
	net_set_rate_of_end(f, f->chan_off[8] + 3, EDR / 4);
	for (size_t i = 0; i < sizeof(engines) / sizeof(*engines); i++)
		assert_true(slowest_flow_of(engines[i], f) > 0);
	fabric_put(f);
}

/* Two cables between each pair of neighbours. */
static void dimension_order_chooses_among_parallel_cables(void **state)
{
	struct engine_params params = { .vls = 4 };
	struct fabric *f = net_spec("hyperx:dims=3x3,hosts=6,links=2");
	const struct engine *dor = engine_find("dor", NULL);

	(void)state;
	net_set_rate(f, 0, EDR / 4);
	for (int ignore = 0; ignore < 2; ignore++) {
		struct tables *t;
		uint64_t *routes;

		params.ignore_rates = ignore;
		t = must_route(dor, f, NULL, &params);
		routes = count_routes(f, t);
		assert_true(ignore ? routes[0] >= 50 : routes[0] <= 30);
		free(routes);
		tables_put(t);
	}
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spines_of_half_the_rate_get_half_the_paths),
		cmocka_unit_test(turns_follow_the_rates_of_spines),
		cmocka_unit_test(a_cable_of_one_lane_slows_nobody_down),
		cmocka_unit_test(ends_of_a_cable_that_say_two_rates_break_no_engine),
		cmocka_unit_test(dimension_order_chooses_among_parallel_cables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
