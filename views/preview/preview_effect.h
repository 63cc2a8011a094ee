/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preview_effect: what other options than before did to the result of an engine. */
#pragma once

#include "views/canvas/canvas.h"
#include "views/data/state/plan_preview.h"

/* From line y on; returns the lines that it takes: 0 where its engine had no other options before.
 * In a rectangle of height 0 it only counts them. */
int preview_effect_draw(const struct plan_preview *x, struct canvas *c, struct rect r, int y);
