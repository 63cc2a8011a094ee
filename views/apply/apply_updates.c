/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/apply/apply_updates.h"

#include "fabric/base/time/stamp.h"
#include "fabric/update/journal/journal.h"
#include "views/canvas/text.h"

#include <stdio.h>
#include <string.h>

/* Columns. */
enum { AT_BEGIN = 1, AT_TOOK = 22, AT_ENGINE = 30, AT_RESULT = 40, AT_BLOCKS = 65, AT_USER = 67 };
#define AT_TEXT	 79
#define MIN_TEXT 15 /* columns; below that it is left out */

static enum role apply_updates_role(const char *state)
{
	static const enum role of[TXN_STATES] = {
		[TXN_CONFIRMED] = ROLE_GOOD,	  [TXN_INCOMPLETE] = ROLE_BAD,
		[TXN_GIVEN_UP] = ROLE_BAD,	  [TXN_SUPERSEDED] = ROLE_WARN,
		[TXN_FABRIC_CHANGED] = ROLE_WARN, [TXN_ROLLED_BACK] = ROLE_WARN,
	};

	for (int i = 0; i < TXN_STATES; i++)
		if (of[i] && !strcmp(state, txn_state_name((enum txn_state)i)))
			return of[i];
	return ROLE_TEXT;
}

/* It is under way: its journal has no end yet. */
static bool apply_updates_is_open(const char *state)
{
	for (int i = 0; i < TXN_INCOMPLETE; i++)
		if (!strcmp(state, txn_state_name((enum txn_state)i)))
			return true;
	return false;
}

static void apply_updates_draw_row(const struct apply_update *u, struct canvas *c, struct rect r,
				   int y)
{
	char when[STAMP_LEN], took[FIGURE_LEN], blocks[FIGURE_LEN], text[sizeof(u->text) + 8];
	int width = r.w - AT_TEXT - 1;

	canvas_text(c, r, AT_BEGIN, y, ROLE_TEXT,
		    stamp_utc(when, sizeof(when), "%Y-%m-%d %H:%M:%S", u->begin_s));
	canvas_text(c, r, AT_TOOK, y, ROLE_DIM,
		    u->end_s < u->begin_s || apply_updates_is_open(u->state)
			    ? "-"
			    : figure_age(took, (double)(u->end_s - u->begin_s)));
	canvas_name(c, r, AT_ENGINE, y, AT_RESULT - AT_ENGINE - 1, ROLE_TEXT,
		    u->engine[0] ? u->engine : "-");
	canvas_name(c, r, AT_RESULT, y, 16, apply_updates_role(u->state), u->state);
	canvas_right(c, r, AT_BLOCKS, y, ROLE_TEXT, figure_count(blocks, u->blocks));
	canvas_name(c, r, AT_USER, y, AT_TEXT - AT_USER - 1, ROLE_TEXT, u->user[0] ? u->user : "-");
	if (width >= MIN_TEXT)
		canvas_text(c, r, AT_TEXT, y, ROLE_DIM,
			    text_shorten_words(text, sizeof(text), u->text, width));
}

int apply_updates_draw(const struct apply_updates *l, struct canvas *c, struct rect r, int y)
{
	uint32_t n = l ? l->n : 0, fit = r.h > y + 2 ? (uint32_t)(r.h - y - 2) : 0;
	char title[64] = "Last updates";

	if (!n || !fit)
		return y;
	if (n > fit)
		snprintf(title, sizeof(title), "Last updates: %u of %u", n = fit, l->n);
	canvas_rule(c, r, y++, title);
	canvas_text(c, r, AT_BEGIN, y, ROLE_LABEL, "begin (UTC)");
	canvas_text(c, r, AT_TOOK, y, ROLE_LABEL, "took");
	canvas_text(c, r, AT_ENGINE, y, ROLE_LABEL, "engine");
	canvas_text(c, r, AT_RESULT, y, ROLE_LABEL, "result");
	canvas_right(c, r, AT_BLOCKS, y, ROLE_LABEL, "blocks");
	canvas_text(c, r, AT_USER, y++, ROLE_LABEL, "user");
	for (uint32_t i = 0; i < n; i++)
		apply_updates_draw_row(&l->row[i], c, r, y++);
	return y;
}
