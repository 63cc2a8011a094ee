/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/predict/predict.h"

#include "engines/engine.h"
#include "fabric/base/memory/mem.h"
#include "fabric/sim/topology/topo.h"
#include "tests/unit/kit/fabkit.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct prediction *predict(const struct fabric *f, const struct tables *t,
				  const struct jobset *js, const struct predict_opts *o)
{
	struct prediction *p;
	struct err err;

	assert_int_equal(predict_jobs(&p, f, t, js, o, NULL, &err), 0);
	assert_int_equal(p->njob, js->njob);
	return p;
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

static void assert_near(double a, double b)
{
	if (fabs(a - b) > 1e-6 * fmax(1, fabs(b)))
		fail_msg("%.9f is not %.9f", a, b);
}

/* ---- against a slow filling, flow by flow and link by link ---- */

#define MAX_FLOWS 64
#define MAX_HOPS  16

struct slow {
	const struct fabric *f;
	const struct tables *t;
	uint32_t nlid, nlink;
	uint32_t n;
	uint32_t job[MAX_FLOWS], src[MAX_FLOWS], dst[MAX_FLOWS];
	double (*part)[MAX_FLOWS]; /* [link][flow] */
	double *cap;		   /* per link */
	double rate[MAX_FLOWS];
};

static void slow_begin(struct slow *s, const struct fabric *f, const struct tables *t,
		       uint32_t nlid)
{
	*s = (struct slow){ .f = f, .t = t, .nlid = nlid, .nlink = f->nchan + 2 * f->nterm };
	s->part = xcalloc(s->nlink, sizeof(*s->part));
	s->cap = xcalloc(s->nlink, sizeof(*s->cap));
	for (uint32_t i = 0; i < s->nlink; i++)
		s->cap[i] = 1;
	for (uint32_t c = 0; c < f->nchan; c++)
		s->cap[c] = fabric_port(f, f->chan_src[c], f->chan_port[c])->rate_Mbps / 1000.0;
}

static void slow_end(struct slow *s)
{
	free(s->part);
	free(s->cap);
}

static void slow_add(struct slow *s, uint32_t job, uint32_t src, uint32_t dst)
{
	const struct fabric *f = s->f;
	uint32_t flow = s->n++;

	assert_true(flow < MAX_FLOWS);
	s->job[flow] = job;
	s->src[flow] = src;
	s->dst[flow] = dst;
	s->part[f->nchan + 2 * src][flow] = 1;
	s->part[f->nchan + 2 * dst + 1][flow] = 1;
	for (uint32_t k = 0; k < s->nlid; k++) {
		uint32_t sw = f->term_sw[src], lid = f->term_lid[dst] + k;

		while (sw != f->term_sw[dst]) {
			uint32_t c = fabric_chan(f, sw, tables_row(s->t, sw)[lid]);

			s->part[c][flow] += 1.0 / s->nlid;
			sw = f->chan_dst[c];
		}
	}
}

/* Shift by half of each job, as the names of the net are in order. */
static void slow_shift(struct slow *s, const struct jobset *js, uint32_t only)
{
	s->n = 0;
	memset(s->part, 0, s->nlink * sizeof(*s->part));
	for (uint32_t j = 0; j < js->njob; j++) {
		const struct job *job = &js->jobs[j];

		if (only != FAB_NONE && only != j)
			continue;
		for (uint32_t i = 0; job->nterm > 1 && i < job->nterm; i++)
			slow_add(s, j, job->terms[i],
				 job->terms[(i + job->nterm / 2) % job->nterm]);
	}
}

/* How much more each unsettled flow could get on a link. */
static double room(const struct slow *s, uint32_t link, const bool *settled)
{
	double used = 0, weight = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		used += s->part[link][i] * s->rate[i];
		weight += settled[i] ? 0 : s->part[link][i];
	}
	return weight > 0 ? (s->cap[link] - used) / weight : INFINITY;
}

