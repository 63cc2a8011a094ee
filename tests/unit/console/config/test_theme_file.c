/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Themes: those that have a name, and files of users. */
#include "console/config/theme_file.h"
#include "tests/unit/kit/text_files.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/ibroute-test-theme-XXXXXX";

static void write_file(const char *text, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	fclose(f);
}

static int read_text(struct theme *t, const char *text, struct err *err)
{
	write_file(text, strlen(text));
	return theme_read(t, path, err);
}

static void a_file_changes_what_it_names(void **state)
{
	struct theme t, light;
	struct err err = { "" };

	(void)state;
	assert_true(theme_named(&light, "light"));
	if (read_text(&t,
		      "# mine\n\nbase = light\ngood = 28\n  loud = white on #d75f00 bold \n"
		      "heat-7=bright-red\nfill-delta-1 = default on 200\n",
		      &err))
		fail_msg("%s", err.text);
	assert_memory_equal(&t.style[ROLE_DIM], &light.style[ROLE_DIM], sizeof(t.style[0]));
	assert_int_equal(t.style[ROLE_GOOD].fg, 28);
	assert_int_equal(t.style[ROLE_GOOD].fg16, 2);
	assert_int_equal(t.style[ROLE_GOOD].bg, -1);
	assert_int_equal(t.rgb[ROLE_GOOD][0], 0x008700);
	assert_int_equal(t.style[ROLE_LOUD].fg, 7);
	assert_int_equal(t.style[ROLE_LOUD].bg, 166);
	assert_int_equal(t.rgb[ROLE_LOUD][1], 0xd75f00);
	assert_true(t.style[ROLE_LOUD].bold);
	assert_int_equal(t.style[ROLE_HEAT + 6].fg, 9);
	assert_int_equal(t.style[ROLE_HEAT + 6].fg16, 1); /* of 8 colours */
	assert_int_equal(t.style[ROLE_FILL + 2 * HEAT_COLOURS].bg, 200);
	assert_int_equal(t.style[ROLE_FILL + 2 * HEAT_COLOURS].fg, -1);
}

static void a_mistake_is_told_with_file_and_line(void **state)
{
	static const struct {
		const char *text, *why;
	} files[] = {
		{ "good = 28\nnothing = 3\n", ":2: no role has the name 'nothing'" },
		{ "good 28\n", ":1: expected ROLE = COLOUR, not 'good 28'" },
		{ "good = 256\n", ":1: not a colour" },
		{ "good = -1\n", ":1: not a colour" },
		{ "good = #12345\n", ":1: not a colour" },
		{ "good = #12345g\n", ":1: not a colour" },
		{ "good =\n", ":1: not a colour" },
		{ "good = purple\n", ":1: not a colour" },
		{ "good = bright-default\n", ":1: not a colour" },
		{ "good = red on\n", ":1: not a colour" },
		{ "good = red bold on blue\n", ":1: expected COLOUR [on COLOUR] [bold], not 'on'" },
		{ "good = red on blue bold bold\n", "not 'bold'" },
		{ "\n\ngood = 1\nbase = light\n", ":4: base has to be first" },
		{ "base = grey\n", ":1: base is none of dark light mono but 'grey'" },
		{ "good = \033[2J\n", ":1: not a colour" },
		{ "heat-8 = 1\n", ":1: no role has the name 'heat-8'" },
	};
	struct theme t;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		err.text[0] = '\0';
		assert_int_equal(read_text(&t, files[i].text, &err), -EINVAL);
		if (!strstr(err.text, files[i].why) || strncmp(err.text, path, strlen(path)) != 0)
			fail_msg("'%s' does not say '%s'", err.text, files[i].why);
		assert_null(strchr(err.text, '\033'));
	}
}

