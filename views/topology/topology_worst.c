/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of the topology's picture as a list, worst first. */
#include "fabric/base/memory/mem.h"
#include "views/canvas/name_fit.h"
#include "views/topology/topology_priv.h"

#include <math.h>
#include <stdlib.h>

#define ROOM_W	160 /* screens that have room for the list and the picture */
#define ROOM_H	50
#define FIGURES 22 /* columns before the names */
#define RATES	12 /* of them those of rates */

/* Columns before the names: a dump has no rates. */
static int topology_worst_figures(const struct state *s)
{
	return s->mode == RUN_FILE && !s->rates ? FIGURES - RATES : FIGURES;
}

static bool topology_worst_less(const struct chan_value *a, const struct chan_value *b)
{
	if (a->bad != b->bad)
		return a->bad < b->bad;
	return !(a->pct >= b->pct) && isfinite(b->pct);
}

/* Puts an edge among the worst so far, behind its equals; returns how many there are then. */
static uint32_t topology_worst_add(const struct topology_ui *u, uint32_t worst[WORST_LINES],
				   uint32_t n, uint32_t edge)
{
	uint32_t at = n;

	while (at && topology_worst_less(&u->edge[worst[at - 1]], &u->edge[edge]))
		at--;
	if (at == WORST_LINES)
		return n;
	n += n < WORST_LINES;
	for (uint32_t i = n - 1; i > at; i--)
		worst[i] = worst[i - 1];
	worst[at] = edge;
	return n;
}

static uint32_t topology_worst_chan(const struct topology_ui *u, const struct context *ctx,
				    const struct state *s, uint32_t edge)
{
	const struct topology_layout *p = shown(u);
	const struct topology_layout_edge *e = &p->edge[edge];
	uint32_t best = FAB_NONE;
	int bad = -1;

	for (uint32_t i = e->first; i < e->first + e->count; i++) {
		struct chan_value v =
			chan_value_of(u->metric, ctx->palette, s, &ctx->summary, p->chan[i]);

		if (context_dims(ctx, p->chan[i]) || v.bad <= bad)
			continue;
		bad = v.bad;
		best = p->chan[i];
	}
	return best;
}

void topology_worst_find(struct topology_ui *u, const struct context *ctx, const struct state *s)
{
	const struct topology_layout *p = shown(u);
	uint32_t edge[WORST_LINES], n = 0, of = 0;

	for (uint32_t i = 0; i < p->nedge && !has_many_lines(u); i++)
		n = topology_worst_add(u, edge, n, i);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t chan = topology_worst_chan(u, ctx, s, edge[i]);

		if (chan != FAB_NONE)
			u->worst[of++] = chan;
	}
	while (of < WORST_LINES)
		u->worst[of++] = FAB_NONE;
}

int topology_worst_height(const struct topology_ui *u, struct rect r)
{
	const struct topology_layout *p = u->fine;

	return r.w >= ROOM_W && r.h >= ROOM_H && p->nedge && p->nedge <= MANY_LINES ? WORST_HEIGHT
										    : 0;
}

static void topology_worst_draw_row(const struct topology_ui *u, const struct context *ctx,
				    const struct state *s, struct canvas *c, struct rect r, int y,
				    uint32_t chan)
{
	const struct port_rate *p = state_rate(s, chan_fabric_port(s->fabric, chan));
	const struct metrics *m = chan_metrics(s);
	struct chan_value v = chan_value_of(u->metric, ctx->palette, s, &ctx->summary, chan);
	char util[FIGURE_LEN], wait[FIGURE_LEN], efi[FIGURE_LEN] = "-", label[256];
	int figures = topology_worst_figures(s);

	if (m)
		figure_short(efi, m->efi[chan]);
	canvas_char(c, r, 1, y, v.role, (uint32_t)(unsigned char)v.glyph);
	if (figures == FIGURES)
		canvas_textf(c, r, 3, y, ROLE_TEXT, "%4s%% %5s",
			     figure_pct(util, p ? p->util_pct : NAN),
			     figure_pct(wait, p ? p->wait_pct : NAN));
	canvas_rightf(c, r, figures - 1, y, ROLE_TEXT, "%6s", efi);
	name_fit_draw(c, r, figures, y, r.w - figures - 2, ROLE_TEXT, s->fabric,
		      chan_label(label, sizeof(label), s->fabric, chan));
}

void topology_worst_draw(const struct topology_ui *u, const struct context *ctx,
			 const struct state *s, struct canvas *c, struct rect r)
{
	int w = r.w / WORST_COLUMNS;

	for (uint32_t i = 0; i < WORST_LINES; i++) {
		struct rect column = { r.x + w * (int)(i / WORST_ROWS), r.y, w, r.h };

		if (i && u->worst[i] == FAB_NONE)
			return;
		if (i % WORST_ROWS == 0)
			canvas_text(c, column, 1, 0, ROLE_LABEL,
				    topology_worst_figures(s) == FIGURES
					    ? "   util  wait    EFI worst lines"
					    : "     EFI worst lines");
		if (u->worst[i] == FAB_NONE)
			canvas_text(c, column, 1, 1, ROLE_DIM, "no path of the job uses a line");
		else
			topology_worst_draw_row(u, ctx, s, c, column, 1 + (int)(i % WORST_ROWS),
						u->worst[i]);
	}
}
