/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/plan/plan_judge.h"

#include "engines/transition/wave_judge.h"
#include "engines/verify/route_judge.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/plural.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* The SLs of paths are in no switch; where OpenSM tells them, they count. */
static int plan_judge_from(const struct plan *p, const struct tables *read, struct err *err)
{
	struct tables_diff *d;
	uint64_t pairs;

	if (!tables_forward_same(p->fabric, p->from, read))
		return err_set(
			err, -ESTALE,
			"plan %s begins with other tables than the switches hold: compute it "
			"again",
			p->id);
	if (tables_as_found(read))
		return 0;
	d = tables_diff_new(p->fabric, read, p->from);
	pairs = d->sl_pairs;
	tables_diff_free(d);
	if (!pairs)
		return 0;
	return err_set(err, -ESTALE,
		       "plan %s begins with other service levels of %" PRIu64 " path%s than OpenSM "
		       "has given out: compute it again",
		       p->id, pairs, pairs == 1 ? "" : "s");
}

static int plan_judge_lanes(const struct plan *p, const struct verdict *v, struct err *err)
{
	if (v->vls_used <= p->vls_needed)
		return 0;
	return err_set(err, -EPROTO,
		       "plan %s says that its tables take %u VL%s, but they take %u: it is damaged "
		       "or forged",
		       p->id, p->vls_needed, plural(p->vls_needed), v->vls_used);
}

int plan_judge_tables(struct verdict **out, const struct plan *p, struct progress *progress,
		      struct err *err)
{
	struct route_judge_opts opts = {
		.verify.installed = p->from,
		.management_apart = p->files.n || tables_as_found(p->to),
	};
	int rc = route_judge(out, p->fabric, p->to, &opts, progress, err);

	return rc ? rc : route_judge_refusal(*out, p->fabric, err);
}

static int plan_judge_target(const struct plan *p, struct progress *progress, struct err *err)
{
	struct verdict *v = NULL;
	int rc = plan_judge_tables(&v, p, progress, err);

	if (!rc)
		rc = plan_judge_lanes(p, v, err);
	verdict_free(v);
	return rc;
}

static struct transition_write plan_judge_write(const struct changes *l, const struct change *c)
{
	const uint8_t *was = change_old(l, c), *is = change_new(l, c);
	struct transition_write w = { .wave = c->wave, .sw = c->sw, .block = c->block };

	for (uint32_t k = 0; k < LFT_BLOCK; k++)
		w.now |= (uint64_t)(was[k] != is[k]) << k;
	return w;
}

/* Escape LIDs are where the others' traffic is meanwhile. */
static bool *plan_judge_drained(const struct plan *p, bool escape)
{
	bool *drained = xcalloc(p->fabric->max_lid + 1u, sizeof(*drained));

	for (uint32_t i = 0; i < p->drain.nlid; i++) {
		uint32_t lid = p->drain.lid[i].lid;

		drained[lid] = !escape || !fabric_lid_escape(p->fabric, lid);
	}
	return drained;
}

/* What is written, and not what it was made from. */
static int plan_judge_order(const struct plan *p, bool escape, struct progress *progress,
			    struct err *err)
{
	const struct changes *l = p->changes;
	struct transition t = { .nwaves = l->nwaves };
	bool *drained = plan_judge_drained(p, escape);
	int rc;

	t.writes = xcalloc(l->n, sizeof(*t.writes));
	for (uint32_t i = 0; i < l->n; i++) {
		if (l->v[i].kind == CHANGE_LFT)
			t.writes[t.nwrites++] = plan_judge_write(l, &l->v[i]);
		else
			t.sl2vl_wave = l->v[i].wave;
	}
	rc = wave_judge(p->fabric, p->from, p->to, &t, drained, progress, err);
	free(t.writes);
	free(drained);
	return rc;
}

static bool plan_judge_names(const struct drain *d, uint32_t job)
{
	for (uint32_t i = 0; i < d->njob; i++)
		if (d->job[i].job == job && d->job[i].needed)
			return true;
	return false;
}

/* is: who has to drain. */
static int plan_judge_whom(const struct plan *p, const struct drain *is, struct err *err)
{
	const struct drain *d = &p->drain;

	if (!d->known)
		return 0;
	for (uint32_t i = 0; i < is->njob; i++)
		if (is->job[i].needed && !plan_judge_names(d, is->job[i].job))
			return err_set(
				err, -EPROTO,
				"plan %s does not say that job %" PRIu64 " has to drain, "
				"which sends to LIDs that are drained: it is damaged or forged",
				p->id, p->jobs->jobs[is->job[i].job].id);
	if (d->unassigned_lids < is->unassigned_lids)
		return err_set(err, -EPROTO,
			       "plan %s says that %u LIDs of no job must be drained, but there are "
			       "%u: it is damaged or forged",
			       p->id, d->unassigned_lids, is->unassigned_lids);
	if ((d->escape && !is->escape) || (d->jobs && !is->jobs))
		return err_set(
			err, -EPROTO,
			"plan %s says that there are %s, but there are none: it is damaged or "
			"forged",
			p->id,
			is->escape ? "jobs that run" : "escape LIDs whose paths stay the same");
	return 0;
}

static int plan_judge_drain(struct drain *is, const struct plan *p, struct progress *progress,
			    struct err *err)
{
	*is = (struct drain){ .nlid = p->drain.nlid };
	is->lid = xcalloc(is->nlid, sizeof(*is->lid));
	for (uint32_t i = 0; i < is->nlid; i++)
		is->lid[i] = p->drain.lid[i];
	return drain_find(is, p->fabric, p->from, p->to, p->jobs, p->diff, progress, err);
}

int plan_judge(const struct plan *p, const struct tables *read, struct progress *progress,
	       struct err *err)
{
	struct drain is = { 0 };
	int rc = plan_judge_from(p, read, err);

	if (!rc)
		rc = plan_judge_target(p, progress, err);
	if (!rc)
		rc = plan_judge_drain(&is, p, progress, err);
	if (!rc)
		rc = plan_judge_order(p, is.escape, progress, err);
	if (!rc)
		rc = plan_judge_whom(p, &is, err);
	drain_clear(&is);
	return rc;
}
