/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is sent for a frame, read by a terminal that knows no more than is used. */
#include "console/app/terminal/screen_code.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define W 60
#define H 14

/* What stands in a cell of the terminal. */
struct glyph {
	uint32_t ch;
	int fg, bg; /* -1: its own */
	bool bold, reverse;
};

struct screen {
	struct glyph cell[H][W];
	struct glyph pen;
	int x, y;
	bool colour_erase; /* what is erased gets the background that is set */
	uint32_t last;	   /* character that was printed just before; 0: none */
	bool margin;	   /* the last column was written: where the cursor is, differs */
};

static const struct glyph blank = { ' ', -1, -1, false, false };

/* --- a terminal ------------------------------------------------------------------------------ */

static void erase(struct screen *t, int x, int y, int n)
{
	struct glyph with = blank;

	assert_false(t->pen.reverse);
	if (t->colour_erase)
		with.bg = t->pen.bg;
	assert_true(x >= 0 && x + n <= W);
	for (int i = 0; i < n; i++)
		t->cell[y][x + i] = with;
}

static void set_pen(struct screen *t, const int *p, int n)
{
	for (int i = 0; i < n; i++) {
		if (!p[i])
			t->pen = blank;
		else if (p[i] == 1)
			t->pen.bold = true;
		else if (p[i] == 7)
			t->pen.reverse = true;
		else if (p[i] == 39)
			t->pen.fg = -1;
		else if (p[i] == 49)
			t->pen.bg = -1;
		else if ((p[i] == 38 || p[i] == 48) && i + 2 < n && p[i + 1] == 5) {
			*(p[i] == 38 ? &t->pen.fg : &t->pen.bg) = p[i + 2];
			i += 2;
		} else
			fail_msg("SGR %d", p[i]);
	}
}

static void print(struct screen *t, uint32_t ch);

static void print_again(struct screen *t, int count)
{
	uint32_t ch = t->last;

	assert_true(ch && ch < 0x7f);
	while (count--)
		print(t, ch);
	assert_false(t->margin);
}

static void control(struct screen *t, char what, const int *p, int n)
{
	int count = p[0] ? p[0] : 1;

	if (what == 'm') {
		set_pen(t, p, n);
	} else if (what == 'H') {
		t->y = count - 1;
		t->x = n > 1 && p[1] ? p[1] - 1 : 0;
		t->margin = false;
	} else if (what == 'J') {
		assert_int_equal(p[0], 2);
		for (int y = 0; y < H; y++)
			erase(t, 0, y, W);
	} else {
		assert_false(t->margin);
		if (what == 'K')
			erase(t, t->x, t->y, W - t->x);
		else if (what == 'X')
			erase(t, t->x, t->y, count);
		else if (what == 'b')
			print_again(t, count);
		else if (what == 'C')
			t->x += count;
		else if (what == 'D')
			t->x -= count;
		else
			fail_msg("CSI %c", what);
	}
}

static const char *sequence(struct screen *t, const char *s)
{
	int p[16] = { 0 }, n = 1;

	assert_int_equal(*s++, '[');
	for (; *s == ';' || (*s >= '0' && *s <= '9'); s++) {
		if (*s == ';')
			n++;
		else
			p[n - 1] = 10 * p[n - 1] + *s - '0';
		assert_true(n < 16);
	}
	control(t, *s, p, n);
	return s + 1;
}

static const char *decode(const char *s, uint32_t *ch)
{
	const unsigned char *u = (const unsigned char *)s;
	int more = u[0] >= 0xf0 ? 3 : u[0] >= 0xe0 ? 2 : u[0] >= 0xc0 ? 1 : 0;

	*ch = more ? u[0] & (0x3f >> more) : u[0];
	for (int i = 1; i <= more; i++)
		*ch = *ch << 6 | (u[i] & 0x3f);
	return s + 1 + more;
}

