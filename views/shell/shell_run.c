/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/shell/shell_priv.h"

#include "views/prompt/command.h"
#include "views/shell/registry.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *shell_run_a_view_of(const struct binding *b)
{
	for (int i = 0; i < VIEW_COUNT; i++)
		if ((b->views & VIEW_BIT(i)) && command_view_name((enum view_id)i))
			return command_view_name((enum view_id)i);
	return "another view";
}

/* "compute" is Space in view 6, where "tag" is none. */
static bool shell_run_is_of(const struct command *cmd, const struct binding *b)
{
	return cmd->req != REQ_SELECT || !cmd->view || b->views == VIEW_BIT(cmd->view);
}

/* As with the key of the same request: in its views only, and not without --rw. */
static bool shell_run_allowed(struct shell *shell, struct input *in, const struct command *cmd,
			      const struct state *s)
{
	const struct binding *elsewhere = NULL;
	bool any = false;

	if (in->req == REQ_EXCLUDE && in->text && in->text[0])
		return true; /* what is named needs no cursor */
	for (size_t i = 0; i < shell->ctx.nbindings; i++) {
		const struct binding *b = &shell->ctx.bindings[i];

		if (b->req != in->req || (in->req == REQ_VIEW && b->view != in->view) ||
		    !shell_run_is_of(cmd, b))
			continue;
		any = true;
		if (shell_do_works_here(b, shell)) {
			in->refused_ro = b->rw && !s->rw;
			return true;
		}
		if (!elsewhere || (elsewhere->views & VIEW_BIT(VIEW_OVERVIEW)))
			elsewhere = b;
	}
	if (!any)
		return true;
	context_say(&shell->ctx, "'%s' does nothing here: it works in view %s", cmd->name,
		    shell_run_a_view_of(elsewhere));
	return false;
}

static void shell_run_save_view(struct shell *shell, const char *name, const struct state *s,
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
		v->chosen(shell_tables_own(shell), &shell->ctx, s, &shell->saving.choice);
	out->type = REQ_VIEW_SAVE;
	out->saved = &shell->saving;
}

