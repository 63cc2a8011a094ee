/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/preview/preview_form.h"

#include "fabric/format/site/limits_text.h"
#include "fabric/format/site/pin_text.h"
#include "views/data/hint_click.h"
#include "views/data/state/key_hint.h"
#include "views/data/state/option_values.h"
#include "views/preview/preview_effect.h"
#include "views/preview/preview_values.h"
#include "views/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The i-th row, NULL behind the last. */
static const struct param *preview_form_row(uint32_t i)
{
	const struct param *all;
	size_t n;

	all = param_all(&n);
	for (size_t k = 0; k < n; k++)
		if (all[k].label && !i--)
			return &all[k];
	return NULL;
}

static uint32_t preview_form_rows(void)
{
	uint32_t n = 0;

	while (preview_form_row(n))
		n++;
	return n;
}

static const struct param *preview_form_at(const struct preview_form *m)
{
	return preview_form_row(m->list.cursor);
}

static const char *preview_form_hint(const struct param *p)
{
	return p->id == PARAM_LMC ? "set by the subnet manager (opensm.conf: lmc); tables cannot "
				    "change it"
				  : p->help;
}

void preview_form_open(struct preview_form *m)
{
	m->open = true;
	m->typing = false;
}

static void preview_form_value_text(char *buf, size_t len, const struct preview_options *o,
				    const struct param *p, const struct state *s)
{
	if (p->id == PARAM_LMC && s->fabric)
		snprintf(buf, len, "%u (current)", s->fabric->lmc);
	else if (p->id == PARAM_LMC)
		snprintf(buf, len, "-");
	else if (p->id < PARAM_TEXTS)
		snprintf(buf, len, "%s", o->text[p->id][0] ? o->text[p->id] : p->unset);
	else
		param_text(buf, len, &o->params, p);
}

static const char *preview_form_default(char *buf, size_t len, const struct param *p)
{
	struct engine_params d;

	param_defaults(&d);
	if (p->unset || p->id == PARAM_LMC)
		snprintf(buf, len, "%s", p->unset ? p->unset : "of the subnet manager");
	else
		param_text(buf, len, &d, p);
	return buf;
}

/* "1-15", "time, leafwise". */
static const char *preview_form_range(char *buf, size_t len, const struct param *p)
{
	size_t n = 0;

	switch (p->type) {
	case PARAM_NUMBER:
	case PARAM_PERCENT:
		if (p->max > 65535)
			snprintf(buf, len, "%" PRIu64 " and more", p->min);
		else
			snprintf(buf, len, "%" PRIu64 "-%" PRIu64 "%s", p->min, p->max,
				 p->type == PARAM_PERCENT ? "%" : "");
		break;
	case PARAM_FLAG:
		snprintf(buf, len, "yes, no");
		break;
	case PARAM_WORD:
		buf[0] = '\0';
		for (int i = 0; p->words[i] && n < len; i++)
			n += (size_t)snprintf(buf + n, len - n, "%s%s", i ? ", " : "", p->words[i]);
		break;
	default:
		snprintf(buf, len, "%s", p->type == PARAM_LIST ? "a list" : "a file");
	}
	return buf;
}

#define WIDE	118 /* cells: beside each value its default, range, and what it is for */
#define DEFAULT 44
#define RANGE	68
#define GAIN	97

static void preview_form_draw_more(const struct param *p, struct canvas *c, struct rect r, int y)
{
	char text[400];

	canvas_name(c, r, DEFAULT, y, RANGE - DEFAULT - 2, ROLE_DIM,
		    preview_form_default(text, sizeof(text), p));
	canvas_name(c, r, RANGE, y, GAIN - RANGE - 1, ROLE_DIM,
		    preview_form_range(text, sizeof(text), p));
	canvas_text(c, r, GAIN, y, ROLE_TEXT, p->gain);
}

static void preview_form_draw_rows(const struct preview_form *m, const struct context *ctx,
				   const struct state *s, struct canvas *c, struct rect r, int y0,
				   int rows)
{
	bool wide = r.w >= WIDE;

	if (wide) {
		canvas_text(c, r, 1, y0 - 1, ROLE_LABEL, "option      for   value");
		canvas_text(c, r, DEFAULT, y0 - 1, ROLE_LABEL, "default");
		canvas_text(c, r, RANGE, y0 - 1, ROLE_LABEL, "may be");
		canvas_text(c, r, GAIN, y0 - 1, ROLE_LABEL, "what it is good for; what it costs");
	}
	for (int y = 0; y < rows; y++) {
		const struct param *p = preview_form_row(m->list.top + (uint32_t)y);
		char value[PATH_TEXT];

		preview_form_value_text(value, sizeof(value), &ctx->options, p, s);
		canvas_text(c, r, 1, y0 + y, ROLE_LABEL, p->label);
		if (p->engine)
			canvas_textf(c, r, 13, y0 + y, ROLE_DIM, "%s", p->engine);
		canvas_name(c, r, 19, y0 + y, (wide ? DEFAULT - 1 : r.w - 1) - 19, ROLE_TEXT,
			    value);
		if (wide)
			preview_form_draw_more(p, c, r, y0 + y);
		if (p == preview_form_at(m))
			list_draw_cursor(c, r, y0 + y);
	}
}

