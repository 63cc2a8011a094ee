/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"
#include "fabric/model/topology/end_find.h"
#include "views/canvas/name_fit.h"
#include "views/data/hint_click.h"
#include "views/data/state/key_hint.h"
#include "views/paths/path_pane.h"

#include <stdlib.h>

const struct row_note *path_end_note(const struct state *s, uint32_t end)
{
	const struct fabric *f = s->fabric;

	if (end < f->nend)
		return row_notes_port(s->row_notes, f, f->term_sw[end], f->term_port[end]);
	return end - f->nend < f->nsw ? row_notes_switch(s->row_notes, f, end - f->nend) : NULL;
}

void pairs_done(struct pairs_pane *p)
{
	free(p->pair);
}

/* The jobs that may be meant: the highlighted one, else those with routes over the link, most
 * first. */
static uint32_t path_pairs_find_job(const struct pairs_pane *p, const struct context *ctx,
				    const struct state *s, uint32_t chan)
{
	const struct jobset *js = s->jobs;
	const struct link_usage *u = state_usage(s);
	uint64_t id = ctx->job.id, off;
	uint32_t n;

	if (!id && u && u->routes && u->jobs && chan < u->routes->nchan) {
		off = u->routes->chan_off[chan];
		n = (uint32_t)(u->routes->chan_off[chan + 1] - off);
		if (n)
			id = u->jobs->jobs[u->routes->job[off + p->turn % n]].id;
	}
	for (uint32_t j = 0; id && j < js->njob; j++)
		if (js->jobs[j].id == id)
			return j;
	return FAB_NONE;
}

/* The one selected; while none is, the one that was the fullest when it was looked for. */
static uint32_t path_pairs_link(struct pairs_pane *p, const struct context *ctx,
				const struct state *s)
{
	const struct sample_summary *sum = ctx->summary.sample_summary;

	if (ctx->chan != FAB_NONE) {
		p->fullest = false;
		return ctx->chan;
	}
	if (p->fullest && p->fabric == s->fabric)
		return p->chan;
	p->fullest = sum && sum->top[HISTORY_UTIL].n;
	return p->fullest ? sum->top[HISTORY_UTIL].chan[0] : FAB_NONE;
}

static void path_pairs_find_pairs(struct pairs_pane *p, const struct context *ctx,
				  const struct state *s)
{
	const struct tables *plan = state_plan_tables(s);
	uint32_t chan = path_pairs_link(p, ctx, s), job;

	job = s->jobs && s->jobs->nterm == s->fabric->nterm && chan != FAB_NONE
		      ? path_pairs_find_job(p, ctx, s, chan)
		      : FAB_NONE;
	if (p->fabric == s->fabric && p->tables == s->tables && p->planned == plan &&
	    p->set == s->jobs && p->chan == chan && p->job == job)
		return;
	p->fabric = s->fabric;
	p->tables = s->tables;
	p->planned = plan;
	p->set = s->jobs;
	p->chan = chan;
	p->job = job;
	p->n = 0;
	p->all = p->plan = 0;
	p->has_plan = plan != NULL;
	p->list = (struct list){ 0 };
	if (job == FAB_NONE || !state_tables(s))
		return;
	if (!p->pair)
		p->pair = xcalloc(PAIRS_MAX, sizeof(*p->pair));
	p->all =
		job_pairs_find(p->pair, PAIRS_MAX, s->fabric, s->tables, &s->jobs->jobs[job], chan);
	p->n = p->all < PAIRS_MAX ? (uint32_t)p->all : PAIRS_MAX;
	if (plan)
		p->plan = job_pairs_find(NULL, 0, s->fabric, plan, &s->jobs->jobs[job], chan);
}

static void path_pairs_draw_title(const struct pairs_pane *p, const struct state *s,
				  struct canvas *c, struct rect r)
{
	const struct job *j = &s->jobs->jobs[p->job];
	char label[256], all[FIGURE_LEN], of[FIGURE_LEN], plan[FIGURE_LEN];
	char id[JOB_ID_LEN];
	int x;

	if (row_notes_job(s->row_notes, s->fabric, j))
		canvas_char(c, r, 0, 1, ROLE_KEY, NOTE_POINT);
	if (row_notes_chan(s->row_notes, s->fabric, p->chan))
		canvas_char(c, r, 0, 0, ROLE_KEY, NOTE_POINT);
	x = canvas_textf(c, r, 1, 0, ROLE_LABEL, "over %s",
			 chan_label(label, sizeof(label), s->fabric, p->chan));
	if (p->fullest)
		canvas_text(c, r, x, 0, ROLE_DIM, ", the fullest; views 2 and 3 select another");
	x = canvas_textf(c, r, 1, 1, ROLE_TEXT, "%s of %s pairs of job %s (%.40s %.40s)",
			 figure_count(all, p->all),
			 figure_count(of, (uint64_t)j->nterm * (j->nterm ? j->nterm - 1 : 0)),
			 job_text(id, j), j->user, j->name);
	if (p->has_plan)
		canvas_textf(c, r, x, 1, p->plan > p->all ? ROLE_WARN : ROLE_GOOD,
			     "  with the plan: %s", figure_count(plan, p->plan));
}

