/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * judge_bench: what it costs to check, measure and predict, in CPU and wall seconds.
 *
 *   judge_bench THREADS ENGINE JOBS SPEC...
 *
 * gap is the longest time between two reports of progress, which bounds that of a cancel.
 * "by port" are the same tables with SL2VL that depends on the output port.
 */
#include "tests/bench/bench_kit.h"

#include "console/deadlock/deadlock_traffic.h"
#include "engines/engine.h"
#include "engines/metrics/metrics.h"
#include "engines/predict/predict.h"
#include "engines/verify/verify.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"
#include "fabric/model/tables/vl_fold.h"
#include "fabric/sim/topology/topo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct watch {
	struct progress progress;
	double cpu, wall, last, gap;
};

static void tick(struct watch *w)
{
	double now = clock_s();

	w->gap = now - w->last > w->gap ? now - w->last : w->gap;
	w->last = now;
}

static void report(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	(void)step;
	(void)done;
	(void)total;
	tick(ctx);
}

static void start(struct watch *w)
{
	*w = (struct watch){ .cpu = cpu_s(), .wall = clock_s() };
	w->last = w->wall;
	w->progress.report = report;
	w->progress.ctx = w;
}

static void stop(struct watch *w, const char *what)
{
	tick(w);
	printf("  %-18s %8.4f CPU %8.4f s, gap %.4f", what, cpu_s() - w->cpu, clock_s() - w->wall,
	       w->gap);
}

/* The VL that an SL has between switches, but VL 0 towards terminals. */
static struct tables *by_port(const struct fabric *f, const struct tables *t)
{
	struct tables *full = tables_new(f, t->engine);
	uint32_t sw, in, out, sl;

	memcpy(full->lft, t->lft, (size_t)t->nsw * t->stride);
	tables_sl_form(full, SL_BY_SWITCH, f);
	for (sw = 0; sw < f->nsw; sw++) {
		uint32_t lid, any = f->term_list[f->term_off[sw]];

		for (lid = 0; lid <= f->max_lid && f->term_off[sw] != f->term_off[sw + 1]; lid++)
			full->sl[(size_t)sw * full->stride + lid] = tables_path_sl(t, any, sw, lid);
	}
	tables_sl2vl_form(full, SL2VL_FULL, f);
	for (sw = 0; sw < f->nsw; sw++) {
		for (in = 0; in <= f->sw_nports[sw]; in++) {
			for (out = 0; out <= f->sw_nports[sw]; out++) {
				uint8_t *row = tables_sl2vl_row(full, sw, in, out);

				for (sl = 0; sl < FAB_SLS && out; sl++)
					row[sl] = fabric_chan(f, sw, (uint8_t)out) == FAB_NONE
							  ? 0
							  : tables_vl(t, f, sw, (uint8_t)in,
								      (uint8_t)out, (uint8_t)sl);
			}
		}
	}
	return full;
}

static int time_verify(const char *what, unsigned threads, const struct fabric *f,
		       const struct tables *t, struct err *err)
{
	struct verify_opts opts = { .certificate = true, .threads = threads };
	struct verdict *v;
	struct watch w;
	int rc;

	start(&w);
	rc = verify_tables(&v, f, t, &opts, &w.progress, err);
	if (rc)
		return rc;
	stop(&w, what);
	printf("  %s, %u VLs\n", verdict_ok(v) ? "ok" : "BAD", v->vls_used);
	verdict_free(v);
	return 0;
}

static int time_metrics(const char *what, unsigned threads, const struct fabric *f,
			const struct tables *t, const struct jobset *jobs, struct err *err)
{
	struct metrics_opts opts = { .threads = threads };
	struct metrics *m;
	struct watch w;
	int rc;

	start(&w);
	rc = metrics_compute(&m, f, t, jobs, &opts, &w.progress, err);
	if (rc)
		return rc;
	stop(&w, what);
	printf("  max EFI %" PRIu64 ", effective %" PRIu64 " (bound %" PRIu64 ")\n", m->efi_max,
	       m->eff_efi_max, m->eff_efi_bound);
	metrics_free(m);
	return 0;
}

