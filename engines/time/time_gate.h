/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * time_gate: do jobs get slower by other tables?
 *
 * A routing must not be slower than the installed one by more than TIME_GATE_PATTERN for any
 * pattern (mean over the jobs), nor by more than TIME_GATE_JOB for any single job in the pattern
 * that the routing is judged by.  Both are measured in the same phases, and what was drawn counts
 * with two standard errors of its difference: the draw alone makes nothing slower.  Jobs that the
 * installed tables leave without a path are not compared.
 */
#pragma once

#include "engines/time/time_sheet.h"

#define TIME_GATE_PATTERN .02
#define TIME_GATE_JOB	  .10

struct time_change {
	double before, after; /* in units of a message without contention; 0: not compared */
	double error;	      /* standard error of the difference, phase by phase */
};

struct time_gate {
	bool known; /* some job was compared; else nothing is slower */
	struct time_change of[PREDICT_PATTERNS];
	enum predict_pattern worst; /* the pattern that most surely rises most */
	bool pattern_slower;	    /* it rises too much */
	struct time_change demand;  /* exact; of none, unless the caller sets it */

	enum predict_pattern pattern; /* of the single jobs */
	uint32_t job;		      /* index of the one that most surely rises most, FAB_NONE */
	uint64_t job_id;
	struct time_change job_time;
	uint32_t jobs_slower; /* that rise too much */

	const char *messages; /* "small": of these alone; NULL: of all.  Set by the caller */
};

/* Share by which it rises, negative where it falls; 0 where it is not compared. */
double time_change_rise(const struct time_change *c);
/* The same less two standard errors. */
double time_change_rise_least(const struct time_change *c);

/* Both of the same jobs, with the same options. */
void time_gate_compare(struct time_gate *out, const struct time_sheet *before,
		       const struct time_sheet *after, const struct jobset *jobs,
		       enum predict_pattern pattern);
/* Measures both first; opts as of job_times_compute().  Errors as of time_sheet_compute(). */
int time_gate_compute(struct time_gate *out, const struct fabric *f, const struct tables *before,
		      const struct tables *after, const struct jobset *jobs,
		      const struct job_time_opts *opts, struct progress *progress, struct err *err);

/* As of a pattern. */
static inline bool time_gate_demand_slower(const struct time_gate *g)
{
	return time_change_rise_least(&g->demand) > TIME_GATE_PATTERN;
}

static inline bool time_gate_slower(const struct time_gate *g)
{
	return (g->known && (g->pattern_slower || g->jobs_slower)) || time_gate_demand_slower(g);
}

/* What is slower, as in "ring 1.20 -> 1.31 (+9.2 %, limit 2 %); 2 jobs, most of all job 4711 in
 * alltoall 2.00 -> 2.50 (+25.0 +- 1.2 %, limit 10 %)", with the size of messages before it where it
 * is of one; "" where nothing is.  Returns buf. */
const char *time_gate_text(char *buf, size_t len, const struct time_gate *g);