static void path_pairs_draw_pair(const struct pairs_pane *p, const struct state *s,
				 struct canvas *c, struct rect r, int y, uint32_t i)
{
	const struct fabric *f = s->fabric;
	char a[128], b[128];
	struct path walk;
	struct path_ends ends = { p->pair[i].src, f->term_lid[p->pair[i].dst] };
	int w = (r.w - 30) / 2;

	path_walk(&walk, f, s->tables, ends.src, ends.dlid);
	w = w > 32 ? 32 : w;
	if (path_end_note(s, p->pair[i].src))
		canvas_char(c, r, 1, y, ROLE_KEY, NOTE_POINT);
	if (path_end_note(s, p->pair[i].dst))
		canvas_char(c, r, 5 + w, y, ROLE_KEY, NOTE_POINT);
	name_fit_draw(c, r, 2, y, w, ROLE_TEXT, f, end_name(a, sizeof(a), f, p->pair[i].src));
	canvas_text(c, r, 3 + w, y, ROLE_DIM, "->");
	name_fit_draw(c, r, 6 + w, y, w, ROLE_TEXT, f, end_name(b, sizeof(b), f, p->pair[i].dst));
	canvas_textf(c, r, 7 + 2 * w, y, ROLE_DIM, "LID %u  SL %u  %u link%s", ends.dlid, walk.sl,
		     walk.links, plural(walk.links));
}

bool pairs_any(struct pairs_pane *p, const struct context *ctx, const struct state *s)
{
	path_pairs_find_pairs(p, ctx, s);
	return p->n > 0;
}

void pairs_draw(struct pairs_pane *p, const struct context *ctx, const struct state *s,
		struct canvas *c, struct rect r)
{
	struct rect rows = { r.x, r.y + 2, r.w, r.h - 3 };

	path_pairs_find_pairs(p, ctx, s);
	if (p->chan == FAB_NONE) {
		canvas_text(c, r, 2, 0, ROLE_DIM,
			    "no link selected: choose one in view 2 or 3, or a hop of a path");
		return;
	}
	if (p->job == FAB_NONE) {
		canvas_text(c, r, 2, 0, ROLE_DIM,
			    !s->jobs ? "no jobs known"
				     : "no known job uses this link; Enter in view 5 marks one");
		return;
	}
	path_pairs_draw_title(p, s, c, r);
	list_fit(&p->list, p->n, rows.h);
	for (int y = 0; y < rows.h && p->list.top + (uint32_t)y < p->n; y++) {
		path_pairs_draw_pair(p, s, c, rows, y, p->list.top + (uint32_t)y);
		if (p->list.top + (uint32_t)y == p->list.cursor)
			list_draw_cursor(c, rows, y);
	}
	if (!p->n)
		canvas_text(c, rows, 2, 0, ROLE_DIM, "no pair of this job uses this link");
	if (p->n < p->all) {
		canvas_textf(c, r, 1, r.h - 1, ROLE_DIM, "the first %u of them", p->n);
	} else if (!ctx->job.id) {
		canvas_textf(c, r, 1, r.h - 1, ROLE_DIM, "%s %s: next job on this link",
			     key_hint("next"), key_hint("previous"));
		hint_click_mark(c, r, r.h - 1, 1);
	}
}

bool pairs_input(struct pairs_pane *p, struct context *ctx, const struct state *s,
		 const struct input *in, bool *chosen)
{
	*chosen = false;
	path_pairs_find_pairs(p, ctx, s);
	if (!p->n &&
	    (in->req == REQ_FIND_NEXT || in->req == REQ_FIND_PREV || in->req == REQ_ENTER)) {
		context_say(ctx, "no pairs: no job uses the selected link, or no link is selected");
		return true;
	}
	if (list_move(&p->list, in->req, p->n))
		return true;
	switch (in->req) {
	case REQ_FIND_NEXT:
		p->turn++;
		return true;
	case REQ_FIND_PREV:
		p->turn -= p->turn > 0;
		return true;
	case REQ_ENTER:
		if (p->list.cursor >= p->n)
			return true;
		ctx->path = (struct path_ends){ p->pair[p->list.cursor].src,
						s->fabric->term_lid[p->pair[p->list.cursor].dst] };
		*chosen = true;
		return true;
	default:
		return false;
	}
}
