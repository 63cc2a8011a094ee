/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preview_idle: beside the engines, before a plan was computed: what to press; and where there is
 * room, what is known of the routing in use, and what the engines are for. */
#pragma once

#include "views/canvas/canvas.h"
#include "views/data/state/state.h"

void preview_idle_draw(const struct state *s, struct canvas *c, struct rect r);
