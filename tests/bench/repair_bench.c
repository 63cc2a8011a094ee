/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * repair_bench: what failures cost after repair, beside routing again.
 *
 *   repair_bench CABLES[,SWITCHES[,CARDS]] ENGINE[,ENGINE...] SPEC|FILE...
 *
 * Medians over so many cables, switches and line cards (half the cables of a switch), drawn by a
 * fixed seed, each out on its own and back again, and at last a hundredth of all cables, one after
 * the other, beside a fresh routing of what is left; one thread; CPU ms.  The tables, and what is
 * kept with them for repairs and for verdicts, are there before ("kept": what making it took);
 * reading files is not in it.
 */
#include "tests/bench/bench_kit.h"

#include "engines/engine_spec.h"
#include "engines/predict/predict.h"
#include "engines/repair/repairer.h"
#include "engines/time/shift_time.h"
#include "engines/verify/kept/kept_verdict.h"
#include "engines/verify/verify.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/without.h"
#include "tests/unit/kit/cable_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BISECTIONS 20
#define SHIFTS	   64

enum figure {
	REPAIR_MS,
	VERIFY_MS,
	BOTH_MS,
	NEEDED,
	CHANGED,
	RATIO,
	BLOCKS,
	VLS_MORE,
	BACK_MS,
	BACK_VERIFY_MS,
	FIGURES
};

