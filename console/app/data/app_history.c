/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Moments of the past on the screen; what acts goes on with what is known now. */
#include "console/app/app_priv.h"

#include "console/session/samples/sample_reading.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/when.h"
#include "views/data/state/key_hint.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct backdrop app_history_now(const struct app *a)
{
	return (struct backdrop){ .fabric = a->state.fabric,
				  .tables = a->state.tables,
				  .jobs = a->state.jobs,
				  .figures = a->metrics,
				  .sls_known = a->state.sls_known };
}

static int64_t *app_history_made_ms(struct app *a, uint64_t serial)
{
	return &a->shown_history.made_ms[serial % (SAMPLE_HISTORY_MAX + 1)];
}

int64_t app_history_ms(struct app *a, uint64_t serial)
{
	return *app_history_made_ms(a, serial);
}

/* Also while the screen is frozen: it is missing nothing when one looks back later. */
static void app_history_add(struct app *a, const struct msg *msg)
{
	struct sample_reading *r = msg->reading;
	struct backdrop b = app_history_now(a);
	uint64_t newest = sample_history_newest(a->samples);

	sample_history_add_reading(a->samples, &b, r, time(NULL));
	if (sample_history_newest(a->samples) == newest)
		return;
	*app_history_made_ms(a, newest + 1) = msg->time_ms;
	history_push_row(a->state.history, r->sample_summary->fabric->nchan,
			 r->sample_summary->row);
	app_record_poll(a, r);
}

static void app_history_figures(struct app *a)
{
	struct backdrop b = app_history_now(a), *was = &a->shown_history.at.was;

	sample_history_metrics(a->samples, &b);
	if (a->shown_history.on && !was->figures && was->tables == a->state.tables &&
	    was->jobs == a->state.jobs)
		was->figures = metrics_set_get(a->metrics);
}

/* Figures that were asked for when a moment was shown that had none; false: others. */
static bool app_history_take_figures(struct app *a, struct msg *msg)
{
	struct snapshot_at *m = &a->shown_history.at;
	struct backdrop b = { .tables = msg->tables, .jobs = msg->jobs };
	bool same_tables = msg->tables == a->state.tables;

	if ((same_tables && msg->jobs == a->state.jobs) || !a->shown_history.on ||
	    m->was.tables != msg->tables || m->was.jobs != msg->jobs)
		return false;
	if (msg->rc || !msg->after)
		return true;
	b.figures =
		metrics_set_new(msg->after, msg->verdict, msg->jobs ? jobset_get(msg->jobs) : NULL,
				same_tables ? a->metrics : NULL);
	msg->after = NULL;
	msg->verdict = NULL;
	sample_history_metrics(a->samples, &b);
	metrics_set_put(m->was.figures);
	m->was.figures = b.figures;
	return true;
}

/* The sample on the screen when no moment of the past is. */
static uint64_t app_history_present(const struct app *a)
{
	return a->state.sample ? sample_history_find(a->samples, a->state.sample->time_ns) : 0;
}

/* Events up to that time, so that the log is the one of the moment. */
static void app_history_take_events(struct app_history *h, const struct events *all)
{
	uint64_t until = (uint64_t)(h->at.time_s + 1) * 1000000000u;

	if (h->kept || (h->events_of == h->at.serial && h->events_total == all->total))
		return;
	h->events.total = 0;
	for (uint32_t i = events_count(all); i-- > 0;)
		if (events_get(all, i)->time_ns < until)
			events_add(&h->events, events_get(all, i));
	h->events_of = h->at.serial;
	h->events_total = all->total;
}

static void app_history_show_figures(struct state *s, const struct metrics_set *f)
{
	s->metrics = f ? f->metrics : NULL;
	s->verdict = f ? f->verdict : NULL;
	s->metrics_jobs = f ? f->jobs : NULL;
	s->metrics_busy = false;
}

/* Of another fabric, nothing about the present one may be drawn over it. */
static void app_history_drop_present(struct state *s)
{
	memset(&s->preview, 0, sizeof(s->preview));
	s->apply.diff = NULL;
	s->usage = NULL;
	s->failure = NULL;
	s->against = NULL;
}

