/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * month: what scheduling-aware routing gains over routing that knows no jobs, in the four
 * figures of SC16 Table 1, while jobs come and go.
 *
 *   month [--fabric=SPEC] [--samples=N] [--every=MINUTES] [--seed=N] [--jobs=CSV] [--large]
 *         [--predict=N] [--json]
 *
 * Without a history the jobs are synthetic: the simulator's workload at 90 % utilisation, in a mix
 * of sizes up to 256 nodes; --large: of 32 nodes and more.
 * leafwise starts each step from the tables of the step before; "scratch" is the same method
 * without them.  CPU: of the engine alone, layers included, one thread.
 *
 * --predict: at so many of the samples also what the jobs get: the slowdown of all-to-all by the
 * others (together / alone), its time (1.0: as good as one switch for all), and the effective
 * bisection bandwidth inside the jobs while all of them send.
 * Fails when a step of leafwise changes more than 5 % of the blocks, or its maximum is more than 6
 * % above the bound on average. A line per 10 samples, or 5 seconds, goes to stderr.
 */
#include "tests/bench/bench_kit.h"

#include "engines/engine.h"
#include "engines/metrics/metrics.h"
#include "engines/predict/predict.h"
#include "engines/verify/verify.h"
#include "fabric/base/memory/mem.h"
#include "fabric/format/slurm/jobs_file.h"
#include "fabric/jobs/job_list.h"
#include "fabric/model/tables/tables_diff.h"
#include "fabric/sim/device/workload.h"
#include "fabric/sim/topology/topo.h"

#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WARM_UP_S  86400.0
#define MANY_PCT   5.0	/* of all blocks in a step: too many for leafwise */
#define RATIO_MOST 1.06 /* of its mean maximum to the bound */
#define LARGE_PART 16	/* a new job of this part of the terminals is large */
#define PHASES	   16
#define BISECTIONS 40

enum figure { MAX_EFI, JOB_EFI, DARK, LINKS, NFIGURE };

static const char *const figure_key[NFIGURE] = { "eff_efi_max", "job_efi_max_mean",
						 "dark_fiber_pct", "links_per_job_mean" };

enum forecast { SLOWDOWN, TIME, EBB, NFORECAST };

static const char *const forecast_key[NFORECAST] = { "slowdown_mean", "time_mean",
						     "ebb_jobs_mean" };

/* A way of routing and what it gave. */
struct way {
	const char *name, *engine;
	bool aware, follows; /* knows the jobs; starts from its last tables */
	enum sar_method method;
	const struct engine *e; /* NULL: there is none of that name */
	struct tables *t;
	double fig[NFIGURE], sum[NFIGURE]; /* of the sample at hand; over all */
	double cpu, cpu_max, ratio, ratio_max;
	double blocks, blocks_max, entries; /* per cent changed per step */
	uint32_t nratio, nstep, vls;
	uint32_t nmany, many_new_least; /* steps with many blocks; least largest new job in them */
	double quiet_max;		/* per cent of blocks at most where no large job began */
	double forecast[NFORECAST];
};

static struct way ways[] = {
	{ .name = "dfsssp", .engine = "dfsssp" },
	{ .name = "updn", .engine = "updn" },
	{ .name = "ftree", .engine = "ftree" },
	{ .name = "paper", .engine = "sar", .aware = true, .method = SAR_PAPER },
	{ .name = "patch", .engine = "sar", .aware = true, .method = SAR_PATCH },
	{ .name = "scratch", .engine = "sar", .aware = true, .method = SAR_LEAFWISE },
	{ .name = "leafwise",
	  .engine = "sar",
	  .aware = true,
	  .follows = true,
	  .method = SAR_LEAFWISE },
};

#define NWAY (sizeof(ways) / sizeof(*ways))

struct gain {
	double abs_max, pct_max, abs_sum, pct_sum;
};

