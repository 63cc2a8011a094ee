/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads_bench: how much faster engines are with two threads than with one.
 *
 *   threads_bench TIMES ENGINE[,ENGINE...] SPEC|FILE...
 *
 * Wall-clock seconds, the least of so many runs by turns: of the paths (all before the step
 * "layers" that follows them, which assigns VLs), of all of it, and of the verdict on the tables.
 * The tables are compared: exits with 1 where a second thread changes a byte.
 * Where others use the machine, wall-clock says little: behind it are the CPU seconds of one
 * thread, and those of the busier one of two.
 */
#include "tests/bench/bench_kit.h"

#include "engines/engine.h"
#include "engines/engine_spec.h"
#include "engines/verify/verify.h"
#include "fabric/base/memory/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum part { PATHS, ALL, VERDICT, PARTS };

struct moment {
	double wall, all, own; /* own: CPU of the caller's thread */
};

struct watch {
	bool paths;	      /* they have begun: nue has its layers before */
	struct moment layers; /* when that step began after them, 0 before */
};

struct times {
	double least[PARTS];
	double cpu[PARTS]; /* likewise, of the busier thread */
};

static double wall_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct moment now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (struct moment){ wall_s(), cpu_s(), (double)t.tv_sec + 1e-9 * (double)t.tv_nsec };
}

static void report(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct watch *w = ctx;

	(void)total;
	w->paths |= !strcmp(step, "paths");
	if (!done && w->paths && !w->layers.wall && !strcmp(step, "layers"))
		w->layers = now();
}

static void keep_least(struct times *x, enum part i, struct moment a, struct moment b)
{
	double own = b.own - a.own, other = b.all - a.all - own, busier = own > other ? own : other;

	if (!x->least[i] || b.wall - a.wall < x->least[i])
		x->least[i] = b.wall - a.wall;
	if (!x->cpu[i] || busier < x->cpu[i])
		x->cpu[i] = busier;
}

static int run(struct times *x, struct tables **out, const struct engine_spec *e,
	       const struct fabric *f, unsigned threads, struct err *err)
{
	struct engine_params params = { .seed = 1, .threads = threads };
	struct watch w = { .paths = false };
	struct progress p = { .report = report, .ctx = &w };
	struct verify_opts opts = { .threads = threads };
	struct moment begin = now(), end;
	struct verdict *v;
	int rc;

	engine_spec_apply(e, &params);
	rc = engine_run(e->engine, out, f, NULL, NULL, &params, &p, err);
	end = now();
	if (rc)
		return rc;
	keep_least(x, PATHS, begin, w.layers.wall > 0 ? w.layers : end);
	keep_least(x, ALL, begin, end);
	begin = now();
	rc = verify_tables(&v, f, *out, &opts, NULL, err);
	keep_least(x, VERDICT, begin, now());
	if (!rc)
		verdict_free(v);
	return rc;
}

static void print_times(const struct times x[2])
{
	static const char *const names[] = { "paths", "all", "verdict" };
	struct rusage ru;

	for (int i = 0; i < PARTS; i++)
		printf("  %s %.3f s, %.3f s (x%.2f), CPU %.3f, %.3f (x%.2f)", names[i],
		       x[0].least[i], x[1].least[i], x[0].least[i] / x[1].least[i], x[0].cpu[i],
		       x[1].cpu[i], x[0].cpu[i] / x[1].cpu[i]);
	getrusage(RUSAGE_SELF, &ru);
	printf("  %ld MB\n", ru.ru_maxrss / 1024);
	fflush(stdout);
}

/* True: the tables were not the same. */
static bool bench(const struct engine_spec *e, const char *spec, const struct fabric *f, int times)
{
	struct times x[2] = { 0 };
	const struct tables *first = NULL;
	struct tables *t;
	bool differ = false;
	struct err err;

	printf("%-36s %6u %-10s", spec, f->nterm, e->label);
	for (int i = 0; i < 2 * times && !differ; i++) {
		if (run(&x[i % 2], &t, e, f, 1 + (unsigned)i % 2, &err)) {
			printf("  %s\n", err.text);
			tables_put(first);
			return false;
		}
		differ = first && !tables_same(first, t, f);
		if (!first)
			first = tables_get(t);
		tables_put(t);
	}
	tables_put(first);
	if (differ)
		printf("  other tables with two threads\n");
	else
		print_times(x);
	return differ;
}

int main(int argc, char **argv)
{
	struct err err = { "usage: threads_bench TIMES ENGINE[,ENGINE...] SPEC|FILE..." };
	int rc = argc < 4;
	bool differ = false;

	for (int i = 3; i < argc && !rc; i++) {
		char *names = xstrdup(argv[2]), *save = NULL;
		struct fabric *f = NULL;

		rc = make_fabric(&f, argv[i], &err);
		for (char *n = strtok_r(names, ",", &save); n && !rc;
		     n = strtok_r(NULL, ",", &save)) {
			struct engine_spec e;

			rc = engine_spec_parse(&e, n, &err);
			if (!rc)
				differ |= bench(&e, argv[i], f, atoi(argv[1]));
		}
		fabric_put(f);
		free(names);
	}
	if (rc)
		fprintf(stderr, "threads_bench: %s\n", err.text);
	return rc || differ;
}
