/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/time/job_time.h"
#include "engines/time/shift_time.h"

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

#define EDR 100000

static struct job_times *times(const struct fabric *f, const struct tables *t,
			       const struct jobset *js, const struct job_time_opts *o)
{
	struct job_times *x;
	struct err err;

	assert_int_equal(job_times_compute(&x, f, t, js, o, NULL, &err), 0);
	assert_int_equal(x->njob, js->njob);
	return x;
}

static struct shift_time shifts(const struct fabric *f, const struct tables *t, uint32_t n)
{
	struct shift_time_opts o = { .shifts = n };
	struct shift_time x;
	struct err err;

	assert_int_equal(shift_time_compute(&x, f, t, &o, NULL, &err), 0);
	return x;
}

static void assert_near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-6 * fmax(1, fabs(b))))
		fail_msg("%.9f is not %.9f", a, b);
}

static struct jobset *one_job(const struct fabric *f)
{
	uint64_t *member = xcalloc(f->nterm, sizeof(*member));
	struct jobset *js;

	for (uint32_t i = 0; i < f->nterm; i++)
		member[i] = 1;
	js = kit_jobs(f, member, 1);
	free(member);
	return js;
}

static void set_rate(struct fabric *f, uint32_t rate)
{
	for (uint32_t i = 0; i < f->nport; i++)
		f->port[i].rate_Mbps = rate;
}

/* Of both directions. */
static void set_cable(struct fabric *f, uint32_t c, uint32_t rate)
{
	f->port[f->port_off[f->chan_src[c]] + f->chan_port[c]].rate_Mbps = rate;
	f->port[f->port_off[f->chan_dst[c]] + f->chan_rport[c]].rate_Mbps = rate;
}

/* --- once more, pair by pair and hop by hop ----------------------------------------------------
 */

#define MAX_JOBS 4

struct recount {
	const struct fabric *f;
	const struct tables *t;
	double *load;	       /* per channel */
	double time[MAX_JOBS]; /* of the last phase */
	uint64_t flows[MAX_JOBS];
	double rates; /* sum, of all flows of the last phase */
};

/* Adds to the loads on the way and returns the greatest; 0 on one switch. */
static double recount_walk(struct recount *r, uint32_t src, uint32_t dst, double part)
{
	const struct fabric *f = r->f;
	uint32_t sw = f->term_sw[src];
	double most = 0;

	while (sw != f->term_sw[dst]) {
		uint8_t port = tables_row(r->t, sw)[f->term_lid[dst]];
		uint32_t c = fabric_port(f, sw, port)->chan;

		r->load[c] += part * EDR / fabric_port(f, sw, port)->rate_Mbps;
		most = fmax(most, r->load[c]);
		sw = f->chan_dst[c];
	}
	return most;
}

/* Whom rank i of n sends to in a step of a pattern: false when to nobody. */
typedef bool partner_fn(uint32_t i, uint32_t n, uint32_t arg, uint32_t *to);

struct exchange {
	partner_fn *partner;
	uint32_t steps;		/* arg runs from 0 */
	uint32_t arg[MAX_JOBS]; /* instead, of one step: a job's distance */
	bool per_job;
};

static void recount_phase(struct recount *r, const struct jobset *js, const struct exchange *x)
{
	memset(r->load, 0, r->f->nchan * sizeof(*r->load));
	r->rates = 0;
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t j = 0; j < js->njob; j++) {
			const struct job *job = &js->jobs[j];
			uint32_t messages = 0, to;
			double most = 0;

			r->flows[j] = 0;
			r->time[j] = 1;
			if (!job->nterm)
				continue;
			for (uint32_t s = 0; s < x->steps; s++) {
				uint32_t arg = x->per_job ? x->arg[j] : s;

				messages += x->partner(0, job->nterm, arg, &to);
				for (uint32_t i = 0; i < job->nterm; i++) {
					double got;

					if (!x->partner(i, job->nterm, arg, &to))
						continue;
					got = recount_walk(r, job->terms[i], job->terms[to], !pass);
					if (r->f->term_sw[job->terms[i]] ==
					    r->f->term_sw[job->terms[to]])
						continue;
					r->flows[j]++;
					r->rates += pass ? fmin(1, 1 / got) : 0;
					most = fmax(most, got);
				}
			}
			r->time[j] = fmax(1, most / (messages ? messages : 1));
		}
	}
}

