/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs: where they run, what they send, how crowded their links are now and after the plan. */
#include "views/row_filter.h"
#include "views/list.h"
#include "views/view.h"

#include "fabric/base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum column { COL_NODES, COL_SWITCHES, COL_RATE, COL_LINKS, COL_EFI, COL_PLAN, COL_ID, COLUMNS };

/* as views/fields.h has them */
static const char *const sort_field[] = { "nodes", "switches", "tx_Bps", "links",
					  "efi",   "plan_efi", "id" };
static const char *const column_names[] = { "nodes", "switches",	   "rate", "links used",
					    "EFI",   "EFI after the plan", "id" };

struct jobs_ui {
	struct list list;
	struct entry filter;
	enum column sort;
	bool reverse;
	struct typed_filter parsed;
	struct row_order order;
	uint64_t id; /* of the job under the cursor; 0 not moved yet */
};

static void jobs_done(void *own)
{
	struct jobs_ui *u = own;

	row_order_done(&u->order);
	typed_filter_done(&u->parsed);
}

static void values_of(double value[COLUMNS], const struct state *s, const struct survey *v,
		      uint32_t i)
{
	const struct job *j = &v->jobs->jobs[i];
	const struct job_metrics *now = job_metrics_of(state_metrics(s), s->metrics_jobs, j->id);
	const struct job_metrics *plan =
		state_preview_ready(s) ? job_metrics_of(s->preview.after, s->preview.jobs, j->id)
				       : NULL;

	value[COL_NODES] = j->nnodes;
	value[COL_SWITCHES] = j->nsw;
	value[COL_RATE] = v->job_Bps ? v->job_Bps[i] : NAN;
	value[COL_LINKS] = now ? now->links : NAN;
	value[COL_EFI] = now ? (double)now->efi_max : NAN;
	value[COL_PLAN] = plan ? (double)plan->efi_max : NAN;
	value[COL_ID] = (double)j->id;
}

static void make_rows(struct jobs_ui *u, const struct state *s, const struct survey *v)
{
	const struct rows rows = { ROWS_JOBS, s, v };
	const char *sort = sort_field[u->sort];

	typed_filter_set(&u->parsed, ROWS_JOBS, u->filter.text);
	rows_select(&u->order, &rows, u->parsed.filter, field_find(ROWS_JOBS, sort, strlen(sort)),
		    u->reverse);
}

/* The cursor stays with its job whatever the order becomes. */
static void keep_cursor(struct jobs_ui *u, const struct survey *v)
{
	for (uint32_t i = 0; u->id && i < u->order.n; i++)
		if (v->jobs->jobs[u->order.row[i]].id == u->id)
			u->list.cursor = i;
}

static void draw_head(const struct jobs_ui *u, const struct ui *ui, struct canvas *c, struct rect r,
		      int name_w)
{
	static const int width[] = { 6, 6, 7, 7, 8, 8 };
	const char *const text[] = { "nodes", "switch",	 ui_bits(ui) ? "Gb/s" : "GB/s",
				     "links", "EFI now", "plan" };
	int x = 12 + name_w;

	canvas_text(c, r, 2, 1, u->sort == COL_ID ? ROLE_KEY : ROLE_LABEL, "job");
	canvas_text(c, r, 12, 1, ROLE_LABEL, "user name");
	for (int i = 0; i < 6; i++) {
		x += width[i] + 1;
		canvas_right(c, r, x, 1, (int)u->sort == i ? ROLE_KEY : ROLE_LABEL, text[i]);
	}
	canvas_right(c, r, x + 9, 1, ROLE_LABEL, "change");
}

static const char *count_or_dash(char buf[FIGURE_LEN], double v)
{
	return isfinite(v) ? figure_short(buf, (uint64_t)v) : strcpy(buf, "-");
}

static void draw_change(struct canvas *c, struct rect r, int end, int y, double now, double plan)
{
	double pct = (plan - now) / (now > 0 ? now : 1) * 100;

	if (!isfinite(pct)) {
		canvas_right(c, r, end, y, ROLE_DIM, "-");
		return;
	}
	if (fabs(pct) < 0.5)
		canvas_right(c, r, end, y, ROLE_DIM, "same");
	else
		canvas_rightf(c, r, end, y, pct < 0 ? ROLE_GOOD : ROLE_WARN, "%+.0f%%", pct);
}

