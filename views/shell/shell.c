/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/shell/shell_priv.h"

#include "fabric/base/memory/mem.h"
#include "views/data/hint_click.h"
#include "views/fabrics/fabric_tabs.h"
#include "views/frame/frame.h"
#include "views/frame/tabs.h"
#include "views/prompt/command.h"
#include "views/shell/choose.h"
#include "views/shell/registry.h"
#include "views/table/noted.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shell *shell_new(const struct binding *bindings, size_t n)
{
	struct shell *shell = xcalloc(1, sizeof(*shell));

	context_init(&shell->ctx, bindings, n);
	for (int i = 0; i < VIEW_COUNT; i++)
		shell->own[i] = xcalloc(1, view_find(i)->size);
	return shell;
}

void shell_free(struct shell *shell)
{
	if (!shell)
		return;
	for (int i = 0; i < VIEW_COUNT; i++) {
		if (view_find(i)->done)
			view_find(i)->done(shell->own[i]);
		free(shell->own[i]);
	}
	context_done(&shell->ctx);
	sort_menu_done(&shell->sort);
	column_menu_done(&shell->columns);
	beside_done(&shell->beside);
	finder_done(&shell->finder);
	free(shell->copied);
	free(shell);
}

struct context *shell_context(struct shell *shell)
{
	return &shell->ctx;
}

const struct prompt *shell_prompt(const struct shell *shell)
{
	return &shell->prompt;
}

const struct finder *shell_finder(const struct shell *shell)
{
	return &shell->finder;
}

enum view_id shell_view(const struct shell *shell)
{
	return shell->ctx.view;
}

void shell_goto(struct shell *shell, enum view_id view)
{
	context_choose(&shell->ctx, view);
}