static void print(struct screen *t, uint32_t ch)
{
	int w = text_char_width(ch);

	assert_true(!t->margin && t->y >= 0 && t->y < H && t->x >= 0 && t->x + w <= W);
	t->cell[t->y][t->x] = t->pen;
	t->cell[t->y][t->x].ch = ch;
	if (w == 2) {
		t->cell[t->y][t->x + 1] = t->pen;
		t->cell[t->y][t->x + 1].ch = 0;
	}
	t->x += w;
	t->margin = t->x == W;
	t->last = ch;
}

static void take(struct screen *t, const char *s, size_t n)
{
	const char *end = s + n;
	uint32_t ch;

	while (s < end) {
		s = decode(s, &ch);
		if (ch == '\033') {
			s = sequence(t, s);
			t->last = 0;
		} else if (ch == '\r' || ch == '\n' || ch == '\b') {
			assert_false(t->margin);
			t->x = ch == '\r' ? 0 : ch == '\b' ? t->x - 1 : t->x;
			t->y += ch == '\n';
			assert_true(t->y < H && t->x >= 0);
		} else {
			assert_true(ch >= 0x20);
			print(t, ch);
		}
	}
	assert_ptr_equal(s, end);
}

/* --- frames ---------------------------------------------------------------------------------- */

static void learn(struct screen_code *s, bool utf8, bool erase_char, bool repeat)
{
	memset(s, 0, sizeof(*s));
	s->utf8 = utf8;
	s->erase_char = erase_char;
	s->repeat = repeat;
	for (int i = 0; i < ROLE_COUNT; i++) {
		const struct role_style *l = role_style((enum role)i);

		if (l->fg >= 0)
			snprintf(s->role[i].fg, sizeof(s->role[i].fg), "38;5;%d", l->fg);
		if (l->bg >= 0)
			snprintf(s->role[i].bg, sizeof(s->role[i].bg), "48;5;%d", l->bg);
		s->role[i].bold = l->bold;
	}
}

static void forget(struct cell *shown)
{
	for (int i = 0; i < W * H; i++)
		shown[i].ch = SCREEN_UNKNOWN;
}

static void show(struct screen *t, struct screen_code *s, struct cell *shown,
		 const struct canvas *c, size_t *sent)
{
	const char *bytes;
	size_t n = screen_code_frame(s, &bytes, shown, W, H, c);

	take(t, bytes, n);
	t->margin = false; /* every frame begins anywhere */
	t->x = t->y = 0;
	assert_true(t->pen.fg == -1 && t->pen.bg == -1 && !t->pen.bold && !t->pen.reverse);
	if (sent)
		*sent = n;
}

static void same(const struct screen *t, const struct canvas *c, bool utf8)
{
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++) {
			const struct cell *want = &c->cell[y * c->w + x];
			const struct role_style *l = role_style((enum role)want->role);
			const struct glyph *g = &t->cell[y][x];
			uint32_t ch = want->ch >= 0x80 && !utf8 ? '?' : want->ch;

			if (!ch && !utf8)
				ch = '?';
			if (ch != g->ch)
				fail_msg("%d,%d: %#x, not %#x", x, y, g->ch, ch);
			if (!want->ch)
				continue;
			assert_int_equal(g->bg, l->bg);
			assert_int_equal(g->reverse, want->reverse);
			if (ch == ' ' && !want->reverse)
				continue;
			assert_int_equal(g->fg, l->fg);
			assert_int_equal(g->bold, l->bold);
		}
}

static const uint32_t letters[] = { 'a', '.', '@', 0x2588, 0x28ff, 0x4e2d, ' ', ' ', ' ', 0xe9 };

