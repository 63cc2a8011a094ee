/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/plan/route_report.h"

#include "console/io/progress_line.h"
#include "console/plan/plan_order.h"
#include "engines/limits/exclusion.h"
#include "engines/parx/parx.h"
#include "engines/parx/parx_choice.h"
#include "engines/predict/job_rate.h"
#include "engines/time/time_bound.h"
#include "engines/verify/route_judge.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/base/time/clock.h"
#include "fabric/model/tables/route_limits.h"
#include "fabric/model/traffic/demand.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- inputs ------------------------------------------------------------------------------ */

static const char *route_report_copy_text(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

void route_inputs_copy(struct route_inputs *to, const struct route_inputs *from)
{
	const struct engine_params *p = &from->params;
	struct plan_files *files;
	uint64_t *roots;

	*to = *from;
	fabric_get(to->f);
	jobset_get(to->jobs);
	jobset_get(to->running);
	tables_get(to->installed);
	tables_get(to->tables);
	demand_get(to->demand);
	to->file.tables = route_report_copy_text(from->file.tables);
	to->file.path_sl = route_report_copy_text(from->file.path_sl);
	to->file.sl2vl = route_report_copy_text(from->file.sl2vl);
	if (from->files) {
		files = xcalloc(1, sizeof(*files));
		*files = *from->files;
		to->files = files;
	}
	to->params.limits = route_limits_copy(p->limits);
	to->params.roots = NULL;
	if (p->nroots) {
		roots = xcalloc(p->nroots, sizeof(*roots));
		memcpy(roots, p->roots, p->nroots * sizeof(*roots));
		to->params.roots = roots;
	}
}

void route_inputs_drop(struct route_inputs *in)
{
	fabric_put(in->f);
	jobset_put(in->jobs);
	jobset_put(in->running);
	tables_put(in->installed);
	tables_put(in->tables);
	demand_put(in->demand);
	free((char *)in->file.tables);
	free((char *)in->file.path_sl);
	free((char *)in->file.sl2vl);
	free((struct plan_files *)in->files);
	route_limits_free((struct route_limits *)in->params.limits);
	free((uint64_t *)in->params.roots);
	memset(in, 0, sizeof(*in));
}

/* --- steps ------------------------------------------------------------------------------- */

static void route_report_take_tables(struct route_report *r, const struct tables *t,
				     const char *engine)
{
	r->t = t;
	snprintf(r->engine, sizeof(r->engine), "%s", engine);
}

static int route_report_read(struct route_report *r, const struct route_inputs *in,
			     struct progress *progress, struct err *err)
{
	struct progress *before = file_progress();
	struct tables *t;
	int rc;

	if (progress)
		file_progress_set(progress);
	rc = route_file_read(&t, &r->files, &r->notes, &in->file, in->f, err);
	file_progress_set(before);
	if (!rc)
		route_report_take_tables(r, t, t->engine);
	return rc;
}

static int route_report_make(struct route_report *r, const struct route_inputs *in,
			     struct progress *progress, struct err *err)
{
	struct engine_params params = in->params;
	struct tables *t = NULL;
	double start = clock_s();
	int rc;

	params.current = in->installed;
	params.memo = r->memo;
	params.notes = &r->notes;
	if (in->opts.jobs)
		params.pattern = in->opts.pattern + 1u;
	if (in->file.tables) {
		rc = route_report_read(r, in, progress, err);
	} else {
		rc = engine_run(in->engine, &t, in->f, in->jobs, in->demand, &params, progress,
				err);
		route_report_take_tables(r, t, in->engine->name);
	}
	r->made_s = clock_s() - start;
	return rc;
}

static int route_report_verify(struct route_report *r, const struct route_inputs *in,
			       struct progress *progress, struct err *err)
{
	struct route_judge_opts opts = {
		.verify = { .terminals_only = in->opts.terminals_only,
			    .certificate = in->opts.certificate,
			    .threads = in->opts.threads,
			    .limits = in->params.limits,
			    .installed = in->installed },
		.management_apart = in->file.tables != NULL,
	};
	double start = clock_s();
	int rc = route_judge(&r->v, in->f, r->t, &opts, progress, err);

	r->verify_s = clock_s() - start;
	r->total_s = r->verify_s + (in->engine && isfinite(r->made_s) ? r->made_s : 0);
	return rc;
}

static int route_report_metrics_of(struct metrics **out, const struct route_inputs *in,
				   const struct tables *t, uint64_t bound_work,
				   struct progress *progress, struct err *err)
{
	struct metrics_opts opts = { .threads = in->opts.threads,
				     .all_lids = in->opts.all_lids,
				     .bound_work = bound_work };

	return metrics_compute(out, in->f, t, in->jobs, &opts, progress, err);
}

static int route_report_metrics(struct route_report *r, const struct route_inputs *in,
				struct progress *progress, struct err *err)
{
	return route_report_metrics_of(&r->m, in, r->t, in->opts.bound_work, progress, err);
}

static int route_report_before(struct route_report *r, const struct route_inputs *in,
			       struct progress *progress, struct err *err)
{
	return route_report_metrics_of(&r->before, in, in->installed, 0, progress, err);
}

static struct ebb_opts route_report_ebb_opts(const struct route_report_opts *o)
{
	return (struct ebb_opts){
		.bisections = o->bisections < 0 ? 0 : (uint32_t)o->bisections,
		.seed = o->seed,
		.threads = o->threads,
	};
}

static int route_report_predict(struct route_report *r, const struct route_inputs *in,
				struct progress *progress, struct err *err)
{
	const struct route_report_opts *o = &in->opts;
	struct ebb_opts opts = route_report_ebb_opts(o);
	struct predict_opts run = {
		.pattern = o->pattern,
		.seed = o->seed,
		.threads = o->threads,
	};
	int rc = 0;

	r->pattern = o->pattern;
	if (!r->v->connected)
		return 0;
	if (o->bisections)
		rc = predict_ebb(&r->ebb, r->f, r->t, &opts, progress, err);
	if (!rc && o->jobs && r->jobs)
		rc = predict_jobs(&r->jobs_run, r->f, r->t, r->jobs, &run, progress, err);
	if (!rc && o->jobs && r->jobs && o->bisections)
		rc = predict_ebb_jobs(&r->ebb_jobs, r->f, r->t, r->jobs, &opts, progress, err);
	return rc;
}

/* NULL: none. */
static const bool *route_report_pins(const struct route_inputs *in)
{
	return in->params.limits ? in->params.limits->pin : NULL;
}

/* The choice that comes with tables of parx. */
static int route_report_find_choice(struct route_report *r, const struct route_inputs *in,
				    struct progress *progress, struct err *err)
{
	const bool *pin = route_report_pins(in);
	const struct fabric *left;
	int rc;

	if (in->engine ? in->engine != &engine_parx : !in->opts.seek_choice)
		return 0;
	rc = exclusion_left(&left, r->f, in->params.limits, err);
	if (!rc && in->opts.seek_choice) {
		rc = parx_choice_seek(&r->choice, &r->parx, left, r->t, pin, progress);
	} else if (!rc) {
		rc = parx_choice_find(&r->choice, left, r->t, pin, err);
		if (!rc)
			rc = parx_check(&r->parx, left, r->t, r->choice, pin, progress, err);
	}
	fabric_put(left);
	return rc;
}

static predict_lids_fn route_report_lids(enum message_size size)
{
	static const predict_lids_fn fn[MESSAGE_SIZES] = { NULL, parx_small_lids, parx_large_lids };

	return fn[size];
}

/* Tables and their choice of LIDs; choice NULL: they have none, and base LIDs are taken. */
struct message_tables {
	const struct tables *t;
	const struct lid_choice *choice;
	const struct time_summary *large; /* known already; or not yet */
	struct time_memo *memo;
};

static int route_report_time_of(struct time_summary *out, struct time_sheet **sheet,
				const struct message_tables *x, const struct route_inputs *in,
				enum message_size size, struct progress *progress, struct err *err)
{
	const struct route_report_opts *o = &in->opts;
	struct parx_lids ctx = { in->f, x->choice };
	struct time_summary_opts opts = {
		.shifts = o->shifts,
		.demand = in->demand,
		.seed = o->seed,
		.threads = o->threads,
		.lids = route_report_lids(size),
		.lids_ctx = &ctx,
		.memo = x->memo,
	};

	return time_summary_compute(out, sheet, in->f, x->t, o->jobs ? in->jobs : NULL, &opts,
				    progress, err);
}

/* Where they are asked for. */
static int route_report_rates_of(double **out, const struct message_tables *x,
				 const struct route_inputs *in, struct progress *progress,
				 struct err *err)
{
	struct parx_lids ctx = { in->f, x->choice };
	struct job_rate_opts opts = {
		.seed = in->opts.seed,
		.threads = in->opts.threads,
		.lids = route_report_lids(x->choice ? MESSAGES_LARGE : MESSAGES_BASE),
		.lids_ctx = &ctx,
	};

	if (!in->opts.rates || !in->jobs)
		return 0;
	free(*out);
	*out = xcalloc(in->jobs->njob + 1u, sizeof(**out));
	return job_rate_compute(*out, in->f, x->t, in->jobs, &opts, progress, err);
}

/* What no tables could beat, in the same phases. */
static int route_report_bound_time(struct route_report *r, const struct route_inputs *in,
				   struct progress *progress, struct err *err)
{
	struct job_time_opts opts = { .seed = in->opts.seed };

	if (!in->opts.jobs || !in->jobs || !r->m || in->opts.bound_work < LENGTH_WORK)
		return 0;
	if (time_bound_compute(&r->time_bound, r->f, r->jobs, r->m->lengths, &opts, progress))
		return err_set(err, -ECANCELED, "the prediction was cancelled");
	return 0;
}

/* What was predicted of base LIDs, of other LIDs. */
static int route_report_predict_of(struct message_metrics *m, const struct route_report *r,
				   const struct route_inputs *in, enum message_size size,
				   struct progress *progress, struct err *err)
{
	const struct route_report_opts *o = &in->opts;
	struct parx_lids ctx = { r->f, r->choice };
	struct ebb_opts opts = route_report_ebb_opts(o);
	struct predict_opts run = {
		.pattern = o->pattern,
		.seed = o->seed,
		.threads = o->threads,
		.lids = route_report_lids(size),
		.lids_ctx = &ctx,
	};
	int rc = 0;

	opts.lids = run.lids;
	opts.lids_ctx = &ctx;
	if (r->ebb.bisections)
		rc = predict_ebb(&m->ebb, r->f, r->t, &opts, progress, err);
	if (!rc && r->jobs_run)
		rc = predict_jobs(&m->jobs_run, r->f, r->t, r->jobs, &run, progress, err);
	if (!rc && r->ebb_jobs)
		rc = predict_ebb_jobs(&m->ebb_jobs, r->f, r->t, r->jobs, &opts, progress, err);
	return rc;
}

/* EFI and times; the sheet of large messages is where the caller has it. */
static int route_report_messages_of(struct message_metrics *m, const struct message_tables *x,
				    const struct route_inputs *in, enum message_size size,
				    struct progress *progress, struct err *err)
{
	struct parx_lids ctx = { in->f, x->choice };

	message_efi_compute(&m->efi, in->f, x->t, in->jobs,
			    x->choice ? route_report_lids(size) : NULL, &ctx);
	if (size != MESSAGES_LARGE && x->choice)
		return route_report_time_of(&m->time, &m->sheet, x, in, size, progress, err);
	m->time = *x->large;
	return 0;
}

/* Of messages of the size that does best with the choice, and with base LIDs. */
struct base_loss {
	const char *what;
	double with, without;
	bool less_is_better;
};

static struct base_loss route_report_ebb_loss(const struct message_metrics *m)
{
	return (struct base_loss){ "bisection bandwidth",
				   fmax(m[MESSAGES_SMALL].ebb.mean, m[MESSAGES_LARGE].ebb.mean),
				   m[MESSAGES_BASE].ebb.mean, false };
}

static struct base_loss route_report_time_loss(const struct message_metrics *m,
					       enum predict_pattern p)
{
	return (struct base_loss){ "mean time of jobs",
				   fmin(m[MESSAGES_SMALL].time.of[p].mean.mean,
					m[MESSAGES_LARGE].time.of[p].mean.mean),
				   m[MESSAGES_BASE].time.of[p].mean.mean, true };
}

static struct base_loss route_report_sync_loss(const struct message_metrics *m)
{
	return (struct base_loss){ "sync",
				   fmax(m[MESSAGES_SMALL].time.shift.sync.mean,
					m[MESSAGES_LARGE].time.shift.sync.mean),
				   m[MESSAGES_BASE].time.shift.sync.mean, false };
}

/* Share of what the choice gives. */
static double route_report_loss(const struct base_loss *x)
{
	if (x->with <= 0 || x->without <= 0)
		return 0;
	return 1 - (x->less_is_better ? x->with / x->without : x->without / x->with);
}

/* Who knows base LIDs only gets detours that nobody chose. */
static void route_report_warn_base(struct route_report *r)
{
	const struct message_metrics *m = r->messages;
	struct base_loss loss[3];
	int n = 0, worst = 0;

	if (m->ebb.bisections)
		loss[n++] = route_report_ebb_loss(m);
	if (m->time.known && m->time.jobs)
		loss[n++] = route_report_time_loss(m, r->pattern);
	if (!m->ebb.bisections)
		loss[n++] = route_report_sync_loss(m);
	for (int i = 1; i < n; i++)
		worst = route_report_loss(&loss[i]) > route_report_loss(&loss[worst]) ? i : worst;
	if (route_report_loss(&loss[worst]) < .05)
		return;
	notes_set(&r->notes, "parx_base_lids",
		  (uint64_t)(route_report_loss(&loss[worst]) * 100 + 0.5),
		  "software that knows base LIDs only gets %s %.3f for %.3f: let MPI "
		  "choose (lid-choice.txt), or route with dfsssp or dor",
		  loss[worst].what, loss[worst].without, loss[worst].with);
}

static int route_report_messages(struct message_metrics **out, const struct message_tables *x,
				 const struct route_inputs *in, struct progress *progress,
				 struct err *err)
{
	struct message_metrics *m = *out = xcalloc(MESSAGE_SIZES, sizeof(*m));
	int rc = 0;

	for (int size = 0; !rc && size < MESSAGE_SIZES; size++)
		rc = route_report_messages_of(&m[size], x, in, (enum message_size)size, progress,
					      err);
	return rc;
}

static int route_report_messages_after(struct route_report *r, const struct route_inputs *in,
				       struct progress *progress, struct err *err)
{
	struct message_tables x = { r->t, r->choice, &r->time, r->memo };
	int rc = route_report_messages(&r->messages, &x, in, progress, err);

	r->messages[MESSAGES_BASE].ebb = r->ebb;
	for (int size = MESSAGES_SMALL; !rc && size < MESSAGE_SIZES; size++)
		rc = route_report_predict_of(&r->messages[size], r, in, (enum message_size)size,
					     progress, err);
	if (!rc)
		route_report_warn_base(r);
	return rc;
}

static int route_report_time(struct route_report *r, const struct route_inputs *in,
			     struct progress *progress, struct err *err)
{
	const struct lid_choice *choice = r->choice && parx_verdict_ok(&r->parx) ? r->choice : NULL;
	struct message_tables x = { r->t, choice, NULL, r->memo };
	int rc;

	r->pattern = in->opts.pattern;
	if (r->v && !r->v->connected)
		return 0;
	rc = route_report_time_of(&r->time, &r->sheet, &x, in,
				  choice ? MESSAGES_LARGE : MESSAGES_BASE, progress, err);
	r->times = r->sheet ? r->sheet->of[r->pattern] : NULL;
	if (!rc)
		rc = route_report_rates_of(&r->rates, &x, in, progress, err);
	if (!rc)
		rc = route_report_bound_time(r, in, progress, err);
	if (!rc && choice)
		rc = route_report_messages_after(r, in, progress, err);
	else if (!rc && in->engine == &engine_parx)
		notes_set(&r->notes, "parx_base_metrics", 1u << r->f->lmc,
			  "times and metrics are of base LIDs, as for software that knows no "
			  "others: these tables have no choice of LIDs that holds");
	return rc;
}

void route_report_take_bounds(struct route_report *r, const struct route_report *from)
{
	r->m->eff_efi_bound = from->m->eff_efi_bound;
	r->m->eff_efi_bound_minimal = from->m->eff_efi_bound_minimal;
	r->time_bound = from->time_bound;
}

int route_report_choice(struct route_report *r, const struct route_inputs *in,
			struct lid_choice *choice, struct err *err)
{
	struct progress_line w;
	int rc;

	r->choice = choice;
	progress_line_start(&w);
	rc = parx_check(&r->parx, r->f, r->t, r->choice, route_report_pins(in), &w.progress, err);
	if (!rc && r->time.known) { /* so far of base LIDs */
		time_sheet_put(r->sheet);
		r->sheet = NULL;
		rc = route_report_time(r, in, &w.progress, err);
	}
	progress_line_stop(&w);
	return rc;
}

/* Times of a routing for messages of one size. */
struct sized_times {
	const struct time_summary *time;
	const struct time_sheet *sheet;
};

/* m: by size; NULL: all sizes take base LIDs, whose times these are. */
static struct sized_times route_report_sized(const struct message_metrics *m,
					     const struct time_summary *time,
					     const struct time_sheet *sheet, enum message_size size)
{
	if (!m || size == MESSAGES_LARGE)
		return (struct sized_times){ time, sheet };
	return (struct sized_times){ &m[size].time, m[size].sheet };
}

/* A repair changes no path that arrives: where jobs wait longer after it, that is for messages
 * which were lost before. */
static bool route_report_mends(const struct route_report *r, const struct sized_times *before,
			       const struct sized_times *after)
{
	return !strcmp(r->t->engine, "repair") && before->sheet && after->sheet &&
	       before->sheet->of[r->pattern]->stranded > after->sheet->of[r->pattern]->stranded;
}

static void route_report_gate(struct time_gate *out, const struct route_report *r,
			      const struct sized_times *before, const struct sized_times *after)
{
	*out = (struct time_gate){ .pattern = r->pattern, .job = FAB_NONE };
	if (route_report_mends(r, before, after))
		return;
	if (before->sheet && after->sheet)
		time_gate_compare(out, before->sheet, after->sheet, r->jobs, r->pattern);
	if (before->time->demand.known && !before->time->demand.stranded &&
	    after->time->demand.known)
		out->demand = (struct time_change){ before->time->demand.time,
						    after->time->demand.time, 0 };
}

/* Of what the tables give each size; before is as of struct route_report. */
static void route_report_gates(struct route_report *r, const struct message_metrics *before,
			       const struct time_summary *time, const struct time_sheet *sheet)
{
	enum message_size of = MESSAGES_LARGE;

	for (int i = 0; i < MESSAGE_SIZES; i++) {
		enum message_size size = (enum message_size)i;
		struct sized_times was = route_report_sized(before, time, sheet, size);
		struct sized_times is = route_report_sized(r->messages, &r->time, r->sheet, size);

		route_report_gate(&r->message_gate[i], r, &was, &is);
		r->message_gate[i].messages = r->messages ? message_size_name(size) : NULL;
	}
	if (!time_gate_slower(&r->message_gate[MESSAGES_LARGE]) &&
	    time_gate_slower(&r->message_gate[MESSAGES_SMALL]))
		of = MESSAGES_SMALL;
	r->gate = r->message_gate[of];
}

void route_report_compare_times(struct route_report *after, const struct route_report *before)
{
	const struct message_metrics *m = before->messages;

	/* nobody asks for these LIDs any more */
	if (!after->messages && m)
		route_report_gates(after, NULL, &m[MESSAGES_BASE].time, m[MESSAGES_BASE].sheet);
	else
		route_report_gates(after, m, &before->time, before->sheet);
}

void route_report_job_time_changes(struct job_time_changes *out, const struct route_report *r)
{
	*out = (struct job_time_changes){ 0 };
	if (!r->sheet || !r->sheet_before)
		return;
	job_time_changes_take(out, r->sheet_before->of[r->pattern], r->sheet->of[r->pattern],
			      r->jobs);
	job_time_changes_add_rates(out, r->rates_before, r->rates, r->jobs);
}

/* The choice that the installed tables have counts where the new ones have one, too. */
static int route_report_time_before(struct route_report *r, const struct route_inputs *in,
				    struct progress *progress, struct err *err)
{
	struct message_tables x = { in->installed, NULL, &r->time_before, r->memo };
	struct lid_choice *choice = NULL;
	struct parx_verdict v;
	int rc = 0;

	if (r->messages)
		rc = parx_choice_seek(&choice, &v, in->f, in->installed, NULL, progress);
	x.choice = choice;
	if (!rc)
		rc = route_report_time_of(&r->time_before, &r->sheet_before, &x, in,
					  choice ? MESSAGES_LARGE : MESSAGES_BASE, progress, err);
	if (!rc)
		rc = route_report_rates_of(&r->rates_before, &x, in, progress, err);
	if (!rc && r->messages)
		rc = route_report_messages(&r->messages_before, &x, in, progress, err);
	r->chosen_before = choice != NULL;
	lid_choice_free(choice);
	if (!rc)
		route_report_gates(r, r->chosen_before ? r->messages_before : NULL, &r->time_before,
				   r->sheet_before);
	return rc;
}

void route_report_message_figures(struct message_figures *out, const struct route_report *r)
{
	const struct note *loss = notes_find(&r->notes, "parx_base_lids");

	*out = (struct message_figures){ .known = r->messages != NULL,
					 .chosen_now = r->chosen_before };
	for (int size = 0; r->messages && size < MESSAGE_SIZES; size++) {
		out->plan[size].efi = r->messages[size].efi;
		out->plan[size].time = r->messages[size].time;
		out->gate[size] = r->message_gate[size];
		if (!r->messages_before)
			continue;
		out->now[size].efi = r->messages_before[size].efi;
		out->now[size].time = r->messages_before[size].time;
	}
	if (loss && r->messages)
		snprintf(out->base_loses, sizeof(out->base_loses), "%s", loss->text);
}

static int route_report_diff(struct route_report *r, const struct route_inputs *in,
			     struct progress *progress, struct err *err)
{
	(void)progress;
	(void)err;
	r->diff = tables_diff_new(in->f, in->installed, r->t);
	return 0;
}

static int route_report_plan(struct route_report *r, const struct route_inputs *in,
			     struct progress *progress, struct err *err)
{
	const struct jobset *jobs = in->running ? in->running : in->jobs;
	int rc = plan_new_with_progress(&r->plan, in->f, in->installed, r->t, jobs, &in->sm,
					time(NULL), progress, err);

	if (rc)
		return rc;
	plan_from_files(r->plan, &r->files);
	if (in->demand || (in->opts.jobs && in->opts.pattern != PREDICT_ALLTOALL))
		plan_with_traffic(r->plan, in->demand,
				  in->opts.jobs && in->opts.pattern != PREDICT_ALLTOALL
					  ? predict_pattern_name(in->opts.pattern)
					  : NULL);
	return 0;
}

static int route_report_vls(struct route_report *r, const struct route_inputs *in,
			    struct progress *progress, struct err *err)
{
	(void)in;
	(void)progress;
	return plan_check_vls(r->plan, err);
}

static int route_report_weights(struct route_report *r, const struct route_inputs *in,
				struct progress *progress, struct err *err)
{
	(void)progress;
	return plan_check_weights(r->plan, in->installed, err);
}

static int route_report_order(struct route_report *r, const struct route_inputs *in,
			      struct progress *progress, struct err *err)
{
	(void)in;
	return plan_order_find(r->plan, &r->transition, progress, err);
}

static const struct {
	enum route_step step;
	bool against_installed;
	int (*run)(struct route_report *r, const struct route_inputs *in, struct progress *progress,
		   struct err *err);
} steps_in_order[] = {
	{ ROUTE_MAKE, false, route_report_make },
	{ ROUTE_VERIFY, false, route_report_verify },
	{ ROUTE_METRICS, false, route_report_metrics },
	{ ROUTE_PREDICT, false, route_report_predict },
	{ ROUTE_LID_CHOICE, false, route_report_find_choice },
	{ ROUTE_TIME, false, route_report_time },
	{ ROUTE_BEFORE, true, route_report_before },
	{ ROUTE_TIME_BEFORE, true, route_report_time_before },
	{ ROUTE_DIFF, true, route_report_diff },
	{ ROUTE_PLAN, true, route_report_plan },
	{ ROUTE_VLS, true, route_report_vls },
	{ ROUTE_WEIGHTS, true, route_report_weights },
	{ ROUTE_ORDER, true, route_report_order },
};

#define NSTEPS (sizeof(steps_in_order) / sizeof(*steps_in_order))

static bool route_report_does(const struct route_inputs *in, unsigned steps, size_t i)
{
	return (steps & steps_in_order[i].step) &&
	       (in->installed || !steps_in_order[i].against_installed);
}

int route_inputs_of_plan(struct route_inputs *out, const struct plan *p, struct err *err)
{
	enum predict_pattern pattern = PREDICT_ALLTOALL;
	int rc = p->pattern[0] ? predict_pattern_parse(&pattern, p->pattern, err) : 0;

	*out = (struct route_inputs){ .f = p->fabric,
				      .jobs = p->jobs,
				      .demand = p->demand,
				      .installed = p->from,
				      .tables = p->to,
				      .opts = ROUTE_REPORT_QUICK };
	out->opts.pattern = pattern;
	return rc;
}

unsigned route_report_parts(const struct route_inputs *in, unsigned steps)
{
	unsigned n = 0;

	for (size_t i = 0; i < NSTEPS; i++)
		n += route_report_does(in, steps, i);
	return n;
}

int route_report_steps(struct route_report *r, const struct route_inputs *in, unsigned steps,
		       struct progress *progress, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < NSTEPS; i++) {
		if (!route_report_does(in, steps, i))
			continue;
		progress_next(progress);
		rc = steps_in_order[i].run(r, in, progress, err);
	}
	return rc;
}

