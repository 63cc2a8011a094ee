/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/preview/preview_values.h"

#include "views/canvas/text.h"
#include "views/data/state/option_values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COLUMNS 5
#define VALUE_W 10 /* columns of the value, and a sign */
#define WIDE	100

static const struct {
	enum option_metric metric, other;    /* other: where metric is not known of any */
	const char *title, *of_jobs, *brief; /* of_jobs: its title where there are any */
	int digits;
} columns[COLUMNS] = {
	{ OPTION_TIME_MAX, OPTION_TIME_MAX, "max job time x", NULL, "max x", 2 },
	{ OPTION_TIME_MEAN, OPTION_TIME_MEAN, "mean job time x", NULL, "mean x", 2 },
	{ OPTION_JOB_EFI, OPTION_EFI, "max EFI", "max job EFI", "EFI", 0 },
	{ OPTION_VLS, OPTION_VLS, "VLs used", NULL, "VLs", 0 },
	{ OPTION_BLOCKS, OPTION_BLOCKS, "LFT blocks", NULL, "blocks", 0 },
};

static double preview_values_metric(const struct option_result *r, int column)
{
	double v = r && !r->failed ? r->metric[columns[column].metric] : NAN;

	return isfinite(v) || !r || r->failed ? v : r->metric[columns[column].other];
}

static int preview_values_width(struct rect r)
{
	return r.w >= WIDE ? 16 : 8;
}

static void preview_values_head(const struct state *s, struct canvas *c, struct rect r, int y)
{
	int w = preview_values_width(r);
	bool jobs = s->jobs && s->jobs->njob;

	for (int i = 0; i < COLUMNS; i++)
		canvas_right(c, r, VALUE_W + (i + 1) * w, y, ROLE_LABEL,
			     r.w < WIDE			  ? columns[i].brief
			     : jobs && columns[i].of_jobs ? columns[i].of_jobs
							  : columns[i].title);
}

/* Beside the result with the value of now, where that is known. */
static void preview_values_row(const struct option_result *at, const struct option_result *now,
			       struct canvas *c, struct rect r, int y)
{
	int w = preview_values_width(r);

	if (at && at->failed)
		canvas_text(c, r, VALUE_W + 2, y, ROLE_WARN, "no routing with it");
	for (int i = 0; i < COLUMNS && !(at && at->failed); i++) {
		double v = preview_values_metric(at, i), is = preview_values_metric(now, i);
		char text[FIGURE_LEN];

		if (!isfinite(v))
			snprintf(text, sizeof(text), "-");
		else if (columns[i].digits)
			snprintf(text, sizeof(text), "%.*f", columns[i].digits, v);
		else
			figure_count(text, (uint64_t)(v + 0.5));
		canvas_right(c, r, VALUE_W + (i + 1) * w, y,
			     !isfinite(v)		 ? ROLE_DIM
			     : !isfinite(is)		 ? ROLE_TEXT
			     : v < is - 0.005 * fabs(is) ? ROLE_GOOD
			     : v > is + 0.005 * fabs(is) ? ROLE_WARN
							 : ROLE_TEXT,
			     text);
	}
}

int preview_values_draw(const struct param *p, uint32_t engine, const struct preview_options *o,
			const struct state *s, struct canvas *c, struct rect r, int y, bool known)
{
	const struct state_preview *v = &s->preview;
	const struct option_result *now = option_result_find(v->tries, v->ntries, engine, o);
	const struct option_result *at[OPTION_VALUES];
	uint64_t value[OPTION_VALUES];
	uint32_t n = option_values(value, p, o, s->fabric);
	bool any = v->trial.on && v->trial.id == p->id && v->trial.engine == engine;
	char text[40];

	for (uint32_t i = 0; i < n; i++) {
		struct preview_options with = *o;

		option_values_set(&with, p, value[i]);
		at[i] = option_result_find(v->tries, v->ntries, engine, &with);
		any |= at[i] && value[i] != param_value(&o->params, p);
	}
	if (!n || (known && !any))
		return 0;
	if (!r.h)
		return (int)n + 1;
	canvas_text(c, r, 1, y, ROLE_LABEL, " value");
	preview_values_head(s, c, r, y);
	for (uint32_t i = 0; i < n; i++) {
		bool is = value[i] == param_value(&o->params, p);

		canvas_textf(c, r, 1, y + 1 + (int)i, is ? ROLE_KEY : ROLE_TEXT, "%c%s",
			     is ? '*' : ' ', option_values_text(text, sizeof(text), p, value[i]));
		preview_values_row(at[i], now, c, r, y + 1 + (int)i);
	}
	return (int)n + 1;
}

void preview_values_draw_all(uint32_t engine, const struct state *s, struct canvas *c,
			     struct rect r)
{
	const struct state_preview *v = &s->preview;
	int options = VALUE_W + COLUMNS * preview_values_width(r) + 3, y = 2;

	canvas_rule(c, r, 0, "All results of this engine, newest first");
	preview_values_head(s, c, r, 1);
	canvas_text(c, r, options, 1, ROLE_LABEL, "options");
	for (uint32_t i = v->ntries; i-- > 0 && y < r.h;) {
		const struct option_result *at = &v->tries[i];
		char text[400];

		if (at->engine != engine)
			continue;
		preview_values_row(at, NULL, c, r, y);
		preview_options_text(text, sizeof(text), &at->options);
		canvas_name(c, r, options, y++, r.w - options - 1, ROLE_TEXT,
			    text[0] ? text : "all defaults");
	}
}

bool preview_values_progress(char *buf, size_t len, const struct state *s)
{
	const struct state_preview *p = &s->preview;
	int n;

	if (!p->trial.on)
		return false;
	n = snprintf(buf, len, "trying %u of %u: %s", p->trial.at + 1, p->trial.n,
		     p->step[0] ? p->step : "starting");
	if (isfinite(p->fraction) && n > 0 && (size_t)n < len)
		snprintf(buf + n, len - (size_t)n, " %.0f%%", 100 * p->fraction);
	return true;
}
