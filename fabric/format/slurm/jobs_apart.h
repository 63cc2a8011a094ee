/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jobs_apart: jobs_file_read() in a process that can do nothing else (isolated_read()). */
#pragma once

#include "fabric/format/slurm/jobs_file.h"

/* As jobs_file_read(); -ECHILD and the like: that process has failed. */
int jobs_apart_read(struct job_log **out, FILE *file, const char *path, struct read_report *report,
		    struct err *err);
