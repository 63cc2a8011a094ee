/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Switches: a table of them, and inside one its ports, LFT, SL2VL tables and lanes. */
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"
#include "fabric/model/topology/end_find.h"
#include "views/data/hint_click.h"
#include "views/data/state/key_hint.h"
#include "views/switches/switch_panes.h"
#include "views/switches/switches.h"
#include "views/table/table.h"
#include "views/view.h"

#include <stdio.h>
#include <string.h>

enum pane { PANE_PORTS, PANE_LFT, PANE_SL2VL, PANE_LANES, PANES };

#define TRAIL	     16
#define DETAIL_LINES 4

struct switches_ui {
	struct table list;
	struct table ports;
	const struct fabric *fabric; /* own reference */
	uint32_t shared_chan;	     /* switch that other views were given, or took from them */
	uint32_t sw;		     /* whose inside is shown; FAB_NONE: the table */
	uint32_t trail[TRAIL];	     /* switches that F came from */
	uint32_t ntrail;
	enum pane pane;
	enum chan_metric metric; /* of the front panel */
	bool chosen;		 /* it was, by the operator */
	struct rect panel;	 /* where that was drawn */
	struct lft_pane lft;
	struct sl2vl_pane sl2vl;
	struct lanes_pane lanes;
	bool begun;
};

static void switches_done(void *own)
{
	struct switches_ui *u = own;

	table_done(&u->list);
	table_done(&u->ports);
	lft_pane_done(&u->lft);
	fabric_put(u->fabric);
}

/* --- the tables ------------------------------------------------------------------------------ */

static const struct table_col columns[] = {
	{ "name", NULL, 0, 0, 0, 12 },
	{ "level", NULL, 6, 0, 0, 0 },
	{ "up", NULL, 4, 0, 0, 0 },
	{ "down", NULL, 4, 0, 0, 0 },
	{ "hosts", NULL, 5, 100, 0, 0 },
	{ "tx_Bps", NULL, 6, 0, 0, 0 },
	{ "rx_Bps", NULL, 6, 0, 0, 0 },
	{ "util_pct", NULL, 5, 0, 0, 0 },
	{ "util_then_pct", "then", 5, 100, 0, 0 },
	{ "util_change_pct", "change", 6, 0, 0, 0 },
	{ "wait_pct", NULL, 5, 0, 0, 0 },
	{ "wait_then_pct", "then", 5, 140, 0, 0 },
	{ "wait_change_pct", "change", 6, 140, 0, 0 },
	{ "errors_per_min", "err", 4, 0, 0, 0 },
	{ "efi", NULL, 6, 0, 0, 0 },
	{ "eff_efi", NULL, 7, 100, 0, 0 },
	{ "lft_entries", NULL, 7, 100, 0, 0 },
	{ "lft_blocks", NULL, 6, 120, 0, 0 },
	{ "sl2vl", NULL, 8, 120, 0, 0 },
	{ "changed", NULL, 7, 124, 0, 0 },
	{ "problems", NULL, 8, 0, 0, 0 },
	{ "lid", NULL, 6, 140, 0, 0 },
	{ "guid", NULL, 18, 160, 0, 0 },
	{ "description", NULL, 0, 180, 0, 0 },
};

/* A description that is the name says nothing more. */
static bool switches_blank(const struct table_in *in, uint32_t sw, uint32_t col)
{
	char name[NAME_LEN];

	return columns[col].field && !strcmp(columns[col].field, "description") &&
	       !strcmp(switch_label(name, sizeof(name), in->s->fabric, sw),
		       in->s->fabric->sw_desc[sw]);
}

static bool switches_draw_cell(const struct table_in *in, uint32_t sw, uint32_t col,
			       struct canvas *c, struct rect r, int x, int y, int w)
{
	(void)c;
	(void)r;
	(void)x;
	(void)y;
	(void)w;
	return switches_blank(in, sw, col);
}

#define NAMES_LEAST 30 /* cells that names get where there is room, however short they are */

static int switches_names_most(const struct table_in *in)
{
	int w = in->s->fabric ? switch_label_width(in->s->fabric) : 0;

	return w > NAMES_LEAST ? w : NAMES_LEAST;
}

static void switches_moved(const struct table_in *in, uint32_t sw)
{
	struct switches_ui *u = in->own;

	u->shared_chan = sw;
	in->ctx->sw = sw;
}

