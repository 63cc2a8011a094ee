/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Letters of fonts, also of fonts that are none.  Linked with --wrap=isolated_read and
 * --wrap=FT_New_Memory_Face. */
#include "console/picture/glyph_set.h"
#include "tests/unit/kit/apart_spy.h"
#include "tests/unit/kit/temp_folder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if WITH_PNG
#include <ft2build.h>
#include FT_FREETYPE_H

static char dir[] = "/tmp/test_glyph_set.XXXXXX";

FT_Error __real_FT_New_Memory_Face(FT_Library l, const FT_Byte *bytes, FT_Long n, FT_Long index,
				   FT_Face *out);
FT_Error __wrap_FT_New_Memory_Face(FT_Library l, const FT_Byte *bytes, FT_Long n, FT_Long index,
				   FT_Face *out);
FT_Error __wrap_FT_New_Memory_Face(FT_Library l, const FT_Byte *bytes, FT_Long n, FT_Long index,
				   FT_Face *out)
{
	tries_all();
	return __real_FT_New_Memory_Face(l, bytes, n, index, out);
}

static const struct glyph_want want[] = {
	{ 'M', false, false }, { 'M', true, false },	{ 'i', false, false },
	{ 'M', false, false }, { 0x4e2d, false, true }, { 0x2191, false, false },
};
#define NWANT (sizeof(want) / sizeof(want[0]))

static int read_font(struct glyph_set *s, const char *path, unsigned size, struct err *err)
{
	struct png_font f;
	int rc = png_font_open(&f, path, err);

	assert_int_equal(rc, 0);
	rc = glyph_set_read(s, &f, size, want, NWANT, err);
	png_font_close(&f);
	return rc;
}

static unsigned ink(const struct glyph_set *s, size_t i)
{
	const uint8_t *cover = glyph_set_cover(s, &want[i]);
	unsigned sum = 0;

	assert_non_null(cover);
	for (int k = 0; k < s->w * s->h * (want[i].wide ? 2 : 1); k++)
		sum += cover[k];
	return sum;
}

static void letters_leave_ink_and_bold_ones_more(void **state)
{
	const struct glyph_want other = { 'x', false, false };
	struct glyph_set s;
	struct err err;

	(void)state;
	assert_int_equal(read_font(&s, NULL, 16, &err), 0);
	assert_int_equal(s.n, 5); /* M is there twice */
	assert_int_equal(s.w % 2 + s.h % 4, 0);
	assert_true(s.w >= 8 && s.w <= 12 && s.h >= 16 && s.h <= 24);
	for (size_t i = 0; i < NWANT; i++)
		assert_true(ink(&s, i) > 1000);
	assert_true(ink(&s, 1) > ink(&s, 0) && ink(&s, 0) > ink(&s, 2));
	assert_null(glyph_set_cover(&s, &other));
	glyph_set_done(&s);
}

static void readers_can_do_nothing_else(void **state)
{
	(void)state;
	assert_true(tries->denied >= 2); /* both fonts of the test before */
	assert_int_equal(tries->able, 0);
	assert_int_equal(tries->here, 0);
}

static void the_same_font_gives_the_same_pixels_in_each_size(void **state)
{
	struct glyph_set a, b;
	struct err err;
	int w = 0;

	(void)state;
	for (unsigned size = PNG_SIZE_LEAST; size <= PNG_SIZE_MOST; size += 8) {
		assert_int_equal(read_font(&a, NULL, size, &err), 0);
		assert_int_equal(read_font(&b, NULL, size, &err), 0);
		assert_true(a.w == b.w && a.h == b.h && a.w > w);
		assert_int_equal(a.at[a.n - 1], b.at[b.n - 1]);
		assert_memory_equal(a.cover, b.cover, a.at[a.n - 1]);
		w = a.w;
		glyph_set_done(&a);
		glyph_set_done(&b);
	}
}

