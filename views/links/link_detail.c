/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/links/link_detail.h"

#include "fabric/base/message/plural.h"
#include "fabric/model/topology/end_find.h"
#include "views/canvas/name_fit.h"
#include "views/canvas/text.h"
#include "views/data/state/chan_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SIDE_W	       21 /* columns of a port's figures */
#define NAMES_W	       16
#define GRAPH_MAX      10
#define SIDE_BY_SIDE_W 96 /* columns from which the past is beside the ports */

static uint32_t link_detail_port_of(const struct state *s, uint32_t chan)
{
	return chan_fabric_port(s->fabric, chan);
}

/* --- both ports ------------------------------------------------------------------------------ */

static const char *link_detail_state_word(enum port_state state)
{
	static const char *const words[] = { "-", "down", "init", "armed", "active" };

	return words[state];
}

static const char *link_detail_vls_text(char buf[16], unsigned vls)
{
	if (!vls)
		return "";
	snprintf(buf, 16, "%u VL%s", vls & 15, plural(vls & 15));
	return buf;
}

/* One figure of both ends, in two columns. */
static void link_detail_draw_pair(struct canvas *c, struct rect r, int y, const char *name,
				  const char *a, const char *b)
{
	canvas_text(c, r, 1, y, ROLE_LABEL, name);
	canvas_name(c, r, NAMES_W, y, SIDE_W - 1, ROLE_TEXT, a);
	canvas_name(c, r, NAMES_W + SIDE_W, y, SIDE_W - 1, ROLE_TEXT, b);
}

/* Returns the lines used: fewer on small screens. */
static int link_detail_draw_ends(const struct state *s, struct canvas *c, struct rect r,
				 uint32_t chan)
{
	int y = 0;
	const struct fabric *f = s->fabric;
	char t[2][4][NAME_LEN + 8], fit[2][NAME_LEN + 8];

	for (int i = 0; i < 2; i++) {
		uint32_t at = i ? f->chan_rev[chan] : chan, sw = f->chan_src[at];
		const struct port *p = &f->port[link_detail_port_of(s, at)];
		char name[NAME_LEN], vls[16];

		snprintf(t[i][0], sizeof(t[i][0]), "%s/%u", switch_label(name, sizeof(name), f, sw),
			 f->chan_port[at]);
		snprintf(t[i][1], sizeof(t[i][1]), "0x%016llx", (unsigned long long)f->sw_guid[sw]);
		snprintf(t[i][2], sizeof(t[i][2]), "LID %u (0x%x)", f->sw_lid[sw], f->sw_lid[sw]);
		snprintf(t[i][3], sizeof(t[i][3]), "%s %ux%.6s %s",
			 link_detail_state_word((enum port_state)p->state), p->width,
			 p->speed[0] ? p->speed : "?", link_detail_vls_text(vls, p->op_vls));
	}
	link_detail_draw_pair(c, r, y++, "port",
			      name_fit(fit[0], sizeof(fit[0]), f, t[0][0], SIDE_W - 1),
			      name_fit(fit[1], sizeof(fit[1]), f, t[1][0], SIDE_W - 1));
	if (r.h > 3)
		link_detail_draw_pair(c, r, y++, "switch", t[0][1], t[1][1]);
	link_detail_draw_pair(c, r, y++, r.h > 3 ? "" : "switch", t[0][2], t[1][2]);
	link_detail_draw_pair(c, r, y++, "link", t[0][3], t[1][3]);
	return y;
}

static void link_detail_draw_rates(const struct context *ctx, const struct state *s,
				   struct canvas *c, struct rect r, uint32_t chan)
{
	static const struct port_rate none = { NAN, NAN, NAN, NAN, NAN };
	char t[2][3][48];

	for (int i = 0; i < 2; i++) {
		const struct port_rate *p =
			state_rate(s, link_detail_port_of(s, i ? s->fabric->chan_rev[chan] : chan));
		char a[FIGURE_LEN], b[FIGURE_LEN];

		p = p ? p : &none;
		snprintf(t[i][0], sizeof(t[i][0]), "%s  wait %s", figure_percent(a, p->util_pct),
			 figure_percent(b, p->wait_pct));
		snprintf(t[i][1], sizeof(t[i][1]), "%s %s", figure_rate(a, p->tx_Bps, ctx->bits),
			 ctx->bits ? "Gb/s" : "GB/s");
		snprintf(t[i][2], sizeof(t[i][2]), "%s /min", figure_pct(a, p->errors_per_min));
	}
	link_detail_draw_pair(c, r, 0, "utilisation", t[0][0], t[1][0]);
	link_detail_draw_pair(c, r, 1, "transmits", t[0][1], t[1][1]);
	link_detail_draw_pair(c, r, 2, "errors", t[0][2], t[1][2]);
}

