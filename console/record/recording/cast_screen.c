/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/record/recording/cast_screen.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/message/file_progress.h"
#include "fabric/base/message/plain.h"
#include "views/canvas/canvas.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ARGS	16
#define PROGRESS_EVENTS 256 /* between two progress reports */

static const struct cast_pen plain = { .fg = -1, .bg = -1 };

static void cast_screen_clear(struct cast_screen *s)
{
	for (int i = 0; i < s->w * s->h; i++)
		s->cell[i] = (struct cast_cell){ .ch = ' ', .pen = s->pen };
}

void cast_screen_init(struct cast_screen *s, int w, int h)
{
	*s = (struct cast_screen){ .w = w, .h = h, .pen = plain };
	s->cell = xcalloc((size_t)w * (size_t)h + 1, sizeof(*s->cell));
	cast_screen_clear(s);
}

void cast_screen_free(struct cast_screen *s)
{
	free(s->cell);
	memset(s, 0, sizeof(*s));
}

/* 38;5;N: returns the number of arguments used. */
static int cast_screen_wide_colour(int16_t *out, const int *arg, int n)
{
	if (n < 3 || arg[1] != 5)
		return n;
	*out = (int16_t)(arg[2] & 255);
	return 3;
}

static void cast_screen_take_style(struct cast_pen *p, const int *arg, int n)
{
	for (int i = 0; i < n; i++) {
		int a = arg[i];

		if (!a)
			*p = plain;
		else if (a == 1)
			p->bold = true;
		else if (a == 7)
			p->reverse = true;
		else if (a == 38)
			i += cast_screen_wide_colour(&p->fg, arg + i, n - i) - 1;
		else if (a == 48)
			i += cast_screen_wide_colour(&p->bg, arg + i, n - i) - 1;
		else if (a >= 30 && a <= 37)
			p->fg = (int16_t)(a - 30);
		else if (a >= 90 && a <= 97)
			p->fg = (int16_t)(a - 90 + 8);
		else if (a >= 40 && a <= 47)
			p->bg = (int16_t)(a - 40);
		else if (a >= 100 && a <= 107)
			p->bg = (int16_t)(a - 100 + 8);
	}
}

/* p: after ESC [; returns the end of the sequence. */
static const char *cast_screen_control(struct cast_screen *s, const char *p)
{
	int arg[MAX_ARGS] = { 0 }, n = 0;

	for (; *p && (unsigned char)*p < 0x40; p++) {
		if (*p == ';' && n < MAX_ARGS - 1)
			n++;
		else if (*p >= '0' && *p <= '9' && arg[n] < 100000)
			arg[n] = arg[n] * 10 + *p - '0';
	}
	if (*p == 'm')
		cast_screen_take_style(&s->pen, arg, n + 1);
	if (*p == 'J' && arg[0] == 2)
		cast_screen_clear(s);
	if (*p == 'H') {
		s->y = arg[0] ? arg[0] - 1 : 0;
		s->x = arg[1] ? arg[1] - 1 : 0;
	}
	return *p ? p + 1 : p;
}

static void cast_screen_put(struct cast_screen *s, uint32_t ch)
{
	int wide = text_char_width(ch);

	if (s->y < s->h && s->x < s->w) {
		struct cast_cell *c = &s->cell[s->y * s->w + s->x];

		*c = (struct cast_cell){ .ch = ch, .pen = s->pen };
		if (wide == 2 && s->x + 1 < s->w)
			c[1] = (struct cast_cell){ .ch = 0, .pen = s->pen };
	}
	s->x += wide;
}

static void cast_screen_feed(struct cast_screen *s, const char *p)
{
	while (*p) {
		if (p[0] == '\x1b' && p[1] == '[') {
			p = cast_screen_control(s, p + 2);
		} else if (*p == '\r' || *p == '\n') {
			s->x = 0;
			s->y += *p == '\n';
			p++;
		} else {
			cast_screen_put(s, plain_next(&p));
		}
	}
}

void cast_screen_event(struct cast_screen *s, const struct cast_event *ev)
{
	int w, h;

	if (ev->code == 'o') {
		cast_screen_feed(s, ev->text);
	} else if (ev->code == 'r' && sscanf(ev->text, "%dx%d", &w, &h) == 2 && w > 0 && h > 0 &&
		   w <= 2000 && h <= 2000) {
		cast_screen_free(s);
		cast_screen_init(s, w, h);
	}
}

int cast_screen_at(struct cast_screen *s, const struct cast_events *e, uint32_t n)
{
	uint32_t file = n ? e->v[n - 1].file : 0;

	cast_screen_init(s, e->file[file].w, e->file[file].h);
	for (uint32_t i = 0; i < n; i++) {
		if (i % PROGRESS_EVENTS == 0 && progress_step(file_progress(), "drawing", i, n))
			return -ECANCELED;
		if (e->v[i].file == file) /* each begins with a full repaint */
			cast_screen_event(s, &e->v[i]);
	}
	return 0;
}

char *cast_screen_text(const struct cast_screen *s)
{
	return text_lines(&s->cell->ch, sizeof(*s->cell), s->w, s->h);
}

static bool cast_screen_same_pen(const struct cast_pen *a, const struct cast_pen *b)
{
	return a->fg == b->fg && a->bg == b->bg && a->bold == b->bold && a->reverse == b->reverse;
}

void cast_screen_paint(FILE *f, const struct cast_screen *s, const struct cast_screen *last, int w,
		       int h)
{
	const struct cast_pen *pen = NULL;
	bool known = last && last->w == s->w && last->h == s->h;

	fputs(known ? "" : "\x1b[0m\x1b[2J", f);
	for (int y = 0; y < s->h && y < h; y++) {
		int at = -1;

		for (int x = 0; x < s->w && x < w; x++) {
			const struct cast_cell *c = &s->cell[y * s->w + x];
			const struct cast_cell *was = known ? &last->cell[y * s->w + x] : NULL;

			if (!c->ch ||
			    (was && was->ch == c->ch && cast_screen_same_pen(&was->pen, &c->pen)))
				continue;
			if (at != x)
				fprintf(f, "\x1b[%d;%dH", y + 1, x + 1);
			if (!pen || !cast_screen_same_pen(pen, &c->pen))
				canvas_put_sgr(f, c->pen.fg, c->pen.bg, c->pen.bold,
					       c->pen.reverse);
			pen = &c->pen;
			text_put(f, c->ch);
			at = x + text_char_width(c->ch);
		}
	}
	fputs("\x1b[0m", f);
}