static void slow_fill(struct slow *s)
{
	bool settled[MAX_FLOWS] = { false };

	memset(s->rate, 0, sizeof(s->rate));
	for (;;) {
		double step = INFINITY;

		for (uint32_t l = 0; l < s->nlink; l++)
			step = fmin(step, room(s, l, settled));
		if (isinf(step))
			return;
		for (uint32_t i = 0; i < s->n; i++)
			s->rate[i] += settled[i] ? 0 : step;
		for (uint32_t l = 0; l < s->nlink; l++) {
			bool full = room(s, l, settled) < 1e-9;

			for (uint32_t i = 0; i < s->n; i++)
				settled[i] |= full && s->part[l][i] > 0;
		}
	}
}

static double slow_time(const struct slow *s, uint32_t job)
{
	double time = 0;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->job[i] == job)
			time = fmax(time, 1 / s->rate[i]);
	return time;
}

static void compare_with_slow(const struct fabric *f, const struct tables *t,
			      const struct jobset *js, uint32_t lmc)
{
	struct predict_spread spread = { f, (uint8_t)lmc };
	struct predict_opts o = { .lids = lmc ? predict_lids_spread : NULL, .lids_ctx = &spread };
	struct prediction *p = predict(f, t, js, &o);
	struct slow s;
	uint32_t j, i;

	slow_begin(&s, f, t, 1u << lmc);
	for (j = 0; j < js->njob; j++) {
		double least = 1, alone;

		if (js->jobs[j].nterm < 2)
			continue;
		slow_shift(&s, js, j);
		slow_fill(&s);
		alone = slow_time(&s, j);
		assert_near(p->job[j].alone, alone); /* a shift is ideally over after 1 */
		slow_shift(&s, js, FAB_NONE);
		slow_fill(&s);
		assert_near(p->job[j].together, slow_time(&s, j));
		assert_near(p->job[j].slowdown, slow_time(&s, j) / alone);
		for (i = 0; i < s.n; i++)
			least = s.job[i] == j ? fmin(least, s.rate[i]) : least;
		assert_near(p->job[j].rate_min, least);
		assert_int_equal(p->job[j].flows, js->jobs[j].nterm);
	}
	slow_end(&s);
	prediction_free(p);
}

static void rates_equal_those_of_a_slow_filling(void **state)
{
	struct net_opts lmc1 = { .lmc = 1 };
	struct rng r;

	(void)state;
	rng_seed(&r, 11);
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct fabric *f = net_random(seed, 6, 9, 3, &lmc1);
		struct tables *t = kit_random_trees(f, &r);
		struct jobset *js = kit_random_jobs(f, 5, 40, &r);

		for (uint32_t i = 0; i < f->nport; i++)
			f->port[i].rate_Mbps = 1000;
		/* a cable out of three is faster or slower */
		for (uint32_t c = 0; c < f->nchan; c += 3)
			f->port[f->port_off[f->chan_src[c]] + f->chan_port[c]].rate_Mbps =
				c % 2 ? 2000 : 300;
		compare_with_slow(f, t, js, seed % 2);
		jobset_put(js);
		tables_put(t);
		fabric_put(f);
	}
}

/* ---- closed forms ---- */

/* Spine by destination, as d-mod-k chooses it. */
static struct tables *dmodk(const struct fabric *f, uint32_t leaves, uint32_t spines)
{
	struct tables *t = kit_bfs(f);

	for (uint32_t term = 0; term < f->nterm; term++) {
		for (uint32_t leaf = 0; leaf < leaves; leaf++) {
			uint32_t c = kit_chan(f, leaf, leaves + term % spines);

			if (leaf != f->term_sw[term])
				tables_row(t, leaf)[f->term_lid[term]] = f->chan_port[c];
		}
	}
	return t;
}

