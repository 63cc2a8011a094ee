/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A console on a collector: what that tells, and the past that it keeps. */
#include "console/app/app_priv.h"

#include "console/collect/acts.h"
#include "console/collect/fabric_watch.h"
#include "console/collect/update_watch.h"
#include "console/collector/collector_dir.h"
#include "console/collector/link/collector_link.h"
#include "console/session/samples/sample_reading.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"
#include "fabric/baseline/findings.h"
#include "fabric/update/journal/journal.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAST_WAIT_S 30.0

/* --- is there one? --------------------------------------------------------------------------- */

/* A port and jobs of its own are for who asks the fabric itself. */
static bool app_collector_may_be(const struct app_opts *o)
{
	bool file = o->jobs && strcmp(o->jobs, "slurm") != 0 && strcmp(o->jobs, "none") != 0;

	return !o->demo && !o->load && !o->live.ca && !o->live.port && !file && !o->jobs_at_s &&
	       !o->live.simulator;
}

bool app_collector_wanted(struct app *a)
{
	struct app_opts *o = &a->opts;
	struct err err;
	char *dir;

	if (o->collector)
		return strcmp(o->collector, "none") != 0;
	if (!app_collector_may_be(o))
		return false;
	dir = collector_dir_default(o->live.name);
	if (collector_link_try(dir, &err)) {
		free(dir);
		return false;
	}
	a->collector_dir = dir;
	o->collector = dir;
	return true;
}

void app_collector_start(struct app *a)
{
	struct collector_link_opts o = { .dir = a->opts.collector,
					 .racks = a->racks,
					 .racks_path = a->opts.racks };
	struct err err;
	int rc = collector_link_try(o.dir, &err);

	if (!rc)
		rc = collector_link_start(&a->feed, &o, a->box, &err);
	if (rc)
		app_give_up(a, NULL, rc, &err);
}

/* --- what it tells --------------------------------------------------------------------------- */

/* Those that it has may be a minute old, and what is asked for is what is true now. */
static void app_collector_want_errors(struct app *a)
{
	if (!a->opts.fresh_errors || !a->feed->shared || a->errors_asked_ms)
		return;
	a->errors_asked_ms = clock_ms();
	a->errors_awaited = true;
	feed_want(a->feed, WANT_ERRORS);
}

/* What is written goes over a port of this process's own, to the fabric that is shown. */
static void app_collector_arm(struct app *a, const char *source)
{
	struct live_opts *l = &a->opts.live;
	const char *slash = strrchr(source, '/');
	struct err err;

	if (a->update || !(a->opts.rw || a->opts.automatic.on))
		return;
	if (!strncmp(source, "demo ", 5)) {
		err_set(&err, -ENOTSUP,
			"%s: the fabric of this collector is simulated, and nothing can be written "
			"to it: leave out --rw and --auto",
			a->opts.collector);
		app_give_up(a, NULL, -ENOTSUP, &err);
		return;
	}
	if (!l->ca && !l->port && slash) {
		snprintf(a->collector_ca, sizeof(a->collector_ca), "%.*s", (int)(slash - source),
			 source);
		l->ca = a->collector_ca;
		l->port = (unsigned)strtoul(slash + 1, NULL, 10);
	}
}

static void app_collector_take_hello(struct app *a, const struct msg *msg)
{
	struct state_jobs *s = &a->state.jobs_source;

	a->may_ask = msg->rc;
	app_collector_want_errors(a);
	app_collector_arm(a, msg->text);
	a->state.collector = (struct state_collector){ .on = true };
	a->state.poll.interval_s = msg->seconds;
	snprintf(a->state.source, sizeof(a->state.source), "collector %.50s", msg->text);
	snprintf(s->source, sizeof(s->source), "%s", msg->engine[0] ? msg->engine : "none");
	if (!msg->engine[0])
		s->state = JOBS_OFF;
	else if (s->state == JOBS_OFF)
		s->state = JOBS_WAITING;
}

