/* SPDX-License-Identifier: GPL-2.0-or-later */
/* help_text: the rows of the help: keys, commands, symbols, terms. */
#pragma once

#include "fabric/base/memory/vec.h"
#include "views/data/context.h"

/* A heading (key NULL), or a key or word with its meaning; swatch: a row of colours. */
enum help_swatch { SWATCH_NONE, SWATCH_HEAT, SWATCH_DELTA, SWATCH_LEVELS };

struct help_row {
	const char *key, *text;
	enum help_swatch swatch;
};

struct help_rows {
	VEC(struct help_row) list;
};

/* All rows, the keys of view `from` first; keys that need --rw only with it. */
void help_rows_fill(struct help_rows *rows, const struct context *ctx, const struct state *s,
		    enum view_id from);
