/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/picture/glyph_set.h"

#include "fabric/base/file/bytes_io.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/process/apart.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a cell may be, whatever a font says of itself. */
#define CELL_LEAST 4
#define CELL_MOST  128

struct glyph_cell {
	int32_t w, h;
	int32_t base; /* row of the line that letters stand on */
};

static int glyph_set_order(const void *x, const void *y)
{
	const struct glyph_want *a = x, *b = y;

	if (a->ch != b->ch)
		return a->ch < b->ch ? -1 : 1;
	if (a->bold != b->bold)
		return a->bold ? 1 : -1;
	return (a->wide ? 1 : 0) - (b->wide ? 1 : 0);
}

const uint8_t *glyph_set_cover(const struct glyph_set *s, const struct glyph_want *want)
{
	const struct glyph_want *found =
		s->n ? bsearch(want, s->want, s->n, sizeof(*want), glyph_set_order) : NULL;

	return found ? s->cover + s->at[found - s->want] : NULL;
}

void glyph_set_done(struct glyph_set *s)
{
	free(s->want);
	free(s->at);
	free(s->cover);
	*s = (struct glyph_set){ 0 };
}

#if WITH_PNG
#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_BITMAP_H
#include FT_SYNTHESIS_H

#define FONT_MOST (64u << 20) /* bytes of a file */

/* A font at its size. */
struct glyph_font {
	FILE *file;
	uint8_t *bytes;
	FT_Face face;
};

/* What both processes need. */
struct glyph_reading {
	const struct png_font *font;
	unsigned size;
	struct glyph_set *set;
	struct glyph_cell cell;
	FT_Library library;
	struct glyph_font regular, bold;
	FT_Bitmap grey; /* of letters that are not so */
};

/* --- in the process that reads ---------------------------------------------------------------- */

static int glyph_set_fail(const struct glyph_reading *r, const char *what, FT_Error why,
			  struct err *err)
{
	const char *text = FT_Error_String(why);

	if (text)
		return err_set(err, -EINVAL, "font %s: %s: %s", r->font->path, what, text);
	return err_set(err, -EINVAL, "font %s: %s (error %d of FreeType)", r->font->path, what,
		       why);
}

static int glyph_set_load(struct glyph_reading *r, struct glyph_font *f, size_t *len,
			  struct err *err)
{
	f->bytes = xcalloc(FONT_MOST + 1, 1);
	rewind(f->file);
	*len = fread(f->bytes, 1, FONT_MOST + 1, f->file);
	if (ferror(f->file))
		return err_set(err, -EIO, "font %s cannot be read", r->font->path);
	if (*len > FONT_MOST)
		return err_set(err, -EFBIG, "font %s is larger than %u MB", r->font->path,
			       FONT_MOST >> 20);
	return 0;
}

/* Of pixels only, the one whose letters are nearest to it. */
static FT_Error glyph_set_size(FT_Face face, unsigned size)
{
	int best = 0;

	if (FT_IS_SCALABLE(face))
		return FT_Set_Pixel_Sizes(face, 0, size);
	for (int i = 1; i < face->num_fixed_sizes; i++)
		if (labs(face->available_sizes[i].y_ppem / 64 - (long)size) <
		    labs(face->available_sizes[best].y_ppem / 64 - (long)size))
			best = i;
	return FT_Select_Size(face, best);
}

static int glyph_set_open(struct glyph_reading *r, struct glyph_font *f, struct err *err)
{
	FT_Error why;
	size_t len;
	int rc = glyph_set_load(r, f, &len, err);

	if (rc)
		return rc;
	why = FT_New_Memory_Face(r->library, f->bytes, (FT_Long)len, 0, &f->face);
	if (why)
		return glyph_set_fail(r, "FreeType cannot read it", why, err);
	why = FT_Select_Charmap(f->face, FT_ENCODING_UNICODE);
	if (why)
		return glyph_set_fail(r, "it has no letters by Unicode", why, err);
	why = glyph_set_size(f->face, r->size);
	return why ? glyph_set_fail(r, "it does not have this size", why, err) : 0;
}

