/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/app/terminal/terminal_code.h"

#include "console/app/terminal/terminal.h"

#include <curses.h>
#include <term.h>

#include <string.h>

#define NO_COLOUR_VIDEO (1 << 2 | 1 << 5) /* of ncv: reverse, bold */

/* The same but for padding, which only hardware of old needs. */
static bool terminal_code_is(const char *capability, const char *sequence)
{
	const char *s = tigetstr(capability);
	size_t n = strlen(sequence);

	return s && s != (const char *)-1 && !strncmp(s, sequence, n) &&
	       (!s[n] || !strncmp(s + n, "$<", 2));
}

/* The parameters of the SGR that sets this colour; false: it is no SGR. */
static bool terminal_code_colour(char out[24], const char *capability, int colour)
{
	const char *s = tigetstr(capability);
	size_t n;

	out[0] = '\0';
	if (colour < 0)
		return true;
	s = s && s != (const char *)-1 ? tparm(s, (long)colour, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L)
				       : "";
	n = strlen(s);
	if (n < 4 || n - 3 >= 24 || strncmp(s, "\033[", 2) != 0 || s[n - 1] != 'm' ||
	    strspn(s + 2, "0123456789;:") != n - 3)
		return false;
	memcpy(out, s + 2, n - 3);
	out[n - 3] = '\0';
	return true;
}

static bool terminal_code_style(struct screen_style *out, enum role role, int colours)
{
	const struct role_style *l = role_style(role);
	int fg = colours == COLOURS_TRUE ? role_rgb(role, false) : colours == 256 ? l->fg : l->fg16;
	int bg = colours == COLOURS_TRUE ? role_rgb(role, true) : colours == 256 ? l->bg : l->bg16;

	*out = (struct screen_style){ .bold = l->bold, .reverse = !colours && l->reverse };
	if (!colours)
		return true;
	return terminal_code_colour(out->fg, "setaf", fg) &&
	       terminal_code_colour(out->bg, "setab", bg);
}

bool terminal_code_learn(struct screen_code *out, int colours)
{
	int ncv = tigetnum("ncv");

	out->erase_char = terminal_code_is("ech", "\033[%p1%dX");
	out->repeat = terminal_code_is("rep", "%p1%c\033[%p2%{1}%-%db");
	if (!terminal_code_is("cup", "\033[%i%p1%d;%p2%dH") ||
	    !terminal_code_is("cuf", "\033[%p1%dC") || !terminal_code_is("cub", "\033[%p1%dD") ||
	    !terminal_code_is("cub1", "\b") || !terminal_code_is("cr", "\r") ||
	    !terminal_code_is("el", "\033[K") || !terminal_code_is("bold", "\033[1m") ||
	    !terminal_code_is("rev", "\033[7m") || (tigetflag("am") > 0 && tigetflag("xenl") <= 0))
		return false;
	if (colours &&
	    (!terminal_code_is("op", "\033[39;49m") || (ncv > 0 && (ncv & NO_COLOUR_VIDEO))))
		return false;
	for (int i = 0; i < ROLE_COUNT; i++)
		if (!terminal_code_style(&out->role[i], (enum role)i, colours))
			return false;
	return true;
}
