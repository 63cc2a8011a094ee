/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * theme: styles of all roles.  "dark" is what palette.c has, "light" is for terminals with a light
 * background, on which what is more is darker, and "mono" has no colours at all.
 */
#pragma once

#include "views/canvas/palette.h"

#include <stdbool.h>
#include <stddef.h>

#define THEME_WORDS " dark light mono "

struct theme {
	struct role_style style[ROLE_COUNT];
	int rgb[ROLE_COUNT][2]; /* 0xRRGGBB of foreground and background; -1 the terminal's own */
	bool mono, light;	/* light: made for a light background */
};

/* false: there is none of this name. */
bool theme_named(struct theme *out, const char *name);

/* "text", "tab-on", "heat-1" .. "heat-7", "cividis-1", "delta-1", and as backgrounds "fill-heat-1",
 * "fill-cividis-1", "fill-delta-1"; ROLE_COUNT: none. */
enum role theme_role(const char *name, size_t len);
/* Of those that have one, below ROLE_HALF.  Returns buf. */
#define THEME_ROLE_LEN 24
const char *theme_role_name(char buf[THEME_ROLE_LEN], enum role role);

/* Of the xterm-256 palette, or rgb; both are set, and the basic one that is nearest. */
void theme_set_colour(struct theme *t, enum role role, bool background, int colour);
void theme_set_rgb(struct theme *t, enum role role, bool background, int rgb);

/* From now on, for the whole process. */
void theme_use(const struct theme *t);
/* The one in use has no colours. */
bool theme_is_mono(void);
bool theme_is_light(void);
