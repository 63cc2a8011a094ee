/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/app/terminal/screen_code.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STYLE_REVERSE 256
#define STYLES	      (2 * STYLE_REVERSE)
#define STYLE_OWN     (-1)
#define GAP	      3 /* cells that are written again rather than stepped over */
#define ERASE_MIN     12
#define REPEAT_MIN    7	   /* bytes that are written again rather than repeated */
#define BY_STYLES_MIN 1500 /* bytes; it takes longer to find */

/* A frame on its way: cells of the canvas beside those that are shown. */
struct screen_frame {
	const struct cell *shown;
	const struct canvas *c;
	int w, h;	/* of what both have */
	int stride;	/* of shown */
	int16_t *style; /* w * h; blanks have their neighbour's */
	bool *change;	/* w * h, and of any cell of a row: */
	bool *row;
	int *erase; /* h: from there on a row is erased first; w: nowhere */
	/* by style, from STYLE_OWN: in which turn it is written, where it is one by one */
	int16_t turn[STYLES + 1];
};

/* --- bytes ----------------------------------------------------------------------------------- */

static void screen_code_put(struct screen_code *s, const char *text, size_t n)
{
	vec_reserve(&s->out, s->out.n + n);
	memcpy(s->out.v + s->out.n, text, n);
	s->out.n += n;
}

static void __attribute__((format(printf, 2, 3)))
screen_code_putf(struct screen_code *s, const char *fmt, ...)
{
	char buf[128];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	screen_code_put(s, buf, (size_t)n);
}

static void screen_code_put_char(struct screen_code *s, uint32_t ch)
{
	char buf[8] = "";

	if (ch < 0x80 || s->utf8)
		text_append(buf, sizeof(buf), ch);
	else /* as wide */
		snprintf(buf, sizeof(buf), "%.*s", text_char_width(ch), "??");
	screen_code_put(s, buf, strlen(buf));
}

/* --- styles ---------------------------------------------------------------------------------- */

static struct screen_style screen_code_style(const struct screen_code *s, int style)
{
	struct screen_style v = { 0 };

	if (style == STYLE_OWN)
		return v;
	v = s->role[style % STYLE_REVERSE];
	v.reverse |= style >= STYLE_REVERSE;
	return v;
}

static bool screen_code_same(const struct screen_style *a, const struct screen_style *b)
{
	return !strcmp(a->fg, b->fg) && !strcmp(a->bg, b->bg) && a->bold == b->bold &&
	       a->reverse == b->reverse;
}

static void screen_code_parameter(char *buf, size_t len, const char *p)
{
	size_t n = strlen(buf);

	snprintf(buf + n, len - n, "%s%s", n ? ";" : "", p);
}

/* What differs of the two, where nothing of the first has to be taken back but colours. */
static void screen_code_differences(char *buf, size_t len, const struct screen_style *was,
				    const struct screen_style *is)
{
	buf[0] = '\0';
	if (is->bold && !was->bold)
		screen_code_parameter(buf, len, "1");
	if (is->reverse && !was->reverse)
		screen_code_parameter(buf, len, "7");
	if (strcmp(is->fg, was->fg) != 0)
		screen_code_parameter(buf, len, is->fg[0] ? is->fg : "39");
	if (strcmp(is->bg, was->bg) != 0)
		screen_code_parameter(buf, len, is->bg[0] ? is->bg : "49");
}

static void screen_code_set_style(struct screen_code *s, int style)
{
	static const struct screen_style own;
	struct screen_style was = screen_code_style(s, s->style);
	struct screen_style is = screen_code_style(s, style);
	char fresh[100] = "", change[96];

	s->style = (int16_t)style;
	if (screen_code_same(&was, &is))
		return;
	screen_code_differences(change, sizeof(change), &own, &is);
	snprintf(fresh, sizeof(fresh), "%s%s", change[0] ? "0;" : "", change);
	screen_code_differences(change, sizeof(change), &was, &is);
	if ((was.bold && !is.bold) || (was.reverse && !is.reverse) ||
	    strlen(fresh) < strlen(change))
		screen_code_putf(s, "\033[%sm", fresh);
	else
		screen_code_putf(s, "\033[%sm", change);
}

