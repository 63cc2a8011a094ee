/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/canvas/palette.h"

#include <math.h>
#include <string.h>

/* viridis and cividis in 7 steps as the 256-colour palette can show them with a lightness
 * that strictly rises; the plain nearest colours are not monotone.  Of the basic ones blue is the
 * darkest, then magenta, green, cyan, yellow, white. */
static const struct role_style role_styles[ROLE_COUNT] = {
	[ROLE_TEXT] = { -1, -1, -1, -1, false, false },
	[ROLE_DIM] = { 244, -1, -1, -1, false, false },
	[ROLE_LABEL] = { 110, -1, 6, -1, false, false },
	[ROLE_RULE] = { 67, -1, 6, -1, false, false },
	[ROLE_KEY] = { 222, -1, 3, -1, true, false },
	[ROLE_STATUS] = { 253, 24, 7, 4, false, true },
	[ROLE_LOUD] = { 16, 214, 0, 3, true, true },
	[ROLE_TAB] = { 249, 236, 7, 0, false, false },
	[ROLE_TAB_ON] = { 231, 60, 0, 6, true, true },
	[ROLE_CURSOR] = { 231, 239, 0, 7, false, true },
	[ROLE_GOOD] = { 114, -1, 2, -1, false, false },
	[ROLE_WARN] = { 214, -1, 3, -1, false, false },
	[ROLE_BAD] = { 203, -1, 1, -1, true, false },
	[ROLE_ENTRY] = { 231, 237, 7, 0, true, false },
	[ROLE_HEAT + 0] = { 60, -1, 4, -1, false, false },
	[ROLE_HEAT + 1] = { 61, -1, 5, -1, false, false },
	[ROLE_HEAT + 2] = { 67, -1, 5, -1, false, false },
	[ROLE_HEAT + 3] = { 37, -1, 2, -1, false, false },
	[ROLE_HEAT + 4] = { 78, -1, 6, -1, false, false },
	[ROLE_HEAT + 5] = { 119, -1, 3, -1, true, false },
	[ROLE_HEAT + 6] = { 226, -1, 7, -1, true, false },
	[ROLE_HEAT2 + 0] = { 239, -1, 4, -1, false, false },
	[ROLE_HEAT2 + 1] = { 24, -1, 5, -1, false, false },
	[ROLE_HEAT2 + 2] = { 242, -1, 5, -1, false, false },
	[ROLE_HEAT2 + 3] = { 244, -1, 2, -1, false, false },
	[ROLE_HEAT2 + 4] = { 144, -1, 6, -1, false, false },
	[ROLE_HEAT2 + 5] = { 186, -1, 3, -1, true, false },
	[ROLE_HEAT2 + 6] = { 227, -1, 7, -1, true, false },
	[ROLE_DELTA + 0] = { 33, -1, 4, -1, true, false },
	[ROLE_DELTA + 1] = { 75, -1, 4, -1, false, false },
	[ROLE_DELTA + 2] = { 153, -1, 6, -1, false, false },
	[ROLE_DELTA + 3] = { 240, -1, -1, -1, false, false },
	[ROLE_DELTA + 4] = { 223, -1, 3, -1, false, false },
	[ROLE_DELTA + 5] = { 215, -1, 3, -1, false, false },
	[ROLE_DELTA + 6] = { 208, -1, 1, -1, true, false },
	/* black or white on it, whichever reads better */
	[ROLE_FILL + 0] = { 231, 53, 7, 4, false, false },
	[ROLE_FILL + 1] = { 231, 61, 7, 5, false, false },
	[ROLE_FILL + 2] = { 231, 67, 7, 5, false, false },
	[ROLE_FILL + 3] = { 16, 37, 0, 2, false, false },
	[ROLE_FILL + 4] = { 16, 78, 0, 6, false, false },
	[ROLE_FILL + 5] = { 16, 119, 0, 3, true, true },
	[ROLE_FILL + 6] = { 16, 226, 0, 7, true, true },
	[ROLE_FILL + 7] = { 231, 235, 7, 4, false, false },
	[ROLE_FILL + 8] = { 231, 24, 7, 5, false, false },
	[ROLE_FILL + 9] = { 231, 242, 7, 5, false, false },
	[ROLE_FILL + 10] = { 16, 244, 0, 2, false, false },
	[ROLE_FILL + 11] = { 16, 144, 0, 6, false, false },
	[ROLE_FILL + 12] = { 16, 186, 0, 3, true, true },
	[ROLE_FILL + 13] = { 16, 227, 0, 7, true, true },
	[ROLE_FILL + 14] = { 231, 33, 7, 4, true, true },
	[ROLE_FILL + 15] = { 16, 75, 7, 4, false, false },
	[ROLE_FILL + 16] = { 16, 153, 0, 6, false, false },
	[ROLE_FILL + 17] = { 240, -1, -1, -1, false, false },
	[ROLE_FILL + 18] = { 16, 223, 0, 3, false, false },
	[ROLE_FILL + 19] = { 16, 215, 0, 3, false, false },
	[ROLE_FILL + 20] = { 16, 208, 7, 1, true, true },
};

