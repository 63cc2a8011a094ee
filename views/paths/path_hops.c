/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/paths/path_pane.h"

#include "views/canvas/name_fit.h"

#include <math.h>
#include <stdio.h>

void path_both_find(struct path_both *p, const struct state *s, struct path_ends ends)
{
	const struct tables *plan = state_plan_tables(s);

	path_walk(&p->now, s->fabric, s->tables, ends.src, ends.dlid);
	p->has_plan = plan != NULL;
	if (p->has_plan)
		path_walk(&p->plan, s->fabric, plan, ends.src, ends.dlid);
}

uint32_t path_both_rows(const struct path_both *p)
{
	return p->has_plan && p->plan.nhop > p->now.nhop ? p->plan.nhop : p->now.nhop;
}

/* Columns of both halves. */
struct lft_columns {
	int name_w;  /* of switches */
	int figures; /* x of the figures now */
	int plan;    /* x of the plan; 0: none */
	bool jobs;   /* with the EFI of jobs */
};

#define FIGURES_W 19 /* util wait EFI */
#define JOB_EFI_W 8
#define ALL_W	  96 /* from here on there is room for all of it */

static struct lft_columns path_hops_columns_for(struct rect r, bool plan)
{
	struct lft_columns l = { .jobs = !plan || r.w >= ALL_W };
	int job_w = l.jobs ? JOB_EFI_W : 0, fixed = 5 + 12 + FIGURES_W + job_w, rest;

	if (plan)
		fixed += 4 + 8 + 7 + job_w;
	rest = r.w - fixed - 1;
	l.name_w = plan ? rest / 2 : rest;
	l.name_w = l.name_w < 6 ? 6 : l.name_w > 30 ? 30 : l.name_w;
	l.figures = 5 + l.name_w + 12;
	l.plan = plan ? l.figures + FIGURES_W + job_w + 2 : 0;
	return l;
}

static void path_hops_draw_head(const struct path_both *p, struct canvas *c, struct rect r, int y,
				const struct lft_columns *l)
{
	int x = 5 + l->name_w;

	canvas_text(c, r, 2, y, ROLE_LABEL, "#");
	canvas_text(c, r, 5, y, ROLE_LABEL, "switch");
	canvas_text(c, r, x, y, ROLE_LABEL, "  in out  VL");
	canvas_textf(c, r, l->figures, y, ROLE_LABEL, "  util  wait    EFI%s",
		     l->jobs ? " job EFI" : "");
	if (p->has_plan)
		canvas_textf(c, r, l->plan, y, ROLE_LABEL, "| %-*s out  VL    EFI%s", l->name_w,
			     "plan", l->jobs ? " job EFI" : "");
}

static const char *path_hops_port_text(char buf[8], uint8_t port)
{
	if (port == FAB_NO_PORT)
		snprintf(buf, 8, "-");
	else
		snprintf(buf, 8, "%u", port);
	return buf;
}

static const char *path_hops_vl_text(char buf[8], const struct path_hop *h)
{
	if (h->chan == FAB_NONE)
		snprintf(buf, 8, " ");
	else if (h->vl == VL_UNREAD)
		snprintf(buf, 8, "?");
	else if (h->vl == VL_DROP)
		snprintf(buf, 8, "drop");
	else
		snprintf(buf, 8, "%u", h->vl);
	return buf;
}

static const char *path_hops_efi_text(char buf[FIGURE_LEN], const struct metrics *m, uint32_t chan,
				      bool jobs)
{
	if (!m || chan == FAB_NONE || (jobs && !m->njob))
		snprintf(buf, FIGURE_LEN, "-");
	else
		figure_short(buf, (jobs ? m->eff_efi : m->efi)[chan]);
	return buf;
}

static enum role path_hops_heat_of(const struct context *ctx, double pct)
{
	return isfinite(pct) ? heat_role(ctx->palette, heat_level(pct)) : ROLE_DIM;
}

