/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tour: what to look at and which key comes next, in a few lines below the view, from the verdict
 * on line three to a confirmed update and its effect.  It presses nothing: it follows what is done.
 */
#pragma once

#include "views/canvas/canvas.h"
#include "views/data/context.h"
#include "views/data/state/request.h"
#include "views/data/state/state.h"

#include <stdbool.h>
#include <stdint.h>

struct tour {
	bool on;
	uint32_t step;
};

#define TOUR_ROWS 3

void tour_begin(struct tour *t);
/* After a key with this request, or when something has happened (REQ_NONE). */
void tour_follow(struct tour *t, const struct context *ctx, const struct state *s, enum req req);
/* Into the first TOUR_ROWS rows of r. */
void tour_draw(const struct tour *t, const struct context *ctx, const struct state *s,
	       struct canvas *c, struct rect r);
