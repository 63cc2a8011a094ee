/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/session/worker.h"

#include "engines/predict/job_rate.h"
#include "engines/parx/parx_choice.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/thread.h"
#include "fabric/base/time/clock.h"
#include "fabric/model/tables/graft.h"
#include "fabric/model/topology/endports.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REPORT_MS 50

struct work {
	bool wanted;
	struct route_inputs in;
	bool verify;	/* metrics only */
	bool automatic; /* preview only, as the next */
	struct auto_agents who;
	const struct fabric *was;  /* preview only: whose tables and jobs are given; NULL: in.f */
	bool lanes;		   /* usage only */
	bool urgent;		   /* cost only */
	const struct rates *rates; /* forecast only, as the next */
	bool traffic_only;
	uint64_t serial;
};

/* What goes first; an urgent plan goes before all but an order. */
enum work_kind {
	WORK_ORDER,
	WORK_PREVIEW,
	WORK_METRICS,
	WORK_COST,
	WORK_FORECAST,
	WORK_USAGE,
	WORKS /* none */
};

struct worker {
	struct mailbox *box;
	pthread_t thread;

	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct work waiting[WORKS];
	bool stop;
	bool put_off; /* the usage that runs was cancelled for something urgent */
	enum work_kind running;
	struct progress progress; /* of what runs */
	struct time_memo *memo;	  /* of the thread */

	uint64_t last_ms;
	const char *last_step;
	enum msg_type step_type;
	const char *what; /* of MSG_BACKGROUND_STEP */
};

static void worker_work_drop(struct work *k)
{
	route_inputs_drop(&k->in);
	rates_put(k->rates);
	fabric_put(k->was);
	memset(k, 0, sizeof(*k));
}

static void worker_step(void *ctx, const char *name, uint64_t done, uint64_t total)
{
	struct worker *w = ctx;
	uint64_t now = clock_ms();
	struct msg *msg;

	if (name == w->last_step && now - w->last_ms < REPORT_MS)
		return;
	w->last_ms = now;
	w->last_step = name;
	msg = msg_new(w->step_type);
	msg->step = name;
	msg->done = done;
	msg->total = total;
	msg->part = w->progress.part;
	msg->parts = w->progress.parts;
	msg->work = w->progress.work;
	msg->most = w->progress.most;
	msg->last = w->progress.last;
	if (w->what)
		snprintf(msg->text, sizeof(msg->text), "%s", w->what);
	mailbox_send(w->box, msg);
}

/* What follows consists of so many parts, 0 not known; its steps are reported as such messages. */
static void worker_begin(struct worker *w, enum msg_type type, const char *what, unsigned parts)
{
	w->last_step = NULL;
	w->step_type = type;
	w->what = what;
	progress_parts(&w->progress, parts);
}

static void worker_do_metrics(struct worker *w, struct work *k)
{
	unsigned steps[] = { ROUTE_METRICS,
			     k->verify && tables_know_vls(k->in.tables) ? ROUTE_VERIFY : 0 };
	struct msg *msg = msg_new(MSG_METRICS);
	struct route_inputs in = k->in;
	struct route_report r;
	struct err err = { "" };

	in.opts = ROUTE_REPORT_QUICK;
	in.opts.terminals_only = k->in.opts.terminals_only;
	in.memo = w->memo;
	worker_begin(w, MSG_METRICS_STEP, "figures",
		     route_report_parts(&in, steps[0] | ROUTE_TIME | steps[1]));
	route_report_begin(&r, &in);
	msg->rc = route_report_steps(&r, &in, steps[0], &w->progress, &err);
	if (!msg->rc && !r.m->unreachable)
		msg->rc = route_report_steps(&r, &in, ROUTE_TIME, &w->progress, &err);
	if (!msg->rc)
		msg->rc = route_report_steps(&r, &in, steps[1], &w->progress, &err);
	msg->time_now = r.time;
	snprintf(msg->text, sizeof(msg->text), "%s", err.text);
	msg->after = r.m;
	msg->verdict = r.v;
	r.m = NULL;
	r.v = NULL;
	msg->fabric = fabric_get(k->in.f);
	msg->tables = tables_get(k->in.tables);
	msg->jobs = jobset_get(k->in.jobs);
	route_report_free(&r);
	mailbox_send(w->box, msg);
}

