/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan_graft: a plan on the same switches and cables with other hosts. */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/tables/graft.h"
#include "fabric/plan/plan.h"

/*
 * p for what is there now: its tables with entries for hosts that have come, and without those that
 * are away; the changes are found again, from t, and it has no order of writes.  The new tables are
 * to be verified and ordered as any others.  f, t, jobs and sm as for plan_staleness(): -ESTALE and
 * a sentence where anything but hosts has changed.  Where OpenSM tells what it routes by, that may
 * be other tables than the plan began with (it may route all again when a host leaves); tables as
 * found in switches, whose service levels nobody knows, may differ in entries of hosts that came or
 * left alone.
 */
int plan_graft(struct plan **out, const struct plan *p, const struct fabric *f,
	       const struct tables *t, const struct jobset *jobs, const struct sm_pin *sm,
	       struct graft_report *grafted, struct err *err);