static FT_Error glyph_set_glyph(const struct glyph_font *f, uint32_t ch)
{
	return FT_Load_Glyph(f->face, FT_Get_Char_Index(f->face, ch), FT_LOAD_TARGET_LIGHT);
}

/* Pixels of a length in 64ths, which a hostile font may say is anything. */
static int32_t glyph_set_pixels(FT_Pos v)
{
	return v < 0 ? 0 : v > 64L * 2 * CELL_MOST ? 2 * CELL_MOST : (int32_t)((v + 63) / 64);
}

static int glyph_set_measure(struct glyph_reading *r, struct err *err)
{
	FT_Face face = r->regular.face;
	int32_t up = glyph_set_pixels(face->size->metrics.ascender),
		down = glyph_set_pixels(-face->size->metrics.descender);
	FT_Error why = glyph_set_glyph(&r->regular, 'M');

	if (why)
		return glyph_set_fail(r, "its M cannot be read", why, err);
	r->cell.w = (glyph_set_pixels(face->glyph->advance.x) + 1) / 2 * 2;
	r->cell.h = (up + down + 3) / 4 * 4;
	r->cell.base = up + (r->cell.h - up - down) / 2;
	return 0;
}

/* As much of it as is within the cell, or both. */
static void glyph_set_copy(const struct glyph_reading *r, uint8_t *to, int32_t wide, int32_t left,
			   int32_t top)
{
	const FT_Bitmap *b = &r->grey;
	int most = b->num_grays > 1 ? b->num_grays - 1 : 1;

	for (unsigned y = 0; y < b->rows; y++)
		for (unsigned x = 0; x < b->width; x++) {
			int64_t px = (int64_t)left + x, py = (int64_t)r->cell.base - top + y;
			int v = b->buffer[(size_t)y * (size_t)b->pitch + x];

			if (px >= 0 && px < wide && py >= 0 && py < r->cell.h)
				to[py * wide + px] = (uint8_t)(v < most ? v * 255 / most : 255);
		}
}

/* In the middle, where the font is narrower than its cell.  A letter that it cannot make is left
 * blank. */
static void glyph_set_render(struct glyph_reading *r, uint8_t *to, const struct glyph_want *want)
{
	const struct glyph_font *f = want->bold && r->bold.face ? &r->bold : &r->regular;
	int32_t wide = want->wide ? 2 * r->cell.w : r->cell.w, own;
	FT_GlyphSlot slot;

	if (glyph_set_glyph(f, want->ch))
		return;
	slot = f->face->glyph;
	own = glyph_set_pixels(slot->advance.x);
	if (want->bold && f == &r->regular)
		FT_GlyphSlot_Embolden(slot);
	if (FT_Render_Glyph(slot, FT_RENDER_MODE_NORMAL) || slot->bitmap.pitch < 0 ||
	    FT_Bitmap_Convert(r->library, &slot->bitmap, &r->grey, 1))
		return;
	glyph_set_copy(r, to, wide, slot->bitmap_left + (wide - own) / 2, slot->bitmap_top);
}

static int glyph_set_render_all(struct glyph_reading *r, bytes_out *out, struct err *err)
{
	uint8_t *cover;
	int rc = glyph_set_measure(r, err);

	if (rc)
		return rc;
	if (r->cell.w < CELL_LEAST || r->cell.h < CELL_LEAST || r->cell.w > CELL_MOST ||
	    r->cell.h > CELL_MOST)
		return err_set(err, -EINVAL, "font %s: letters of %d x %d pixels are none",
			       r->font->path, r->cell.w, r->cell.h);
	bytes_put(out, &r->cell, sizeof(r->cell));
	for (size_t i = 0; i < r->set->n; i++) {
		size_t n = (size_t)r->cell.w * (size_t)r->cell.h * (r->set->want[i].wide ? 2 : 1);

		cover = xcalloc(n, 1);
		glyph_set_render(r, cover, &r->set->want[i]);
		bytes_put(out, cover, n);
		free(cover);
	}
	return 0;
}

