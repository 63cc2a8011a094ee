/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The overview: the fabric in figures, its tiers, hot links, problems, jobs, last events; where
 * there is room, a heatmap of all of it. */
#include "fabric/base/message/plural.h"
#include "views/canvas/list.h"
#include "views/canvas/name_fit.h"
#include "views/data/hint_click.h"
#include "views/data/row_notes.h"
#include "views/data/state/chan_text.h"
#include "views/data/state/key_hint.h"
#include "views/data/summary/headline.h"
#include "views/data/summary/history_spark.h"
#include "views/events/event_line.h"
#include "views/heatmap/heat_small.h"
#include "views/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDE 140 /* there is room for all about the selected link */

enum pane { PANE_HOT, PANE_PROBLEMS, PANE_JOBS, PANE_COUNT };

struct overview_ui {
	int pane;
	struct list list[PANE_COUNT];
	struct rect at[PANE_COUNT]; /* as drawn last, for the mouse */
	enum headline_kind said;    /* in line headline_y */
	int headline_y, hint_y;
	bool alone; /* the pane with the cursor has the page */
	struct heat_small heat;
};

struct overview_layout {
	struct rect fabric, tiers, hot, problems, jobs, heat, events;
	int sel; /* line of the link under the cursor; -1: no room */
};

/* --- the fabric in figures, and its tiers ---------------------------------------------------- */

/* The full text where it fits, else the brief one, which has the same numbers. */
static int overview_put(struct canvas *c, struct rect r, int y, enum role role, const char *full,
			const char *brief)
{
	return canvas_text(c, r, 1, y, role, text_width(full) < r.w ? full : brief);
}

static int overview_put_bad(struct canvas *c, struct rect r, int x, int y, enum role role,
			    const char *word, uint32_t n)
{
	return n ? canvas_textf(c, r, x, y, role, "  %s%u", word, n) : x;
}

/* What is wrong, in a narrow pane by the signs of the lists. */
static void overview_draw_links(struct canvas *c, struct rect r, int y,
				const struct fabric_summary *v)
{
	int first, x = canvas_textf(c, r, 1, y, ROLE_TEXT, "cables %u",
				    v->fabric->nchan / 2 + v->fabric->nterm);
	char all[120];
	bool full, named;

	if (!v->down && !v->reduced && !v->errors && !v->no_reply) {
		canvas_text(c, r, x, y, ROLE_TEXT, "  no port problems");
		return;
	}
	snprintf(all, sizeof(all), "%s%u%s%u%s%u%s%u", v->down ? "  down " : "", v->down,
		 v->reduced ? "  reduced " : "", v->reduced, v->errors ? "  errors " : "",
		 v->errors, v->no_reply ? "  no reply " : "", v->no_reply);
	full = x + text_width(all) <= r.w;
	named = x + text_width(all) + 7 <= r.w;
	first = x;
	x += named ? 7 : 0;
	x = overview_put_bad(c, r, x, y, ROLE_BAD, full ? "down " : "x", v->down);
	x = overview_put_bad(c, r, x, y, ROLE_WARN, full ? "reduced " : "~", v->reduced);
	x = overview_put_bad(c, r, x, y, ROLE_WARN, full ? "errors " : "s", v->errors);
	overview_put_bad(c, r, x, y, ROLE_WARN, full ? "no reply " : "!", v->no_reply);
	if (named) /* over the first of the two blanks before what is wrong */
		canvas_text(c, r, first, y, ROLE_TEXT, "  ports:");
}

/* "read LFTs 37 %, 12k/s, 3.1 s left": the rate, from its comma on, goes where it is narrow. */
static void overview_put_pace(struct canvas *c, struct rect r, int y, const char *full,
			      const char *rate)
{
	const char *left = rate ? strchr(rate + 1, ',') : NULL;
	char brief[96];

	snprintf(brief, sizeof(brief), "%.*s%s", (int)(rate ? rate - full : 90), full,
		 left ? left : "");
	overview_put(c, r, y, ROLE_DIM, full, brief);
}

static void overview_draw_poll(struct canvas *c, struct rect r, int y, const struct state *s)
{
	const struct state_poll *p = &s->poll;
	char took[FIGURE_LEN], full[96], brief[80];
	int x;

	if (s->mode == RUN_FILE && !s->sample) {
		canvas_text(c, r, 1, y, ROLE_DIM, "from a file: no counters, no rates");
		return;
	}
	if (p->discovering && p->pace[0]) {
		snprintf(full, sizeof(full), "sweep %.*s", (int)sizeof(full) - 7, p->pace);
		overview_put_pace(c, r, y, full, strchr(full, ','));
		return;
	}
	if (p->tables_on && !s->tables && p->tables_pace[0]) {
		overview_put_pace(c, r, y, p->tables_pace, strchr(p->tables_pace, ','));
		return;
	}
	if (p->reading[0] && (!s->sample || !s->tables)) {
		overview_put_pace(c, r, y, p->reading, strchr(p->reading, ','));
		return;
	}
	if (!s->sample) {
		canvas_text(c, r, 1, y, ROLE_DIM,
			    p->busy ? "first poll in progress" : "no poll yet");
		return;
	}
	if (p->took_s < 0.0995)
		snprintf(took, sizeof(took), "%.0fms", p->took_s * 1e3);
	else
		figure_age(took, p->took_s);
	snprintf(full, sizeof(full), "poll %s  %u port%s", took, p->asked, plural(p->asked));
	snprintf(brief, sizeof(brief), "poll %s  %u of %u no reply", took, p->asked - p->answered,
		 p->asked);
	if (p->answered < p->asked)
		snprintf(full + strlen(full), sizeof(full) - strlen(full), "  no reply %u",
			 p->asked - p->answered);
	x = overview_put(c, r, y, p->answered < p->asked ? ROLE_WARN : ROLE_TEXT, full, brief);
	if (p->partial && x + 9 <= r.w)
		canvas_text(c, r, x, y, ROLE_WARN, "  PARTIAL");
}