static void every_shift_runs_at_full_rate_on_a_dmodk_tree(void **state)
{
	struct fabric *f = net_tree(6, 4, 4, NULL);
	struct tables *t = dmodk(f, 6, 4);
	struct jobset *js = one_job(f);
	struct predict_opts o = { .pattern = PREDICT_ALLTOALL, .threads = 2 };
	struct prediction *p = predict(f, t, js, &o);

	(void)state;
	assert_int_equal(p->phases, 23);
	assert_int_equal(p->job[0].flows, 23 * 24);
	assert_near(p->job[0].alone, 1);
	assert_near(p->job[0].rate_min, 1);
	assert_near(p->rate_mean, 1);
	prediction_free(p);
	o.pattern = PREDICT_RING; /* two flows a host */
	p = predict(f, t, js, &o);
	assert_near(p->job[0].alone, 1);
	assert_near(p->job[0].rate_mean, 0.5);
	prediction_free(p);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

/* First channel from a switch into a group of switches, or FAB_NONE. */
static uint32_t chan_to_group(const struct fabric *f, uint32_t sw, uint32_t group, uint32_t size)
{
	for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++)
		if (f->chan_dst[c] / size == group)
			return c;
	return FAB_NONE;
}

/* Local, global, local: never through a third group. */
static struct tables *minimal(const struct fabric *f, uint32_t size)
{
	struct tables *t = kit_bfs(f);

	for (uint32_t term = 0; term < f->nterm; term++) {
		uint32_t dsw = f->term_sw[term];

		for (uint32_t sw = 0; sw < f->nsw; sw++) {
			uint32_t gate, c = chan_to_group(f, sw, dsw / size, size);

			if (sw == dsw)
				continue;
			if (sw / size == dsw / size)
				c = kit_chan(f, sw, dsw);
			for (gate = sw / size * size; c == FAB_NONE; gate++)
				if (chan_to_group(f, gate, dsw / size, size) != FAB_NONE)
					c = kit_chan(f, sw, gate);
			tables_row(t, sw)[f->term_lid[term]] = f->chan_port[c];
		}
	}
	return t;
}

