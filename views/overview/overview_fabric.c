/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The overview's upper panes: the fabric in figures, and its tiers. */
#include "fabric/base/plural.h"
#include "views/overview/overview_panes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Words as long as they fit; else fewer, so that all numbers are there. */
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
	int x = canvas_textf(c, r, 1, y, ROLE_TEXT, "links %u", v->cables + v->hosts);
	char all[120];
	bool full;

	if (!v->down && !v->reduced && !v->errors && !v->no_reply) {
		canvas_text(c, r, x, y, ROLE_GOOD, "  no problems known");
		return;
	}
	snprintf(all, sizeof(all), "%s%u%s%u%s%u%s%u", v->down ? "  down " : "", v->down,
		 v->reduced ? "  reduced " : "", v->reduced, v->errors ? "  errors " : "",
		 v->errors, v->no_reply ? "  silent " : "", v->no_reply);
	full = x + text_width(all) <= r.w;
	x = overview_put_bad(c, r, x, y, ROLE_BAD, full ? "down " : "x", v->down);
	x = overview_put_bad(c, r, x, y, ROLE_WARN, full ? "reduced " : "~", v->reduced);
	x = overview_put_bad(c, r, x, y, ROLE_WARN, full ? "errors " : "s", v->errors);
	overview_put_bad(c, r, x, y, ROLE_WARN, full ? "silent " : "!", v->no_reply);
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
		canvas_text(c, r, 1, y, ROLE_DIM, p->busy ? "first poll under way" : "no poll yet");
		return;
	}
	if (p->took_s < 0.0995)
		snprintf(took, sizeof(took), "%.0fms", p->took_s * 1e3);
	else
		figure_age(took, p->took_s);
	snprintf(full, sizeof(full), "poll %s  %u port%s", took, p->asked, plural(p->asked));
	snprintf(brief, sizeof(brief), "poll %s  %u of %u silent", took, p->asked - p->answered,
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
		x = canvas_textf(c, r, x, y, ROLE_DIM, "%s asked for jobs", s->jobs_source.source);
		break;
	case JOBS_UNREACHABLE:
		x = canvas_textf(c, r, x, y, ROLE_WARN, "%s unreachable", s->jobs_source.source);
		break;
	case JOBS_OK:
		if (s->jobs)
			x = canvas_textf(c, r, x, y, ROLE_TEXT, "jobs %u run, %u wait",
					 s->jobs->njob, s->jobs->pending);
		break;
	}
	canvas_textf(c, r, x, y, ROLE_TEXT, "  load %s%s", figure_pct(load, v->load_pct),
		     isfinite(v->load_pct) ? "%" : "");
}

static void overview_draw_metrics(struct canvas *c, struct rect r, int y, const struct state *s)
{
	const struct metrics *m = state_metrics(s);
	char a[FIGURE_LEN], b[FIGURE_LEN], e[FIGURE_LEN], full[80], brief[80];

	if (!m && s->metrics_busy && s->metrics_step[0]) {
		canvas_textf(c, r, 1, y, ROLE_DIM, "figures: %s", s->metrics_step);
		return;
	}
	if (!m) {
		canvas_text(c, r, 1, y, ROLE_DIM,
			    s->metrics_busy ? "routing figures are being computed"
					    : "EFI -  dark links -");
		return;
	}
	if (!m->njob) {
		canvas_textf(c, r, 1, y, ROLE_TEXT, "EFI %s  job EFI -",
			     figure_count(a, m->efi_max));
		canvas_textf(c, r, 1, y + 1, ROLE_TEXT, "dark links -  hops %.2f", m->hops_mean);
		return;
	}
	canvas_textf(c, r, 1, y, ROLE_TEXT, "EFI %s  job EFI %s (bound %s)",
		     figure_short(a, m->efi_max), figure_short(b, m->eff_efi_max),
		     figure_short(e, m->eff_efi_bound));
	snprintf(full, sizeof(full), "dark links %u (%.1f%%)  hops %.2f", m->dark,
		 m->dark_fiber_pct, m->hops_mean);
	snprintf(brief, sizeof(brief), "dark %u (%.0f%%)  hops %.2f", m->dark, m->dark_fiber_pct,
		 m->hops_mean);
	overview_put(c, r, y + 1, ROLE_TEXT, full, brief);
}

