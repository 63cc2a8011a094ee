/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/shell/shell_priv.h"

#include "views/shell/registry.h"

#include <stdio.h>
#include <string.h>

const struct view *shell_tables_view(const struct shell *shell)
{
	return view_find(shell->ctx.view);
}

void *shell_tables_own(const struct shell *shell)
{
	return shell->own[shell->ctx.view];
}

struct table *shell_table(struct shell *shell, const struct table_ops **ops)
{
	const struct view *v = shell_tables_view(shell);

	*ops = NULL;
	return v->table ? v->table(shell_tables_own(shell), ops) : NULL;
}

struct table_in shell_tables_in(struct shell *shell, const struct state *s)
{
	return (struct table_in){ shell_tables_own(shell), &shell->ctx, s };
}

struct table *shell_table_of(struct shell *shell, const struct state *s,
			     const struct table_ops **ops)
{
	struct table_in in = shell_tables_in(shell, s);
	struct table *t = shell_table(shell, ops);

	if (!t)
		return NULL;
	context_update(&shell->ctx, s);
	table_follow(t, *ops, &in);
	return t;
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
static struct table *shell_tables_of_view(const struct shell *shell, enum view_id view,
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

void shell_tables_follow(struct shell *shell, const struct state *s)
{
	for (size_t i = 0; i < OWN_TABLES; i++) {
		const struct table_ops *ops;
		const struct table *t = shell_tables_of_view(shell, own_tables[i].view, &ops);

		if (t)
			tags_take(&shell->ctx.tags, own_tables[i].tags, t->tag, t->ntag);
	}
	context_update(&shell->ctx, s);
}

bool shell_columns_set(struct shell *shell, enum view_id view, const char *columns)
{
	const struct table_ops *ops;
	struct table *t = shell_tables_of_view(shell, view, &ops);

	return t && table_columns(t, columns, ops);
}

bool shell_sort_set(struct shell *shell, enum view_id view, const char *sort)
{
	const struct table_ops *ops;
	struct table *t = shell_tables_of_view(shell, view, &ops);
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
	const struct table *t = shell_tables_of_view(shell, view, &ops);

	snprintf(buf, len, "%s", t ? t->columns : "");
	return t != NULL;
}

bool shell_sort(const struct shell *shell, enum view_id view, char *buf, size_t len)
{
	const struct table_ops *ops;
	const struct table *t = shell_tables_of_view(shell, view, &ops);

	buf[0] = '\0';
	if (t && t->sort && (t->sort_chosen || t->reverse))
		snprintf(buf, len, "%s%s", t->reverse ? "-" : "", t->sort->name);
	return t != NULL;
}
