/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/shell/shell_priv.h"

#include "views/frame/frame.h"
#include "views/shell/choose.h"

#include <stdio.h>

bool shell_do_in_view(struct shell *shell, const struct input *in, const struct state *s,
		      struct request *out)
{
	const struct view *v = shell_tables_view(shell);

	if (!v->input || !v->input(shell_tables_own(shell), &shell->ctx, in, s, out))
		return false;
	if (out->type == REQ_COMMAND) {
		prompt_open(&shell->prompt, PROMPT_COMMAND, out->text);
		out->type = REQ_NONE;
	}
	return true;
}

static void shell_do_click(struct shell *shell, const struct input *in, const struct state *s,
			   struct request *out)
{
	struct input go = { .req = REQ_VIEW };

	if (in->y != 1)
		return;
	go.view = frame_tab_at(shell->w, shell->ctx.view, in->x);
	if (go.view < VIEW_COUNT)
		shell_do(shell, &go, s, out);
}

/* Requests for the application, with the argument; false: it is none. */
static bool shell_do_pass_on(const struct input *in, struct request *out)
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
		REQ_FABRIC,	   REQ_UNPLUG,	     REQ_PLUG,
	};

	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		if (in->req == passed[i]) {
			out->type = in->req;
			snprintf(out->text, sizeof(out->text), "%s", in->text ? in->text : "");
			return true;
		}
	return false;
}

static bool shell_do_command(struct shell *shell, const struct input *in, const struct state *s,
			     struct request *out)
{
	const char *text = in->text ? in->text : "";
	uint8_t port;

	switch (in->req) {
	case REQ_GOTO:
		if (choose_node(&port, &shell->ctx, text, s) && port)
			shell_rows_go_to_port(shell, s, shell->ctx.sw, port);
		return true;
	case REQ_JOB:
		choose_job(&shell->ctx, text, s);
		return true;
	case REQ_PATH:
		choose_path(&shell->ctx, text, s);
		return true;
	case REQ_EXCLUDE:
		shell_rows_exclude(shell, s, text);
		return true;
	case REQ_PIN:
		shell_rows_pin(shell, s, text);
		return true;
	case REQ_ENGINE:
		out->options = shell->ctx.options;
		return shell_do_pass_on(in, out);
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
		shell_do_click(shell, in, s, out);
		return true;
	case REQ_TABLES_FILE: /* with the options that are set there */
		context_goto(&shell->ctx, VIEW_PREVIEW);
		shell_do_in_view(shell, in, s, out);
		return true;
	case REQ_EVENT:
		shell_rows_go_to_event(shell, s, out);
		return true;
	case REQ_COMPARE:
		return shell_rows_compare(shell, s);
	case REQ_APPLY_NOTE:
		if (shell->ctx.view == VIEW_APPLY)
			return false;
		if (in->text)
			shell_rows_note(shell, s, text, out);
		else
			shell_rows_note_open(shell, s);
		return true;
	case REQ_COPY:
		return shell_rows_copy(shell, s, out);
	case REQ_FILTER:
		shell_prompt_filter(shell, text, s);
		return true;
	case REQ_FIND:
		shell_prompt_typed(shell, PROMPT_FIND, text, s);
		return true;
	default:
		return false;
	}
}

static void shell_do_leave_job(struct shell *shell)
{
	char id[JOB_ID_LEN];

	context_say(&shell->ctx, "job %s unmarked",
		    jobset_id_text(id, shell->ctx.summary.jobs, shell->ctx.job.id));
	context_select_job(&shell->ctx, 0);
}

/* Requests that mean the same in every view; true: it was one. */
static bool shell_do_common(struct shell *shell, const struct input *in, const struct state *s,
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
			shell_do_leave_job(shell);
		else if (in->esc && s->poll.tables_on && shell->ctx.view != VIEW_HELP)
			out->type = REQ_TABLES_END;
		else
			context_back(&shell->ctx);
		return true;
	default:
		return shell_do_pass_on(in, out);
	}
}

bool shell_do_works_here(const struct binding *b, const struct shell *shell)
{
	return !b->views || (b->views & VIEW_BIT(shell->ctx.view));
}

/* The key that quits closes what is open in the view before; false: nothing is.  Zoomed in is not
 * open. */
static bool shell_do_close(struct shell *shell, const struct state *s, struct request *out)
{
	const struct input back = { .req = REQ_BACK };

	if (shell->ctx.view == VIEW_TOPOLOGY)
		return false;
	if (shell->ctx.view != VIEW_HELP)
		return shell_do_in_view(shell, &back, s, out);
	context_back(&shell->ctx);
	return true;
}

/* Says why a key had no effect. */
static void shell_do_say_no_use(struct shell *shell, enum req req, const struct state *s)
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

		if (b->req == req && shell_do_works_here(b, shell))
			context_say(&shell->ctx, "%s does nothing here; it is for: %s", b->shown,
				    b->help);
	}
}

/* By Esc, from wherever it is. */
static bool shell_do_leave_tour(struct shell *shell, const struct input *in)
{
	if (!shell->tour.on || in->req != REQ_BACK || !in->esc)
		return false;
	shell->tour.on = false;
	context_say(&shell->ctx, "the tour has ended; :tour begins it again");
	return true;
}

void shell_do(struct shell *shell, const struct input *in, const struct state *s,
	      struct request *out)
{
	const struct table_ops *ops;
	struct table *t;
	struct table_in at;

	if (in->req == REQ_NONE) { /* a key without a meaning: it answers a question, too */
		shell_do_in_view(shell, in, s, out);
		return;
	}
	if (shell_do_leave_tour(shell, in))
		return;
	if (in->refused_ro || (in->req == REQ_YES && !s->rw)) {
		out->type = s->may_arm ? REQ_ARM : REQ_NONE;
		context_say(&shell->ctx, "read-only: nothing in the fabric can be changed; "
					 "start with --rw to allow it");
		return;
	}
	if (shell_do_in_view(shell, in, s, out) || shell_prompt_open(shell, in, s) ||
	    (in->req == REQ_QUIT && !in->text && shell_do_close(shell, s, out)))
		return;
	at = shell_tables_in(shell, s);
	t = shell_table(shell, &ops);
	if (t && table_input(t, ops, &at, in))
		return;
	if (!shell_do_command(shell, in, s, out) && !shell_do_common(shell, in, s, out))
		shell_do_say_no_use(shell, in->req, s);
}
