/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the threads report becomes state. */
#include "console/app/app_priv.h"

#include "console/input/route_file.h"
#include "console/session/sample_reading.h"
#include "fabric/base/clock.h"
#include "fabric/base/mem.h"
#include "fabric/base/plural.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STALE_POLLS 3 /* so many missed: counters are overdue */
#define STALE_S	    2.0

void app_want_metrics(struct app *a)
{
	if (!a->tables)
		return;
	a->state.metrics_busy = true;
	a->figures_ended = false;
	a->state.metrics_step[0] = '\0';
	worker_metrics(a->worker, a->fabric, a->tables, a->jobs, !a->verdict, app_wants_lanes(a));
}

void app_drop_metrics(struct app *a)
{
	metrics_set_put(a->figures);
	a->figures = NULL;
	a->metrics = NULL;
	a->verdict = NULL;
	a->metrics_jobs = NULL;
	a->state.metrics = NULL;
	a->state.verdict = NULL;
	a->state.metrics_jobs = NULL;
}

/* --- jobs -------------------------------------------------------------------------------- */

static void app_data_set_jobs(struct app *a, const struct jobset *js)
{
	bool same = jobset_same(a->jobs, js);

	jobset_put(a->jobs);
	a->jobs = js;
	a->state.jobs = js;
	if (a->poller)
		a->updater.ops->jobs(a->updater.ctx, js);
	/* ids may change without the routing being any other: the figures per job must follow */
	if (!same || !a->metrics_jobs || a->metrics_jobs->njob != js->njob)
		app_want_metrics(a);
	app_stale(a);
}

static void app_data_map_jobs(struct app *a)
{
	struct jobset *js = NULL;
	struct err err;

	if (!a->fabric || !a->job_list)
		return;
	if (jobset_from_list(&js, a->job_list, a->fabric, &err))
		log_add(LOG_WARN, "jobs", "%s", err.text);
	if (js)
		app_data_set_jobs(a, js);
}

void app_set_list(struct app *a, const struct job_list *list)
{
	bool same = a->job_list && job_list_same(a->job_list, list);

	job_list_put(a->job_list);
	a->job_list = list;
	a->jobs_at = clock_s();
	if (!same || !a->jobs)
		app_data_map_jobs(a);
}

void app_take_jobs(struct app *a)
{
	const struct source_status *st;
	const struct job_list *list;

	if (!a->source || !source_poll(a->source))
		return;
	st = source_status(a->source);
	if (a->state.jobs_source.state != JOBS_UNREACHABLE && st->state >= SOURCE_UNREACHABLE)
		log_add(LOG_WARN, "jobs", "%s", st->text);
	a->state.jobs_source.state = st->state == SOURCE_STARTING ? JOBS_WAITING
				     : st->state == SOURCE_OK	  ? JOBS_OK
								  : JOBS_UNREACHABLE;
	snprintf(a->state.jobs_source.sentence, sizeof(a->state.jobs_source.sentence), "%.255s",
		 st->text);
	list = source_take(a->source);
	if (list)
		app_set_list(a, list);
	a->dirty = true;
}

/* --- fabric, tables, counters ------------------------------------------------------------ */

static uint32_t app_data_missing(const uint64_t *of, uint32_t n, const struct fabric *f,
				 uint32_t (*find)(const struct fabric *, uint64_t))
{
	uint32_t gone = 0;

	for (uint32_t i = 0; i < n; i++)
		gone += find(f, of[i]) == FAB_NONE;
	return gone;
}

static void app_data_count_missing(struct app *a)
{
	struct state_poll *p = &a->state.poll;

	if (!a->whole) {
		a->whole = fabric_get(a->fabric);
		return;
	}
	p->missing_sw = app_data_missing(a->whole->sw_guid, a->whole->nsw, a->fabric,
					 fabric_switch_by_guid);
	p->missing_ca = app_data_missing(a->whole->term_guid, a->whole->nterm, a->fabric,
					 fabric_term_by_guid);
	if (p->missing_sw || p->missing_ca) {
		log_add(LOG_WARN, "sweep", "%u switch%s and %u end port%s known before: not found",
			p->missing_sw, plural_es(p->missing_sw), p->missing_ca,
			plural(p->missing_ca));
		return;
	}
	fabric_put(a->whole);
	a->whole = fabric_get(a->fabric);
}

static void app_data_list_engines(struct app *a)
{
	struct state_preview *p = &a->state.preview;
	const struct engine *const *all;
	size_t n;

	all = engine_all(&n);
	p->nengines = 0;
	for (size_t i = 0; i < n && i < ENGINES_MAX - 1; i++) {
		struct engine_choice *c = &p->engines[p->nengines++];
		struct err err = { "" };

		c->engine = all[i];
		c->suits = !all[i]->suits || !all[i]->suits(a->fabric, &err);
		snprintf(c->why, sizeof(c->why), "%.255s", err.text);
	}
	p->engines[p->nengines++] =
		(struct engine_choice){ .engine = &route_file_engine, .suits = true, .file = true };
}