static const char *link_detail_counter_text(char buf[FIGURE_LEN], const struct state *s,
					    uint32_t port, int ctr)
{
	const struct sample *sample = s->sample;

	if (!sample || sample->nport != s->fabric->nport || !(sample->port[port].valid & 1u << ctr))
		return strcpy(buf, "-");
	return figure_count(buf, sample->port[port].v[ctr]);
}

/* Returns the lines used. */
static int link_detail_draw_counters(const struct state *s, struct canvas *c, struct rect r,
				     uint32_t chan)
{
	static const char *const names[CTR_COUNT] = {
		"XmitData bytes", "RcvData bytes", "XmitPkts",	 "RcvPkts",   "XmitWait ticks",
		"SymbolErrors",	  "LinkRecovers",  "LinkDowned", "RcvErrors", "XmitDiscards"
	};
	char a[FIGURE_LEN], b[FIGURE_LEN];

	for (int i = 0; i < CTR_COUNT; i++)
		link_detail_draw_pair(
			c, r, i, names[i],
			link_detail_counter_text(a, s, link_detail_port_of(s, chan), i),
			link_detail_counter_text(
				b, s, link_detail_port_of(s, s->fabric->chan_rev[chan]), i));
	return CTR_COUNT;
}

/* --- the past -------------------------------------------------------------------------------- */

/* What a height of the graph means: per cent, or errors per minute. */
static const char *link_detail_scale_text(char buf[FIGURE_LEN], enum history_metric m, int pct)
{
	if (m == HISTORY_ERRORS)
		return figure_short(buf, (uint64_t)history_errors_of(pct));
	snprintf(buf, FIGURE_LEN, "%d%%", pct);
	return buf;
}

/* Bars from the bottom of r, newest right, with the scale at the left. */
static void link_detail_draw_graph(const struct context *ctx, const struct state *s,
				   struct canvas *c, struct rect r, uint32_t chan)
{
	enum history_metric m = ctx->metric;
	uint8_t past[HISTORY_LEN];
	char scale[FIGURE_LEN];
	int n, first, h = r.h < GRAPH_MAX ? r.h : GRAPH_MAX, room = r.w - 6;

	if (!s->history) {
		canvas_text(c, r, 1, 0, ROLE_DIM, "unknown");
		return;
	}
	if (h < 2)
		return;
	n = (int)history_get(s->history, chan, m, past);
	first = n > room ? n - room : 0;
	for (int y = 0; y < h; y++) {
		int least = 100 * (h - 1 - y) / h;

		canvas_right(c, r, 5, y, ROLE_LABEL,
			     link_detail_scale_text(scale, m, 100 * (h - y) / h));
		for (int i = first; i < n; i++) {
			enum role role = heat_role(ctx->palette, heat_level(past[i]));

			if (past[i] <= 100 && past[i] > least)
				canvas_char(c, r, 6 + i - first, y, role,
					    (uint32_t)heat_glyph(heat_level(past[i])));
		}
	}
	if (!n)
		canvas_text(c, r, 6, 0, ROLE_DIM, "no history yet");
}

/* --- routes ---------------------------------------------------------------------------------- */

