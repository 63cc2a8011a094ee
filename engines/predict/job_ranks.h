/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_ranks: the ranks of a job and whom they send to.
 *
 * Ranks are nodes in the order of their names, which is that of SLURM's lists; the rails of a node
 * send side by side.
 */
#pragma once

#include "engines/predict/predict_paths.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"

#define JOB_RANKS_RAILS 16

struct job_ranks {
	uint32_t nrank;
	uint32_t *off;	/* nrank+1 */
	uint32_t *term; /* by rank, then terminal index */
};

struct rank_flows {
	VEC(struct flow) flows;
};

/* One per job, in their order; mem owns them. */
struct job_ranks *job_ranks_new(struct arena *mem, const struct fabric *f,
				const struct jobset *jobs);
/* All hosts of the fabric as if they were one job.  A name that more ports than JOB_RANKS_RAILS
 * have is none, but what the maker calls his adapters: each of these ports is a rank. */
struct job_ranks *job_ranks_all(struct arena *mem, const struct fabric *f);

/* These add flows, none from a rank to itself and no pair of ranks twice in one direction. */
void job_ranks_shift(struct rank_flows *out, const struct job_ranks *t, uint32_t shift);
/* What all ranks send at the same time: the whole of a ring or stencil. */
void job_ranks_exchange(struct rank_flows *out, const struct job_ranks *t,
			enum predict_pattern pattern);
/* Messages that a rank sends at the same time over one rail: 1 of shifts, up to 6 of stencils. */
uint32_t job_ranks_messages(const struct job_ranks *t, enum predict_pattern pattern);
