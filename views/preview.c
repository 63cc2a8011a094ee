/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Engines and preview: choose one, compute, and read what would change; nothing does. */
#include "views/list.h"
#include "views/preview_table.h"
#include "views/view.h"

#include "engines/sar_method.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option { OPTION_NONE, OPTION_VLS, OPTION_SEED, OPTION_METHOD };

struct preview_ui {
	struct list list;
	bool chosen; /* the cursor was moved, or put on the first engine that suits */
	unsigned vls;
	uint64_t seed;
	enum sar_method method;
	enum option editing;
	struct entry entry;
};

struct preview_layout {
	struct rect menu, table, histogram, worst;
};

static struct preview_layout layout(struct rect r)
{
	int left = r.w >= 140 ? 56 : r.w >= 100 ? 42 : 30;
	int top = r.h >= PREVIEW_TABLE_LINES + 6 ? PREVIEW_TABLE_LINES : r.h;
	struct preview_layout l;

	l.menu = (struct rect){ r.x, r.y, left - 1, top };
	l.table = (struct rect){ r.x + left, r.y, r.w - left, top };
	l.histogram = (struct rect){ r.x, r.y + top, r.w / 2 - 1, r.h - top };
	l.worst = (struct rect){ r.x + r.w / 2, r.y + top, r.w - r.w / 2, r.h - top };
	return l;
}

static const struct engine_choice *choice_at(const struct state *s, uint32_t i)
{
	return i < s->preview.nengines ? &s->preview.engines[i] : NULL;
}

/* The cursor begins on an engine that knows the jobs, or at least is not in use already. */
static void first_suiting(struct preview_ui *u, const struct state *s)
{
	const char *now = s->tables ? s->tables->engine : "";
	int best = 0;

	if (u->chosen || !s->preview.nengines)
		return;
	u->chosen = true;
	for (uint32_t i = 0; i < s->preview.nengines; i++) {
		const struct engine_choice *e = choice_at(s, i);
		int worth = !e->suits || !strcmp(e->engine->name, now) ? 0
			    : s->jobs && e->engine->uses_jobs	       ? 2
								       : 1;

		if (worth <= best)
			continue;
		best = worth;
		u->list.cursor = i;
	}
}

static void draw_engine(const struct preview_ui *u, const struct state *s, struct canvas *c,
			struct rect r, int y, uint32_t i)
{
	const struct engine_choice *e = choice_at(s, i);
	const struct state_preview *p = &s->preview;
	bool run = p->state != PREVIEW_IDLE && p->engine == i;
	bool now = s->tables && !strcmp(s->tables->engine, e->engine->name);
	enum role role = e->suits ? ROLE_TEXT : ROLE_DIM;

	canvas_textf(c, r, 1, y, role, "(%c) %-8s", run ? '*' : ' ', e->engine->name);
	if (!e->suits)
		canvas_text(c, r, 14, y, ROLE_WARN, "! not for this one");
	else if (now)
		canvas_text(c, r, 14, y, ROLE_GOOD, "in use now");
	else if (e->engine->uses_jobs)
		canvas_text(c, r, 14, y, ROLE_DIM, "knows the jobs");
	if (i == u->list.cursor)
		list_draw_cursor(c, r, y);
}

static int draw_options(const struct preview_ui *u, struct canvas *c, struct rect r, int y)
{
	static const char *const prompt[][2] = {
		[OPTION_VLS] = { "VLs", "lanes 1-15, 0 as offered" },
		[OPTION_SEED] = { "seed", "any number; same seed, same result" },
		[OPTION_METHOD] = { "sar", "leafwise, paper or patch" },
	};
	char vls[16] = "as offered";

	if (u->editing) {
		canvas_wrap(c, r, 1, y, ROLE_LABEL, prompt[u->editing][1]);
		entry_draw(&u->entry, c, r, 1, y + 2, prompt[u->editing][0]);
		return y + 3;
	}
	if (u->vls)
		snprintf(vls, sizeof(vls), "%u", u->vls);
	canvas_textf(c, r, 1, y, ROLE_TEXT, "VLs %s  seed %llu", vls, (unsigned long long)u->seed);
	canvas_textf(c, r, 1, y + 1, ROLE_TEXT, "method of sar: %s", sar_method_name(u->method));
	canvas_text(c, r, 1, y + 2, ROLE_DIM, "e: edit");
	return y + 3;
}

