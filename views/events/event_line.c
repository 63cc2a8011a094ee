/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/events/event_line.h"

#include "fabric/base/message/log.h"
#include "views/canvas/text.h"

#include <stdio.h>

static const enum role roles[] = { ROLE_DIM, ROLE_TEXT, ROLE_WARN, ROLE_BAD };

enum role event_role(const struct log_line *l)
{
	return roles[l->level & 3];
}

void event_draw(struct canvas *c, struct rect r, int y, const struct log_line *l)
{
	char time[FIGURE_LEN], buf[512];

	canvas_text(c, r, 1, y, ROLE_DIM, figure_time(time, (int64_t)(l->time_ns / 1000000000)));
	canvas_text(c, r, 10, y, event_role(l), log_level_name(l->level));
	canvas_name(c, r, 16, y, 9, ROLE_LABEL, l->area);
	canvas_text(c, r, 26, y, l->level >= LOG_WARN ? event_role(l) : ROLE_TEXT,
		    text_shorten_words(buf, sizeof(buf), l->text, r.w - 27));
}
