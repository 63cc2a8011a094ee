/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * repair_bench: what the loss of single cables costs after repair, beside routing again.
 *
 *   repair_bench CABLES ENGINE[,ENGINE...] SPEC|FILE...
 *
 * Medians over that many cables, drawn by a fixed seed, each out on its own; one thread; CPU ms.
 */
#include "tests/bench/bench_kit.h"

#include "engines/engine_spec.h"
#include "engines/verify/verify.h"
#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/tables/tables_diff.h"
#include "fabric/model/topology/without.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum figure { REPAIR_MS, VERIFY_MS, NEEDED, CHANGED, BLOCKS, VLS_MORE, FIGURES };

struct losses {
	const struct fabric *f;
	const struct engine_spec *spec;
	const struct tables *t;
	double *of[FIGURES];
	uint32_t n, bad, again;
};

static double cpu_ms(void)
{
	return 1e3 * cpu_s();
}

static int ascending(const void *x, const void *y)
{
	const double *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

static double median(double *v, uint32_t n)
{
	qsort(v, n, sizeof(*v), ascending);
	return n ? v[n / 2] : 0;
}

static double noted(const struct notes *notes, const char *key)
{
	const struct note *n = notes_find(notes, key);

	return n ? (double)n->value : 0;
}

static void judge(struct losses *x, const struct fabric *less, const struct tables *t)
{
	struct verify_opts opts = { .threads = 1 };
	struct tables_diff *diff = tables_diff_new(less, x->t, t);
	double start = cpu_ms();
	struct verdict *v;

	verify_tables(&v, less, t, &opts, NULL, NULL);
	x->of[VERIFY_MS][x->n] = cpu_ms() - start;
	x->bad += !verdict_ok(v);
	x->of[BLOCKS][x->n] = diff->nblocks;
	x->of[VLS_MORE][x->n] = (double)t->vls - (double)x->t->vls;
	verdict_free(v);
	tables_diff_free(diff);
}

static void lose(struct losses *x, const struct fabric *less)
{
	struct notes notes = { 0 };
	struct engine_params p = { .seed = 1, .threads = 1, .current = x->t, .notes = &notes };
	double start = cpu_ms();
	struct tables *t;
	struct err err;

	if (engine_run(engine_find("repair", NULL), &t, less, NULL, NULL, &p, NULL, &err)) {
		fprintf(stderr, "%s\n", err.text);
		x->bad++;
		return;
	}
	x->of[REPAIR_MS][x->n] = cpu_ms() - start;
	x->of[NEEDED][x->n] = noted(&notes, "entries_needed");
	x->of[CHANGED][x->n] = noted(&notes, "entries_changed");
	x->again += noted(&notes, "sls_assigned_again") > 0;
	judge(x, less, t);
	x->n++;
	tables_put(t);
	notes_done(&notes);
}

static void print_losses(struct losses *x, const char *spec, double route_ms)
{
	printf("%-34s %-8s routed %8.1f ms  repair %7.1f ms  verify %7.1f ms  needed %6.0f  changed "
	       "%6.0f  blocks %4.0f  VLs +%.0f  SLs again %u  bad %u of %u\n",
	       spec, x->spec->label, route_ms, median(x->of[REPAIR_MS], x->n),
	       median(x->of[VERIFY_MS], x->n), median(x->of[NEEDED], x->n),
	       median(x->of[CHANGED], x->n), median(x->of[BLOCKS], x->n),
	       median(x->of[VLS_MORE], x->n), x->again, x->bad, x->n);
	fflush(stdout);
}

static void lose_each(struct losses *x, uint32_t cables)
{
	bool *drop = xcalloc(x->f->nchan, sizeof(*drop));
	struct rng r;

	rng_seed(&r, 1);
	for (uint32_t tries = 0; x->n + x->bad < cables && tries < 10 * cables; tries++) {
		uint32_t c = (uint32_t)rng_below(&r, x->f->nchan);
		struct fabric *less;

		drop[c] = drop[x->f->chan_rev[c]] = true;
		less = fabric_without(x->f, drop);
		drop[c] = drop[x->f->chan_rev[c]] = false;
		if (fabric_connected(less))
			lose(x, less);
		fabric_put(less);
	}
	free(drop);
}

static void bench(const struct fabric *f, const char *name, const char *engine, uint32_t cables)
{
	struct engine_params p = { .seed = 1, .threads = 1 };
	struct losses x = { .f = f };
	double start = cpu_ms();
	struct engine_spec spec;
	struct tables *t;
	struct err err;

	if (engine_spec_parse(&spec, engine, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}
	engine_spec_apply(&spec, &p);
	if (engine_run(spec.engine, &t, f, NULL, NULL, &p, NULL, &err)) {
		printf("%-34s %-8s %s\n", name, engine, err.text);
		return;
	}
	start = cpu_ms() - start;
	x.spec = &spec;
	x.t = t;
	for (int i = 0; i < FIGURES; i++)
		x.of[i] = xcalloc(cables, sizeof(double));
	lose_each(&x, cables);
	print_losses(&x, name, start);
	for (int i = 0; i < FIGURES; i++)
		free(x.of[i]);
	tables_put(t);
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: repair_bench CABLES ENGINE[,ENGINE...] SPEC|FILE...\n");
		return 2;
	}
	for (int i = 3; i < argc; i++) {
		char *engines = xstrdup(argv[2]);
		struct fabric *f;
		struct err err;

		if (make_fabric(&f, argv[i], &err)) {
			fprintf(stderr, "%s\n", err.text);
			return 1;
		}
		for (char *e = strtok(engines, ","); e; e = strtok(NULL, ","))
			bench(f, argv[i], e, (uint32_t)atoi(argv[1]));
		fabric_put(f);
		free(engines);
	}
	return 0;
}
