/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/deadlock/busy_cycles.h"

#include "engines/engine.h"
#include "fabric/model/tables/path.h"
#include "fabric/model/tables/vl_fold.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Terminals to which one of a switch sends over the two channels, on their VLs. */
static uint32_t receivers(const struct fabric *f, const struct tables *t, const struct witness *w,
			  const struct witness *next)
{
	uint32_t n = 0;

	for (uint32_t dst = 0; dst < f->nterm; dst++) {
		struct path path;

		if (f->term_sw[dst] == f->term_sw[w->src_term])
			continue;
		path_walk(&path, f, t, w->src_term, f->term_lid[dst]);
		n += path.links == 2 && path.hop[0].chan == w->chan && path.hop[0].vl == w->vl &&
		     path.hop[1].chan == next->chan && path.hop[1].vl == next->vl;
	}
	return n;
}

/* Cycles from switches of their own, with two receivers at each dependency; so many. */
static uint32_t assert_cycles(const struct fabric *f, const struct tables *t, uint64_t seed)
{
	struct busy_cycles *b;
	bool *used = calloc(f->nsw, sizeof(*used));
	uint32_t n, ncycle = 0;
	struct witness *w;
	struct rng r;
	struct err err;

	assert_int_equal(busy_cycles_new(&b, f, t, NULL, &err), 0);
	rng_seed(&r, seed);
	while ((n = busy_cycles_next(b, &w, &r))) {
		for (uint32_t i = 0; i < n; i++) {
			uint32_t sw = f->chan_src[w[i].chan];

			assert_int_equal(sw, f->term_sw[w[i].src_term]);
			assert_false(used[sw]);
			assert_int_equal(f->chan_dst[w[i].chan], f->chan_src[w[(i + 1) % n].chan]);
			assert_true(receivers(f, t, &w[i], &w[(i + 1) % n]) >= 2);
		}
		for (uint32_t i = 0; i < n; i++)
			used[f->chan_src[w[i].chan]] = true;
		free(w);
		ncycle++;
	}
	assert_null(w);
	assert_int_equal(busy_cycles_next(b, &w, &r), 0);
	busy_cycles_free(b);
	free(used);
	return ncycle;
}

static void a_ring_has_one_with_two_hosts_at_a_switch(void **state)
{
	(void)state;
	for (uint32_t hosts = 1; hosts <= 3; hosts++) {
		struct fabric *f = net_ring(5, hosts, NULL);
		struct tables *t = kit_clockwise(f);

		assert_int_equal(assert_cycles(f, t, 1), hosts > 1);
		tables_put(t);
		fabric_put(f);
	}
}

static void a_tree_has_none(void **state)
{
	struct fabric *f = net_tree(4, 2, 4, NULL);
	struct tables *t = kit_bfs(f);

	(void)state;
	assert_int_equal(assert_cycles(f, t, 1), 0);
	tables_put(t);
	fabric_put(f);
}

static void a_slim_fly_has_many_on_one_vl_and_none_on_those_it_needs(void **state)
{
	struct engine_params params = { .threads = 1, .seed = 1, .vls = 15 };
	struct fabric *f = net_spec("slimfly:q=7,hosts=3");
	struct tables *t, *one;
	struct err err;

	(void)state;
	assert_int_equal(
		engine_run(engine_find("dfsssp", &err), &t, f, NULL, NULL, &params, NULL, &err), 0);
	one = vl_fold(f, t, 1);
	for (uint64_t seed = 1; seed <= 5; seed++) {
		assert_true(assert_cycles(f, one, seed) > 5);
		assert_int_equal(assert_cycles(f, t, seed), 0);
	}
	tables_put(one);
	tables_put(t);
	fabric_put(f);
}

static void the_search_can_be_cancelled(void **state)
{
	struct fabric *f = net_ring(5, 2, NULL);
	struct tables *t = kit_clockwise(f);
	struct progress progress = { 0 };
	struct busy_cycles *b;
	struct err err;

	(void)state;
	atomic_store(&progress.cancel, true);
	assert_int_equal(busy_cycles_new(&b, f, t, &progress, &err), -ECANCELED);
	assert_null(b);
	assert_string_equal(err.text, "cancelled");
	tables_put(t);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_has_one_with_two_hosts_at_a_switch),
		cmocka_unit_test(a_tree_has_none),
		cmocka_unit_test(a_slim_fly_has_many_on_one_vl_and_none_on_those_it_needs),
		cmocka_unit_test(the_search_can_be_cancelled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
