/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * predict: what bandwidth tables give to traffic, by counting flows on links; no packets.
 *
 * Links are the directed channels between switches and both directions of every terminal's own
 * cable.  Rates count as shares of full bandwidth: 1.0 is what the slower of the two ends'
 * own cables carries.  Cables whose rate is not known carry as much as the fastest terminal's.
 * Results depend on the input and the seed alone, whatever the number of threads.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"

#define PREDICT_MAX_LIDS 128 /* of a terminal */

/* The LIDs of dst that src sends to, 1..PREDICT_MAX_LIDS of them, equally much to each; a LID
 * that is not dst's strands the flow.  Called from several threads at once. */
typedef uint32_t (*predict_lids_fn)(void *ctx, uint32_t src, uint32_t dst, uint16_t *lids);

/* One such choice: all of the first 2^lmc LIDs; ctx: struct predict_spread. */
struct predict_spread {
	const struct fabric *f;
	uint8_t lmc;
};
uint32_t predict_lids_spread(void *ctx, uint32_t src, uint32_t dst, uint16_t *lids);

/* Whom messages are sent to; NULL, or lids NULL: base LIDs. */
struct predict_lids {
	predict_lids_fn lids;
	void *ctx;
};

struct ebb_opts {
	uint32_t bisections; /* 0: predict_default_bisections() */
	uint64_t seed;
	unsigned threads;     /* 0: one per core */
	predict_lids_fn lids; /* NULL: the base LID */
	void *lids_ctx;
};

/*
 * Effective bisection bandwidth (Hoefler, Schneider, Lumsdaine, "Multistage switches are not
 * crossbars", 2008): the terminals are paired off at random, both of a pair send to each other,
 * and every pair gets 1 / (flows on the fullest link of its path).  Mean over the pairs of a
 * bisection, then over the bisections.  One terminal of an odd number rests.
 */
struct ebb {
	uint32_t bisections;
	double mean;	   /* 0..1 */
	double ci95;	   /* the mean of ever more bisections is within mean +- ci95 (95 %) */
	double min, max;   /* of a bisection */
	uint64_t pairs;	   /* directed, over all bisections */
	uint64_t stranded; /* of them without a path; they count as 0 */
};

/* So many that predict_ebb() takes about half a second of one core, 20 to 1,000.  From the
 * size of the fabric alone, so that results can be compared. */
uint32_t predict_default_bisections(const struct fabric *f);

/* opts may be NULL.  -ECANCELED; -EINVAL when the tables are of another fabric.  Progress step:
 * "bisections".  Without two terminals the result is 1.0 over no pairs. */
int predict_ebb(struct ebb *out, const struct fabric *f, const struct tables *t,
		const struct ebb_opts *opts, struct progress *progress, struct err *err);

struct ebb_jobs {
	uint32_t njob;
	struct ebb all;	      /* the pairs of all jobs that send at the same time */
	struct ebb *alone;    /* per job: pairs inside it, nobody else sends */
	struct ebb *together; /* per job: the same pairs while those of all jobs send */
};

/* "Effective" effective bisection bandwidth: pairs are drawn inside each job, from all its
 * terminals.  As predict_ebb(); also -EINVAL when the jobs are of another fabric. */
int predict_ebb_jobs(struct ebb_jobs **out, const struct fabric *f, const struct tables *t,
		     const struct jobset *jobs, const struct ebb_opts *opts,
		     struct progress *progress, struct err *err);
void ebb_jobs_free(struct ebb_jobs *e); /* NULL is fine */

/* What the ranks of a job do, all at the same time in every phase.  Ranks are the job's nodes
 * in the order of their names; the rails of a node send side by side. */
enum predict_pattern {
	PREDICT_SHIFT,	  /* rank i to rank i + shift, once around */
	PREDICT_ALLTOALL, /* every shift, one phase each */
	PREDICT_RING,	  /* both neighbours */
	PREDICT_STENCIL2, /* four neighbours on the squarest grid, once around */
	PREDICT_STENCIL3, /* six */
};

#define PREDICT_PATTERNS (PREDICT_STENCIL3 + 1)

struct predict_opts {
	enum predict_pattern pattern;
	uint32_t shift;	      /* of PREDICT_SHIFT; 0: half the ranks */
	uint32_t phases;      /* all-to-all: look at no more shifts than that, drawn evenly;
			       * 0: predict_default_phases() */
	uint64_t seed;	      /* of that draw */
	unsigned threads;     /* 0: one per core */
	predict_lids_fn lids; /* NULL: the base LID */
	void *lids_ctx;
};

/*
 * Every flow of a phase sends equally much.  Flows share links max-min fairly, and a phase is
 * over when the job's slowest flow is.  Times are in units of what the phases take where only
 * the terminals' own cables limit: 1.0 is as good as one switch for all.
 */
struct job_prediction {
	uint32_t ranks;
	uint64_t flows;	   /* over the phases looked at; 0: has nobody to send to, times 1.0 */
	uint64_t stranded; /* of them without a path, left out of everything else */
	double alone;	   /* time on the quiet network */
	double together;   /* time while all jobs send */
	double slowdown;   /* together / alone, >= 1 */
	double rate_min;   /* together: of a flow, share of full bandwidth */
	double rate_mean;
};

struct prediction {
	uint32_t njob;
	uint32_t phases; /* looked at */
	struct job_prediction *job;
	/* over the jobs with flows; 1 without any */
	double slowdown_mean, slowdown_max;
	uint32_t worst; /* the first job with the maximum, or FAB_NONE */
	double rate_min, rate_mean;
};

/* So many that the prediction takes about half a second of one core, 4 to 64.  From the size
 * of the fabric alone. */
uint32_t predict_default_phases(const struct fabric *f);

/* Errors as of predict_ebb_jobs().  Progress step: "phases". */
int predict_jobs(struct prediction **out, const struct fabric *f, const struct tables *t,
		 const struct jobset *jobs, const struct predict_opts *opts,
		 struct progress *progress, struct err *err);
void prediction_free(struct prediction *p); /* NULL is fine */

/* "shift", "alltoall", "ring", "stencil2d", "stencil3d". */
const char *predict_pattern_name(enum predict_pattern pattern);
/* -EINVAL with the list of names. */
int predict_pattern_parse(enum predict_pattern *out, const char *name, struct err *err);
