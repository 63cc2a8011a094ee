/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/app/terminal/key_name.h"

#include "console/app/terminal/keymap.h"
#include "fabric/base/message/plain.h"
#include "views/canvas/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *name;
	uint32_t key;
} named[] = {
	{ "Space", ' ' },     { "Tab", K_TAB },	  { "Shift-Tab", K_BACKTAB },
	{ "Enter", K_ENTER }, { "Esc", K_ESC },	  { "Backspace", K_BACKSPACE },
	{ "Up", K_UP },	      { "Down", K_DOWN }, { "Left", K_LEFT },
	{ "Right", K_RIGHT }, { "PgUp", K_PGUP }, { "PgDn", K_PGDN },
	{ "Home", K_HOME },   { "End", K_END },	  { "Delete", K_DELETE },
};

#define NAMED (sizeof(named) / sizeof(named[0]))

/* What a terminal sends for Ctrl and these letters is what it sends for another key. */
static const char *key_name_same(char letter)
{
	switch (letter) {
	case 'H':
		return "Backspace";
	case 'I':
		return "Tab";
	case 'J':
	case 'M':
		return "Enter";
	default:
		return NULL;
	}
}

static int key_name_ctrl(uint32_t *out, const char *word, struct err *err)
{
	char letter = (char)toupper((unsigned char)word[5]);
	const char *same = key_name_same(letter);

	if (!isalpha((unsigned char)letter) || word[6])
		return err_set(err, -EINVAL, "'%s' is not a key: Ctrl- takes a letter", word);
	if (same)
		return err_set(err, -EINVAL, "Ctrl-%c cannot be told from %s on a terminal", letter,
			       same);
	*out = K_CTRL((uint32_t)letter);
	return 0;
}

/* F1 to F10; 0: none of them. */
static uint32_t key_name_function(const char *word)
{
	char *end;
	long n;

	if ((word[0] != 'F' && word[0] != 'f') || !isdigit((unsigned char)word[1]))
		return K_NONE;
	n = strtol(word + 1, &end, 10);
	return !*end && n >= 1 && n <= 10 ? (uint32_t)(K_F1 + n - 1) : K_NONE;
}

int key_named(uint32_t *out, const char *text, size_t len, struct err *err)
{
	char word[32];
	const char *at = word;
	uint32_t ch;

	snprintf(word, sizeof(word), "%.*s", (int)(len < sizeof(word) ? len : sizeof(word)), text);
	for (size_t i = 0; i < NAMED; i++)
		if (!strcasecmp(named[i].name, word)) {
			*out = named[i].key;
			return 0;
		}
	if (!strncasecmp(word, "Ctrl-", 5))
		return key_name_ctrl(out, word, err);
	if (!strncasecmp(word, "Alt-", 4))
		return err_set(err, -EINVAL, "'%s': keys with Alt are not supported", word);
	*out = key_name_function(word);
	if (*out)
		return 0;
	ch = plain_next(&at);
	/* what is not plain comes as one, too */
	if (ch <= ' ' || ch >= K_UP || *at || (ch == '?' && word[0] != '?'))
		return err_set(err, -EINVAL, "'%s' is not a key such as x, Ctrl-R, F7 or PgUp",
			       word);
	*out = ch;
	return 0;
}

const char *key_name(char buf[KEY_NAME_LEN], uint32_t key)
{
	buf[0] = '\0';
	for (size_t i = 0; i < NAMED; i++)
		if (named[i].key == key) {
			snprintf(buf, KEY_NAME_LEN, "%s", named[i].name);
			return buf;
		}
	if (key >= K_F1 && key <= K_F10)
		snprintf(buf, KEY_NAME_LEN, "F%u", key - K_F1 + 1);
	else if (key < ' ')
		snprintf(buf, KEY_NAME_LEN, "Ctrl-%c", (char)(key + '@'));
	else
		text_append(buf, KEY_NAME_LEN, key);
	return buf;
}
