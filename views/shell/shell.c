/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/shell/shell.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plain.h"
#include "views/beside/beside.h"
#include "views/data/exclude.h"
#include "views/data/state/key_hint.h"
#include "views/fabrics/fabric_tabs.h"
#include "views/finder/finder.h"
#include "views/saved/saved_view.h"
#include "views/shell/choose.h"
#include "views/shell/command.h"
#include "views/shell/frame.h"
#include "views/shell/prompt.h"
#include "views/shell/registry.h"
#include "views/shell/settings_menu.h"
#include "views/shell/tabs.h"
#include "views/switches/switches.h"
#include "views/table/column_menu.h"
#include "views/table/noted.h"
#include "views/table/sort_menu.h"
#include "views/table/tagged.h"
#include "views/tour/tour.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct shell {
	struct context ctx;
	void *own[VIEW_COUNT]; /* what each view keeps */
	struct prompt prompt;
	struct sort_menu sort;
	struct column_menu columns;
	struct settings_menu settings;
	struct beside beside;
	struct finder finder;
	struct saved_view saving; /* of the last request, as the next */
	struct row_note noting;
	struct tour tour;
	char *copied; /* names that the last request has; NULL: none */
	int w, h;     /* of the canvas drawn last */
};

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

static const struct view *shell_in_sight(const struct shell *shell)
{
	return view_find(shell->ctx.view);
}

static void *shell_own(const struct shell *shell)
{
	return shell->own[shell->ctx.view];
}

struct table *shell_table(struct shell *shell, const struct table_ops **ops)
{
	const struct view *v = shell_in_sight(shell);

	*ops = NULL;
	return v->table ? v->table(shell_own(shell), ops) : NULL;
}

static struct table_in shell_table_in(struct shell *shell, const struct state *s)
{
	return (struct table_in){ shell_own(shell), &shell->ctx, s };
}

struct table *shell_table_of(struct shell *shell, const struct state *s,
			     const struct table_ops **ops)
{
	struct table_in in = shell_table_in(shell, s);
	struct table *t = shell_table(shell, ops);

	if (!t)
		return NULL;
	context_update(&shell->ctx, s);
	table_follow(t, *ops, &in);
	return t;
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

/* Views that have a table of their own, not only one deeper in them. */
static const struct {
	enum view_id view;
	enum row_kind rows;
	enum tag_kind tags;
} own_tables[] = {
	{ VIEW_LINKS, ROWS_LINKS, TAG_LINKS },
	{ VIEW_SWITCHES, ROWS_SWITCHES, TAG_SWITCHES },
	{ VIEW_JOBS, ROWS_JOBS, TAG_JOBS },
};

#define OWN_TABLES (sizeof(own_tables) / sizeof(own_tables[0]))

/* NULL: the view has none, or one deeper in it is open. */
static struct table *shell_own_table(const struct shell *shell, enum view_id view,
				     const struct table_ops **ops)
{
	struct table *t;

	for (size_t i = 0; i < OWN_TABLES; i++) {
		if (own_tables[i].view != view)
			continue;
		t = view_find(view)->table(shell->own[view], ops);
		return t && (*ops)->kind == own_tables[i].rows ? t : NULL;
	}
	return NULL;
}

void shell_tour_begin(struct shell *shell)
{
	context_choose(&shell->ctx, VIEW_OVERVIEW);
	context_select_job(&shell->ctx, 0);
	tour_begin(&shell->tour);
}

/* Takes what is tagged in the tables, and drops selections that are no longer there. */
static void shell_follow(struct shell *shell, const struct state *s)
{
	for (size_t i = 0; i < OWN_TABLES; i++) {
		const struct table_ops *ops;
		const struct table *t = shell_own_table(shell, own_tables[i].view, &ops);

		if (t)
			tags_take(&shell->ctx.tags, own_tables[i].tags, t->tag, t->ntag);
	}
	context_update(&shell->ctx, s);
}

/* --- everything that one may go to ------------------------------------------------------------ */

typedef VEC(struct finder_word) shell_words;

static void shell_add_word(shell_words *w, enum finder_kind kind, const char *name,
			   const char *about)
{
	if (name)
		vec_push(w, ((struct finder_word){ kind, xstrdup(name), xstrdup(about), 0 }));
}

static void shell_add_notes(shell_words *w, const struct row_notes *all)
{
	static const char *const on[NOTE_KINDS] = { "on a link", "on a switch", "on a host",
						    "on a job", "on a moment" };

	for (size_t i = 0; all && i < all->list.n; i++) {
		const struct row_note *n = &all->list.v[i];

		shell_add_word(w, FINDER_NOTE, n->text, on[n->on.kind]);
		w->v[w->n - 1].at = (uint32_t)i;
	}
}

static void shell_find_open(struct shell *shell, const struct state *s, const char *text)
{
	const struct command *c;
	shell_words w = { 0 };
	char about[300];
	size_t n;

	for (int i = VIEW_OVERVIEW; i <= VIEW_COUNT; i++) {
		enum view_id v = (enum view_id)(i % VIEW_COUNT);

		shell_add_word(&w, FINDER_VIEW, command_view_name(v), tab_title(v));
	}
	c = command_all(&n);
	for (size_t i = 0; i < n; i++)
		if (c[i].req != REQ_VIEW || c[i].arg == ARG_VIEW)
			shell_add_word(&w, FINDER_COMMAND, c[i].name, c[i].help);
	for (uint32_t i = 0; s->saved_views && i < s->saved_views->n; i++)
		shell_add_word(&w, FINDER_SAVED, s->saved_views->view[i].name,
			       saved_view_text(about, sizeof(about), &s->saved_views->view[i]));
	for (size_t i = 0; s->bookmarks && s->bookmarks[i]; i++)
		shell_add_word(&w, FINDER_BOOKMARK, s->bookmarks[i], "a moment of the history");
	shell_add_notes(&w, s->row_notes);
	finder_open(&shell->finder, &shell->ctx, s, w.v, (uint32_t)w.n, text);
}

/* The table of a view with the cursor on that row, whatever was filtered. */
static void shell_reveal(struct shell *shell, const struct state *s, uint64_t key, const char *what)
{
	struct table_in in = shell_table_in(shell, s);
	const struct table_ops *ops;
	struct table *t = shell_table(shell, &ops);

	if (t && !table_reveal(t, ops, &in, key))
		context_say(&shell->ctx, "this %s is not among those that are shown", what);
}

static void shell_go_to_port(struct shell *shell, const struct state *s, uint32_t sw, uint8_t port)
{
	if (!switches_go_to(shell->own[VIEW_SWITCHES], &shell->ctx, s, sw, port))
		context_say(&shell->ctx, "this port is not among those that are shown");
}

static void shell_go_to_row(struct shell *shell, const struct state *s, enum view_id view,
			    enum row_kind kind, uint32_t row)
{
	struct rows rows = { kind, s, &shell->ctx.summary };

	context_goto(&shell->ctx, view);
	shell_reveal(shell, s, table_key(&rows, row), kind == ROWS_JOBS ? "job" : "link");
}

/* Recursive: what is found may be a command. */
static void shell_run(struct shell *shell, const char *line, const struct state *s,
		      struct request *out);

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
		shell_go_to_row(shell, s, VIEW_JOBS, ROWS_JOBS, at.job);
	} else {
		shell_go_to_port(shell, s, at.sw, at.port);
	}
}

