/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/route_judge.h"

#include "engines/dor.h"
#include "engines/nue/nue.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct verdict *judge(const struct fabric *f, const struct tables *t, bool certificate,
			     bool terminals_only)
{
	struct route_judge_opts opts = { .verify = { .certificate = certificate,
						     .terminals_only = terminals_only } };
	struct verdict *v;
	struct err err;

	if (route_judge(&v, f, t, &opts, NULL, &err))
		fail_msg("%s", err.text);
	return v;
}

static void the_proof_is_checked_where_it_is_asked_for(void **state)
{
	static const struct {
		const struct engine *e;
		const char *spec;
	} of[] = { { &engine_dor, "torus:dims=6x5,hosts=2,lmc=1" },
		   { &engine_dor, "torus:dims=6x5,hosts=2,fail=1,seed=3" },
		   { &engine_nue, "random:switches=20,links=50,hosts=2" } };

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct fabric *f = net_spec(of[i].spec);
		struct tables *t = must_route(of[i].e, f, NULL, NULL);

		for (int k = 0; k < 3; k++) {
			struct verdict *v = judge(f, t, k > 0, k == 2);

			assert_true(verdict_ok(v));
			assert_int_equal(v->certified, k > 0);
			assert_int_equal(v->terminals_only, k == 2);
			verdict_free(v);
		}
		tables_put(t);
		fabric_put(f);
	}
}

static void what_can_deadlock_has_no_proof(void **state)
{
	struct fabric *f = net_ring(6, 2, NULL);
	struct tables *t = must_route(&engine_dor, f, NULL, NULL);
	struct tables *flat = tables_onto(f, t, t);
	struct verdict *v;
	struct err err;

	(void)state;
	tables_sl_form(flat, SL_CONST, f); /* the same paths on one VL */
	v = judge(f, flat, true, false);
	assert_false(v->deadlock_free);
	assert_false(v->certified);
	assert_int_not_equal(route_judge_refusal(v, f, &err), 0);
	verdict_free(v);
	tables_put(flat);
	tables_put(t);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_proof_is_checked_where_it_is_asked_for),
		cmocka_unit_test(what_can_deadlock_has_no_proof),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