/* --- the cursor ------------------------------------------------------------------------------ */

/* To a column of the same row; the shorter way. */
static void screen_code_across(char buf[32], int from, int to)
{
	char back[32];
	int n = from - to;

	buf[0] = '\0';
	if (n < 0) {
		snprintf(buf, 32, n < -1 ? "\033[%dC" : "\033[C", -n);
	} else if (n && n < 4) {
		snprintf(buf, 32, "%.*s", n, "\b\b\b");
	} else if (n) {
		snprintf(buf, 32, "\033[%dD", n);
		snprintf(back, 32, to ? "\r\033[%dC" : "\r", to);
		if (strlen(back) < strlen(buf))
			strcpy(buf, back);
	}
}

static void screen_code_go(struct screen_code *s, int x, int y)
{
	int down = y - s->y;
	char direct[32], steps[40];

	if (s->x == x && !down)
		return;
	snprintf(direct, sizeof(direct), "\033[%d;%dH", y + 1, x + 1);
	steps[0] = '\0';
	if (s->x >= 0 && down >= 0 && down < 4) {
		snprintf(steps, sizeof(steps), "%.*s", down, "\n\n\n");
		screen_code_across(steps + down, s->x, x);
	}
	screen_code_putf(s, "%s", steps[0] && strlen(steps) < strlen(direct) ? steps : direct);
	s->x = x;
	s->y = y;
}

/* --- cells ----------------------------------------------------------------------------------- */

static const struct cell *screen_code_cell(const struct screen_frame *f, int x, int y)
{
	return &f->c->cell[y * f->c->w + x];
}

static bool screen_code_equal(const struct cell *a, const struct cell *b)
{
	return a->ch == b->ch && a->role == b->role && a->reverse == b->reverse;
}

static int screen_code_style_of(const struct cell *cell)
{
	return cell->role % STYLE_REVERSE + (cell->reverse ? STYLE_REVERSE : 0);
}

/* The background; NULL: it is the foreground of something. */
static const char *screen_code_ground(const struct screen_code *s, int style)
{
	if (style == STYLE_OWN)
		return "";
	return style >= STYLE_REVERSE || s->role[style].reverse ? NULL : s->role[style].bg;
}

/* A blank has no colour but its background: any style will do that has the same. */
static bool screen_code_blank_in(const struct screen_code *s, const struct cell *cell, int style)
{
	const char *a, *b;

	if (cell->ch != ' ')
		return false;
	a = screen_code_ground(s, screen_code_style_of(cell));
	b = screen_code_ground(s, style);
	return a && b && !strcmp(a, b);
}

/* Looks the same: blanks have but a background. */
static bool screen_code_alike(const struct screen_code *s, const struct cell *a,
			      const struct cell *b)
{
	return screen_code_equal(a, b) ||
	       (b->ch == ' ' && screen_code_blank_in(s, a, screen_code_style_of(b)));
}

static void screen_code_find_changes(const struct screen_code *s, struct screen_frame *f)
{
	for (int y = 0; y < f->h; y++)
		for (int x = 0; x < f->w; x++) {
			const struct cell *cell = screen_code_cell(f, x, y);

			/* the right half of a wide one comes with the left one */
			f->change[y * f->w + x] =
				cell->ch &&
				!screen_code_alike(s, cell, &f->shown[y * f->stride + x]);
			f->row[y] |= f->change[y * f->w + x];
		}
}

/* --- rows that are erased first -------------------------------------------------------------- */

static int screen_code_bytes_of(const struct screen_code *s, uint32_t ch)
{
	return ch < 0x80 || !s->utf8 ? 1 : ch < 0x800 ? 2 : ch < 0x10000 ? 3 : 4;
}

static int screen_code_step_bytes(int gap)
{
	return gap <= GAP ? gap : gap < 10 ? 4 : 5;
}

/* What is there to be written of a row from x on, about: where it is erased before, all but blanks,
 * else what changes. */
