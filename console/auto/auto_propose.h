/* SPDX-License-Identifier: GPL-2.0-or-later */
/* auto_propose: what auto_policy wants to know of a routing: whether it may be written, and what it
 * gains. */
#pragma once

#include "console/auto/auto_policy.h"
#include "console/plan/route_report.h"

/* Who may be drained without an operator. */
struct auto_agents {
	const char *socket; /* of OpenSM's plugin, which alone knows who subscribes; as
			       osm_link_path() */
	const char *key;    /* of the agents, as struct live_opts has it */
	bool unassigned;    /* LIDs of no job do not count in a drain */
	enum auto_drain drain;
	double gain; /* of auto_part_preferred() */
};

/* What is done before. */
#define AUTO_STEPS                                                                                 \
	(ROUTE_MAKE | ROUTE_VERIFY | ROUTE_METRICS | ROUTE_LID_CHOICE | ROUTE_TIME |               \
	 ROUTE_BEFORE | ROUTE_TIME_BEFORE | ROUTE_PLAN)
/* What is done here. */
#define AUTO_REST (ROUTE_VLS | ROUTE_WEIGHTS | ROUTE_ORDER)
/* Of a part that needs no drain, whose plan and order are known. */
#define AUTO_PART                                                                                  \
	(ROUTE_METRICS | ROUTE_LID_CHOICE | ROUTE_TIME | ROUTE_BEFORE | ROUTE_TIME_BEFORE |        \
	 ROUTE_VLS | ROUTE_WEIGHTS)

/* What all of a change gains of which the engine's step is a part, as its notes say: 0..1; 0 not
 * known. */
double auto_propose_reach(const struct notes *notes);

/* From r, after AUTO_STEPS: whether the links carry the plan, in which order it is written, and
 * whether all who have to drain have agents.  Where they have not, and the part of the plan that
 * nobody has to drain for gains enough, r becomes a report of that part.  0, also where it
 * is not sound (err says why: the plan's why_not is for the caller to set); -ECANCELED.  Not filled
 * in: out->busy, out->cpu_s. */
int auto_propose(struct auto_plan *out, struct route_report *r, const struct route_inputs *in,
		 const struct auto_agents *who, struct progress *progress, struct err *err);
