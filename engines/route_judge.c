/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/route_judge.h"

#include <errno.h>

int route_judge(struct verdict **out, const struct fabric *f, const struct tables *t,
		const struct route_judge_opts *opts, struct progress *progress, struct err *err)
{
	struct verify_opts ends = opts->verify;
	struct verdict *all;
	int rc = verify_tables(&all, f, t, &opts->verify, progress, err);

	*out = rc ? NULL : all;
	if (rc || !opts->management_apart || !tables_as_found(t) || all->deadlock_free ||
	    !all->connected || !all->loop_free)
		return rc;
	ends.terminals_only = true;
	rc = verify_tables(out, f, t, &ends, progress, err);
	verdict_free(all);
	return rc;
}

int route_judge_refusal(const struct verdict *v, const struct fabric *f, struct err *err)
{
	char why[300];

	if (verdict_ok(v))
		return 0;
	verdict_sentence(why, sizeof(why), v, f);
	return err_set(err, -EPROTO, "the tables did not pass: %s", why);
}
