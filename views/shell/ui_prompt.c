/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line at the bottom, and what is asked for in it. */
#include "views/shell/shell_priv.h"

#include "fabric/model/end_find.h"
#include "views/preview/preview_form.h"
#include "views/shell/frame.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct table *shell_table(struct shell *shell, const struct table_ops **ops)
{
	const struct view *v = view_find(shell->view);

	*ops = NULL;
	return v && v->table ? v->table(shell->own[shell->view], ops) : NULL;
}

static struct prompt_context shell_context(struct shell *shell, const struct state *s)
{
	const struct table_ops *ops;
	struct table *t = shell_table(shell, &ops);

	return (struct prompt_context){ .s = s,
					.kind = t ? ops->kind : ROW_KINDS,
					.view = view_find(shell->view),
					.own = shell->own[shell->view] };
}

bool shell_prompt_open(struct shell *shell, const struct input *in, const struct state *s)
{
	struct prompt_context ctx = shell_context(shell, s);

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

/* --- commands ------------------------------------------------------------------------------- */

static bool shell_holds_here(const struct binding *b, const struct shell *shell)
{
	return !b->views || (b->views & VIEW_BIT(shell->view));
}

static const char *shell_a_view_of(const struct binding *b)
{
	for (int i = 0; i < VIEW_COUNT; i++)
		if ((b->views & VIEW_BIT(i)) && command_view_name((enum view_id)i))
			return command_view_name((enum view_id)i);
	return "another view";
}

/* As the key of the same request would be: in these views only, and not without --rw. */
static bool shell_allowed(struct shell *shell, struct input *in, const struct command *cmd,
			  const struct state *s)
{
	const struct binding *elsewhere = NULL;
	bool any = false;

	if (in->req == REQ_EXCLUDE && in->text && in->text[0])
		return true; /* what is named needs no cursor */
	for (size_t i = 0; i < shell->nbindings; i++) {
		const struct binding *b = &shell->bindings[i];

		if (b->req != in->req || (in->req == REQ_VIEW && b->view != in->view))
			continue;
		any = true;
		if (shell_holds_here(b, shell)) {
			in->refused_ro = b->rw && !s->rw;
			return true;
		}
		elsewhere = b;
	}
	if (!any)
		return true;
	shell_say(shell, "'%s' means nothing here: it is a command of %s", cmd->name,
		  shell_a_view_of(elsewhere));
	return false;
}

/* A field's name that has just been begun is no word to look for. */
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
	struct table_in in = { shell->own[shell->view], shell, s };

	if (t && kind == PROMPT_FILTER)
		table_filter(t, text, ops);
	else if (t && kind == PROMPT_FIND)
		table_find(t, text, ops, &in);
}

/* By a command: there is no line any more below which a mistake could stand. */
static void shell_filter(struct shell *shell, const char *text, const struct state *s)
{
	const struct table_ops *ops;
	const struct table *t = shell_table(shell, &ops);

	shell_typed(shell, PROMPT_FILTER, text, s);
	if (t && t->filter.why[0])
		shell_say(shell, "filter: %s", t->filter.why);
}

void shell_run(struct shell *shell, const char *line, const struct state *s, struct request *out)
{
	size_t name;
	const struct command *cmd;
	struct input in = { 0 };
	char arg[PROMPT_LEN];

	line += strspn(line, " :");
	name = strcspn(line, " ");
	if (!name)
		return;
	cmd = command_find(line, name);
	if (!cmd) {
		shell_say(shell, "no command '%.*s' (or it begins several): Tab lists them",
			  (int)name, line);
		return;
	}
	line += name;
	line += strspn(line, " ");
	snprintf(arg, sizeof(arg), "%s", line);
	for (size_t n = strlen(arg); n && arg[n - 1] == ' ';)
		arg[--n] = '\0';
	in.req = cmd->req;
	in.view = cmd->view;
	if (cmd->needed && !arg[0]) {
		shell_say(shell, "%s %s: %s", cmd->name, cmd->args, cmd->help);
		return;
	}
	if (cmd->arg == ARG_NONE && arg[0]) {
		shell_say(shell, "'%s' takes no argument", cmd->name);
		return;
	}
	if (cmd->arg != ARG_NONE)
		in.text = arg;
	if (cmd->req == REQ_VIEW && cmd->arg == ARG_VIEW) {
		in.view = command_view(arg);
		if (in.view == VIEW_COUNT) {
			shell_say(shell, "no view '%s': Tab lists them", arg);
			return;
		}
	}
	if (!shell_allowed(shell, &in, cmd, s))
		return;
	shell_do(shell, &in, s, out);
	if (cmd->req == REQ_VIEW && cmd->arg == ARG_FILTER && arg[0])
		shell_filter(shell, arg, s);
}

