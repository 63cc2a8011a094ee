/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/canvas/line_canvas.h"

#include "fabric/base/memory/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BRAILLE 0x2800

void line_canvas_clear(struct line_canvas *l, int w, int h, bool glyphs)
{
	size_t n = w > 0 && h > 0 ? (size_t)w * (size_t)h : 0;

	if (w != l->w || h != l->h) {
		free(l->cell);
		l->cell = n ? xcalloc(n, sizeof(*l->cell)) : NULL;
	} else if (n) {
		memset(l->cell, 0, n * sizeof(*l->cell));
	}
	l->w = w;
	l->h = h;
	l->glyphs = glyphs;
	l->lit = l->ncell = 0;
}

void line_canvas_done(struct line_canvas *l)
{
	free(l->cell);
	memset(l, 0, sizeof(*l));
}

/* Narrows [*t0, *t1] to where start + t * step is in 0..size; false: nowhere. */
static bool line_canvas_clip(float start, float step, float size, float *t0, float *t1)
{
	float a, b;

	if (fabsf(step) < 1e-6f)
		return start >= 0 && start < size;
	a = -start / step;
	b = (size - start) / step;
	*t0 = fmaxf(*t0, fminf(a, b));
	*t1 = fminf(*t1, fmaxf(a, b));
	return *t0 <= *t1;
}

static void line_canvas_mark(struct line_canvas *l, int x, int y, uint8_t dot,
			     const struct chan_value *v)
{
	struct line_canvas_cell *cell = &l->cell[y * l->w + x];

	l->ncell += !cell->dots;
	if (!cell->dots || v->bad > cell->bad) {
		cell->bad = v->bad;
		cell->glyph = v->glyph;
		cell->role = (uint8_t)v->role;
	}
	l->lit += !(cell->dots & dot);
	cell->dots |= dot;
}

uint32_t line_canvas_add(struct line_canvas *l, float x0, float y0, float x1, float y1,
			 const struct chan_value *v)
{
	static const uint8_t dots[4][2] = { { 1, 8 }, { 2, 16 }, { 4, 32 }, { 64, 128 } };
	float sx = l->glyphs ? 1 : 2, sy = l->glyphs ? 1 : 4, t0 = 0, t1 = 1, dx, dy;
	int n;

	if (!line_canvas_clip(x0, x1 - x0, (float)l->w, &t0, &t1) ||
	    !line_canvas_clip(y0, y1 - y0, (float)l->h, &t0, &t1))
		return 0;
	dx = (x1 - x0) * sx;
	dy = (y1 - y0) * sy;
	n = (int)ceilf(fmaxf(fabsf(dx), fabsf(dy)) * (t1 - t0)) + 1;
	for (int i = 0; i < n; i++) {
		float t = n > 1 ? t0 + (t1 - t0) * (float)i / (float)(n - 1) : t0;
		int x = (int)(x0 * sx + dx * t), y = (int)(y0 * sy + dy * t);
		int cx = x / (int)sx, cy = y / (int)sy;

		if (x < 0 || y < 0 || cx >= l->w || cy >= l->h)
			continue;
		line_canvas_mark(l, cx, cy, l->glyphs ? 1 : dots[y % 4][x % 2], v);
	}
	return (uint32_t)n;
}

void line_canvas_draw(const struct line_canvas *l, struct canvas *c, struct rect r)
{
	for (int y = 0; y < l->h; y++)
		for (int x = 0; x < l->w; x++) {
			const struct line_canvas_cell *cell = &l->cell[y * l->w + x];

			if (cell->dots)
				canvas_char(c, r, x, y, (enum role)cell->role,
					    l->glyphs ? (uint32_t)cell->glyph
						      : BRAILLE + (uint32_t)cell->dots);
		}
}
