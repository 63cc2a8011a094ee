/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/wire/sweep/sweep_priv.h"

#include <errno.h>

int wire_sweep(struct fabric **out, struct sweep_report *report, struct wire *w,
	       const struct sweep_opts *opts, struct progress *progress, struct err *err)
{
	static const struct sweep_opts defaults = { .lmc = -1 };
	struct sweep_report own = { 0 };
	struct sweep s = { .w = w,
			   .opts = opts ? opts : &defaults,
			   .report = report ? report : &own };
	uint64_t start = wire_now_ns(w), sent = queue_stats(w->queue)->sent;
	int rc;

	*s.report = (struct sweep_report){ 0 };
	sweep_ask(&s, NO_NODE, SMP_NODE_INFO, 0);
	rc = sweep_run(&s, progress, err);
	if (!rc)
		rc = sweep_conclude(out, &s, err);
	s.report->took_ns = wire_now_ns(w) - start;
	s.report->mads = queue_stats(w->queue)->sent - sent;
	found_list_free(s.node.v, s.node.n);
	vec_free(&s.peers);
	free(s.slot);
	vec_free(&s.todo);
	sweep_report_clear(&own);
	return rc;
}
