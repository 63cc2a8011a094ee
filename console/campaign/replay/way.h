/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * way: a routing that a replay follows through time: an engine, how it is asked, and the tables
 * that it has at present.
 *
 * "NAME[:HOW]" of an engine that uses jobs: as the automatic mode would (auto_policy.h): it looks
 * when it is due, starts from its tables of before, and takes new ones where they gain enough.
 * With "@always" it takes what comes at each change of the jobs; with "@scratch" also from nothing.
 * An engine that uses no jobs routes once; "installed": the tables that were given.
 */
#pragma once

#include "console/auto/auto_policy.h"
#include "engines/engine_spec.h"
#include "engines/predict/predict.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/traffic/jobset.h"

enum way_mode { WAY_FIXED, WAY_AUTOMATIC, WAY_ALWAYS, WAY_SCRATCH };

#define WAYS_MOST 12

/* What holds for all ways of a replay. */
struct way_rules {
	const struct fabric *f;
	struct engine_params params;
	struct auto_limits limits;
	uint32_t min_age_s;
	bool no_agents; /* of the jobs: what needs a drain is not taken */
	enum predict_pattern pattern;
	uint64_t seed;
};

struct way {
	char label[48];
	struct engine_spec spec; /* engine NULL: the installed tables */
	enum way_mode mode;
	bool dead;		   /* it refused once and for all */
	const struct tables *t;	   /* NULL: none yet */
	struct jobset *routed_for; /* what the last tables were computed for; NULL: nothing */
	uint32_t routed_at;	   /* index of that time */
	struct auto_policy policy;
};

/* What became of a way at a time. */
struct way_step {
	char why[1400]; /* decision or refusal; "" none */
	bool refused, computed, adopted;
	double cpu_s; /* of computing, judging and ordering, where computed */
	uint32_t blocks, blocks_all;
	uint64_t entries;
	bool ordered; /* the two below are known */
	uint32_t waves, drain_lids, jobs_touched;
	/* figures of the tables with all jobs of that time; without tables none of them */
	bool measured;
	uint32_t vls;
	double figure[8]; /* by enum way_figure */
	double *time;	  /* by job of the set: 0 unknown; owned */
};

enum way_figure {
	WAY_TIME,
	WAY_TIME_ERROR,
	WAY_TIME_WORST,
	WAY_EFI,
	WAY_EFI_BOUND,
	WAY_JOB_EFI,
	WAY_DARK,
	WAY_LINKS
};

/* "sar:paper@scratch"; -EINVAL with a sentence. */
int way_parse(struct way *out, const char *text, struct err *err);
void way_free(struct way *w);

/* At the time with that index, at which these jobs run.  0 also where the engine refuses;
 * -ECANCELED. */
int way_at(struct way_step *out, struct way *w, const struct way_rules *r,
	   const struct jobset *jobs, uint32_t index, struct progress *progress, struct err *err);
void way_step_free(struct way_step *s);
