/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * finder: a list over any view of all that one may go to (views, commands, saved views, bookmarks,
 * jobs, switches, hosts, links), which narrows as one types.
 */
#pragma once

#include "views/canvas/menu.h"
#include "views/data/context.h"
#include "views/finder/finder_names.h"

#include <stdbool.h>
#include <stdint.h>

#define FINDER_SHOWN 512 /* of those that fit, the best */

struct finder_found {
	uint32_t name; /* of names */
	uint32_t score;
};

struct finder {
	struct menu menu;
	struct entry typed;
	struct finder_names names;
	struct finder_word *word;
	uint32_t nword;
	VEC(uint32_t) left; /* names that fit so_far */
	char so_far[PATH_TEXT];
	struct finder_found found[FINDER_SHOWN]; /* menu.n of them, the best first */
};

/* What was chosen. */
struct finder_hit {
	enum finder_kind kind;
	uint32_t at;	  /* switch, terminal, channel, job of the context's; of words theirs */
	const char *name; /* of words, until the finder is opened again */
};

/* Takes words, of n, with all texts in them. */
void finder_open(struct finder *m, const struct context *ctx, const struct state *s,
		 struct finder_word *words, uint32_t n, const char *text);
void finder_done(struct finder *m);

/* True: something was chosen, and the finder is closed. */
bool finder_input(struct finder *m, const struct input *in, const struct context *ctx,
		  const struct state *s, struct finder_hit *hit);
/* The list over the view, the text in the two lines below it. */
void finder_draw(struct finder *m, const struct context *ctx, const struct state *s,
		 struct canvas *c);
