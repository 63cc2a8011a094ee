/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the threads report becomes state; the other parts of the console hear of it. */
#include "console/app/app_priv.h"

#include "console/session/samples/sample_reading.h"
#include "fabric/base/memory/mem.h"
#include "fabric/baseline/findings.h"
#include "fabric/base/message/plural.h"
#include "fabric/base/time/clock.h"
#include "views/data/state/key_hint.h"
#include "views/table/fields.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STALE_POLLS 3 /* so many missed: counters are overdue */
#define STALE_S	    2.0

void app_tell(struct app *a, const struct app_news *n)
{
	for (size_t i = 0; a->parts[i]; i++)
		if (a->parts[i]->hear)
			a->parts[i]->hear(a, n);
}

static void app_data_tell(struct app *a, enum app_news_type type, struct msg *msg)
{
	app_tell(a, &(struct app_news){ .type = type, .msg = msg });
}

/* --- figures of the installed tables --------------------------------------------------------- */

/* Lanes do not depend on jobs: those of the same tables are kept. */
static bool app_data_keeps_lanes(const struct app *a)
{
	return a->state.usage && a->state.usage->lanes && a->state.usage->tables == a->state.tables;
}

static bool app_data_wants_lanes(const struct app *a)
{
	return a->state.sls_known && tables_know_vls(a->state.tables) && !app_data_keeps_lanes(a);
}

void app_want_metrics(struct app *a)
{
	if (!a->state.tables)
		return;
	a->state.metrics_busy = true;
	a->metrics_ended = false;
	a->state.metrics_step[0] = '\0';
	worker_metrics(a->worker, a->state.fabric, a->state.tables, a->state.jobs,
		       !a->state.verdict, app_data_wants_lanes(a));
}

static void app_data_drop_metrics(struct app *a)
{
	metrics_set_put(a->metrics);
	a->metrics = NULL;
	a->state.metrics = NULL;
	a->state.time.known = false;
	a->state.verdict = NULL;
	a->state.metrics_jobs = NULL;
}

static void app_data_take_usage(struct app *a, struct msg *msg)
{
	struct link_usage *u = msg->usage;

	/* one of other tables was overtaken; what replaces it is on its way */
	if (!u || u->tables != a->state.tables)
		return;
	msg->usage = NULL;
	if (!u->lanes && app_data_keeps_lanes(a)) {
		u->lanes = a->state.usage->lanes;
		a->state.usage->lanes = NULL;
	}
	link_usage_free(a->state.usage);
	a->state.usage = u;
}

/* --- jobs -------------------------------------------------------------------------------- */

static void app_data_set_jobs(struct app *a, const struct jobset *js)
{
	bool same = jobset_same(a->state.jobs, js);

	jobset_put(a->state.jobs);
	a->state.jobs = js;
	/* ids may change without the routing being any other: the figures per job must follow */
	if (!same || !a->metrics || !a->metrics->jobs || a->metrics->jobs->njob != js->njob)
		app_want_metrics(a);
	app_data_tell(a, NEWS_JOBS, NULL);
}

static void app_data_map_jobs(struct app *a)
{
	struct jobset *js = NULL;
	struct err err;

	if (!a->state.fabric || !a->job_list)
		return;
	if (jobset_from_list(&js, a->job_list, a->state.fabric, &err))
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
	if (!same || !a->state.jobs)
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
	/* the same jobs again are no list */
	if (st->last_good_s)
		a->jobs_at = clock_s() - fmax(0, (double)(time(NULL) - st->last_good_s));
	a->dirty = true;
}

/* --- the fabric ------------------------------------------------------------ */

static uint32_t app_data_missing(const uint64_t *of, uint32_t n, const struct fabric *f,
				 uint32_t (*find)(const struct fabric *, uint64_t))
{
	uint32_t gone = 0;

	for (uint32_t i = 0; i < n; i++)
		gone += find(f, of[i]) == FAB_NONE;
	return gone;
}

static void app_data_tell_missing(uint32_t switches, uint32_t ends)
{
	char sw[32] = "", end[32] = "";

	if (switches)
		snprintf(sw, sizeof(sw), "%u switch%s", switches, plural_es(switches));
	if (ends)
		snprintf(end, sizeof(end), "%u end port%s", ends, plural(ends));
	log_add(LOG_WARN, "sweep", "not found again: %s%s%s", sw, switches && ends ? ", " : "",
		end);
}