static void shell_choose_palette(struct shell *shell, const char *name)
{
	for (int i = 0; i < PALETTE_COUNT; i++)
		if (!strncasecmp(palette_name((enum palette)i), name, strlen(name))) {
			shell_palette_set(shell, (enum palette)i);
			return;
		}
	shell_say(shell, "no palette '%s': Tab lists them", name);
}

void shell_prompt_input(struct shell *shell, const struct input *in, const struct state *s,
			struct request *out)
{
	struct prompt *p = &shell->prompt;
	enum prompt_kind kind = p->kind;
	struct prompt_context ctx = shell_context(shell, s);
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
			shell_choose_palette(shell, p->text + 8); /* seen while it is picked */
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
		/* what is wrong stands below it: there is more to type, or Esc */
		if (kind == PROMPT_FILTER && t && t->filter.why[0]) {
			memcpy(so_far, p->text, sizeof(so_far));
			prompt_open(p, kind, so_far);
		}
		break;
	case PROMPT_SAME:
		break;
	}
}

void shell_prompt_draw(struct shell *shell, struct canvas *c, const struct state *s)
{
	struct prompt_context ctx = shell_context(shell, s);
	const struct table_ops *ops;
	struct table *t = shell_table(shell, &ops);

	prompt_draw(&shell->prompt, c, c->h - 2,
		    shell->prompt.kind == PROMPT_FILTER && t ? t->filter.why : "", &ctx);
}

/* --- what only commands ask for --------------------------------------------------------------- */

static void shell_go_to(struct shell *shell, const char *name, const struct state *s)
{
	struct err err;
	uint32_t end, sw;
	uint16_t lid;

	if (!s->fabric) {
		shell_say(shell, "the fabric is not known yet");
		return;
	}
	if (end_find(&end, &lid, s->fabric, name, &err)) {
		shell_say(shell, "%s", err.text);
		return;
	}
	sw = end >= s->fabric->nend ? end - s->fabric->nend : s->fabric->term_sw[end];
	shell_select_switch(shell, sw);
	if (view_find(VIEW_SWITCHES))
		shell_goto(shell, VIEW_SWITCHES);
}

static void shell_choose_job(struct shell *shell, const char *text, const struct state *s)
{
	char *end;
	unsigned long long id = strtoull(text, &end, 10);
	bool found = false;

	if (!text[0]) {
		shell_select_job(shell, 0);
		shell_say(shell, "no job is highlighted");
		return;
	}
	for (uint32_t i = 0; s->jobs && i < s->jobs->njob; i++)
		found |= s->jobs->jobs[i].id == id;
	if (*end || !found) {
		shell_say(shell, "no job '%s' is known", text);
		return;
	}
	shell_select_job(shell, id);
	shell_say(shell, "job %llu is highlighted", id);
}