static void switches_show(struct switches_ui *u, struct context *ctx, uint32_t sw)
{
	u->sw = sw;
	u->shared_chan = sw;
	u->ports.moved = false;
	u->ports.stale = true;
	u->sl2vl = (struct sl2vl_pane){ 0 };
	u->lanes = (struct lanes_pane){ 0 };
	ctx->sw = sw;
}

static void switches_open_switch(const struct table_in *in, uint32_t sw)
{
	struct switches_ui *u = in->own;

	u->ntrail = 0;
	switches_show(u, in->ctx, sw);
}

static const char *switches_first_sort(const struct table_in *in)
{
	return in->s->rates ? "util_pct" : state_metrics(in->s) ? "efi" : NULL;
}

static const struct table_ops list_ops = {
	.kind = ROWS_SWITCHES,
	.what = "switches",
	.one = "switch",
	.col = columns,
	.ncol = sizeof(columns) / sizeof(columns[0]),
	.sort_by = switches_first_sort,
	.draw = switches_draw_cell,
	.blank = switches_blank,
	.names_most = switches_names_most,
	.moved = switches_moved,
	.open = switches_open_switch,
};

static const struct table_col port_columns[] = {
	{ "a_port", "port", 4, 0, 0, 1 },
	{ "b", NULL, 0, 0, 0, 12 },
	{ "b_port", "port", 4, 0, 0, 0 },
	{ "rate_Mbps", NULL, 6, 100, 0, 0 },
	{ "state", NULL, 6, 120, 0, 0 },
	{ "tx_Bps", NULL, 6, 0, 0, 0 },
	{ "rx_Bps", NULL, 6, 0, 0, 0 },
	{ "util_pct", NULL, 5, 0, 0, 0 },
	{ "util_then_pct", "then", 5, 100, 0, 0 },
	{ "util_change_pct", "change", 6, 0, 0, 0 },
	{ "wait_pct", NULL, 5, 0, 0, 0 },
	{ "errors_per_min", "err", 4, 0, 0, 0 },
	{ "efi", NULL, 6, 0, 0, 0 },
	{ "eff_efi", NULL, 7, 0, 0, 0 },
	{ "plan_efi", NULL, 8, 120, 0, 0 },
	{ "lane_use", NULL, 20, 130, 0, 0 },
	{ "problem", NULL, 8, 0, 0, 0 },
};

static bool switches_port_wanted(const struct table_in *in, uint32_t row)
{
	const struct switches_ui *u = in->own;
	const struct fabric *f = in->s->fabric;

	return u->sw != FAB_NONE && row >= f->port_off[u->sw] && row < f->port_off[u->sw + 1];
}

static uint64_t switches_port_version(const struct table_in *in)
{
	return ((const struct switches_ui *)in->own)->sw;
}

static uint32_t switches_port_number(const struct table_in *in, uint32_t row)
{
	return row - in->s->fabric->port_off[((const struct switches_ui *)in->own)->sw];
}

static void switches_port_moved(const struct table_in *in, uint32_t row)
{
	if (in->s->fabric->port[row].chan != FAB_NONE)
		in->ctx->chan = in->s->fabric->port[row].chan;
}

static void switches_open_port(const struct table_in *in, uint32_t row)
{
	const struct port *p = &in->s->fabric->port[row];

	if (p->chan == FAB_NONE) {
		context_say(in->ctx,
			    "port %u leads to a host: < and > make it an end of the path "
			    "(view 0)",
			    switches_port_number(in, row));
		return;
	}
	in->ctx->chan = p->chan;
	context_goto(in->ctx, VIEW_LINKS);
}

static const struct table_ops port_ops = {
	.kind = ROWS_PORTS,
	.what = "ports",
	.one = "port",
	.col = port_columns,
	.ncol = sizeof(port_columns) / sizeof(port_columns[0]),
	.wanted = switches_port_wanted,
	.version = switches_port_version,
	.moved = switches_port_moved,
	.open = switches_open_port,
};

static struct table *switches_table(void *own, const struct table_ops **ops)
{
	struct switches_ui *u = own;

	*ops = NULL;
	if (u->begun && u->sw != FAB_NONE && u->pane != PANE_PORTS)
		return NULL;
	*ops = u->begun && u->sw != FAB_NONE ? &port_ops : &list_ops;
	return *ops == &port_ops ? &u->ports : &u->list;
}

