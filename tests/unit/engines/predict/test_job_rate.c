/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/predict/job_rate.h"

#include "engines/engine.h"
#include "engines/predict/job_ranks.h"
#include "fabric/base/memory/mem.h"
#include "fabric/sim/packet/packets.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static double *rates_of(const struct fabric *f, const struct tables *t, const struct jobset *js,
			const struct job_rate_opts *o)
{
	double *rate = xcalloc(js->njob, sizeof(*rate));
	struct err err;

	assert_int_equal(job_rate_compute(rate, f, t, js, o, NULL, &err), 0);
	return rate;
}

/* Jobs of the hosts of a chain, four a switch; the rates that they must have, 0: unknown. */
static void check_chain(uint32_t switches, const uint64_t *member, uint32_t njob,
			const double *want)
{
	struct fabric *f = net_chain(switches, 4, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	struct jobset *js = kit_jobs(f, member, njob);
	double *rate = rates_of(f, t, js, NULL);

	for (uint32_t j = 0; j < njob; j++) {
		if (want[j] > 0)
			assert_true(fabs(rate[j] - want[j]) < 1e-6);
		else
			assert_true(isnan(rate[j]));
	}
	free(rate);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void jobs_share_a_link_evenly(void **state)
{
	static const uint64_t alone[8] = { 1, 0, 0, 0, 1 }, both[8] = { 1, 2, 0, 0, 1, 2 };

	(void)state;
	check_chain(2, alone, 1, (double[]){ 1 });
	check_chain(2, both, 2, (double[]){ 0.5, 0.5 });
}

/* The third has a third of the first link, and leaves the fourth the rest of the second. */
static void what_a_slowed_job_does_not_need_others_get(void **state)
{
	static const uint64_t member[12] = { 1, 2, 4, 0, 1, 2, 8, 0, 4, 8 };

	(void)state;
	check_chain(3, member, 4, (double[]){ 1. / 3, 1. / 3, 1. / 3, 2. / 3 });
}

/* Three hosts, of which two are on one switch: in either shift a flow each way, beside one of the
 * other job. */
static void all_flows_of_a_job_wait_for_the_slowest(void **state)
{
	static const uint64_t member[12] = { 1, 1, 2, 0, 1, 2 };

	(void)state;
	check_chain(3, member, 2, (double[]){ 0.5, 0.5 });
}

static void jobs_on_one_switch_have_none(void **state)
{
	static const uint64_t member[8] = { 1, 1, 2, 4, 2, 4 };

	(void)state;
	check_chain(2, member, 3, (double[]){ 0, 0.5, 0.5 });
}

static void a_host_of_two_jobs_sends_half_for_each(void **state)
{
	static const uint64_t member[12] = { 1, 0, 0, 0, 3, 0, 0, 0, 2 };

	(void)state;
	check_chain(3, member, 2, (double[]){ 0.5, 0.5 });
}

static void rates_are_shares_of_the_slowest_port(void **state)
{
	static const uint64_t member[8] = { 1, 2, 0, 0, 1, 2 };
	struct fabric *f = net_chain(2, 4, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	struct jobset *js = kit_jobs(f, member, 2);
	double *rate;

	(void)state;
	for (uint32_t i = 0; i < f->nport; i++)
		f->port[i].rate_Mbps = 100000;
	f->port[f->port_off[f->term_sw[4]] + f->term_port[4]].rate_Mbps = 25000;
	rate = rates_of(f, t, js, NULL);
	assert_true(fabs(rate[0] - 1) < 1e-6); /* a quarter of the link is all it can send */
	assert_true(fabs(rate[1] - 0.75) < 1e-6);
	free(rate);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void a_job_without_a_path_has_none_and_does_not_count(void **state)
{
	static const uint64_t member[12] = { 1, 2, 0, 0, 2, 0, 0, 0, 1 };
	struct fabric *f = net_chain(3, 4, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	struct jobset *js = kit_jobs(f, member, 2);
	double *rate;

	(void)state;
	tables_row(t, 1)[f->term_lid[8]] = FAB_NO_PORT;
	tables_row(t, 1)[f->term_lid[0]] = FAB_NO_PORT;
	rate = rates_of(f, t, js, NULL);
	assert_true(isnan(rate[0]));
	assert_true(fabs(rate[1] - 1) < 1e-6);
	free(rate);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void threads_do_not_matter_and_seeds_hardly(void **state)
{
	struct fabric *f = net_tree(6, 3, 6, &(struct net_opts){ .random_lids = 1 });
	struct tables *t = kit_bfs(f);
	struct jobset *js = kit_placed_jobs(f, 3, 12, true);
	double *one = rates_of(f, t, js, &(struct job_rate_opts){ .seed = 1, .threads = 1 });
	double *four = rates_of(f, t, js, &(struct job_rate_opts){ .seed = 1, .threads = 4 });
	double *other = rates_of(f, t, js, &(struct job_rate_opts){ .seed = 2 });

	(void)state;
	assert_memory_equal(one, four, js->njob * sizeof(*one));
	for (uint32_t j = 0; j < js->njob; j++)
		assert_true(isnan(one[j]) || fabs(other[j] / one[j] - 1) < 0.1);
	free(one);
	free(four);
	free(other);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void it_can_be_cancelled(void **state)
{
	struct fabric *f = net_ring(5, 3, NULL), *g = net_ring(4, 3, NULL);
	struct tables *t = kit_bfs(f);
	struct jobset *js = kit_placed_jobs(f, 1, 6, false);
	struct progress p = { .cancel = true };
	double *rate = xcalloc(js->njob, sizeof(*rate));
	struct err err;

	(void)state;
	assert_int_equal(job_rate_compute(rate, f, t, js, NULL, &p, &err), -ECANCELED);
	assert_int_equal(job_rate_compute(rate, g, t, js, NULL, NULL, &err), -EINVAL);
	free(rate);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
	fabric_put(g);
}

/* --- as packets go -----------------------------------------------------------------------------
 */

#define MESSAGE	  (64u << 10)
#define PHASES_NS 30000000 /* 30 ms, about 5,000 messages of a host at full rate */
#define LOOK_NS	  200

/* A job whose ranks send each other packets, a shift after the other. */
struct player {
	const struct job_ranks *ranks;
	uint32_t shift, shifts, *conn; /* connection of a pair of ranks, or FAB_NONE */
	uint64_t *want;		       /* bytes that it must have delivered */
	uint64_t since_ns, last_ns;
};

static void player_send(struct player *x, const struct fabric *f, struct packets *p)
{
	uint32_t n = x->ranks->nrank;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t to = (i + x->shift) % n, *conn = &x->conn[i * n + to];
		uint16_t lid = f->term_lid[x->ranks->term[to]];

		if (*conn == FAB_NONE)
			*conn = packets_connect(p, x->ranks->term[i], lid, 0);
		packets_send(p, *conn, MESSAGE);
		x->want[i * n + to] += MESSAGE;
	}
}

static bool player_is_done(const struct player *x, const struct packets *p)
{
	uint32_t n = x->ranks->nrank;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = i * n + (i + x->shift) % n;
		struct packets_conn_counts c;

		packets_conn_counts(&c, p, x->conn[at]);
		if (c.bytes < x->want[at])
			return false;
	}
	return true;
}

static void player_begin(struct player *x, const struct job_ranks *ranks)
{
	uint32_t n = ranks->nrank;

	*x = (struct player){ .ranks = ranks, .shift = 1 };
	x->conn = xcalloc((size_t)n * n, sizeof(*x->conn));
	x->want = xcalloc((size_t)n * n, sizeof(*x->want));
	memset(x->conn, 0xff, (size_t)n * n * sizeof(*x->conn));
}

static void player_go_on(struct player *x, const struct fabric *f, struct packets *p)
{
	uint64_t now = packets_now_ns(p);

	if (x->ranks->nrank < 2 || !player_is_done(x, p))
		return;
	if (now > PHASES_NS / 8) { /* all are under way */
		if (x->since_ns)
			x->shifts++;
		else
			x->since_ns = now;
		x->last_ns = now;
	}
	x->shift = x->shift % (x->ranks->nrank - 1) + 1;
	player_send(x, f, p);
}

/* What a host sends of its full rate, by job. */
static void play(double *rate, const struct fabric *f, const struct tables *t,
		 const struct jobset *js)
{
	struct player *x = xcalloc(js->njob, sizeof(*x));
	struct arena *mem = arena_new();
	struct job_ranks *ranks = job_ranks_new(mem, f, js);
	struct packets_opts o;
	struct packets *p;
	double alone_ns;

	packets_opts_init(&o);
	o.credits = 256;
	o.rate_Mbps = 100000;
	alone_ns = MESSAGE / 2048 * (2048. + PACKETS_HEADERS) * 8 / 100;
	p = packets_new(f, t, &o);
	for (uint32_t j = 0; j < js->njob; j++) {
		player_begin(&x[j], &ranks[j]);
		if (ranks[j].nrank > 1)
			player_send(&x[j], f, p);
	}
	for (uint64_t now = LOOK_NS; now < PHASES_NS; now += LOOK_NS) {
		packets_run(p, now);
		for (uint32_t j = 0; j < js->njob; j++)
			player_go_on(&x[j], f, p);
	}
	for (uint32_t j = 0; j < js->njob; j++) {
		rate[j] = x[j].shifts * alone_ns / (double)(x[j].last_ns - x[j].since_ns);
		free(x[j].conn);
		free(x[j].want);
	}
	packets_free(p);
	arena_free(mem);
	free(x);
}

static void jobs_send_as_much_in_packets(void **state)
{
	struct fabric *f = net_spec("fattree2:leaves=6,spines=6,hosts=6,lids=random");
	struct jobset *js = kit_placed_jobs(f, 5, 9, true);
	double *got = xcalloc(js->njob, sizeof(*got)), *told, sum = 0;
	struct engine_params params = { 0 };
	struct tables *t;
	uint32_t n = 0;
	struct err err;

	(void)state;
	assert_int_equal(
		engine_run(engine_find("minhop", &err), &t, f, NULL, NULL, &params, NULL, &err), 0);
	told = rates_of(f, t, js, NULL);
	play(got, f, t, js);
	for (uint32_t j = 0; j < js->njob; j++) {
		if (isnan(told[j]))
			continue;
		if (getenv("VERBOSE"))
			print_message("%u hosts: %.3f, in packets %.3f\n", js->jobs[j].nterm,
				      told[j], got[j]);
		assert_true(told[j] < 0.9);
		assert_true(fabs(got[j] / told[j] - 1) < 0.15);
		sum += got[j] / told[j];
		n++;
	}
	assert_true(n >= 5 && fabs(sum / n - 1) < 0.05);
	free(got);
	free(told);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_share_a_link_evenly),
		cmocka_unit_test(what_a_slowed_job_does_not_need_others_get),
		cmocka_unit_test(all_flows_of_a_job_wait_for_the_slowest),
		cmocka_unit_test(jobs_on_one_switch_have_none),
		cmocka_unit_test(a_host_of_two_jobs_sends_half_for_each),
		cmocka_unit_test(rates_are_shares_of_the_slowest_port),
		cmocka_unit_test(a_job_without_a_path_has_none_and_does_not_count),
		cmocka_unit_test(threads_do_not_matter_and_seeds_hardly),
		cmocka_unit_test(it_can_be_cancelled),
		cmocka_unit_test(jobs_send_as_much_in_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