static void what_is_no_file_of_that_size_is_refused(void **state)
{
	char *big = calloc(1, THEME_FILE_BYTES + 1);
	struct theme t;
	struct err err;

	(void)state;
	memset(big, '\n', THEME_FILE_BYTES + 1);
	write_file(big, THEME_FILE_BYTES + 1);
	assert_int_equal(theme_read(&t, path, &err), -EINVAL);
	write_file(big, THEME_FILE_BYTES);
	assert_int_equal(theme_read(&t, path, &err), 0);
	assert_int_equal(theme_read(&t, "/dev/zero", &err), -EINVAL);
	assert_int_equal(theme_read(&t, "/tmp", &err), -EINVAL);
	assert_int_equal(theme_read(&t, "/nonexistent/theme", &err), -ENOENT);
	assert_non_null(strstr(err.text, "neither one of dark light mono nor a file"));
	free(big);
}

/* All that is read are colours that terminals have. */
static void within_what_terminals_have(const struct theme *t)
{
	for (int i = 0; i < ROLE_COUNT; i++) {
		const struct role_style *s = &t->style[i];

		assert_in_range(s->fg + 1, 0, 256);
		assert_in_range(s->bg + 1, 0, 256);
		assert_in_range(s->fg16 + 1, 0, 8);
		assert_in_range(s->bg16 + 1, 0, 8);
		assert_in_range(t->rgb[i][0] + 1, 0, 1 << 24);
		assert_in_range(t->rgb[i][1] + 1, 0, 1 << 24);
	}
}

static int survive(FILE *f, void *ctx)
{
	struct theme t;
	struct err err = { "" };
	char text[4096];
	size_t n = fread(text, 1, sizeof(text), f);
	int rc;

	(void)ctx;
	write_file(text, n);
	rc = theme_read(&t, path, &err);
	if (rc)
		assert_non_null(strstr(err.text, path));
	within_what_terminals_have(&t);
	return rc;
}

static void a_damaged_file_is_read_or_refused(void **state)
{
	static const char text[] = "base = light\ngood = 28\nloud = white on #d75f00 bold\n"
				   "heat-1 = bright-red\nfill-delta-7 = default on 200\n";
	struct survived s = damage(text, sizeof(text) - 1, 5, 3000, survive, NULL);

	(void)state;
	assert_true(s.accepted > 50);
	assert_true(s.refused > 500);
}