static void overview_draw_jobs_line(struct canvas *c, struct rect r, int y, const struct state *s,
				    const struct fabric_summary *v)
{
	char load[FIGURE_LEN];
	int x = 1;

	switch (s->jobs_source.state) {
	case JOBS_OFF:
		x = canvas_text(c, r, x, y, ROLE_DIM, "no job source");
		break;
	case JOBS_WAITING:
		x = canvas_textf(c, r, x, y, ROLE_DIM, "waiting for %s", s->jobs_source.source);
		break;
	case JOBS_UNREACHABLE:
		x = canvas_textf(c, r, x, y, ROLE_WARN, "%s unreachable", s->jobs_source.source);
		break;
	case JOBS_OK:
		if (s->jobs)
			x = canvas_textf(c, r, x, y, ROLE_TEXT, "jobs %u, pending %u",
					 s->jobs->njob, s->jobs->pending);
		break;
	}
	canvas_textf(c, r, x, y, ROLE_TEXT, "  avg util %s",
		     figure_percent(load, v->sample_summary->load_pct));
}

/* A number is never cut: on a narrow screen words go. */
static void overview_draw_efi(struct canvas *c, struct rect r, int y, const char *all,
			      const char *jobs, const char *bound)
{
	char full[96], brief[96], least[96];

	snprintf(full, sizeof(full), "max EFI %s  max job EFI %s (lower bound %s)", all, jobs,
		 bound);
	snprintf(brief, sizeof(brief), "EFI %s  job EFI %s (bound %s)", all, jobs, bound);
	snprintf(least, sizeof(least), "EFI %s  job EFI %s (>= %s)", all, jobs, bound);
	if (text_width(full) < r.w)
		canvas_text(c, r, 1, y, ROLE_TEXT, full);
	else
		overview_put(c, r, y, ROLE_TEXT, brief, least);
}

/* Of an all-to-all of the jobs, which EFI explains, and in the full text for each MiB, where rates
 * are known; "": not known. */
static void overview_time(char brief[32], char full[64], const struct time_summary *t)
{
	const struct pattern_time *x = &t->of[PREDICT_ALLTOALL];
	int n;

	brief[0] = full[0] = '\0';
	if (!t->known || !t->jobs)
		return;
	snprintf(brief, 32, "  job time %.2fx", x->mean.mean);
	n = snprintf(full, 64, "  job time %.2fx", x->mean.mean);
	if (isfinite(x->s_per_MiB))
		snprintf(full + n, 64 - (size_t)n, " %.3fms/MiB", 1e3 * x->s_per_MiB);
}

/* Percents and hops go before the time does. */
static void overview_draw_unused(struct canvas *c, struct rect r, int y, const struct metrics *m,
				 const struct time_summary *t)
{
	char text[5][128], brief[32], full[64];
	int i = 0;

	overview_time(brief, full, t);
	snprintf(text[0], 128, "unused links %u (%.1f%%)  hops %.2f%s", m->dark, m->dark_fiber_pct,
		 m->hops_mean, full);
	snprintf(text[1], 128, "unused %u (%.0f%%)  hops %.2f%s", m->dark, m->dark_fiber_pct,
		 m->hops_mean, full);
	snprintf(text[2], 128, "unused links %u%s", m->dark, full);
	snprintf(text[3], 128, "unused %u (%.0f%%)  hops %.2f%s", m->dark, m->dark_fiber_pct,
		 m->hops_mean, brief);
	snprintf(text[4], 128, "unused links %u%s", m->dark, brief);
	while (i < 4 && text_width(text[i]) >= r.w)
		i++;
	canvas_text(c, r, 1, y, ROLE_TEXT, text[i]);
}

static void overview_draw_metrics(struct canvas *c, struct rect r, int y, const struct state *s)
{
	const struct metrics *m = state_metrics(s);
	char a[FIGURE_LEN], b[FIGURE_LEN], e[FIGURE_LEN];

	if (!m && s->metrics_busy && s->metrics_step[0]) {
		canvas_textf(c, r, 1, y, ROLE_DIM, "metrics: %s", s->metrics_step);
		return;
	}
	if (!m) {
		canvas_text(c, r, 1, y, ROLE_DIM,
			    s->metrics_busy ? "computing routing metrics"
					    : "EFI -  unused links -");
		return;
	}
	if (!m->njob) {
		canvas_textf(c, r, 1, y, ROLE_TEXT, "EFI %s  job EFI -",
			     figure_count(a, m->efi_max));
		canvas_textf(c, r, 1, y + 1, ROLE_TEXT, "unused links -  hops %.2f", m->hops_mean);
		return;
	}
	overview_draw_efi(c, r, y, figure_short(a, m->efi_max), figure_short(b, m->eff_efi_max),
			  figure_short(e, m->eff_efi_bound));
	overview_draw_unused(c, r, y + 1, m, &s->time);
}

static void overview_draw_verdict(struct canvas *c, struct rect r, int y, const struct state *s)
{
	const struct verdict *v = s->verdict;
	char why[64], text[KEY_HINT_TEXT];

	if (s->tables && !state_vls_known(s)) {
		state_no_vls(why, sizeof(why), s);
		canvas_textf(c, r, 1, y, ROLE_WARN, "unverified: %s", why);
	} else if (!v)
		canvas_text(c, r, 1, y, ROLE_DIM,
			    key_hint_text(text, sizeof(text),
					  s->tables		 ? "routing not verified yet"
					  : s->mode == RUN_FILE	 ? "no routing tables (--lfts FILE)"
					  : s->poll.tables_ended ? "routing tables not read ({vls})"
								 : "routing tables not read yet"));
	else if (verdict_ok(v))
		canvas_text(c, r, 1, y, ROLE_TEXT, "routing complete, no deadlock");
	else if (v->connected && v->loop_free && v->vls_fit && !s->sls_known)
		canvas_text(c, r, 1, y, ROLE_WARN, "credit loop if all SLs are 0 (?)");
	else
		canvas_textf(c, r, 1, y, ROLE_BAD, "routing:%s%s%s%s",
			     v->connected ? "" : " INCOMPLETE", v->loop_free ? "" : " LOOPS",
			     v->connected && v->loop_free && !v->deadlock_free ? " DEADLOCK" : "",
			     v->vls_fit ? "" : " TOO MANY VLs");
}

