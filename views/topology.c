/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The topology as a picture: switches at their places, cables as lines in the colour of a figure.
 *
 * Places are computed once per fabric, figures once per sample, and the lines are drawn anew
 * when one of these or the part in sight changes; a frame then costs O(cells + switches).  There is
 * room for so many lines only: the worst ones are drawn, and all those of the switch under the
 * cursor.
 */
#include "fabric/base/mem.h"
#include "fabric/model/end_find.h"
#include "fabric/model/path.h"
#include "views/chan_value.h"
#include "views/line_layer.h"
#include "views/list.h"
#include "views/picture.h"
#include "views/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS	   6
#define DETAIL	   5	  /* lines at the bottom: a rule and four */
#define INK_DOTS   30	  /* percent of the dots that lines may take ... */
#define INK_GLYPHS 55	  /* ... and of the cells, where they are drawn in signs */
#define WORST_DOTS 40000  /* drawn at most, for the time it takes ... */
#define ALL_DOTS   300000 /* ... when all lines are wanted */

enum lines { LINES_WORST, LINES_HERE, LINES_ALL, LINES_PATH, LINES_KINDS };

/* One step of the zoom: what is drawn, and how many cells a unit of it takes. */
struct step {
	const struct picture *p;
	float px, py;
	float y0; /* of the first row */
};

/* What the figures and the lines were made from. */
struct figures_from {
	const void *rates, *sample, *metrics, *after, *usage;
	enum chan_metric metric;
	enum palette palette;
	uint64_t job;
	const struct picture *p;
};
struct layer_from {
	uint64_t serial;
	struct rect win;
	float left, top, px, py;
	enum lines lines;
	uint32_t cursor;
	bool glyphs;
	struct path_ends path;
	const void *tables;
};

struct topology_ui {
	struct picture *fine, *blocks;
	struct step step[STEPS];
	uint32_t nstep, zoom;
	bool placed;	 /* the zoom was chosen */
	uint32_t cursor; /* switch */
	uint32_t told;	 /* channel taken from other views last */
	uint32_t told_sw;
	enum chan_metric metric;
	enum lines lines;
	struct rect win;
	float left, top; /* cells out of sight */

	struct chan_value *edge, *node; /* worst of each */
	struct chan_value *leave;	/* of a node: worst to other planes; no glyph: none */
	struct figures_from made;
	uint64_t serial; /* of the figures */
	struct line_layer all, here, tagged;
	struct layer_from drawn;
	uint32_t shown; /* lines */

	struct entry find;
};

static void forget(struct topology_ui *u)
{
	picture_free(u->fine);
	picture_free(u->blocks);
	free(u->edge);
	free(u->node);
	free(u->leave);
	u->fine = u->blocks = NULL;
	u->edge = u->node = u->leave = NULL;
	memset(&u->made, 0, sizeof(u->made));
}

static void topology_done(void *own)
{
	struct topology_ui *u = own;

	forget(u);
	line_layer_done(&u->all);
	line_layer_done(&u->here);
	line_layer_done(&u->tagged);
}

static const struct picture *shown(const struct topology_ui *u)
{
	return u->step[u->zoom].p;
}

static uint32_t cursor_node(const struct topology_ui *u)
{
	return shown(u)->node_of[u->cursor];
}

/* --- zoom and what is in sight --- */

/* Rows of levels reach from the first line to the last. */
static void add_step(struct topology_ui *u, const struct picture *p, float px, float py)
{
	struct step *z = &u->step[u->nstep];

	if (u->nstep == STEPS)
		return;
	*z = (struct step){ p, px, py, 0 };
	if (p->levels) {
		z->py = p->h > 1 ? (float)(u->win.h - 1) / (p->h - 1) : 1;
		z->y0 = 0.5f - 0.5f / fmaxf(z->py, 0.01f);
	}
	u->nstep++;
}

static void find_steps(struct topology_ui *u)
{
	static const float pitches[] = { 2, 5, 10, 18 };
	const struct picture *p = u->fine;
	float fit_x = (float)u->win.w / p->w, fit_y = (float)u->win.h / p->h, last = 0;

	u->nstep = 0;
	if (u->blocks && (fit_x < 2 || fit_y < 1))
		add_step(u, u->blocks, (float)u->win.w / u->blocks->w,
			 (float)u->win.h / u->blocks->h);
	else
		add_step(u, p, last = fit_x, fit_y);
	for (size_t i = 0; i < sizeof(pitches) / sizeof(pitches[0]); i++) {
		float px = fmaxf(pitches[i], fit_x);

		if (px < last * 1.4f)
			continue;
		last = px;
		add_step(u, p, px, fmaxf(fmaxf(fit_y, px / 2.2f), 1));
	}
	if (u->zoom >= u->nstep)
		u->zoom = u->nstep - 1;
}

static float place_x(const struct topology_ui *u, const struct picture_node *n)
{
	return n->x * u->step[u->zoom].px - u->left;
}

static float place_y(const struct topology_ui *u, const struct picture_node *n)
{
	return (n->y - u->step[u->zoom].y0) * u->step[u->zoom].py - u->top;
}

