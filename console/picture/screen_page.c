/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/picture/screen_page.h"

#include "console/io/html.h"
#include "console/picture/screen_look.h"
#include "views/canvas/text.h"

#include <string.h>

#define FONT   "DejaVu Sans Mono, Menlo, Consolas, monospace"
#define CELL_W 8.4 /* of a font of 14 */
#define CELL_H 17
#define BASE_Y 13 /* of its letters */

static bool screen_page_same(const struct screen_look *a, const struct screen_look *b)
{
	return a->fg == b->fg && a->bg == b->bg && a->bold == b->bold;
}

static const struct cell *screen_page_cell(const struct canvas *c, int x, int y)
{
	return &c->cell[y * c->w + x];
}

/* Cells from there on that look the same. */
static int screen_page_run(const struct canvas *c, int x, int y, struct screen_look *look)
{
	int n = 1;

	*look = screen_look_of(screen_page_cell(c, x, y));
	for (; x + n < c->w; n++) {
		struct screen_look next = screen_look_of(screen_page_cell(c, x + n, y));

		if (screen_page_cell(c, x + n, y)->ch && !screen_page_same(&next, look))
			break;
	}
	return n;
}

static void screen_page_char(FILE *out, uint32_t ch)
{
	const char *stands = ch < 0x80 ? html_escape((char)ch) : NULL;

	if (stands)
		fputs(stands, out);
	else if (ch)
		text_put(out, ch);
}

static void screen_page_text(FILE *out, const char *text)
{
	while (*text) {
		const char *stands = html_escape(*text);

		if (stands)
			fputs(stands, out);
		else
			fputc(*text, out);
		text++;
	}
}

void screen_page_html(FILE *out, const struct canvas *c, const char *title)
{
	const struct screen_look own = screen_look_own();
	struct screen_look look;

	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>",
	      out);
	screen_page_text(out, title);
	fprintf(out,
		"</title>\n<style>\nbody { margin: 1em; background: #%06x; color: #%06x; }\n"
		"pre { font: 14px/%dpx " FONT "; }\n</style>\n</head>\n<body>\n<pre>",
		own.bg, own.fg, CELL_H);
	for (int y = 0; y < c->h; y++) {
		for (int x = 0, n; x < c->w; x += n) {
			n = screen_page_run(c, x, y, &look);
			if (!screen_page_same(&look, &own))
				fprintf(out, "<span style=\"color:#%06x;background:#%06x%s\">",
					look.fg, look.bg, look.bold ? ";font-weight:bold" : "");
			for (int i = x; i < x + n; i++)
				screen_page_char(out, screen_page_cell(c, i, y)->ch);
			if (!screen_page_same(&look, &own))
				fputs("</span>", out);
		}
		fputc('\n', out);
	}
	fputs("</pre>\n</body>\n</html>\n", out);
}

static bool screen_page_blank(const struct canvas *c, int x, int y, int n)
{
	while (n--)
		if (screen_page_cell(c, x + n, y)->ch != ' ')
			return false;
	return true;
}

static void screen_page_svg_run(FILE *out, const struct canvas *c, int x, int y, int n,
				const struct screen_look *look)
{
	if (look->bg != screen_look_own().bg)
		fprintf(out,
			"<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"#%06x\"/>\n",
			x * CELL_W, y * CELL_H, n * CELL_W, CELL_H, look->bg);
	if (screen_page_blank(c, x, y, n))
		return;
	/* fonts differ in width: the cells stay where they are */
	fprintf(out,
		"<text x=\"%.1f\" y=\"%d\" textLength=\"%.1f\" lengthAdjust=\"spacingAndGlyphs\" "
		"fill=\"#%06x\"%s>",
		x * CELL_W, y * CELL_H + BASE_Y, n * CELL_W, look->fg,
		look->bold ? " font-weight=\"bold\"" : "");
	for (int i = x; i < x + n; i++)
		screen_page_char(out, screen_page_cell(c, i, y)->ch);
	fputs("</text>\n", out);
}

void screen_page_svg(FILE *out, const struct canvas *c, const char *title)
{
	struct screen_look look;

	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.1f %d\" width=\"%.1f\" "
		"height=\"%d\" font-family=\"" FONT "\" font-size=\"14\" xml:space=\"preserve\">\n"
		"<title>",
		c->w * CELL_W, c->h * CELL_H, c->w * CELL_W, c->h * CELL_H);
	screen_page_text(out, title);
	fprintf(out, "</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#%06x\"/>\n",
		screen_look_own().bg);
	for (int y = 0; y < c->h; y++)
		for (int x = 0, n; x < c->w; x += n) {
			n = screen_page_run(c, x, y, &look);
			screen_page_svg_run(out, c, x, y, n, &look);
		}
	fputs("</svg>\n", out);
}
