/* SPDX-License-Identifier: GPL-2.0-or-later */
/* foreign_tables: what somebody else has routed over an update, read from the switches and judged.
 */
#pragma once

#include "console/live/live_fabric.h"
#include "fabric/update/executor.h"

struct foreign_tables {
	struct wire *w;
	const struct live_opts *opts;
	const struct plan *plan; /* of the update; NULL: not known */
	struct plan *own;	 /* the same, when it was loaded */
	char name[64];		 /* of the fabric */
	uint32_t settle_ms;
};

/* For the update that makes plan p (NULL: a recovery, of update id: its journal may have the plan).
 */
void foreign_tables_open(struct foreign_tables *t, const struct live *l, const struct live_opts *o,
			 const struct plan *p, const char *id);
void foreign_tables_close(struct foreign_tables *t); /* an all-zero one is fine */

/* As apply_opts.judge.  Reads until nothing changes any more, a minute at most; asks the SM for the
 * service levels of paths where these are not too many, and verifies.  What cannot be known
 * (engines/verify/verify.h needs the service levels) is said to be so. */
int foreign_tables_judge(const struct foreign_tables *t, struct executor_foreign *out,
			 struct err *err);

/* As apply_opts.others: is another SM master than when the plan was made?  Waits until one is, for
 * a quarter of a minute at most. */
int foreign_tables_others(const struct foreign_tables *t);
