/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demand_time: what a demand takes when all of its pairs send at once.
 *
 * The load of a channel is the sum of the weights over it times the rate of the fastest host over
 * its own; the demand takes as long as its fullest channel, in units of what the busiest host's own
 * port takes, at least 1.  Pairs on one switch are on no channel.
 */
#pragma once

#include "engines/predict/predict.h"
#include "fabric/model/traffic/demand.h"

struct demand_time {
	bool known; /* there is a demand between switches */
	uint64_t pairs, stranded;
	double time;
};

/* lids: as in struct job_time_opts.  -ECANCELED; -EINVAL when tables or demand are of another
 * fabric.  Progress step: "demand". */
int demand_time_compute(struct demand_time *out, const struct fabric *f, const struct tables *t,
			const struct demand *demand, predict_lids_fn lids, void *lids_ctx,
			struct progress *progress, struct err *err);
