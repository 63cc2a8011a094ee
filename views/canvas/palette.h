/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * palette: what a cell means (its role) and its style on a terminal.
 *
 * The heat ramp has a glyph for every level, so that a monochrome screen shows the same.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define HEAT_COLOURS 7
#define HALF_LOOKS   5 /* enum half */

enum role {
	ROLE_TEXT,
	ROLE_DIM,
	ROLE_LABEL,  /* names of columns and fields */
	ROLE_RULE,   /* lines between panes, with their titles */
	ROLE_KEY,    /* a key in the footer */
	ROLE_STATUS, /* first line */
	ROLE_LOUD,   /* FROZEN, LOST, RW: emphasis in the first line */
	ROLE_TAB,
	ROLE_TAB_ON,
	ROLE_CURSOR, /* selected row */
	ROLE_GOOD,
	ROLE_WARN,
	ROLE_BAD,
	ROLE_ENTRY,				/* text being typed */
	ROLE_HEAT,				/* 7 steps of viridis, dark to light */
	ROLE_HEAT2 = ROLE_HEAT + HEAT_COLOURS,	/* 7 steps of cividis */
	ROLE_DELTA = ROLE_HEAT2 + HEAT_COLOURS, /* blue (less) - white - orange (more) */
	ROLE_FILL = ROLE_DELTA + HEAT_COLOURS,	/* the three above as background, for heatmaps */
	ROLE_HALF =
		ROLE_FILL + 3 * HEAT_COLOURS, /* upper and lower half of a cell, see half_role() */
	ROLE_COUNT = ROLE_HALF + 2 * HALF_LOOKS * HALF_LOOKS,
};

/* What half a cell of a large heatmap may be. */
enum half { HALF_NONE, HALF_COOL, HALF_WARM, HALF_HOT, HALF_BAD };

/* Colours of the xterm-256 palette and of the 16 basic ones, -1 for the terminal's own;
 * bold and reverse are used on monochrome terminals. */
struct role_style {
	int16_t fg, bg;
	int16_t fg16, bg16;
	bool bold, reverse;
};

const struct role_style *role_style(enum role role);
/* 0xRRGGBB for terminals with true colours; -1: the terminal's own. */
int role_rgb(enum role role, bool background);

/* What they are until then: for dark backgrounds, with exact points of viridis and cividis. */
const struct role_style *role_style_dark(enum role role);
int role_rgb_dark(enum role role, bool background);
/* From now on, for the whole process: ROLE_COUNT of each, which are copied. */
void role_styles_use(const struct role_style *styles, const int (*rgb)[2]);
/* 0xRRGGBB of a colour of the xterm-256 palette; -1 of none. */
int palette_rgb(int colour);

/* Levels 0..7 with the glyphs ".:-=+*#@", by the limits 5, 15, 30, 45, 60, 75, 90 percent. */
#define HEAT_LEVELS 8
int heat_level(double pct);
char heat_glyph(int level);

enum palette { PALETTE_VIRIDIS, PALETTE_CIVIDIS, PALETTE_NONE, PALETTE_COUNT };
const char *palette_name(enum palette palette);
/* Foreground: of the upper half, background: of the lower one. */
enum role half_role(enum palette palette, enum half upper, enum half lower);
enum role fill_role(enum role role); /* a heat or delta role as background; others stay */
enum role heat_role(enum palette palette, int level);
/* The same for large matrices, in which a colour of its own for each level is noise, and takes too
 * many bytes to send.  Other roles stay. */
enum heat_quiet {
	HEAT_LOUD,  /* all of them */
	HEAT_THREE, /* below 30 percent, below 75, and above */
	HEAT_HOT,   /* only what is above has one */
	HEAT_PLAIN, /* none: the signs are enough */
};
enum role heat_role_quiet(enum role role, enum heat_quiet quiet);

/* Levels -3..3 of a change, by 2, 15 and 40 percent: "Vv-" in blue for less, "." for the same,
 * "+*#" in orange for more. */
int delta_level(double pct);
char delta_glyph(int level);
enum role delta_role(enum palette palette, int level);
