/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event_line: an event in one line. */
#pragma once

#include "views/canvas/canvas.h"

struct log_line;

enum role event_role(const struct log_line *l);
/* One line of the log in a row. */
void event_draw(struct canvas *c, struct rect r, int y, const struct log_line *l);
