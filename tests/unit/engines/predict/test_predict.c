/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/predict/predict.h"

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

#define MAX_TERMS 8

static struct ebb bisect(const struct fabric *f, const struct tables *t, const struct ebb_opts *o)
{
	struct ebb e;
	struct err err;

	assert_int_equal(predict_ebb(&e, f, t, o, NULL, &err), 0);
	return e;
}

/* ---- against all pairings of a few terminals ---- */

struct pairing {
	const struct fabric *f;
	const struct tables *t;
	uint32_t nlid;		     /* LIDs of a terminal that share its traffic */
	uint32_t partner[MAX_TERMS]; /* FAB_NONE: not yet */
	double sum;
	uint32_t n;
};

/* Adds part to the load of every channel on the way, or takes the longest delay along it. */
static bool walk(const struct pairing *p, double *load, double part, double *delay, uint32_t src,
		 uint32_t lid)
{
	const struct fabric *f = p->f;
	uint32_t sw = f->term_sw[src], hops;
	uint8_t port = 0;
	uint32_t dsw = fabric_lid_switch(f, lid, &port);

	for (hops = 0; hops < f->nsw; hops++) {
		uint8_t out = tables_row(p->t, sw)[lid];
		uint32_t c = fabric_chan(f, sw, out);

		if (sw == dsw)
			return out == port;
		if (c == FAB_NONE)
			return false;
		load[c] += part;
		*delay = fmax(*delay, load[c]);
		sw = f->chan_dst[c];
	}
	return false;
}

static void measure_pairing(struct pairing *p)
{
	double *load = xcalloc(p->f->nchan, sizeof(*load)), sum = 0, ignored = 0;
	uint32_t i, k, n = p->f->nterm;

	for (i = 0; i < n; i++)
		for (k = 0; k < p->nlid; k++)
			walk(p, load, 1.0 / p->nlid, &ignored, i,
			     p->f->term_lid[p->partner[i]] + k);
	for (i = 0; i < n; i++) {
		double delay = 1;
		bool arrives = true;

		for (k = 0; k < p->nlid; k++)
			arrives &= walk(p, load, 0, &delay, i, p->f->term_lid[p->partner[i]] + k);
		sum += arrives ? 1 / delay : 0;
	}
	p->sum += sum / n;
	p->n++;
	free(load);
}

static void pair_rest(struct pairing *p)
{
	uint32_t a, b;

	for (a = 0; a < p->f->nterm && p->partner[a] != FAB_NONE; a++)
		;
	if (a == p->f->nterm) {
		measure_pairing(p);
		return;
	}
	for (b = a + 1; b < p->f->nterm; b++) {
		if (p->partner[b] != FAB_NONE)
			continue;
		p->partner[a] = b;
		p->partner[b] = a;
		pair_rest(p);
		p->partner[a] = p->partner[b] = FAB_NONE;
	}
}

static double mean_of_all(const struct fabric *f, const struct tables *t, uint32_t nlid)
{
	struct pairing p = { .f = f, .t = t, .nlid = nlid };

	memset(p.partner, 0xff, sizeof(p.partner));
	pair_rest(&p);
	return p.sum / p.n;
}

static void interval_holds_the_mean_over_all_pairings(void **state)
{
	struct net_opts lmc2 = { .lmc = 2 };
	uint32_t tried = 0, outside = 0;
	struct rng r;

	(void)state;
	rng_seed(&r, 1);
	for (uint64_t seed = 1; tried < 40; seed++) {
		struct fabric *f = net_random(seed, 5, 7, 2, &lmc2);
		struct predict_spread spread = { f, (uint8_t)(tried % 3) };
		struct ebb_opts o = { .bisections = 400,
				      .seed = seed,
				      .threads = 1,
				      .lids = tried % 4 ? predict_lids_spread : NULL,
				      .lids_ctx = &spread };
		struct tables *t = kit_random_trees(f, &r);

		if (f->nterm <= MAX_TERMS && f->nterm % 2 == 0 && f->nterm > 2) {
			struct ebb e = bisect(f, t, &o);
			double mean = mean_of_all(f, t, o.lids ? 1u << spread.lmc : 1);

			outside += fabs(e.mean - mean) > e.ci95 + 1e-9;
			assert_true(fabs(e.mean - mean) < 2.5 * e.ci95 + 1e-6);
			assert_true(e.min <= e.mean && e.mean <= e.max && e.max <= 1);
			tried++;
		}
		tables_put(t);
		fabric_put(f);
	}
	assert_in_range(outside, 0, 5);
}

