/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the next preview routes around, chosen where one looks at it: X, and ":exclude". */
#include "views/shell/shell_priv.h"

#include "fabric/format/native/limits_text.h"
#include "views/preview/preview_form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void shell_say(struct ui *ui, const struct preview_form *form)
{
	if (form->o.exclude[0])
		ui_say(ui, "the next preview (6) routes around %s", form->o.exclude);
	else
		ui_say(ui, "the next preview (6) routes around nothing");
}

/* Puts what a text names into the options of previews, or takes it out where it is there already
 * and toggle is said. */
static void shell_choose(struct ui *ui, const struct state *s, const char *text, bool toggle)
{
	struct preview_form *form = preview_form_of(ui->own[VIEW_PREVIEW]);
	struct err err;

	if (!s->fabric)
		ui_say(ui, "the fabric is not known yet");
	else if (preview_form_exclude(form, s, text, toggle, &err))
		ui_say(ui, "%s", err.text);
	else
		shell_say(ui, form);
}

static void shell_choose_flag(struct ui *ui, const struct state *s, uint32_t sw, uint32_t chan)
{
	struct route_limits *l = route_limits_new(s->fabric);
	char *text;

	route_limits_add(l, s->fabric, sw, chan);
	text = route_limits_exclude_text(l, s->fabric);
	shell_choose(ui, s, text, true);
	free(text);
	route_limits_free(l);
}

void ui_exclude_switch(struct ui *ui, const struct state *s, uint32_t sw)
{
	shell_choose_flag(ui, s, sw, FAB_NONE);
}

void ui_exclude_cable(struct ui *ui, const struct state *s, uint32_t chan)
{
	shell_choose_flag(ui, s, FAB_NONE, chan);
}

static void shell_row(struct ui *ui, const struct state *s, enum row_kind kind, uint32_t i)
{
	if (kind == ROWS_LINKS)
		ui_exclude_cable(ui, s, i);
	else if (kind == ROWS_SWITCHES)
		ui_exclude_switch(ui, s, i);
	else if (kind == ROWS_PORTS && s->fabric->port[i].chan != FAB_NONE)
		ui_exclude_cable(ui, s, s->fabric->port[i].chan);
	else
		ui_say(ui, "only switches and cables between switches can be excluded");
}

void ui_exclude(struct ui *ui, const struct state *s, const char *text)
{
	const struct table_ops *ops;
	struct table *t = ui_table(ui, &ops);

	if (!strcasecmp(text, "none")) {
		preview_form_of(ui->own[VIEW_PREVIEW])->o.exclude[0] = '\0';
		shell_say(ui, preview_form_of(ui->own[VIEW_PREVIEW]));
	} else if (text[0]) {
		shell_choose(ui, s, text, false);
	} else if (!s->fabric) {
		ui_say(ui, "the fabric is not known yet");
	} else if (t && table_cursor(t) != FAB_NONE) {
		shell_row(ui, s, ops->kind, table_cursor(t));
	} else if (ui->view == VIEW_SWITCHES && ui->sw < s->fabric->nsw) {
		ui_exclude_switch(ui, s, ui->sw);
	} else {
		ui_say(ui, "exclude THING: a switch, or a cable as SWITCH/PORT; none: nothing");
	}
}