static void overview_draw_counts(struct canvas *c, struct rect r, const struct state *s,
				 uint32_t cables)
{
	const struct fabric *f = s->fabric;
	const struct state_poll *p = &s->poll;
	uint32_t sw = f->nsw + p->missing_sw, hosts = f->nterm + p->missing_ca;
	char full[120], brief[120];

	if (p->missing_sw || p->missing_ca) {
		snprintf(full, sizeof(full), "%u of %u switches, %u of %u hosts", f->nsw, sw,
			 f->nterm, hosts);
		snprintf(brief, sizeof(brief), "sw %u/%u  hosts %u/%u", f->nsw, sw, f->nterm,
			 hosts);
	} else {
		snprintf(full, sizeof(full), "switches %u  hosts %u  ISLs %u", sw, hosts, cables);
		snprintf(brief, sizeof(brief), "sw %u  hosts %u  ISLs %u", sw, hosts, cables);
	}
	overview_put(c, r, 1, p->missing_sw || p->missing_ca ? ROLE_BAD : ROLE_TEXT, full, brief);
}

static void overview_fabric_pane(struct canvas *c, struct rect r, const struct state *s,
				 const struct fabric_summary *v)
{
	char shape[64], title[96];

	topology_kind_sentence(shape, sizeof(shape), v->topology);
	snprintf(title, sizeof(title), "Fabric: %s", shape);
	if (text_width(title) + 6 > r.w) {
		topology_kind_name(shape, sizeof(shape), v->topology);
		snprintf(title, sizeof(title), "Fabric: %s", shape);
	}
	canvas_rule(c, r, 0, title);
	overview_draw_counts(c, r, s, v->fabric->nchan / 2);
	overview_draw_links(c, r, 2, v);
	overview_draw_poll(c, r, 3, s);
	overview_draw_jobs_line(c, r, 4, s, v);
	overview_draw_verdict(c, r, 5, s);
	overview_draw_metrics(c, r, 6, s);
}

#define TIER_BAR 40 /* cells at most: more of them say no more */

static int overview_tier_bar(struct rect r, int x)
{
	return r.w - x - 1 < TIER_BAR ? r.w - x - 1 : TIER_BAR;
}

static void overview_draw_tier_bar(const struct context *ctx, struct canvas *c, struct rect r,
				   int x, int y, const struct tier_sum *t)
{
	canvas_bar(c, r, x, y, overview_tier_bar(r, x),
		   heat_role(ctx->palette, t->known ? heat_level(t->util_avg) : 0),
		   t->util_avg / 100, (t->util_max - t->util_avg) / 100);
}

/* What the bars below are made of, and that they end at 100 %. */
static void overview_draw_bar_key(struct canvas *c, struct rect r, int x)
{
	int last = x + overview_tier_bar(r, x), end;

	canvas_char(c, r, x, 1, ROLE_LABEL, 0x2588);
	end = canvas_text(c, r, x + 1, 1, ROLE_LABEL, "avg");
	canvas_char(c, r, end + 1, 1, ROLE_LABEL, '+');
	end = canvas_text(c, r, end + 2, 1, ROLE_LABEL, "max");
	if (last - end > 6)
		canvas_right(c, r, last, 1, ROLE_LABEL, "100%");
}

#define TIER_ROOM 46 /* columns; in less the least used link makes room for the bar */

static void overview_tiers_pane(const struct context *ctx, struct canvas *c, struct rect r,
				const struct fabric_summary *v)
{
	char min[FIGURE_LEN], avg[FIGURE_LEN], max[FIGURE_LEN], wait[FIGURE_LEN];
	bool brief = r.w <= TIER_ROOM;

	canvas_rule(c, r, 0, "Tiers: utilisation % and XmitWait %");
	canvas_text(c, r, 0, 1, ROLE_LABEL,
		    brief ? "tier              avg  max  wait"
			  : "tier               min  avg  max  wait");
	overview_draw_bar_key(c, r, brief ? 33 : 40);
	for (uint32_t t = 0; t < v->tiers->n && (int)t + 2 < r.h; t++) {
		const struct tier_sum *x = &v->sample_summary->tier[t];
		int y = (int)t + 2;

		figure_pct(avg, x->util_avg);
		figure_pct(max, x->util_max);
		figure_pct(wait, x->wait_max);
		canvas_name(c, r, 0, y, brief ? 16 : 18, ROLE_TEXT, v->tiers->name[t]);
		if (brief)
			canvas_textf(c, r, 17, y, ROLE_TEXT, "%4s %4s %5s", avg, max, wait);
		else
			canvas_textf(c, r, 18, y, ROLE_TEXT, "%4s %4s %4s %5s",
				     figure_pct(min, x->util_min), avg, max, wait);
		overview_draw_tier_bar(ctx, c, r, brief ? 33 : 40, y, x);
	}
}

/* --- the lists: hot links, ports with problems, jobs by traffic ------------------------------ */

#define HOT_FIGURES 25 /* columns before the link */
#define HOT_NAME    56
#define HOT_JOBS    (HOT_FIGURES + 32) /* column of the jobs, in wide panes */
#define HOT_WIDE    115
#define HOT_LINES   23	/* of a pane that takes what others leave: a key sends less than 10 kB */
#define FEW	    200 /* switches: the heatmap of more takes the bytes that a key may send */

static void overview_mark_row(struct canvas *c, struct rect r, int y, bool on)
{
	if (on)
		list_draw_cursor(c, r, y);
}

/* --- hot links ------------------------------------------------------------------------------- */

static int overview_spark_width(struct rect r)
{
	/* where there are many rows, each takes three bytes a sample */
	return r.w >= HOT_WIDE ? HISTORY_LEN / 6 : r.w >= 100 ? HISTORY_LEN * 2 / 3 : 14;
}

/* Column after the history: not far from the names on wide screens. */
static int overview_hot_end(struct rect r)
{
	int end = HOT_FIGURES + 2 + HOT_NAME + overview_spark_width(r);

	return r.w - 1 < end ? r.w - 1 : end;
}