void app_set_fabric(struct app *a, const struct fabric *f)
{
	if (a->fabric && digest_equal(&a->fabric->fingerprint, &f->fingerprint)) {
		fabric_put(f);
		return;
	}
	app_preview_drop(a);
	app_drop_metrics(a);
	tables_put(a->tables);
	tables_put(a->read);
	a->read = NULL;
	sample_put(a->sample);
	rates_put(a->rates);
	sample_summary_put(a->tally);
	jobset_put(a->jobs);
	history_free(a->history);
	a->state.tables = a->tables = NULL;
	a->state.poll.tables_on = a->state.poll.tables_ended = false;
	a->state.sample = a->sample = NULL;
	a->state.rates = a->rates = NULL;
	a->state.tally = a->tally = NULL;
	a->state.jobs = a->jobs = NULL;
	fabric_put(a->fabric);
	a->fabric = f;
	a->state.fabric = f;
	a->history = history_new(f->nchan);
	a->state.history = a->history;
	app_data_count_missing(a);
	app_data_list_engines(a);
	app_data_map_jobs(a);
}

/* After a pause of the screen the last sample that was taken is not the one before. */
static void app_data_take_rates(struct app *a, const struct sample_reading *r)
{
	bool next = r->before == a->sample;

	rates_put(a->rates);
	sample_summary_put(a->tally);
	a->rates = next ? rates_get(r->rates) : rates_new(a->fabric, a->sample, r->sample);
	a->tally = next ? sample_summary_get(r->tally) : NULL;
}

static void app_data_take_sample(struct app *a, struct msg *msg)
{
	struct sample_reading *r = msg->reading;

	if (!a->fabric || !digest_equal(&r->sample->fingerprint, &a->fabric->fingerprint))
		return;
	app_data_take_rates(a, r);
	sample_put(a->sample);
	a->sample = sample_get(r->sample);
	a->prepared_s = r->cpu_s;
	app_past_add(a, r);
	app_warn(a);
	a->state.sample = a->sample;
	a->state.rates = a->rates;
	a->state.tally = a->tally;
	a->state.poll.asked = a->sample->asked;
	a->state.poll.answered = a->sample->answered;
	a->state.poll.partial = a->sample->answered < a->sample->asked;
	a->sample_at = clock_s();
	a->sample_took = (double)a->sample->took_ns / 1e9;
	app_want_forecast(a);
}

static void app_data_take_metrics(struct app *a, struct msg *msg)
{
	struct metrics_set *before;

	if (app_past_take(a, msg) || msg->tables != a->tables)
		return; /* overtaken: others are on their way */
	/* figures of a job set that has changed since are better than none: on a large machine
	 * jobs change faster than figures can be had */
	a->state.metrics_busy = msg->jobs != a->jobs;
	if (msg->rc) {
		if (msg->rc != -ECANCELED)
			log_add(LOG_WARN, "metrics", "%s", msg->text);
		return;
	}
	before = metrics_set_get(a->figures);
	app_drop_metrics(a);
	a->figures = metrics_set_new(msg->after, msg->verdict, jobset_get(msg->jobs), before);
	metrics_set_put(before);
	msg->after = NULL;
	msg->verdict = NULL;
	a->metrics = a->figures->metrics;
	a->verdict = a->figures->verdict;
	a->metrics_jobs = a->figures->jobs;
	a->state.metrics = a->metrics;
	a->state.verdict = a->verdict;
	a->state.metrics_jobs = a->metrics_jobs;
	app_past_figures(a);
}

static void app_data_take_sm(struct app *a, const struct msg *msg)
{
	struct state_sm *s = &a->state.sm;
	uint32_t end;

	if (msg->rc) {
		s->lost = s->known;
		return;
	}
	if (s->known && s->guid != msg->sm.guid)
		log_add(LOG_WARN, "sm", "the master subnet manager changed: now 0x%016lx, LID %u",
			(unsigned long)msg->sm.guid, msg->sm.lid);
	a->sm = msg->sm;
	s->known = true;
	s->lost = false;
	s->lid = msg->sm.lid;
	s->guid = msg->sm.guid;
	snprintf(s->state, sizeof(s->state), "%s", wire_sm_state_name(msg->sm.state));
	if (strcmp(s->engine, msg->engine) != 0 && msg->requested[0])
		log_add(LOG_WARN, "sm", "OpenSM routes by its own engine %s, not by our tables: %s",
			msg->engine, msg->text);
	memcpy(s->engine, msg->engine, sizeof(s->engine));
	memcpy(s->requested, msg->requested, sizeof(s->requested));
	end = a->fabric ? fabric_lid_end(a->fabric, msg->sm.lid) : FAB_NONE;
	if (end != FAB_NONE && end < a->fabric->nend)
		snprintf(s->name, sizeof(s->name), "%.63s", a->fabric->term_name[end]);
}

