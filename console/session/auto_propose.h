/* SPDX-License-Identifier: GPL-2.0-or-later */
/* auto_propose: routes for the jobs that run, as a plan with what auto_policy wants to know of it.
 */
#ifndef CONSOLE_SESSION_AUTO_PROPOSE_H
#define CONSOLE_SESSION_AUTO_PROPOSE_H

#include "console/session/auto_opts.h"
#include "console/session/live_fabric.h"
#include "fabric/base/progress.h"
#include "fabric/plan/plan.h"

struct auto_routes {
	struct plan *plan; /* NULL: nothing to write, or not sound */
	struct auto_proposal proposal;
	char why_not[200];
};

/* l as after live_open().  counted: the jobs that routes are made for; all: those that may have to
 * drain.  0 also for tables that are not sound; -ECANCELED, errors of the engine.  Not filled in:
 * proposal.busy. */
int auto_propose(struct auto_routes *out, struct live *l, const struct live_opts *o,
		 const struct auto_opts *how, uint64_t seed, const struct jobset *counted,
		 const struct jobset *all, struct progress *progress, struct err *err);
void auto_routes_clear(struct auto_routes *r); /* an all-zero one is fine */

/* For route_limits_exclude_there(): a switch that is under maintenance may be away. */
void auto_exclude_gone(void *ctx, const char *sentence);

#endif
