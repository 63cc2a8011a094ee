/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/saved/saved_view.h"

#include "views/heatmap/heat_window.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum row_kind saved_view_rows(enum view_id view)
{
	static const struct {
		enum view_id view;
		enum row_kind rows;
	} of[] = { { VIEW_LINKS, ROWS_LINKS },	  { VIEW_SWITCHES, ROWS_SWITCHES },
		   { VIEW_JOBS, ROWS_JOBS },	  { VIEW_EVENTS, ROWS_EVENTS },
		   { VIEW_AUDIT, ROWS_SESSIONS }, { VIEW_WEAK, ROWS_FAILURES },
		   { VIEW_CAMPAIGN, ROWS_CELLS } };

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (of[i].view == view)
			return of[i].rows;
	return ROW_KINDS;
}

/* --- is it one? ------------------------------------------------------------------------------ */

int saved_view_name_check(const char *name, struct err *err)
{
	size_t n = strlen(name);

	if (!n || n >= SAVED_NAME)
		return err_set(err, -EINVAL, "a name of a view has 1 to %d bytes", SAVED_NAME - 1);
	for (size_t i = 0; i < n; i++)
		if (name[i] <= ' ' || name[i] > '~' || strchr("[]#;=", name[i]))
			return err_set(err, -EINVAL,
				       "a name of a view has no blanks and none of [ ] # ; =");
	return 0;
}

/* The same text as it would be typed: no control characters. */
static int saved_view_plain(const char *text, const char *what, struct err *err)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return err_set(err, -EINVAL, "%s: has a control character", what);
	return 0;
}

static int saved_view_check_columns(const char *columns, enum row_kind kind, struct err *err)
{
	for (const char *p = columns; *p; p += strspn(p, ", ")) {
		size_t n = strcspn(p, ", ");

		if (n && !field_find(kind, p, n))
			return err_set(err, -EINVAL, "columns: %s have no column '%.*s'",
				       row_kind_name(kind), n < 40 ? (int)n : 40, p);
		p += n;
	}
	return 0;
}

static int saved_view_check_sort(const char *sort, enum row_kind kind, struct err *err)
{
	sort += sort[0] == '-';
	if (!sort[0] || field_find(kind, sort, strlen(sort)))
		return 0;
	return err_set(err, -EINVAL, "sort: %s have no column '%.40s'", row_kind_name(kind), sort);
}

static int saved_view_check_filter(const char *filter, enum row_kind kind, struct err *err)
{
	struct row_filter *f;
	struct err why;
	int rc = row_filter_new(&f, kind, filter, NULL, &why);

	if (rc)
		return err_set(err, rc, "filter: %s", why.text);
	row_filter_free(f);
	return 0;
}

static int saved_view_check_choice(const struct saved_view *v, struct err *err)
{
	const struct view_choice *c = &v->choice;

	if (v->view != VIEW_HEATMAP && (c->layout[0] || c->metric[0]))
		return err_set(err, -EINVAL, "layout and metric are those of the heatmap");
	if (c->metric[0] && heat_metric_named(c->metric) == HEAT_NO_CHOICE)
		return err_set(err, -EINVAL, "metric: there is no '%.40s'", c->metric);
	return saved_view_plain(c->layout, "layout", err);
}

int saved_view_check(const struct saved_view *v, struct err *err)
{
	enum row_kind kind = saved_view_rows(v->view);
	int rc = saved_view_name_check(v->name, err);

	if (!rc)
		rc = saved_view_plain(v->filter, "filter", err);
	if (!rc)
		rc = saved_view_check_choice(v, err);
	if (rc)
		return rc;
	if (kind == ROW_KINDS) {
		if (v->filter[0] || v->columns[0] || v->sort[0] || v->problems)
			return err_set(err, -EINVAL,
				       "this view has no table: no filter, columns, "
				       "sort or problems");
		return 0;
	}
	rc = saved_view_check_columns(v->columns, kind, err);
	if (!rc)
		rc = saved_view_check_sort(v->sort, kind, err);
	return rc ? rc : saved_view_check_filter(v->filter, kind, err);
}

/* --- all of them ----------------------------------------------------------------------------- */

const struct saved_view *saved_views_find(const struct saved_views *all, const char *name)
{
	for (uint32_t i = 0; all && i < all->n; i++)
		if (!strcasecmp(all->view[i].name, name))
			return &all->view[i];
	return NULL;
}

int saved_views_put(struct saved_views *all, const struct saved_view *v, struct err *err)
{
	uint32_t at = 0;

	saved_views_remove(all, v->name);
	if (all->n == SAVED_MAX)
		return err_set(err, -ENOSPC, "no more than %d views can be saved", SAVED_MAX);
	while (at < all->n && strcasecmp(all->view[at].name, v->name) < 0)
		at++;
	memmove(all->view + at + 1, all->view + at, (all->n - at) * sizeof(*v));
	all->view[at] = *v;
	all->n++;
	return 0;
}

void saved_views_remove(struct saved_views *all, const char *name)
{
	const struct saved_view *v = saved_views_find(all, name);
	uint32_t at;

	if (!v)
		return;
	at = (uint32_t)(v - all->view);
	all->n--;
	memmove(all->view + at, all->view + at + 1, (all->n - at) * sizeof(*v));
}

const char *saved_view_text(char *buf, size_t len, const struct saved_view *v)
{
	enum row_kind kind = saved_view_rows(v->view);
	size_t n;

	if (v->choice.layout[0] || v->choice.metric[0]) {
		snprintf(buf, len, "heatmap: %s%s%s", v->choice.metric,
			 v->choice.metric[0] && v->choice.layout[0] ? ", " : "", v->choice.layout);
		return buf;
	}
	snprintf(buf, len, "%s%s%s", kind == ROW_KINDS ? "" : row_kind_name(kind),
		 v->filter[0] ? ": " : "", v->filter);
	n = strlen(buf);
	if (v->sort[0] && n < len)
		snprintf(buf + n, len - n, ", by %s", v->sort);
	n = strlen(buf);
	if (v->problems && n < len)
		snprintf(buf + n, len - n, ", with problems only");
	return buf;
}

/* --- a table --------------------------------------------------------------------------------- */

void saved_view_take(struct saved_view *out, enum view_id view, const struct table *t)
{
	out->view = view;
	if (!t)
		return;
	snprintf(out->filter, sizeof(out->filter), "%s", t->filter_text);
	snprintf(out->columns, sizeof(out->columns), "%s", t->columns);
	out->problems = t->problems;
	if (t->sort && (t->sort_chosen || t->reverse))
		snprintf(out->sort, sizeof(out->sort), "%s%s", t->reverse ? "-" : "",
			 t->sort->name);
}

void saved_view_show(const struct saved_view *v, struct table *t, const struct table_ops *ops)
{
	bool reverse = v->sort[0] == '-';
	const char *name = v->sort + reverse;

	table_filter(t, v->filter, ops);
	table_columns(t, v->columns, ops);
	if (name[0])
		table_sort(t, field_find(ops->kind, name, strlen(name)));
	t->sort_chosen = name[0] != '\0';
	t->reverse = reverse;
	t->problems = v->problems;
	t->tagged_only = false;
	t->find[0] = '\0';
	t->stale = true;
}
