/* SPDX-License-Identifier: GPL-2.0-or-later */
/* events: the log, newest first. */
#pragma once

#include "views/canvas/canvas.h"

struct log_line;

/* One line of the log in a row. */
void event_draw(struct canvas *c, struct rect r, int y, const struct log_line *l);
