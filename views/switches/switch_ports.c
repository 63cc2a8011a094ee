/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/topology/end_find.h"
#include "views/switches/switch_panes.h"

#include <math.h>
#include <stdio.h>

const char *peer_label(char *buf, size_t len, const struct fabric *f, uint32_t sw, uint32_t p)
{
	const struct port *port = fabric_port(f, sw, (uint8_t)p);
	char name[NAME_LEN];

	buf[0] = '\0';
	if (!p)
		snprintf(buf, len, "itself");
	else if (port->chan != FAB_NONE)
		snprintf(buf, len, "%s/%u",
			 switch_label(name, sizeof(name), f, f->chan_dst[port->chan]),
			 f->chan_rport[port->chan]);
	else if (port->term != FAB_NONE)
		end_name(buf, len, f, port->term);
	return buf;
}

struct chan_value port_value(enum chan_metric m, const struct pane_in *in, uint32_t p)
{
	const struct fabric *f = in->s->fabric;
	const struct fabric_summary *v = &in->ctx->summary;
	uint32_t i = f->port_off[in->sw] + p;
	const struct port_rate *rate = state_rate(in->s, i);
	enum problem problem = (enum problem)v->problem[i];

	if (!port_cabled(&f->port[i]))
		return chan_value_sign('_', ROLE_DIM, 0);
	if (f->port[i].chan != FAB_NONE)
		return chan_value_of(m, in->ctx->palette, in->s, v, f->port[i].chan);
	if (problem >= PROBLEM_NO_REPLY || (problem && m == CHAN_PROBLEM))
		return chan_value_sign(problem_glyph(problem),
				       problem == PROBLEM_DOWN ? ROLE_BAD : ROLE_WARN, 0);
	if (m == CHAN_UTIL)
		return chan_value_heat(rate ? rate->util_pct : NAN, in->ctx->palette);
	if (m == CHAN_WAIT)
		return chan_value_heat(rate ? rate->wait_pct : NAN, in->ctx->palette);
	if (m == CHAN_ERRORS && problem == PROBLEM_ERRORS)
		return chan_value_sign(problem_glyph(problem), ROLE_WARN, 0);
	return chan_value_sign('h', ROLE_DIM, 0);
}

static void switch_ports_draw_port(const struct pane_in *in, struct canvas *c, struct rect r, int x,
				   int y, int w, enum chan_metric m, uint32_t p, bool cursor)
{
	struct chan_value v = port_value(m, in, p);
	enum role role = fill_role(v.role);

	if (w == 3) {
		canvas_char(c, r, x, y, role, ' ');
		canvas_char(c, r, x + 1, y, role, ' ');
	}
	canvas_char(c, r, x, y, role, (uint32_t)v.glyph);
	if (!cursor)
		return;
	canvas_style(c, (struct rect){ r.x + x, r.y + y, w > 1 ? 2 : 1, 1 }, ROLE_KEY, true);
	if (w > 1)
		canvas_char(c, r, x + 1, y, ROLE_KEY, '<');
}

/* How the front panel is laid out in r. */
struct port_grid {
	uint32_t n, cols, a_row; /* ports; columns, and how many of them in a row */
	int w;			 /* of a port */
};

#define GRID_X	   6 /* of the first port */
#define GRID_LINES 4 /* of a row: numbers, odd, even, nothing */

static struct port_grid switch_ports_grid_in(const struct pane_in *in, struct rect r)
{
	uint32_t n = in->s->fabric->sw_nports[in->sw], cols = (n + 1) / 2;
	int w = (int)cols * 3 <= r.w - 8 ? 3 : (int)cols * 2 <= r.w - 8 ? 2 : 1;

	return (struct port_grid){ n, cols, r.w > 8 ? (uint32_t)((r.w - 8) / w) : 0, w };
}

uint32_t port_grid_at(const struct pane_in *in, struct rect r, int x, int y)
{
	struct port_grid g = switch_ports_grid_in(in, r);
	uint32_t col, port;

	x -= r.x + GRID_X;
	y -= r.y;
	if (!g.a_row || x < 0 || y < 0 || (y % GRID_LINES != 1 && y % GRID_LINES != 2))
		return 0;
	col = (uint32_t)(x / g.w);
	if (col >= g.a_row)
		return 0;
	col += (uint32_t)(y / GRID_LINES) * g.a_row;
	port = 2 * col + (y % GRID_LINES == 1 ? 1 : 2);
	return col < g.cols && port <= g.n ? port : 0;
}

bool pane_mouse(struct list *l, uint32_t n, struct rect rows, const struct input *key, bool *again)
{
	int y = key->y - rows.y;
	uint32_t i;

	*again = false;
	if (list_wheel(l, key->req, n))
		return true;
	if (key->req != REQ_CLICK || y < 0 || y >= rows.h || key->x < rows.x ||
	    key->x >= rows.x + rows.w)
		return false;
	i = l->top + (uint32_t)y;
	if (i >= n)
		return true;
	*again = i == l->cursor;
	l->cursor = i;
	return true;
}

int port_grid_draw(const struct pane_in *in, struct canvas *c, struct rect r, enum chan_metric m,
		   uint32_t port)
{
	struct port_grid g = switch_ports_grid_in(in, r);
	uint32_t step = g.w == 3 ? 1 : g.w == 2 ? 5 : 10, y = 0;

	if (!g.a_row)
		return 0;
	for (uint32_t first = 0; first < g.cols; first += g.a_row, y += GRID_LINES) {
		for (uint32_t k = first; k < g.cols && k < first + g.a_row; k++) {
			int x = GRID_X + (int)(k - first) * g.w;
			uint32_t p = 2 * k + 1;

			if (k % step == 0)
				canvas_textf(c, r, x, (int)y, ROLE_LABEL, "%u", p);
			switch_ports_draw_port(in, c, r, x, (int)y + 1, g.w, m, p, p == port);
			if (p + 1 <= g.n)
				switch_ports_draw_port(in, c, r, x, (int)y + 2, g.w, m, p + 1,
						       p + 1 == port);
		}
		canvas_text(c, r, 1, (int)y + 1, ROLE_LABEL, "odd");
		canvas_text(c, r, 1, (int)y + 2, ROLE_LABEL, "even");
	}
	return (int)y - 1;
}