static void app_history_show_at(struct app *a, struct state *s, const struct snapshot_at *m)
{
	s->fabric = m->was.fabric;
	s->tables = m->was.tables;
	s->sls_known = m->was.sls_known;
	s->jobs = m->was.jobs;
	s->sample = m->sample;
	s->rates = m->rates;
	s->sample_summary = NULL;
	app_history_show_figures(s, m->was.figures);
	s->poll.age_s = (double)(s->now_s - m->time_s);
	s->poll.next_s = NAN;
	s->poll.took_s = (double)m->sample->took_ns / 1e9;
	s->poll.asked = m->sample->asked;
	s->poll.answered = m->sample->answered;
	s->poll.partial = m->sample->answered < m->sample->asked;
	s->poll.stale = false;
	if (m->was.fabric != a->state.fabric)
		app_history_drop_present(s);
	else if (m->was.tables != a->state.tables || m->was.jobs != a->state.jobs)
		s->usage = NULL;
}

/* Of the moment that is shown; "" none. */
static const char *app_history_mark_name(const struct app *a)
{
	const struct app_history *h = &a->shown_history;

	if (!h->kept)
		return sample_history_mark_name(a->samples, h->at.serial);
	for (uint32_t i = 0; i < h->nkept_mark; i++)
		if (h->kept_mark[i].ms == h->kept_ms)
			return h->kept_mark[i].name;
	return "";
}

const struct state *app_shown(struct app *a)
{
	struct app_history *h = &a->shown_history;
	uint64_t newest = sample_history_newest(a->samples), at = newest;

	if (h->on)
		at = h->at.serial;
	else if (a->state.mode == RUN_FROZEN)
		at = h->frozen_at;
	if (a->state.history)
		history_hide(a->state.history, newest > at ? newest - at : 0);
	if (!h->on)
		return &a->state;
	h->shown = a->state;
	app_history_show_at(a, &h->shown, &h->at);
	h->shown.history = h->at.was.fabric == a->state.fabric ? a->state.history : NULL;
	app_history_take_events(h, &a->events);
	h->shown.events = &h->events;
	if (h->kept)
		h->shown.history = NULL;
	h->shown.history_at = (struct state_history_at){
		.on = true,
		.kept = h->kept,
		.time_s = h->at.time_s,
		.back = h->kept ? 0 : (uint32_t)(newest - h->at.serial),
		.count = sample_history_count(a->samples),
		.play = a->play.on ? a->play.speed : 0,
	};
	snprintf(h->shown.history_at.mark, sizeof(h->shown.history_at.mark), "%s",
		 app_history_mark_name(a));
	h->shown.history_at.past = a->peak.past;
	memcpy(h->shown.history_at.peak, a->peak.text, sizeof(h->shown.history_at.peak));
	return &h->shown;
}

void app_history_freeze(struct app *a)
{
	a->shown_history.frozen_at = sample_history_newest(a->samples);
	a->state.history_at.time_s =
		a->shown_history.frozen_at
			? sample_history_time(a->samples, a->shown_history.frozen_at)
			: 0;
}

static void app_history_live(struct app *a)
{
	if (a->shown_history.on)
		snapshot_at_done(&a->shown_history.at);
	a->shown_history.on = a->shown_history.kept = false;
}

static void app_history_want_figures(struct app *a)
{
	const struct backdrop *was = &a->shown_history.at.was;

	if (was->tables && !was->figures && !a->state.metrics_busy)
		worker_history_metrics(a->worker, was->fabric, was->tables, was->jobs,
				       was->tables != a->state.tables);
}

void app_history_go(struct app *a, uint64_t serial)
{
	struct snapshot_at m;

	if (serial == (a->state.mode == RUN_FROZEN ? app_history_present(a)
						   : sample_history_newest(a->samples))) {
		app_history_live(a);
		return;
	}
	if (!sample_history_get(&m, a->samples, serial)) {
		shell_say(a->shell, "this sample is no longer in the history");
		return;
	}
	app_history_live(a);
	a->shown_history.at = m;
	a->shown_history.on = true;
	app_history_want_figures(a);
}

