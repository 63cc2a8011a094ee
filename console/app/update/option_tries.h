/* SPDX-License-Identifier: GPL-2.0-or-later */
/* option_tries: the last results of engines with the options they had, as long as these can be
 * compared: for one fabric, its jobs and its installed tables. */
#pragma once

#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"
#include "views/data/state/option_result.h"
#include "views/data/state/plan_preview.h"

#include <stdint.h>

#define OPTION_TRIES 24

/* All zero: none. */
struct option_tries {
	const struct jobset *jobs;		 /* a reference; NULL none */
	const struct tables *from;		 /* likewise */
	struct option_result list[OPTION_TRIES]; /* the newest last */
	uint32_t n;
};

/* x has just been computed: x->was becomes the newest result of its engine with other options, not
 * known where there is none, and its own result is kept.  All of the same fabric. */
void option_tries_take(struct option_tries *t, struct plan_preview *x, const struct fabric *f);
/* They are of these jobs and installed tables; either may be NULL.  There are none: yes. */
bool option_tries_fresh(const struct option_tries *t, const struct jobset *jobs,
			const struct tables *from, const struct fabric *f);
void option_tries_clear(struct option_tries *t); /* of another fabric, or at the end */
