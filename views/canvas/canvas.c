/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/canvas/canvas.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plain.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 1024

struct canvas *canvas_new(int w, int h, bool ascii)
{
	struct canvas *c = xcalloc(1, sizeof(*c));

	c->w = w > 0 ? w : 0;
	c->h = h > 0 ? h : 0;
	c->ascii = ascii;
	c->cell = xcalloc((size_t)c->w * (size_t)c->h, sizeof(*c->cell));
	canvas_clear(c);
	return c;
}

void canvas_free(struct canvas *c)
{
	if (!c)
		return;
	free(c->cell);
	free(c);
}

void canvas_clear(struct canvas *c)
{
	canvas_fill(c, canvas_rect(c), ROLE_TEXT, ' ');
}

struct rect canvas_rect(const struct canvas *c)
{
	return (struct rect){ 0, 0, c->w, c->h };
}

/* The cell at (x, y) of r, NULL when clipped. */
static struct cell *canvas_cell_at(struct canvas *c, struct rect r, int x, int y)
{
	int cx = r.x + x, cy = r.y + y;

	if (x < 0 || y < 0 || x >= r.w || y >= r.h || cx < 0 || cy < 0 || cx >= c->w || cy >= c->h)
		return NULL;
	return &c->cell[cy * c->w + cx];
}

static uint32_t canvas_ascii_of(uint32_t ch)
{
	switch (ch) {
	case 0x2500: /* line */
		return '-';
	case 0x2502:
		return '|';
	case 0x2514: /* corner */
		return '`';
	case 0x2588: /* full block */
	case 0x2593:
		return '#';
	case 0x2591: /* light shade */
		return '.';
	case 0xb7:
		return '.';
	case 0x2191: /* arrows: no letter, which would look like a part of the next word */
		return '+';
	case 0x2193:
		return '-';
	}
	return ch < 0x80 ? ch : '?';
}

/* Writes one cell; a wide character that loses a half becomes a blank. */
static void canvas_cell_set(struct canvas *c, struct cell *cell, uint32_t ch, enum role role)
{
	struct cell *end = c->cell + c->w * c->h;

	if (!cell->ch && cell > c->cell)
		cell[-1].ch = ' ';
	if (cell + 1 < end && !cell[1].ch)
		cell[1].ch = ' ';
	*cell = (struct cell){ .ch = ch, .role = (uint8_t)role };
}

void canvas_char(struct canvas *c, struct rect r, int x, int y, enum role role, uint32_t ch)
{
	struct cell *cell = canvas_cell_at(c, r, x, y);

	if (cell)
		canvas_cell_set(c, cell, c->ascii ? canvas_ascii_of(ch) : ch, role);
}

int canvas_text(struct canvas *c, struct rect r, int x, int y, enum role role, const char *text)
{
	uint32_t ch;

	while ((ch = plain_next(&text))) {
		int w;

		if (c->ascii)
			ch = canvas_ascii_of(ch);
		w = text_char_width(ch);
		if (w == 1) {
			canvas_char(c, r, x, y, role, ch);
		} else if (w == 2) {
			struct cell *right = canvas_cell_at(c, r, x + 1, y);

			canvas_char(c, r, x, y, role, right ? ch : ' ');
			if (right && canvas_cell_at(c, r, x, y)) {
				canvas_cell_set(c, right, ' ', role);
				right->ch = 0;
			}
		}
		x += w;
	}
	return x;
}