static void shell_choose_path(struct shell *shell, const char *text, const struct state *s)
{
	struct path_ends ends;
	char a[PROMPT_LEN], b[PROMPT_LEN], more[2];
	struct err err;
	uint16_t lid;
	uint32_t dst;

	if (sscanf(text, "%127s %127s %1s", a, b, more) != 2) {
		shell_say(shell, "path A B: from where to where, by name, LID or GUID");
		return;
	}
	if (!s->fabric) {
		shell_say(shell, "the fabric is not known yet");
		return;
	}
	if (end_find(&ends.src, &lid, s->fabric, a, &err) ||
	    end_find(&dst, &ends.dlid, s->fabric, b, &err)) {
		shell_say(shell, "%s", err.text);
		return;
	}
	shell_select_path(shell, ends);
	shell_goto(shell, VIEW_PATHS);
}

static void shell_choose_units(struct shell *shell, const char *name)
{
	if (!strcasecmp(name, "bits") || !strcasecmp(name, "bytes"))
		shell_bits_set(shell, !strcasecmp(name, "bits"));
	else
		shell_say(shell, "units: bytes (GB/s) or bits (Gb/s), not '%s'", name);
}

static void shell_click(struct shell *shell, const struct input *in, const struct state *s,
			struct request *out)
{
	struct input go = { .req = REQ_VIEW };

	if (in->y != 1)
		return;
	go.view = frame_tab_at(shell->w, shell->view, in->x);
	if (go.view < VIEW_COUNT)
		shell_do(shell, &go, s, out);
}

/* false: there is no row. */
static bool shell_copy_row(struct shell *shell, const struct state *s, struct request *out)
{
	const struct table_ops *ops;
	const struct table *t = shell_table(shell, &ops);
	struct rows rows = { .s = s, .v = shell_survey(shell) };
	char label[VALUE_LEN] = "";

	if (!t || table_cursor(t) == FAB_NONE)
		return false;
	rows.kind = ops->kind;
	out->type = REQ_COPY;
	snprintf(out->text, sizeof(out->text), "%s", rows_label(label, &rows, table_cursor(t)));
	return true;
}

bool shell_command_input(struct shell *shell, const struct input *in, const struct state *s,
			 struct request *out)
{
	const char *text = in->text ? in->text : "";

	switch (in->req) {
	case REQ_GOTO:
		shell_go_to(shell, text, s);
		return true;
	case REQ_JOB:
		shell_choose_job(shell, text, s);
		return true;
	case REQ_PATH:
		shell_choose_path(shell, text, s);
		return true;
	case REQ_EXCLUDE:
		shell_exclude(shell, s, text);
		return true;
	case REQ_ENGINE:
		out->options = preview_form_of(shell->own[VIEW_PREVIEW])->o;
		out->type = in->req;
		snprintf(out->text, sizeof(out->text), "%s", text);
		return true;
	case REQ_PALETTE:
		if (text[0])
			shell_choose_palette(shell, text);
		return text[0];
	case REQ_UNITS:
		if (text[0])
			shell_choose_units(shell, text);
		return text[0];
	case REQ_CLICK:
		shell_click(shell, in, s, out);
		return true;
	case REQ_TABLES_FILE: /* with the options that are set there */
		shell_goto(shell, VIEW_PREVIEW);
		view_preview.input(shell->own[VIEW_PREVIEW], shell, in, s, out);
		return true;
	case REQ_COPY:
		return shell_copy_row(shell, s, out);
	case REQ_FILTER:
		shell_filter(shell, text, s);
		return true;
	case REQ_FIND:
		shell_typed(shell, PROMPT_FIND, text, s);
		return true;
	case REQ_SNAPSHOT:
	case REQ_HIST_BACK:
	case REQ_HIST_FORWARD:
	case REQ_HIST_BACK5:
	case REQ_HIST_FORWARD5:
	case REQ_LIVE:
	case REQ_BOOKMARK:
	case REQ_BOOKMARKS:
	case REQ_INTERVAL:
	case REQ_SET:
	case REQ_KEEP:
	case REQ_DETACH:
	case REQ_PLAN_SAVE:
	case REQ_APPLY_NOTE:
	case REQ_APPLY_OVERRIDE:
		out->type = in->req;
		snprintf(out->text, sizeof(out->text), "%s", text);
		return true;
	default:
		return false;
	}
}
