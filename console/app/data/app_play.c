/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The past as it went on: played at a multiple of its speed, and from event to event. */
#include "console/app/app_priv.h"

#include "fabric/base/time/clock.h"
#include "views/data/state/key_hint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLAY_MOST    60.0
#define PLAY_GAP_S   3.0 /* nobody waits longer for the next sample */
#define PLAY_LEAST_S 0.05
#define STEPS_MOST   100

static int64_t app_play_event_s(const struct log_line *l)
{
	return (int64_t)(l->time_ns / 1000000000);
}

/* --- playing --------------------------------------------------------------------------------- */

static void app_play_stop(struct app *a)
{
	a->play.on = false;
}

/* From the moment that is shown on. */
static void app_play_begin(struct app *a)
{
	struct app_play *p = &a->play;
	const struct app_history *h = &a->shown_history;

	p->on = true;
	p->since = clock_s();
	p->from_s = h->at.time_s;
	p->kept = h->kept;
	p->kept_ms = h->kept_ms;
	p->asked = 0;
	p->gap_s = a->state.poll.interval_s;
}

static void app_play_speed(struct app *a, const char *text)
{
	struct app_play *p = &a->play;
	char *end;
	double speed = strtod(text, &end);

	end += end != text && *end == 'x'; /* as the first line shows it */
	if (text[0] && (end == text || *end || !(speed >= 1 && speed <= PLAY_MOST))) {
		shell_say(a->shell, "play: '%s' is not a speed from 1 to %g", text, PLAY_MOST);
		return;
	}
	if (p->on && !text[0]) {
		app_play_stop(a);
		shell_say(a->shell, "stopped");
		return;
	}
	if (!a->shown_history.on) {
		shell_say(a->shell, "nothing to play: go back first, by %s or :at TIME",
			  key_hint("back"));
		return;
	}
	if (text[0] || p->speed < 1)
		p->speed = text[0] ? speed : 1;
	app_play_begin(a);
	shell_say(a->shell, "playing at %gx: %s stops it", p->speed, key_hint("play"));
}

static void app_play_arrived(struct app *a)
{
	app_play_stop(a);
	shell_say(a->shell, a->state.mode == RUN_FILE ? "played: this is the newest sample"
						      : "played up to now");
}

/* Through this session's samples.  A gap is not waited for. */
static void app_play_own(struct app *a)
{
	struct app_play *p = &a->play;
	uint64_t now = a->shown_history.at.serial, to;
	double at = (double)p->from_s + (clock_s() - p->since) * p->speed;
	int64_t next;

	if (now + 1 > sample_history_newest(a->samples)) {
		app_play_arrived(a);
		return;
	}
	next = sample_history_time(a->samples, now + 1);
	if ((double)next - at > PLAY_GAP_S * p->speed) {
		p->from_s = next;
		p->since = clock_s();
		at = (double)next;
	}
	to = app_history_at_time(a->samples, (int64_t)floor(at));
	if (to <= now)
		return;
	app_history_go(a, to);
	if (!a->shown_history.on)
		app_play_arrived(a);
}

/* What came after a step tells how far apart samples are there. */
static void app_play_took_step(struct app *a)
{
	struct app_play *p = &a->play;
	const struct app_history *h = &a->shown_history;
	double gap = (double)(h->kept_ms - p->kept_ms) / 1e3 / (double)p->asked;

	p->gap_s = fmin(fmax(gap, PLAY_LEAST_S), PLAY_GAP_S * p->speed);
	p->kept_ms = h->kept_ms;
	p->asked = 0;
}

/* Through what the collector keeps: so many samples on as the time that went by has. */
static void app_play_kept(struct app *a)
{
	struct app_play *p = &a->play;
	const struct app_history *h = &a->shown_history;
	double due; /* where there are not so many any more, half of them */

	if (h->awaited)
		return;
	if (p->asked == 1 && h->kept_ms == p->kept_ms) { /* there is none, as was said */
		app_play_stop(a);
		return;
	}
	if (p->asked && h->kept_ms != p->kept_ms)
		app_play_took_step(a);
	due = p->asked ? p->asked / 2 : (clock_s() - p->since) * p->speed / p->gap_s;
	if (due < 1)
		return;
	p->asked = (int32_t)fmin(due, STEPS_MOST);
	p->since = clock_s();
	if (!app_history_ask(a, h->kept_ms, p->asked))
		app_play_stop(a);
}

