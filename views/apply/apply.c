/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Apply: a computed routing on its way into the switches.
 *
 * No single key starts it or keeps its result: Enter begins, the fabric's name has to be
 * typed.  Rolling back is quicker, but takes two different keys.
 */
#include "fabric/base/message/plural.h"
#include "fabric/update/watchdog/watch_conditions.h"
#include "views/apply/apply_phases.h"
#include "views/apply/apply_updates.h"
#include "views/apply/apply_wrote.h"
#include "views/canvas/list.h"
#include "views/canvas/text.h"
#include "views/data/hint_click.h"
#include "views/data/state/key_hint.h"
#include "views/events/event_line.h"
#include "views/preview/preview_cost.h"
#include "views/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum asking { ASK_NAME, ASK_NOTE, ASK_OVERRIDE };

struct apply_ui {
	struct entry name;
	enum asking asking;	    /* what is typed */
	enum apply_state entry_for; /* the state in which it was begun */
	bool asked;		    /* R was pressed: Y rolls back */
	bool log_only;		    /* Tab: the log has the place of all else */
	uint64_t log_back;	    /* so many newer lines are not shown */
};

#define UPDATES_FROM_LINES 18 /* of the page without its foot: more than 80x24 has */

/* --- states ---------------------------------------------------------------------------------- */

enum { UNDER_WAY = 1, BEGUN = 2, MAY_ROLL_BACK = 4, WANTS_NAME = 8 };

/* begun: progress is shown instead of the plan.  question: below all; NULL: made by
 * apply_draw_words(). */
static const struct {
	const char *words;
	enum role role;
	unsigned is;
	const char *question;
} apply_states[] = {
	[APPLY_NONE] = { "no plan", ROLE_TEXT, 0, NULL },
	[APPLY_ORDERING] = { "searching for a safe write order (no loss, no deadlock)", ROLE_TEXT,
			     0, "Searching for the write order.  {close}: stop." },
	[APPLY_READY] = { "ready to start", ROLE_TEXT, WANTS_NAME,
			  "Write this to the switches?  Enter, then type the fabric's name.  "
			  "{close}: close." },
	[APPLY_RUNNING] = { "running", ROLE_TEXT, BEGUN | UNDER_WAY | MAY_ROLL_BACK, NULL },
	[APPLY_CONFIRM] = { "WRITTEN, NOT YET CONFIRMED", ROLE_LOUD,
			    BEGUN | UNDER_WAY | MAY_ROLL_BACK | WANTS_NAME, NULL },
	[APPLY_ROLLING_BACK] = { "ROLLING BACK", ROLE_LOUD, BEGUN | UNDER_WAY,
				 "The previous routing is being written and read back." },
	[APPLY_KEPT] = { "confirmed: the new routing is active", ROLE_GOOD, BEGUN | MAY_ROLL_BACK,
			 "Done.  {close}: close.  {rollback}, then Y: prepare a rollback to the previous "
			 "routing, as a new plan." },
	[APPLY_ROLLED_BACK] = { "rolled back", ROLE_GOOD, BEGUN, "{close}: close." },
	[APPLY_FAILED] = { "FAILED, rolled back", ROLE_BAD, BEGUN,
			   "The previous routing is restored.  8: see what failed.  {close}: close." },
	[APPLY_INCOMPLETE] = { "ROLLBACK INCOMPLETE", ROLE_LOUD, BEGUN | MAY_ROLL_BACK,
			       "Some switches may hold entries of both routings.  {rollback}, then Y: "
			       "try again." },
	[APPLY_SUPERSEDED] = { "SUPERSEDED: ANOTHER WRITER CHANGED THE ROUTING", ROLE_LOUD, BEGUN,
			       "The switches hold neither the previous nor the new routing.  Find "
			       "out which SM or tool writes the tables (ibroute-top sm).  {close}: "
			       "close." },
	[APPLY_FABRIC_CHANGED] = { "THE FABRIC CHANGED: OPENSM ROUTES", ROLE_LOUD, BEGUN,
				   "A cable or node changed during the update, so its plan no longer "
				   "applies.  Later updates are not blocked.  {close}: close." },
	[APPLY_REFUSED] = { "refused: nothing was written", ROLE_BAD, 0,
			    "Nothing was written.  View 6: compute a preview again, then {prepare}.  "
			    "{close}: close." },
	[APPLY_JOURNAL] = { "UNFINISHED UPDATE FOUND (its process was killed)", ROLE_LOUD,
			    MAY_ROLL_BACK,
			    "An earlier update was interrupted.  {rollback}, then Y: roll back to the "
			    "routing before it." },
	[APPLY_INSTALLED] = { "nothing to do", ROLE_GOOD, 0,
			      "The switches hold the tables of this plan already.  {close}: close." },
};

