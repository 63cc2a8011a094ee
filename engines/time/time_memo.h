/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * time_memo: what was found out about one fabric with one set of jobs, for who needs the same
 * again: an engine that compares what it makes with the installed tables, the report on both, the
 * next step to tables that take several.
 *
 * Tables are known by their entries, whoever made them.  The last few are kept; those of another
 * fabric or other jobs take the place of all.  Of one thread at a time.
 */
#pragma once

#include "engines/time/shift_time.h"
#include "engines/time/time_sheet.h"

struct time_memo;

struct time_memo *time_memo_new(void);
struct time_memo *time_memo_get(struct time_memo *m);
void time_memo_put(struct time_memo *m); /* NULL is fine */

/* As time_sheet_compute(); *out is a reference.  m may be NULL.  With phases or LIDs of the
 * caller's nothing is looked up or kept. */
int time_memo_sheet(struct time_sheet **out, struct time_memo *m, const struct fabric *f,
		    const struct tables *t, const struct jobset *jobs,
		    const struct job_time_opts *opts, struct progress *progress, struct err *err);
/* As shift_time_compute(); likewise.  jobs: those that the sheets are of, or NULL. */
int time_memo_shifts(struct shift_time *out, struct time_memo *m, const struct fabric *f,
		     const struct tables *t, const struct jobset *jobs,
		     const struct shift_time_opts *opts, struct progress *progress,
		     struct err *err);

/* Tables that steps go to, as found by somebody who named them so; NULL: none.  A reference. */
struct tables *time_memo_target(struct time_memo *m, const struct fabric *f,
				const struct jobset *jobs, const char *name);
void time_memo_keep_target(struct time_memo *m, const struct fabric *f, const struct jobset *jobs,
			   const char *name, const struct tables *t);
