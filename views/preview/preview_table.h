/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preview_table: computed routings side by side with the current one, in figures. */
#pragma once

#include "views/canvas/canvas.h"
#include "views/data/state/state.h"

/* All of them only when state_preview_ready(). */
#define PREVIEW_TABLE_LINES 16
#define PREVIEW_TABLE_TALL  21 /* with what explains them */
/* tall: with them.  Returns the lines used. */
int preview_table_draw(const struct state *s, struct canvas *c, struct rect r, bool tall);