struct month {
	const char *spec, *jobs_path;
	uint32_t samples, every_min, npredict;
	uint64_t seed;
	bool json, large;
	struct fabric *f;
	struct workload *w;
	struct job_log *log;
	uint32_t n;	    /* samples with a multi-switch job */
	uint32_t forecasts; /* of them with predictions */
	uint32_t largest;   /* terminals of the largest job that is new in this step */
	double shown;	    /* CPU seconds at the last line of progress */
	double bound, njob, nmulti, busy, fresh;
	struct gain gain[NWAY][NWAY][NFIGURE]; /* of an aware way over another */
};

static void compare_steps(const struct month *m, struct way *w, const struct tables *to)
{
	struct tables_diff *d = tables_diff_new(m->f, w->t, to);
	double pct = 100.0 * d->nblocks / d->blocks_all;

	w->blocks += pct;
	w->blocks_max = pct > w->blocks_max ? pct : w->blocks_max;
	w->entries += 100.0 * (double)d->entries / (double)d->entries_all;
	w->nstep++;
	if (pct > MANY_PCT) {
		if (!w->nmany++ || m->largest < w->many_new_least)
			w->many_new_least = m->largest;
	}
	if (m->largest < m->f->nterm / LARGE_PART && pct > w->quiet_max)
		w->quiet_max = pct;
	tables_diff_free(d);
}

static int route(const struct month *m, struct way *w, const struct jobset *js, bool first,
		 struct err *err)
{
	struct engine_params p = { .threads = 1,
				   .vls = 15,
				   .sar_method = w->method,
				   .current = w->follows ? w->t : NULL };
	struct tables *t;
	double begin = cpu_s(), cpu;
	int rc = engine_run(w->e, &t, m->f, js, NULL, &p, NULL, err);

	if (rc)
		return rc;
	cpu = 1e3 * (cpu_s() - begin);
	w->cpu += cpu;
	w->cpu_max = cpu > w->cpu_max ? cpu : w->cpu_max;
	w->vls = t->vls > w->vls ? t->vls : w->vls;
	if (w->t && !first)
		compare_steps(m, w, t);
	tables_put(w->t);
	w->t = t;
	return 0;
}

static int judge(struct month *m, struct way *w, const struct jobset *js, double *bound,
		 struct err *err)
{
	struct metrics *x;
	double ratio;
	int rc = metrics_compute(&x, m->f, w->t, js, NULL, NULL, err);

	if (rc)
		return rc;
	w->fig[MAX_EFI] = (double)x->eff_efi_max;
	w->fig[JOB_EFI] = x->job_efi_max_mean;
	w->fig[DARK] = x->dark_fiber_pct;
	w->fig[LINKS] = x->links_per_job_mean;
	for (int k = 0; k < NFIGURE; k++)
		w->sum[k] += w->fig[k];
	*bound = (double)x->eff_efi_bound;
	if (x->eff_efi_bound) {
		ratio = w->fig[MAX_EFI] / *bound;
		w->ratio += ratio;
		w->ratio_max = ratio > w->ratio_max ? ratio : w->ratio_max;
		w->nratio++;
	}
	metrics_free(x);
	return 0;
}

static int predict(struct month *m, struct way *w, const struct jobset *js, struct err *err)
{
	struct predict_opts po = {
		.pattern = PREDICT_ALLTOALL, .phases = PHASES, .seed = m->seed, .threads = 1
	};
	struct ebb_opts eo = { .bisections = BISECTIONS, .seed = m->seed, .threads = 1 };
	struct prediction *p;
	struct ebb_jobs *e;
	double time = 0;
	uint32_t n = 0;
	int rc = predict_jobs(&p, m->f, w->t, js, &po, NULL, err);

	if (rc)
		return rc;
	for (uint32_t j = 0; j < p->njob; j++) {
		time += p->job[j].flows ? p->job[j].together : 0;
		n += p->job[j].flows > 0;
	}
	w->forecast[TIME] += n ? time / n : 1;
	w->forecast[SLOWDOWN] += p->slowdown_mean;
	prediction_free(p);
	rc = predict_ebb_jobs(&e, m->f, w->t, js, &eo, NULL, err);
	if (rc)
		return rc;
	w->forecast[EBB] += e->all.mean;
	ebb_jobs_free(e);
	return 0;
}