static void overview_draw_hot_row(const struct context *ctx, struct canvas *c, struct rect r, int y,
				  uint32_t chan, const struct state *s)
{
	const struct fabric *f = s->fabric;
	const struct port_rate *p = state_rate(s, chan_fabric_port(f, chan));
	const struct metrics *m = state_metrics(s);
	const struct link_usage *use = state_usage(s);
	char a[FIGURE_LEN], b[FIGURE_LEN], e[FIGURE_LEN] = "-", vls[8] = "-", label[256];
	enum role role = context_dims(ctx, chan) ? ROLE_DIM : ROLE_TEXT;
	int past = overview_hot_end(r) - overview_spark_width(r);
	double second = NAN;

	if (p)
		second = ctx->metric == HISTORY_ERRORS ? p->errors_per_min : p->wait_pct;
	if (m)
		figure_short(e, m->efi[chan]);
	if (use && use->lanes)
		snprintf(vls, sizeof(vls), "%u", vl_usage_lanes(use->lanes, chan) & 15);
	canvas_textf(c, r, 2, y,
		     role == ROLE_DIM ? role
				      : heat_role(ctx->palette, p ? heat_level(p->util_pct) : 0),
		     "%4s%%", figure_pct(a, p ? p->util_pct : NAN));
	if (tags_chan(&ctx->tags, chan))
		canvas_char(c, r, 1, y, ROLE_KEY, '+');
	else if (row_notes_chan(s->row_notes, f, chan))
		canvas_char(c, r, 1, y, ROLE_KEY, NOTE_POINT);
	canvas_textf(c, r, 8, y, role, "%5s %6s %2s", figure_pct(b, second), e, vls);
	name_fit_draw(c, r, HOT_FIGURES, y, past - HOT_FIGURES - 1, role, f,
		      chan_label(label, sizeof(label), f, chan));
	if (r.w >= HOT_WIDE && f->nsw <= FEW && HOT_FIGURES + text_width(label) < HOT_JOBS)
		canvas_text(c, r, HOT_JOBS, y, ROLE_DIM,
			    chan_jobs_text(label, sizeof(label), s, chan, past - HOT_JOBS - 2));
	history_spark(s, ctx->metric, c, r, past, y, overview_spark_width(r), chan);
}

static const uint32_t *overview_hot(const struct context *ctx, uint32_t *n)
{
	const struct fabric_summary *v = &ctx->summary;
	const struct sample_top *top =
		v->sample_summary ? &v->sample_summary->top[ctx->metric] : NULL;

	*n = top ? top->n : 0;
	return top ? top->chan : NULL;
}

static void overview_draw_hot_head(const struct context *ctx, bool on, struct canvas *c,
				   struct rect r)
{
	static const char *const titles[] = { "Hot links", "Congested links by XmitWait",
					      "Links with errors" };
	char title[64];

	snprintf(title, sizeof(title), "%s%s", titles[ctx->metric], on ? " (Enter: open)" : "");
	canvas_rule(c, r, 0, title);
	hint_click_mark(c, r, 0, 1);
	canvas_text(c, r, 2, 1, ROLE_LABEL,
		    ctx->metric == HISTORY_ERRORS
			    ? " util err/m    EFI VL  from switch/port -> to"
			    : " util  wait    EFI VL  from switch/port -> to");
}

/* Why the list is empty. */
static const char *overview_nothing_hot(const struct context *ctx, const struct state *s)
{
	if (s->mode == RUN_FILE && !s->rates)
		return "no rates: a file has no counters";
	if (!s->rates)
		return "no rates yet (two polls needed)";
	return ctx->metric == HISTORY_WAIT ? "no congested link" : "no link has errors";
}

/* Heads behind the names. */
static void overview_draw_past_head(const struct context *ctx, const struct state *s,
				    struct canvas *c, struct rect r)
{
	if (r.w >= HOT_WIDE && s->fabric->nsw <= FEW && state_usage(s))
		canvas_text(c, r, HOT_JOBS, 1, ROLE_LABEL, "paths of jobs");
	if (ctx->metric == HISTORY_UTIL)
		canvas_right(c, r, overview_hot_end(r), 1, ROLE_LABEL, "history, newest right");
	else
		canvas_rightf(c, r, overview_hot_end(r), 1, ROLE_LABEL, "%s, newest right",
			      history_metric_name(ctx->metric));
}

static void overview_hot_pane(struct list *l, bool on, const struct context *ctx, struct canvas *c,
			      struct rect r, const struct state *s)
{
	uint32_t n;
	const uint32_t *hot = overview_hot(ctx, &n);

	list_fit(l, n, r.h - 2);
	overview_draw_hot_head(ctx, on, c, r);
	if (!n)
		canvas_text(c, r, 2, 2, ROLE_DIM, overview_nothing_hot(ctx, s));
	else if (r.w >= 100)
		overview_draw_past_head(ctx, s, c, r);
	for (int y = 0; y < r.h - 2 && l->top + (uint32_t)y < n; y++) {
		overview_draw_hot_row(ctx, c, r, y + 2, hot[l->top + (uint32_t)y], s);
		overview_mark_row(c, r, y + 2, on && l->top + (uint32_t)y == l->cursor);
	}
}

/* --- problem ports --------------------------------------------------------------------------- */

static void overview_problem_what(char *buf, size_t len, const struct state *s,
				  const struct fabric_summary *v, uint32_t port)
{
	enum problem kind = (enum problem)v->problem[port];
	const struct port *p = &s->fabric->port[port];
	const struct port_rate *rate = state_rate(s, port);
	char pct[FIGURE_LEN];

	if (kind == PROBLEM_ERRORS && rate)
		snprintf(buf, len, "%s %s/min", problem_word(kind),
			 figure_pct(pct, rate->errors_per_min));
	else if (kind == PROBLEM_REDUCED)
		snprintf(buf, len, "%u of %u Gb/s", p->rate_Mbps / 1000,
			 v->shape->reference.expect[port] / 1000);
	else
		snprintf(buf, len, "%s", problem_word(kind));
}

/* " 12s": for how long, "" if that is unknown. */
static void overview_problem_age(char *buf, size_t len, const struct state *s,
				 const struct fabric_summary *v, uint32_t port)
{
	bool longer = false;
	double age = s->history_at.on
			     ? NAN
			     : port_problems_age_s(v->port_problems, port, s->now_s, &longer);
	char since[FIGURE_LEN];

	*buf = '\0';
	if (isfinite(age))
		snprintf(buf, len, " %s%s", figure_age(since, age), longer ? "+" : "");
}

