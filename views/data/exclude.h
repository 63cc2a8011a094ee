/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exclude: what the next preview routes around, chosen where one looks at it. */
#pragma once

#include "views/data/context.h"

struct route_limits;

/* All tell the operator what came of it.  Switches and cables by name, "none": nothing. */
void exclude_named(struct context *ctx, const struct state *s, const char *text);
/* Excluded, or no longer; the fabric is known. */
void exclude_switch(struct context *ctx, const struct state *s, uint32_t sw);
void exclude_cable(struct context *ctx, const struct state *s, uint32_t chan);
/* The same for n tagged rows, of which l has the switches and cables, and other rows that are
 * neither.  Right after that, again: the list is as it was before. */
void exclude_all(struct context *ctx, const struct state *s, const struct route_limits *l,
		 uint32_t n, uint32_t other);
