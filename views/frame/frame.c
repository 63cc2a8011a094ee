/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/frame/frame.h"

#include "fabric/base/message/plural.h"
#include "fabric/base/time/stamp.h"
#include "views/data/hint_click.h"
#include "views/data/lists/campaign_list.h"
#include "views/frame/activity.h"
#include "views/frame/tabs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* With the day, where that is not today. */
static const char *frame_moment(char buf[FIGURE_LEN], int64_t unix_s, int64_t now_s)
{
	char day[FIGURE_LEN], today[FIGURE_LEN];

	stamp_local(day, sizeof(day), "%d %b", unix_s);
	if (!strcmp(day, stamp_local(today, sizeof(today), "%d %b", now_s)))
		return figure_time(buf, unix_s);
	return stamp_local(buf, FIGURE_LEN, "%d %b %H:%M:%S", unix_s);
}

const char *frame_key_of(const struct frame_keys *keys, enum req req, enum view_id view)
{
	for (size_t i = 0; i < keys->n; i++)
		if (keys->binding[i].req == req && keys->binding[i].view == view)
			return keys->binding[i].shown;
	return "";
}

/* " >10x" while the past is played. */
static const char *frame_play(char *buf, size_t len, const struct state *s)
{
	buf[0] = '\0';
	if (s->history_at.play > 0)
		snprintf(buf, len, " >%gx", s->history_at.play);
	return buf;
}

static const char *frame_run_mode(const struct state *s, const struct frame_keys *keys, char *buf,
				  size_t len)
{
	const char *live = frame_key_of(keys, REQ_LIVE, 0);
	char age[FIGURE_LEN], play[FIGURE_LEN];

	if (s->history_at.on && s->history_at.kept) {
		snprintf(buf, len, "%sHIST %s%s%s%s (%s: live)",
			 s->mode == RUN_FROZEN ? "FROZEN " : "",
			 frame_moment(age, s->history_at.time_s, s->now_s),
			 s->history_at.mark[0] ? " " : "", s->history_at.mark,
			 frame_play(play, sizeof(play), s), live);
		return buf;
	}
	if (s->history_at.on) {
		snprintf(buf, len, "%sHIST %s -%u/%u%s%s%s%s%s (%s: %s)",
			 s->mode == RUN_FROZEN ? "FROZEN " : "",
			 figure_time(age, s->history_at.time_s), s->history_at.back,
			 s->history_at.count, s->history_at.mark[0] ? " " : "", s->history_at.mark,
			 s->history_at.peak[0] ? " " : "", s->history_at.peak,
			 frame_play(play, sizeof(play), s), live,
			 s->mode == RUN_FILE ? "newest" : "live");
		return buf;
	}
	switch (s->mode) {
	case RUN_FROZEN:
		snprintf(buf, len, "FROZEN (%s: resume)", frame_key_of(keys, REQ_FREEZE, 0));
		return buf;
	case RUN_LOST:
		return "LOST";
	case RUN_FILE:
		return "FILE";
	case RUN_LIVE:
		break;
	}
	snprintf(buf, len, "LIVE %s", figure_age(age, s->poll.interval_s));
	return buf;
}

/* "LIVE 2.0s", and what rates are held against. */
static const char *frame_moments(const struct state *s, const struct frame_keys *keys, char *buf,
				 size_t len)
{
	char age[FIGURE_LEN], mode[128];
	const char *shown = frame_run_mode(s, keys, mode, sizeof(mode));

	if (!s->against)
		snprintf(buf, len, "%s", shown);
	else
		snprintf(buf, len, "%s vs %s", shown, frame_moment(age, s->against_s, s->now_s));
	return buf;
}

/* Writes one item from the right, returns the column where it begins. */
static int frame_status_item(struct canvas *c, struct rect r, int end, enum role role,
			     const char *text)
{
	canvas_textf(c, r, end - text_width(text) - 2, 0, role, " %s ", text);
	return end - text_width(text) - 3;
}