/* Strangers take the larger EFI of all pairs for a loss: only routes within jobs carry load. */
static bool traded_for_jobs(const struct state *s)
{
	const struct state_preview *p = &s->preview;

	return p->state == PREVIEW_DONE && p->before && p->after->njob &&
	       p->after->efi_max > p->before->efi_max &&
	       p->after->eff_efi_max < p->before->eff_efi_max;
}

static void draw_menu(struct preview_ui *u, const struct state *s, struct canvas *c, struct rect r)
{
	const struct engine_choice *e = choice_at(s, u->list.cursor);
	int rows = (int)s->preview.nengines < r.h - 10 ? (int)s->preview.nengines : r.h - 10, y;
	struct rect text = { r.x, r.y, r.w, r.h };

	list_fit(&u->list, s->preview.nengines, rows);
	canvas_rule(c, r, 0, "Engines");
	list_draw_range(&u->list, s->preview.nengines, c, r, 0);
	if (!s->preview.nengines)
		canvas_text(c, r, 1, 1, ROLE_DIM, "none yet: no fabric");
	for (y = 0; y < rows; y++)
		draw_engine(u, s, c, r, y + 1, u->list.top + (uint32_t)y);
	y += 2;
	if (e) {
		y += canvas_wrap(c, text, 1, y, e->suits ? ROLE_LABEL : ROLE_WARN,
				 e->suits ? e->engine->summary : e->why);
		y++;
	}
	y = draw_options(u, c, r, y) + 1;
	if (y < r.h)
		y += canvas_wrap(c, text, 1, y, ROLE_KEY, "Space or Enter: compute a preview") + 1;
	for (size_t i = 0; s->preview.notes && i < s->preview.notes->n && y < r.h; i++)
		y += canvas_wrap(c, text, 1, y, ROLE_TEXT, s->preview.notes->list[i].text);
	if (y < r.h && traded_for_jobs(s))
		canvas_wrap(c, text, 1, y, ROLE_LABEL,
			    "EFI max grew: it counts pairs of hosts that share no job, too.");
}

static void draw_running(const struct state *s, struct canvas *c, struct rect r)
{
	const struct state_preview *p = &s->preview;
	const struct engine_choice *e = choice_at(s, p->engine);
	char took[FIGURE_LEN], eta[FIGURE_LEN];
	int x;

	canvas_rule(c, r, 0, "Computing");
	canvas_textf(c, r, 1, 2, ROLE_TEXT, "%s: %s", e ? e->engine->name : "?",
		     p->step[0] ? p->step : "starting");
	canvas_bar(c, r, 1, 3, r.w - 10, ROLE_GOOD, p->fraction, 0);
	if (isfinite(p->fraction))
		canvas_rightf(c, r, r.w - 2, 3, ROLE_TEXT, "%3.0f%%", p->fraction * 100);
	x = canvas_textf(c, r, 1, 4, ROLE_TEXT, "elapsed %s", figure_age(took, p->elapsed_s));
	if (isfinite(p->eta_s))
		canvas_textf(c, r, x, 4, ROLE_TEXT, "  about %s to go", figure_age(eta, p->eta_s));
	canvas_text(c, r, 1, 6, ROLE_KEY, "x");
	canvas_text(c, r, 3, 6, ROLE_TEXT, "cancels; the fabric is not touched either way");
}

