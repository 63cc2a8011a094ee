/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preview_table: a computed routing side by side with the current one, in figures. */
#ifndef VIEWS_PREVIEW_TABLE_H
#define VIEWS_PREVIEW_TABLE_H

#include "views/canvas.h"
#include "views/state.h"

/* All of them only when state_preview_ready(). */
#define PREVIEW_TABLE_LINES 20
void preview_table_draw(const struct state *s, struct canvas *c, struct rect r);
void preview_histogram_draw(const struct state *s, struct canvas *c, struct rect r);
void preview_worst_draw(const struct state *s, struct canvas *c, struct rect r);

#endif
