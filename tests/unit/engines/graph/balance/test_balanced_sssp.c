/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/balance/balanced_sssp.h"

#include "engines/dfsssp.h"
#include "engines/graph/graph.h"
#include "engines/minhop.h"
#include "engines/updn.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct tables *even(const struct fabric *f, struct balanced_sssp_how how)
{
	struct engine_params p = { .threads = 1 };
	struct tables *t = tables_new(f, "test");

	assert_int_equal(balanced_sssp_route(t, f, &p, &how, NULL), 0);
	return t;
}

/* Adds the routes of every source terminal; checks each switch's path against the costs. */
static void naive_step(const struct fabric *f, const struct tables *t, uint64_t *load,
		       const struct dest *d)
{
	uint64_t *cost = naive_costs(f, load, d->sw), *add = xcalloc(f->nchan, sizeof(*add));

	for (uint32_t u = 0; u < f->nsw; u++) {
		uint64_t sum = 0;

		for (uint32_t v = u; v != d->sw;) {
			uint32_t c = fabric_chan(f, v, tables_row(t, v)[d->lid]);

			sum += (1ull << 32) + load[c];
			add[c] += f->sw_nterm[u];
			v = f->chan_dst[c];
		}
		assert_true(sum == cost[u]);
	}
	for (uint32_t c = 0; c < f->nchan; c++)
		load[c] += add[c];
	free(add);
	free(cost);
}

static void paths_are_dijkstras_with_start_weights_switch_by_switch(void **state)
{
	struct net_opts o = { .lmc = 1, .random_lids = 3 };

	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct fabric *f = net_random(seed, 14, 30, 4, &o);
		struct tables *t = even(f, (struct balanced_sssp_how){ .by_switch = true });
		uint64_t *load = xcalloc(f->nchan, sizeof(*load));
		uint32_t n;
		struct dest *dests = graph_dests_by_switch(&n, f, f->lmc);

		for (uint32_t i = 0; i < f->nterm << f->lmc; i++)
			naive_step(f, t, load, &dests[i]);
		free(dests);
		free(load);
		tables_put(t);
		fabric_put(f);
	}
}

/* Three LIDs a switch on a torus: all first ones, then all second ones, ... */
static void switches_take_turns_where_all_have_terminals(void **state)
{
	struct fabric *f = net_torus(4, 5, 3, NULL);
	struct tables *t = even(f, (struct balanced_sssp_how){ .rounds = 0 });
	uint64_t *load = xcalloc(f->nchan, sizeof(*load));
	uint32_t n;
	struct dest *dests = graph_dests_by_switch(&n, f, 0);

	(void)state;
	for (uint32_t turn = 0; turn < 3; turn++)
		for (uint32_t u = 0; u < f->nsw; u++)
			naive_step(f, t, load, &dests[3 * u + turn]);
	free(dests);
	free(load);
	tables_put(t);
	fabric_put(f);
}

static void turns_and_rounds_lower_the_maximum_on_direct_networks(void **state)
{
	static const char *const spec[] = { "dragonfly:p=3", "torus:dims=4x4x4,hosts=4",
					    "hyperx:dims=6x5,hosts=4", "slimfly:q=7",
					    "random:switches=40,links=120,hosts=6,seed=5" };
	int lowered = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(spec) / sizeof(*spec); i++) {
		struct fabric *f = net_spec(spec[i]);
		struct tables *a = even(f, (struct balanced_sssp_how){ .by_switch = true });
		struct tables *b = even(f, (struct balanced_sssp_how){ .rounds = 0 });
		struct tables *c =
			even(f, (struct balanced_sssp_how){ .rounds = BALANCED_SSSP_ROUNDS });

		assert_true(max_routes(f, b) < max_routes(f, a));
		assert_true(max_routes(f, c) <= max_routes(f, b));
		lowered += max_routes(f, c) < max_routes(f, b);
		assert_complete(f, c);
		assert_shortest(f, c);
		tables_put(a);
		tables_put(b);
		tables_put(c);
		fabric_put(f);
	}
	assert_true(lowered >= 4);
}

static void a_round_that_does_not_help_leaves_no_trace(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct net_opts o = { .lmc = (int)(seed % 2) };
		struct fabric *f = net_random(seed, 10, 20, 3, &o);
		struct tables *a = even(f, (struct balanced_sssp_how){ .rounds = 0 });
		struct tables *b = even(f, (struct balanced_sssp_how){ .rounds = 1 });

		assert_complete(f, b);
		assert_shortest(f, b);
		if (!o.lmc && max_routes(f, b) >= max_routes(f, a))
			assert_same_tables(a, b);
		tables_put(a);
		tables_put(b);
		fabric_put(f);
	}
}

static void a_tree_with_parallel_cables_gets_evener(void **state)
{
	struct fabric *f = net_spec("fattree3:pods=5,leaves=6,aggs=6,cores=3,parallel=2,hosts=5");
	struct tables *a = even(f, (struct balanced_sssp_how){ .rounds = 0 });
	struct tables *b = even(f, (struct balanced_sssp_how){ .rounds = BALANCED_SSSP_ROUNDS });

	(void)state;
	assert_true(max_routes(f, b) < max_routes(f, a));
	tables_put(a);
	tables_put(b);
	fabric_put(f);
}

