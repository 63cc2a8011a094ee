/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/shell/shell_priv.h"

struct prompt_context shell_prompt_context(struct shell *shell, const struct state *s)
{
	const struct table_ops *ops;
	struct table *t = shell_table(shell, &ops);

	return (struct prompt_context){ .s = s,
					.kind = t ? ops->kind : ROW_KINDS,
					.view = shell_tables_view(shell),
					.own = shell_tables_own(shell) };
}

bool shell_prompt_open(struct shell *shell, const struct input *in, const struct state *s)
{
	struct prompt_context ctx = shell_prompt_context(shell, s);
	const struct table_ops *ops;
	struct table *t = shell_table(shell, &ops);

	if (shell_menus_open(shell, in, s))
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

void shell_prompt_typed(struct shell *shell, enum prompt_kind kind, const char *text,
			const struct state *s)
{
	const struct table_ops *ops;
	struct table *t = shell_table(shell, &ops);
	struct table_in in = shell_tables_in(shell, s);

	if (t && kind == PROMPT_FILTER)
		table_filter(t, text, ops);
	else if (t && kind == PROMPT_FIND)
		table_find(t, text, ops, &in);
}

void shell_prompt_filter(struct shell *shell, const char *text, const struct state *s)
{
	const struct table_ops *ops;
	const struct table *t = shell_table(shell, &ops);

	shell_prompt_typed(shell, PROMPT_FILTER, text, s);
	if (t && t->filter.why[0])
		context_say(&shell->ctx, "filter: %s", t->filter.why);
}
