/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mpi_env: what UCX can use of a choice of LIDs, as environment variables of each host.
 *
 *   n0001 UCX_IB_LID_PATH_BITS=0,2 UCX_IB_SL=1
 *
 * UCX has one list of offsets and one SL for all receivers of a process: the first offset is that
 * of its first connection, which small messages take.  So a host gets the offset that small
 * messages may take to most receivers, then that of large ones, where all paths to these have one
 * SL; without such offsets it is named in a comment and gets none.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/tables/lid_choice.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/traffic/jobset.h"

#include <stdio.h>

/* jobs: the receivers of a host in one of them are those of this job; NULL: of all hosts.  A host
 * with several ports has the line of its first.  -EIO.  Time O(hosts * receivers * LIDs). */
int mpi_env_write(FILE *file, const struct fabric *f, const struct tables *t,
		  const struct lid_choice *c, const struct jobset *jobs, struct err *err);