/* Keeps offset where it is as long as place is in sight, with a margin. */
static float scroll(float offset, float place, float size, float seen)
{
	float margin = fminf(4, seen / 4);

	if (size <= seen)
		return 0;
	if (place - offset < margin)
		offset = place - margin;
	if (place - offset > seen - margin)
		offset = place - seen + margin;
	return floorf(fminf(fmaxf(offset, 0), size - seen));
}

static void follow_cursor(struct topology_ui *u)
{
	const struct step *z = &u->step[u->zoom];
	const struct picture_node *n = &z->p->node[cursor_node(u)];

	u->left = scroll(u->left, n->x * z->px, z->p->w * z->px, (float)u->win.w);
	u->top = z->p->levels ? 0 : scroll(u->top, n->y * z->py, z->p->h * z->py, (float)u->win.h);
}

/* --- figures --- */

static struct chan_value worst_of(const struct topology_ui *u, const struct ui *ui,
				  const struct state *s, const struct picture_edge *e)
{
	const struct picture *p = shown(u);
	const uint32_t *chan = p->chan + e->first;
	struct chan_value worst = { .glyph = '.', .role = ROLE_DIM };
	bool any = false;

	if (e->count && !ui_selected_job(ui))
		return chan_value_of(u->metric, ui_palette(ui), s, ui_survey(ui),
				     chan[chan_worst(u->metric, ui_palette(ui), s, ui_survey(ui),
						     chan, e->count)]);
	for (uint32_t i = e->first; i < e->first + e->count; i++) {
		struct chan_value v =
			chan_value_of(u->metric, ui_palette(ui), s, ui_survey(ui), p->chan[i]);

		if (ui_job_dims(ui, p->chan[i]))
			continue;
		if (!any || v.bad > worst.bad)
			worst = v;
		any = true;
	}
	return worst;
}

static void worsen(struct chan_value *at, const struct chan_value *v)
{
	if (!at->glyph || v->bad > at->bad)
		*at = *v;
}

static void read_figures(struct topology_ui *u, const struct ui *ui, const struct state *s)
{
	const struct picture *p = shown(u);
	struct figures_from now;

	memset(&now, 0, sizeof(now));
	now.rates = s->rates;
	now.sample = s->sample;
	now.metrics = state_metrics(s);
	now.after = state_preview_ready(s) ? s->preview.after : NULL;
	now.usage = state_usage(s);
	now.job = ui_selected_job(ui);
	now.metric = u->metric;
	now.palette = ui_palette(ui);
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
	for (uint32_t i = 0; i < p->nedge; i++) {
		u->edge[i] = worst_of(u, ui, s, &p->edge[i]);
		worsen(&u->node[p->edge[i].a], &u->edge[i]);
		worsen(&u->node[p->edge[i].b], &u->edge[i]);
		if (!p->edge[i].across)
			continue;
		worsen(&u->leave[p->edge[i].a], &u->edge[i]);
		worsen(&u->leave[p->edge[i].b], &u->edge[i]);
	}
}

static void follow(struct topology_ui *u, struct ui *ui, const struct state *s)
{
	uint32_t chan = ui_selected_chan(ui), sw = ui_selected_switch(ui);

	if (!u->fine || u->fine->fabric != s->fabric) {
		forget(u);
		picture_new(&u->fine, &u->blocks, s->fabric, ui_survey(ui)->shape);
		u->cursor = u->fine->sw[u->fine->node[0].first];
		u->told = u->told_sw = FAB_NONE;
		u->placed = false;
	}
	if (chan != FAB_NONE && chan != u->told)
		u->cursor = s->fabric->chan_src[chan];
	if (sw != FAB_NONE && sw != u->told_sw)
		u->cursor = sw;
	u->told = chan;
	u->told_sw = sw;
	if (ui_comparing(ui) && state_preview_ready(s))
		u->metric = CHAN_DELTA;
	else if (u->metric == CHAN_DELTA)
		u->metric = CHAN_UTIL;
}

/* --- lines --- */

static uint32_t draw_edge(struct line_layer *l, const struct topology_ui *u, uint32_t i, bool here)
{
	const struct step *z = &u->step[u->zoom];
	const struct picture_edge *e = &z->p->edge[i];
	const struct picture_node *a = &z->p->node[e->a], *b = &z->p->node[e->b];
	float x0 = place_x(u, a), y0 = place_y(u, a), x1 = place_x(u, b), y1 = place_y(u, b);

	if (e->across && !here)
		return 0;
	if (!e->around)
		return line_layer_add(l, x0, y0, x1, y1, &u->edge[i]);
	/* two ends that point at each other around the edge */
	if (fabsf(x0 - x1) > fabsf(y0 - y1)) {
		float out = x0 < x1 ? -z->px / 2 : z->px / 2;

		return line_layer_add(l, x0, y0, x0 + out, y0, &u->edge[i]) +
		       line_layer_add(l, x1, y1, x1 - out, y1, &u->edge[i]);
	}
	return line_layer_add(l, x0, y0, x0, y0 + (y0 < y1 ? -z->py : z->py) / 2, &u->edge[i]) +
	       line_layer_add(l, x1, y1, x1, y1 + (y0 < y1 ? z->py : -z->py) / 2, &u->edge[i]);
}

