/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/picture/screen_look.h"

#include "views/canvas/theme.h"

struct screen_look screen_look_own(void)
{
	static const struct screen_look dark = { 0xd4d4d4, 0x121212, false },
					light = { 0x1c1c1c, 0xffffff, false };

	return theme_is_light() ? light : dark;
}

struct screen_look screen_look_of(const struct cell *cell)
{
	const struct role_style *s = role_style((enum role)cell->role);
	int fg = role_rgb((enum role)cell->role, false), bg = role_rgb((enum role)cell->role, true);
	struct screen_look look = screen_look_own();

	look.fg = fg < 0 ? look.fg : fg;
	look.bg = bg < 0 ? look.bg : bg;
	look.bold = s->bold;
	if (cell->reverse || (theme_is_mono() && s->reverse)) {
		int was = look.fg;

		look.fg = look.bg;
		look.bg = was;
	}
	return look;
}
