/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * failure_cost: what a failure that has happened costs: jobs that it touched, time before it and
 * after a repair, cables that carry more then.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/tables/carry.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct failure {
	const struct fabric *was, *now;
	const struct tables *t;	   /* that routed on was */
	const struct tables *by;   /* that somebody has written since, of now; NULL: not known */
	const struct jobset *jobs; /* on was; NULL: not known */
	unsigned threads;	   /* 0: one per core */
};

#define FAILURE_IDS 3 /* are named, where no more are touched */

struct failure_cost {
	struct carry_report since;
	uint64_t lost; /* paths between hosts (base LIDs) that do not arrive any more */
	bool jobs;     /* known: these, and the times are the mean of jobs, else of shifts */
	uint32_t touched;
	uint64_t ids[FAILURE_IDS]; /* the lowest of them */
	bool repaired;		   /* no path is lost by what was written since */
	/* after that, or after a repair; why "": there is one */
	char why[200];
	double before, after; /* 1 is without contention */
	uint64_t changed;     /* LFT entries */
	uint32_t more;	      /* channels that carry more routes */
	uint32_t most;	      /* the one of now with the most more; FAB_NONE */
	uint64_t most_was, most_is;
};

/* -ECANCELED, -ESTALE and the like as of tables_carry(), -EINVAL: of another fabric. */
int failure_cost_find(struct failure_cost *out, const struct failure *x, struct progress *progress,
		      struct err *err);
/* "4711, 4720", or "4711, ..." where they are too many; "": none is touched.  Returns buf. */
const char *failure_cost_ids(char *buf, size_t size, const struct failure_cost *c);
/* "1 cable gone (leaf1/5-spine2/1): 40 paths lost, 9 jobs touched (4711, ...)".  Returns buf. */
const char *failure_cost_text(char *buf, size_t size, const struct failure_cost *c);
/* "after a repair of 298 LFT entries: time of jobs 2.01 (+4.1 %), 14 links carry more, spine1/2
 * most: 161 paths, 120 before"; "repaired by the subnet manager, 298 LFT entries: ..."; or why
 * there is no repair.  Returns buf. */
const char *failure_cost_repair_text(char *buf, size_t size, const struct failure_cost *c,
				     const struct fabric *now);
