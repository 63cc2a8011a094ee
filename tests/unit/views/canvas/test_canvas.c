/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/base/text/natural.h"
#include "views/canvas/canvas.h"
#include "views/canvas/theme.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_dump(struct canvas *c, const char *want)
{
	char *text = canvas_dump(c);

	assert_string_equal(text, want);
	free(text);
	canvas_free(c);
}

static void text_is_clipped_to_its_rectangle(void **state)
{
	struct canvas *c = canvas_new(10, 3, true);
	struct rect r = { 2, 1, 5, 1 };

	(void)state;
	assert_int_equal(canvas_text(c, r, -2, 0, ROLE_TEXT, "abcdefghij"), 8);
	canvas_text(c, r, 0, 1, ROLE_TEXT, "below");
	canvas_text(c, r, 0, -1, ROLE_TEXT, "above");
	assert_dump(c, "\n  cdefg\n\n");
}

static void rectangles_outside_of_the_canvas_draw_nothing(void **state)
{
	struct canvas *c = canvas_new(4, 2, true);

	(void)state;
	canvas_fill(c, (struct rect){ -3, -3, 4, 4 }, ROLE_TEXT, 'x');
	canvas_fill(c, (struct rect){ 3, 1, 50, 50 }, ROLE_TEXT, 'y');
	canvas_rule(c, (struct rect){ 0, 0, -5, 1 }, 0, "title");
	canvas_style(c, (struct rect){ 90, 90, 5, 5 }, ROLE_BAD, true);
	assert_dump(c, "x\n   y\n");
}

static void a_canvas_may_be_empty(void **state)
{
	struct canvas *c = canvas_new(-1, 0, false);

	(void)state;
	canvas_text(c, canvas_rect(c), 0, 0, ROLE_TEXT, "nothing");
	assert_dump(c, "");
}

static void text_aligns_right_and_in_fields(void **state)
{
	struct canvas *c = canvas_new(12, 2, true);
	struct rect r = canvas_rect(c);

	(void)state;
	canvas_rightf(c, r, 12, 0, ROLE_TEXT, "%d%%", 42);
	canvas_name(c, r, 0, 1, 8, ROLE_TEXT, "ibleaf-rack17-b");
	assert_dump(c, "         42%\nibl..7-b\n");
}

static void wide_characters_take_two_cells_or_none(void **state)
{
	struct canvas *c = canvas_new(5, 2, false);
	struct rect r = canvas_rect(c);

	(void)state;
	assert_int_equal(canvas_text(c, r, 0, 0, ROLE_TEXT, "a漢字b"), 6);
	assert_int_equal(c->cell[2].ch, 0);
	canvas_text(c, r, 2, 0, ROLE_TEXT, "|");  /* cuts the first one in two */
	canvas_text(c, r, 4, 1, ROLE_TEXT, "漢"); /* only half of it would fit */
	assert_dump(c, "a |字\n\n");
}

static void control_characters_and_broken_text_come_as_question_marks(void **state)
{
	struct canvas *c = canvas_new(20, 2, false);

	(void)state;
	canvas_text(c, canvas_rect(c), 0, 0, ROLE_TEXT, "a\x1b[2Jb\xff\xc3)\xe2\x80\xae");
	assert_dump(c, "a?[2Jb?"
		       "?)?\n\n");
}

static void ascii_stands_in_for_all_else(void **state)
{
	struct canvas *c = canvas_new(12, 3, true);
	struct rect r = canvas_rect(c);
	char *text;

	(void)state;
	canvas_rule(c, r, 0, "Ä");
	canvas_bar(c, r, 0, 1, 8, ROLE_GOOD, 0.5, 0.25);
	canvas_bar(c, r, 0, 2, 8, ROLE_GOOD, NAN, 0);
	text = canvas_dump(c);
	for (const char *p = text; *p; p++)
		assert_true((unsigned char)*p < 0x80);
	free(text);
	assert_dump(c, "-- ? -------\n####++..\n?\n");
}

static void bars_stay_within_their_width(void **state)
{
	struct canvas *c = canvas_new(12, 3, true);
	struct rect r = canvas_rect(c);

	(void)state;
	canvas_bar(c, r, 1, 0, 8, ROLE_GOOD, 7, 7);
	canvas_bar(c, r, 1, 1, 8, ROLE_GOOD, -1, 0);
	canvas_bar(c, r, 1, 2, 0, ROLE_GOOD, 1, 0);
	assert_dump(c, " ########\n ........\n\n");
}

static void unknown_history_is_a_gap_and_not_a_zero(void **state)
{
	static const uint8_t past[] = { 0, 10, 255, 100, 89 };
	struct canvas *c = canvas_new(8, 1, true);

	(void)state;
	canvas_spark(c, canvas_rect(c), 0, 0, past, 5);
	assert_dump(c, ".: @#\n");
}

static void text_wraps_between_words(void **state)
{
	struct canvas *c = canvas_new(10, 4, true);

	(void)state;
	assert_int_equal(
		canvas_wrap(c, canvas_rect(c), 1, 0, ROLE_TEXT, "one two three abcdefghijklm"), 4);
	assert_dump(c, " one two\n three\n abcdefghi\n jklm\n");
}

