/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preview_jobs: what a proposal means for each job. */
#ifndef VIEWS_PREVIEW_PREVIEW_JOBS_H
#define VIEWS_PREVIEW_PREVIEW_JOBS_H

#include "views/canvas/canvas.h"
#include "views/canvas/list.h"
#include "views/data/state.h"

/* Only when there is a state_proposal(). */
void preview_jobs_draw(struct list *l, const struct state *s, struct canvas *c, struct rect r);
uint32_t preview_jobs_rows(const struct state *s);

#endif
