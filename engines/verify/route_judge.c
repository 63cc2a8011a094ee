/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/route_judge.h"

#include "engines/verify/verify_certificate.h"

#include <errno.h>

#define CHECK_HOPS (1u << 26) /* of all paths, beyond which the slow check is left out: 0.5 s */

/* The order that proves that there is no deadlock, along every path, where these are not too many.
 */
static int route_judge_proof(struct verdict **out, const struct fabric *f, const struct tables *t,
			     struct err *err)
{
	struct verdict *v = *out;
	uint64_t sources =
		t->sl_kind == SL_BY_TERM || t->sl2vl_kind == SL2VL_FULL ? f->nend : f->nsw;
	struct err why;
	int rc;

	if (!v->order || !v->connected || !v->loop_free ||
	    (double)sources * f->max_lid * (v->hops_mean + 1) > CHECK_HOPS)
		return 0;
	rc = certificate_check(f, t, v->nvl, v->order, v->terminals_only, &why);
	if (rc) {
		*out = NULL;
		verdict_free(v);
		return err_set(err, -EPROTO,
			       "the proof that there is no deadlock does not hold (please report "
			       "this): %s",
			       why.text);
	}
	v->certified = true;
	return 0;
}

int route_judge(struct verdict **out, const struct fabric *f, const struct tables *t,
		const struct route_judge_opts *opts, struct progress *progress, struct err *err)
{
	struct verify_opts ends = opts->verify;
	struct verdict *all;
	int rc = verify_tables(&all, f, t, &opts->verify, progress, err);

	*out = rc ? NULL : all;
	if (rc || !opts->management_apart || !tables_as_found(t) || all->deadlock_free ||
	    !all->connected || !all->loop_free)
		return rc ? rc : route_judge_proof(out, f, t, err);
	ends.terminals_only = true;
	rc = verify_tables(out, f, t, &ends, progress, err);
	verdict_free(all);
	return rc ? rc : route_judge_proof(out, f, t, err);
}

int route_judge_refusal(const struct verdict *v, const struct fabric *f, struct err *err)
{
	char why[300];

	if (verdict_ok(v))
		return 0;
	verdict_sentence(why, sizeof(why), v, f);
	return err_set(err, -EPROTO, "the tables did not pass: %s", why);
}
