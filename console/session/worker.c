/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/session/worker.h"

#include "console/input/route_file.h"
#include "console/session/plan_order.h"
#include "fabric/base/clock.h"
#include "fabric/base/file_progress.h"
#include "fabric/base/mem.h"
#include "fabric/base/thread.h"
#include "fabric/model/demand.h"
#include "fabric/model/route_limits.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REPORT_MS 50

struct work {
	bool wanted;
	const struct fabric *fabric;
	const struct tables *tables;
	const struct jobset *jobs;
	bool verify;		     /* figures only */
	bool lanes;		     /* usage only */
	const struct engine *engine; /* preview only, as the next five */
	struct engine_params params;
	uint64_t *roots;
	struct route_limits *limits;
	char tables_file[PATH_TEXT], path_sl[PATH_TEXT], sl2vl[PATH_TEXT]; /* files */
	const struct demand *demand;
	const struct tables *to;   /* order, cost and forecast only */
	struct sm_pin sm;	   /* preview, order and cost only */
	struct plan_files files;   /* order and cost only */
	bool urgent;		   /* cost only */
	const struct rates *rates; /* forecast only, as the next */
	bool traffic_only;
	uint64_t serial;
};

struct worker {
	struct mailbox *box;
	pthread_t thread;

	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct work metrics, preview, order, cost, forecast, usage; /* waiting */
	bool stop;
	bool put_off;		    /* the usage that runs was cancelled for something urgent */
	const struct work *running; /* which of them was taken last; NULL: none */
	struct progress progress;   /* of what runs */

	uint64_t last_ms;
	const char *last_step;
	enum msg_type step_type;
	const char *what; /* of MSG_BACKGROUND_STEP */
};