void shell_say(struct shell *shell, const char *fmt, ...)
{
	char text[sizeof(shell->ctx.note)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	context_say(&shell->ctx, "%s", text);
}

void shell_tour_begin(struct shell *shell)
{
	context_choose(&shell->ctx, VIEW_OVERVIEW);
	context_select_job(&shell->ctx, 0);
	tour_begin(&shell->tour);
}

static void shell_go_by_command(struct shell *shell, const struct finder_hit *hit,
				const struct state *s, struct request *out)
{
	const struct command *c = command_find(hit->name, strlen(hit->name));
	char line[PROMPT_LEN];

	if (hit->kind == FINDER_VIEW || hit->kind == FINDER_SAVED)
		snprintf(line, sizeof(line), "view %s", hit->name);
	else if (hit->kind == FINDER_BOOKMARK)
		snprintf(line, sizeof(line), "bookmarks %s", hit->name);
	else
		snprintf(line, sizeof(line), "%s%s", hit->name, c && c->needed ? " " : "");
	if (hit->kind == FINDER_COMMAND && c && c->needed)
		prompt_open(&shell->prompt, PROMPT_COMMAND, line);
	else
		shell_run(shell, line, s, out);
}

/* To what the note is on. */
static void shell_go_to_note(struct shell *shell, const struct finder_hit *hit,
			     const struct state *s, struct request *out)
{
	const struct row_notes *all = s->row_notes;
	const struct note_subject *on;
	struct noted_place at;

	if (!s->fabric || !all || hit->at >= all->list.n ||
	    strncmp(all->list.v[hit->at].text, hit->name, NOTE_TEXT) != 0) {
		context_say(&shell->ctx, "this note is not there any more");
		return;
	}
	on = &all->list.v[hit->at].on;
	if (on->kind == NOTE_TIME) {
		out->type = REQ_AT;
		snprintf(out->text, sizeof(out->text), "@%llu", (unsigned long long)on->id);
	} else if (!noted_find(&at, on, s->fabric, shell->ctx.summary.jobs)) {
		context_say(&shell->ctx, on->kind == NOTE_JOB
						 ? "the job of this note does not run now"
						 : "what this note is on is not in this fabric");
	} else if (at.job != FAB_NONE) {
		shell_rows_go_to(shell, s, VIEW_JOBS, ROWS_JOBS, at.job);
	} else {
		shell_rows_go_to_port(shell, s, at.sw, at.port);
	}
}

static void shell_found(struct shell *shell, const struct finder_hit *hit, const struct state *s,
			struct request *out)
{
	const struct fabric *f = s->fabric;

	switch (hit->kind) {
	case FINDER_JOB:
		shell_rows_go_to(shell, s, VIEW_JOBS, ROWS_JOBS, hit->at);
		break;
	case FINDER_SWITCH:
		shell_rows_go_to_port(shell, s, hit->at, 0);
		break;
	case FINDER_HOST:
		shell_rows_go_to_port(shell, s, f->term_sw[hit->at], f->term_port[hit->at]);
		break;
	case FINDER_LINK:
		shell->ctx.chan = hit->at;
		shell_rows_go_to(shell, s, VIEW_LINKS, ROWS_LINKS, hit->at);
		break;
	case FINDER_NOTE:
		shell_go_to_note(shell, hit, s, out);
		break;
	default:
		shell_go_by_command(shell, hit, s, out);
	}
}

static void shell_find_input(struct shell *shell, const struct input *in, const struct state *s,
			     struct request *out)
{
	struct finder_hit hit;

	if (finder_input(&shell->finder, in, &shell->ctx, s, &hit))
		shell_found(shell, &hit, s, out);
}

void shell_command_begin(struct shell *shell, const char *text)
{
	prompt_open(&shell->prompt, PROMPT_COMMAND, text);
}

/* The text without an incomplete name of a field at its end, which is no word to filter by. */
static void shell_typed_so_far(char *out, size_t len, const char *text, enum row_kind kind)
{
	size_t n = strlen(text), from = n;

	while (from && (isalnum((unsigned char)text[from - 1]) || text[from - 1] == '_'))
		from--;
	if ((from && !strchr(" (!", text[from - 1])) || !field_begins(kind, text + from))
		from = n;
	snprintf(out, len, "%.*s", (int)from, text);
}

static void shell_prompt_draw(struct shell *shell, struct canvas *c)
{
	const struct table_ops *ops;
	const struct table *t = shell_table(shell, &ops);

	prompt_draw(&shell->prompt, c, c->h - 2,
		    shell->prompt.kind == PROMPT_FILTER && t ? t->filter.why : "");
}

static void shell_prompt_input(struct shell *shell, const struct input *in, const struct state *s,
			       struct request *out)
{
	struct prompt *p = &shell->prompt;
	enum prompt_kind kind = p->kind;
	struct prompt_context ctx = shell_prompt_context(shell, s);
	const struct table_ops *ops;
	struct table *t;
	char so_far[sizeof(p->text)];

	t = shell_table(shell, &ops);
	switch (prompt_input(p, in, &ctx)) {
	case PROMPT_CHANGED:
		if (kind == PROMPT_FILTER && t) {
			shell_typed_so_far(so_far, sizeof(so_far), p->text, ops->kind);
			shell_prompt_typed(shell, kind, so_far, s);
			break;
		}
		if (kind == PROMPT_COMMAND && !strncmp(p->text, "palette ", 8))
			choose_palette(&shell->ctx, p->text + 8); /* a preview of the choice */
		shell_prompt_typed(shell, kind, p->text, s);
		break;
	case PROMPT_LEFT:
		shell_prompt_typed(shell, kind, "", s);
		break;
	case PROMPT_DONE:
		if (kind == PROMPT_COMMAND)
			shell_run(shell, p->text, s, out);
		else
			shell_prompt_typed(shell, kind, p->text, s);
		/* stays open with the error below it */
		if (kind == PROMPT_FILTER && t && t->filter.why[0]) {
			memcpy(so_far, p->text, sizeof(so_far));
			prompt_open(p, kind, so_far);
		}
		break;
	case PROMPT_SAME:
		break;
	}
}

static void shell_change_setting(struct shell *shell, const struct input *in, const struct state *s,
				 struct request *out)
{
	char line[SETTING_LEN + 64];

	switch (settings_menu_input(&shell->settings, s, in, line, sizeof(line))) {
	case SETTINGS_DO:
		shell_run(shell, line, s, out);
		break;
	case SETTINGS_TYPE:
		prompt_open(&shell->prompt, PROMPT_COMMAND, line);
		break;
	case SETTINGS_NONE:
		break;
	}
}

static bool shell_menu_input(struct shell *shell, const struct input *in, const struct state *s,
			     struct request *out)
{
	if (in->req == REQ_REDRAW || in->req == REQ_SUSPEND)
		return false;
	if (shell->settings.menu.open) {
		shell_change_setting(shell, in, s, out);
		return true;
	}
	if (shell->beside.menu.open) {
		beside_input(&shell->beside, in);
		return true;
	}
	return shell_menus_choose_sort(shell, in) || shell_menus_choose_columns(shell, in);
}

/* A click on the line of the fabrics, which no view has to know; true: it was one. */
static bool shell_fabric_click(const struct shell *shell, const struct input *in,
			       const struct state *s, struct request *out)
{
	uint32_t i;

	if (!fabric_tabs_rows(s) || in->req != REQ_CLICK || in->y != 0)
		return false;
	i = fabric_tabs_at(s->fabrics, shell->w, in->x);
	if (i == s->fabrics->n || i == s->fabrics->at)
		return true;
	out->type = REQ_FABRIC;
	snprintf(out->text, sizeof(out->text), "%s", s->fabrics->tab[i].name);
	return true;
}

void shell_input(struct shell *shell, const struct input *key, const struct state *s,
		 struct request *out)
{
	struct input below = *key;
	const struct input *in = &below;

	memset(out, 0, sizeof(*out));
	if (shell_fabric_click(shell, key, s, out))
		return;
	below.y -= fabric_tabs_rows(s);
	free(shell->copied);
	shell->copied = NULL;
	shell->ctx.note[0] = '\0';
	shell_tables_follow(shell, s);
	if (shell->finder.menu.open)
		shell_find_input(shell, in, s, out);
	else if (shell->prompt.kind)
		shell_prompt_input(shell, in, s, out);
	else if (!shell_menu_input(shell, in, s, out))
		shell_do(shell, in, s, out);
	tour_follow(&shell->tour, &shell->ctx, s, in->req);
}

/* Clipped rows would look as if they did not exist. */
static void shell_draw_small(struct canvas *c)
{
	struct rect r = canvas_rect(c);
	char text[64];

	snprintf(text, sizeof(text), " %dx%d is too small: 80x24 shows all ", c->w, c->h);
	if (text_width(text) > r.w)
		snprintf(text, sizeof(text), "80x24!");
	canvas_fill(c, (struct rect){ 0, r.h - 1, r.w, 1 }, ROLE_LOUD, ' ');
	canvas_text(c, r, 0, r.h - 1, ROLE_LOUD, text);
}

static struct frame_keys shell_frame_keys(const struct shell *shell)
{
	return (struct frame_keys){ shell->ctx.bindings, shell->ctx.nbindings,
				    shell_tables_view(shell)->label, shell_tables_own(shell) };
}

static void shell_say_units(const struct shell *shell, char *context, size_t len)
{
	const struct frame_keys keys = shell_frame_keys(shell);
	size_t n = strlen(context);

	snprintf(context + n, len - n, "  rates in %s (%s)", shell->ctx.bits ? "Gb/s" : "GB/s",
		 frame_key_of(&keys, REQ_UNITS, 0));
}

/* Before all else that the last line says. */
static void shell_say_note(struct shell *shell, const struct state *s, char *context, size_t len)
{
	const struct row_note *note = shell_rows_note_here(shell, s);
	char text[NOTE_TEXT + 8];

	if (!note)
		return;
	snprintf(text, sizeof(text), "note: %s", note->text);
	if (context[0] && strlen(text) + 4 + strlen(context) < len) {
		memmove(context + strlen(text) + 3, context, strlen(context) + 1);
		memcpy(context, text, strlen(text));
		memcpy(context + strlen(text), " | ", 3);
	} else {
		snprintf(context, len, "%s", text);
	}
}

/* Where Esc leads: out of what is open, or back by the way that was come; NULL: it ends something
 * else first, or nothing leads back but the numbers. */
static const char *shell_way_back(struct shell *shell, const struct state *s)
{
	const struct view *v = shell_tables_view(shell);
	const char *inside = v->inside ? v->inside(shell_tables_own(shell)) : NULL;
	const struct table_ops *ops;
	const struct table *t = shell_table(shell, &ops);

	if ((t && table_narrowed(t)) || !s->fabric)
		return NULL;
	if (inside)
		return inside[0] ? inside : NULL;
	if (!context_followed(&shell->ctx) || shell->ctx.job.id || s->poll.tables_on)
		return NULL;
	return tab_title(context_from(&shell->ctx));
}

static void shell_draw_fabric(struct shell *shell, struct canvas *c, const struct state *s)
{
	const struct view *v = shell_tables_view(shell);
	struct frame_text t = { .note = shell->ctx.note, .job = shell->ctx.job.id };
	const struct frame_keys keys = shell_frame_keys(shell);
	const struct table_ops *ops;
	struct table *table;
	struct rect r = { 0, 2, c->w, c->h - 4 };

	shell->w = c->w;
	shell->h = c->h;
	shell_tables_follow(shell, s);
	canvas_clear(c);
	if (shell->tour.on) {
		tour_follow(&shell->tour, &shell->ctx, s, REQ_NONE);
		r.h -= TOUR_ROWS;
		tour_draw(&shell->tour, &shell->ctx, s, c,
			  (struct rect){ 0, r.y + r.h, c->w, TOUR_ROWS });
	}
	if (r.h > 0)
		v->draw(shell_tables_own(shell), &shell->ctx, c, r, s);
	table = shell_table(shell, &ops);
	if (v->context)
		v->context(shell_tables_own(shell), s, t.context, sizeof(t.context));
	else if (table)
		table_context(table, ops, t.context, sizeof(t.context));
	if (table && table->nrow && table_shows_rates(table))
		shell_say_units(shell, t.context, sizeof(t.context));
	t.hints = v->context && !shell_rows_note_here(shell, s);
	shell_say_note(shell, s, t.context, sizeof(t.context));
	t.typing = shell_typing(shell, s);
	t.back = t.typing ? NULL : shell_way_back(shell, s);
	frame_draw(c, s, shell->ctx.view, &t, &keys);
	shell_menus_draw(shell, c, s);
	if (shell->prompt.kind)
		shell_prompt_draw(shell, c);
	if (shell->finder.menu.open)
		finder_draw(&shell->finder, &shell->ctx, s, c);
	if (c->w < 80 || c->h + fabric_tabs_rows(s) < 24)
		shell_draw_small(c);
}

/* All of it is one line further down where that of the fabrics is above it. */
void shell_draw(struct shell *shell, struct canvas *c, const struct state *s)
{
	int top = c->h > 1 ? fabric_tabs_rows(s) : 0;
	struct canvas below = { c->w, c->h - top, c->ascii, c->cell + top * c->w };

	shell_draw_fabric(shell, &below, s);
	if (top)
		fabric_tabs_draw(c, s->fabrics);
}

bool shell_typing(const struct shell *shell, const struct state *s)
{
	const struct view *v = shell_tables_view(shell);

	return shell->prompt.kind || shell->finder.menu.open ||
	       (v->typing && v->typing(shell_tables_own(shell), s));
}

uint32_t shell_key_at(const struct shell *shell, const struct canvas *c, const struct state *s,
		      int x, int y)
{
	const struct frame_keys keys = shell_frame_keys(shell);
	const struct view *v = shell_tables_view(shell);
	const struct binding *b;

	if (shell->prompt.kind || shell_menu(shell))
		return 0;
	if (y - fabric_tabs_rows(s) != shell->h - 2)
		return shell_typing(shell, s) ? 0 : hint_click_at(c, x, y);
	if (shell->ctx.note[0])
		return 0;
	if (v->typing && v->typing(shell_tables_own(shell), s))
		return frame_typing_key_at(x);
	b = frame_hint_at(shell->w, s, shell->ctx.view, &keys, x);
	return b ? b->keys[0] : 0;
}
