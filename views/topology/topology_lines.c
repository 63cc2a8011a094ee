/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures of the topology's lines, and which lines are drawn. */
#include "fabric/base/memory/mem.h"
#include "fabric/model/tables/path.h"
#include "views/topology/topology_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INK_DOTS   30	  /* percent of the dots that lines may take ... */
#define INK_GLYPHS 55	  /* ... and of the cells, where they are drawn in signs */
#define INK_ARCS   80	  /* ... around switches: a picture without crossing slopes */
#define WORST_DOTS 40000  /* drawn at most, for the time it takes ... */
#define ALL_DOTS   300000 /* ... when all lines are wanted */

static struct chan_value topology_lines_worst_of(const struct topology_ui *u,
						 const struct context *ctx, const struct state *s,
						 const struct topology_layout_edge *e)
{
	const struct topology_layout *p = shown(u);
	const uint32_t *chan = p->chan + e->first;
	struct chan_value worst = { .glyph = '.', .role = ROLE_DIM };
	bool any = false;

	if (e->count && !ctx->job.id)
		return chan_value_of(u->metric, ctx->palette, s, &ctx->summary,
				     chan[chan_worst(u->metric, ctx->palette, s, &ctx->summary,
						     chan, e->count)]);
	for (uint32_t i = e->first; i < e->first + e->count; i++) {
		struct chan_value v =
			chan_value_of(u->metric, ctx->palette, s, &ctx->summary, p->chan[i]);

		if (context_dims(ctx, p->chan[i]))
			continue;
		if (!any || v.bad > worst.bad)
			worst = v;
		any = true;
	}
	return worst;
}

static void topology_lines_worsen(struct chan_value *at, const struct chan_value *v)
{
	if (!at->glyph || v->bad > at->bad)
		*at = *v;
}

void topology_metrics(struct topology_ui *u, const struct context *ctx, const struct state *s)
{
	const struct topology_layout *p = shown(u);
	struct topology_inputs now;

	memset(&now, 0, sizeof(now));
	now.rates = s->rates;
	now.sample = s->sample;
	now.metrics = chan_metrics(s);
	now.after = state_plan(s)->after;
	now.usage = state_usage(s);
	now.job = ctx->job.id;
	now.metric = u->metric;
	now.palette = ctx->palette;
	now.p = p;
	if (!memcmp(&now, &u->made, sizeof(now)))
		return;
	u->made = now;
	u->serial++;
	u->edge = xrealloc(u->edge, p->nedge + 1u, sizeof(*u->edge));
	u->node = xrealloc(u->node, p->nnode + 1u, sizeof(*u->node));
	u->leave = xrealloc(u->leave, p->nnode + 1u, sizeof(*u->leave));
	memset(u->node, 0, (p->nnode + 1u) * sizeof(*u->node));
	memset(u->leave, 0, (p->nnode + 1u) * sizeof(*u->leave));
	memset(u->of_level, 0, sizeof(u->of_level));
	for (uint32_t i = 0; i < p->nedge; i++) {
		u->edge[i] = topology_lines_worst_of(u, ctx, s, &p->edge[i]);
		if (isfinite(u->edge[i].pct))
			u->of_level[heat_level(u->edge[i].pct)]++;
		topology_lines_worsen(&u->node[p->edge[i].a], &u->edge[i]);
		topology_lines_worsen(&u->node[p->edge[i].b], &u->edge[i]);
		if (!p->edge[i].across)
			continue;
		topology_lines_worsen(&u->leave[p->edge[i].a], &u->edge[i]);
		topology_lines_worsen(&u->leave[p->edge[i].b], &u->edge[i]);
	}
	topology_worst_find(u, ctx, s);
}

/* Around what lies between the ends, above a row or beside a column. */
static uint32_t topology_lines_draw_arc(struct line_canvas *l, const struct step *z, float arc,
					float x0, float y0, float x1, float y1,
					const struct chan_value *v)
{
	bool row = fabsf(x0 - x1) > fabsf(y0 - y1);
	float up = row ? -arc * z->py : 0, aside = row ? 0 : arc * z->px;
	float in_x = row ? (x0 < x1 ? arc : -arc) * z->px : 0;
	float in_y = row ? 0 : (y0 < y1 ? arc : -arc) * z->py;
	float ax = x0 + in_x + aside, ay = y0 + in_y + up, bx = x1 - in_x + aside,
	      by = y1 - in_y + up;

	return line_canvas_add(l, x0, y0, ax, ay, v) + line_canvas_add(l, ax, ay, bx, by, v) +
	       line_canvas_add(l, bx, by, x1, y1, v);
}

