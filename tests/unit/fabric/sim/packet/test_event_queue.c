/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/packet/event_queue.h"

#include "fabric/base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N 1000

static int compare(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->what > y->what) - (x->what < y->what);
}

static void events_come_out_by_time_then_number(void **state)
{
	struct event_queue q = { 0 };
	struct event want[N];
	struct rng r;

	(void)state;
	rng_seed(&r, 1);
	assert_true(event_queue_next(&q) == UINT64_MAX);
	for (uint32_t i = 0; i < N; i++) {
		want[i] = (struct event){ rng_below(&r, 50), (uint32_t)rng_below(&r, 1000) };
		event_queue_push(&q, want[i].at, want[i].what);
	}
	qsort(want, N, sizeof(*want), compare);
	for (uint32_t i = 0; i < N; i++) {
		struct event e;

		assert_true(event_queue_next(&q) == want[i].at);
		e = event_queue_pop(&q);
		assert_int_equal(compare(&e, &want[i]), 0);
	}
	assert_true(event_queue_next(&q) == UINT64_MAX);
	vec_free(&q.heap);
}

static void later_events_may_be_put_in_between(void **state)
{
	struct event_queue q = { 0 };
	struct event e = { 0 };
	struct rng r;

	(void)state;
	rng_seed(&r, 2);
	event_queue_push(&q, 1, 0);
	for (uint32_t i = 1; i < 100 * N; i++) {
		struct event next = event_queue_pop(&q);

		assert_true(compare(&e, &next) < 0);
		e = next;
		event_queue_push(&q, e.at + 1 + rng_below(&r, 90), i);
		if (i % 100 == 0)
			event_queue_push(&q, e.at + 1 + rng_below(&r, 9), i + N * N);
	}
	assert_int_equal(q.heap.n, N);
	vec_free(&q.heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_come_out_by_time_then_number),
		cmocka_unit_test(later_events_may_be_put_in_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
