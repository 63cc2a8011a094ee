/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose routes use a channel, against a walk of every pair; and the history of channels. */
#include "views/chan_jobs.h"
#include "views/history.h"

#include "fabric/base/mem.h"
#include "tests/unit/fabkit.h"
#include "tests/unit/small_net.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool walk_uses(const struct fabric *f, const struct tables *t, uint32_t src, uint32_t dst,
		      uint32_t chan)
{
	uint32_t sw = f->term_sw[src];

	for (int hops = 0; sw != f->term_sw[dst] && hops < 64; hops++) {
		uint32_t c = fabric_chan(f, sw, tables_row(t, sw)[f->term_lid[dst]]);

		if (c == chan)
			return true;
		if (c == FAB_NONE)
			return false;
		sw = f->chan_dst[c];
	}
	return false;
}

static uint64_t count_job(const struct fabric *f, const struct tables *t, const struct job *j,
			  uint32_t chan)
{
	uint64_t n = 0;

	for (uint32_t a = 0; a < j->nterm; a++)
		for (uint32_t b = 0; b < j->nterm; b++)
			if (a != b)
				n += walk_uses(f, t, j->terms[a], j->terms[b], chan);
	return n;
}

static void check_channel(const struct fabric *f, const struct tables *t, const struct jobset *js,
			  uint32_t chan)
{
	struct chan_jobs got;
	uint64_t all = 0;
	uint32_t njob = 0;

	chan_jobs_find(&got, f, t, js, chan);
	for (uint32_t j = 0; j < js->njob; j++) {
		uint64_t n = count_job(f, t, &js->jobs[j], chan);

		all += n;
		njob += n > 0;
		for (uint32_t i = 0; i < got.n; i++)
			if (got.top[i].job == j)
				assert_int_equal(got.top[i].routes, n);
	}
	assert_false(got.sampled);
	assert_int_equal(got.routes, all);
	assert_int_equal(got.njob, njob);
	for (uint32_t i = 1; i < got.n; i++)
		assert_true(got.top[i - 1].routes >= got.top[i].routes);
}

static void shares_of_jobs_equal_a_walk_of_every_pair(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 6; seed++) {
		struct fabric *f = net_random(seed, 12, 30, 4, NULL);
		struct rng r;
		struct tables *t;
		struct jobset *js;

		rng_seed(&r, seed);
		t = kit_random_trees(f, &r);
		js = kit_random_jobs(f, 12, 30, &r);
		for (uint32_t c = 0; c < f->nchan; c++)
			check_channel(f, t, js, c);
		jobset_put(js);
		tables_put(t);
		fabric_put(f);
	}
}

static void history_keeps_the_newest_sixty_and_gaps(void **state)
{
	struct fabric *f = net_tree(2, 1, 2, NULL);
	struct history *h = history_new(f->nchan), *other = history_new(f->nchan + 1);
	struct port_rate *port = xcalloc(f->nport, sizeof(*port));
	struct rates r = { .nport = f->nport, .port = port };
	uint8_t out[HISTORY_LEN];

	(void)state;
	assert_int_equal(history_get(h, 0, out), 0);
	for (int i = 0; i < 70; i++) {
		for (uint32_t p = 0; p < f->nport; p++)
			port[p].util_pct = i == 69 ? 250 : i;
		history_push(h, f, i == 65 ? NULL : &r);
	}
	assert_int_equal(history_count(h), HISTORY_LEN);
	assert_int_equal(history_get(h, 1, out), HISTORY_LEN);
	assert_int_equal(out[0], 10);
	assert_int_equal(out[55], HISTORY_UNKNOWN);
	assert_int_equal(out[58], 68);
	assert_int_equal(out[59], 100);
	port[0].util_pct = NAN;
	history_push(other, f, &r); /* of another fabric */
	assert_int_equal(history_count(other), 0);
	free(port);
	history_free(other);
	history_free(h);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_of_jobs_equal_a_walk_of_every_pair),
		cmocka_unit_test(history_keeps_the_newest_sixty_and_gaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
