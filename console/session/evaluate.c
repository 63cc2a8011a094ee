/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/session/evaluate.h"

#include "console/lib/progress_line.h"
#include "engines/limits/exclusion.h"
#include "engines/parx/parx.h"
#include "engines/parx/parx_choice.h"
#include "fabric/base/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void evaluate_begin(struct route_report *e, const char *engine, const struct fabric *f,
			   const struct jobset *jobs)
{
	*e = (struct route_report){ .f = f,
				    .jobs = jobs,
				    .total_s = NAN,
				    .paths_s = NAN,
				    .layers_s = NAN,
				    .verify_s = NAN };
	snprintf(e->engine, sizeof(e->engine), "%s", engine);
}

static int evaluate_predict(struct route_report *e, struct progress_line *w,
			    const struct route_report_opts *o, struct err *err)
{
	struct ebb_opts opts = {
		.bisections = o->bisections < 0 ? 0 : (uint32_t)o->bisections,
		.seed = o->seed,
		.threads = o->threads,
	};

	struct predict_opts run = {
		.pattern = o->pattern,
		.seed = o->seed,
		.threads = o->threads,
	};
	int rc = 0;

	e->pattern = o->pattern;
	if (!e->v->connected)
		return 0;
	if (o->bisections)
		rc = predict_ebb(&e->ebb, e->f, e->t, &opts, &w->progress, err);
	if (!rc && o->jobs && e->jobs)
		rc = predict_jobs(&e->jobs_run, e->f, e->t, e->jobs, &run, &w->progress, err);
	if (!rc && o->jobs && e->jobs && o->bisections)
		rc = predict_ebb_jobs(&e->ebb_jobs, e->f, e->t, e->jobs, &opts, &w->progress, err);
	return rc;
}

static int evaluate_judge(struct route_report *e, struct progress_line *w,
			  const struct route_report_opts *o, struct err *err)
{
	struct verify_opts opts = { .terminals_only = o->terminals_only,
				    .threads = o->threads,
				    .limits = o->limits,
				    .installed = o->installed };
	struct metrics_opts mo = { .threads = o->threads, .all_lids = o->all_lids };
	double start = clock_s();
	int rc = verify_tables(&e->v, e->f, e->t, &opts, &w->progress, err);

	e->verify_s = clock_s() - start;
	if (!rc)
		rc = metrics_compute(&e->m, e->f, e->t, e->jobs, &mo, &w->progress, err);
	if (!rc)
		rc = evaluate_predict(e, w, o, err);
	return rc;
}

/* left: the fabric without what is excluded. */
static int evaluate_judge_choice(struct route_report *e, const struct fabric *left,
				 const struct route_report_opts *o, struct progress *progress,
				 struct err *err)
{
	struct parx_lids lids = { e->f, e->choice };
	struct ebb_opts opts = {
		.bisections = o->bisections < 0 ? 0 : (uint32_t)o->bisections,
		.seed = o->seed,
		.threads = o->threads,
		.lids = parx_large_lids,
		.lids_ctx = &lids,
	};
	int rc = parx_check(&e->parx, left, e->t, e->choice, progress, err);

	if (!rc && parx_verdict_ok(&e->parx) && o->bisections)
		rc = predict_ebb(&e->ebb_large, e->f, e->t, &opts, progress, err);
	return rc;
}

int evaluate_choice(struct route_report *e, struct lid_choice *choice,
		    const struct route_report_opts *opts, struct err *err)
{
	struct progress_line w;
	int rc;

	e->choice = choice;
	progress_line_start(&w);
	rc = evaluate_judge_choice(e, e->f, opts, &w.progress, err);
	progress_line_stop(&w);
	return rc;
}

/* The choice that comes with tables of parx. */
static int evaluate_find_choice(struct route_report *e, const struct route_report_opts *opts,
				struct progress *progress, struct err *err)
{
	const struct fabric *left;
	int rc = exclusion_left(&left, e->f, opts->limits, err);