static double lightness(int rgb)
{
	double y = 0;
	static const double part[3] = { 0.2126, 0.7152, 0.0722 };

	for (int i = 0; i < 3; i++) {
		double v = (rgb >> (16 - 8 * i) & 255) / 255.0;

		y += part[i] * (v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
	}
	return y > 0.008856 ? 116 * cbrt(y) - 16 : 903.3 * y;
}

/* On a light background: more is darker, and what stands on it can be read. */
static void ramps_of_the_light_theme_fall(void **state)
{
	struct theme t;

	(void)state;
	assert_true(theme_named(&t, "light"));
	for (int ramp = 0; ramp < 2; ramp++)
		for (int i = 0; i < HEAT_COLOURS; i++) {
			int text = ROLE_HEAT + ramp * HEAT_COLOURS + i;
			int fill = ROLE_FILL + ramp * HEAT_COLOURS + i;

			assert_true(lightness(t.rgb[text][0]) < 60);
			assert_true(fabs(lightness(t.rgb[fill][0]) - lightness(t.rgb[fill][1])) >
				    35);
			if (!i)
				continue;
			assert_true(lightness(t.rgb[text][0]) < lightness(t.rgb[text - 1][0]));
			assert_true(lightness(t.rgb[fill][1]) < lightness(t.rgb[fill - 1][1]));
		}
}

/* As xterm has the basic ones: on 16 colours more is lighter, too, and what stays the same is the
 * quietest of a change. */
static void ramps_of_the_dark_theme_rise(void **state)
{
	static const int basic[8] = { 0x000000, 0xcd0000, 0x00cd00, 0xcdcd00,
				      0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5 };
	struct theme t;

	(void)state;
	assert_true(theme_named(&t, "dark"));
	for (int ramp = 0; ramp < 2; ramp++)
		for (int i = 1; i < HEAT_COLOURS; i++) {
			int text = ROLE_HEAT + ramp * HEAT_COLOURS + i;
			int fill = ROLE_FILL + ramp * HEAT_COLOURS + i;

			assert_true(lightness(basic[t.style[text].fg16]) >=
				    lightness(basic[t.style[text - 1].fg16]));
			assert_true(lightness(basic[t.style[fill].bg16]) >=
				    lightness(basic[t.style[fill - 1].bg16]));
			assert_true(lightness(t.rgb[text][0]) > lightness(t.rgb[text - 1][0]));
		}
	for (int i = 0; i < HEAT_COLOURS; i++)
		if (i != 3)
			assert_true(lightness(t.rgb[ROLE_DELTA + i][0]) >
				    lightness(t.rgb[ROLE_DELTA + 3][0]));
	assert_int_equal(t.style[ROLE_FILL + 2 * HEAT_COLOURS + 3].bg, -1);
	assert_true(theme_named(&t, "light"));
	for (int i = 0; i < HEAT_COLOURS; i++)
		if (i != 3)
			assert_true(lightness(t.rgb[ROLE_DELTA + i][0]) <
				    lightness(t.rgb[ROLE_DELTA + 3][0]));
}

static void themes_that_have_a_name(void **state)
{
	struct theme t;
	char name[THEME_ROLE_LEN];

	(void)state;
	for (const char *const *n = (const char *const[]){ "dark", "light", "mono", NULL }; *n;
	     n++) {
		assert_true(theme_named(&t, *n));
		within_what_terminals_have(&t);
		assert_int_equal(t.mono, !strcmp(*n, "mono"));
	}
	for (int i = 0; i < ROLE_COUNT; i++)
		assert_int_equal(t.style[i].fg, -1);
	assert_true(t.style[ROLE_CURSOR].reverse);
	assert_false(theme_named(&t, "blue"));
	for (int i = 0; i < ROLE_HALF; i++) {
		theme_role_name(name, (enum role)i);
		assert_int_equal(theme_role(name, strlen(name)), i);
	}
	assert_string_equal(theme_role_name(name, ROLE_FILL), "fill-heat-1");
	assert_string_equal(theme_role_name(name, ROLE_HALF - 1), "fill-delta-7");
}

static void a_theme_in_use_is_what_roles_have(void **state)
{
	struct theme t;

	(void)state;
	assert_true(theme_named(&t, "light"));
	theme_use(&t);
	assert_int_equal(role_style(ROLE_GOOD)->fg, 28);
	assert_int_equal(role_rgb(ROLE_GOOD, false), 0x008700);
	assert_int_equal(role_style(half_role(PALETTE_VIRIDIS, HALF_COOL, HALF_HOT))->fg,
			 t.style[ROLE_FILL].bg);
	assert_int_equal(role_style(half_role(PALETTE_CIVIDIS, HALF_BAD, HALF_HOT))->bg,
			 t.style[ROLE_FILL + HEAT_COLOURS + 6].bg);
	assert_int_equal(role_style(half_role(PALETTE_CIVIDIS, HALF_BAD, HALF_NONE))->fg,
			 t.style[ROLE_BAD].fg);
	assert_int_equal(role_rgb(half_role(PALETTE_VIRIDIS, HALF_HOT, HALF_NONE), true), -1);
	assert_false(theme_is_mono());
	assert_true(theme_named(&t, "mono"));
	theme_use(&t);
	assert_true(theme_is_mono());
	assert_int_equal(role_rgb(ROLE_LOUD, true), -1);
	assert_true(theme_named(&t, "dark"));
	theme_use(&t);
	assert_int_equal(role_rgb(ROLE_HEAT, false), 0x472d7b); /* exactly that of viridis */
	assert_memory_equal(role_style(ROLE_BAD), role_style_dark(ROLE_BAD),
			    sizeof(struct role_style));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_changes_what_it_names),
		cmocka_unit_test(a_mistake_is_told_with_file_and_line),
		cmocka_unit_test(what_is_no_file_of_that_size_is_refused),
		cmocka_unit_test(a_damaged_file_is_read_or_refused),
		cmocka_unit_test(ramps_of_the_light_theme_fall),
		cmocka_unit_test(ramps_of_the_dark_theme_rise),
		cmocka_unit_test(themes_that_have_a_name),
		cmocka_unit_test(a_theme_in_use_is_what_roles_have),
	};
	int fd = mkstemp(path), failed;

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