struct losses {
	const struct fabric *f;
	const char *name, *engine;
	const struct engine_spec *spec;
	const struct tables *t;
	struct repairer *r;
	struct kept_verdict *k;
	struct cable_events e;
	struct entry_changes changes;
	double kept_ms, proof_ms, route_ms;
	double *of[FIGURES];
	uint32_t n, bad;
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

static double quantile(double *v, uint32_t n, double q)
{
	qsort(v, n, sizeof(*v), ascending);
	return n ? v[(uint32_t)(q * (n - 1))] : 0;
}

static double median(const struct losses *x, enum figure i)
{
	return quantile(x->of[i], x->n, .5);
}

static int by_block(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

/* Blocks of 64 LIDs that have to be written. */
static uint32_t blocks_of(const struct entry_changes *c)
{
	uint64_t *block = xcalloc(c->n, sizeof(*block));
	uint32_t n = 0, blocks = 0;

	for (uint32_t i = 0; i < c->n; i++)
		if (c->list[i].port != c->list[i].port_was)
			block[n++] = (uint64_t)c->list[i].sw << 16 | c->list[i].lid / LFT_BLOCK;
	qsort(block, n, sizeof(*block), by_block);
	for (uint32_t i = 0; i < n; i++)
		blocks += !i || block[i] != block[i - 1];
	free(block);
	return blocks;
}

static double judge(struct losses *x, bool *fine)
{
	double start = cpu_ms();

	*fine = kept_verdict_update(x->k, repairer_tables(x->r), x->e.down, &x->changes);
	return cpu_ms() - start;
}

/* All cables there again, and all paths where they were. */
static bool get_back(struct losses *x)
{
	struct repair_report report;
	double start = cpu_ms(), done;
	struct err err;
	bool fine;

	cable_events_all_back(&x->e);
	x->changes.n = 0;
	if (repairer_update(x->r, x->e.down, &x->changes, &report, &err))
		return false;
	done = cpu_ms() - start;
	x->of[BACK_VERIFY_MS][x->n] = judge(x, &fine);
	start = cpu_ms();
	x->changes.n = 0;
	repairer_move_back(x->r, 0, &x->changes, &report);
	x->of[BACK_MS][x->n] = done + cpu_ms() - start;
	if (!fine || report.away)
		return false;
	x->of[BACK_VERIFY_MS][x->n] += judge(x, &fine);
	return fine;
}

static bool lose(struct losses *x)
{
	struct repair_report report;
	double start = cpu_ms(), both;
	struct err err;
	bool fine;

	x->changes.n = 0;
	if (repairer_update(x->r, x->e.down, &x->changes, &report, &err)) {
		fprintf(stderr, "%s: %s\n", x->name, err.text);
		return false;
	}
	both = x->of[REPAIR_MS][x->n] = cpu_ms() - start;
	both += x->of[VERIFY_MS][x->n] = judge(x, &fine);
	x->of[BOTH_MS][x->n] = both;
	x->of[NEEDED][x->n] = (double)report.needed;
	x->of[CHANGED][x->n] = (double)report.changed;
	x->of[RATIO][x->n] = report.needed ? (double)report.changed / (double)report.needed : 1;
	x->of[BLOCKS][x->n] = blocks_of(&x->changes);
	x->of[VLS_MORE][x->n] = (double)repairer_tables(x->r)->vls - (double)x->t->vls;
	return fine && get_back(x);
}

static void print_losses(struct losses *x, const char *what)
{
	printf("%-30s %-7s %-6s %3u  repair %6.1f ms  verify %6.1f ms  both %6.1f (90 %%: %6.1f)  "
	       "needed %6.0f  changed %6.0f (x%.2f)  blocks %4.0f  VLs +%.0f  back %6.1f + %6.1f ms  "
	       "bad %u\n",
	       x->name, x->engine, what, x->n, median(x, REPAIR_MS), median(x, VERIFY_MS),
	       median(x, BOTH_MS), quantile(x->of[BOTH_MS], x->n, .9), median(x, NEEDED),
	       median(x, CHANGED), median(x, RATIO), median(x, BLOCKS), median(x, VLS_MORE),
	       median(x, BACK_MS), median(x, BACK_VERIFY_MS), x->bad);
	fflush(stdout);
}

/* Whatever failed is made again. */
static int keep(struct losses *x)
{
	struct engine_params p = { .seed = 1, .threads = 1, .current = x->t };
	double start = cpu_ms();
	struct err err;
	int rc;

	repairer_free(x->r);
	kept_verdict_free(x->k);
	x->r = NULL;
	x->k = NULL;
	rc = repairer_new(&x->r, x->f, &p, NULL, &err);
	x->kept_ms = cpu_ms() - start;
	start = cpu_ms();
	if (!rc)
		rc = kept_verdict_new(&x->k, x->f, x->t, false, NULL, &err);
	x->proof_ms = cpu_ms() - start;
	if (rc)
		printf("%-30s %-7s %s\n", x->name, x->engine, err.text);
	return rc;
}

static void lose_each(struct losses *x, enum cable_event kind, const char *what, uint32_t times)
{
	if (!times)
		return;
	for (int i = 0; i < FIGURES; i++)
		x->of[i] = xcalloc(times, sizeof(double));
	x->n = x->bad = 0;
	while (x->n + x->bad < times && cable_events_happen(&x->e, kind)) {
		if (lose(x)) {
			x->n++;
			continue;
		}
		x->bad++;
		cable_events_all_back(&x->e);
		if (keep(x))
			break;
	}
	print_losses(x, what);
	for (int i = 0; i < FIGURES; i++)
		free(x->of[i]);
}

/* Both figures of repaired tables, over those of a fresh routing. */
static void print_worn(const struct losses *x, const struct fabric *less, uint32_t cables,
		       double ms)
{
	static const struct ebb_opts eo = { .bisections = BISECTIONS, .seed = 1, .threads = 1 };
	static const struct shift_time_opts so = { .shifts = SHIFTS, .seed = 1, .threads = 1 };
	const struct tables *now = repairer_tables(x->r);
	struct engine_params p = { .seed = 1, .threads = 1 };
	struct shift_time shift[2];
	double start = cpu_ms(), fresh_ms;
	struct ebb ebb[2];
	struct tables *fresh;
	struct err err;

	engine_spec_apply(x->spec, &p);
	if (engine_run(x->spec->engine, &fresh, less, NULL, NULL, &p, NULL, &err)) {
		printf("%-30s %-7s fresh: %s\n", x->name, x->engine, err.text);
		return;
	}
	fresh_ms = cpu_ms() - start;
	if (predict_ebb(&ebb[0], less, now, &eo, NULL, &err) ||
	    predict_ebb(&ebb[1], less, fresh, &eo, NULL, &err) ||
	    shift_time_compute(&shift[0], less, now, &so, NULL, &err) ||
	    shift_time_compute(&shift[1], less, fresh, &so, NULL, &err))
		printf("%-30s %-7s %s\n", x->name, x->engine, err.text);
	else
		printf("%-30s %-7s 1 %% out, one by one: %u cables in %.1f ms  eBB %.4f of %.4f fresh "
		       "(x%.3f)  shifts' rate %.4f of %.4f (x%.3f)  VLs %u of %u  routed again in %.0f "
		       "ms\n",
		       x->name, x->engine, cables, ms, ebb[0].mean, ebb[1].mean,
		       ebb[0].mean / ebb[1].mean, shift[0].rate.mean, shift[1].rate.mean,
		       shift[0].rate.mean / shift[1].rate.mean, now->vls, fresh->vls, fresh_ms);
	fflush(stdout);
	tables_put(fresh);
}

/* A hundredth of the cables goes, one after the other. */
static void wear(struct losses *x)
{
	uint32_t cables = 0, most = x->f->nchan / 200 + 1;
	struct repair_report report;
	struct fabric *less;
	double ms = 0, start;
	struct err err;
	bool fine = true;

	while (cables < most && fine && cable_events_happen(&x->e, LOSE_CABLE)) {
		x->changes.n = 0;
		start = cpu_ms();
		fine = !repairer_update(x->r, x->e.down, &x->changes, &report, &err);
		ms += cpu_ms() - start;
		if (!fine)
			printf("%-30s %-7s cable %u: %s\n", x->name, x->engine, cables + 1,
			       err.text);
		else
			ms += judge(x, &fine);
		cables++;
	}
	less = fabric_without(x->f, x->e.down);
	if (fine)
		print_worn(x, less, cables, ms);
	fabric_put(less);
	cable_events_all_back(&x->e);
}

/* As the command line does it: the engine, with nothing kept, and the whole verifier. */
static void print_kept(const struct losses *x)
{
	double start = cpu_ms();
	struct verdict *v = NULL;

	verify_tables(&v, x->f, x->t, &(struct verify_opts){ .threads = 1 }, NULL, NULL);
	printf("%-30s %-7s routed %.0f ms, verified %.0f ms; kept for repair %.0f ms, for verdicts "
	       "%.0f ms\n",
	       x->name, x->engine, x->route_ms, cpu_ms() - start, x->kept_ms, x->proof_ms);
	verdict_free(v);
}

static void bench(const struct fabric *f, const char *name, const char *engine,
		  const uint32_t times[3])
{
	struct engine_params p = { .seed = 1, .threads = 1 };
	struct engine_spec spec;
	struct losses x = { .f = f, .name = name, .engine = engine, .spec = &spec };
	double start = cpu_ms();
	struct tables *t;
	struct err err;

	if (engine_spec_parse(&spec, engine, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}
	engine_spec_apply(&spec, &p);
	if (engine_run(spec.engine, &t, f, NULL, NULL, &p, NULL, &err)) {
		printf("%-30s %-7s %s\n", name, engine, err.text);
		return;
	}
	x.route_ms = cpu_ms() - start;
	x.t = t;
	cable_events_init(&x.e, f, 1);
	if (!keep(&x)) {
		print_kept(&x);
		lose_each(&x, LOSE_CABLE, "cable", times[0]);
		lose_each(&x, LOSE_SWITCH, "switch", times[1]);
		lose_each(&x, LOSE_CARD, "card", times[2]);
		if (x.r && x.k)
			wear(&x);
	}
	repairer_free(x.r);
	kept_verdict_free(x.k);
	entry_changes_done(&x.changes);
	cable_events_done(&x.e);
	tables_put(t);
}

int main(int argc, char **argv)
{
	uint32_t times[3] = { 0 };

	if (argc < 4) {
		fprintf(stderr, "usage: repair_bench CABLES[,SWITCHES[,CARDS]] ENGINE[,ENGINE...] "
				"SPEC|FILE...\n");
		return 2;
	}
	sscanf(argv[1], "%u,%u,%u", &times[0], &times[1], &times[2]);
	for (int i = 3; i < argc; i++) {
		char *engines = xstrdup(argv[2]);
		struct fabric *f;
		struct err err;

		if (make_fabric(&f, argv[i], &err)) {
			fprintf(stderr, "%s\n", err.text);
			return 1;
		}
		for (char *e = strtok(engines, ","); e; e = strtok(NULL, ","))
			bench(f, argv[i], e, times);
		fabric_put(f);
		free(engines);
	}
	return 0;
}