static bool to_distance(uint32_t i, uint32_t n, uint32_t arg, uint32_t *to)
{
	*to = (i + arg) % n;
	return n > 1;
}

static bool to_half(uint32_t i, uint32_t n, uint32_t arg, uint32_t *to)
{
	(void)arg;
	return to_distance(i, n, n / 2, to);
}

static bool to_ring(uint32_t i, uint32_t n, uint32_t arg, uint32_t *to)
{
	*to = (i + (arg ? n - 1 : 1)) % n;
	return n > 2 || (n == 2 && !arg);
}

/* The sides of the squarest box of n: the last dimensions are the short ones. */
static void sides(uint32_t n, unsigned dims, uint32_t side[3])
{
	side[0] = n;
	side[1] = side[2] = 1;
	if (dims == 3)
		for (uint32_t d = 1; d * d * d <= n; d++)
			side[2] = n % d ? side[2] : d;
	n /= side[2];
	for (uint32_t d = 1; d * d <= n; d++)
		side[1] = n % d ? side[1] : d;
	side[0] = n / side[1];
}

static bool to_stencil(uint32_t i, uint32_t n, unsigned dims, uint32_t arg, uint32_t *to)
{
	uint32_t side[3], at[3], d = arg / 2;

	sides(n, dims, side);
	at[0] = i % side[0];
	at[1] = i / side[0] % side[1];
	at[2] = i / side[0] / side[1];
	if (!to_ring(at[d], side[d], arg % 2, &at[d]))
		return false;
	*to = at[0] + side[0] * (at[1] + side[1] * at[2]);
	return true;
}

static bool to_stencil2(uint32_t i, uint32_t n, uint32_t arg, uint32_t *to)
{
	return to_stencil(i, n, 2, arg, to);
}

static bool to_stencil3(uint32_t i, uint32_t n, uint32_t arg, uint32_t *to)
{
	return to_stencil(i, n, 3, arg, to);
}

static const struct {
	enum predict_pattern pattern;
	struct exchange x;
} fixed[] = {
	{ PREDICT_SHIFT, { .partner = to_half, .steps = 1 } },
	{ PREDICT_RING, { .partner = to_ring, .steps = 2 } },
	{ PREDICT_STENCIL2, { .partner = to_stencil2, .steps = 4 } },
	{ PREDICT_STENCIL3, { .partner = to_stencil3, .steps = 6 } },
};

/* Channels of several rates, hosts of one. */
static void mix_rates(struct fabric *f, struct rng *r)
{
	static const uint32_t rate[] = { EDR, EDR / 2, EDR / 4, 2 * EDR };

	set_rate(f, EDR);
	for (uint32_t c = 0; c < f->nchan; c++)
		if (c < f->chan_rev[c])
			set_cable(f, c, rate[rng_below(r, 4)]);
}

static void check_pattern(struct recount *r, const struct jobset *js, uint32_t i)
{
	struct job_time_opts o = { .pattern = fixed[i].pattern };
	struct job_times *x = times(r->f, r->t, js, &o);
	double sum = 0, worst = 1;
	uint32_t n = 0;

	recount_phase(r, js, &fixed[i].x);
	for (uint32_t j = 0; j < js->njob; j++) {
		assert_int_equal(x->job[j].flows, r->flows[j]);
		assert_near(x->job[j].time.mean, r->time[j]);
		if (!r->flows[j])
			continue;
		sum += r->time[j];
		worst = fmax(worst, r->time[j]);
		n++;
	}
	assert_int_equal(x->counted, n);
	assert_near(x->mean.mean, n ? sum / n : 1);
	assert_near(x->worst.mean, worst);
	assert_near(x->mean.error, 0);
	job_times_free(x);
}

