/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/preview/preview_form.h"

#include "fabric/format/site/limits_text.h"
#include "fabric/format/site/pin_text.h"
#include "views/preview/preview_effect.h"
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

/* At the bottom: what the options of the plan that is looked at did; returns its lines, and one
 * that is empty. */
static int preview_form_draw_effect(const struct state *s, struct canvas *c, struct rect r)
{
	const struct rect none = { r.x, r.y, r.w, 0 };
	int n = state_preview_ready(s) ? preview_effect_draw(state_plan(s), c, none, 0) : 0;

	if (!n || n > r.h / 3)
		return 0;
	preview_effect_draw(state_plan(s), c, r, r.h - n);
	return n;
}

void preview_form_draw(struct preview_form *m, struct context *ctx, const struct state *s,
		       struct canvas *c, struct rect r)
{
	struct rect in = { r.x, r.y, r.w - 1, r.h };
	const struct param *at = preview_form_at(m);
	uint32_t n = preview_form_rows();
	int lines = preview_form_draw_effect(s, c, r), room = r.h - 6 - lines;
	int rows = (int)n < room ? (int)n : room;

	r.h -= lines;
	in.h -= lines;

	canvas_rule(c, r, 0, "Options for the next preview");
	list_fit(&m->list, n, rows);
	list_draw_range(&m->list, n, c, r, 0);
	for (int y = 0; y < rows; y++) {
		const struct param *p = preview_form_row(m->list.top + (uint32_t)y);
		char value[PATH_TEXT];

		preview_form_value_text(value, sizeof(value), &ctx->options, p, s);
		canvas_text(c, r, 1, y + 1, ROLE_LABEL, p->label);
		if (p->engine)
			canvas_textf(c, r, 13, y + 1, ROLE_DIM, "%s", p->engine);
		canvas_name(c, r, 19, y + 1, r.w - 20, ROLE_TEXT, value);
		if (p == at)
			list_draw_cursor(c, r, y + 1);
	}
	if (m->typing)
		entry_draw(&m->entry, c, in, 1, rows + 2, at->label);
	else
		canvas_text(c, in, 1, rows + 2, ROLE_KEY,
			    at->id == PARAM_LMC ? "Esc: done" : "Enter: change   Esc: done");
	if (m->typing && m->files.n)
		choices_draw(&m->files, c, in, rows + 3);
	else
		canvas_wrap(c, in, 1, rows + 3, ROLE_DIM, preview_form_hint(at));
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

bool preview_form_input(struct preview_form *m, struct context *ctx, const struct input *in,
			const struct state *s)
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