static int screen_code_row_bytes(const struct screen_code *s, const struct screen_frame *f, int x,
				 int y, bool erased)
{
	int bytes = erased ? 3 : 0, gap = 0, blanks = 0, before = 0; /* those */

	for (; x < f->w; x++) {
		const struct cell *cell = screen_code_cell(f, x, y);
		bool blank = screen_code_blank_in(s, cell, STYLE_OWN);

		blanks = blank ? blanks + 1 : 0;
		before = blanks == 1 ? bytes : before;
		if (!cell->ch)
			continue;
		if (erased ? blank : !f->change[y * f->w + x]) {
			gap++;
			continue;
		}
		bytes += screen_code_step_bytes(gap);
		gap = 0;
		if (!blank || blanks < ERASE_MIN)
			bytes += screen_code_bytes_of(s, cell->ch);
		else if (blanks == ERASE_MIN && s->erase_char)
			bytes += 9 - ERASE_MIN; /* ECH, and behind it */
		else if (!s->erase_char)
			bytes++;
	}
	if (erased || blanks < ERASE_MIN || s->erase_char || bytes == before)
		return bytes;
	return before + 3; /* to the end of the row */
}

/* Where that is shorter, which it is from one view to the next.  Returns whether there are any. */
static bool screen_code_find_erased(const struct screen_code *s, struct screen_frame *f)
{
	bool any = false;

	for (int y = 0; y < f->h; y++) {
		int x = 0;

		while (x < f->w && !f->change[y * f->w + x])
			x++;
		f->erase[y] = f->w;
		if (x == f->w || f->w < f->stride ||
		    screen_code_row_bytes(s, f, x, y, true) >=
			    screen_code_row_bytes(s, f, x, y, false))
			continue;
		f->erase[y] = x;
		any = true;
		for (; x < f->w; x++) {
			const struct cell *cell = screen_code_cell(f, x, y);

			f->change[y * f->w + x] =
				cell->ch && !screen_code_blank_in(s, cell, STYLE_OWN);
		}
	}
	return any;
}

/* In the terminal's own style, before anything else is written. */
static void screen_code_erase_rows(struct screen_code *s, const struct screen_frame *f)
{
	for (int y = 0; y < f->h; y++) {
		if (f->erase[y] == f->w)
			continue;
		screen_code_go(s, f->erase[y], y);
		screen_code_put(s, "\033[K", 3);
	}
}

static void screen_code_find_styles(const struct screen_code *s, struct screen_frame *f)
{
	for (int y = 0; y < f->h; y++) {
		int16_t last = STYLE_OWN;

		for (int x = 0; x < f->w; x++) {
			const struct cell *cell = screen_code_cell(f, x, y);

			if (cell->ch && !screen_code_blank_in(s, cell, last))
				last = (int16_t)screen_code_style_of(cell);
			f->style[y * f->w + x] = last;
		}
	}
}

/* How often the character there is to be written again, in one style and up to the edge of what a
 * terminal takes for its margin. */
static int screen_code_again(const struct screen_frame *f, int x, int y, int style)
{
	uint32_t ch = screen_code_cell(f, x, y)->ch;
	int n = 0;

	for (int at = y * f->w + x + 1; x + n + 2 < f->stride && x + n + 1 < f->w; at++, n++)
		if (screen_code_cell(f, x + n + 1, y)->ch != ch || !f->change[at] ||
		    f->style[at] != style)
			break;
	return n;
}

/* Cells behind the one just written that have the same character, by REP; *past: behind them. */
static void screen_code_repeat(struct screen_code *s, const struct screen_frame *f, int x, int y,
			       int style, int *past)
{
	uint32_t ch = screen_code_cell(f, x, y)->ch;
	int n;

	/* what is longer than a byte terminals repeat, or not, each in its own way */
	if (!s->repeat || ch >= 0x7f || s->x != x + 1)
		return;
	n = screen_code_again(f, x, y, style);
	if (n < REPEAT_MIN)
		return;
	screen_code_putf(s, "\033[%db", n);
	s->x += n;
	*past = x + 1 + n;
}

static void screen_code_write(struct screen_code *s, const struct screen_frame *f, int x, int y)
{
	uint32_t ch = screen_code_cell(f, x, y)->ch;
	int w = ch < 0x80 ? 1 : text_char_width(ch);

	if (x + w > f->w) { /* its other half is beyond the edge */
		ch = ' ';
		w = 1;
	}
	screen_code_put_char(s, ch);
	s->x = x + w;
	if (s->x >= f->stride) /* on the margin terminals differ */
		s->x = -1;
}