enum role half_role(enum palette palette, enum half upper, enum half lower)
{
	int ramp = palette == PALETTE_CIVIDIS;

	return (enum role)(ROLE_HALF + (ramp * HALF_LOOKS + (int)upper) * HALF_LOOKS + (int)lower);
}

/* The role whose background, or foreground, a half has; ROLE_COUNT: the terminal's own. */
static enum role palette_half_of(enum half half, int ramp)
{
	int fill = ROLE_FILL + ramp * HEAT_COLOURS;

	return half == HALF_NONE   ? ROLE_COUNT
	       : half == HALF_COOL ? (enum role)fill
	       : half == HALF_WARM ? (enum role)(fill + 3)
	       : half == HALF_HOT  ? (enum role)(fill + 6)
				   : ROLE_BAD;
}

/* Styles of halves from those of the fills. */
static void palette_halve(struct role_style *styles, int (*rgb)[2])
{
	for (int i = ROLE_HALF; i < ROLE_COUNT; i++) {
		int at = i - ROLE_HALF, ramp = at / (HALF_LOOKS * HALF_LOOKS);
		enum half half[2] = { (enum half)(at / HALF_LOOKS % HALF_LOOKS),
				      (enum half)(at % HALF_LOOKS) };
		int16_t colour[2], basic[2];

		for (int k = 0; k < 2; k++) {
			enum role of = palette_half_of(half[k], ramp);
			const struct role_style *s = &styles[of == ROLE_COUNT ? ROLE_TEXT : of];
			bool text = of == ROLE_BAD;

			colour[k] = (int16_t)(of == ROLE_COUNT ? -1 : text ? s->fg : s->bg);
			basic[k] = (int16_t)(of == ROLE_COUNT ? -1 : text ? s->fg16 : s->bg16);
			rgb[i][k] = of == ROLE_COUNT ? -1 : rgb[of][!text];
		}
		styles[i] = (struct role_style){ colour[0], colour[1], basic[0],
						 basic[1],  false,     false };
	}
}

enum role fill_role(enum role role)
{
	return role >= ROLE_HEAT && role < ROLE_FILL ? (enum role)(role - ROLE_HEAT + ROLE_FILL)
						     : role;
}

static struct {
	bool on;
	struct role_style style[ROLE_COUNT];
	int rgb[ROLE_COUNT][2];
} in_use;

static enum role palette_known(enum role role)
{
	return (unsigned)role < ROLE_COUNT ? role : ROLE_TEXT;
}

const struct role_style *role_style_dark(enum role role)
{
	return &role_styles[palette_known(role)];
}

const struct role_style *role_style(enum role role)
{
	return in_use.on ? &in_use.style[palette_known(role)] : role_style_dark(role);
}

void role_styles_use(const struct role_style *styles, const int (*rgb)[2])
{
	memcpy(in_use.style, styles, sizeof(in_use.style));
	memcpy(in_use.rgb, rgb, sizeof(in_use.rgb));
	palette_halve(in_use.style, in_use.rgb);
	in_use.on = true;
}

