/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * route_report: the way of a routing from an engine, or a file, to a plan: made, verified,
 * measured, predicted, compared with the installed tables, ordered.  The console's worker, the
 * commands and automatic mode choose the steps that they need; who writes nothing ends before the
 * plan.
 */
#pragma once

#include "console/input/route_file.h"
#include "engines/engine.h"
#include "engines/metrics/length_bound.h"
#include "engines/metrics/metrics.h"
#include "engines/parx/message_figures.h"
#include "engines/parx/parx_check.h"
#include "engines/predict/predict.h"
#include "engines/time/job_time_changes.h"
#include "engines/time/time_gate.h"
#include "engines/time/time_summary.h"
#include "engines/transition/transition.h"
#include "engines/verify/verify.h"
#include "fabric/base/text/notes.h"
#include "fabric/model/tables/lid_choice.h"
#include "fabric/model/tables/tables_diff.h"
#include "fabric/plan/plan.h"

/* The steps, in the order in which they are done. */
enum route_step {
	ROUTE_MAKE = 1 << 0, /* by the engine, or read from the file */
	ROUTE_VERIFY = 1 << 1,
	ROUTE_METRICS = 1 << 2,
	ROUTE_PREDICT = 1 << 3,	   /* as the options want it, and where all ends are connected */
	ROUTE_LID_CHOICE = 1 << 4, /* which LIDs messages take; of parx */
	ROUTE_TIME = 1 << 11,	   /* of jobs and shifts, where all ends are connected */
	/* those below need installed tables, without which they are left out */
	ROUTE_BEFORE = 1 << 5, /* metrics of the installed tables */
	ROUTE_TIME_BEFORE = 1 << 12,
	ROUTE_DIFF = 1 << 6,
	ROUTE_PLAN = 1 << 7,
	ROUTE_VLS = 1 << 8,	/* can the links carry the plan? */
	ROUTE_WEIGHTS = 1 << 9, /* do the ports send from all of its VLs? */
	ROUTE_ORDER = 1 << 10,	/* in which order it is written, and who has to drain */

	ROUTE_JUDGE = ROUTE_VERIFY | ROUTE_METRICS | ROUTE_PREDICT | ROUTE_LID_CHOICE | ROUTE_TIME,
};

/* What the console and automatic mode look at: times of an all-to-all, as quick as a preview has to
 * be. */
#define ROUTE_REPORT_QUICK                                                                         \
	((struct route_report_opts){ .seed = 1,                                                    \
				     .jobs = true,                                                 \
				     .pattern = PREDICT_ALLTOALL,                                  \
				     .seek_choice = true,                                          \
				     .shifts = TIME_SUMMARY_QUICK,                                 \
				     .bound_work = LENGTH_WORK_QUICK })

struct route_report_opts {
	bool terminals_only;	      /* of the verdict */
	bool certificate;	      /* check its proof independently */
	int bisections;		      /* for ebb; -1: predict_default_bisections(), 0: none */
	uint64_t seed;		      /* of these, and of what is drawn from the pattern */
	bool jobs;		      /* predict how the jobs get on with each other ... */
	enum predict_pattern pattern; /* ... when they send like this */
	unsigned threads;	      /* 0: one per core; never changes the result */
	uint32_t shifts;	      /* as in struct shift_time_opts */
	uint64_t bound_work;	      /* of metrics (metrics.h); from LENGTH_WORK on also of time */
	bool all_lids;		      /* figures of all traffic LIDs, not of base LIDs alone */
	bool rates;	  /* of the jobs in an all-to-all, with the times (job_rate.h) */
	bool seek_choice; /* of LIDs, whoever made the tables; none is no error */
};

/* All of it is borrowed, and may be NULL but for the fabric and one source of tables. */
struct route_inputs {
	const struct fabric *f;
	const struct jobset *jobs;    /* that the routing is made for and measured with */
	const struct jobset *running; /* of the plan: who may have to drain; NULL: jobs */
	const struct demand *demand;
	const struct tables *installed; /* NULL: not known */
	/* where the tables come from: the first of these that is there */
	const struct tables *tables;
	struct route_file file; /* its tables NULL: none */
	const struct engine *engine;

	const struct plan_files *files; /* that the tables above were read from */
	/* current, memo and notes are set here; the limits hold for the verdict, too */
	struct engine_params params;
	struct sm_pin sm;
	struct time_memo *memo; /* of earlier reports; NULL: none */
	struct route_report_opts opts;
};

struct message_metrics {
	struct message_efi efi;
	struct time_summary time;
	/* those below as of struct route_report, which has the times of large messages, and all
	 * else of base LIDs */
	struct time_sheet *sheet;
	struct ebb ebb;
	struct ebb_jobs *ebb_jobs;
	struct prediction *jobs_run;
};