void app_history_show(struct app *a, const struct snapshot_at *m, const struct msg *msg)
{
	struct app_history *h = &a->shown_history;

	app_history_live(a);
	h->at = *m;
	h->on = h->kept = true;
	h->kept_ms = msg->time_ms;
	h->nkept++;
	h->events.total = 0;
	h->events_of = UINT64_MAX; /* of none of this session's samples */
	for (uint32_t i = 0; i < msg->nlines; i++)
		events_add(&h->events, &msg->lines[i]);
	app_history_want_figures(a);
}

/* Where on the way through the history one is. */
static uint64_t app_history_position(const struct app *a)
{
	uint64_t at = a->shown_history.on ? a->shown_history.at.serial : app_history_present(a);

	return at ? at : sample_history_newest(a->samples);
}

void app_history_say_none(struct app *a, const char *why)
{
	snprintf(a->shown_history.no_past, sizeof(a->shown_history.no_past), "%.199s", why);
	shell_say(a->shell, "%s", why);
}

bool app_history_ask(struct app *a, int64_t at_ms, int32_t step)
{
	struct app_history *h = &a->shown_history;

	if (!feed_has_past(a->feed))
		return false;
	if (h->awaited && step) { /* a key that is held down */
		h->more += step;
		return true;
	}
	h->more = 0;
	h->event_by = 0;
	h->asked_step = step;
	h->awaited = true;
	h->no_past[0] = '\0';
	feed_past(a->feed, ++h->asked, at_ms, step);
	return true;
}

bool app_history_ask_event(struct app *a, int64_t at_ms, int32_t by)
{
	struct app_history *h = &a->shown_history;

	if (!feed_has_past_events(a->feed))
		return false;
	h->more = 0;
	h->asked_step = 0;
	h->event_by = by;
	h->awaited = true;
	h->no_past[0] = '\0';
	feed_past_event(a->feed, ++h->asked, at_ms, by);
	return true;
}

static int32_t app_history_step_of(long by)
{
	return (int32_t)(by < -100000 ? -100000 : by > 100000 ? 100000 : by);
}

static void app_history_step(struct app *a, long by)
{
	uint64_t oldest = sample_history_oldest(a->samples),
		 newest = sample_history_newest(a->samples), at = app_history_position(a);

	if (a->shown_history.kept &&
	    app_history_ask(a, a->shown_history.kept_ms, app_history_step_of(by)))
		return;
	if (!oldest) {
		shell_say(a->shell, "no history yet");
		return;
	}
	/* beyond this session's samples */
	if (by < 0 && at == oldest &&
	    app_history_ask(a, *app_history_made_ms(a, oldest), app_history_step_of(by)))
		return;
	if (by < 0 && at - oldest < (uint64_t)-by) {
		if (at == oldest)
			shell_say(a->shell, "this is the oldest sample in the history");
		at = oldest;
	} else if (by > 0 && newest - at < (uint64_t)by) {
		at = newest;
	} else {
		at += (uint64_t)by;
	}
	app_history_go(a, at);
}

uint64_t app_history_at_time(const struct sample_history *p, int64_t time_s)
{
	uint64_t found = 0;

	for (uint64_t i = sample_history_oldest(p); i && i <= sample_history_newest(p); i++)
		if (sample_history_time(p, i) <= time_s)
			found = i;
	return found;
}

static long app_history_count_of(const char *text)
{
	long n = strtol(text, NULL, 10);

	return n > 0 ? n : 1;
}

/* A moment that the collector has kept. */
static void app_history_set_kept_mark(struct app *a, const char *name)
{
	struct app_history *h = &a->shown_history;
	struct kept_mark *m = &h->kept_mark[h->nkept_mark];

	if (app_history_mark_name(a)[0]) {
		shell_say(a->shell, "this moment is bookmark %s already", app_history_mark_name(a));
	} else if (h->nkept_mark == SAMPLE_HISTORY_MARKS) {
		shell_say(a->shell, "no more than %d bookmarks can be set", SAMPLE_HISTORY_MARKS);
	} else {
		m->ms = h->kept_ms;
		snprintf(m->name, sizeof(m->name), "%.31s", name);
		if (!name[0])
			snprintf(m->name, sizeof(m->name), "past%u", h->nkept_mark + 1);
		h->nkept_mark++;
		shell_say(a->shell, "bookmark %s set, for this session; %s goes back to it",
			  m->name, key_hint("bookmarks"));
	}
}