static void shell_run_delete_view(struct shell *shell, const char *name, const struct state *s,
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
static void shell_run_show_saved(struct shell *shell, const struct saved_view *v,
				 const struct state *s, struct request *out)
{
	const struct input go = { .req = REQ_VIEW, .view = v->view }, back = { .req = REQ_BACK };
	enum row_kind rows = saved_view_rows(v->view);
	struct request none = { .type = REQ_NONE };
	const struct table_ops *ops;
	struct table *t;

	shell_do(shell, &go, s, out);
	if (view_find(v->view)->choose)
		view_find(v->view)->choose(shell->own[v->view], &v->choice);
	for (int i = 0; rows != ROW_KINDS && i < 8 && shell_do_in_view(shell, &back, s, &none); i++)
		;
	t = shell_table(shell, &ops);
	if (t && ops->kind == rows)
		saved_view_show(v, t, ops);
}

/* ":view" alone. */
static void shell_run_list_saved(struct shell *shell, const struct state *s)
{
	char text[sizeof(shell->ctx.note)] = "";
	size_t n = 0;

	for (uint32_t i = 0; i < s->saved_views->n && n < sizeof(text); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i ? ", " : "",
				      s->saved_views->view[i].name);
	context_say(&shell->ctx, "saved views: %s", text);
}

/* ":view save hot", ":view hot"; false: another view is meant. */
static bool shell_run_saved(struct shell *shell, const char *arg, const struct state *s,
			    struct request *out)
{
	const struct saved_view *v = saved_views_find(s->saved_views, arg);
	size_t n = strcspn(arg, " ");
	const char *name = arg + n + strspn(arg + n, " ");

	if (v)
		shell_run_show_saved(shell, v, s, out);
	else if (n == 4 && !strncasecmp(arg, "save", n))
		shell_run_save_view(shell, name, s, out);
	else if (n == 6 && !strncasecmp(arg, "delete", n))
		shell_run_delete_view(shell, name, s, out);
	else
		return false;
	return true;
}

/* ":event next"; false: it is no such word, as is said. */
static bool shell_run_event_way(struct shell *shell, struct input *in, const char *arg)
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

/* "start" and "confirm" are the same key in view 7: neither is taken for the other. */
static bool shell_run_update_waits(struct shell *shell, const struct command *cmd,
				   const struct state *s)
{
	bool confirm = !strcmp(cmd->name, "confirm");

	context_choose(&shell->ctx, cmd->view);
	if (s->apply.state == (confirm ? APPLY_CONFIRM : APPLY_READY))
		return true;
	context_say(&shell->ctx, confirm ? "no update is waiting to be confirmed"
					 : "no plan is ready to be started");
	return false;
}

/* The command of a line, and its argument; NULL: it is none, as is said. */
static const struct command *shell_run_parse(struct shell *shell, const char *line, char *arg,
					     struct input *in)
{
	size_t name = strcspn(line, " "), n;
	const struct command *cmd = command_find(line, name);
	bool sure = name > 1 && line[name - 1] == '!';

	if (!cmd) {
		context_say(&shell->ctx, "unknown or ambiguous command '%.*s': Tab lists them",
			    (int)name, line);
		return NULL;
	}
	if (sure && cmd->req != REQ_EXPORT) {
		context_say(&shell->ctx, "'%s' takes no !", cmd->name);
		return NULL;
	}
	line += name;
	line += strspn(line, " ");
	snprintf(arg, PROMPT_LEN, "%s", line);
	for (n = strlen(arg); n && arg[n - 1] == ' ';)
		arg[--n] = '\0';
	*in = (struct input){ .req = sure ? REQ_EXPORT_OVER : cmd->req, .view = cmd->view };
	if (cmd->arg != ARG_NONE)
		in->text = arg;
	if (in->req == REQ_QUIT)
		in->text = ""; /* what is spelled out is meant */
	return cmd;
}

/* false: it lacks its argument, or has one too many, as is said. */
static bool shell_run_fits(struct shell *shell, const struct command *cmd, const char *arg)
{
	if (cmd->needed && !arg[0])
		context_say(&shell->ctx, "%s %s: %s", cmd->name, cmd->args, cmd->help);
	else if (cmd->arg == ARG_NONE && arg[0])
		context_say(&shell->ctx, "'%s' takes no argument", cmd->name);
	else
		return true;
	return false;
}

/* ":view NAME"; true: all of it is done, or it was said why not. */
static bool shell_run_view(struct shell *shell, struct input *in, const char *arg,
			   const struct state *s, struct request *out)
{
	if (shell_run_saved(shell, arg, s, out))
		return true;
	in->view = command_view(arg);
	if (in->view == VIEW_COUNT)
		context_say(&shell->ctx, "no view '%s': Tab lists them", arg);
	return in->view == VIEW_COUNT;
}

void shell_run(struct shell *shell, const char *line, const struct state *s, struct request *out)
{
	const struct command *cmd;
	char arg[PROMPT_LEN];
	struct input in;

	line += strspn(line, " :");
	cmd = *line ? shell_run_parse(shell, line, arg, &in) : NULL;
	if (!cmd)
		return;
	if (cmd->arg == ARG_VIEW && !arg[0] && s->saved_views && s->saved_views->n) {
		shell_run_list_saved(shell, s);
		return;
	}
	if (!shell_run_fits(shell, cmd, arg) ||
	    (cmd->req == REQ_VIEW && cmd->arg == ARG_VIEW &&
	     shell_run_view(shell, &in, arg, s, out)) ||
	    (cmd->req == REQ_EVENT && arg[0] && !shell_run_event_way(shell, &in, arg)) ||
	    (cmd->req == REQ_ENTER && cmd->view && !shell_run_update_waits(shell, cmd, s)) ||
	    !shell_run_allowed(shell, &in, cmd, s))
		return;
	shell_do(shell, &in, s, out);
	if (cmd->req == REQ_VIEW && cmd->arg == ARG_FILTER && arg[0])
		shell_prompt_filter(shell, arg, s);
}
