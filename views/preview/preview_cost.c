/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/preview/preview_cost.h"

#include "fabric/base/message/plural.h"
#include "fabric/update/executor.h"
#include "views/canvas/text.h"
#include "views/data/hint_click.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool preview_cost_nothing_changes(const struct tables_diff *d)
{
	return d && !d->nblocks && !d->nsl2vl && !d->sl_pairs;
}

/* Old contents are read, new ones written and read back: as fast as this session reads. */
static double preview_cost_seconds(const struct state *s, const struct plan *plan)
{
	return fmax(0.1, s->preview.sweep_s + 3.0 * plan->changes->n / s->preview.mads_per_s);
}

struct touched {
	uint32_t jobs, nodes, needed;
};

static struct touched preview_cost_touched(const struct plan *plan)
{
	struct touched t = { 0 };

	for (uint32_t i = 0; plan->jobs && i < plan->drain.njob; i++) {
		t.jobs++;
		t.needed += plan->drain.job[i].needed;
		t.nodes += plan->jobs->jobs[plan->drain.job[i].job].nnodes;
	}
	return t;
}

/* A few words, their sentence beside them over as many lines as it takes. */
static int preview_cost_fact(struct canvas *c, struct rect r, int y, enum role role,
			     const char *what, const char *text)
{
	canvas_text(c, r, 1, y, ROLE_TEXT, what);
	return y + canvas_wrap(c, (struct rect){ r.x + 7, r.y, r.w - 8, r.h }, 1, y, role, text);
}

/* As the last update here measured it, else the time that agents are given. */
static const char *preview_cost_pause_each(char *buf, size_t len, const struct state *s, bool back)
{
	double out = s->preview.drained_s, in = s->preview.returned_s;
	char a[FIGURE_LEN], b[FIGURE_LEN];

	figure_age(a, out);
	figure_age(b, in);
	if (out > 0 && in > 0 && back)
		snprintf(buf, len, "measured in the last update: %s and %s (slowest job)", a, b);
	else if (out > 0 && !back)
		snprintf(buf, len, "measured in the last update: %s (slowest job)", a);
	else
		snprintf(buf, len, "%us at most%s", APPLY_ANSWER_MS / 1000, back ? " each" : "");
	return buf;
}

/* How long jobs stand still: while their agents drain them, once on the way out and once on the
 * way back, and without escape LIDs while is written. */
static int preview_cost_draw_pause(const struct state *s, struct canvas *c, struct rect r, int y,
				   const struct plan *plan, const char *time)
{
	const struct drain *d = &plan->drain;
	char text[240], how_long[120];

	if (!d->jobs)
		snprintf(text, sizeof(text), "unknown (no job list)");
	else if (!d->njob)
		snprintf(text, sizeof(text), "none: the paths of all jobs stay the same");
	else if (!drain_needed(d) && !d->escape)
		snprintf(text, sizeof(text), "none: no job has to drain");
	else
		snprintf(text, sizeof(text), "a job%s pauses %s: %s%s%s",
			 drain_needed(d) ? "" : " with agents",
			 d->escape ? "to move to its escape LIDs and back"
				   : "while its agents drain it",
			 preview_cost_pause_each(how_long, sizeof(how_long), s, d->escape),
			 !d->escape && *time ? ", and while switches are written: " : "",
			 d->escape ? "" : time);
	return preview_cost_fact(c, r, y, drain_needed(d) ? ROLE_WARN : ROLE_TEXT, "pause", text);
}

/* Never less than it is. */
static const char *preview_cost_bound_text(char buf[FIGURE_LEN], double s)
{
	return figure_age(buf, s < 120 ? ceil(s) : 60 * ceil(s / 60));
}

const char *preview_search_text(char *buf, size_t len, const struct state *s)
{
	const struct state_ordering *o = &s->ordering;
	char took[FIGURE_LEN], most[FIGURE_LEN], about[FIGURE_LEN];

	figure_age(took, o->took_s);
	preview_cost_bound_text(most, o->most_s);
	if (isfinite(o->most_s) && isfinite(o->about_s))
		snprintf(buf, len, "about %s left, at most %s; %s elapsed",
			 figure_age(about, fmin(o->about_s, o->most_s)), most, took);
	else if (isfinite(o->most_s))
		snprintf(buf, len, "searching, %s elapsed, at most %s left", took, most);
	else
		snprintf(buf, len, "searching, %s elapsed", took);
	return buf;
}

