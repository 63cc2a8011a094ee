/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/preview/preview_changes.h"

#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/end_find.h"
#include "views/canvas/name_fit.h"
#include "views/canvas/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 8
#define WORST	32

static const uint64_t *preview_changes_efi_of(const struct metrics *m)
{
	return m->njob ? m->eff_efi : m->efi;
}

static void preview_changes_fill_buckets(uint32_t *count, const struct metrics *m, uint64_t width)
{
	const uint64_t *efi = preview_changes_efi_of(m);

	for (uint32_t i = 0; i < m->nchan; i++)
		count[efi[i] / width]++;
}

/* Length of a bar: logarithmic, so that one link alone is still seen. */
static int preview_changes_bar_length(uint32_t n, uint32_t all, int width)
{
	if (!n)
		return 0;
	return 1 + (int)lround((width - 1) * log2(1 + n) / log2(2 + all));
}

void preview_histogram_draw(const struct state *s, struct canvas *c, struct rect r)
{
	const struct metrics *a = state_plan(s)->before, *b = state_plan(s)->after;
	uint64_t max = b->njob ? b->eff_efi_max : b->efi_max, other = 0, width;
	uint32_t now[BUCKETS] = { 0 }, plan[BUCKETS] = { 0 };
	char title[64];
	int half = (r.w - 16) / 2, n = r.h - 1 < BUCKETS ? r.h - 1 : BUCKETS;

	if (n < 1)
		return;

	if (a)
		other = a->njob ? a->eff_efi_max : a->efi_max;
	width = (max > other ? max : other) / (uint64_t)n + 1;
	if (a)
		preview_changes_fill_buckets(now, a, width);
	preview_changes_fill_buckets(plan, b, width);
	snprintf(title, sizeof(title), "Links by %s: %s, plan (log scale)",
		 b->njob ? "job EFI" : "EFI", plan_preview_when(state_plan(s)));
	canvas_rule(c, r, 0, title);
	for (int i = 0; i < n; i++) {
		char range[64];
		int x = preview_changes_bar_length(now[i], b->nchan, half - 8);
		int p = preview_changes_bar_length(plan[i], b->nchan, half - 8);

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
	const struct metrics *a = state_plan(s)->before, *b = state_plan(s)->after;
	const uint64_t *efi = preview_changes_efi_of(b);
	uint32_t top[WORST], n = 0, want = r.h - 1 < WORST ? (uint32_t)(r.h - 1) : WORST;

	if (r.h < 2)
		return;
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
		    b->njob ? "Highest job EFI with the plan (now)"
			    : "Highest EFI with the plan (now)");
	for (uint32_t i = 0; i < n; i++) {
		char label[256], v[FIGURE_LEN], w[FIGURE_LEN] = "-";

		if (a)
			figure_short(w, preview_changes_efi_of(a)[top[i]]);
		canvas_textf(c, r, 1, (int)i + 1, ROLE_TEXT, "%6s (%s)",
			     figure_short(v, efi[top[i]]), w);
		name_fit_draw(c, r, 17, (int)i + 1, r.w - 18, ROLE_TEXT, s->fabric,
			      chan_label(label, sizeof(label), s->fabric, top[i]));
	}
}

/* --- jobs ------------------------------------------------------------------------------------ */

uint32_t preview_jobs_rows(const struct state *s)
{
	const struct plan_preview *x = state_plan(s);

	return x->jobs && x->after->njob == x->jobs->njob ? x->jobs->njob : 0;
}

/* A job and what it suffers on the worse of both routings. */
struct job_row {
	uint32_t job;
	double time;
	uint64_t efi;
};

static int preview_changes_by_suffering(const void *a, const void *b)
{
	const struct job_row *x = a, *y = b;

	if (x->time != y->time)
		return x->time > y->time ? -1 : 1;
	if (x->efi != y->efi)
		return x->efi > y->efi ? -1 : 1;
	return x->job < y->job ? -1 : x->job > y->job;
}

/* The jobs, the slowest on either routing first, so that the one that line one of the Overview
 * names is among the first, and so is one that the plan hurts.  By EFI where times are unknown. */
static struct job_row *preview_changes_order(const struct plan_preview *x, uint32_t n)
{
	bool known = x->before && x->before->njob == n;
	struct job_row *row = xcalloc(n + 1u, sizeof(*row));
	const struct job_time_changes *t = x->jobs_time;

	/* the changes are of some of the jobs, in their order */
	for (uint32_t i = 0, k = 0; i < n; i++) {
		uint64_t is = x->after->job[i].efi_max, was = known ? x->before->job[i].efi_max : 0;

		row[i].job = i;
		row[i].efi = is > was ? is : was;
		if (!t || k == t->n || t->job[k].id != x->jobs->jobs[i].id)
			continue;
		row[i].time = fmax(t->job[k].before, t->job[k].after);
		k++;
	}
	qsort(row, n, sizeof(*row), preview_changes_by_suffering);
	return row;
}

