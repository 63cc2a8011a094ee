/* SPDX-License-Identifier: GPL-2.0-or-later */
/* notes: counts with a sentence each, which a computation hands to whoever asked for it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct note {
	char key[32]; /* for scripts: lower case, words joined by _ */
	uint64_t value;
	char text[160]; /* for people */
};

struct notes { /* all zero: none */
	struct note *list;
	size_t n;
};

/* Sets the note of that key, in the order of the first setting.  NULL notes are fine. */
void notes_set(struct notes *notes, const char *key, uint64_t value, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Sets all of others, NULL or not. */
void notes_set_all(struct notes *notes, const struct notes *others);
/* NULL when there is none. */
const struct note *notes_find(const struct notes *notes, const char *key);
void notes_done(struct notes *notes);
