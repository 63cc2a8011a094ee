/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/preview_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BUCKETS	    8
#define WORST	    32
#define TABLE_WIDTH 72 /* wider is harder to read */

enum better { LESS, MORE };

static const char *number(char buf[FIGURE_LEN], double v, int digits)
{
	if (isnan(v))
		return strcpy(buf, "-");
	if (isinf(v)) /* on its way */
		return strcpy(buf, "...");
	if (!digits)
		return figure_count(buf, (uint64_t)v);
	snprintf(buf, FIGURE_LEN, "%.*f", digits, v);
	return buf;
}

static void draw_line(struct canvas *c, struct rect r, int y, const char *name, double now,
		      double plan, int digits, enum better better)
{
	double change = (plan - now) / (fabs(now) > 0 ? fabs(now) : 1) * 100;
	bool good = better == LESS ? plan < now : plan > now;
	const char *word = fabs(change) < 0.5 ? "same" : good ? "better" : "worse";
	enum role role = fabs(change) < 0.5 ? ROLE_DIM : good ? ROLE_GOOD : ROLE_WARN;
	char a[FIGURE_LEN], b[FIGURE_LEN], pct[16];
	int end = r.w - 1;

	canvas_text(c, r, 1, y, ROLE_TEXT, name);
	canvas_right(c, r, end - 24, y, ROLE_TEXT, number(a, now, digits));
	canvas_right(c, r, end - 14, y, ROLE_TEXT, number(b, plan, digits));
	if (!isfinite(change))
		return;
	if (fabs(change) < 0.5)
		strcpy(pct, "0%");
	else
		snprintf(pct, sizeof(pct), fabs(change) < 999.5 ? "%+.0f%%" : "x%.0f",
			 fabs(change) < 999.5 ? change : plan / (now > 0 ? now : 1));
	canvas_right(c, r, end - 7, y, role, pct);
	canvas_right(c, r, end, y, role, word);
}

static void draw_loops(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct verdict *now = s->verdict, *plan = s->preview.verdict;
	int end = r.w - 1;

	canvas_text(c, r, 1, y, ROLE_TEXT, "credit loops");
	canvas_right(c, r, end - 24, y,
		     !now || now->deadlock_free ? ROLE_TEXT
		     : s->sls_known		? ROLE_BAD
						: ROLE_WARN,
		     !now		  ? "-"
		     : now->deadlock_free ? "none"
		     : s->sls_known	  ? "yes"
					  : "on SL 0");
	canvas_right(c, r, end - 14, y, plan && !plan->deadlock_free ? ROLE_BAD : ROLE_TEXT,
		     !plan		   ? "-"
		     : plan->deadlock_free ? "none"
					   : "yes");
}

static int draw_forecast(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct forecast *a = &s->preview.now, *b = &s->preview.plan;
	double nan = s->preview.forecasting ? INFINITY : NAN;

#define OF(p, field)	  ((p)->known ? (p)->field : nan)
#define OF_JOBS(p, field) ((p)->known ? (p)->jobs ? (p)->field : NAN : nan)
	draw_line(c, r, y++, "bisection bw %", OF(a, ebb) * 100, OF(b, ebb) * 100, 1, MORE);
	draw_line(c, r, y++, "job slowdown", OF_JOBS(a, slowdown_mean), OF_JOBS(b, slowdown_mean),
		  2, LESS);
	draw_line(c, r, y++, "slowest job", OF_JOBS(a, slowdown_max), OF_JOBS(b, slowdown_max), 2,
		  LESS);
#undef OF
#undef OF_JOBS
	return y;
}