/* Draws edges, worst first, until the screen or the time is full; of equals every k-th first, so
 * that none of the fabric is left out. */
static void draw_worst(struct topology_ui *u, uint32_t ink, uint32_t most)
{
	const struct picture *p = shown(u);
	uint32_t count[257] = { 0 }, *order = xcalloc(p->nedge + 1u, sizeof(*order)), dots = 0;
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
	for (uint32_t i = 0; i < p->nedge; i++)
		count[256 - u->edge[i].bad]++;
	for (int k = 1; k <= 256; k++)
		count[k] += count[k - 1];
	for (uint64_t i = 0; i < p->nedge; i++) {
		uint32_t e = (uint32_t)(i * stride % p->nedge);

		order[count[255 - u->edge[e].bad]++] = e;
	}
	u->shown = 0;
	for (uint32_t i = 0; i < p->nedge && u->all.lit < ink && dots < most; i++) {
		uint32_t n = draw_edge(&u->all, u, order[i], false);

		dots += n;
		u->shown += n > 0;
	}
	free(order);
}

static void draw_chan(struct topology_ui *u, const struct fabric *f, uint32_t chan)
{
	const struct picture *p = shown(u);
	uint32_t a = p->node_of[f->chan_src[chan]], b = p->node_of[f->chan_dst[chan]];

	for (uint32_t i = 0; i < p->nedge; i++)
		if ((p->edge[i].a == a && p->edge[i].b == b) ||
		    (p->edge[i].a == b && p->edge[i].b == a))
			u->shown += draw_edge(&u->all, u, i, true) > 0;
}

/* The path of view 0. */
static void draw_path(struct topology_ui *u, const struct state *s, struct path_ends ends)
{
	struct path p;

	if (ends.src == FAB_NONE || !ends.dlid || !s->tables || s->tables->nsw != s->fabric->nsw ||
	    s->tables->nend != s->fabric->nend)
		return;
	path_walk(&p, s->fabric, s->tables, ends.src, ends.dlid);
	for (uint32_t i = 0; i < p.nhop; i++)
		if (p.hop[i].chan != FAB_NONE)
			draw_chan(u, s->fabric, p.hop[i].chan);
}

static bool edge_tagged(const struct picture *p, const struct picture_edge *e, const struct ui *ui)
{
	for (uint32_t i = e->first; i < e->first + e->count; i++)
		if (ui_chan_tagged(ui, p->chan[i]))
			return true;
	return false;
}

/* Tagged cables are always drawn, with a sign in their middle. */
static void draw_tagged(struct topology_ui *u, const struct ui *ui, struct canvas *c, bool glyphs)
{
	const struct picture *p = shown(u);

	if (!ui_any_tagged(ui))
		return;
	line_layer_clear(&u->tagged, u->win.w, u->win.h, glyphs);
	for (uint32_t i = 0; i < p->nedge; i++)
		if (edge_tagged(p, &p->edge[i], ui))
			draw_edge(&u->tagged, u, i, true);
	line_layer_draw(&u->tagged, c, u->win);
	for (uint32_t i = 0; i < p->nedge; i++) {
		const struct picture_node *a = &p->node[p->edge[i].a], *b = &p->node[p->edge[i].b];
		bool around = p->edge[i].around;

		if (!edge_tagged(p, &p->edge[i], ui))
			continue;
		/* around the edge of the picture: where the line leaves its beginning */
		canvas_char(c, u->win,
			    (int)(around ? place_x(u, b) + (place_x(u, b) > place_x(u, a)) * 3
					 : (place_x(u, a) + place_x(u, b)) / 2),
			    (int)(around ? place_y(u, b) + (place_y(u, b) > place_y(u, a))
					 : (place_y(u, a) + place_y(u, b)) / 2),
			    ROLE_KEY, TAG_POINT);
	}
}

static bool node_tagged(const struct topology_ui *u, const struct ui *ui, uint32_t node)
{
	const struct picture_node *n = &shown(u)->node[node];

	for (uint32_t i = 0; i < n->count; i++)
		if (ui_switch_tagged(ui, shown(u)->sw[n->first + i]))
			return true;
	return false;
}

