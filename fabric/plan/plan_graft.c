/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/plan/plan_graft.h"

#include "fabric/base/message/file_progress.h"

#include <errno.h>
#include <string.h>

struct plan_grafting {
	const struct plan *p;
	const struct fabric *f;
	const struct tables *read; /* what is installed on f */
	struct tables *from, *to;
	struct jobset *jobs;
	struct demand *demand;
};

/* Has that end of f come since, or been moved to another switch?  Then nobody but the SM knows its
 * entries. */
static bool plan_graft_came(const struct plan_grafting *g, uint32_t end)
{
	const struct fabric *was = g->p->fabric, *f = g->f;
	uint32_t known;

	if (end >= f->nend)
		return end == FAB_NONE;
	known = fabric_term_by_guid(was, f->term_guid[end]);
	return known == FAB_NONE || was->term_sw[known] != f->term_sw[end];
}

static void plan_graft_take_lid(const struct plan_grafting *g, uint32_t lid)
{
	for (uint32_t sw = 0; sw < g->f->nsw; sw++)
		tables_row(g->from, sw)[lid] = tables_row(g->read, sw)[lid];
}

static void plan_graft_take_input(const struct plan_grafting *g, uint32_t sw, uint8_t port)
{
	if (g->from->sl2vl_kind != SL2VL_FULL || g->read->sl2vl_kind != SL2VL_FULL)
		return;
	for (uint32_t out = 0; out <= g->f->sw_nports[sw]; out++)
		memcpy(tables_sl2vl_row(g->from, sw, port, out),
		       tables_sl2vl_row(g->read, sw, port, out), FAB_SLS);
}

/* What hosts that came have, and what nobody has any more, is as it was read. */
static void plan_graft_take_read(const struct plan_grafting *g)
{
	const struct fabric *f = g->f;

	for (uint32_t lid = 0; lid < g->from->stride; lid++)
		if (plan_graft_came(g, fabric_lid_end(f, lid)))
			plan_graft_take_lid(g, lid);
	for (uint32_t e = 0; e < f->nend; e++)
		if (plan_graft_came(g, e))
			plan_graft_take_input(g, f->term_sw[e], f->term_port[e]);
}

static int plan_graft_tables(struct plan_grafting *g, struct graft_report *grafted, struct err *err)
{
	const struct plan *p = g->p;
	struct endports *was = endports_of(p->fabric);
	int rc = tables_graft(&g->from, g->f, p->from, was, NULL, err);

	if (!rc)
		rc = tables_graft(&g->to, g->f, p->to, was, grafted, err);
	if (!rc)
		plan_graft_take_read(g);
	endports_put(was);
	return rc;
}

/* Whoever routes may have routed others, too, since the hosts changed.  Where that was told, it is
 * what the plan begins with; tables as found in switches have to be those of the plan. */
static int plan_graft_plan(struct plan **out, const struct plan_grafting *g, struct err *err)
{
	const struct plan *p = g->p;
	const struct tables *from = tables_as_found(g->read) ? g->from : g->read;
	int rc = plan_new_with_progress(out, g->f, from, g->to, g->jobs, &p->sm, p->time_s,
					file_progress(), err);

	if (rc)
		return rc;
	plan_from_files(*out, &p->files);
	plan_with_traffic(*out, g->demand, p->pattern);
	return 0;
}

int plan_graft(struct plan **out, const struct plan *p, const struct fabric *f,
	       const struct tables *t, const struct jobset *jobs, const struct sm_pin *sm,
	       struct graft_report *grafted, struct err *err)
{
	struct plan_grafting g = { .p = p, .f = f, .read = t };
	struct err why;
	int rc;

	*out = NULL;
	*grafted = (struct graft_report){ 0 };
	rc = plan_staleness_of_switches(p, f, err);
	if (rc)
		return rc;
	rc = plan_graft_tables(&g, grafted, &why);
	if (rc) {
		rc = err_set(err, rc, "the hosts changed: %.400s", why.text);
		goto out;
	}
	g.jobs = p->jobs ? jobset_on(p->jobs, p->fabric, f) : NULL;
	g.demand = p->demand ? demand_on(p->demand, p->fabric, f) : NULL;
	rc = plan_graft_plan(out, &g, err);
	if (!rc)
		rc = plan_staleness(*out, f, plan_as_read(*out, f, t), jobs, sm, err);
out:
	if (rc) {
		plan_free(*out);
		*out = NULL;
	}
	jobset_put(g.jobs);
	demand_put(g.demand);
	tables_put(g.from);
	tables_put(g.to);
	return rc;
}
