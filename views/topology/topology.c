/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The topology as a picture: switches at their places, cables as lines in the colour of a figure.
 *
 * Places are computed once per fabric, figures once per sample, and the lines are drawn again
 * when one of these or the part in sight changes; a frame then costs O(cells + switches).  There is
 * room for so many lines only: the worst ones are drawn, and all those of the switch under the
 * cursor.
 */
#include "fabric/model/topology/end_find.h"
#include "views/data/exclude.h"
#include "views/topology/topology_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void topology_forget(struct topology_ui *u)
{
	topology_layout_free(u->fine);
	topology_layout_free(u->blocks);
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

	topology_forget(u);
	line_canvas_done(&u->all);
	line_canvas_done(&u->here);
	line_canvas_done(&u->tagged);
}

/* --- zoom and what is in sight --------------------------------------------------------------- */

/* Rows of levels reach from the first line to the last. */
static void topology_add_step(struct topology_ui *u, const struct topology_layout *p, float px,
			      float py)
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

static void topology_find_steps(struct topology_ui *u)
{
	static const float pitches[] = { 2, 5, 10, 18 };
	const struct topology_layout *p = u->fine;
	float fit_x = (float)u->win.w / p->w, fit_y = (float)u->win.h / p->h, last = 0;

	u->nstep = 0;
	if (u->blocks && (fit_x < 2 || fit_y < 1 || p->nedge > MANY_LINES))
		topology_add_step(u, u->blocks, (float)u->win.w / u->blocks->w,
				  (float)u->win.h / u->blocks->h);
	else
		topology_add_step(u, p, last = fit_x, fit_y);
	for (size_t i = 0; i < sizeof(pitches) / sizeof(pitches[0]); i++) {
		float px = fmaxf(pitches[i], fit_x);

		if (px < last * 1.4f)
			continue;
		last = px;
		topology_add_step(u, p, px, fmaxf(fmaxf(fit_y, px / 2.2f), 1));
	}
	if (u->zoom >= u->nstep)
		u->zoom = u->nstep - 1;
}

/* Keeps offset where it is as long as place is in sight, with a margin. */
static float topology_scroll(float offset, float place, float size, float seen)
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

static void topology_follow_cursor(struct topology_ui *u)
{
	const struct step *z = &u->step[u->zoom];
	const struct topology_layout_node *n = &z->p->node[cursor_node(u)];

	u->left = topology_scroll(u->left, n->x * z->px, z->p->w * z->px, (float)u->win.w);
	u->top = z->p->levels
			 ? 0
			 : topology_scroll(u->top, n->y * z->py, z->p->h * z->py, (float)u->win.h);
}

static void topology_follow(struct topology_ui *u, struct context *ctx, const struct state *s)
{
	uint32_t chan = ctx->chan, sw = ctx->sw;

	if (!u->fine || u->fine->fabric != s->fabric) {
		topology_forget(u);
		topology_layout_new(&u->fine, &u->blocks, s->fabric, ctx->summary.topology);
		u->cursor = u->fine->sw[u->fine->node[0].first];
		u->shared_chan = u->told_sw = FAB_NONE;
		u->placed = false;
	}
	if (chan != FAB_NONE && chan != u->shared_chan)
		u->cursor = s->fabric->chan_src[chan];
	if (sw != FAB_NONE && sw != u->told_sw)
		u->cursor = sw;
	u->shared_chan = chan;
	u->told_sw = sw;
	if (ctx->compare && state_plan(s)->before)
		u->metric = CHAN_DELTA;
	else if (u->metric == CHAN_DELTA)
		u->metric = CHAN_UTIL;
	if (u->metric != CHAN_DELTA && !u->chosen)
		u->metric = chan_metric_first(u->metric, s);
	u->metric = chan_metric_shown(u->metric, s);
}

static void topology_draw(void *own, struct context *ctx, struct canvas *c, struct rect r,
			  const struct state *s)
{
	struct topology_ui *u = own;
	int below = list_detail_lines(r.h, DETAIL);
	struct rect detail = { r.x, r.y + r.h - below, r.w, below };
	int names, list;

	ctx->row = (struct context_row){ .sw = FAB_NONE };
	if (!s->fabric || !s->fabric->nsw) {
		canvas_rule(c, r, 0, "Topology");
		canvas_text(c, r, 1, 2, ROLE_DIM, "no fabric yet");
		return;
	}
	topology_follow(u, ctx, s);
	ctx->row = (struct context_row){ .sw = u->cursor, .view = VIEW_TOPOLOGY };
	list = topology_worst_height(u, r);
	below += list;
	names = u->fine->nrow && r.w >= 60 ? 8 : 0;
	u->win = (struct rect){ r.x + names, r.y + 1, r.w - names, r.h - 2 - below };
	if (u->win.h < 1 || u->win.w < 1)
		return;
	topology_find_steps(u);
	topology_follow_cursor(u);
	topology_metrics(u, ctx, s);
	topology_lines(u, ctx, s, c, c->ascii || !s->colours || ctx->palette == PALETTE_NONE);
	topology_nodes(u, ctx, c, s);
	topology_counts(u, c, r, r.h - 1 - below);
	topology_title(u, ctx->summary.topology->note, s, c, r);
	topology_row_names(u, c, r);
	chan_value_legend(u->metric, ctx->palette, HEAT_LOUD, s, c, r, r.h - 1 - below);
	if (list)
		topology_worst_draw(u, ctx, s, c, (struct rect){ r.x, detail.y - list, r.w, list });
	if (detail.h)
		topology_detail(u, ctx, s, c, detail);
}

