/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/apply/apply_phases.h"

#include "fabric/update/protocol/coordinator.h"
#include "views/canvas/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *apply_phases_step_words(enum step_state st)
{
	static const char *const words[] = { "-", "RUNNING", "done", "FAILED", "skipped" };

	return words[st];
}

static enum role apply_phases_step_role(enum step_state st)
{
	static const enum role roles[] = { ROLE_DIM, ROLE_KEY, ROLE_GOOD, ROLE_BAD, ROLE_DIM };

	return roles[st];
}

/* How long until it is rolled back, as a bar that runs empty. */
static void apply_phases_draw_deadline(const struct state_apply *a, struct canvas *c, struct rect r,
				       int x, int y)
{
	int left = (int)a->confirm_left_s;
	int width = r.w - x - 40;

	x = canvas_textf(c, r, x, y, ROLE_WARN, "rolls back in %d:%02d unless confirmed ",
			 left / 60, left % 60);
	if (width >= 8 && a->confirm_all_s > 0)
		canvas_bar(c, r, x, y, width < 40 ? width : 40, ROLE_WARN,
			   a->confirm_left_s / a->confirm_all_s, 0);
}

/* What a check of all tables that the switches hold now says: "" not known. */
static enum role apply_phases_reread_text(char *buf, size_t len, const struct state *s)
{
	const struct verdict *v = s->verdict;

	buf[0] = '\0';
	if (s->history_at.on || (s->apply.state != APPLY_CONFIRM && s->apply.state != APPLY_KEPT))
		return ROLE_TEXT; /* the verdict is of other tables */
	if (s->apply.reread == REREAD_OTHER) {
		snprintf(buf, len, "tables in the switches DIFFER from the plan");
		return ROLE_BAD;
	}
	if (s->apply.reread != REREAD_SAME || !s->fabric)
		return ROLE_TEXT;
	if (!v) {
		snprintf(buf, len, "checking reachability and CDG");
		return ROLE_TEXT;
	}
	snprintf(buf, len, "%s %ux%u%s, CDG %s",
		 v->connected ? "reach"
		 : v->looping ? "LOOP in"
			      : "UNREACHABLE in",
		 s->fabric->nterm, s->fabric->nterm, v->connected ? " ok" : "",
		 !v->connected || !v->loop_free ? "?"
		 : v->deadlock_free		? "acyclic"
						: "HAS A CYCLE");
	return verdict_ok(v) ? ROLE_TEXT : ROLE_BAD;
}

/* Of a phase that has not begun: what it will do.  NULL: not known. */
static const char *apply_phases_purpose(const char *name)
{
	static const char *const of[][2] = {
		{ "PREPARE", "saves the installed tables for a rollback" },
		{ "UNPATH", "jobs that have to drain stop sending" },
		{ "WRITE", "writes wave by wave; reads each wave back" },
		{ "VERIFY", "reads all tables again and checks them" },
		{ "REPATH", "the drained jobs send again" },
		{ "CONFIRM", "rolls back unless you confirm in time" },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++)
		if (!strcmp(name, of[i][0]))
			return of[i][1];
	return NULL;
}

static void apply_phases_draw_text(const struct state *s, struct canvas *c, struct rect r, int y,
				   const struct apply_step *st)
{
	const struct state_apply *a = &s->apply;
	char text[200], check[80] = "", cut[200];
	enum role role = ROLE_TEXT;

	if (a->state == APPLY_ROLLING_BACK && st->phase == PHASE_CONFIRM) {
		canvas_text(c, r, 30, y, ROLE_WARN, "not confirmed");
		return;
	}
	if (st->state == STEP_WAIT && !st->text[0] && apply_phases_purpose(st->name)) {
		canvas_text(c, r, 30, y, ROLE_DIM,
			    text_shorten_words(cut, sizeof(cut), apply_phases_purpose(st->name),
					       r.w - 31));
		return;
	}
	if (st->phase == PHASE_REPATH)
		role = apply_phases_reread_text(check, sizeof(check), s);
	snprintf(text, sizeof(text), "%s%s%s", st->text, st->text[0] && check[0] ? "; " : "",
		 check);
	canvas_text(c, r, 30, y, role, text_shorten_words(cut, sizeof(cut), text, r.w - 31));
}

