/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/canvas/theme.h"

#include <stdio.h>
#include <string.h>

#define OWN (-1)

/* Text that is more is darker; backgrounds go from pale to dark, with black or white on them.  So
 * do the basic colours: white, cyan, green, magenta, blue. */
static const struct role_style theme_light[ROLE_COUNT] = {
	[ROLE_TEXT] = { OWN, OWN, OWN, OWN, false, false },
	[ROLE_DIM] = { 243, OWN, OWN, OWN, false, false },
	[ROLE_LABEL] = { 24, OWN, 4, OWN, false, false },
	[ROLE_RULE] = { 31, OWN, 4, OWN, false, false },
	[ROLE_KEY] = { 130, OWN, 5, OWN, true, false },
	[ROLE_STATUS] = { 16, 153, 7, 4, false, true },
	[ROLE_LOUD] = { 231, 166, 7, 1, true, true },
	[ROLE_TAB] = { 238, 254, 0, 7, false, false },
	[ROLE_TAB_ON] = { 231, 24, 7, 4, true, true },
	[ROLE_CURSOR] = { 16, 252, 0, 7, false, true },
	[ROLE_GOOD] = { 28, OWN, 2, OWN, false, false },
	[ROLE_WARN] = { 130, OWN, 5, OWN, false, false },
	[ROLE_BAD] = { 160, OWN, 1, OWN, true, false },
	[ROLE_ENTRY] = { 16, 255, 0, 7, true, false },
	[ROLE_HEAT + 0] = { 66, OWN, 6, OWN, false, false },
	[ROLE_HEAT + 1] = { 31, OWN, 6, OWN, false, false },
	[ROLE_HEAT + 2] = { 61, OWN, 2, OWN, false, false },
	[ROLE_HEAT + 3] = { 25, OWN, 2, OWN, false, false },
	[ROLE_HEAT + 4] = { 91, OWN, 5, OWN, false, false },
	[ROLE_HEAT + 5] = { 89, OWN, 5, OWN, true, false },
	[ROLE_HEAT + 6] = { 52, OWN, 4, OWN, true, false },
	[ROLE_HEAT2 + 0] = { 101, OWN, 6, OWN, false, false },
	[ROLE_HEAT2 + 1] = { 243, OWN, 6, OWN, false, false },
	[ROLE_HEAT2 + 2] = { 242, OWN, 4, OWN, false, false },
	[ROLE_HEAT2 + 3] = { 24, OWN, 4, OWN, false, false },
	[ROLE_HEAT2 + 4] = { 238, OWN, 4, OWN, false, false },
	[ROLE_HEAT2 + 5] = { 18, OWN, 0, OWN, true, false },
	[ROLE_HEAT2 + 6] = { 17, OWN, 0, OWN, true, false },
	[ROLE_DELTA + 0] = { 19, OWN, 4, OWN, true, false },
	[ROLE_DELTA + 1] = { 26, OWN, 4, OWN, false, false },
	[ROLE_DELTA + 2] = { 67, OWN, 6, OWN, false, false },
	[ROLE_DELTA + 3] = { 247, OWN, OWN, OWN, false, false },
	[ROLE_DELTA + 4] = { 137, OWN, 3, OWN, false, false },
	[ROLE_DELTA + 5] = { 166, OWN, 5, OWN, false, false },
	[ROLE_DELTA + 6] = { 160, OWN, 1, OWN, true, false },
	[ROLE_FILL + 0] = { 16, 229, 0, 7, false, false },
	[ROLE_FILL + 1] = { 16, 186, 0, 6, false, false },
	[ROLE_FILL + 2] = { 16, 114, 0, 6, false, false },
	[ROLE_FILL + 3] = { 16, 73, 0, 2, false, false },
	[ROLE_FILL + 4] = { 231, 67, 7, 5, false, false },
	[ROLE_FILL + 5] = { 231, 61, 7, 5, true, true },
	[ROLE_FILL + 6] = { 231, 54, 7, 4, true, true },
	[ROLE_FILL + 7] = { 16, 230, 0, 7, false, false },
	[ROLE_FILL + 8] = { 16, 187, 0, 6, false, false },
	[ROLE_FILL + 9] = { 16, 144, 0, 6, false, false },
	[ROLE_FILL + 10] = { 16, 245, 0, 2, false, false },
	[ROLE_FILL + 11] = { 231, 242, 7, 5, false, false },
	[ROLE_FILL + 12] = { 231, 24, 7, 5, true, true },
	[ROLE_FILL + 13] = { 231, 17, 7, 4, true, true },
	[ROLE_FILL + 14] = { 231, 19, 7, 4, true, true },
	[ROLE_FILL + 15] = { 231, 26, 7, 4, false, false },
	[ROLE_FILL + 16] = { 16, 117, 0, 6, false, false },
	[ROLE_FILL + 17] = { 247, OWN, OWN, OWN, false, false },
	[ROLE_FILL + 18] = { 16, 223, 0, 3, false, false },
	[ROLE_FILL + 19] = { 16, 215, 0, 3, false, false },
	[ROLE_FILL + 20] = { 231, 160, 7, 1, true, true },
};

