/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress: how a long computation reports progress and learns that it was cancelled.
 *
 * The worker calls progress_step() at least ten times a second; it returns true
 * when the work was cancelled, upon which the worker frees what it has and
 * returns -ECANCELED.  report() runs in the worker's thread.  A change of the
 * step's name is where a caller takes its times (engines have no clock).
 *
 * Work of several steps also keeps its overall position for report(): the part that it is in, or
 * work done and its upper bound, in a unit of its own.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct progress {
	void (*report)(void *ctx, const char *step, uint64_t done, uint64_t total);
	void *ctx;
	atomic_bool cancel;
	unsigned part, parts; /* from 1; parts 0: not known */
	uint64_t work, most;  /* of all steps; most 0: not known, else never exceeded */
	bool last;	      /* the step at hand is the last that takes long */
};

/* Announces n parts, none of which has begun. */
static inline void progress_parts(struct progress *p, unsigned parts)
{
	if (!p)
		return;
	p->part = 0;
	p->parts = parts;
	p->work = p->most = 0;
	p->last = false;
}

static inline void progress_next(struct progress *p)
{
	if (p)
		p->part++;
}

/* Was it cancelled?  In any thread; p may be NULL. */
static inline bool progress_cancelled(const struct progress *p)
{
	return p && atomic_load_explicit(&p->cancel, memory_order_relaxed);
}

/* step: a static string; done of total in units of the step.  p may be NULL. */
static inline bool progress_step(struct progress *p, const char *step, uint64_t done,
				 uint64_t total)
{
	if (!p)
		return false;
	if (p->report)
		p->report(p->ctx, step, done, total);
	return progress_cancelled(p);
}
