/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_line: what readers of jobs, line by line, share: numbers, times, what is told. */
#pragma once

#include "fabric/base/file/lines.h"
#include "fabric/base/message/err.h"
#include "fabric/base/message/report.h"
#include "fabric/format/slurm/job_log.h"

#include <stdbool.h>
#include <stdint.h>

#define JOB_PART_STEP UINT32_MAX /* of struct job_record: behind all components */

struct job_lines {
	struct job_log *log;
	struct read_report *report;
	struct lines *l;
	struct err *err;
};

/* -EINVAL: "FILE:LINE: WHAT: TEXT". */
int job_line_mistake(const struct job_lines *x, const char *what, const char *text);
/* Takes a whole word as a time; 0: unknown, as "", "Unknown", "None", "N/A".  -EINVAL. */
int job_line_time(int64_t *out, struct job_lines *x, const char *word);
/* "1234", "1234_7" (of an array), "1234_[7-9]" (tasks that wait, together), "1234+2" (the third
 * component of a heterogeneous job), and each with ".0" or ".batch" (a step), up to where that
 * ends; *p is behind it then. */
bool job_line_scan_id(struct job_record *r, const char **p);
/* Adds a record to the log.  One without nodes, or that ends before it begins, is left out with a
 * warning.  -EINVAL: its list of nodes is none. */
int job_line_add(struct job_lines *x, const struct job_record *r);
