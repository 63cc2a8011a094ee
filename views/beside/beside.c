/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/beside/beside.h"

#include "fabric/base/memory/mem.h"
#include "views/data/context.h"
#include "views/table/tagged.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES  18 /* columns of the fields' names */
#define LEAST  14 /* and at least of a row */
#define WIDEST 34

void beside_done(struct beside *m)
{
	free(m->field);
	memset(m, 0, sizeof(*m));
}

static uint32_t beside_row(const struct beside *m, const struct table *t, uint32_t i)
{
	for (uint32_t row = 0; row < t->keys_n; row++)
		if (t->key[row] == m->key[i])
			return row;
	return FAB_NONE;
}

/* With its unit; "-" unknown. */
static const char *beside_text(char buf[VALUE_LEN], const struct field *f, const struct rows *r,
			       uint32_t row)
{
	char text[VALUE_LEN], rate[FIGURE_LEN];
	struct value v;

	snprintf(buf, VALUE_LEN, "-");
	if (row == FAB_NONE)
		return buf;
	field_get(&v, f, r, row);
	if (!value_known(&v, f))
		return buf;
	if (!strcmp(f->unit, "B/s"))
		snprintf(buf, VALUE_LEN, "%s GB/s", figure_rate(rate, v.num, false));
	else
		snprintf(buf, VALUE_LEN, "%.230s%s%.12s", value_text(text, &v, f),
			 f->unit[0] ? " " : "", f->unit);
	return buf;
}

static bool beside_known(const struct beside *m, const struct table *t, const struct rows *r,
			 const struct field *f)
{
	char text[VALUE_LEN];

	for (uint32_t i = 0; i < m->n; i++)
		if (strcmp(beside_text(text, f, r, beside_row(m, t, i)), "-") != 0)
			return true;
	return false;
}

bool beside_open(struct beside *m, const struct table *t, const struct table_ops *ops,
		 const struct table_in *in)
{
	const struct rows rows = { ops->kind, in->s, &in->ctx->summary };
	const struct field *all;
	size_t nfield;

	beside_done(m);
	for (uint32_t i = 0; i < t->nrow && m->n < BESIDE_MOST; i++)
		if (table_is_tagged(t, t->key[t->row[i]]))
			m->key[m->n++] = t->key[t->row[i]];
	if (m->n < 2)
		return false;
	m->kind = ops->kind;
	all = fields_of(ops->kind, &nfield);
	m->field = xcalloc(nfield + 1, sizeof(*m->field));
	for (size_t i = 0; i < nfield; i++)
		if (beside_known(m, t, &rows, &all[i]))
			m->field[m->menu.n++] = &all[i];
	m->menu.open = true;
	return true;
}

void beside_input(struct beside *m, const struct input *in)
{
	if (menu_move(&m->menu, in))
		return;
	if (in->req == REQ_LEFT && m->first)
		m->first--;
	if (in->req == REQ_RIGHT && m->first + m->shown < m->n)
		m->first++;
	if (in->req == REQ_CLICK)
		menu_click(&m->menu, in);
	else if (in->req == REQ_BACK || in->req == REQ_QUIT || in->req == REQ_ENTER ||
		 (in->req == REQ_CHAR && in->ch == 'c'))
		m->menu.open = false;
}

/* --- drawing --------------------------------------------------------------------------------- */

/* As many rows as there is room for; the last column is for the change of two. */
static uint32_t beside_columns(const struct beside *m, int w, int *each)
{
	uint32_t n = m->n, more = m->n == 2;

	while (n > 2 && (w - NAMES - 4) / (int)n < LEAST)
		n--;
	*each = (w - NAMES - 4) / (int)(n + more);
	if (*each > WIDEST)
		*each = WIDEST;
	return n;
}

/* Of all rows, also those beyond the edge. */
static bool beside_same(const struct beside *m, const struct table *t, const struct rows *r,
			const struct field *f)
{
	char first[VALUE_LEN], text[VALUE_LEN];

	beside_text(first, f, r, beside_row(m, t, 0));
	for (uint32_t i = 1; i < m->n; i++)
		if (strcmp(first, beside_text(text, f, r, beside_row(m, t, i))) != 0)
			return false;
	return true;
}

