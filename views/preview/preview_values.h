/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preview_values: what the values of an option make of the result of an engine, as far as they were
 * tried. */
#pragma once

#include "engines/param.h"
#include "views/canvas/canvas.h"
#include "views/data/state/state.h"

/* A row for each of its likely values from line y on, with the options o besides; returns the
 * lines, 0 where it has none.  In a rectangle of height 0 it only counts them.  Without known it is
 * drawn also when nothing is known. */
int preview_values_draw(const struct param *p, uint32_t engine, const struct preview_options *o,
			const struct state *s, struct canvas *c, struct rect r, int y, bool known);
/* All results of an engine that are known, the newest first, with their options. */
void preview_values_draw_all(uint32_t engine, const struct state *s, struct canvas *c,
			     struct rect r);
/* "trying 2 of 4: paths 45 %"; false: no values are tried. */
bool preview_values_progress(char *buf, size_t len, const struct state *s);
