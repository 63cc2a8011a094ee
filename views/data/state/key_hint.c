/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/state/key_hint.h"

#include <stdio.h>
#include <string.h>

static struct {
	const char *name;
	char key[KEY_HINT_LEN];
	uint32_t code; /* of one that does the same */
} hints[KEY_HINTS];
static size_t nhint;

static size_t key_hint_find(const char *command, size_t len)
{
	size_t i = 0;

	while (i < nhint && (strncmp(hints[i].name, command, len) != 0 || hints[i].name[len]))
		i++;
	return i;
}

/* The shortest word of what help shows: "h" of "Left h". */
static void key_hint_shorten(char out[KEY_HINT_LEN], const char *shown)
{
	size_t least = SIZE_MAX, len;

	out[0] = '\0';
	for (; *(shown += strspn(shown, " ")); shown += len) {
		len = strcspn(shown, " ");
		if (len < least)
			snprintf(out, KEY_HINT_LEN, "%.*s", (int)len, shown);
		least = len < least ? len : least;
	}
}

void key_hints_use(const struct binding *rows, size_t n,
		   const char *(*name)(const struct binding *b))
{
	nhint = 0;
	for (size_t i = 0; i < n && nhint < KEY_HINTS; i++) {
		const char *of = name(&rows[i]);

		if (!of || !rows[i].shown || key_hint_find(of, strlen(of)) < nhint)
			continue;
		hints[nhint].name = of;
		hints[nhint].code = rows[i].keys[0];
		key_hint_shorten(hints[nhint++].key, rows[i].shown);
	}
}

const char *key_hint(const char *command)
{
	size_t i = key_hint_find(command, strlen(command));

	return i < nhint ? hints[i].key : command;
}

/* Those that sentences name as they are. */
static const struct {
	const char *key;
	uint32_t code;
} always[] = { { "Enter", '\r' }, { "Esc", 27 }, { "Space", ' ' }, { "Tab", '\t' } };

#define ALWAYS (sizeof(always) / sizeof(always[0]))

static const char *key_hint_of(size_t i)
{
	return i < ALWAYS ? always[i].key : hints[i - ALWAYS].key;
}

uint16_t key_hint_read(size_t *len, const char *text)
{
	uint16_t number = 0;

	*len = 0;
	for (size_t i = 0; i < ALWAYS + nhint; i++) {
		size_t n = strlen(key_hint_of(i));
		bool code = i < ALWAYS || hints[i - ALWAYS].code;

		if (!code || n <= *len || strncmp(text, key_hint_of(i), n) != 0)
			continue;
		*len = n;
		number = (uint16_t)(i + 1);
	}
	return number;
}

/* Another row of the same key may have others beside it. */
uint32_t key_hint_code(uint16_t number)
{
	const char *key;

	if (!number || number > ALWAYS + nhint)
		return 0;
	if (number <= ALWAYS)
		return always[number - 1].code;
	key = hints[number - 1 - ALWAYS].key;
	return key[0] && !key[1] ? (unsigned char)key[0] : hints[number - 1 - ALWAYS].code;
}

const char *key_hint_command(size_t i)
{
	return i < nhint ? hints[i].name : NULL;
}

const char *key_hint_text(char *buf, size_t len, const char *text)
{
	size_t n = 0;

	buf[0] = '\0';
	while (*text && n + 1 < len) {
		size_t word = text[0] == '{' ? strcspn(text + 1, "}") : 0;
		size_t i = word ? key_hint_find(text + 1, word) : nhint;

		if (i < nhint) {
			n += (size_t)snprintf(buf + n, len - n, "%s", hints[i].key);
			text += word + 2;
		} else {
			buf[n++] = *text++;
			buf[n] = '\0';
		}
	}
	return buf;
}
