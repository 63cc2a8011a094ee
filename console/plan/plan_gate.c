/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/plan/plan_gate.h"

#include <errno.h>

int plan_gate(struct time_gate *out, const struct plan *p, struct progress *progress,
	      struct err *err)
{
	struct job_time_opts opts = { .pattern = PREDICT_ALLTOALL, .seed = 1 };

	*out = (struct time_gate){ .pattern = opts.pattern, .job = FAB_NONE };
	if (!p->jobs || !p->jobs->nmulti)
		return 0;
	return time_gate_compute(out, p->fabric, p->from, p->to, p->jobs, &opts, progress, err);
}

int plan_gate_refusal(const struct plan *p, const char *what, struct err *err)
{
	return err_set(err, -EPERM,
		       "plan %s makes jobs slower than the installed routing: %s. "
		       "--accept-slower applies it anyway",
		       p->id, what);
}
