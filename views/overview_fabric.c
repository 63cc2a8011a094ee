/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The overview's upper panes: the fabric in figures, and its tiers. */
#include "views/overview_panes.h"

#include "fabric/base/plural.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void draw_links(struct canvas *c, struct rect r, int y, const struct survey *v)
{
	uint32_t all = v->cables + v->hosts, bad = v->down;
	int x = canvas_textf(c, r, 1, y, ROLE_TEXT, "links %u", all);

	if (!v->down && !v->reduced && !v->errors && !v->no_reply) {
		canvas_text(c, r, x, y, ROLE_GOOD, "  no problems known");
		return;
	}
	if (bad)
		x = canvas_textf(c, r, x, y, ROLE_BAD, "  down %u", bad);
	if (v->reduced)
		x = canvas_textf(c, r, x, y, ROLE_WARN, "  reduced %u", v->reduced);
	if (v->errors)
		x = canvas_textf(c, r, x, y, ROLE_WARN, "  errors %u", v->errors);
	if (v->no_reply)
		canvas_textf(c, r, x, y, ROLE_WARN, "  silent %u", v->no_reply);
}

static void draw_poll(struct canvas *c, struct rect r, int y, const struct state *s)
{
	const struct state_poll *p = &s->poll;
	char took[FIGURE_LEN];
	int x;

	if (s->mode == RUN_FILE && !s->sample) {
		canvas_text(c, r, 1, y, ROLE_DIM, "from a file: no counters, no rates");
		return;
	}
	if (!s->sample) {
		canvas_text(c, r, 1, y, ROLE_DIM, p->busy ? "first poll under way" : "no poll yet");
		return;
	}
	x = canvas_textf(c, r, 1, y, ROLE_TEXT, "poll %s  %u port%s", figure_age(took, p->took_s),
			 p->asked, plural(p->asked));
	if (p->answered < p->asked)
		x = canvas_textf(c, r, x, y, ROLE_WARN, "  no reply %u", p->asked - p->answered);
	if (p->partial)
		canvas_text(c, r, x, y, ROLE_WARN, "  PARTIAL");
}

static void draw_jobs_line(struct canvas *c, struct rect r, int y, const struct state *s,
			   const struct survey *v)
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

static void draw_metrics(struct canvas *c, struct rect r, int y, const struct state *s)
{
	const struct metrics *m = state_metrics(s);
	char a[FIGURE_LEN], b[FIGURE_LEN], e[FIGURE_LEN];

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
	canvas_textf(c, r, 1, y, ROLE_TEXT, "EFI %s  job EFI %s (>= %s)",
		     figure_short(a, m->efi_max), figure_short(b, m->eff_efi_max),
		     figure_short(e, m->eff_efi_bound));
	canvas_textf(c, r, 1, y + 1, ROLE_TEXT, "dark links %u (%.1f%%)  hops %.2f", m->dark,
		     m->dark_fiber_pct, m->hops_mean);
}

static void draw_verdict(struct canvas *c, struct rect r, int y, const struct state *s)
{
	const struct verdict *v = s->verdict;

	if (!v)
		canvas_text(c, r, 1, y, ROLE_DIM,
			    s->tables		  ? "routing not verified yet"
			    : s->mode == RUN_FILE ? "no routing tables (--lfts FILE)"
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

void pane_fabric(struct canvas *c, struct rect r, const struct state *s, const struct survey *v)
{
	const struct fabric *f = s->fabric;
	const struct state_poll *p = &s->poll;
	char shape[64], title[96];

	shape_sentence(shape, sizeof(shape), v->shape);
	snprintf(title, sizeof(title), "Fabric: %s", shape);
	canvas_rule(c, r, 0, title);
	if (p->missing_sw || p->missing_ca)
		canvas_textf(c, r, 1, 1, ROLE_BAD, "%u of %u switches %u of %u hosts", f->nsw,
			     f->nsw + p->missing_sw, f->nterm, f->nterm + p->missing_ca);
	else
		canvas_textf(c, r, 1, 1, ROLE_TEXT, "switches %u  hosts %u  cables %u", f->nsw,
			     f->nterm, v->cables);
	draw_links(c, r, 2, v);
	draw_poll(c, r, 3, s);
	draw_jobs_line(c, r, 4, s, v);
	draw_verdict(c, r, 5, s);
	draw_metrics(c, r, 6, s);
}

static void draw_tier_bar(const struct ui *ui, struct canvas *c, struct rect r, int x, int y,
			  const struct tier *t)
{
	canvas_bar(c, r, x, y, r.w - x - 1,
		   heat_role(ui_palette(ui), t->known ? heat_level(t->util_avg) : 0),
		   t->util_avg / 100, (t->util_max - t->util_avg) / 100);
}

#define TIER_ROOM 46 /* columns; in less the least used link makes room for the bar */

void pane_tiers(const struct ui *ui, struct canvas *c, struct rect r, const struct survey *v)
{
	char min[FIGURE_LEN], avg[FIGURE_LEN], max[FIGURE_LEN], wait[FIGURE_LEN];
	bool brief = r.w <= TIER_ROOM;

	canvas_rule(c, r, 0, "Tiers: % of link used, and waiting");
	canvas_text(c, r, 0, 1, ROLE_LABEL,
		    brief ? "tier              avg  max  wait"
			  : "tier               min  avg  max  wait");
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
		draw_tier_bar(ui, c, r, brief ? 33 : 40, y, x);
	}
}
