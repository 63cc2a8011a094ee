/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a failure costs, against paths that are walked and times that are measured again. */
#include "engines/weak/failure_cost.h"

#include "engines/metrics/metrics.h"
#include "engines/time/job_time.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/later_state.h"
#include "tests/unit/kit/route_check.h"
#include "tests/unit/kit/small_net.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Jobs 1, 2, ... of that many neighbouring hosts each. */
static struct jobset *jobs_of(const struct fabric *f, uint32_t nodes)
{
	struct jobset_builder *b = jobset_builder_new(f, "test");
	const char **names = xcalloc(nodes, sizeof(*names));

	for (uint32_t j = 0; (j + 1) * nodes <= f->nterm; j++) {
		char none[] = "";
		struct job head = {
			.id = j + 1, .name = none, .user = none, .nodes = none, .nnodes = nodes
		};

		for (uint32_t i = 0; i < nodes; i++)
			names[i] = f->term_name[j * nodes + i];
		jobset_builder_add(b, &head, names, nodes);
	}
	free(names);
	return jobset_build(b);
}

/* Does the path of before lead over that channel, either way? */
static bool over(const struct fabric *f, const struct tables *t, uint32_t a, uint32_t b,
		 uint32_t chan)
{
	uint32_t sw = f->term_sw[a];

	while (sw != f->term_sw[b]) {
		uint32_t c = fabric_chan(f, sw, tables_row(t, sw)[f->term_lid[b]]);

		if (c == chan || c == f->chan_rev[chan])
			return true;
		sw = f->chan_dst[c];
	}
	return false;
}

static uint32_t touched(const struct fabric *f, const struct tables *t, const struct jobset *jobs,
			uint32_t chan)
{
	uint32_t n = 0;

	for (uint32_t j = 0; j < jobs->njob; j++) {
		const struct job *job = &jobs->jobs[j];
		bool any = false;

		for (uint32_t i = 0; i < job->nterm; i++)
			for (uint32_t k = 0; k < job->nterm; k++)
				any |= over(f, t, job->terms[i], job->terms[k], chan);
		n += any;
	}
	return n;
}

/* As view 6 counts them. */
static uint64_t unreachable(const struct fabric *now, const struct fabric *f,
			    const struct tables *t)
{
	struct endports *ends = endports_of(f);
	struct carry_report since;
	struct tables *stands;
	struct metrics *m;
	uint64_t n;

	assert_int_equal(tables_carry(&stands, now, t, ends, &since, NULL), 0);
	assert_int_equal(metrics_compute(&m, now, stands, NULL, NULL, NULL, NULL), 0);
	n = m->unreachable;
	metrics_free(m);
	tables_put(stands);
	endports_put(ends);
	return n;
}

static double time_of(const struct fabric *f, const struct tables *t, const struct jobset *jobs)
{
	struct job_time_opts opts = { .pattern = PREDICT_ALLTOALL, .seed = 1 };
	struct job_times *times;
	double mean;

	assert_int_equal(job_times_compute(&times, f, t, jobs, &opts, NULL, NULL), 0);
	mean = times->mean.mean;
	job_times_free(times);
	return mean;
}

static void a_cable_costs_what_walking_finds(void **state)
{
	static const char *const nets[] = { "fattree2:leaves=6,spines=4,hosts=4",
					    "torus:dims=4x4,hosts=2", "dragonfly:p=2" };

	(void)state;
	for (size_t i = 0; i < sizeof(nets) / sizeof(*nets); i++) {
		struct fabric *net = net_spec(nets[i]), *f = later_state(net, &LATER_NOTHING), *now;
		struct engine_params params = { .seed = 1, .threads = 1 };
		struct tables *t = must_route(engine_find("nue", NULL), f, NULL, &params);
		struct jobset *jobs = jobs_of(f, 5);
		struct failure x = { .was = f, .t = t, .jobs = jobs, .threads = 1 };
		uint32_t c = later_cable(f, i);
		struct failure_cost cost;
		char text[300];

		x.now = now = later_without(f, &c, 1);
		assert_int_equal(failure_cost_find(&cost, &x, NULL, NULL), 0);
		assert_string_equal(cost.why, "");
		assert_int_equal(cost.since.cables_away, 1);
		assert_int_equal(cost.touched, touched(f, t, jobs, c));
		for (uint32_t n = 1; n < cost.touched && n < FAILURE_IDS; n++)
			assert_true(cost.ids[n] > cost.ids[n - 1]);
		assert_int_equal(cost.lost, unreachable(now, f, t));
		assert_true(cost.lost > 0 && cost.changed > 0);
		assert_true(fabs(cost.before - time_of(f, t, jobs)) < 1e-9);
		assert_true(cost.after > 1);
		assert_true(cost.more > 0 && cost.most_is > cost.most_was);
		failure_cost_text(text, sizeof(text), &cost);
		assert_non_null(strstr(text, "1 cable gone ("));
		assert_non_null(strstr(text, " touched"));
		failure_cost_repair_text(text, sizeof(text), &cost, now);
		assert_non_null(strstr(text, " LFT entries: time of jobs "));
		assert_non_null(strstr(text, " before"));
		jobset_put(jobs);
		tables_put(t);
		fabric_put(now);
		fabric_put(f);
		fabric_put(net);
	}
}

