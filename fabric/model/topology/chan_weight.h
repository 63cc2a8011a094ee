/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chan_weight: what a path costs on a channel, by the rate of its cable.
 *
 * Engines add routes times this number to the load of a channel, so that a channel of half the
 * rate gets half the routes.
 */
#pragma once

#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct chan_weights {
	uint32_t unit; /* that of the fastest channel; 1 where all are as fast */
	uint32_t *of;  /* by channel; NULL: all are 1 */
};

/* Of the channels between switches alone; one of unknown rate is as fast as the fastest.  Within
 * 1 % of (rate of the fastest) / (its own rate) * unit.  ignore: all are 1. */
void chan_weights_init(struct chan_weights *w, const struct fabric *f, bool ignore);
void chan_weights_done(struct chan_weights *w);

/* Where loads begin for engines that look at them before routes are added: at what those to one
 * LID cost more than on the fastest channel.  All 0 where all are as fast. */
void chan_weights_start(uint64_t *load, const struct chan_weights *w, const struct fabric *f);

static inline uint32_t chan_weight(const struct chan_weights *w, uint32_t c)
{
	return w->of ? w->of[c] : 1;
}

/* Routes on channels of the fastest rate that would take as long as these on that one. */
static inline double chan_weight_load(const struct chan_weights *w, uint32_t c, uint64_t routes)
{
	return w->of ? (double)routes * w->of[c] / w->unit : (double)routes;
}
