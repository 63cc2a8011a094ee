/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan_judge: what the process that writes has to know before it does, whatever the plan says of
 * itself and whoever has made it.
 */
#pragma once

#include "engines/verify/verify.h"
#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/plan/plan.h"

/*
 * read: the tables as they were read on the fabric of p.  0: p begins with them; what it ends with
 * passes as any routing does (route_judge()); no wave of its writes lets packets loop, get lost or
 * close a cycle, but those to LIDs that it names for the drain; and it names all jobs that send to
 * these.  -ESTALE, -EPROTO and a sentence that says what does not hold; -ECANCELED.
 */
int plan_judge(const struct plan *p, const struct tables *read, struct progress *progress,
	       struct err *err);
/* Of that, the tables that p ends with, as any routing's.  The caller frees *out, also after
 * -EPROTO. */
int plan_judge_tables(struct verdict **out, const struct plan *p, struct progress *progress,
		      struct err *err);
