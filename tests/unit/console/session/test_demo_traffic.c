/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the demo's jobs get on a routing, against what a preview foretells. */
#include "console/session/demo.h"

#include "engines/engine.h"
#include "engines/predict/job_rate.h"
#include "engines/predict/predict.h"
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

#define TICK_S	0.1
#define SECONDS 300
#define SAMPLES 30 /* seconds, of each side of an update, by which its effect is measured */

struct world {
	struct fabric *f;
	struct sim *sim;
	struct workload *load;
	struct jobset *jobs;
	struct err err;
};

static void world_up(struct world *x, const char *spec, uint64_t seed)
{
	struct freeze_opts fo = { .lmc = -1, .name = "demo" };
	struct workload_opts wo = { .seed = seed };
	const struct job_list *list;
	struct builder *b = NULL;
	struct sim_opts so;

	*x = (struct world){ 0 };
	sim_opts_init(&so);
	so.virtual_clock = true;
	assert_int_equal(topo_build(&b, spec, &x->err), 0);
	assert_int_equal(builder_freeze(&x->f, b, &fo, &x->err), 0);
	builder_free(b);
	assert_int_equal(sim_new(&x->sim, x->f, &so, &x->err), 0);
	wo.mean_s = x->f->nterm * 30.0; /* as of the demo, so that a seed is its seed */
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
static void run(struct world *x, const struct tables *t, int seconds, double *pace)
{
	double *Bps = xcalloc(x->f->nterm, sizeof(*Bps));
	int ticks = (int)(seconds / TICK_S);
	uint32_t n;

	assert_int_equal(sim_install_tables(x->sim, t, &x->err), 0);
	memset(pace, 0, x->jobs->njob * sizeof(*pace));
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

static double *foretold_rates(struct world *x, const struct tables *t)
{
	double *rate = xcalloc(x->jobs->njob, sizeof(*rate));
	struct job_rate_opts o = { .seed = 1 };

	assert_int_equal(job_rate_compute(rate, x->f, t, x->jobs, &o, NULL, &x->err), 0);
	return rate;
}

/* Jobs of any size, none of which is off by more than that. */
static void check_rates(struct world *x, const struct tables *t, double most)
{
	double *told = foretold_rates(x, t), *got = xcalloc(x->jobs->njob, sizeof(*got));
	uint32_t n = 0;

	run(x, t, SECONDS, got);
	for (uint32_t j = 0; j < x->jobs->njob; j++) {
		if (isnan(told[j]))
			continue;
		if (getenv("VERBOSE"))
			print_message("%u ranks: %.3f, foretold %.3f\n", x->jobs->jobs[j].nnodes,
				      got[j], told[j]);
		n++;
		assert_true(fabs(got[j] / told[j] - 1) < most);
	}
	assert_true(n >= 10);
	free(told);
	free(got);
}

static void jobs_have_the_rates_foretold_on_any_routing(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 3; seed++) {
		struct tables *now, *plan;
		struct world x;

		world_up(&x, DEMO_SPEC, seed);
		now = route(&x, "minhop", NULL);
		plan = route(&x, "sar", now);
		check_rates(&x, now, 0.08);
		check_rates(&x, plan, 0.08);
		tables_put(now);
		tables_put(plan);
		world_down(&x);
	}
}

/* The one that the Overview names. */
static uint32_t slowest_job(struct world *x, const struct tables *t)
{
	struct predict_opts o = { .pattern = PREDICT_ALLTOALL, .seed = 1 };
	struct prediction *p;
	uint32_t job;

	assert_int_equal(predict_jobs(&p, x->f, t, x->jobs, &o, NULL, &x->err), 0);
	job = p->worst;
	prediction_free(p);
	assert_int_not_equal(job, FAB_NONE);
	return job;
}

/* Measured of the slowest job over the samples before and after sar, against what is foretold. */
static double gain_against_foretold(const char *spec, uint64_t seed)
{
	struct tables *t[2];
	double *told[2], *got[2], gain;
	struct world x;
	uint32_t job;

	world_up(&x, spec, seed);
	t[0] = route(&x, "minhop", NULL);
	t[1] = route(&x, "sar", t[0]);
	job = slowest_job(&x, t[0]);
	for (int i = 0; i < 2; i++) {
		told[i] = foretold_rates(&x, t[i]);
		got[i] = xcalloc(x.jobs->njob, sizeof(*got[i]));
		run(&x, t[i], 2, got[i]);
		run(&x, t[i], SAMPLES, got[i]);
	}
	gain = got[1][job] / got[0][job];
	if (getenv("VERBOSE"))
		print_message("%u ranks, seed %lu: %.2f times, foretold %.2f\n",
			      x.jobs->jobs[job].nnodes, (unsigned long)seed, gain,
			      told[1][job] / told[0][job]);
	gain /= told[1][job] / told[0][job];
	for (int i = 0; i < 2; i++) {
		tables_put(t[i]);
		free(told[i]);
		free(got[i]);
	}
	world_down(&x);
	return gain;
}

/* Seed 5957 and those of the dragonfly are of small jobs, whose times foretell 1.61 for 2.1 times,
 * or 3.5 for 2.1. */
static void the_slowest_job_gains_what_is_foretold(void **state)
{
	static const struct {
		const char *spec;
		uint64_t seed;
	} cases[] = { { DEMO_SPEC, 2403 }, { DEMO_SPEC, 4251 },	    { DEMO_SPEC, 5957 },
		      { DEMO_SPEC, 4507 }, { "dragonfly:p=4", 79 }, { "dragonfly:p=4", 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double gain = gain_against_foretold(cases[i].spec, cases[i].seed);

		assert_true(gain > 1 / 1.2 && gain < 1.2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_have_the_rates_foretold_on_any_routing),
		cmocka_unit_test(the_slowest_job_gains_what_is_foretold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
