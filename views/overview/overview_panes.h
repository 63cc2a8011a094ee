/* SPDX-License-Identifier: GPL-2.0-or-later */
/* overview_panes: for overview.c only: what is in its panes. */
#ifndef VIEWS_OVERVIEW_OVERVIEW_PANES_H
#define VIEWS_OVERVIEW_OVERVIEW_PANES_H

#include "views/canvas/list.h"
#include "views/data/view.h"

/* overview_fabric.c */
void pane_fabric(struct canvas *c, struct rect r, const struct state *s,
		 const struct fabric_summary *v);
void pane_tiers(const struct context *ctx, struct canvas *c, struct rect r,
		const struct fabric_summary *v);

/* Lists: on when the keys move in this one. */
void pane_hot(struct list *l, bool on, const struct context *ctx, struct canvas *c, struct rect r,
	      const struct state *s);
/* The links of that pane by what the past is shown of, worst first; n: so many. */
const uint32_t *overview_hot(const struct context *ctx, uint32_t *n);
void pane_problems(struct list *l, bool on, const struct context *ctx, struct canvas *c,
		   struct rect r, const struct state *s);
void pane_jobs(struct list *l, bool on, const struct context *ctx, struct canvas *c, struct rect r,
	       const struct state *s);

/* "down 14m", "errors 19/min", "56 of 100 Gb/s": what a port has and since when.  Returns buf. */
const char *problem_text(char *buf, size_t len, const struct state *s,
			 const struct fabric_summary *v, uint32_t port);

#endif