static void overview_draw_problem(const struct context *ctx, struct canvas *c, struct rect r, int y,
				  const struct state *s, const struct fabric_summary *v, uint32_t i)
{
	uint32_t sw = v->problem_sw[i], port = s->fabric->port_off[sw] + v->problem_port[i];
	enum problem kind = (enum problem)v->problem[port];
	const char *was = port_problems_was(v->port_problems, port);
	char label[256], full[360], own[256], text[96], age[FIGURE_LEN + 2];
	int room = r.w - 5;

	overview_problem_what(text, sizeof(text), s, v, port);
	overview_problem_age(age, sizeof(age), s, v, port);
	port_label(label, sizeof(label), s->fabric, sw, v->problem_port[i]);
	snprintf(full, sizeof(full), was ? "%s was -> %s" : "%s", label, was);
	/* which port it is goes before where it leads and since when */
	snprintf(own, sizeof(own), "%s/%u", s->fabric->sw_short[sw], v->problem_port[i]);
	if (text_width(full) + text_width(text) + text_width(age) > room)
		snprintf(full, sizeof(full), "%s", own);
	if (text_width(full) + text_width(text) + text_width(age) <= room)
		strcat(text, age);
	if (tags_switch(&ctx->tags, sw) || (s->fabric->port[port].chan != FAB_NONE &&
					    tags_chan(&ctx->tags, s->fabric->port[port].chan)))
		canvas_char(c, r, 1, y, ROLE_KEY, '+');
	else if (row_notes_port(s->row_notes, s->fabric, sw, v->problem_port[i]))
		canvas_char(c, r, 1, y, ROLE_KEY, NOTE_POINT);
	canvas_char(c, r, 2, y, kind >= PROBLEM_NO_REPLY ? ROLE_BAD : ROLE_WARN,
		    (uint32_t)problem_glyph(kind));
	name_fit_draw(c, r, 4, y, room - text_width(text), ROLE_TEXT, s->fabric, full);
	canvas_right(c, r, r.w, y, ROLE_DIM, text);
}

static void overview_problems_pane(struct list *l, bool on, const struct context *ctx,
				   struct canvas *c, struct rect r, const struct state *s)
{
	const struct fabric_summary *v = &ctx->summary;

	list_fit(l, v->nproblem, r.h - 1);
	canvas_rule(c, r, 0, "Problem ports");
	list_draw_range(l, v->nproblem, c, r, 0);
	if (!v->nproblem)
		canvas_text(c, r, 2, 1, ROLE_DIM, s->sample ? "none" : "none known");
	for (int y = 0; y < r.h - 1 && l->top + (uint32_t)y < v->nproblem; y++) {
		overview_draw_problem(ctx, c, r, y + 1, s, v, l->top + (uint32_t)y);
		overview_mark_row(c, r, y + 1, on && l->top + (uint32_t)y == l->cursor);
	}
}

/* --- jobs ------------------------------------------------------------------------------------ */

static void overview_draw_job(const struct context *ctx, struct canvas *c, struct rect r, int y,
			      const struct state *s, uint32_t i)
{
	const struct fabric_summary *v = &ctx->summary;
	const struct job *j = &v->jobs->jobs[i];
	const struct job_load *load = fabric_summary_job_load(v, s, i);
	char rate[FIGURE_LEN], slow[16] = "-", hot[FIGURE_LEN] = "-", name[128];
	char id[JOB_ID_LEN];
	double slowdown = v->job_slowdown ? v->job_slowdown[i] : NAN;
	bool lost = v->job_lost_pct && v->job_lost_pct[i] > 0;
	bool marked = j->id == ctx->job.id;

	snprintf(name, sizeof(name), "%s %.40s", job_text(id, j), j->user[0] ? j->user : j->name);
	if (lost)
		snprintf(slow, sizeof(slow), "lost");
	else if (isfinite(slowdown))
		snprintf(slow, sizeof(slow), slowdown < 99.5 ? "%.1fx" : "%.0fx", slowdown);
	if (load && s->rates)
		figure_short(hot, load->hot);
	canvas_char(c, r, 1, y, ROLE_KEY,
		    marked					? '*'
		    : tags_job(&ctx->tags, j->id)		? '+'
		    : row_notes_job(s->row_notes, s->fabric, j) ? NOTE_POINT
								: ' ');
	canvas_name(c, r, 2, y, r.w - 28, marked ? ROLE_KEY : ROLE_TEXT, name);
	canvas_rightf(c, r, r.w - 7, y, ROLE_TEXT, "%5u %6s %5s", j->nnodes,
		      figure_rate(rate, v->job_Bps ? v->job_Bps[i] : NAN, ctx->bits), hot);
	canvas_right(c, r, r.w - 1, y,
		     lost		     ? ROLE_BAD
		     : slowdown >= HEAD_SLOW ? ROLE_WARN
					     : ROLE_TEXT,
		     slow);
}

static void overview_jobs_pane(struct list *l, bool on, const struct context *ctx, struct canvas *c,
			       struct rect r, const struct state *s)
{
	const struct fabric_summary *v = &ctx->summary;
	uint32_t n = v->jobs ? v->jobs->njob : 0;

	list_fit(l, n, r.h - 1);
	canvas_rule(c, r, 0, r.w >= 50 ? "Jobs by slowdown" : "Slowest jobs");
	if (!n)
		canvas_wrap(c, r, 2, 1, ROLE_DIM,
			    s->jobs_source.state == JOBS_UNREACHABLE ? s->jobs_source.sentence
			    : v->jobs				     ? "no jobs"
								     : "no jobs known");
	else
		canvas_right(c, r, r.w - 1, 0, ROLE_RULE,
			     ctx->bits ? " nodes   Gb/s   hot  slow" : " nodes   GB/s   hot  slow");
	for (int y = 0; y < r.h - 1 && l->top + (uint32_t)y < n; y++) {
		uint32_t i = l->top + (uint32_t)y;

		overview_draw_job(ctx, c, r, y + 1, s, v->by_suffering ? v->by_suffering[i] : i);
		overview_mark_row(c, r, y + 1, on && i == l->cursor);
	}
}

/* --- the page -------------------------------------------------------------------------------- */

static void overview_done(void *own)
{
	struct overview_ui *u = own;

	heat_small_done(&u->heat);
}

static int overview_at_least(int v, int least)
{
	return v > least ? v : least;
}

/* Two columns below the head: lists at the left, the heatmap and jobs at the right.  What ports
 * with problems do not need is left to the hot links. */
