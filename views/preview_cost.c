/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/preview_cost.h"

#include "views/preview_form.h"
#include "views/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool nothing_changes(const struct tdiff *d)
{
	return d && !d->nblocks && !d->nsl2vl && !d->sl_pairs;
}

/* Old contents are read, new ones written and read back: as fast as this session reads. */
static double seconds(const struct state *s, const struct plan *plan)
{
	return fmax(0.1, s->preview.sweep_s + 3.0 * plan->changes->n / s->preview.mads_per_s);
}

struct touched {
	uint32_t jobs, nodes, needed;
};

static struct touched touched(const struct plan *plan)
{
	struct touched t = { 0 };

	for (uint32_t i = 0; plan->jobs && i < plan->drain.njob; i++) {
		t.jobs++;
		t.needed += plan->drain.job[i].needed;
		t.nodes += plan->jobs->jobs[plan->drain.job[i].job].nnodes;
	}
	return t;
}

static int draw_order(const struct state *s, struct canvas *c, struct rect r, int y,
		      const struct proposal *x)
{
	struct rect in = { r.x, r.y, r.w - 1, r.h };
	const struct plan *plan = x->ordered;
	char text[400], est[FIGURE_LEN];
	struct touched t;

	switch (x->order) {
	case ORDER_NONE:
		return y;
	case ORDER_WAITS:
		canvas_text(c, r, 1, y, ROLE_DIM,
			    "order of writes, drain, jobs touched: being found ...");
		return y + 1;
	case ORDER_FAILED:
		return y + canvas_wrap(c, in, 1, y, ROLE_BAD, x->order_error);
	case ORDER_FOUND:
		break;
	}
	t = touched(plan);
	canvas_textf(c, r, 1, y++, ROLE_TEXT, "order  %u wave%s of %u block writes, %u SL2VL",
		     plan->changes->nwaves, plan->changes->nwaves == 1 ? "" : "s",
		     plan->changes->nlft, plan->changes->nsl2vl);
	if (plan->drain.jobs && plan->jobs)
		canvas_textf(c, r, 1, y++, ROLE_TEXT, "jobs   %u touched (%u nodes), %u untouched",
			     t.jobs, t.nodes, plan->jobs->njob - t.jobs);
	drain_text(text, sizeof(text), &plan->drain, plan->jobs);
	canvas_text(c, r, 1, y, ROLE_TEXT, "drain");
	y += canvas_wrap(c, (struct rect){ r.x + 7, r.y, r.w - 8, r.h }, 1, y,
			 drain_needed(&plan->drain) ? ROLE_WARN : ROLE_TEXT, text);
	if (isfinite(seconds(s, plan)))
		canvas_textf(c, r, 1, y++, ROLE_TEXT, "time   about %s by SMPs, without agents",
			     figure_age(est, seconds(s, plan)));
	return y;
}

int preview_cost_draw(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct proposal *x = state_proposal(s);
	const struct tdiff *d = x->diff;
	char a[FIGURE_LEN], b[FIGURE_LEN], title[64], how[160];

	if (!d || nothing_changes(d)) {
		canvas_rule(c, r, y++, "Cost of applying it");
		canvas_text(c, r, 1, y++, ROLE_DIM,
			    d ? "none: it is the current routing" : "not known: no current tables");
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
	y = draw_order(s, c, r, y, x);
	if (preview_options_text(how, sizeof(how), &x->options)[0])
		canvas_textf(c, r, 1, y++, ROLE_DIM, "made with %s", how);
	for (size_t i = 0; x->notes && i < x->notes->n && y < r.h; i++)
		y += canvas_wrap(c, (struct rect){ r.x, r.y, r.w - 1, r.h }, 1, y, ROLE_DIM,
				 x->notes->list[i].text);
	return y;
}

const char *preview_cost_brief(char *buf, size_t len, const struct state *s)
{
	const struct proposal *x = state_proposal(s);
	const struct tdiff *d = x->diff;
	char a[FIGURE_LEN], est[FIGURE_LEN] = "", waves[64] = "";

	if (!d || nothing_changes(d)) {
		snprintf(buf, len, "%s", d ? "Cost none: it is installed" : "Cost not known");
		return buf;
	}
	if (x->order == ORDER_FOUND)
		snprintf(waves, sizeof(waves), ", %u wave%s", x->ordered->changes->nwaves,
			 x->ordered->changes->nwaves == 1 ? "" : "s");
	if (x->order == ORDER_FOUND && isfinite(seconds(s, x->ordered)))
		figure_age(est, seconds(s, x->ordered));
	snprintf(buf, len, "%s blocks on %u switches%s%s%s", figure_count(a, d->nblocks),
		 d->switches, waves, est[0] ? ", ~" : "", est);
	return buf;
}

/* --- checks ------------------------------------------------------------------------------ */

enum mark { MARK_OK, MARK_WARN, MARK_BAD, MARK_WAIT };

struct checks {
	struct canvas *c;
	struct rect r;
	int x, y;
};

static void check(struct checks *k, enum mark m, const char *text)
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
static void check_steps(struct checks *k, const struct state *s, const struct proposal *x)
{
	const struct verdict *now = s->verdict;

	check(k, x->verdict->deadlock_free ? MARK_OK : MARK_BAD,
	      x->verdict->deadlock_free ? "no deadlock" : "DEADLOCK");
	if (now && !now->deadlock_free)
		check(k, s->sls_known ? MARK_BAD : MARK_WARN,
		      s->sls_known ? "nor now: CYCLES" : "now: not known, SLs");
	if (x->order == ORDER_FOUND)
		check(k, drain_needed(&x->ordered->drain) ? MARK_WARN : MARK_OK,
		      drain_needed(&x->ordered->drain) ? "every step, drained" : "nor in any step");
	else if (x->order != ORDER_NONE)
		check(k, x->order == ORDER_WAITS ? MARK_WAIT : MARK_BAD,
		      x->order == ORDER_WAITS ? "every step ..." : "NO ORDER OF WRITES");
}

int preview_checks_draw(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct proposal *x = state_proposal(s);
	const struct verdict *v = x->verdict;
	struct checks k = { c, { r.x, r.y, r.w - 1, r.h }, 1, y };
	char buf[300];

	if (!v) {
		canvas_text(c, r, 1, y, ROLE_WARN, "not checked: it cannot be applied");
		return y + 1;
	}
	check(&k, v->connected ? MARK_OK : MARK_BAD, v->connected ? "complete" : "INCOMPLETE");
	check(&k, v->loop_free ? MARK_OK : MARK_BAD, v->loop_free ? "no loops" : "LOOPS");
	check_steps(&k, s, x);
	check(&k, v->vls_fit ? MARK_OK : MARK_BAD, v->vls_fit ? "VLs fit" : "TOO MANY VLs");
	if (!x->stale[0]) {
		check(&k, MARK_OK, "nothing changed since");
		return k.y + 1;
	}
	snprintf(buf, sizeof(buf), "STALE: %s", x->stale);
	canvas_name(c, r, 1, ++k.y, r.w - 2, ROLE_LOUD, buf);
	return k.y + 1;
}
