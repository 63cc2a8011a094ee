/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of links between switches, one row per direction.
 *
 * Rows are sorted when something new arrives, and not while the cursor has just moved: a
 * row that runs away under the cursor helps nobody.
 */
#include "views/chan_detail.h"
#include "views/row_filter.h"
#include "views/list.h"
#include "views/view.h"

#include "fabric/base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum column { COL_UTIL, COL_WAIT, COL_EFI, COL_EFF, COL_ERRORS, COL_NAME, COLUMNS };

/* as views/fields.h has them; NULL: by name */
static const char *const sort_field[] = { "util_pct", "wait_pct",	"efi",
					  "eff_efi",  "errors_per_min", NULL };
static const char *const column_names[] = { "util", "wait", "EFI", "job EFI", "errors", "name" };

#define HOLD_S 5

/* What the rows were made from. */
struct made_from {
	const struct fabric *fabric;
	const struct rates *rates;
	const struct metrics *metrics;
	double efi_mean, eff_mean;
	enum column sort;
	bool reverse, problems;
	const struct row_filter *filter;
};

struct links_ui {
	struct list list;
	struct entry filter;
	struct typed_filter parsed;
	enum column sort;
	bool sort_chosen, reverse, problems;
	struct row_order order;
	struct made_from made;
	const struct fabric *fabric; /* own references */
	const struct rates *rates;
	int64_t moved_s; /* when the cursor moved last */
	bool moved;
	bool held; /* the order is older than the figures */
	uint32_t told;
	struct chan_detail detail;
};

static void links_done(void *own)
{
	struct links_ui *u = own;

	row_order_done(&u->order);
	typed_filter_done(&u->parsed);
	fabric_put(u->fabric);
	rates_put(u->rates);
	chan_detail_done(&u->detail);
}

static void values_of(double value[COL_NAME], const struct state *s, uint32_t chan)
{
	const struct port_rate *p = state_rate(s, chan_fabric_port(s->fabric, chan));
	const struct metrics *m = state_metrics(s);

	value[COL_UTIL] = p ? p->util_pct : NAN;
	value[COL_WAIT] = p ? p->wait_pct : NAN;
	value[COL_ERRORS] = p ? p->errors_per_min : NAN;
	value[COL_EFI] = m ? (double)m->efi[chan] : NAN;
	value[COL_EFF] = m && m->njob ? (double)m->eff_efi[chan] : NAN;
}

static void take_fabric(struct links_ui *u, const struct fabric *f)
{
	fabric_put(u->fabric);
	u->fabric = fabric_get(f);
	u->list = (struct list){ 0 };
	u->moved = false;
	u->told = FAB_NONE;
}

static const struct field *sorted_by(const struct links_ui *u)
{
	const char *name = sort_field[u->sort];

	return name ? field_find(ROWS_LINKS, name, strlen(name)) : NULL;
}

static void make_rows(struct links_ui *u, const struct ui *ui, const struct state *s)
{
	const struct survey *v = ui_survey(ui);
	const struct rows rows = { ROWS_LINKS, s, v };
	struct row_order *o = &u->order;
	uint32_t n = 0;

	rows_select(o, &rows, u->parsed.filter, sorted_by(u), u->reverse);
	for (uint32_t i = 0; i < o->n; i++)
		if (!u->problems || v->problem[chan_fabric_port(s->fabric, o->row[i])])
			o->row[n++] = o->row[i];
	o->n = n;
}

static void made_now(struct made_from *m, const struct links_ui *u, const struct state *s)
{
	const struct metrics *metrics = state_metrics(s);

	memset(m, 0, sizeof(*m));
	m->fabric = s->fabric;
	m->rates = s->rates;
	m->metrics = metrics;
	m->efi_mean = metrics ? metrics->efi_mean : 0;
	m->eff_mean = metrics ? metrics->eff_efi_mean : 0;
	m->sort = u->sort;
	m->reverse = u->reverse;
	m->problems = u->problems;
	m->filter = u->parsed.filter;
}

/* Only the data are new, not what was asked for. */
static bool only_data(const struct made_from *a, const struct made_from *b)
{
	return a->fabric == b->fabric && a->sort == b->sort && a->reverse == b->reverse &&
	       a->problems == b->problems && a->filter == b->filter;
}

static void keep_cursor(struct links_ui *u, uint32_t chan)
{
	for (uint32_t i = 0; chan != FAB_NONE && i < u->order.n; i++)
		if (u->order.row[i] == chan) {
			u->list.cursor = i;
			return;
		}
}

static uint32_t cursor_chan(const struct links_ui *u)
{
	return u->list.cursor < u->order.n ? u->order.row[u->list.cursor] : FAB_NONE;
}

