/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * route_judge: the gate between any routing, whoever made it, and the switches.  The console, the
 * commands, automatic mode and OpenSM's plugin ask here, and refuse in the same words.
 */
#pragma once

#include "engines/verify/verify.h"

struct route_judge_opts {
	struct verify_opts verify;
	/* Of tables that others have made, see tables_as_found(): paths to switches themselves,
	 * which only management takes (on VL 15), do not count as a deadlock. */
	bool management_apart;
};

/* As verify_tables(), whose errors it has; what does not pass is no error.  *out belongs to the
 * caller.  With verify.certificate, and where the paths are not too many for it, the order that
 * proves that there is no deadlock is checked along every path by certificate_check(), which knows
 * nothing of verify: v->certified, or -EPROTO where it does not hold. */
int route_judge(struct verdict **out, const struct fabric *f, const struct tables *t,
		const struct route_judge_opts *opts, struct progress *progress, struct err *err);

/* 0 where the tables may be installed, else -EPROTO and why not. */
int route_judge_refusal(const struct verdict *v, const struct fabric *f, struct err *err);
