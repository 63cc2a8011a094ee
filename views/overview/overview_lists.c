/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The overview's lists: hot links, problem ports, jobs by traffic. */
#include "views/data/history_spark.h"
#include "views/overview/overview_panes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HOT_FIGURES 25 /* columns before the link */
#define HOT_NAME    56

static void overview_mark_row(struct canvas *c, struct rect r, int y, bool on)
{
	if (on)
		list_draw_cursor(c, r, y);
}

/* --- hot links ------------------------------------------------------------------------------ */

static int overview_spark_width(struct rect r)
{
	return r.w >= 115 ? HISTORY_LEN : r.w >= 100 ? HISTORY_LEN * 2 / 3 : 14;
}

/* Column after the history: not far from the names on wide screens. */
static int overview_hot_end(struct rect r)
{
	int end = HOT_FIGURES + 2 + HOT_NAME + overview_spark_width(r);

	return r.w - 1 < end ? r.w - 1 : end;
}

static void overview_draw_hot_row(const struct context *ctx, struct canvas *c, struct rect r, int y,
				  uint32_t chan, const struct state *s)
{
	const struct fabric *f = s->fabric;
	const struct port_rate *p = state_rate(s, chan_fabric_port(f, chan));
	const struct metrics *m = state_metrics(s);
	const struct link_usage *use = state_usage(s);
	char a[FIGURE_LEN], b[FIGURE_LEN], e[FIGURE_LEN] = "-", vls[8] = "-", label[256];
	enum role role = context_dims(ctx, chan) ? ROLE_DIM : ROLE_TEXT;
	double second = NAN;

	if (p)
		second = ctx->metric == HISTORY_ERRORS ? p->errors_per_min : p->wait_pct;
	if (m)
		figure_short(e, m->efi[chan]);
	if (use && use->lanes)
		snprintf(vls, sizeof(vls), "%u", vl_usage_lanes(use->lanes, chan) & 15);
	canvas_textf(c, r, 2, y,
		     role == ROLE_DIM ? role
				      : heat_role(ctx->palette, p ? heat_level(p->util_pct) : 0),
		     "%4s%%", figure_pct(a, p ? p->util_pct : NAN));
	if (tags_chan(&ctx->tags, chan))
		canvas_char(c, r, 1, y, ROLE_KEY, '+');
	canvas_textf(c, r, 8, y, role, "%5s %6s %2s", figure_pct(b, second), e, vls);
	canvas_name(c, r, HOT_FIGURES, y,
		    overview_hot_end(r) - overview_spark_width(r) - HOT_FIGURES - 1, role,
		    chan_label(label, sizeof(label), f, chan));
	history_spark(s, ctx->metric, c, r, overview_hot_end(r) - overview_spark_width(r), y,
		      overview_spark_width(r), chan);
}

const uint32_t *overview_hot(const struct context *ctx, uint32_t *n)
{
	const struct fabric_summary *v = &ctx->summary;
	const struct sample_top *top = v->tally ? &v->tally->top[ctx->metric] : NULL;

	*n = top ? top->n : 0;
	return top ? top->chan : NULL;
}

static void overview_draw_hot_head(const struct context *ctx, bool on, struct canvas *c,
				   struct rect r)
{
	static const char *const titles[] = { "Hot links", "Links that wait", "Links with errors" };
	char title[64];

	snprintf(title, sizeof(title), "%s%s", titles[ctx->metric], on ? " (Enter: open)" : "");
	canvas_rule(c, r, 0, title);
	canvas_text(c, r, 2, 1, ROLE_LABEL,
		    ctx->metric == HISTORY_ERRORS
			    ? " util err/m    EFI VL  from switch/port -> to"
			    : " util  wait    EFI VL  from switch/port -> to");
}

/* Why the list is empty. */
static const char *overview_nothing_hot(const struct context *ctx, const struct state *s)
{
	if (s->mode == RUN_FILE && !s->rates)
		return "no rates: a file has no counters";
	if (!s->rates)
		return "no rates yet: they need two polls";
	return ctx->metric == HISTORY_WAIT ? "no link waits" : "no link has errors";
}

static void overview_draw_past_head(const struct context *ctx, struct canvas *c, struct rect r)
{
	if (ctx->metric == HISTORY_UTIL)
		canvas_right(c, r, overview_hot_end(r), 1, ROLE_LABEL, "history, newest right");
	else
		canvas_rightf(c, r, overview_hot_end(r), 1, ROLE_LABEL, "%s, newest right",
			      history_metric_name(ctx->metric));
}

void pane_hot(struct list *l, bool on, const struct context *ctx, struct canvas *c, struct rect r,
	      const struct state *s)
{
	uint32_t n;
	const uint32_t *hot = overview_hot(ctx, &n);

	list_fit(l, n, r.h - 2);
	overview_draw_hot_head(ctx, on, c, r);
	if (!n)
		canvas_text(c, r, 2, 2, ROLE_DIM, overview_nothing_hot(ctx, s));
	else if (r.w >= 100)
		overview_draw_past_head(ctx, c, r);
	for (int y = 0; y < r.h - 2 && l->top + (uint32_t)y < n; y++) {
		overview_draw_hot_row(ctx, c, r, y + 2, hot[l->top + (uint32_t)y], s);
		overview_mark_row(c, r, y + 2, on && l->top + (uint32_t)y == l->cursor);
	}
}

/* --- problem ports -------------------------------------------------------------------------- */

