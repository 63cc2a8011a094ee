/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jobs_file: jobs from text.  Five forms, recognised by their lines:
 *
 *   jobid nodelist                           a line per job, # comments; squeue -o '%i %N'
 *   jobid,start,end,nodelist                 history; the header line may be missing
 *   JobIDRaw|JobName|User|State|Start|...    sacct -P, with its header
 *   JobId=12 UserId=... NodeList=...         jobcomp/filetxt (filetxt.h)
 *   1 0 12 3600 64 ...                       Standard Workload Format (swf.h)
 *
 * Times are those of fabric/base/time/when.h, "Unknown" or empty.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/format/slurm/job_log.h"

#include <stdio.h>

/* -EINVAL with file:line for the first line that is none of these; a job without nodes is
 * left out with a warning.  Out: the caller's, job_log_free(). */
int jobs_file_read(struct job_log **out, FILE *file, const char *path, struct read_report *report,
		   struct err *err);
