/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * span: a part of a step of struct progress that another function does: it counts from 0, which is
 * from in the step.
 */
#pragma once

#include "fabric/base/message/progress.h"

#define SPAN_SLICE 64 /* at most this much is reported as one */

struct span {
	struct progress *progress; /* may be NULL */
	const char *step;
	uint64_t from, total;
};

/* True: cancelled.  p may be NULL. */
static inline bool span_at(const struct span *p, uint64_t done)
{
	return p && !(done % SPAN_SLICE) &&
	       progress_step(p->progress, p->step, p->from + done, p->total);
}