/* --- the mailbox
 * ---------------------------------------------------------------------------------- */

static int app_data_held_kind(enum msg_type type)
{
	switch (type) {
	case MSG_FABRIC:
		return HELD_FABRIC;
	case MSG_TABLES:
		return HELD_TABLES;
	case MSG_SAMPLE:
		return HELD_SAMPLE;
	case MSG_METRICS:
		return HELD_METRICS;
	case MSG_USAGE:
		return HELD_USAGE;
	case MSG_JOBS:
		return HELD_JOBS;
	default:
		return -1;
	}
}

static void app_data_take_discovering(struct app *a, const struct msg *msg)
{
	struct state_poll *p = &a->state.poll;

	if (msg->rc == -ECANCELED) {
		p->discovering = p->sweep_asked = false;
		shell_say(a->shell, "ended: the fabric stays as it was found before");
		return;
	}
	p->discovering = true;
	p->found_sw = (uint32_t)msg->done;
	p->found_ca = (uint32_t)msg->total;
	snprintf(p->pace, sizeof(p->pace), "%.79s", msg->text);
	if (p->sweep_asked)
		shell_say(a->shell, "discovering anew: %s; Esc ends it", p->pace);
}

static void app_data_take_fabric(struct app *a, struct msg *msg)
{
	bool first = !a->fabric;

	a->state.poll.discovering = false;
	a->fabric_partial = msg->partial;
	free(a->silent);
	a->state.poll.silent = a->silent = msg->silent;
	msg->silent = NULL;
	a->state.preview.sweep_s = msg->seconds;
	app_set_fabric(a, msg->fabric);
	msg->fabric = NULL;
	if (first)
		app_find_journal(a);
}

/* Returns true when the message was kept. */
static bool app_data_take(struct app *a, struct msg *msg)
{
	switch (msg->type) {
	case MSG_LOG:
		if (msg->line.level == LOG_ERROR)
			app_record_error(a, msg->line.area, msg->line.text);
		break;
	case MSG_DISCOVERING:
		app_data_take_discovering(a, msg);
		break;
	case MSG_READING:
		snprintf(a->state.poll.reading, sizeof(a->state.poll.reading), "%.79s", msg->text);
		break;
	case MSG_FABRIC:
		app_data_take_fabric(a, msg);
		break;
	case MSG_TABLES_READING:
		app_tables_reading(a, msg);
		break;
	case MSG_TABLES:
		a->state.poll.reading[0] = '\0';
		app_take_tables(a, msg);
		break;
	case MSG_SAMPLE:
		a->state.poll.busy = false;
		a->state.poll.reading[0] = '\0';
		app_data_take_sample(a, msg);
		break;
	case MSG_SM:
		app_data_take_sm(a, msg);
		break;
	case MSG_LOST:
		a->lost = true;
		a->state.poll.sweep_asked = false;
		if (a->state.mode == RUN_LIVE)
			a->state.mode = RUN_LOST;
		snprintf(a->state.lost_why, sizeof(a->state.lost_why), "%.199s", msg->text);
		break;
	case MSG_FOUND:
		a->lost = false;
		if (a->state.mode == RUN_LOST)
			a->state.mode = RUN_LIVE;
		break;
	case MSG_POLLING:
		a->state.poll.busy = true;
		break;
	case MSG_APPLY_EVENT:
		app_apply_event(a, msg);
		break;
	case MSG_APPLY_END:
		app_apply_end(a, msg);
		break;
	case MSG_APPLY_DEADLINE:
		app_apply_deadline(a, msg->seconds);
		break;
	case MSG_APPLY_FOUND:
		app_apply_found(a, msg);
		break;
	case MSG_APPLY_WAY:
		app_apply_way(a, msg);
		break;
	case MSG_APPLY_SEEN:
		app_apply_seen(a, msg);
		break;
	case MSG_WORK_STEP:
		app_take_step(a, msg);
		break;
	case MSG_METRICS_STEP:
	case MSG_BACKGROUND_STEP:
		break;
	case MSG_METRICS:
		app_data_take_metrics(a, msg);
		break;
	case MSG_USAGE:
		app_take_usage(a, msg);
		break;
	case MSG_PREVIEW:
	case MSG_PREVIEW_FAILED:
		return app_take_preview(a, msg);
	case MSG_FORECAST:
	case MSG_TRAFFIC:
		app_take_forecast(a, msg);
		break;
	case MSG_COST:
		app_take_cost(a, msg);
		break;
	case MSG_COST_STEP:
	case MSG_ORDER_STEP:
		break;
	case MSG_ORDERED:
		app_ordered(a, msg);
		break;
	case MSG_JOBS:
		a->state.jobs_source.state = JOBS_OK;
		app_set_list(a, msg->list);
		msg->list = NULL;
		break;
	}
	return false;
}

