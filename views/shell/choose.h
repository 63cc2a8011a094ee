/* SPDX-License-Identifier: GPL-2.0-or-later */
/* choose: commands that set by name what all views share; errors go to the message line. */
#pragma once

#include "views/data/context.h"

/* Goes to a switch, to that of "leaf17/33", or to the one that a host is on.  port: the one that
 * was named, else 0. */
bool choose_node(uint8_t *port, struct context *ctx, const char *name, const struct state *s);
void choose_job(struct context *ctx, const char *id, const struct state *s);	/* "": none */
void choose_path(struct context *ctx, const char *ends, const struct state *s); /* "A B" */
void choose_palette(struct context *ctx, const char *name); /* or its beginning */
void choose_units(struct context *ctx, const char *name);   /* "bits", "bytes" */