/* The order of writes, the drain and the jobs touched are still to be found. */
static int preview_cost_draw_search(const struct state *s, struct canvas *c, struct rect r, int y,
				    const struct plan_preview *x)
{
	char text[80];
	int x_end;

	if (!x->ordering) {
		canvas_text(c, r, 1, y, ROLE_DIM, "order  waiting for the running computation");
		return y + 1;
	}
	preview_search_text(text, sizeof(text), s);
	canvas_textf(c, r, 1, y++, ROLE_TEXT, "order  %s", text);
	if (s->ordering.words[0])
		canvas_text(c, r, 1, y++, ROLE_TEXT, s->ordering.words);
	x_end = hint_click_draw(c, r, 1, y, "cancel");
	canvas_text(c, r, x_end + 1, y, ROLE_DIM, "stops the search");
	return y + 1;
}

static int preview_cost_draw_order(const struct state *s, struct canvas *c, struct rect r, int y,
				   const struct plan_preview *x)
{
	const struct plan *plan = x->ordered;
	char text[400], est[FIGURE_LEN] = "";
	struct touched t;

	switch (x->order) {
	case ORDER_NONE:
		return y;
	case ORDER_WAITS:
		return preview_cost_draw_search(s, c, r, y, x);
	case ORDER_FAILED:
	case ORDER_ENDED:
		return y + canvas_wrap(c, (struct rect){ r.x, r.y, r.w - 1, r.h }, 1, y, ROLE_BAD,
				       x->order_error);
	case ORDER_FOUND:
		break;
	}
	t = preview_cost_touched(plan);
	canvas_textf(c, r, 1, y++, ROLE_TEXT, "order  %u wave%s of %u block write%s, %u SL2VL",
		     plan->changes->nwaves, plural(plan->changes->nwaves), plan->changes->nlft,
		     plural(plan->changes->nlft), plan->changes->nsl2vl);
	if (isfinite(preview_cost_seconds(s, plan)))
		canvas_textf(c, r, 1, y++, ROLE_TEXT, "time   about %s for the writes by SMPs",
			     figure_age(est, preview_cost_seconds(s, plan)));
	if (plan->drain.jobs && plan->jobs)
		canvas_textf(c, r, 1, y++, ROLE_TEXT,
			     "jobs   %u affected (%u node%s), %u "
			     "unaffected",
			     t.jobs, t.nodes, plural(t.nodes), plan->jobs->njob - t.jobs);
	y = preview_cost_draw_pause(s, c, r, y, plan, est);
	drain_text(text, sizeof(text), &plan->drain, plan->fabric, plan->jobs);
	y = preview_cost_fact(c, r, y, drain_needed(&plan->drain) ? ROLE_WARN : ROLE_TEXT, "drain",
			      text);
	if (!s->keyless || !plan->drain.njob)
		return y;
	return preview_cost_fact(c, r, y, ROLE_WARN, "", "agents have no key: nodes can forge");
}

/* What it was made from: whose jobs, of when, and with which options. */
static int preview_cost_draw_inputs(struct canvas *c, struct rect r, int y,
				    const struct plan_preview *x)
{
	const struct jobset *jobs = x->jobs;
	struct rect in = { r.x, r.y, r.w - 1, r.h };
	char text[400], made[420], at[FIGURE_LEN];

	if (jobs)
		snprintf(text, sizeof(text), "%u job%s of %s%s%s", jobs->njob, plural(jobs->njob),
			 jobs->source, jobs->time_s ? " at " : "",
			 jobs->time_s ? figure_time(at, jobs->time_s) : "");
	else
		snprintf(text, sizeof(text), "no jobs");
	y = preview_cost_fact(c, r, y, ROLE_TEXT, "input", text);
	if (!preview_options_text(text, sizeof(text), &x->options)[0])
		return y;
	snprintf(made, sizeof(made), "options: %s", text);
	return y + canvas_wrap(c, in, 1, y, ROLE_DIM, made);
}

