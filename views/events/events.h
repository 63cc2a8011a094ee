/* SPDX-License-Identifier: GPL-2.0-or-later */
/* events: the log, newest first. */
#ifndef VIEWS_EVENTS_EVENTS_H
#define VIEWS_EVENTS_EVENTS_H

#include "views/canvas/canvas.h"

struct log_line;

/* One line of the log in a row. */
void event_draw(struct canvas *c, struct rect r, int y, const struct log_line *l);

#endif