static void app_history_set_mark(struct app *a, const char *name)
{
	uint64_t at = app_history_position(a);
	const struct mark *mark;
	uint32_t n;

	if (a->shown_history.kept)
		app_history_set_kept_mark(a, name);
	else if (!at)
		shell_say(a->shell, "no sample to bookmark yet");
	else if (sample_history_mark_name(a->samples, at)[0])
		shell_say(a->shell, "this sample is bookmark %s already",
			  sample_history_mark_name(a->samples, at));
	else if (!sample_history_mark(a->samples, at, sample_history_time(a->samples, at), name))
		shell_say(a->shell, "no more than %d bookmarks can be set", SAMPLE_HISTORY_MARKS);
	else {
		n = sample_history_marks(a->samples, &mark);
		shell_say(a->shell,
			  "bookmark %s set; %s goes back to it; %s saves %s in the snapshot",
			  sample_history_mark_name(a->samples, at), key_hint("bookmarks"),
			  key_hint("save"), n == 1 ? "it" : "all");
	}
}

/* Bookmarks of both kinds, oldest first. */
struct history_mark {
	const char *name;
	int64_t time_s;
	uint64_t serial; /* 0: kept by the collector, */
	int64_t ms;	 /* of then */
};

static int app_history_mark_cmp(const void *pa, const void *pb)
{
	const struct history_mark *a = pa, *b = pb;

	if (a->serial && b->serial)
		return a->serial < b->serial ? -1 : a->serial > b->serial;
	if (!a->serial && !b->serial)
		return a->ms < b->ms ? -1 : a->ms > b->ms;
	return a->serial ? 1 : -1;
}

static uint32_t app_history_all_marks(struct history_mark out[2 * SAMPLE_HISTORY_MARKS],
				      const struct app *a)
{
	const struct app_history *h = &a->shown_history;
	const struct mark *mark;
	uint32_t own = sample_history_marks(a->samples, &mark), n = 0;

	for (uint32_t i = 0; i < h->nkept_mark; i++)
		out[n++] = (struct history_mark){ .name = h->kept_mark[i].name,
						  .time_s = h->kept_mark[i].ms / 1000,
						  .ms = h->kept_mark[i].ms };
	for (uint32_t i = 0; i < own; i++)
		out[n++] = (struct history_mark){ .name = mark[i].name,
						  .time_s = mark[i].time_s,
						  .serial = mark[i].serial };
	if (n)
		qsort(out, n, sizeof(*out), app_history_mark_cmp);
	return n;
}

/* "1 03:12:44, storm 03:15:02" */
static void app_history_list_marks(struct app *a, const struct history_mark *mark, uint32_t n,
				   uint32_t at)
{
	char text[200] = "", time[FIGURE_LEN];
	size_t len = 0;

	for (uint32_t i = 0; i < n && len < sizeof(text) - 50; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s%s %s%s",
					i ? ", " : "", i == at ? "[" : "", mark[i].name,
					figure_time(time, mark[i].time_s), i == at ? "]" : "");
	shell_say(a->shell, "bookmarks: %s", text);
}

/* Is it before the moment that is shown? */
static bool app_history_is_before(const struct app *a, const struct history_mark *m)
{
	const struct app_history *h = &a->shown_history;

	if (h->kept)
		return !m->serial && m->ms < h->kept_ms;
	return !m->serial || m->serial < app_history_position(a);
}

bool app_history_find_mark(uint64_t *serial, int64_t *ms, const struct app *a, const char *name)
{
	struct history_mark mark[2 * SAMPLE_HISTORY_MARKS];
	uint32_t n = app_history_all_marks(mark, a);

	for (uint32_t i = n; i--;)
		if (!strcmp(mark[i].name, name)) {
			*serial = mark[i].serial;
			*ms = mark[i].serial ? mark[i].time_s * 1000 : mark[i].ms;
			return true;
		}
	return false;
}