/* What the update does to it while it runs. */
static const char *preview_changes_fate(const struct plan_preview *x, uint32_t job, enum role *role)
{
	*role = ROLE_DIM;
	if (x->order != ORDER_FOUND)
		return x->order == ORDER_WAITS ? "..." : "-";
	for (uint32_t i = 0; i < x->ordered->drain.njob; i++) {
		const struct drain_job *d = &x->ordered->drain.job[i];

		if (d->job != job)
			continue;
		*role = d->needed ? ROLE_WARN : ROLE_TEXT;
		return d->needed ? "must drain" : "may reorder";
	}
	return "unaffected";
}

static void preview_changes_draw_pair(struct canvas *c, struct rect r, int end, int y, bool known,
				      uint64_t was, uint64_t is, bool less_is_better)
{
	char a[FIGURE_LEN] = "-", b[FIGURE_LEN];
	enum role role = !known || was == is		? ROLE_TEXT
			 : (is < was) == less_is_better ? ROLE_GOOD
							: ROLE_WARN;

	if (known)
		figure_short(a, was);
	canvas_rightf(c, r, end, y, role, "%s > %s", a, figure_short(b, is));
}

/* Where the columns of a job end or begin, with room for "1234 > 5678" and a blank.  Times and
 * rates are there where they are known; links, then EFI give way to them. */
struct job_columns {
	bool time, rate, efi, links;
	int rate_end, efi_end, links_end, update, user;
};

static bool preview_changes_knows_rates(const struct job_time_changes *t)
{
	for (uint32_t i = 0; t && i < t->n; i++)
		if (t->job[i].rate_before > 0)
			return true;
	return false;
}

static struct job_columns preview_changes_columns(const struct state *s, struct rect r)
{
	const struct job_time_changes *t = state_plan(s)->jobs_time;
	bool time = t && t->n;
	bool rate = preview_changes_knows_rates(t) || (time && state_plan(s)->forecasting);
	struct job_columns at = { .time = time, .rate = rate };
	int end = time ? 25 : 13;

	at.efi = !rate || r.w >= 63;
	at.links = !time || r.w >= (rate ? 75 : 63);
	at.rate_end = end += 12 * rate;
	at.efi_end = end += 12 * at.efi;
	at.links_end = end += 12 * at.links;
	at.update = end + 2;
	at.user = at.update + 12;
	return at;
}

/* Of a time, so that it has at most four characters. */
static int preview_changes_decimals(double time)
{
	return time < 9.995 ? 2 : time < 99.95 ? 1 : 0;
}

static void preview_changes_draw_time(const struct state *s, struct canvas *c, struct rect r, int y,
				      uint64_t id)
{
	const struct job_time_changes *t = state_plan(s)->jobs_time;
	const struct job_time_change *j = job_time_changes_of(t, id);
	double rise = j ? j->after / j->before - 1 : 0;
	enum role role = rise < -0.005 ? ROLE_GOOD : rise > 0.005 ? ROLE_WARN : ROLE_TEXT;

	if (j)
		canvas_rightf(c, r, 25, y, role, "%.*f > %.*f", preview_changes_decimals(j->before),
			      j->before, preview_changes_decimals(j->after), j->after);
	else if (t && t->n)
		canvas_right(c, r, 25, y, ROLE_DIM, "-"); /* on one switch */
}

/* Of full rate, in percent. */
static void preview_changes_draw_rate(const struct state *s, struct canvas *c, struct rect r,
				      int end, int y, uint64_t id)
{
	const struct job_time_change *j = job_time_changes_of(state_plan(s)->jobs_time, id);
	double rise = j ? j->rate_after / j->rate_before - 1 : 0;
	enum role role = rise > 0.005 ? ROLE_GOOD : rise < -0.005 ? ROLE_WARN : ROLE_TEXT;

	if (j && j->rate_before > 0 && j->rate_after > 0)
		canvas_rightf(c, r, end, y, role, "%.0f > %.0f", 100 * j->rate_before,
			      100 * j->rate_after);
	else
		canvas_right(c, r, end, y, ROLE_DIM, state_plan(s)->forecasting && j ? "..." : "-");
}