static void draw_lines(struct topology_ui *u, const struct ui *ui, const struct state *s,
		       struct canvas *c, bool glyphs)
{
	const struct picture *p = shown(u);
	struct layer_from now;
	uint32_t room =
		(uint32_t)(u->win.w * u->win.h) * (glyphs ? INK_GLYPHS : 8 * INK_DOTS) / 100;

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
		now.path.src = ui_path_ends(ui).src;
		now.path.dlid = ui_path_ends(ui).dlid;
		now.tables = s->tables;
	}
	if (memcmp(&now, &u->drawn, sizeof(now)) != 0) {
		bool moved = now.cursor != u->drawn.cursor;

		u->drawn.cursor = now.cursor;
		if (!moved || memcmp(&now, &u->drawn, sizeof(now)) != 0) {
			line_layer_clear(&u->all, u->win.w, u->win.h, glyphs);
			u->shown = 0;
			if (u->lines == LINES_PATH)
				draw_path(u, s, now.path);
			else if (u->lines != LINES_HERE)
				draw_worst(u, u->lines == LINES_ALL ? UINT32_MAX : room,
					   u->lines == LINES_ALL ? ALL_DOTS : WORST_DOTS);
		}
		line_layer_clear(&u->here, u->win.w, u->win.h, glyphs);
		for (uint32_t i = 0; i < p->nedge && u->lines != LINES_PATH; i++)
			if (p->edge[i].a == now.cursor || p->edge[i].b == now.cursor)
				draw_edge(&u->here, u, i, true);
		u->drawn = now;
	}
	line_layer_draw(&u->all, c, u->win);
	line_layer_draw(&u->here, c, u->win);
	draw_tagged(u, ui, c, glyphs);
}

/* --- nodes --- */

static void block_name(char *buf, size_t len, const struct topology_ui *u, uint32_t node)
{
	snprintf(buf, len, "%s %u", shown(u)->block, node + 1);
}

static void node_text(char *buf, size_t len, const struct topology_ui *u, const struct state *s,
		      uint32_t node, int room)
{
	const struct picture_node *n = &shown(u)->node[node];
	uint32_t sw = shown(u)->sw[n->first];
	char name[NAME_LEN];

	if (n->count > 1 || shown(u) == u->blocks) {
		block_name(name, sizeof(name), u, node);
		if (room >= (int)strlen(name) + 1)
			snprintf(buf, len, "%s", name);
		else if (room >= 4)
			snprintf(buf, len, "%u", node + 1);
		else
			snprintf(buf, len, "#");
		return;
	}
	if (room >= 6)
		text_shorten(buf, len, switch_label(name, sizeof(name), s->fabric, sw), room - 1);
	else
		snprintf(buf, len, "%s", s->fabric->sw_nterm[sw] ? "O" : "o");
}

/* Worst of the ports of a node, and the sign for it. */
static enum problem node_problem(const struct topology_ui *u, const struct survey *v,
				 const struct state *s, uint32_t node)
{
	const struct picture_node *n = &shown(u)->node[node];
	uint8_t worst = PROBLEM_NONE;

	for (uint32_t i = 0; i < n->count; i++) {
		uint32_t sw = shown(u)->sw[n->first + i];

		for (uint32_t p = s->fabric->port_off[sw]; p < s->fabric->port_off[sw + 1]; p++)
			worst = v->problem[p] > worst ? v->problem[p] : worst;
	}
	return (enum problem)worst;
}

/* Cables to other planes would cross all of the picture: their worst is a sign right below the
 * switch, or beside it where rows are close. */
static void draw_leave(const struct topology_ui *u, struct canvas *c, uint32_t node, int right,
		       int y)
{
	const struct chan_value *v = &u->leave[node];

	if (v->glyph)
		canvas_char(c, u->win, right, u->step[u->zoom].py >= 2 ? y + 1 : y, v->role,
			    (uint32_t)(unsigned char)v->glyph);
}

static void draw_node(struct topology_ui *u, const struct ui *ui, struct canvas *c,
		      const struct state *s, uint32_t node, bool joined)
{
	const struct step *z = &u->step[u->zoom];
	const struct picture_node *n = &z->p->node[node];
	float fx = place_x(u, n), fy = place_y(u, n);
	int room = (int)(n->room * z->px), w, x, y = (int)fy;
	enum role role = u->node[node].glyph ? u->node[node].role : ROLE_DIM;
	enum problem bad;
	char text[NAME_LEN];

	if (fx < -8 || fy < 0 || fx >= (float)u->win.w + 8 || y >= u->win.h)
		return;
	node_text(text, sizeof(text), u, s, node, room);
	w = text_width(text);
	x = (int)fx - w / 2;
	if (joined)
		role = fill_role(role);
	canvas_text(c, u->win, x, y, role == ROLE_DIM ? ROLE_TEXT : role, text);
	if (w < room)
		draw_leave(u, c, node, x + w, y);
	bad = node_problem(u, ui_survey(ui), s, node);
	if (bad && w < room)
		canvas_char(c, u->win, x + w, y, bad >= PROBLEM_NO_REPLY ? ROLE_BAD : ROLE_WARN,
			    (uint32_t)problem_glyph(bad));
	if (node_tagged(u, ui, node))
		canvas_char(c, u->win, x - 1, y, ROLE_KEY, TAG_POINT);
	if (node != cursor_node(u))
		return;
	canvas_style(c, (struct rect){ u->win.x + x, u->win.y + y, w, 1 }, ROLE_CURSOR, true);
	if (w == 1 || c->ascii || !s->colours) {
		if (!node_tagged(u, ui, node))
			canvas_char(c, u->win, x - 1, y, ROLE_KEY, '[');
		canvas_char(c, u->win, x + w, y, ROLE_KEY, ']');
	}
}

