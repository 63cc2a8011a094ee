/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks, lines and braille in pixels. */
#include "console/picture/cell_shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define W 10
#define H 20

static uint8_t cover[W * H];

static void draw(uint32_t ch)
{
	memset(cover, 7, sizeof(cover));
	assert_true(cell_shape_draw(cover, W, H, ch));
}

/* All of it in x0..x1, y0..y1 is full, all else empty. */
static void is_box(uint32_t ch, int x0, int y0, int x1, int y1)
{
	draw(ch);
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++) {
			bool in = x >= x0 && x < x1 && y >= y0 && y < y1;

			if (cover[y * W + x] != (in ? 255 : 0))
				fail_msg("U+%04X: %d at %d,%d", ch, cover[y * W + x], x, y);
		}
}

static bool full(int x, int y)
{
	return cover[y * W + x] == 255;
}

static void blocks_are_parts_of_the_cell(void **state)
{
	(void)state;
	is_box(0x2588, 0, 0, W, H);
	is_box(0x2580, 0, 0, W, 10);
	is_box(0x2584, 0, 10, W, H);
	is_box(0x2581, 0, 18, W, H);
	is_box(0x2587, 0, 3, W, H);
	is_box(0x258c, 0, 0, 5, H);
	is_box(0x2590, 5, 0, W, H);
	is_box(0x2589, 0, 0, 9, H);
	is_box(0x258f, 0, 0, 1, H);
	is_box(0x2594, 0, 0, W, 3);
	is_box(0x2595, 9, 0, W, H);
	is_box(0x2598, 0, 0, 5, 10);
	is_box(0x2597, 5, 10, W, H);
}

static void two_halves_of_any_cell_are_all_of_it(void **state)
{
	static const uint32_t pairs[][2] = { { 0x2580, 0x2584 }, { 0x258c, 0x2590 },
					     { 0x2599, 0x259d }, { 0x259a, 0x259e },
					     { 0x259b, 0x2597 }, { 0x259c, 0x2596 },
					     { 0x2587, 0x2594 }, { 0x2589, 0x2595 } };
	uint8_t a[19 * 37], b[19 * 37];

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		for (int w = 4; w < 19; w++)
			for (int h = 8; h < 37; h++) {
				cell_shape_draw(a, w, h, pairs[i][0]);
				cell_shape_draw(b, w, h, pairs[i][1]);
				for (int k = 0; k < w * h; k++)
					assert_int_equal(a[k] + b[k], 255);
			}
}

static void shades_are_even(void **state)
{
	(void)state;
	for (uint32_t ch = 0x2591; ch <= 0x2593; ch++) {
		draw(ch);
		for (size_t i = 0; i < sizeof(cover); i++)
			assert_int_equal(cover[i], cover[0]);
		assert_true(cover[0] > 60 * (ch - 0x2590) && cover[0] < 66 * (ch - 0x2590));
	}
}

/* Of each pair the first goes on in the second. */
static void lines_reach_the_edges_and_meet_there(void **state)
{
	uint8_t left[W * H];

	(void)state;
	draw(0x2500);
	for (int x = 0; x < W; x++)
		assert_true(full(x, 9) && !full(x, 8) && !full(x, 10));
	draw(0x2502);
	for (int y = 0; y < H; y++)
		assert_true(full(4, y) && !full(3, y) && !full(5, y));
	for (uint32_t ch = 0x250c; ch <= 0x254b; ch++) { /* to the right of them, a line */
		draw(ch);
		memcpy(left, cover, sizeof(left));
		draw(0x253c);
		for (int y = 0; y < H; y++)
			if (left[y * W + W - 1] && (y == 9 || !left[9 * W + W - 1]))
				assert_true(full(0, y));
	}
	draw(0x250c); /* down and right */
	assert_true(full(4, 9) && full(W - 1, 9) && full(4, H - 1));
	assert_true(!full(0, 9) && !full(4, 0) && !full(4, 8) && !full(3, 9));
	draw(0x250f); /* heavy */
	assert_true(full(3, 8) && full(5, 10) && full(W - 1, 8) && full(3, H - 1));
	assert_true(!full(2, 9) && !full(4, 7));
}

static void braille_has_its_dots_in_their_places(void **state)
{
	static const struct {
		uint32_t dot;
		int x, y;
	} dots[] = { { 0x01, 1, 1 }, { 0x02, 1, 6 }, { 0x04, 1, 11 }, { 0x40, 1, 16 },
		     { 0x08, 6, 1 }, { 0x10, 6, 6 }, { 0x20, 6, 11 }, { 0x80, 6, 16 } };

	(void)state;
	for (size_t i = 0; i < 8; i++)
		is_box(0x2800 + dots[i].dot, dots[i].x, dots[i].y, dots[i].x + 3, dots[i].y + 3);
	draw(0x28ff);
	for (size_t i = 0; i < 8; i++)
		assert_true(full(dots[i].x, dots[i].y));
	draw(0x2800);
	for (size_t i = 0; i < sizeof(cover); i++)
		assert_int_equal(cover[i], 0);
}

static void letters_are_left_to_the_font(void **state)
{
	static const uint32_t letters[] = { 'a',    ' ',    0x2550, 0x256d, 0x2571,   0x24ff,
					    0x25a0, 0x27ff, 0x2900, 0x4e2d, 0x110000, 0xffffffff };

	(void)state;
	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
		memset(cover, 7, sizeof(cover));
		assert_false(cell_shape_is(letters[i]));
		assert_false(cell_shape_draw(cover, W, H, letters[i]));
		assert_int_equal(cover[0], 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_parts_of_the_cell),
		cmocka_unit_test(two_halves_of_any_cell_are_all_of_it),
		cmocka_unit_test(shades_are_even),
		cmocka_unit_test(lines_reach_the_edges_and_meet_there),
		cmocka_unit_test(braille_has_its_dots_in_their_places),
		cmocka_unit_test(letters_are_left_to_the_font),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
