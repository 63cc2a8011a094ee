/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/wire/sweep/sweep_priv.h"

int wire_sweep(struct fabric **out, struct sweep_report *report, struct wire *w,
	       const struct sweep_opts *opts, struct progress *progress, struct err *err)
{
	struct sweep s = { 0 };
	int rc;

	sweep_begin(&s, w, opts, report);
	sweep_ask(&s, NO_NODE, SMP_NODE_INFO, 0);
	rc = sweep_run(&s, progress, err);
	if (!rc)
		rc = sweep_conclude(out, &s, err);
	sweep_end(&s);
	return rc;
}