/* The update in progress, shown in all views; "" none. */
static const char *frame_update_state(const struct state *s, char *buf, size_t len)
{
	static const char *const words[] = {
		[APPLY_CONFIRM] = "CONFIRM",
		[APPLY_RUNNING] = "UPDATING",
		[APPLY_ROLLING_BACK] = "ROLLING BACK",
		[APPLY_INCOMPLETE] = "INCOMPLETE",
		[APPLY_SUPERSEDED] = "SUPERSEDED",
		[APPLY_FABRIC_CHANGED] = "CHANGED",
		[APPLY_INSTALLED] = NULL, /* the last; nor the others */
	};
	const struct state_apply *a = &s->apply;
	int left = isfinite(a->confirm_left_s) ? (int)a->confirm_left_s : -1;

	if (!words[a->state])
		return s->automatic.alert ? "AUTO: view 7" : "";
	if (a->state != APPLY_CONFIRM || left < 0)
		return words[a->state];
	snprintf(buf, len, "CONFIRM %d:%02d", left / 60, left % 60);
	return buf;
}

static int frame_draw_modes(struct canvas *c, struct rect r, const struct state *s,
			    const struct frame_keys *keys, uint64_t job)
{
	char buf[200], clock[FIGURE_LEN];
	const char *update = frame_update_state(s, buf, sizeof(buf));
	char id[JOB_ID_LEN];
	int x = r.w;

	if (update[0]) {
		x = frame_status_item(c, r, x, ROLE_LOUD, update);
	} else if (s->record_lost) {
		x = frame_status_item(c, r, x, ROLE_LOUD, "NOT RECORDED");
	} else if (s->recording) {
		snprintf(buf, sizeof(buf), "REC %s", figure_clock(clock, s->rec_s));
		x = frame_status_item(c, r, x, ROLE_STATUS, buf);
	}
	x = frame_status_item(c, r, x, s->rw ? ROLE_LOUD : ROLE_STATUS, s->rw ? "RW" : "RO");
	x = frame_status_item(c, r, x, s->mode == RUN_LIVE ? ROLE_STATUS : ROLE_LOUD,
			      frame_moments(s, keys, buf, sizeof(buf)));
	if (!job)
		return x;
	snprintf(buf, sizeof(buf), "JOB %s", jobset_id_text(id, s->jobs, job));
	return frame_status_item(c, r, x, ROLE_TAB_ON, buf);
}

#define BRIEFEST 4

/* brief: from 0, all of it, to 2, the name only. */
static void frame_sm_text(char *buf, size_t len, const struct state_sm *sm, int brief)
{
	const char *name = sm->name[0] ? sm->name : "unnamed";

	if (sm->lost)
		snprintf(buf, len, "SM LOST (was %s lid %u)", name, sm->lid);
	else if (!sm->known)
		snprintf(buf, len, "SM ?");
	else if (brief == 0)
		snprintf(buf, len, "SM %s %s lid %u", name, sm->state, sm->lid);
	else
		snprintf(buf, len, brief == 1 ? "SM %s %s" : "SM %s", name, sm->state);
}

/* brief, up to BRIEFEST: first parts of the SM leave, then all of it unless it is lost, then the
 * routing. */