static bool apply_is(const struct state *s, unsigned what)
{
	return apply_states[s->apply.state].is & what;
}

static bool apply_wants_name(const struct state *s)
{
	return s->rw && apply_is(s, WANTS_NAME);
}

/* --- the log: what was done, line by line, and each block that was read back ----------------- */

static uint32_t apply_entries(const struct state_apply *a)
{
	return a->log_total < APPLY_LOG ? (uint32_t)a->log_total : APPLY_LOG;
}

/* i = 0 is the newest. */
static uint32_t apply_at(const struct state_apply *a, uint32_t i)
{
	return (uint32_t)((a->log_total - 1 - i) % APPLY_LOG);
}

static uint32_t apply_blocks(const struct state_apply *a, uint32_t i)
{
	return a->wrote ? a->blocks[apply_at(a, i)].n : 0;
}

static uint64_t apply_log_lines(const struct state_apply *a)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < apply_entries(a); i++)
		n += 1 + (uint64_t)apply_blocks(a, i);
	return n;
}

/* Line k of entry i, counted from its last: itself, then its blocks. */
static void apply_draw_line(const struct state_apply *a, struct canvas *c, struct rect r, int y,
			    uint32_t i, uint32_t k)
{
	const struct apply_blocks *b = &a->blocks[apply_at(a, i)];
	struct log_line line = a->log[apply_at(a, i)];

	if (k) {
		line.level = LOG_INFO;
		snprintf(line.area, sizeof(line.area), b->back ? "back" : "write");
		apply_wrote_line(line.text, sizeof(line.text), a->wrote, b->first + b->n - k,
				 b->back);
	}
	event_draw(c, r, y, &line);
}

static void apply_log_draw(const struct state_apply *a, struct canvas *c, struct rect r,
			   uint64_t *back)
{
	uint64_t all = apply_log_lines(a), fit = r.h > 1 ? (uint64_t)r.h - 1 : 0, skip;
	char title[96] = "Log";
	int y;

	if (r.h < 2)
		return;
	if (*back > all - (fit < all ? fit : all))
		*back = all - (fit < all ? fit : all);
	if (*back)
		snprintf(title, sizeof(title), "Log: lines %llu to %llu of %llu",
			 (unsigned long long)(all - *back - fit + 1),
			 (unsigned long long)(all - *back), (unsigned long long)all);
	else if (all > fit)
		snprintf(title, sizeof(title), "Log: the newest of %llu lines",
			 (unsigned long long)all);
	canvas_rule(c, r, 0, title);
	skip = *back;
	y = (int)(all - *back < fit ? all - *back : fit);
	for (uint32_t i = 0; i < apply_entries(a) && y > 0; i++) {
		uint64_t n = 1 + (uint64_t)apply_blocks(a, i), k = skip < n ? skip : n;

		skip -= k;
		for (; k < n && y > 0; k++)
			apply_draw_line(a, c, r, y--, i, (uint32_t)k);
	}
}

/* --- on what it is rolled back by itself, and what was seen of that -------------------------- */

#define APPLY_SEEN_LINES (APPLY_WATCHES + 1)

/* When, and on what, the watchdog rolls back without being told. */
static int apply_conditions_draw(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct state_apply *a = &s->apply;
	bool waits = a->state == APPLY_CONFIRM && isfinite(a->confirm_left_s);
	unsigned on = a->watching & ~a->overridden;
	const char *glue = waits ? ", and on: " : "on: ";
	char time[FIGURE_LEN];
	int x;

	if (!a->watched || (a->state != APPLY_RUNNING && !waits) || y >= r.h)
		return y;
	x = canvas_text(c, r, 1, y, ROLE_LABEL, "rolls back ");
	if (waits)
		x = canvas_textf(c, r, x, y, ROLE_WARN, "at %s",
				 figure_time(time, s->now_s + llrint(a->confirm_left_s)));
	for (int w = 0; w < WATCHES; w++) {
		if (!(on >> w & 1))
			continue;
		x = canvas_textf(c, r, x, y, ROLE_LABEL, "%s%s", glue,
				 watch_name((enum watch_what)w));
		glue = ", ";
	}
	if (on)
		canvas_textf(c, r, x, y, ROLE_DIM, "  (%s: override)", key_hint("override"));
	else if (!waits)
		canvas_text(c, r, x, y, ROLE_LABEL, "only by hand: all conditions overridden");
	hint_click_mark(c, r, y, 1);
	return y + 1;
}