static int draw_figures(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct metrics *a = s->preview.before, *b = s->preview.after;
	bool jobs = b->njob > 0;
	char name[64], bound[FIGURE_LEN];

#define NOW(field)  (a ? (double)a->field : NAN)
#define SLS(field)  (s->sls_known ? NOW(field) : NAN)
#define PLAN(field) ((double)b->field)
#define JOB(v)	    (jobs ? (v) : NAN)
	draw_line(c, r, y++, "EFI max", NOW(efi_max), PLAN(efi_max), 0, LESS);
	snprintf(name, sizeof(name), "job EFI%s%s%s", jobs ? " (>= " : " max",
		 jobs ? figure_short(bound, b->eff_efi_bound) : "", jobs ? ")" : "");
	draw_line(c, r, y++, name, JOB(NOW(eff_efi_max)), JOB(PLAN(eff_efi_max)), 0, LESS);
	draw_line(c, r, y++, "EFI max in a job", JOB(NOW(job_efi_max_mean)),
		  JOB(PLAN(job_efi_max_mean)), 1, LESS);
	draw_line(c, r, y++, "dark links %", JOB(NOW(dark_fiber_pct)), JOB(PLAN(dark_fiber_pct)), 1,
		  LESS);
	draw_line(c, r, y++, "links per job", JOB(NOW(links_per_job_mean)),
		  JOB(PLAN(links_per_job_mean)), 1, MORE);
	if (b->unreachable || (a && a->unreachable))
		draw_line(c, r, y++, "unreachable pairs", NOW(unreachable), PLAN(unreachable), 0,
			  LESS);
	else
		draw_line(c, r, y++, "hops max", NOW(hops_max), PLAN(hops_max), 0, LESS);
	draw_line(c, r, y++, "hops mean", NOW(hops_mean), PLAN(hops_mean), 2, LESS);
	draw_line(c, r, y++, "VLs used", SLS(vls_used), PLAN(vls_used), 0, LESS);
#undef NOW
#undef SLS
#undef PLAN
#undef JOB
	y = draw_forecast(s, c, r, y);
	draw_loops(s, c, r, y++);
	return y;
}

static int draw_cost(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct tdiff *d = s->preview.diff;
	char a[FIGURE_LEN], b[FIGURE_LEN], title[64];

	if (d && !d->nblocks && !d->nsl2vl && !d->sl_pairs) {
		canvas_rule(c, r, y++, "Cost of applying it");
		canvas_text(c, r, 1, y++, ROLE_DIM, "none: it is the current routing");
		return y;
	}
	if (!d) {
		canvas_rule(c, r, y++, "Cost of applying it");
		canvas_text(c, r, 1, y++, ROLE_DIM, "not known: no current tables");
		return y;
	}
	snprintf(title, sizeof(title), "Cost: %u of %u switches written", d->switches,
		 s->fabric->nsw);
	canvas_rule(c, r, y++, title);
	canvas_textf(c, r, 1, y++, ROLE_TEXT, "LFT entries %s of %s (%.1f%%)",
		     figure_count(a, d->entries), figure_count(b, d->entries_all),
		     d->entries_all ? (double)d->entries * 100 / (double)d->entries_all : 0);
	canvas_textf(c, r, 1, y++, ROLE_TEXT, "LFT blocks %s of %s  SL2VL tables %u",
		     figure_count(a, d->nblocks), figure_count(b, d->blocks_all), d->nsl2vl);
	canvas_textf(c, r, 1, y++, ROLE_TEXT, "SL changes for %s switch-LID pairs%s",
		     figure_count(a, d->sl_pairs),
		     d->sl_pairs && !s->sls_known ? " (now taken as SL 0)" : "");
	return y;
}

static int check(struct canvas *c, struct rect r, int x, int y, bool ok, const char *good,
		 const char *bad)
{
	x = canvas_text(c, r, x, y, ok ? ROLE_GOOD : ROLE_BAD, ok ? "[ok] " : "[NO] ");
	return canvas_textf(c, r, x, y, ok ? ROLE_TEXT : ROLE_BAD, "%s ", ok ? good : bad);
}

static void draw_checks(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct verdict *v = s->preview.verdict;
	char buf[300];
	int x = 1;

	if (!v) {
		canvas_text(c, r, 1, y, ROLE_WARN, "not checked: it cannot be applied");
		return;
	}
	x = check(c, r, x, y, v->connected, "complete", "INCOMPLETE");
	x = check(c, r, x, y, v->loop_free, "no loops", "LOOPS");
	x = check(c, r, x, y, v->deadlock_free, "no deadlock", "DEADLOCK");
	if (x + 12 > r.w) {
		x = 1;
		y++;
	}
	check(c, r, x, y, v->vls_fit, "VLs fit", "TOO MANY VLs");
	if (s->preview.stale[0]) {
		snprintf(buf, sizeof(buf), "STALE: %s", s->preview.stale);
		canvas_name(c, r, x == 1 ? 14 : 1, x == 1 ? y : y + 1, r.w - 15, ROLE_LOUD, buf);
	}
}