/* --- keys ------------------------------------------------------------------------------------ */

static void topology_zoom_to(struct topology_ui *u, uint32_t zoom)
{
	u->zoom = zoom < u->nstep ? zoom : 0;
	u->left = u->top = 0;
	topology_follow_cursor(u);
}

/* To the same place of the next plane, around at the end. */
static bool topology_change_plane(struct topology_ui *u, const struct topology_kind *topology,
				  enum req req)
{
	const struct grid *g = topology->grid;
	uint32_t all, plane, want, other;

	if ((req != REQ_PAGE_DOWN && req != REQ_PAGE_UP) || !topology_has_planes(u, topology))
		return false;
	plane = grid_plane(g, u->cursor, &all);
	want = (plane + (req == REQ_PAGE_DOWN ? 1 : all - 1)) % all;
	for (uint32_t sw = 0; sw < u->fine->fabric->nsw; sw++) {
		const uint16_t *at = grid_coord(g, u->cursor), *x = grid_coord(g, sw);

		if (x[0] == at[0] && x[1] == at[1] && grid_plane(g, sw, &other) == want) {
			u->cursor = sw;
			return true;
		}
	}
	return true;
}

static bool topology_move(struct topology_ui *u, enum req req)
{
	const struct topology_layout *p = shown(u);
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
		node = topology_layout_next(p, node, dx, dy);
	if (node != cursor_node(u))
		u->cursor = p->sw[p->node[node].first];
	return true;
}

/* The next switch that a test holds for, in the order of nodes. */
static bool topology_find_next(struct topology_ui *u, const struct context *ctx,
			       const struct state *s, const char *name, bool forward)
{
	const struct topology_layout *p = u->fine;
	uint32_t at = p->node_of[u->cursor];

	for (uint32_t k = 1; k <= p->nnode; k++) {
		uint32_t node = (at + (forward ? k : p->nnode - k)) % p->nnode;
		uint32_t sw = p->sw[p->node[node].first], port = s->fabric->port_off[sw];
		char label[NAME_LEN];
		bool hit = name[0] &&
			   strcasestr(switch_label(label, sizeof(label), s->fabric, sw), name);

		for (; !name[0] && !hit && port < s->fabric->port_off[sw + 1]; port++)
			hit = ctx->summary.problem[port] != PROBLEM_NONE;
		if (!hit)
			continue;
		u->cursor = sw;
		return true;
	}
	return false;
}

static void topology_find(struct topology_ui *u, struct context *ctx, const struct state *s,
			  bool forward)
{
	if (topology_find_next(u, ctx, s, u->find.text, forward))
		return;
	if (u->find.text[0])
		context_say(ctx, "no switch has \"%s\" in its name", u->find.text);
	else
		context_say(ctx, "no switch has a port with a problem");
}

static void topology_open_node(struct topology_ui *u, struct context *ctx)
{
	if (shown(u) == u->blocks) {
		topology_zoom_to(u, u->zoom + 1);
		return;
	}
	u->told_sw = u->cursor;
	ctx->sw = u->cursor;
	context_goto(ctx, VIEW_SWITCHES);
}

static void topology_take_path(struct topology_ui *u, struct context *ctx, const struct state *s,
			       bool from)
{
	struct path_ends ends = ctx->path;
	char name[NAME_LEN];

	if (from)
		ends.src = s->fabric->nend + u->cursor;
	else
		ends.dlid = s->fabric->sw_lid[u->cursor];
	ctx->path = ends;
	context_say(ctx, "path %s %s: view 0 shows it", from ? "from" : "to",
		    switch_label(name, sizeof(name), s->fabric, u->cursor));
}

/* By the beginning of its name, or the next one. */
static void topology_next_metric(struct topology_ui *u, struct context *ctx, const struct state *s,
				 const char *name)
{
	u->chosen = true;
	if (name && name[0]) {
		for (int m = 0; m < CHAN_DELTA; m++)
			if (!strncasecmp(chan_metric_name((enum chan_metric)m), name,
					 strlen(name))) {
				u->metric = (enum chan_metric)m;
				ctx->compare = false;
				return;
			}
		context_say(ctx, "no metric '%s' here", name);
	} else if (ctx->compare)
		ctx->compare = false;
	else
		u->metric = chan_metric_next(u->metric, s) % CHAN_DELTA;
}

