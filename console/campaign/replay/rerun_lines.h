/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rerun_lines: the lines of a replay, and the jobs whose lines are not complete yet. */
#pragma once

#include "console/campaign/replay/moments.h"
#include "console/campaign/replay/way.h"

#include <jansson.h>
#include <stdio.h>

struct rerun_jobs; /* sums of the jobs that run */

struct rerun_jobs *rerun_jobs_new(const struct job_log *log, size_t nway);
void rerun_jobs_free(struct rerun_jobs *j); /* NULL is fine */
/* Adds what was measured at a time, and writes the lines of jobs that run no more. */
void rerun_jobs_add(struct rerun_jobs *j, const struct moments *m, const struct jobset *jobs,
		    const struct way *way, const struct way_step *step, FILE *out);
void rerun_jobs_end(struct rerun_jobs *j, const struct way *way, FILE *out);
json_t *rerun_jobs_state(const struct rerun_jobs *j);
int rerun_jobs_restore(struct rerun_jobs *j, const json_t *state); /* -EPROTO */

/* One line of times.jsonl, and one of seconds.jsonl where something was computed. */
void rerun_line_write(FILE *times, FILE *seconds, int64_t time_s, const struct jobset *jobs,
		      const struct way *w, const struct way_step *s);
/* "eff_efi_max", ... */
const char *way_figure_key(enum way_figure k);