/* Blanks on the terminal's own background from there on, the last of which change; 0: few. */
static int screen_code_erasable(const struct screen_code *s, const struct screen_frame *f, int x,
				int y)
{
	int end = x;

	while (end < f->w && screen_code_blank_in(s, screen_code_cell(f, end, y), STYLE_OWN))
		end++;
	return end - x >= ERASE_MIN ? end - x : 0;
}

/* True: these cells are done, as far as *past. */
static bool screen_code_erase(struct screen_code *s, const struct screen_frame *f, int x, int y,
			      int *past)
{
	int n = screen_code_erasable(s, f, x, y);
	bool to_end = n && x + n == f->w && f->w == f->stride;
	const char *ground;

	if (!n || (!to_end && !s->erase_char))
		return false;
	screen_code_go(s, x, y);
	/* what is erased gets the background that is set, on some terminals */
	ground = screen_code_ground(s, s->style);
	if (!ground || ground[0])
		screen_code_set_style(s, STYLE_OWN);
	if (to_end)
		screen_code_put(s, "\033[K", 3);
	else
		screen_code_putf(s, "\033[%dX", n);
	*past = x + n;
	return true;
}

static int screen_code_turn(const struct screen_frame *f, int style)
{
	return f->turn[style - STYLE_OWN];
}

/* A cell that may be written in that style, too: it has it, or gets its own one later. */
static bool screen_code_passable(const struct screen_frame *f, int x, int y, int style, bool later)
{
	uint32_t ch = screen_code_cell(f, x, y)->ch;
	int at = y * f->w + x;

	return ch >= 0x20 && ch < 0x7f &&
	       (f->style[at] == style ||
		(later && f->change[at] &&
		 screen_code_turn(f, f->style[at]) > screen_code_turn(f, style)));
}

/* Goes there, over a few cells by writing them. */
static void screen_code_reach(struct screen_code *s, const struct screen_frame *f, int x, int y,
			      int style, bool later)
{
	int gap = x - s->x;
	bool pass = s->y == y && s->x >= 0 && gap > 0 && gap <= GAP;

	for (int k = s->x; pass && k < x; k++)
		pass = screen_code_passable(f, k, y, style, later);
	if (!pass)
		screen_code_go(s, x, y);
	while (s->x < x)
		screen_code_write(s, f, s->x, y);
}

/* The cells of a row that change, of one style (STYLES: of all). */
static void screen_code_row(struct screen_code *s, const struct screen_frame *f, int y, int only)
{
	int past = 0;

	for (int x = 0; x < f->w; x++) {
		int style = f->style[y * f->w + x];

		if (x < past || !f->change[y * f->w + x] || (only != STYLES && style != only) ||
		    screen_code_erase(s, f, x, y, &past))
			continue;
		screen_code_set_style(s, style);
		screen_code_reach(s, f, x, y, style, only != STYLES);
		screen_code_write(s, f, x, y);
		screen_code_repeat(s, f, x, y, style, &past);
	}
}

/* --- frames ---------------------------------------------------------------------------------- */

static void screen_code_begin(struct screen_code *s, const struct screen_frame *f, bool clear)
{
	s->out.n = 0;
	s->style = STYLE_OWN;
	s->x = -1;
	if (clear)
		screen_code_put(s, "\033[m\033[H\033[2J", 10);
	screen_code_erase_rows(s, f);
}

static void screen_code_by_rows(struct screen_code *s, const struct screen_frame *f)
{
	for (int y = 0; y < f->h; y++)
		if (f->row[y])
			screen_code_row(s, f, y, STYLES);
	screen_code_set_style(s, STYLE_OWN);
}

/* Those of most cells come first: what has others among them is written over by these.  Returns how
 * many there are. */