static void draw_nodes(struct topology_ui *u, const struct ui *ui, struct canvas *c,
		       const struct state *s)
{
	const struct picture *p = shown(u);
	uint8_t *joined = xcalloc(p->nnode + 1u, 1);
	uint32_t at = cursor_node(u);

	for (uint32_t i = 0; i < p->nedge; i++)
		if (p->edge[i].a == at || p->edge[i].b == at)
			joined[p->edge[i].a] = joined[p->edge[i].b] = 1;
	for (uint32_t i = 0; i < p->nnode; i++)
		if (i != at)
			draw_node(u, ui, c, s, i, joined[i]);
	draw_node(u, ui, c, s, at, false);
	free(joined);
}

/* --- around the picture --- */

static void draw_title(const struct topology_ui *u, const char *note, struct canvas *c,
		       struct rect r)
{
	const struct picture *p = shown(u);
	char title[400], lines[80], zoom[48];

	if (u->lines == LINES_HERE)
		snprintf(lines, sizeof(lines), "lines of one %s",
			 p == u->blocks ? p->block : "switch");
	else if (u->lines == LINES_PATH)
		snprintf(lines, sizeof(lines), "%u lines of the path in 0", u->shown);
	else if (u->shown < p->nedge && u->lines == LINES_WORST)
		snprintf(lines, sizeof(lines), "worst %u of %u lines", u->shown, p->nedge);
	else
		snprintf(lines, sizeof(lines), "%u lines", u->shown);
	snprintf(title, sizeof(title), "%s: %s | %s", p->what, chan_metric_name(u->metric), lines);
	snprintf(zoom, sizeof(zoom), " zoom %u of %u ", u->zoom + 1, u->nstep);
	text_note(title, sizeof(title), note, r.w - text_width(zoom) - 7);
	canvas_rule(c, r, 0, NULL);
	canvas_rule(c, (struct rect){ r.x, r.y, r.w - text_width(zoom) - 1, r.h }, 0, title);
	canvas_right(c, r, r.w - 1, 0, ROLE_RULE, zoom);
}

static void draw_row_names(const struct topology_ui *u, struct canvas *c, struct rect r)
{
	const struct step *z = &u->step[u->zoom];

	for (uint32_t i = 0; i < u->fine->nrow && z->p == u->fine; i++) {
		int y = (int)(((float)i + 0.5f - z->y0) * z->py);

		if (y >= 0 && y < u->win.h)
			canvas_name(c, (struct rect){ r.x, u->win.y, u->win.x - r.x, u->win.h }, 0,
				    y, u->win.x - r.x - 1, ROLE_LABEL, u->fine->row_name[i]);
	}
}

/* The worst channel of the node under the cursor. */
static uint32_t worst_chan(const struct topology_ui *u, const struct ui *ui, const struct state *s)
{
	const struct picture *p = shown(u);
	uint32_t at = cursor_node(u), best = FAB_NONE;
	int bad = -1;

	for (uint32_t i = 0; i < p->nedge; i++) {
		if ((p->edge[i].a != at && p->edge[i].b != at) || u->edge[i].bad <= bad)
			continue;
		for (uint32_t k = p->edge[i].first; k < p->edge[i].first + p->edge[i].count; k++) {
			struct chan_value v = chan_value_of(u->metric, ui_palette(ui), s,
							    ui_survey(ui), p->chan[k]);

			if (v.bad <= bad)
				continue;
			bad = v.bad;
			best = p->chan[k];
		}
	}
	return best;
}

struct sums {
	uint32_t hosts, cables, problems;
	double tx, rx;
};

static void add_switch(struct sums *sum, const struct survey *v, const struct state *s, uint32_t sw)
{
	const struct fabric *f = s->fabric;

	sum->hosts += f->sw_nterm[sw];
	sum->cables += f->chan_off[sw + 1] - f->chan_off[sw];
	for (uint32_t p = f->port_off[sw]; p < f->port_off[sw + 1]; p++) {
		const struct port_rate *rate = state_rate(s, p);

		sum->problems += v->problem[p] != PROBLEM_NONE;
		if (!rate || !isfinite(rate->tx_Bps))
			continue;
		sum->tx = isfinite(sum->tx) ? sum->tx + rate->tx_Bps : rate->tx_Bps;
		sum->rx = isfinite(sum->rx) ? sum->rx + rate->rx_Bps : rate->rx_Bps;
	}
}

static bool has_planes(const struct topology_ui *u, const struct shape *shape)
{
	return shown(u) == u->fine && shape->ndim > 2 &&
	       (shape->kind == SHAPE_TORUS || shape->kind == SHAPE_HYPERX);
}

/* Planes are numbered over the dimensions from the third on; all gets how many there are. */
static uint32_t plane_of(const struct shape *shape, uint32_t sw, uint32_t *all)
{
	uint32_t plane = 0;

	*all = 1;
	for (uint32_t d = shape->ndim; d-- > 2;) {
		plane = plane * shape->dim[d] + shape->coord[(size_t)sw * SHAPE_DIMS + d];
		*all *= shape->dim[d];
	}
	return plane;
}

static void draw_hint(const struct topology_ui *u, const struct shape *shape, struct canvas *c,
		      struct rect r)
{
	uint32_t all, plane;

