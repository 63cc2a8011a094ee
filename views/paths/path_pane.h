/* SPDX-License-Identifier: GPL-2.0-or-later */
/* path_pane: one path drawn hop by hop, beside what it becomes after the plan; and the pairs of a
 * job that share a link.  Parts of the view of paths. */
#pragma once

#include "engines/metrics/job_pairs.h"
#include "fabric/model/tables/path.h"
#include "views/canvas/list.h"
#include "views/data/row_notes.h"
#include "views/view.h"

/* A path now and after the plan; has_plan false: there is none. */
struct path_both {
	struct path now, plan;
	bool has_plan;
};

/* Walks both. */
void path_both_find(struct path_both *p, const struct state *s, struct path_ends ends);

/* Rows of the list of hops: those of the longer one. */
uint32_t path_both_rows(const struct path_both *p);
/* A head and the hops. */
void hops_draw(const struct path_both *p, struct list *list, const struct context *ctx,
	       const struct state *s, struct canvas *c, struct rect r);

/* On a host, or the switch of a port 0. */
const struct row_note *path_end_note(const struct state *s, uint32_t end);

#define PAIRS_MAX 2000

/* Pairs of a job over a link. */
struct pairs_pane {
	struct list list;
	struct job_pair *pair; /* up to PAIRS_MAX */
	uint32_t n;
	uint64_t all, plan; /* also those that are not listed; after the plan */
	bool has_plan;
	uint32_t turn; /* which job of the link, when none is marked */
	/* what they were found from */
	const void *fabric, *tables, *planned, *set;
	uint32_t chan, job;
	bool fullest; /* chan is: none was selected */
};

/* There are some.  Needs the current tables. */
bool pairs_any(struct pairs_pane *p, const struct context *ctx, const struct state *s);
void pairs_draw(struct pairs_pane *p, const struct context *ctx, const struct state *s,
		struct canvas *c, struct rect r);
/* True when the key meant something here; *chosen when a pair was opened. */
bool pairs_input(struct pairs_pane *p, struct context *ctx, const struct state *s,
		 const struct input *in, bool *chosen);
void pairs_done(struct pairs_pane *p);
