/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load_jobs: the jobs of a file (fabric/format/slurm/jobs_file.h); "-" is stdin. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"

/* All jobs of it; nodes that the fabric does not have are warned of. */
int load_jobs(struct jobset **out, const char *path, const struct fabric *f, struct err *err);

/* A line of the log where nodes of jobs are not certain. */
void load_jobs_tell_names(const struct jobset *js, const struct fabric *f);