static void path_hops_draw_now(const struct path_hop *h, const struct context *ctx,
			       const struct state *s, struct canvas *c, struct rect r, int y,
			       const struct lft_columns *l)
{
	const struct fabric *f = s->fabric;
	bool port = h->out && h->out <= f->sw_nports[h->sw];
	const struct port_rate *rate = port ? state_rate(s, f->port_off[h->sw] + h->out) : NULL;
	char name[NAME_LEN], in[8], out[8], vl[8], util[FIGURE_LEN], wait[FIGURE_LEN];
	char efi[FIGURE_LEN], eff[FIGURE_LEN];
	int x = 5 + l->name_w;

	if (row_notes_switch(s->row_notes, f, h->sw) ||
	    (port && row_notes_port(s->row_notes, f, h->sw, h->out)))
		canvas_char(c, r, 4, y, ROLE_KEY, NOTE_POINT);
	name_fit_draw(c, r, 5, y, l->name_w - 1, ROLE_TEXT, f,
		      switch_label(name, sizeof(name), f, h->sw));
	x = canvas_textf(c, r, x, y, ROLE_TEXT, "%4s%4s", path_hops_port_text(in, h->in),
			 path_hops_port_text(out, h->out));
	canvas_textf(c, r, x, y, h->vl == VL_DROP ? ROLE_BAD : ROLE_KEY, "%4s",
		     path_hops_vl_text(vl, h));
	x = canvas_textf(c, r, l->figures, y, path_hops_heat_of(ctx, rate ? rate->util_pct : NAN),
			 "%6s", figure_pct(util, rate ? rate->util_pct : NAN));
	x = canvas_textf(c, r, x, y, path_hops_heat_of(ctx, rate ? rate->wait_pct : NAN), "%6s",
			 figure_pct(wait, rate ? rate->wait_pct : NAN));
	x = canvas_textf(c, r, x, y, ROLE_TEXT, "%7s",
			 path_hops_efi_text(efi, state_metrics(s), h->chan, false));
	if (l->jobs)
		canvas_textf(c, r, x, y, ROLE_TEXT, "%8s",
			     path_hops_efi_text(eff, state_metrics(s), h->chan, true));
}

static void path_hops_draw_plan(const struct path_both *p, uint32_t i, const struct state *s,
				struct canvas *c, struct rect r, int y, const struct lft_columns *l)
{
	const struct path_hop *h = &p->plan.hop[i];
	bool same = path_hop_same(&p->now, &p->plan, i);
	enum role role = same ? ROLE_DIM : ROLE_WARN;
	char name[NAME_LEN], out[8], vl[8], efi[FIGURE_LEN], eff[FIGURE_LEN];
	int x;

	canvas_char(c, r, l->plan, y, ROLE_RULE, '|');
	if (i >= p->plan.nhop)
		return;
	canvas_char(c, r, l->plan + 1, y, ROLE_WARN, same ? ' ' : '*');
	name_fit_draw(c, r, l->plan + 2, y, l->name_w - 1, role, s->fabric,
		      switch_label(name, sizeof(name), s->fabric, h->sw));
	x = canvas_textf(c, r, l->plan + 2 + l->name_w, y, role, "%4s%4s",
			 path_hops_port_text(out, h->out), path_hops_vl_text(vl, h));
	x = canvas_textf(c, r, x, y, role, "%7s",
			 path_hops_efi_text(efi, state_plan(s)->after, h->chan, false));
	if (l->jobs)
		canvas_textf(c, r, x, y, role, "%8s",
			     path_hops_efi_text(eff, state_plan(s)->after, h->chan, true));
}

void hops_draw(const struct path_both *p, struct list *list, const struct context *ctx,
	       const struct state *s, struct canvas *c, struct rect r)
{
	struct lft_columns l = path_hops_columns_for(r, p->has_plan);
	uint32_t n = path_both_rows(p);
	struct rect rows = { r.x, r.y + 1, r.w, r.h - 1 };

	list_fit(list, n, rows.h);
	path_hops_draw_head(p, c, r, 0, &l);
	for (int y = 0; y < rows.h && list->top + (uint32_t)y < n; y++) {
		uint32_t i = list->top + (uint32_t)y;

		canvas_textf(c, rows, 1, y, ROLE_DIM, "%3u", i + 1);
		if (i < p->now.nhop)
			path_hops_draw_now(&p->now.hop[i], ctx, s, c, rows, y, &l);
		if (p->has_plan)
			path_hops_draw_plan(p, i, s, c, rows, y, &l);
		if (i == list->cursor)
			canvas_char(c, rows, 0, y, ROLE_KEY, '>');
	}
}
