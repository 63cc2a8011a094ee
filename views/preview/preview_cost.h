/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preview_cost: what it takes to install a plan, and what was checked about it. */
#pragma once

#include "views/canvas/canvas.h"
#include "views/data/state/state.h"

/* All of them only when state_preview_ready(); these return the line after the last. */
int preview_cost_draw(const struct state *s, struct canvas *c, struct rect r, int y);
int preview_facts_draw(const struct state *s, struct canvas *c, struct rect r,
		       int y); /* untitled */
int preview_checks_draw(const struct state *s, struct canvas *c, struct rect r, int y);
#define PREVIEW_CHECKS_LINES 5 /* at most, with their title */
/* What the engine tells about it, as far as there is room. */
int preview_notes_draw(const struct state *s, struct canvas *c, struct rect r, int y);
/* In a few words, for a title.  Returns buf. */
const char *preview_cost_brief(char *buf, size_t len, const struct state *s);
/* "being found, 12s so far, at most 40s more": the search for an order of writes; returns buf. */
const char *preview_search_text(char *buf, size_t len, const struct state *s);