/* --- drawing --------------------------------------------------------------------------------- */

static void switches_follow(struct switches_ui *u, struct context *ctx, const struct state *s)
{
	const struct table_in in = { u, ctx, s };
	const struct rows rows = { ROWS_SWITCHES, s, &ctx->summary };
	uint32_t sw = ctx->sw;

	if (!u->begun || u->fabric != s->fabric) {
		fabric_put(u->fabric);
		u->fabric = fabric_get(s->fabric);
		u->shared_chan = u->sw = FAB_NONE;
		u->ntrail = 0;
		u->begun = true;
	}
	if (u->sw == FAB_NONE)
		table_follow(&u->list, &list_ops, &in);
	if (sw == FAB_NONE || sw == u->shared_chan)
		return;
	/* chosen in another view: that one is to be seen */
	u->shared_chan = sw;
	table_select(&u->list, table_key(&rows, sw));
	u->ntrail = 0;
	switches_show(u, ctx, sw);
}

struct port_counts {
	uint32_t up, down, bare, hosts, links;
};

static struct port_counts switches_count_ports(const struct pane_in *in)
{
	const struct fabric *f = in->s->fabric;
	struct port_counts n = { 0 };

	for (uint32_t p = 1; p <= f->sw_nports[in->sw]; p++) {
		const struct port *port = fabric_port(f, in->sw, (uint8_t)p);

		if (!port_cabled(port))
			n.bare++;
		else if (in->ctx->summary.problem[f->port_off[in->sw] + p] == PROBLEM_DOWN)
			n.down++;
		else
			n.up++;
		n.hosts += port->term != FAB_NONE;
		n.links += port->chan != FAB_NONE;
	}
	return n;
}

static void switches_draw_facts(const struct pane_in *in, struct canvas *c, struct rect r, int y)
{
	const struct fabric *f = in->s->fabric;
	const struct topology_kind *topology = in->ctx->summary.topology;
	struct port_counts n = switches_count_ports(in);
	char level[16] = "";
	const char *at =
		topology->kind == TOPOLOGY_TREE
			? topology_kind_level_name(level, topology, topology->tree->row[in->sw])
			: "";
	int x;

	x = canvas_textf(c, r, 1, y, ROLE_TEXT, "%s%sLID %u  0x%016llx  %u up", at,
			 at[0] ? "  " : "", f->sw_lid[in->sw],
			 (unsigned long long)f->sw_guid[in->sw], n.up);
	if (n.down)
		x = canvas_textf(c, r, x, y, ROLE_BAD, "  %u DOWN", n.down);
	x = canvas_textf(c, r, x, y, ROLE_TEXT, "  %u free  %u host%s  %u ISL%s", n.bare, n.hosts,
			 plural(n.hosts), n.links, plural(n.links));
	canvas_textf(c, r, x, y, ROLE_DIM, "  %s", f->sw_desc[in->sw]);
}

static void switches_draw_tabs(const struct switches_ui *u, const struct pane_in *in,
			       struct canvas *c, struct rect r)
{
	static const char *const names[] = { "Ports", "LFT", "SL2VL", "VLs" };
	char name[NAME_LEN], title[NAME_LEN + 32];
	int x;

	snprintf(title, sizeof(title), "Switch %s",
		 switch_label(name, sizeof(name), in->s->fabric, in->sw));
	canvas_rule(c, r, 0, NULL);
	canvas_rule(c, (struct rect){ r.x, r.y, r.w - 34, r.h }, 0, title);
	x = r.w - 33;
	for (int i = 0; i < PANES; i++)
		x = canvas_textf(c, r, x, 0, i == (int)u->pane ? ROLE_TAB_ON : ROLE_RULE,
				 i == (int)u->pane ? "[%s]" : " %s ", names[i]);
}