/* On a small screen the read-back before a rollback gets no row. */
static bool apply_phases_passed_over(const struct state_apply *a, const struct apply_step *st,
				     struct rect r)
{
	return r.h < 18 && a->nsteps > APPLY_STEPS - 2 && !st->phase && st->state == STEP_DONE &&
	       st != &a->steps[a->nsteps - 1];
}

int apply_phases_draw(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct state_apply *a = &s->apply;

	if (!a->nsteps)
		return y;
	canvas_rule(c, r, y++, "Phases");
	for (uint32_t i = 0; i < a->nsteps && i < APPLY_STEPS; i++) {
		const struct apply_step *st = &a->steps[i];
		char took[FIGURE_LEN];

		if (apply_phases_passed_over(a, st, r))
			continue;
		if (st->phase)
			canvas_textf(c, r, 1, y, ROLE_TEXT, "%u", st->phase);
		canvas_textf(c, r, 3, y, ROLE_TEXT, "%-10.15s", st->name);
		canvas_text(c, r, 14, y, apply_phases_step_role(st->state),
			    apply_phases_step_words(st->state));
		if (isfinite(st->took_s))
			canvas_right(c, r, 28, y, ROLE_DIM, figure_age(took, st->took_s));
		if (a->state == APPLY_CONFIRM && st->phase == PHASE_CONFIRM &&
		    isfinite(a->confirm_left_s))
			apply_phases_draw_deadline(a, c, r, 30, y++);
		else
			apply_phases_draw_text(s, c, r, y++, st);
	}
	return y;
}

static void apply_phases_draw_wave(const struct state_apply *a, struct canvas *c, struct rect r,
				   int y, uint32_t w)
{
	uint32_t done = w < a->at_wave ? a->wave[w].blocks : w == a->at_wave ? a->wave_done : 0;
	uint32_t all = a->wave[w].blocks;
	char n[32];
	int x;

	if (done > all)
		done = all;
	x = canvas_textf(c, r, 1, y, ROLE_TEXT, "%2u ", w + 1);
	canvas_name(c, r, x, y, r.w < 45 ? 12 : 16, ROLE_TEXT, a->wave[w].name);
	x += r.w < 45 ? 13 : 17;
	if (r.w >= 45)
		x = canvas_textf(c, r, x, y, ROLE_TEXT, "%4u sw ", a->wave[w].switches);
	snprintf(n, sizeof(n), "%u/%u", done, all);
	canvas_bar(c, r, x, y, r.w - x - 12, ROLE_GOOD, all ? (double)done / all : 1, 0);
	canvas_right(c, r, r.w - 1, y, done == all ? ROLE_GOOD : ROLE_TEXT, n);
}

/* Who was asked and has not done it, by name. */
static int apply_phases_draw_agents(const struct state_apply *a, struct canvas *c, struct rect r,
				    int y)
{
	const struct apply_agents *g = &a->agents;
	bool bad = g->failed || g->silent;
	char text[320];

	if (!g->asked)
		return y;
	snprintf(text, sizeof(text), "agents: %u of %u %s", g->done, g->expected,
		 g->asked == PHASE_UNPATH ? "drained" : "returned");
	if (g->resent)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ", asked %u times",
			 g->resent + 1);
	if (g->silent)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ", %u no reply",
			 g->silent);
	if (g->failed)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ", %u failed",
			 g->failed);
	if (g->who[0])
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ": %s", g->who);
	return y + canvas_wrap(c, (struct rect){ r.x, r.y, r.w - 1, r.h }, 1, y,
			       bad ? ROLE_WARN : ROLE_TEXT, text);
}

static int apply_phases_draw_slow(const struct state_apply *a, struct canvas *c, struct rect r,
				  int y)
{
	int x = 1;

	if (!a->slow[0].us || y >= r.h)
		return y;
	x = canvas_text(c, r, x, y, ROLE_DIM, "slowest: ");
	for (int i = 0; i < APPLY_SLOWEST && a->slow[i].us; i++) {
		char one[96];

		snprintf(one, sizeof(one), "%s %.1fms  ", a->slow[i].name, a->slow[i].us / 1e3);
		if (x + text_width(one) > r.w)
			break;
		x = canvas_text(c, r, x, y, ROLE_DIM, one);
	}
	return y + 1;
}