/* --- the whole --------------------------------------------------------------------------- */

void route_report_begin(struct route_report *out, const struct route_inputs *in)
{
	*out = (struct route_report){ .f = in->f,
				      .jobs = in->jobs,
				      .memo = in->memo ? time_memo_get(in->memo) : time_memo_new(),
				      .made_s = NAN,
				      .total_s = NAN,
				      .paths_s = NAN,
				      .layers_s = NAN,
				      .verify_s = NAN };
	if (in->files)
		out->files = *in->files;
	if (in->tables)
		route_report_take_tables(out, tables_get(in->tables), in->tables->engine);
}

static int route_report_make_shown(struct route_report *r, const struct route_inputs *in,
				   struct err *err)
{
	struct progress_line w;
	int rc;

	progress_line_start(&w); /* whoever reads large files has a line of their own already */
	rc = route_report_steps(r, in, ROUTE_MAKE, in->file.tables ? NULL : &w.progress, err);
	progress_line_stop(&w);
	r->paths_s = progress_line_seconds(&w, "paths");
	r->layers_s = progress_line_seconds(&w, "layers");
	return rc;
}

int route_report_run(struct route_report *out, const struct route_inputs *in, unsigned steps,
		     struct err *err)
{
	struct progress_line w;
	int rc = 0;