/* Who uses what: only to look at, so that everything else goes first. */
static void worker_do_usage(struct worker *w, struct work *k)
{
	struct msg *msg = msg_new(MSG_USAGE);
	struct err err = { "" };

	worker_begin(w, MSG_BACKGROUND_STEP, "mapping jobs to links", 0);
	msg->rc = link_usage_compute(&msg->usage, k->in.f, k->in.tables, k->in.jobs, k->lanes,
				     &w->progress, &err);
	if (msg->rc && msg->rc != -ECANCELED)
		log_add(LOG_WARN, "usage", "%s", err.text);
	mailbox_send(w->box, msg);
}

/* Tables, and whom messages are sent to by them. */
struct routed {
	const struct tables *t;
	struct lid_choice *choice;
	struct parx_lids lids;
	struct predict_lids to;
};

/* What takes long and is not needed to judge a plan. */
static int worker_expect(struct worker *w, const struct work *k, struct forecast *out,
			 const struct routed *r, struct err *err)
{
	if (!r->t || k->traffic_only)
		return 0;
	progress_next(&w->progress);
	return forecast_compute(out, k->in.f, r->t, k->in.jobs, &r->to, &w->progress, err);
}

/* *out: the rate of each job. */
static int worker_rate(struct worker *w, const struct work *k, double **out, const struct routed *r,
		       struct err *err)
{
	struct job_rate_opts opts = { .seed = ROUTE_REPORT_QUICK.seed,
				      .lids = r->to.lids,
				      .lids_ctx = r->to.ctx };

	if (!r->t || k->traffic_only || !k->in.jobs)
		return 0;
	progress_next(&w->progress);
	*out = xcalloc(k->in.jobs->njob + 1u, sizeof(**out));
	return job_rate_compute(*out, k->in.f, r->t, k->in.jobs, &opts, &w->progress, err);
}

static int worker_carry(struct worker *w, const struct work *k, struct traffic *out,
			const struct routed *r, struct err *err)
{
	if (!r->t || !k->rates)
		return 0;
	progress_next(&w->progress);
	return traffic_predict(out, k->in.f, r->t, k->in.jobs, k->rates, &r->to, &w->progress, err);
}

/* As times are: of large messages, where the plan has a choice of LIDs, and the installed tables by
 * theirs, if they have one. */
static int worker_find_choices(struct routed *plan, struct routed *now, const struct fabric *f,
			       struct progress *progress)
{
	struct routed *of[] = { plan, now };
	struct parx_verdict v;
	int rc = 0;

	for (int i = 0; !rc && i < 2 && of[i]->t && (!i || plan->choice); i++) {
		rc = parx_choice_seek(&of[i]->choice, &v, f, of[i]->t, NULL, progress);
		of[i]->lids = (struct parx_lids){ f, of[i]->choice };
		if (of[i]->choice)
			of[i]->to = (struct predict_lids){ parx_large_lids, &of[i]->lids };
	}
	return rc;
}

