/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzzy: how well a text fits what was typed to find it.
 *
 * Words, in any order, each of which the text has to have: best at its beginning, then at the
 * beginning of a part of it, then inside, then with other characters between its own.  Texts and
 * words are in lower case.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define FUZZY_BEST 4095

/* From 1 to FUZZY_BEST; 0: it does not fit.  Without words everything fits. */
unsigned fuzzy_score(const char *text, const char *words);
/* Sets mark[i] where the word was found in text, of n bytes; leaves the others. */
void fuzzy_mark(bool *mark, size_t n, const char *text, const char *words);
/* In lower case, ASCII letters only: all else is as it was.  len: with the zero at the end. */
void fuzzy_lower(char *out, const char *text, size_t len);
