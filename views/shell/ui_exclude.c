/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the next preview routes around, chosen where one looks at it: X, and ":exclude". */
#include "views/shell/shell_priv.h"

#include "fabric/format/native/limits_text.h"
#include "views/preview/preview_form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void shell_say_excluded(struct shell *shell, const struct preview_form *form)
{
	if (form->o.exclude[0])
		shell_say(shell, "the next preview (6) routes around %s", form->o.exclude);
	else
		shell_say(shell, "the next preview (6) routes around nothing");
}

/* Puts what a text names into the options of previews, or takes it out where it is there already
 * and toggle is said. */
static void shell_choose(struct shell *shell, const struct state *s, const char *text, bool toggle)
{
	struct preview_form *form = preview_form_of(shell->own[VIEW_PREVIEW]);
	struct err err;

	if (!s->fabric)
		shell_say(shell, "the fabric is not known yet");
	else if (preview_form_exclude(form, s, text, toggle, &err))
		shell_say(shell, "%s", err.text);
	else
		shell_say_excluded(shell, form);
}

static void shell_choose_flag(struct shell *shell, const struct state *s, uint32_t sw,
			      uint32_t chan)
{
	struct route_limits *l = route_limits_new(s->fabric);
	char *text;

	route_limits_add(l, s->fabric, sw, chan);
	text = route_limits_exclude_text(l, s->fabric);
	shell_choose(shell, s, text, true);
	free(text);
	route_limits_free(l);
}

void shell_exclude_switch(struct shell *shell, const struct state *s, uint32_t sw)
{
	shell_choose_flag(shell, s, sw, FAB_NONE);
}

void shell_exclude_cable(struct shell *shell, const struct state *s, uint32_t chan)
{
	shell_choose_flag(shell, s, FAB_NONE, chan);
}

static void shell_row(struct shell *shell, const struct state *s, enum row_kind kind, uint32_t i)
{
	if (kind == ROWS_LINKS)
		shell_exclude_cable(shell, s, i);
	else if (kind == ROWS_SWITCHES)
		shell_exclude_switch(shell, s, i);
	else if (kind == ROWS_PORTS && s->fabric->port[i].chan != FAB_NONE)
		shell_exclude_cable(shell, s, s->fabric->port[i].chan);
	else
		shell_say(shell, "only switches and cables between switches can be excluded");
}

void shell_exclude(struct shell *shell, const struct state *s, const char *text)
{
	const struct table_ops *ops;
	struct table *t = shell_table(shell, &ops);

	if (!strcasecmp(text, "none")) {
		preview_form_of(shell->own[VIEW_PREVIEW])->o.exclude[0] = '\0';
		shell_say_excluded(shell, preview_form_of(shell->own[VIEW_PREVIEW]));
	} else if (text[0]) {
		shell_choose(shell, s, text, false);
	} else if (!s->fabric) {
		shell_say(shell, "the fabric is not known yet");
	} else if (t && table_cursor(t) != FAB_NONE) {
		shell_row(shell, s, ops->kind, table_cursor(t));
	} else if (shell->view == VIEW_SWITCHES && shell->sw < s->fabric->nsw) {
		shell_exclude_switch(shell, s, shell->sw);
	} else {
		shell_say(shell,
			  "exclude THING: a switch, or a cable as SWITCH/PORT; none: nothing");
	}
}