static void assert_sgr(const char *want, int fg, int bg, bool bold, bool reverse)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	canvas_put_sgr(f, fg, bg, bold, reverse);
	fclose(f);
	assert_string_equal(text, want);
	free(text);
}

static void styles_are_one_sequence_each(void **state)
{
	const struct role_style *bad = role_style(ROLE_BAD), *heat = role_style(ROLE_HEAT);

	(void)state;
	assert_sgr("\x1b[0;1;38;5;203m", bad->fg, bad->bg, bad->bold, false);
	assert_sgr("\x1b[0;38;5;60m", heat->fg, heat->bg, heat->bold, false);
	assert_sgr("\x1b[0;7;34;103m", 4, 11, false, true);
	assert_sgr("\x1b[0m", -1, -1, false, false);
}

static void names_lose_their_middle(void **state)
{
	char buf[64];

	(void)state;
	assert_string_equal(text_shorten(buf, sizeof(buf), "short", 5), "short");
	assert_string_equal(text_shorten(buf, sizeof(buf), "abcdefghij", 6), "ab..ij");
	assert_string_equal(text_shorten(buf, sizeof(buf), "abcdefghij", 7), "abc..ij");
	assert_string_equal(text_shorten(buf, sizeof(buf), "abcdefghij", 3), "abc");
	assert_string_equal(text_shorten(buf, sizeof(buf), "abcdefghij", 0), "");
	assert_string_equal(text_shorten(buf, sizeof(buf), "abcdefghij", -4), "");
	assert_string_equal(text_shorten_ends(buf, sizeof(buf), "leaf1/2 -> spine3/4", 19),
			    "leaf1/2 -> spine3/4");
	assert_string_equal(text_shorten_ends(buf, sizeof(buf), "leaf12/34 -> sp1/2", 17),
			    "lea../34 -> sp1/2");
	assert_string_equal(text_shorten_ends(buf, sizeof(buf), "sp1/2 -> leaf12/34", 17),
			    "sp1/2 -> lea../34");
	assert_string_equal(text_shorten_ends(buf, sizeof(buf), "leaf12/34 -> spine56/78", 19),
			    "lea..34 -> spi../78");
	assert_string_equal(text_shorten_ends(buf, sizeof(buf), "leaf12/34 -> spine56/78", 13),
			    "leaf12..56/78");
	assert_string_equal(text_shorten_list(buf, sizeof(buf), "7:60% 9:40%", 11), "7:60% 9:40%");
	assert_string_equal(text_shorten_list(buf, sizeof(buf), "7:60% 9:30% 8:10%", 15),
			    "7:60% 9:30% ..");
	assert_string_equal(text_shorten_list(buf, sizeof(buf), "7:60% 9:30% 8:10%", 13),
			    "7:60% ..");
	assert_string_equal(text_shorten_list(buf, sizeof(buf), "7:60% 9:40%", 6), "7:..0%");
	assert_string_equal(text_shorten_words(buf, sizeof(buf), "one two three", 13),
			    "one two three");
	assert_string_equal(
		text_shorten_words(buf, sizeof(buf), "one two three four five six seven eight", 24),
		"one two three .. eight");
	assert_string_equal(text_shorten_words(buf, sizeof(buf), "onetwothreefourfivesix", 12),
			    "onetw..vesix");
	for (int w = 0; w < 60; w++)
		assert_true(
			text_width(text_shorten_words(buf, sizeof(buf),
						      "link leaf01/33 \u6f22\u5b57 went down at "
						      "spine04/17, 41 jobs",
						      w)) <= w);
	for (int w = 0; w < 30; w++)
		assert_true(text_width(text_shorten(buf, sizeof(buf), "a漢字bc漢字def字字", w)) <=
			    w);
	/* a small buffer never overflows and never ends within a character */
	text_shorten(buf, 5, "漢字漢字", 8);
	assert_string_equal(buf, "漢");
}

static void text_is_typed_and_taken_back(void **state)
{
	char buf[6] = "";

	(void)state;
	assert_true(text_append(buf, sizeof(buf), 'a'));
	assert_true(text_append(buf, sizeof(buf), 0x6f22));
	assert_false(text_append(buf, sizeof(buf), 0x5b57));
	assert_string_equal(buf, "a漢");
	text_chop(buf);
	text_chop(buf);
	text_chop(buf);
	assert_string_equal(buf, "");
	assert_true(text_append(buf, sizeof(buf), 0x1f600));
	assert_string_equal(buf, "😀");
}

static void numbers_in_names_sort_as_numbers(void **state)
{
	(void)state;
	assert_true(natural_cmp("leaf2", "leaf10") < 0);
	assert_true(natural_cmp("leaf10/2", "leaf10/11") < 0);
	assert_int_equal(natural_cmp("leaf07", "leaf7"), 0);
	assert_true(natural_cmp("leaf", "leaf1") < 0);
	assert_true(natural_cmp("b1", "a2") > 0);
	assert_int_equal(natural_cmp("", ""), 0);
}