int palette_rgb(int colour)
{
	static const int basic[16] = { 0x000000, 0x800000, 0x008000, 0x808000, 0x000080, 0x800080,
				       0x008080, 0xc0c0c0, 0x808080, 0xff0000, 0x00ff00, 0xffff00,
				       0x0000ff, 0xff00ff, 0x00ffff, 0xffffff };
	static const int step[6] = { 0, 95, 135, 175, 215, 255 };
	int grey;

	if (colour < 16)
		return colour < 0 ? -1 : basic[colour];
	if (colour < 232) {
		colour -= 16;
		return step[colour / 36] << 16 | step[colour / 6 % 6] << 8 | step[colour % 6];
	}
	grey = 8 + 10 * (colour - 232);
	return grey << 16 | grey << 8 | grey;
}

int role_rgb(enum role role, bool background)
{
	return in_use.on ? in_use.rgb[palette_known(role)][background]
			 : role_rgb_dark(role, background);
}

int role_rgb_dark(enum role role, bool background)
{
	/* viridis at 1/8, 2/8, ... 6/8 and 1; cividis at 2/9, ... 7/9 and 1 */
	static const int exact[2 * HEAT_COLOURS] = {
		0x472d7b, 0x3b528b, 0x2c728e, 0x21918c, 0x28ae80, 0x5ec962, 0xfde725,
		0x39486b, 0x575c6d, 0x707173, 0x8a8779, 0xa69d75, 0xc4b56c, 0xffea46,
	};
	const struct role_style *l = role_style_dark(role);
	int first = background ? ROLE_FILL : ROLE_HEAT;

	if ((int)role >= first && (int)role < first + 2 * HEAT_COLOURS)
		return exact[(int)role - first];
	return palette_rgb(background ? l->bg : l->fg);
}

int heat_level(double pct)
{
	static const double limit[HEAT_LEVELS - 1] = { 5, 15, 30, 45, 60, 75, 90 };
	int level = 0;

	for (int i = 0; i < HEAT_LEVELS - 1; i++) /* no branch: called for every cable */
		level += pct >= limit[i];
	return level;
}

char heat_glyph(int level)
{
	return ".:-=+*#@"[level & 7];
}

const char *palette_name(enum palette palette)
{
	static const char *const names[PALETTE_COUNT] = { "viridis", "cividis", "glyphs" };

	return names[palette % PALETTE_COUNT];
}

enum role heat_role(enum palette palette, int level)
{
	if (palette == PALETTE_NONE)
		return ROLE_TEXT;
	if (level <= 0)
		return ROLE_DIM;
	return (enum role)((palette == PALETTE_CIVIDIS ? ROLE_HEAT2 : ROLE_HEAT) + level - 1);
}

enum role heat_role_quiet(enum role role, enum heat_quiet quiet)
{
	int step = ((int)role - ROLE_HEAT) % HEAT_COLOURS, first = (int)role - step;

	if (quiet == HEAT_PLAIN && (role == ROLE_DIM || (role >= ROLE_HEAT && role < ROLE_DELTA)))
		return ROLE_TEXT;
	if (quiet == HEAT_LOUD || role < ROLE_HEAT || role >= ROLE_DELTA)
		return role;
	if (quiet == HEAT_HOT && step < 5)
		return ROLE_DIM;
	return step < 2 ? ROLE_DIM : (enum role)(first + (step < 5 ? 3 : 6));
}

int delta_level(double pct)
{
	static const double limit[] = { 2, 15, 40 };
	int level = 0;

	while (level < 3 && fabs(pct) >= limit[level])
		level++;
	return pct < 0 ? -level : level;
}

char delta_glyph(int level)
{
	return "Vv-.+*#"[level + 3];
}

enum role delta_role(enum palette palette, int level)
{
	return palette == PALETTE_NONE ? ROLE_TEXT : (enum role)(ROLE_DELTA + 3 + level);
}
