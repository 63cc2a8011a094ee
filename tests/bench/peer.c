/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peer: one routing on one fabric, by our engine or by another program, measured in one way.
 *
 *   peer roots SPEC                          GUIDs of the switches at the top, a line each
 *   peer size SPEC                           "switches hosts"
 *   peer route SPEC ENGINE[:VLS] [ROOTS]     our engine, one thread; sssp: the paths of dfsssp
 *                                            without virtual lanes, which may deadlock
 *   peer judge SPEC PREFIX                   what osm_clock left in PREFIX.lids, .lft and .sl
 *
 * SPEC is a text as "ibroute-top topo" takes it, or a file of ibnetdiscover.  route and judge print
 * one line of JSON. PEER_THREADS: threads instead of 1.  PEER_EBB=0: without effective bisection
 * bandwidth. PEER_JOBS: what all figures cost with that many jobs of random nodes.  Memory is the
 * peak before anything is judged.
 */
#include "tests/bench/bench_kit.h"
#include "tests/bench/osm_tables.h"

#include "engines/engine.h"
#include "engines/graph/balance/balanced_sssp.h"
#include "engines/graph/updown.h"
#include "engines/metrics/metrics.h"
#include "engines/predict/predict.h"
#include "engines/verify/verify.h"
#include "fabric/base/memory/mem.h"
#include "fabric/sim/topology/topo.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double peak_mb(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return (double)ru.ru_maxrss / 1024;
}

static unsigned threads(void)
{
	const char *text = getenv("PEER_THREADS");

	return text ? (unsigned)strtoul(text, NULL, 10) : 1;
}

/* What both kinds of tables are judged by; nothing is left out but switches' own LIDs. */
static int judge(json_t *line, const struct fabric *f, const struct tables *t, bool sls_known,
		 struct err *err)
{
	struct verify_opts vo = { .terminals_only = true, .threads = threads() };
	struct metrics_opts mo = { .threads = threads() };
	struct ebb_opts eo = { .seed = 1, .threads = threads() };
	const char *how = getenv("PEER_EBB");
	struct verdict *v = NULL;
	struct metrics *m = NULL;
	struct ebb ebb = { .mean = NAN };
	double begin = cpu_s(), verified, measured;
	int rc = verify_tables(&v, f, t, &vo, NULL, err);

	if (rc)
		return rc;
	verified = cpu_s();
	rc = metrics_compute(&m, f, t, NULL, &mo, NULL, err);
	measured = cpu_s();
	if (!rc && !(how && !strcmp(how, "0")))
		rc = predict_ebb(&ebb, f, t, &eo, NULL, err);
	if (!rc)
		json_object_update_new(
			line,
			json_pack("{s:f, s:f, s:b, s:b, s:o, s:o, s:I, s:f, s:I}", "verify_s",
				  verified - begin, "metrics_s", measured - verified, "connected",
				  v->connected, "loop_free", v->loop_free, "deadlock_free",
				  sls_known ? json_boolean(v->deadlock_free) : json_null(),
				  "vls_used", sls_known ? json_integer(v->vls_used) : json_null(),
				  "hops_max", (json_int_t)m->hops_max, "hops_mean", m->hops_mean,
				  "efi_max", (json_int_t)m->efi_max));
	if (!rc && !isnan(ebb.mean))
		json_object_update_new(
			line, json_pack("{s:f, s:f}", "ebb", ebb.mean, "ebb_ci95", ebb.ci95));
	verdict_free(v);
	metrics_free(m);
	return rc;
}

/* Figures once more, with that many jobs of random nodes. */
static int judge_jobs(json_t *line, const struct fabric *f, const struct tables *t, uint32_t njob,
		      struct err *err)
{
	struct metrics_opts mo = { .threads = threads() };
	struct jobset *jobs = make_jobs(f, njob);
	struct metrics *m = NULL;
	double begin = cpu_s();
	int rc = metrics_compute(&m, f, t, jobs, &mo, NULL, err);

	if (!rc)
		json_object_set_new(line, "metrics_jobs_s", json_real(cpu_s() - begin));
	metrics_free(m);
	jobset_put(jobs);
	return rc;
}

static void print_line(json_t *line)
{
	json_dumpf(line, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(6));
	putchar('\n');
	json_decref(line);
}

/* --- our engines --- */

struct steps {
	double begin, layers; /* CPU when the first layer began; 0 before */
};

static void see_step(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct steps *s = ctx;

	(void)done;
	(void)total;
	if (s->layers == 0 && strcmp(step, "paths"))
		s->layers = cpu_s();
}

static int route_sssp(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		      const struct demand *demand, const struct engine_params *params,
		      struct progress *progress, struct err *err)
{
	static const struct balanced_sssp_how how = { .rounds = BALANCED_SSSP_ROUNDS };

	(void)jobs;
	(void)demand;
	(void)err;
	*out = graph_tables(f, "sssp", params, progress);
	return balanced_sssp_route(*out, f, params, &how, progress);
}

static const struct engine engine_sssp = {
	.name = "sssp",
	.summary = "paths of dfsssp",
	.suits = graph_check_connected,
	.route = route_sssp,
};

