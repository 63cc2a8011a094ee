/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preview_links: how a computed routing loads the links: a histogram, and the worst. */
#ifndef VIEWS_PREVIEW_PREVIEW_LINKS_H
#define VIEWS_PREVIEW_PREVIEW_LINKS_H

#include "views/canvas/canvas.h"
#include "views/data/state.h"

/* Only when state_preview_ready(). */
void preview_histogram_draw(const struct state *s, struct canvas *c, struct rect r);
void preview_worst_draw(const struct state *s, struct canvas *c, struct rect r);

#endif