static void app_data_count_missing(struct app *a)
{
	struct state_poll *p = &a->state.poll;

	if (!a->whole)
		a->whole = fabric_get(a->state.findings && a->state.findings->expected
					      ? a->state.findings->expected
					      : a->state.fabric);
	p->missing_sw = app_data_missing(a->whole->sw_guid, a->whole->nsw, a->state.fabric,
					 fabric_switch_by_guid);
	p->missing_ca = app_data_missing(a->whole->term_guid, a->whole->nterm, a->state.fabric,
					 fabric_term_by_guid);
	if (p->missing_sw || p->missing_ca) {
		app_data_tell_missing(p->missing_sw, p->missing_ca);
		return;
	}
	fabric_put(a->whole);
	a->whole = fabric_get(a->state.fabric);
}

/* And all that is of this fabric alone. */
static void app_data_drop_fabric(struct app *a)
{
	struct state *s = &a->state;

	app_data_drop_metrics(a);
	tables_put(s->tables);
	tables_put(a->read);
	sample_put(s->sample);
	rates_put(s->rates);
	sample_summary_put(s->sample_summary);
	jobset_put(s->jobs);
	history_free(s->history);
	fabric_put(s->fabric);
	fabric_shape_put(s->shape);
	s->tables = a->read = NULL;
	s->sample = NULL;
	s->rates = NULL;
	s->sample_summary = NULL;
	s->jobs = NULL;
	s->history = NULL;
	s->fabric = NULL;
	s->shape = NULL;
}

/* All else is as it was. */
static void app_data_take_names(struct app *a, const struct fabric *f,
				const struct fabric_shape *shape)
{
	const struct fabric *was = a->state.fabric;

	if (was == f || (app_host_names_same(was, f) && fabric_same_rates(was, f))) {
		fabric_put(f);
		return;
	}
	app_host_names_events(was, f);
	app_slow_cables_events(a->state.shape, shape);
	a->state.fabric = f;
	fabric_shape_put(a->state.shape);
	a->state.shape = fabric_shape_get(shape);
	app_data_tell(a, NEWS_FABRIC, NULL);
	app_data_map_jobs(a);
	fabric_put(was);
}

void app_set_fabric(struct app *a, const struct fabric *f, const struct engine_list *engines,
		    const struct fabric_shape *shape)
{
	struct state_preview *p = &a->state.preview;
	const struct fabric *was;

	if (a->state.fabric && digest_equal(&a->state.fabric->fingerprint, &f->fingerprint)) {
		app_data_take_names(a, f, shape);
		return;
	}
	app_host_names_events(a->state.fabric, f);
	app_slow_cables_events(a->state.shape, shape);
	app_failures_changed(a, f);
	app_hosts_keep_sls(a);
	was = fabric_get(a->state.fabric);
	app_data_drop_fabric(a);
	a->state.failure = NULL;
	a->state.poll.tables_on = a->state.poll.tables_ended = false;
	a->state.fabric = f;
	if (was)
		app_hosts_changed(a, was, f);
	fabric_put(was);
	a->state.shape = fabric_shape_get(shape);
	a->state.history = history_new(f->nchan);
	app_data_count_missing(a);
	memcpy(p->engines, engines->v, sizeof(p->engines));
	p->nengines = engines->n;
	app_data_tell(a, NEWS_FABRIC, NULL);
	app_data_map_jobs(a);
}

/* --- the installed tables: LFTs first, their SL2VL perhaps much later ----------------------- */

/* Switches hold no SLs of paths.  Where they hold exactly what this session knows, the SLs
 * are those that went with it. */
static const struct tables *app_data_with_sls(struct app *a, const struct tables *t)
{
	const struct tables *known[] = { a->applied, a->undo, a->first, NULL };

	if (!tables_know_vls(t))
		return t;
	known[3] = app_hosts_carried(a, t);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i] && (tables_as_found(t) || !tables_as_found(known[i])) &&
		    tables_forward_same(a->state.fabric, known[i], t)) {
			tables_put(t);
			return tables_get(known[i]);
		}
	return t;
}

