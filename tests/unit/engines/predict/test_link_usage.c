/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who uses which channel on which lane, against a recount of every pair. */
#include "engines/predict/link_usage.h"

#include "engines/metrics/metrics.h"
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

/* Walks one pair; adds to lanes[chan * VL_USE_LANES + vl] until the packet is dropped, and to
 * plain[chan] in any case. */
static void walk_pair(const struct fabric *f, const struct tables *t, uint32_t src, uint32_t dst,
		      uint32_t *lanes, uint32_t *plain)
{
	uint32_t sw = f->term_sw[src], lid = f->term_lid[dst], n = 0;
	uint32_t *way = xcalloc(f->nsw + 1, sizeof(*way));
	uint8_t sl = tables_path_sl(t, src, sw, lid), in = f->term_port[src];
	bool dropped = sl >= FAB_SLS;

	for (; sw != f->term_sw[dst] && n <= f->nsw; sw = f->chan_dst[way[n++]]) {
		way[n] = fabric_chan(f, sw, tables_row(t, sw)[lid]);
		if (way[n] == FAB_NONE)
			break;
	}
	if (sw != f->term_sw[dst] || tables_row(t, sw)[lid] != f->term_port[dst])
		n = 0; /* does not arrive: counts nowhere */
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = way[i];
		uint8_t vl = tables_vl(t, f, f->chan_src[c], in, f->chan_port[c], dropped ? 0 : sl);

		plain[c]++;
		dropped |= vl >= VL_USE_LANES;
		if (!dropped)
			lanes[(size_t)c * VL_USE_LANES + vl]++;
		in = f->chan_rport[c];
	}
	free(way);
}

static void check_lanes(const struct fabric *f, const struct tables *t)
{
	size_t n = (size_t)f->nchan * VL_USE_LANES;
	uint32_t *lanes = xcalloc(n, sizeof(*lanes)), *plain = xcalloc(f->nchan, sizeof(*plain));
	struct vl_usage *u;
	struct err err;

	for (uint32_t a = 0; a < f->nterm; a++)
		for (uint32_t b = 0; b < f->nterm; b++)
			if (a != b)
				walk_pair(f, t, a, b, lanes, plain);
	if (vl_usage_compute(&u, f, t, NULL, &err))
		fail_msg("%s", err.text);
	assert_memory_equal(u->routes, lanes, n * sizeof(*lanes));
	for (uint32_t c = 0; c < f->nchan; c++)
		for (uint32_t vl = u->vls; vl < VL_USE_LANES; vl++)
			assert_int_equal(lanes[c * VL_USE_LANES + vl], 0);
	vl_usage_free(u);
	free(plain);
	free(lanes);
}

static const char *const specs[] = { "fattree2:leaves=6,spines=3,hosts=3",
				     "hyperx:dims=4x3,hosts=2", "dragonfly:p=2",
				     "torus:dims=3x3,hosts=2" };

static void lanes_are_those_of_every_pair(void **state)
{
	static const enum sl_kind kinds[] = { SL_CONST, SL_BY_DLID, SL_BY_SWITCH, SL_BY_TERM };
	static const enum sl2vl_kind maps[] = { SL2VL_IDENTITY, SL2VL_BY_INPUT, SL2VL_FULL };
	struct rng r;

	(void)state;
	rng_seed(&r, 7);
	for (size_t i = 0; i < 4; i++) {
		struct fabric *f = net_spec(specs[i]);

		for (int k = 0; k < 4; k++) {
			for (int m = 0; m < 3; m++) {
				struct tables *t = k % 2 ? kit_random_trees(f, &r) : kit_bfs(f);

				if (kinds[k] != SL_CONST)
					kit_random_sl(t, f, kinds[k], 5, &r);
				/* up to VL 15, which drops */
				kit_random_sl2vl(t, f, maps[m], 16, &r);
				check_lanes(f, t);
				tables_put(t);
			}
		}
		fabric_put(f);
	}
}

static void without_lanes_of_their_own_all_routes_are_on_one(void **state)
{
	struct fabric *f = net_spec(specs[0]);
	struct tables *t = kit_bfs(f);
	struct metrics *m;
	struct vl_usage *u;

	(void)state;
	assert_int_equal(vl_usage_compute(&u, f, t, NULL, NULL), 0);
	assert_int_equal(metrics_compute(&m, f, t, NULL, NULL, NULL, NULL), 0);
	assert_int_equal(u->vls, 1);
	for (uint32_t c = 0; c < f->nchan; c++) {
		assert_int_equal(vl_usage_of(u, c)[0], m->efi[c]);
		assert_int_equal(vl_usage_lanes(u, c), m->efi[c] > 0);
		assert_true(vl_usage_spread(u, c) == 0);
	}
	metrics_free(m);
	vl_usage_free(u);
	tables_put(t);
	fabric_put(f);
}