	if (shown(u) == u->blocks) {
		canvas_text(c, r, 1, 4, ROLE_DIM, "z or Enter: closer, to its switches");
	} else if (has_planes(u, shape)) {
		plane = plane_of(shape, u->cursor, &all);
		canvas_textf(c, r, 1, 4, ROLE_DIM,
			     "plane %u of %u: PgUp PgDn   sign right below a switch: worst cable "
			     "to other planes",
			     plane + 1, all);
	} else {
		canvas_text(c, r, 1, 4, ROLE_DIM,
			    "Enter: its ports and tables   z closer   u wider   < > path from, to "
			    "here");
	}
}

static void draw_figures(const struct topology_ui *u, const struct ui *ui, const struct state *s,
			 struct canvas *c, struct rect r)
{
	const struct picture_node *n = &shown(u)->node[cursor_node(u)];
	struct sums sum = { .tx = NAN, .rx = NAN };
	char tx[FIGURE_LEN], rx[FIGURE_LEN];
	int x;

	for (uint32_t i = 0; i < n->count; i++)
		add_switch(&sum, ui_survey(ui), s, shown(u)->sw[n->first + i]);
	x = canvas_textf(c, r, 1, 2, ROLE_TEXT, "%u hosts  %u cables to switches  tx %s  rx %s %s",
			 sum.hosts, sum.cables, figure_rate(tx, sum.tx, ui_bits(ui)),
			 figure_rate(rx, sum.rx, ui_bits(ui)), ui_bits(ui) ? "Gb/s" : "GB/s");
	if (sum.problems)
		canvas_textf(c, r, x, 2, ROLE_BAD, "  %u ports with a problem", sum.problems);
}

static void draw_worst_line(const struct topology_ui *u, const struct ui *ui, const struct state *s,
			    struct canvas *c, struct rect r)
{
	uint32_t chan = worst_chan(u, ui, s);
	const struct metrics *m = state_metrics(s);
	const struct port_rate *p;
	char label[256], util[FIGURE_LEN], wait[FIGURE_LEN], efi[FIGURE_LEN] = "-";

	if (chan == FAB_NONE) {
		canvas_text(c, r, 1, 3, ROLE_DIM, "no cable to another switch");
		return;
	}
	p = state_rate(s, chan_fabric_port(s->fabric, chan));
	if (m)
		figure_count(efi, m->efi[chan]);
	canvas_textf(c, r, 1, 3, ROLE_TEXT, "worst: %s  util %s  wait %s  EFI %s",
		     chan_label(label, sizeof(label), s->fabric, chan),
		     figure_pct(util, p ? p->util_pct : NAN),
		     figure_pct(wait, p ? p->wait_pct : NAN), efi);
}

static void draw_detail(const struct topology_ui *u, const struct ui *ui, const struct state *s,
			struct canvas *c, struct rect r)
{
	const struct fabric *f = s->fabric;
	const struct picture_node *n = &shown(u)->node[cursor_node(u)];
	const struct shape *shape = ui_survey(ui)->shape;
	char title[160], a[NAME_LEN], b[NAME_LEN], level[16];
	const char *at = "";

	if (shown(u) == u->blocks) {
		block_name(title, sizeof(title), u, cursor_node(u));
		canvas_rule(c, r, 0, title);
		canvas_textf(c, r, 1, 1, ROLE_TEXT, "%u switch%s, %s .. %s", n->count,
			     n->count == 1 ? "" : "es",
			     switch_label(a, sizeof(a), f, shown(u)->sw[n->first]),
			     switch_label(b, sizeof(b), f, shown(u)->sw[n->first + n->count - 1]));
	} else {
		canvas_rule(c, r, 0, switch_label(a, sizeof(a), f, u->cursor));
		if (shape->kind == SHAPE_TREE)
			at = shape_level_name(level, shape, shape->level[u->cursor]);
		canvas_textf(c, r, 1, 1, ROLE_TEXT, "%s%sLID %u  0x%016llx  %u ports  %s", at,
			     at[0] ? "  " : "", f->sw_lid[u->cursor],
			     (unsigned long long)f->sw_guid[u->cursor], f->sw_nports[u->cursor],
			     f->sw_desc[u->cursor]);
	}
	draw_figures(u, ui, s, c, r);
	draw_worst_line(u, ui, s, c, r);
	if (u->find.active)
		entry_draw(&u->find, c, r, 1, 4, "switch");
	else
		draw_hint(u, shape, c, r);
}

static void topology_draw(void *own, struct ui *ui, struct canvas *c, struct rect r,
			  const struct state *s)
{
	struct topology_ui *u = own;
	struct rect detail = { r.x, r.y + r.h - DETAIL, r.w, DETAIL };
	int names;

	if (!s->fabric || !s->fabric->nsw) {
		canvas_rule(c, r, 0, "Topology");
		canvas_text(c, r, 1, 2, ROLE_DIM, "no fabric yet");
		return;
	}
	follow(u, ui, s);
	names = u->fine->nrow && r.w >= 60 ? 8 : 0;
	u->win = (struct rect){ r.x + names, r.y + 1, r.w - names, r.h - 2 - DETAIL };
	if (u->win.h < 1 || u->win.w < 1)
		return;
	find_steps(u);
	follow_cursor(u);
	read_figures(u, ui, s);
	draw_lines(u, ui, s, c, c->ascii || !s->colours || ui_palette(ui) == PALETTE_NONE);
	draw_nodes(u, ui, c, s);
	draw_title(u, ui_survey(ui)->shape->note, c, r);
	draw_row_names(u, c, r);
	chan_value_legend(u->metric, ui_palette(ui), c, r, 1, r.h - 1 - DETAIL);
	draw_detail(u, ui, s, c, detail);
}