int preview_facts_draw(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct plan_preview *x = state_plan(s);
	const struct tables_diff *d = x->diff;
	char a[FIGURE_LEN], b[FIGURE_LEN];

	if (!d || preview_cost_nothing_changes(d))
		return y;
	canvas_textf(c, r, 1, y++, ROLE_TEXT, "LFT entries %s of %s (%.1f%%)",
		     figure_count(a, d->entries), figure_count(b, d->entries_all),
		     d->entries_all ? (double)d->entries * 100 / (double)d->entries_all : 0);
	canvas_textf(c, r, 1, y++, ROLE_TEXT, "LFT blocks %s of %s  SL2VL tables %u",
		     figure_count(a, d->nblocks), figure_count(b, d->blocks_all), d->nsl2vl);
	canvas_textf(c, r, 1, y++, ROLE_TEXT, "SL changes for %s pair%s (switch, LID)%s",
		     figure_count(a, d->sl_pairs), plural(d->sl_pairs),
		     d->sl_pairs && !s->sls_known ? ", now SL 0 assumed" : "");
	y = preview_cost_draw_order(s, c, r, y, x);
	return preview_cost_draw_inputs(c, r, y, x);
}

int preview_cost_draw(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct tables_diff *d = state_plan(s)->diff;
	char title[64];

	if (!d || preview_cost_nothing_changes(d)) {
		canvas_rule(c, r, y++, "Cost of applying");
		canvas_text(c, r, 1, y++, ROLE_DIM,
			    d ? "none: this routing is installed" : "unknown: no installed tables");
		return y;
	}
	snprintf(title, sizeof(title), "Cost: %u of %u switches written", d->switches,
		 s->fabric->nsw);
	canvas_rule(c, r, y++, title);
	return preview_facts_draw(s, c, r, y);
}

static int preview_cost_draw_replaced(const struct state *s, struct canvas *c, struct rect r, int y)
{
	if (!s->sm.replaces[0] || y + 1 >= r.h)
		return y;
	canvas_rule(c, r, y++, "QoS settings of the site");
	return y + canvas_wrap(c, (struct rect){ r.x, r.y, r.w - 1, r.h }, 1, y, ROLE_WARN,
			       s->sm.replaces);
}

static int preview_cost_draw_adaptive(const struct state *s, struct canvas *c, struct rect r, int y)
{
	if (!s->sm.adaptive[0] || y >= r.h)
		return y;
	return y + canvas_wrap(c, (struct rect){ r.x, r.y, r.w - 1, r.h }, 1, y, ROLE_WARN,
			       s->sm.adaptive);
}

int preview_notes_draw(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct plan_preview *x = state_plan(s);

	y = preview_cost_draw_adaptive(s, c, r, y);
	y = preview_cost_draw_replaced(s, c, r, y);
	if (!x->notes || !x->notes->n || y + 1 >= r.h)
		return y;
	canvas_rule(c, r, y++, x->files && x->files->n ? "Notes on the file" : "Engine notes");
	for (size_t i = 0; i < x->notes->n && y < r.h; i++)
		y += canvas_wrap(c, (struct rect){ r.x, r.y, r.w - 1, r.h }, 1, y, ROLE_LABEL,
				 x->notes->list[i].text);
	return y;
}

const char *preview_cost_brief(char *buf, size_t len, const struct state *s)
{
	const struct plan_preview *x = state_plan(s);
	const struct tables_diff *d = x->diff;
	char a[FIGURE_LEN], est[FIGURE_LEN] = "", waves[64] = "";

	if (!d || preview_cost_nothing_changes(d)) {
		snprintf(buf, len, "%s",
			 !d	       ? "Cost: unknown"
			 : x->stale[0] ? "Cost: none, was installed then"
				       : "Cost: none, already installed");
		return buf;
	}
	if (x->order == ORDER_FOUND)
		snprintf(waves, sizeof(waves), ", %u wave%s", x->ordered->changes->nwaves,
			 plural(x->ordered->changes->nwaves));
	if (x->order == ORDER_WAITS)
		snprintf(waves, sizeof(waves), ", searching order");
	if (x->order == ORDER_WAITS && x->ordering && s->ordering.words[0])
		snprintf(waves, sizeof(waves), ": %.61s", s->ordering.words);
	if (x->order == ORDER_FOUND && isfinite(preview_cost_seconds(s, x->ordered)))
		figure_age(est, preview_cost_seconds(s, x->ordered));
	snprintf(buf, len, "%s block%s on %u switch%s%s%s%s", figure_count(a, d->nblocks),
		 plural(d->nblocks), d->switches, plural_es(d->switches), waves,
		 est[0] ? ", ~" : "", est);
	return buf;
}

/* --- checks ---------------------------------------------------------------------------------- */

enum mark { MARK_OK, MARK_WARN, MARK_BAD, MARK_WAIT };

