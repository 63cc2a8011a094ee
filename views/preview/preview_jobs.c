/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/preview/preview_jobs.h"

#include "views/canvas/text.h"

#include <stdio.h>
#include <string.h>

uint32_t preview_jobs_rows(const struct state *s)
{
	const struct proposal *x = state_proposal(s);

	return x && x->jobs && x->after->njob == x->jobs->njob ? x->jobs->njob : 0;
}

/* What the update does to it while it runs. */
static const char *preview_links_fate(const struct proposal *x, uint32_t job, enum role *role)
{
	*role = ROLE_DIM;
	if (x->order != ORDER_FOUND)
		return x->order == ORDER_WAITS ? "..." : "-";
	for (uint32_t i = 0; i < x->ordered->drain.njob; i++) {
		const struct drain_job *d = &x->ordered->drain.job[i];

		if (d->job != job)
			continue;
		*role = d->needed ? ROLE_WARN : ROLE_TEXT;
		return d->needed ? "must drain" : "order only";
	}
	return "untouched";
}

static void preview_links_draw_pair(struct canvas *c, struct rect r, int end, int y, bool known,
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

static void preview_links_draw_job(const struct state *s, struct canvas *c, struct rect r, int y,
				   uint32_t i)
{
	const struct proposal *x = state_proposal(s);
	const struct job *j = &x->jobs->jobs[i];
	bool known = x->before && x->before->njob == x->jobs->njob;
	const struct job_metrics *is = &x->after->job[i];
	const struct job_metrics *was = known ? &x->before->job[i] : is;
	enum role role;
	const char *word = preview_links_fate(x, i, &role);
	int at = 38;

	canvas_textf(c, r, 1, y, ROLE_TEXT, "%llu", (unsigned long long)j->id);
	canvas_rightf(c, r, 14, y, ROLE_TEXT, "%u", j->nnodes);
	preview_links_draw_pair(c, r, 25, y, known, was->efi_max, is->efi_max, true);
	preview_links_draw_pair(c, r, 36, y, known, was->links, is->links, false);
	canvas_text(c, r, at, y, role, word);
	canvas_name(c, r, at + 12, y, 8, ROLE_DIM, j->user);
	canvas_name(c, r, at + 21, y, r.w - at - 22, ROLE_DIM, j->name);
}

void preview_jobs_draw(struct list *l, const struct state *s, struct canvas *c, struct rect r)
{
	uint32_t n = preview_jobs_rows(s);
	struct rect rows = { r.x, r.y + 2, r.w, r.h - 3 };
	const struct forecast *f = &state_proposal(s)->plan;

	list_fit(l, n, rows.h);
	canvas_rule(c, r, 0, "Jobs: worst link, links: now > plan");
	list_draw_range(l, n, c, r, 0);
	canvas_text(c, r, 1, 1, ROLE_LABEL, "job");
	canvas_right(c, r, 14, 1, ROLE_LABEL, "nodes");
	canvas_right(c, r, 25, 1, ROLE_LABEL, "EFI");
	canvas_right(c, r, 36, 1, ROLE_LABEL, "links");
	canvas_text(c, r, 38, 1, ROLE_LABEL, "meanwhile");
	canvas_text(c, r, 50, 1, ROLE_LABEL, "user");
	if (!n)
		canvas_text(c, rows, 1, 0, ROLE_DIM, "no jobs known");
	for (int y = 0; y < rows.h && l->top + (uint32_t)y < n; y++) {
		preview_links_draw_job(s, c, rows, y, l->top + (uint32_t)y);
		if (l->top + (uint32_t)y == l->cursor)
			list_draw_cursor(c, rows, y);
	}
	if (f->known && f->jobs)
		canvas_textf(c, r, 1, r.h - 1, ROLE_DIM, "slowest then: job %llu, %.2f times alone",
			     (unsigned long long)f->worst_job, f->slowdown_max);
	else
		canvas_text(c, r, 1, r.h - 1, ROLE_DIM, "order only: packets may pass each other");
}