static int apply_watchdog_draw(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct state_apply *a = &s->apply;
	char pid[32] = "";

	if (!a->watched || !a->txn[0] || y >= r.h || !apply_is(s, UNDER_WAY))
		return y;
	if (a->process)
		snprintf(pid, sizeof(pid), " pid %ld", a->process);
	if (a->demo_dir) {
		canvas_textf(c, r, 1, y, ROLE_DIM,
			     "attach: ibroute-top attach last --state-dir %s%s%s", a->demo_dir,
			     a->process ? "; watchdog" : "", pid);
		return y + 1;
	}
	canvas_textf(c, r, 1, y, ROLE_DIM, "watchdog%s%s; reattach: ibroute-top attach %s", pid,
		     r.w < 100 ? "" : " runs without a terminal", a->txn);
	return y + 1;
}

static void apply_draw_seen(const struct state_apply *a, struct canvas *c, struct rect r, int y,
			    enum watch_what w)
{
	const struct apply_seen *v = &a->seen;
	char text[320], more[240];

	snprintf(more, sizeof(more), "sample %u%s: %s", v->of[w].samples,
		 v->of[w].on ? "" : ", last", v->of[w].last);
	canvas_textf(c, r, 1, y, ROLE_LABEL, "%-7s", watch_name(w));
	canvas_text(c, r, 9, y, v->of[w].on ? ROLE_TEXT : ROLE_DIM,
		    text_shorten_words(text, sizeof(text), more, r.w - 10));
}

static int apply_errors_draw(const struct state_apply *a, struct canvas *c, struct rect r, int y)
{
	if (!a->seen.of[WATCH_ERRORS].samples || y >= r.h)
		return y;
	apply_draw_seen(a, c, r, y, WATCH_ERRORS);
	return y + 1;
}

static int apply_seen_draw(const struct state_apply *a, struct canvas *c, struct rect r, int y)
{
	const struct apply_seen *v = &a->seen;

	for (int w = 0; w < APPLY_WATCHES && y < r.h; w++)
		if (v->of[w].samples)
			apply_draw_seen(a, c, r, y++, (enum watch_what)w);
	if (!v->scanned || y >= r.h)
		return y;
	canvas_text(c, r, 1, y, ROLE_LABEL, "blocks");
	canvas_textf(c, r, 9, y, v->other || v->silent ? ROLE_WARN : ROLE_TEXT,
		     "re-read: %u match, %u differ, %u no response", v->as_written, v->other,
		     v->silent);
	return y + 1;
}

/* --- the plan -------------------------------------------------------------------------------- */

/* As --installer names them; "best": not given, the plugin is asked when it begins. */
static const char *apply_installer_words(const char *name)
{
	return !strcmp(name, "smp")	 ? "SMPs to each switch"
	       : !strcmp(name, "SMPs")	 ? "own SMPs to each switch"
	       : !strcmp(name, "OpenSM") ? "OpenSM (ibroute-top plugin)"
	       : !strcmp(name, "files")	 ? "files: the switches are not written"
	       : !strcmp(name, "opensm") ? "OpenSM"
	       : !strcmp(name, "best")	 ? "OpenSM plugin if present, else SMPs"
					 : name;
}

static int apply_draw_search(const struct state *s, struct canvas *c, struct rect r, int y)
{
	char text[80];

	canvas_textf(c, r, 1, y++, ROLE_TEXT, "order  %s",
		     preview_search_text(text, sizeof(text), s));
	canvas_text(c, r, 8, y++, ROLE_TEXT, s->ordering.words);
	canvas_text(c, r, hint_click_draw(c, r, 8, y, "close") + 1, y, ROLE_DIM,
		    "discards the plan; nothing was written");
	return y + 1;
}

/* The one that another console has begun, or this operator before leaving. */
static int apply_draw_rival(const struct state *s, struct canvas *c, struct rect r, int y)
{
	char text[sizeof(s->sm.rival) + 100];

	snprintf(
		text, sizeof(text),
		"%s.  On its node it can also be ended by: ibroute-top confirm, ibroute-top rollback.",
		s->sm.rival);
	return y + canvas_wrap(c, (struct rect){ r.x, r.y, r.w - 1, r.h }, 1, y, ROLE_WARN, text);
}