static uint32_t topology_lines_draw_edge(struct line_canvas *l, const struct topology_ui *u,
					 uint32_t i, bool here)
{
	const struct step *z = &u->step[u->zoom];
	const struct topology_layout_edge *e = &z->p->edge[i];
	const struct topology_layout_node *a = &z->p->node[e->a], *b = &z->p->node[e->b];
	float x0 = place_x(u, a), y0 = place_y(u, a), x1 = place_x(u, b), y1 = place_y(u, b);

	if (e->across && !here)
		return 0;
	if (e->arc > 0)
		return topology_lines_draw_arc(l, z, e->arc, x0, y0, x1, y1, &u->edge[i]);
	if (!e->around)
		return line_canvas_add(l, x0, y0, x1, y1, &u->edge[i]);
	/* two ends that point at each other around the edge */
	if (fabsf(x0 - x1) > fabsf(y0 - y1)) {
		float out = x0 < x1 ? -z->px / 2 : z->px / 2;

		return line_canvas_add(l, x0, y0, x0 + out, y0, &u->edge[i]) +
		       line_canvas_add(l, x1, y1, x1 - out, y1, &u->edge[i]);
	}
	return line_canvas_add(l, x0, y0, x0, y0 + (y0 < y1 ? -z->py : z->py) / 2, &u->edge[i]) +
	       line_canvas_add(l, x1, y1, x1, y1 + (y0 < y1 ? z->py : -z->py) / 2, &u->edge[i]);
}

/* A terminal may be sent all of a small picture. */
static bool topology_lines_is_dense(const struct topology_ui *u)
{
	return u->win.w * u->win.h <= DENSE_CELLS;
}

static uint32_t topology_lines_cells(const struct topology_ui *u)
{
	if (u->lines == LINES_WORST && has_many_lines(u))
		return shown(u) == u->blocks ? BUNDLE_CELLS : MANY_CELLS;
	return topology_lines_is_dense(u) ? UINT32_MAX
	       : u->all.glyphs		  ? FEW_CELLS * 3 / 2
					  : FEW_CELLS;
}

static uint32_t topology_lines_cells_here(const struct topology_ui *u)
{
	if (u->lines == LINES_HERE)
		return topology_lines_is_dense(u) ? UINT32_MAX : FEW_CELLS;
	return topology_lines_is_dense(u) && (u->lines != LINES_WORST || !has_many_lines(u))
		       ? UINT32_MAX
		       : HERE_CELLS;
}

/* The begin of a line at both of its switches: there is no room for more of it. */
static void topology_lines_draw_ends(struct line_canvas *l, const struct topology_ui *u, uint32_t i)
{
	const struct topology_layout *p = shown(u);
	const struct topology_layout_edge *e = &p->edge[i];
	float x0 = place_x(u, &p->node[e->a]), y0 = place_y(u, &p->node[e->a]);
	float dx = place_x(u, &p->node[e->b]) - x0, dy = place_y(u, &p->node[e->b]) - y0;
	float part = STUB / fmaxf(fmaxf(fabsf(dx) / 3, fabsf(dy)), STUB);

	if (e->across || e->around || e->arc > 0)
		return;
	line_canvas_add(l, x0, y0, x0 + part * dx, y0 + part * dy, &u->edge[i]);
	line_canvas_add(l, x0 + dx, y0 + dy, x0 + (1 - part) * dx, y0 + (1 - part) * dy,
			&u->edge[i]);
}

/* Draws edges, worst first, until the screen or the time is full; of equals every k-th first, so
 * that none of the fabric is left out.  Where all are wanted the others begin, at least. */
