/* SPDX-License-Identifier: GPL-2.0-or-later */
/* predict_teams: the ranks of jobs and whom they send to. */
#ifndef ENGINES_PREDICT_PREDICT_TEAMS_H
#define ENGINES_PREDICT_PREDICT_TEAMS_H

#include "engines/predict/predict_paths.h"
#include "fabric/base/mem.h"
#include "fabric/base/vec.h"
#include "fabric/model/jobset.h"

/* A job's nodes by name, each with its terminals. */
struct team {
	uint32_t nrank;
	uint32_t *off;	/* nrank+1 */
	uint32_t *term; /* by rank, then terminal index */
};

struct flow_list {
	VEC(struct flow) flows;
};

/* One per job, in their order, all in mem. */
struct team *teams_new(struct arena *mem, const struct fabric *f, const struct jobset *jobs);

/* Each adds the flows of one phase, none from a rank to itself and no pair of ranks twice in one
 * direction. */
void team_shift(struct flow_list *out, const struct team *t, uint32_t shift);
void team_ring(struct flow_list *out, const struct team *t);
void team_stencil(struct flow_list *out, const struct team *t, unsigned dims); /* 2 or 3 */

#endif
