/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/events/event_line.h"

#include "fabric/base/message/log.h"
#include "views/canvas/text.h"

#include <stdio.h>
#include <string.h>

#define CABLE_LEAST 18 /* columns that still tell a cable from others */

static const enum role roles[] = { ROLE_DIM, ROLE_TEXT, ROLE_WARN, ROLE_BAD };

enum role event_role(const struct log_line *l)
{
	return roles[l->level & 3];
}

/* Without " (limits 95%, 20%)" at its end; NULL: it has none. */
static const char *event_line_without_remark(char *buf, size_t len, const char *text)
{
	size_t n = strlen(text);
	const char *remark = strrchr(text, '(');

	if (!remark || remark - text < 2 || remark[-1] != ' ' || text[n - 1] != ')')
		return NULL;
	snprintf(buf, len, "%.*s", (int)(remark - text) - 1, text);
	return buf;
}

/* "CABLE: what was measured": the cable gives way; NULL: it does not begin with one. */
static const char *event_line_of_cable(char *buf, size_t len, const char *text, int width)
{
	const char *to = strstr(text, " -> "), *said = strstr(text, ": ");
	char cable[256], shorter[256];
	int room;

	if (!to || !said || to > said)
		return NULL;
	room = width - text_width(said);
	if (room < CABLE_LEAST)
		return NULL;
	snprintf(cable, sizeof(cable), "%.*s", (int)(said - text), text);
	snprintf(buf, len, "%s%s", text_shorten_ends(shorter, sizeof(shorter), cable, room), said);
	return buf;
}

const char *event_text(char *buf, size_t len, const char *text, int width)
{
	char said[512], *since;

	if (text_width(text) <= width || !event_line_without_remark(said, sizeof(said), text))
		return text_shorten_words(buf, len, text, width);
	since = strstr(said, " for ");
	if (since && text_width(said) > width)
		*since = '\0';
	if (event_line_of_cable(buf, len, said, width))
		return buf;
	return text_shorten_list(buf, len, said, width);
}

void event_draw(struct canvas *c, struct rect r, int y, const struct log_line *l)
{
	char time[FIGURE_LEN], buf[512];

	canvas_text(c, r, 1, y, ROLE_DIM, figure_time(time, (int64_t)(l->time_ns / 1000000000)));
	canvas_text(c, r, 10, y, event_role(l), log_level_name(l->level));
	canvas_name(c, r, 16, y, 9, ROLE_LABEL, l->area);
	canvas_text(c, r, 26, y, l->level >= LOG_WARN ? event_role(l) : ROLE_TEXT,
		    event_text(buf, sizeof(buf), l->text, r.w - 27));
}
