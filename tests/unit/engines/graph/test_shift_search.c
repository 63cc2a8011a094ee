/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/shift_search.h"

#include "engines/graph/balance/balanced_sssp.h"
#include "engines/time/shift_time.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct shift_time all_shifts(const struct fabric *f, const struct tables *t)
{
	struct shift_time_opts opts = { .shifts = SHIFT_TIME_ALL };
	struct shift_time s;

	assert_int_equal(shift_time_compute(&s, f, t, &opts, NULL, NULL), 0);
	return s;
}

static uint64_t search(struct tables *t, const struct fabric *f, struct shift_search_how how)
{
	struct chan_weights weights;
	uint64_t moved;
	struct pace p;

	chan_weights_init(&weights, f, false);
	how.weights = &weights;
	how.rounds = SHIFT_SEARCH_ROUNDS;
	pace_begin(&p, NULL, "paths", 1);
	assert_int_equal(shift_search(&moved, t, f, &how, &p), 0);
	chan_weights_done(&weights);
	return moved;
}

static struct tables *copy_of(const struct fabric *f, const struct tables *t)
{
	struct tables *copy = tables_new(f, t->engine);

	memcpy(copy->lft, t->lft, (size_t)t->nsw * t->stride);
	return copy;
}

static void shifts_meet_less_on_paths_as_short_and_no_channel_gets_fuller(void **state)
{
	static const char *const specs[] = {
		"fattree2:leaves=14,spines=8,hosts=16,fail=9",
		"kary:k=4,n=3,hosts=4,fail=5",
		"oft:k=4,fail=4",
		"torus:dims=4x4x3,hosts=4",
		"random:switches=20,links=60,hosts=6,seed=1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fabric *f = net_spec(specs[i]);
		struct tables *t = even_paths(f);
		struct shift_time before = all_shifts(f, t), after;
		uint64_t max = max_routes(f, t);
		struct shift_search_how how = { .others = SHIFT_SEARCH_OTHERS };

		assert_true(search(t, f, how) > 0);
		after = all_shifts(f, t);
		assert_complete(f, t);
		assert_shortest(f, t);
		assert_true(max_routes(f, t) <= max);
		assert_true(after.sync.mean * after.rate.mean >
			    before.sync.mean * before.rate.mean);
		tables_put(t);
		fabric_put(f);
	}
}

/* They lead away from where each entry is best, yet many could be better. */
static void mild_rounds_before_let_flows_of_dragonflies_get_more(void **state)
{
	static const char *const specs[] = { "dragonfly:p=2", "dragonfly:p=3",
					     "dragonfly:p=3,fail=3%" };

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct fabric *f = net_spec(specs[i]);
		struct tables *t = even_paths(f), *other = copy_of(f, t);
		struct shift_search_how how = { .others = SHIFT_SEARCH_OTHERS };
		struct shift_search_how mild = how;
		struct shift_time without, with;
		uint64_t max = max_routes(f, t);

		mild.mild = SHIFT_SEARCH_MILD;
		assert_true(search(t, f, how) > 0);
		assert_true(search(other, f, mild) > 0);
		without = all_shifts(f, t);
		with = all_shifts(f, other);
		assert_true(max_routes(f, other) <= max);
		assert_true(with.rate.mean > without.rate.mean);
		assert_true(with.sync.mean >= 0.98 * without.sync.mean);
		tables_put(t);
		tables_put(other);
		fabric_put(f);
	}
}

static bool is_odd(void *ctx, uint32_t sw, uint32_t term)
{
	(void)ctx;
	return (sw + term) % 2;
}

static void only_free_entries_of_base_lids_move(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=8,spines=4,hosts=6,fail=3,lmc=1");
	struct tables *t = even_paths(f), *old = copy_of(f, t);
	struct shift_search_how how = { .is_free = is_odd };

	(void)state;
	assert_true(search(t, f, how) > 0);
	for (uint32_t u = 0; u < f->nsw; u++)
		for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
			uint32_t end = f->lid_end[lid];

			if (end < f->nterm && f->term_lid[end] == lid && (u + end) % 2)
				continue;
			assert_int_equal(tables_row(t, u)[lid], tables_row(old, u)[lid]);
		}
	tables_put(t);
	tables_put(old);
	fabric_put(f);
}

/* Does the path to a LID climb from switch u on? */
static bool climbs(const struct fabric *f, const struct tables *t, const uint32_t *place,
		   uint32_t u, uint32_t term)
{
	uint32_t last = 0;

	while (u != f->term_sw[term]) {
		uint32_t c = fabric_chan(f, u, tables_row(t, u)[f->term_lid[term]]);

		if (place[c] <= last)
			return false;
		last = place[c];
		u = f->chan_dst[c];
	}
	return true;
}

/* In the order of the channels some paths climb, and others do not. */
static void no_path_that_climbs_ceases_to(void **state)
{
	struct fabric *f = net_spec("torus:dims=5x5,hosts=3");
	struct tables *t = even_paths(f), *old = copy_of(f, t);
	uint32_t *place = xcalloc(f->nchan, sizeof(*place)), n = 0;
	const uint32_t **places = xcalloc(f->max_lid + 1u, sizeof(*places));
	struct shift_search_how how = { .places = (const uint32_t *const *)places };

	(void)state;
	for (uint32_t c = 0; c < f->nchan; c++)
		place[c] = 1 + c;
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		places[lid] = place;
	assert_true(search(t, f, how) > 0);
	for (uint32_t term = 0; term < f->nterm; term++)
		for (uint32_t u = 0; u < f->nsw; u++) {
			if (!climbs(f, old, place, u, term))
				continue;
			n++;
			assert_true(climbs(f, t, place, u, term));
		}
	assert_true(n > 0);
	free(place);
	free(places);
	tables_put(t);
	tables_put(old);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shifts_meet_less_on_paths_as_short_and_no_channel_gets_fuller),
		cmocka_unit_test(mild_rounds_before_let_flows_of_dragonflies_get_more),
		cmocka_unit_test(only_free_entries_of_base_lids_move),
		cmocka_unit_test(no_path_that_climbs_ceases_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
