/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/topology/chan_weight.h"

#include "fabric/base/memory/mem.h"

#include <math.h>
#include <stdlib.h>

#define UNIT_MAX 32

static uint32_t chan_weight_fastest(const struct fabric *f)
{
	uint32_t max = 0;

	for (uint32_t c = 0; c < f->nchan; c++)
		max = fabric_chan_Mbps(f, c) > max ? fabric_chan_Mbps(f, c) : max;
	return max;
}

static double chan_weight_ratio(const struct fabric *f, uint32_t c, uint32_t fastest)
{
	uint32_t Mbps = fabric_chan_Mbps(f, c);

	return Mbps ? (double)fastest / Mbps : 1;
}

/* Are all ratios whole numbers of 1 / unit, within 1 %? */
static bool chan_weight_fits(const struct fabric *f, uint32_t fastest, uint32_t unit)
{
	for (uint32_t c = 0; c < f->nchan; c++) {
		double v = unit * chan_weight_ratio(f, c, fastest);

		if (fabs(v - round(v)) > 0.01 * v)
			return false;
	}
	return true;
}

void chan_weights_init(struct chan_weights *w, const struct fabric *f, bool ignore)
{
	uint32_t fastest = chan_weight_fastest(f);
	bool mixed = false;

	*w = (struct chan_weights){ .unit = 1 };
	for (uint32_t c = 0; c < f->nchan; c++)
		mixed |= chan_weight_ratio(f, c, fastest) != 1;
	if (!mixed || ignore)
		return;
	while (w->unit < UNIT_MAX && !chan_weight_fits(f, fastest, w->unit))
		w->unit++;
	w->of = xcalloc(f->nchan, sizeof(*w->of));
	for (uint32_t c = 0; c < f->nchan; c++)
		w->of[c] = (uint32_t)lround(w->unit * chan_weight_ratio(f, c, fastest));
}

void chan_weights_start(uint64_t *load, const struct chan_weights *w, const struct fabric *f)
{
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t from = f->sw_nterm[f->chan_src[c]], to = f->sw_nterm[f->chan_dst[c]];
		uint64_t routes = from || !to ? from : f->nterm - to;

		load[c] = (chan_weight(w, c) - w->unit) * routes;
	}
}

void chan_weights_done(struct chan_weights *w)
{
	free(w->of);
	w->of = NULL;
}
