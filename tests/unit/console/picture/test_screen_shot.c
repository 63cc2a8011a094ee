/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A screen as PNG, decoded again. */
#include "console/picture/glyph_set.h"
#include "console/picture/screen_shot.h"
#include "fabric/base/memory/mem.h"
#include "views/canvas/theme.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COLS 16
#define ROWS 3

static struct canvas *screen(void)
{
	struct canvas *c = canvas_new(COLS, ROWS, false);
	struct rect r = canvas_rect(c);

	canvas_text(c, r, 0, 0, ROLE_TEXT, "Mg");
	canvas_text(c, r, 3, 0, ROLE_BAD, "M"); /* bold */
	canvas_char(c, r, 0, 1, ROLE_GOOD, 0x2588);
	canvas_char(c, r, 1, 1, ROLE_GOOD, 0x2580);
	canvas_char(c, r, 2, 1, ROLE_GOOD, 0x2801);
	canvas_char(c, r, 3, 1, ROLE_STATUS, ' ');
	canvas_text(c, r, 4, 1, ROLE_STATUS, "\xe4\xb8\xad");
	canvas_char(c, r, 6, 1, ROLE_GOOD, 0x2500);
	canvas_char(c, r, 7, 1, ROLE_GOOD, 0x2500);
	canvas_text(c, r, 8, 1, ROLE_TEXT, " ");
	canvas_style(c, (struct rect){ 8, 1, 1, 1 }, ROLE_TEXT, true);
	return c;
}

static int encode(char **png, size_t *len, const char *font, unsigned size, struct err *err)
{
	struct canvas *c = screen();
	struct screen_shot *s = screen_shot_new(c);
	FILE *f = open_memstream(png, len);
	int rc = screen_shot_png(f, s, font, size, err);

	fclose(f);
	screen_shot_free(s);
	canvas_free(c);
	return rc;
}

#if WITH_PNG
#include <png.h>

static uint8_t *rgb;
static int width, cell_w, cell_h;

static void decode(const char *png, size_t len)
{
	png_image image = { .version = PNG_IMAGE_VERSION };

	assert_true(png_image_begin_read_from_memory(&image, png, len));
	assert_int_equal(image.width % COLS, 0);
	assert_int_equal(image.height % ROWS, 0);
	image.format = PNG_FORMAT_RGB;
	width = (int)image.width;
	cell_w = width / COLS;
	cell_h = (int)image.height / ROWS;
	free(rgb);
	rgb = xcalloc(image.height, 3 * image.width);
	assert_true(png_image_finish_read(&image, NULL, rgb, 0, NULL));
}

static void taken(void)
{
	struct err err;
	char *png;
	size_t len;

	assert_int_equal(encode(&png, &len, NULL, PNG_SIZE, &err), 0);
	decode(png, len);
	free(png);
}

/* Of that cell, a pixel. */
static int pixel(int x, int y, int px, int py)
{
	const uint8_t *p = rgb + 3 * ((y * cell_h + py) * width + x * cell_w + px);

	return p[0] << 16 | p[1] << 8 | p[2];
}

/* Those pixels of that cell that have this colour. */
static int count(int x, int y, int colour)
{
	int n = 0;

	for (int py = 0; py < cell_h; py++)
		for (int px = 0; px < cell_w; px++)
			n += pixel(x, y, px, py) == colour;
	return n;
}

static void in_theme(const char *name)
{
	struct theme t;

	assert_true(theme_named(&t, name));
	theme_use(&t);
}

static void cells_have_their_colours(void **state)
{
	int all, good = role_rgb(ROLE_GOOD, false), status = role_rgb(ROLE_STATUS, true);

	(void)state;
	in_theme("dark");
	taken();
	all = cell_w * cell_h;
	assert_true(good > 0 && status > 0);
	assert_int_equal(count(15, 2, 0x121212), all);
	assert_int_equal(count(3, 1, status), all);
	assert_int_equal(count(8, 1, 0xd4d4d4), all); /* reverse */
	assert_int_equal(count(0, 1, good), all);
	assert_int_equal(count(1, 1, good), all / 2);
	assert_int_equal(count(1, 1, 0x121212), all / 2);
	assert_int_equal(pixel(1, 1, 0, cell_h / 2 - 1), good);
	assert_int_equal(pixel(1, 1, cell_w - 1, cell_h / 2), 0x121212);
	in_theme("light");
	taken();
	assert_int_equal(count(15, 2, 0xffffff), cell_w * cell_h);
	assert_int_equal(count(0, 1, role_rgb(ROLE_GOOD, false)), cell_w * cell_h);
	in_theme("dark");
}