static void exchanges_are_those_of_a_recount(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 5);
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct fabric *f = net_random(seed, 6, 9, 3, NULL);
		struct tables *t = kit_random_trees(f, &rng);
		struct jobset *js = kit_random_jobs(f, MAX_JOBS, 60, &rng);
		struct recount r = { .f = f, .t = t };

		r.load = xcalloc(f->nchan, sizeof(*r.load));
		mix_rates(f, &rng);
		for (uint32_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
			check_pattern(&r, js, i);
		free(r.load);
		jobset_put(js);
		tables_put(t);
		fabric_put(f);
	}
}

/* Every combination of distances is as likely as any other. */
static void expect_all_distances(struct recount *r, const struct jobset *js, double *time,
				 double *mean)
{
	struct exchange x = { .partner = to_distance, .steps = 1, .per_job = true };
	uint64_t n = 1;

	for (uint32_t j = 0; j < js->njob; j++)
		n *= js->jobs[j].nterm > 1 ? js->jobs[j].nterm - 1 : 1;
	*mean = 0;
	for (uint32_t j = 0; j < js->njob; j++)
		time[j] = 0;
	for (uint64_t k = 0; k < n; k++) {
		uint64_t rest = k;

		for (uint32_t j = 0; j < js->njob; j++) {
			uint32_t all = js->jobs[j].nterm > 1 ? js->jobs[j].nterm - 1 : 1;

			x.arg[j] = 1 + (uint32_t)(rest % all);
			rest /= all;
		}
		recount_phase(r, js, &x);
		for (uint32_t j = 0; j < js->njob; j++) {
			time[j] += r->time[j] / (double)n;
			*mean += r->time[j] / (double)n / js->njob;
		}
	}
}

static void alltoall_is_the_mean_over_all_distances(void **state)
{
	struct job_time_opts o = { .pattern = PREDICT_ALLTOALL, .phases = 4000 };
	struct rng rng;

	(void)state;
	rng_seed(&rng, 6);
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct fabric *f = net_random(seed, 5, 7, 3, NULL);
		struct tables *t = kit_random_trees(f, &rng);
		struct jobset *js = kit_random_jobs(f, 3, 50, &rng);
		struct recount r = { .f = f, .t = t };
		double time[MAX_JOBS], mean;
		struct job_times *x;

		r.load = xcalloc(f->nchan, sizeof(*r.load));
		mix_rates(f, &rng);
		expect_all_distances(&r, js, time, &mean);
		o.seed = seed;
		x = times(f, t, js, &o);
		for (uint32_t j = 0; j < js->njob; j++)
			assert_true(fabs(x->job[j].time.mean - time[j]) <=
				    4.5 * x->job[j].time.error + 1e-9);
		if (x->counted == js->njob)
			assert_true(fabs(x->mean.mean - mean) <= 4.5 * x->mean.error + 1e-9);
		free(r.load);
		job_times_free(x);
		jobset_put(js);
		tables_put(t);
		fabric_put(f);
	}
}

static void all_shifts_are_those_of_a_recount(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 7);
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct fabric *f = net_random(seed, 6, 9, 3, NULL);
		struct tables *t = kit_random_trees(f, &rng);
		struct jobset *js = one_job(f);
		struct recount r = { .f = f, .t = t };
		struct exchange x = { .partner = to_distance, .steps = 1, .per_job = true };
		double time = 0, rates = 0;
		uint64_t flows = 0;
		struct shift_time got;

		r.load = xcalloc(f->nchan, sizeof(*r.load));
		mix_rates(f, &rng);
		for (uint32_t d = 1; d < f->nterm; d++) {
			x.arg[0] = d;
			recount_phase(&r, js, &x);
			time += r.time[0];
			rates += r.rates;
			flows += r.flows[0];
		}
		got = shifts(f, t, SHIFT_TIME_ALL);
		assert_int_equal(got.shifts, f->nterm - 1);
		assert_int_equal(got.flows, flows);
		assert_near(got.sync.mean, (f->nterm - 1) / time);
		assert_near(got.sync.error, 0);
		if (flows)
			assert_near(got.rate.mean, rates / (double)flows);
		free(r.load);
		jobset_put(js);
		tables_put(t);
		fabric_put(f);
	}
}

