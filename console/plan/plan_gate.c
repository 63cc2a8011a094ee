/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/plan/plan_gate.h"

#include "console/plan/route_report.h"

#include <errno.h>

int plan_gate(struct time_gate *out, const struct plan *p, struct progress *progress,
	      struct err *err)
{
	struct route_report r;
	struct route_inputs in;
	int rc;

	*out = (struct time_gate){ .pattern = PREDICT_ALLTOALL, .job = FAB_NONE };
	if ((!p->jobs || !p->jobs->nmulti) && !p->demand)
		return 0;
	rc = route_inputs_of_plan(&in, p, err);
	if (rc)
		return rc;
	route_report_begin(&r, &in);
	rc = route_report_steps(&r, &in, ROUTE_LID_CHOICE | ROUTE_TIME | ROUTE_TIME_BEFORE,
				progress, err);
	if (!rc)
		*out = r.gate;
	route_report_free(&r);
	return rc;
}

int plan_gate_refusal(const struct plan *p, const char *what, struct err *err)
{
	return err_set(err, -EPERM,
		       "plan %s makes jobs slower than the installed routing: %s. "
		       "--accept-slower applies it anyway",
		       p->id, what);
}
