/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fabric_tabs: the line with the names and verdicts of several fabrics, above all else. */
#pragma once

#include "views/canvas/canvas.h"
#include "views/data/state/state.h"
#include "views/data/summary/headline.h"

/* Rows that it takes: 0 with one fabric. */
int fabric_tabs_rows(const struct state *s);
void fabric_tabs_draw(struct canvas *c, const struct state_fabrics *f);
/* The one at column x of a screen of width w; f->n: none. */
uint32_t fabric_tabs_at(const struct state_fabrics *f, int w, int x);

/* The verdict on a fabric in a word and how bad that is. */
const char *fabric_tabs_word(enum headline_kind kind, enum fabric_level *level);
/* The fabric that text means: a name, a unique beginning of one, "next" or "", "previous"; f->n:
 * none. */
uint32_t fabric_tabs_find(const struct state_fabrics *f, const char *text);