static void app_collector_take_source(struct app *a, const struct msg *msg)
{
	struct state_jobs *s = &a->state.jobs_source;

	if (s->state != JOBS_UNREACHABLE && msg->rc >= SOURCE_UNREACHABLE)
		log_add(LOG_WARN, "jobs", "%s", msg->text);
	s->state = msg->rc == SOURCE_STARTING ? JOBS_WAITING
		   : msg->rc == SOURCE_OK     ? JOBS_OK
					      : JOBS_UNREACHABLE;
	snprintf(s->sentence, sizeof(s->sentence), "%.255s", msg->text);
}

static void app_collector_take_keeping(struct app *a, const struct msg *msg)
{
	struct state_collector *c = &a->state.collector;

	c->keeping = msg->rc ? KEEPING_FAILS : KEEPING_WELL;
	snprintf(c->why, sizeof(c->why), "%.199s", msg->text);
}

/* For --check and the like: since when counters rose is this command's own business, as it is where
 * it polls by itself, if it may keep them. */
static void app_collector_start_watch(struct app *a)
{
	const struct app_opts *o = &a->opts;
	struct fabric_watch_opts w = { .state_dir = o->live.state_dir,
				       .name = o->live.name,
				       .names = a->names,
				       .key = o->watch_key,
				       .limit = o->error_limits };
	const char *dir = journal_base(o->live.state_dir);

	if (!a->watch && o->watch_key[0] && !o->unwatched && !access(dir, W_OK | X_OK))
		a->watch = fabric_watch_new(&w);
}

static void app_collector_watch(struct app *a, struct msg *msg)
{
	const struct error_set *e = msg->findings ? msg->findings->errors : NULL;
	const struct findings *own, *all;

	if (e && e->began_ms < a->errors_asked_ms)
		e = NULL;
	else if (e)
		a->errors_awaited = false;
	app_collector_start_watch(a);
	if (!a->watch)
		return;
	if (msg->type == MSG_FABRIC)
		fabric_watch_fabric(a->watch, msg->fabric, msg->partial);
	if (msg->type == MSG_FABRIC && !fabric_watch_name(a->watch))
		return;
	if (e && e->time_s != a->watched_s && fabric_watch_name(a->watch)) {
		a->watched_s = e->time_s;
		fabric_watch_errors(a->watch, error_set_get(e), false);
	}
	own = fabric_watch_findings(a->watch);
	all = findings_joined(msg->findings, own);
	findings_put(own);
	findings_put(msg->findings);
	msg->findings = all;
}

bool app_collector_paces(struct app *a)
{
	if (!a->feed || !a->feed->shared)
		return false;
	shell_say(a->shell, "counters every %g s: the collector sets it", a->state.poll.interval_s);
	return true;
}

bool app_collector_asked(struct app *a)
{
	if (!a->feed || !a->feed->shared)
		return false;
	if (a->may_ask)
		shell_say(a->shell, "the collector discovers the fabric again");
	else
		shell_say(a->shell,
			  "the collector discovers when it is due: asking it to takes the "
			  "group " COLLECTOR_GROUP_ASK);
	return true;
}

/* --- the past -------------------------------------------------------------------------------- */

/* The same tables and jobs as now are the same objects, with their figures. */
static void app_collector_backdrop(struct backdrop *b, struct app *a, struct msg *msg)
{
	struct jobset *js = NULL;

	*b = (struct backdrop){ .fabric = msg->fabric, .tables = msg->tables };
	msg->fabric = NULL;
	msg->tables = NULL;
	if (msg->list)
		jobset_from_list(&js, msg->list, b->fabric, NULL);
	b->jobs = js;
	if (!b->tables || b->tables != a->read)
		return;
	tables_put(b->tables);
	b->tables = tables_get(a->state.tables);
	b->sls_known = a->state.sls_known;
	if (!jobset_same(b->jobs, a->state.jobs) || !a->state.jobs)
		return;
	jobset_put(b->jobs);
	b->jobs = jobset_get(a->state.jobs);
	b->figures = a->metrics ? metrics_set_get(a->metrics) : NULL;
}