static int apply_draw_plan(const struct state *s, struct canvas *c, struct rect r)
{
	const struct state_apply *a = &s->apply;
	char e[FIGURE_LEN], b[FIGURE_LEN], title[200];
	int x, y;

	snprintf(title, sizeof(title), "Update%s%s%s%s%s%s", a->plan[0] ? ": " : "", a->plan,
		 a->txn[0] ? ", id " : "", a->txn, a->user[0] ? ", by " : "", a->user);
	canvas_rule(c, r, 0, title);
	x = canvas_text(c, r, 1, 1, ROLE_LABEL, "state  ");
	x = canvas_text(c, r, x, 1, apply_states[a->state].role, apply_states[a->state].words);
	if (a->installer[0] && !isfinite(a->took_s))
		canvas_textf(c, r, x, 1, ROLE_DIM, "  (through %s)",
			     apply_installer_words(a->installer));
	if (isfinite(a->took_s) && apply_is(s, BEGUN) && !apply_is(s, UNDER_WAY))
		canvas_rightf(c, r, r.w - 1, 1, ROLE_DIM, "after %s", figure_age(e, a->took_s));
	if (a->state == APPLY_NONE && s->sm.rival[0])
		return apply_draw_rival(s, c, r, 2);
	if (!a->diff && a->state == APPLY_ORDERING)
		return apply_draw_search(s, c, r, 2);
	if (!a->diff || apply_is(s, BEGUN))
		return 2;
	canvas_textf(c, r, 1, 2, ROLE_TEXT,
		     "plan   %s LFT entr%s in %s block%s on %u of %u switches, %u SL2VL table%s",
		     figure_count(e, a->diff->entries), a->diff->entries == 1 ? "y" : "ies",
		     figure_count(b, a->diff->nblocks), plural(a->diff->nblocks), a->diff->switches,
		     s->fabric ? s->fabric->nsw : 0, a->diff->nsl2vl, plural(a->diff->nsl2vl));
	if (a->state == APPLY_ORDERING)
		return apply_draw_search(s, c, r, 3);
	if (!a->waves[0])
		return 3;
	canvas_textf(c, r, 1, 3, ROLE_TEXT, "order  %s", a->waves);
	canvas_text(c, r, 1, 4, ROLE_TEXT, "drain");
	y = canvas_wrap(c, (struct rect){ r.x + 7, r.y, r.w - 8, r.h }, 1, 4, ROLE_TEXT, a->drain);
	return 4 + (y ? y : 1);
}

static const char *apply_no_plan(const struct state *s)
{
	return s->rw && state_plan_ahead(s)
		       ? "No plan to apply yet, but view 6 has one: press {prepare} there."
	       : s->rw ? "No plan yet. In view 6: choose an engine, {tag} computes a "
			 "preview, {prepare} brings the plan here."
		       : "This console is read-only: previews (6) can be computed, but "
			 "not applied. Restart ibroute-top with --rw to apply one.";
}

/* Estimate of a rollback, at the rate of the writes so far. */
static const char *apply_back_text(char buf[48], const struct state_apply *a)
{
	char time[FIGURE_LEN];

	buf[0] = '\0';
	if (a->back_s > 0 && a->back_s < 0.1)
		snprintf(buf, 48, " (under 0.1s)");
	else if (a->back_s > 0)
		snprintf(buf, 48, " (about %s)", figure_age(time, a->back_s));
	return buf;
}

/* Somebody has to accept that LIDs of no job are not drained, or which hosts are. */
static bool apply_wants_consent(const struct state *s)
{
	return s->apply.state == APPLY_READY &&
	       (s->apply.strangers || s->apply.names || s->apply.slower[0]);
}

/* What is asked first of several. */
struct consent {
	const char *question, *type, *say;
};

static const struct consent *apply_consent(const struct state_apply *a)
{
	static const struct consent strangers = {
		"LIDs of no job have to drain, and nobody can be asked there: pause what sends to "
		"them.  {override}: accept this.  {close}: discard the plan.",
		"Type 'strangers' to accept that LIDs of no job are not drained:",
		"LIDs of no job have to drain: accept that first ({override})"
	};
	static const struct consent names = {
		"Several hosts may have the name of a node that has to drain, or none has.  "
		"{override}: every port of the name drains.  {close}: discard the plan.",
		"Type 'names' to drain every port of the names:",
		"say first which hosts have to drain ({override})"
	};
	static const struct consent slower = {
		"{override}: accept that jobs get slower.  {close}: discard the plan.",
		"Type 'slower' to accept that jobs get slower:",
		"jobs get slower: accept that first ({override})"
	};

	return a->strangers ? &strangers : a->names ? &names : &slower;
}

