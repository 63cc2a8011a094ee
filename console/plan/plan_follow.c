/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/plan/plan_follow.h"

#include "console/plan/plan_judge.h"
#include "console/plan/plan_order.h"
#include "fabric/plan/file/planfile.h"

#include <errno.h>

/* The LID that p knew an owner of a LID by; 0: none. */
static uint32_t plan_follow_lid_then(const struct fabric *was, const struct fabric *is,
				     uint32_t lid)
{
	uint32_t end = fabric_lid_end(is, lid), then;

	if (end == FAB_NONE)
		return 0;
	if (end >= is->nend)
		return was->sw_lid[end - is->nend];
	then = fabric_term_by_guid(was, is->term_guid[end]);
	return then == FAB_NONE ? 0 : was->term_lid[then] + lid - is->term_lid[end];
}

static bool plan_follow_drained(const struct drain *d, uint32_t lid)
{
	for (uint32_t i = 0; i < d->nlid; i++)
		if (d->lid[i].lid == lid)
			return true;
	return false;
}

/* Nobody is drained who was not in what the operator has seen; a host that came, which is in no
 * job, only where others in no job were. */
static int plan_follow_same_drain(const struct plan *now, const struct plan *p, struct err *err)
{
	for (uint32_t i = 0; p->drain.known && i < now->drain.nlid; i++) {
		uint32_t lid = now->drain.lid[i].lid;
		uint32_t then = plan_follow_lid_then(p->fabric, now->fabric, lid);

		if (then ? !plan_follow_drained(&p->drain, then) : !p->drain.unassigned_lids)
			return err_set(err, -ESTALE,
				       "the hosts changed, and LID %u would have to be drained as "
				       "well: compute the plan again",
				       lid);
	}
	return 0;
}

static int plan_follow_verify(const struct plan *p, struct err *err)
{
	struct verdict *v = NULL;
	int rc = plan_judge_tables(&v, p, NULL, err);

	verdict_free(v);
	return rc;
}

static int plan_follow_grafted(struct plan **out, const struct plan *p, const struct live *l,
			       struct graft_report *grafted, struct err *err)
{
	int rc = plan_graft(out, p, l->f, l->t, l->jobs, &l->sm, grafted, err);

	if (rc)
		return rc;
	rc = plan_follow_verify(*out, err);
	if (!rc && !plan_empty(*out))
		rc = plan_order_find(*out, NULL, NULL, err);
	if (!rc)
		rc = plan_follow_same_drain(*out, p, err);
	if (rc) {
		plan_free(*out);
		*out = NULL;
	}
	return rc;
}

/* A sweep does not tell which they are; times of I/O, and the plan's hash, depend on them. */
static void plan_follow_io_nodes(struct fabric *f, const struct plan *p)
{
	for (uint32_t t = 0; t < p->fabric->nterm; t++) {
		uint32_t there = p->fabric->term_kind[t] == TERM_STORAGE
					 ? fabric_term_by_guid(f, p->fabric->term_guid[t])
					 : FAB_NONE;

		if (there < f->nterm && f->term_kind[there] == TERM_COMPUTE)
			f->term_kind[there] = TERM_STORAGE;
	}
}

int plan_follow(struct plan **out, const struct plan *p, struct live *l,
		struct graft_report *grafted, struct err *err)
{
	const struct tables *from;
	int rc;

	*out = NULL;
	plan_follow_io_nodes(l->f, p);
	*grafted = (struct graft_report){ 0 };
	if (!digest_equal(&p->fabric->fingerprint, &l->f->fingerprint))
		return plan_follow_grafted(out, p, l, grafted, err);
	from = plan_as_read(p, l->f, l->t);
	rc = plan_staleness(p, l->f, from, l->jobs, &l->sm, err);
	return rc ? rc : plan_rebase(out, p, l->f, from, err);
}