static void switches_draw_ports(struct switches_ui *u, struct context *ctx,
				const struct pane_in *in, struct canvas *c, struct rect r)
{
	const struct table_in at = { u, ctx, in->s };
	uint32_t row;
	char title[128], metric[80];
	int n;

	if (!u->chosen)
		u->metric = chan_metric_first(u->metric, in->s);
	u->metric = chan_metric_shown(u->metric, in->s);
	table_follow(&u->ports, &port_ops, &at);
	row = table_cursor(&u->ports);
	u->panel = r;
	n = port_grid_draw(in, c, r, u->metric,
			   row == FAB_NONE ? 0 : switches_port_number(&at, row));
	if (r.h < n + 4)
		return;
	chan_value_legend(u->metric, ctx->palette, HEAT_LOUD, in->s, c, r, n);
	snprintf(title, sizeof(title), "Ports (panel shows %s)",
		 chan_metric_title(metric, sizeof(metric), u->metric, in->s));
	table_draw(&u->ports, &port_ops, &at, c,
		   (struct rect){ r.x, r.y + n + 1, r.w, r.h - n - 1 }, title);
}

static void switches_draw_inside(struct switches_ui *u, struct context *ctx,
				 const struct pane_in *in, struct canvas *c, struct rect r)
{
	struct rect below = { r.x, r.y + 2, r.w, r.h - 2 };

	switches_draw_tabs(u, in, c, r);
	switches_draw_facts(in, c, r, 1);
	switch (u->pane) {
	case PANE_PORTS:
		switches_draw_ports(u, ctx, in, c, below);
		break;
	case PANE_LFT:
		lft_pane_draw(&u->lft, in, c, below);
		break;
	case PANE_SL2VL:
		sl2vl_pane_draw(&u->sl2vl, in, c, below);
		break;
	default:
		lanes_pane_draw(&u->lanes, in, c, below);
	}
}

static void switches_draw(void *own, struct context *ctx, struct canvas *c, struct rect r,
			  const struct state *s)
{
	struct switches_ui *u = own;
	const struct table_in in = { own, ctx, s };
	struct pane_in pane = { ctx, s, FAB_NONE };
	int lines = list_detail_lines(r.h, DETAIL_LINES);
	struct rect rows = { r.x, r.y, r.w, r.h - lines };
	struct rect below = { r.x, r.y + r.h - lines, r.w, lines };
	char name[NAME_LEN];

	if (!s->fabric || !s->fabric->nsw) {
		canvas_rule(c, r, 0, "Switches");
		canvas_text(c, r, 1, 2, ROLE_DIM, "no fabric yet");
		return;
	}
	switches_follow(u, ctx, s);
	pane.sw = u->sw;
	if (u->sw != FAB_NONE) {
		switches_draw_inside(u, ctx, &pane, c, r);
		return;
	}
	table_draw(&u->list, &list_ops, &in, c, rows, "Switches");
	pane.sw = table_cursor(&u->list);
	canvas_rule(c, below, 0,
		    pane.sw == FAB_NONE ? NULL
					: switch_label(name, sizeof(name), s->fabric, pane.sw));
	if (pane.sw == FAB_NONE)
		return;
	switches_draw_facts(&pane, c, below, 1);
	for (uint32_t p = 1; p <= s->fabric->sw_nports[pane.sw]; p++) {
		struct chan_value v = port_value(CHAN_UTIL, &pane, p);

		canvas_char(c, below, 6 + (int)p, 2, fill_role(v.role), (uint32_t)v.glyph);
	}
	canvas_text(c, below, 1, 2, ROLE_LABEL, "ports");
	canvas_textf(c, below, 1, 3, ROLE_DIM,
		     "Enter: ports, LFT, SL2VL tables and VLs   %s %s: path from/to here",
		     key_hint("from"), key_hint("to"));
	hint_click_mark(c, below, 3, 1);
}

/* --- keys ------------------------------------------------------------------------------------ */

/* To the switch at the other end of the port under the cursor. */
static void switches_go_across(struct switches_ui *u, struct context *ctx, const struct state *s)
{
	uint32_t row = table_cursor(&u->ports), chan;

	chan = u->pane == PANE_PORTS && row != FAB_NONE ? s->fabric->port[row].chan : FAB_NONE;
	if (chan == FAB_NONE) {
		context_say(ctx, "no switch at the other end: select a port with an ISL first");
		return;
	}
	if (u->ntrail == TRAIL) {
		memmove(u->trail, u->trail + 1, (TRAIL - 1) * sizeof(u->trail[0]));
		u->ntrail--;
	}
	u->trail[u->ntrail++] = u->sw;
	switches_show(u, ctx, s->fabric->chan_dst[chan]);
}

