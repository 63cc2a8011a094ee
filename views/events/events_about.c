/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/events/events_about.h"

#include "fabric/base/message/plural.h"
#include "views/events/event_line.h"
#include "views/links/chan_detail.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROOM_W	140
#define ROOM_H	40
#define AREAS	8
#define NOW	5 /* lines: a head, and what is named as it is now */
#define COLUMN2 100

int events_about_lines(struct rect r)
{
	return r.w >= ROOM_W && r.h >= ROOM_H ? EVENTS_ABOUT_LINES : 0;
}

/* --- what is named, now ---------------------------------------------------------------------- */

struct about_ports {
	uint32_t hosts, links, problems;
	uint32_t worst; /* channel with most utilisation; FAB_NONE: not known */
	double tx, rx, util;
};

static struct about_ports events_about_ports(const struct context *ctx, const struct state *s,
					     uint32_t sw)
{
	const struct fabric *f = s->fabric;
	struct about_ports n = { .worst = FAB_NONE };

	for (uint32_t p = f->port_off[sw]; p < f->port_off[sw + 1]; p++) {
		const struct port_rate *rate = state_rate(s, p);

		n.hosts += f->port[p].term != FAB_NONE;
		n.links += f->port[p].chan != FAB_NONE;
		n.problems += ctx->summary.problem[p] != PROBLEM_NONE;
		if (!rate || !isfinite(rate->tx_Bps))
			continue;
		n.tx += rate->tx_Bps;
		n.rx += rate->rx_Bps;
		if (f->port[p].chan == FAB_NONE || !(rate->util_pct > n.util))
			continue;
		n.util = rate->util_pct;
		n.worst = f->port[p].chan;
	}
	return n;
}

static void events_about_switch(const struct context *ctx, const struct state *s, struct canvas *c,
				struct rect r, uint32_t sw)
{
	struct about_ports n = events_about_ports(ctx, s, sw);
	char tx[FIGURE_LEN], rx[FIGURE_LEN], util[FIGURE_LEN], label[256];

	canvas_textf(c, r, 1, 0, ROLE_TEXT, "LID %u  %u host%s  %u link%s to switches",
		     s->fabric->sw_lid[sw], n.hosts, plural(n.hosts), n.links, plural(n.links));
	if (n.worst == FAB_NONE)
		canvas_text(c, r, 1, 1, ROLE_DIM, "no rates known");
	else
		canvas_textf(c, r, 1, 1, ROLE_TEXT, "tx %s  rx %s %s  fullest %s %s",
			     figure_rate(tx, n.tx, ctx->bits), figure_rate(rx, n.rx, ctx->bits),
			     ctx->bits ? "Gb/s" : "GB/s",
			     chan_label(label, sizeof(label), s->fabric, n.worst),
			     figure_percent(util, n.util));
	canvas_textf(c, r, 1, 2, n.problems ? ROLE_BAD : ROLE_DIM, "%u port%s with a problem",
		     n.problems, plural(n.problems));
}

static void events_about_host(const struct context *ctx, const struct state *s, struct canvas *c,
			      struct rect r, uint32_t term)
{
	const struct fabric *f = s->fabric;
	uint32_t sw = f->term_sw[term], port = f->port_off[sw] + f->term_port[term];
	const struct port_rate *rate = state_rate(s, port);
	enum problem problem = (enum problem)ctx->summary.problem[port];
	char label[256], tx[FIGURE_LEN], rx[FIGURE_LEN], id[JOB_ID_LEN];
	const struct jobset *js = s->jobs;
	int x;

	canvas_textf(c, r, 1, 0, ROLE_TEXT, "%s at %s", f->term_name[term],
		     port_label(label, sizeof(label), f, sw, f->term_port[term]));
	x = canvas_textf(c, r, 1, 1, ROLE_TEXT, "sends %s  receives %s %s",
			 figure_rate(tx, rate ? rate->rx_Bps : NAN, ctx->bits),
			 figure_rate(rx, rate ? rate->tx_Bps : NAN, ctx->bits),
			 ctx->bits ? "Gb/s" : "GB/s");
	if (problem)
		canvas_textf(c, r, x + 2, 1, ROLE_BAD, "%s", problem_word(problem));
	if (!js || js->nterm != f->nterm)
		return;
	x = canvas_text(c, r, 1, 2, ROLE_LABEL, "jobs ");
	if (js->term_off[term] == js->term_off[term + 1])
		canvas_text(c, r, x, 2, ROLE_DIM, "none");
	for (uint32_t i = js->term_off[term]; i < js->term_off[term + 1] && x < r.w - 30; i++)
		x = canvas_textf(c, r, x, 2, ROLE_TEXT, "%s ",
				 job_text(id, &js->jobs[js->term_job[i]]));
}

