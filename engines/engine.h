/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * engine: a fabric, jobs and parameters in, tables out.  No I/O, no globals, no clock.
 *
 * Contract: deterministic (same input and seed give byte-identical tables, whatever the
 * number of threads); complete (every terminal reaches every LID in use) or a refusal that
 * names the pair or the limit; loads and distances in 64 bits; every LMC.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/base/text/notes.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"

#include <stddef.h>

struct demand; /* bytes per (source, destination); engines that need none take NULL */
struct route_limits;
struct time_memo;

/* engines/sar/sar.h says what they do */
enum sar_method { SAR_TIME, SAR_LEAFWISE, SAR_PAPER, SAR_PATCH };

enum dfdn_base { DFDN_SSSP, DFDN_MINHOP }; /* whose paths dfdn takes */

struct engine_params {
	unsigned vls; /* data VLs to use, 1..15; 0: what the fabric's links offer, else 8 */
	bool spread; /* paths take all of vls, also those that freedom of deadlocks does not need */
	unsigned threads; /* 0: one per core; never changes the result */
	uint64_t seed;
	const uint64_t *roots; /* switch GUIDs for updn; NULL: found in the fabric */
	size_t nroots;
	const struct tables *current; /* the installed tables, to start from; NULL: not known */
	enum sar_method sar_method;
	unsigned job_nodes_min; /* of engines that use jobs: those with fewer nodes do not count */
	enum dfdn_base dfdn_base;
	/* sar, from installed tables: share of the blocks of 64 LIDs that may change, 0..1; 0: a
	 * twentieth (leafwise: unless tables of others are far worse than they could be) */
	double sar_change;
	unsigned max_detour; /* hops of a path more than necessary, plus 1; 0: sar chooses */
	unsigned pattern; /* sar: the enum predict_pattern that is to take little time, plus 1; 0:
			   * an all-to-all */
	bool sar_slower;  /* some job, or pattern, may get clearly slower than by current */
	bool escape;	  /* the upper half of every terminal's LIDs are escape LIDs */
	const struct route_limits *limits; /* what is not left to the engine; NULL: nothing */
	bool ignore_rates;	/* every channel counts as fast as the fastest (chan_weight.h) */
	struct time_memo *memo; /* of earlier measurements (time_memo.h); NULL: none */
	struct notes *notes;	/* what the engine has to tell about its work; NULL: nobody asks */
};

struct engine {
	const char *name;    /* as on the command line */
	const char *summary; /* one line for menus and --help */
	bool uses_jobs;
	/* 0, or -errno with the reason why this fabric is not for it.  Cheap. */
	int (*suits)(const struct fabric *f, struct err *why);
	/* route() finds out as much, and reports progress meanwhile: nobody needs to ask before */
	bool route_asks;
	/* jobs and demand may be NULL.  Progress steps are named "paths" and "layers" ("grid"
	 * before, and "escape" in engine_run()). -ECANCELED, -ENETUNREACH (disconnected: names the
	 * pair), -ENOSPC (VLs: says how many would be needed as far as known, and which engine can
	 * do with fewer). */
	int (*route)(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		     const struct demand *demand, const struct engine_params *params,
		     struct progress *progress, struct err *err);
};

/* What callers use: leaves out the jobs that do not count and what the limits exclude
 * (exclusion.h), asks the engine whether it suits, lets it route, puts the pinned routes in, if any
 * (pin.h), then adds the escape LIDs where they are wanted (escape_lids.h).  Errors are those of
 * all of them.  params must not be NULL. */
int engine_run(const struct engine *e, struct tables **out, const struct fabric *f,
	       const struct jobset *jobs, const struct demand *demand,
	       const struct engine_params *params, struct progress *progress, struct err *err);

/* All engines, in the order of menus. */
const struct engine *const *engine_all(size_t *n);
/* NULL and a sentence that lists the names when there is none. */
const struct engine *engine_find(const char *name, struct err *err);