/* Their jobs are touched, even where no path of others breaks; without jobs shifts are measured. */
static void a_host_and_a_switch(void **state)
{
	struct fabric *net = net_spec("torus:dims=4x4,hosts=2"), *now;
	struct fabric *f = later_state(net, &LATER_NOTHING);
	struct engine_params params = { .seed = 1, .threads = 1 };
	struct tables *t = must_route(engine_find("dfsssp", NULL), f, NULL, &params);
	struct jobset *jobs = jobs_of(f, 4);
	struct failure x = { .was = f, .t = t, .jobs = jobs, .threads = 1 };
	struct later how = LATER_NOTHING;
	struct failure_cost cost;
	char text[300], gone[100];

	(void)state;
	how.end_gone = 9;
	x.now = now = later_state(f, &how);
	assert_int_equal(failure_cost_find(&cost, &x, NULL, NULL), 0);
	assert_int_equal(cost.touched, 1);
	assert_int_equal(cost.lost, 0);
	assert_int_equal(cost.changed, 0);
	fabric_put(now);
	failure_cost_text(text, sizeof(text), &cost);
	snprintf(gone, sizeof(gone), "1 host port gone (%s): ", f->term_name[9]);
	if (strstr(text, gone) != text)
		fail_msg("%s", text);
	how = LATER_NOTHING;
	how.sw_gone = 5;
	x.now = now = later_state(f, &how);
	x.jobs = NULL;
	assert_int_equal(failure_cost_find(&cost, &x, NULL, NULL), 0);
	assert_int_equal(cost.since.switches_away, 1);
	assert_true(cost.lost > 0 && cost.after > 1);
	failure_cost_text(text, sizeof(text), &cost);
	assert_null(strstr(text, "job"));
	snprintf(gone, sizeof(gone), "1 switch gone, 2 host ports gone (%s, ", f->sw_short[5]);
	if (strstr(text, gone) != text)
		fail_msg("%s", text);
	failure_cost_repair_text(text, sizeof(text), &cost, now);
	assert_non_null(strstr(text, ": time of shifts "));
	fabric_put(now);
	jobset_put(jobs);
	tables_put(t);
	fabric_put(f);
	fabric_put(net);
}

/* Nothing can be repaired then, and that is said. */
static void a_fabric_that_falls_apart(void **state)
{
	struct fabric *net = net_chain(4, 3, FAB_NONE, NULL), *f = later_state(net, &LATER_NOTHING);
	struct tables *t = must_route(engine_find("updn", NULL), f, NULL, NULL);
	struct failure x = { .was = f, .t = t };
	struct failure_cost cost;
	struct fabric *now;
	uint32_t c = f->chan_off[1];
	char text[300];

	(void)state;
	x.now = now = later_without(f, &c, 1);
	assert_int_equal(failure_cost_find(&cost, &x, NULL, NULL), 0);
	assert_string_not_equal(cost.why, "");
	assert_true(isnan(cost.after));
	failure_cost_repair_text(text, sizeof(text), &cost, now);
	assert_non_null(strstr(text, "no repair: "));
	fabric_put(now);
	tables_put(t);
	fabric_put(f);
	fabric_put(net);
}

/* What an SM has written since is measured as it is, if it loses no path. */
static void what_was_written_since_is_told_as_it_is(void **state)
{
	struct fabric *net = net_spec("fattree2:leaves=6,spines=4,hosts=4"), *now;
	struct fabric *f = later_state(net, &LATER_NOTHING);
	struct tables *t = must_route(engine_find("updn", NULL), f, NULL, NULL), *by;
	struct jobset *jobs = jobs_of(f, 5), *jobs_now;
	struct failure x = { .was = f, .t = t, .jobs = jobs, .threads = 1 };
	uint32_t c = later_cable(f, 0);
	struct failure_cost cost, of_repair;
	char text[300];

	(void)state;
	x.now = now = later_without(f, &c, 1);
	jobs_now = jobset_on(jobs, f, now);
	assert_int_equal(failure_cost_find(&of_repair, &x, NULL, NULL), 0);
	assert_false(of_repair.repaired);
	x.by = by = must_route(engine_find("minhop", NULL), now, NULL, NULL);
	assert_int_equal(failure_cost_find(&cost, &x, NULL, NULL), 0);
	assert_true(cost.repaired);
	assert_true(cost.lost > 0 && cost.lost == of_repair.lost);
	assert_int_equal(cost.touched, of_repair.touched);
	assert_true(cost.changed >= of_repair.changed);
	assert_true(fabs(cost.after - time_of(now, by, jobs_now)) < 1e-9);
	failure_cost_repair_text(text, sizeof(text), &cost, now);
	assert_true(!strncmp(text, "repaired by the subnet manager, ", 32));
	/* one that it has not written yet */
	tables_row(by, 0)[now->term_lid[now->nterm - 1]] = FAB_NO_PORT;
	assert_int_equal(failure_cost_find(&cost, &x, NULL, NULL), 0);
	assert_false(cost.repaired);
	assert_int_equal(cost.changed, of_repair.changed);
	tables_put(by);
	jobset_put(jobs_now);
	jobset_put(jobs);
	tables_put(t);
	fabric_put(now);
	fabric_put(f);
	fabric_put(net);
}

static void ids_of_jobs_are_told_where_they_are_few(void **state)
{
	struct failure_cost c = { .touched = 2, .ids = { 3, 17 } };
	char text[80];

	(void)state;
	assert_string_equal(failure_cost_ids(text, sizeof(text), &c), "3, 17");
	c.touched = 4;
	assert_string_equal(failure_cost_ids(text, sizeof(text), &c), "3, ...");
	c.touched = 0;
	assert_string_equal(failure_cost_ids(text, sizeof(text), &c), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cable_costs_what_walking_finds),
		cmocka_unit_test(a_host_and_a_switch),
		cmocka_unit_test(what_was_written_since_is_told_as_it_is),
		cmocka_unit_test(a_fabric_that_falls_apart),
		cmocka_unit_test(ids_of_jobs_are_told_where_they_are_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
