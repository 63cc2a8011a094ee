/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The switches of the topology's picture, and what is around it: title, rows, details. */
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"
#include "fabric/model/topology/end_find.h"
#include "views/canvas/name_fit.h"
#include "views/data/hint_click.h"
#include "views/data/state/key_hint.h"
#include "views/topology/topology_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEGEND 100 /* columns of the legend, with some room */

static void topology_draw_block_name(char *buf, size_t len, const struct topology_ui *u,
				     uint32_t node)
{
	snprintf(buf, len, "%s %u", shown(u)->block, node + 1);
}

static void topology_draw_node_text(char *buf, size_t len, const struct topology_ui *u,
				    const struct state *s, uint32_t node, int room)
{
	const struct topology_layout_node *n = &shown(u)->node[node];
	uint32_t sw = shown(u)->sw[n->first];
	char name[NAME_LEN];

	if (n->count > 1 || shown(u) == u->blocks) {
		topology_draw_block_name(name, sizeof(name), u, node);
		if (room >= (int)strlen(name) + 1)
			snprintf(buf, len, "%s", name);
		else if (room >= 4)
			snprintf(buf, len, "%u", node + 1);
		else
			snprintf(buf, len, "#");
		return;
	}
	switch_label(name, sizeof(name), s->fabric, sw);
	if (room >= 6)
		name_fit(buf, len, s->fabric, name, room - 1);
	/* a name that is cut is shown only where it tells the switch */
	if (room < 6 || (strcmp(buf, name) && end_shown_so(s->fabric, buf) == FAB_NONE))
		snprintf(buf, len, "%s", s->fabric->sw_nterm[sw] ? "O" : "o");
}

