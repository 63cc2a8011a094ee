/* SPDX-License-Identifier: GPL-2.0-or-later */
/* choices: the completions of a word, and Tab from one to the next. */
#pragma once

#include "views/canvas/canvas.h"
#include "views/data/state/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHOICES	   48
#define CHOICE_LEN PATH_TEXT

struct choices {
	size_t from;   /* start of the word */
	uint32_t n;    /* of text[] */
	uint32_t all;  /* also those that do not fit */
	size_t common; /* length of their common prefix */
	char text[CHOICES][CHOICE_LEN];

	bool files;    /* files: listed before Tab chooses one */
	bool listed;   /* they were */
	bool choosing; /* Tab steps through them */
	uint32_t choice;
};

struct state;

/* Empties it, for a word that starts at that byte. */
void choices_reset(struct choices *c, size_t from);
/* Adds one; exact: the common prefix is case-sensitive. */
void choices_add(struct choices *c, const char *name, bool exact);
/* The files that the first len bytes of text may become, by state.file_names; s may be NULL. */
void choices_add_files(struct choices *c, const char *text, size_t len, const struct state *s);
/* Start of the word that ends at a byte; ends: the characters between words. */
size_t choices_word_start(const char *text, size_t at, const char *ends);

/* Tab: replaces the word before at by the only choice, the common prefix, or the next choice.
 * True: the text has changed. */
bool choices_take(struct choices *c, char *text, size_t size, size_t *at);
/* The next choices_take() takes the previous choice. */
void choices_turn(struct choices *c);
/* choices_take() at the end of a text that is one file name. */
bool choices_file(struct choices *c, char *text, size_t size, const struct state *s);
void choices_draw(const struct choices *c, struct canvas *to, struct rect r, int y);
