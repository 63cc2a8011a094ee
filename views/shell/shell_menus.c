/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/shell/shell_priv.h"

bool shell_menu(const struct shell *shell)
{
	return shell->columns.menu.open || shell->settings.menu.open || shell->sort.menu.open ||
	       shell->beside.menu.open;
}

bool shell_menus_open(struct shell *shell, const struct input *in, const struct state *s)
{
	const struct table_ops *ops;
	struct table *t = shell_table(shell, &ops);

	if (in->req == REQ_SETTINGS) {
		settings_menu_open(&shell->settings, s);
		return true;
	}
	if (in->req == REQ_SEARCH) {
		shell_words_open(shell, s, in->text ? in->text : "");
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

bool shell_menus_choose_sort(struct shell *shell, const struct input *in)
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

bool shell_menus_choose_columns(struct shell *shell, const struct input *in)
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

static void shell_menus_draw_keys(struct canvas *c, const char *const *keys)
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
static const char *const *shell_menus_keys(const struct shell *shell)
{
	static const char *const column_keys[] = { "Space", "show/hide", "Left Right",
						   "move",  "r",	 "defaults",
						   "Esc",   "close",	 NULL };
	static const char *const setting_keys[] = { "Enter", "change", "w", "save to file",
						    "Esc",   "close",  NULL };
	static const char *const beside_keys[] = { "Arrows", "move", "Esc", "close", NULL };

	if (shell->settings.menu.open)
		return setting_keys;
	if (shell->columns.menu.open)
		return column_keys;
	return shell->beside.menu.open ? beside_keys : NULL;
}

void shell_menus_draw(struct shell *shell, struct canvas *c, const struct state *s)
{
	const struct table_ops *ops;
	struct table *t = shell_table(shell, &ops);
	bool same = t && ops->kind == shell->columns.kind;
	const struct table_in in = shell_tables_in(shell, s);

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
	if (shell_menus_keys(shell) && !shell->ctx.note[0])
		shell_menus_draw_keys(c, shell_menus_keys(shell));
}