static void draw_idle(const struct state *s, struct canvas *c, struct rect r)
{
	canvas_rule(c, r, 0, "Preview");
	canvas_wrap(c, r, 1, 2, ROLE_TEXT,
		    "Choose an engine on the left and press Space or Enter: it computes another "
		    "routing for this fabric and its jobs, and this pane shows what would get "
		    "better or worse, and how many entries would have to be written.");
	canvas_wrap(c, r, 1, 7, ROLE_TEXT, "Nothing in the fabric changes by that.");
	if (!s->tables)
		canvas_wrap(c, r, 1, 9, ROLE_WARN,
			    "The current tables are not known: there is nothing to compare with.");
}

static void draw_table(const struct state *s, struct canvas *c, struct rect r)
{
	const struct state_preview *p = &s->preview;
	const struct engine_choice *e = choice_at(s, p->engine);
	char took[FIGURE_LEN], title[128];

	switch (p->state) {
	case PREVIEW_IDLE:
		draw_idle(s, c, r);
		return;
	case PREVIEW_RUNNING:
		draw_running(s, c, r);
		return;
	case PREVIEW_FAILED:
		snprintf(title, sizeof(title), "%s gave up", e ? e->engine->name : "Engine");
		canvas_rule(c, r, 0, title);
		canvas_wrap(c, (struct rect){ r.x, r.y, r.w - 1, r.h }, 1, 2, ROLE_BAD, p->error);
		return;
	case PREVIEW_CANCELLED:
		canvas_rule(c, r, 0, "Cancelled");
		canvas_textf(c, r, 1, 2, ROLE_TEXT, "after %s; nothing was changed",
			     figure_age(took, p->elapsed_s));
		return;
	case PREVIEW_DONE:
		break;
	}
	if (state_preview_ready(s))
		preview_table_draw(s, c, r);
	else
		canvas_wrap(c, r, 1, 2, ROLE_WARN,
			    "The preview is of a fabric that is no longer there: compute it anew.");
}

static void preview_draw(void *own, struct ui *ui, struct canvas *c, struct rect r,
			 const struct state *s)
{
	struct preview_ui *u = own;
	struct preview_layout l = layout(r);

	(void)ui;
	first_suiting(u, s);
	draw_menu(u, s, c, l.menu);
	draw_table(s, c, l.table);
	if (!state_preview_ready(s) || l.worst.h < 4)
		return;
	preview_histogram_draw(s, c, l.histogram);
	preview_worst_draw(s, c, l.worst);
}

static void start(const struct preview_ui *u, struct ui *ui, const struct state *s,
		  struct request *out)
{
	const struct engine_choice *e = choice_at(s, u->list.cursor);

	if (!e) {
		ui_say(ui, "no fabric yet");
	} else if (s->preview.state == PREVIEW_RUNNING) {
		ui_say(ui, "one computation at a time: x cancels the running one");
	} else if (!e->suits) {
		ui_say(ui, "%s is not for this fabric: %s", e->engine->name, e->why);
	} else {
		out->type = REQ_PREVIEW_START;
		out->engine = u->list.cursor;
		out->vls = u->vls;
		out->seed = u->seed;
		out->method = u->method;
	}
}

static void to_apply(struct ui *ui, const struct state *s, struct request *out)
{
	const struct state_preview *p = &s->preview;

	if (!state_preview_ready(s) || !p->tables)
		ui_say(ui, "nothing to apply: compute a preview first");
	else if (p->stale[0])
		ui_say(ui, "stale: %s; compute it anew", p->stale);
	else if (!p->verdict || !verdict_ok(p->verdict))
		ui_say(ui, "the computed routing did not pass the checks: it cannot be applied");
	else
		out->type = REQ_APPLY_PREPARE;
	if (out->type)
		ui_goto(ui, VIEW_APPLY);
}

