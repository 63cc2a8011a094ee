/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/app/terminal/key_reader.h"
#include "console/app/terminal/terminal_keys.h"
#include "fabric/base/memory/vec.h"

#include <curses.h>
#include <term.h>

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Those of ncurses-base, which every machine has. */
static const char *const terms[] = {
	"ansi",
	"cons25",
	"cons25-debian",
	"cygwin",
	"Eterm",
	"Eterm-color",
	"hurd",
	"linux",
	"mach",
	"mach-bold",
	"mach-color",
	"mach-gnu",
	"mach-gnu-color",
	"pcansi",
	"rxvt",
	"rxvt-basic",
	"rxvt-m",
	"rxvt-unicode",
	"rxvt-unicode-256color",
	"screen",
	"screen-256color",
	"screen-256color-bce",
	"screen-bce",
	"screen-s",
	"screen-w",
	"screen.xterm-256color",
	"sun",
	"tmux",
	"tmux-256color",
	"vt100",
	"vt102",
	"vt220",
	"vt52",
	"wsvt25",
	"wsvt25m",
	"xterm",
	"xterm-256color",
	"xterm-color",
	"xterm-debian",
	"xterm-mono",
	"xterm-r5",
	"xterm-r6",
	"xterm-vt220",
	"xterm-xfree86",
};
#define TERMS (sizeof(terms) / sizeof(terms[0]))

typedef VEC(char *) texts;

__attribute__((format(printf, 2, 3))) static void text_add(texts *all, const char *fmt, ...)
{
	char buf[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	vec_push(all, strdup(buf));
}

/* --- what xterm, tmux, kitty, PuTTY, rxvt and the Linux console send ----------------------------
 */

static void add_with_modifiers(texts *all)
{
	static const int numbers[] = { 1,  2,  3,  4,  5,  6,  7,  8,  11, 12, 13, 14, 15, 17,
				       18, 19, 20, 21, 23, 24, 25, 26, 28, 29, 31, 32, 33, 34 };

	for (int m = 2; m <= 16; m++) {
		for (const char *c = "ABCDEFHPQRS"; *c; c++)
			text_add(all, "\033[1;%d%c", m, *c);
		for (const char *c = "ABCDFHPQRS"; *c && m <= 8; c++)
			text_add(all, "\033O%d%c", m, *c);
		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
			text_add(all, "\033[%d;%d~", numbers[i], m);
		text_add(all, "\033[97;%du", m);	 /* kitty */
		text_add(all, "\033[27;%d;9~", m);	 /* xterm, modifyOtherKeys */
		text_add(all, "\033[97:65;%d:3;97u", m); /* kitty, released */
	}
}

static void add_of_rxvt(texts *all)
{
	for (const char *c = "abcd"; *c; c++) {
		text_add(all, "\033[%c", *c);
		text_add(all, "\033O%c", *c);
	}
	for (int n = 1; n <= 34; n++)
		for (const char *c = "$^@"; *c; c++)
			text_add(all, "\033[%d%c", n, *c);
}

static void add_with_alt(texts *all)
{
	for (int c = ' '; c < 0x7f; c++)
		text_add(all, "\033%c", c);
	for (const char *c = "ABCDFH"; *c; c++) {
		text_add(all, "\033\033[%c", *c);
		text_add(all, "\033\033O%c", *c);
	}
	for (const char *c = "3567"; *c; c++)
		text_add(all, "\033\033[%c~", *c);
	text_add(all, "\033\xc3\xa9");
	text_add(all, "\033\r");
	text_add(all, "\033\t");
	text_add(all, "\033\177");
}

static void add_of_keypads(texts *all)
{
	for (const char *c = "IjklmnopqrstuvwxyX EGTUVWYZ"; *c; c++)
		text_add(all, "\033O%c", *c);
	for (const char *c = "EGLNOPQRSTUVWXY@`"; *c; c++)
		text_add(all, "\033[%c", *c);
	for (int n = 22; n <= 70; n++)
		text_add(all, "\033[%d~", n);
	for (int n = 192; n <= 234; n++)
		text_add(all, "\033[%dz", n);
	for (const char *c = "FGHIJ"; *c; c++)
		text_add(all, "\033[[%c", *c);
	for (int n = 57344; n < 57364; n++)
		text_add(all, "\033[%du", n);
}

static void add_reports(texts *all)
{
	static const char *const reports[] = {
		"\033[I",
		"\033[O", /* focus */
		"\033[?1;2c",
		"\033[?62;1;6c",
		"\033[>0;276;0c",
		"\033[>84;0;0c",
		"\033[?64;1;2;6;9;15;18;21;22c",
		"\033[0n",
		"\033[3n",
		"\033[24;80R",
		"\033[?24;80;1R",
		"\033[8;24;80t",
		"\033[4;480;640t",
		"\033[?2004;1$y",
		"\033[?12;2$y",
		"\033[?997;1n",
		"\033[?1u",
		"\033]11;rgb:0000/0000/0000\033\\",
		"\033]10;rgb:ffff/ffff/ffff\a",
		"\033]4;1;rgb:cd/00/00\a",
		"\033]52;c;cXF1aXQ=\a",
		"\033P>|tmux 3.3a\033\\",
		"\033P1$r0m\033\\",
		"\033P1+r544e=787465726d\033\\",
		"\033_Gi=31;OK\033\\",
		"\033[200~",
		"\033[201~",
		"\033[<0;10;5m",
		"\033[<35;10;5M",
		"\033[<4;10;5M",
		"\033[<2;10;5M",
		"\033[32;10;5M",
		"\033[M#!!",
		"\033[M\"5q",
		"\033[3;1:1~",
		"\033[57399;1:3u",
	};

	for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++)
		text_add(all, "%s", reports[i]);
}

