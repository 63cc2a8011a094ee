/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * traffic: what links would carry if the hosts went on sending as they were measured to do.
 *
 * Counters tell how much each host sends and receives, not to whom.  That is taken from the jobs,
 * by the gravity model: what a host sends goes to the others of its job, to each in proportion to
 * what that one receives; hosts without a job likewise among themselves.  A host of several jobs
 * counts for the first.
 */
#pragma once

#include "engines/predict/predict.h"
#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"
#include "fabric/model/traffic/sample.h"

struct traffic {
	bool known;	  /* some host was measured to send */
	double util_max;  /* per cent of the data rate, of the fullest channel between switches ...
			   */
	uint32_t chan;	  /* ... which is this one; FAB_NONE: none carries anything */
	double util_mean; /* over all channels of known rate */
	uint32_t over;	  /* channels that would have to carry more than they can */
	uint32_t unknown; /* hosts whose rates are not known: taken as silent */
};

/* rates of f, jobs may be NULL.  -EINVAL: of another fabric; -ECANCELED.  Progress step:
 * "traffic".  O(hosts * switches), as often as a host has LIDs. */
int traffic_predict(struct traffic *out, const struct fabric *f, const struct tables *t,
		    const struct jobset *jobs, const struct rates *rates,
		    const struct predict_lids *to, struct progress *progress, struct err *err);
