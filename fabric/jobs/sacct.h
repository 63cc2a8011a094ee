/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sacct: the running jobs as SLURM's accounting has them, where slurmctld cannot be asked.
 *
 * The database knows no waiting jobs and no lost nodes, and keeps a job whose end it has missed.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/jobs/job_list.h"

#include <stdio.h>

/* The command, with NULL at its end; SACCT_TIMES has to be in its environment. */
extern const char *const sacct_argv[];
#define SACCT_TIMES "SLURM_TIME_FORMAT", "%s"

/* What that has printed; not sorted.  -EINVAL: it is something else. */
int sacct_read(struct job_list **out, FILE *file, struct err *err);