/* --- keys --- */

static void zoom_to(struct topology_ui *u, uint32_t zoom)
{
	u->zoom = zoom < u->nstep ? zoom : 0;
	u->left = u->top = 0;
	follow_cursor(u);
}

/* To the same place of the next plane, around at the end. */
static bool change_plane(struct topology_ui *u, const struct shape *shape, enum req req)
{
	const uint16_t *at = &shape->coord[(size_t)u->cursor * SHAPE_DIMS];
	uint32_t all, plane, want, other;

	if ((req != REQ_PAGE_DOWN && req != REQ_PAGE_UP) || !has_planes(u, shape))
		return false;
	plane = plane_of(shape, u->cursor, &all);
	want = (plane + (req == REQ_PAGE_DOWN ? 1 : all - 1)) % all;
	for (uint32_t sw = 0; sw < u->fine->fabric->nsw; sw++) {
		const uint16_t *x = &shape->coord[(size_t)sw * SHAPE_DIMS];

		if (x[0] == at[0] && x[1] == at[1] && plane_of(shape, sw, &other) == want) {
			u->cursor = sw;
			return true;
		}
	}
	return true;
}

static bool topology_move(struct topology_ui *u, enum req req)
{
	const struct picture *p = shown(u);
	uint32_t node = cursor_node(u), n = 1;
	int dx = req == REQ_RIGHT ? 1 : req == REQ_LEFT ? -1 : 0;
	int dy = req == REQ_DOWN || req == REQ_PAGE_DOWN ? 1
		 : req == REQ_UP || req == REQ_PAGE_UP	 ? -1
							 : 0;

	if (req == REQ_PAGE_DOWN || req == REQ_PAGE_UP)
		n = 4;
	if (req == REQ_TOP || req == REQ_BOTTOM)
		node = req == REQ_TOP ? 0 : p->nnode - 1;
	else if (!dx && !dy)
		return false;
	while (n-- && (dx || dy))
		node = picture_next(p, node, dx, dy);
	if (node != cursor_node(u))
		u->cursor = p->sw[p->node[node].first];
	return true;
}

/* The next switch that a test holds for, in the order of nodes. */
static bool find_next(struct topology_ui *u, const struct ui *ui, const struct state *s,
		      const char *name, bool forward)
{
	const struct picture *p = u->fine;
	uint32_t at = p->node_of[u->cursor];

	for (uint32_t k = 1; k <= p->nnode; k++) {
		uint32_t node = (at + (forward ? k : p->nnode - k)) % p->nnode;
		uint32_t sw = p->sw[p->node[node].first], port = s->fabric->port_off[sw];
		char label[NAME_LEN];
		bool hit = name[0] &&
			   strcasestr(switch_label(label, sizeof(label), s->fabric, sw), name);

		for (; !name[0] && !hit && port < s->fabric->port_off[sw + 1]; port++)
			hit = ui_survey(ui)->problem[port] != PROBLEM_NONE;
		if (!hit)
			continue;
		u->cursor = sw;
		return true;
	}
	return false;
}

static void find(struct topology_ui *u, struct ui *ui, const struct state *s, bool forward)
{
	if (find_next(u, ui, s, u->find.text, forward))
		return;
	if (u->find.text[0])
		ui_say(ui, "no switch has \"%s\" in its name", u->find.text);
	else
		ui_say(ui, "no switch has a port with a problem");
}

static void open_node(struct topology_ui *u, struct ui *ui)
{
	if (shown(u) == u->blocks) {
		zoom_to(u, u->zoom + 1);
		return;
	}
	u->told_sw = u->cursor;
	ui_select_switch(ui, u->cursor);
	ui_goto(ui, VIEW_SWITCHES);
}

static void take_path(struct topology_ui *u, struct ui *ui, const struct state *s, bool from)
{
	struct path_ends ends = ui_path_ends(ui);
	char name[NAME_LEN];

	if (from)
		ends.src = s->fabric->nend + u->cursor;
	else
		ends.dlid = s->fabric->sw_lid[u->cursor];
	ui_select_path(ui, ends);
	ui_say(ui, "path %s %s: 0 shows it", from ? "from" : "to",
	       switch_label(name, sizeof(name), s->fabric, u->cursor));
}

