/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * worker: the thread that computes, one thing at a time: previews, and the figures of the
 * installed tables.  Results and progress go into the mailbox.
 */
#ifndef CONSOLE_WORKER_H
#define CONSOLE_WORKER_H

#include "console/msg.h"
#include "engines/engine.h"
#include "fabric/update/plan.h"
#include "views/request.h"

struct worker;

struct worker *worker_start(struct mailbox *box);
void worker_stop(struct worker *w); /* cancels; NULL is fine */

/* Figures of installed tables and, with verify, their verdict, which does not depend on jobs;
 * a newer request replaces one that waits.  jobs may be NULL.  Their usage follows in a message of
 * its own, with lanes when these are wanted, as soon as there is nothing else to do. */
void worker_metrics(struct worker *w, const struct fabric *f, const struct tables *t,
		    const struct jobset *jobs, bool verify, bool lanes);

/* What a preview is computed from.  current may be NULL: no before, no diff. */
struct preview_ask {
	const struct fabric *fabric;
	const struct tables *current;
	const struct jobset *jobs; /* may be NULL, as the next two */
	const struct demand *demand;
	const struct rates *rates; /* measured: what links would carry */
	const struct engine *engine;
	struct engine_params params;	     /* its roots and limits are copied */
	struct sm_pin sm;		     /* as the plan has it */
	const struct preview_options *files; /* of route_file_engine: their names are copied */
	uint64_t serial;		     /* comes back as the message's total */
};

/* Only the figures: of a moment of the past.  Replaces a request of worker_metrics() that waits. */
void worker_figures(struct worker *w, const struct fabric *f, const struct tables *t,
		    const struct jobset *jobs, bool verify);

/* An engine's tables, or a file's, with verdict, figures before and after, and difference; then
 * what traffic is to expect of them.  Replaces a preview that waits and cancels one that runs. */
void worker_preview(struct worker *w, const struct preview_ask *ask);
void worker_cancel(struct worker *w); /* the preview */

/* The order of writes and the drain of a plan, before anything else that waits; takes plan, which
 * comes back with MSG_ORDERED, or is gone when it failed or was cancelled.  serial comes back as
 * total.  Replaces one that waits, cancels one that runs. */
void worker_order(struct worker *w, struct plan *plan, uint64_t serial);
void worker_cancel_order(struct worker *w);

/* The plan from one table to another with its order and drain, when nothing else is to be done:
 * MSG_COST.  Replaces one that waits; gives way (-ECANCELED) to a preview and an order. */
void worker_cost(struct worker *w, const struct fabric *f, const struct tables *from,
		 const struct tables *to, const struct plan_files *files, const struct jobset *jobs,
		 const struct sm_pin *sm, uint64_t serial);
void worker_cancel_cost(struct worker *w);

/* What links would carry with either table, when nothing else is to be done: MSG_TRAFFIC.  from may
 * be NULL.  Replaces one that waits; gives way (-ECANCELED) to a preview and an order. */
void worker_traffic(struct worker *w, const struct fabric *f, const struct tables *from,
		    const struct tables *to, const struct jobset *jobs, const struct rates *rates,
		    uint64_t serial);

#endif
