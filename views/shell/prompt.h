/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prompt: the line at the bottom where commands, filters and searches are typed, with a cursor,
 * what was typed before, and completion.
 */
#ifndef VIEWS_SHELL_PROMPT_H
#define VIEWS_SHELL_PROMPT_H

#include "views/canvas/canvas.h"
#include "views/data/request.h"
#include "views/data/state.h"
#include "views/shell/choices.h"
#include "views/shell/command.h"
#include "views/table/fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum prompt_kind { PROMPT_NONE, PROMPT_COMMAND, PROMPT_FILTER, PROMPT_FIND, PROMPT_KINDS };

struct view;

#define PROMPT_LEN  PATH_TEXT
#define PROMPT_PAST 32

/* What completion knows; any may be NULL or none. */
struct prompt_context {
	const struct state *s;
	enum row_kind kind; /* of the table in view; ROW_KINDS: there is none */
	const struct view *view;
	const void *own; /* the view's */
};

struct prompt {
	enum prompt_kind kind; /* PROMPT_NONE: nothing is being typed */
	char text[PROMPT_LEN];
	size_t at; /* byte of the cursor */

	char past[PROMPT_KINDS][PROMPT_PAST][PROMPT_LEN];
	uint32_t npast[PROMPT_KINDS]; /* ever kept */
	uint32_t back;		      /* so many steps back in it; 0: the draft */
	char draft[PROMPT_LEN];

	struct choices choices;
};

enum prompt_result { PROMPT_SAME, PROMPT_CHANGED, PROMPT_DONE, PROMPT_LEFT };

void prompt_open(struct prompt *p, enum prompt_kind kind, const char *text);
/* Shows what may follow, as if Tab had been pressed on a word that is not decided yet. */
void prompt_offer(struct prompt *p, const struct prompt_context *ctx);
/* DONE: p->text is what was typed, and is kept for Up; LEFT: it was given up.  Both close it. */
enum prompt_result prompt_input(struct prompt *p, const struct input *in,
				const struct prompt_context *ctx);
/* Two lines from y on; why: what is wrong with it so far, "" nothing. */
void prompt_draw(const struct prompt *p, struct canvas *c, int y, const char *why,
		 const struct prompt_context *ctx);

/* Completions of the first at bytes of a text. */
void choices_find(struct choices *out, enum prompt_kind kind, const char *text, size_t at,
		  const struct prompt_context *ctx);

#endif