/* Worst of the ports of a node, and the sign for it. */
static enum problem topology_draw_node_problem(const struct topology_ui *u,
					       const struct fabric_summary *v,
					       const struct state *s, uint32_t node)
{
	const struct topology_layout_node *n = &shown(u)->node[node];
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
static void topology_draw_leave(const struct topology_ui *u, struct canvas *c, uint32_t node,
				int right, int y)
{
	const struct chan_value *v = &u->leave[node];

	if (v->glyph)
		canvas_char(c, u->win, right, u->step[u->zoom].py >= 2 ? y + 1 : y, v->role,
			    (uint32_t)(unsigned char)v->glyph);
}

/* joined: the line to the node under the cursor; NULL none. */
static void topology_draw_node(struct topology_ui *u, const struct context *ctx, struct canvas *c,
			       const struct state *s, uint32_t node,
			       const struct chan_value *joined)
{
	const struct step *z = &u->step[u->zoom];
	const struct topology_layout_node *n = &z->p->node[node];
	float fx = place_x(u, n), fy = place_y(u, n);
	int room = (int)(n->room * z->px), w, x, y = (int)fy;
	enum role role = u->node[node].glyph ? u->node[node].role : ROLE_DIM;
	enum problem bad;
	char text[NAME_LEN];

	if (fx < -8 || fy < 0 || fx >= (float)u->win.w + 8 || y >= u->win.h)
		return;
	topology_draw_node_text(text, sizeof(text), u, s, node, room);
	w = text_width(text);
	x = (int)fx - w / 2;
	if (w == 1 && z->p->nnode > MANY_NODES)
		role = heat_role_quiet(role, HEAT_HOT);
	if (joined) /* where lines are many, in the colour of the one to the cursor */
		role = fill_role(has_many_lines(u) ? joined->role : role);
	canvas_text(c, u->win, x, y, role == ROLE_DIM ? ROLE_TEXT : role, text);
	if (w < room)
		topology_draw_leave(u, c, node, x + w, y);
	bad = topology_draw_node_problem(u, &ctx->summary, s, node);
	if (bad && w < room)
		canvas_char(c, u->win, x + w, y, bad >= PROBLEM_NO_REPLY ? ROLE_BAD : ROLE_WARN,
			    (uint32_t)problem_glyph(bad));
	if (topology_node_tagged(u, ctx, node))
		canvas_char(c, u->win, x - 1, y, ROLE_KEY, TAG_POINT);
	else if (topology_node_noted(u, s, node))
		canvas_char(c, u->win, x - 1, y, ROLE_KEY, NOTE_POINT);
	if (node != cursor_node(u))
		return;
	canvas_style(c, (struct rect){ u->win.x + x, u->win.y + y, w, 1 }, ROLE_CURSOR, true);
	if (w == 1 || c->ascii || !s->colours) {
		if (!topology_node_tagged(u, ctx, node) && !topology_node_noted(u, s, node))
			canvas_char(c, u->win, x - 1, y, ROLE_KEY, '[');
		canvas_char(c, u->win, x + w, y, ROLE_KEY, ']');
	}
}

void topology_nodes(struct topology_ui *u, const struct context *ctx, struct canvas *c,
		    const struct state *s)
{
	const struct topology_layout *p = shown(u);
	const struct chan_value **joined = xcalloc(p->nnode + 1u, sizeof(*joined));
	uint32_t at = cursor_node(u);

	for (uint32_t i = 0; i < p->nedge; i++)
		if (p->edge[i].a == at || p->edge[i].b == at)
			joined[p->edge[i].a] = joined[p->edge[i].b] = &u->edge[i];
	for (uint32_t i = 0; i < p->nnode; i++)
		if (i != at)
			topology_draw_node(u, ctx, c, s, i, joined[i]);
	topology_draw_node(u, ctx, c, s, at, NULL);
	free(joined);
}

/* --- around the picture ---------------------------------------------------------------------- */

void topology_title(const struct topology_ui *u, const char *note, const struct state *s,
		    struct canvas *c, struct rect r)
{
	const struct topology_layout *p = shown(u);
	const char *line = p == u->blocks ? "bundle" : "line";
	char title[400], metric[96], lines[80], zoom[48];

	if (u->lines == LINES_HERE)
		snprintf(lines, sizeof(lines), "lines of one %s",
			 p == u->blocks ? p->block : "switch");
	else if (u->lines == LINES_PATH)
		snprintf(lines, sizeof(lines), "%u line%s of the path in view 0", u->shown,
			 plural(u->shown));
	else if (u->shown < p->nedge && u->lines == LINES_WORST)
		snprintf(lines, sizeof(lines), "worst %u of %u %ss", u->shown, p->nedge, line);
	else if (u->shown < p->nedge)
		snprintf(lines, sizeof(lines), "worst %u of %u %ss, the ends of others", u->shown,
			 p->nedge, line);
	else
		snprintf(lines, sizeof(lines), "%u %s%s", u->shown, line, plural(u->shown));
	snprintf(title, sizeof(title), "%s: %s | %s", p->what,
		 chan_metric_title(metric, sizeof(metric), u->metric, s), lines);
	snprintf(zoom, sizeof(zoom), " zoom %u of %u ", u->zoom + 1, u->nstep);
	text_note(title, sizeof(title), note, r.w - text_width(zoom) - 7);
	canvas_rule(c, r, 0, NULL);
	canvas_rule(c, (struct rect){ r.x, r.y, r.w - text_width(zoom) - 1, r.h }, 0, title);
	canvas_right(c, r, r.w - 1, 0, ROLE_RULE, zoom);
}

void topology_counts(const struct topology_ui *u, struct canvas *c, struct rect r, int y)
{
	char text[120] = "", count[FIGURE_LEN];

	if (!has_many_lines(u))
		return;
	for (int level = HEAT_LEVELS; level--;) {
		size_t n = strlen(text);

		if (u->of_level[level])
			snprintf(text + n, sizeof(text) - n, " %c %s", heat_glyph(level),
				 figure_count(count, u->of_level[level]));
	}
	if (text[0] && r.w - text_width(text) - 10 > LEGEND)
		canvas_textf(c, r, r.w - text_width(text) - 10, y, ROLE_DIM, "%s:%s",
			     shown(u) == u->blocks ? "bundles" : "lines", text);
}

void topology_row_names(const struct topology_ui *u, struct canvas *c, struct rect r)
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
static uint32_t topology_draw_worst_chan(const struct topology_ui *u, const struct context *ctx,
					 const struct state *s)
{
	const struct topology_layout *p = shown(u);
	uint32_t at = cursor_node(u), best = FAB_NONE;
	int bad = -1;

	for (uint32_t i = 0; i < p->nedge; i++) {
		if ((p->edge[i].a != at && p->edge[i].b != at) || u->edge[i].bad <= bad)
			continue;
		for (uint32_t k = p->edge[i].first; k < p->edge[i].first + p->edge[i].count; k++) {
			struct chan_value v = chan_value_of(u->metric, ctx->palette, s,
							    &ctx->summary, p->chan[k]);

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

static void topology_draw_add_switch(struct sums *sum, const struct fabric_summary *v,
				     const struct state *s, uint32_t sw)
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

bool topology_has_planes(const struct topology_ui *u, const struct topology_kind *topology)
{
	return shown(u) == u->fine && topology->grid && topology->grid->ndims > 2;
}

static void topology_draw_hint(const struct topology_ui *u, const struct topology_kind *topology,
			       struct canvas *c, struct rect r)
{
	uint32_t all, plane;

	if (shown(u) == u->blocks) {
		canvas_textf(c, r, 1, 4, ROLE_DIM, "%s or Enter: zoom in to the switches",
			     key_hint("zoom"));
	} else if (topology_has_planes(u, topology)) {
		plane = grid_plane(topology->grid, u->cursor, &all);
		canvas_textf(c, r, 1, 4, ROLE_DIM,
			     "plane %u of %u: %s %s   sign below a switch: worst cable to "
			     "other planes",
			     plane + 1, all, key_hint("pageup"), key_hint("pagedown"));
	} else {
		canvas_textf(
			c, r, 1, 4, ROLE_DIM,
			"Enter: ports and tables   %s/%s: zoom in/out   %s %s: path from/to here",
			key_hint("zoom"), key_hint("return"), key_hint("from"), key_hint("to"));
	}
	hint_click_mark(c, r, 4, 1);
}

static void topology_draw_figures(const struct topology_ui *u, const struct context *ctx,
				  const struct state *s, struct canvas *c, struct rect r)
{
	const struct topology_layout_node *n = &shown(u)->node[cursor_node(u)];
	struct sums sum = { .tx = NAN, .rx = NAN };
	char tx[FIGURE_LEN], rx[FIGURE_LEN];
	int x;

	for (uint32_t i = 0; i < n->count; i++)
		topology_draw_add_switch(&sum, &ctx->summary, s, shown(u)->sw[n->first + i]);
	x = canvas_textf(c, r, 1, 2, ROLE_TEXT,
			 "%u host%s  %u cable%s to switches  tx %s  rx %s %s", sum.hosts,
			 plural(sum.hosts), sum.cables, plural(sum.cables),
			 figure_rate(tx, sum.tx, ctx->bits), figure_rate(rx, sum.rx, ctx->bits),
			 ctx->bits ? "Gb/s" : "GB/s");
	if (sum.problems)
		canvas_textf(c, r, x, 2, ROLE_BAD, "  %u port%s with a problem", sum.problems,
			     plural(sum.problems));
}

static void topology_draw_worst_line(const struct topology_ui *u, const struct context *ctx,
				     const struct state *s, struct canvas *c, struct rect r)
{
	uint32_t chan = topology_draw_worst_chan(u, ctx, s);
	const struct metrics *m = chan_metrics(s);
	const struct port_rate *p;
	char label[256], name[384], values[128];
	char util[FIGURE_LEN], wait[FIGURE_LEN], efi[FIGURE_LEN] = "-";
	int x;

	if (chan == FAB_NONE) {
		canvas_text(c, r, 1, 3, ROLE_DIM, "no cable to another switch");
		return;
	}
	p = state_rate(s, chan_fabric_port(s->fabric, chan));
	if (m)
		figure_count(efi, m->efi[chan]);
	chan_label(label, sizeof(label), s->fabric, chan);
	if (p)
		snprintf(values, sizeof(values), "util %s%%  wait %s%%  EFI %s",
			 figure_pct(util, p->util_pct), figure_pct(wait, p->wait_pct), efi);
	else
		snprintf(values, sizeof(values), "EFI %s", efi);
	/* the values whole, the name in what is left */
	x = canvas_text(c, r, 1, 3, ROLE_TEXT, "worst: ");
	name_fit(name, sizeof(name), s->fabric, label, r.w - x - 3 - (int)strlen(values));
	x = canvas_text(c, r, x, 3, ROLE_TEXT, name);
	canvas_text(c, r, x + 2, 3, ROLE_TEXT, values);
}

void topology_detail(const struct topology_ui *u, const struct context *ctx, const struct state *s,
		     struct canvas *c, struct rect r)
{
	const struct fabric *f = s->fabric;
	const struct topology_layout_node *n = &shown(u)->node[cursor_node(u)];
	const struct topology_kind *topology = ctx->summary.topology;
	char title[160], a[NAME_LEN], b[NAME_LEN], level[16];
	const char *at = "";

	if (shown(u) == u->blocks) {
		topology_draw_block_name(title, sizeof(title), u, cursor_node(u));
		canvas_rule(c, r, 0, title);
		canvas_textf(c, r, 1, 1, ROLE_TEXT, "%u switch%s, %s .. %s", n->count,
			     n->count == 1 ? "" : "es",
			     switch_label(a, sizeof(a), f, shown(u)->sw[n->first]),
			     switch_label(b, sizeof(b), f, shown(u)->sw[n->first + n->count - 1]));
	} else {
		canvas_rule(c, r, 0, switch_label(a, sizeof(a), f, u->cursor));
		if (topology->kind == TOPOLOGY_TREE)
			at = topology_kind_level_name(level, topology,
						      topology->tree->row[u->cursor]);
		canvas_textf(c, r, 1, 1, ROLE_TEXT, "%s%sLID %u  0x%016llx  %u ports  %s", at,
			     at[0] ? "  " : "", f->sw_lid[u->cursor],
			     (unsigned long long)f->sw_guid[u->cursor], f->sw_nports[u->cursor],
			     f->sw_desc[u->cursor]);
	}
	topology_draw_figures(u, ctx, s, c, r);
	topology_draw_worst_line(u, ctx, s, c, r);
	if (u->find.active)
		entry_draw(&u->find, c, r, 1, 4, "switch");
	else
		topology_draw_hint(u, topology, c, r);
}