static void shell_found(struct shell *shell, const struct finder_hit *hit, const struct state *s,
			struct request *out)
{
	const struct fabric *f = s->fabric;

	switch (hit->kind) {
	case FINDER_JOB:
		shell_go_to_row(shell, s, VIEW_JOBS, ROWS_JOBS, hit->at);
		break;
	case FINDER_SWITCH:
		shell_go_to_port(shell, s, hit->at, 0);
		break;
	case FINDER_HOST:
		shell_go_to_port(shell, s, f->term_sw[hit->at], f->term_port[hit->at]);
		break;
	case FINDER_LINK:
		shell->ctx.chan = hit->at;
		shell_go_to_row(shell, s, VIEW_LINKS, ROWS_LINKS, hit->at);
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

/* --- menus over the view --------------------------------------------------------------------- */

bool shell_menu(const struct shell *shell)
{
	return shell->columns.menu.open || shell->settings.menu.open || shell->sort.menu.open ||
	       shell->beside.menu.open;
}

static bool shell_menu_open(struct shell *shell, const struct input *in, const struct state *s)
{
	const struct table_ops *ops;
	struct table *t = shell_table(shell, &ops);

	if (in->req == REQ_SETTINGS) {
		settings_menu_open(&shell->settings, s);
		return true;
	}
	if (in->req == REQ_SEARCH) {
		shell_find_open(shell, s, in->text ? in->text : "");
		return true;
	}
	if (!t || (in->text && in->text[0]))
		return false;
	if (in->req == REQ_SORT)
		sort_menu_open(&shell->sort, t, ops);
	else if (in->req == REQ_COLUMN_MENU)
		column_menu_open(&shell->columns, t, ops);
	else
		return false;
	return true;
}

static bool shell_choose_sort(struct shell *shell, const struct input *in)
{
	const struct table_ops *ops;
	struct table *t = shell_table(shell, &ops);
	const struct field *sort;

	if (!shell->sort.menu.open || !t || ops->kind != shell->sort.kind)
		return false;
	sort_menu_input(&shell->sort, &sort, in);
	if (sort)
		table_sort(t, sort);
	return true;
}

static bool shell_choose_columns(struct shell *shell, const struct input *in)
{
	const struct table_ops *ops;
	struct table *t = shell_table(shell, &ops);
	const char *say;

	if (!shell->columns.menu.open || !t || ops->kind != shell->columns.kind)
		return false;
	say = column_menu_input(&shell->columns, t, ops, in);
	if (say)
		context_say(&shell->ctx, "%s", say);
	return true;
}

static void shell_draw_keys(struct canvas *c, const char *const *keys)
{
	struct rect r = canvas_rect(c);
	int x = 1, y = c->h - 2;

	canvas_fill(c, (struct rect){ 0, y, r.w, 1 }, ROLE_TEXT, ' ');
	for (; keys[0]; keys += 2) {
		x = canvas_text(c, r, x, y, ROLE_KEY, keys[0]);
		x = canvas_textf(c, r, x, y, ROLE_DIM, " %s  ", keys[1]);
	}
}

/* Of the menu that is open; NULL: it has none of its own. */
static const char *const *shell_menu_keys(const struct shell *shell)
{
	static const char *const column_keys[] = { "Space", "show/hide", "Left Right",
						   "move",  "r",	 "defaults",
						   "Esc",   "close",	 NULL };
	static const char *const setting_keys[] = { "Enter", "change", "w", "save to file",
						    "Esc",   "close",  NULL };
	static const char *const beside_keys[] = { "Up Down", "move", "Esc", "close", NULL };

	if (shell->settings.menu.open)
		return setting_keys;
	if (shell->columns.menu.open)
		return column_keys;
	return shell->beside.menu.open ? beside_keys : NULL;
}

static void shell_menu_draw(struct shell *shell, struct canvas *c, const struct state *s)
{
	const struct table_ops *ops;
	struct table *t = shell_table(shell, &ops);
	bool same = t && ops->kind == shell->columns.kind;
	const struct table_in in = shell_table_in(shell, s);

	if (shell->sort.menu.open && t && ops->kind == shell->sort.kind)
		sort_menu_draw(&shell->sort, t, c);
	else
		shell->sort.menu.open = false;
	shell->columns.menu.open = shell->columns.menu.open && same;
	if (shell->columns.menu.open)
		column_menu_draw(&shell->columns, t, c);
	if (shell->settings.menu.open)
		settings_menu_draw(&shell->settings, s, c, (struct rect){ 0, 2, c->w, c->h - 4 });
	if (shell->beside.menu.open && t && ops->kind == shell->beside.kind)
		beside_draw(&shell->beside, t, &in, c);
	else
		shell->beside.menu.open = false;
	if (shell_menu_keys(shell) && !shell->ctx.note[0])
		shell_draw_keys(c, shell_menu_keys(shell));
}

/* --- the line at the bottom ------------------------------------------------------------------ */

static struct prompt_context shell_prompt_context(struct shell *shell, const struct state *s)
{
	const struct table_ops *ops;
	struct table *t = shell_table(shell, &ops);

	return (struct prompt_context){ .s = s,
					.kind = t ? ops->kind : ROW_KINDS,
					.view = shell_in_sight(shell),
					.own = shell_own(shell) };
}

static bool shell_prompt_open(struct shell *shell, const struct input *in, const struct state *s)
{
	struct prompt_context ctx = shell_prompt_context(shell, s);
	const struct table_ops *ops;
	struct table *t = shell_table(shell, &ops);

	if (shell_menu_open(shell, in, s))
		return true;
	if (in->text)
		return false;
	if (in->req == REQ_PALETTE_PICK) {
		prompt_open(&shell->prompt, PROMPT_COMMAND, "palette ");
		prompt_offer(&shell->prompt, &ctx);
	} else if (in->req == REQ_COMMAND)
		prompt_open(&shell->prompt, PROMPT_COMMAND, "");
	else if (in->req == REQ_FILTER && t)
		prompt_open(&shell->prompt, PROMPT_FILTER, t->filter_text);
	else if (in->req == REQ_FIND && t)
		prompt_open(&shell->prompt, PROMPT_FIND, "");
	else
		return false;
	return true;
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

static void shell_typed(struct shell *shell, enum prompt_kind kind, const char *text,
			const struct state *s)
{
	const struct table_ops *ops;
	struct table *t = shell_table(shell, &ops);
	struct table_in in = shell_table_in(shell, s);

	if (t && kind == PROMPT_FILTER)
		table_filter(t, text, ops);
	else if (t && kind == PROMPT_FIND)
		table_find(t, text, ops, &in);
}

/* By a command: the prompt is closed, so errors go to the message line. */
static void shell_filter(struct shell *shell, const char *text, const struct state *s)
{
	const struct table_ops *ops;
	const struct table *t = shell_table(shell, &ops);

	shell_typed(shell, PROMPT_FILTER, text, s);
	if (t && t->filter.why[0])
		context_say(&shell->ctx, "filter: %s", t->filter.why);
}

static void shell_prompt_draw(struct shell *shell, struct canvas *c)
{
	const struct table_ops *ops;
	const struct table *t = shell_table(shell, &ops);

	prompt_draw(&shell->prompt, c, c->h - 2,
		    shell->prompt.kind == PROMPT_FILTER && t ? t->filter.why : "");
}

/* --- keys and commands ----------------------------------------------------------------------- */

/* Recursive: a click on a tab and a command are inputs of their own. */
static void shell_do(struct shell *shell, const struct input *in, const struct state *s,
		     struct request *out);

/* Input of the current view, which may open the prompt (REQ_COMMAND). */
static bool shell_view_input(struct shell *shell, const struct input *in, const struct state *s,
			     struct request *out)
{
	const struct view *v = shell_in_sight(shell);

	if (!v->input || !v->input(shell_own(shell), &shell->ctx, in, s, out))
		return false;
	if (out->type == REQ_COMMAND) {
		prompt_open(&shell->prompt, PROMPT_COMMAND, out->text);
		out->type = REQ_NONE;
	}
	return true;
}

static void shell_click(struct shell *shell, const struct input *in, const struct state *s,
			struct request *out)
{
	struct input go = { .req = REQ_VIEW };

	if (in->y != 1)
		return;
	go.view = frame_tab_at(shell->w, shell->ctx.view, in->x);
	if (go.view < VIEW_COUNT)
		shell_do(shell, &go, s, out);
}

/* Or the names of those that are tagged.  false: there is no row. */
static bool shell_copy_row(struct shell *shell, const struct state *s, struct request *out)
{
	const struct table_ops *ops;
	const struct table *t = shell_table(shell, &ops);
	struct rows rows = { .s = s, .v = &shell->ctx.summary };
	char label[VALUE_LEN] = "";

	if (!t)
		return false;
	out->names = shell->copied = tagged_names(&out->nnames, t, ops->kind, &shell->ctx, s);
	if (!out->names && table_cursor(t) == FAB_NONE)
		return false;
	out->type = REQ_COPY;
	if (out->names)
		return true;
	rows.kind = ops->kind;
	snprintf(out->text, sizeof(out->text), "%s", tagged_name(label, &rows, table_cursor(t)));
	return true;
}

static void shell_exclude_row(struct shell *shell, const struct state *s, enum row_kind kind,
			      uint32_t i)
{
	if (kind == ROWS_LINKS)
		exclude_cable(&shell->ctx, s, i);
	else if (kind == ROWS_SWITCHES)
		exclude_switch(&shell->ctx, s, i);
	else if (kind == ROWS_PORTS && s->fabric->port[i].chan != FAB_NONE)
		exclude_cable(&shell->ctx, s, s->fabric->port[i].chan);
	else
		context_say(&shell->ctx,
			    "only switches and cables between switches can be excluded");
}

static void shell_exclude(struct shell *shell, const struct state *s, const char *text)
{
	const struct table_ops *ops;
	struct table *t = shell_table(shell, &ops);

	if (text[0]) {
		exclude_named(&shell->ctx, s, text);
	} else if (!s->fabric) {
		context_say(&shell->ctx, "no fabric yet");
	} else if (t && tagged_exclude(t, ops->kind, &shell->ctx, s)) {
		return;
	} else if (t && table_cursor(t) != FAB_NONE) {
		shell_exclude_row(shell, s, ops->kind, table_cursor(t));
	} else if (shell->ctx.view == VIEW_SWITCHES && shell->ctx.sw < s->fabric->nsw) {
		exclude_switch(&shell->ctx, s, shell->ctx.sw);
	} else {
		context_say(&shell->ctx,
			    "exclude SWITCH or SWITCH/PORT (a cable); none: clear the list");
	}
}

/* --- notes ----------------------------------------------------------------------------------- */

/* On what is under the cursor, or of the moment of the past that is shown; NULL: none. */
static const struct row_note *shell_note_here(struct shell *shell, const struct state *s)
{
	const struct table_in in = shell_table_in(shell, s);
	const struct table_ops *ops;
	const struct table *t;

	if (!s->row_notes || !s->row_notes->list.n)
		return NULL;
	t = shell_table_of(shell, s, &ops);
	return noted_here(t, ops, &in);
}

static void shell_note(struct shell *shell, const struct state *s, const char *text,
		       struct request *out)
{
	const struct table_in in = shell_table_in(shell, s);
	const struct table_ops *ops;
	const struct table *t = shell_table_of(shell, s, &ops);
	struct row_note *n = &shell->noting;

	if (!s->fabric) {
		context_say(&shell->ctx, "no fabric yet");
		return;
	}
	*n = (struct row_note){ .time_s = s->now_s };
	noted_here_subject(&n->on, out->text, sizeof(out->text), t, ops, &in);
	if (strlen(text) >= sizeof(n->text)) {
		context_say(&shell->ctx, "a note has at most %zu bytes", sizeof(n->text) - 1);
		return;
	}
	snprintf(n->text, sizeof(n->text), "%s", text);
	plain_text(n->text, "");
	if (!text[0] && !row_notes_find(s->row_notes, &n->on)) {
		context_say(&shell->ctx, "there is no note on %s", out->text);
		return;
	}
	out->type = REQ_NOTE;
	out->note = n;
}

/* The one that is there is edited. */
static void shell_note_open(struct shell *shell, const struct state *s)
{
	const struct row_note *note = shell_note_here(shell, s);
	char line[PROMPT_LEN];

	snprintf(line, sizeof(line), "note %s", note ? note->text : "");
	prompt_open(&shell->prompt, PROMPT_COMMAND, line);
}

/* Requests for the application, with the argument; false: it is none. */
static bool shell_pass_on(const struct input *in, struct request *out)
{
	static const enum req passed[] = {
		REQ_QUIT,	   REQ_FREEZE,	     REQ_FASTER,
		REQ_SLOWER,	   REQ_POLL,	     REQ_STOP,
		REQ_SWEEP,	   REQ_TABLES,	     REQ_SNAPSHOT,
		REQ_REDRAW,	   REQ_SUSPEND,	     REQ_DETACH,
		REQ_HIST_BACK,	   REQ_HIST_FORWARD, REQ_HIST_BACK5,
		REQ_HIST_FORWARD5, REQ_PLAY,	     REQ_PEAK,
		REQ_EVENT_NEXT,	   REQ_EVENT_PREV,   REQ_LIVE,
		REQ_BOOKMARK,	   REQ_BOOKMARKS,    REQ_AT,
		REQ_AGAINST,	   REQ_EXPORT,	     REQ_EXPORT_OVER,
		REQ_INTERVAL,	   REQ_SET,	     REQ_KEEP,
		REQ_PLAN_SAVE,	   REQ_APPLY_NOTE,   REQ_APPLY_OVERRIDE,
		REQ_ENGINE,	   REQ_CAMPAIGN,     REQ_TOUR,
		REQ_FABRIC,
	};

	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		if (in->req == passed[i]) {
			out->type = in->req;
			snprintf(out->text, sizeof(out->text), "%s", in->text ? in->text : "");
			return true;
		}
	return false;
}

/* The tagged rows side by side; false: there is no table. */
static bool shell_compare(struct shell *shell, const struct state *s)
{
	const struct table_in in = shell_table_in(shell, s);
	const struct table_ops *ops;
	const struct table *t = shell_table_of(shell, s, &ops);

	if (t && !beside_open(&shell->beside, t, ops, &in))
		context_say(&shell->ctx, "two rows have to be tagged, and shown: %s tags one",
			    key_hint("tag"));
	return t != NULL;
}

/* The moment of the event under the cursor. */
static void shell_go_to_event(struct shell *shell, const struct state *s, struct request *out)
{
	const struct table_ops *ops;
	const struct table *t = shell_table_of(shell, s, &ops);
	uint32_t row = t && ops->kind == ROWS_EVENTS ? table_cursor(t) : FAB_NONE;

	if (row == FAB_NONE) {
		context_say(&shell->ctx, "no event is under the cursor: view 8 has them");
		return;
	}
	out->type = REQ_AT;
	snprintf(out->text, sizeof(out->text), "@%llu",
		 (unsigned long long)(events_get(s->events, row)->time_ns / 1000000000));
}

static bool shell_command_input(struct shell *shell, const struct input *in, const struct state *s,
				struct request *out)
{
	const char *text = in->text ? in->text : "";

	switch (in->req) {
	case REQ_GOTO:
		choose_node(&shell->ctx, text, s);
		return true;
	case REQ_JOB:
		choose_job(&shell->ctx, text, s);
		return true;
	case REQ_PATH:
		choose_path(&shell->ctx, text, s);
		return true;
	case REQ_EXCLUDE:
		shell_exclude(shell, s, text);
		return true;
	case REQ_ENGINE:
		out->options = shell->ctx.options;
		return shell_pass_on(in, out);
	case REQ_PALETTE:
		if (text[0])
			choose_palette(&shell->ctx, text);
		else
			context_set_palette(&shell->ctx, (shell->ctx.palette + 1) % PALETTE_COUNT);
		return true;
	case REQ_UNITS:
		if (text[0])
			choose_units(&shell->ctx, text);
		else
			context_set_units(&shell->ctx, !shell->ctx.bits);
		return true;
	case REQ_CLICK:
		shell_click(shell, in, s, out);
		return true;
	case REQ_TABLES_FILE: /* with the options that are set there */
		context_goto(&shell->ctx, VIEW_PREVIEW);
		shell_view_input(shell, in, s, out);
		return true;
	case REQ_EVENT:
		shell_go_to_event(shell, s, out);
		return true;
	case REQ_COMPARE:
		return shell_compare(shell, s);
	case REQ_APPLY_NOTE:
		if (shell->ctx.view == VIEW_APPLY)
			return false;
		if (in->text)
			shell_note(shell, s, text, out);
		else
			shell_note_open(shell, s);
		return true;
	case REQ_COPY:
		return shell_copy_row(shell, s, out);
	case REQ_FILTER:
		shell_filter(shell, text, s);
		return true;
	case REQ_FIND:
		shell_typed(shell, PROMPT_FIND, text, s);
		return true;
	default:
		return false;
	}
}

static void shell_leave_job(struct shell *shell)
{
	char id[JOB_ID_LEN];

	context_say(&shell->ctx, "job %s unmarked",
		    jobset_id_text(id, shell->ctx.summary.jobs, shell->ctx.job.id));
	context_select_job(&shell->ctx, 0);
}

/* Requests that mean the same in every view; true: it was one. */
static bool shell_common_input(struct shell *shell, const struct input *in, const struct state *s,
			       struct request *out)
{
	switch (in->req) {
	case REQ_VIEW:
		context_choose(&shell->ctx, in->view);
		out->type = REQ_VIEW;
		out->view = shell->ctx.view;
		return true;
	case REQ_HELP:
		if (shell->ctx.view == VIEW_HELP)
			context_back(&shell->ctx);
		else
			context_goto(&shell->ctx, VIEW_HELP);
		return true;
	case REQ_BACK:
		if (shell->ctx.job.id)
			shell_leave_job(shell);
		else if (in->esc && s->poll.tables_on && shell->ctx.view != VIEW_HELP)
			out->type = REQ_TABLES_END;
		else
			context_back(&shell->ctx);
		return true;
	default:
		return shell_pass_on(in, out);
	}
}

static bool shell_works_here(const struct binding *b, const struct shell *shell)
{
	return !b->views || (b->views & VIEW_BIT(shell->ctx.view));
}

/* The key that quits closes what is open in the view before; false: nothing is.  Zoomed in is not
 * open. */
static bool shell_close(struct shell *shell, const struct state *s, struct request *out)
{
	const struct input back = { .req = REQ_BACK };

	if (shell->ctx.view == VIEW_TOPOLOGY)
		return false;
	if (shell->ctx.view != VIEW_HELP)
		return shell_view_input(shell, &back, s, out);
	context_back(&shell->ctx);
	return true;
}

/* Says why a key had no effect. */
static void shell_say_no_use(struct shell *shell, enum req req, const struct state *s)
{
	const struct table_ops *ops;
	const struct table *t = shell_table(shell, &ops);

	if (!s->fabric && req != REQ_CLICK && !shell->ctx.note[0])
		context_say(&shell->ctx, "no fabric yet: nothing to act on");
	if (req == REQ_ENTER && t && !t->nrow && !shell->ctx.note[0])
		context_say(&shell->ctx, "no row is shown: nothing to open");
	for (size_t i = 0; req > REQ_BOTTOM && i < shell->ctx.nbindings && !shell->ctx.note[0];
	     i++) {
		const struct binding *b = &shell->ctx.bindings[i];

		if (b->req == req && shell_works_here(b, shell))
			context_say(&shell->ctx, "%s does nothing here; it is for: %s", b->shown,
				    b->help);
	}
}

/* By Esc, from wherever it is. */
static bool shell_leave_tour(struct shell *shell, const struct input *in)
{
	if (!shell->tour.on || in->req != REQ_BACK || !in->esc)
		return false;
	shell->tour.on = false;
	context_say(&shell->ctx, "the tour has ended; :tour begins it again");
	return true;
}

static void shell_do(struct shell *shell, const struct input *in, const struct state *s,
		     struct request *out)
{
	const struct table_ops *ops;
	struct table *t;
	struct table_in at;

	if (in->req == REQ_NONE || shell_leave_tour(shell, in))
		return;
	if (in->refused_ro || (in->req == REQ_YES && !s->rw)) {
		out->type = s->may_arm ? REQ_ARM : REQ_NONE;
		context_say(&shell->ctx, "read-only: nothing in the fabric can be changed; "
					 "start with --rw to allow it");
		return;
	}
	if (shell_view_input(shell, in, s, out) || shell_prompt_open(shell, in, s) ||
	    (in->req == REQ_QUIT && !in->text && shell_close(shell, s, out)))
		return;
	at = shell_table_in(shell, s);
	t = shell_table(shell, &ops);
	if (t && table_input(t, ops, &at, in))
		return;
	if (!shell_command_input(shell, in, s, out) && !shell_common_input(shell, in, s, out))
		shell_say_no_use(shell, in->req, s);
}

static const char *shell_a_view_of(const struct binding *b)
{
	for (int i = 0; i < VIEW_COUNT; i++)
		if ((b->views & VIEW_BIT(i)) && command_view_name((enum view_id)i))
			return command_view_name((enum view_id)i);
	return "another view";
}

/* As with the key of the same request: in its views only, and not without --rw. */
static bool shell_allowed(struct shell *shell, struct input *in, const struct command *cmd,
			  const struct state *s)
{
	const struct binding *elsewhere = NULL;
	bool any = false;

	if (in->req == REQ_EXCLUDE && in->text && in->text[0])
		return true; /* what is named needs no cursor */
	for (size_t i = 0; i < shell->ctx.nbindings; i++) {
		const struct binding *b = &shell->ctx.bindings[i];

		if (b->req != in->req || (in->req == REQ_VIEW && b->view != in->view))
			continue;
		any = true;
		if (shell_works_here(b, shell)) {
			in->refused_ro = b->rw && !s->rw;
			return true;
		}
		if (!elsewhere || (elsewhere->views & VIEW_BIT(VIEW_OVERVIEW)))
			elsewhere = b;
	}
	if (!any)
		return true;
	context_say(&shell->ctx, "'%s' does nothing here: it works in view %s", cmd->name,
		    shell_a_view_of(elsewhere));
	return false;
}

/* --- saved views ----------------------------------------------------------------------------- */

static void shell_save_view(struct shell *shell, const char *name, const struct state *s,
			    struct request *out)
{
	const struct view *v = view_find(shell->ctx.view);
	enum row_kind rows = saved_view_rows(shell->ctx.view);
	const struct table_ops *ops;
	const struct table *t = shell_table(shell, &ops);
	struct err err;

	if (command_view_taken(name)) {
		context_say(&shell->ctx, "'%s' is taken: choose another name for this view", name);
		return;
	}
	if (saved_view_name_check(name, &err)) {
		context_say(&shell->ctx, "%s", err.text);
		return;
	}
	if (rows != ROW_KINDS && (!t || ops->kind != rows)) {
		context_say(&shell->ctx, "close what is open here first: its table is saved, not "
					 "this one");
		return;
	}
	shell->saving = (struct saved_view){ .name = "" };
	snprintf(shell->saving.name, sizeof(shell->saving.name), "%s", name);
	saved_view_take(&shell->saving, shell->ctx.view, rows != ROW_KINDS ? t : NULL);
	if (v->chosen)
		v->chosen(shell_own(shell), &shell->ctx, s, &shell->saving.choice);
	out->type = REQ_VIEW_SAVE;
	out->saved = &shell->saving;
}

static void shell_delete_view(struct shell *shell, const char *name, const struct state *s,
			      struct request *out)
{
	if (!saved_views_find(s->saved_views, name)) {
		context_say(&shell->ctx, "no saved view '%s'", name);
		return;
	}
	out->type = REQ_VIEW_DELETE;
	snprintf(out->text, sizeof(out->text), "%s", name);
}

/* Where something is open instead of the view's own table, that is closed. */
static void shell_show_saved(struct shell *shell, const struct saved_view *v, const struct state *s,
			     struct request *out)
{
	const struct input go = { .req = REQ_VIEW, .view = v->view }, back = { .req = REQ_BACK };
	enum row_kind rows = saved_view_rows(v->view);
	struct request none = { .type = REQ_NONE };
	const struct table_ops *ops;
	struct table *t;

	shell_do(shell, &go, s, out);
	if (view_find(v->view)->choose)
		view_find(v->view)->choose(shell->own[v->view], &v->choice);
	for (int i = 0; rows != ROW_KINDS && i < 8 && shell_view_input(shell, &back, s, &none); i++)
		;
	t = shell_table(shell, &ops);
	if (t && ops->kind == rows)
		saved_view_show(v, t, ops);
}

/* ":view" alone. */
static void shell_list_saved(struct shell *shell, const struct state *s)
{
	char text[sizeof(shell->ctx.note)] = "";
	size_t n = 0;

	for (uint32_t i = 0; i < s->saved_views->n && n < sizeof(text); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i ? ", " : "",
				      s->saved_views->view[i].name);
	context_say(&shell->ctx, "saved views: %s", text);
}

/* ":view save hot", ":view hot"; false: another view is meant. */
static bool shell_saved_command(struct shell *shell, const char *arg, const struct state *s,
				struct request *out)
{
	const struct saved_view *v = saved_views_find(s->saved_views, arg);
	size_t n = strcspn(arg, " ");
	const char *name = arg + n + strspn(arg + n, " ");

	if (v)
		shell_show_saved(shell, v, s, out);
	else if (n == 4 && !strncasecmp(arg, "save", n))
		shell_save_view(shell, name, s, out);
	else if (n == 6 && !strncasecmp(arg, "delete", n))
		shell_delete_view(shell, name, s, out);
	else
		return false;
	return true;
}

/* ":event next"; false: it is no such word, as is said. */
static bool shell_event_way(struct shell *shell, struct input *in, const char *arg)
{
	size_t n = strlen(arg);

	in->text = NULL;
	if (!strncasecmp(arg, "next", n))
		in->req = REQ_EVENT_NEXT;
	else if (!strncasecmp(arg, "previous", n))
		in->req = REQ_EVENT_PREV;
	else
		context_say(&shell->ctx, "event: next or previous, not '%s'", arg);
	return in->req != REQ_EVENT;
}

static void shell_run(struct shell *shell, const char *line, const struct state *s,
		      struct request *out)
{
	size_t name;
	const struct command *cmd;
	struct input in = { 0 };
	char arg[PROMPT_LEN];
	bool sure;

	line += strspn(line, " :");
	name = strcspn(line, " ");
	if (!name)
		return;
	cmd = command_find(line, name);
	if (!cmd) {
		context_say(&shell->ctx, "unknown or ambiguous command '%.*s': Tab lists them",
			    (int)name, line);
		return;
	}
	sure = name > 1 && line[name - 1] == '!';
	if (sure && cmd->req != REQ_EXPORT) {
		context_say(&shell->ctx, "'%s' takes no !", cmd->name);
		return;
	}
	line += name;
	line += strspn(line, " ");
	snprintf(arg, sizeof(arg), "%s", line);
	for (size_t n = strlen(arg); n && arg[n - 1] == ' ';)
		arg[--n] = '\0';
	in.req = sure ? REQ_EXPORT_OVER : cmd->req;
	in.view = cmd->view;
	if (in.req == REQ_QUIT)
		in.text = ""; /* what is spelled out is meant */
	if (cmd->arg == ARG_VIEW && !arg[0] && s->saved_views && s->saved_views->n) {
		shell_list_saved(shell, s);
		return;
	}
	if (cmd->needed && !arg[0]) {
		context_say(&shell->ctx, "%s %s: %s", cmd->name, cmd->args, cmd->help);
		return;
	}
	if (cmd->arg == ARG_NONE && arg[0]) {
		context_say(&shell->ctx, "'%s' takes no argument", cmd->name);
		return;
	}
	if (cmd->arg != ARG_NONE)
		in.text = arg;
	if (cmd->req == REQ_VIEW && cmd->arg == ARG_VIEW) {
		if (shell_saved_command(shell, arg, s, out))
			return;
		in.view = command_view(arg);
		if (in.view == VIEW_COUNT) {
			context_say(&shell->ctx, "no view '%s': Tab lists them", arg);
			return;
		}
	}
	if (cmd->req == REQ_EVENT && arg[0] && !shell_event_way(shell, &in, arg))
		return;
	if (!shell_allowed(shell, &in, cmd, s))
		return;
	shell_do(shell, &in, s, out);
	if (cmd->req == REQ_VIEW && cmd->arg == ARG_FILTER && arg[0])
		shell_filter(shell, arg, s);
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
			shell_typed(shell, kind, so_far, s);
			break;
		}
		if (kind == PROMPT_COMMAND && !strncmp(p->text, "palette ", 8))
			choose_palette(&shell->ctx, p->text + 8); /* a preview of the choice */
		shell_typed(shell, kind, p->text, s);
		break;
	case PROMPT_LEFT:
		shell_typed(shell, kind, "", s);
		break;
	case PROMPT_DONE:
		if (kind == PROMPT_COMMAND)
			shell_run(shell, p->text, s, out);
		else
			shell_typed(shell, kind, p->text, s);
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
	return shell_choose_sort(shell, in) || shell_choose_columns(shell, in);
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
	shell_follow(shell, s);
	if (shell->finder.menu.open)
		shell_find_input(shell, in, s, out);
	else if (shell->prompt.kind)
		shell_prompt_input(shell, in, s, out);
	else if (!shell_menu_input(shell, in, s, out))
		shell_do(shell, in, s, out);
	tour_follow(&shell->tour, &shell->ctx, s, in->req);
}

/* --- drawing --------------------------------------------------------------------------------- */

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
				    shell_in_sight(shell)->label, shell_own(shell) };
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
	const struct row_note *note = shell_note_here(shell, s);
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
	const struct view *v = shell_in_sight(shell);
	const char *inside = v->inside ? v->inside(shell_own(shell)) : NULL;
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
	const struct view *v = shell_in_sight(shell);
	struct frame_text t = { .note = shell->ctx.note, .job = shell->ctx.job.id };
	const struct frame_keys keys = shell_frame_keys(shell);
	const struct table_ops *ops;
	struct table *table;
	struct rect r = { 0, 2, c->w, c->h - 4 };