/* By the beginning of its name, or the next one. */
static void next_metric(struct topology_ui *u, struct ui *ui, const char *name)
{
	if (name && name[0]) {
		for (int m = 0; m < CHAN_DELTA; m++)
			if (!strncasecmp(chan_metric_name((enum chan_metric)m), name,
					 strlen(name))) {
				u->metric = (enum chan_metric)m;
				ui_compare(ui, false);
				return;
			}
		ui_say(ui, "no metric '%s' here", name);
	} else if (ui_comparing(ui))
		ui_compare(ui, false);
	else
		u->metric = (u->metric + 1) % CHAN_DELTA;
}

/* The node nearest to a place on the screen; the one that is there already is opened. */
static void click(struct topology_ui *u, struct ui *ui, int x, int y)
{
	const struct picture *p = shown(u);
	uint32_t best = cursor_node(u);
	float least = 20; /* nothing near enough: nothing */

	for (uint32_t i = 0; i < p->nnode; i++) {
		float dx = fabsf(place_x(u, &p->node[i]) - (float)(x - u->win.x) - 0.5f);
		float dy = fabsf(place_y(u, &p->node[i]) - (float)(y - u->win.y) - 0.5f);

		if (dx + 4 * dy >= least)
			continue;
		least = dx + 4 * dy;
		best = i;
	}
	if (least >= 20)
		return;
	if (best == cursor_node(u))
		open_node(u, ui);
	else
		u->cursor = p->sw[p->node[best].first];
}

static void go_to(struct topology_ui *u, struct ui *ui, const struct state *s, const char *name)
{
	uint32_t end;
	uint16_t lid;
	struct err err;

	if (end_find(&end, &lid, s->fabric, name, &err))
		ui_say(ui, "%s", err.text);
	else
		u->cursor = end < s->fabric->nend ? s->fabric->term_sw[end] : end - s->fabric->nend;
}

/* Keys and commands that move about. */
static bool topology_travel(struct topology_ui *u, struct ui *ui, const struct input *in,
			    const struct state *s)
{
	switch (in->req) {
	case REQ_CLICK:
		if (in->y < u->win.y || in->y >= u->win.y + u->win.h)
			return false;
		click(u, ui, in->x, in->y);
		return true;
	case REQ_WHEEL_UP:
		if (u->zoom + 1 < u->nstep)
			zoom_to(u, u->zoom + 1);
		return true;
	case REQ_WHEEL_DOWN:
		if (u->zoom)
			zoom_to(u, u->zoom - 1);
		return true;
	case REQ_GOTO:
		if (!in->text)
			return false;
		go_to(u, ui, s, in->text);
		return true;
	case REQ_FIND:
		entry_open(&u->find, in->text ? in->text : "");
		u->find.active = !in->text;
		if (in->text)
			find(u, ui, s, true);
		return true;
	case REQ_FIND_NEXT:
	case REQ_FIND_PREV:
		find(u, ui, s, in->req == REQ_FIND_NEXT);
		return true;
	default:
		return change_plane(u, ui_survey(ui)->shape, in->req) || topology_move(u, in->req);
	}
}

static bool topology_input(void *own, struct ui *ui, const struct input *in, const struct state *s,
			   struct request *out)
{
	struct topology_ui *u = own;

	(void)out;
	if (!s->fabric || !u->fine || u->fine->fabric != s->fabric || !u->nstep)
		return false;
	if (u->find.active) {
		if (entry_input(&u->find, in) == ENTRY_CHANGED && u->find.text[0])
			find_next(u, ui, s, u->find.text, true);
		return true;
	}
	if (topology_travel(u, ui, in, s))
		return true;
	switch (in->req) {
	case REQ_METRIC:
		next_metric(u, ui, in->text);
		return true;
	case REQ_ZOOM:
		zoom_to(u, u->zoom + 1);
		return true;
	case REQ_BACK:
		if (!u->zoom)
			return false;
		zoom_to(u, u->zoom - 1);
		return true;
	case REQ_LAYOUT:
		u->lines = (u->lines + 1) % LINES_KINDS;
		return true;
	case REQ_COMPARE:
		if (!state_preview_ready(s) || !s->preview.before)
			ui_say(ui, "nothing to compare yet: 6, choose an engine, Space computes a "
				   "preview");
		else
			ui_compare(ui, !ui_comparing(ui));
		return true;
	case REQ_PATH_FROM:
	case REQ_PATH_TO:
		take_path(u, ui, s, in->req == REQ_PATH_FROM);
		return true;
	case REQ_ENTER:
		open_node(u, ui);
		return true;
	default:
		return false;
	}
}

static bool topology_typing(const void *own, const struct state *s)
{
	(void)s;
	return ((const struct topology_ui *)own)->find.active;
}

static void topology_context(const void *own, const struct state *s, char *buf, size_t len)
{
	static const char *const words[] = { "worst lines", "lines of the cursor", "all lines",
					     "lines of the path" };
	const struct topology_ui *u = own;

	if (!s->fabric || !u->fine)
		buf[0] = '\0';
	else
		snprintf(buf, len, "%s  %s", chan_metric_name(u->metric), words[u->lines]);
}

const struct view view_topology = {
	.name = "Topo",
	.title = "Topology",
	.size = sizeof(struct topology_ui),
	.done = topology_done,
	.draw = topology_draw,
	.input = topology_input,
	.typing = topology_typing,
	.context = topology_context,
};
