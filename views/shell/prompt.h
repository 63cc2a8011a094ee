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
#include "views/shell/completion.h"

#include <stddef.h>
#include <stdint.h>

#define PROMPT_LEN     PATH_TEXT
#define PROMPT_HISTORY 32

struct prompt {
	enum prompt_kind kind; /* PROMPT_NONE: nothing is being typed */
	char text[PROMPT_LEN];
	size_t at; /* byte of the cursor */

	char history[PROMPT_KINDS][PROMPT_HISTORY][PROMPT_LEN];
	uint32_t nhistory[PROMPT_KINDS]; /* ever kept */
	uint32_t back;			 /* so many steps back in it; 0: the draft */
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
void prompt_draw(const struct prompt *p, struct canvas *c, int y, const char *why);

#endif
