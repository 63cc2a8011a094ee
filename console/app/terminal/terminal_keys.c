/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/app/terminal/terminal_keys.h"

#include "console/app/terminal/key_reader.h"

#include <curses.h>
#include <term.h>

#include <string.h>

static const struct {
	const char *name; /* of the capability */
	uint32_t key;
} known[] = {
	{ "kcuu1", K_UP },     { "kcud1", K_DOWN },   { "kcub1", K_LEFT }, { "kcuf1", K_RIGHT },
	{ "kpp", K_PGUP },     { "knp", K_PGDN },     { "khome", K_HOME }, { "kend", K_END },
	{ "kdch1", K_DELETE }, { "kcbt", K_BACKTAB }, { "kent", K_ENTER }, { "kbs", K_BACKSPACE },
	{ "kf1", K_F1 },       { "kf2", K_F2 },	      { "kf3", K_F3 },	   { "kf4", K_F4 },
	{ "kf5", K_F5 },       { "kf6", K_F6 },	      { "kf7", K_F7 },	   { "kf8", K_F8 },
	{ "kf9", K_F9 },       { "kf10", K_F10 },
};

static const char *terminal_keys_of(const char *capability)
{
	const char *s = tigetstr(capability);

	return s == (const char *)-1 ? NULL : s;
}

void terminal_keys_learn(struct key_reader *r)
{
	const char *s;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if ((s = terminal_keys_of(known[i].name)))
			key_reader_learn(r, s, known[i].key);
	for (size_t i = 0; strnames[i]; i++)
		if (strnames[i][0] == 'k' && strcmp(strnames[i], "kmous") &&
		    (s = terminal_keys_of(strnames[i])))
			key_reader_learn(r, s, K_NONE);
}