static void draw_row(const struct ui *ui, struct canvas *c, struct rect r, int y,
		     const struct state *s, uint32_t i, int name_w)
{
	const struct survey *v = ui_survey(ui);
	const struct job *j = &v->jobs->jobs[i];
	double value[COLUMNS];
	char rate[FIGURE_LEN], links[FIGURE_LEN], efi[FIGURE_LEN], plan[FIGURE_LEN], name[160];

	values_of(value, s, v, i);
	snprintf(name, sizeof(name), "%.60s%s%.60s", j->user, j->user[0] ? " " : "", j->name);
	canvas_textf(c, r, 2, y, ROLE_TEXT, "%llu", (unsigned long long)j->id);
	canvas_name(c, r, 12, y, name_w, ROLE_TEXT, name);
	canvas_textf(c, r, 12 + name_w, y, ROLE_TEXT, " %6u %6u %7s %7s %8s %8s", j->nnodes, j->nsw,
		     figure_rate(rate, value[COL_RATE], ui_bits(ui)),
		     count_or_dash(links, value[COL_LINKS]), count_or_dash(efi, value[COL_EFI]),
		     count_or_dash(plan, value[COL_PLAN]));
	draw_change(c, r, 12 + name_w + 57, y, value[COL_EFI], value[COL_PLAN]);
}

static void draw_detail(const struct jobs_ui *u, const struct survey *v, struct canvas *c,
			struct rect r)
{
	const struct job *j;
	char title[64], time[FIGURE_LEN];
	int x;

	if (u->list.cursor >= u->order.n)
		return;
	j = &v->jobs->jobs[u->order.row[u->list.cursor]];
	snprintf(title, sizeof(title), "Job %llu", (unsigned long long)j->id);
	canvas_rule(c, r, 0, title);
	x = canvas_textf(c, r, 1, 1, ROLE_TEXT, "%u hosts on %u switches%s", j->nterm, j->nsw,
			 j->multi ? "" : ": its routes use no link between switches");
	if (j->start_s)
		x = canvas_textf(c, r, x, 1, ROLE_TEXT, "  since %s",
				 figure_time(time, j->start_s));
	if (j->unknown)
		canvas_textf(c, r, x, 1, ROLE_WARN, "  %u of its nodes are not in this fabric",
			     j->unknown);
	canvas_wrap(c, (struct rect){ r.x, r.y + 2, r.w - 1, r.h - 2 }, 1, 0, ROLE_DIM, j->nodes);
}

static void draw_source(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct state_jobs *src = &s->jobs_source;
	char age[FIGURE_LEN], text[sizeof(src->sentence) + 64];

	switch (src->state) {
	case JOBS_OFF:
		canvas_text(c, r, 1, y, ROLE_DIM, "no job source");
		break;
	case JOBS_WAITING:
		canvas_textf(c, r, 1, y, ROLE_DIM, "%s was asked for its jobs", src->source);
		break;
	case JOBS_UNREACHABLE:
		snprintf(text, sizeof(text), isfinite(src->age_s) ? "%s; the list is %s old" : "%s",
			 src->sentence, figure_age(age, src->age_s));
		canvas_wrap(c, (struct rect){ r.x, r.y + y, r.w - 1, 2 }, 1, 0, ROLE_WARN, text);
		break;
	case JOBS_OK:
		canvas_textf(c, r, 1, y, ROLE_DIM, "%s, %s ago", src->source,
			     figure_age(age, src->age_s));
		break;
	}
}

static void draw_table(struct jobs_ui *u, const struct ui *ui, struct canvas *c, struct rect r,
		       const struct state *s, int name_w)
{
	for (int y = 0; y < r.h && u->list.top + (uint32_t)y < u->order.n; y++) {
		uint32_t i = u->list.top + (uint32_t)y;

		draw_row(ui, c, r, y, s, u->order.row[i], name_w);
		if (i != u->list.cursor)
			continue;
		list_draw_cursor(c, r, y);
	}
}