static void frame_left_text(char *buf, size_t len, const struct state *s, int brief)
{
	const char *engine = s->sm.engine[0] ? s->sm.engine : s->tables ? s->tables->engine : "?";
	const char *what = s->sm.engine[0] ? "engine" : "routing";
	const char *fabric = s->fabric ? s->fabric->name : "no fabric yet";
	const char *adaptive = s->sm.adaptive[0] ? " + adaptive" : "";
	char sm[160];

	if (!s->fabric && s->campaign.list) { /* of a file: there will be none */
		snprintf(buf, len, " %s of %.60s, from %.200s",
			 s->campaign.list->kind == CAMPAIGN_REPLAY ? "replay" : "failures",
			 s->campaign.list->fabric, s->campaign.list->dir);
		return;
	}
	frame_sm_text(sm, sizeof(sm), &s->sm, brief);
	if (brief >= 3 && !s->sm.lost)
		snprintf(buf, len, brief == 3 ? " %.60s | %s %s%s" : " %.60s", fabric, what, engine,
			 adaptive);
	else if (brief == BRIEFEST)
		snprintf(buf, len, " %.60s | %s", fabric, sm);
	else if (s->sm.requested[0] && strcmp(s->sm.requested, engine) != 0)
		snprintf(buf, len, " %.60s | %s | %s %s%s (requested: %s)", fabric, sm, what,
			 engine, adaptive, s->sm.requested);
	else
		snprintf(buf, len, " %.60s | %s | %s %s%s", fabric, sm, what, engine, adaptive);
}

static void frame_draw_status(struct canvas *c, struct rect r, const struct state *s,
			      const struct frame_keys *keys, uint64_t job)
{
	bool loud = s->mode == RUN_FROZEN || s->mode == RUN_LOST || s->history_at.on;
	char left[512];
	int end, brief = 0;

	canvas_fill(c, (struct rect){ 0, 0, r.w, 1 }, loud ? ROLE_LOUD : ROLE_STATUS, ' ');
	end = frame_draw_modes(c, r, s, keys, job);
	do
		frame_left_text(left, sizeof(left), s, brief);
	while (text_width(left) > end && ++brief <= BRIEFEST);
	canvas_name(c, r, 0, 0, end, loud || s->sm.lost ? ROLE_LOUD : ROLE_STATUS, left);
}

#define TABS_BRIEF 79  /* columns of "[1Over]2Heat ..." */
#define TABS_WIDE  120 /* of "[1 Overview] 2 Heatmap ..." */

/* Columns of a tab; those of narrow screens share brackets and blanks with their neighbours. */
static int frame_tab_width(const struct tab *t, int w, bool on)
{
	if (w >= TABS_WIDE)
		return text_width(t->name) + 4;
	return on || w >= TABS_BRIEF ? text_width(t->brief) + 2 : 2;
}

/* Of those shown where it is not wide. */
static bool frame_tab_is_last(size_t i, enum view_id view)
{
	do
		i++;
	while (i < VIEW_COUNT && !tab_is_shown(&tabs[i], view, false));
	return i == VIEW_COUNT;
}

/* There is room for one character: a blank, where the key has a longer name. */
static char frame_tab_key(const struct tab *t, const struct frame_keys *keys)
{
	const char *shown = t->view == VIEW_HELP ? frame_key_of(keys, REQ_HELP, 0)
						 : frame_key_of(keys, REQ_VIEW, t->view);

	if (t->key >= '0' && t->key <= '9') /* which stay, whatever is chosen */
		return t->key;
	return shown[0] && (!shown[1] || shown[1] == ' ') ? shown[0] : ' ';
}

static void frame_draw_tabs(struct canvas *c, struct rect r, enum view_id view,
			    const struct frame_keys *keys)
{
	int x = 0;

	canvas_fill(c, (struct rect){ 0, 1, r.w, 1 }, ROLE_TAB, ' ');
	for (size_t i = 0; i < VIEW_COUNT; i++) {
		const struct tab *t = &tabs[i];
		bool on = t->view == view, wide = r.w >= TABS_WIDE;
		enum role role = on ? ROLE_TAB_ON : ROLE_TAB;
		int w = frame_tab_width(t, r.w, on);

		if (!tab_is_shown(t, view, wide))
			continue;
		if (w > 2)
			canvas_textf(c, r, x + 1, 1, role, wide ? "%c %s" : "%c%s",
				     frame_tab_key(t, keys), wide ? t->name : t->brief);
		else
			canvas_char(c, r, x + 1, 1, role, (uint32_t)frame_tab_key(t, keys));
		if (on) {
			canvas_char(c, r, x, 1, role, '[');
			/* in a cell of the next tab, where there is one */
			canvas_char(c, r, x + w - wide, 1,
				    wide || frame_tab_is_last(i, view) ? role : ROLE_TAB, ']');
		}
		x += w;
	}
}

