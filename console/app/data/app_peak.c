/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The peaks of this session: when links were busiest, waited most, had most errors. */
#include "console/app/app_priv.h"

#include "console/session/samples/sample_reading.h"

#include <math.h>
#include <string.h>

static float *app_peak_of(struct app *a, uint64_t serial)
{
	return a->peak.most[serial % (SAMPLE_HISTORY_MAX + 1)];
}

static double app_peak_figure(const struct sample_reading *r, enum history_metric m)
{
	const struct sample_summary *t = r->sample_summary;
	const struct port_rate *p;

	if (!t || !r->rates || !t->top[m].n)
		return NAN;
	p = &r->rates->port[chan_fabric_port(t->fabric, t->top[m].chan[0])];
	return m == HISTORY_UTIL   ? p->util_pct
	       : m == HISTORY_WAIT ? p->wait_pct
				   : p->errors_per_min;
}

/* After the history, which keeps the sample, while the screen is frozen, too. */
static void app_peak_hear(struct app *a, const struct app_news *n)
{
	uint64_t newest = sample_history_newest(a->samples);

	if ((n->type != NEWS_SAMPLE && (n->type != NEWS_MESSAGE || n->msg->type != MSG_SAMPLE)) ||
	    newest == a->peak.newest)
		return;
	a->peak.newest = newest;
	for (int m = 0; m < HISTORY_METRICS; m++)
		app_peak_of(a, newest)[m] =
			(float)app_peak_figure(n->msg->reading, (enum history_metric)m);
}

/* Of what is kept, the first of equals; 0: nothing of that is known. */
static uint64_t app_peak_serial(struct app *a, enum history_metric m)
{
	uint64_t best = 0;

	for (uint64_t i = sample_history_oldest(a->samples); i && i <= a->peak.newest; i++) {
		float v = app_peak_of(a, i)[m];

		if (v > 0 && (!best || v > app_peak_of(a, best)[m]))
			best = i;
	}
	return best;
}

/* --- the bar --------------------------------------------------------------------------------- */

static uint8_t app_peak_column(uint64_t serial, uint64_t oldest, uint64_t count, uint32_t n)
{
	return (uint8_t)((serial - oldest) * n / count);
}

static void app_peak_fill(struct app *a, struct state_past *p, uint64_t oldest, uint64_t count)
{
	for (uint64_t i = oldest; i < oldest + count; i++) {
		uint8_t *pct = &p->pct[app_peak_column(i, oldest, count, p->n)];
		float v = app_peak_of(a, i)[HISTORY_UTIL];
		uint8_t now = isfinite(v) ? (uint8_t)(v > 100 ? 100 : v + 0.5F) : HISTORY_UNKNOWN;

		if (now != HISTORY_UNKNOWN && (*pct == HISTORY_UNKNOWN || now > *pct))
			*pct = now;
	}
}

/* Of the samples of this session, as many as are kept. */
static void app_peak_bar(struct app *a)
{
	uint64_t oldest = sample_history_oldest(a->samples), peak;
	uint64_t count = sample_history_count(a->samples);
	struct state_past *p = &a->peak.past;
	const struct mark *mark;
	uint32_t nmark;

	p->n = 0;
	if (!a->peak.newest || count < 2 || !a->shown_history.on || a->shown_history.kept)
		return;
	p->n = (uint8_t)(count < PAST_COLUMNS ? count : PAST_COLUMNS);
	memset(p->pct, HISTORY_UNKNOWN, sizeof(p->pct));
	app_peak_fill(a, p, oldest, count);
	peak = app_peak_serial(a, HISTORY_UTIL);
	p->peak = peak ? app_peak_column(peak, oldest, count, p->n) : p->n;
	p->at = app_peak_column(a->shown_history.at.serial, oldest, count, p->n);
	p->marks = 0;
	nmark = sample_history_marks(a->samples, &mark);
	for (uint32_t i = 0; i < nmark; i++)
		if (mark[i].serial >= oldest)
			p->marks |= 1ull << app_peak_column(mark[i].serial, oldest, count, p->n);
}

/* "peak util", of the moment that is shown. */
static void app_peak_refresh(struct app *a)
{
	const struct app_history *h = &a->shown_history;

	app_peak_bar(a);
	a->peak.text[0] = '\0';
	for (int m = 0; h->on && !h->kept && m < HISTORY_METRICS; m++)
		if (app_peak_serial(a, (enum history_metric)m) == h->at.serial) {
			snprintf(a->peak.text, sizeof(a->peak.text), "peak %s",
				 history_metric_name((enum history_metric)m));
			return;
		}
}

void app_peak_go(struct app *a, const char *text)
{
	enum history_metric m = text[0] ? history_metric_find(text) : HISTORY_UTIL;
	static const char *const units[HISTORY_METRICS] = { "%", "%", "/min" };
	char time[FIGURE_LEN];
	uint64_t at;

	if (m == HISTORY_METRICS) {
		shell_say(a->shell, "peak: '%s' is not util, wait or errors", text);
		return;
	}
	at = app_peak_serial(a, m);
	if (!at) {
		shell_say(a->shell, "no peak of %s in this session's samples",
			  history_metric_name(m));
		return;
	}
	app_history_go(a, at);
	shell_say(a->shell, "peak of this session: %s %.1f%s at %s", history_metric_name(m),
		  (double)app_peak_of(a, at)[m], units[m],
		  figure_time(time, sample_history_time(a->samples, at)));
}

const struct app_part app_peak_part = { .hear = app_peak_hear, .refresh = app_peak_refresh };