	shell->w = c->w;
	shell->h = c->h;
	shell_follow(shell, s);
	canvas_clear(c);
	if (shell->tour.on) {
		tour_follow(&shell->tour, &shell->ctx, s, REQ_NONE);
		r.h -= TOUR_ROWS;
		tour_draw(&shell->tour, &shell->ctx, s, c,
			  (struct rect){ 0, r.y + r.h, c->w, TOUR_ROWS });
	}
	if (r.h > 0)
		v->draw(shell_own(shell), &shell->ctx, c, r, s);
	table = shell_table(shell, &ops);
	if (v->context)
		v->context(shell_own(shell), s, t.context, sizeof(t.context));
	else if (table)
		table_context(table, ops, t.context, sizeof(t.context));
	if (table && table->nrow && table_shows_rates(table))
		shell_say_units(shell, t.context, sizeof(t.context));
	shell_say_note(shell, s, t.context, sizeof(t.context));
	t.typing = shell_typing(shell, s);
	t.back = t.typing ? NULL : shell_way_back(shell, s);
	frame_draw(c, s, shell->ctx.view, &t, &keys);
	shell_menu_draw(shell, c, s);
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
	const struct view *v = shell_in_sight(shell);

	return shell->prompt.kind || shell->finder.menu.open ||
	       (v->typing && v->typing(shell_own(shell), s));
}