int canvas_textf(struct canvas *c, struct rect r, int x, int y, enum role role, const char *fmt,
		 ...)
{
	char buf[LINE_MAX_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	return canvas_text(c, r, x, y, role, buf);
}

void canvas_right(struct canvas *c, struct rect r, int end, int y, enum role role, const char *text)
{
	canvas_text(c, r, end - text_width(text), y, role, text);
}

void canvas_rightf(struct canvas *c, struct rect r, int end, int y, enum role role, const char *fmt,
		   ...)
{
	char buf[LINE_MAX_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	canvas_right(c, r, end, y, role, buf);
}

void canvas_name(struct canvas *c, struct rect r, int x, int y, int width, enum role role,
		 const char *text)
{
	char buf[LINE_MAX_BYTES];

	canvas_text(c, r, x, y, role, text_shorten_ends(buf, sizeof(buf), text, width));
}

/* Bytes of text that fit width columns, broken after a blank where there is one. */
static size_t canvas_line_bytes(const char *text, int width)
{
	const char *p = text, *blank = NULL;
	int w = 0;

	while (*p) {
		const char *from = p;
		uint32_t ch = plain_next(&p);

		w += text_char_width(ch);
		if (w > width)
			return (size_t)((blank ? blank : from > text ? from : p) - text);
		if (ch == ' ')
			blank = p;
	}
	return (size_t)(p - text);
}

int canvas_wrap(struct canvas *c, struct rect r, int x, int y, enum role role, const char *text)
{
	int lines = 0;

	while (*text && r.w > x) {
		char buf[LINE_MAX_BYTES];
		size_t n = canvas_line_bytes(text, r.w - x);

		if (n >= sizeof(buf))
			n = sizeof(buf) - 1;
		memcpy(buf, text, n);
		buf[n] = '\0';
		canvas_text(c, r, x, y + lines++, role, buf);
		text += n;
	}
	return lines;
}

void canvas_fill(struct canvas *c, struct rect r, enum role role, uint32_t ch)
{
	for (int y = 0; y < r.h; y++)
		for (int x = 0; x < r.w; x++)
			canvas_char(c, r, x, y, role, ch);
}

void canvas_style(struct canvas *c, struct rect r, enum role role, bool reverse)
{
	for (int y = 0; y < r.h; y++) {
		for (int x = 0; x < r.w; x++) {
			struct cell *cell = canvas_cell_at(c, r, x, y);

			if (!cell)
				continue;
			cell->role = (uint8_t)role;
			cell->reverse = reverse;
		}
	}
}

void canvas_press(struct canvas *c, struct rect r, int x, int y, int w, uint16_t press)
{
	for (int i = 0; i < w; i++) {
		struct cell *cell = canvas_cell_at(c, r, x + i, y);

		if (cell)
			cell->press = press;
	}
}

void canvas_rule(struct canvas *c, struct rect r, int y, const char *title)
{
	for (int x = 0; x < r.w; x++)
		canvas_char(c, r, x, y, ROLE_RULE, 0x2500);
	if (title && title[0] && r.w > 6) {
		char buf[LINE_MAX_BYTES];

		canvas_textf(c, r, 2, y, ROLE_RULE, " %s ",
			     text_shorten(buf, sizeof(buf), title, r.w - 6));
	}
}

void canvas_bar(struct canvas *c, struct rect r, int x, int y, int width, enum role role,
		double share, double extra)
{
	int full, more;

	if (!isfinite(share)) {
		canvas_char(c, r, x, y, ROLE_DIM, '?');
		return;
	}
	share = fmin(fmax(share, 0), 1);
	extra = isfinite(extra) ? fmin(fmax(extra, 0), 1 - share) : 0;
	full = (int)lround(share * width);
	more = (int)lround((share + extra) * width);
	for (int i = 0; i < width; i++) {
		if (i < full)
			canvas_char(c, r, x + i, y, role, 0x2588);
		else
			canvas_char(c, r, x + i, y, i < more ? ROLE_WARN : ROLE_DIM,
				    i < more ? '+' : 0xb7);
	}
}

void canvas_spark(struct canvas *c, struct rect r, int x, int y, const uint8_t *pct, int n)
{
	for (int i = 0; i < n; i++) {
		int level = pct[i] <= 100 ? heat_level(pct[i]) : -1;
		uint32_t glyph = level < 0  ? ' '
				 : c->ascii ? (uint32_t)heat_glyph(level)
					    : 0x2581 + (uint32_t)(pct[i] * 7 + 50) / 100;

		canvas_char(c, r, x + i, y,
			    level < 0 ? ROLE_DIM : heat_role(PALETTE_VIRIDIS, level), glyph);
	}
}

char *canvas_dump(const struct canvas *c)
{
	return text_lines(&c->cell->ch, sizeof(*c->cell), c->w, c->h);
}

static void canvas_put_colour(FILE *f, int colour, int basic)
{
	if (colour >= 16)
		fprintf(f, ";%d;5;%d", basic + 8, colour);
	else if (colour >= 0)
		fprintf(f, ";%d", colour < 8 ? basic + colour : basic + 60 + colour - 8);
}

void canvas_put_sgr(FILE *f, int fg, int bg, bool bold, bool reverse)
{
	fprintf(f, "\x1b[0%s%s", bold ? ";1" : "", reverse ? ";7" : "");
	canvas_put_colour(f, fg, 30);
	canvas_put_colour(f, bg, 40);
	fputc('m', f);
}
