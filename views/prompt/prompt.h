/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prompt: the input line for commands, filters and searches, with a cursor, history and
 * completion.
 */
#pragma once

#include "views/canvas/canvas.h"
#include "views/data/state/request.h"
#include "views/data/state/state.h"
#include "views/prompt/completion.h"

#include <stddef.h>
#include <stdint.h>

#define PROMPT_LEN     PATH_TEXT
#define PROMPT_HISTORY 32

struct prompt {
	enum prompt_kind kind; /* PROMPT_NONE: nothing is being typed */
	char text[PROMPT_LEN];
	size_t at; /* byte of the cursor */

	char history[PROMPT_KINDS][PROMPT_HISTORY][PROMPT_LEN];
	uint32_t nhistory[PROMPT_KINDS]; /* lines ever added */
	uint32_t back;			 /* steps back in it; 0: the draft */
	char draft[PROMPT_LEN];

	struct choices choices;
};

enum prompt_result { PROMPT_SAME, PROMPT_CHANGED, PROMPT_DONE, PROMPT_LEFT };

void prompt_open(struct prompt *p, enum prompt_kind kind, const char *text);
/* Shows the completions, as Tab does for an ambiguous word. */
void prompt_offer(struct prompt *p, const struct prompt_context *ctx);
/* DONE: p->text is complete and in the history; LEFT: cancelled.  Both close the prompt. */
enum prompt_result prompt_input(struct prompt *p, const struct input *in,
				const struct prompt_context *ctx);
/* Two lines from y on; why: an error in the text, "" none. */
void prompt_draw(const struct prompt *p, struct canvas *c, int y, const char *why);
