/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event_queue: what happens when, earliest first; at the same time the smaller number first,
 * so that the order never depends on how they were put in. */
#ifndef FABRIC_SIM_PACKET_EVENT_QUEUE_H
#define FABRIC_SIM_PACKET_EVENT_QUEUE_H

#include "fabric/base/vec.h"

#include <stdbool.h>
#include <stdbool.h>
#include <stdint.h>

struct event {
	uint64_t at;
	uint32_t what; /* the caller's number */
};

static inline bool event_before(const struct event *a, const struct event *b)
{
	return a->at != b->at ? a->at < b->at : a->what < b->what;
}

/* A binary heap; all zero is empty.  End with vec_free(&q->heap). */
struct event_queue {
	VEC(struct event) heap;
};

/* O(log n). */
void event_queue_push(struct event_queue *q, uint64_t at, uint32_t what);
/* Takes out the first; only when there is one.  O(log n). */
struct event event_queue_pop(struct event_queue *q);

/* Time of the first, UINT64_MAX when there is none. */
static inline uint64_t event_queue_next(const struct event_queue *q)
{
	return q->heap.n ? q->heap.v[0].at : UINT64_MAX;
}

#endif