static struct overview_layout overview_roomy(struct rect r, const struct fabric_summary *v)
{
	int top = overview_at_least((int)v->tiers->n + 3, 8), left = r.w * 3 / 5,
	    half = r.w * 9 / 20;
	int events = overview_at_least((r.h - top) / 5, 6), mid = r.h - top - events - 2;
	struct overview_layout l;
	int y = r.y + top, hot = mid * 3 / 5, right = hot;
	int need =
		v->nproblem + 1 < (uint32_t)mid ? overview_at_least((int)v->nproblem + 1, 2) : mid;

	if (v->fabric->nsw <= FEW && hot < HOT_LINES)
		hot = mid - need < hot ? hot : mid - need < HOT_LINES ? mid - need : HOT_LINES;
	l.fabric = (struct rect){ r.x, r.y, half - 1, top };
	l.tiers = (struct rect){ r.x + half, r.y, r.w - half, top };
	l.hot = (struct rect){ r.x, y, left - 1, hot };
	l.problems = (struct rect){ r.x, y + hot, left - 1, mid - hot };
	l.heat = (struct rect){ r.x + left, y, r.w - left, right };
	l.jobs = (struct rect){ r.x + left, y + right, r.w - left, mid - right };
	l.events = (struct rect){ r.x, y + mid, r.w, events };
	l.sel = r.h - 2;
	return l;
}

/* v: NULL without a fabric. */
static struct overview_layout overview_layout(struct rect r, const struct fabric_summary *v)
{
	int half = r.w * 9 / 20, top = 8, rest = r.h - top - 1;
	int hot = rest * 2 / 5, mid = rest / 3, y = r.y;
	struct overview_layout l = { .sel = -1 };

	if (v && r.w >= 160 && r.h >= 40)
		return overview_roomy(r, v);
	if (r.h >= 25) {
		l.sel = r.h - 2;
		rest--;
	}
	if (hot < 5)
		hot = 5;
	l.fabric = (struct rect){ r.x, y, half - 1, top };
	l.tiers = (struct rect){ r.x + half, y, r.w - half, top };
	y += top;
	l.hot = (struct rect){ r.x, y, r.w, hot };
	y += hot;
	l.problems = (struct rect){ r.x, y, half - 1, mid };
	l.jobs = (struct rect){ r.x + half, y, r.w - half, mid };
	y += mid;
	l.events = (struct rect){ r.x, y, r.w, r.y + 8 + rest - y };
	return l;
}

/* The pane with the cursor, and the line about what is selected. */
static struct overview_layout overview_alone(const struct overview_ui *u, struct rect r)
{
	struct overview_layout l = { .sel = r.h - 2 };
	struct rect *panes[PANE_COUNT] = { &l.hot, &l.problems, &l.jobs };

	*panes[u->pane] = (struct rect){ r.x, r.y, r.w, r.h - 2 };
	return l;
}

static void overview_draw_absence(struct canvas *c, struct rect r, const struct state *s)
{
	canvas_rule(c, r, 0, "Fabric");
	if (s->mode == RUN_LOST) {
		canvas_wrap(c, r, 1, 2, ROLE_BAD, s->lost_why);
	} else if (s->poll.preparing) {
		canvas_textf(c, r, 1, 2, ROLE_TEXT,
			     "building the simulated fabric and its first routing: %s", s->source);
	} else if (s->poll.discovering) {
		canvas_textf(c, r, 1, 2, ROLE_TEXT,
			     "discovering the fabric: %u switch%s and %u host%s so far",
			     s->poll.found_sw, plural_es(s->poll.found_sw), s->poll.found_ca,
			     plural(s->poll.found_ca));
		canvas_text(c, r, 1, 3, ROLE_DIM, s->poll.pace);
	} else {
		canvas_text(c, r, 1, 2, ROLE_TEXT, "no fabric yet");
	}
}

static void overview_draw_events(struct canvas *c, struct rect r, const struct state *s)
{
	uint32_t n = s->events ? events_count(s->events) : 0;

	canvas_rule(c, r, 0, "Events (8: all)");
	hint_click_mark(c, r, 0, 1);
	if (!n)
		canvas_text(c, r, 2, 1, ROLE_DIM, "none yet");
	for (uint32_t i = 0; i < n && (int)i < r.h - 1; i++)
		event_draw(c, r, (int)i + 1, events_get(s->events, i));
}

static void overview_draw_auto(struct canvas *c, struct rect r, const struct state *s)
{
	const struct state_auto *a = &s->automatic;
	char age[FIGURE_LEN], text[sizeof(a->text)];
	int x = canvas_text(c, r, 1, r.h - 1, ROLE_LABEL, "Auto: ");

	if (isfinite(a->next_s))
		x = canvas_textf(c, r, x, r.h - 1, ROLE_TEXT, "next check in %s; ",
				 figure_age(age, a->next_s));
	else
		x = canvas_text(c, r, x, r.h - 1, ROLE_TEXT, "running; ");
	canvas_text(c, r, x, r.h - 1, a->alert ? ROLE_WARN : ROLE_TEXT,
		    text_shorten(text, sizeof(text), a->text, r.w - x - 1));
}

static void overview_draw_hint(struct canvas *c, struct rect r)
{
	int x = canvas_text(c, r, 1, r.h - 1, ROLE_LABEL, "To change the routing: ");

	x = canvas_text(c, r, x, r.h - 1, ROLE_KEY, "6");
	canvas_textf(c, r, x, r.h - 1, ROLE_LABEL, ", choose an engine, %s computes a preview",
		     key_hint("tag"));
}

/* The channel under the cursor, FAB_NONE when there is none. */
static uint32_t overview_cursor_chan(const struct overview_ui *u, const struct context *ctx,
				     const struct state *s)
{
	const struct fabric_summary *v = &ctx->summary;
	uint32_t i = u->list[u->pane].cursor, nhot;
	const uint32_t *hot = overview_hot(ctx, &nhot);

	if (u->pane == PANE_HOT && i < nhot)
		return hot[i];
	if (u->pane == PANE_PROBLEMS && i < v->nproblem)
		return fabric_port(s->fabric, v->problem_sw[i], v->problem_port[i])->chan;
	return FAB_NONE;
}

