/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/plan/safe_part.h"

#include "engines/engine.h"
#include "engines/sar/sar.h"
#include "engines/updn.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/* Whatever the forms of the two: what every host sends by, LID by LID, is of one or of the other.
 */
static void each_lid_is_of_one_or_the_other_with_its_sls(void **state)
{
	static const enum sl_kind kinds[] = { SL_CONST, SL_BY_DLID, SL_BY_SWITCH, SL_BY_TERM };
	struct fabric *f = net_tree(4, 2, 3, NULL);
	uint8_t *stay = xcalloc((size_t)f->max_lid + 1, 1);

	(void)state;
	for (uint64_t seed = 0; seed < 16; seed++) {
		struct rng r;
		struct tables *from, *to, *part;

		rng_seed(&r, seed);
		from = kit_random_trees(f, &r);
		to = kit_random_trees(f, &r);
		kit_random_sl(from, f, kinds[seed % 4], 4, &r);
		kit_random_sl(to, f, kinds[seed / 4], 4, &r);
		kit_random_sl2vl(to, f, SL2VL_FULL, 3, &r);
		for (uint32_t lid = 1; lid <= f->max_lid; lid++)
			stay[lid] = (uint8_t)rng_below(&r, 2);
		part = safe_part_tables(f, to, from, stay);
		for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
			const struct tables *t = stay[lid] ? from : to;

			for (uint32_t sw = 0; sw < f->nsw; sw++)
				assert_int_equal(tables_row(part, sw)[lid], tables_row(t, sw)[lid]);
			for (uint32_t i = 0; i < f->nend; i++)
				assert_int_equal(tables_path_sl(part, i, f->term_sw[i], lid),
						 tables_path_sl(t, i, f->term_sw[i], lid));
		}
		assert_int_equal(tables_vl(part, f, 0, 1, 2, 3), tables_vl(to, f, 0, 1, 2, 3));
		tables_put(part);
		tables_put(from);
		tables_put(to);
	}
	free(stay);
	fabric_put(f);
}

/* Where the new tables have other SLs for all, paths alone may change. */
static void paths_alone_keep_the_installed_sls_and_sl2vl_tables(void **state)
{
	static const enum sl_kind kinds[] = { SL_CONST, SL_BY_DLID, SL_BY_SWITCH, SL_BY_TERM };
	struct fabric *f = net_tree(4, 2, 3, NULL);
	uint8_t *stay = xcalloc((size_t)f->max_lid + 1, 1);

	(void)state;
	for (uint64_t seed = 0; seed < 4; seed++) {
		struct rng r;
		struct tables *from, *to, *part;

		rng_seed(&r, seed);
		from = kit_random_trees(f, &r);
		to = kit_random_trees(f, &r);
		kit_random_sl(from, f, kinds[seed], 4, &r);
		kit_random_sl(to, f, kinds[3 - seed], 4, &r);
		kit_random_sl2vl(from, f, SL2VL_FULL, 3, &r);
		for (uint32_t lid = 1; lid <= f->max_lid; lid++)
			stay[lid] = (uint8_t)rng_below(&r, 2);
		part = safe_part_paths(f, to, from, stay);
		for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
			for (uint32_t sw = 0; sw < f->nsw; sw++)
				assert_int_equal(tables_row(part, sw)[lid],
						 tables_row(stay[lid] ? from : to, sw)[lid]);
			for (uint32_t i = 0; i < f->nend; i++)
				assert_int_equal(tables_path_sl(part, i, f->term_sw[i], lid),
						 tables_path_sl(from, i, f->term_sw[i], lid));
		}
		for (uint8_t sl = 0; sl < FAB_SLS; sl++)
			assert_int_equal(tables_vl(part, f, 0, 1, 2, sl),
					 tables_vl(from, f, 0, 1, 2, sl));
		tables_put(part);
		tables_put(from);
		tables_put(to);
	}
	free(stay);
	fabric_put(f);
}

/* A routing by sar over that of updn on a torus, whose turns close cycles with the old SLs. */
struct world {
	struct fabric *f;
	struct tables *from;
	struct jobset *jobs;
	struct route_inputs in;
	struct route_report whole;
};

static void world_begin(struct world *w, uint64_t seed)
{
	struct err err = { "" };
	struct rng r;

	*w = (struct world){ .f = net_torus(4, 4, 2, NULL) };
	rng_seed(&r, seed);
	w->jobs = kit_random_jobs(w->f, 3, 40, &r);
	w->from = must_route(&engine_updn, w->f, NULL, NULL);
	w->in = (struct route_inputs){ .f = w->f,
				       .jobs = w->jobs,
				       .installed = w->from,
				       .engine = &engine_sar,
				       .opts = ROUTE_REPORT_QUICK };
	w->in.params.sar_change = 1;
	route_report_begin(&w->whole, &w->in);
	if (route_report_steps(&w->whole, &w->in,
			       ROUTE_MAKE | ROUTE_VERIFY | ROUTE_PLAN | ROUTE_ORDER, NULL, &err))
		fail_msg("%s", err.text);
}

static void world_end(struct world *w)
{
	route_report_free(&w->whole);
	tables_put(w->from);
	jobset_put(w->jobs);
	fabric_put(w->f);
}

/* What changes in it is as in the whole, and all that would have to drain is as installed. */
static void assert_part_of(const struct world *w, const struct route_report *part, uint32_t rest)
{
	const struct plan *whole = w->whole.plan, *p = part->plan;
	uint32_t as_installed = 0;

	assert_true(verdict_ok(part->v));
	assert_int_equal(p->drain.nlid, 0);
	assert_false(plan_empty(p));
	for (uint32_t lid = 1; lid <= w->f->max_lid; lid++) {
		bool old = true, new = true;

		for (uint32_t sw = 0; sw < w->f->nsw; sw++) {
			uint8_t is = tables_row(p->to, sw)[lid];

			old = old && is == tables_row(w->from, sw)[lid];
			new = new &&is == tables_row(whole->to, sw)[lid];
		}
		assert_true(old || new);
		as_installed += !new;
	}
	for (uint32_t i = 0; i < whole->drain.nlid; i++)
		for (uint32_t sw = 0; sw < w->f->nsw; sw++)
			assert_int_equal(tables_row(p->to, sw)[whole->drain.lid[i].lid],
					 tables_row(w->from, sw)[whole->drain.lid[i].lid]);
	assert_true(rest >= whole->drain.nlid && rest >= as_installed);
}

static void a_part_needs_no_drain_and_is_checked_as_a_whole(void **state)
{
	uint32_t parts = 0, none = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct route_report part = { 0 };
		struct err err = { "" };
		struct world w;
		uint32_t rest;
		int rc;

		world_begin(&w, seed);
		rc = drain_needed(&w.whole.plan->drain)
			     ? safe_part_find(&part, &rest, &w.whole, &w.in, NULL, &err)
			     : -EAGAIN;
		if (!rc) {
			parts++;
			assert_part_of(&w, &part, rest);
			route_report_free(&part);
		} else if (rc != -EAGAIN) {
			none++;
			assert_int_equal(rc, -ENODATA);
			assert_non_null(strstr(err.text, "no part of it can do without a drain"));
		}
		world_end(&w);
	}
	print_message("%u with a part, %u without\n", parts, none);
	assert_true(parts >= 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_lid_is_of_one_or_the_other_with_its_sls),
		cmocka_unit_test(paths_alone_keep_the_installed_sls_and_sl2vl_tables),
		cmocka_unit_test(a_part_needs_no_drain_and_is_checked_as_a_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
