/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * placement: nodes for jobs of which only their number is known (swf.h), as a scheduler with that
 * policy would have taken them.
 *
 * Jobs start when the history says; whoever finds too few free nodes then is left out.  Jobs that
 * need only some processors of a node share nodes with each other, the fullest that has room first.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/format/slurm/job_log.h"
#include "fabric/model/topology/fabric.h"

#include <stdint.h>

enum placement {
	PLACEMENT_FIRST_FIT, /* the first free nodes by name */
	PLACEMENT_SCATTERED, /* any free nodes, drawn at random */
	PLACEMENT_TOPOLOGY,  /* on the fullest switch that has room, else on switches near each
			      * other, as topology/tree */
};

struct placement_opts {
	enum placement policy;
	uint64_t seed; /* of PLACEMENT_SCATTERED */
	/* jobs that run at no time of these are dropped; both JOB_LOG_ALL: none is */
	int64_t from_s, to_s;
};

struct placement_report {
	uint32_t placed, no_room;
	uint64_t first_id; /* of those without room */
	uint32_t nodes;	   /* of the fabric */
};

/* -EINVAL with the names. */
int placement_parse(enum placement *out, const char *name, struct err *err);
/* Gives nodes to all of log that want some, and takes those without room out of it.  Hosts for
 * storage get no jobs.  O(jobs (log jobs + nodes)). */
void job_log_place(struct job_log *log, const struct fabric *f, const struct placement_opts *opts,
		   struct placement_report *report);