static void events_about_job(const struct state *s, struct canvas *c, struct rect r, uint64_t id)
{
	const struct job *j = NULL;
	char time[FIGURE_LEN], age[FIGURE_LEN];
	int x;

	for (uint32_t i = 0; s->jobs && i < s->jobs->njob; i++)
		if (s->jobs->jobs[i].id == id)
			j = &s->jobs->jobs[i];
	if (!j) {
		canvas_text(c, r, 1, 0, ROLE_DIM, "it runs no more");
		return;
	}
	x = canvas_textf(c, r, 1, 0, ROLE_TEXT, "%.40s  %.40s  %u host%s on %u switch%s", j->name,
			 j->user, j->nterm, plural(j->nterm), j->nsw, plural_es(j->nsw));
	if (j->unknown)
		canvas_textf(c, r, x + 2, 0, ROLE_WARN, "%u not in this fabric", j->unknown);
	if (j->start_s)
		canvas_textf(c, r, 1, 1, ROLE_TEXT, "since %s (%s)", figure_time(time, j->start_s),
			     figure_age(age, (double)(state_time_s(s) - j->start_s)));
	canvas_wrap(c, (struct rect){ r.x, r.y, r.w - 1, r.h }, 1, 2, ROLE_DIM, j->nodes);
}

static void events_about_now(const struct context *ctx, const struct state *s, struct canvas *c,
			     struct rect r, const struct event_ref *ref)
{
	struct rect in = { r.x, r.y + 1, r.w, r.h - 1 };
	char what[300];

	if (ref->kind == REF_TERM)
		snprintf(what, sizeof(what), "host %s", s->fabric->term_name[ref->at]);
	else
		event_ref_text(what, sizeof(what), s, ref);
	canvas_textf(c, r, 1, 0, ROLE_LABEL, "Now: %s",
		     what[0] ? what : "it names no link, switch, host or job that exists");
	switch (ref->kind) {
	case REF_NONE:
		break;
	case REF_CHAN:
		chan_detail_draw(ctx, s, c, in, ref->at);
		break;
	case REF_SWITCH:
		events_about_switch(ctx, s, c, in, ref->at);
		break;
	case REF_TERM:
		events_about_host(ctx, s, c, in, ref->at);
		break;
	case REF_JOB:
		events_about_job(s, c, in, ref->job);
		break;
	}
}

/* --- the others ------------------------------------------------------------------------------ */

static void events_about_before(const struct state *s, struct canvas *c, struct rect r,
				const struct event_ref *ref, uint32_t row)
{
	uint32_t n = 0, all = events_count(s->events);

	for (uint32_t i = row + 1; i < all && ref->kind != REF_NONE; i++) {
		const struct log_line *l = events_get(s->events, i);

		if (!event_ref_in(ref, l->text))
			continue;
		if ((int)++n < r.h)
			event_draw(c, r, (int)n, l);
	}
	if (ref->kind == REF_NONE || !n)
		canvas_text(c, r, 1, 0, ROLE_LABEL, "No event before it names the same");
	else
		canvas_textf(c, r, 1, 0, ROLE_LABEL, "%u event%s before it that name%s %s", n,
			     plural(n), n == 1 ? "s" : "", ref->word);
}

struct about_area {
	const char *name;
	uint32_t n[4];
	int64_t newest_s;
};

/* Those with the newest events first, as many as there is room for; returns how many. */
static uint32_t events_about_count(struct about_area area[AREAS], const struct events *e)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < events_count(e); i++) {
		const struct log_line *l = events_get(e, i);
		uint32_t at = 0;

		while (at < n && strcmp(area[at].name, l->area) != 0)
			at++;
		if (at == AREAS)
			continue;
		if (at == n)
			area[n++] = (struct about_area){
				.name = l->area, .newest_s = (int64_t)(l->time_ns / 1000000000)
			};
		area[at].n[l->level & 3]++;
	}
	return n;
}

static void events_about_areas(const struct state *s, struct canvas *c, struct rect r)
{
	struct about_area area[AREAS];
	uint32_t n = events_about_count(area, s->events);
	char time[FIGURE_LEN];

	canvas_text(c, r, 1, 0, ROLE_LABEL, "area       errors  warnings  others  newest");
	for (uint32_t i = 0; i < n && (int)i + 1 < r.h; i++) {
		const struct about_area *a = &area[i];
		int y = (int)i + 1;

		canvas_name(c, r, 1, y, 9, ROLE_LABEL, a->name);
		canvas_textf(c, r, 12, y, a->n[LOG_ERROR] ? ROLE_BAD : ROLE_DIM, "%6u",
			     a->n[LOG_ERROR]);
		canvas_textf(c, r, 20, y, a->n[LOG_WARN] ? ROLE_WARN : ROLE_DIM, "%8u",
			     a->n[LOG_WARN]);
		canvas_textf(c, r, 30, y, ROLE_TEXT, "%6u  %s", a->n[LOG_INFO] + a->n[LOG_DEBUG],
			     figure_time(time, a->newest_s));
	}
}

void events_about_draw(const struct context *ctx, const struct state *s, struct canvas *c,
		       struct rect r, const struct event_ref *ref, uint32_t row)
{
	int half = r.w >= 2 * COLUMN2 ? COLUMN2 : r.w / 2;

	events_about_now(ctx, s, c, (struct rect){ r.x, r.y, half - 1, NOW }, ref);
	events_about_areas(s, c, (struct rect){ r.x, r.y + NOW, half - 1, r.h - NOW });
	events_about_before(s, c, (struct rect){ r.x + half, r.y, r.w - half, r.h }, ref, row);
}
