/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/preview/preview_effect.h"

#include "views/canvas/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *unit;
	int digits;
} metrics[OPTION_METRICS] = {
	[OPTION_TIME_MAX] = { "max job time", "x", 2 },
	[OPTION_TIME_MEAN] = { "mean job time", "x", 2 },
	[OPTION_JOB_EFI] = { "max job EFI", "", 0 },
	[OPTION_EFI] = { "max EFI", "", 0 },
	[OPTION_VLS] = { "VLs used", "", 0 },
	[OPTION_BLOCKS] = { "LFT blocks", "", 0 },
};

static void preview_effect_number(char buf[FIGURE_LEN], double v, int metric)
{
	if (metrics[metric].digits)
		snprintf(buf, FIGURE_LEN, "%.*f", metrics[metric].digits, v);
	else
		figure_count(buf, (uint64_t)(v + 0.5));
}

/* "" where it is the same as far as people read it, or not known of both. */
static const char *preview_effect_text(char buf[100], double was, double now, int metric)
{
	char a[FIGURE_LEN], b[FIGURE_LEN];

	buf[0] = '\0';
	if (!isfinite(was) || !isfinite(now))
		return buf;
	preview_effect_number(a, was, metric);
	preview_effect_number(b, now, metric);
	if (strcmp(a, b))
		snprintf(buf, 100, "%s %s -> %s%s", metrics[metric].name, a, b,
			 metrics[metric].unit);
	return buf;
}

/* Behind what is in the line, if there is room for it. */
static int preview_effect_add(struct canvas *c, struct rect r, int *x, int y, enum role role,
			      const char *text)
{
	int width = text_width(text), lines;

	if (*x > 1 && *x + 2 + width <= r.w) {
		canvas_text(c, r, *x, y - 1, ROLE_TEXT, ", ");
		canvas_text(c, r, *x + 2, y - 1, role, text);
		*x += 2 + width;
		return 0;
	}
	lines = canvas_wrap(c, r, 1, y, role, text);
	*x = lines == 1 ? 1 + width : r.w;
	return lines;
}

int preview_effect_draw(const struct plan_preview *x, struct canvas *c, struct rect r, int y)
{
	struct rect in = { r.x, r.y, r.w - 1, r.h };
	char options[200], head[212], text[100];
	struct option_result now;
	int first = y, at = 1;

	if (!x->was.known)
		return 0;
	option_result_of(&now, x);
	option_result_options(options, sizeof(options), &x->was.options, &now.options);
	snprintf(head, sizeof(head), "%s:", options);
	y += canvas_wrap(c, in, 1, y, ROLE_LABEL, head);
	for (int m = 0; m < OPTION_METRICS; m++) {
		bool worse = now.metric[m] > x->was.metric[m];

		if (*preview_effect_text(text, x->was.metric[m], now.metric[m], m))
			y += preview_effect_add(c, in, &at, y, worse ? ROLE_WARN : ROLE_GOOD, text);
	}
	if (at == 1)
		y += canvas_wrap(c, in, 1, y, ROLE_DIM, "same job times, EFI, VLs and blocks");
	return y - first;
}
