/* SPDX-License-Identifier: GPL-2.0-or-later */
/* time_json: the times of jobs and shifts on one routing, for scripts. */
#pragma once

#include "engines/time/time_summary.h"

#include <jansson.h>

/* An object with one of mean, stderr, node_mean, worst, worst_job and s_per_mib for each pattern,
 * by its name; null where no job's time is known. */
json_t *time_json_patterns(const struct time_summary *t);
/* Adds time, time_stderr and time_s_per_mib of a job; null where it sends over no link. */
void time_json_add_job(json_t *o, const struct job_time *job);