static void apply_draw_words(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct state_apply *a = &s->apply;
	char text[440], full[KEY_HINT_TEXT], back[48];

	apply_back_text(back, a);
	if (a->state == APPLY_RUNNING)
		snprintf(text, sizeof(text),
			 "Writing.  {rollback}, then Y: stop and roll back%s.%s", back,
			 a->watched && !a->demo_dir ? "  {detach}: detach, the watchdog continues."
						    : "");
	else if (a->state == APPLY_CONFIRM)
		snprintf(text, sizeof(text),
			 "Confirm the new routing?  Look at the other views first.  Enter, then "
			 "type the fabric's name: confirm.  {rollback}, then Y: roll back%s.  "
			 "{extend}: 5 min more.  {note}: note.  %s",
			 back,
			 !a->watched   ? ""
			 : a->demo_dir ? "{override}: override conditions.  "
				       : "{override}: override conditions.  {detach}: detach.  ");
	else if (apply_wants_consent(s) && !a->strangers && !a->names)
		snprintf(text, sizeof(text), "Slower: %s.  %s", a->slower,
			 apply_consent(a)->question);
	else if (apply_wants_consent(s))
		snprintf(text, sizeof(text), "%s", apply_consent(a)->question);
	else
		snprintf(text, sizeof(text), "%s",
			 a->state == APPLY_NONE ? apply_no_plan(s)
						: apply_states[a->state].question);
	hint_click_mark(
		c, r, y,
		canvas_wrap(c, r, 1, y, ROLE_TEXT, key_hint_text(full, sizeof(full), text)));
}

static void apply_draw_question(const struct apply_ui *u, const struct state *s, struct canvas *c,
				struct rect r)
{
	const struct state_apply *a = &s->apply;
	const char *text = a->state == APPLY_JOURNAL ? a->journal : a->result;
	struct rect in = { r.x, r.y, r.w - 1, r.h };
	char back[48];
	int y = 1;

	canvas_rule(c, r, 0, NULL);
	if (text[0])
		y += canvas_wrap(c, in, 1, y,
				 apply_states[a->state].role == ROLE_GOOD ? ROLE_GOOD : ROLE_WARN,
				 text);
	if (u->name.active && u->asking != ASK_NAME) {
		canvas_text(c, in, 1, y++, ROLE_WARN,
			    u->asking == ASK_NOTE ? "Note for the record of this session:"
			    : apply_wants_consent(s)
				    ? apply_consent(a)->type
				    : "Watch conditions to ignore: sm, errors, reach, jobs");
		entry_draw(&u->name, c, in, 1, y, u->asking == ASK_NOTE ? "note" : "override");
		return;
	}
	if (u->name.active && u->entry_for == a->state && apply_wants_name(s)) {
		canvas_textf(
			c, in, 1, y++, ROLE_WARN,
			"Type the fabric's name (%s) to %s:", s->fabric ? s->fabric->name : "?",
			a->state == APPLY_READY ? "START the update" : "CONFIRM the new routing");
		entry_draw(&u->name, c, in, 1, y, "name");
		return;
	}
	if (u->asked && apply_is(s, MAY_ROLL_BACK)) {
		canvas_textf(c, in, 1, y, ROLE_LOUD,
			     " Roll back?  Y: yes%s; any other key: cancel ",
			     apply_back_text(back, a));
		return;
	}
	if (!s->rw && a->state != APPLY_NONE)
		canvas_text(c, in, 1, y, ROLE_DIM,
			    "This console is read-only: it only shows the "
			    "update.");
	else
		apply_draw_words(s, c, in, y);
}