static void worker_do_forecast(struct worker *w, struct work *k)
{
	struct msg *msg = msg_new(k->traffic_only ? MSG_TRAFFIC : MSG_FORECAST);
	unsigned each = (k->traffic_only ? 0 : k->in.jobs ? 2 : 1) + (k->rates != NULL);
	struct routed plan = { .t = k->in.tables }, now = { .t = k->in.installed };
	struct err err = { "" };
	int rc;

	worker_begin(w, MSG_BACKGROUND_STEP, "forecast", each * (k->in.installed ? 2 : 1));
	rc = worker_find_choices(&plan, &now, k->in.f, &w->progress);
	if (!rc)
		rc = worker_expect(w, k, &msg->plan, &plan, &err);
	if (!rc)
		rc = worker_expect(w, k, &msg->now, &now, &err);
	if (!rc)
		rc = worker_rate(w, k, &msg->rates_plan, &plan, &err);
	if (!rc)
		rc = worker_rate(w, k, &msg->rates_now, &now, &err);
	if (!rc)
		rc = worker_carry(w, k, &msg->traffic_plan, &plan, &err);
	if (!rc)
		rc = worker_carry(w, k, &msg->traffic_now, &now, &err);
	lid_choice_free(plan.choice);
	lid_choice_free(now.choice);
	if (rc && rc != -ECANCELED)
		log_add(LOG_WARN, "forecast", "%s", err.text);
	msg->rc = rc;
	msg->total = k->serial;
	mailbox_send(w->box, msg);
}

/* What would be written, as a plan says it, under the id that it will have; of what cannot become a
 * plan only the difference. */
static int worker_preview_plan(struct worker *w, const struct work *k, struct route_report *r,
			       struct msg *msg)
{
	const struct tables *onto;
	struct err why = { "" };
	int rc = route_report_steps(r, &k->in, ROUTE_PLAN, &w->progress, &why);

	if (!rc && r->plan && k->automatic)
		rc = auto_propose(&msg->automatic, r, &k->in, &k->who, &w->progress, &why);
	if (rc == -ECANCELED || !k->in.installed)
		return rc;
	snprintf(msg->text, sizeof(msg->text), "%s", why.text);
	if (r->plan) {
		onto = tables_get(r->plan->to);
		snprintf(msg->txn, sizeof(msg->txn), "%s", r->plan->id);
		msg->diff = tables_diff_copy(r->plan->diff);
	} else {
		onto = tables_onto(k->in.f, k->in.installed, r->t);
		msg->diff = tables_diff_new(k->in.f, k->in.installed, onto);
	}
	/* automatic mode writes what it has judged, no other plan */
	if (msg->automatic.sound && r->plan->drain.known) {
		msg->ordered = r->plan;
		r->plan = NULL;
	}
	tables_put(r->t);
	r->t = onto;
	return 0;
}

/* The message takes over what is shown. */
static void worker_preview_take(struct msg *msg, struct route_report *r)
{
	msg->seconds = r->made_s;
	msg->tables = r->t;
	msg->verdict = r->v;
	msg->after = r->m;
	msg->before = r->before;
	msg->time_now = r->time_before;
	msg->time_plan = r->time;
	msg->gate = r->gate;
	route_report_job_time_changes(&msg->jobs_time, r);
	route_report_message_figures(&msg->messages, r);
	msg->notes = r->notes;
	msg->files = r->files;
	r->t = NULL;
	r->v = NULL;
	r->m = r->before = NULL;
	r->notes = (struct notes){ 0 };
}

static int worker_compute_preview(struct worker *w, const struct work *k, struct msg *msg,
				  struct err *err)
{
	unsigned steps = AUTO_STEPS & ~(k->in.tables ? ROUTE_MAKE : 0u);
	struct route_inputs in = k->in;
	struct route_report r;
	char why[300];
	int rc;

