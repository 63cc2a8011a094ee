/* SPDX-License-Identifier: GPL-2.0-or-later */
/* completion: completes a word of a command or a filter. */
#pragma once

#include "views/canvas/choices.h"
#include "views/data/state/state.h"
#include "views/table/fields.h"

#include <stddef.h>

enum prompt_kind { PROMPT_NONE, PROMPT_COMMAND, PROMPT_FILTER, PROMPT_FIND, PROMPT_KINDS };

struct view;

/* Where names come from; all may be NULL or none. */
struct prompt_context {
	const struct state *s;
	enum row_kind kind; /* of the table in view; ROW_KINDS: there is none */
	const struct view *view;
	const void *own; /* the view's */
};

/* Completions of the first at bytes of a text. */
void completion_find(struct choices *out, enum prompt_kind kind, const char *text, size_t at,
		     const struct prompt_context *ctx);
