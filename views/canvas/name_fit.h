/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * name_fit: names in columns that are too narrow for them.
 *
 * A name loses its middle ("A09-..-01-01"), such that no other end of the fabric is shown so where
 * one of the places to cut it has that: what is shown is then taken by commands for that end.
 */
#pragma once

#include "fabric/model/topology/fabric.h"
#include "views/canvas/canvas.h"

#include <stddef.h>

/* In width columns at most: a switch or a host; "leaf17/33", whose port stays; or "leaf17/33 ->
 * spine04/17" (also with " - "), of which the longer end is cut first.  Returns buf. */
const char *name_fit(char *buf, size_t len, const struct fabric *f, const char *name, int width);
void name_fit_draw(struct canvas *c, struct rect r, int x, int y, int width, enum role role,
		   const struct fabric *f, const char *name);
