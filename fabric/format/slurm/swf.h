/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * swf: the Standard Workload Format of the Parallel Workloads Archive: a line of 18 numbers for
 * each job, a header of lines that begin with ";".
 *
 * It says how many processors a job had, not which nodes: struct job_record has wants instead of
 * nodes, from the header's MaxProcs and MaxNodes (else a processor counts as a node), and
 * fabric/jobs/placement.h chooses them.  Times count from UnixStartTime.
 */
#pragma once

#include "fabric/format/slurm/job_line.h"

#include <stdbool.h>
#include <stdint.h>

struct swf {
	bool on; /* a line of its header, or of a job, was seen */
	int64_t start_s;
	uint64_t procs, nodes; /* of the machine; 0: not said */
};

bool swf_is(const char *line);
/* Takes a line; -EINVAL with file and line. */
int swf_line(struct swf *s, struct job_lines *x, char *line);
