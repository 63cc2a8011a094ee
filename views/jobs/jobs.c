/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs: where they run, what they send, how crowded their links are now and after the plan. */
#include "fabric/base/message/plural.h"
#include "views/data/summary/headline.h"
#include "views/jobs/job_detail.h"
#include "views/table/table.h"
#include "views/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct jobs_ui {
	struct table table;
	struct job_detail detail;
};

static void jobs_done(void *own)
{
	struct jobs_ui *u = own;

	table_done(&u->table);
	job_detail_done(&u->detail);
}

/* --- what the table shows -------------------------------------------------------------------- */

enum { COL_MARK, COL_LOST = 12, COL_SLOWDOWN, COL_CHANGE = 15 };

static const struct table_col columns[] = {
	[COL_MARK] = { NULL, "", 1, 0, 0, 1 },
	{ "id", NULL, 9, 0, 0, 1 },
	{ "user", NULL, 8, 0, 0, 0 },
	{ "name", NULL, 12, 120, 0, 0 },
	{ "nodes", NULL, 5, 0, 0, 0 },
	{ "tx_Bps", NULL, 7, 0, 0, 0 },
	{ "tx_then_Bps", "then", 7, 100, 0, 0 },
	{ "tx_change_Bps", "change", 7, 0, 0, 0 },
	{ "hot_links", NULL, 5, 0, 0, 0 },
	{ "links", "links", 6, 0, 0, 0 },
	{ "efi", NULL, 6, 0, 0, 0 },
	{ "efi_mean", "mean EFI", 8, 100, 0, 0 },
	[COL_LOST] = { "lost_pct", "lost%", 6, 0, 0, 0 },
	[COL_SLOWDOWN] = { "slowdown", NULL, 8, 0, 0, 0 },
	{ "plan_efi", "plan EFI", 8, 0, 0, 0 },
	[COL_CHANGE] = { "plan_change_pct", "change", 6, 90, 0, 0 },
	{ "age_s", NULL, 7, 100, 0, 0 },
	{ "switches", "switch", 6, 160, 0, 0 },
	{ "util_max_pct", "util%", 5, 120, 0, 0 },
	{ "util_then_pct", "then", 5, 160, 0, 0 },
	{ "util_change_pct", "change", 6, 160, 0, 0 },
	{ "state", NULL, 14, 150, 0, 0 },
	{ "nodelist", "nodes", 0, 126, 0, 0 },
};

static double jobs_figure(const struct table_in *in, uint32_t job, const char *name)
{
	const struct rows rows = { ROWS_JOBS, in->s, &in->ctx->summary };
	struct value v;

	field_get(&v, field_find(ROWS_JOBS, name, strlen(name)), &rows, job);
	return v.num;
}

/* What the preview makes of the job's worst link. */
static void jobs_draw_change(const struct table_in *in, uint32_t job, struct canvas *c,
			     struct rect r, int end, int y)
{
	double pct = jobs_figure(in, job, "plan_change_pct");

	if (!isfinite(pct))
		canvas_right(c, r, end, y, ROLE_DIM, "-");
	else if (fabs(pct) < 0.5)
		canvas_right(c, r, end, y, ROLE_DIM, "same");
	else
		canvas_rightf(c, r, end, y, pct < 0 ? ROLE_GOOD : ROLE_WARN, "%+.0f%%", pct);
}

static bool jobs_draw_slowdown(const struct table_in *in, uint32_t job, struct canvas *c,
			       struct rect r, int end, int y)
{
	double slowdown = jobs_figure(in, job, "slowdown");

	if (isfinite(slowdown))
		canvas_rightf(c, r, end, y, slowdown >= HEAD_SLOW ? ROLE_WARN : ROLE_TEXT, "%.1fx",
			      slowdown);
	return isfinite(slowdown);
}

/* Nothing is lost, as a rule. */
static bool jobs_blank(const struct table_in *in, uint32_t job, uint32_t col)
{
	return col == COL_LOST && !(jobs_figure(in, job, "lost_pct") > 0);
}

static bool jobs_draw_lost(const struct table_in *in, uint32_t job, struct canvas *c, struct rect r,
			   int end, int y)
{
	double pct = jobs_figure(in, job, "lost_pct");

	if (pct > 0)
		canvas_rightf(c, r, end, y, ROLE_BAD, pct < 0.1 ? "<0.1" : "%.1f", pct);
	return true;
}