/* < and >: the host on the port under the cursor, or else the switch. */
static void switches_take_path(struct switches_ui *u, struct context *ctx, const struct state *s,
			       bool from)
{
	const struct fabric *f = s->fabric;
	struct path_ends ends = ctx->path;
	uint32_t sw = u->sw != FAB_NONE ? u->sw : table_cursor(&u->list), end;
	uint32_t row = u->sw != FAB_NONE ? table_cursor(&u->ports) : FAB_NONE;
	char name[END_NAME_LEN];

	if (sw == FAB_NONE)
		return;
	end = row != FAB_NONE && f->port[row].term != FAB_NONE ? f->port[row].term : f->nend + sw;
	if (from)
		ends.src = end;
	else
		ends.dlid = end < f->nend ? f->term_lid[end] : f->sw_lid[sw];
	ctx->path = ends;
	context_say(ctx, "path %s %s: view 0 shows it", from ? "from" : "to",
		    end_name(name, sizeof(name), f, end));
}

static void switches_leave(struct switches_ui *u, struct context *ctx)
{
	if (u->ntrail) {
		switches_show(u, ctx, u->trail[--u->ntrail]);
		return;
	}
	u->list.moved = true;
	u->sw = FAB_NONE;
}

bool switches_go_to(void *own, struct context *ctx, const struct state *s, uint32_t sw,
		    uint8_t port)
{
	struct switches_ui *u = own;
	const struct table_in in = { own, ctx, s };
	const struct rows rows = { ROWS_PORTS, s, &ctx->summary };

	context_goto(ctx, VIEW_SWITCHES);
	ctx->sw = sw;
	switches_follow(u, ctx, s);
	if (u->sw != sw) { /* it was chosen before, and left */
		u->ntrail = 0;
		switches_show(u, ctx, sw);
	}
	if (!port)
		return true;
	u->pane = PANE_PORTS;
	return table_reveal(&u->ports, &port_ops, &in,
			    table_key(&rows, s->fabric->port_off[sw] + port));
}

/* Left and right in the front panel: the port next to it. */
static bool switches_panel_move(struct switches_ui *u, struct context *ctx, const struct state *s,
				enum req req)
{
	const struct table_in in = { u, ctx, s };
	const struct rows rows = { ROWS_PORTS, s, &ctx->summary };
	const struct fabric *f = s->fabric;
	uint32_t row = table_cursor(&u->ports), p;

	if ((req != REQ_LEFT && req != REQ_RIGHT) || row == FAB_NONE)
		return false;
	table_follow(&u->ports, &port_ops, &in);
	p = switches_port_number(&in, row);
	for (int k = 0; k < FAB_MAX_PORT; k++) {
		p = req == REQ_RIGHT ? p + 2 : p - 2;
		if (p < 1 || p > f->sw_nports[u->sw])
			break;
		if (table_select(&u->ports, table_key(&rows, f->port_off[u->sw] + p))) {
			u->ports.moved = true;
			switches_port_moved(&in, f->port_off[u->sw] + p);
			break;
		}
	}
	return true;
}

/* A port of the front panel; clicked again it is opened. */
static bool switches_panel_click(struct switches_ui *u, struct context *ctx, const struct state *s,
				 const struct input *key)
{
	const struct table_in in = { u, ctx, s };
	const struct rows rows = { ROWS_PORTS, s, &ctx->summary };
	const struct pane_in pane = { ctx, s, u->sw };
	uint32_t p, row;

	if (key->req != REQ_CLICK)
		return false;
	p = port_grid_at(&pane, u->panel, key->x, key->y);
	if (!p || key->y >= u->ports.at.y - 2)
		return false;
	row = s->fabric->port_off[u->sw] + p;
	if (row == table_cursor(&u->ports) && u->ports.moved) {
		switches_open_port(&in, row);
	} else if (table_select(&u->ports, table_key(&rows, row))) {
		u->ports.moved = true;
		switches_port_moved(&in, row);
	} else {
		context_say(ctx, "port %u is hidden by the filter: Esc clears it", p);
	}
	return true;
}

static bool switches_pane_input(struct switches_ui *u, struct context *ctx, const struct input *in,
				const struct state *s)
{
	const struct pane_in pane = { ctx, s, u->sw };

	switch (u->pane) {
	case PANE_LFT:
		return lft_pane_input(&u->lft, ctx, &pane, in);
	case PANE_SL2VL:
		return sl2vl_pane_input(&u->sl2vl, &pane, in);
	case PANE_LANES:
		return lanes_pane_input(&u->lanes, ctx, &pane, in);
	default:
		return switches_panel_click(u, ctx, s, in) ||
		       switches_panel_move(u, ctx, s, in->req);
	}
}