/* What to press, or how far values are tried. */
static void preview_form_draw_keys(const struct preview_form *m, const struct context *ctx,
				   const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct param *at = preview_form_at(m);
	uint64_t value[OPTION_VALUES];
	char text[120];
	bool tries;

	if (preview_values_progress(text, sizeof(text), s)) {
		canvas_textf(c, r, 1, y, ROLE_KEY, "%s   %s: cancel", text, key_hint("cancel"));
		hint_click_mark(c, r, y, 1);
		return;
	}
	tries = option_values(value, at, &ctx->options, s->fabric) > 0;
	canvas_textf(c, r, 1, y, ROLE_KEY, "%s%s%sEsc: done",
		     at->id == PARAM_LMC ? "" : "Enter: change   ",
		     tries ? key_hint("compare") : "", tries ? ": try its values   " : "");
	hint_click_mark(c, r, y, 1);
}

/* At the bottom: what was made of the values of the option under the cursor, else what the options
 * of the plan that is looked at did; returns its lines, and one that is empty. */
static int preview_form_draw_effect(const struct preview_form *m, const struct context *ctx,
				    const struct state *s, struct canvas *c, struct rect r,
				    uint32_t engine)
{
	const struct param *at = preview_form_at(m);
	const struct rect none = { r.x, r.y, r.w, 0 };
	bool known = r.w < WIDE;
	int n = preview_values_draw(at, engine, &ctx->options, s, c, none, 0, known);

	if (n && n <= r.h / 3 + 1) {
		preview_values_draw(at, engine, &ctx->options, s, c, r, r.h - n, known);
		return n;
	}
	n = state_preview_ready(s) ? preview_effect_draw(state_plan(s), c, none, 0) : 0;
	if (!n || n > r.h / 3)
		return 0;
	preview_effect_draw(state_plan(s), c, r, r.h - n);
	return n;
}

/* Large screens have both, below the options. */
static void preview_form_draw_below(const struct preview_form *m, const struct context *ctx,
				    const struct state *s, struct canvas *c, struct rect r,
				    uint32_t engine)
{
	const struct param *at = preview_form_at(m);
	char title[200];
	int n;

	snprintf(title, sizeof(title), "%s, results of %s with the other options as they are",
		 at->label,
		 engine < s->preview.nengines ? s->preview.engines[engine].engine->name : "-");
	canvas_rule(c, r, 0, title);
	n = preview_values_draw(at, engine, &ctx->options, s, c, r, 1, false);
	if (!n)
		canvas_text(c, r, 1, 1, ROLE_DIM,
			    "no values to try: results do not depend on it, or it names hosts or "
			    "files");
	n = (n ? n : 1) + 2;
	if (state_preview_ready(s) && state_plan(s)->was.known && n + 4 < r.h) {
		canvas_rule(c, r, n, "What the options of the plan did");
		n += preview_effect_draw(state_plan(s), c, r, n + 1) + 2;
	}
	if (s->preview.ntries && n + 3 < r.h)
		preview_values_draw_all(engine, s, c, (struct rect){ r.x, r.y + n, r.w, r.h - n });
}

void preview_form_draw(struct preview_form *m, struct context *ctx, const struct state *s,
		       struct canvas *c, struct rect r, uint32_t engine)
{
	struct rect in = { r.x, r.y, r.w - 1, r.h };
	const struct param *at = preview_form_at(m);
	uint32_t n = preview_form_rows();
	bool large = r.w >= WIDE && r.h >= (int)n + 22;
	int lines = large ? r.h - (int)n - 7 : preview_form_draw_effect(m, ctx, s, c, r, engine);
	int head = r.w >= WIDE, room = r.h - 6 - head - lines;
	int rows = (int)n < room ? (int)n : room, y = rows + 2 + head;

	if (large)
		preview_form_draw_below(
			m, ctx, s, c, (struct rect){ r.x, r.y + r.h - lines, r.w, lines }, engine);
	r.h -= lines;
	in.h -= lines;
	canvas_rule(c, r, 0, "Options for the next preview");
	list_fit(&m->list, n, rows);
	list_draw_range(&m->list, n, c, r, 0);
	preview_form_draw_rows(m, ctx, s, c, r, 1 + head, rows);
	if (m->typing)
		entry_draw(&m->entry, c, in, 1, y, at->label);
	else
		preview_form_draw_keys(m, ctx, s, c, in, y);
	if (m->typing && m->files.n)
		choices_draw(&m->files, c, in, y + 1);
	else
		canvas_wrap(c, in, 1, y + 1, ROLE_DIM, preview_form_hint(at));
}

/* The next word, or no instead of yes. */
static void preview_form_toggle(struct engine_params *o, const struct param *p)
{
	static const char *const flags[] = { "no", "yes", NULL };
	const char *const *words = p->words ? p->words : flags;
	const char *next = words[param_value(o, p) + 1];

	param_set(o, p, next ? next : words[0], NULL);
}