static void app_collector_show(struct app *a, struct msg *msg)
{
	struct snapshot_at m = { .time_s = msg->time_ms / 1000 };

	app_collector_backdrop(&m.was, a, msg);
	m.sample = sample_get(msg->reading->sample);
	m.rates = msg->reading->rates ? rates_get(msg->reading->rates) : NULL;
	app_history_show(a, &m, msg);
}

static void app_collector_take_past(struct app *a, struct msg *msg)
{
	struct app_history *h = &a->shown_history;
	uint64_t own;

	if (msg->total != h->asked)
		return; /* another moment is wanted by now */
	h->awaited = false;
	if (msg->rc == -ENOENT && h->event_by) {
		app_play_event_came(a, NULL);
		return;
	}
	if (msg->rc) {
		app_history_say_none(a, msg->text);
		return;
	}
	own = sample_history_find(a->samples, msg->reading->sample->time_ns);
	if (h->more)
		app_history_ask(a, msg->time_ms, h->more);
	else if (own && h->asked_step < 0)
		app_history_ask(a, msg->time_ms, -1);
	else if (own)
		app_history_go(a, own);
	else
		app_collector_show(a, msg);
	if (h->event_by)
		app_play_event_came(a, msg->text);
}

static bool app_collector_past_lacks_figures(const struct app *a)
{
	const struct app_history *h = &a->shown_history;

	return h->on && h->at.was.tables && !h->at.was.figures;
}

int app_collector_past_wait(struct app *a, struct err *err)
{
	double until = clock_s() + PAST_WAIT_S;

	while ((a->shown_history.awaited || a->against.awaited ||
		app_collector_past_lacks_figures(a)) &&
	       clock_s() < until) {
		struct pollfd fd = { .fd = mailbox_fd(a->box), .events = POLLIN };

		poll(&fd, 1, 500);
		app_take_messages(a);
	}
	if (a->shown_history.awaited || a->against.awaited)
		return err_set(err, -ETIMEDOUT, "the collector does not answer");
	return 0;
}

int app_collector_past_now(struct app *a, int64_t at_ms, struct err *err)
{
	const struct app_history *h = &a->shown_history;
	struct err why = { "" };

	if (!app_history_ask(a, at_ms, 0))
		return err_set(err, -ENOENT, "--at: there is no collector that keeps the past");
	if (app_collector_past_wait(a, &why))
		return err_set(err, -ETIMEDOUT, "--at: %s", why.text);
	return h->no_past[0] ? err_set(err, -ENOENT, "--at: %s", h->no_past) : 0;
}

/* --- a part of the console ------------------------------------------------------------------ */

static bool app_collector_take(struct app *a, struct msg *msg, bool *kept)
{
	(void)kept;
	switch (msg->type) {
	case MSG_COLLECTOR:
		app_collector_take_hello(a, msg);
		return true;
	case MSG_FABRIC:
	case MSG_FINDINGS:
		if (a->feed && a->feed->shared)
			app_collector_watch(a, msg);
		return false;
	case MSG_JOBS_SOURCE:
		app_collector_take_source(a, msg);
		return true;
	case MSG_LOST:
		a->state.collector.gone = msg->rc != 0;
		return false;
	case MSG_ACTS:
		acts_put(a->acts);
		a->acts = msg->acts;
		msg->acts = NULL;
		app_updates_take(a, a->acts);
		return true;
	case MSG_UPDATES:
		update_counts_put(a->updates);
		a->updates = msg->updates;
		msg->updates = NULL;
		return true;
	case MSG_KEEPING:
		app_collector_take_keeping(a, msg);
		return true;
	case MSG_PAST:
		app_collector_take_past(a, msg);
		return true;
	default:
		return false;
	}
}

static void app_collector_end(struct app *a)
{
	fabric_watch_free(a->watch);
	acts_put(a->acts);
	update_counts_put(a->updates);
	free(a->collector_dir);
}

const struct app_part app_collector_part = {
	.take = app_collector_take,
	.end = app_collector_end,
};
