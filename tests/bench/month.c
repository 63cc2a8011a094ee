/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * month: a history of synthetic jobs, for ibroute-top replay: jobid,start,end,nodelist.
 *
 *   month [--fabric=SPEC] [--samples=N] [--every=MINUTES] [--seed=N] [--large]
 *
 * The simulator's workload at 90 % utilisation after a day, in a mix of sizes up to 256 nodes;
 * --large: of 32 nodes and more.  It is looked at every so many minutes: a job begins and ends at
 * the first look that shows it, or does not show it any more.
 */
#include "tests/bench/bench_kit.h"

#include "fabric/base/memory/vec.h"
#include "fabric/jobs/job_list.h"
#include "fabric/sim/device/workload.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARM_UP_S 86400.0

struct month {
	const char *spec;
	uint32_t samples, every_min;
	uint64_t seed;
	bool large;
};

struct begun {
	uint64_t id;
	int64_t start_s;
	char *nodes;
	bool seen;
};

static VEC(struct begun) running;

static void print_ended(int64_t now_s)
{
	size_t n = 0;

	for (size_t i = 0; i < running.n; i++) {
		struct begun *b = &running.v[i];

		if (b->seen) {
			b->seen = false;
			running.v[n++] = *b;
			continue;
		}
		printf("%" PRIu64 ",%" PRId64 ",%" PRId64 ",%s\n", b->id, b->start_s, now_s,
		       b->nodes);
		free(b->nodes);
	}
	running.n = n;
}

static void look(const struct job_list *l, int64_t now_s)
{
	for (uint32_t j = 0; j < l->njob; j++) {
		size_t i = 0;

		while (i < running.n && running.v[i].id != l->jobs[j].id)
			i++;
		if (i == running.n)
			vec_push(&running, ((struct begun){ l->jobs[j].id, now_s,
							    xstrdup(l->jobs[j].nodes), true }));
		running.v[i].seen = true;
	}
	print_ended(now_s);
}

static int run(const struct month *m, struct err *err)
{
	/* as on the 1,408 nodes of the paper: about 100 jobs, half of them on several switches */
	static const double mix[] = { 40, 14, 8, 5, 5, 6, 6, 3.5, 1.2 };
	static const double large[] = { 0, 0, 0, 0, 0, 4, 3, 2, 1 };
	struct workload_opts opts = { .seed = m->seed, .busy = 0.9, .mean_s = 7200, .nsizes = 9 };
	struct workload *w;
	struct fabric *f;
	int64_t start_s;
	int rc = make_fabric(&f, m->spec, err);

	if (rc)
		return rc;
	opts.sizes = m->large ? large : mix;
	w = workload_new(f, &opts);
	if (!w)
		return err_set(err, -1, "%s has no two compute nodes", m->spec);
	workload_advance(w, WARM_UP_S);
	start_s = workload_now_s(w);
	printf("jobid,start,end,nodelist\n");
	for (uint32_t s = 0; s < m->samples; s++) {
		const struct job_list *l = workload_jobs(w);

		look(l, start_s + 60ll * m->every_min * s);
		job_list_put(l);
		workload_advance(w, 60.0 * m->every_min);
	}
	print_ended(start_s + 60ll * m->every_min * m->samples);
	print_ended(start_s + 60ll * m->every_min * m->samples);
	vec_free(&running);
	workload_free(w);
	fabric_put(f);
	return 0;
}

static int parse(struct month *m, int argc, char **argv)
{
	static const struct option options[] = { { "fabric", required_argument, NULL, 'f' },
						 { "samples", required_argument, NULL, 'n' },
						 { "every", required_argument, NULL, 'e' },
						 { "seed", required_argument, NULL, 's' },
						 { "large", no_argument, NULL, 'l' },
						 { NULL, 0, NULL, 0 } };
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 'f')
			m->spec = optarg;
		else if (opt == 'n')
			m->samples = (uint32_t)strtoul(optarg, NULL, 10);
		else if (opt == 'e')
			m->every_min = (uint32_t)strtoul(optarg, NULL, 10);
		else if (opt == 's')
			m->seed = strtoull(optarg, NULL, 10);
		else if (opt == 'l')
			m->large = true;
		else
			return -1;
	}
	return optind < argc ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct month m = {
		.spec = "xgft:h=3,m=16x8x11,w=1x9x8", .samples = 300, .every_min = 10, .seed = 1
	};
	struct err err = {
		"usage: month [--fabric=SPEC] [--samples=N] [--every=MINUTES] [--seed=N] "
		"[--large]"
	};
	int rc = parse(&m, argc, argv);

	if (!rc)
		rc = run(&m, &err);
	if (rc)
		fprintf(stderr, "month: %s\n", err.text);
	return rc != 0;
}
