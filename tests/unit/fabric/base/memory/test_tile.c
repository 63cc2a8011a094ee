/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/memory/tile.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define UNTOUCHED 0xa5

static void turn(struct rng *r, uint32_t rows, uint32_t cols)
{
	size_t from_stride = cols + rng_below(r, 5), to_stride = rows + rng_below(r, 5);
	/* exactly as large as needed, so that a sanitizer sees a read too far */
	uint8_t *from = xcalloc(rows * from_stride - (from_stride - cols), 1);
	uint8_t *to = xcalloc(cols * to_stride, 1);

	for (size_t i = 0; i < rows * from_stride - (from_stride - cols); i++)
		from[i] = (uint8_t)rng_below(r, 256);
	memset(to, UNTOUCHED, cols * to_stride);
	tile_turn(to, to_stride, from, from_stride, rows, cols);
	for (uint32_t k = 0; k < cols; k++)
		for (uint32_t i = 0; i < to_stride; i++)
			assert_int_equal(to[k * to_stride + i],
					 i < rows ? from[i * from_stride + k] : UNTOUCHED);
	free(from);
	free(to);
}

static void every_byte_changes_row_for_column_and_no_other_is_touched(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 1);
	for (uint32_t rows = 1; rows <= 33; rows++)
		for (uint32_t cols = 1; cols <= 33; cols++)
			turn(&r, rows, cols);
	turn(&r, 2064, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_changes_row_for_column_and_no_other_is_touched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