	in.opts = ROUTE_REPORT_QUICK;
	if (k->automatic)
		in.opts.pattern = k->in.opts.pattern;
	/* whom nobody waits for gets them at once, others with the forecast */
	in.opts.rates = k->automatic && in.opts.pattern == PREDICT_ALLTOALL;
	in.memo = w->memo;
	worker_begin(w, MSG_WORK_STEP, NULL,
		     route_report_parts(&in, steps | (k->automatic ? AUTO_REST : 0)));
	route_report_begin(&r, &in);
	rc = route_report_steps(&r, &in, steps & ~ROUTE_PLAN, &w->progress, err);
	if (!rc)
		rc = worker_preview_plan(w, k, &r, msg);
	if (!rc && !verdict_ok(r.v)) {
		verdict_sentence(why, sizeof(why), r.v, k->in.f);
		notes_set(&r.notes, "verdict", 0, "%s", why);
	} else if (!rc && r.plan && plan_check_weights(r.plan, k->in.installed, NULL)) {
		notes_set(&r.notes, "vl_weights", 0,
			  "some of its VLs have no weight in the VL arbitration of the switches");
	}
	worker_preview_take(msg, &r);
	route_report_free(&r);
	return rc;
}

static void worker_follow_jobs(const struct jobset **js, const struct work *k)
{
	const struct jobset *was = *js;

	*js = was ? jobset_on(was, k->was, k->in.f) : NULL;
	jobset_put(was);
}

static void worker_follow_demand(struct work *k)
{
	const struct demand *was = k->in.demand;

	k->in.demand = was ? demand_on(was, k->was, k->in.f) : NULL;
	demand_put(was);
}

static int worker_follow_hosts(struct work *k, struct msg *msg, struct err *err)
{
	struct endports *ends = endports_of(k->was);
	struct graft_report r;
	struct tables *t;
	int rc = tables_graft(&t, k->in.f, k->in.tables, ends, &r, err);

	endports_put(ends);
	if (rc)
		return rc;
	tables_put(k->in.tables);
	k->in.tables = t;
	worker_follow_jobs(&k->in.jobs, k);
	worker_follow_jobs(&k->in.running, k);
	worker_follow_demand(k);
	if (!graft_report_text(msg->followed, sizeof(msg->followed), &r))
		snprintf(msg->followed, sizeof(msg->followed), "ports were moved");
	return 0;
}

static void worker_do_preview(struct worker *w, struct work *k)
{
	struct msg *msg = msg_new(MSG_PREVIEW);
	struct err err = { "" };

	msg->rc = k->was ? worker_follow_hosts(k, msg, &err) : 0;
	if (!msg->rc)
		msg->rc = worker_compute_preview(w, k, msg, &err);
	if (msg->rc) {
		msg->type = MSG_PREVIEW_FAILED;
		snprintf(msg->text, sizeof(msg->text), "%s", err.text);
	}
	msg->fabric = fabric_get(k->in.f);
	msg->from = tables_get(k->in.installed);
	msg->jobs = jobset_get(k->in.jobs);
	msg->demand = demand_get(k->in.demand);
	msg->running = jobset_get(k->in.running ? k->in.running : k->in.jobs);
	msg->total = k->serial;
	mailbox_send(w->box, msg);
}

/* The plan, and the order of its writes. */
static void worker_do_order(struct worker *w, struct work *k)
{
	bool cost = w->running == WORK_COST;
	struct msg *msg = msg_new(cost ? MSG_COST : MSG_ORDERED);
	struct route_report r;
	struct err err = { "" };

	worker_begin(w, cost ? MSG_COST_STEP : MSG_ORDER_STEP, "write order", 0);
	route_report_begin(&r, &k->in);
	msg->total = k->serial;
	msg->rc = route_report_steps(&r, &k->in, ROUTE_PLAN, &w->progress, &err);
	if (!msg->rc && !plan_empty(r.plan))
		msg->rc = route_report_steps(&r, &k->in, ROUTE_WEIGHTS | ROUTE_ORDER, &w->progress,
					     &err);
	if (!msg->rc) {
		msg->ordered = r.plan;
		r.plan = NULL;
	}
	route_report_free(&r);
	snprintf(msg->text, sizeof(msg->text), "%s", err.text);
	mailbox_send(w->box, msg);
}

static enum work_kind worker_next_work(const struct worker *w)
{
	int kind = 0;

