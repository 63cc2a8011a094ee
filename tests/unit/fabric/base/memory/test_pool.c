/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/memory/pool.h"
#include "fabric/base/text/notes.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#define TURNS 5000

struct loop {
	uint32_t seen[TURNS];
	uint64_t sum[64];
	uint32_t stop_at;
};

static bool count(void *ctx, unsigned worker, uint32_t i)
{
	struct loop *l = ctx;

	l->seen[i]++;
	l->sum[worker] += i;
	return i == l->stop_at;
}

static void every_turn_runs_once_with_any_number_of_threads(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 8; threads++) {
		struct pool *p = pool_new(threads);

		assert_int_equal(pool_threads(p), threads);
		for (uint32_t n = 0; n <= TURNS; n = n * 7 + 1) {
			struct loop l = { .stop_at = UINT32_MAX };
			uint64_t sum = 0;

			assert_false(pool_for(p, n, count, &l));
			for (uint32_t i = 0; i < TURNS; i++)
				assert_int_equal(l.seen[i], i < n);
			for (unsigned k = 0; k < 64; k++)
				sum += l.sum[k];
			assert_int_equal(sum, n ? (uint64_t)n * (n - 1) / 2 : 0);
		}
		pool_free(p);
	}
}

static void after_a_turn_that_stops_few_more_run_and_the_next_loop_is_whole(void **state)
{
	struct pool *p = pool_new(3);
	struct loop l = { .stop_at = 10 };
	uint32_t n = 0;

	(void)state;
	assert_true(pool_for(p, TURNS, count, &l));
	for (uint32_t i = 0; i <= 10; i++)
		assert_int_equal(l.seen[i], 1);
	l = (struct loop){ .stop_at = UINT32_MAX };
	assert_false(pool_for(p, TURNS, count, &l));
	for (uint32_t i = 0; i < TURNS; i++)
		n += l.seen[i];
	assert_int_equal(n, TURNS);
	pool_free(p);
}

static void what_is_begun_is_whole_when_it_is_ended(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 3; threads++) {
		struct pool *p = pool_new(threads);
		struct loop last = { .stop_at = UINT32_MAX };

		for (uint32_t n = 0; n < 300; n++) {
			struct loop a = { .stop_at = UINT32_MAX }, b = { .stop_at = UINT32_MAX };

			pool_end(p); /* nothing was begun */
			pool_begin(p, n, count, &a);
			if (n % 3 == 0)
				pool_end(p);
			else if (n % 3 == 1)
				pool_for(p, n, count, &b);
			else
				pool_begin(p, n, count, &b);
			pool_end(p);
			for (uint32_t i = 0; i < n; i++) {
				assert_int_equal(a.seen[i], 1);
				assert_int_equal(b.seen[i], n % 3 != 0);
			}
		}
		pool_begin(p, 5, count, &last);
		pool_free(p);
		assert_int_equal(last.seen[4], 1);
	}
}

static void one_turn_after_another(struct pool *p, unsigned loops)
{
	for (unsigned k = 0; k < loops; k++) {
		struct loop l = { .stop_at = UINT32_MAX };

		pool_for(p, 2, count, &l);
		assert_int_equal(l.seen[0] + l.seen[1], 2);
	}
}

/* Two threads on one core: who had to wait for the other would sleep in each loop. */
static void loops_do_not_wait_for_a_thread_that_has_no_core_to_come_in(void **state)
{
	const unsigned loops = 400;
	struct rusage before, after;
	cpu_set_t all, one;
	struct pool *p;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	for (int c = 0; !CPU_COUNT(&one) && c < CPU_SETSIZE; c++)
		if (CPU_ISSET(c, &all))
			CPU_SET(c, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	p = pool_new(2);
	getrusage(RUSAGE_THREAD, &before);
	one_turn_after_another(p, loops);
	getrusage(RUSAGE_THREAD, &after);
	pool_free(p);
	sched_setaffinity(0, sizeof(all), &all);
	assert_true(after.ru_nvcsw - before.ru_nvcsw < loops / 4);
}

static void a_note_is_found_by_its_key_and_keeps_its_place_when_set_again(void **state)
{
	struct notes notes = { 0 };

	(void)state;
	notes_set(NULL, "detours", 1, "nobody asks");
	assert_null(notes_find(&notes, "detours"));
	notes_set(&notes, "detours", 3, "%d detours", 3);
	notes_set(&notes, "impasses", 1, "one");
	notes_set(&notes, "detours", 4, "%d detours", 4);
	assert_int_equal(notes.n, 2);
	assert_string_equal(notes.list[0].text, "4 detours");
	assert_int_equal(notes_find(&notes, "impasses")->value, 1);
	notes_done(&notes);
	assert_int_equal(notes.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_turn_runs_once_with_any_number_of_threads),
		cmocka_unit_test(after_a_turn_that_stops_few_more_run_and_the_next_loop_is_whole),
		cmocka_unit_test(what_is_begun_is_whole_when_it_is_ended),
		cmocka_unit_test(loops_do_not_wait_for_a_thread_that_has_no_core_to_come_in),
		cmocka_unit_test(a_note_is_found_by_its_key_and_keeps_its_place_when_set_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