static void compare(struct ui *ui, const struct state *s)
{
	if (!state_preview_ready(s) || !s->preview.before) {
		ui_say(ui, "nothing to compare: compute a preview first");
		return;
	}
	ui_compare(ui, true);
	ui_goto(ui, VIEW_HEATMAP);
}

static void edit(struct preview_ui *u, enum option option)
{
	char text[32];

	if (option == OPTION_METHOD)
		snprintf(text, sizeof(text), "%s", sar_method_name(u->method));
	else
		snprintf(text, sizeof(text), "%llu",
			 option == OPTION_VLS ? (unsigned long long)u->vls
					      : (unsigned long long)u->seed);
	u->editing = option;
	entry_open(&u->entry, text);
}

static void take_option(struct preview_ui *u, struct ui *ui)
{
	char *end;
	unsigned long long v = strtoull(u->entry.text, &end, 10);
	bool number = end != u->entry.text && !*end && u->entry.text[0] != '-';
	struct err err;

	if (u->editing == OPTION_METHOD) {
		if (sar_method_parse(&u->method, u->entry.text, &err)) {
			ui_say(ui, "%s", err.text);
			edit(u, OPTION_METHOD);
		} else {
			u->editing = OPTION_NONE;
		}
		return;
	}
	if (u->editing == OPTION_VLS) {
		if (!number || v > 15) {
			ui_say(ui, "virtual lanes: a number from 1 to 15, or 0 for as many as the "
				   "fabric's links offer");
			edit(u, OPTION_VLS);
			return;
		}
		u->vls = (unsigned)v;
		edit(u, OPTION_SEED);
		return;
	}
	if (!number) {
		ui_say(ui, "seed: a number");
		edit(u, OPTION_SEED);
		return;
	}
	u->seed = v;
	edit(u, OPTION_METHOD);
}

static void edit_input(struct preview_ui *u, struct ui *ui, const struct input *in)
{
	struct input enter = *in;

	if (in->req == REQ_PANE)
		enter.req = REQ_ENTER;
	switch (entry_input(&u->entry, &enter)) {
	case ENTRY_DONE:
		take_option(u, ui);
		break;
	case ENTRY_LEFT:
		u->editing = OPTION_NONE;
		break;
	default:
		break;
	}
}

static bool preview_input(void *own, struct ui *ui, const struct input *in, const struct state *s,
			  struct request *out)
{
	struct preview_ui *u = own;

	if (u->editing) {
		edit_input(u, ui, in);
		return true;
	}
	first_suiting(u, s);
	if (list_move(&u->list, in->req, s->preview.nengines))
		return true;
	switch (in->req) {
	case REQ_SELECT:
	case REQ_ENTER:
		start(u, ui, s, out);
		return true;
	case REQ_OPTIONS:
		edit(u, OPTION_VLS);
		return true;
	case REQ_PREVIEW_CANCEL:
		if (s->preview.state == PREVIEW_RUNNING)
			out->type = REQ_PREVIEW_CANCEL;
		else
			ui_say(ui, "nothing is being computed");
		return true;
	case REQ_COMPARE:
		compare(ui, s);
		return true;
	case REQ_APPLY_PREPARE:
		to_apply(ui, s, out);
		return true;
	default:
		return false;
	}
}

static bool preview_typing(const void *own, const struct state *s)
{
	(void)s;
	return ((const struct preview_ui *)own)->editing != OPTION_NONE;
}

static void preview_context(const void *own, const struct state *s, char *buf, size_t len)
{
	(void)own;
	snprintf(buf, len, "%s",
		 s->preview.state == PREVIEW_DONE
			 ? "exact counts of routes, not of traffic (?: what is EFI)"
			 : "a preview changes nothing");
}

const struct view view_preview = {
	.name = "Engines",
	.title = "Engines and preview",
	.size = sizeof(struct preview_ui),
	.draw = preview_draw,
	.input = preview_input,
	.typing = preview_typing,
	.context = preview_context,
};
