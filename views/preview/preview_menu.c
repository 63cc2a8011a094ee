/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/preview/preview_menu.h"

#include "views/canvas/text.h"
#include "views/data/hint_click.h"
#include "views/data/state/key_hint.h"
#include "views/preview/preview_effect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool preview_menu_repairs(const struct state *s)
{
	return s->verdict && !s->verdict->connected && state_tables(s);
}

static void preview_menu_draw_engine(const struct preview_options *o, const struct state *s,
				     struct canvas *c, struct rect r, int y, uint32_t i, bool at)
{
	const struct engine_choice *e = preview_choice(s, i);
	const struct state_preview *p = &s->preview;
	bool run = p->state != PREVIEW_IDLE && p->engine == i;
	bool now = s->tables && !strcmp(s->tables->engine, e->engine->name);
	enum role role = e->suits ? ROLE_TEXT : ROLE_DIM;

	canvas_textf(c, r, 1, y, role, "(%c) %-8s", run ? '*' : ' ', e->engine->name);
	if (!e->suits)
		canvas_text(c, r, 14, y, ROLE_WARN, "! unsuitable");
	else if (e->file)
		canvas_name(c, r, 14, y, r.w - 15, ROLE_DIM,
			    o->text[PARAM_TABLES][0] ? o->text[PARAM_TABLES] : "choose a file");
	else if (!strcmp(e->engine->name, "repair") && preview_menu_repairs(s))
		canvas_text(c, r, 14, y, ROLE_WARN, "for lost paths");
	else if (now)
		canvas_text(c, r, 14, y, ROLE_GOOD, "in use");
	else if (e->engine->uses_jobs)
		canvas_text(c, r, 14, y, ROLE_DIM, "job-aware");
	if (at)
		list_draw_cursor(c, r, y);
}

#define AFTER_OPTIONS 4 /* lines: one empty, what to press, how far it is */

/* Long file names lose their middle, so that what to press stays below.  Returns the lines that it
 * took. */
static int preview_menu_draw_options(const struct preview_options *o, struct canvas *c,
				     struct rect r, int y)
{
	struct rect in = { r.x, r.y, r.w - 1, r.h };
	const struct rect none = { r.x, r.y, r.w - 1, 0 };
	int fit = r.h - y - AFTER_OPTIONS, width;
	char all[400], text[400];

	fit = fit > 1 ? fit : 1;
	preview_options_text(all, sizeof(all), o);
	snprintf(text, sizeof(text), "%s", all);
	for (width = fit * (in.w - 3);
	     width > 8 && canvas_wrap(c, none, 3, y, ROLE_TEXT, text) > fit; width -= 2)
		text_shorten(text, sizeof(text), all, width);
	hint_click_draw(c, r, 1, y, "options");
	return canvas_wrap(c, in, 3, y, text[0] ? ROLE_TEXT : ROLE_DIM,
			   text[0] ? text : "options: all defaults");
}

/* Strangers take the larger EFI of all pairs for a loss: only routes within jobs carry load. */
static bool preview_menu_traded_for_jobs(const struct state *s)
{
	const struct plan_preview *p = state_plan(s);

	return p->before && p->after->njob && p->after->efi_max > p->before->efi_max &&
	       p->after->eff_efi_max < p->before->eff_efi_max;
}

/* Before it is applied, that has to be accepted. */
static int preview_menu_draw_slower(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct plan_preview *p = state_plan(s);
	char what[300], text[320];

	if (!p->tables || y >= r.h - 1)
		return 0;
	if (!time_gate_slower(&p->gate) && p->messages && p->messages->base_loses[0])
		return canvas_wrap(c, r, 1, y, ROLE_WARN, p->messages->base_loses);
	if (!time_gate_slower(&p->gate))
		return 0;
	snprintf(text, sizeof(text), "Slower: %s.", time_gate_text(what, sizeof(what), &p->gate));
	return canvas_wrap(c, r, 1, y, ROLE_WARN, text);
}

