/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SL2VL tables of a switch, and on which lanes the routes over its links are. */
#include "views/switches/switch_panes.h"

#include "views/canvas/name_fit.h"

#include <stdio.h>
#include <string.h>

/* --- SL2VL ----------------------------------------------------------------------------------- */

static bool switch_vls_port_used(const struct fabric *f, uint32_t sw, uint32_t p)
{
	return !p || port_cabled(fabric_port(f, sw, (uint8_t)p));
}

static void switch_vls_row_of(uint8_t row[FAB_SLS], const struct tables *t, const struct fabric *f,
			      uint32_t sw, uint32_t in, uint32_t out)
{
	for (uint8_t sl = 0; sl < FAB_SLS; sl++)
		row[sl] = tables_vl(t, f, sw, (uint8_t)in, (uint8_t)out, sl);
}

/* A run of input ports with equal rows, now and in the plan. */
struct run {
	uint32_t first, last;
	uint8_t now[FAB_SLS], plan[FAB_SLS];
};

static uint32_t switch_vls_find_runs(struct run runs[FAB_MAX_PORT + 1], const struct pane_in *in,
				     const struct tables *plan, uint32_t out)
{
	const struct fabric *f = in->s->fabric;
	uint32_t n = 0;

	for (uint32_t p = 0; p <= f->sw_nports[in->sw]; p++) {
		struct run *r = &runs[n];

		if (!switch_vls_port_used(f, in->sw, p))
			continue;
		r->first = r->last = p;
		switch_vls_row_of(r->now, in->s->tables, f, in->sw, p, out);
		switch_vls_row_of(r->plan, plan ? plan : in->s->tables, f, in->sw, p, out);
		if (n && !memcmp(runs[n - 1].now, r->now, FAB_SLS) &&
		    !memcmp(runs[n - 1].plan, r->plan, FAB_SLS))
			runs[n - 1].last = p;
		else
			n++;
	}
	return n;
}

/* The nearest output port with a cable, from one on in a direction. */
static uint32_t switch_vls_next_out(const struct fabric *f, uint32_t sw, uint32_t from, int step)
{
	uint32_t n = f->sw_nports[sw];

	for (uint32_t k = 0, p = from; k <= n; k++) {
		p = step > 0 ? (p >= n ? 1 : p + 1) : (p <= 1 ? n : p - 1);
		if (p && p <= n && switch_vls_port_used(f, sw, p))
			return p;
	}
	return from;
}

static const char *switch_vls_kind_text(const struct tables *t)
{
	static const char *const words[] = { "identity: VL = SL on every port",
					     "by kind of input (port 0, host, switch)",
					     "a table for each input and output port", "not read" };

	return words[t->sl2vl_kind];
}

static void switch_vls_draw_run(const struct run *run, const struct pane_in *in, struct canvas *c,
				struct rect r, int y)
{
	char ports[24], peer[128];
	int w = (r.w - 32) / FAB_SLS < 5 ? 3 : 5;

	if (run->first == run->last)
		snprintf(ports, sizeof(ports), "%u", run->first);
	else
		snprintf(ports, sizeof(ports), "%u-%u", run->first, run->last);
	canvas_text(c, r, 2, y, ROLE_TEXT, ports);
	name_fit_draw(c, r, 11, y, 17, ROLE_DIM, in->s->fabric,
		      run->first == run->last
			      ? peer_label(peer, sizeof(peer), in->s->fabric, in->sw, run->first)
			      : "several");
	for (int sl = 0; sl < FAB_SLS; sl++) {
		bool other = run->now[sl] != run->plan[sl];
		enum role role = other ? ROLE_WARN : run->now[sl] == VL_DROP ? ROLE_DIM : ROLE_TEXT;
		char text[16];

		if (run->now[sl] == VL_DROP)
			snprintf(text, sizeof(text), "-");
		else
			snprintf(text, sizeof(text), "%u", run->now[sl]);
		canvas_right(c, r, 28 + (sl + 1) * w - (w == 5 ? 2 : 0), y, role, text);
		if (other && w == 5)
			canvas_textf(c, r, 28 + (sl + 1) * w - 2, y, role, ">%u",
				     run->plan[sl] & 15);
		else if (other)
			canvas_char(c, r, 28 + (sl + 1) * w, y, role, '*');
	}
}

void sl2vl_pane_draw(struct sl2vl_pane *p, const struct pane_in *in, struct canvas *c,
		     struct rect r)
{
	const struct fabric *f = in->s->fabric;
	const struct tables *plan = state_plan_tables(in->s);
	struct run runs[FAB_MAX_PORT + 1];
	struct rect rows = { r.x, r.y + 2, r.w, r.h - 3 };
	int w = (r.w - 32) / FAB_SLS < 5 ? 3 : 5;
	char peer[128];
	uint32_t n;

