/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event_line: an event in one line. */
#pragma once

#include "views/canvas/canvas.h"

struct log_line;

enum role event_role(const struct log_line *l);
/* What it says in width columns: first a remark in brackets at its end gives way, such as limits,
 * then for how long, then the middle of names, and last what was measured.  Returns buf. */
const char *event_text(char *buf, size_t len, const char *text, int width);
/* One line of the log in a row. */
void event_draw(struct canvas *c, struct rect r, int y, const struct log_line *l);