/* What is computed, below the engines while the figures stay. */
static int preview_menu_draw_run(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct state_preview *p = &s->preview;
	const struct engine_choice *e = preview_choice(s, p->engine);
	char eta[FIGURE_LEN];

	if (p->state != PREVIEW_RUNNING)
		return y;
	canvas_textf(c, r, 1, y++, ROLE_TEXT, "%s: %s", e ? e->engine->name : "?",
		     p->step[0] ? p->step : "starting");
	canvas_bar(c, r, 1, y++, r.w - 3, ROLE_GOOD, p->fraction, 0);
	if (isfinite(p->eta_s))
		canvas_textf(c, r, 1, y++, ROLE_TEXT, "about %s left  %s: cancel",
			     figure_age(eta, p->eta_s), key_hint("cancel"));
	else
		canvas_textf(c, r, 1, y++, ROLE_TEXT, "%s: cancel", key_hint("cancel"));
	hint_click_mark(c, r, y - 1, 1);
	return y;
}

/* What to press next. */
static int preview_menu_draw_next(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct plan_preview *x = state_plan(s);
	const struct tables_diff *d = x->diff;
	const char *compute = key_hint("tag");
	struct rect in = { r.x, r.y, r.w - 1, r.h };
	char text[120];
	int n;

	if (s->preview.state == PREVIEW_RUNNING)
		return y;
	if (!state_preview_ready(s))
		snprintf(text, sizeof(text), "%s or Enter: compute a preview", compute);
	else if (!x->stale[0] && d && !d->nblocks && !d->nsl2vl && !d->sl_pairs)
		snprintf(text, sizeof(text), "%s is already installed.  %s: compute another", x->id,
			 compute);
	else if ((x->verdict && !verdict_ok(x->verdict)) ||
		 (x->notes && notes_find(x->notes, "vl_weights")))
		snprintf(text, sizeof(text),
			 "%s cannot be applied: see the checks.  %s: compute another", x->id,
			 compute);
	else if (!s->rw)
		snprintf(text, sizeof(text), "To apply: start with --rw.  %s: compute another",
			 compute);
	else if (x->stale[0])
		snprintf(text, sizeof(text), "%s: compute %s again", key_hint("again"), x->id);
	else
		snprintf(text, sizeof(text), "%s: apply %s ...  %s: compute another",
			 key_hint("prepare"), x->id, compute);
	n = canvas_wrap(c, in, 1, y, ROLE_KEY, text);
	hint_click_mark(c, in, y, n);
	return y + n;
}

/* What the checks found first. */
static const struct note *preview_menu_refused(const struct state *s)
{
	const struct plan_preview *x = state_plan(s);

	return x->notes ? notes_find(x->notes, "verdict") : NULL;
}

static void preview_menu_draw_automatic(const struct state *s, struct canvas *c, struct rect r,
					int y)
{
	struct rect in = { r.x, r.y, r.w - 1, r.h };
	char text[700];

	if (!s->automatic.on || !s->automatic.text[0])
		return;
	snprintf(text, sizeof(text), "Auto: %s", s->automatic.text);
	canvas_wrap(c, in, 1, y, s->automatic.alert ? ROLE_WARN : ROLE_LABEL, text);
}

/* The plan that is looked at, if it is of that engine and tells what its options did; else NULL. */
static const struct plan_preview *preview_menu_told(const struct state *s, uint32_t engine,
						    bool told)
{
	const struct plan_preview *x = state_plan(s);

	return told && state_preview_ready(s) && x->was.known && x->engine == engine ? x : NULL;
}

/* How the last computation has failed, beside the figures of others. */
static bool preview_menu_failed(const struct state *s)
{
	return state_preview_ready(s) && s->preview.state == PREVIEW_FAILED;
}

/* In the place of what the engine is for, so that there is room for all of it.  Returns the lines.
 */
static int preview_menu_draw_failed(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct engine_choice *e = preview_choice(s, s->preview.engine);
	struct rect in = { r.x, r.y, r.w - 1, r.h };
	char text[sizeof(s->preview.error) + 40];

	snprintf(text, sizeof(text), "%s failed: %s", e ? e->engine->name : "it", s->preview.error);
	return canvas_wrap(c, in, 1, y, ROLE_BAD, text);
}

