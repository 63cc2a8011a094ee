/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preview_diff: the entries that a proposal changes, block by block. */
#ifndef VIEWS_PREVIEW_DIFF_H
#define VIEWS_PREVIEW_DIFF_H

#include "views/canvas.h"
#include "views/list.h"
#include "views/state.h"

/* Only when there is a state_proposal(). */
void preview_diff_draw(struct list *l, const struct state *s, struct canvas *c, struct rect r);
uint32_t preview_diff_rows(const struct state *s);

#endif
