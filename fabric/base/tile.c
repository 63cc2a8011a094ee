/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/tile.h"

#include <string.h>

/* Swaps what mask covers in *b with what lies shift bits higher in *a. */
static inline void swap(uint64_t *a, uint64_t *b, unsigned shift, uint64_t mask)
{
	uint64_t x = ((*a >> shift) ^ *b) & mask;

	*b ^= x;
	*a ^= x << shift;
}

/* Blocks of 4 x 4, then of 2 x 2, then bytes, change places across the diagonal; the byte of
 * column 0 is the lowest of its row. */
static inline void turn_words(uint64_t x[8])
{
	for (int i = 0; i < 4; i++)
		swap(&x[i], &x[i + 4], 32, 0x00000000ffffffff);
	for (int i = 0; i < 8; i += 4)
		for (int k = i; k < i + 2; k++)
			swap(&x[k], &x[k + 2], 16, 0x0000ffff0000ffff);
	for (int i = 0; i < 8; i += 2)
		swap(&x[i], &x[i + 1], 8, 0x00ff00ff00ff00ff);
}

static inline void turn_8x8(uint8_t *to, size_t to_stride, const uint8_t *from, size_t from_stride)
{
	uint64_t x[8];

	for (int i = 0; i < 8; i++) {
		memcpy(&x[i], from + i * from_stride, 8);
		if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
			x[i] = __builtin_bswap64(x[i]);
	}
	turn_words(x);
	for (int i = 0; i < 8; i++) {
		if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
			x[i] = __builtin_bswap64(x[i]);
		memcpy(to + i * to_stride, &x[i], 8);
	}
}

static void turn_bytes(uint8_t *to, size_t to_stride, const uint8_t *from, size_t from_stride,
		       uint32_t rows, uint32_t cols)
{
	for (uint32_t i = 0; i < rows; i++)
		for (uint32_t k = 0; k < cols; k++)
			to[k * to_stride + i] = from[i * from_stride + k];
}

void tile_turn(uint8_t *to, size_t to_stride, const uint8_t *from, size_t from_stride,
	       uint32_t rows, uint32_t cols)
{
	uint32_t whole_cols = cols & ~7u, i = 0;

	for (; i + 8 <= rows; i += 8) {
		for (uint32_t k = 0; k < whole_cols; k += 8)
			turn_8x8(to + k * to_stride + i, to_stride, from + i * from_stride + k,
				 from_stride);
		turn_bytes(to + whole_cols * to_stride + i, to_stride,
			   from + i * from_stride + whole_cols, from_stride, 8, cols - whole_cols);
	}
	turn_bytes(to + i, to_stride, from + i * from_stride, from_stride, rows - i, cols);
}