struct route_report {
	const struct fabric *f; /* not owned, as jobs */
	const struct jobset *jobs;
	struct time_memo *memo; /* what engine and report both measure */
	char engine[24];	/* or how it was named: "sar:paper" */
	const struct tables *t;
	struct plan_files files; /* that they were read from; n 0: made by an engine */
	struct verdict *v;
	struct metrics *m, *before;
	struct ebb ebb;		     /* not known when it has no bisections */
	struct ebb_jobs *ebb_jobs;   /* NULL: without jobs, or not asked for */
	struct prediction *jobs_run; /* likewise */
	/* of large messages, where there is a choice of LIDs */
	struct time_summary time, time_before;
	struct time_sheet *sheet;	 /* job by job; NULL: as jobs_run */
	const struct job_times *times;	 /* of them those of the pattern, or NULL */
	struct time_sheet *sheet_before; /* NULL: not known */
	double *rates, *rates_before;	 /* by job; NULL: not asked for */
	/* against the installed tables; where there is a choice of LIDs the one of large messages,
	 * or that of small ones where these alone get slower */
	struct time_gate gate;
	struct time_gate message_gate[MESSAGE_SIZES]; /* by size, where there is a choice */
	double time_bound;			      /* of an all-to-all; 0 unknown */
	enum predict_pattern pattern;
	struct notes notes; /* what the engine reported */
	/* which LIDs small and large messages take; NULL: not known, nor is the next */
	struct lid_choice *choice;
	struct parx_verdict parx;
	struct message_metrics *messages; /* by enum message_size; NULL: no choice that holds */
	struct message_metrics *messages_before; /* of the installed tables, likewise */
	bool chosen_before;			 /* these have a choice, too; else of base LIDs */
	struct tables_diff *diff;		 /* against the installed tables; NULL unknown */
	struct plan *plan;
	struct transition *transition;			     /* how its order was found */
	double made_s, total_s, paths_s, layers_s, verify_s; /* wall clock; NAN unknown */
};

/* A copy of all that is borrowed, or a reference to it; route_inputs_drop() gives it back. */
void route_inputs_copy(struct route_inputs *to, const struct route_inputs *from);
void route_inputs_drop(struct route_inputs *in); /* an all-zero one is fine */
/* A plan's routing against the installed one, with the jobs, the pattern and the demand that it was
 * made with; all of it borrowed from p.  -EINVAL: a pattern that there is not. */
int route_inputs_of_plan(struct route_inputs *out, const struct plan *p, struct err *err);

/* Nothing is known yet but the tables, where they are given. */
void route_report_begin(struct route_report *out, const struct route_inputs *in);
/* Of how many parts their progress consists. */
unsigned route_report_parts(const struct route_inputs *in, unsigned steps);
/* Does these steps, each of which goes on from those before, done by this call or an earlier one
 * with the same inputs.  -ECANCELED; the first error of a step, upon which the rest is not done.
 * What does not pass the verdict is no error. */
int route_report_steps(struct route_report *r, const struct route_inputs *in, unsigned steps,
		       struct progress *progress, struct err *err);
/* From the beginning, with a line of progress on a terminal and the times that engines tell.  Where
 * it fails nothing is left to be freed. */
int route_report_run(struct route_report *out, const struct route_inputs *in, unsigned steps,
		     struct err *err);
/* What a choice of LIDs promises, held against the tables; takes over the choice.  The
 * tables that parx made come with theirs already. */
int route_report_choice(struct route_report *r, const struct route_inputs *in,
			struct lid_choice *choice, struct err *err);
/* Do jobs get slower from the tables of one report to those of another?  Into after->gate; not
 * known where the times of one are not. */
void route_report_compare_times(struct route_report *after, const struct route_report *before);
/* Job by job, against the installed tables, likewise; none where one is not known. */
void route_report_job_time_changes(struct job_time_changes *out, const struct route_report *r);
/* Of both routings, after all steps; not known without choice. */
void route_report_message_figures(struct message_figures *out, const struct route_report *r);
/* Takes over what is bounded by fabric and jobs alone, which are the same in both. */
void route_report_take_bounds(struct route_report *r, const struct route_report *from);
/* Jobs of messages of that size; NULL: not known. */
const struct job_times *route_report_times(const struct route_report *r, enum message_size size);
const struct prediction *route_report_jobs_run(const struct route_report *r,
					       enum message_size size);
const struct ebb_jobs *route_report_ebb_jobs(const struct route_report *r, enum message_size size);
/* Verdict and, where there is a choice of LIDs, that on the choice. */
bool route_report_ok(const struct route_report *r);
void route_report_free(struct route_report *r); /* an all-zero one is fine */