static void topology_lines_draw_worst(struct topology_ui *u, uint32_t ink, uint32_t most)
{
	const struct topology_layout *p = shown(u);
	uint32_t cells = topology_lines_cells(u), count[257] = { 0 },
		 *order = xcalloc(p->nedge + 1u, sizeof(*order)), dots = 0, i = 0;
	uint64_t stride = 2654435761u % (p->nedge ? p->nedge : 1);

	while (p->nedge > 1 && stride > 1) { /* coprime to their number */
		uint64_t a = stride, b = p->nedge;

		while (b) {
			uint64_t rest = a % b;

			a = b;
			b = rest;
		}
		if (a == 1)
			break;
		stride--;
	}
	if (!stride)
		stride = 1;
	for (uint32_t k = 0; k < p->nedge; k++)
		count[256 - u->edge[k].bad]++;
	for (int k = 1; k <= 256; k++)
		count[k] += count[k - 1];
	for (uint64_t k = 0; k < p->nedge; k++) {
		uint32_t e = (uint32_t)(k * stride % p->nedge);

		order[count[255 - u->edge[e].bad]++] = e;
	}
	u->shown = 0;
	for (; i < p->nedge && u->all.lit < ink && u->all.ncell < cells && dots < most; i++) {
		uint32_t n = topology_lines_draw_edge(&u->all, u, order[i], false);

		dots += n;
		u->shown += n > 0;
	}
	for (; u->lines == LINES_ALL && i < p->nedge && u->all.ncell < cells + STUB_CELLS; i++)
		topology_lines_draw_ends(&u->all, u, order[i]);
	free(order);
}

/* Of the node under the cursor: all, or the worst as far as there is room. */
static void topology_lines_draw_here(struct topology_ui *u, uint32_t node)
{
	const struct topology_layout *p = shown(u);
	uint32_t cells = topology_lines_cells_here(u);
	uint32_t *of = xcalloc(p->nedge + 1u, sizeof(*of)), n = 0;

	for (uint32_t i = 0; i < p->nedge; i++)
		if (p->edge[i].a == node || p->edge[i].b == node)
			of[n++] = i;
	for (int bad = 255; bad >= 0; bad--)
		for (uint32_t k = 0; k < n && u->here.ncell < cells; k++)
			if (u->edge[of[k]].bad == bad)
				topology_lines_draw_edge(&u->here, u, of[k], true);
	free(of);
}

static void topology_lines_draw_chan(struct topology_ui *u, const struct fabric *f, uint32_t chan)
{
	const struct topology_layout *p = shown(u);
	uint32_t a = p->node_of[f->chan_src[chan]], b = p->node_of[f->chan_dst[chan]];

	for (uint32_t i = 0; i < p->nedge; i++)
		if ((p->edge[i].a == a && p->edge[i].b == b) ||
		    (p->edge[i].a == b && p->edge[i].b == a))
			u->shown += topology_lines_draw_edge(&u->all, u, i, true) > 0;
}

/* The path of view 0. */
static void topology_lines_draw_path(struct topology_ui *u, const struct state *s,
				     struct path_ends ends)
{
	struct path p;

	if (ends.src == FAB_NONE || !ends.dlid || !s->tables || s->tables->nsw != s->fabric->nsw ||
	    s->tables->nend != s->fabric->nend)
		return;
	path_walk(&p, s->fabric, s->tables, ends.src, ends.dlid);
	for (uint32_t i = 0; i < p.nhop; i++)
		if (p.hop[i].chan != FAB_NONE)
			topology_lines_draw_chan(u, s->fabric, p.hop[i].chan);
}

static bool topology_lines_edge_tagged(const struct topology_layout *p,
				       const struct topology_layout_edge *e,
				       const struct context *ctx)
{
	for (uint32_t i = e->first; i < e->first + e->count; i++)
		if (tags_chan(&ctx->tags, p->chan[i]))
			return true;
	return false;
}

/* A sign in the middle of a line; around the edge of the picture: where it leaves its beginning. */
static void topology_lines_mark(const struct topology_ui *u, struct canvas *c,
				const struct topology_layout_edge *e, uint32_t sign)
{
	const struct topology_layout_node *a = &shown(u)->node[e->a], *b = &shown(u)->node[e->b];

	const struct step *z = &u->step[u->zoom];
	float x = (place_x(u, a) + place_x(u, b)) / 2, y = (place_y(u, a) + place_y(u, b)) / 2;

	if (e->around) {
		x = place_x(u, b) + (place_x(u, b) > place_x(u, a) ? 3 : 0);
		y = place_y(u, b) + (place_y(u, b) > place_y(u, a) ? 1 : 0);
	} else if (a->y == b->y) {
		y -= e->arc * z->py;
	} else {
		x += e->arc * z->px;
	}
	canvas_char(c, u->win, (int)x, (int)y, ROLE_KEY, sign);
}