static void jobs_draw(void *own, struct ui *ui, struct canvas *c, struct rect r,
		      const struct state *s)
{
	struct jobs_ui *u = own;
	const struct survey *v = ui_survey(ui);
	struct rect rows = { r.x, r.y + 2, r.w, r.h - 2 - 6 };
	int name_w = r.w - 12 - 59 < 30 ? r.w - 12 - 59 : 30;
	char title[128];

	make_rows(u, s, v);
	keep_cursor(u, v);
	list_fit(&u->list, u->order.n, rows.h);
	snprintf(title, sizeof(title), "Jobs by %s%s", column_names[u->sort],
		 u->reverse ? " (reversed)" : "");
	canvas_rule(c, r, 0, title);
	list_draw_range(&u->list, u->order.n, c, r, 0);
	draw_source(s, c, r, r.h - 2);
	if (!u->order.n) {
		canvas_text(c, rows, 2, 0, ROLE_DIM,
			    u->filter.text[0] ? "no job matches the filter"
			    : v->jobs	      ? "no jobs run"
					      : "no jobs known");
	} else {
		draw_head(u, ui, c, r, name_w);
		draw_table(u, ui, c, rows, s, name_w);
		draw_detail(u, v, c, (struct rect){ r.x, r.y + r.h - 6, r.w, 4 });
	}
	if (u->filter.active)
		entry_draw(&u->filter, c, r, 1, r.h - 1, "filter (text, nodes>16, efi>100 ...)");
	if (u->parsed.why[0]) {
		canvas_fill(c, (struct rect){ r.x, r.y + r.h - 2, r.w, 1 }, ROLE_TEXT, ' ');
		canvas_text(c, r, 1, r.h - 2, ROLE_WARN, u->parsed.why);
	}
}

/* Its links in all views; again: no longer. */
static void mark_job(const struct jobs_ui *u, struct ui *ui, const struct state *s)
{
	const struct survey *v = ui_survey(ui);
	const struct usage *use = state_usage(s);
	unsigned long long id;
	uint32_t job;

	if (!v->jobs || u->list.cursor >= u->order.n ||
	    u->order.row[u->list.cursor] >= v->jobs->njob)
		return;
	id = v->jobs->jobs[u->order.row[u->list.cursor]].id;
	if (ui_selected_job(ui) == id) {
		ui_select_job(ui, 0);
		ui_say(ui, "job %llu is not marked any more", id);
		return;
	}
	ui_select_job(ui, id);
	job = usage_job(use, id);
	if (job == FAB_NONE)
		ui_say(ui, "job %llu is marked; its links are not known yet", id);
	else
		ui_say(ui, "the %llu links of job %llu are marked in all views; Esc: no longer",
		       (unsigned long long)(use->routes->off[job + 1] - use->routes->off[job]), id);
}

static bool jobs_input(void *own, struct ui *ui, const struct input *in, const struct state *s,
		       struct request *out)
{
	struct jobs_ui *u = own;
	const struct survey *v = ui_survey(ui);

	(void)out;
	if (filter_type(&u->filter, in))
		return true;
	if (list_move(&u->list, in->req, u->order.n)) {
		if (v->jobs && u->list.cursor < u->order.n &&
		    u->order.row[u->list.cursor] < v->jobs->njob)
			u->id = v->jobs->jobs[u->order.row[u->list.cursor]].id;
		return true;
	}
	switch (in->req) {
	case REQ_ENTER:
		mark_job(u, ui, s);
		return true;
	case REQ_SORT:
		u->sort = (u->sort + 1) % COLUMNS;
		return true;
	case REQ_REVERSE:
		u->reverse = !u->reverse;
		return true;
	default:
		return filter_ask(&u->filter, in->req);
	}
}

static bool jobs_typing(const void *own, const struct state *s)
{
	(void)s;
	return ((const struct jobs_ui *)own)->filter.active;
}

static void jobs_context(const void *own, const struct state *s, char *buf, size_t len)
{
	const struct jobs_ui *u = own;

	(void)s;
	snprintf(buf, len, "%u rows  filter: %s", u->order.n,
		 u->filter.text[0] ? u->filter.text : "none");
}

const struct view view_jobs = {
	.name = "Jobs",
	.title = "Jobs",
	.size = sizeof(struct jobs_ui),
	.done = jobs_done,
	.draw = jobs_draw,
	.input = jobs_input,
	.typing = jobs_typing,
	.context = jobs_context,
};