/* The node nearest to a place on the screen; the one that is there already is opened. */
static void topology_click(struct topology_ui *u, struct context *ctx, int x, int y)
{
	const struct topology_layout *p = shown(u);
	uint32_t best = cursor_node(u);
	float least = 20; /* farther away counts as no node */

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
		topology_open_node(u, ctx);
	else
		u->cursor = p->sw[p->node[best].first];
}

static void topology_go_to(struct topology_ui *u, struct context *ctx, const struct state *s,
			   const char *name)
{
	uint32_t end;
	uint16_t lid;
	struct err err;

	if (end_find(&end, &lid, s->fabric, name, &err))
		context_say(ctx, "%s", err.text);
	else
		u->cursor = end < s->fabric->nend ? s->fabric->term_sw[end] : end - s->fabric->nend;
}

/* Keys and commands that move about. */
static bool topology_travel(struct topology_ui *u, struct context *ctx, const struct input *in,
			    const struct state *s)
{
	switch (in->req) {
	case REQ_CLICK:
		if (in->y < u->win.y || in->y >= u->win.y + u->win.h)
			return false;
		topology_click(u, ctx, in->x, in->y);
		return true;
	case REQ_WHEEL_UP:
		if (u->zoom + 1 < u->nstep)
			topology_zoom_to(u, u->zoom + 1);
		return true;
	case REQ_WHEEL_DOWN:
		if (u->zoom)
			topology_zoom_to(u, u->zoom - 1);
		return true;
	case REQ_GOTO:
		if (!in->text)
			return false;
		topology_go_to(u, ctx, s, in->text);
		return true;
	case REQ_FIND:
		entry_open(&u->find, in->text ? in->text : "");
		u->find.active = !in->text;
		if (in->text)
			topology_find(u, ctx, s, true);
		return true;
	case REQ_FIND_NEXT:
	case REQ_FIND_PREV:
		topology_find(u, ctx, s, in->req == REQ_FIND_NEXT);
		return true;
	default:
		return topology_change_plane(u, ctx->summary.topology, in->req) ||
		       topology_move(u, in->req);
	}
}

static bool topology_input(void *own, struct context *ctx, const struct input *in,
			   const struct state *s, struct request *out)
{
	struct topology_ui *u = own;

	(void)out;
	if (!s->fabric || !u->fine || u->fine->fabric != s->fabric || !u->nstep)
		return false;
	if (u->find.active) {
		if (entry_input(&u->find, in) == ENTRY_CHANGED && u->find.text[0])
			topology_find_next(u, ctx, s, u->find.text, true);
		return true;
	}
	if (topology_travel(u, ctx, in, s))
		return true;
	switch (in->req) {
	case REQ_METRIC:
		topology_next_metric(u, ctx, s, in->text);
		return true;
	case REQ_ZOOM:
		if (u->nstep == 1)
			context_say(ctx, "fully zoomed in: each switch shows its name");
		topology_zoom_to(u, u->zoom + 1);
		return true;
	case REQ_BACK:
		if (!u->zoom)
			return false;
		topology_zoom_to(u, u->zoom - 1);
		return true;
	case REQ_LAYOUT:
		u->lines = (u->lines + 1) % LINES_KINDS;
		return true;
	case REQ_COMPARE:
		if (state_plan(s)->before)
			ctx->compare = !ctx->compare;
		else if (s->against)
			u->metric = u->metric == CHAN_UTIL_CHANGE ? CHAN_UTIL : CHAN_UTIL_CHANGE;
		else if (state_preview_ready(s))
			context_say(ctx, "nothing to compare with: the tables in use are unknown");
		else
			context_say(ctx, "nothing to compare yet: compute a preview in view 6, or "
					 "set a moment by :against TIME");
		return true;
	case REQ_EXCLUDE:
		if (in->text && in->text[0])
			return false;
		exclude_switch(ctx, s, u->cursor);
		return true;
	case REQ_PATH_FROM:
	case REQ_PATH_TO:
		topology_take_path(u, ctx, s, in->req == REQ_PATH_FROM);
		return true;
	case REQ_ENTER:
		topology_open_node(u, ctx);
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
	static const char *const words[] = { "worst lines", "lines at the cursor", "all lines",
					     "lines of the path" };
	const struct topology_ui *u = own;

	if (!s->fabric || !u->fine)
		buf[0] = '\0';
	else
		snprintf(buf, len, "%s  %s", chan_metric_name(u->metric), words[u->lines]);
}

static const char *topology_inside(const void *own)
{
	return ((const struct topology_ui *)own)->zoom ? "zoom out" : NULL;
}

const struct view view_topology = {
	.size = sizeof(struct topology_ui),
	.done = topology_done,
	.draw = topology_draw,
	.input = topology_input,
	.typing = topology_typing,
	.context = topology_context,
	.inside = topology_inside,
};
