/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/apply/apply_watch.h"

#include "fabric/update/watchdog/watch_conditions.h"
#include "views/canvas/text.h"

#include <math.h>
#include <stdio.h>

/* When, and on what, the watchdog rolls back without being told. */
int apply_conditions_draw(const struct state *s, struct canvas *c, struct rect r, int y)
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
		canvas_text(c, r, x, y, ROLE_DIM, "  (O: override)");
	else if (!waits)
		canvas_text(c, r, x, y, ROLE_LABEL, "on nothing: all is overridden");
	return y + 1;
}

int apply_dog_draw(const struct state *s, struct canvas *c, struct rect r, int y)
{
	const struct state_apply *a = &s->apply;
	char pid[32] = "";

	if (!a->watched || !a->txn[0] || y >= r.h ||
	    (a->state != APPLY_RUNNING && a->state != APPLY_CONFIRM &&
	     a->state != APPLY_ROLLING_BACK))
		return y;
	if (a->process)
		snprintf(pid, sizeof(pid), " pid %ld", a->process);
	if (a->demo_dir) {
		canvas_textf(c, r, 1, y, ROLE_DIM,
			     "look on: ibroute-top attach last --state-dir %s%s%s", a->demo_dir,
			     a->process ? "; watchdog" : "", pid);
		return y + 1;
	}
	canvas_textf(c, r, 1, y, ROLE_DIM, "watchdog%s%s; look on again: ibroute-top attach %s",
		     pid, r.w < 100 ? "" : " needs no terminal", a->txn);
	return y + 1;
}

static void apply_draw_seen(const struct state_apply *a, struct canvas *c, struct rect r, int y,
			    enum watch_what w)
{
	const struct apply_seen *v = &a->seen;
	char text[320], more[240];

	snprintf(more, sizeof(more), "sample %u%s: %s", v->of[w].looks,
		 v->of[w].on ? "" : ", the last", v->of[w].last);
	canvas_textf(c, r, 1, y, ROLE_LABEL, "%-7s", watch_name(w));
	canvas_text(c, r, 9, y, v->of[w].on ? ROLE_TEXT : ROLE_DIM,
		    text_shorten_words(text, sizeof(text), more, r.w - 10));
}

int apply_errors_draw(const struct state_apply *a, struct canvas *c, struct rect r, int y)
{
	if (!a->seen.of[WATCH_ERRORS].looks || y >= r.h)
		return y;
	apply_draw_seen(a, c, r, y, WATCH_ERRORS);
	return y + 1;
}

int apply_seen_draw(const struct state_apply *a, struct canvas *c, struct rect r, int y)
{
	const struct apply_seen *v = &a->seen;

	for (int w = 0; w < APPLY_WATCHES && y < r.h; w++)
		if (v->of[w].looks)
			apply_draw_seen(a, c, r, y++, (enum watch_what)w);
	if (!v->scanned || y >= r.h)
		return y;
	canvas_text(c, r, 1, y, ROLE_LABEL, "blocks");
	canvas_textf(c, r, 9, y, v->other || v->silent ? ROLE_WARN : ROLE_TEXT,
		     "read again: %u as written, %u other, %u without an answer", v->as_written,
		     v->other, v->silent);
	return y + 1;
}