/* --- what must hold ----------------------------------------------------------------------------
 */

static void what_nothing_contends_with_takes_one(void **state)
{
	struct fabric *f = net_ring(3, 1, NULL);
	struct tables *t = kit_bfs(f);
	struct jobset *js = one_job(f);
	struct shift_time s = shifts(f, t, 0);

	(void)state;
	for (int p = PREDICT_SHIFT; p <= PREDICT_STENCIL3; p++) {
		struct job_time_opts o = { .pattern = (enum predict_pattern)p };
		struct job_times *x = times(f, t, js, &o);

		assert_int_equal(x->counted, 1);
		assert_near(x->mean.mean, 1);
		assert_near(x->node_mean.mean, 1);
		assert_near(x->worst.mean, 1);
		assert_near(x->mean.error, 0);
		assert_int_equal(x->worst_job, 0);
		job_times_free(x);
	}
	assert_near(s.sync.mean, 1);
	assert_near(s.rate.mean, 1);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void pairs_on_one_switch_do_not_count(void **state)
{
	struct fabric *f = net_chain(2, 4, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	uint64_t member[8] = { 1, 1, 1, 1, 0, 0, 0, 0 };
	struct jobset *js = kit_jobs(f, member, 1);
	struct job_times *x = times(f, t, js, NULL);

	(void)state;
	assert_int_equal(x->counted, 0);
	assert_int_equal(x->job[0].flows, 0);
	assert_near(x->mean.mean, 1);
	assert_int_equal(x->worst_job, FAB_NONE);
	job_times_free(x);
	jobset_put(js);
	/* of eight on two switches, a ring has one pair across in each direction */
	js = one_job(f);
	x = times(f, t, js, &(struct job_time_opts){ .pattern = PREDICT_RING });
	assert_int_equal(x->job[0].flows, 4);
	assert_near(x->mean.mean, 1); /* two flows a channel, two messages a rank */
	job_times_free(x);
	x = times(f, t, js, &(struct job_time_opts){ .pattern = PREDICT_SHIFT });
	assert_near(x->mean.mean, 4);
	job_times_free(x);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void a_cable_of_half_the_rate_doubles_the_time(void **state)
{
	struct fabric *f = net_chain(2, 1, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	struct jobset *js = one_job(f);
	static const struct {
		uint32_t rate;
		double time;
	} cases[] = { { EDR, 1 }, { EDR / 2, 2 }, { EDR / 4, 4 }, { 2 * EDR, 1 }, { 0, 1 } };

	(void)state;
	set_rate(f, EDR);
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct shift_time s;
		struct job_times *x;

		set_cable(f, 0, cases[i].rate);
		x = times(f, t, js, NULL);
		s = shifts(f, t, 0);
		assert_near(x->mean.mean, cases[i].time);
		assert_near(x->s_per_MiB, cases[i].time * 8 * 1048576 / 100e9);
		assert_near(s.sync.mean, 1 / cases[i].time);
		assert_near(s.rate.mean, 1 / cases[i].time);
		job_times_free(x);
	}
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

/* Units are those of the fastest host; seconds cannot be less than a slow host allows. */
static void slow_hosts_are_in_the_seconds(void **state)
{
	struct fabric *f = net_chain(2, 1, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	struct jobset *js = one_job(f);
	struct job_times *x;

	(void)state;
	set_rate(f, EDR);
	f->port[f->port_off[1] + f->term_port[1]].rate_Mbps = EDR / 4;
	x = times(f, t, js, NULL);
	assert_near(x->mean.mean, 1);
	assert_near(x->s_per_MiB, 8 * 1048576 / 25e9);
	job_times_free(x);
	set_rate(f, 0);
	x = times(f, t, js, NULL);
	assert_near(x->mean.mean, 1);
	assert_true(isnan(x->s_per_MiB));
	job_times_free(x);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void other_jobs_never_help(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 8);
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct fabric *f = net_random(seed, 6, 8, 3, NULL);
		struct tables *t = kit_random_trees(f, &rng);
		uint64_t *member = xcalloc(f->nterm, sizeof(*member));
		struct jobset *both, *alone;
		struct job_times *x, *y;

		for (uint32_t i = 0; i < f->nterm; i++)
			member[i] = i % 3 ? 1 : 2;
		both = kit_jobs(f, member, 2);
		for (uint32_t i = 0; i < f->nterm; i++)
			member[i] &= 1;
		alone = kit_jobs(f, member, 1);
		x = times(f, t, both, NULL);
		y = times(f, t, alone, NULL);
		assert_int_equal(both->jobs[0].id, alone->jobs[0].id);
		assert_true(x->job[0].time.mean >= y->job[0].time.mean - 1e-9);
		job_times_free(x);
		job_times_free(y);
		jobset_put(both);
		jobset_put(alone);
		free(member);
		tables_put(t);
		fabric_put(f);
	}
}

/* Two leaves under two spines: base LIDs over the first, the next over the second. */
static void messages_take_the_lids_that_are_named(void **state)
{
	struct fabric *f = net_tree(2, 2, 2, &(struct net_opts){ .lmc = 1 });
	struct predict_spread spread = { f, 1 };
	struct tables *t = kit_bfs(f);
	struct jobset *js = one_job(f);
	struct job_time_opts o = { .pattern = PREDICT_SHIFT };
	struct shift_time_opts so = { .lids = predict_lids_spread, .lids_ctx = &spread };
	struct shift_time s = shifts(f, t, 0);
	struct job_times *x;
	struct err err;

	(void)state;
	for (uint32_t i = 0; i < f->nterm; i++) {
		uint32_t leaf = f->term_sw[i] ? 0 : 1, spine = f->nsw - 1;

		tables_row(t, leaf)[f->term_lid[i] + 1] = f->chan_port[kit_chan(f, leaf, spine)];
	}
	x = times(f, t, js, &o);
	assert_near(x->mean.mean, 2);
	job_times_free(x);
	o.lids = predict_lids_spread;
	o.lids_ctx = &spread;
	x = times(f, t, js, &o);
	assert_near(x->mean.mean, 1);
	job_times_free(x);
	assert_near(s.sync.mean, 3.0 / 4); /* shifts by 1, 2 and 3 */
	assert_int_equal(shift_time_compute(&s, f, t, &so, NULL, &err), 0);
	assert_near(s.sync.mean, 1);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void what_has_no_path_is_told_and_left_out(void **state)
{
	struct fabric *f = net_chain(3, 1, 1, NULL); /* the last is cut off */
	struct tables *t = kit_bfs(f);
	struct jobset *js = one_job(f);
	struct job_times *x = times(f, t, js, &(struct job_time_opts){ .pattern = PREDICT_RING });
	struct shift_time s = shifts(f, t, 0);

	(void)state;
	assert_int_equal(x->job[0].flows, 6);
	assert_int_equal(x->job[0].stranded, 4);
	assert_int_equal(x->stranded, 4);
	assert_near(x->mean.mean, 1);
	assert_int_equal(s.stranded, 4);
	assert_near(s.rate.mean, 1);
	job_times_free(x);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void threads_and_runs_give_the_same_bytes(void **state)
{
	struct fabric *f = net_spec("torus:dims=4x4,hosts=3");
	struct rng rng = { { 1, 2, 3, 4 } };
	struct tables *t = kit_random_trees(f, &rng);
	struct jobset *js = kit_random_jobs(f, 6, 30, &rng);
	struct job_time_opts o = { .pattern = PREDICT_ALLTOALL, .seed = 9, .threads = 1 };
	struct shift_time_opts so = { .shifts = 17, .seed = 9, .threads = 1 };
	struct job_times *one = times(f, t, js, &o), *three, *other;
	struct shift_time s1, s3;
	struct err err;

	(void)state;
	o.threads = 3;
	three = times(f, t, js, &o);
	assert_memory_equal(one->job, three->job, js->njob * sizeof(*one->job));
	assert_memory_equal(&one->mean, &three->mean, sizeof(one->mean));
	o.seed = 10;
	other = times(f, t, js, &o);
	assert_true(one->mean.mean != other->mean.mean);
	assert_int_equal(shift_time_compute(&s1, f, t, &so, NULL, &err), 0);
	so.threads = 3;
	assert_int_equal(shift_time_compute(&s3, f, t, &so, NULL, &err), 0);
	assert_memory_equal(&s1, &s3, sizeof(s1));
	assert_int_equal(s1.shifts, 17);
	assert_true(s1.sync.error > 0);
	s3 = shifts(f, t, SHIFT_TIME_ALL);
	assert_true(fabs(s1.sync.mean - s3.sync.mean) < 4.5 * s1.sync.error);
	assert_true(fabs(s1.rate.mean - s3.rate.mean) < 4.5 * s1.rate.error);
	job_times_free(one);
	job_times_free(three);
	job_times_free(other);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

/* Adapters with the name of their kind are hosts each; the rails of one host shift side by side. */
static void ports_of_one_name_are_rails_when_they_are_few(void **state)
{
	struct fabric *f = net_chain(2, 10, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	char *name[2] = { f->term_name[0], f->term_name[10] };
	struct shift_time s;

	(void)state;
	for (uint32_t i = 0; i < f->nterm; i++)
		f->term_name[i] = name[0];
	s = shifts(f, t, 0);
	assert_int_equal(s.all, 19);
	for (uint32_t i = 0; i < f->nterm; i++)
		f->term_name[i] = name[f->term_sw[i]];
	s = shifts(f, t, 0);
	assert_int_equal(s.all, 1);
	assert_int_equal(s.flows, 20);
	assert_near(s.sync.mean, 1.0 / 10);
	tables_put(t);
	fabric_put(f);
}

static void it_can_be_cancelled(void **state)
{
	struct fabric *f = net_ring(4, 2, NULL), *g = net_ring(5, 2, NULL);
	struct tables *t = kit_bfs(f);
	struct jobset *js = one_job(f);
	struct progress p = { .cancel = true };
	struct shift_time s;
	struct job_times *x;
	struct err err;

	(void)state;
	assert_int_equal(job_times_compute(&x, f, t, js, NULL, &p, &err), -ECANCELED);
	assert_null(x);
	assert_int_equal(shift_time_compute(&s, f, t, NULL, &p, &err), -ECANCELED);
	assert_int_equal(job_times_compute(&x, g, t, js, NULL, NULL, &err), -EINVAL);
	assert_int_equal(shift_time_compute(&s, g, t, NULL, NULL, &err), -EINVAL);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
	fabric_put(g);
}

static void who_has_nobody_to_send_to_is_no_fault(void **state)
{
	struct fabric *f = net_chain(1, 1, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	struct jobset *js = one_job(f);
	struct shift_time s = shifts(f, t, 0);

	(void)state;
	for (int p = PREDICT_SHIFT; p <= PREDICT_STENCIL3; p++) {
		struct job_time_opts o = { .pattern = (enum predict_pattern)p };
		struct job_times *x = times(f, t, js, &o);

		assert_int_equal(x->counted, 0);
		assert_near(x->mean.mean, 1);
		job_times_free(x);
	}
	assert_int_equal(s.flows, 0);
	assert_near(s.sync.mean, 1);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exchanges_are_those_of_a_recount),
		cmocka_unit_test(alltoall_is_the_mean_over_all_distances),
		cmocka_unit_test(all_shifts_are_those_of_a_recount),
		cmocka_unit_test(what_nothing_contends_with_takes_one),
		cmocka_unit_test(pairs_on_one_switch_do_not_count),
		cmocka_unit_test(a_cable_of_half_the_rate_doubles_the_time),
		cmocka_unit_test(slow_hosts_are_in_the_seconds),
		cmocka_unit_test(other_jobs_never_help),
		cmocka_unit_test(messages_take_the_lids_that_are_named),
		cmocka_unit_test(what_has_no_path_is_told_and_left_out),
		cmocka_unit_test(threads_and_runs_give_the_same_bytes),
		cmocka_unit_test(ports_of_one_name_are_rails_when_they_are_few),
		cmocka_unit_test(it_can_be_cancelled),
		cmocka_unit_test(who_has_nobody_to_send_to_is_no_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