/* Their SL2VL has come, and that is all: figures of LFTs hold for the new ones as well. */
static bool app_data_only_vls_are_new(const struct tables *old, const struct tables *t)
{
	return !tables_know_vls(old) && tables_know_vls(t) && old->stride == t->stride &&
	       old->nsw == t->nsw && !memcmp(old->lft, t->lft, (size_t)t->nsw * t->stride);
}

static void app_data_keep_usage(struct app *a, const struct tables *old)
{
	if (!a->state.usage || a->state.usage->tables != old)
		return;
	tables_put(a->state.usage->tables);
	a->state.usage->tables = tables_get(a->state.tables);
}

void app_set_tables(struct app *a, const struct tables *t, bool partial)
{
	bool same = a->read && a->read->sls_told == t->sls_told &&
		    tables_same(a->read, t, a->state.fabric);
	const struct tables *old = a->state.tables;

	a->tables_partial = partial;
	if (same) {
		tables_put(t);
		return;
	}
	tables_put(a->read);
	a->read = tables_get(t);
	t = app_data_with_sls(a, t);
	if (old && old->sls_told == t->sls_told && tables_same(old, t, a->state.fabric)) {
		tables_put(t);
		return;
	}
	a->state.tables = t;
	if (old && app_data_only_vls_are_new(old, t))
		app_data_keep_usage(a, old);
	else
		app_data_drop_metrics(a);
	tables_put(old);
	a->state.sls_known = tables_know_sls(t);
	app_want_metrics(a);
	app_data_tell(a, NEWS_TABLES, NULL);
}

static void app_data_take_tables(struct app *a, struct msg *msg)
{
	struct state_poll *p = &a->state.poll;
	bool whole =
		tables_know_vls(msg->tables) || (a->opts.needs && !(a->opts.needs & NEED_SL2VL));

	if (!a->state.fabric ||
	    !digest_equal(&msg->fabric->fingerprint, &a->state.fabric->fingerprint))
		return;
	p->tables_on = !whole && !p->tables_ended;
	p->tables_ended &= !whole;
	p->tables_pace[0] = '\0';
	app_data_tell(a, NEWS_TABLES_READ, msg);
	app_set_tables(a, msg->tables, msg->partial);
	if (msg->seconds > 0)
		a->state.preview.mads_per_s = (double)msg->total / msg->seconds;
	msg->tables = NULL;
}

static void app_data_take_tables_reading(struct app *a, struct msg *msg)
{
	struct state_poll *p = &a->state.poll;

	p->tables_on = !msg->rc;
	p->tables_ended = msg->rc == -ECANCELED;
	p->tables_done = msg->done;
	p->tables_total = msg->total;
	snprintf(p->tables_pace, sizeof(p->tables_pace), "%.79s", msg->text);
	if (p->tables_ended)
		shell_say(a->shell, "stopped: %s stay unknown%s; %s resumes",
			  a->state.tables ? "SL2VL tables and VLs" : "the installed tables",
			  a->is_due		 ? ", and no plan is computed"
			  : a->opts.automatic.on ? ", and automatic mode waits"
						 : "",
			  key_hint("vls"));
	app_data_tell(a, NEWS_TABLES_READING, msg);
}

static bool app_data_incomplete(const struct app *a)
{
	return !a->state.tables || !tables_know_vls(a->state.tables);
}

bool app_tables_awaited(const struct app *a)
{
	const struct state_poll *p = &a->state.poll;

	if (a->state.mode != RUN_LIVE || !app_data_incomplete(a))
		return false;
	/* where reading them has failed, it is tried again */
	return p->tables_on || (a->state.tables ? !p->tables_ended : !a->state.sample);
}

const char *app_not_polled(const struct app *a)
{
	return a->opts.load ? "not for a file: it does not change"
			    : "the fabric has not been discovered yet";
}

void app_tables_on(struct app *a)
{
	struct state_poll *p = &a->state.poll;

	if (!a->feed) {
		shell_say(a->shell, "%s", app_not_polled(a));
		return;
	}
	feed_want(a->feed, WANT_READ_ON);
	p->tables_ended = false;
	p->tables_on = app_data_incomplete(a);
	if (!app_data_incomplete(a)) /* else the last line tells how far that is */
		shell_say(a->shell, "reading the tables again");
}