/* Some of the screen, in runs, as views draw. */
static void scribble(struct canvas *c, struct rng *r, bool wide)
{
	struct rect all = canvas_rect(c);
	int runs = (int)rng_below(r, 40);

	for (int k = 0; k < runs; k++) {
		enum role role = (enum role)rng_below(r, ROLE_COUNT);
		uint32_t ch = letters[rng_below(r, sizeof(letters) / sizeof(letters[0]))];
		int x = (int)rng_below(r, W), y = (int)rng_below(r, H);
		int n = 1 + (int)rng_below(r, rng_below(r, 4) ? 6 : W);

		if (ch == 0x4e2d && !wide)
			ch = '#';
		if (text_char_width(ch) == 2)
			for (int i = 0; i < n; i++)
				canvas_text(c, all, x + 2 * i, y, role, "\xe4\xb8\xad");
		else
			for (int i = 0; i < n; i++)
				canvas_char(c, all, x + i, y, role, ch);
		if (!rng_below(r, 5))
			canvas_style(c, (struct rect){ x, y, n, 1 }, role, rng_below(r, 2));
	}
}

static void any_screen_becomes_any_other(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 400; seed++) {
		struct canvas *c = canvas_new(W, H, false);
		struct cell shown[W * H];
		struct screen t = { .colour_erase = seed & 1, .pen = blank };
		struct screen_code s;
		struct rng r;

		rng_seed(&r, seed);
		learn(&s, !(seed & 8), seed & 2, seed & 16);
		forget(shown);
		memset(t.cell, 0x55, sizeof(t.cell));
		for (int frame = 0; frame < 12; frame++) {
			if (!rng_below(&r, 6))
				canvas_clear(c);
			scribble(c, &r, seed & 4);
			show(&t, &s, shown, c, NULL);
			same(&t, c, s.utf8);
			assert_memory_equal(&shown[0].ch, &c->cell[0].ch, sizeof(uint32_t));
		}
		screen_code_done(&s);
		canvas_free(c);
	}
}

static void what_is_there_is_not_sent_again(void **state)
{
	struct canvas *c = canvas_new(W, H, false);
	struct cell shown[W * H];
	struct screen t = { .pen = blank };
	struct screen_code s;
	struct rng r;
	size_t n;

	(void)state;
	rng_seed(&r, 7);
	learn(&s, true, true, false);
	forget(shown);
	scribble(c, &r, true);
	show(&t, &s, shown, c, &n);
	assert_true(n > 0);
	show(&t, &s, shown, c, &n);
	assert_int_equal(n, 0);
	canvas_char(c, canvas_rect(c), 30, 5, ROLE_TEXT, 'x');
	show(&t, &s, shown, c, &n);
	same(&t, c, true);
	assert_in_range(n, 1, 8); /* where, and what */
	forget(shown);
	show(&t, &s, shown, c, &n);
	same(&t, c, true);
	screen_code_done(&s);
	canvas_free(c);
}

/* A heatmap: colours that change from cell to cell.  Setting them takes 20 bytes each. */
static void colours_that_change_with_each_cell_take_few_bytes(void **state)
{
	struct canvas *c = canvas_new(W, H, false);
	struct cell shown[W * H];
	struct screen t = { .pen = blank };
	struct screen_code s;
	struct rng r;
	size_t n;

	(void)state;
	rng_seed(&r, 3);
	learn(&s, true, true, false);
	forget(shown);
	show(&t, &s, shown, c, NULL);
	for (int i = 0; i < W * H; i++) {
		int level = (int)rng_below(&r, 8);

		canvas_char(c, canvas_rect(c), i % W, i / W,
			    level ? fill_role(heat_role(PALETTE_VIRIDIS, level)) : ROLE_DIM,
			    (uint32_t)heat_glyph(level));
	}
	show(&t, &s, shown, c, &n);
	same(&t, c, true);
	if (getenv("VERBOSE"))
		print_message("%zu bytes for %d cells\n", n, W * H);
	assert_true(n < 6 * W * H);
	screen_code_done(&s);
	canvas_free(c);
}