static void preview_form_type(struct preview_form *m, const struct context *ctx,
			      const struct param *p)
{
	char number[32];

	m->typing = true;
	snprintf(number, sizeof(number), "%" PRIu64,
		 p->id < PARAM_TEXTS ? 0 : param_value(&ctx->options.params, p));
	entry_open(&m->entry, p->id < PARAM_TEXTS ? ctx->options.text[p->id] : number);
}

static void preview_form_change(struct preview_form *m, struct context *ctx, const struct state *s)
{
	const struct param *p = preview_form_at(m);

	if (p->id == PARAM_LMC)
		context_say(ctx, "%s: %s", p->label, preview_form_hint(p));
	else if (p->id == PARAM_ESCAPE && s->fabric && !s->fabric->lmc &&
		 !ctx->options.params.escape)
		context_say(ctx, "escape LIDs need LMC 1 or more, this fabric has 0");
	else if (p->type == PARAM_FLAG || p->type == PARAM_WORD)
		preview_form_toggle(&ctx->options.params, p);
	else
		preview_form_type(m, ctx, p);
}

/* What can be checked before an engine is asked. */
static int preview_form_check_text(const struct param *p, const char *text, const struct state *s,
				   struct err *err)
{
	struct route_limits *l = NULL;
	int rc = 0;

	if (strlen(text) >= PATH_TEXT)
		return err_set(err, -EINVAL, "too long: at most %d characters", PATH_TEXT - 1);
	if (p->id == PARAM_PIN && s->fabric)
		rc = route_limits_pin(&l, s->fabric, s->jobs, text, err);
	else if (p->id == PARAM_EXCLUDE && s->fabric)
		rc = route_limits_exclude(&l, s->fabric, text, err);
	route_limits_free(l);
	return rc;
}

static int preview_form_set(struct preview_options *o, const struct param *p, const char *text,
			    const struct state *s, struct err *err)
{
	struct err why;

	if (p->id < PARAM_TEXTS) {
		if (preview_form_check_text(p, text, s, err))
			return -EINVAL;
		snprintf(o->text[p->id], PATH_TEXT, "%s", text);
		return 0;
	}
	if (param_set_or_unset(&o->params, p, text, &why))
		return err_set(err, -EINVAL, "%s: %s", p->label, why.text);
	return 0;
}

static void preview_form_take(struct preview_form *m, struct context *ctx, const struct state *s)
{
	struct err err = { "" };

	m->typing = false;
	if (!preview_form_set(&ctx->options, preview_form_at(m), m->entry.text, s, &err))
		return;
	context_say(ctx, "%s", err.text);
	m->typing = true;
	entry_open(&m->entry, m->entry.text);
}

static void preview_form_typed(struct preview_form *m, struct context *ctx, const struct input *in,
			       const struct state *s)
{
	struct input enter = *in;

	if (in->req == REQ_PANE && preview_form_at(m)->type == PARAM_FILE) {
		choices_file(&m->files, m->entry.text, sizeof(m->entry.text), s);
		return;
	}
	m->files.n = 0;
	if (in->req == REQ_PANE)
		enter.req = REQ_ENTER;
	switch (entry_input(&m->entry, &enter)) {
	case ENTRY_DONE:
		preview_form_take(m, ctx, s);
		if (in->req == REQ_PANE && !m->typing && preview_form_row(m->list.cursor + 1))
			m->list.cursor++;
		break;
	case ENTRY_LEFT:
		m->typing = false;
		break;
	default:
		break;
	}
}

/* Results with each likely value of the option under the cursor. */
static void preview_form_try(const struct preview_form *m, const struct context *ctx,
			     uint32_t engine, struct request *out)
{
	out->type = REQ_OPTION_TRY;
	out->engine = engine;
	out->options = ctx->options;
	out->param = preview_form_at(m)->id;
}

bool preview_form_input(struct preview_form *m, struct context *ctx, const struct input *in,
			const struct state *s, uint32_t engine, struct request *out)
{
	if (m->typing) {
		preview_form_typed(m, ctx, in, s);
		return true;
	}
	if (list_move(&m->list, in->req, preview_form_rows()))
		return true;
	switch (in->req) {
	case REQ_ENTER:
	case REQ_SELECT:
		preview_form_change(m, ctx, s);
		return true;
	case REQ_COMPARE:
		preview_form_try(m, ctx, engine, out);
		return true;
	case REQ_PREVIEW_CANCEL:
		if (s->preview.state == PREVIEW_RUNNING)
			out->type = REQ_PREVIEW_CANCEL;
		return true;
	case REQ_OPTIONS:
	case REQ_BACK:
	case REQ_QUIT:
		m->open = false;
		return true;
	case REQ_CLICK:
	case REQ_REDRAW:
	case REQ_SUSPEND:
	case REQ_COMMAND:
		return false;
	default:
		return true;
	}
}
