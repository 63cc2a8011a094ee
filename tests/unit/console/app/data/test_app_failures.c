/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A console whose fabric loses a cable tells what that costs. */
#include "console/session/engine_list.h"
#include "fabric/base/time/clock.h"
#include "tests/unit/kit/app_kit.h"
#include "tests/unit/kit/later_state.h"
#include "tests/unit/kit/route_check.h"
#include "views/data/summary/fabric_shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void comes(struct app *a, const struct fabric *f)
{
	struct engine_list *engines = engine_list_new(f);
	const struct fabric_shape *shape = fabric_shape_new(f, NULL, NULL);

	app_set_fabric(a, fabric_get(f), engines, shape);
	fabric_shape_put(shape);
	free(engines);
}

/* An event with that in it. */
static bool told(struct app *a, const char *text)
{
	double end = clock_s() + 120;

	for (; clock_s() < end; app_kit_run(a, 0.02)) {
		pthread_mutex_lock(&a->events_lock);
		for (uint32_t i = 0; i < events_count(&a->events); i++)
			if (strstr(events_get(&a->events, i)->text, text)) {
				pthread_mutex_unlock(&a->events_lock);
				return true;
			}
		pthread_mutex_unlock(&a->events_lock);
	}
	return false;
}

static void a_lost_cable_is_an_event_with_its_cost(void **state)
{
	struct app *a = app_kit_open("torus:dims=4x4,hosts=2", NULL, 100, 30);
	struct fabric *less;
	uint32_t c;

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 2));
	c = later_cable(a->state.fabric, 3);
	less = later_without(a->state.fabric, &c, 1);
	comes(a, less);
	assert_true(told(a, "1 cable gone (sw"));
	assert_true(told(a, "after a repair of "));
	app_end(a);
	fabric_put(less);
}

/* And what it was repaired with, once tables are there that lose nothing; of those of this
 * console's own update it tells elsewhere. */
static void tables_that_lose_nothing_are_a_repair(void **state)
{
	struct app *a = app_kit_open("torus:dims=4x4,hosts=2", NULL, 100, 30);
	struct engine_params params;
	const struct fabric *whole;
	struct fabric *less;
	struct tables *t;
	uint32_t c;

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 2));
	whole = fabric_get(a->state.fabric);
	c = later_cable(whole, 3);
	less = later_without(whole, &c, 1);
	comes(a, less);
	assert_true(told(a, "after a repair of "));
	assert_false(a->state.failure->repaired);
	param_defaults(&params);
	t = must_route(engine_find("minhop", NULL), less, NULL, &params);
	app_set_tables(a, tables_get(t), false);
	assert_true(told(a, "repaired by the subnet manager, "));
	assert_true(a->state.failure->repaired);
	comes(a, whole);
	assert_true(told(a, "1 cable came up (sw"));
	assert_null(a->state.failure);
	app_end(a);
	fabric_put(whole);
	tables_put(t);
	fabric_put(less);
}

/* A repair that nobody else can make is for a fabric without an SM. */
static void a_subnet_manager_that_is_gone_is_none_of_a_plan(void **state)
{
	struct app *a = app_kit_open("torus:dims=4x4,hosts=2", NULL, 100, 30);

	(void)state;
	assert_non_null(a);
	assert_true(app_kit_ready(a, 2));
	a->state.sm.known = true;
	a->state.sm.lost = false;
	a->sm.guid = 0x8001;
	a->sm.priority = 5;
	assert_int_equal(app_sm_pin(a).guid, 0x8001);
	a->state.sm.lost = true;
	assert_int_equal(app_sm_pin(a).guid, 0);
	assert_int_equal(app_sm_pin(a).priority, 0);
	app_end(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lost_cable_is_an_event_with_its_cost),
		cmocka_unit_test(tables_that_lose_nothing_are_a_repair),
		cmocka_unit_test(a_subnet_manager_that_is_gone_is_none_of_a_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