/* To whom most of its routes lead. */
static void overview_draw_dests(const struct state *s, struct canvas *c, struct rect r, int x,
				int y, uint32_t chan)
{
	const struct chan_dest_list *k = state_chan_dests(s, chan);

	if (k && k->n)
		x = canvas_text(c, r, x, y, ROLE_DIM, "  top destinations");
	for (uint32_t i = 0; k && i < k->n; i++) {
		const char *name = s->fabric->term_name[k->term[i]];

		if (x + 1 + text_width(name) >= r.w)
			break;
		x = canvas_textf(c, r, x, y, ROLE_TEXT, " %s", name);
	}
}

static void overview_draw_selected(const struct overview_ui *u, const struct context *ctx,
				   struct canvas *c, struct rect r, int y, const struct state *s)
{
	uint32_t chan = overview_cursor_chan(u, ctx, s);
	const struct port_rate *p;
	const struct port *hw;
	char label[256], tx[FIGURE_LEN], rx[FIGURE_LEN], wait[FIGURE_LEN], jobs[200];
	int x = canvas_text(c, r, 1, y, ROLE_LABEL, "selected ");

	if (chan == FAB_NONE)
		chan = ctx->chan;
	if (chan == FAB_NONE) {
		canvas_text(c, r, x, y, ROLE_DIM, "no link");
		return;
	}
	hw = &s->fabric->port[chan_fabric_port(s->fabric, chan)];
	p = state_rate(s, chan_fabric_port(s->fabric, chan));
	x = canvas_textf(c, r, x, y, ROLE_TEXT, "%s  ",
			 chan_label(label, sizeof(label), s->fabric, chan));
	if (hw->width && hw->speed[0])
		x = canvas_textf(c, r, x, y, ROLE_DIM, "%ux%.6s  ", hw->width, hw->speed);
	x = canvas_textf(c, r, x, y, ROLE_TEXT, "tx %s rx %s %s  wait %s%%  ",
			 figure_rate(tx, p ? p->tx_Bps : NAN, ctx->bits),
			 figure_rate(rx, p ? p->rx_Bps : NAN, ctx->bits),
			 ctx->bits ? "Gb/s" : "GB/s", figure_pct(wait, p ? p->wait_pct : NAN));
	if (chan_jobs_text(jobs, sizeof(jobs), s, chan, r.w - x - 6 - (r.w >= WIDE ? 40 : 0))[0])
		x = canvas_textf(c, r, x, y, ROLE_TEXT, "jobs %s", jobs);
	if (r.w >= WIDE)
		overview_draw_dests(s, c, r, x, y, chan);
}

static void overview_draw_panes(struct overview_ui *u, const struct context *ctx, struct canvas *c,
				const struct overview_layout *l, const struct state *s)
{
	u->at[PANE_HOT] = l->hot;
	u->at[PANE_PROBLEMS] = l->problems;
	u->at[PANE_JOBS] = l->jobs;
	if (l->hot.h)
		overview_hot_pane(&u->list[PANE_HOT], u->pane == PANE_HOT, ctx, c, l->hot, s);
	if (l->problems.h)
		overview_problems_pane(&u->list[PANE_PROBLEMS], u->pane == PANE_PROBLEMS, ctx, c,
				       l->problems, s);
	if (l->jobs.h)
		overview_jobs_pane(&u->list[PANE_JOBS], u->pane == PANE_JOBS, ctx, c, l->jobs, s);
}

/* The longest form that fits, with how many other kinds of what is wrong there are. */
static const char *overview_headline_text(const struct headline *h, char more[40], int room)
{
	const char *form[] = { h->text, h->brief, h->brief, h->least, h->least };

	for (size_t i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
		more[0] = '\0';
		if (h->more)
			snprintf(more, 40, i == 2 || i == 4 ? " (+%u)" : " (and %u more)", h->more);
		if (text_width(form[i]) + text_width(more) <= room)
			return form[i];
	}
	return h->least;
}

/* The view that a verdict leads to. */
static enum view_id overview_headline_view(enum headline_kind kind)
{
	static const enum view_id views[HEAD_KINDS] = {
		[HEAD_LOST] = VIEW_EVENTS,	[HEAD_SM] = VIEW_EVENTS,
		[HEAD_BROKEN] = VIEW_PREVIEW,	[HEAD_DOWN] = VIEW_EVENTS,
		[HEAD_ROUTING] = VIEW_PREVIEW,	[HEAD_CONGESTION] = VIEW_LINKS,
		[HEAD_SLOWED] = VIEW_JOBS,	[HEAD_JOBS] = VIEW_EVENTS,
		[HEAD_KEEPING] = VIEW_EVENTS,	[HEAD_PORTS] = VIEW_LINKS,
		[HEAD_UNKNOWN] = VIEW_OVERVIEW, [HEAD_WELL] = VIEW_OVERVIEW,
	};

	return views[kind];
}

/* The first line: what is the matter.  Returns which kind of it. */
static enum headline_kind overview_draw_headline(struct canvas *c, struct rect r,
						 const struct state *s,
						 const struct fabric_summary *v)
{
	char more[40], text[sizeof(((struct headline *)0)->text)];
	const char *said;
	struct headline h;
	enum role role;

	headline_make(&h, s, v);
	role = h.kind == HEAD_WELL	? ROLE_GOOD
	       : h.kind == HEAD_UNKNOWN ? ROLE_TEXT
	       : h.kind <= HEAD_DOWN	? ROLE_BAD
					: ROLE_WARN;
	said = overview_headline_text(&h, more, r.w - 2);
	text_shorten_words(text, sizeof(text), said, r.w - 2 - text_width(more));
	canvas_text(c, r, 1, 0, role, text);
	canvas_text(c, r, 1 + text_width(text), 0, ROLE_DIM, more);
	return h.kind;
}

static uint32_t overview_pane_rows(const struct overview_ui *u, const struct context *ctx)
{
	const struct fabric_summary *v = &ctx->summary;
	uint32_t n;

	if (u->pane == PANE_HOT) {
		overview_hot(ctx, &n);
		return n;
	}
	if (u->pane == PANE_PROBLEMS)
		return v->nproblem;
	return v->jobs ? v->jobs->njob : 0;
}

static uint32_t overview_job_at(const struct fabric_summary *v, uint32_t row)
{
	return v->by_suffering ? v->by_suffering[row] : row;
}