static void app_history_go_to_mark(struct app *a, const char *name)
{
	struct history_mark mark[2 * SAMPLE_HISTORY_MARKS];
	uint32_t n = app_history_all_marks(mark, a), pick = n;

	if (!n) {
		shell_say(a->shell, "no bookmarks yet; %s sets one", key_hint("bookmark"));
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		if (name[0] ? !strcmp(mark[i].name, name) : app_history_is_before(a, &mark[i]))
			pick = i;
	if (pick == n && name[0]) {
		shell_say(a->shell, "no bookmark '%s'", name);
		return;
	}
	if (pick == n)
		pick = n - 1; /* before the first comes the last again */
	if (mark[pick].serial)
		app_history_go(a, mark[pick].serial);
	else
		app_history_ask(a, mark[pick].ms, 0);
	app_history_list_marks(a, mark, n, pick);
}

static void app_history_go_to_time(struct app *a, const char *text)
{
	char begin[FIGURE_LEN];
	uint64_t serial;
	int64_t time_s;

	if (!when_parse_past(&time_s, text, (int64_t)time(NULL))) {
		shell_say(a->shell,
			  "at: '%s' is neither a bookmark nor a time that has been; such as "
			  "03:10, -90m, 2026-11-20T03:10",
			  text);
		return;
	}
	serial = app_history_at_time(a->samples, time_s);
	if (serial)
		app_history_go(a, serial);
	else if (!app_history_ask(a, time_s * 1000 + 999, 0) && sample_history_oldest(a->samples))
		shell_say(a->shell, "at: nothing is kept from before %s; a collector would keep it",
			  figure_time(begin, sample_history_time(a->samples, sample_history_oldest(
										     a->samples))));
	else if (!a->shown_history.awaited)
		shell_say(a->shell, "no history yet");
}

/* A time, or a bookmark's name. */
static void app_history_go_to_moment(struct app *a, const char *text)
{
	uint64_t serial;
	int64_t ms;

	if (app_history_find_mark(&serial, &ms, a, text))
		app_history_go_to_mark(a, text);
	else
		app_history_go_to_time(a, text);
}

bool app_history_act(struct app *a, const struct request *r)
{
	switch (r->type) {
	case REQ_HIST_BACK:
		app_history_step(a, -app_history_count_of(r->text));
		return true;
	case REQ_HIST_FORWARD:
		app_history_step(a, app_history_count_of(r->text));
		return true;
	case REQ_HIST_BACK5:
		app_history_step(a, -5);
		return true;
	case REQ_HIST_FORWARD5:
		app_history_step(a, 5);
		return true;
	case REQ_LIVE:
		app_history_live(a);
		if (a->state.mode == RUN_FROZEN)
			app_unfreeze(a);
		return true;
	case REQ_AT:
		app_history_go_to_moment(a, r->text);
		return true;
	case REQ_BOOKMARK:
		app_history_set_mark(a, r->text);
		return true;
	case REQ_BOOKMARKS:
		app_history_go_to_mark(a, r->text);
		return true;
	default:
		return false;
	}
}

/* --- a part of the console ------------------------------------------------------------------ */

static bool app_history_take(struct app *a, struct msg *msg, bool *kept)
{
	(void)kept;
	return msg->type == MSG_METRICS && app_history_take_figures(a, msg);
}

static void app_history_hear(struct app *a, const struct app_news *n)
{
	const struct msg *msg = n->msg;

	if (n->type == NEWS_SAMPLE)
		app_history_add(a, msg);
	/* one that the frozen screen does not show */
	if (n->type == NEWS_MESSAGE && msg->type == MSG_SAMPLE && a->state.mode == RUN_FROZEN &&
	    a->state.fabric &&
	    digest_equal(&msg->reading->sample->fingerprint, &a->state.fabric->fingerprint))
		app_history_add(a, msg);
	if (n->type == NEWS_METRICS)
		app_history_figures(a);
}

static void app_history_refresh(struct app *a)
{
	struct history_mark mark[2 * SAMPLE_HISTORY_MARKS];
	uint32_t n = app_history_all_marks(mark, a);

	for (uint32_t i = 0; i < n; i++)
		a->bookmarks[i] = mark[i].name;
	a->bookmarks[n] = NULL;
	a->state.bookmarks = a->bookmarks;
}

static void app_history_end(struct app *a)
{
	app_history_live(a);
	sample_history_free(a->samples);
}

const struct app_part app_history_part = {
	.take = app_history_take,
	.hear = app_history_hear,
	.refresh = app_history_refresh,
	.end = app_history_end,
};