static void link_detail_draw_routes(const struct state *s, struct canvas *c, struct rect r,
				    uint32_t chan)
{
	const struct metrics *m = state_metrics(s), *plan = state_plan(s)->after;
	char a[FIGURE_LEN], b[FIGURE_LEN], lanes[200], why[64], util[FIGURE_LEN + 16];
	int x;

	if (!m) {
		canvas_text(c, r, 1, 0, ROLE_DIM, "EFI not computed yet");
		return;
	}
	canvas_textf(c, r, 1, 0, ROLE_TEXT, "EFI %s (fabric max %s)", figure_count(a, m->efi[chan]),
		     figure_count(b, m->efi_max));
	if (m->njob)
		canvas_textf(c, r, 1, 1, m->eff_efi[chan] ? ROLE_TEXT : ROLE_WARN,
			     "job EFI %s (fabric max %s)%s", figure_count(a, m->eff_efi[chan]),
			     figure_count(b, m->eff_efi_max), m->eff_efi[chan] ? "" : ": unused");
	x = canvas_text(c, r, 1, 2, ROLE_LABEL, "VLs ");
	chan_lanes_text(lanes, sizeof(lanes), s, chan, r.w - x - 1);
	canvas_text(c, r, x, 2, ROLE_TEXT,
		    lanes[0]		 ? lanes
		    : state_vls_known(s) ? "SLs unknown"
					 : state_no_vls(why, sizeof(why), s));
	if (!state_plan_ahead(s))
		return;
	x = canvas_textf(c, r, 1, 3, ROLE_TEXT, "with the plan: EFI %s",
			 figure_count(a, plan->efi[chan]));
	if (plan->njob)
		x = canvas_textf(c, r, x, 3, ROLE_TEXT, ", job EFI %s",
				 figure_count(a, plan->eff_efi[chan]));
	if (!isfinite(chan_planned_util(s, chan)))
		return;
	snprintf(util, sizeof(util), ", util ~%s%%", figure_pct(a, chan_planned_util(s, chan)));
	if (x + text_width(util) <= r.w)
		canvas_text(c, r, x, 3, ROLE_TEXT, util);
	else
		canvas_text(c, r, 1, 4, ROLE_TEXT, util + 2);
}

static void link_detail_draw_jobs(const struct context *ctx, const struct state *s,
				  struct canvas *c, struct rect r, uint32_t chan)
{
	const struct link_usage *u = state_usage(s);
	const struct job_routes *k = u ? u->routes : NULL;
	uint64_t sum = 0, first = k ? k->chan_off[chan] : 0, last = k ? k->chan_off[chan + 1] : 0;

	canvas_text(c, r, 1, 0, ROLE_LABEL, "job          user       paths  share");
	if (first == last)
		canvas_text(c, r, 1, 1, ROLE_DIM, k ? "none" : "unknown");
	for (uint64_t i = first; i < last; i++)
		sum += k->job_routes[i];
	for (uint64_t i = first; i < last && (int)(i - first) + 1 < r.h; i++) {
		const struct job *j = &u->jobs->jobs[k->job[i]];
		double share = (double)k->job_routes[i] / (double)sum;
		int y = (int)(i - first) + 1;
		char routes[FIGURE_LEN], id[JOB_ID_LEN];

		canvas_textf(c, r, 1, y, j->id == ctx->job.id ? ROLE_KEY : ROLE_TEXT,
			     "%-12s %-8.8s %7s %5.0f%%", job_text(id, j), j->user,
			     figure_short(routes, k->job_routes[i]), share * 100);
		if (r.w > 50)
			canvas_bar(c, r, 39, y, r.w - 41 < 20 ? r.w - 41 : 20, ROLE_RULE, share, 0);
	}
}

/* In columns as wide as the longest name, the most routes first. */
static void link_detail_draw_dests(const struct state *s, struct canvas *c, struct rect r,
				   uint32_t chan)
{
	const struct chan_dest_list *k = state_chan_dests(s, chan);
	int wide = 0, across, fit, x;
	char name[END_NAME_LEN];
	uint32_t n;

	if (!k) {
		canvas_text(c, r, 1, 0, ROLE_DIM,
			    s->tables ? "destinations: being counted"
				      : "destinations: routing unknown");
		return;
	}
	for (uint32_t i = 0; i < k->n; i++) {
		int w = text_width(end_name(name, sizeof(name), s->fabric, k->term[i]));

		wide = w > wide ? w : wide;
	}
	across = r.w / (wide + 10) > 1 ? r.w / (wide + 10) : 1;
	fit = r.h - 1;
	n = (int)k->n < fit * across ? k->n : (uint32_t)(fit > 0 ? fit * across : 0);
	x = n && n < k->total ? canvas_textf(c, r, 1, 0, ROLE_LABEL, "%u of ", n) : 1;
	canvas_textf(c, r, x, 0, ROLE_LABEL, "%u destination%s%s", k->total, plural(k->total),
		     state_usage(s)->dests->jobs ? " of jobs" : "");
	for (uint32_t i = 0; i < n; i++) {
		int y = 1 + (int)i % fit;
		char routes[FIGURE_LEN];

		x = (int)i / fit * (r.w / across);
		canvas_rightf(c, r, x + 7, y, ROLE_TEXT, "%s", figure_short(routes, k->routes[i]));
		name_fit_draw(c, r, x + 9, y, r.w / across - 10, ROLE_TEXT, s->fabric,
			      end_name(name, sizeof(name), s->fabric, k->term[i]));
	}
}

