/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rank_file: which node each MPI rank runs on.
 *
 *   0: n0001                  one rank
 *   1-3: n[0002-0004]         ranks in the order of the node list
 *   4-11: n0005               several ranks on one node
 *   rank 12=n0006 slot=0      as in the rank files of Open MPI
 *
 * Lines in any order, # comments; every rank once.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/base/text/hostlist.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define RANK_MAX 10000000 /* higher rank numbers are refused */

struct rank_file;

/* Memory in proportion to the file, not to the ranks that it names.  -EINVAL with file:line for the
 * first line that is none of these, else for a rank that comes twice; also for a file without any
 * rank.  Out: the caller's, rank_file_free(). */
int rank_file_read(struct rank_file **out, FILE *file, const char *path, struct read_report *report,
		   struct err *err);
void rank_file_free(struct rank_file *r); /* NULL is fine */
/* The node of a rank; false: the file does not have it. O(log of the file). */
bool rank_file_node(const struct rank_file *r, uint64_t rank, char name[HOSTLIST_NAME]);