static int predict_all(struct month *m, const struct jobset *js, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < NWAY && !rc; i++)
		if (ways[i].e)
			rc = predict(m, &ways[i], js, err);
	m->forecasts++;
	return rc;
}

/* More links are better, of everything else less is. */
static void add_gains(struct month *m, size_t a, size_t b)
{
	for (int k = 0; k < NFIGURE; k++) {
		double base = ways[b].fig[k], gain = base - ways[a].fig[k], pct;
		struct gain *g = &m->gain[a][b][k];

		gain = k == LINKS ? -gain : gain;
		pct = base > 0 ? 100 * gain / base : 0;
		g->abs_sum += gain;
		g->pct_sum += pct;
		g->abs_max = gain > g->abs_max ? gain : g->abs_max;
		g->pct_max = pct > g->pct_max ? pct : g->pct_max;
	}
}

static int take_sample(struct month *m, const struct jobset *js, struct err *err)
{
	double bound = 0;
	int rc = 0;

	for (size_t i = 0; i < NWAY && !rc; i++) {
		struct way *w = &ways[i];

		if (!w->e)
			continue;
		if (w->aware || !m->n)
			rc = route(m, w, js, !m->n, err);
		if (rc && !w->aware) {
			fprintf(stderr, "month: without %s: %s\n", w->name, err->text);
			w->e = NULL;
			rc = 0;
		} else if (!rc) {
			rc = judge(m, w, js, &bound, err);
		}
	}
	for (size_t a = 0; a < NWAY && !rc; a++)
		for (size_t b = 0; b < NWAY; b++)
			if (ways[a].aware && ways[a].e && ways[b].e && !ways[b].aware)
				add_gains(m, a, b);
	m->bound += bound;
	m->n++;
	return rc;
}

static int next_jobs(struct month *m, struct jobset **out, uint32_t sample, struct err *err)
{
	const struct job_list *list;
	int64_t first, last;
	int rc;

	if (m->log) {
		job_log_span(m->log, &first, &last);
		first += 60ll * m->every_min * sample;
		return job_log_jobset(out, m->log, m->f, first, "history", err);
	}
	workload_advance(m->w, sample ? 60.0 * m->every_min : WARM_UP_S);
	list = workload_jobs(m->w);
	rc = jobset_from_list(out, list, m->f, err);
	job_list_put(list);
	return rc;
}

/* Jobs over several switches that are only in b; *largest: terminals of the largest. */
static uint32_t count_new(const struct jobset *a, const struct jobset *b, uint32_t *largest)
{
	uint32_t n = 0;

	*largest = 0;
	for (uint32_t j = 0; j < b->njob; j++) {
		bool found = !b->jobs[j].multi;

		for (uint32_t k = 0; a && k < a->njob && !found; k++)
			found = a->jobs[k].id == b->jobs[j].id;
		n += !found;
		if (!found && b->jobs[j].nterm > *largest)
			*largest = b->jobs[j].nterm;
	}
	return n;
}

static void show_progress(struct month *m, uint32_t done)
{
	double now = cpu_s();

	if (done % 10 && done < m->samples && now - m->shown < 5)
		return;
	m->shown = now;
	fprintf(stderr, "month: %u of %u samples, %.1f CPU s\n", done, m->samples, now);
}

static int sample_jobs(struct month *m, const struct jobset *js, const struct jobset *before,
		       uint32_t s, struct err *err)
{
	uint32_t busy = 0, fresh = count_new(before, js, &m->largest);
	uint32_t every = m->npredict ? (m->samples + m->npredict - 1) / m->npredict : 0;
	int rc;

	for (uint32_t j = 0; j < js->njob; j++)
		busy += js->jobs[j].nterm;
	m->njob += js->njob;
	m->nmulti += js->nmulti;
	m->busy += 100.0 * busy / m->f->nterm;
	m->fresh += before ? fresh : 0;
	rc = take_sample(m, js, err);
	if (!rc && every && s % every == every / 2)
		rc = predict_all(m, js, err);
	return rc;
}