void preview_table_draw(const struct state *s, struct canvas *c, struct rect r)
{
	const struct state_preview *p = &s->preview;
	char title[160], took[FIGURE_LEN];
	int y = 0, end;

	if (r.w > TABLE_WIDTH)
		r.w = TABLE_WIDTH;
	end = r.w - 1;
	snprintf(title, sizeof(title), "%s -> %s, computed in %s%s",
		 s->tables ? s->tables->engine : "?", p->tables ? p->tables->engine : "?",
		 figure_age(took, p->seconds), p->stale[0] ? ", STALE" : "");
	canvas_rule(c, r, y++, title);
	canvas_text(c, r, 1, y, ROLE_LABEL, "figure");
	canvas_right(c, r, end - 24, y, ROLE_LABEL, "now");
	canvas_right(c, r, end - 14, y, ROLE_LABEL, "plan");
	canvas_right(c, r, end - 7, y++, ROLE_LABEL, "change");
	y = draw_figures(s, c, r, y);
	y = draw_cost(s, c, r, y);
	draw_checks(s, c, r, y);
}

static const uint64_t *efi_of(const struct metrics *m)
{
	return m->njob ? m->eff_efi : m->efi;
}

static void fill_buckets(uint32_t *count, const struct metrics *m, uint64_t width)
{
	const uint64_t *efi = efi_of(m);

	for (uint32_t i = 0; i < m->nchan; i++)
		count[efi[i] / width]++;
}

/* Length of a bar: logarithmic, so that one link alone is still seen. */
static int bar_length(uint32_t n, uint32_t all, int width)
{
	if (!n)
		return 0;
	return 1 + (int)lround((width - 1) * log2(1 + n) / log2(2 + all));
}

void preview_histogram_draw(const struct state *s, struct canvas *c, struct rect r)
{
	const struct metrics *a = s->preview.before, *b = s->preview.after;
	uint64_t max = b->njob ? b->eff_efi_max : b->efi_max, other = 0, width;
	uint32_t now[BUCKETS] = { 0 }, plan[BUCKETS] = { 0 };
	int half = (r.w - 16) / 2, n = r.h - 1 < BUCKETS ? r.h - 1 : BUCKETS;

	if (a)
		other = a->njob ? a->eff_efi_max : a->efi_max;
	width = (max > other ? max : other) / (uint64_t)n + 1;
	if (a)
		fill_buckets(now, a, width);
	fill_buckets(plan, b, width);
	canvas_rule(c, r, 0,
		    b->njob ? "Links by job EFI: now, plan (log)"
			    : "Links by EFI: now, plan (log)");
	for (int i = 0; i < n; i++) {
		char range[64];
		int x = bar_length(now[i], b->nchan, half - 8);
		int p = bar_length(plan[i], b->nchan, half - 8);

		snprintf(range, sizeof(range), "%llu-%llu",
			 (unsigned long long)(width * (uint64_t)i),
			 (unsigned long long)(width * (uint64_t)(i + 1) - 1));
		canvas_right(c, r, 14, i + 1, ROLE_LABEL, range);
		for (int k = 0; k < x; k++)
			canvas_char(c, r, 16 + k, i + 1, ROLE_HEAT + 3, '#');
		canvas_textf(c, r, 16 + x, i + 1, ROLE_DIM, " %u", now[i]);
		for (int k = 0; k < p; k++)
			canvas_char(c, r, 16 + half + k, i + 1, ROLE_HEAT + 5, 'o');
		canvas_textf(c, r, 16 + half + p, i + 1, ROLE_DIM, " %u", plan[i]);
	}
}

void preview_worst_draw(const struct state *s, struct canvas *c, struct rect r)
{
	const struct metrics *a = s->preview.before, *b = s->preview.after;
	const uint64_t *efi = efi_of(b);
	uint32_t top[WORST], n = 0, want = r.h - 1 < WORST ? (uint32_t)(r.h - 1) : WORST;

	for (uint32_t i = 0; i < b->nchan; i++) {
		uint32_t k;

		if (n == want && efi[i] <= efi[top[n - 1]])
			continue;
		k = n < want ? n++ : n - 1;
		for (; k && efi[top[k - 1]] < efi[i]; k--)
			top[k] = top[k - 1];
		top[k] = i;
	}
	canvas_rule(c, r, 0,
		    b->njob ? "Worst links after the plan: job EFI (now)"
			    : "Worst links after the plan: EFI (now)");
	for (uint32_t i = 0; i < n; i++) {
		char label[256], v[FIGURE_LEN], w[FIGURE_LEN] = "-";

		if (a)
			figure_short(w, efi_of(a)[top[i]]);
		canvas_textf(c, r, 1, (int)i + 1, ROLE_TEXT, "%6s (%s)",
			     figure_short(v, efi[top[i]]), w);
		canvas_name(c, r, 17, (int)i + 1, r.w - 18, ROLE_TEXT,
			    chan_label(label, sizeof(label), s->fabric, top[i]));
	}
}