void app_tables_end(struct app *a)
{
	if (a->feed && a->state.poll.tables_on)
		feed_tables_end(a->feed);
}

/* --- counters, the subnet manager ------------------------------------------------------------ */

/* After a pause of the screen the last sample that was taken is not the one before. */
static void app_data_take_rates(struct app *a, const struct sample_reading *r)
{
	bool next = r->before == a->state.sample;

	rates_put(a->state.rates);
	sample_summary_put(a->state.sample_summary);
	a->state.rates =
		next ? rates_get(r->rates) : rates_new(a->state.fabric, a->state.sample, r->sample);
	a->state.sample_summary = next ? sample_summary_get(r->sample_summary) : NULL;
}

static void app_data_take_sample(struct app *a, struct msg *msg)
{
	struct sample_reading *r = msg->reading;

	if (!a->state.fabric ||
	    !digest_equal(&r->sample->fingerprint, &a->state.fabric->fingerprint))
		return;
	app_data_take_rates(a, r);
	sample_put(a->state.sample);
	a->state.sample = sample_get(r->sample);
	a->prepared_s = r->cpu_s;
	a->state.poll.asked = a->state.sample->asked;
	a->state.poll.answered = a->state.sample->answered;
	a->state.poll.partial = a->state.sample->answered < a->state.sample->asked;
	a->sample_at = clock_s();
	a->sample_took = (double)a->state.sample->took_ns / 1e9;
	app_data_tell(a, NEWS_SAMPLE, msg);
}

static void app_data_take_metrics(struct app *a, struct msg *msg)
{
	struct metrics_set *before;

	if (msg->tables != a->state.tables)
		return; /* overtaken: others are on their way */
	/* figures of a job set that has changed since are better than none: on a large machine
	 * jobs change faster than figures can be had */
	a->state.metrics_busy = msg->jobs != a->state.jobs;
	if (msg->rc) {
		if (msg->rc != -ECANCELED)
			log_add(LOG_WARN, "metrics", "%s", msg->text);
		return;
	}
	before = metrics_set_get(a->metrics);
	app_data_drop_metrics(a);
	a->metrics = metrics_set_new(msg->after, msg->verdict, jobset_get(msg->jobs), before);
	metrics_set_put(before);
	msg->after = NULL;
	msg->verdict = NULL;
	a->state.metrics = a->metrics->metrics;
	a->state.time = msg->time_now;
	a->state.verdict = a->metrics->verdict;
	a->state.metrics_jobs = a->metrics->jobs;
	app_data_tell(a, NEWS_METRICS, NULL);
}

/* OpenSM takes one update at a time: whose it is, unless it is of this console. */
static void app_data_take_rival(struct app *a, const struct msg *msg)
{
	char *rival = a->state.sm.rival, now[sizeof(a->state.sm.rival)] = "";

	if (msg->update[0] && strcmp(msg->update, a->state.apply.txn) != 0 &&
	    a->state.apply.state != APPLY_RUNNING)
		snprintf(now, sizeof(now),
			 "update %s of %s is in progress: until its end OpenSM takes no other one",
			 msg->update, msg->owner);
	if (now[0] && strcmp(now, rival) != 0)
		log_add(LOG_WARN, "sm", "%s", now);
	else if (!now[0] && rival[0])
		log_add(LOG_INFO, "sm", "%.*s has ended",
			(int)(strstr(rival, " is in progress") - rival), rival);
	memcpy(rival, now, sizeof(now));
}

/* Who returns on the way out of an update is heard within seconds: only who stays away is reported.
 */
