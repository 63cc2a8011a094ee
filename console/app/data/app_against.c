/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two moments side by side: rates of one that are held against those shown. */
#include "console/app/app_priv.h"

#include "console/session/samples/sample_reading.h"
#include "fabric/base/message/plural.h"
#include "fabric/base/time/when.h"
#include "views/data/state/key_hint.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define AGAINST_SERIAL (1ull << 63) /* of questions: those of moments to be shown count from 1 */

static void app_against_drop(struct app *a)
{
	struct app_against *g = &a->against;

	rates_put(g->rates);
	fabric_put(g->of);
	g->rates = NULL;
	g->of = NULL;
	a->state.against = NULL;
}

static void app_against_none(struct app *a, const char *why)
{
	snprintf(a->against.no_past, sizeof(a->against.no_past), "%.199s", why);
	shell_say(a->shell, "against: %s", why);
}

/* References of its own. */
static void app_against_take(struct app *a, const struct fabric *f, const struct rates *r,
			     int64_t time_s)
{
	struct app_against *g = &a->against;
	char text[120], when[FIGURE_LEN];

	if (!r) {
		app_against_none(a, "there are no rates of that moment: it is the first sample");
		return;
	}
	if (!a->state.fabric || !digest_equal(&f->fingerprint, &a->state.fabric->fingerprint)) {
		snprintf(text, sizeof(text),
			 "the fabric was another one then: %u switch%s, %u host%s", f->nsw,
			 plural_es(f->nsw), f->nterm, plural(f->nterm));
		app_against_none(a, text);
		return;
	}
	app_against_drop(a);
	g->rates = rates_get(r);
	g->of = fabric_get(f);
	g->time_s = time_s;
	a->state.against = g->rates;
	a->state.against_s = time_s;
	shell_say(a->shell, "against %s: columns then and change in tables; %s in the heatmap",
		  figure_time(when, time_s), key_hint("compare"));
}

/* One of this session's samples; false: it is not there any more, or 0. */
static bool app_against_own(struct app *a, uint64_t serial)
{
	struct snapshot_at m;

	if (!serial || !sample_history_get(&m, a->samples, serial))
		return false;
	app_against_take(a, m.was.fabric, m.rates, m.time_s);
	snapshot_at_done(&m);
	return true;
}

static void app_against_ask(struct app *a, int64_t ms)
{
	struct app_against *g = &a->against;

	if (!feed_has_past(a->feed)) {
		app_against_none(a, "nothing is kept of that time; a collector would keep it");
		return;
	}
	g->asked = AGAINST_SERIAL | (g->asked + 1);
	g->awaited = true;
	feed_past(a->feed, g->asked, ms, 0);
}

void app_against_set(struct app *a, const char *text)
{
	uint64_t serial = 0;
	int64_t time_s, ms;

	a->against.no_past[0] = '\0';
	if (!text[0]) {
		app_against_drop(a);
		shell_say(a->shell, "rates are held against no other moment");
		return;
	}
	if (!app_history_find_mark(&serial, &ms, a, text)) {
		if (!when_parse_past(&time_s, text, (int64_t)time(NULL))) {
			app_against_none(a, "neither a bookmark nor a time that has been; such as "
					    "03:10, -90m, 2026-11-20T03:10");
			return;
		}
		serial = app_history_at_time(a->samples, time_s);
		ms = time_s * 1000 + 999;
	}
	if (!app_against_own(a, serial))
		app_against_ask(a, ms);
}

int app_against_now(struct app *a, const char *text, struct err *err)
{
	struct app_against *g = &a->against;
	struct err why = { "" };

	app_against_set(a, text);
	if (app_collector_past_wait(a, &why))
		return err_set(err, -ETIMEDOUT, "--against: %s", why.text);
	return g->no_past[0] ? err_set(err, -ENOENT, "--against: %s", g->no_past) : 0;
}

/* --- a part of the console ------------------------------------------------------------------ */

static bool app_against_message(struct app *a, struct msg *msg, bool *kept)
{
	(void)kept;
	if (msg->type != MSG_PAST || !(msg->total & AGAINST_SERIAL))
		return false;
	if (msg->total != a->against.asked)
		return true; /* another moment is wanted by now */
	a->against.awaited = false;
	if (msg->rc)
		app_against_none(a, msg->text);
	else
		app_against_take(a, msg->fabric, msg->reading->rates, msg->time_ms / 1000);
	return true;
}

static void app_against_hear(struct app *a, const struct app_news *n)
{
	const struct fabric *of = a->against.of;

	if (n->type == NEWS_FABRIC && of &&
	    !digest_equal(&of->fingerprint, &a->state.fabric->fingerprint))
		app_against_drop(a);
}

static void app_against_end(struct app *a)
{
	app_against_drop(a);
}

const struct app_part app_against_part = {
	.take = app_against_message,
	.hear = app_against_hear,
	.end = app_against_end,
};
