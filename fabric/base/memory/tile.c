/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/memory/tile.h"

#include <string.h>

/* Swaps what mask covers in *b with what lies shift bits higher in *a. */
static inline void tile_swap(uint64_t *a, uint64_t *b, unsigned shift, uint64_t mask)
{
	uint64_t x = ((*a >> shift) ^ *b) & mask;

	*b ^= x;
	*a ^= x << shift;
}

/* Blocks of 4 x 4, then of 2 x 2, then bytes, change places across the diagonal; the byte of
 * column 0 is the lowest of its row. */
static inline void tile_turn_words(uint64_t x[8])
{
	for (int i = 0; i < 4; i++)
		tile_swap(&x[i], &x[i + 4], 32, 0x00000000ffffffff);
	for (int i = 0; i < 8; i += 4)
		for (int k = i; k < i + 2; k++)
			tile_swap(&x[k], &x[k + 2], 16, 0x0000ffff0000ffff);
	for (int i = 0; i < 8; i += 2)
		tile_swap(&x[i], &x[i + 1], 8, 0x00ff00ff00ff00ff);
}

static inline void tile_turn_8x8(uint8_t *to, size_t to_stride, const uint8_t *from,
				 size_t from_stride)
{
	uint64_t x[8];

	for (int i = 0; i < 8; i++) {
		memcpy(&x[i], from + i * from_stride, 8);
		if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
			x[i] = __builtin_bswap64(x[i]);
	}
	tile_turn_words(x);
	for (int i = 0; i < 8; i++) {
		if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
			x[i] = __builtin_bswap64(x[i]);
		memcpy(to + i * to_stride, &x[i], 8);
	}
}

/* Sixteen bytes, and two of them woven into one another: first halves, then second halves. */
typedef uint8_t line __attribute__((vector_size(16)));

#define LOWER(a, b)                                                                                \
	__builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define UPPER(a, b)                                                                                \
	__builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)

static inline __attribute__((always_inline)) void weave_two(line *to, line a, line b)
{
	to[0] = LOWER(a, b);
	to[1] = UPPER(a, b);
}

/* Line i with line i + 8: four times, and rows are columns. */
static inline __attribute__((always_inline)) void weave(line to[16], const line x[16])
{
	weave_two(to, x[0], x[8]);
	weave_two(to + 2, x[1], x[9]);
	weave_two(to + 4, x[2], x[10]);
	weave_two(to + 6, x[3], x[11]);
	weave_two(to + 8, x[4], x[12]);
	weave_two(to + 10, x[5], x[13]);
	weave_two(to + 12, x[6], x[14]);
	weave_two(to + 14, x[7], x[15]);
}

static void tile_turn_16x16(uint8_t *to, size_t to_stride, const uint8_t *from, size_t from_stride)
{
	line x[16], y[16];

	for (int i = 0; i < 16; i++)
		memcpy(&x[i], from + i * from_stride, sizeof(x[i]));
	weave(y, x);
	weave(x, y);
	weave(y, x);
	weave(x, y);
	for (int i = 0; i < 16; i++)
		memcpy(to + i * to_stride, &x[i], sizeof(x[i]));
}

static void tile_turn_bytes(uint8_t *to, size_t to_stride, const uint8_t *from, size_t from_stride,
			    uint32_t rows, uint32_t cols)
{
	for (uint32_t i = 0; i < rows; i++)
		for (uint32_t k = 0; k < cols; k++)
			to[k * to_stride + i] = from[i * from_stride + k];
}

/* In tiles of 8 x 8, and what is left byte by byte. */
static void tile_turn_small(uint8_t *to, size_t to_stride, const uint8_t *from, size_t from_stride,
			    uint32_t rows, uint32_t cols)
{
	uint32_t whole_cols = cols & ~7u, i = 0;

	for (; i + 8 <= rows; i += 8) {
		for (uint32_t k = 0; k < whole_cols; k += 8)
			tile_turn_8x8(to + k * to_stride + i, to_stride, from + i * from_stride + k,
				      from_stride);
		tile_turn_bytes(to + whole_cols * to_stride + i, to_stride,
				from + i * from_stride + whole_cols, from_stride, 8,
				cols - whole_cols);
	}
	tile_turn_bytes(to + i, to_stride, from + i * from_stride, from_stride, rows - i, cols);
}

/* Rows lie far from each other, where no processor looks ahead by itself. */
static void tile_ask_for(const uint8_t *from, size_t from_stride, uint32_t rows, uint32_t cols)
{
	for (uint32_t i = 0; i < rows; i++)
		for (uint32_t k = 0; k < cols; k += 64)
			__builtin_prefetch(from + i * from_stride + k);
}

void tile_turn(uint8_t *to, size_t to_stride, const uint8_t *from, size_t from_stride,
	       uint32_t rows, uint32_t cols)
{
	uint32_t whole_cols = cols & ~15u, i = 0;

	for (; i + 16 <= rows; i += 16) {
		const uint8_t *strip = from + i * from_stride;

		if (whole_cols && i + 48 <= rows)
			tile_ask_for(strip + 32 * from_stride, from_stride, 16, cols);
		for (uint32_t k = 0; k < whole_cols; k += 16)
			tile_turn_16x16(to + k * to_stride + i, to_stride, strip + k, from_stride);
		tile_turn_small(to + whole_cols * to_stride + i, to_stride, strip + whole_cols,
				from_stride, 16, cols - whole_cols);
	}
	tile_turn_small(to + i, to_stride, from + i * from_stride, from_stride, rows - i, cols);
}
