/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/heatmap/heat_cables.h"

#include "views/canvas/name_fit.h"
#include "views/data/row_notes.h"
#include "views/data/summary/history_spark.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool heat_cables_open(struct heat_cables *k, const struct heat_sight *at, const struct context *ctx,
		      const struct state *s, uint32_t row, uint32_t col)
{
	const struct heat_window *w = at->window;
	char from[NAME_LEN], to[NAME_LEN], more[32] = "";

	k->n = heat_cell_list(at, ctx, s, row, col, k->chan, HEAT_CABLES);
	if (!k->n)
		return false;
	if (w->row_n > 1 || w->col_n > 1)
		snprintf(more, sizeof(more), " and %ux%u more", w->row_n, w->col_n);
	snprintf(k->title, sizeof(k->title), "%s %s %s%s: %u %s",
		 heat_row_label(from, at->plane, s->fabric, at->rows->row[row]),
		 at->dir ? "<-" : "->", heat_col_label(to, at->plane, s->fabric, col), more, k->n,
		 k->n == 1 ? "cable" : "cables");
	k->list = (struct list){ 0 };
	k->open = true;
	return true;
}

uint32_t heat_cables_cursor(const struct heat_cables *k)
{
	return k->list.cursor < k->n ? k->chan[k->list.cursor] : FAB_NONE;
}

static const char *heat_cables_count_or_dash(char buf[FIGURE_LEN], bool known, uint64_t v)
{
	return known ? figure_short(buf, v) : strcpy(buf, "-");
}

static void heat_cables_draw_figures(const struct context *ctx, struct canvas *c, struct rect r,
				     int y, const struct state *s, uint32_t chan, enum role role)
{
	const struct port_rate *p = state_rate(s, chan_fabric_port(s->fabric, chan));
	const struct port_rate *back =
		state_rate(s, chan_fabric_port(s->fabric, s->fabric->chan_rev[chan]));
	const struct metrics *m = chan_metrics(s);
	const struct link_usage *use = state_usage(s);
	char util[FIGURE_LEN], wait[FIGURE_LEN], err[FIGURE_LEN], in[FIGURE_LEN];
	char efi[FIGURE_LEN], eff[FIGURE_LEN], vls[FIGURE_LEN] = "-";
	double u = p ? p->util_pct : NAN;

	if (use && use->lanes)
		snprintf(vls, sizeof(vls), "%u", vl_usage_lanes(use->lanes, chan));
	canvas_textf(c, r, 4, y,
		     role == ROLE_DIM || !isfinite(u) ? role
						      : heat_role(ctx->palette, heat_level(u)),
		     "%4s", figure_pct(util, u));
	canvas_textf(c, r, 9, y, role, "%5s %6s %7s %5s %3s %5s",
		     figure_pct(wait, p ? p->wait_pct : NAN),
		     heat_cables_count_or_dash(efi, m, m ? m->efi[chan] : 0),
		     heat_cables_count_or_dash(eff, m && m->njob, m ? m->eff_efi[chan] : 0),
		     figure_pct(err, p ? p->errors_per_min : NAN), vls,
		     figure_pct(in, back ? back->util_pct : NAN));
}

static void heat_cables_draw_row(const struct context *ctx, struct canvas *c, struct rect r, int y,
				 const struct state *s, uint32_t chan, int spark_w)
{
	uint32_t port = chan_fabric_port(s->fabric, chan);
	enum problem problem = (enum problem)ctx->summary.problem[port];
	enum role role = context_dims(ctx, chan) ? ROLE_DIM : ROLE_TEXT;
	char label[256];

	if (tags_chan(&ctx->tags, chan))
		canvas_char(c, r, 3, y, ROLE_KEY, '+');
	else if (row_notes_chan(s->row_notes, s->fabric, chan))
		canvas_char(c, r, 3, y, ROLE_KEY, NOTE_POINT);
	canvas_char(c, r, 2, y, problem >= PROBLEM_NO_REPLY ? ROLE_BAD : ROLE_WARN,
		    (uint32_t)problem_glyph(problem));
	heat_cables_draw_figures(ctx, c, r, y, s, chan, role);
	name_fit_draw(c, r, 46, y, r.w - 47 - spark_w, role, s->fabric,
		      chan_label(label, sizeof(label), s->fabric, chan));
	history_spark(s, ctx->metric, c, r, r.w - spark_w, y, spark_w - 1, chan);
}

void heat_cables_draw(struct heat_cables *k, const struct context *ctx, struct canvas *c,
		      struct rect r, const struct state *s)
{
	int spark_w = r.w >= 160 ? HISTORY_LEN + 1 : r.w >= 100 ? 21 : 0;

	canvas_rule(c, r, 0, k->title);
	list_fit(&k->list, k->n, r.h - 2);
	list_draw_range(&k->list, k->n, c, r, 0);
	canvas_text(c, r, 4, 1, ROLE_LABEL, "util  wait    EFI job EFI   err VLs rev %  cable");
	for (int y = 0; y < r.h - 2 && k->list.top + (uint32_t)y < k->n; y++) {
		heat_cables_draw_row(ctx, c, r, y + 2, s, k->chan[k->list.top + (uint32_t)y],
				     spark_w);
		if (k->list.top + (uint32_t)y == k->list.cursor)
			list_draw_cursor(c, r, y + 2);
	}
}