static int time_ebb(unsigned threads, const struct fabric *f, const struct tables *t,
		    const struct jobset *jobs, struct err *err)
{
	struct ebb_opts opts = { .threads = threads };
	struct ebb_jobs *e;
	struct ebb all;
	struct watch w;
	int rc;

	start(&w);
	rc = predict_ebb(&all, f, t, &opts, &w.progress, err);
	if (rc)
		return rc;
	stop(&w, "eBB");
	printf("  %.4f +- %.4f, %u bisections\n", all.mean, all.ci95, all.bisections);
	start(&w);
	rc = predict_ebb_jobs(&e, f, t, jobs, &opts, &w.progress, err);
	if (rc)
		return rc;
	stop(&w, "eBB of jobs");
	printf("  %.4f +- %.4f\n", e->all.mean, e->all.ci95);
	ebb_jobs_free(e);
	return 0;
}

static int time_predict(unsigned threads, const struct fabric *f, const struct tables *t,
			const struct jobset *jobs, struct err *err)
{
	struct predict_opts opts = { .threads = threads };
	struct prediction *p;
	struct watch w;
	int i, rc = 0;

	for (i = PREDICT_SHIFT; i <= PREDICT_STENCIL3 && !rc; i++) {
		opts.pattern = (enum predict_pattern)i;
		start(&w);
		rc = predict_jobs(&p, f, t, jobs, &opts, &w.progress, err);
		if (rc)
			break;
		stop(&w, predict_pattern_name(opts.pattern));
		printf("  slowdown %.3f (worst %.3f), %u phases\n", p->slowdown_mean,
		       p->slowdown_max, p->phases);
		prediction_free(p);
	}
	return rc;
}

/* HOTI16's test on one VL, as "deadlock" does it. */
static int time_deadlock(unsigned threads, const struct fabric *f, const struct tables *t,
			 struct err *err)
{
	struct deadlock_test_opts o = { .seed = 1, .message = 128 << 10, .shared = true };
	struct verify_opts verify = { .threads = threads };
	struct tables *one = vl_fold(f, t, 1);
	struct deadlock_test s;
	struct verdict *v;
	struct watch w;
	int rc = verify_tables(&v, f, one, &verify, NULL, err);

	if (!rc) {
		deadlock_test_init(&s, f, one, &o);
		start(&w);
		rc = deadlock_traffic_pairs(&s, one, one, v->cycle, v->ncycle, &w.progress, err);
		if (!rc)
			rc = deadlock_test_run(&s, 1000000, &w.progress, err);
		stop(&w, "deadlock on 1 VL");
		printf("  %" PRIu64 " packets, cycle of %u after %.1f us\n", s.n.injected, s.ncycle,
		       (double)s.closed_ns * 1e-3);
		deadlock_test_free(&s);
		verdict_free(v);
	}
	tables_put(one);
	return rc;
}

static int bench(const struct engine *e, unsigned threads, const struct fabric *f,
		 const struct jobset *jobs, struct err *err)
{
	struct engine_params params = { .vls = 15, .threads = threads };
	struct tables *t, *full;
	int rc = engine_run(e, &t, f, NULL, NULL, &params, NULL, err);

	if (rc)
		return rc;
	full = by_port(f, t);
	rc = time_verify("verify", threads, f, t, err);
	if (!rc)
		rc = time_verify("verify by port", threads, f, full, err);
	if (!rc)
		rc = time_metrics("metrics", threads, f, t, NULL, err);
	if (!rc)
		rc = time_metrics("metrics by port", threads, f, full, NULL, err);
	if (!rc)
		rc = time_metrics("metrics with jobs", threads, f, t, jobs, err);
	if (!rc)
		rc = time_ebb(threads, f, t, jobs, err);
	if (!rc)
		rc = time_predict(threads, f, t, jobs, err);
	if (!rc)
		rc = time_deadlock(threads, f, t, err);
	tables_put(t);
	tables_put(full);
	return rc;
}

int main(int argc, char **argv)
{
	struct err err = { "usage: judge_bench THREADS ENGINE JOBS SPEC..." };
	const struct engine *e = argc < 5 ? NULL : engine_find(argv[2], &err);
	int rc = !e;

	for (int i = 4; i < argc && !rc; i++) {
		struct fabric *f = NULL;
		struct jobset *jobs;

		rc = make_fabric(&f, argv[i], &err);
		if (rc)
			break;
		jobs = make_jobs(f, (uint32_t)atoi(argv[3]));
		printf("%s: %u switches, %u terminals, %u jobs\n", argv[i], f->nsw, f->nterm,
		       jobs->njob);
		rc = bench(e, (unsigned)atoi(argv[1]), f, jobs, &err);
		jobset_put(jobs);
		fabric_put(f);
	}
	if (rc)
		fprintf(stderr, "judge_bench: %s\n", err.text);
	return rc != 0;
}