static void glyph_set_close(struct glyph_font *f)
{
	if (f->face)
		FT_Done_Face(f->face);
	f->face = NULL;
	free(f->bytes);
	f->bytes = NULL;
}

static int glyph_set_work(void *ctx, bytes_out *out, struct read_report *report, struct err *err)
{
	struct glyph_reading *r = ctx;
	FT_Error why = FT_Init_FreeType(&r->library);
	struct err ignored;
	int rc;

	(void)report;
	if (why)
		return glyph_set_fail(r, "FreeType does not begin", why, err);
	FT_Bitmap_Init(&r->grey);
	r->regular.file = r->font->regular;
	r->bold.file = r->font->bold;
	rc = glyph_set_open(r, &r->regular, err);
	/* one that is damaged is not missed: bold letters are made of the others */
	if (!rc && r->bold.file && glyph_set_open(r, &r->bold, &ignored))
		glyph_set_close(&r->bold);
	if (!rc)
		rc = glyph_set_render_all(r, out, err);
	glyph_set_close(&r->regular);
	glyph_set_close(&r->bold);
	FT_Bitmap_Done(r->library, &r->grey);
	FT_Done_FreeType(r->library);
	return rc;
}

/* --- in this one ------------------------------------------------------------------------------ */

static bool glyph_set_cell_fits(const struct glyph_cell *c)
{
	return c->w >= CELL_LEAST && c->w <= CELL_MOST && !(c->w % 2) && c->h >= CELL_LEAST &&
	       c->h <= CELL_MOST && !(c->h % 4);
}

static size_t glyph_set_bytes(const struct glyph_set *s, size_t i)
{
	return (size_t)s->w * (size_t)s->h * (s->want[i].wide ? 2 : 1);
}

static int glyph_set_take(void *ctx, struct bytes_in *in, struct err *err)
{
	struct glyph_reading *r = ctx;
	struct glyph_set *s = r->set;
	size_t total = 0;

	(void)err;
	bytes_take(in, &r->cell, sizeof(r->cell));
	if (in->bad || !glyph_set_cell_fits(&r->cell))
		return -EPROTO;
	s->w = r->cell.w;
	s->h = r->cell.h;
	s->at = xcalloc(s->n + 1, sizeof(*s->at));
	for (size_t i = 0; i < s->n; i++) {
		s->at[i] = total;
		total += glyph_set_bytes(s, i);
	}
	if (in->left < total)
		return -EPROTO;
	s->cover = xcalloc(total + 1, 1);
	bytes_take(in, s->cover, total);
	return 0;
}

static void glyph_set_wanted(struct glyph_set *s, const struct glyph_want *want, size_t n)
{
	size_t kept = 0;

	s->want = xcalloc(n + 1, sizeof(*s->want));
	for (size_t i = 0; i < n; i++)
		s->want[i] = want[i];
	qsort(s->want, n, sizeof(*s->want), glyph_set_order);
	for (size_t i = 0; i < n; i++)
		if (!kept || glyph_set_order(&s->want[kept - 1], &s->want[i]))
			s->want[kept++] = s->want[i];
	s->n = kept;
}

int glyph_set_read(struct glyph_set *out, const struct png_font *font, unsigned size,
		   const struct glyph_want *want, size_t n, struct err *err)
{
	struct glyph_reading r = { .font = font, .size = size, .set = out };
	struct apart a = { .path = font->path,
			   .file = font->regular,
			   .beside = font->bold,
			   .read = glyph_set_work,
			   .take = glyph_set_take,
			   .ctx = &r };
	int rc;

	*out = (struct glyph_set){ 0 };
	glyph_set_wanted(out, want, n);
	rc = apart_read(&a, NULL, err);
	if (rc)
		glyph_set_done(out);
	return rc;
}
#endif