static void follow(struct links_ui *u, const struct ui *ui, const struct state *s)
{
	struct made_from now;
	uint32_t chan;

	if (u->fabric != s->fabric)
		take_fabric(u, s->fabric);
	if (!u->sort_chosen)
		u->sort = s->rates ? COL_UTIL : state_metrics(s) ? COL_EFI : COL_NAME;
	if (typed_filter_set(&u->parsed, ROWS_LINKS, u->filter.text))
		u->made.fabric = NULL; /* another filter may be where the old one was */
	made_now(&now, u, s);
	chan = u->moved ? cursor_chan(u) : FAB_NONE;
	u->held = false;
	if (memcmp(&now, &u->made, sizeof(now)) != 0) {
		u->held = u->moved && only_data(&now, &u->made) && s->now_s - u->moved_s < HOLD_S;
		if (!u->held) {
			make_rows(u, ui, s);
			u->made = now;
			rates_put(u->rates);
			u->rates = s->rates ? rates_get(s->rates) : NULL;
			keep_cursor(u, chan);
		}
	}
	chan = ui_selected_chan(ui);
	if (chan == FAB_NONE || chan == u->told)
		return;
	u->told = chan;
	u->moved = true;
	keep_cursor(u, chan);
}

struct links_layout {
	int name, name_w, spark, spark_w, end;
};

static struct links_layout layout(struct rect r)
{
	struct links_layout l = { .name = 37 };

	if (r.w > 37 + 62 + HISTORY_LEN)
		r.w = 37 + 62 + HISTORY_LEN;
	l.end = r.w - 1;
	l.spark_w = r.w >= 160 ? HISTORY_LEN : r.w >= 100 ? 24 : 0;
	l.spark = r.w - l.spark_w - 1;
	l.name_w = l.spark - l.name - (l.spark_w ? 2 : 0);
	return l;
}

static void draw_head(const struct links_ui *u, struct canvas *c, struct rect r,
		      const struct links_layout *l)
{
	static const int at[] = { 3, 10, 17, 24, 32, 37 };
	static const char *const text[] = { " util", " wait", "  EFI", "job EFI", " err", "link" };

	for (int i = 0; i < COLUMNS; i++)
		canvas_text(c, r, at[i], 1, (int)u->sort == i ? ROLE_KEY : ROLE_LABEL, text[i]);
	if (l->spark_w)
		canvas_right(c, r, l->end, 1, ROLE_LABEL, "history, newest right");
}

static void draw_row(const struct ui *ui, struct canvas *c, struct rect r, int y,
		     const struct state *s, uint32_t chan, const struct links_layout *l)
{
	enum problem problem =
		(enum problem)ui_survey(ui)->problem[chan_fabric_port(s->fabric, chan)];
	double value[COL_NAME];
	char a[FIGURE_LEN], b[FIGURE_LEN], e[FIGURE_LEN] = "-", j[FIGURE_LEN] = "-", label[256];
	char err[FIGURE_LEN];
	uint8_t past[HISTORY_LEN];
	int n;

	values_of(value, s, chan);
	if (isfinite(value[COL_EFI]))
		figure_short(e, (uint64_t)value[COL_EFI]);
	if (isfinite(value[COL_EFF]))
		figure_short(j, (uint64_t)value[COL_EFF]);
	canvas_char(c, r, 1, y, problem >= PROBLEM_NO_REPLY ? ROLE_BAD : ROLE_WARN,
		    (uint32_t)problem_glyph(problem));
	canvas_textf(c, r, 3, y,
		     heat_role(ui_palette(ui),
			       isfinite(value[COL_UTIL]) ? heat_level(value[COL_UTIL]) : 0),
		     "%5s", figure_pct(a, value[COL_UTIL]));
	canvas_textf(c, r, 10, y, ROLE_TEXT, "%5s %6s %8s %4s", figure_pct(b, value[COL_WAIT]), e,
		     j, figure_pct(err, value[COL_ERRORS]));
	canvas_name(c, r, l->name, y, l->name_w, ROLE_TEXT,
		    chan_label(label, sizeof(label), s->fabric, chan));
	if (!s->history || !l->spark_w)
		return;
	n = (int)history_get(s->history, chan, past);
	if (n > l->spark_w)
		canvas_spark(c, r, l->spark, y, past + n - l->spark_w, l->spark_w);
	else
		canvas_spark(c, r, l->end - n, y, past, n);
}

static void draw_rows(struct links_ui *u, const struct ui *ui, struct canvas *c, struct rect r,
		      const struct state *s, const struct links_layout *l)
{
	for (int y = 0; y < r.h && u->list.top + (uint32_t)y < u->order.n; y++) {
		uint32_t i = u->list.top + (uint32_t)y;

		draw_row(ui, c, r, y, s, u->order.row[i], l);
		if (i != u->list.cursor)
			continue;
		list_draw_cursor(c, r, y);
	}
}

static void draw_empty(const struct links_ui *u, struct canvas *c, struct rect r)
{
	const char *text = u->filter.text[0] ? "no link matches the filter"
			   : u->problems     ? "no problems known"
					     : "this fabric has no links between switches";

	canvas_text(c, r, 3, 0, ROLE_DIM, text);
}

