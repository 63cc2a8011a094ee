/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Menus over the view: what to sort by, columns, settings; and what of that a file may hold. */
#include "views/shell/shell_priv.h"

#include <stdio.h>
#include <string.h>

bool shell_menu(const struct shell *shell)
{
	return shell->columns.menu.open || shell->settings.menu.open;
}

bool shell_menu_open(struct shell *shell, const struct input *in, const struct state *s)
{
	const struct table_ops *ops;
	struct table *t = shell_table(shell, &ops);

	if (in->req == REQ_SETTINGS) {
		settings_menu_open(&shell->settings, s);
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

/* --- keys ------------------------------------------------------------------------------------- */

static bool shell_choose_sort(struct shell *shell, const struct input *in)
{
	const struct table_ops *ops;
	struct table *t = shell_table(shell, &ops);
	const struct field *sort;

	if (!shell->sort.menu.open || !t || ops->kind != shell->sort.kind || in->refused_ro)
		return false;
	if (!sort_menu_input(&shell->sort, &sort, in))
		return false;
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
		shell_say(shell, "%s", say);
	return true;
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

bool shell_menu_input(struct shell *shell, const struct input *in, const struct state *s,
		      struct request *out)
{
	if (in->req == REQ_REDRAW || in->req == REQ_SUSPEND)
		return false;
	if (shell->settings.menu.open) {
		shell_change_setting(shell, in, s, out);
		return true;
	}
	return shell_choose_sort(shell, in) || shell_choose_columns(shell, in);
}

/* --- drawing ---------------------------------------------------------------------------------- */

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

void shell_menu_draw(struct shell *shell, struct canvas *c, const struct state *s)
{
	static const char *const column_keys[] = {
		"Space", "show or not", "Left Right", "earlier, later", "r", "as usual",
		"Esc",	 "leave",	NULL
	};
	static const char *const setting_keys[] = { "Enter", "change", "w", "keep in the file",
						    "Esc",   "leave",  NULL };
	const struct table_ops *ops;
	struct table *t = shell_table(shell, &ops);
	bool same = t && ops->kind == shell->columns.kind;

	if (shell->sort.menu.open && t && ops->kind == shell->sort.kind)
		sort_menu_draw(&shell->sort, t, c);
	else
		shell->sort.menu.open = false;
	shell->columns.menu.open = shell->columns.menu.open && same;
	if (shell->columns.menu.open)
		column_menu_draw(&shell->columns, t, c);
	if (shell->settings.menu.open)
		settings_menu_draw(&shell->settings, s, c, (struct rect){ 0, 2, c->w, c->h - 4 });
	if (shell_menu(shell) && !shell->note[0])
		shell_draw_keys(c, shell->settings.menu.open ? setting_keys : column_keys);
}

/* --- what a file may hold --------------------------------------------------------------------- */

/* The view's own table, not one that is deeper in it. */
static struct table *shell_table_of(const struct shell *shell, enum view_id view,
				    const struct table_ops **ops)
{
	static const struct {
		enum view_id view;
		enum row_kind kind;
	} tables[] = { { VIEW_LINKS, ROWS_LINKS },
		       { VIEW_SWITCHES, ROWS_SWITCHES },
		       { VIEW_JOBS, ROWS_JOBS } };

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct table *t;

		if (tables[i].view != view)
			continue;
		t = view_find(view)->table(shell->own[view], ops);
		return t && (*ops)->kind == tables[i].kind ? t : NULL;
	}
	return NULL;
}

bool shell_columns_set(struct shell *shell, enum view_id view, const char *columns)
{
	const struct table_ops *ops;
	struct table *t = shell_table_of(shell, view, &ops);

	return t && table_columns(t, columns, ops);
}

bool shell_sort_set(struct shell *shell, enum view_id view, const char *sort)
{
	const struct table_ops *ops;
	struct table *t = shell_table_of(shell, view, &ops);
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
	const struct table *t = shell_table_of(shell, view, &ops);

	snprintf(buf, len, "%s", t ? t->columns : "");
	return t != NULL;
}

bool shell_sort(const struct shell *shell, enum view_id view, char *buf, size_t len)
{
	const struct table_ops *ops;
	const struct table *t = shell_table_of(shell, view, &ops);

	buf[0] = '\0';
	if (t && t->sort && (t->sort_chosen || t->reverse))
		snprintf(buf, len, "%s%s", t->reverse ? "-" : "", t->sort->name);
	return t != NULL;
}
