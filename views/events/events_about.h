/* SPDX-License-Identifier: GPL-2.0-or-later */
/* events_about: beside the selected event, on large screens: what it names as it is now, the
 * events before that name the same, and how many there are of each area. */
#pragma once

#include "views/data/state/event_ref.h"
#include "views/view.h"

#define EVENTS_ABOUT_LINES 14

/* Lines that it takes of a view of that size; 0: it has no room. */
int events_about_lines(struct rect r);
/* row: of the selected event, 0 the newest.  O(events). */
void events_about_draw(const struct context *ctx, const struct state *s, struct canvas *c,
		       struct rect r, const struct event_ref *ref, uint32_t row);