static int link_detail_section(struct canvas *c, struct rect r, int y, const char *title)
{
	canvas_rule(c, r, y, title);
	return y + 1;
}

/* Both ports, with their counters where there is room; returns the lines used. */
static int link_detail_draw_ports(const struct context *ctx, const struct state *s,
				  struct canvas *c, struct rect r, uint32_t chan, bool counters)
{
	int y = link_detail_draw_ends(s, c, (struct rect){ r.x, r.y, r.w, r.h < 23 ? 3 : 4 }, chan);

	link_detail_draw_rates(ctx, s, c, (struct rect){ r.x, r.y + y, r.w, 3 }, chan);
	y += 3;
	if (counters)
		y += link_detail_draw_counters(s, c, (struct rect){ r.x, r.y + y, r.w, r.h - y },
					       chan);
	return y;
}

/* The past, graph lines high, and the routes below it; returns the lines used. */
static int link_detail_draw_past_and_routes(const struct context *ctx, const struct state *s,
					    struct canvas *c, struct rect r, uint32_t chan,
					    int graph)
{
	static const char *const titles[] = { "Utilisation history, newest right",
					      "XmitWait history, newest right",
					      "Errors/min history, newest right" };
	int y = link_detail_section(c, r, 0, titles[ctx->metric]);

	link_detail_draw_graph(ctx, s, c, (struct rect){ r.x, r.y + y, r.w, graph }, chan);
	y = link_detail_section(c, r, y + graph, "Paths over this link");
	link_detail_draw_routes(s, c, (struct rect){ r.x, r.y + y, r.w, 5 }, chan);
	return y + (state_plan_ahead(s) ? 4 : 3);
}

static void link_detail_draw_users(const struct context *ctx, const struct state *s,
				   struct canvas *c, struct rect r, uint32_t chan)
{
	int y = link_detail_section(c, r, 0, "Jobs and destinations on this link"),
	    jobs = r.w * 3 / 5;

	link_detail_draw_jobs(ctx, s, c, (struct rect){ r.x, r.y + y, jobs, r.h - y }, chan);
	link_detail_draw_dests(s, c, (struct rect){ r.x + jobs, r.y + y, r.w - jobs, r.h - y },
			       chan);
}

/* On small screens the counters are left out first. */
void link_detail_draw(const struct context *ctx, const struct state *s, struct canvas *c,
		      struct rect r, uint32_t chan)
{
	bool wide = r.w >= 120, beside = wide || (r.w >= SIDE_BY_SIDE_W && r.h >= 26);
	int left = beside ? NAMES_W + 2 * SIDE_W : r.w, y, used, graph;
	struct rect a = { r.x, r.y + 1, left, r.h - 1 }, b;
	char label[256];

	canvas_rule(c, r, 0, chan_label(label, sizeof(label), s->fabric, chan));
	y = 1 + link_detail_draw_ports(ctx, s, c, a, chan, beside || r.h >= 36);
	if (beside) {
		b = (struct rect){ r.x + left, r.y, r.w - left, r.h };
		graph = wide ? r.h / 4 : y - 7;
	} else {
		b = (struct rect){ r.x, r.y + y, r.w, r.h - y };
		graph = b.h < 16 ? 2 : b.h / 4;
	}
	graph = graph < GRAPH_MAX ? graph : GRAPH_MAX;
	used = link_detail_draw_past_and_routes(ctx, s, c, b, chan, graph);
	if (beside && !wide) /* jobs below both */
		b = (struct rect){ r.x, r.y + y, r.w, r.h - y };
	else
		b = (struct rect){ b.x, b.y + used, b.w, b.h - used };
	link_detail_draw_users(ctx, s, c, b, chan);
}