static void preview_changes_draw_job(const struct state *s, struct canvas *c, struct rect r, int y,
				     uint32_t i)
{
	const struct plan_preview *x = state_plan(s);
	const struct job *j = &x->jobs->jobs[i];
	bool known = x->before && x->before->njob == x->jobs->njob;
	const struct job_metrics *is = &x->after->job[i];
	const struct job_metrics *was = known ? &x->before->job[i] : is;
	enum role role;
	const char *word = preview_changes_fate(x, i, &role);
	struct job_columns at = preview_changes_columns(s, r);
	char id[JOB_ID_LEN];

	canvas_text(c, r, 1, y, ROLE_TEXT, job_text(id, j));
	canvas_rightf(c, r, 13, y, ROLE_TEXT, "%u", j->nnodes);
	preview_changes_draw_time(s, c, r, y, j->id);
	if (at.rate)
		preview_changes_draw_rate(s, c, r, at.rate_end, y, j->id);
	if (at.efi)
		preview_changes_draw_pair(c, r, at.efi_end, y, known, was->efi_max, is->efi_max,
					  true);
	if (at.links)
		preview_changes_draw_pair(c, r, at.links_end, y, known, was->links, is->links,
					  false);
	canvas_text(c, r, at.update, y, role, word);
	canvas_name(c, r, at.user, y, 8, ROLE_DIM, j->user);
	canvas_name(c, r, at.user + 9, y, r.w - at.user - 10, ROLE_DIM, j->name);
}

void preview_jobs_draw(struct list *l, const struct state *s, struct canvas *c, struct rect r)
{
	uint32_t n = preview_jobs_rows(s);
	struct rect rows = { r.x, r.y + 2, r.w, r.h - 3 };
	const struct forecast *f = &state_plan(s)->plan;
	const struct time_summary *t = &state_plan(s)->time_plan;
	struct job_columns at = preview_changes_columns(s, r);
	const struct jobset *js = state_plan(s)->jobs;
	struct job_row *order = NULL;
	char id[JOB_ID_LEN], title[48];

	list_fit(l, n, rows.h);
	snprintf(title, sizeof(title), "%s: %s > plan", at.time ? "Slowest jobs" : "Jobs",
		 plan_preview_when(state_plan(s)));
	canvas_rule(c, r, 0, title);
	list_draw_range(l, n, c, r, 0);
	canvas_text(c, r, 1, 1, ROLE_LABEL, "job");
	canvas_right(c, r, 13, 1, ROLE_LABEL, "nodes");
	if (at.time)
		canvas_right(c, r, 25, 1, ROLE_LABEL, "time x");
	if (at.rate)
		canvas_right(c, r, at.rate_end, 1, ROLE_LABEL, "rate %");
	if (at.efi)
		canvas_right(c, r, at.efi_end, 1, ROLE_LABEL, "EFI");
	if (at.links)
		canvas_right(c, r, at.links_end, 1, ROLE_LABEL, "links");
	canvas_text(c, r, at.update, 1, ROLE_LABEL, "update");
	canvas_text(c, r, at.user, 1, ROLE_LABEL, "user");
	if (!n)
		canvas_text(c, rows, 1, 0, ROLE_DIM, "no jobs known");
	if (n)
		order = preview_changes_order(state_plan(s), n);
	for (int y = 0; y < rows.h && l->top + (uint32_t)y < n; y++) {
		preview_changes_draw_job(s, c, rows, y, order[l->top + (uint32_t)y].job);
		if (l->top + (uint32_t)y == l->cursor)
			list_draw_cursor(c, rows, y);
	}
	free(order);
	if (t->known && t->jobs)
		canvas_textf(c, r, 1, r.h - 1, ROLE_DIM,
			     "max time of a job with the plan: %.2fx, job %s",
			     t->of[PREDICT_ALLTOALL].worst.mean,
			     jobset_id_text(id, js, t->of[PREDICT_ALLTOALL].worst_job));
	else if (f->known && f->jobs)
		canvas_textf(c, r, 1, r.h - 1, ROLE_DIM, "max slowdown with the plan: %.2f, job %s",
			     f->slowdown_max, jobset_id_text(id, js, f->worst_job));
	else
		canvas_text(c, r, 1, r.h - 1, ROLE_DIM,
			    "may reorder: packets may arrive out of "
			    "order");
}

/* --- entries --------------------------------------------------------------------------------- */

uint32_t preview_diff_rows(const struct state *s)
{
	const struct plan_preview *x = state_plan(s);

	return x->diff && x->from ? x->diff->nblocks + x->diff->nsl2vl : 0;
}

static void preview_changes_draw_row(const struct state *s, struct canvas *c, struct rect r, int y,
				     uint32_t i)
{
	const struct tables_diff *d = state_plan(s)->diff;
	char name[NAME_LEN];

	if (i >= d->nblocks) {
		const struct tables_diff_sl2vl *v = &d->sl2vl[i - d->nblocks];

		name_fit_draw(c, r, 1, y, 16, ROLE_TEXT, s->fabric,
			      switch_label(name, sizeof(name), s->fabric, v->sw));
		canvas_textf(c, r, 18, y, ROLE_TEXT, "SL2VL in %u out %u", v->in, v->out);
		return;
	}
	name_fit_draw(c, r, 1, y, 16, ROLE_TEXT, s->fabric,
		      switch_label(name, sizeof(name), s->fabric, d->blocks[i].sw));
	canvas_textf(c, r, 18, y, ROLE_TEXT, "LIDs %u-%u", d->blocks[i].block * LFT_BLOCK,
		     d->blocks[i].block * LFT_BLOCK + LFT_BLOCK - 1);
	canvas_rightf(c, r, r.w - 1, y, ROLE_DIM, "%u", d->blocks[i].entries);
}