static int run(struct month *m, struct err *err)
{
	struct jobset *before = NULL, *js;
	int rc = 0;

	for (uint32_t s = 0; s < m->samples && !rc; s++) {
		rc = next_jobs(m, &js, s, err);
		if (rc)
			break;
		if (js->nmulti)
			rc = sample_jobs(m, js, before, s, err);
		show_progress(m, s + 1);
		jobset_put(before);
		before = js;
	}
	jobset_put(before);
	return rc;
}

static void print_ways(const struct month *m)
{
	printf("%-9s %8s %7s %7s %8s %7s %8s %8s %8s %9s %8s %8s %8s %4s\n", "method", "max EFI",
	       "/bound", "worst", "job max", "dark %", "links", "CPU ms", "worst", "blocks %",
	       "worst", "entries%", "", "VLs");
	for (size_t i = 0; i < NWAY; i++) {
		const struct way *w = &ways[i];

		if (!w->e) {
			printf("%-9s %s is not there or does not route this fabric\n", w->name,
			       w->engine);
			continue;
		}
		printf("%-9s %8.1f %7.3f %7.3f %8.2f %7.2f %8.1f %8.2f %8.2f ", w->name,
		       w->sum[MAX_EFI] / m->n, w->nratio ? w->ratio / w->nratio : 0, w->ratio_max,
		       w->sum[JOB_EFI] / m->n, w->sum[DARK] / m->n, w->sum[LINKS] / m->n,
		       w->cpu / (w->aware ? m->n : 1), w->cpu_max);
		if (w->nstep)
			printf("%9.2f %8.2f %8.2f %8s", w->blocks / w->nstep, w->blocks_max,
			       w->entries / w->nstep, "");
		else
			printf("%9s %8s %8s %8s", "-", "-", "-", "");
		printf(" %4u\n", w->vls);
	}
}

static void print_steps(const struct month *m)
{
	for (size_t i = 0; i < NWAY; i++) {
		const struct way *w = &ways[i];

		if (!w->nstep)
			continue;
		printf("%-9s %u of %u steps change more than %.0f %% of the blocks", w->name,
		       w->nmany, w->nstep, MANY_PCT);
		if (w->nmany)
			printf(" (the largest new job has %u nodes or more)", w->many_new_least);
		printf("; %.2f %% at most where no job of %u or more begins\n", w->quiet_max,
		       m->f->nterm / LARGE_PART);
	}
}

static void print_forecasts(const struct month *m)
{
	if (!m->forecasts)
		return;
	printf("\nall-to-all in every job, and bisections inside all jobs; %u samples\n%-9s %9s %9s "
	       "%9s\n",
	       m->forecasts, "method", "slowdown", "time", "eBB jobs");
	for (size_t i = 0; i < NWAY; i++) {
		if (!ways[i].e)
			continue;
		printf("%-9s", ways[i].name);
		for (int k = 0; k < NFORECAST; k++)
			printf(" %9.4f", ways[i].forecast[k] / m->forecasts);
		printf("\n");
	}
}

static void print_gains(const struct month *m)
{
	printf("\nimprovement, as in SC16 Table 1: largest abs / %%, mean abs / %%\n");
	for (size_t a = 0; a < NWAY; a++)
		for (size_t b = 0; b < NWAY; b++) {
			if (!ways[a].aware || !ways[a].e || !ways[b].e || ways[b].aware)
				continue;
			printf("%-9s over %-7s", ways[a].name, ways[b].name);
			for (int k = 0; k < NFIGURE; k++) {
				const struct gain *g = &m->gain[a][b][k];

				printf("  %s %.1f/%.1f %.2f/%.1f", figure_key[k], g->abs_max,
				       g->pct_max, g->abs_sum / m->n, g->pct_sum / m->n);
			}
			printf("\n");
		}
}

