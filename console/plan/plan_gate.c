/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/plan/plan_gate.h"

#include "console/plan/route_report.h"

#include <errno.h>

int plan_times(struct plan_times *out, const struct plan *p, struct progress *progress,
	       struct err *err)
{
	struct route_report r;
	struct route_inputs in;
	int rc = route_inputs_of_plan(&in, p, err);

	*out = (struct plan_times){ .pattern = in.opts.pattern };
	if (rc)
		return rc;
	route_report_begin(&r, &in);
	rc = route_report_steps(&r, &in, ROUTE_LID_CHOICE | ROUTE_TIME | ROUTE_TIME_BEFORE,
				progress, err);
	if (!rc) {
		out->gate = r.gate;
		out->before = r.time_before;
		out->after = r.time;
		route_report_message_figures(&out->messages, &r);
	}
	route_report_free(&r);
	return rc;
}

int plan_gate(struct time_gate *out, const struct plan *p, struct progress *progress,
	      struct err *err)
{
	struct plan_times x;
	int rc;

	*out = (struct time_gate){ .pattern = PREDICT_ALLTOALL, .job = FAB_NONE };
	if ((!p->jobs || !p->jobs->nmulti) && !p->demand)
		return 0;
	rc = plan_times(&x, p, progress, err);
	if (!rc)
		*out = x.gate;
	return rc;
}

int plan_gate_refusal(const struct plan *p, const char *what, struct err *err)
{
	return err_set(err, -EPERM,
		       "plan %s makes jobs slower than the installed routing: %s. "
		       "--accept-slower applies it anyway",
		       p->id, what);
}