/* Little where much was: in a terminal that cannot erase but to the end of a row, too. */
static void rows_are_erased_first_where_that_is_shorter(void **state)
{
	struct canvas *c = canvas_new(W, H, false);
	struct cell shown[W * H];

	(void)state;
	for (int erase_char = 0; erase_char < 2; erase_char++) {
		struct screen t = { .pen = blank };
		struct screen_code s;
		size_t n;

		learn(&s, true, erase_char, erase_char);
		forget(shown);
		canvas_fill(c, canvas_rect(c), ROLE_HEAT, 'x');
		show(&t, &s, shown, c, NULL);
		canvas_clear(c);
		for (int y = 0; y < H; y++)
			for (int x = 3; x < W; x += 14)
				canvas_text(c, canvas_rect(c), x, y, ROLE_TEXT, "ab");
		show(&t, &s, shown, c, &n);
		same(&t, c, true);
		assert_in_range(n, H * 12, H * 45); /* 60 cells of each are other ones */
		screen_code_done(&s);
	}
	canvas_free(c);
}

/* A canvas that is not as large as the terminal yet, or no more. */
static void a_canvas_of_another_size_stays_within_the_screen(void **state)
{
	static const int size[][2] = { { W - 7, H - 3 }, { W + 9, H + 2 }, { 1, 1 } };
	struct screen_code s;

	(void)state;
	learn(&s, true, true, false);
	for (size_t i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		struct canvas *c = canvas_new(size[i][0], size[i][1], false);
		struct screen t = { .pen = blank };
		struct cell shown[W * H];

		forget(shown);
		canvas_fill(c, canvas_rect(c), ROLE_HEAT, 'o');
		show(&t, &s, shown, c, NULL);
		for (int y = 0; y < H; y++)
			for (int x = 0; x < W; x++)
				assert_int_equal(t.cell[y][x].ch,
						 x < size[i][0] && y < size[i][1] ? 'o' : ' ');
		canvas_free(c);
	}
	screen_code_done(&s);
}

static void a_wide_character_on_the_edge_is_left_out(void **state)
{
	struct canvas *c = canvas_new(W + 1, H, false);
	struct screen t = { .pen = blank };
	struct cell shown[W * H];
	struct screen_code s;

	(void)state;
	learn(&s, true, true, false);
	forget(shown);
	canvas_text(c, canvas_rect(c), W - 1, 2, ROLE_BAD, "\xe4\xb8\xad");
	canvas_text(c, canvas_rect(c), W - 3, 3, ROLE_BAD, "\xe4\xb8\xad");
	show(&t, &s, shown, c, NULL);
	assert_int_equal(t.cell[2][W - 1].ch, ' ');
	assert_int_equal(t.cell[3][W - 3].ch, 0x4e2d);
	screen_code_done(&s);
	canvas_free(c);
}

static void what_is_there_many_times_is_repeated(void **state)
{
	struct canvas *c = canvas_new(W, H, false);
	struct cell shown[W * H];
	struct screen t = { .pen = blank };
	size_t n[2];

	(void)state;
	for (int i = 0; i < W; i++) {
		canvas_char(c, canvas_rect(c), i, 3, ROLE_RULE, 0x2500);
		canvas_char(c, canvas_rect(c), i, 4, ROLE_DIM, '.');
	}
	for (int repeat = 0; repeat < 2; repeat++) {
		struct screen_code s;

		learn(&s, true, true, repeat);
		forget(shown);
		show(&t, &s, shown, c, &n[repeat]);
		same(&t, c, true);
		screen_code_done(&s);
	}
	assert_in_range(n[0], 4 * W, 4 * W + 60);
	assert_in_range(n[1], 3 * W, 3 * W + 70);
	canvas_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_screen_becomes_any_other),
		cmocka_unit_test(what_is_there_is_not_sent_again),
		cmocka_unit_test(what_is_there_many_times_is_repeated),
		cmocka_unit_test(colours_that_change_with_each_cell_take_few_bytes),
		cmocka_unit_test(rows_are_erased_first_where_that_is_shorter),
		cmocka_unit_test(a_canvas_of_another_size_stays_within_the_screen),
		cmocka_unit_test(a_wide_character_on_the_edge_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