static bool jobs_draw_picture(const struct table_in *in, uint32_t job, uint32_t col,
			      struct canvas *c, struct rect r, int x, int y, int w)
{
	if (col == COL_MARK) {
		if (in->ctx->summary.jobs->jobs[job].id == in->ctx->job.id)
			canvas_char(c, r, x, y, ROLE_KEY, '*');
		return true;
	}
	if (col == COL_LOST)
		return jobs_draw_lost(in, job, c, r, x + w, y);
	if (col == COL_SLOWDOWN)
		return jobs_draw_slowdown(in, job, c, r, x + w, y);
	if (col != COL_CHANGE)
		return false;
	jobs_draw_change(in, job, c, r, x + w, y);
	return true;
}

/* Its links in all views; again: no longer. */
static void jobs_mark_job(const struct table_in *in, uint32_t job)
{
	uint64_t id = in->ctx->summary.jobs->jobs[job].id;
	const struct link_usage *use = state_usage(in->s);
	char text[JOB_ID_LEN];
	uint32_t at = link_usage_job(use, id);
	unsigned long long n;

	job_text(text, &in->ctx->summary.jobs->jobs[job]);
	if (in->ctx->job.id == id) {
		context_select_job(in->ctx, 0);
		context_say(in->ctx, "job %s unmarked", text);
		return;
	}
	context_select_job(in->ctx, id);
	if (at == FAB_NONE || !use->routes) {
		context_say(in->ctx, "job %s marked; its links are not computed yet", text);
		return;
	}
	n = use->routes->off[at + 1] - use->routes->off[at];
	context_say(in->ctx, "%llu link%s of job %s marked in all views; Esc: unmark", n, plural(n),
		    text);
}

/* What they suffer, once it is known: messages that are lost are worse than slow ones. */
static const char *jobs_first_sort(const struct table_in *in)
{
	const struct fabric_summary *v = &in->ctx->summary;

	for (uint32_t j = 0; v->job_lost_pct && j < v->jobs->njob; j++)
		if (v->job_lost_pct[j] > 0)
			return "lost_pct";
	return state_usage(in->s) ? "slowdown" : "nodes";
}

static const struct table_ops ops = {
	.kind = ROWS_JOBS,
	.what = "jobs",
	.one = "job",
	.col = columns,
	.ncol = sizeof(columns) / sizeof(columns[0]),
	.sort_by = jobs_first_sort,
	.draw = jobs_draw_picture,
	.blank = jobs_blank,
	.open = jobs_mark_job,
};

static struct table *jobs_table(void *own, const struct table_ops **out)
{
	struct jobs_ui *u = own;

	*out = &ops;
	return &u->table;
}

/* --- the view -------------------------------------------------------------------------------- */

static void jobs_draw_source(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct state_jobs *src = &s->jobs_source;
	char age[FIGURE_LEN], text[sizeof(src->sentence) + 64];

	switch (src->state) {
	case JOBS_OFF:
		canvas_text(c, r, 1, y, ROLE_DIM, "no job source");
		break;
	case JOBS_WAITING:
		canvas_textf(c, r, 1, y, ROLE_DIM, "waiting for the jobs of %s", src->source);
		break;
	case JOBS_UNREACHABLE:
		snprintf(text, sizeof(text), isfinite(src->age_s) ? "%s; the list is %s old" : "%s",
			 src->sentence, figure_age(age, src->age_s));
		canvas_wrap(c, (struct rect){ r.x, r.y + y, r.w - 1, 1 }, 1, 0, ROLE_WARN, text);
		break;
	case JOBS_OK:
		canvas_textf(c, r, 1, y, ROLE_DIM, "%s, %s ago: %u running, %u pending",
			     src->source, figure_age(age, src->age_s), s->jobs ? s->jobs->njob : 0,
			     s->jobs ? s->jobs->pending : 0);
		break;
	}
}

static void jobs_draw(void *own, struct context *ctx, struct canvas *c, struct rect r,
		      const struct state *s)
{
	struct jobs_ui *u = own;
	const struct table_in in = { own, ctx, s };
	int below = list_detail_lines(r.h - 1, r.h >= 40 ? 16 : r.h >= 24 ? 10 : 7);
	uint32_t job;

	jobs_draw_source(s, c, r, r.h - 1);
	if (!ctx->summary.jobs) {
		canvas_rule(c, r, 0, "Jobs");
		canvas_text(c, r, 2, 2, ROLE_DIM, "no jobs known");
		return;
	}
	table_draw(&u->table, &ops, &in, c, (struct rect){ r.x, r.y, r.w, r.h - 1 - below },
		   "Jobs");
	job = table_cursor(&u->table);
	if (below && job != FAB_NONE && s->fabric)
		job_detail_draw(&u->detail, ctx, s, c,
				(struct rect){ r.x, r.y + r.h - 1 - below, r.w, below }, job);
}

const struct view view_jobs = {
	.size = sizeof(struct jobs_ui),
	.done = jobs_done,
	.draw = jobs_draw,
	.table = jobs_table,
};