static json_t *gains_json(const struct month *m, size_t a)
{
	json_t *all = json_object();

	for (size_t b = 0; b < NWAY; b++) {
		json_t *over = json_object();

		for (int k = 0; k < NFIGURE && ways[b].e && !ways[b].aware; k++) {
			const struct gain *g = &m->gain[a][b][k];

			json_object_set_new(over, figure_key[k],
					    json_pack("{s:f,s:f,s:f,s:f}", "max", g->abs_max,
						      "max_pct", g->pct_max, "mean",
						      g->abs_sum / m->n, "mean_pct",
						      g->pct_sum / m->n));
		}
		if (json_object_size(over))
			json_object_set(all, ways[b].name, over);
		json_decref(over);
	}
	return all;
}

static json_t *way_json(const struct month *m, size_t i)
{
	const struct way *w = &ways[i];
	json_t *o = json_pack("{s:s,s:s,s:f,s:f,s:f,s:f}", "method", w->name, "engine", w->engine,
			      "bound_ratio_mean", w->nratio ? w->ratio / w->nratio : 0.0,
			      "bound_ratio_max", w->ratio_max, "cpu_ms_mean",
			      w->cpu / (w->aware ? m->n : 1), "cpu_ms_max", w->cpu_max);

	json_object_set_new(o, "vls", json_integer(w->vls));
	for (int k = 0; k < NFIGURE; k++)
		json_object_set_new(o, figure_key[k], json_real(w->sum[k] / m->n));
	if (w->nstep) {
		json_object_set_new(o, "blocks_pct_mean", json_real(w->blocks / w->nstep));
		json_object_set_new(o, "blocks_pct_max", json_real(w->blocks_max));
		json_object_set_new(o, "entries_pct_mean", json_real(w->entries / w->nstep));
		json_object_set_new(o, "steps_many_blocks", json_integer(w->nmany));
		json_object_set_new(o, "blocks_pct_max_quiet", json_real(w->quiet_max));
	}
	for (int k = 0; k < NFORECAST && m->forecasts; k++)
		json_object_set_new(o, forecast_key[k], json_real(w->forecast[k] / m->forecasts));
	if (w->aware)
		json_object_set_new(o, "improvement", gains_json(m, i));
	return o;
}