enum view_id frame_tab_at(int w, enum view_id view, int x)
{
	int end = 0;

	for (size_t i = 0; i < VIEW_COUNT; i++) {
		if (!tab_is_shown(&tabs[i], view, w >= TABS_WIDE))
			continue;
		end += frame_tab_width(&tabs[i], w, tabs[i].view == view);
		if (x >= 0 && x < end)
			return tabs[i].view;
	}
	return VIEW_COUNT;
}

/* Help and quit are at the right end. */
static bool frame_at_right_end(const struct binding *b)
{
	return b->req == REQ_HELP || b->req == REQ_QUIT;
}

/* Does the key work in this state of an update? */
static bool frame_apply_accepts(enum req req, enum apply_state st)
{
	unsigned open = 1u << APPLY_CONFIRM;

	if (req == REQ_ENTER)
		open |= 1u << APPLY_READY;
	else if (req == REQ_ROLLBACK_ASK)
		open |= 1u << APPLY_RUNNING | 1u << APPLY_KEPT | 1u << APPLY_JOURNAL |
			1u << APPLY_INCOMPLETE;
	else if (req == REQ_APPLY_CLOSE)
		open = 1u << APPLY_ORDERING | 1u << APPLY_READY | 1u << APPLY_KEPT |
		       1u << APPLY_ROLLED_BACK | 1u << APPLY_SUPERSEDED |
		       1u << APPLY_FABRIC_CHANGED | 1u << APPLY_FAILED | 1u << APPLY_REFUSED |
		       1u << APPLY_INSTALLED;
	else if (req != REQ_APPLY_EXTEND)
		return true;
	return open >> st & 1;
}

static bool frame_binding_works(const struct binding *b, const struct state *s, enum view_id view)
{
	return !frame_at_right_end(b) && b->keys[0] && (!b->views || (b->views & VIEW_BIT(view))) &&
	       (s->rw || !b->rw) &&
	       (view != VIEW_APPLY || frame_apply_accepts(b->req, s->apply.state));
}

static int frame_draw_key(struct canvas *c, struct rect r, int x, int y, const char *key,
			  const char *label)
{
	if (x + text_width(key) + text_width(label) + 1 > r.w)
		return x;
	x = canvas_text(c, r, x, y, ROLE_KEY, key);
	return canvas_textf(c, r, x, y, ROLE_DIM, " %s  ", label);
}

/* The layout of key hints: draws them on a canvas, or finds the one at a column. */
struct hints {
	struct canvas *c;
	struct rect r;
	int y;
	int want; /* column, -1 none */
	const struct binding *hit;
};

static int frame_put_hint(struct hints *k, int x, const struct binding *b, const char *label)
{
	int w = text_width(b->shown) + text_width(label) + 1;

	if (x + w > k->r.w)
		return x;
	if (k->want >= x && k->want < x + w)
		k->hit = b;
	if (k->c)
		frame_draw_key(k->c, k->r, x, k->y, b->shown, label);
	return x + w + 2;
}

static void frame_put_hints(struct hints *k, const struct state *s, enum view_id view,
			    const struct frame_keys *keys)
{
	int x = 1;

	for (size_t i = keys->n; i-- > 0;) {
		const struct binding *b = &keys->binding[i];
		int w;

		if (!frame_at_right_end(b) || !b->label || !b->keys[0])
			continue;
		w = text_width(b->shown) + text_width(b->label) + 3;
		frame_put_hint(k, k->r.w - w, b, b->label);
		k->r.w -= w;
	}
	k->r.w -= 1;
	for (size_t i = 0; i < keys->n; i++) {
		const struct binding *b = &keys->binding[i];
		const char *label;

		if (!frame_binding_works(b, s, view) || (b->req == REQ_VIEW && b->view == view))
			continue;
		label = keys->label ? keys->label(keys->own, b) : b->label;
		if (label)
			x = frame_put_hint(k, x, b, label);
	}
}

