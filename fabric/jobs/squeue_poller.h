/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * squeue_poller: SLURM's jobs from "squeue --json", where ibroute-slurm is not there; from sacct
 * (sacct.h), where that does not answer either.
 *
 * It is this program started again with SQUEUE_POLLER_ARG as its first argument, and talks as
 * ibroute-slurm does.  It costs a process per question, and of jobs that lose a node it knows only
 * those that SLURM does not requeue.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/jobs/job_list.h"

#include <stdio.h>

#define SQUEUE_POLLER_ARG "squeue-poller"

/* argv[0] is SQUEUE_POLLER_ARG; options: --interval-ms N.  Returns the exit code. */
int squeue_poller_main(int argc, char **argv);

/* What squeue --json has printed, of SLURM 21.08 and later; not sorted.  -EINVAL: it is something
 * else. */
int squeue_read(struct job_list **out, FILE *file, struct err *err);