	if (w->waiting[WORK_COST].urgent && !w->waiting[WORK_ORDER].wanted)
		return WORK_COST;
	while (kind < WORKS && !w->waiting[kind].wanted)
		kind++;
	return (enum work_kind)kind;
}

static void (*const worker_do[WORKS])(struct worker *w, struct work *k) = {
	[WORK_ORDER] = worker_do_order,	      [WORK_PREVIEW] = worker_do_preview,
	[WORK_METRICS] = worker_do_metrics,   [WORK_COST] = worker_do_order,
	[WORK_FORECAST] = worker_do_forecast, [WORK_USAGE] = worker_do_usage,
};

static void worker_submit(struct worker *w, enum work_kind kind, const struct work *k)
{
	struct work *slot = &w->waiting[kind];

	worker_work_drop(slot);
	*slot = *k;
	slot->wanted = true;
	route_inputs_copy(&slot->in, &k->in);
	if (k->rates)
		rates_get(k->rates);
	if (k->was)
		fabric_get(k->was);
	pthread_cond_signal(&w->wake);
}

/* With the lock held: usage gives way, and is taken up again afterwards. */
static void worker_put_off_usage(struct worker *w)
{
	if (w->running != WORK_USAGE)
		return;
	w->put_off = true;
	atomic_store(&w->progress.cancel, true);
}

