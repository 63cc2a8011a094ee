/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/summary/history.h"

#include "fabric/base/memory/mem.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CHANNELS 16000

static size_t taken(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* The thread of the screen makes one with each fabric. */
static void it_takes_memory_as_samples_come(void **state)
{
	size_t row = history_row_bytes(CHANNELS), before = taken(), with;
	uint8_t *v = xcalloc(row, 1);
	struct history *h = history_new(CHANNELS);

	(void)state;
	assert_true(taken() - before < 2 * row);
	for (int i = 0; i < 10; i++)
		history_push_row(h, CHANNELS, v);
	with = taken() - before;
	assert_true(with < 13 * row);
	for (int i = 0; i < 2000; i++)
		history_push_row(h, CHANNELS, v);
	assert_true(taken() - before < 34u << 20);
	history_free(h);
	free(v);
	assert_true(taken() < before + 2 * row);
}

static void the_newest_are_shown_oldest_first(void **state)
{
	uint32_t nchan = 20000; /* 559 of them fit */
	uint8_t *v = xcalloc(history_row_bytes(nchan), 1), out[HISTORY_LEN];
	struct history *h = history_new(nchan);

	(void)state;
	assert_int_equal(history_count(h), 0);
	for (int i = 1; i <= 1300; i++) {
		memset(v, i % 101, nchan);
		memset(v + nchan, i % 97, nchan);
		history_push_row(h, nchan, v);
		history_push_row(h, nchan + 1, v); /* of another fabric */
	}
	assert_int_equal(history_get(h, 7, HISTORY_UTIL, out), HISTORY_LEN);
	for (int i = 0; i < HISTORY_LEN; i++)
		assert_int_equal(out[i], (1300 - HISTORY_LEN + 1 + i) % 101);
	history_hide(h, 400);
	assert_int_equal(history_get(h, nchan - 1, HISTORY_WAIT, out), HISTORY_LEN);
	for (int i = 0; i < HISTORY_LEN; i++)
		assert_int_equal(out[i], (900 - HISTORY_LEN + 1 + i) % 97);
	history_hide(h, 1290);
	assert_int_equal(history_count(h), 0);
	history_free(h);
	free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_takes_memory_as_samples_come),
		cmocka_unit_test(the_newest_are_shown_oldest_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