int apply_waves_draw(const struct state_apply *a, struct canvas *c, struct rect r, int y)
{
	uint32_t fit = r.h - y > 4 ? (uint32_t)(r.h - y - 3) : 1, first = 0;
	char title[100];

	if (a->nwaves > fit && a->at_wave + 1 > fit)
		first = a->at_wave + 1 - fit < a->nwaves - fit ? a->at_wave + 1 - fit
							       : a->nwaves - fit;
	snprintf(title, sizeof(title), "%s%llu of %llu %s",
		 r.w < 45 ? "" : "Waves: ", (unsigned long long)a->done,
		 (unsigned long long)a->total,
		 a->state == APPLY_RUNNING				     ? "written"
		 : a->state == APPLY_ROLLED_BACK || a->state == APPLY_FAILED ? "restored"
									     : "read back");
	if (a->retries)
		snprintf(title + strlen(title), sizeof(title) - strlen(title), ", %u retried",
			 a->retries);
	canvas_rule(c, r, y++, a->total ? title : "Waves");
	for (uint32_t w = first; w < a->nwaves && w < first + fit; w++)
		apply_phases_draw_wave(a, c, r, y++, w);
	y = apply_phases_draw_agents(a, c, r, y);
	return apply_phases_draw_slow(a, c, r, y);
}

/* --- before, predicted, now ------------------------------------------------------------------ */

static void apply_phases_draw_figure(struct canvas *c, struct rect r, int y, const char *name,
				     double before, double pred, double now, int digits)
{
	const double v[] = { before, pred, now };
	const int end[] = { r.w - 19, r.w - 10, r.w - 1 };
	char buf[FIGURE_LEN];

	canvas_text(c, r, 1, y, ROLE_TEXT, name);
	for (int i = 0; i < 3; i++) {
		enum role role = i < 2 || !isfinite(before) || !isfinite(now) || now == before
					 ? ROLE_TEXT
				 : now < before ? ROLE_GOOD
						: ROLE_WARN;

		if (v[i] >= 1e6)
			canvas_rightf(c, r, end[i], y, role, i == 1 ? "~%s" : "%s",
				      figure_short(buf, (uint64_t)v[i]));
		else if (isfinite(v[i]))
			canvas_rightf(c, r, end[i], y, role, i == 1 ? "~%.*f" : "%.*f", digits,
				      v[i]);
		else
			canvas_right(c, r, end[i], y, ROLE_DIM, "-");
	}
}

int apply_live_draw(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct state_apply *a = &s->apply;
	const struct live_metrics *b = &a->before;
	struct live_metrics now;

	if (r.w > 50)
		r.w = 50;
	live_metrics(&now, s);
	canvas_rule(c, r, y, r.w >= 50 ? "Live vs prediction" : "Live");
	canvas_text(c, r, r.w - 25, y, ROLE_LABEL, "before");
	canvas_text(c, r, r.w - 16, y, ROLE_LABEL, "pred.");
	canvas_text(c, r, r.w - 4, y++, ROLE_LABEL, "now");
	apply_phases_draw_figure(c, r, y++, "max util %", b->known ? b->util_max : NAN,
				 a->pred_util, now.util_max, 0);
	apply_phases_draw_figure(c, r, y++, "max wait %", b->known ? b->wait_max : NAN, NAN,
				 now.wait_max, 1);
	apply_phases_draw_figure(c, r, y++, "unused links", b->known ? b->dark : NAN, a->pred_dark,
				 now.dark, 0);
	apply_phases_draw_figure(c, r, y++, "errors/min", b->known ? b->errors_per_min : NAN, NAN,
				 now.errors_per_min, 0);
	apply_phases_draw_figure(c, r, y++, "jobs failed", a->watched ? 0 : NAN, NAN,
				 a->watched ? a->job_failed : NAN, 0);
	return y;
}
