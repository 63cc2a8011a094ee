/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan_jobs: what a plan means for each of the running jobs, before and after it. */
#pragma once

#include "console/plan/route_report.h"
#include "fabric/plan/plan.h"

#include <jansson.h>
#include <stdio.h>

/* both: the installed tables and the plan's, evaluated with the jobs of the plan.  A line for each
 * job, links, worst EFI and predicted slowdown as "before > after", and whether the update
 * disturbs it: "no", "order" (its paths change while it sends), "stands still" (it must be
 * drained), "-" (unknown).  One sentence if the plan has no jobs. */
void plan_print_jobs(FILE *out, const struct plan *p, const struct route_report both[2]);

/* The same as an array, jobs in the order of their ids; unknown values are null.  The caller
 * owns it. */
json_t *plan_jobs_json(const struct plan *p, const struct route_report both[2]);