static void preview_changes_port_text(char *buf, size_t len, const struct fabric *f, uint32_t sw,
				      uint8_t port, int width)
{
	uint32_t c = fabric_chan(f, sw, port);
	char name[NAME_LEN], fit[NAME_LEN];

	if (port == FAB_NO_PORT)
		snprintf(buf, len, "none");
	else if (c != FAB_NONE)
		snprintf(buf, len, "%u %s", port,
			 name_fit(fit, sizeof(fit), f,
				  switch_label(name, sizeof(name), f, f->chan_dst[c]), width - 4));
	else
		snprintf(buf, len, "%u", port);
}

static const char *preview_changes_lid_name(const struct fabric *f, uint32_t lid,
					    char name[END_NAME_LEN])
{
	uint32_t end = fabric_lid_end(f, lid);

	return end == FAB_NONE ? "" : end_name(name, END_NAME_LEN, f, end);
}

#define ENTRIES ": LID, node, port: then > plan" /* or now */
#define AT_NODE 7
#define AT_WAYS 24

/* The entries of one block: LID, whose it is, old port, new port. */
static void preview_changes_draw_entries(const struct state *s, struct canvas *c, struct rect r,
					 uint32_t i)
{
	const struct plan_preview *x = state_plan(s);
	const struct tables_diff_block *b = &x->diff->blocks[i];
	const uint8_t *was = tables_row(x->from, b->sw), *is = tables_row(x->tables, b->sw);
	uint32_t lid = b->block * LFT_BLOCK, end = lid + LFT_BLOCK;
	char from[80], to[80], line[256], name[END_NAME_LEN], fit[END_NAME_LEN];
	int y = 1, each = (r.w - AT_WAYS - 1 - (int)strlen(" > ")) / 2;

	name_fit(fit, sizeof(fit), s->fabric, switch_label(name, sizeof(name), s->fabric, b->sw),
		 r.w - 6 - (int)strlen(ENTRIES));
	snprintf(line, sizeof(line), "%s: LID, node, port: %s > plan", fit, plan_preview_when(x));
	canvas_rule(c, r, 0, line);
	for (; lid < end && lid <= s->fabric->max_lid && y < r.h; lid++) {
		if (was[lid] == is[lid])
			continue;
		preview_changes_port_text(from, sizeof(from), s->fabric, b->sw, was[lid], each);
		preview_changes_port_text(to, sizeof(to), s->fabric, b->sw, is[lid], each);
		snprintf(line, sizeof(line), "%s > %s", from, to);
		canvas_textf(c, r, 1, y, ROLE_LABEL, "%u", lid);
		name_fit_draw(c, r, AT_NODE, y, AT_WAYS - AT_NODE - 1, ROLE_TEXT, s->fabric,
			      preview_changes_lid_name(s->fabric, lid, name));
		canvas_text(c, r, AT_WAYS, y++, ROLE_TEXT, line);
	}
}

void preview_diff_draw(struct list *l, const struct state *s, struct canvas *c, struct rect r)
{
	uint32_t n = preview_diff_rows(s), nblocks = n ? state_plan(s)->diff->nblocks : 0;
	bool beside = r.w >= 90;
	struct rect list = { r.x, r.y, beside ? 44 : r.w, beside ? r.h : r.h / 2 };
	struct rect at = { beside ? r.x + 45 : r.x, beside ? r.y : r.y + r.h / 2,
			   beside ? r.w - 45 : r.w, beside ? r.h : r.h - r.h / 2 };

	list_fit(l, n, list.h - 1);
	canvas_rule(c, list, 0, "Changed blocks: entries");
	list_draw_range(l, n, c, list, 0);
	if (!n)
		canvas_text(c, list, 1, 1, ROLE_DIM,
			    state_plan(s)->from ? "none" : "the installed tables are not known");
	for (int y = 0; y < list.h - 1 && l->top + (uint32_t)y < n; y++) {
		struct rect row = { list.x, list.y + 1, list.w, list.h - 1 };

		preview_changes_draw_row(s, c, row, y, l->top + (uint32_t)y);
		if (l->top + (uint32_t)y == l->cursor)
			list_draw_cursor(c, row, y);
	}
	if (l->cursor < nblocks)
		preview_changes_draw_entries(s, c, at, l->cursor);
}