static void minimal_dragonfly_gives_the_next_group_one_cable(void **state)
{
	struct fabric *f = net_spec("dragonfly:p=2"); /* groups of 4 switches, 8 hosts */
	struct tables *t = minimal(f, 4);
	struct jobset *js = one_job(f);
	struct predict_opts o = { .pattern = PREDICT_SHIFT, .shift = 8 };
	struct prediction *p = predict(f, t, js, &o);

	(void)state;
	assert_int_equal(f->nterm, 72);
	assert_near(p->job[0].rate_min, 1.0 / 8);
	assert_near(p->job[0].rate_mean, 1.0 / 8);
	assert_near(p->job[0].alone, 8);
	assert_near(p->job[0].slowdown, 1);
	prediction_free(p);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void two_jobs_on_one_cable_get_half_each(void **state)
{
	struct fabric *f = net_chain(2, 3, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	uint64_t member[] = { 1, 2, 4, 1, 2, 4 | 8 };
	struct jobset *js;
	struct prediction *p;

	(void)state;
	member[2] = 0;
	member[5] = 4;
	js = kit_jobs(f, member, 3);
	p = predict(f, t, js, NULL);
	for (uint32_t j = 0; j < 2; j++) {
		assert_near(p->job[j].alone, 1);
		assert_near(p->job[j].together, 2);
		assert_near(p->job[j].slowdown, 2);
		assert_near(p->job[j].rate_min, 0.5);
	}
	assert_int_equal(p->job[2].ranks, 1);
	assert_int_equal(p->job[2].flows, 0);
	assert_near(p->job[2].slowdown, 1);
	assert_near(p->slowdown_mean, 2); /* of those that send */
	assert_int_equal(p->worst, 0);
	prediction_free(p);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void what_a_slowed_flow_leaves_goes_to_the_others(void **state)
{
	struct fabric *f = net_chain(3, 3, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	/* three cross the first cable, one of them and one more the second */
	uint64_t member[] = { 1, 2, 4, 1, 2, 8, 4, 8, 0 };
	struct jobset *js = kit_jobs(f, member, 4);
	struct prediction *p = predict(f, t, js, NULL);

	(void)state;
	assert_near(p->job[0].rate_min, 1.0 / 3);
	assert_near(p->job[1].rate_min, 1.0 / 3);
	assert_near(p->job[2].rate_min, 1.0 / 3);
	assert_near(p->job[3].rate_min, 2.0 / 3);
	assert_near(p->slowdown_max, 3);
	prediction_free(p);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void no_pattern_slows_a_job_on_one_switch(void **state)
{
	struct fabric *f = net_chain(1, 30, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	uint64_t member[30] = { 0 };
	struct jobset *js;
	int pattern;

	(void)state;
	for (uint32_t i = 0; i < 30; i++)
		member[i] = i < 12 ? 1 : 2;
	js = kit_jobs(f, member, 2);
	for (pattern = PREDICT_SHIFT; pattern <= PREDICT_STENCIL3; pattern++) {
		struct predict_opts o = { .pattern = (enum predict_pattern)pattern };
		struct prediction *p = predict(f, t, js, &o);

		for (uint32_t j = 0; j < 2; j++) {
			assert_near(p->job[j].alone, 1);
			assert_near(p->job[j].together, 1);
			assert_true(p->job[j].slowdown >= 1);
			assert_true(p->job[j].flows > 0);
		}
		prediction_free(p);
	}
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void stencil_fits_a_torus_of_its_shape(void **state)
{
	struct fabric *f = net_torus(6, 4, 1, NULL);
	struct tables *t = kit_bfs(f);
	struct jobset *js = one_job(f);
	struct predict_opts o = { .pattern = PREDICT_STENCIL2 };
	struct prediction *p = predict(f, t, js, &o);

	(void)state;
	/* four flows leave a host, each over a cable of its own */
	assert_int_equal(p->job[0].flows, 4 * 24);
	assert_near(p->job[0].rate_min, 0.25);
	assert_near(p->job[0].rate_mean, 0.25);
	assert_near(p->job[0].alone, 1);
	prediction_free(p);
	o.pattern = PREDICT_STENCIL3; /* 4 x 3 x 2: the side of two has one neighbour */
	p = predict(f, t, js, &o);
	assert_int_equal(p->job[0].flows, 5 * 24);
	assert_near(p->job[0].rate_min * 5, 1 / p->job[0].alone);
	prediction_free(p);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void jobs_on_the_same_hosts_share_their_cables(void **state)
{
	struct fabric *f = net_chain(1, 4, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	uint64_t member[] = { 3, 3, 2, 2 };
	struct jobset *js = kit_jobs(f, member, 2);
	struct prediction *p = predict(f, t, js, NULL);

	(void)state;
	assert_int_equal(js->jobs[0].nterm, 4);
	assert_near(p->job[0].alone, 1);
	assert_near(p->job[1].alone, 1);
	assert_near(p->job[1].slowdown, 2);
	assert_near(p->job[0].slowdown, 2);
	prediction_free(p);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

/* Two switches with a cable between them, and hosts with one port on each. */
static struct fabric *two_planes(uint32_t hosts)
{
	struct freeze_opts opts = { .name = "planes", .assign_lids = true };
	struct builder *b = builder_new();
	uint32_t sw[2], ca, port, i;
	struct fabric *f;
	struct err err;

	for (i = 0; i < 2; i++)
		assert_int_equal(
			builder_node(&sw[i], b, NODE_SWITCH, 0x2000 + 16 * i, 64, "S", &err), 0);
	assert_int_equal(builder_link(b, sw[0], 60, sw[1], 60, &err), 0);
	for (i = 0; i < hosts; i++) {
		char desc[16];

		snprintf(desc, sizeof(desc), "n%u HCA-1", hosts - i);
		assert_int_equal(builder_node(&ca, b, NODE_CA, 0x100000 + 16 * i, 2, desc, &err),
				 0);
		for (port = 1; port <= 2; port++) {
			assert_int_equal(
				builder_port_guid(b, ca, port, 0x100000 + 16 * i + port, &err), 0);
			assert_int_equal(builder_link(b, ca, port, sw[port - 1], i + 1, &err), 0);
		}
	}
	assert_int_equal(builder_freeze(&f, b, &opts, &err), 0);
	builder_free(b);
	return f;
}

static void rails_of_a_node_stay_on_their_planes(void **state)
{
	struct fabric *f = two_planes(5);
	struct tables *t = kit_bfs(f);
	struct jobset *js = one_job(f);
	struct predict_opts o = { .pattern = PREDICT_ALLTOALL };
	struct prediction *p = predict(f, t, js, &o);

	(void)state;
	assert_int_equal(p->job[0].ranks, 5);
	assert_int_equal(p->phases, 4);
	assert_int_equal(p->job[0].flows, 4 * 10);
	assert_near(p->job[0].alone, 1); /* the cable between the planes is not used */
	prediction_free(p);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void flows_without_a_way_are_counted_and_left_out(void **state)
{
	struct fabric *f = net_chain(2, 2, FAB_NONE, NULL);
	struct tables *t = kit_bfs(f);
	struct jobset *js = one_job(f);
	struct prediction *p;

	(void)state;
	tables_row(t, 0)[f->term_lid[2]] = FAB_NO_PORT;
	p = predict(f, t, js, NULL);
	assert_int_equal(p->job[0].stranded, 1);
	assert_int_equal(p->job[0].flows, 3);
	assert_near(p->job[0].together, 2);
	assert_near(p->job[0].rate_mean, (1 + 0.5 + 0.5) / 3);
	prediction_free(p);
	for (uint32_t i = 0; i < f->nterm; i++)
		tables_row(t, f->term_sw[i])[f->term_lid[i]] = FAB_NO_PORT;
	p = predict(f, t, js, NULL);
	assert_int_equal(p->job[0].stranded, 4);
	assert_int_equal(p->job[0].flows, 0);
	assert_near(p->job[0].slowdown, 1);
	assert_int_equal(p->worst, FAB_NONE);
	prediction_free(p);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void sampled_shifts_come_near_all_of_them(void **state)
{
	struct fabric *f = net_random(5, 16, 30, 6, NULL);
	struct tables *t = kit_bfs(f);
	struct jobset *js = one_job(f);
	struct predict_opts o = { .pattern = PREDICT_ALLTOALL, .phases = 1000, .seed = 3 };
	struct prediction *all = predict(f, t, js, &o), *some;

	(void)state;
	assert_int_equal(all->phases, f->nterm - 1);
	o.phases = all->phases / 3;
	some = predict(f, t, js, &o);
	assert_int_equal(some->phases, o.phases);
	assert_true(fabs(some->job[0].alone / all->job[0].alone - 1) < 0.15);
	assert_true(some->job[0].alone != all->job[0].alone);
	prediction_free(all);
	prediction_free(some);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void assert_same_prediction(const struct prediction *a, const struct prediction *b)
{
	for (uint32_t j = 0; j < a->njob; j++) {
		assert_true(a->job[j].alone == b->job[j].alone);
		assert_true(a->job[j].together == b->job[j].together);
		assert_true(a->job[j].rate_mean == b->job[j].rate_mean);
		assert_int_equal(a->job[j].flows, b->job[j].flows);
	}
	assert_true(a->slowdown_mean == b->slowdown_mean);
}

static void threads_do_not_change_a_bit(void **state)
{
	struct fabric *f = net_random(9, 20, 40, 6, NULL);
	struct tables *t = kit_bfs(f);
	struct predict_opts o = { .pattern = PREDICT_ALLTOALL, .seed = 1, .threads = 1 };
	struct prediction *one, *p;
	struct jobset *js;
	struct rng r;

	(void)state;
	rng_seed(&r, 2);
	js = kit_random_jobs(f, 9, 20, &r);
	one = predict(f, t, js, &o);
	for (o.threads = 2; o.threads < 5; o.threads++) {
		p = predict(f, t, js, &o);
		assert_same_prediction(one, p);
		prediction_free(p);
	}
	prediction_free(one);
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void jobs_without_a_node_in_the_fabric_send_nothing(void **state)
{
	struct fabric *f = net_ring(3, 2, NULL);
	struct jobset_builder *b = jobset_builder_new(f, "test");
	struct tables *t = kit_bfs(f);
	const char *stranger = "elsewhere";
	struct jobset *js;

	(void)state;
	jobset_builder_add(b, &(struct job){ .id = 7 }, &stranger, 1);
	js = jobset_build(b);
	for (int k = PREDICT_SHIFT; k <= PREDICT_STENCIL3; k++) {
		struct predict_opts o = { .pattern = (enum predict_pattern)k };
		struct prediction *p = predict(f, t, js, &o);

		assert_int_equal(p->njob, 1);
		assert_int_equal(p->job[0].flows, 0);
		assert_int_equal(p->worst, FAB_NONE);
		assert_near(p->slowdown_max, 1);
		prediction_free(p);
	}
	jobset_put(js);
	tables_put(t);
	fabric_put(f);
}

static void cancel_and_foreign_input_are_refused(void **state)
{
	struct fabric *f = net_chain(2, 4, FAB_NONE, NULL), *g = net_ring(3, 2, NULL);
	struct tables *t = kit_bfs(f);
	struct jobset *js = one_job(f), *other = one_job(g);
	struct progress progress = { 0 };
	struct prediction *p;
	struct err err;

	(void)state;
	assert_int_equal(predict_jobs(&p, g, t, other, NULL, NULL, &err), -EINVAL);
	assert_int_equal(predict_jobs(&p, f, t, other, NULL, NULL, &err), -EINVAL);
	atomic_store(&progress.cancel, true);
	assert_int_equal(predict_jobs(&p, f, t, js, NULL, &progress, &err), -ECANCELED);
	assert_null(p);
	jobset_put(js);
	jobset_put(other);
	tables_put(t);
	fabric_put(f);
	fabric_put(g);
}

static void patterns_have_names(void **state)
{
	enum predict_pattern p;
	struct err err;
	int i;

	(void)state;
	for (i = PREDICT_SHIFT; i <= PREDICT_STENCIL3; i++) {
		const char *name = predict_pattern_name((enum predict_pattern)i);

		assert_int_equal(predict_pattern_parse(&p, name, &err), 0);
		assert_int_equal(p, i);
	}
	assert_int_equal(predict_pattern_parse(&p, "spiral", &err), -EINVAL);
	assert_non_null(strstr(err.text, "stencil2d"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_equal_those_of_a_slow_filling),
		cmocka_unit_test(every_shift_runs_at_full_rate_on_a_dmodk_tree),
		cmocka_unit_test(minimal_dragonfly_gives_the_next_group_one_cable),
		cmocka_unit_test(two_jobs_on_one_cable_get_half_each),
		cmocka_unit_test(what_a_slowed_flow_leaves_goes_to_the_others),
		cmocka_unit_test(no_pattern_slows_a_job_on_one_switch),
		cmocka_unit_test(stencil_fits_a_torus_of_its_shape),
		cmocka_unit_test(jobs_on_the_same_hosts_share_their_cables),
		cmocka_unit_test(rails_of_a_node_stay_on_their_planes),
		cmocka_unit_test(flows_without_a_way_are_counted_and_left_out),
		cmocka_unit_test(sampled_shifts_come_near_all_of_them),
		cmocka_unit_test(jobs_without_a_node_in_the_fabric_send_nothing),
		cmocka_unit_test(threads_do_not_change_a_bit),
		cmocka_unit_test(cancel_and_foreign_input_are_refused),
		cmocka_unit_test(patterns_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