static void links_draw(void *own, struct ui *ui, struct canvas *c, struct rect r,
		       const struct state *s)
{
	struct links_ui *u = own;
	struct links_layout l = layout(r);
	struct rect rows = { r.x, r.y + 2, r.w, r.h - 2 - 1 - CHAN_DETAIL_LINES };
	struct rect detail = { r.x, r.y + r.h - CHAN_DETAIL_LINES, r.w, CHAN_DETAIL_LINES };
	char title[128], label[256];

	if (!s->fabric) {
		canvas_rule(c, r, 0, "Links");
		canvas_text(c, r, 1, 2, ROLE_DIM, "no fabric yet");
		return;
	}
	follow(u, ui, s);
	list_fit(&u->list, u->order.n, rows.h);
	snprintf(title, sizeof(title), "Links%s by %s%s%s", u->problems ? " with problems" : "",
		 column_names[u->sort], u->reverse ? " (reversed)" : "",
		 u->held ? " (order held)" : "");
	canvas_rule(c, r, 0, title);
	list_draw_range(&u->list, u->order.n, c, r, 0);
	draw_head(u, c, r, &l);
	if (!u->order.n)
		draw_empty(u, c, rows);
	draw_rows(u, ui, c, rows, s, &l);
	if (u->filter.active || !u->order.n) {
		canvas_rule(c, r, r.h - 1 - CHAN_DETAIL_LINES, NULL);
		if (u->filter.active)
			entry_draw(&u->filter, c, detail, 1, 0,
				   "filter (text, util>80, efi=0 ...)");
		if (u->parsed.why[0])
			canvas_wrap(c, detail, 1, 1, ROLE_WARN, u->parsed.why);
		return;
	}
	canvas_rule(c, r, r.h - 1 - CHAN_DETAIL_LINES,
		    chan_label(label, sizeof(label), s->fabric, cursor_chan(u)));
	chan_detail_draw(&u->detail, ui, s, c, detail, cursor_chan(u));
}

static void find_problem(struct links_ui *u, struct ui *ui, const struct state *s, bool forward)
{
	const struct survey *v = ui_survey(ui);

	for (uint32_t k = 1; k < u->order.n; k++) {
		uint32_t i = (u->list.cursor + (forward ? k : u->order.n - k)) % u->order.n;

		if (v->problem[chan_fabric_port(s->fabric, u->order.row[i])]) {
			u->list.cursor = i;
			return;
		}
	}
	ui_say(ui, "no other link with a problem in this list");
}

static void tell_cursor(struct links_ui *u, struct ui *ui, const struct state *s)
{
	u->moved = true;
	u->moved_s = s->now_s;
	u->told = cursor_chan(u);
	ui_select_chan(ui, u->told);
}

static bool links_settings(struct links_ui *u, enum req req)
{
	switch (req) {
	case REQ_SORT:
		u->sort = (u->sort + 1) % COLUMNS;
		u->sort_chosen = true;
		u->moved = false;
		u->list.cursor = 0;
		return true;
	case REQ_REVERSE:
		u->reverse = !u->reverse;
		return true;
	case REQ_PROBLEMS:
		u->problems = !u->problems;
		return true;
	default:
		return filter_ask(&u->filter, req);
	}
}

static bool links_input(void *own, struct ui *ui, const struct input *in, const struct state *s,
			struct request *out)
{
	struct links_ui *u = own;

	(void)out;
	if (filter_type(&u->filter, in))
		return true;
	if (!s->fabric)
		return false;
	if (u->fabric != s->fabric)
		follow(u, ui, s);
	if (list_move(&u->list, in->req, u->order.n)) {
		tell_cursor(u, ui, s);
		return true;
	}
	if (in->req == REQ_FIND_NEXT || in->req == REQ_FIND_PREV) {
		find_problem(u, ui, s, in->req == REQ_FIND_NEXT);
		tell_cursor(u, ui, s);
		return true;
	}
	if (in->req == REQ_ENTER && u->order.n) {
		tell_cursor(u, ui, s);
		ui_goto(ui, VIEW_HEATMAP);
		return true;
	}
	return links_settings(u, in->req);
}

static bool links_typing(const void *own, const struct state *s)
{
	(void)s;
	return ((const struct links_ui *)own)->filter.active;
}

static void links_context(const void *own, const struct state *s, char *buf, size_t len)
{
	const struct links_ui *u = own;

	(void)s;
	snprintf(buf, len, "%u rows  filter: %s%s", u->order.n,
		 u->filter.text[0] ? u->filter.text : "none", u->held ? "  order held" : "");
}

const struct view view_links = {
	.name = "Links",
	.title = "Links",
	.size = sizeof(struct links_ui),
	.done = links_done,
	.draw = links_draw,
	.input = links_input,
	.typing = links_typing,
	.context = links_context,
};
