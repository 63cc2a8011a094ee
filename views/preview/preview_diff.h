/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preview_diff: the entries that a proposal changes, block by block. */
#ifndef VIEWS_PREVIEW_PREVIEW_DIFF_H
#define VIEWS_PREVIEW_PREVIEW_DIFF_H

#include "views/canvas/canvas.h"
#include "views/canvas/list.h"
#include "views/data/state.h"

/* Only when there is a state_proposal(). */
void preview_diff_draw(struct list *l, const struct state *s, struct canvas *c, struct rect r);
uint32_t preview_diff_rows(const struct state *s);

#endif
