/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/memory/heap.h"

#include "fabric/base/hash/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N 1000

struct entry {
	uint64_t key;
	uint32_t item;
};

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->item > y->item) - (x->item < y->item);
}

static struct entry pop(struct heap *h)
{
	struct entry e = { .key = heap_key(h) };

	e.item = heap_pop(h);
	return e;
}

static void items_come_out_by_key_then_number(void **state)
{
	struct heap h = { 0 };
	struct entry want[N];
	struct rng r;

	(void)state;
	rng_seed(&r, 1);
	assert_true(heap_key(&h) == UINT64_MAX);
	for (uint32_t i = 0; i < N; i++) {
		want[i] = (struct entry){ rng_below(&r, 50), (uint32_t)rng_below(&r, 1000) };
		heap_push(&h, want[i].key, want[i].item);
	}
	qsort(want, N, sizeof(*want), compare);
	for (uint32_t i = 0; i < N; i++) {
		struct entry e;

		assert_true(heap_key(&h) == want[i].key);
		e = pop(&h);
		assert_int_equal(compare(&e, &want[i]), 0);
	}
	assert_true(heap_key(&h) == UINT64_MAX);
	heap_done(&h);
}

static void later_items_may_be_put_in_between(void **state)
{
	struct heap h = { 0 };
	struct entry e = { 0 };
	struct rng r;

	(void)state;
	rng_seed(&r, 2);
	heap_push(&h, 1, 0);
	for (uint32_t i = 1; i < 100 * N; i++) {
		struct entry next = pop(&h);

		assert_true(compare(&e, &next) < 0);
		e = next;
		heap_push(&h, e.key + 1 + rng_below(&r, 90), i);
		if (i % 100 == 0)
			heap_push(&h, e.key + 1 + rng_below(&r, 9), i + N * N);
	}
	assert_int_equal(h.n, N);
	heap_done(&h);
}

/* heap_make() of all sizes up to N / 10 at once gives what N pushes would, and so does delaying. */
static void made_at_once_it_is_the_same(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 3);
	for (uint32_t n = 0; n <= N / 10; n++) {
		struct heap h = { 0 };
		struct entry want[N / 10];

		heap_reserve(&h, n);
		for (uint32_t i = 0; i < n; i++) {
			want[i] = (struct entry){ rng_below(&r, n), i };
			h.key[i] = want[i].key;
			h.item[i] = i;
		}
		heap_make(&h, n);
		qsort(want, n, sizeof(*want), compare);
		if (n) { /* the first comes back with another key */
			assert_int_equal(h.item[0], want[0].item);
			heap_delay_first(&h, want[0].key += n / 2);
			qsort(want, n, sizeof(*want), compare);
		}
		for (uint32_t i = 0; i < n; i++) {
			struct entry e = pop(&h);

			assert_int_equal(compare(&e, &want[i]), 0);
		}
		heap_done(&h);
	}
}

static void keys_of_numbers_keep_their_order(void **state)
{
	static const double x[] = { -INFINITY, -1e300, -2, -1,	  -1e-300, 0,
				    1e-310,    1e-300, 1,  1.125, 1e300,   INFINITY };
	const uint32_t n = sizeof(x) / sizeof(x[0]);

	(void)state;
	for (uint32_t i = 0; i < n; i++) {
		double back = heap_double(heap_key_of(x[i]));

		assert_memory_equal(&back, &x[i], sizeof(back));
		if (i)
			assert_true(heap_key_of(x[i - 1]) < heap_key_of(x[i]));
	}
	assert_true(heap_key_of(-0.0) == heap_key_of(0.0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_come_out_by_key_then_number),
		cmocka_unit_test(later_items_may_be_put_in_between),
		cmocka_unit_test(made_at_once_it_is_the_same),
		cmocka_unit_test(keys_of_numbers_keep_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
