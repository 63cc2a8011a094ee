/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/finder/fuzzy.h"

#include <stdio.h>
#include <string.h>

#define WORD 64 /* bytes of a word that count */

enum { FIT_BEGIN = 400, FIT_PART = 300, FIT_INSIDE = 200, FIT_WHOLE = 60, FIT_APART = 120 };

void fuzzy_lower(char *out, const char *text, size_t len)
{
	size_t i = 0;

	for (; i + 1 < len && text[i]; i++)
		out[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] + 'a' - 'A') : text[i];
	if (len)
		out[i] = '\0';
}

static bool fuzzy_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c & 0x80);
}

static bool fuzzy_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Does another part of the text begin here: behind a sign, or between letters and digits? */
static bool fuzzy_begins_part(const char *text, const char *at)
{
	if (at == text)
		return true;
	if (!fuzzy_letter(at[0]) && !fuzzy_digit(at[0]))
		return true;
	return fuzzy_letter(at[-1]) != fuzzy_letter(at[0]) ||
	       fuzzy_digit(at[-1]) != fuzzy_digit(at[0]);
}

/* The first place of the word, one where a part begins before all others; NULL: none. */
static const char *fuzzy_place(const char *text, const char *word)
{
	const char *first = strstr(text, word);

	for (const char *at = first; at; at = strstr(at + 1, word))
		if (fuzzy_begins_part(text, at))
			return at;
	return first;
}

/* The characters of the word in their order, others between; the span, 0: they are not there. */
static size_t fuzzy_apart(bool *mark, size_t n, const char *text, const char *word)
{
	const char *from = NULL, *at = text;

	for (; *word; word++, at++) {
		at = strchr(at, *word);
		if (!at)
			return 0;
		if (!from)
			from = at;
		if (mark && (size_t)(at - text) < n)
			mark[at - text] = true;
	}
	return from ? (size_t)(at - from) : 0;
}

static unsigned fuzzy_word_score(const char *text, const char *word, size_t len)
{
	const char *at = fuzzy_place(text, word);
	size_t span;
	unsigned fit;

	if (at) {
		fit = at == text ? FIT_BEGIN : fuzzy_begins_part(text, at) ? FIT_PART : FIT_INSIDE;
		return fit + (!at[len] || fuzzy_begins_part(text, at + len) ? FIT_WHOLE : 0);
	}
	span = fuzzy_apart(NULL, 0, text, word);
	if (!span)
		return 0;
	return span - len < FIT_APART - 20 ? FIT_APART - (unsigned)(span - len) : 20;
}

/* The next word; NULL: there is none. */
static const char *fuzzy_next(char word[WORD], size_t *len, const char *words)
{
	size_t n;

	words += strspn(words, " ");
	n = strcspn(words, " ");
	if (!n)
		return NULL;
	*len = n < WORD ? n : WORD - 1;
	memcpy(word, words, *len);
	word[*len] = '\0';
	return words + n;
}

unsigned fuzzy_score(const char *text, const char *words)
{
	size_t len, size = strlen(text) / 4;
	char word[WORD];
	unsigned sum = 64, none = sum;

	while ((words = fuzzy_next(word, &len, words))) {
		unsigned fit = fuzzy_word_score(text, word, len);

		if (!fit)
			return 0;
		sum += fit;
	}
	if (sum > none) /* of two the shorter one is meant */
		sum -= size < 60 ? (unsigned)size : 60;
	return sum < FUZZY_BEST ? sum : FUZZY_BEST;
}

void fuzzy_mark(bool *mark, size_t n, const char *text, const char *words)
{
	char word[WORD];
	size_t len;

	while ((words = fuzzy_next(word, &len, words))) {
		const char *at = fuzzy_place(text, word);

		if (!at)
			fuzzy_apart(mark, n, text, word);
		for (size_t i = 0; at && i < len && (size_t)(at - text) + i < n; i++)
			mark[(size_t)(at - text) + i] = true;
	}
}
