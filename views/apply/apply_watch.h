/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apply_watch: on what an update is rolled back by itself, and what was seen of that so far. */
#ifndef VIEWS_APPLY_APPLY_WATCH_H
#define VIEWS_APPLY_APPLY_WATCH_H

#include "views/canvas/canvas.h"
#include "views/data/state.h"

/* Each returns the line after its last, and draws no further than the end of r. */
int apply_conditions_draw(const struct state *s, struct canvas *c, struct rect r, int y);
/* The process that keeps the deadline, and how to look on without this terminal. */
int apply_dog_draw(const struct state *s, struct canvas *c, struct rect r, int y);
/* What it has seen, a line each. */
#define APPLY_SEEN_LINES (APPLY_WATCHES + 1)
int apply_seen_draw(const struct state_apply *a, struct canvas *c, struct rect r, int y);
/* Of that the counters alone, where rows are few. */
int apply_errors_draw(const struct state_apply *a, struct canvas *c, struct rect r, int y);

#endif