static void dots_and_lines_are_where_they_belong(void **state)
{
	int good, dot;

	(void)state;
	in_theme("dark");
	taken();
	good = role_rgb(ROLE_GOOD, false);
	dot = count(2, 1, good);
	assert_true(dot >= 4 && dot + count(2, 1, 0x121212) == cell_w * cell_h);
	assert_int_equal(pixel(2, 1, cell_w / 4, cell_h / 8), good);
	assert_int_equal(pixel(2, 1, 3 * cell_w / 4, cell_h / 8), 0x121212);
	for (int px = 0; px < cell_w; px++) { /* no gap between two cells */
		assert_int_equal(pixel(6, 1, px, (cell_h - 1) / 2), good);
		assert_int_equal(pixel(7, 1, px, (cell_h - 1) / 2), good);
	}
}

static void letters_leave_ink(void **state)
{
	int all;

	(void)state;
	in_theme("dark");
	taken();
	all = cell_w * cell_h;
	assert_true(all - count(0, 0, 0x121212) > all / 8);
	assert_true(all - count(1, 0, 0x121212) > all / 8);
	assert_true(all - count(0, 0, 0x121212) < all);
	assert_int_equal(count(2, 0, 0x121212), all);
	assert_true(count(3, 0, role_rgb(ROLE_BAD, false)) > count(0, 0, 0xd4d4d4));
	/* over both cells of a wide one */
	assert_true(count(4, 1, role_rgb(ROLE_STATUS, true)) < all);
	assert_true(count(5, 1, role_rgb(ROLE_STATUS, true)) < all);
}

static void the_same_screen_gives_the_same_bytes(void **state)
{
	char *a, *b;
	size_t n, m;
	struct err err;

	(void)state;
	assert_int_equal(encode(&a, &n, NULL, PNG_SIZE, &err), 0);
	assert_int_equal(encode(&b, &m, NULL, PNG_SIZE, &err), 0);
	assert_int_equal(n, m);
	assert_memory_equal(a, b, n);
	free(a);
	free(b);
}

static void what_is_too_large_is_refused(void **state)
{
	struct canvas *c = canvas_new(1000, 1000, false);
	struct screen_shot *s = screen_shot_new(c);
	struct err err;
	char *png;
	size_t n;
	FILE *f = open_memstream(&png, &n);

	(void)state;
	assert_int_equal(screen_shot_png(f, s, NULL, PNG_SIZE, &err), -E2BIG);
	assert_non_null(strstr(err.text, "choose a smaller --png-size"));
	fclose(f);
	assert_int_equal(n, 0);
	free(png);
	screen_shot_free(s);
	canvas_free(c);
}

static void without_its_font_nothing_is_written(void **state)
{
	struct err err;
	char *png;
	size_t n;

	(void)state;
	assert_int_equal(encode(&png, &n, "/nonexistent", PNG_SIZE, &err), -ENOENT);
	assert_int_equal(n, 0);
	free(png);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_have_their_colours),
		cmocka_unit_test(dots_and_lines_are_where_they_belong),
		cmocka_unit_test(letters_leave_ink),
		cmocka_unit_test(the_same_screen_gives_the_same_bytes),
		cmocka_unit_test(what_is_too_large_is_refused),
		cmocka_unit_test(without_its_font_nothing_is_written),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);

	free(rgb);
	return rc;
}

#else

static void it_says_what_it_was_built_without(void **state)
{
	struct err err;
	char *png;
	size_t n;

	(void)state;
	assert_int_equal(encode(&png, &n, NULL, PNG_SIZE, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "built without libpng"));
	free(png);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(it_says_what_it_was_built_without) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
