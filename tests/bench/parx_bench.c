/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parx_bench: what PARX gives on HyperX fabrics, beside another engine's base LIDs.
 *
 *   parx_bench ENGINE SPEC...
 *
 * CPU seconds with one thread, VLs, effective bisection bandwidth of ENGINE, of PARX's LIDs for
 * small and for large messages, and the same inside one job on two neighbouring switches.
 */
#include "tests/bench/bench_kit.h"

#include "engines/engine.h"
#include "engines/parx/parx_check.h"
#include "engines/parx/parx_choice.h"
#include "engines/predict/predict.h"

#include "fabric/base/memory/mem.h"
#include "fabric/sim/topology/topo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* A job on the first switch with terminals and its first neighbour with any. */
static struct jobset *two_switches(const struct fabric *f)
{
	struct jobset_builder *b = jobset_builder_new(f, "bench");
	struct job head = { .id = 1 };
	const char *names[2 * FAB_MAX_PORT];
	uint32_t n = 0, pair[2] = { 0, 0 };

	while (!f->sw_nterm[pair[0]])
		pair[0]++;
	for (uint32_t c = f->chan_off[pair[0]]; c < f->chan_off[pair[0] + 1]; c++)
		if (f->sw_nterm[f->chan_dst[c]]) {
			pair[1] = f->chan_dst[c];
			break;
		}
	for (int i = 0; i < 2; i++)
		for (uint32_t k = f->term_off[pair[i]]; k < f->term_off[pair[i] + 1]; k++)
			names[n++] = f->term_name[f->term_list[k]];
	jobset_builder_add(b, &head, names, n);
	return jobset_build(b);
}

static int show_ebb(const struct fabric *f, const struct tables *t, predict_lids_fn lids, void *ctx,
		    struct err *err)
{
	struct ebb_opts opts = {
		.bisections = 200, .seed = 1, .threads = 1, .lids = lids, .lids_ctx = ctx
	};
	struct jobset *js = two_switches(f);
	struct ebb_jobs *jobs = NULL;
	struct ebb all;
	int rc = predict_ebb(&all, f, t, &opts, NULL, err);

	if (!rc)
		rc = predict_ebb_jobs(&jobs, f, t, js, &opts, NULL, err);
	if (!rc)
		printf(" %6.3f %6.3f", all.mean, jobs->alone[0].mean);
	ebb_jobs_free(jobs);
	jobset_put(js);
	return rc;
}

static int show_parx(const struct fabric *f, struct err *err)
{
	struct engine_params params = { .threads = 1, .vls = 15 };
	struct parx_lids lids = { .f = f };
	struct lid_choice *c = NULL;
	struct parx_verdict v = { 0 };
	struct tables *t = NULL;
	double begin = cpu_s();
	int rc = engine_run(engine_find("parx", NULL), &t, f, NULL, NULL, &params, NULL, err);

	if (!rc) {
		printf(" %8.4f", cpu_s() - begin);
		begin = cpu_s();
		rc = parx_choice_find(&c, f, t, NULL, err);
		printf(" %8.4f", cpu_s() - begin);
	}
	if (!rc)
		rc = parx_check(&v, f, t, c, NULL, NULL, err);
	if (!rc) {
		printf(" %-3s %3u", parx_verdict_ok(&v) ? "ok" : "BAD", t->vls);
		lids.choice = c;
		rc = show_ebb(f, t, parx_small_lids, &lids, err);
	}
	if (!rc)
		rc = show_ebb(f, t, parx_large_lids, &lids, err);
	printf("\n");
	lid_choice_free(c);
	tables_put(t);
	return rc;
}

static int bench(const struct engine *e, const char *spec, struct err *err)
{
	struct engine_params params = { .threads = 1, .vls = 15 };
	struct fabric *f = NULL;
	struct tables *t = NULL;
	int rc = make_fabric(&f, spec, err);

	printf("%-46s", spec);
	if (!rc)
		rc = engine_run(e, &t, f, NULL, NULL, &params, NULL, err);
	if (!rc)
		rc = show_ebb(f, t, NULL, NULL, err);
	if (!rc)
		rc = show_parx(f, err);
	tables_put(t);
	fabric_put(f);
	return rc;
}

int main(int argc, char **argv)
{
	struct err err = { "usage: parx_bench ENGINE SPEC..." };
	const struct engine *e = argc > 2 ? engine_find(argv[1], &err) : NULL;
	int rc = !e;

	printf("%-46s %6s %6s %8s %8s %-3s %3s %6s %6s %6s %6s\n", "fabric", "eBB", "job", "parx s",
	       "choice s", "", "VLs", "small", "job", "large", "job");
	for (int i = 2; i < argc && !rc; i++)
		rc = bench(e, argv[i], &err);
	if (rc)
		fprintf(stderr, "parx_bench: %s\n", err.text);
	return rc != 0;
}