/* While a view takes text. */
static const struct {
	const char *shown, *label;
	uint32_t key;
} typing_keys[] = { { "Enter", "done", '\r' }, { "Esc", "cancel", 27 }, { "Ctrl-U", "clear", 21 } };

#define TYPING_KEYS (sizeof(typing_keys) / sizeof(typing_keys[0]))

uint32_t frame_typing_key_at(int x)
{
	int end = 1;

	for (size_t i = 0; x >= 1 && i < TYPING_KEYS; i++) {
		end += text_width(typing_keys[i].shown) + text_width(typing_keys[i].label) + 3;
		if (x < end)
			return x < end - 2 ? typing_keys[i].key : 0;
	}
	return 0;
}

static void frame_draw_keys(struct canvas *c, struct rect r, int y, const struct state *s,
			    enum view_id view, const struct frame_text *t,
			    const struct frame_keys *keys)
{
	struct hints k = { .c = c, .r = r, .y = y, .want = -1 };
	char note[512];
	int x = 1;

	if (t->note && t->note[0]) {
		canvas_text(c, r, 1, y, ROLE_WARN,
			    text_shorten_words(note, sizeof(note), t->note, r.w - 2));
		return;
	}
	if (t->typing) {
		for (size_t i = 0; i < TYPING_KEYS; i++)
			x = frame_draw_key(c, r, x, y, typing_keys[i].shown, typing_keys[i].label);
		return;
	}
	frame_put_hints(&k, s, view, keys);
}

const struct binding *frame_hint_at(int w, const struct state *s, enum view_id view,
				    const struct frame_keys *keys, int x)
{
	struct hints k = { .r = { 0, 0, w, 1 }, .want = x };

	frame_put_hints(&k, s, view, keys);
	return k.hit;
}

/* What is wrong with the data, worst first; "" when nothing is. */
static void frame_trouble_text(char *buf, size_t len, const struct state *s)
{
	const struct state_poll *p = &s->poll;
	char age[FIGURE_LEN];

	buf[0] = '\0';
	if (s->mode == RUN_LOST)
		snprintf(buf, len, s->collector.gone ? "%s" : "port lost: %s", s->lost_why);
	else if (p->stale)
		snprintf(buf, len, "COUNTERS STALE: %s old", figure_age(age, p->age_s));
	else if (s->sm.lost)
		snprintf(buf, len, "the subnet manager does not respond");
	else if (s->incomplete)
		snprintf(buf, len, "the file is INCOMPLETE: view 8 names what is missing");
	else if (p->missing_sw || p->missing_ca)
		snprintf(buf, len, "missing since the last sweep: %u switch%s, %u host%s",
			 p->missing_sw, plural_es(p->missing_sw), p->missing_ca,
			 plural(p->missing_ca));
	else if (p->partial)
		snprintf(buf, len, "PARTIAL: %u of %u ports responded", p->answered, p->asked);
	else if (p->answered < p->asked)
		snprintf(buf, len, "%u of %u port%s not responding", p->asked - p->answered,
			 p->asked, plural(p->asked));
	else if (s->jobs_source.state == JOBS_UNREACHABLE)
		snprintf(buf, len, "%s unreachable: jobs are %s old", s->jobs_source.source,
			 figure_age(age, s->jobs_source.age_s));
	else if (s->collector.keeping == KEEPING_FAILS)
		snprintf(buf, len, "no history is kept: %s", s->collector.why);
	else if (s->automatic.alert)
		snprintf(buf, len, "AUTO: %.200s", s->automatic.text);
}

