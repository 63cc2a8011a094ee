/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the demo's jobs get on a routing, against the time that a preview foretells. */
#include "console/session/demo.h"

#include "engines/engine.h"
#include "engines/time/job_time.h"
#include "fabric/base/memory/mem.h"
#include "fabric/sim/device/sim.h"
#include "fabric/sim/device/workload.h"
#include "fabric/sim/topology/topo.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TICK_S	  0.1
#define SECONDS	  300
#define RANKS_MIN 8 /* smaller jobs have too few exchanges to be foretold one by one */

struct world {
	struct fabric *f;
	struct sim *sim;
	struct workload *load;
	struct jobset *jobs;
	struct err err;
};

static void world_up(struct world *x, uint64_t seed)
{
	struct freeze_opts fo = { .lmc = -1, .name = "demo" };
	struct workload_opts wo = { .seed = seed };
	const struct job_list *list;
	struct builder *b = NULL;
	struct sim_opts so;

	*x = (struct world){ 0 };
	sim_opts_init(&so);
	so.virtual_clock = true;
	assert_int_equal(topo_build(&b, DEMO_SPEC, &x->err), 0);
	assert_int_equal(builder_freeze(&x->f, b, &fo, &x->err), 0);
	builder_free(b);
	assert_int_equal(sim_new(&x->sim, x->f, &so, &x->err), 0);
	x->load = workload_new(x->f, &wo);
	list = workload_jobs(x->load);
	assert_int_equal(jobset_from_list(&x->jobs, list, x->f, NULL), 0);
	job_list_put(list);
}

static void world_down(struct world *x)
{
	jobset_put(x->jobs);
	workload_free(x->load);
	sim_free(x->sim);
	fabric_put(x->f);
}

static struct tables *route(struct world *x, const char *name, const struct tables *current)
{
	const struct engine *e = engine_find(name, &x->err);
	struct engine_params params = { .current = current };
	struct tables *t;

	assert_non_null(e);
	if (engine_run(e, &t, x->f, x->jobs, NULL, &params, NULL, &x->err))
		fail_msg("%s", x->err.text);
	return t;
}

static void add_paces(const struct world *x, double *pace, const struct sim_flow *flow,
		      const double *Bps, uint32_t n)
{
	for (uint32_t j = 0; j < x->jobs->njob; j++) {
		const struct job *job = &x->jobs->jobs[j];

		for (uint32_t i = 0; i < n; i++) {
			if (flow[i].group != job->id)
				continue;
			pace[j] += Bps[i] / flow[i].Bps;
			break;
		}
	}
}

/* The share of full rate that each job has, as a mean over time. */
static void run(struct world *x, const struct tables *t, double *pace)
{
	double *Bps = xcalloc(x->f->nterm, sizeof(*Bps));
	int ticks = (int)(SECONDS / TICK_S);
	uint32_t n;

	assert_int_equal(sim_install_tables(x->sim, t, &x->err), 0);
	for (int k = 0; k < ticks; k++) {
		const struct sim_flow *flow = workload_flows(x->load, &n);

		sim_set_flows(x->sim, flow, n);
		sim_flow_rates(x->sim, Bps, n);
		add_paces(x, pace, flow, Bps, n);
		workload_send(x->load, Bps, n, TICK_S);
	}
	for (uint32_t j = 0; j < x->jobs->njob; j++)
		pace[j] /= ticks;
	free(Bps);
}

/* Measured on one routing: the time of each job, which is 1 over its pace. */
static double *as_foretold(struct world *x, const struct tables *t, struct job_times **times)
{
	struct job_time_opts o = { .pattern = PREDICT_ALLTOALL, .seed = 1 };
	double *time = xcalloc(x->jobs->njob, sizeof(*time)), sum = 0, told = 0;
	struct job_times *jt;

	assert_int_equal(job_times_compute(&jt, x->f, t, x->jobs, &o, NULL, &x->err), 0);
	run(x, t, time);
	for (uint32_t j = 0; j < jt->njob; j++) {
		time[j] = 1 / time[j];
		if (!jt->job[j].flows || jt->job[j].ranks < RANKS_MIN)
			continue;
		if (getenv("VERBOSE"))
			print_message("%u ranks: %.2f, measured %.2f\n", jt->job[j].ranks,
				      jt->job[j].time.mean, time[j]);
		assert_true(time[j] >
			    jt->job[j].time.mean / 1.4); /* others leave it more than their share */
		assert_true(time[j] < jt->job[j].time.mean * 1.2);
		sum += time[j];
		told += jt->job[j].time.mean;
	}
	assert_true(fabs(sum / told - 1) < 0.1);
	*times = jt;
	return time;
}

static void jobs_take_as_long_as_foretold_on_any_routing(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 3; seed++) {
		struct job_times *t[2];
		struct tables *now, *plan;
		struct world x;
		double *was, *is;
		uint32_t gain = 0;

		world_up(&x, seed);
		now = route(&x, "minhop", NULL);
		plan = route(&x, "sar", now);
		was = as_foretold(&x, now, &t[0]);
		is = as_foretold(&x, plan, &t[1]);
		for (uint32_t j = 0; j < x.jobs->njob; j++) {
			double told = t[0]->job[j].time.mean / t[1]->job[j].time.mean;

			if (t[0]->job[j].ranks < RANKS_MIN || told < 1.1)
				continue;
			gain++;
			/* others leave it more than their share, most where it waits longest */
			assert_true(was[j] / is[j] > told / 1.3 && was[j] / is[j] < told * 1.2);
			assert_true(was[j] > is[j]);
		}
		assert_true(gain >= 3);
		for (int i = 0; i < 2; i++)
			job_times_free(t[i]);
		free(was);
		free(is);
		tables_put(now);
		tables_put(plan);
		world_down(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_take_as_long_as_foretold_on_any_routing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