/* The 10-ary tree in small: more hosts than cables up. */
static void an_uneven_tree_takes_the_better_order(void **state)
{
	struct fabric *f = net_spec("kary:k=5,n=3,hosts=6");
	uint64_t both = 0, by_switch = 0;
	struct tables *a = even(f, (struct balanced_sssp_how){ .rounds = 1, .max = &both });
	struct tables *b = even(
		f, (struct balanced_sssp_how){ .rounds = 1, .by_switch = true, .max = &by_switch });

	(void)state;
	assert_int_equal(both, max_routes(f, a));
	assert_int_equal(by_switch, max_routes(f, b));
	assert_true(both < by_switch);
	tables_put(a);
	tables_put(b);
	fabric_put(f);
}

/* The paths to different LIDs of a switch have the same DAG, which is unpacked many times. */
static void any_number_of_threads_gives_the_same_bytes(void **state)
{
	static const char *const spec[] = { "dragonfly:p=3", "torus:dims=4x4x3,hosts=3,lmc=1",
					    "fattree2:leaves=6,spines=4,hosts=6",
					    "random:switches=40,links=90,hosts=6,seed=2",
					    "kautz:b=3,n=3,hosts=4" };
	const struct engine *engines[] = { &engine_dfsssp, &engine_minhop, &engine_updn };

	(void)state;
	for (size_t i = 0; i < sizeof(spec) / sizeof(*spec); i++) {
		struct fabric *f = net_spec(spec[i]);

		for (size_t e = 0; e < sizeof(engines) / sizeof(*engines); e++) {
			struct engine_params p = { .threads = 1, .vls = 15 };
			struct tables *one = must_route(engines[e], f, NULL, &p);

			for (p.threads = 2; p.threads <= 5; p.threads += 3) {
				struct tables *more = must_route(engines[e], f, NULL, &p);

				assert_same_tables(one, more);
				tables_put(more);
			}
			tables_put(one);
		}
		fabric_put(f);
	}
}

/* Groups of LIDs, and switches without hosts beside the others, from 8,192 terminals on. */
static void any_number_of_threads_gives_the_same_bytes_on_large_nets(void **state)
{
	static const char *const spec[] = { "hyperx:dims=12x12,hosts=58", "fattree3:k=26,fail=1%",
					    "fattree3:k=26,hosts=11" };
	static const enum min_load_rule rule[] = { BALANCE_PATHS, BALANCE_PORTS };

	(void)state;
	for (size_t i = 0; i < sizeof(spec) / sizeof(*spec); i++) {
		struct fabric *f = net_spec(spec[i]);

		for (size_t r = 0; r < 2; r++) {
			struct balanced_sssp_how how = { .rule = rule[r],
							 .rounds = BALANCED_SSSP_ROUNDS };
			struct tables *one = tables_new(f, "test");

			assert_int_equal(
				balanced_sssp_route(one, f, &(struct engine_params){ .threads = 1 },
						    &how, NULL),
				0);
			for (unsigned threads = 2; threads <= 5; threads += 3) {
				struct engine_params p = { .threads = threads };
				struct tables *more = tables_new(f, "test");

				assert_int_equal(balanced_sssp_route(more, f, &p, &how, NULL), 0);
				assert_same_tables(one, more);
				tables_put(more);
			}
			tables_put(one);
		}
		fabric_put(f);
	}
}

struct watch {
	struct progress p;
	unsigned reports, stop_at;
};

static void watch_report(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct watch *w = ctx;

	assert_string_equal(step, "paths");
	assert_true(done <= total);
	if (++w->reports == w->stop_at)
		atomic_store(&w->p.cancel, true);
}

static void stop_everywhere(const char *spec)
{
	struct fabric *f = net_spec(spec);
	struct balanced_sssp_how how = { .rounds = BALANCED_SSSP_ROUNDS };
	unsigned stop, reports = 2;
	int rc;

	for (stop = 1; stop <= reports; stop++) {
		struct watch w = { .p = { .report = watch_report }, .stop_at = stop };
		struct engine_params p = { .threads = 2 };
		struct tables *t = tables_new(f, "test");

		if (stop == 1) {
			w.stop_at = 0;
			w.p.ctx = &w;
			assert_int_equal(balanced_sssp_route(t, f, &p, &how, &w.p), 0);
			reports = w.reports;
			assert_true(reports > 4);
			w = (struct watch){ .p = { .report = watch_report }, .stop_at = 1 };
		}
		w.p.ctx = &w;
		rc = balanced_sssp_route(t, f, &p, &how, &w.p);
		/* two threads do not always report as often as before */
		assert_int_equal(rc, w.reports < stop ? 0 : -ECANCELED);
		tables_put(t);
	}
	fabric_put(f);
}

static void stops_at_a_cancel_wherever_it_is(void **state)
{
	(void)state;
	stop_everywhere("dragonfly:p=4");
	stop_everywhere("fattree3:k=20,hosts=12"); /* switch by switch, by two threads */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_are_dijkstras_with_start_weights_switch_by_switch),
		cmocka_unit_test(switches_take_turns_where_all_have_terminals),
		cmocka_unit_test(turns_and_rounds_lower_the_maximum_on_direct_networks),
		cmocka_unit_test(a_round_that_does_not_help_leaves_no_trace),
		cmocka_unit_test(a_tree_with_parallel_cables_gets_evener),
		cmocka_unit_test(an_uneven_tree_takes_the_better_order),
		cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
		cmocka_unit_test(any_number_of_threads_gives_the_same_bytes_on_large_nets),
		cmocka_unit_test(stops_at_a_cancel_wherever_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