static void two_switches_of_two_hosts_give_two_thirds(void **state)
{
	struct fabric *f = net_chain(2, 2, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	struct ebb_opts o = { .bisections = 1000, .seed = 7 };
	struct ebb e = bisect(f, t, &o);

	(void)state;
	/* of the three pairings one stays on the switches and two share the cable */
	assert_true(fabs(e.mean - 2.0 / 3) <= e.ci95);
	assert_true(fabs(e.ci95 - 1.96 * sqrt(2.0 / 9 / 4 / 1000)) < 0.001);
	assert_true(e.min == 0.5 && e.max == 1.0);
	assert_int_equal(e.pairs, 4000);
	assert_int_equal(e.stranded, 0);
	tables_put(t);
	fabric_put(f);
}

static void hosts_of_one_switch_have_full_bandwidth(void **state)
{
	struct fabric *f = net_chain(1, 7, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	struct ebb_opts o = { .bisections = 10 };
	struct ebb e = bisect(f, t, &o);

	(void)state;
	assert_true(e.mean == 1 && e.ci95 == 0 && e.min == 1 && e.max == 1);
	assert_int_equal(e.pairs, 60); /* one of seven rests */
	tables_put(t);
	fabric_put(f);
}

static void lone_host_has_full_bandwidth_to_nobody(void **state)
{
	struct fabric *f = net_chain(1, 1, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	struct ebb e = bisect(f, t, NULL);

	(void)state;
	assert_true(e.mean == 1);
	assert_int_equal(e.pairs, 0);
	assert_int_equal(e.bisections, 0);
	tables_put(t);
	fabric_put(f);
}

/* Two switches of seven hosts; LID k of a host crosses by cable k. */
static struct tables *two_cables(const struct fabric *f)
{
	struct tables *t = kit_bfs(f);

	for (uint32_t term = 0; term < f->nterm; term++) {
		uint32_t far = 1 - f->term_sw[term];

		for (uint32_t k = 0; k < 2; k++)
			tables_row(t, far)[f->term_lid[term] + k] =
				f->chan_port[f->chan_off[far] + k];
	}
	return t;
}

static void traffic_spread_over_two_lids_doubles_what_two_cables_carry(void **state)
{
	struct net_opts lmc1 = { .lmc = 1 };
	struct fabric *f = net_ring(2, 7, &lmc1);
	struct tables *t = two_cables(f);
	struct predict_spread spread = { f, 1 };
	struct ebb_opts o = { .bisections = 1000 };
	struct ebb one = bisect(f, t, &o), two;

	(void)state;
	o.lids = predict_lids_spread;
	o.lids_ctx = &spread;
	two = bisect(f, t, &o);
	/* every pairing leaves some pairs on one switch, but for a few: the worst */
	assert_true(fabs(one.min - 1.0 / 7) < 1e-6);
	assert_true(fabs(two.min - 2.0 / 7) < 1e-6);
	assert_true(two.mean > 1.2 * one.mean);
	tables_put(t);
	fabric_put(f);
}

static uint32_t wrong_lids(void *ctx, uint32_t src, uint32_t dst, uint16_t *lids)
{
	const struct fabric *f = ctx;

	lids[0] = dst % 2 ? f->term_lid[src] : 0xbfff;
	return 1;
}

static void lids_of_somebody_else_strand_a_flow(void **state)
{
	struct fabric *f = net_ring(3, 2, NULL);
	struct tables *t = kit_bfs(f);
	struct ebb_opts o = { .bisections = 10, .lids = wrong_lids, .lids_ctx = f };
	struct ebb e = bisect(f, t, &o);

	(void)state;
	assert_true(e.mean == 0);
	assert_int_equal(e.stranded, e.pairs);
	tables_put(t);
	fabric_put(f);
}

static void set_rate(struct fabric *f, uint32_t rate)
{
	for (uint32_t i = 0; i < f->nport; i++)
		f->port[i].rate_Mbps = rate;
}

static void faster_and_slower_cables_count_by_their_rate(void **state)
{
	struct fabric *f = net_chain(2, 1, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	struct ebb_opts o = { .bisections = 3 };

	(void)state;
	set_rate(f, 100000);
	assert_true(bisect(f, t, &o).mean == 1);
	f->port[f->port_off[0] + f->chan_port[0]].rate_Mbps = 25000;
	assert_true(bisect(f, t, &o).mean == (0.25 + 1) / 2); /* one direction of two */
	f->port[f->port_off[0] + f->chan_port[0]].rate_Mbps = 200000;
	assert_true(bisect(f, t, &o).mean == 1);
	/* a host that can take no more is not short of bandwidth */
	f->port[f->port_off[0] + f->chan_port[0]].rate_Mbps = 25000;
	f->port[f->port_off[0] + f->term_port[f->term_list[0]]].rate_Mbps = 25000;
	assert_true(bisect(f, t, &o).mean == 1);
	/* what one end does not know the other may */
	set_rate(f, 0);
	f->port[f->port_off[0] + f->term_port[f->term_list[0]]].rate_Mbps = 100000;
	f->port[f->port_off[1] + f->chan_rport[0]].rate_Mbps = 50000;
	assert_true(bisect(f, t, &o).mean == 0.5);
	tables_put(t);
	fabric_put(f);
}

static void pairs_without_a_way_count_as_nothing(void **state)
{
	struct fabric *f = net_chain(3, 1, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	struct ebb_opts o = { .bisections = 300 };
	struct ebb e;

	(void)state;
	/* the middle switch loses host 2, and sends what is for host 0 around in a circle */
	tables_row(t, 1)[f->term_lid[2]] = FAB_NO_PORT;
	tables_row(t, 1)[f->term_lid[0]] = f->chan_port[kit_chan(f, 1, 2)];
	e = bisect(f, t, &o);
	/* one of 0-1, 0-2, 1-2 is drawn: one, two, one of its directions have no way */
	assert_true(fabs(e.mean - 1.0 / 3) <= e.ci95);
	assert_true(e.min == 0 && e.max == 0.5);
	assert_true(e.stranded > 360 && e.stranded < 440);
	/* a port that leads to somebody else */
	tables_row(t, f->term_sw[1])[f->term_lid[1]] = 77;
	assert_true(bisect(f, t, &o).mean < e.mean);
	tables_put(t);
	fabric_put(f);
}

static void threads_do_not_change_a_bit_and_seeds_do(void **state)
{
	struct fabric *f = net_random(3, 20, 40, 6, NULL);
	struct tables *t = kit_bfs(f);
	struct ebb_opts o = { .bisections = 50, .seed = 1, .threads = 1 };
	struct ebb one = bisect(f, t, &o), e;

	(void)state;
	for (o.threads = 2; o.threads < 5; o.threads++) {
		e = bisect(f, t, &o);
		assert_true(e.mean == one.mean && e.ci95 == one.ci95);
		assert_true(e.min == one.min && e.max == one.max);
	}
	o.seed = 2;
	assert_true(bisect(f, t, &o).mean != one.mean);
	tables_put(t);
	fabric_put(f);
}

struct spy {
	struct progress progress;
	uint64_t last, calls, cancel_at;
};

static void watch(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct spy *s = ctx;

	assert_true(done <= total);
	assert_non_null(step);
	s->last = done;
	if (++s->calls == s->cancel_at)
		atomic_store(&s->progress.cancel, true);
}

static void cancel_is_seen_at_the_next_bisection(void **state)
{
	struct fabric *f = net_chain(2, 4, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	struct ebb_opts o = { .bisections = 100, .threads = 1 };
	struct spy spy = { .progress = { .report = watch, .ctx = &spy }, .cancel_at = 5 };
	struct err err;
	struct ebb e;

	(void)state;
	assert_int_equal(predict_ebb(&e, f, t, &o, &spy.progress, &err), -ECANCELED);
	assert_int_equal(spy.last, 4);
	assert_non_null(strstr(err.text, "cancelled"));
	tables_put(t);
	fabric_put(f);
}

/* ---- inside jobs ---- */

static struct ebb_jobs *bisect_jobs(const struct fabric *f, const struct tables *t,
				    const struct jobset *js, const struct ebb_opts *o)
{
	struct ebb_jobs *e;
	struct err err;

	assert_int_equal(predict_ebb_jobs(&e, f, t, js, o, NULL, &err), 0);
	assert_int_equal(e->njob, js->njob);
	return e;
}

static void job_of_all_terminals_is_the_whole_fabric(void **state)
{
	struct fabric *f = net_random(4, 12, 20, 5, NULL);
	struct tables *t = kit_bfs(f);
	uint64_t *member = xcalloc(f->nterm, sizeof(*member));
	struct ebb_opts o = { .bisections = 30, .seed = 5 };
	struct ebb whole = bisect(f, t, &o);
	struct ebb_jobs *e;
	struct jobset *js;

	(void)state;
	for (uint32_t i = 0; i < f->nterm; i++)
		member[i] = 1;
	js = kit_jobs(f, member, 1);
	e = bisect_jobs(f, t, js, &o);
	assert_true(e->alone[0].mean == whole.mean && e->alone[0].ci95 == whole.ci95);
	assert_true(fabs(e->together[0].mean - whole.mean) < 1e-12);
	assert_true(fabs(e->all.mean - whole.mean) < 1e-12);
	assert_int_equal(e->all.pairs, whole.pairs);
	ebb_jobs_free(e);
	jobset_put(js);
	free(member);
	tables_put(t);
	fabric_put(f);
}

static void jobs_share_cables_and_hosts_only_when_together(void **state)
{
	struct fabric *f = net_chain(2, 3, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	/* 0 and 1 cross the only cable; 2 and 3 have the same two hosts; 4 is alone */
	uint64_t member[] = { 1, 2, 4 | 8 | 16, 1, 2, 4 | 8 };
	struct jobset *js = kit_jobs(f, member, 5);
	struct ebb_opts o = { .bisections = 5 };
	struct ebb_jobs *e = bisect_jobs(f, t, js, &o);
	uint32_t j;

	(void)state;
	for (j = 0; j < 5; j++) {
		bool lone = js->jobs[j].nterm == 1;

		assert_true(e->alone[j].mean == 1);
		assert_true(e->together[j].mean == (lone ? 1 : 0.25)); /* four on the cable */
		assert_int_equal(e->alone[j].pairs, lone ? 0 : 10);
	}
	assert_true(e->all.mean == 0.25 && e->all.ci95 == 0);
	assert_int_equal(e->all.pairs, 40);
	ebb_jobs_free(e);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void jobs_without_terminals_have_no_pairs(void **state)
{
	struct fabric *f = net_chain(2, 2, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	uint64_t member[4] = { 0 };
	struct jobset *js = kit_jobs(f, member, 2), *none = kit_jobs(f, member, 0);
	struct ebb_jobs *e = bisect_jobs(f, t, js, NULL);

	(void)state;
	assert_int_equal(e->alone[1].pairs, 0);
	assert_int_equal(e->all.pairs, 0);
	assert_true(e->all.mean == 1 && e->together[0].mean == 1);
	ebb_jobs_free(e);
	ebb_jobs_free(bisect_jobs(f, t, none, NULL));
	jobset_put(js);
	jobset_put(none);
	tables_put(t);
	fabric_put(f);
}

static void jobs_on_one_host_share_its_cable(void **state)
{
	struct fabric *f = net_chain(1, 3, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	uint64_t member[] = { 1 | 2, 1 | 2, 0 };
	struct jobset *js = kit_jobs(f, member, 2);
	struct ebb_opts o = { .bisections = 5, .threads = 2 };
	struct ebb_jobs *e = bisect_jobs(f, t, js, &o);

	(void)state;
	assert_true(e->alone[0].mean == 1 && e->alone[1].mean == 1);
	assert_true(e->together[0].mean == 0.5 && e->together[1].mean == 0.5);
	ebb_jobs_free(e);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void tables_of_another_fabric_are_refused(void **state)
{
	struct fabric *f = net_chain(2, 4, FAB_NONE, NULL), *g = net_ring(3, 2, NULL);
	uint64_t member[6] = { 0 };
	struct jobset *js = kit_jobs(g, member, 1);
	struct tables *t = kit_bfs(f);
	struct ebb_jobs *ej;
	struct err err;
	struct ebb e;

	(void)state;
	assert_int_equal(predict_ebb(&e, g, t, NULL, NULL, &err), -EINVAL);
	assert_int_equal(predict_ebb_jobs(&ej, f, t, js, NULL, NULL, &err), -EINVAL);
	assert_null(ej);
	assert_non_null(strstr(err.text, "jobs"));
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
	fabric_put(g);
}

static void default_bisections_shrink_with_the_fabric(void **state)
{
	struct fabric f = { .nterm = 0 };

	(void)state;
	assert_int_equal(predict_default_bisections(&f), 1000);
	f.nterm = 1408;
	assert_int_equal(predict_default_bisections(&f), 1000);
	f.nterm = 16512;
	assert_in_range(predict_default_bisections(&f), 100, 999);
	f.nterm = 49000;
	assert_in_range(predict_default_bisections(&f), 20, 99);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interval_holds_the_mean_over_all_pairings),
		cmocka_unit_test(two_switches_of_two_hosts_give_two_thirds),
		cmocka_unit_test(hosts_of_one_switch_have_full_bandwidth),
		cmocka_unit_test(lone_host_has_full_bandwidth_to_nobody),
		cmocka_unit_test(traffic_spread_over_two_lids_doubles_what_two_cables_carry),
		cmocka_unit_test(lids_of_somebody_else_strand_a_flow),
		cmocka_unit_test(faster_and_slower_cables_count_by_their_rate),
		cmocka_unit_test(pairs_without_a_way_count_as_nothing),
		cmocka_unit_test(threads_do_not_change_a_bit_and_seeds_do),
		cmocka_unit_test(cancel_is_seen_at_the_next_bisection),
		cmocka_unit_test(job_of_all_terminals_is_the_whole_fabric),
		cmocka_unit_test(jobs_share_cables_and_hosts_only_when_together),
		cmocka_unit_test(jobs_without_terminals_have_no_pairs),
		cmocka_unit_test(jobs_on_one_host_share_its_cable),
		cmocka_unit_test(tables_of_another_fabric_are_refused),
		cmocka_unit_test(default_bisections_shrink_with_the_fabric),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