	if (!state_tables(in->s)) {
		canvas_text(c, r, 2, 0, ROLE_DIM, state_no_tables(in->s));
		return;
	}
	if (!state_vls_known(in->s)) {
		canvas_text(c, r, 2, 0, ROLE_WARN, state_no_vls(peer, sizeof(peer), in->s));
		return;
	}
	if (!p->out || p->out > f->sw_nports[in->sw] || !switch_vls_port_used(f, in->sw, p->out))
		p->out = switch_vls_next_out(f, in->sw, 0, 1);
	n = switch_vls_find_runs(runs, in, plan, p->out);
	list_fit(&p->list, n, rows.h);
	p->at = rows;
	p->nrow = n;
	canvas_textf(c, r, 2, 0, ROLE_TEXT, "%s; output port %u to %s",
		     switch_vls_kind_text(in->s->tables), p->out,
		     peer_label(peer, sizeof(peer), f, in->sw, p->out));
	canvas_text(c, r, 2, 1, ROLE_LABEL, "input port");
	for (int sl = 0; sl < FAB_SLS; sl++)
		canvas_rightf(c, r, 28 + (sl + 1) * w - (w == 5 ? 2 : 0), 1, ROLE_LABEL,
			      sl ? "%d" : "SL %d", sl);
	for (int y = 0; y < rows.h && p->list.top + (uint32_t)y < n; y++) {
		switch_vls_draw_run(&runs[p->list.top + (uint32_t)y], in, c, rows, y);
		if (p->list.top + (uint32_t)y == p->list.cursor)
			list_draw_cursor(c, rows, y);
	}
	canvas_text(c, r, 1, r.h - 1, ROLE_DIM,
		    plan ? "- dropped   coloured, with > or *: the plan changes it"
			 : "VL by SL of the packet; - dropped");
}

bool sl2vl_pane_input(struct sl2vl_pane *p, const struct pane_in *in, const struct input *key)
{
	const struct fabric *f = in->s->fabric;
	bool mouse =
		key->req == REQ_CLICK || key->req == REQ_WHEEL_UP || key->req == REQ_WHEEL_DOWN;
	bool back = key->req == REQ_LEFT || key->req == REQ_WHEEL_UP;
	bool again;

	/* the line that tells the output port goes to the next one */
	if (key->req == REQ_LEFT || key->req == REQ_RIGHT || (mouse && key->y == p->at.y - 2)) {
		p->out = switch_vls_next_out(f, in->sw, p->out, back ? -1 : 1);
		return true;
	}
	return pane_mouse(&p->list, p->nrow, p->at, key, &again) ||
	       list_move(&p->list, key->req, p->nrow);
}

/* --- lanes ----------------------------------------------------------------------------------- */

static void switch_vls_draw_lanes(const struct pane_in *in, const struct link_usage *u,
				  struct canvas *c, struct rect r, int y, uint32_t chan)
{
	const uint32_t *routes = vl_usage_of(u->lanes, chan);
	const struct fabric *f = in->s->fabric;
	uint64_t sum = 0;
	char peer[128], n[FIGURE_LEN];
	int x = 36;

	for (uint32_t vl = 0; vl < VL_USE_LANES; vl++)
		sum += routes[vl];
	canvas_textf(c, r, 2, y, ROLE_TEXT, "%4u", f->chan_port[chan]);
	name_fit_draw(c, r, 8, y, 18, ROLE_TEXT, f,
		      peer_label(peer, sizeof(peer), f, in->sw, f->chan_port[chan]));
	canvas_right(c, r, 34, y, ROLE_TEXT, figure_short(n, sum));
	for (uint32_t vl = 0; vl < u->lanes->vls && x + 6 <= r.w; vl++, x += 7) {
		double share = sum ? (double)routes[vl] / (double)sum : 0;

		if (!routes[vl])
			canvas_right(c, r, x + 5, y, ROLE_DIM, ".");
		else
			canvas_rightf(c, r, x + 5, y,
				      heat_role(in->ctx->palette, heat_level(share * 100)),
				      "%.0f%%", share * 100);
	}
}

void lanes_pane_draw(struct lanes_pane *p, const struct pane_in *in, struct canvas *c,
		     struct rect r)
{
	const struct link_usage *u = state_usage(in->s);
	const struct fabric *f = in->s->fabric;
	uint32_t first = f->chan_off[in->sw], n = f->chan_off[in->sw + 1] - first;
	struct rect rows = { r.x, r.y + 1, r.w, r.h - 2 };
	char why[64];

	if (!u || !u->lanes) {
		canvas_text(c, r, 2, 0, ROLE_DIM,
			    !in->s->tables	      ? state_no_tables(in->s)
			    : !state_vls_known(in->s) ? state_no_vls(why, sizeof(why), in->s)
			    : !in->s->sls_known ? "unknown: switches do not hold the SLs of paths"
						: "not counted yet");
		return;
	}
	list_fit(&p->list, n, rows.h);
	p->at = rows;
	canvas_text(c, r, 2, 0, ROLE_LABEL, "port  to");
	canvas_right(c, r, 34, 0, ROLE_LABEL, "paths");
	for (uint32_t vl = 0; vl < u->lanes->vls; vl++)
		canvas_rightf(c, r, 41 + (int)vl * 7, 0, ROLE_LABEL, "VL%u", vl);
	for (int y = 0; y < rows.h && p->list.top + (uint32_t)y < n; y++) {
		switch_vls_draw_lanes(in, u, c, rows, y, first + p->list.top + (uint32_t)y);
		if (p->list.top + (uint32_t)y == p->list.cursor)
			list_draw_cursor(c, rows, y);
	}
	canvas_text(c, r, 1, r.h - 1, ROLE_DIM,
		    n ? "share of the paths over each link on each VL; one path per pair of hosts"
		      : "no link to another switch");
}

bool lanes_pane_input(struct lanes_pane *p, struct context *ctx, const struct pane_in *in,
		      const struct input *key)
{
	const struct fabric *f = in->s->fabric;
	uint32_t first = f->chan_off[in->sw], n = f->chan_off[in->sw + 1] - first;
	bool again;

	if (!pane_mouse(&p->list, n, p->at, key, &again))
		return list_move(&p->list, key->req, n);
	if (again) {
		ctx->chan = first + p->list.cursor;
		context_goto(ctx, VIEW_LINKS);
	}
	return true;
}