/* Highlights a job, as Enter in the view of jobs does, and goes there. */
/* For whoever acts on it: a note. */
static void overview_tell_row(const struct overview_ui *u, struct context *ctx,
			      const struct state *s)
{
	const struct fabric_summary *v = &ctx->summary;
	uint32_t i = u->list[u->pane].cursor, chan = overview_cursor_chan(u, ctx, s);

	ctx->row = (struct context_row){ .sw = FAB_NONE, .view = VIEW_OVERVIEW };
	if (i >= overview_pane_rows(u, ctx))
		return;
	if (u->pane == PANE_PROBLEMS) {
		ctx->row.sw = v->problem_sw[i];
		ctx->row.port = v->problem_port[i];
	} else if (u->pane == PANE_HOT) {
		ctx->row.sw = s->fabric->chan_src[chan];
		ctx->row.port = s->fabric->chan_port[chan];
	} else {
		ctx->row.job = v->jobs->jobs[overview_job_at(v, i)].id;
	}
}

static void overview_draw(void *own, struct context *ctx, struct canvas *c, struct rect r,
			  const struct state *s)
{
	struct overview_ui *u = own;
	const struct fabric_summary *v = &ctx->summary;
	struct overview_layout l;

	if (!s->fabric) {
		overview_draw_absence(c, r, s);
		overview_draw_events(c, overview_layout(r, NULL).events, s);
		return;
	}
	u->said = overview_draw_headline(c, r, s, v);
	u->headline_y = r.y;
	r.y++;
	r.h--;
	l = u->alone ? overview_alone(u, r) : overview_layout(r, v);
	if (!u->alone) {
		overview_fabric_pane(c, l.fabric, s, v);
		overview_tiers_pane(ctx, c, l.tiers, v);
		overview_draw_events(c, l.events, s);
	}
	overview_draw_panes(u, ctx, c, &l, s);
	if (l.heat.h)
		heat_small_draw(&u->heat, ctx, c, l.heat, s);
	overview_tell_row(u, ctx, s);
	if (l.sel >= 0)
		overview_draw_selected(u, ctx, c, r, l.sel, s);
	u->hint_y = r.y + r.h - 1;
	if (s->automatic.on)
		overview_draw_auto(c, r, s);
	else
		overview_draw_hint(c, r);
}

static void overview_open_job(struct context *ctx, const struct fabric_summary *v, uint32_t row)
{
	context_select_job(ctx, v->jobs->jobs[overview_job_at(v, row)].id);
	context_goto(ctx, VIEW_JOBS);
}

static void overview_open_row(const struct overview_ui *u, struct context *ctx,
			      const struct state *s)
{
	const struct fabric_summary *v = &ctx->summary;
	uint32_t i = u->list[u->pane].cursor, chan;

	if (i >= overview_pane_rows(u, ctx)) {
		context_say(ctx, "nothing to open in this pane; %s: next pane", key_hint("pane"));
		return;
	}
	if (u->pane == PANE_JOBS) {
		overview_open_job(ctx, v, i);
		return;
	}
	chan = overview_cursor_chan(u, ctx, s);
	if (chan == FAB_NONE) {
		ctx->sw = v->problem_sw[i];
		context_goto(ctx, VIEW_SWITCHES);
		return;
	}
	ctx->chan = chan;
	context_goto(ctx, VIEW_LINKS);
}

/* The pane under the mouse, and the row in it; a row clicked again is opened.  The verdict and the
 * hint lead to the views that they name. */
static bool overview_click(struct overview_ui *u, struct context *ctx, const struct input *in,
			   const struct state *s)
{
	if (in->y == u->headline_y) {
		context_goto(ctx, overview_headline_view(u->said));
		return true;
	}
	if (in->y == u->hint_y) {
		context_goto(ctx, s->automatic.on ? VIEW_APPLY : VIEW_PREVIEW);
		return true;
	}
	for (int k = 0; k < PANE_COUNT; k++) {
		struct rect r = u->at[k];
		int y = in->y - r.y - (k == PANE_HOT ? 2 : 1);
		uint32_t row = u->list[k].top + (uint32_t)(y < 0 ? 0 : y);
		bool again = u->pane == k && u->list[k].cursor == row;

		if (in->x < r.x || in->x >= r.x + r.w || in->y < r.y || in->y >= r.y + r.h)
			continue;
		u->pane = k;
		if (y < 0 || row >= overview_pane_rows(u, ctx))
			return true;
		u->list[k].cursor = row;
		if (again)
			overview_open_row(u, ctx, s);
		return true;
	}
	return false;
}

static bool overview_input(void *own, struct context *ctx, const struct input *in,
			   const struct state *s, struct request *out)
{
	struct overview_ui *u = own;

	(void)out;
	if (in->req == REQ_PANE) {
		u->pane = (u->pane + 1) % PANE_COUNT;
		return true;
	}
	if (!s->fabric)
		return false;
	switch (in->req) {
	case REQ_ZOOM:
		u->alone = !u->alone;
		return true;
	case REQ_BACK:
		if (!u->alone)
			return false;
		u->alone = false;
		return true;
	case REQ_METRIC:
		if (context_choose_metric(ctx, in))
			u->list[PANE_HOT].cursor = 0;
		return true;
	case REQ_ENTER:
		overview_open_row(u, ctx, s);
		return true;
	case REQ_FILTER:
	case REQ_FIND:
	case REQ_COLUMNS:
	case REQ_SORT: /* panes are the head of a table */
		context_goto(ctx, u->pane == PANE_JOBS ? VIEW_JOBS : VIEW_LINKS);
		return false;
	case REQ_CLICK:
		return overview_click(u, ctx, in, s);
	default:
		return list_move(&u->list[u->pane], in->req, overview_pane_rows(u, ctx)) ||
		       list_wheel(&u->list[u->pane], in->req, overview_pane_rows(u, ctx));
	}
}

static void overview_context(const void *own, const struct state *s, char *buf, size_t len)
{
	buf[0] = '\0';
	if (((const struct overview_ui *)own)->alone)
		return; /* the way back has the line */
	snprintf(buf, len, "EFI: paths on a link (?)  source: %s", s->source[0] ? s->source : "-");
}

static const char *overview_inside(const void *own)
{
	return ((const struct overview_ui *)own)->alone ? "all panes" : NULL;
}

const struct view view_overview = {
	.size = sizeof(struct overview_ui),
	.done = overview_done,
	.draw = overview_draw,
	.input = overview_input,
	.context = overview_context,
	.inside = overview_inside,
};
