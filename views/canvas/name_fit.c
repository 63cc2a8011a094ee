/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/canvas/name_fit.h"

#include "fabric/model/topology/end_find.h"
#include "views/canvas/text.h"

#include <stdio.h>
#include <string.h>

#define LEAST 5 /* columns of "a..b" and one more */

/* Where "/33" begins, else the end. */
static const char *name_fit_slash(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash && slash != name && slash[1] && !slash[1 + strspn(slash + 1, "0123456789")]
		       ? slash
		       : name + strlen(name);
}

/* One end only is shown so, or one switch of which that is a port. */
static bool name_fit_tells(const struct fabric *f, char *shown)
{
	char *slash = strrchr(shown, '/');
	uint32_t end = end_shown_so(f, shown);

	if (end != FAB_NONE || !slash)
		return end != FAB_NONE;
	*slash = '\0';
	end = end_shown_so(f, shown);
	*slash = '/';
	return end >= f->nend && end != FAB_NONE;
}

/* Cuts before port, which stays, where that tells the end, or else in the middle: false. */
static bool name_fit_cut(char *buf, size_t len, const struct fabric *f, const char *name,
			 const char *port, int width)
{
	int both = width - 2 - text_width(port), half = (both + 1) / 2;
	char own[256], cut[256];

	snprintf(own, sizeof(own), "%.*s", (int)(port - name), name);
	/* the middle, then ever farther from it: one letter less of the end, one more, ... */
	for (int i = 1; i < 2 * both; i++) {
		int head = half + (i % 2 ? -(i / 2) : i / 2);

		if (head < 1 || head >= both)
			continue;
		text_shorten_at(cut, sizeof(cut), own, both + 2, head);
		snprintf(buf, len, "%s%s", cut, port);
		if (name_fit_tells(f, buf))
			return true;
	}
	snprintf(buf, len, "%s%s", text_shorten(cut, sizeof(cut), own, both + 2), port);
	return false;
}

static const char *name_fit_end(char *buf, size_t len, const struct fabric *f, const char *name,
				int width)
{
	const char *port = name_fit_slash(name), *none = name + strlen(name);
	bool room = width - text_width(port) >= LEAST;

	if (text_width(name) <= width || width < LEAST)
		return text_shorten(buf, len, name, width);
	if (room && name_fit_cut(buf, len, f, name, port, width))
		return buf;
	if (*port && name_fit_cut(buf, len, f, name, none, width))
		return buf;
	if (room)
		name_fit_cut(buf, len, f, name, port, width);
	return room ? buf : text_shorten(buf, len, name, width);
}

const char *name_fit(char *buf, size_t len, const struct fabric *f, const char *name, int width)
{
	const char *join = strstr(name, " -> ") ? " -> " : " - ", *gap = strstr(name, join);
	const char *to = gap ? gap + strlen(join) : NULL;
	char from[256], a[256], b[256];
	int wa, wb, room = width - (int)strlen(join);

	if (!to || text_width(name) <= width || room < 2 * LEAST)
		return name_fit_end(buf, len, f, name, width);
	snprintf(from, sizeof(from), "%.*s", (int)(gap - name), name);
	wa = text_width(from);
	wb = text_width(to);
	if (wa <= room / 2)
		wb = room - wa;
	else if (wb <= room / 2)
		wa = room - wb;
	else
		wa = room / 2, wb = room - wa;
	snprintf(buf, len, "%s%s%s", name_fit_end(a, sizeof(a), f, from, wa), join,
		 name_fit_end(b, sizeof(b), f, to, wb));
	return buf;
}

void name_fit_draw(struct canvas *c, struct rect r, int x, int y, int width, enum role role,
		   const struct fabric *f, const char *name)
{
	char buf[512];

	canvas_text(c, r, x, y, role, name_fit(buf, sizeof(buf), f, name, width));
}