static void sequences_make(texts *all)
{
	add_with_modifiers(all);
	add_of_rxvt(all);
	add_with_alt(all);
	add_of_keypads(all);
	add_reports(all);
}

static void texts_free(texts *all)
{
	for (size_t i = 0; i < all->n; i++)
		free(all->v[i]);
	vec_free(all);
}

/* --- what they may mean -------------------------------------------------------------------------
 */

/* As the manual of terminfo has them; for the rest there are the keys that all terminals share. */
static uint32_t described(const char *bytes)
{
	static const struct {
		const char *name;
		uint32_t key;
	} known[] = {
		{ "kcuu1", K_UP },     { "kcud1", K_DOWN }, { "kcub1", K_LEFT },
		{ "kcuf1", K_RIGHT },  { "kpp", K_PGUP },   { "knp", K_PGDN },
		{ "khome", K_HOME },   { "kend", K_END },   { "kdch1", K_DELETE },
		{ "kcbt", K_BACKTAB }, { "kent", K_ENTER }, { "kbs", K_BACKSPACE },
		{ "kf1", K_F1 },       { "kf2", K_F2 },	    { "kf3", K_F3 },
		{ "kf4", K_F4 },       { "kf5", K_F5 },	    { "kf6", K_F6 },
		{ "kf7", K_F7 },       { "kf8", K_F8 },	    { "kf9", K_F9 },
		{ "kf10", K_F10 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const char *s = tigetstr(known[i].name);

		if (s && s != (const char *)-1 && s[0] && s[1] && !strcmp(s, bytes))
			return known[i].key;
	}
	return K_NONE;
}

static uint32_t plain(const char *bytes)
{
	static const char *const keys[] = {
		"A",  "B", "C",	  "D",	 "H",	"F",   "1~",  "3~",  "4~",  "5~",  "6~",  "7~",
		"8~", "Z", "11~", "12~", "13~", "14~", "15~", "17~", "18~", "19~", "20~", "21~",
	};

	if (bytes[1] == 'O' && bytes[2] && !bytes[3] && strchr("ABCDHFMPQRS", bytes[2]))
		return 1;
	for (size_t i = 0; bytes[1] == '[' && i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(bytes + 2, keys[i]))
			return 1;
	return 0;
}

static struct key_reader *reader_of(const char *term)
{
	struct key_reader *r = key_reader_new();
	int rc;

	if (setupterm(term, 1, &rc) != OK)
		fail_msg("no description of %s", term);
	terminal_keys_learn(r);
	return r;
}

/* All keys, the last ones when nothing follows. */
static size_t keys_of(struct key_reader *r, const char *bytes, size_t n, size_t at_once,
		      double *now, uint32_t keys[64])
{
	size_t have = 0;

	for (size_t i = 0; i < n; i += at_once) {
		key_reader_put(r, bytes + i, n - i < at_once ? n - i : at_once, *now);
		while (have < 64 && (keys[have] = key_reader_take(r, *now)))
			have++;
		*now += 0.001;
	}
	for (int k = 0; k < 2; k++, *now += 0.4)
		while (have < 64 && (keys[have] = key_reader_take(r, *now + 0.4)))
			have++;
	*now += 10; /* longer than a text that is pasted and whose end is lost */
	return have;
}

/* Its reports begin as F1 of cons25 does, which has none. */
static bool has_no_mouse(const char *bytes)
{
	const char *s = tigetstr("kmous");

	return !strncmp(bytes, "\033[M", 3) && bytes[3] && (!s || s == (const char *)-1);
}

static void try_sequence(const char *term, struct key_reader *r, const char *bytes, size_t at_once,
			 double *now)
{
	uint32_t keys[64], want = described(bytes), after[64];
	size_t n = keys_of(r, bytes, strlen(bytes), at_once, now, keys);

	if (want && (n != 1 || keys[0] != want))
		fail_msg("%s: \\E%s is key %x, not %x", term, bytes + 1, n ? keys[0] : 0, want);
	for (size_t i = 0; i < n; i++)
		if (keys[i] < K_UP || n > 1 || (!want && !plain(bytes)))
			fail_msg("%s: \\E%s, %zu at once, presses %x", term, bytes + 1, at_once,
				 keys[i]);
	/* and nothing is left of it */
	n = keys_of(r, "q", 1, 1, now, after);
	if (n != 1 || after[0] != 'q')
		fail_msg("%s: after \\E%s a key is lost", term, bytes + 1);
}

static void sequences_that_are_not_known_do_nothing_on_any_terminal(void **state)
{
	texts all = { 0 };
	double now = 1;

	(void)state;
	sequences_make(&all);
	assert_true(all.n > 200);
	for (size_t t = 0; t < TERMS; t++) {
		struct key_reader *r = reader_of(terms[t]);

		for (size_t i = 0; i < all.n; i++) {
			if (has_no_mouse(all.v[i]))
				continue;
			try_sequence(terms[t], r, all.v[i], 64, &now);
			/* in pieces, of which the first is no key of its own */
			if (strcmp(terms[t], "vt52") != 0 && strchr("[O\033", all.v[i][1]))
				try_sequence(terms[t], r, all.v[i], 1, &now);
		}
		key_reader_free(r);
		del_curterm(cur_term);
	}
	texts_free(&all);
}

static void keys_of_all_terminals_are_keys(void **state)
{
	struct key_reader *r = reader_of("screen-256color");
	uint32_t keys[64];
	double now = 1;

	(void)state;
	assert_int_equal(keys_of(r, "\033[A\033OBjk\033[6~\033[[A\033OP", 20, 64, &now, keys), 7);
	assert_int_equal(keys[0], K_UP);
	assert_int_equal(keys[1], K_DOWN);
	assert_int_equal(keys[2], 'j');
	assert_int_equal(keys[4], K_PGDN);
	assert_int_equal(keys[5], K_F1);
	assert_int_equal(keys[6], K_F1);
	assert_int_equal(keys_of(r, "\xc3\xa9\x03\r", 4, 1, &now, keys), 3);
	assert_int_equal(keys[0], 0xe9);
	assert_int_equal(keys[1], K_CTRL('c'));
	assert_int_equal(keys[2], K_ENTER);
	key_reader_free(r);
	del_curterm(cur_term);
}

static void esc_is_a_key_when_nothing_follows(void **state)
{
	struct key_reader *r = key_reader_new();

	(void)state;
	key_reader_put(r, "\033", 1, 5);
	assert_int_equal(key_reader_take(r, 5), K_NONE);
	assert_true(key_reader_wait_s(r, 5) > 0.02);
	assert_int_equal(key_reader_take(r, 5.03), K_ESC);
	assert_true(key_reader_wait_s(r, 5.03) < 0);
	/* the rest of a sequence on a slow way is no row of keys */
	key_reader_put(r, "[1;5D", 5, 5.2);
	assert_int_equal(key_reader_take(r, 5.2), K_NONE);
	key_reader_put(r, "[", 1, 8);
	assert_int_equal(key_reader_take(r, 8), '[');
	/* twice */
	key_reader_put(r, "\033\033", 2, 9);
	assert_int_equal(key_reader_take(r, 9.03), K_ESC);
	assert_int_equal(key_reader_take(r, 9.06), K_ESC);
	assert_int_equal(key_reader_take(r, 9.06), K_NONE);
	/* and the next key a moment later */
	key_reader_put(r, "\033", 1, 10);
	assert_int_equal(key_reader_take(r, 10), K_NONE);
	key_reader_put(r, "4", 1, 10.005);
	assert_int_equal(key_reader_take(r, 10.005), K_ESC);
	assert_int_equal(key_reader_take(r, 10.005), '4');
	assert_int_equal(key_reader_take(r, 10.005), K_NONE);
	key_reader_free(r);
}

static void pastes_and_the_mouse_are_told(void **state)
{
	struct key_reader *r = key_reader_new();
	static const char told[] =
		"\033[200~q\033[201~w\033[<0;12;7M\033[<0;12;7m\033[<64;1;1M\033[M +&";
	int x, y;

	(void)state;
	key_reader_put(r, told, strlen(told), 1);
	assert_int_equal(key_reader_take(r, 1), 'q');
	assert_true(key_reader_pasting(r));
	assert_int_equal(key_reader_take(r, 1), 'w');
	assert_false(key_reader_pasting(r));
	assert_int_equal(key_reader_take(r, 1), K_CLICK);
	key_reader_mouse(r, &x, &y);
	assert_int_equal(x, 11);
	assert_int_equal(y, 6);
	assert_int_equal(key_reader_take(r, 1), K_WHEEL_UP);
	assert_int_equal(key_reader_take(r, 1), K_CLICK);
	key_reader_mouse(r, &x, &y);
	assert_int_equal(x, 10);
	assert_int_equal(y, 5);
	/* its end is lost */
	key_reader_put(r, "\033[200~a", 7, 2);
	assert_int_equal(key_reader_take(r, 2), 'a');
	assert_true(key_reader_pasting(r));
	key_reader_put(r, "b", 1, 5);
	assert_int_equal(key_reader_take(r, 5), 'b');
	assert_false(key_reader_pasting(r));
	key_reader_free(r);
}

static void eight_bit_controls_are_sequences_too(void **state)
{
	struct key_reader *r = key_reader_new();
	uint32_t keys[64];
	double now = 1;

	(void)state;
	assert_int_equal(keys_of(r,
				 "\x9b"
				 "1;5D",
				 5, 64, &now, keys),
			 0);
	assert_int_equal(keys_of(r,
				 "\x9b"
				 "A",
				 2, 64, &now, keys),
			 1);
	assert_int_equal(keys[0], K_UP);
	assert_int_equal(keys_of(r, "\xff\xfe\x80q", 4, 1, &now, keys), 1);
	assert_int_equal(keys[0], 'q');
	key_reader_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sequences_that_are_not_known_do_nothing_on_any_terminal),
		cmocka_unit_test(keys_of_all_terminals_are_keys),
		cmocka_unit_test(esc_is_a_key_when_nothing_follows),
		cmocka_unit_test(pastes_and_the_mouse_are_told),
		cmocka_unit_test(eight_bit_controls_are_sequences_too),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