static void print_json(const struct month *m)
{
	json_t *list = json_array();
	json_t *o = json_pack("{s:s,s:I,s:I,s:I,s:I,s:f,s:f,s:f,s:f,s:f}", "fabric", m->spec,
			      "switches", (json_int_t)m->f->nsw, "terminals",
			      (json_int_t)m->f->nterm, "samples", (json_int_t)m->n, "seed",
			      (json_int_t)m->seed, "jobs_mean", m->njob / m->n, "multi_switch_mean",
			      m->nmulti / m->n, "busy_pct", m->busy / m->n, "new_jobs_mean",
			      m->fresh / m->n, "eff_efi_bound", m->bound / m->n);

	for (size_t i = 0; i < NWAY; i++)
		if (ways[i].e)
			json_array_append_new(list, way_json(m, i));
	json_object_set_new(o, "methods", list);
	json_dumpf(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	printf("\n");
	json_decref(o);
}

static void print_all(const struct month *m)
{
	if (m->json) {
		print_json(m);
		return;
	}
	printf("%s: %u switches, %u terminals; %u samples every %u min, seed %" PRIu64 "\n",
	       m->spec, m->f->nsw, m->f->nterm, m->n, m->every_min, m->seed);
	printf("%.1f jobs, %.1f on several switches, %.1f new ones of these per step, %.1f %% "
	       "busy; lower bound of the maximum %.1f\n\n",
	       m->njob / m->n, m->nmulti / m->n, m->fresh / m->n, m->busy / m->n, m->bound / m->n);
	print_ways(m);
	printf("\n");
	print_steps(m);
	print_forecasts(m);
	print_gains(m);
}

static int read_jobs(struct month *m, struct err *err)
{
	struct read_report report = { 0 };
	FILE *file = fopen(m->jobs_path, "r");
	int rc;

	if (!file)
		return err_set(err, -1, "cannot open %s", m->jobs_path);
	rc = jobs_file_read(&m->log, file, m->jobs_path, &report, err);
	fclose(file);
	return rc;
}

static int begin(struct month *m, struct err *err)
{
	/* as on the 1,408 nodes of the paper: about 100 jobs, half of them on several switches */
	static const double mix[] = { 40, 14, 8, 5, 5, 6, 6, 3.5, 1.2 };
	static const double large[] = { 0, 0, 0, 0, 0, 4, 3, 2, 1 };
	struct workload_opts opts = { .seed = m->seed, .busy = 0.9, .mean_s = 7200, .nsizes = 9 };
	int rc = make_fabric(&m->f, m->spec, err);

	opts.sizes = m->large ? large : mix;
	for (size_t i = 0; i < NWAY; i++)
		ways[i].e = engine_find(ways[i].engine, err);
	if (rc || m->jobs_path)
		return rc ? rc : read_jobs(m, err);
	m->w = workload_new(m->f, &opts);
	return m->w ? 0 : err_set(err, -1, "%s has no two compute nodes", m->spec);
}

static int parse(struct month *m, int argc, char **argv)
{
	static const struct option options[] = { { "fabric", required_argument, NULL, 'f' },
						 { "samples", required_argument, NULL, 'n' },
						 { "every", required_argument, NULL, 'e' },
						 { "seed", required_argument, NULL, 's' },
						 { "jobs", required_argument, NULL, 'j' },
						 { "json", no_argument, NULL, 'J' },
						 { "large", no_argument, NULL, 'l' },
						 { "predict", required_argument, NULL, 'p' },
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
		else if (opt == 'j')
			m->jobs_path = optarg;
		else if (opt == 'p')
			m->npredict = (uint32_t)strtoul(optarg, NULL, 10);
		else if (opt == 'J')
			m->json = true;
		else if (opt == 'l')
			m->large = true;
		else
			return -1;
	}
	return optind < argc ? -1 : 0;
}

/* What is promised of the ways that follow; says what does not hold. */
static bool holds(void)
{
	bool ok = true;

	for (size_t i = 0; i < NWAY; i++) {
		const struct way *w = &ways[i];
		double ratio = w->nratio ? w->ratio / w->nratio : 0;

		if (!w->follows || !w->e)
			continue;
		if (w->nmany)
			fprintf(stderr,
				"month: FAILED: %u of %u steps of %s change more than %.0f %% of "
				"the blocks (%.2f %%)\n",
				w->nmany, w->nstep, w->name, MANY_PCT, w->blocks_max);
		if (ratio > RATIO_MOST)
			fprintf(stderr,
				"month: FAILED: the maximum of %s is %.3f of the bound on average, "
				"more than %.2f\n",
				w->name, ratio, RATIO_MOST);
		ok &= !w->nmany && ratio <= RATIO_MOST;
	}
	return ok;
}

int main(int argc, char **argv)
{
	struct month m = { .spec = "xgft:h=3,m=16x8x11,w=1x9x8",
			   .samples = 300,
			   .every_min = 10,
			   .seed = 1,
			   .npredict = 6 };
	struct err err = { "usage: month [--fabric=SPEC] [--samples=N] [--every=MINUTES] "
			   "[--seed=N] [--jobs=CSV] [--large] [--predict=N] [--json]" };
	int rc = parse(&m, argc, argv);

	if (!rc)
		rc = begin(&m, &err);
	if (!rc)
		rc = run(&m, &err);
	if (!rc) {
		print_all(&m);
		fflush(stdout);
		rc = holds() ? 0 : 1;
	} else {
		fprintf(stderr, "month: %s\n", err.text);
	}
	for (size_t i = 0; i < NWAY; i++)
		tables_put(ways[i].t);
	workload_free(m.w);
	job_log_free(m.log);
	fabric_put(m.f);
	return rc != 0;
}