static int screen_code_take_turns(int16_t order[STYLES + 1], struct screen_frame *f)
{
	uint32_t cells[STYLES + 1] = { 0 };
	int n = 0;

	for (int i = 0; i < f->w * f->h; i++)
		cells[f->style[i] - STYLE_OWN] += f->change[i];
	for (int16_t style = STYLE_OWN; style < STYLES; style++) {
		uint32_t has = cells[style - STYLE_OWN];
		int at = n;

		if (!has)
			continue;
		for (; at && cells[order[at - 1] - STYLE_OWN] < has; at--)
			order[at] = order[at - 1];
		order[at] = style;
		n++;
	}
	for (int i = 0; i < n; i++)
		f->turn[order[i] - STYLE_OWN] = (int16_t)i;
	return n;
}

static void screen_code_by_styles(struct screen_code *s, struct screen_frame *f)
{
	int16_t order[STYLES + 1];
	int n = screen_code_take_turns(order, f);

	for (int i = 0; i < n; i++)
		for (int y = 0; y < f->h; y++)
			if (f->row[y])
				screen_code_row(s, f, y, order[i]);
	screen_code_set_style(s, STYLE_OWN);
}

/* Keeps it where it is shorter. */
static void screen_code_try_styles(struct screen_code *s, struct screen_frame *f, bool clear)
{
	struct screen_bytes rows = s->out;

	s->out = s->other;
	screen_code_begin(s, f, clear);
	screen_code_by_styles(s, f);
	s->other = rows;
	if (s->out.n < s->other.n)
		return;
	s->other = s->out;
	s->out = rows;
}

static void screen_code_send(struct screen_code *s, struct screen_frame *f, bool clear)
{
	screen_code_begin(s, f, clear);
	screen_code_by_rows(s, f);
	if (s->out.n > BY_STYLES_MIN)
		screen_code_try_styles(s, f, clear);
}

/* No row is erased first: kept where that is shorter, since it was only foreseen row by row. */
static void screen_code_try_no_erase(struct screen_code *s, struct screen_frame *f, bool clear)
{
	struct screen_bytes erased = s->out;

	s->out = s->spare;
	for (int y = 0; y < f->h; y++)
		f->erase[y] = f->w;
	screen_code_find_changes(s, f);
	screen_code_send(s, f, clear);
	s->spare = erased;
	if (s->out.n < s->spare.n)
		return;
	s->spare = s->out;
	s->out = erased;
}

static bool screen_code_unknown(const struct cell *shown, int n)
{
	for (int i = 0; i < n; i++)
		if (shown[i].ch != SCREEN_UNKNOWN)
			return false;
	return true;
}

static void screen_code_keep(const struct screen_frame *f, struct cell *shown)
{
	for (int y = 0; y < f->h; y++)
		memcpy(&shown[y * f->stride], screen_code_cell(f, 0, y),
		       (size_t)f->w * sizeof(*shown));
}

size_t screen_code_frame(struct screen_code *s, const char **bytes, struct cell *shown, int w,
			 int h, const struct canvas *c)
{
	struct screen_frame f = { .shown = shown,
				  .c = c,
				  .w = c->w < w ? c->w : w,
				  .h = c->h < h ? c->h : h,
				  .stride = w };
	size_t n = (size_t)f.w * (size_t)f.h;
	bool clear = screen_code_unknown(shown, w * h), erases;

	for (int i = 0; clear && i < w * h; i++)
		shown[i] = (struct cell){ .ch = ' ', .role = ROLE_TEXT };
	f.style = xcalloc(n + 1, sizeof(*f.style));
	f.change = xcalloc(n + 1, sizeof(*f.change));
	f.row = xcalloc((size_t)f.h + 1, sizeof(*f.row));
	screen_code_find_changes(s, &f);
	f.erase = xcalloc((size_t)f.h + 1, sizeof(*f.erase));
	erases = screen_code_find_erased(s, &f);
	screen_code_find_styles(s, &f);
	screen_code_send(s, &f, clear);
	if (s->out.n > BY_STYLES_MIN && erases)
		screen_code_try_no_erase(s, &f, clear);
	screen_code_keep(&f, shown);
	free(f.style);
	free(f.change);
	free(f.row);
	free(f.erase);
	*bytes = s->out.v;
	return s->out.n;
}

void screen_code_done(struct screen_code *s)
{
	vec_free(&s->out);
	vec_free(&s->other);
	vec_free(&s->spare);
}