#define ABOUT_LINES 3 /* that there is room for; more shorten the list of engines, to ... */
#define ENGINES_MIN 3

/* Engines that are shown at a time. */
static int preview_menu_rows(const struct state *s, const struct plan_preview *told,
			     struct canvas *c, struct rect r)
{
	const struct rect none = { r.x, r.y, r.w, 0 };
	int more = preview_menu_failed(s) ? preview_menu_draw_failed(s, c, none, 0)
		   : told		  ? preview_effect_draw(told, c, none, 0)
					  : ABOUT_LINES;
	int room = r.h - 1;

	more -= ABOUT_LINES;

	if (r.h >= 15)
		room = r.h - 11 - (more > 0 ? more : 0);
	if (r.h >= 15 && room < ENGINES_MIN)
		room = ENGINES_MIN;
	return (int)s->preview.nengines < room ? (int)s->preview.nengines : room;
}

#define WHY_LINES 5 /* of the reason with its switches; longer ones are left out */

static int preview_menu_draw_why(const struct engine_choice *e, struct canvas *c, struct rect r,
				 int y)
{
	const struct rect none = { r.x, r.y, r.w, 0 };
	char why[sizeof(e->why)];

	if (canvas_wrap(c, none, 1, y, ROLE_WARN, e->why) <= WHY_LINES)
		return canvas_wrap(c, r, 1, y, ROLE_WARN, e->why);
	snprintf(why, sizeof(why), "%.*s", engine_choice_reason(e), e->why);
	return canvas_wrap(c, r, 1, y, ROLE_WARN, why);
}

/* What an engine is for, or what its options did.  Returns the lines. */
static int preview_menu_draw_about(const struct engine_choice *e, const struct plan_preview *told,
				   struct canvas *c, struct rect r, int y)
{
	if (told)
		return preview_effect_draw(told, c, r, y);
	if (!e->suits)
		return preview_menu_draw_why(e, c, r, y);
	return canvas_wrap(c, r, 1, y, ROLE_LABEL, e->engine->summary);
}

void preview_menu_draw(struct list *l, const struct preview_options *o, const struct state *s,
		       struct canvas *c, struct rect r, bool told)
{
	const struct engine_choice *e = preview_choice(s, l->cursor);
	const struct plan_preview *effect = preview_menu_told(s, l->cursor, told);
	int rows = preview_menu_rows(s, effect, c, r), y;
	struct rect text = { r.x, r.y, r.w, r.h };

	list_fit(l, s->preview.nengines, rows);
	canvas_rule(c, r, 0, "Engines");
	list_draw_range(l, s->preview.nengines, c, r, 0);
	if (!s->preview.nengines)
		canvas_text(c, r, 1, 1, ROLE_DIM, "none yet: no fabric");
	for (y = 0; y < rows; y++) {
		uint32_t i = l->top + (uint32_t)y;

		preview_menu_draw_engine(o, s, c, r, y + 1, i, i == l->cursor);
	}
	y += 2;
	if (preview_menu_failed(s))
		y += preview_menu_draw_failed(s, c, r, y);
	else if (e)
		y += preview_menu_draw_about(e, effect, c, text, y);
	y += preview_menu_draw_options(o, c, r, y);
	y = preview_menu_draw_next(s, c, r, y + 1);
	if (state_preview_ready(s))
		y = preview_menu_draw_run(s, c, r, y);
	if (y < r.h - 1 && preview_menu_refused(s))
		y += canvas_wrap(c, text, 1, y, ROLE_BAD, preview_menu_refused(s)->text);
	if (y < r.h - 1 && preview_menu_traded_for_jobs(s))
		y += canvas_wrap(c, text, 1, y, ROLE_LABEL,
				 "Max EFI rises: it also counts pairs in no job.");
	y += preview_menu_draw_slower(s, c, text, y);
	preview_menu_draw_automatic(s, c, r, y + 1);
}