static void *worker_run(void *arg)
{
	struct worker *w = arg;

	pthread_mutex_lock(&w->lock);
	while (!w->stop) {
		enum work_kind kind = worker_next_work(w);
		struct work k;

		if (kind == WORKS) {
			pthread_cond_wait(&w->wake, &w->lock);
			continue;
		}
		k = w->waiting[kind];
		memset(&w->waiting[kind], 0, sizeof(k));
		w->running = kind;
		atomic_store(&w->progress.cancel, false);
		pthread_mutex_unlock(&w->lock);
		worker_do[kind](w, &k);
		pthread_mutex_lock(&w->lock);
		if (kind == WORK_USAGE && w->put_off && !w->waiting[kind].wanted)
			worker_submit(w, kind, &k);
		w->put_off = false;
		worker_work_drop(&k);
		w->running = WORKS;
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void worker_free(struct worker *w)
{
	for (int kind = 0; kind < WORKS; kind++)
		worker_work_drop(&w->waiting[kind]);
	time_memo_put(w->memo);
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

int worker_start(struct worker **out, struct mailbox *box, struct err *err)
{
	struct worker *w = xcalloc(1, sizeof(*w));
	int rc;

	w->box = box;
	w->running = WORKS;
	w->memo = time_memo_new();
	w->progress.report = worker_step;
	w->progress.ctx = w;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	rc = thread_start(&w->thread, "worker", worker_run, w, err);
	if (rc)
		worker_free(w);
	else
		*out = w;
	return rc;
}

void worker_stop(struct worker *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	atomic_store(&w->progress.cancel, true);
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	worker_free(w);
}

void worker_metrics(struct worker *w, const struct fabric *f, const struct tables *t,
		    const struct jobset *jobs, bool verify, bool lanes)
{
	struct work k = {
		.in = { .f = f, .tables = t, .jobs = jobs, .opts.terminals_only = true },
		.verify = verify,
		.lanes = lanes,
	};

	pthread_mutex_lock(&w->lock);
	worker_put_off_usage(w);
	worker_submit(w, WORK_METRICS, &k);
	worker_submit(w, WORK_USAGE, &k);
	pthread_mutex_unlock(&w->lock);
}

void worker_history_metrics(struct worker *w, const struct fabric *f, const struct tables *t,
			    const struct jobset *jobs, bool verify)
{
	struct work k = {
		.in = { .f = f, .tables = t, .jobs = jobs, .opts.terminals_only = true },
		.verify = verify,
	};

	pthread_mutex_lock(&w->lock);
	worker_submit(w, WORK_METRICS, &k);
	pthread_mutex_unlock(&w->lock);
}

static void worker_want_preview(struct worker *w, const struct work *k)
{
	pthread_mutex_lock(&w->lock);
	if (w->running == WORK_PREVIEW || w->running == WORK_COST || w->running == WORK_FORECAST)
		atomic_store(&w->progress.cancel, true);
	worker_put_off_usage(w);
	worker_submit(w, WORK_PREVIEW, k);
	pthread_mutex_unlock(&w->lock);
}

void worker_preview(struct worker *w, const struct route_inputs *in, uint64_t serial)
{
	worker_want_preview(w, &(struct work){ .in = *in, .serial = serial });
}

void worker_graft(struct worker *w, const struct route_inputs *in, const struct fabric *was,
		  uint64_t serial)
{
	worker_want_preview(w, &(struct work){ .in = *in, .was = was, .serial = serial });
}

void worker_propose(struct worker *w, const struct route_inputs *in, const struct auto_agents *who,
		    uint64_t serial)
{
	worker_want_preview(
		w, &(struct work){ .in = *in, .automatic = true, .who = *who, .serial = serial });
}

/* No longer wanted.  Where a preview waits, nobody else would tell its end. */
static void worker_drop(struct worker *w, enum work_kind kind)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	if (kind == WORK_PREVIEW && w->waiting[kind].wanted) {
		struct msg *msg = msg_new(MSG_PREVIEW_FAILED);

		msg->rc = -ECANCELED;
		msg->total = w->waiting[kind].serial;
		mailbox_send(w->box, msg);
	}
	worker_work_drop(&w->waiting[kind]);
	if (w->running == kind)
		atomic_store(&w->progress.cancel, true);
	pthread_mutex_unlock(&w->lock);
}

void worker_cancel(struct worker *w)
{
	worker_drop(w, WORK_PREVIEW);
}

/* With the lock held: what runs can be asked for again, and somebody waits for this. */
static void worker_make_way(struct worker *w)
{
	if (w->running != WORKS && w->running != WORK_METRICS)
		atomic_store(&w->progress.cancel, true);
	worker_put_off_usage(w);
}

void worker_order(struct worker *w, const struct route_inputs *in, uint64_t serial)
{
	struct work k = { .in = *in, .urgent = true, .serial = serial };

	pthread_mutex_lock(&w->lock);
	worker_make_way(w);
	worker_submit(w, WORK_ORDER, &k);
	pthread_mutex_unlock(&w->lock);
}

void worker_cancel_order(struct worker *w)
{
	worker_drop(w, WORK_ORDER);
}

void worker_cost(struct worker *w, const struct route_inputs *in, uint64_t serial, bool urgent)
{
	struct work k = { .in = *in, .urgent = urgent, .serial = serial };

	pthread_mutex_lock(&w->lock);
	if (urgent)
		worker_make_way(w);
	else
		worker_put_off_usage(w);
	worker_submit(w, WORK_COST, &k);
	pthread_mutex_unlock(&w->lock);
}

void worker_forecast(struct worker *w, const struct forecast_ask *ask)
{
	struct work k = { .in = { .f = ask->fabric,
				  .installed = ask->from,
				  .tables = ask->to,
				  .jobs = ask->jobs },
			  .rates = ask->rates,
			  .traffic_only = ask->traffic_only,
			  .serial = ask->serial };

	pthread_mutex_lock(&w->lock);
	worker_put_off_usage(w);
	worker_submit(w, WORK_FORECAST, &k);
	pthread_mutex_unlock(&w->lock);
}

void worker_cancel_background(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	if (w->running == WORK_METRICS || w->running == WORK_USAGE || w->running == WORK_FORECAST)
		atomic_store(&w->progress.cancel, true);
	pthread_mutex_unlock(&w->lock);
}

void worker_cancel_cost(struct worker *w)
{
	worker_drop(w, WORK_COST);
}
