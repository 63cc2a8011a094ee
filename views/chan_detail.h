/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chan_detail: four lines on one channel, under the heatmap and under the table of links. */
#ifndef VIEWS_CHAN_DETAIL_H
#define VIEWS_CHAN_DETAIL_H

#include "views/chan_jobs.h"
#include "views/view.h"

/* Zeroed at the start; remembers whose routes use the channel last drawn. */
struct chan_detail {
	struct chan_jobs jobs;
	uint32_t chan;
	const struct tables *tables; /* own references */
	const struct jobset *set;
};

#define CHAN_DETAIL_LINES 4

void chan_detail_draw(struct chan_detail *d, const struct ui *ui, const struct state *s,
		      struct canvas *c, struct rect r, uint32_t chan);
void chan_detail_done(struct chan_detail *d);

#endif
