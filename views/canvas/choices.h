/* SPDX-License-Identifier: GPL-2.0-or-later */
/* choices: what a word that is being typed may become, and Tab from one to the next. */
#ifndef VIEWS_CANVAS_CHOICES_H
#define VIEWS_CANVAS_CHOICES_H

#include "views/canvas/canvas.h"
#include "views/data/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHOICES	   48
#define CHOICE_LEN PATH_TEXT

struct choices {
	size_t from;   /* where the word begins */
	uint32_t n;    /* of text[] */
	uint32_t all;  /* there are more than fit */
	size_t common; /* bytes that all begin with */
	char text[CHOICES][CHOICE_LEN];

	bool files;    /* a list of them is shown before Tab chooses one */
	bool listed;   /* it was */
	bool choosing; /* Tab goes on from choice to choice */
	uint32_t choice;
};

struct state;

/* None, for a word that begins at that byte. */
void choices_reset(struct choices *c, size_t from);
/* One more; exact: the case of letters is a part of what names have in common. */
void choices_add(struct choices *c, const char *name, bool exact);
/* The files that the first len bytes of text may become, by state.file_names; s may be NULL. */
void choices_add_files(struct choices *c, const char *text, size_t len, const struct state *s);
/* Where the word that ends at a byte begins; ends: characters that no word has. */
size_t choices_word_start(const char *text, size_t at, const char *ends);

/* Tab: the word before at, of which the choices were found, becomes the only one of them, what they
 * have in common, or one after the other.  True: the text has changed. */
bool choices_take(struct choices *c, char *text, size_t size, size_t *at);
/* The next choices_take() takes the one before, not the next. */
void choices_turn(struct choices *c);
/* The same as choices_take() for a text that is the name of a file as a whole, at its end. */
bool choices_file(struct choices *c, char *text, size_t size, const struct state *s);
void choices_draw(const struct choices *c, struct canvas *to, struct rect r, int y);

#endif
