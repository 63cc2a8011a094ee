/* SPDX-License-Identifier: GPL-2.0-or-later */
/* evaluate: tables, made by an engine or loaded, with verdict, figures and times. */
#ifndef CONSOLE_SESSION_EVALUATE_H
#define CONSOLE_SESSION_EVALUATE_H

#include "console/input/route_file.h"
#include "engines/engine.h"
#include "engines/metrics/metrics.h"
#include "engines/parx/parx_check.h"
#include "engines/predict/predict.h"
#include "engines/verify/verify.h"
#include "fabric/base/notes.h"
#include "fabric/model/lid_choice.h"
#include "fabric/model/tdiff.h"

struct route_report {
	const struct fabric *f; /* not owned, as jobs */
	const struct jobset *jobs;
	char engine[24]; /* or how it was named: "sar:paper" */
	const struct tables *t;
	struct verdict *v;
	struct metrics *m;
	struct ebb ebb;		     /* not known when it has no bisections */
	struct ebb_jobs *ebb_jobs;   /* NULL: without jobs, or not asked for */
	struct prediction *jobs_run; /* likewise */
	enum predict_pattern pattern;
	struct notes notes; /* what the engine told */
	/* which LIDs small and large messages take; NULL: not known, nor are the next two */
	struct lid_choice *choice;
	struct parx_verdict parx;
	struct ebb ebb_large; /* of large messages */
	struct tdiff *diff;   /* against the installed tables; NULL unknown */
	double total_s, paths_s, layers_s, verify_s; /* wall clock; NAN unknown */
};

struct route_report_opts {
	bool terminals_only;	      /* of the verdict */
	int bisections;		      /* for ebb; -1: predict_default_bisections(), 0: none */
	uint64_t seed;		      /* of these, and of what is drawn from the pattern */
	bool jobs;		      /* predict how the jobs get on with each other ... */
	enum predict_pattern pattern; /* ... when they send like this */
	unsigned threads;
	const struct route_limits *limits; /* what must not be passed, or change; NULL: nothing */
	const struct tables *installed;	   /* against which that is seen; NULL: not known */
	bool all_lids;			   /* figures of all traffic LIDs, not of base LIDs alone */
};

/* The engine, then verdict and figures; demand and jobs may be NULL. */
int evaluate_engine(struct route_report *out, const struct engine *engine, const struct fabric *f,
		    const struct jobset *jobs, const struct demand *demand,
		    const struct engine_params *params, const struct route_report_opts *opts,
		    struct err *err);
/* Takes over the caller's tables, also when it fails. */
int evaluate_tables(struct route_report *out, const struct tables *t, const struct fabric *f,
		    const struct jobset *jobs, const struct route_report_opts *opts,
		    struct err *err);
/* Tables of files as the console judges them (route_file.h); files, which they were, may be NULL.
 */
int evaluate_file(struct route_report *out, struct plan_files *files, const struct route_file *from,
		  const struct fabric *f, const struct jobset *jobs,
		  const struct route_report_opts *opts, struct err *err);
/* What the choice of LIDs promises, held against the tables; takes over the choice.  The
 * tables that parx made come with theirs already. */
int evaluate_choice(struct route_report *e, struct lid_choice *choice,
		    const struct route_report_opts *opts, struct err *err);
/* Verdict and, where there is a choice of LIDs, that on the choice. */
bool route_report_ok(const struct route_report *e);
void route_report_free(struct route_report *e); /* an all-zero one is fine */

#endif