struct checks {
	struct canvas *c;
	struct rect r;
	int x, y;
};

static void preview_cost_check(struct checks *k, enum mark m, const char *text)
{
	static const char *const marks[] = { "[ok] ", "[!!] ", "[NO] ", "[..] " };
	static const enum role roles[] = { ROLE_GOOD, ROLE_WARN, ROLE_BAD, ROLE_DIM };

	if (k->x > 1 && k->x + 5 + text_width(text) > k->r.w) {
		k->x = 1;
		k->y++;
	}
	k->x = canvas_text(k->c, k->r, k->x, k->y, roles[m], marks[m]);
	k->x = canvas_text(k->c, k->r, k->x, k->y, m == MARK_BAD ? ROLE_BAD : ROLE_TEXT, text) + 1;
}

/* Free of deadlocks in every step: what the order of writes was found for. */
static void preview_cost_check_steps(struct checks *k, const struct state *s,
				     const struct plan_preview *x)
{
	const struct verdict *now = s->verdict;

	preview_cost_check(k, x->verdict->deadlock_free ? MARK_OK : MARK_BAD,
			   x->verdict->deadlock_free ? "no deadlock" : "DEADLOCK");
	if (now && !now->deadlock_free)
		preview_cost_check(k, s->sls_known ? MARK_BAD : MARK_WARN,
				   s->sls_known ? "CURRENT ROUTING HAS CREDIT LOOPS"
						: "current routing: unknown (no "
						  "SLs)");
	if (x->order == ORDER_FOUND)
		preview_cost_check(k, drain_needed(&x->ordered->drain) ? MARK_WARN : MARK_OK,
				   drain_needed(&x->ordered->drain) ? "write order safe if drained"
								    : "write order safe");
	else if (x->notes && notes_find(x->notes, "vl_weights"))
		preview_cost_check(k, MARK_BAD, "VLs WITHOUT WEIGHT");
	else if (x->order != ORDER_NONE)
		preview_cost_check(k, x->order == ORDER_FAILED ? MARK_BAD : MARK_WAIT,
				   x->order == ORDER_WAITS   ? "transition ..."
				   : x->order == ORDER_ENDED ? "transition check stopped"
							     : "NO SAFE WRITE ORDER");
}

static const char *preview_cost_pinned_text(char *buf, size_t len, const struct verdict *v)
{
	const struct pin_verdict *p = &v->pinned;

	snprintf(buf, len, p->changed ? "PINNED PATHS CHANGE" : "%u pinned host%s unchanged",
		 p->hosts, plural(p->hosts));
	return buf;
}

int preview_checks_draw(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct plan_preview *x = state_plan(s);
	const struct verdict *v = x->verdict;
	struct checks k = { c, { r.x, r.y, r.w - 1, r.h }, 1, y };
	char buf[300];

	if (!v) {
		canvas_text(c, r, 1, y, ROLE_WARN, "not checked: it cannot be applied");
		return y + 1;
	}
	preview_cost_check(&k, v->connected ? MARK_OK : MARK_BAD,
			   v->connected ? "complete" : "INCOMPLETE");
	preview_cost_check(&k, v->loop_free ? MARK_OK : MARK_BAD,
			   v->loop_free ? "no loops" : "LOOPS");
	preview_cost_check_steps(&k, s, x);
	if (x->notes && notes_find(x->notes, "sls_assumed"))
		preview_cost_check(&k, MARK_WARN, "all SLs assumed 0");
	preview_cost_check(&k, v->vls_fit ? MARK_OK : MARK_BAD,
			   v->vls_fit ? "VL count ok" : "TOO MANY VLs");
	if (v->pinned.hosts)
		preview_cost_check(&k, v->pinned.changed ? MARK_BAD : MARK_OK,
				   preview_cost_pinned_text(buf, sizeof(buf), v));
	if (v->excluded[0]) {
		snprintf(buf, sizeof(buf), v->passes.n ? "PATHS PASS %s" : "no path passes %s",
			 v->excluded);
		preview_cost_check(&k, v->passes.n ? MARK_BAD : MARK_OK, buf);
	}
	if (!x->stale[0]) {
		preview_cost_check(&k, MARK_OK, "up to date");
		return k.y + 1;
	}
	snprintf(buf, sizeof(buf), "STALE: %s", x->stale);
	canvas_name(c, r, 1, ++k.y, r.w - 2, ROLE_LOUD, buf);
	return k.y + 1;
}
