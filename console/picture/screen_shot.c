/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/picture/screen_shot.h"

#include "console/picture/screen_look.h"
#include "console/picture/cell_shape.h"
#include "console/picture/glyph_set.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct shot_cell {
	uint32_t ch; /* 0: right half of a wide one */
	struct screen_look look;
};

struct screen_shot {
	int w, h;
	struct shot_cell cell[];
};

struct screen_shot *screen_shot_new(const struct canvas *c)
{
	size_t n = (size_t)c->w * (size_t)c->h;
	struct screen_shot *s = xcalloc(1, sizeof(*s) + n * sizeof(s->cell[0]));

	s->w = c->w;
	s->h = c->h;
	for (size_t i = 0; i < n; i++)
		s->cell[i] = (struct shot_cell){ c->cell[i].ch, screen_look_of(&c->cell[i]) };
	return s;
}

void screen_shot_free(struct screen_shot *s)
{
	free(s);
}

#if WITH_PNG
#include <png.h>

#define PIXELS_MOST (100u * 1000 * 1000)

struct shot_image {
	const struct screen_shot *shot;
	struct glyph_set glyphs;
	uint8_t *rgb; /* 3 bytes a pixel */
	size_t w, h;
};

static const struct shot_cell *screen_shot_cell(const struct screen_shot *s, int x, int y)
{
	return &s->cell[y * s->w + x];
}

/* Its right half is the next cell. */
static bool screen_shot_wide(const struct screen_shot *s, int x, int y)
{
	return x + 1 < s->w && !screen_shot_cell(s, x + 1, y)->ch;
}

static bool screen_shot_letter(uint32_t ch)
{
	return ch > ' ' && !cell_shape_is(ch);
}

/* Those on the screen; the caller frees. */
static size_t screen_shot_letters(struct glyph_want **out, const struct screen_shot *s)
{
	struct glyph_want *want = xcalloc((size_t)s->w * (size_t)s->h, sizeof(*want));
	size_t n = 0;

	for (int y = 0; y < s->h; y++)
		for (int x = 0; x < s->w; x++) {
			const struct shot_cell *c = screen_shot_cell(s, x, y);

			if (screen_shot_letter(c->ch))
				want[n++] = (struct glyph_want){ c->ch, c->look.bold,
								 screen_shot_wide(s, x, y) };
		}
	*out = want;
	return n;
}

static uint8_t screen_shot_mix(int bg, int fg, int shift, int cover)
{
	int from = bg >> shift & 0xff, to = fg >> shift & 0xff;

	return (uint8_t)((from * (255 - cover) + to * cover + 127) / 255);
}

/* cover: of so many pixels a row, those from there on. */
static void screen_shot_paint(const struct shot_image *im, int x, int y,
			      const struct screen_look *look, const uint8_t *cover, int stride)
{
	int w = im->glyphs.w, h = im->glyphs.h;

	for (int j = 0; j < h; j++) {
		uint8_t *to = im->rgb + 3 * (((size_t)y * (size_t)h + (size_t)j) * im->w +
					     (size_t)x * (size_t)w);

		for (int i = 0; i < w; i++, to += 3) {
			int c = cover ? cover[j * stride + i] : 0;

			for (int k = 0; k < 3; k++)
				to[k] = screen_shot_mix(look->bg, look->fg, 16 - 8 * k, c);
		}
	}
}

/* Of a wide letter both cells. */
static void screen_shot_draw_cell(const struct shot_image *im, int x, int y, uint8_t *shape)
{
	const struct screen_shot *s = im->shot;
	const struct shot_cell *c = screen_shot_cell(s, x, y);
	int w = im->glyphs.w;
	const struct glyph_want want = { c->ch, c->look.bold, screen_shot_wide(s, x, y) };
	const uint8_t *cover = NULL;

	if (cell_shape_draw(shape, w, im->glyphs.h, c->ch))
		cover = shape;
	else if (screen_shot_letter(c->ch))
		cover = glyph_set_cover(&im->glyphs, &want);
	screen_shot_paint(im, x, y, &c->look, cover,
			  cover && want.wide && cover != shape ? 2 * w : w);
	if (cover && want.wide && cover != shape)
		screen_shot_paint(im, x + 1, y, &c->look, cover + w, 2 * w);
}

static void screen_shot_draw(const struct shot_image *im)
{
	uint8_t *shape = xcalloc((size_t)im->glyphs.w * (size_t)im->glyphs.h, 1);

	for (int y = 0; y < im->shot->h; y++)
		for (int x = 0; x < im->shot->w; x++) {
			bool right = x && !screen_shot_cell(im->shot, x, y)->ch;

			if (!right || !screen_shot_letter(screen_shot_cell(im->shot, x - 1, y)->ch))
				screen_shot_draw_cell(im, x, y, shape);
		}
	free(shape);
}

static int screen_shot_write(FILE *out, const struct shot_image *im, struct err *err)
{
	png_image image = { .version = PNG_IMAGE_VERSION,
			    .width = (png_uint_32)im->w,
			    .height = (png_uint_32)im->h,
			    .format = PNG_FORMAT_RGB };
	bool written = png_image_write_to_stdio(&image, out, 0, im->rgb, 0, NULL);
	int rc = written ? 0 : err_set(err, -EIO, "PNG: %s", image.message);

	png_image_free(&image);
	return rc;
}

static int screen_shot_render(FILE *out, struct shot_image *im, struct err *err)
{
	int rc;

	im->w = (size_t)im->shot->w * (size_t)im->glyphs.w;
	im->h = (size_t)im->shot->h * (size_t)im->glyphs.h;
	if (im->w * im->h > PIXELS_MOST)
		return err_set(err, -E2BIG,
			       "a picture of %zu x %zu pixels is too large: choose a smaller "
			       "--png-size",
			       im->w, im->h);
	im->rgb = xcalloc(im->w * im->h, 3);
	screen_shot_draw(im);
	rc = screen_shot_write(out, im, err);
	free(im->rgb);
	return rc;
}

int screen_shot_png(FILE *out, const struct screen_shot *s, const char *path, unsigned size,
		    struct err *err)
{
	struct shot_image im = { .shot = s };
	struct glyph_want *want;
	struct png_font font;
	size_t n;
	int rc = png_font_open(&font, path, err);

	if (rc)
		return rc;
	n = screen_shot_letters(&want, s);
	rc = glyph_set_read(&im.glyphs, &font, size, want, n, err);
	free(want);
	png_font_close(&font);
	if (rc)
		return rc;
	rc = screen_shot_render(out, &im, err);
	glyph_set_done(&im.glyphs);
	return rc;
}

#else

int screen_shot_png(FILE *out, const struct screen_shot *s, const char *font, unsigned size,
		    struct err *err)
{
	(void)out;
	(void)s;
	(void)font;
	(void)size;
	return err_set(err, -ENOTSUP,
		       "this program was built without libpng and FreeType (WITH_PNG=0): .svg and "
		       ".html have the colours, too");
}

#endif