static bool mono_in_use, light_in_use;

static void theme_fill_rgb(struct theme *t)
{
	for (int i = 0; i < ROLE_COUNT; i++) {
		t->rgb[i][0] = palette_rgb(t->style[i].fg);
		t->rgb[i][1] = palette_rgb(t->style[i].bg);
	}
}

static void theme_dark(struct theme *t)
{
	for (int i = 0; i < ROLE_COUNT; i++) {
		t->style[i] = *role_style_dark((enum role)i);
		t->rgb[i][0] = role_rgb_dark((enum role)i, false);
		t->rgb[i][1] = role_rgb_dark((enum role)i, true);
	}
}

bool theme_named(struct theme *out, const char *name)
{
	memset(out, 0, sizeof(*out));
	if (!strcmp(name, "light")) {
		memcpy(out->style, theme_light, sizeof(theme_light));
		theme_fill_rgb(out);
		out->light = true;
		return true;
	}
	theme_dark(out);
	out->mono = !strcmp(name, "mono");
	for (int i = 0; out->mono && i < ROLE_COUNT; i++) {
		struct role_style *s = &out->style[i];

		s->fg = s->bg = s->fg16 = s->bg16 = OWN;
		out->rgb[i][0] = out->rgb[i][1] = OWN;
	}
	return out->mono || !strcmp(name, "dark");
}

/* --- names ----------------------------------------------------------------------------------- */

static const char *const theme_names[] = {
	[ROLE_TEXT] = "text",	  [ROLE_DIM] = "dim",	  [ROLE_LABEL] = "label",
	[ROLE_RULE] = "rule",	  [ROLE_KEY] = "key",	  [ROLE_STATUS] = "status",
	[ROLE_LOUD] = "loud",	  [ROLE_TAB] = "tab",	  [ROLE_TAB_ON] = "tab-on",
	[ROLE_CURSOR] = "cursor", [ROLE_GOOD] = "good",	  [ROLE_WARN] = "warn",
	[ROLE_BAD] = "bad",	  [ROLE_ENTRY] = "entry",
};

const char *theme_role_name(char buf[THEME_ROLE_LEN], enum role role)
{
	static const char *const ramps[] = { "heat", "cividis", "delta" };
	bool fill = role >= ROLE_FILL;
	int at = (int)role - (fill ? (int)ROLE_FILL : (int)ROLE_HEAT);

	if (role < ROLE_HEAT)
		snprintf(buf, THEME_ROLE_LEN, "%s", theme_names[role]);
	else
		snprintf(buf, THEME_ROLE_LEN, "%s%s-%d", fill ? "fill-" : "",
			 ramps[at / HEAT_COLOURS % 3], at % HEAT_COLOURS + 1);
	return buf;
}

enum role theme_role(const char *name, size_t len)
{
	char buf[THEME_ROLE_LEN];

	for (int i = 0; i < ROLE_HALF; i++)
		if (strlen(theme_role_name(buf, (enum role)i)) == len && !memcmp(buf, name, len))
			return (enum role)i;
	return ROLE_COUNT;
}

/* --- colours --------------------------------------------------------------------------------- */

static int theme_distance(int a, int b)
{
	int d = 0;

	for (int shift = 0; shift <= 16; shift += 8) {
		int by = (a >> shift & 255) - (b >> shift & 255);

		d += by * by;
	}
	return d;
}

/* Of those from first to last of the palette. */
static int theme_nearest(int rgb, int first, int last)
{
	int best = first;

	for (int i = first + 1; i <= last; i++)
		if (theme_distance(palette_rgb(i), rgb) < theme_distance(palette_rgb(best), rgb))
			best = i;
	return best;
}

static void theme_put(struct theme *t, enum role role, bool background, int colour, int basic,
		      int rgb)
{
	struct role_style *s = &t->style[role];

	*(background ? &s->bg : &s->fg) = (int16_t)colour;
	*(background ? &s->bg16 : &s->fg16) = (int16_t)basic;
	t->rgb[role][background] = rgb;
}

void theme_set_colour(struct theme *t, enum role role, bool background, int colour)
{
	int rgb = palette_rgb(colour);

	/* terminals of 8 colours are among those of 16 */
	theme_put(t, role, background, colour,
		  colour < 0	? OWN
		  : colour < 16 ? colour % 8
				: theme_nearest(rgb, 0, 7),
		  rgb);
}

void theme_set_rgb(struct theme *t, enum role role, bool background, int rgb)
{
	/* the first 16 are what users make them */
	theme_put(t, role, background, theme_nearest(rgb, 16, 255), theme_nearest(rgb, 0, 7), rgb);
}

void theme_use(const struct theme *t)
{
	role_styles_use(t->style, t->rgb);
	mono_in_use = t->mono;
	light_in_use = t->light;
}

bool theme_is_light(void)
{
	return light_in_use;
}

bool theme_is_mono(void)
{
	return mono_in_use;
}
