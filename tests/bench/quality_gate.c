/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * quality_gate: does sar, from dfsssp's tables, make any pattern or job slower?
 *
 *   quality_gate UPDATES NAME=NET...
 *
 * Each net with eleven mixes of jobs (quality_jobs.h).  After so many updates of 5 % of the blocks,
 * or fewer where one changes nothing, by how much the time of jobs has risen in each pattern since
 * dfsssp's tables, in percent, and that of the job that suffers most in an all-to-all.  Ends with 1
 * where a pattern has risen by more than 2 %, beyond what was drawn.
 */
#include "tests/bench/bench_kit.h"
#include "tests/bench/quality_jobs.h"

#include "console/input/load/load_fabric.h"
#include "engines/engine.h"
#include "engines/time/time_gate.h"
#include "engines/time/time_memo.h"
#include "fabric/model/tables/tables_diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUDGET 0.05
#define VLS    15

/* As many draws of each placement. */
static const uint64_t draws[PLACEMENTS] = { 3, 3, 3, 2 };

struct tally {
	uint32_t cases, slower, jobs;
	double all; /* sum over the cases: time of an all-to-all, after over before */
};

static int route(struct tables **out, const char *name, const struct fabric *f,
		 const struct jobset *jobs, const struct tables *current, struct time_memo *memo,
		 struct err *err)
{
	struct engine_params params = {
		.vls = VLS, .current = current, .memo = memo, .sar_change = current ? BUDGET : 0
	};

	return engine_run(engine_find(name, err), out, f, jobs, NULL, &params, NULL, err);
}

/* *t: dfsssp's, then what updates make of them. */
static int update(struct tables **t, uint32_t *made, uint32_t updates, const struct fabric *f,
		  const struct jobset *jobs, struct err *err)
{
	struct time_memo *memo = time_memo_new();
	int rc = 0;

	for (*made = 0; *made < updates && !rc; ++*made) {
		struct tables *next;
		struct tables_diff *d;
		bool rests;

		rc = route(&next, "sar", f, jobs, *t, memo, err);
		if (rc)
			break;
		d = tables_diff_new(f, *t, next);
		rests = !d->nblocks;
		tables_diff_free(d);
		tables_put(*t);
		*t = next;
		if (rests)
			break;
	}
	time_memo_put(memo);
	return rc;
}

static void show(const char *net, enum placement how, uint64_t draw, uint32_t made,
		 const struct time_gate *g)
{
	char text[300];

	printf("%-14s %-12s %llu %3u", net, quality_placements[how], (unsigned long long)draw,
	       made);
	for (int p = 0; p < PREDICT_PATTERNS; p++)
		printf(" %+6.1f", 100 * time_change_rise(&g->of[p]));
	printf("  %+6.1f  %s\n", 100 * time_change_rise(&g->job_time),
	       time_gate_text(text, sizeof(text), g));
	fflush(stdout);
}

static int judge(struct tally *sum, const char *net, const struct fabric *f, enum placement how,
		 uint64_t draw, uint32_t updates, struct err *err)
{
	struct jobset *jobs = quality_place_jobs(f, how, draw);
	struct tables *before = NULL, *t = NULL;
	struct time_gate gate;
	uint32_t made = 0;
	int rc = route(&before, "dfsssp", f, jobs, NULL, NULL, err);

	if (!rc) {
		t = (struct tables *)tables_get(before);
		rc = update(&t, &made, updates, f, jobs, err);
	}
	if (!rc)
		rc = time_gate_compute(&gate, f, before, t, jobs, NULL, NULL, err);
	if (!rc) {
		show(net, how, draw, made, &gate);
		sum->cases++;
		sum->slower += gate.pattern_slower;
		sum->jobs += gate.jobs_slower > 0;
		sum->all += 1 + time_change_rise(&gate.of[PREDICT_ALLTOALL]);
	}
	tables_put(before);
	tables_put(t);
	jobset_put(jobs);
	return rc;
}

static int judge_net(struct tally *sum, const char *name, const char *spec, uint32_t updates,
		     struct err *err)
{
	struct fabric *f = NULL;
	int rc = load_fabric_lmc(&f, spec, NULL, NULL, -1, err);

	if (rc)
		return rc;
	quality_check_names(name, f);
	for (int how = 0; how < PLACEMENTS && !rc; how++)
		for (uint64_t draw = 0; draw < draws[how] && !rc; draw++)
			rc = judge(sum, name, f, (enum placement)how, draw, updates, err);
	fabric_put(f);
	return rc;
}

int main(int argc, char **argv)
{
	struct err err = { "usage: quality_gate UPDATES NAME=NET..." };
	struct tally sum = { 0 };
	int rc = argc < 3 ? -1 : 0;

	printf("%-14s %-12s %s", "", "jobs", "draw updates");
	for (int p = 0; p < PREDICT_PATTERNS; p++)
		printf(" %s", predict_pattern_name((enum predict_pattern)p));
	printf("  job; %% that the time has risen\n");
	for (int i = 2; i < argc && !rc; i++) {
		char *is = strchr(argv[i], '=');

		rc = is ? 0 : -1;
		if (is) {
			*is = '\0';
			rc = judge_net(&sum, argv[i], is + 1, (uint32_t)atoi(argv[1]), &err);
		}
	}
	if (rc)
		fprintf(stderr, "quality_gate: %s\n", err.text);
	else
		printf("%u cases: time of an all-to-all %.3f of dfsssp's, a pattern slower in %u, a "
		       "job in %u\n",
		       sum.cases, sum.all / sum.cases, sum.slower, sum.jobs);
	return rc || sum.slower;
}