/* Whose packets may come out of order, where all of it has room. */
static int apply_draw_risk(const struct state_apply *a, struct canvas *c, struct rect r, int y)
{
	const struct rect none = { r.x, r.y, r.w - 1, 0 }, in = { r.x, r.y, r.w - 1, r.h };
	char time[FIGURE_LEN];

	if (a->undrained && !a->agents.asked && a->wrote_s > 0 && y < r.h) {
		canvas_textf(c, in, 1, y, ROLE_DIM, "%u job%s may see reordering for %s%s%s",
			     a->undrained, plural(a->undrained), figure_age(time, a->wrote_s),
			     r.w < 45 ? "" : ": 6 ", r.w < 45 ? "" : key_hint("impact"));
		return y + 1;
	}
	if (!a->drain[0] || y + canvas_wrap(c, none, 1, y, ROLE_DIM, a->drain) > r.h)
		return y;
	return y + canvas_wrap(c, in, 1, y, ROLE_DIM, a->drain);
}

/* Waves beside the figures; one above the other where the screen is narrow and high. */
static int apply_draw_happening(const struct state *s, struct canvas *c, struct rect r, int y)
{
	int half = r.w / 2;
	struct rect left = { r.x, r.y, half - 1, r.h },
		    right = { r.x + half, r.y, r.w - half, r.h };
	int a, b;

	if (y + 2 > r.h)
		return y; /* no heads without a row */
	if (left.h > y + APPLY_LIVE_LINES + 2)
		left.h = y + APPLY_LIVE_LINES + 2;
	if (s->apply.watched && apply_is(s, UNDER_WAY) && left.h > r.h - 1)
		left.h = r.h - 1; /* what it rolls back on matters more */
	a = apply_waves_draw(&s->apply, c, left, y);
	a = apply_draw_risk(&s->apply, c, left, a);
	b = apply_live_draw(s, c, right, y);
	return a > b ? a : b;
}

static bool apply_seen_known(const struct state_apply *a)
{
	bool any = a->seen.scanned;

	for (int w = 0; w < APPLY_WATCHES; w++)
		any |= a->seen.of[w].samples > 0;
	return any;
}

static int apply_draw_watch(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct state_apply *a = &s->apply;

	y = apply_conditions_draw(s, c, r, y);
	y = apply_watchdog_draw(s, c, r, y);
	if (a->state == APPLY_CONFIRM && apply_seen_known(a)) {
		if (r.h - y > APPLY_SEEN_LINES + 2) /* and some of the log */
			return apply_seen_draw(a, c, r, y);
		return apply_errors_draw(a, c, r, y);
	}
	if (a->found[0] && y < r.h)
		canvas_textf(c, r, 1, y++, ROLE_WARN, "watch: %s", a->found);
	return y;
}

/* Whether it has helped. */
static int apply_draw_effect(const struct state_apply *a, struct canvas *c, struct rect r, int y)
{
	char text[sizeof(a->effect) + 16];

	if (!a->effect[0] ||
	    (a->state != APPLY_READY && a->state != APPLY_CONFIRM && a->state != APPLY_KEPT))
		return y;
	snprintf(text, sizeof(text), "Effect: %s", a->effect);
	return y + canvas_wrap(c, (struct rect){ r.x, r.y, r.w - 1, r.h }, 1, y, ROLE_KEY, text);
}

static int apply_draw_automatic(const struct state *s, struct canvas *c, struct rect r, int y)
{
	char text[700];

	if (!s->automatic.on || !s->automatic.text[0] || y >= r.h)
		return y;
	snprintf(text, sizeof(text), "Auto: %s", s->automatic.text);
	return y + canvas_wrap(c, (struct rect){ r.x, r.y, r.w - 1, r.h }, 1, y,
			       s->automatic.alert ? ROLE_WARN : ROLE_LABEL, text);
}

/* Of updates that are over; those of one that goes on are among its phases. */
static int apply_draw_away(const struct state *s, struct canvas *c, struct rect r, int y)
{
	char text[320];

	if (!s->sm.away[0] || apply_is(s, UNDER_WAY) || y >= r.h)
		return y;
	snprintf(text, sizeof(text), "%s", s->sm.away);
	return y + canvas_wrap(c, (struct rect){ r.x, r.y, r.w - 1, r.h }, 1, y, ROLE_WARN, text);
}

/* The log with what the watch has seen, in the place of all else. */
static int apply_draw_log_page(const struct state *s, struct canvas *c, struct rect r, int y)
{
	if (s->apply.state != APPLY_CONFIRM || !apply_seen_known(&s->apply))
		return y;
	canvas_rule(c, r, y++, "Watch");
	y = apply_watchdog_draw(s, c, r, apply_conditions_draw(s, c, r, y));
	return apply_seen_draw(&s->apply, c, r, y);
}