/* Of one font only: bold letters are made of the others. */
static void bold_letters_need_no_font_of_their_own(void **state)
{
	struct png_font f;
	struct glyph_set s;
	struct err err;
	char path[256];

	(void)state;
	assert_int_equal(png_font_open(&f, NULL, &err), 0);
	snprintf(path, sizeof(path), "%s", f.path);
	png_font_close(&f);
	assert_int_equal(read_font(&s, path, 16, &err), 0);
	assert_true(ink(&s, 1) > ink(&s, 0));
	glyph_set_done(&s);
}

static size_t font_bytes(uint8_t **out)
{
	struct png_font f;
	struct err err;
	size_t n;

	assert_int_equal(png_font_open(&f, NULL, &err), 0);
	*out = xcalloc(1u << 20, 1);
	n = fread(*out, 1, 1u << 20, f.regular);
	png_font_close(&f);
	return n;
}

static int read_bytes(struct glyph_set *s, const uint8_t *bytes, size_t n, struct err *err)
{
	char *path = temp_folder_file("font");
	FILE *f = temp_folder_open("font", "w");
	int rc;

	fwrite(bytes, 1, n, f);
	assert_int_equal(fclose(f), 0);
	rc = read_font(s, path, 16, err);
	free(path);
	return rc;
}

static void what_is_no_font_is_told(void **state)
{
	static const uint8_t text[] = "no font at all";
	struct glyph_set s;
	struct err err;

	(void)state;
	assert_int_equal(read_bytes(&s, text, sizeof(text), &err), -EINVAL);
	assert_non_null(strstr(err.text, "/font: FreeType cannot read it"));
	assert_int_equal(read_bytes(&s, text, 0, &err), -EINVAL);
}

static void damaged_fonts_give_letters_or_a_sentence(void **state)
{
	struct rng rng;
	uint8_t *bytes, *bad;
	size_t n = font_bytes(&bytes);
	struct glyph_set s;
	struct err err;

	(void)state;
	rng_seed(&rng, 1);
	for (unsigned i = 0; i < 40; i++) {
		bad = memcpy(xcalloc(n, 1), bytes, n);
		for (unsigned k = 0; k < 200; k++) /* most of them in its tables of contents */
			bad[rng_below(&rng, k % 2 ? 2000 : n)] = (uint8_t)rng_u64(&rng);
		memcpy(bad, bytes, i % 2 ? 4 : 300);
		if (!read_bytes(&s, bad, i % 5 ? n : rng_below(&rng, n), &err))
			glyph_set_done(&s);
		else
			assert_true(err.text[0]);
		free(bad);
	}
	free(bytes);
}

static void nothing_that_a_reader_sends_is_believed(void **state)
{
	struct rng rng;
	struct glyph_set s;
	struct err err;
	uint8_t *sent;
	size_t len;
	unsigned refused = 0;

	(void)state;
	way.keep = true;
	assert_int_equal(read_font(&s, NULL, 16, &err), 0);
	glyph_set_done(&s);
	way.keep = false;
	sent = way.data;
	len = way.len;
	way.replace = true;
	rng_seed(&rng, 2);
	for (unsigned i = 0; i < 2000; i++) {
		way_spoil(&rng, i, sent, len);
		if (!read_font(&s, NULL, 16, &err))
			glyph_set_done(&s);
		else
			refused++;
		free(way.data);
	}
	assert_true(refused > 300 && refused < 2000);
	way.replace = false;
	free(sent);
	way.data = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(letters_leave_ink_and_bold_ones_more),
		cmocka_unit_test(readers_can_do_nothing_else),
		cmocka_unit_test(the_same_font_gives_the_same_pixels_in_each_size),
		cmocka_unit_test(bold_letters_need_no_font_of_their_own),
		cmocka_unit_test(what_is_no_font_is_told),
		cmocka_unit_test(damaged_fonts_give_letters_or_a_sentence),
		cmocka_unit_test(nothing_that_a_reader_sends_is_believed),
	};
	int rc;

	tries_begin();
	temp_folder_begin(dir);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	temp_folder_end();
	return rc;
}
#else
int main(void)
{
	return 0;
}
#endif