static void figures_read_well_and_unknown_is_a_dash(void **state)
{
	char b[FIGURE_LEN];

	(void)state;
	assert_string_equal(figure_count(b, 1234567), "1,234,567");
	assert_string_equal(figure_count(b, 0), "0");
	assert_string_equal(figure_count(b, UINT64_MAX), "18,446,744,073,709,551,615");
	assert_string_equal(figure_short(b, 99999), "99999");
	assert_string_equal(figure_short(b, 1234567), "1.2M");
	assert_string_equal(figure_short(b, 999999999), "1.0G");
	assert_string_equal(figure_pct(b, 4.14), "4.1");
	assert_string_equal(figure_pct(b, 97.2), "97");
	assert_string_equal(figure_pct(b, 0), "0");
	assert_string_equal(figure_pct(b, NAN), "-");
	assert_string_equal(figure_rate(b, 12.1e9, false), "12.1");
	assert_string_equal(figure_rate(b, 12.1e9, true), "96.8");
	assert_string_equal(figure_rate(b, NAN, true), "-");
	assert_string_equal(figure_age(b, 0.84), "0.8s");
	assert_string_equal(figure_age(b, 185), "3m");
	assert_string_equal(figure_age(b, 11520), "3h12m");
	assert_string_equal(figure_age(b, NAN), "-");
	assert_string_equal(figure_clock(b, 761), "00:12:41");
	assert_string_equal(figure_clock(b, NAN), "-");
}

static void levels_have_a_glyph_each_and_rise(void **state)
{
	(void)state;
	assert_int_equal(heat_level(0), 0);
	assert_int_equal(heat_level(4.99), 0);
	assert_int_equal(heat_level(5), 1);
	assert_int_equal(heat_level(89.9), 6);
	assert_int_equal(heat_level(100), 7);
	for (int i = 0; i < HEAT_LEVELS; i++)
		for (int j = 0; j < i; j++)
			assert_int_not_equal(heat_glyph(i), heat_glyph(j));
	assert_int_equal(delta_level(-50), -3);
	assert_int_equal(delta_level(1.9), 0);
	assert_int_equal(delta_level(15), 2);
	for (int i = -3; i <= 3; i++)
		for (int j = -3; j < i; j++)
			assert_int_not_equal(delta_glyph(i), delta_glyph(j));
}

/* Relative luminance; of the basic colours as a terminal has them. */
static double lightness(int rgb)
{
	const double part[] = { 0.2126, 0.7152, 0.0722 };
	double sum = 0;

	for (int i = 0; i < 3; i++)
		sum += part[i] * pow((double)(rgb >> (16 - 8 * i) & 255) / 255, 2.2);
	return sum;
}

/* Lighter and lighter on a dark background, darker and darker on a light one. */
static void ramps_never_turn_back(void **state)
{
	static const char *const names[] = { "dark", "light" };
	const int ramps[] = { ROLE_FILL, ROLE_FILL + HEAT_COLOURS };
	struct theme t;

	(void)state;
	for (int k = 0; k < 2; k++) {
		assert_true(theme_named(&t, names[k]));
		for (int i = 1; i < 2 * (HEAT_COLOURS - 1) + 1; i++) {
			int at = ramps[(i - 1) / (HEAT_COLOURS - 1)] + (i - 1) % (HEAT_COLOURS - 1);
			const struct role_style *a = &t.style[at], *b = &t.style[at + 1];
			double basic =
				lightness(palette_rgb(b->bg16)) - lightness(palette_rgb(a->bg16));
			double many = lightness(palette_rgb(b->bg)) - lightness(palette_rgb(a->bg));

			assert_true(k ? many < 0 : many > 0);
			assert_true(k ? basic <= 0 : basic >= 0);
		}
		/* and its ends are far apart */
		assert_true(fabs(lightness(palette_rgb(t.style[ROLE_FILL].bg16)) -
				 lightness(palette_rgb(t.style[ROLE_FILL + 6].bg16))) > 0.15);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_clipped_to_its_rectangle),
		cmocka_unit_test(rectangles_outside_of_the_canvas_draw_nothing),
		cmocka_unit_test(a_canvas_may_be_empty),
		cmocka_unit_test(text_aligns_right_and_in_fields),
		cmocka_unit_test(wide_characters_take_two_cells_or_none),
		cmocka_unit_test(control_characters_and_broken_text_come_as_question_marks),
		cmocka_unit_test(ascii_stands_in_for_all_else),
		cmocka_unit_test(bars_stay_within_their_width),
		cmocka_unit_test(unknown_history_is_a_gap_and_not_a_zero),
		cmocka_unit_test(text_wraps_between_words),
		cmocka_unit_test(styles_are_one_sequence_each),
		cmocka_unit_test(names_lose_their_middle),
		cmocka_unit_test(text_is_typed_and_taken_back),
		cmocka_unit_test(numbers_in_names_sort_as_numbers),
		cmocka_unit_test(figures_read_well_and_unknown_is_a_dash),
		cmocka_unit_test(levels_have_a_glyph_each_and_rise),
		cmocka_unit_test(ramps_never_turn_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