static void frame_age_text(char *buf, size_t len, const struct state *s)
{
	char age[FIGURE_LEN], next[FIGURE_LEN];

	if (s->history_at.on || (s->mode == RUN_FILE && s->sample))
		snprintf(buf, len, "of %s", figure_time(age, s->history_at.time_s));
	else if (s->mode == RUN_FILE)
		snprintf(buf, len, "from a file: no counters");
	else if (s->mode == RUN_LIVE && isfinite(s->poll.next_s))
		snprintf(buf, len, "age %s  next %s", figure_age(age, s->poll.age_s),
			 figure_age(next, s->poll.next_s));
	else
		snprintf(buf, len, "age %s", figure_age(age, s->poll.age_s));
}

/* This session's samples, before column end: where one is, its peak, its bookmarks.  Returns where
 * it begins; end: there is no room, or none of them is shown. */
static int frame_draw_past(struct canvas *c, struct rect r, int end, int y, const struct state *s)
{
	const struct state_past *p = &s->history_at.past;
	int x = end - p->n - 2;

	if (!s->history_at.on || !p->n || r.w < 100)
		return end;
	canvas_spark(c, r, x, y, p->pct, p->n);
	for (int i = 0; i < p->n; i++)
		if (p->marks >> i & 1)
			canvas_style(c, (struct rect){ r.x + x + i, r.y + y, 1, 1 }, ROLE_KEY,
				     false);
	if (p->peak < p->n)
		canvas_style(c, (struct rect){ r.x + x + p->peak, r.y + y, 1, 1 }, ROLE_BAD, false);
	canvas_style(c, (struct rect){ r.x + x + p->at, r.y + y, 1, 1 }, ROLE_CURSOR, true);
	return canvas_text(c, r, x - 5, y, ROLE_DIM, "past ") - 6;
}

/* Where Esc leads, unless what the view says would be cut then. */
static int frame_draw_way_back(struct canvas *c, struct rect r, int x, int y, int end,
			       const struct frame_text *t)
{
	int at;

	if (!t->back || x + text_width(t->back) + 7 + text_width(t->context) > end - 2)
		return x;
	at = x;
	x = canvas_textf(c, r, x, y, ROLE_TEXT, "Esc: %s  ", t->back);
	hint_click_mark(c, (struct rect){ r.x + at, r.y, x - at, r.h }, y, 1);
	return x;
}

static void frame_draw_data(struct canvas *c, struct rect r, int y, const struct state *s,
			    const struct frame_text *t)
{
	char trouble[256], age[64], buf[256];
	struct activity activity;
	int end, x = 1;

	frame_age_text(age, sizeof(age), s);
	end = r.w - 1 - text_width(age);
	canvas_text(c, r, end, y, ROLE_DIM, age);
	end = frame_draw_past(c, r, end, y, s);
	frame_trouble_text(trouble, sizeof(trouble), s);
	if (trouble[0])
		x = canvas_textf(c, r, x, y, ROLE_WARN, "%s  ",
				 text_shorten_words(buf, sizeof(buf), trouble, end - x - 2));
	activity_fit(&activity, s, end - x - 2, !trouble[0]);
	if (activity.tables[0])
		x = canvas_textf(c, r, x, y, ROLE_WARN, "%s  ", activity.tables);
	if (activity.work[0]) {
		canvas_text(c, r, x, y, ROLE_TEXT, activity.work);
		return;
	}
	x = frame_draw_way_back(c, r, x, y, end, t);
	if (x >= end - 8)
		return;
	canvas_text(c, r, x, y, ROLE_DIM,
		    text_shorten_list(buf, sizeof(buf), t->context, end - x - 2));
	if (t->hints)
		hint_click_mark(c, (struct rect){ r.x + x, r.y, end - x - 2, r.h }, y, 1);
}

void frame_draw(struct canvas *c, const struct state *s, enum view_id view,
		const struct frame_text *t, const struct frame_keys *keys)
{
	struct rect r = canvas_rect(c);

	frame_draw_status(c, r, s, keys, t->job);
	frame_draw_tabs(c, r, view, keys);
	frame_draw_keys(c, r, c->h - 2, s, view, t, keys);
	frame_draw_data(c, r, c->h - 1, s, t);
}
