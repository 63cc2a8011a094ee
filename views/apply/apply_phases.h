/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apply_phases: an update as it happens: phases, waves, agents, and what the links make of it. */
#pragma once

#include "views/canvas/canvas.h"
#include "views/data/state/state.h"

/* Each returns the line after its last. */
int apply_phases_draw(const struct state *s, struct canvas *c, struct rect r, int y);
/* Waves with bars, agents by name, slow switches; at most to the end of r. */
int apply_waves_draw(const struct state_apply *a, struct canvas *c, struct rect r, int y);
/* Before, as predicted, and now. */
#define APPLY_LIVE_LINES 6
int apply_live_draw(const struct state *s, struct canvas *c, struct rect r, int y);