/* Tagged cables are always drawn, with a sign in their middle. */
static void topology_lines_draw_tagged(struct topology_ui *u, const struct context *ctx,
				       struct canvas *c, bool glyphs)
{
	const struct topology_layout *p = shown(u);

	if (!tags_any(&ctx->tags))
		return;
	line_canvas_clear(&u->tagged, u->win.w, u->win.h, glyphs);
	for (uint32_t i = 0; i < p->nedge; i++)
		if (topology_lines_edge_tagged(p, &p->edge[i], ctx))
			topology_lines_draw_edge(&u->tagged, u, i, true);
	line_canvas_draw(&u->tagged, c, u->win);
	for (uint32_t i = 0; i < p->nedge; i++)
		if (topology_lines_edge_tagged(p, &p->edge[i], ctx))
			topology_lines_mark(u, c, &p->edge[i], TAG_POINT);
}

bool topology_node_tagged(const struct topology_ui *u, const struct context *ctx, uint32_t node)
{
	const struct topology_layout_node *n = &shown(u)->node[node];

	for (uint32_t i = 0; i < n->count; i++)
		if (tags_switch(&ctx->tags, shown(u)->sw[n->first + i]))
			return true;
	return false;
}

bool topology_node_noted(const struct topology_ui *u, const struct state *s, uint32_t node)
{
	const struct topology_layout_node *n = &shown(u)->node[node];

	for (uint32_t i = 0; s->row_notes && s->row_notes->list.n && i < n->count; i++)
		if (row_notes_switch(s->row_notes, s->fabric, shown(u)->sw[n->first + i]))
			return true;
	return false;
}

/* Cables with a note have its sign in the middle of their line. */
static void topology_lines_draw_notes(const struct topology_ui *u, const struct state *s,
				      struct canvas *c)
{
	const struct topology_layout *p = shown(u);

	for (uint32_t i = 0; s->row_notes && s->row_notes->list.n && i < p->nedge; i++)
		for (uint32_t k = p->edge[i].first; k < p->edge[i].first + p->edge[i].count; k++)
			if (row_notes_chan(s->row_notes, s->fabric, p->chan[k])) {
				topology_lines_mark(u, c, &p->edge[i], NOTE_POINT);
				break;
			}
}

void topology_lines(struct topology_ui *u, const struct context *ctx, const struct state *s,
		    struct canvas *c, bool glyphs)
{
	struct layer_from now;
	uint32_t room = (uint32_t)(u->win.w * u->win.h) *
			(!glyphs	  ? 8 * INK_DOTS
			 : shown(u)->arcs ? INK_ARCS
					  : INK_GLYPHS) /
			100;

	memset(&now, 0, sizeof(now));
	now.serial = u->serial;
	now.win = u->win;
	now.left = u->left;
	now.top = u->top;
	now.px = u->step[u->zoom].px;
	now.py = u->step[u->zoom].py;
	now.lines = u->lines;
	now.cursor = cursor_node(u);
	now.glyphs = glyphs;
	if (u->lines == LINES_PATH) {
		now.path.src = ctx->path.src;
		now.path.dlid = ctx->path.dlid;
		now.tables = s->tables;
	}
	if (memcmp(&now, &u->drawn, sizeof(now)) != 0) {
		bool moved = now.cursor != u->drawn.cursor;

		u->drawn.cursor = now.cursor;
		if (!moved || memcmp(&now, &u->drawn, sizeof(now)) != 0) {
			line_canvas_clear(&u->all, u->win.w, u->win.h, glyphs);
			u->shown = 0;
			if (u->lines == LINES_PATH)
				topology_lines_draw_path(u, s, now.path);
			else if (u->lines != LINES_HERE)
				topology_lines_draw_worst(
					u, u->lines == LINES_ALL ? UINT32_MAX : room,
					u->lines == LINES_ALL ? ALL_DOTS : WORST_DOTS);
		}
		line_canvas_clear(&u->here, u->win.w, u->win.h, glyphs);
		if (u->lines != LINES_PATH)
			topology_lines_draw_here(u, now.cursor);
		u->drawn = now;
	}
	line_canvas_draw(&u->all, c, u->win);
	line_canvas_draw(&u->here, c, u->win);
	topology_lines_draw_notes(u, s, c);
	topology_lines_draw_tagged(u, ctx, c, glyphs);
}