static void worker_work_drop(struct work *k)
{
	fabric_put(k->fabric);
	tables_put(k->tables);
	jobset_put(k->jobs);
	free(k->roots);
	route_limits_free(k->limits);
	demand_put(k->demand);
	rates_put(k->rates);
	tables_put(k->to);
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

/* What follows consists of so many parts, 0 not known; its steps are told as such messages. */
static void worker_begin(struct worker *w, enum msg_type type, const char *what, unsigned parts)
{
	w->last_step = NULL;
	w->step_type = type;
	w->what = what;
	progress_parts(&w->progress, parts);
}

static void worker_do_metrics(struct worker *w, struct work *k)
{
	struct msg *msg = msg_new(MSG_METRICS);
	struct verify_opts vo = { .terminals_only = true };
	struct err err = { "" };

	worker_begin(w, MSG_METRICS_STEP, "figures", 1 + (k->verify && tables_know_vls(k->tables)));
	progress_next(&w->progress);
	msg->rc = metrics_compute(&msg->after, k->fabric, k->tables, k->jobs, NULL, &w->progress,
				  &err);
	progress_next(&w->progress);
	if (!msg->rc && k->verify && tables_know_vls(k->tables))
		msg->rc =
			verify_tables(&msg->verdict, k->fabric, k->tables, &vo, &w->progress, &err);
	snprintf(msg->text, sizeof(msg->text), "%s", err.text);
	msg->fabric = fabric_get(k->fabric);
	msg->tables = tables_get(k->tables);
	msg->jobs = jobset_get(k->jobs);
	mailbox_send(w->box, msg);
}

/* Who uses what: only to look at, so that everything else goes first. */
static void worker_do_usage(struct worker *w, struct work *k)
{
	struct msg *msg = msg_new(MSG_USAGE);
	struct err err = { "" };

	worker_begin(w, MSG_BACKGROUND_STEP, "who uses what", 0);
	msg->rc = link_usage_compute(&msg->usage, k->fabric, k->tables, k->jobs, k->lanes,
				     &w->progress, &err);
	if (msg->rc && msg->rc != -ECANCELED)
		log_add(LOG_WARN, "usage", "%s", err.text);
	mailbox_send(w->box, msg);
}

static int worker_read_file(struct worker *w, const struct work *k, struct tables **out,
			    struct msg *msg, struct err *err)
{
	struct route_file from = { k->tables_file, k->path_sl, k->sl2vl };
	struct progress *before = file_progress_set(&w->progress);
	int rc = route_file_read(out, &msg->files, &msg->notes, &from, k->fabric, err);

	file_progress_set(before);
	return rc;
}

/* What would be written, as a plan says it: under the id that it will have. */
static int worker_onto_installed(struct worker *w, const struct work *k, struct msg *msg)
{
	const struct tables *t = msg->tables;
	struct plan *p;
	struct err why;
	int rc = plan_new_told(&p, k->fabric, k->tables, t, k->jobs, &k->sm, time(NULL),
			       &w->progress, &why);

	if (rc == -ECANCELED)
		return rc;
	if (rc) {
		msg->tables = tables_onto(k->fabric, k->tables, t);
		msg->diff = tdiff_new(k->fabric, k->tables, msg->tables);
	} else {
		plan_from_files(p, &msg->files);
		snprintf(msg->txn, sizeof(msg->txn), "%s", p->id);
		msg->tables = tables_get(p->to);
		msg->diff = p->diff;
		p->diff = NULL;
		plan_free(p);
	}
	tables_put(t);
	return 0;
}

static int worker_compute_preview(struct worker *w, const struct work *k, struct msg *msg,
				  struct err *err)
{
	struct verify_opts vo = { .limits = k->limits, .installed = k->tables };
	struct engine_params params = k->params;
	struct tables *t = NULL;
	uint64_t start = clock_ms();
	int rc;

	params.current = k->tables;
	params.notes = &msg->notes;
	progress_next(&w->progress);
	if (k->engine == &route_file_engine)
		rc = worker_read_file(w, k, &t, msg, err);
	else
		rc = engine_run(k->engine, &t, k->fabric, k->jobs, k->demand, &params, &w->progress,
				err);
	msg->seconds = (double)(clock_ms() - start) / 1e3;
	msg->tables = t;
	progress_next(&w->progress);
	if (!rc)
		rc = route_file_verify(&msg->verdict, k->fabric, t, &vo, &w->progress, err);
	if (!rc && !verdict_ok(msg->verdict)) {
		char why[300];

		verdict_sentence(why, sizeof(why), msg->verdict, k->fabric);
		notes_set(&msg->notes, "verdict", 0, "%s", why);
	}
	progress_next(&w->progress);
	if (!rc)
		rc = metrics_compute(&msg->after, k->fabric, t, k->jobs, NULL, &w->progress, err);
	progress_next(&w->progress);
	if (!rc && k->tables)
		rc = metrics_compute(&msg->before, k->fabric, k->tables, k->jobs, NULL,
				     &w->progress, err);
	progress_next(&w->progress);
	if (!rc && k->tables)
		rc = worker_onto_installed(w, k, msg);
	return rc;
}

/* What takes long and is not needed to judge a plan. */
static int worker_expect(struct worker *w, const struct work *k, struct forecast *out,
			 const struct tables *t, struct err *err)
{
	if (!t || k->traffic_only)
		return 0;
	progress_next(&w->progress);
	return forecast_compute(out, k->fabric, t, k->jobs, &w->progress, err);
}

static int worker_carry(struct worker *w, const struct work *k, struct traffic *out,
			const struct tables *t, struct err *err)
{
	if (!t || !k->rates)
		return 0;
	progress_next(&w->progress);
	return traffic_predict(out, k->fabric, t, k->jobs, k->rates, &w->progress, err);
}

static void worker_do_forecast(struct worker *w, struct work *k)
{
	struct msg *msg = msg_new(k->traffic_only ? MSG_TRAFFIC : MSG_FORECAST);
	unsigned each = !k->traffic_only + (k->rates != NULL);
	struct err err = { "" };
	int rc;

	worker_begin(w, MSG_BACKGROUND_STEP, "forecast", each * (k->tables ? 2 : 1));
	rc = worker_expect(w, k, &msg->plan, k->to, &err);
	if (!rc)
		rc = worker_expect(w, k, &msg->now, k->tables, &err);
	if (!rc)
		rc = worker_carry(w, k, &msg->traffic_plan, k->to, &err);
	if (!rc)
		rc = worker_carry(w, k, &msg->traffic_now, k->tables, &err);
	if (rc && rc != -ECANCELED)
		log_add(LOG_WARN, "forecast", "%s", err.text);
	msg->rc = rc;
	msg->total = k->serial;
	mailbox_send(w->box, msg);
}

static void worker_do_preview(struct worker *w, struct work *k)
{
	struct msg *msg = msg_new(MSG_PREVIEW);
	struct err err = { "" };

	worker_begin(w, MSG_WORK_STEP, NULL, k->tables ? 5 : 3);
	msg->rc = worker_compute_preview(w, k, msg, &err);
	if (msg->rc) {
		msg->type = MSG_PREVIEW_FAILED;
		snprintf(msg->text, sizeof(msg->text), "%s", err.text);
	}
	msg->fabric = fabric_get(k->fabric);
	msg->from = tables_get(k->tables);
	msg->jobs = jobset_get(k->jobs);
	msg->total = k->serial;
	mailbox_send(w->box, msg);
}

/* The plan, and the order of its writes. */
static void worker_do_order(struct worker *w, struct work *k, enum msg_type steps,
			    enum msg_type end)
{
	struct msg *msg = msg_new(end);
	struct err err = { "" };
	struct plan *p = NULL;

	worker_begin(w, steps, "order of writes", 0);
	msg->total = k->serial;
	msg->rc = plan_new_told(&p, k->fabric, k->tables, k->to, k->jobs, &k->sm, time(NULL),
				&w->progress, &err);
	if (!msg->rc)
		plan_from_files(p, &k->files);
	if (!msg->rc && !plan_empty(p))
		msg->rc = plan_order_find(p, NULL, &w->progress, &err);
	if (!msg->rc) {
		msg->ordered = p;
		p = NULL;
	}
	plan_free(p);
	snprintf(msg->text, sizeof(msg->text), "%s", err.text);
	mailbox_send(w->box, msg);
}

static struct work *worker_next_work(struct worker *w)
{
	return w->order.wanted			  ? &w->order
	       : w->cost.wanted && w->cost.urgent ? &w->cost
	       : w->preview.wanted		  ? &w->preview
	       : w->metrics.wanted		  ? &w->metrics
	       : w->cost.wanted			  ? &w->cost
	       : w->forecast.wanted		  ? &w->forecast
						  : &w->usage;
}

static void worker_do_work(struct worker *w, struct work *k)
{
	if (w->running == &w->usage)
		worker_do_usage(w, k);
	else if (w->running == &w->order)
		worker_do_order(w, k, MSG_ORDER_STEP, MSG_ORDERED);
	else if (w->running == &w->cost)
		worker_do_order(w, k, MSG_COST_STEP, MSG_COST);
	else if (w->running == &w->forecast)
		worker_do_forecast(w, k);
	else if (w->running == &w->preview)
		worker_do_preview(w, k);
	else
		worker_do_metrics(w, k);
}

static void worker_submit(struct worker *w, struct work *slot, const struct work *k)
{
	worker_work_drop(slot);
	*slot = *k;
	slot->wanted = true;
	fabric_get(slot->fabric);
	tables_get(slot->tables);
	jobset_get(slot->jobs);
	pthread_cond_signal(&w->wake);
}

/* With the lock held: usage gives way, and is taken up again afterwards. */
static void worker_put_off_usage(struct worker *w)
{
	if (w->running != &w->usage)
		return;
	w->put_off = true;
	atomic_store(&w->progress.cancel, true);
}

static void *worker_run(void *arg)
{
	struct worker *w = arg;

	pthread_mutex_lock(&w->lock);
	while (!w->stop) {
		struct work *from = worker_next_work(w), k;

		if (!from->wanted) {
			pthread_cond_wait(&w->wake, &w->lock);
			continue;
		}
		k = *from;
		memset(from, 0, sizeof(*from));
		w->running = from;
		atomic_store(&w->progress.cancel, false);
		pthread_mutex_unlock(&w->lock);
		worker_do_work(w, &k);
		pthread_mutex_lock(&w->lock);
		if (from == &w->usage && w->put_off && !from->wanted)
			worker_submit(w, from, &k);
		w->put_off = false;
		worker_work_drop(&k);
		w->running = NULL;
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void worker_free(struct worker *w)
{
	worker_work_drop(&w->metrics);
	worker_work_drop(&w->preview);
	worker_work_drop(&w->order);
	worker_work_drop(&w->usage);
	worker_work_drop(&w->cost);
	worker_work_drop(&w->forecast);
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

int worker_start(struct worker **out, struct mailbox *box, struct err *err)
{
	struct worker *w = xcalloc(1, sizeof(*w));
	int rc;

	w->box = box;
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
		.fabric = f, .tables = t, .jobs = jobs, .verify = verify, .lanes = lanes
	};

	pthread_mutex_lock(&w->lock);
	worker_put_off_usage(w);
	worker_submit(w, &w->metrics, &k);
	worker_submit(w, &w->usage, &k);
	pthread_mutex_unlock(&w->lock);
}

void worker_figures(struct worker *w, const struct fabric *f, const struct tables *t,
		    const struct jobset *jobs, bool verify)
{
	struct work k = { .fabric = f, .tables = t, .jobs = jobs, .verify = verify };

	pthread_mutex_lock(&w->lock);
	worker_submit(w, &w->metrics, &k);
	pthread_mutex_unlock(&w->lock);
}

void worker_preview(struct worker *w, const struct preview_ask *ask)
{
	struct work k = { .fabric = ask->fabric,
			  .tables = ask->current,
			  .jobs = ask->jobs,
			  .engine = ask->engine,
			  .params = ask->params,
			  .sm = ask->sm,
			  .serial = ask->serial };

	if (ask->files) {
		snprintf(k.tables_file, sizeof(k.tables_file), "%s", ask->files->tables);
		snprintf(k.path_sl, sizeof(k.path_sl), "%s", ask->files->path_sl);
		snprintf(k.sl2vl, sizeof(k.sl2vl), "%s", ask->files->sl2vl);
	}

	if (ask->params.nroots) {
		k.roots = xcalloc(ask->params.nroots, sizeof(*k.roots));
		memcpy(k.roots, ask->params.roots, ask->params.nroots * sizeof(*k.roots));
		k.params.roots = k.roots;
	}
	k.params.limits = k.limits = route_limits_copy(ask->params.limits);
	pthread_mutex_lock(&w->lock);
	if (w->running == &w->preview || w->running == &w->cost || w->running == &w->forecast)
		atomic_store(&w->progress.cancel, true);
	worker_put_off_usage(w);
	worker_submit(w, &w->preview, &k);
	w->preview.demand = ask->demand ? demand_get(ask->demand) : NULL;
	pthread_mutex_unlock(&w->lock);
}

void worker_cancel(struct worker *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	if (w->preview.wanted) { /* nobody else would tell its end */
		struct msg *msg = msg_new(MSG_PREVIEW_FAILED);

		msg->rc = -ECANCELED;
		msg->total = w->preview.serial;
		mailbox_send(w->box, msg);
	}
	worker_work_drop(&w->preview);
	if (w->running == &w->preview)
		atomic_store(&w->progress.cancel, true);
	pthread_mutex_unlock(&w->lock);
}

/* With the lock held: what runs can be asked for again, and somebody waits for this. */
static void worker_make_way(struct worker *w)
{
	if (w->running && w->running != &w->metrics)
		atomic_store(&w->progress.cancel, true);
	worker_put_off_usage(w);
}

/* With the lock held. */
static void worker_submit_order(struct worker *w, struct work *slot, const struct order_ask *ask,
				bool urgent)
{
	struct work k = { .fabric = ask->fabric,
			  .tables = ask->from,
			  .jobs = ask->jobs,
			  .sm = ask->sm,
			  .urgent = urgent,
			  .serial = ask->serial };

	if (ask->files)
		k.files = *ask->files;
	worker_submit(w, slot, &k);
	slot->to = tables_get(ask->to);
}

void worker_order(struct worker *w, const struct order_ask *ask)
{
	pthread_mutex_lock(&w->lock);
	worker_make_way(w);
	worker_submit_order(w, &w->order, ask, true);
	pthread_mutex_unlock(&w->lock);
}

void worker_cancel_order(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	worker_work_drop(&w->order);
	if (w->running == &w->order)
		atomic_store(&w->progress.cancel, true);
	pthread_mutex_unlock(&w->lock);
}

void worker_cost(struct worker *w, const struct order_ask *ask, bool urgent)
{
	pthread_mutex_lock(&w->lock);
	if (urgent)
		worker_make_way(w);
	else
		worker_put_off_usage(w);
	worker_submit_order(w, &w->cost, ask, urgent);
	pthread_mutex_unlock(&w->lock);
}

void worker_forecast(struct worker *w, const struct forecast_ask *ask)
{
	struct work k = { .fabric = ask->fabric,
			  .tables = ask->from,
			  .jobs = ask->jobs,
			  .traffic_only = ask->traffic_only,
			  .serial = ask->serial };

	pthread_mutex_lock(&w->lock);
	worker_put_off_usage(w);
	worker_submit(w, &w->forecast, &k);
	w->forecast.to = tables_get(ask->to);
	w->forecast.rates = ask->rates ? rates_get(ask->rates) : NULL;
	pthread_mutex_unlock(&w->lock);
}

void worker_cancel_background(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	if (w->running == &w->metrics || w->running == &w->usage || w->running == &w->forecast)
		atomic_store(&w->progress.cancel, true);
	pthread_mutex_unlock(&w->lock);
}

void worker_cancel_cost(struct worker *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	worker_work_drop(&w->cost);
	if (w->running == &w->cost)
		atomic_store(&w->progress.cancel, true);
	pthread_mutex_unlock(&w->lock);
}
