/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * saved_view: a view with the filter, columns and order of its table, or the layout and metric of
 * the heatmap, under a name: :view save NAME, :view NAME.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "views/data/state/request.h"
#include "views/table/table.h"
#include "views/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAVED_NAME 32
#define SAVED_MAX  64

struct saved_view {
	char name[SAVED_NAME];
	enum view_id view;
	/* of its table; "" none, or the usual ones */
	char filter[128];
	char columns[160];
	char sort[64];		   /* "util_pct"; with a - before it: reversed */
	bool problems;		   /* only rows with a problem */
	struct view_choice choice; /* of the heatmap */
};

struct saved_views {
	struct saved_view view[SAVED_MAX]; /* by name */
	uint32_t n;
};

/* Rows of a view's own table; ROW_KINDS: it has none. */
enum row_kind saved_view_rows(enum view_id view);
/* -EINVAL: letters, digits and signs, no blanks, [ ] or #, not too long. */
int saved_view_name_check(const char *name, struct err *err);
/* -EINVAL: a column that the rows do not have, a filter that does not compile, or one of these for
 * a view that has no table.  Its name, too. */
int saved_view_check(const struct saved_view *v, struct err *err);
/* NULL: no such. */
const struct saved_view *saved_views_find(const struct saved_views *all, const char *name);
/* In the place of one of that name, or added in order; -ENOSPC. */
int saved_views_put(struct saved_views *all, const struct saved_view *v, struct err *err);
void saved_views_remove(struct saved_views *all, const char *name);
/* "links: util>80, by util_pct"; returns buf. */
const char *saved_view_text(char *buf, size_t len, const struct saved_view *v);

/* What the table, which may be NULL, is like now. */
void saved_view_take(struct saved_view *out, enum view_id view, const struct table *t);
/* Makes the table so. */
void saved_view_show(const struct saved_view *v, struct table *t, const struct table_ops *ops);
