/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preview_changes: what a computed routing changes: links, jobs, and the entries themselves. */
#pragma once

#include "views/canvas/canvas.h"
#include "views/canvas/list.h"
#include "views/data/state/state.h"

/* How it loads the links: a histogram, and the worst.  Only when state_preview_ready(). */
void preview_histogram_draw(const struct state *s, struct canvas *c, struct rect r);
void preview_worst_draw(const struct state *s, struct canvas *c, struct rect r);

/* What it means for each job, and the entries block by block: lists with a cursor.  Only when there
 * is one. */
void preview_jobs_draw(struct list *l, const struct state *s, struct canvas *c, struct rect r);
uint32_t preview_jobs_rows(const struct state *s);
void preview_diff_draw(struct list *l, const struct state *s, struct canvas *c, struct rect r);
uint32_t preview_diff_rows(const struct state *s);