	route_report_begin(out, in);
	if (steps & ROUTE_MAKE)
		rc = route_report_make_shown(out, in, err);
	if (!rc) {
		progress_line_start(&w);
		rc = route_report_steps(out, in, steps & ~(unsigned)ROUTE_MAKE, &w.progress, err);
		progress_line_stop(&w);
	}
	if (rc)
		route_report_free(out);
	return rc;
}

const struct job_times *route_report_times(const struct route_report *r, enum message_size size)
{
	const struct time_sheet *sheet =
		size == MESSAGES_LARGE ? r->sheet : r->messages[size].sheet;

	return sheet ? sheet->of[r->pattern] : NULL;
}

const struct prediction *route_report_jobs_run(const struct route_report *r, enum message_size size)
{
	return size == MESSAGES_BASE ? r->jobs_run : r->messages[size].jobs_run;
}

const struct ebb_jobs *route_report_ebb_jobs(const struct route_report *r, enum message_size size)
{
	return size == MESSAGES_BASE ? r->ebb_jobs : r->messages[size].ebb_jobs;
}

bool route_report_ok(const struct route_report *r)
{
	return verdict_ok(r->v) && (!r->choice || parx_verdict_ok(&r->parx));
}

static void route_report_free_messages(struct message_metrics *m)
{
	for (int size = 0; m && size < MESSAGE_SIZES; size++) {
		time_sheet_put(m[size].sheet);
		ebb_jobs_free(m[size].ebb_jobs);
		prediction_free(m[size].jobs_run);
	}
	free(m);
}

void route_report_free(struct route_report *r)
{
	route_report_free_messages(r->messages);
	route_report_free_messages(r->messages_before);
	lid_choice_free(r->choice);
	tables_put(r->t);
	verdict_free(r->v);
	metrics_free(r->m);
	metrics_free(r->before);
	tables_diff_free(r->diff);
	ebb_jobs_free(r->ebb_jobs);
	prediction_free(r->jobs_run);
	time_sheet_put(r->sheet);
	time_sheet_put(r->sheet_before);
	free(r->rates);
	free(r->rates_before);
	time_memo_put(r->memo);
	notes_done(&r->notes);
	plan_free(r->plan);
	transition_free(r->transition);
	memset(r, 0, sizeof(*r));
}