	if (!rc)
		rc = parx_choice_find(&e->choice, left, e->t, err);
	if (!rc && e->choice)
		rc = evaluate_judge_choice(e, left, opts, progress, err);
	fabric_put(left);
	return rc;
}

int evaluate_engine(struct route_report *out, const struct engine *engine, const struct fabric *f,
		    const struct jobset *jobs, const struct demand *demand,
		    const struct engine_params *params, const struct route_report_opts *opts,
		    struct err *err)
{
	struct engine_params own = *params;
	struct tables *t = NULL;
	struct progress_line w;
	double start = clock_s();
	int rc;

	evaluate_begin(out, engine->name, f, jobs);
	progress_line_start(&w);
	own.notes = &out->notes;
	rc = engine_run(engine, &t, f, jobs, demand, &own, &w.progress, err);
	progress_line_stop(&w);
	out->t = t;
	out->total_s = clock_s() - start;
	out->paths_s = progress_line_seconds(&w, "paths");
	out->layers_s = progress_line_seconds(&w, "layers");
	if (!rc) {
		progress_line_start(&w);
		rc = evaluate_judge(out, &w, opts, err);
		if (!rc && engine == &engine_parx)
			rc = evaluate_find_choice(out, opts, &w.progress, err);
		progress_line_stop(&w);
		out->total_s += out->verify_s;
	}
	if (rc)
		route_report_free(out);
	return rc;
}

int evaluate_tables(struct route_report *out, const struct tables *t, const struct fabric *f,
		    const struct jobset *jobs, const struct route_report_opts *opts,
		    struct err *err)
{
	struct progress_line w;
	int rc;

	evaluate_begin(out, t->engine, f, jobs);
	out->t = t;
	progress_line_start(&w);
	rc = evaluate_judge(out, &w, opts, err);
	progress_line_stop(&w);
	out->total_s = out->verify_s;
	if (rc)
		route_report_free(out);
	return rc;
}

/* As those of an engine, but that of others management's routes may not wait for each other. */
static int evaluate_judge_again(struct route_report *e, const struct route_report_opts *o,
				struct err *err)
{
	struct verify_opts opts = { .terminals_only = o->terminals_only,
				    .threads = o->threads,
				    .limits = o->limits,
				    .installed = o->installed };
	struct progress_line w;
	struct verdict *v;
	int rc;

	if (e->v->deadlock_free)
		return 0;
	progress_line_start(&w);
	rc = route_file_verify(&v, e->f, e->t, &opts, &w.progress, err);
	progress_line_stop(&w);
	if (rc)
		return rc;
	verdict_free(e->v);
	e->v = v;
	return 0;
}

int evaluate_file(struct route_report *out, struct plan_files *files, const struct route_file *from,
		  const struct fabric *f, const struct jobset *jobs,
		  const struct route_report_opts *opts, struct err *err)
{
	struct plan_files own;
	struct notes notes = { 0 };
	struct tables *t;
	int rc = route_file_read(&t, files ? files : &own, &notes, from, f, err);

	if (!rc)
		rc = evaluate_tables(out, t, f, jobs, opts, err);
	if (rc) {
		notes_done(&notes);
		return rc;
	}
	out->notes = notes;
	rc = evaluate_judge_again(out, opts, err);
	if (rc)
		route_report_free(out);
	return rc;
}

bool route_report_ok(const struct route_report *e)
{
	return verdict_ok(e->v) && (!e->choice || parx_verdict_ok(&e->parx));
}

void route_report_free(struct route_report *e)
{
	lid_choice_free(e->choice);
	tables_put(e->t);
	verdict_free(e->v);
	metrics_free(e->m);
	tdiff_free(e->diff);
	ebb_jobs_free(e->ebb_jobs);
	prediction_free(e->jobs_run);
	notes_done(&e->notes);
	memset(e, 0, sizeof(*e));
}
