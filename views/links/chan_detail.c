/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/links/chan_detail.h"

#include "views/data/state/chan_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void chan_detail_draw_rates(const struct context *ctx, const struct state *s,
				   struct canvas *c, struct rect r, uint32_t chan)
{
	uint32_t port = chan_fabric_port(s->fabric, chan);
	const struct port_rate *p = state_rate(s, port);
	const struct port_rate *then = state_rate_then(s, port);
	const struct port *hw = &s->fabric->port[port];
	enum problem problem = (enum problem)ctx->summary.problem[port];
	const char *unit = ctx->bits ? "Gb/s" : "GB/s";
	char util[FIGURE_LEN], wait[FIGURE_LEN], tx[FIGURE_LEN], rx[FIGURE_LEN], err[FIGURE_LEN];
	int x;

	x = canvas_textf(c, r, 1, 0, ROLE_TEXT, "util %s  wait %s  tx %s  rx %s %s  errors/min %s",
			 figure_percent(util, p ? p->util_pct : NAN),
			 figure_percent(wait, p ? p->wait_pct : NAN),
			 figure_rate(tx, p ? p->tx_Bps : NAN, ctx->bits),
			 figure_rate(rx, p ? p->rx_Bps : NAN, ctx->bits), unit,
			 figure_pct(err, p ? p->errors_per_min : NAN));
	if (hw->width && hw->speed[0])
		x = canvas_textf(c, r, x, 0, ROLE_DIM, "  %ux%.6s", hw->width, hw->speed);
	if (problem)
		x = canvas_textf(c, r, x, 0, ROLE_BAD, "  %s", problem_word(problem));
	if (then)
		canvas_textf(c, r, x, 0, ROLE_LABEL, "  then: util %s  wait %s",
			     figure_percent(util, then->util_pct),
			     figure_percent(wait, then->wait_pct));
}

static void chan_detail_draw_routes(const struct state *s, struct canvas *c, struct rect r,
				    uint32_t chan)
{
	const struct metrics *m = state_metrics(s);
	char efi[FIGURE_LEN], eff[FIGURE_LEN], lanes[200];
	uint32_t rank = 1;
	int x;

	if (!m) {
		canvas_text(c, r, 1, 1, ROLE_DIM, "EFI -  job EFI -");
		return;
	}
	for (uint32_t i = 0; i < m->nchan; i++)
		rank += m->efi[i] > m->efi[chan];
	x = canvas_textf(c, r, 1, 1, ROLE_TEXT, "EFI %s (rank %u of %u)  job EFI %s",
			 figure_count(efi, m->efi[chan]), rank, m->nchan,
			 m->njob ? figure_count(eff, m->eff_efi[chan]) : "-");
	canvas_textf(c, r, x, 1, ROLE_LABEL, "  %s",
		     chan_lanes_text(lanes, sizeof(lanes), s, chan, r.w - x - 3));
}

static void chan_detail_draw_jobs(const struct context *ctx, const struct state *s,
				  struct canvas *c, struct rect r, uint32_t chan)
{
	const struct link_usage *u = state_usage(s);
	uint64_t id = ctx->job.id;
	uint32_t n, job = link_usage_job(u, id);
	int x = canvas_text(c, r, 1, 2, ROLE_LABEL, "jobs "), end = r.w - 22;
	char text[256], mark[64] = "";

	if (!u || !u->routes) {
		canvas_text(c, r, x, 2, ROLE_DIM, "-");
		return;
	}
	n = (uint32_t)(u->routes->chan_off[chan + 1] - u->routes->chan_off[chan]);
	if (job != FAB_NONE) {
		snprintf(mark, sizeof(mark), "  %llu has %u", (unsigned long long)id,
			 job_routes_on(u->routes, job, chan));
		end -= text_width(mark);
	}
	if (!n)
		x = canvas_text(c, r, x, 2, ROLE_DIM, "no path of a job uses it");
	else
		x = canvas_text(c, r, x, 2, ROLE_TEXT,
				chan_jobs_text(text, sizeof(text), s, chan, end - x));
	if (n)
		x = canvas_textf(c, r, x, 2, ROLE_DIM, " of %u %s paths", n,
				 n == 1 ? "job's" : "jobs'");
	canvas_text(c, r, x, 2, ROLE_KEY, mark);
}

/* What the plan makes of the link; "" without one. */
static const char *chan_detail_plan_text(char *buf, size_t len, const struct state *s,
					 uint32_t chan)
{
	const struct metrics *plan = state_plan(s)->after;
	double util = chan_planned_util(s, chan);
	char efi[FIGURE_LEN], eff[FIGURE_LEN], pct[FIGURE_LEN];
	int n;

	*buf = '\0';
	if (!state_plan_ahead(s))
		return buf;
	n = snprintf(buf, len, "  with the plan: EFI %s, job EFI %s",
		     figure_count(efi, plan->efi[chan]),
		     plan->njob ? figure_count(eff, plan->eff_efi[chan]) : "-");
	if (isfinite(util))
		snprintf(buf + n, len - (size_t)n, ", util ~%s%%", figure_pct(pct, util));
	return buf;
}

/* Of the past as much as fits before what is to come. */
static void chan_detail_draw_history(const struct context *ctx, const struct state *s,
				     struct canvas *c, struct rect r, uint32_t chan)
{
	enum history_metric m = ctx->metric;
	int x = canvas_textf(c, r, 1, 3, ROLE_LABEL, "%s ", history_metric_name(m)), n, first;
	int room = r.w >= 130 ? HISTORY_LEN : 30, left;
	uint8_t past[HISTORY_LEN];
	char plan[120];

	chan_detail_plan_text(plan, sizeof(plan), s, chan);
	left = r.w - x - text_width(" now") - text_width(plan);
	room = left < room ? left : room;
	room = room < 8 ? 8 : room;
	if (s->history) {
		n = (int)history_get(s->history, chan, m, past);
		first = n > room ? n - room : 0;
		canvas_spark(c, r, x, 3, past + first, n - first);
		x = canvas_text(c, r, x + n - first, 3, ROLE_DIM, n ? " now" : "no history yet");
	}
	canvas_text(c, r, x, 3, ROLE_LABEL, plan);
}

void chan_detail_draw(const struct context *ctx, const struct state *s, struct canvas *c,
		      struct rect r, uint32_t chan)
{
	chan_detail_draw_rates(ctx, s, c, r, chan);
	chan_detail_draw_routes(s, c, r, chan);
	chan_detail_draw_jobs(ctx, s, c, r, chan);
	chan_detail_draw_history(ctx, s, c, r, chan);
}