static void recount_job(const struct fabric *f, const struct tables *t, const struct job *j,
			uint32_t *plain, uint32_t *lanes)
{
	memset(plain, 0, f->nchan * sizeof(*plain));
	for (uint32_t a = 0; a < j->nterm; a++)
		for (uint32_t b = 0; b < j->nterm; b++)
			if (a != b)
				walk_pair(f, t, j->terms[a], j->terms[b], lanes, plain);
}

static void check_jobs(const struct fabric *f, const struct tables *t, const struct jobset *js)
{
	uint32_t *plain = xcalloc(f->nchan, sizeof(*plain));
	uint32_t *lanes = xcalloc((size_t)f->nchan * VL_USE_LANES, sizeof(*lanes));
	uint64_t sum = 0;
	struct job_routes *r;

	assert_int_equal(job_routes_compute(&r, f, t, js, NULL, NULL), 0);
	for (uint32_t j = 0; j < js->njob; j++) {
		recount_job(f, t, &js->jobs[j], plain, lanes);
		for (uint32_t c = 0; c < f->nchan; c++) {
			assert_int_equal(job_routes_on(r, j, c), plain[c]);
			sum += plain[c] > 0;
		}
	}
	assert_int_equal(r->off[js->njob], sum);
	assert_int_equal(r->chan_off[f->nchan], sum);
	for (uint32_t c = 0; c < f->nchan; c++)
		for (uint64_t i = r->chan_off[c]; i < r->chan_off[c + 1]; i++) {
			assert_int_equal(r->job_routes[i], job_routes_on(r, r->job[i], c));
			assert_true(i == r->chan_off[c] ||
				    r->job_routes[i - 1] >= r->job_routes[i]);
		}
	job_routes_free(r);
	free(lanes);
	free(plain);
}

/* Entries that lead nowhere, back, or in circles. */
static void break_some(const struct fabric *f, struct tables *t, struct rng *r)
{
	for (uint32_t i = 0; i < f->nsw * 4; i++) {
		uint32_t sw = (uint32_t)rng_below(r, f->nsw);
		uint32_t lid = 1 + (uint32_t)rng_below(r, f->max_lid);

		tables_row(t, sw)[lid] = (uint8_t)(1 + rng_below(r, f->sw_nports[sw]));
	}
}

static void routes_of_jobs_are_those_of_every_pair(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 3);
	for (size_t i = 0; i < 4; i++) {
		struct fabric *f = net_spec(specs[i]);

		for (int round = 0; round < 6; round++) {
			struct tables *t = round % 2 ? kit_random_trees(f, &r) : kit_bfs(f);
			struct jobset *js = kit_random_jobs(f, 6, 10 + 15 * (uint32_t)round, &r);

			if (round > 2)
				break_some(f, t, &r);
			check_jobs(f, t, js);
			jobset_put(js);
			tables_put(t);
		}
		fabric_put(f);
	}
}

static void jobs_are_found_by_id_and_crowded_ones_are_slow(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=6,spines=2,hosts=6");
	struct tables *t = kit_bfs(f); /* all over the first spine */
	struct rng r;
	struct jobset *js;
	struct link_usage *u;

	(void)state;
	rng_seed(&r, 5);
	js = kit_random_jobs(f, 3, 60, &r);
	assert_int_equal(link_usage_compute(&u, f, t, js, true, NULL, NULL), 0);
	for (uint32_t j = 0; j < js->njob; j++) {
		assert_int_equal(link_usage_job(u, js->jobs[j].id), j);
		assert_true(link_usage_slowdown(u, js->jobs[j].id) > 1);
	}
	assert_int_equal(link_usage_job(u, 999999), FAB_NONE);
	assert_true(isnan(link_usage_slowdown(u, 999999)));
	assert_true(isnan(link_usage_slowdown(NULL, 1)));
	link_usage_free(u);
	assert_int_equal(link_usage_compute(&u, f, t, NULL, false, NULL, NULL), 0);
	assert_null(u->lanes);
	assert_null(u->routes);
	assert_int_equal(link_usage_job(u, 1), FAB_NONE);
	link_usage_free(u);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void a_cancel_is_heard_and_strangers_are_refused(void **state)
{
	struct fabric *f = net_spec("dragonfly:p=2"), *g = net_spec("hyperx:dims=4x3,hosts=2");
	struct tables *t = kit_bfs(f);
	struct progress p = { .cancel = true };
	struct link_usage *u = NULL;
	struct err err;

	(void)state;
	assert_int_equal(link_usage_compute(&u, f, t, NULL, true, &p, &err), -ECANCELED);
	assert_null(u);
	assert_int_equal(link_usage_compute(&u, g, t, NULL, true, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "another fabric"));
	tables_put(t);
	fabric_put(g);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lanes_are_those_of_every_pair),
		cmocka_unit_test(without_lanes_of_their_own_all_routes_are_on_one),
		cmocka_unit_test(routes_of_jobs_are_those_of_every_pair),
		cmocka_unit_test(jobs_are_found_by_id_and_crowded_ones_are_slow),
		cmocka_unit_test(a_cancel_is_heard_and_strangers_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
