/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan_follow: a plan that was signed off, on the fabric as it is when it is applied. */
#pragma once

#include "console/live/live_fabric.h"
#include "fabric/plan/plan_graft.h"

/*
 * p, on l, whose hosts for I/O are those of p from now on: with its order of writes where the
 * fabric is the same; where only hosts have come or left (grafted says how many), with those in it,
 * verified, and ordered again.  -ESTALE with a sentence: anything else has changed, or somebody
 * would have to drain who had not to; -EPROTO: the tables do not pass with the hosts that came;
 * other errors of transition_plan().
 */
int plan_follow(struct plan **out, const struct plan *p, struct live *l,
		struct graft_report *grafted, struct err *err);