static void app_data_take_away(struct app *a, const struct msg *msg)
{
	char *away = a->state.sm.away;

	if (msg->away[0] && strcmp(msg->away, away) != 0)
		log_add(LOG_WARN, "agents", "%s", msg->away);
	memcpy(away, msg->away, sizeof(msg->away));
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
		log_add(LOG_WARN, "sm",
			"the master subnet manager has changed: now GUID "
			"0x%016lx, LID %u",
			(unsigned long)msg->sm.guid, msg->sm.lid);
	a->sm = msg->sm;
	s->known = true;
	s->lost = false;
	s->lid = msg->sm.lid;
	s->guid = msg->sm.guid;
	snprintf(s->state, sizeof(s->state), "%s", wire_sm_state_name(msg->sm.state));
	if (strcmp(s->engine, msg->engine) != 0 && msg->requested[0])
		log_add(LOG_WARN, "sm",
			"OpenSM routes with its own engine %s, not with the "
			"tables of ibroute: %s",
			msg->engine, msg->text);
	if (msg->adaptive[0] && strcmp(s->adaptive, msg->adaptive) != 0)
		log_add(LOG_WARN, "sm", "%s", msg->adaptive);
	memcpy(s->adaptive, msg->adaptive, sizeof(s->adaptive));
	memcpy(s->engine, msg->engine, sizeof(s->engine));
	memcpy(s->requested, msg->requested, sizeof(s->requested));
	memcpy(s->replaces, msg->replaces, sizeof(s->replaces));
	s->counted = msg->counted;
	s->sweeps = msg->counts.sweeps;
	s->reroutes = msg->counts.reroutes;
	s->routings = msg->counts.routings;
	s->refused = msg->counts.refused;
	s->link_events = msg->counts.link_events;
	app_data_take_rival(a, msg);
	app_data_take_away(a, msg);
	end = a->state.fabric ? fabric_lid_end(a->state.fabric, msg->sm.lid) : FAB_NONE;
	if (end != FAB_NONE && end < a->state.fabric->nend)
		snprintf(s->name, sizeof(s->name), "%.63s", a->state.fabric->term_name[end]);
}

/* Where none answers, plans are for a fabric without one: who repairs by SMPs then needs no SM. */
struct sm_pin app_sm_pin(const struct app *a)
{
	if (!a->state.sm.known || a->state.sm.lost)
		return (struct sm_pin){ 0 };
	return (struct sm_pin){ .guid = a->sm.guid, .priority = a->sm.priority };
}

/* --- the mailbox ----------------------------------------------------------------------------- */

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
		shell_say(a->shell, "stopped: the fabric stays as it was discovered before");
		return;
	}
	p->discovering = true;
	p->found_sw = (uint32_t)msg->done;
	p->found_ca = (uint32_t)msg->total;
	snprintf(p->pace, sizeof(p->pace), "%.79s", msg->text);
	if (p->sweep_asked)
		shell_say(a->shell, "discovering again: %s; Esc stops it", p->pace);
}

static void app_data_take_findings(struct app *a, struct msg *msg)
{
	findings_put(a->state.findings);
	a->state.findings = msg->findings;
	msg->findings = NULL;
	alerts_findings(a->alerts, a->state.findings);
}

static void app_data_take_fabric(struct app *a, struct msg *msg)
{
	a->state.poll.discovering = false;
	a->fabric_partial = msg->partial;
	free(a->silent);
	a->state.poll.silent = a->silent = msg->silent;
	msg->silent = NULL;
	a->state.preview.sweep_s = msg->seconds;
	alerts_fabric(a->alerts, msg->fabric->name);
	app_data_take_findings(a, msg);
	app_set_fabric(a, msg->fabric, msg->engines, msg->shape);
	msg->fabric = NULL;
}

static void app_data_take_lost(struct app *a, const struct msg *msg)
{
	a->lost = true;
	a->state.poll.sweep_asked = false;
	if (a->state.mode == RUN_LIVE)
		a->state.mode = RUN_LOST;
	snprintf(a->state.lost_why, sizeof(a->state.lost_why), "%.199s", msg->text);
}