static int read_roots(uint64_t **out, size_t *n, const char *path, struct err *err)
{
	FILE *in = fopen(path, "r");
	uint64_t guid;

	*n = 0;
	*out = NULL;
	if (!in)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	while (fscanf(in, "%" SCNx64, &guid) == 1) {
		*out = xrealloc(*out, *n + 1, sizeof(**out));
		(*out)[(*n)++] = guid;
	}
	fclose(in);
	return 0;
}

static int route(const char *spec, const char *name, const char *roots_file, struct err *err)
{
	struct notes notes = { 0 };
	struct engine_params params = { .threads = threads(), .notes = &notes };
	struct steps steps = { 0 };
	struct progress p = { .report = see_step, .ctx = &steps };
	char *engine = xstrdup(name), *vls = strchr(engine, ':');
	const char *njob = getenv("PEER_JOBS");
	const struct engine *e;
	uint64_t *roots = NULL;
	struct fabric *f = NULL;
	struct tables *t = NULL;
	double wall, end;
	json_t *line;
	int rc = 0;

	if (vls)
		*vls++ = '\0';
	params.vls = vls ? (unsigned)strtoul(vls, NULL, 10) : 8;
	e = strcmp(engine, "sssp") ? engine_find(engine, err) : &engine_sssp;
	rc = e ? make_fabric(&f, spec, err) : -EINVAL;
	if (!rc && roots_file)
		rc = read_roots(&roots, &params.nroots, roots_file, err);
	if (rc)
		goto out;
	params.roots = roots;
	steps.begin = cpu_s();
	wall = seconds(CLOCK_MONOTONIC);
	rc = engine_run(e, &t, f, NULL, NULL, &params, &p, err);
	end = cpu_s();
	wall = seconds(CLOCK_MONOTONIC) - wall;
	line = json_pack("{s:i, s:f, s:f, s:f, s:f}", "rc", rc, "cpu_s", end - steps.begin,
			 "paths_s", (steps.layers > 0 ? steps.layers : end) - steps.begin, "wall_s",
			 wall, "rss_mb", peak_mb());
	for (size_t i = 0; i < notes.n; i++)
		json_object_set_new(line, notes.list[i].key,
				    json_integer((json_int_t)notes.list[i].value));
	if (rc)
		json_object_set_new(line, "reason", json_string(err->text));
	rc = rc ? 0 : judge(line, f, t, true, err);
	if (!rc && t && njob && atoi(njob) > 0)
		rc = judge_jobs(line, f, t, (uint32_t)atoi(njob), err);
	print_line(line);
out:
	notes_done(&notes);
	tables_put(t);
	fabric_put(f);
	free(roots);
	free(engine);
	return rc;
}

/* --- what osm_clock left --- */

static int judge_found(const char *spec, const char *prefix, struct err *err)
{
	json_t *line = json_object();
	struct fabric *f = NULL;
	struct tables *t = NULL;
	struct builder *b;
	int rc = make_builder(&b, spec, err);

	if (!rc) {
		rc = osm_tables_read(&f, &t, b, prefix, err);
		builder_free(b);
	}
	if (!rc)
		rc = judge(line, f, t, osm_tables_know_sls(prefix), err);
	if (rc)
		json_decref(line);
	else
		print_line(line);
	tables_put(t);
	fabric_put(f);
	return rc;
}

/* --- about the net --- */

static int roots(const char *spec, struct err *err)
{
	struct fabric *f = NULL;
	struct pace p;
	uint32_t *root, n;
	int rc = make_fabric(&f, spec, err);

	if (rc)
		return rc;
	root = xcalloc(f->nsw, sizeof(*root));
	n = updown_tree_roots(root, f);
	pace_begin(&p, NULL, "roots", 1);
	if (!n) {
		rc = updown_single_root(root, f, NULL, &p);
		n = 1;
	}
	for (uint32_t i = 0; i < n; i++)
		printf("0x%016" PRIx64 "\n", f->sw_guid[root[i]]);
	free(root);
	fabric_put(f);
	return rc;
}

static int size(const char *spec, struct err *err)
{
	struct fabric *f = NULL;
	int rc = make_fabric(&f, spec, err);

	if (!rc)
		printf("%u %u %u\n", f->nsw, f->nterm, f->nport);
	fabric_put(f);
	return rc;
}

int main(int argc, char **argv)
{
	struct err err = { "usage: peer roots|size|route|judge SPEC ..." };
	int rc = -EINVAL;

	if (argc == 3 && !strcmp(argv[1], "roots"))
		rc = roots(argv[2], &err);
	else if (argc == 3 && !strcmp(argv[1], "size"))
		rc = size(argv[2], &err);
	else if ((argc == 4 || argc == 5) && !strcmp(argv[1], "route"))
		rc = route(argv[2], argv[3], argc == 5 ? argv[4] : NULL, &err);
	else if (argc == 4 && !strcmp(argv[1], "judge"))
		rc = judge_found(argv[2], argv[3], &err);
	if (rc)
		fprintf(stderr, "peer: %s\n", err.text);
	return rc != 0;
}