static void overview_draw_verdict(struct canvas *c, struct rect r, int y, const struct state *s)
{
	const struct verdict *v = s->verdict;
	char why[64];

	if (s->tables && !state_vls_known(s)) {
		state_no_vls(why, sizeof(why), s);
		canvas_textf(c, r, 1, y, ROLE_WARN, "no verdict: %s", why);
	} else if (!v)
		canvas_text(c, r, 1, y, ROLE_DIM,
			    s->tables		   ? "routing not verified yet"
			    : s->mode == RUN_FILE  ? "no routing tables (--lfts FILE)"
			    : s->poll.tables_ended ? "routing tables not read (M)"
						   : "routing tables not read yet");
	else if (verdict_ok(v))
		canvas_text(c, r, 1, y, ROLE_GOOD, "routes complete, no deadlock");
	else if (v->connected && v->loop_free && v->vls_fit && !s->sls_known)
		canvas_text(c, r, 1, y, ROLE_WARN, "cyclic if all SLs are 0: not known");
	else
		canvas_textf(c, r, 1, y, ROLE_BAD, "routes:%s%s%s%s",
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
		snprintf(full, sizeof(full), "switches %u  hosts %u  cables %u", sw, hosts, cables);
		snprintf(brief, sizeof(brief), "sw %u  hosts %u  cables %u", sw, hosts, cables);
	}
	overview_put(c, r, 1, p->missing_sw || p->missing_ca ? ROLE_BAD : ROLE_TEXT, full, brief);
}

void pane_fabric(struct canvas *c, struct rect r, const struct state *s,
		 const struct fabric_summary *v)
{
	char shape[64], title[96];

	topology_kind_sentence(shape, sizeof(shape), v->shape);
	snprintf(title, sizeof(title), "Fabric: %s", shape);
	if (text_width(title) + 6 > r.w) {
		topology_kind_name(shape, sizeof(shape), v->shape);
		snprintf(title, sizeof(title), "Fabric: %s", shape);
	}
	canvas_rule(c, r, 0, title);
	overview_draw_counts(c, r, s, v->cables);
	overview_draw_links(c, r, 2, v);
	overview_draw_poll(c, r, 3, s);
	overview_draw_jobs_line(c, r, 4, s, v);
	overview_draw_verdict(c, r, 5, s);
	overview_draw_metrics(c, r, 6, s);
}

static void overview_draw_tier_bar(const struct context *ctx, struct canvas *c, struct rect r,
				   int x, int y, const struct tier *t)
{
	canvas_bar(c, r, x, y, r.w - x - 1,
		   heat_role(ctx->palette, t->known ? heat_level(t->util_avg) : 0),
		   t->util_avg / 100, (t->util_max - t->util_avg) / 100);
}

/* What the bars below are made of, and that they end at 100 %. */
static void overview_draw_bar_key(struct canvas *c, struct rect r, int x)
{
	int end;

	canvas_char(c, r, x, 1, ROLE_LABEL, 0x2588);
	end = canvas_text(c, r, x + 1, 1, ROLE_LABEL, "avg");
	canvas_char(c, r, end + 1, 1, ROLE_LABEL, '+');
	end = canvas_text(c, r, end + 2, 1, ROLE_LABEL, "max");
	if (r.w - 1 - end > 6)
		canvas_right(c, r, r.w - 1, 1, ROLE_LABEL, "100%");
}

#define TIER_ROOM 46 /* columns; in less the least used link makes room for the bar */

void pane_tiers(const struct context *ctx, struct canvas *c, struct rect r,
		const struct fabric_summary *v)
{
	char min[FIGURE_LEN], avg[FIGURE_LEN], max[FIGURE_LEN], wait[FIGURE_LEN];
	bool brief = r.w <= TIER_ROOM;

	canvas_rule(c, r, 0, "Tiers: % of link used, and waiting");
	canvas_text(c, r, 0, 1, ROLE_LABEL,
		    brief ? "tier              avg  max  wait"
			  : "tier               min  avg  max  wait");
	overview_draw_bar_key(c, r, brief ? 33 : 40);
	for (uint32_t t = 0; t < v->ntier && (int)t + 2 < r.h; t++) {
		const struct tier *x = &v->tier[t];
		int y = (int)t + 2;

		figure_pct(avg, x->util_avg);
		figure_pct(max, x->util_max);
		figure_pct(wait, x->wait_max);
		canvas_name(c, r, 0, y, brief ? 16 : 18, ROLE_TEXT, x->name);
		if (brief)
			canvas_textf(c, r, 17, y, ROLE_TEXT, "%4s %4s %5s", avg, max, wait);
		else
			canvas_textf(c, r, 18, y, ROLE_TEXT, "%4s %4s %4s %5s",
				     figure_pct(min, x->util_min), avg, max, wait);
		overview_draw_tier_bar(ctx, c, r, brief ? 33 : 40, y, x);
	}
}
