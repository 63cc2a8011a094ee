/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * engine_bench: what engines cost and give on generated fabrics, one thread, CPU seconds.
 *
 *   engine_bench ENGINE[,ENGINE...] SPEC...
 *
 * Engines as compare names them: nue:8, sar:paper, dfdn:minhop.
 * THREADS=T in the environment takes T threads instead of 1 (CPU seconds are those of all),
 * SPREAD=K spreads the paths over K VLs, JOBS=N runs N jobs of random nodes.  gap is the longest
 * time between two reports of progress, which bounds that of a cancel.
 */
#include "tests/bench/bench_kit.h"

#include "engines/engine.h"
#include "engines/engine_spec.h"
#include "engines/metrics/metrics.h"
#include "engines/verify/verify.h"

#include "fabric/base/memory/mem.h"
#include "fabric/sim/topology/topo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct watch {
	double begin, layers, last, gap; /* layers: when that step began, 0 before */
};

static void report(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct watch *w = ctx;
	double now = cpu_s();

	(void)total;
	w->gap = now - w->last > w->gap ? now - w->last : w->gap;
	w->last = now;
	if (!done && !strcmp(step, "layers"))
		w->layers = now;
}

static int show_quality(const struct fabric *f, const struct tables *t, const struct jobset *jobs,
			unsigned threads, struct err *err)
{
	struct verify_opts opts = { .threads = threads };
	struct metrics *m;
	struct verdict *v;
	double begin = cpu_s();
	int rc = verify_tables(&v, f, t, &opts, NULL, err);

	if (rc)
		return rc;
	printf(" %8.4f %-3s", cpu_s() - begin, verdict_ok(v) ? "ok" : "BAD");
	verdict_free(v);
	rc = metrics_compute(&m, f, t, jobs, NULL, NULL, err);
	if (rc)
		return rc;
	printf(" %4u %9" PRIu64 " %7.3f", t->vls, m->efi_max, m->hops_mean);
	if (jobs)
		printf(" %6" PRIu64, m->eff_efi_max);
	metrics_free(m);
	return 0;
}

static int bench(const struct engine_spec *e, const char *spec, const struct fabric *f,
		 const struct jobset *jobs, struct err *err)
{
	const char *spread = getenv("SPREAD");
	struct engine_params params = {
		.vls = spread ? (unsigned)atoi(spread) : 15,
		.spread = spread,
		.threads = getenv("THREADS") ? (unsigned)atoi(getenv("THREADS")) : 1,
	};
	struct watch w = { .begin = cpu_s() };
	struct progress p = { .report = report, .ctx = &w };
	struct tables *t;
	struct rusage ru;
	double end;
	int rc;

	engine_spec_apply(e, &params);
	w.last = w.begin;
	rc = engine_run(e->engine, &t, f, jobs, NULL, &params, &p, err);
	end = cpu_s();
	w.gap = end - w.last > w.gap ? end - w.last : w.gap;
	printf("%-46s %5u %6u %-7s %8.4f %8.4f %6.3f", spec, f->nsw, f->nterm, e->label,
	       (w.layers > 0 ? w.layers : end) - w.begin, w.layers > 0 ? end - w.layers : 0, w.gap);
	if (rc) {
		printf(" %s\n", err->text);
		return 0;
	}
	rc = show_quality(f, t, jobs, params.threads, err);
	getrusage(RUSAGE_SELF, &ru);
	printf(" %6ld\n", ru.ru_maxrss / 1024);
	tables_put(t);
	return rc;
}

int main(int argc, char **argv)
{
	struct err err = { "usage: engine_bench ENGINE[,ENGINE...] SPEC..." };
	const char *njob = getenv("JOBS");
	int rc = argc < 3;

	printf("%-46s %5s %6s %-7s %8s %8s %6s %8s     %4s %9s %7s %6s\n", "fabric", "sw", "hosts",
	       "engine", "paths", "layers", "gap", "verify", "VLs", "max EFI", "hops",
	       njob ? "jobs' RSS MB" : "RSS MB");
	for (int i = 2; i < argc && !rc; i++) {
		char *names = xstrdup(argv[1]), *save = NULL;
		struct jobset *jobs = NULL;
		struct fabric *f = NULL;

		rc = make_fabric(&f, argv[i], &err);
		if (!rc && njob)
			jobs = make_jobs(f, (uint32_t)atoi(njob));
		for (char *n = strtok_r(names, ",", &save); n && !rc;
		     n = strtok_r(NULL, ",", &save)) {
			struct engine_spec e;

			rc = engine_spec_parse(&e, n, &err);
			rc = rc ? rc : bench(&e, argv[i], f, jobs, &err);
		}
		jobset_put(jobs);
		fabric_put(f);
		free(names);
	}
	if (rc)
		fprintf(stderr, "engine_bench: %s\n", err.text);
	return rc != 0;
}