uint32_t shell_key_at(const struct shell *shell, const struct state *s, int x, int y)
{
	const struct frame_keys keys = shell_frame_keys(shell);
	const struct binding *b;

	if (y - fabric_tabs_rows(s) != shell->h - 2 || shell->ctx.note[0] ||
	    shell_typing(shell, s) || shell_menu(shell))
		return 0;
	b = frame_hint_at(shell->w, s, shell->ctx.view, &keys, x);
	return b ? b->keys[0] : 0;
}

/* --- settings of tables --------------------------------------------------------------------- */

bool shell_columns_set(struct shell *shell, enum view_id view, const char *columns)
{
	const struct table_ops *ops;
	struct table *t = shell_own_table(shell, view, &ops);

	return t && table_columns(t, columns, ops);
}

bool shell_sort_set(struct shell *shell, enum view_id view, const char *sort)
{
	const struct table_ops *ops;
	struct table *t = shell_own_table(shell, view, &ops);
	bool reverse = sort[0] == '-';
	const struct field *f =
		t ? field_find(ops->kind, sort + reverse, strlen(sort + reverse)) : NULL;

	if (!t || (sort[0] && !f))
		return false;
	if (f)
		table_sort(t, f);
	t->sort_chosen = f != NULL;
	t->reverse = reverse;
	t->stale = true;
	return true;
}

bool shell_columns(const struct shell *shell, enum view_id view, char *buf, size_t len)
{
	const struct table_ops *ops;
	const struct table *t = shell_own_table(shell, view, &ops);

	snprintf(buf, len, "%s", t ? t->columns : "");
	return t != NULL;
}

bool shell_sort(const struct shell *shell, enum view_id view, char *buf, size_t len)
{
	const struct table_ops *ops;
	const struct table *t = shell_own_table(shell, view, &ops);

	buf[0] = '\0';
	if (t && t->sort && (t->sort_chosen || t->reverse))
		snprintf(buf, len, "%s%s", t->reverse ? "-" : "", t->sort->name);
	return t != NULL;
}