/* In the place of the log, which is empty, on screens with room for some; else returns y. */
static int apply_draw_updates(const struct state *s, struct canvas *c, struct rect r, int y)
{
	if (r.h < UPDATES_FROM_LINES || s->apply.log_total)
		return y;
	return apply_updates_draw(s->updates, c, r, y) > y ? r.h : y;
}

static void apply_draw(void *own, struct context *ctx, struct canvas *c, struct rect r,
		       const struct state *s)
{
	struct apply_ui *u = own;
	/* no result takes a line before it begins and while it goes on */
	bool none =
		apply_is(s, UNDER_WAY) || (s->apply.state == APPLY_READY && !s->apply.result[0]);
	int below = r.h < 30 && none ? 4 : 5, foot = r.h - below, y;
	struct rect body = { r.x, r.y, r.w, foot };

	(void)ctx;
	y = apply_draw_plan(s, c, r);
	y = apply_draw_automatic(s, c, body, y);
	y = apply_draw_away(s, c, body, y);
	if (u->log_only) {
		y = apply_draw_log_page(s, c, body, y);
	} else {
		y = apply_phases_draw(s, c, body, y);
		y = apply_draw_effect(&s->apply, c, body, y);
		if (apply_is(s, BEGUN)) {
			y = apply_draw_happening(s, c, body, y);
			y = apply_draw_watch(s, c, body, y);
		}
	}
	if (s->apply.state == APPLY_NONE && !u->log_only)
		y = apply_draw_updates(s, c, body, y);
	apply_log_draw(&s->apply, c, (struct rect){ r.x, r.y + y, r.w, foot - y }, &u->log_back);
	canvas_fill(c, (struct rect){ r.x, r.y + foot, r.w, below }, ROLE_TEXT, ' ');
	apply_draw_question(u, s, c, (struct rect){ r.x, r.y + foot, r.w, below });
}

static void apply_take_name(struct context *ctx, const struct apply_ui *u, const struct state *s,
			    struct request *out)
{
	if (!apply_wants_name(s) || u->entry_for != s->apply.state) {
		context_say(ctx, "the update is no longer at this step: nothing was done");
		return;
	}
	if (!s->fabric || strcmp(u->name.text, s->fabric->name) != 0) {
		context_say(ctx, "that is not the name of this fabric: nothing was done");
		return;
	}
	out->type = s->apply.state == APPLY_READY ? REQ_APPLY_START : REQ_APPLY_KEEP;
	snprintf(out->text, sizeof(out->text), "%s", u->name.text);
}

static void apply_taken(struct context *ctx, const struct apply_ui *u, const struct state *s,
			struct request *out)
{
	if (u->asking == ASK_NAME) {
		apply_take_name(ctx, u, s, out);
		return;
	}
	out->type = u->asking == ASK_NOTE ? REQ_APPLY_NOTE : REQ_APPLY_OVERRIDE;
	snprintf(out->text, sizeof(out->text), "%s", u->name.text);
}

static bool apply_name_input(struct apply_ui *u, struct context *ctx, const struct input *in,
			     const struct state *s, struct request *out)
{
	switch (entry_input(&u->name, in)) {
	case ENTRY_DONE:
		apply_taken(ctx, u, s, out);
		u->name.text[0] = '\0';
		break;
	case ENTRY_LEFT:
		u->name.text[0] = '\0';
		break;
	default:
		break;
	}
	return true;
}

static bool apply_typing_now(const struct apply_ui *u, const struct state *s)
{
	if (u->asking != ASK_NAME)
		return u->name.active;
	return u->name.active && apply_wants_name(s) && u->entry_for == s->apply.state;
}

static void apply_ask(struct apply_ui *u, const struct state *s, enum asking what)
{
	u->asking = what;
	u->entry_for = s->apply.state;
	entry_open(&u->name, "");
}

static void apply_close_plan(struct context *ctx, const struct state *s, struct request *out)
{
	enum apply_state state = s->apply.state;

	if (state == APPLY_NONE)
		context_say(ctx, "nothing to close");
	else if (apply_is(s, UNDER_WAY))
		context_say(ctx, "not while an update is running");
	else if (state == APPLY_JOURNAL || state == APPLY_INCOMPLETE)
		context_say(ctx, "not before the rollback is complete");
	else
		out->type = REQ_APPLY_CLOSE;
}

#define LOG_PAGE 10