static bool switches_inside_input(struct switches_ui *u, struct context *ctx,
				  const struct input *in, const struct state *s)
{
	const struct table_in at = { u, ctx, s };

	if (switches_pane_input(u, ctx, in, s))
		return true;
	switch (in->req) {
	case REQ_PANE:
		u->pane = (u->pane + 1) % PANES;
		return true;
	case REQ_METRIC:
		u->chosen = true;
		u->metric = chan_metric_next(u->metric, s) % CHAN_DELTA;
		return true;
	case REQ_ENTER:
		if (u->pane == PANE_PORTS && table_cursor(&u->ports) != FAB_NONE)
			switches_open_port(&at, table_cursor(&u->ports));
		return true;
	case REQ_FOLLOW:
		switches_go_across(u, ctx, s);
		return true;
	case REQ_BACK:
		if (u->pane == PANE_PORTS && table_input(&u->ports, &port_ops, &at, in))
			return true;
		switches_leave(u, ctx);
		return true;
	default:
		return false;
	}
}

static bool switches_is_for_inside(enum req req)
{
	return req == REQ_PANE || req == REQ_METRIC || req == REQ_FOLLOW || req == REQ_LAYOUT ||
	       req == REQ_COMPARE || req == REQ_LEFT || req == REQ_RIGHT;
}

/* The list of switches has neither panes nor metrics. */
static const char *switches_label(const void *own, const struct binding *b)
{
	const struct switches_ui *u = own;
	bool inside = u->begun && u->sw != FAB_NONE;

	return inside || !switches_is_for_inside(b->req) ? b->label : NULL;
}

static bool switches_input(void *own, struct context *ctx, const struct input *in,
			   const struct state *s, struct request *out)
{
	struct switches_ui *u = own;
	const struct table_in at = { own, ctx, s };

	(void)out;
	if (!s->fabric || !s->fabric->nsw)
		return false;
	switches_follow(u, ctx, s);
	if (u->sw != FAB_NONE && switches_inside_input(u, ctx, in, s))
		return true;
	if (in->req == REQ_PATH_FROM || in->req == REQ_PATH_TO) {
		switches_take_path(u, ctx, s, in->req == REQ_PATH_FROM);
		return true;
	}
	if (u->sw == FAB_NONE && in->req == REQ_COMPARE)
		return false; /* of tagged rows */
	if (u->sw == FAB_NONE && switches_is_for_inside(in->req)) {
		context_say(ctx,
			    "this works inside a switch: Enter opens the one under the cursor");
		return true;
	}
	if (u->sw != FAB_NONE || in->req != REQ_ENTER || table_cursor(&u->list) == FAB_NONE)
		return false;
	switches_open_switch(&at, table_cursor(&u->list));
	return true;
}

static bool switches_typing(const void *own, const struct state *s)
{
	const struct switches_ui *u = own;

	(void)s;
	return u->begun && u->sw != FAB_NONE && u->pane == PANE_LFT && u->lft.find.active;
}

static void switches_context(const void *own, const struct state *s, char *buf, size_t len)
{
	static const char lft[] = "{layout}: LIDs or ports  {compare}: changes only  Enter: path";
	static const char *const hints[] = { "_ no cable  h host", lft,
					     "{left} {right}: output port", "" };
	const struct switches_ui *u = own;

	buf[0] = '\0';
	if (!s->fabric || !u->begun)
		return;
	if (u->sw == FAB_NONE)
		table_context(&u->list, &list_ops, buf, len);
	else
		key_hint_text(buf, len, hints[u->pane]);
}

static const char *switches_inside(const void *own)
{
	const struct switches_ui *u = own;

	if (u->sw == FAB_NONE)
		return NULL;
	return u->ntrail ? "the switch before" : "all switches";
}

const struct view view_switches = {
	.size = sizeof(struct switches_ui),
	.done = switches_done,
	.draw = switches_draw,
	.input = switches_input,
	.typing = switches_typing,
	.context = switches_context,
	.label = switches_label,
	.inside = switches_inside,
	.table = switches_table,
};