const char *problem_text(char *buf, size_t len, const struct state *s,
			 const struct fabric_summary *v, uint32_t port)
{
	enum problem kind = (enum problem)v->problem[port];
	const struct port *p = &s->fabric->port[port];
	const struct port_rate *rate = state_rate(s, port);
	bool longer = false;
	double age = s->past.on ? NAN : port_problems_age_s(v->troubles, port, s->now_s, &longer);
	char since[FIGURE_LEN], pct[FIGURE_LEN], what[64];

	if (kind == PROBLEM_ERRORS && rate)
		snprintf(what, sizeof(what), "%s %s/min", problem_word(kind),
			 figure_pct(pct, rate->errors_per_min));
	else if (kind == PROBLEM_REDUCED)
		snprintf(what, sizeof(what), "%u of %u Gb/s", p->rate_Mbps / 1000,
			 (p->chan != FAB_NONE ? v->isl_Mbps : v->host_Mbps) / 1000);
	else
		snprintf(what, sizeof(what), "%s", problem_word(kind));
	if (isfinite(age))
		snprintf(buf, len, "%s %s%s", what, figure_age(since, age), longer ? "+" : "");
	else
		snprintf(buf, len, "%s", what);
	return buf;
}

static void overview_draw_problem(const struct context *ctx, struct canvas *c, struct rect r, int y,
				  const struct state *s, const struct fabric_summary *v, uint32_t i)
{
	uint32_t sw = v->problem_sw[i], port = s->fabric->port_off[sw] + v->problem_port[i];
	enum problem kind = (enum problem)v->problem[port];
	const char *was = port_problems_was(v->troubles, port);
	char label[256], full[360], text[96];

	problem_text(text, sizeof(text), s, v, port);
	port_label(label, sizeof(label), s->fabric, sw, v->problem_port[i]);
	snprintf(full, sizeof(full), was ? "%s was -> %s" : "%s", label, was);
	if (tags_switch(&ctx->tags, sw) || (s->fabric->port[port].chan != FAB_NONE &&
					    tags_chan(&ctx->tags, s->fabric->port[port].chan)))
		canvas_char(c, r, 1, y, ROLE_KEY, '+');
	canvas_char(c, r, 2, y, kind >= PROBLEM_NO_REPLY ? ROLE_BAD : ROLE_WARN,
		    (uint32_t)problem_glyph(kind));
	canvas_name(c, r, 4, y, r.w - 5 - text_width(text), ROLE_TEXT, full);
	canvas_right(c, r, r.w, y, ROLE_DIM, text);
}

void pane_problems(struct list *l, bool on, const struct context *ctx, struct canvas *c,
		   struct rect r, const struct state *s)
{
	const struct fabric_summary *v = &ctx->summary;

	list_fit(l, v->nproblem, r.h - 1);
	canvas_rule(c, r, 0, "Problem ports");
	list_draw_range(l, v->nproblem, c, r, 0);
	if (!v->nproblem)
		canvas_text(c, r, 2, 1, ROLE_DIM, s->sample ? "none" : "none known");
	for (int y = 0; y < r.h - 1 && l->top + (uint32_t)y < v->nproblem; y++) {
		overview_draw_problem(ctx, c, r, y + 1, s, v, l->top + (uint32_t)y);
		overview_mark_row(c, r, y + 1, on && l->top + (uint32_t)y == l->cursor);
	}
}

/* --- jobs ----------------------------------------------------------------------------------- */

static void overview_draw_job(const struct context *ctx, struct canvas *c, struct rect r, int y,
			      const struct state *s, uint32_t i)
{
	const struct fabric_summary *v = &ctx->summary;
	const struct job *j = &v->jobs->jobs[i];
	const struct job_metrics *m = job_metrics_of(state_metrics(s), s->metrics_jobs, j->id);
	const struct job_load *load = fabric_summary_job_load(v, s, i);
	char rate[FIGURE_LEN], efi[FIGURE_LEN] = "-", hot[FIGURE_LEN] = "-", name[128];
	bool marked = j->id == ctx->job.id;

	snprintf(name, sizeof(name), "%llu %.40s", (unsigned long long)j->id,
		 j->user[0] ? j->user : j->name);
	if (m)
		figure_short(efi, m->efi_max);
	if (load && s->rates)
		figure_short(hot, load->hot);
	canvas_char(c, r, 1, y, ROLE_KEY, marked ? '*' : tags_job(&ctx->tags, j->id) ? '+' : ' ');
	canvas_name(c, r, 2, y, r.w - 28, marked ? ROLE_KEY : ROLE_TEXT, name);
	canvas_rightf(c, r, r.w - 1, y, ROLE_TEXT, "%5u %6s %5s %5s", j->nnodes,
		      figure_rate(rate, v->job_Bps ? v->job_Bps[i] : NAN, ctx->bits), hot, efi);
}

void pane_jobs(struct list *l, bool on, const struct context *ctx, struct canvas *c, struct rect r,
	       const struct state *s)
{
	const struct fabric_summary *v = &ctx->summary;
	uint32_t n = v->jobs ? v->jobs->njob : 0;

	list_fit(l, n, r.h - 1);
	canvas_rule(c, r, 0, "Jobs by traffic");
	if (!n)
		canvas_wrap(c, r, 2, 1, ROLE_DIM,
			    s->jobs_source.state == JOBS_UNREACHABLE ? s->jobs_source.sentence
			    : v->jobs				     ? "no jobs"
								     : "no jobs known");
	else
		canvas_right(c, r, r.w - 1, 0, ROLE_RULE,
			     ctx->bits ? " nodes   Gb/s   hot   EFI" : " nodes   GB/s   hot   EFI");
	for (int y = 0; y < r.h - 1 && l->top + (uint32_t)y < n; y++) {
		uint32_t i = l->top + (uint32_t)y;

		overview_draw_job(ctx, c, r, y + 1, s, v->by_traffic ? v->by_traffic[i] : i);
		overview_mark_row(c, r, y + 1, on && i == l->cursor);
	}
}
