/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/shell/shell_priv.h"

#include "fabric/base/message/plain.h"
#include "views/data/exclude.h"
#include "views/data/pin_hosts.h"
#include "views/data/state/key_hint.h"
#include "views/switches/switches.h"
#include "views/table/noted.h"
#include "views/table/tagged.h"

#include <stdio.h>
#include <string.h>

/* The table of a view with the cursor on that row, whatever was filtered. */
static void shell_rows_reveal(struct shell *shell, const struct state *s, uint64_t key,
			      const char *what)
{
	struct table_in in = shell_tables_in(shell, s);
	const struct table_ops *ops;
	struct table *t = shell_table(shell, &ops);

	if (t && !table_reveal(t, ops, &in, key))
		context_say(&shell->ctx, "this %s is not among those that are shown", what);
}

void shell_rows_go_to_port(struct shell *shell, const struct state *s, uint32_t sw, uint8_t port)
{
	if (!switches_go_to(shell->own[VIEW_SWITCHES], &shell->ctx, s, sw, port))
		context_say(&shell->ctx, "this port is not among those that are shown");
}

void shell_rows_go_to(struct shell *shell, const struct state *s, enum view_id view,
		      enum row_kind kind, uint32_t row)
{
	struct rows rows = { kind, s, &shell->ctx.summary };

	context_goto(&shell->ctx, view);
	shell_rows_reveal(shell, s, table_key(&rows, row), kind == ROWS_JOBS ? "job" : "link");
}

bool shell_rows_copy(struct shell *shell, const struct state *s, struct request *out)
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

static void shell_rows_exclude_at(struct shell *shell, const struct state *s, enum row_kind kind,
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

void shell_rows_exclude(struct shell *shell, const struct state *s, const char *text)
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
		shell_rows_exclude_at(shell, s, ops->kind, table_cursor(t));
	} else if (shell->ctx.view == VIEW_SWITCHES && shell->ctx.sw < s->fabric->nsw) {
		exclude_switch(&shell->ctx, s, shell->ctx.sw);
	} else {
		context_say(&shell->ctx,
			    "exclude SWITCH or SWITCH/PORT (a cable); none: clear the list");
	}
}

void shell_rows_pin(struct shell *shell, const struct state *s, const char *text)
{
	const struct table_ops *ops;
	const struct table *t = shell_table(shell, &ops);

	if (text[0])
		pin_hosts_named(&shell->ctx, s, text);
	else if (!s->fabric)
		context_say(&shell->ctx, "no fabric yet");
	else if (!t || !tagged_pin(t, ops->kind, &shell->ctx, s))
		context_say(&shell->ctx,
			    "pin HOST or job:1234, or tag rows of views 4 and 5; none: clear");
}

const struct row_note *shell_rows_note_here(struct shell *shell, const struct state *s)
{
	const struct table_in in = shell_tables_in(shell, s);
	const struct table_ops *ops;
	const struct table *t;

	if (!s->row_notes || !s->row_notes->list.n)
		return NULL;
	t = shell_table_of(shell, s, &ops);
	return noted_here(t, ops, &in);
}

void shell_rows_note(struct shell *shell, const struct state *s, const char *text,
		     struct request *out)
{
	const struct table_in in = shell_tables_in(shell, s);
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

void shell_rows_note_open(struct shell *shell, const struct state *s)
{
	const struct row_note *note = shell_rows_note_here(shell, s);
	char line[PROMPT_LEN];

	snprintf(line, sizeof(line), "note %s", note ? note->text : "");
	prompt_open(&shell->prompt, PROMPT_COMMAND, line);
}

bool shell_rows_compare(struct shell *shell, const struct state *s)
{
	const struct table_in in = shell_tables_in(shell, s);
	const struct table_ops *ops;
	const struct table *t = shell_table_of(shell, s, &ops);

	if (t && !beside_open(&shell->beside, t, ops, &in))
		context_say(&shell->ctx, "two rows have to be tagged, and shown: %s tags one",
			    key_hint("tag"));
	return t != NULL;
}

void shell_rows_go_to_event(struct shell *shell, const struct state *s, struct request *out)
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