static void app_data_take_own(struct app *a, struct msg *msg)
{
	struct state_poll *p = &a->state.poll;

	switch (msg->type) {
	case MSG_DISCOVERING:
		app_data_take_discovering(a, msg);
		break;
	case MSG_READING:
		snprintf(p->reading, sizeof(p->reading), "%.79s", msg->text);
		break;
	case MSG_FABRIC:
		app_data_take_fabric(a, msg);
		break;
	case MSG_TABLES_READING:
		app_data_take_tables_reading(a, msg);
		break;
	case MSG_TABLES:
		p->reading[0] = '\0';
		app_data_take_tables(a, msg);
		break;
	case MSG_FINDINGS:
		app_data_take_findings(a, msg);
		break;
	case MSG_SAMPLE:
		p->busy = false;
		p->reading[0] = '\0';
		app_data_take_sample(a, msg);
		break;
	case MSG_SM:
		app_data_take_sm(a, msg);
		break;
	case MSG_LOST:
		app_data_take_lost(a, msg);
		break;
	case MSG_FOUND:
		a->lost = false;
		if (a->state.mode == RUN_LOST)
			a->state.mode = RUN_LIVE;
		break;
	case MSG_POLLING:
		p->busy = true;
		break;
	case MSG_METRICS:
		app_data_take_metrics(a, msg);
		break;
	case MSG_USAGE:
		app_data_take_usage(a, msg);
		break;
	case MSG_JOBS:
		a->state.jobs_source.state = JOBS_OK;
		app_set_list(a, msg->list);
		msg->list = NULL;
		break;
	default: /* of a part, or only to wake the loop */
		break;
	}
}

/* Takes the message. */
static void app_data_take(struct app *a, struct msg *msg)
{
	bool taken = false, kept = false;

	for (size_t i = 0; a->parts[i] && !taken; i++)
		taken = a->parts[i]->take && a->parts[i]->take(a, msg, &kept);
	if (!taken)
		app_data_take_own(a, msg);
	if (!kept)
		msg_drop(msg);
}

/* Not now. */
static bool app_data_holds(const struct app *a, int kind)
{
	return a->state.mode == RUN_FROZEN || (kind == HELD_TABLES && app_hosts_follow(a));
}

static void app_data_take_held(struct app *a, int kind)
{
	struct msg *msg = a->held[kind];

	if (!msg || app_data_holds(a, kind))
		return;
	a->held[kind] = NULL;
	app_data_take(a, msg);
}

void app_take_messages(struct app *a)
{
	struct msg *msg;

	while ((msg = mailbox_take(a->box))) {
		int kind = app_data_held_kind(msg->type);

		a->dirty = true;
		a->state.poll.sweep_asked &= msg->type != MSG_FABRIC;
		app_data_tell(a, NEWS_MESSAGE, msg);
		if (kind >= 0 && app_data_holds(a, kind)) {
			msg_drop(a->held[kind]);
			a->held[kind] = msg;
			continue;
		}
		app_data_take(a, msg);
	}
	app_data_take_held(a, HELD_TABLES);
	app_data_tell(a, NEWS_ALL_TAKEN, NULL);
}

void app_unfreeze(struct app *a)
{
	a->state.mode = a->lost ? RUN_LOST : RUN_LIVE;
	for (int k = 0; k < HELD_COUNT; k++)
		app_data_take_held(a, k);
}

/* Age at which new counters are overdue: a poll may take longer than the interval. */
static double app_data_overdue(const struct app *a)
{
	return fmax(STALE_POLLS * fmax(a->state.poll.interval_s, a->sample_took), STALE_S);
}

void app_refresh(struct app *a)
{
	double now = clock_s();
	struct state *s = &a->state;

	s->now_s = time(NULL);
	s->rec_s = now - a->start;
	s->poll.age_s = a->state.sample ? now - a->sample_at : NAN;
	s->poll.took_s = a->state.sample ? a->sample_took : NAN;
	s->poll.next_s = a->state.sample ? fmax(0, a->sample_at + s->poll.interval_s - now) : NAN;
	s->jobs_source.age_s = a->job_list ? now - a->jobs_at : NAN;
	for (size_t i = 0; a->parts[i]; i++)
		if (a->parts[i]->refresh)
			a->parts[i]->refresh(a);
	s->poll.stale = s->mode == RUN_LIVE && a->state.sample && !s->poll.discovering &&
			now - a->sample_at > app_data_overdue(a);
}

void app_data_free(struct app *a)
{
	for (size_t i = 0; a->parts[i]; i++)
		if (a->parts[i]->end)
			a->parts[i]->end(a);
	for (int k = 0; k < HELD_COUNT; k++)
		msg_drop(a->held[k]);
	free(a->silent);
	tables_put(a->first);
	app_hosts_end(a);
	link_usage_free(a->state.usage);
	job_list_put(a->job_list);
	app_data_drop_fabric(a);
	findings_put(a->state.findings);
	fabric_put(a->whole);
}
