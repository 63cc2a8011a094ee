/* SPDX-License-Identifier: GPL-2.0-or-later */
/* choices: what a word that is being typed may become. */
#ifndef VIEWS_SHELL_CHOICES_H
#define VIEWS_SHELL_CHOICES_H

#include "views/canvas/canvas.h"
#include "views/data/request.h"
#include "views/data/state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHOICES	   48
#define CHOICE_LEN PATH_TEXT

/* What the word before the cursor may become. */
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

/* Tab: the word before at, of which the choices were found, becomes the only one of them, what they
 * have in common, or one after the other.  True: the text has changed. */
/* The next choices_take() takes the one before, not the next. */
void choices_turn(struct choices *c);
bool choices_take(struct choices *c, char *text, size_t size, size_t *at);
void choices_draw(const struct choices *c, struct canvas *to, struct rect r, int y);
/* The same for a text that is the name of a file as a whole, at its end. */
bool choices_file(struct choices *c, char *text, size_t size, const struct state *s);

#endif