static bool app_data_tells_a_step(enum msg_type type)
{
	return type == MSG_WORK_STEP || type == MSG_METRICS_STEP || type == MSG_BACKGROUND_STEP ||
	       type == MSG_COST_STEP || type == MSG_ORDER_STEP;
}

void app_take_messages(struct app *a)
{
	struct msg *msg;

	while ((msg = mailbox_take(a->box))) {
		int kind = a->state.mode == RUN_FROZEN ? app_data_held_kind(msg->type) : -1;

		a->dirty = true;
		app_work_end(a, msg->type);
		if (app_data_tells_a_step(msg->type))
			app_work_step(a, msg);
		a->state.poll.sweep_asked &= msg->type != MSG_FABRIC;
		if (kind == HELD_SAMPLE)
			app_past_held(a, msg->reading);
		if (kind >= 0) {
			msg_drop(a->held[kind]);
			a->held[kind] = msg;
			continue;
		}
		if (!app_data_take(a, msg))
			msg_drop(msg);
	}
	app_preview_due(a);
}

void app_unfreeze(struct app *a)
{
	a->state.mode = a->lost ? RUN_LOST : RUN_LIVE;
	for (int k = 0; k < HELD_COUNT; k++) {
		struct msg *msg = a->held[k];

		a->held[k] = NULL;
		if (msg && !app_data_take(a, msg))
			msg_drop(msg);
	}
}

/* Age at which new counters are overdue: a poll may take longer than the interval. */
static double app_data_overdue(const struct app *a)
{
	return fmax(STALE_POLLS * fmax(a->state.poll.interval_s, a->sample_took), STALE_S);
}

static void app_data_name_bookmarks(struct app *a)
{
	const struct mark *mark;
	uint32_t n = sample_history_marks(a->past, &mark);

	for (uint32_t i = 0; i < n; i++)
		a->bookmarks[i] = mark[i].name;
	a->bookmarks[n] = NULL;
	a->state.bookmarks = a->bookmarks;
}

void app_refresh(struct app *a)
{
	double now = clock_s();
	struct state *s = &a->state;

	app_data_name_bookmarks(a);
	s->now_s = time(NULL);
	s->rec_s = now - a->start;
	s->poll.age_s = a->sample ? now - a->sample_at : NAN;
	s->poll.took_s = a->sample ? a->sample_took : NAN;
	s->poll.next_s = a->sample ? fmax(0, a->sample_at + s->poll.interval_s - now) : NAN;
	s->jobs_source.age_s = a->job_list ? now - a->jobs_at : NAN;
	for (uint32_t i = 0; i < s->apply.nsteps; i++)
		if (s->apply.steps[i].state == STEP_RUNNING)
			s->apply.steps[i].took_s = now - a->apply_step_start;
	app_update_tick(a);
	app_wrote_estimate(&s->apply);
	app_record_heads(a);
	app_order_refresh(a);
	app_work_refresh(a);
	if (s->preview.state == PREVIEW_RUNNING)
		s->preview.elapsed_s = now - a->preview_start;
	s->poll.stale = s->mode == RUN_LIVE && a->sample && !s->poll.discovering &&
			now - a->sample_at > app_data_overdue(a);
}

void app_data_free(struct app *a)
{
	app_preview_drop(a);
	for (int k = 0; k < HELD_COUNT; k++)
		msg_drop(a->held[k]);
	plan_free(a->plan);
	app_wrote_free(a);
	free(a->silent);
	jobset_put(a->automatic.routed_for);
	tables_put(a->undo);
	tables_put(a->applied);
	tables_put(a->first);
	tables_put(a->read);
	app_past_live(a);
	sample_history_free(a->past);
	free(a->over_s);
	metrics_set_put(a->figures);
	link_usage_free(a->usage);
	history_free(a->history);
	rates_put(a->rates);
	sample_summary_put(a->tally);
	sample_put(a->sample);
	jobset_put(a->jobs);
	job_list_put(a->job_list);
	tables_put(a->tables);
	fabric_put(a->whole);
	fabric_put(a->fabric);
}
