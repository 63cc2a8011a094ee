/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/time/demand_time.h"
#include "engines/time/io_time.h"

#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct io_time io(const struct fabric *f, const struct tables *t, const struct jobset *js)
{
	struct io_time x;
	struct err err;

	assert_int_equal(io_time_compute(&x, f, t, js, NULL, NULL, &err), 0);
	return x;
}

static void assert_near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-6 * fmax(1, fabs(b))))
		fail_msg("%.9f is not %.9f", a, b);
}

/* The first n hosts. */
static struct jobset *first_hosts(const struct fabric *f, uint32_t n)
{
	uint64_t *member = xcalloc(f->nterm, sizeof(*member));
	struct jobset *js;

	for (uint32_t i = 0; i < n; i++)
		member[i] = 1;
	js = kit_jobs(f, member, 1);
	free(member);
	return js;
}

static void without_io_nodes_nothing_is_known(void **state)
{
	struct fabric *f = net_chain(2, 4, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	struct jobset *js = first_hosts(f, 4);
	struct io_time x = io(f, t, js);

	(void)state;
	assert_int_equal(x.nodes, 0);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

/* Four hosts behind one cable write to two on the other side, then read. */
static void all_over_one_cable_take_as_long_as_there_are_hosts(void **state)
{
	struct fabric *f = net_chain(2, 4, FAB_NONE, &(struct net_opts){ .storage = 2 });
	struct tables *t = kit_bfs(f);
	struct jobset *js = first_hosts(f, 4), *both = first_hosts(f, 6);
	struct io_time x = io(f, t, js);

	(void)state;
	assert_int_equal(x.nodes, 2);
	assert_int_equal(x.jobs, 1);
	assert_near(x.mean.mean, 4);
	assert_near(x.worst.mean, 4);
	assert_near(x.mean.error, 0);
	assert_int_equal(x.worst_job, js->jobs[0].id);
	assert_int_equal(x.efi_max, 8); /* four to two, in each direction */
	x = io(f, t, both);		/* two more on the switch of the I/O nodes */
	assert_near(x.mean.mean, 4);
	assert_int_equal(x.efi_max, 8);
	jobset_put(js);
	jobset_put(both);
	tables_put(t);
	fabric_put(f);
}

/* An I/O node in a job does not write to itself. */
static void io_nodes_of_a_job_are_none_of_its_nodes(void **state)
{
	struct fabric *f = net_chain(2, 4, FAB_NONE, &(struct net_opts){ .storage = 2 });
	struct tables *t = kit_bfs(f);
	struct jobset *js = first_hosts(f, 8);
	struct io_time x = io(f, t, js);

	(void)state;
	assert_near(x.mean.mean, 4);
	assert_int_equal(x.efi_max, 8);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static uint64_t walked(const struct fabric *f, const struct tables *t, uint32_t src, uint32_t dst,
		       uint64_t *routes)
{
	uint32_t sw = f->term_sw[src];
	uint64_t most = 0;

	while (sw != f->term_sw[dst]) {
		uint32_t c = fabric_chan(f, sw, tables_row(t, sw)[f->term_lid[dst]]);

		most = ++routes[c] > most ? routes[c] : most;
		sw = f->chan_dst[c];
	}
	return most;
}

/* EFI, route by route. */
static void routes_are_those_of_a_recount(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 5);
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct fabric *f = net_random(seed, 7, 9, 3, &(struct net_opts){ .storage = 3 });
		struct tables *t = kit_random_trees(f, &rng);
		struct jobset *js = kit_random_jobs(f, 3, 40, &rng);
		uint64_t *routes = xcalloc(f->nchan, sizeof(*routes)), most = 0, one;
		struct io_time x = io(f, t, js);

		for (uint32_t u = 0; u < f->nterm; u++)
			for (uint32_t d = 0; d < f->nterm; d++) {
				if (f->term_kind[u] == TERM_STORAGE ||
				    f->term_kind[d] != TERM_STORAGE ||
				    js->term_off[u] == js->term_off[u + 1])
					continue;
				one = walked(f, t, u, d, routes);
				most = one > most ? one : most;
				one = walked(f, t, d, u, routes);
				most = one > most ? one : most;
			}
		assert_int_equal(x.efi_max, most);
		assert_true(x.mean.mean >= 1 && x.worst.mean >= x.mean.mean - 1e-9);
		free(routes);
		jobset_put(js);
		tables_put(t);
		fabric_put(f);
	}
}

/* Three of four on a switch send to its neighbour, one of them twice as much: over the one cable four
 * parts of the demand, of which the busiest host sends two. */
static void a_demand_takes_as_long_as_its_fullest_channel(void **state)
{
	struct fabric *f = net_chain(2, 4, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	struct demand_builder *b = demand_builder_new(f);
	struct demand *d;
	struct demand_time x;
	struct err err;

	(void)state;
	demand_builder_add(b, 0, 4, 200);
	demand_builder_add(b, 1, 5, 100);
	demand_builder_add(b, 2, 6, 100);
	demand_builder_add(b, 3, 2, 100); /* over no cable between switches */
	d = demand_build(b);
	assert_int_equal(demand_time_compute(&x, f, t, d, NULL, NULL, NULL, &err), 0);
	assert_true(x.known);
	assert_int_equal(x.pairs, 3);
	assert_int_equal(x.stranded, 0);
	assert_true(fabs(x.time - 2) < 0.01); /* weights are rounded up to whole 255ths */
	demand_put(d);
	tables_put(t);
	fabric_put(f);
}

static void it_can_be_cancelled(void **state)
{
	struct fabric *f = net_chain(2, 4, FAB_NONE, &(struct net_opts){ .storage = 2 });
	struct tables *t = kit_bfs(f);
	struct jobset *js = first_hosts(f, 4);
	struct progress p = { .cancel = true };
	struct io_time x;
	struct err err;

	(void)state;
	assert_int_equal(io_time_compute(&x, f, t, js, NULL, &p, &err), -ECANCELED);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_io_nodes_nothing_is_known),
		cmocka_unit_test(all_over_one_cable_take_as_long_as_there_are_hosts),
		cmocka_unit_test(io_nodes_of_a_job_are_none_of_its_nodes),
		cmocka_unit_test(routes_are_those_of_a_recount),
		cmocka_unit_test(a_demand_takes_as_long_as_its_fullest_channel),
		cmocka_unit_test(it_can_be_cancelled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
