/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/apply/apply_log.h"

#include "views/apply/apply_wrote.h"
#include "views/data/view.h"
#include "views/events/events.h"

#include <stdio.h>

static uint32_t apply_entries(const struct state_apply *a)
{
	return a->log_total < APPLY_LOG ? (uint32_t)a->log_total : APPLY_LOG;
}

/* i = 0 is the newest. */
static uint32_t apply_at(const struct state_apply *a, uint32_t i)
{
	return (uint32_t)((a->log_total - 1 - i) % APPLY_LOG);
}

static uint32_t apply_blocks(const struct state_apply *a, uint32_t i)
{
	return a->wrote ? a->blocks[apply_at(a, i)].n : 0;
}

uint64_t apply_log_lines(const struct state_apply *a)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < apply_entries(a); i++)
		n += 1 + (uint64_t)apply_blocks(a, i);
	return n;
}

/* Line k of entry i, counted from its last: itself, then its blocks. */
static void apply_draw_line(const struct state_apply *a, struct canvas *c, struct rect r, int y,
			    uint32_t i, uint32_t k)
{
	const struct apply_blocks *b = &a->blocks[apply_at(a, i)];
	struct log_line line = a->log[apply_at(a, i)];

	if (k) {
		line.level = LOG_INFO;
		snprintf(line.area, sizeof(line.area), b->back ? "back" : "write");
		apply_wrote_line(line.text, sizeof(line.text), a->wrote, b->first + b->n - k,
				 b->back);
	}
	event_draw(c, r, y, &line);
}

void apply_log_draw(const struct state_apply *a, struct canvas *c, struct rect r, uint64_t *back)
{
	uint64_t all = apply_log_lines(a), fit = r.h > 1 ? (uint64_t)r.h - 1 : 0, skip;
	char title[96] = "Log";
	int y;

	if (r.h < 2)
		return;
	if (*back > all - (fit < all ? fit : all))
		*back = all - (fit < all ? fit : all);
	if (*back)
		snprintf(title, sizeof(title), "Log: lines %llu to %llu of %llu",
			 (unsigned long long)(all - *back - fit + 1),
			 (unsigned long long)(all - *back), (unsigned long long)all);
	else if (all > fit)
		snprintf(title, sizeof(title), "Log: the newest of %llu lines",
			 (unsigned long long)all);
	canvas_rule(c, r, 0, title);
	skip = *back;
	y = (int)(all - *back < fit ? all - *back : fit);
	for (uint32_t i = 0; i < apply_entries(a) && y > 0; i++) {
		uint64_t n = 1 + (uint64_t)apply_blocks(a, i), k = skip < n ? skip : n;

		skip -= k;
		for (; k < n && y > 0; k++)
			apply_draw_line(a, c, r, y--, i, (uint32_t)k);
	}
}
