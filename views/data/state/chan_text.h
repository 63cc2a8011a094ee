/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chan_text: whose traffic a channel carries and on which lanes, in a few words. */
#pragma once

#include "views/data/state/state.h"

#include <stddef.h>
#include <stdint.h>

/* "VL0 71% VL1 18%" in buf, at most width columns; "" where lanes
 * are not known. */
const char *chan_lanes_text(char *buf, size_t len, const struct state *s, uint32_t chan, int width);
/* "81234:71% 81240:18%" in buf, at most width columns; "" without. */
const char *chan_jobs_text(char *buf, size_t len, const struct state *s, uint32_t chan, int width);
/* Utilisation to expect after the preview, in percent: today's, scaled as the routes of jobs over
 * the channel are; NAN unknown. */
double chan_planned_util(const struct state *s, uint32_t chan);
