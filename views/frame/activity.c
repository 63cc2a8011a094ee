/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/frame/activity.h"

#include "views/canvas/text.h"
#include "views/data/state/key_hint.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define GAP 2 /* columns between the two */

/* What to leave out. */
enum { NO_RATE = 1, NO_COUNT = 2, BRIEF_KEY = 4, NO_LEFT = 8, NO_STEP = 16 };

static const struct brevity {
	unsigned tables, work;
} brevities[] = {
	{ 0, 0 },
	{ NO_COUNT, NO_RATE },
	{ NO_COUNT | NO_RATE, NO_COUNT | NO_RATE },
	{ NO_COUNT | NO_RATE | BRIEF_KEY, NO_COUNT | NO_RATE | BRIEF_KEY },
	{ NO_COUNT | NO_RATE | BRIEF_KEY | NO_LEFT, NO_COUNT | NO_RATE | BRIEF_KEY | NO_LEFT },
	{ NO_COUNT | NO_RATE | BRIEF_KEY | NO_LEFT,
	  NO_COUNT | NO_RATE | BRIEF_KEY | NO_LEFT | NO_STEP },
};

#define BREVITIES (sizeof(brevities) / sizeof(brevities[0]))

static bool activity_ends_with(const char *part, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && !strncmp(part + len - n, end, n);
}

/* One of "2 of 5", "paths 37 %", "12k/s", "3.1 s left". */
static bool activity_left_out(const char *part, size_t len, unsigned without)
{
	const char *of = strstr(part, " of ");

	if (activity_ends_with(part, len, "/s"))
		return without & NO_RATE;
	if (activity_ends_with(part, len, " left"))
		return without & NO_LEFT;
	return without & NO_COUNT && isdigit((unsigned char)*part) && of && of < part + len;
}

/* Of "preview by sar: 2 of 5, layers 37 %, 12k/s, 3.1 s left": the name is always there. */
static void activity_put_parts(char *out, size_t len, const char *text, unsigned without)
{
	const char *colon = strstr(text, ": "), *part = colon ? colon + 2 : text;
	const char *between = colon ? ": " : "";
	size_t n = 0;

	out[0] = '\0';
	if (colon)
		n = (size_t)snprintf(out, len, "%.*s", (int)(colon - text), text);
	while (*part && n < len && !(colon && without & NO_STEP)) {
		const char *comma = strstr(part, ", ");
		size_t k = comma ? (size_t)(comma - part) : strlen(part);

		if (!activity_left_out(part, k, without)) {
			n += (size_t)snprintf(out + n, len - n, "%s%.*s", between, (int)k, part);
			between = ", ";
		}
		part += comma ? k + 2 : k;
	}
}

static void activity_put_key(char *out, size_t len, const char *key, unsigned without)
{
	size_t n = strlen(out);

	snprintf(out + n, len - n, without & BRIEF_KEY ? " (%s)" : "; %s stops it", key);
}

static void activity_put_work(char *out, size_t len, const struct state *s, unsigned without)
{
	out[0] = '\0';
	if (!s->work[0])
		return;
	activity_put_parts(out, len, s->work, without);
	activity_put_key(out, len, key_hint("stop"), without);
}

/* What was stopped, and the key that continues it. */
static void activity_put_ended(char *out, size_t len, const struct state *s, unsigned without)
{
	if (without & BRIEF_KEY)
		snprintf(out, len, "%s not read (%s)", s->tables ? "SL2VL" : "tables",
			 key_hint("vls"));
	else
		key_hint_text(out, len,
			      s->tables ? "SL2VL not read: unverified, no VLs; {vls} continues"
					: "tables not read; {vls} reads them");
}

static void activity_put_tables(char *out, size_t len, const struct state *s, unsigned without)
{
	const struct state_poll *p = &s->poll;
	const char *rest = strchr(p->tables_pace, '%');
	char done[FIGURE_LEN], total[FIGURE_LEN], text[160];

	out[0] = '\0';
	if (s->history_at.on || !(p->tables_on || p->tables_ended))
		return;
	if (p->tables_ended) {
		activity_put_ended(out, len, s, without);
		return;
	}
	if (rest)
		snprintf(text, sizeof(text), "%.*s, %s of %s%s", (int)(rest + 1 - p->tables_pace),
			 p->tables_pace, figure_short(done, p->tables_done),
			 figure_short(total, p->tables_total), rest + 1);
	else
		snprintf(text, sizeof(text), "reading SL2VL");
	activity_put_parts(out, len, text, without);
	activity_put_key(out, len, "Esc", without);
}

void activity_fit(struct activity *out, const struct state *s, int width, bool tables)
{
	out->tables[0] = '\0';
	for (size_t i = 0; i < BREVITIES; i++) {
		int w;

		if (tables)
			activity_put_tables(out->tables, sizeof(out->tables), s,
					    brevities[i].tables);
		activity_put_work(out->work, sizeof(out->work), s, brevities[i].work);
		w = text_width(out->tables) + text_width(out->work);
		if (w + (out->tables[0] && out->work[0] ? GAP : 0) <= width)
			return;
	}
	out->work[0] = '\0';
	if (text_width(out->tables) > width)
		out->tables[0] = '\0';
}
