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

struct worker;

struct worker *worker_start(struct mailbox *box);
void worker_stop(struct worker *w); /* cancels; NULL is fine */

/* Figures of installed tables and, with verify, their verdict, which does not depend on jobs;
 * a newer request replaces one that waits.  jobs may be NULL.  Their usage follows in a message of
 * its own, with lanes when these are wanted, as soon as there is nothing else to do. */
void worker_metrics(struct worker *w, const struct fabric *f, const struct tables *t,
		    const struct jobset *jobs, bool verify, bool lanes);

/* An engine's tables with verdict, figures before and after, and difference; replaces a
 * preview that waits and cancels one that runs.  current may be NULL: no before, no diff.
 * serial comes back as the message's total. */
void worker_preview(struct worker *w, const struct fabric *f, const struct tables *current,
		    const struct jobset *jobs, const struct engine *engine,
		    const struct engine_params *params, uint64_t serial);
void worker_cancel(struct worker *w); /* the preview */

/* The order of writes and the drain of a plan, before anything else that waits; takes plan, which
 * comes back with MSG_ORDERED, or is gone when it failed or was cancelled.  serial comes back as
 * total.  Replaces one that waits, cancels one that runs. */
void worker_order(struct worker *w, struct plan *plan, uint64_t serial);
void worker_cancel_order(struct worker *w);

#endif