/* Its values can be subtracted: a figure, and no number of a port, a LID or a job. */
static bool beside_is_figure(const struct field *f)
{
	return f->kind != VALUE_TEXT && f->kind != VALUE_GUID && f->kind != VALUE_FLAG &&
	       strcmp(f->name, "id") != 0 && !strstr(f->name, "port") && !strstr(f->name, "lid");
}

/* Of two: the second less the first. */
static void beside_draw_change(const struct beside *m, const struct table *t, const struct rows *r,
			       struct canvas *c, int x, int y, const struct field *f)
{
	uint32_t a = beside_row(m, t, 0), b = beside_row(m, t, 1);
	struct value va, vb;
	double change;

	if (a == FAB_NONE || b == FAB_NONE || !beside_is_figure(f))
		return;
	field_get(&va, f, r, a);
	field_get(&vb, f, r, b);
	change = vb.num - va.num;
	if (!isfinite(change) || !(fabs(change) > 0))
		return;
	if (!strcmp(f->unit, "B/s"))
		canvas_textf(c, m->menu.at, x, y, ROLE_KEY, "%+.2f", change / 1e9);
	else
		canvas_textf(c, m->menu.at, x, y, ROLE_KEY, "%+.*f",
			     f->kind == VALUE_NUMBER ? 1 : 0, change);
}

static void beside_draw_line(const struct beside *m, const struct table *t, const struct rows *r,
			     struct canvas *c, int y, uint32_t line)
{
	const struct field *f = m->field[line];
	struct rect at = m->menu.at;
	char text[VALUE_LEN];
	int each;
	uint32_t n = beside_columns(m, at.w, &each);
	bool same = beside_same(m, t, r, f);

	canvas_name(c, at, 2, y, NAMES - 1, ROLE_LABEL, f->name);
	for (uint32_t i = 0; i < n; i++)
		canvas_name(c, at, 2 + NAMES + each * (int)i, y, each - 2,
			    same ? ROLE_DIM : ROLE_TEXT,
			    beside_text(text, f, r, beside_row(m, t, m->first + i)));
	if (m->n == 2 && !same)
		beside_draw_change(m, t, r, c, 2 + NAMES + 2 * each, y, f);
	if (line == m->menu.list.cursor)
		list_draw_cursor(c, at, y);
}

/* In the upper rule: whose column it is. */
static void beside_draw_names(const struct beside *m, const struct table *t, const struct rows *r,
			      struct canvas *c)
{
	struct rect at = { m->menu.at.x, m->menu.at.y - 1, m->menu.at.w, 1 };
	char name[VALUE_LEN] = "", shorter[VALUE_LEN];
	int each;
	uint32_t n = beside_columns(m, at.w, &each);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = beside_row(m, t, m->first + i);

		text_shorten(shorter, sizeof(shorter),
			     row == FAB_NONE ? "gone" : tagged_name(name, r, row), each - 3);
		canvas_textf(c, at, 1 + NAMES + each * (int)i, 0, ROLE_KEY, " %s ", shorter);
	}
	if (m->n == 2)
		canvas_text(c, at, 1 + NAMES + 2 * each, 0, ROLE_RULE, " change ");
}

void beside_draw(struct beside *m, const struct table *t, const struct table_in *in,
		 struct canvas *c)
{
	const struct rows rows = { m->kind, in->s, &in->ctx->summary };
	char title[40] = "Tagged";
	int each;

	m->shown = beside_columns(m, c->w, &each);
	if (m->first + m->shown > m->n)
		m->first = m->n - m->shown;
	if (m->shown < m->n)
		snprintf(title, sizeof(title), "Tagged %u-%u/%u", m->first + 1, m->first + m->shown,
			 m->n);
	menu_frame(&m->menu, c, (struct rect){ 0, 2, c->w, c->h - 4 }, c->w, title);
	beside_draw_names(m, t, &rows, c);
	for (uint32_t y = 0; y < menu_seen(&m->menu); y++)
		beside_draw_line(m, t, &rows, c, (int)y, m->menu.list.top + y);
	if (m->menu.list.cursor < m->menu.n)
		menu_about(&m->menu, c, m->field[m->menu.list.cursor]->about);
}
