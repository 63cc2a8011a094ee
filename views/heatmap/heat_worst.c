/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/heatmap/heat_worst.h"

#include "views/canvas/name_fit.h"
#include "views/data/state/chan_text.h"

#include <math.h>
#include <string.h>

#define FIGURES 23 /* columns before the names */
#define RATES	11 /* of them those of rates */
#define JOBS	13 /* columns that say something about jobs */

/* Columns before the names: a dump has no rates. */
static int heat_worst_figures(const struct state *s)
{
	return s->mode == RUN_FILE && !s->rates ? FIGURES - RATES : FIGURES;
}

static bool heat_worst_less(const struct heat_cell *a, const struct heat_cell *b)
{
	if (a->value.bad != b->value.bad)
		return a->value.bad < b->value.bad;
	return !(a->value.pct >= b->value.pct) && isfinite(b->value.pct);
}

/* Puts a cell among the worst so far, behind its equals. */
static void heat_worst_add(const struct heat_cell *worst[HEAT_WORST], uint32_t *n, uint32_t most,
			   const struct heat_cell *cell)
{
	uint32_t at = *n;

	while (at && heat_worst_less(worst[at - 1], cell))
		at--;
	if (at == most)
		return;
	if (*n < most)
		++*n;
	memmove(&worst[at + 1], &worst[at], (*n - 1 - at) * sizeof(worst[0]));
	worst[at] = cell;
}

static uint32_t heat_worst_find(const struct heat_cell *worst[HEAT_WORST], uint32_t most,
				const struct heat_cells *cells, const struct heat_window *w)
{
	uint32_t n = 0;

	for (size_t i = 0; i < (size_t)w->vis_rows * w->vis_cols; i++)
		if (cells->cell[i].count && !cells->cell[i].dim)
			heat_worst_add(worst, &n, most, &cells->cell[i]);
	return n;
}

static void heat_worst_draw_row(const struct heat_cell *cell, const struct context *ctx,
				const struct state *s, struct canvas *c, struct rect r, int y,
				int names)
{
	const struct port_rate *p = state_rate(s, chan_fabric_port(s->fabric, cell->chan));
	const struct metrics *m = chan_metrics(s);
	char util[FIGURE_LEN], wait[FIGURE_LEN], efi[FIGURE_LEN] = "-", text[256];
	int figures = heat_worst_figures(s), jobs = figures + names + 2;

	if (m)
		figure_short(efi, m->efi[cell->chan]);
	canvas_char(c, r, 2, y, cell->value.role, (uint32_t)(unsigned char)cell->value.glyph);
	if (figures == FIGURES) {
		canvas_textf(c, r, 4, y, heat_role(ctx->palette, p ? heat_level(p->util_pct) : 0),
			     "%4s%%", figure_pct(util, p ? p->util_pct : NAN));
		canvas_textf(c, r, 10, y, ROLE_TEXT, "%5s",
			     figure_pct(wait, p ? p->wait_pct : NAN));
	}
	canvas_rightf(c, r, figures - 1, y, ROLE_TEXT, "%6s", efi);
	name_fit_draw(c, r, figures, y, names, ROLE_TEXT, s->fabric,
		      chan_label(text, sizeof(text), s->fabric, cell->chan));
	if (jobs + JOBS < r.w)
		canvas_text(c, r, jobs, y, ROLE_DIM,
			    chan_jobs_text(text, sizeof(text), s, cell->chan, r.w - jobs - 1));
}

/* The longest in sight: a name is not cut for the jobs beside it. */
static int heat_worst_names(const struct heat_cell *const *worst, uint32_t n, const struct state *s,
			    int w)
{
	int most = 4, room = w - heat_worst_figures(s) - 1;
	char text[256];

	for (uint32_t i = 0; i < n; i++) {
		int wide = text_width(chan_label(text, sizeof(text), s->fabric, worst[i]->chan));

		most = wide > most ? wide : most;
	}
	return most < room ? most : room;
}

void heat_worst_draw(struct heat_worst *l, const struct heat_cells *cells,
		     const struct heat_window *w, const struct context *ctx, const struct state *s,
		     struct canvas *c, struct rect r, uint32_t here)
{
	const struct heat_cell *worst[HEAT_WORST];
	uint32_t most = r.h - 1 < HEAT_WORST ? (uint32_t)(r.h - 1) : HEAT_WORST;
	int names, jobs, figures = heat_worst_figures(s);

	l->n = heat_worst_find(worst, most, cells, w);
	l->at = (struct rect){ r.x, r.y + 1, r.w, (int)l->n };
	names = heat_worst_names(worst, l->n, s, r.w);
	jobs = figures + names + 2;
	canvas_text(c, r, 2, 0, ROLE_LABEL,
		    figures == FIGURES ? "worst  util  wait    EFI link" : "worst EFI link");
	if (jobs + JOBS < r.w)
		canvas_text(c, r, jobs, 0, ROLE_LABEL, "paths of jobs");
	for (uint32_t i = 0; i < l->n; i++) {
		l->chan[i] = worst[i]->chan;
		heat_worst_draw_row(worst[i], ctx, s, c, r, (int)i + 1, names);
		if (l->chan[i] == here)
			canvas_char(c, r, 0, (int)i + 1, ROLE_KEY, '>');
	}
}

uint32_t heat_worst_at(const struct heat_worst *l, int x, int y)
{
	if (x < l->at.x || x >= l->at.x + l->at.w || y < l->at.y || y >= l->at.y + (int)l->n)
		return FAB_NONE;
	return l->chan[y - l->at.y];
}
