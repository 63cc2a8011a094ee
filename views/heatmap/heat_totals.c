/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/heatmap/heat_totals.h"

#include "fabric/base/memory/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool heat_totals_suit(enum chan_metric m)
{
	return m == CHAN_UTIL || m == CHAN_WAIT || m == CHAN_EFI || m == CHAN_JOB_EFI;
}

static void heat_totals_add(struct heat_total *t, const struct chan_value *v)
{
	double pct = v->pct;

	if (!isfinite(pct))
		return;
	t->worst = !t->n || pct > t->worst ? pct : t->worst;
	t->by_pct[pct < 0 ? 0 : pct > HEAT_SHARES - 1 ? HEAT_SHARES - 1 : (int)pct]++;
	t->sum += pct;
	t->n++;
}

static double heat_totals_mean(const struct heat_total *t)
{
	return t->n ? t->sum / t->n : NAN;
}

/* What nine of ten are not above, in whole per cents; the worst of them where that is less. */
static double heat_totals_percentile(const struct heat_total *t)
{
	uint32_t above = t->n / 10, pct = HEAT_SHARES - 1;

	if (!t->n)
		return NAN;
	while (pct && t->by_pct[pct] <= above)
		above -= t->by_pct[pct--];
	return fmin(pct, t->worst);
}

static struct chan_value heat_totals_value(const struct heat_sight *at, const struct context *ctx,
					   const struct state *s, uint32_t i)
{
	uint32_t chan = at->plane->chan[i];

	return chan_value_of(at->metric, ctx->palette, s, &ctx->summary,
			     at->dir ? s->fabric->chan_rev[chan] : chan);
}

/* Of the switches that a line in sight stands for. */
static struct heat_total heat_totals_row(const struct heat_sight *at, const struct context *ctx,
					 const struct state *s, uint32_t y)
{
	const struct heat_plane *p = at->plane;
	const struct heat_window *w = at->window;
	uint32_t first = (w->top + y * w->per_line) * w->row_n;
	struct heat_total t = { .n = 0 };

	for (uint32_t k = first; k < first + w->row_n * w->per_line && k < p->nrow; k++) {
		uint32_t row = at->rows->row[k];

		for (uint32_t i = p->row_off[row]; i < p->row_off[row + 1]; i++) {
			struct chan_value v = heat_totals_value(at, ctx, s, i);

			heat_totals_add(&t, &v);
		}
	}
	return t;
}

static void heat_totals_columns(struct heat_totals *t, const struct heat_sight *at,
				const struct context *ctx, const struct state *s)
{
	const struct heat_plane *p = at->plane;
	const struct heat_totals now = {
		t->col,	     at->window->ncol, t->cap,	     s->rates,		chan_metrics(s), p,
		ctx->job.id, at->metric,       ctx->palette, at->window->col_n, at->dir
	};

	if (t->col && t->ncol == now.ncol && t->rates == now.rates && t->metrics == now.metrics &&
	    t->plane == now.plane && t->metric == now.metric && t->palette == now.palette &&
	    t->col_n == now.col_n && t->dir == now.dir)
		return;
	*t = now;
	if (t->ncol > t->cap) {
		t->col = xrealloc(t->col, t->ncol, sizeof(*t->col));
		t->cap = t->ncol;
	}
	memset(t->col, 0, t->ncol * sizeof(*t->col));
	for (uint32_t i = 0; i < p->row_off[p->nrow]; i++) {
		struct chan_value v = heat_totals_value(at, ctx, s, i);

		heat_totals_add(&t->col[p->col[i] / t->col_n], &v);
	}
}

static void heat_totals_draw_share(struct canvas *c, struct rect r, int end, int y,
				   const struct context *ctx, enum heat_quiet quiet, double pct)
{
	char text[FIGURE_LEN];
	enum role role = isfinite(pct) ? heat_role(ctx->palette, heat_level(pct)) : ROLE_DIM;

	role = heat_role_quiet(role, quiet);

	canvas_right(c, r, end, y, role, figure_pct(text, pct));
}

static double heat_totals_worst(const struct heat_total *t)
{
	return t->n ? t->worst : NAN;
}

/* A line below the columns: a sign for each. */
static void heat_totals_draw_signs(const struct heat_totals *t, const struct heat_window *w,
				   const struct context *ctx, struct canvas *c, int y,
				   double (*of)(const struct heat_total *t))
{
	for (uint32_t x = 0; x < w->vis_cols; x++) {
		const struct heat_total *col = &t->col[w->left + x];
		struct chan_value v = chan_value_heat(of(col), ctx->palette);

		if (col->n)
			canvas_char(c, w->rows, (int)x * w->cell_w + (w->cell_w == 3), y,
				    fill_role(heat_role_quiet(v.role, w->quiet)),
				    (uint32_t)(unsigned char)v.glyph);
	}
}

static void heat_totals_draw_below(struct heat_totals *t, const struct heat_sight *at,
				   const struct context *ctx, const struct state *s,
				   struct canvas *c)
{
	const struct heat_window *w = at->window;
	static const struct {
		const char *name;
		double (*of)(const struct heat_total *t);
	} lines[HEAT_TOTALS_H] = { { "worst", heat_totals_worst },
				   { "90%", heat_totals_percentile },
				   { "mean", heat_totals_mean } };
	struct heat_window below = *w;

	below.rows.h += HEAT_TOTALS_H;
	heat_totals_columns(t, at, ctx, s);
	for (int i = 0; i < HEAT_TOTALS_H; i++) {
		int y = (int)w->vis_lines + i;

		canvas_text(c,
			    (struct rect){ below.rows.x - w->label_w, below.rows.y, w->label_w,
					   below.rows.h },
			    1, y, ROLE_LABEL, lines[i].name);
		heat_totals_draw_signs(t, &below, ctx, c, y, lines[i].of);
	}
}

void heat_totals_draw(struct heat_totals *t, const struct heat_sight *at, const struct context *ctx,
		      const struct state *s, struct canvas *c, bool below)
{
	const struct heat_window *w = at->window;
	int x = (int)w->vis_cols * w->cell_w + 1;
	struct rect r = { w->rows.x + x, w->rows.y - 1, HEAT_TOTALS_W, w->rows.h + 1 };

	canvas_right(c, r, 6, 0, ROLE_LABEL, "90%");
	canvas_right(c, r, 11, 0, ROLE_LABEL, "mean");
	for (uint32_t y = 0; y < w->vis_lines; y++) {
		const struct heat_total row = heat_totals_row(at, ctx, s, y);

		heat_totals_draw_share(c, r, 6, (int)y + 1, ctx, w->quiet,
				       heat_totals_percentile(&row));
		heat_totals_draw_share(c, r, 11, (int)y + 1, ctx, w->quiet, heat_totals_mean(&row));
	}
	if (below)
		heat_totals_draw_below(t, at, ctx, s, c);
}

void heat_totals_done(struct heat_totals *t)
{
	free(t->col);
	memset(t, 0, sizeof(*t));
}