/* true: it was one of these. */
static bool apply_move_log(struct apply_ui *u, enum req req)
{
	uint64_t up = req == REQ_UP || req == REQ_WHEEL_UP ? 1 : req == REQ_PAGE_UP ? LOG_PAGE : 0;
	uint64_t down = req == REQ_DOWN || req == REQ_WHEEL_DOWN ? 1
			: req == REQ_PAGE_DOWN			 ? LOG_PAGE
								 : 0;

	if (req == REQ_TOP)
		u->log_back = UINT32_MAX; /* brought into range when it is drawn */
	else if (req == REQ_BOTTOM)
		u->log_back = 0;
	else if (up || down)
		u->log_back = u->log_back + up > down ? u->log_back + up - down : 0;
	else
		return false;
	return true;
}

static bool apply_input(void *own, struct context *ctx, const struct input *in,
			const struct state *s, struct request *out)
{
	struct apply_ui *u = own;
	bool asked = u->asked, back;
	char text[KEY_HINT_TEXT];

	if (apply_typing_now(u, s))
		return apply_name_input(u, ctx, in, s, out);
	u->name.active = false;
	u->asked = false;
	if (asked && in->req != REQ_YES) { /* the key that leaves the question does nothing else */
		context_say(ctx, "cancelled: nothing is rolled back");
		return true;
	}
	if (apply_move_log(u, in->req))
		return true;
	switch (in->req) {
	case REQ_PANE:
		u->log_only = !u->log_only;
		return true;
	case REQ_ENTER:
		if (!apply_wants_name(s)) {
			if (s->apply.state == APPLY_ORDERING)
				context_say(ctx,
					    "searching for the write order: %s discards the plan",
					    key_hint("close"));
			else
				context_say(ctx, "nothing to confirm now");
			return true;
		}
		if (apply_wants_consent(s))
			context_say(
				ctx, "%s",
				key_hint_text(text, sizeof(text), apply_consent(&s->apply)->say));
		else
			apply_ask(u, s, ASK_NAME);
		return true;
	case REQ_BACK:
		back = u->log_only;
		u->log_only = false;
		return back;
	case REQ_APPLY_EXTEND:
		if (s->apply.state == APPLY_CONFIRM)
			out->type = REQ_APPLY_EXTEND;
		else
			context_say(ctx, "no update is waiting to be confirmed");
		return true;
	case REQ_APPLY_NOTE:
		if (in->text) /* ":note TEXT" */
			return false;
		apply_ask(u, s, ASK_NOTE);
		return true;
	case REQ_APPLY_OVERRIDE:
		if (in->text)
			return false;
		if (apply_is(s, UNDER_WAY) || apply_wants_consent(s))
			apply_ask(u, s, ASK_OVERRIDE);
		else
			context_say(ctx, "no watch conditions now: no update is running");
		return true;
	case REQ_ROLLBACK_ASK:
		if (apply_is(s, MAY_ROLL_BACK))
			u->asked = true;
		else
			context_say(ctx, "nothing to roll back");
		return true;
	case REQ_YES:
		if (asked && apply_is(s, MAY_ROLL_BACK))
			out->type = REQ_APPLY_ROLLBACK;
		return true;
	case REQ_APPLY_CLOSE:
		apply_close_plan(ctx, s, out);
		return true;
	default:
		return false;
	}
}

static bool apply_typing(const void *own, const struct state *s)
{
	return apply_typing_now(own, s);
}

static void apply_context(const void *own, const struct state *s, char *buf, size_t len)
{
	bool armed = (s->apply.state == APPLY_RUNNING && s->apply.txn[0]) ||
		     s->apply.state == APPLY_CONFIRM;
	char cast[32] = "";

	(void)own;
	if (!apply_is(s, UNDER_WAY) || !s->rec_head[0]) {
		snprintf(buf, len, "%s",
			 s->rw ? "to start or confirm, type the fabric's name"
			       : "read-only: start with --rw to apply");
		return;
	}
	if (s->rec_cast)
		snprintf(cast, sizeof(cast), "  screen %.1f MB", (double)s->rec_cast / 1e6);
	snprintf(buf, len, "record %s seq %llu%s%s", s->rec_head, (unsigned long long)s->rec_seq,
		 cast, armed ? "  rollback ARMED" : "");
}

static const char *apply_inside(const void *own)
{
	return ((const struct apply_ui *)own)->log_only ? "phases" : NULL;
}

const struct view view_apply = {
	.size = sizeof(struct apply_ui),
	.draw = apply_draw,
	.input = apply_input,
	.typing = apply_typing,
	.context = apply_context,
	.inside = apply_inside,
};