static void app_play_on(struct app *a)
{
	const struct app_history *h = &a->shown_history;

	if (!h->on)
		app_play_arrived(a);
	else if (a->play.kept != h->kept) /* from the collector's past into this session's */
		app_play_begin(a);
	else if (h->kept)
		app_play_kept(a);
	else
		app_play_own(a);
}

/* --- from event to event --------------------------------------------------------------------- */

static bool app_play_counts(const struct log_line *l)
{
	return l->level >= LOG_INFO;
}

static void app_play_say_event(struct app *a, const struct log_line *l)
{
	char time[FIGURE_LEN];

	shell_say(a->shell, "%s %s: %.150s", figure_time(time, app_play_event_s(l)), l->area,
		  l->text);
}

/* The event of this session whose sample is the next one in that direction from serial; NULL: none.
 */
static const struct log_line *app_play_own_event(const struct app *a, uint64_t serial, int by,
						 uint64_t *to)
{
	const struct log_line *best = NULL;

	for (uint32_t i = 0; i < events_count(&a->events); i++) {
		const struct log_line *l = events_get(&a->events, i);
		uint64_t at = app_history_at_time(a->samples, app_play_event_s(l));

		if (!at || !app_play_counts(l) || (by > 0 ? at <= serial : at >= serial))
			continue;
		if (best && (by > 0 ? at >= *to : at <= *to))
			continue;
		best = l;
		*to = at;
	}
	return best;
}

static void app_play_no_event(struct app *a, int by)
{
	shell_say(a->shell, by > 0 ? "no later event" : "no earlier event is known");
}

static void app_play_go_to_own_event(struct app *a, uint64_t serial, int by)
{
	uint64_t to = 0, oldest = sample_history_oldest(a->samples);
	const struct log_line *l;

	pthread_mutex_lock(&a->events_lock);
	l = app_play_own_event(a, serial, by, &to);
	if (l) {
		app_history_go(a, to);
		app_play_say_event(a, l);
	} else if (by > 0 || !oldest || !app_history_ask_event(a, app_history_ms(a, oldest), by)) {
		app_play_no_event(a, by);
	}
	pthread_mutex_unlock(&a->events_lock);
}

void app_play_event_came(struct app *a, const char *told)
{
	struct app_history *h = &a->shown_history;
	int by = h->event_by;
	char time[FIGURE_LEN], *text;
	long long at;

	h->event_by = 0;
	if (!told && by > 0) {
		app_play_go_to_own_event(a, 0, by);
	} else if (!told) {
		app_play_no_event(a, by);
	} else if (told[0]) { /* a collector of an older version does not say it */
		at = strtoll(told, &text, 10);
		shell_say(a->shell, "%s%.170s", figure_time(time, at), text);
	}
}

static void app_play_go_to_event(struct app *a, int by)
{
	const struct app_history *h = &a->shown_history;

	if (h->on && h->kept)
		app_history_ask_event(a, h->kept_ms, by);
	else if (h->on || by < 0)
		app_play_go_to_own_event(
			a, h->on ? h->at.serial : sample_history_newest(a->samples) + 1, by);
	else
		shell_say(a->shell, "this is the present: %s goes back to the event before",
			  key_hint("earlier"));
}

/* --- a part of the console ------------------------------------------------------------------- */

static void app_play_refresh(struct app *a)
{
	if (a->play.on)
		app_play_on(a);
}

/* Another moment is wanted than the one that is on the way, or is played. */
static bool app_play_is_move(enum req req)
{
	return req == REQ_HIST_BACK || req == REQ_HIST_FORWARD || req == REQ_HIST_BACK5 ||
	       req == REQ_HIST_FORWARD5 || req == REQ_LIVE || req == REQ_AT ||
	       req == REQ_BOOKMARKS || req == REQ_PEAK || req == REQ_EVENT_NEXT ||
	       req == REQ_EVENT_PREV;
}

bool app_play_act(struct app *a, const struct request *r)
{
	if (app_play_is_move(r->type))
		app_play_stop(a);
	if (r->type == REQ_PLAY)
		app_play_speed(a, r->text);
	else if (r->type == REQ_EVENT_NEXT || r->type == REQ_EVENT_PREV)
		app_play_go_to_event(a, r->type == REQ_EVENT_NEXT ? 1 : -1);
	else
		return false;
	return true;
}

const struct app_part app_play_part = { .refresh = app_play_refresh };
