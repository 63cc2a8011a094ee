/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * life: one engine on one fabric that wears out: a line of JSON for each step.
 *
 * The figures are those of summary_json(), and so of "compare", for the hosts that are left.
 */
#pragma once

#include "console/campaign/failures/damage.h"
#include "engines/engine_spec.h"
#include "engines/predict/predict.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/traffic/jobset.h"

#include <stdio.h>

#define LIVES_ENGINES 16

/* Lower bounds of the maximum EFI, which all engines share and which take long: by seed and step.
 */
struct life_bounds;
struct life_bounds *life_bounds_new(uint64_t first_seed, uint32_t seeds, uint32_t nstep);
void life_bounds_free(struct life_bounds *b); /* NULL is fine */

/* What holds for all lives of a campaign. */
struct life_rules {
	const struct fabric *f;
	const struct jobset *jobs; /* NULL: none */
	struct damage_rules damage;
	struct engine_params params;
	int bisections; /* as in struct route_report_opts */
	enum predict_pattern pattern;
	struct life_bounds *bounds; /* thread-safe */
	bool repair;		    /* also what the engine repair makes of the state before */
	bool packets;		    /* and packets in simulated time */
};

/* All steps of that engine and seed, to lines and seconds; the step before a failure is what
 * entries are counted against.  What engines refuse is in the lines; -EINVAL and the like else. */
int life_run(FILE *lines, FILE *seconds, const struct life_rules *r, const struct engine_spec *e,
	     uint64_t seed, struct err *err);

/* The fabric and its tables at a step of that life, as the line of the step has measured them; the
 * caller owns a reference of each.  What the engine refuses: *t NULL, -errno and its sentence, and
 * the fabric.  -EINVAL: no host is left, and *f is NULL, too. */
int life_tables(struct fabric **f, const struct tables **t, const struct life_rules *r,
		const struct engine_spec *e, uint64_t seed, uint32_t step, struct err *err);
