/* SPDX-License-Identifier: GPL-2.0-or-later */
/* filetxt: the log that SLURM writes with JobCompType=jobcomp/filetxt: a line of KEY=VALUE for each
 * job that has ended. */
#pragma once

#include "fabric/format/slurm/job_line.h"

#include <stdbool.h>

/* Does a line look like one of it ("JobId=12 UserId=...")? */
bool filetxt_is(const char *line);
/* Takes a line; -EINVAL with file and line. */
int filetxt_line(struct job_lines *x, char *line);
