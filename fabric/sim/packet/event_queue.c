/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/packet/event_queue.h"

void event_queue_push(struct event_queue *q, uint64_t at, uint32_t what)
{
	struct event e = { at, what };
	size_t i = q->heap.n;

	vec_reserve(&q->heap, i + 1);
	q->heap.n++;
	while (i && event_before(&e, &q->heap.v[(i - 1) / 2])) {
		q->heap.v[i] = q->heap.v[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	q->heap.v[i] = e;
}

struct event event_queue_pop(struct event_queue *q)
{
	struct event *v = q->heap.v, first = v[0], last = v[--q->heap.n];
	size_t n = q->heap.n, i = 0, child;

	while ((child = 2 * i + 1) < n) {
		if (child + 1 < n && event_before(&v[child + 1], &v[child]))
			child++;
		if (!event_before(&v[child], &last))
			break;
		v[i] = v[child];
		i = child;
	}
	v[i] = last;
	return first;
}
