/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/chan_detail.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void update_jobs(struct chan_detail *d, const struct state *s, uint32_t chan)
{
	if (d->chan == chan && d->tables == s->tables && d->set == s->jobs)
		return;
	chan_detail_done(d);
	d->tables = s->tables ? tables_get(s->tables) : NULL;
	d->set = s->jobs ? jobset_get(s->jobs) : NULL;
	d->chan = chan;
	if (s->tables && s->jobs && s->tables->nsw == s->fabric->nsw &&
	    s->jobs->nterm == s->fabric->nterm)
		chan_jobs_find(&d->jobs, s->fabric, s->tables, s->jobs, chan);
}

/* No sign of percent behind a dash. */
static const char *sign(double v)
{
	return isfinite(v) ? "%" : "";
}

static void draw_rates(const struct ui *ui, const struct state *s, struct canvas *c, struct rect r,
		       uint32_t chan)
{
	uint32_t port = chan_fabric_port(s->fabric, chan);
	const struct port_rate *p = state_rate(s, port);
	const struct port *hw = &s->fabric->port[port];
	enum problem problem = (enum problem)ui_survey(ui)->problem[port];
	const char *unit = ui_bits(ui) ? "Gb/s" : "GB/s";
	char util[FIGURE_LEN], wait[FIGURE_LEN], tx[FIGURE_LEN], rx[FIGURE_LEN], err[FIGURE_LEN];
	int x;

	x = canvas_textf(c, r, 1, 0, ROLE_TEXT,
			 "util %s%s  wait %s%s  tx %s  rx %s %s  errors/min %s",
			 figure_pct(util, p ? p->util_pct : NAN), sign(p ? p->util_pct : NAN),
			 figure_pct(wait, p ? p->wait_pct : NAN), sign(p ? p->wait_pct : NAN),
			 figure_rate(tx, p ? p->tx_Bps : NAN, ui_bits(ui)),
			 figure_rate(rx, p ? p->rx_Bps : NAN, ui_bits(ui)), unit,
			 figure_pct(err, p ? p->errors_per_min : NAN));
	if (hw->width && hw->speed[0])
		x = canvas_textf(c, r, x, 0, ROLE_DIM, "  %ux%.6s", hw->width, hw->speed);
	if (problem)
		canvas_textf(c, r, x, 0, ROLE_BAD, "  %s", problem_word(problem));
}

static void draw_routes(const struct state *s, struct canvas *c, struct rect r, uint32_t chan)
{
	const struct metrics *m = state_metrics(s);
	char efi[FIGURE_LEN], eff[FIGURE_LEN];
	uint32_t rank = 1;
	int x;

	if (!m) {
		canvas_text(c, r, 1, 1, ROLE_DIM, "EFI -  job EFI -");
		return;
	}
	for (uint32_t i = 0; i < m->nchan; i++)
		rank += m->efi[i] > m->efi[chan];
	x = canvas_textf(c, r, 1, 1, ROLE_TEXT, "EFI %s (rank %u of %u)  job EFI %s",
			 figure_count(efi, m->efi[chan]), rank, m->nchan,
			 m->njob ? figure_count(eff, m->eff_efi[chan]) : "-");
	if (state_preview_ready(s))
		canvas_textf(c, r, x, 1, ROLE_LABEL, "  after the plan: %s, job %s",
			     figure_count(efi, s->preview.after->efi[chan]),
			     s->preview.after->njob
				     ? figure_count(eff, s->preview.after->eff_efi[chan])
				     : "-");
}

static void draw_jobs(const struct chan_detail *d, const struct state *s, struct canvas *c,
		      struct rect r)
{
	const struct chan_jobs *j = &d->jobs;
	int x = canvas_text(c, r, 1, 2, ROLE_LABEL, "jobs ");

	if (!j->n) {
		canvas_text(c, r, x, 2, ROLE_DIM,
			    s->tables && s->jobs ? "no job's routes use it" : "-");
		return;
	}
	for (uint32_t i = 0; i < j->n && x < r.w - 32; i++)
		x = canvas_textf(c, r, x, 2, ROLE_TEXT, "%llu:%.0f%% ",
				 (unsigned long long)s->jobs->jobs[j->top[i].job].id,
				 (double)j->top[i].routes * 100 / (double)j->routes);
	canvas_textf(c, r, x, 2, ROLE_DIM, "of %u jobs' routes%s", j->njob,
		     j->sampled ? " (a sample)" : "");
}

static void draw_history(const struct state *s, struct canvas *c, struct rect r, uint32_t chan)
{
	uint8_t past[HISTORY_LEN];
	int x = canvas_text(c, r, 1, 3, ROLE_LABEL, "util "), n;

	if (!s->history)
		return;
	n = (int)history_get(s->history, chan, past);
	canvas_spark(c, r, x, 3, past, n);
	canvas_text(c, r, x + n, 3, ROLE_DIM, n ? " now" : "no history yet");
}

void chan_detail_draw(struct chan_detail *d, const struct ui *ui, const struct state *s,
		      struct canvas *c, struct rect r, uint32_t chan)
{
	update_jobs(d, s, chan);
	draw_rates(ui, s, c, r, chan);
	draw_routes(s, c, r, chan);
	draw_jobs(d, s, c, r);
	draw_history(s, c, r, chan);
}

void chan_detail_done(struct chan_detail *d)
{
	tables_put(d->tables);
	jobset_put(d->set);
	memset(d, 0, sizeof(*d));
}
