/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/repair/repair.h"

#include "engines/graph/lft_columns.h"
#include "engines/nue/nue.h"
#include "engines/repair/needed_entries.h"
#include "engines/repair/reattach.h"
#include "engines/repair/refill.h"
#include "engines/repair/regrow.h"
#include "engines/repair/repair_state.h"
#include "engines/repair/standing.h"
#include "engines/vl/vl_layers.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FEW 2 /* a share of all switches */

struct repair_tools {
	struct regrow *regrow;
	struct reattach *reattach;
	struct lft_columns columns;
	struct lid_tree tree;
	uint32_t *broken;
};

struct repair_sum {
	struct needed_entries entries;
	uint32_t lids;	  /* to which some switch had no path any more */
	uint32_t in_vain; /* of them without a way that is free of deadlocks */
	bool sls_again;
	uint64_t refilled; /* entries that were moved though nothing is broken */
};

/* --- what it starts from -------------------------------------------------------------------- */

static int repair_check(const struct fabric *f, const struct engine_params *params, struct err *err)
{
	const struct tables *was = params->current;
	int rc;

	rc = tables_check_fabric(was, f, err);
	if (rc)
		return rc;
	if (!tables_know_vls(was))
		return err_set(err, -EINVAL,
			       "repair has to know the VLs of the installed paths, and their SL2VL "
			       "tables were not read");
	if (was->escape && !params->escape)
		return err_set(err, -EINVAL,
			       "the installed tables have escape LIDs: they are kept with --escape "
			       "only");
	return graph_check_connected(f, err);
}

static int repair_find_standing(struct repair_state *r, bool deps, struct progress *progress)
{
	struct pace p;

	r->sls = r->vls = 0;
	r->beyond = false;
	memset(r->load, 0, r->f->nchan * sizeof(*r->load));
	if (deps)
		r->deps = dependencies_new(r->f, r->nvl);
	if (pace_begin(&p, progress, "paths", r->ndest))
		return -ECANCELED;
	return standing_find(r, &p);
}

/* --- new paths ------------------------------------------------------------------------------ */

/* Few are broken: the others need not be looked at.  False where that finds no way. */
static bool repair_reattach(struct repair_state *r, struct repair_tools *x, uint32_t i)
{
	const struct dest *d = &r->dests[i];
	uint32_t n = 0;

	if (r->broken[i] > r->f->nsw / FEW || tables_row(r->was, d->sw)[d->lid] != d->port)
		return false;
	lft_columns_read(&x->columns, r->t, d, 1);
	lid_tree_read(&x->tree, lft_columns_at(&x->columns, 0), r->out, d->sw);
	for (uint32_t sw = 0; sw < r->f->nsw; sw++)
		if (x->tree.hops[sw] == LID_TREE_BROKEN)
			x->broken[n++] = sw;
	return reattach_known(x->reattach, i, x->broken, n);
}

static void repair_dest(struct repair_state *r, struct repair_sum *sum, struct repair_tools *x,
			uint32_t i)
{
	uint32_t first = r->changes->n;
	bool near = repair_reattach(r, x, i);

	sum->lids += r->broken[i] > 0;
	if (!near)
		sum->in_vain += !regrow_lid(x->regrow, i, NULL, 0);
	needed_entries_add(&sum->entries, r, &r->dests[i],
			   near ? reattach_tree(x->reattach) : regrow_tree(x->regrow), first);
	r->broken[i] = 0;
}

static int repair_regrow(struct repair_state *r, struct repair_sum *sum, struct progress *progress)
{
	struct repair_tools x = { .regrow = regrow_new(r), .reattach = reattach_new(r) };
	struct pace p;
	int rc = pace_begin(&p, progress, "layers", r->ndest) ? -ECANCELED : 0;

	lft_columns_init(&x.columns, r->f, r->out);
	lid_tree_init(&x.tree, r->f);
	x.broken = xcalloc(r->f->nsw, sizeof(*x.broken));
	for (uint32_t i = 0; !rc && i < r->ndest; i++) {
		const struct dest *d = &r->dests[i];

		if (r->broken[i] || tables_row(r->was, d->sw)[d->lid] != d->port)
			repair_dest(r, sum, &x, i);
		if (pace_tick(&p, i + 1, r->f->nsw))
			rc = -ECANCELED;
	}
	regrow_free(x.regrow);
	reattach_free(x.reattach);
	lft_columns_done(&x.columns);
	lid_tree_done(&x.tree);
	free(x.broken);
	return rc;
}

/* Paths without regard to deadlocks, then SLs for all of them: those that there were, as far as
 * they close no cycle. */
static int repair_with_new_layers(struct repair_state *r, struct repair_sum *sum,
				  struct progress *progress, struct err *err)
{
	int rc;

	dependencies_free(r->deps);
	r->deps = NULL;
	repair_state_begin(r);
	r->changes->n = 0;
	needed_entries_done(&sum->entries);
	*sum = (struct repair_sum){ .sls_again = true };
	needed_entries_init(&sum->entries, r->f);
	rc = repair_find_standing(r, false, progress);
	if (!rc)
		rc = repair_regrow(r, sum, progress);
	if (!rc)
		rc = vl_layers_assign_from(r->t, r->f, r->was, r->params, progress, err);
	return rc;
}

/* Where all paths stand, a step towards even loads. */
static int repair_refill(struct repair_state *r, struct repair_sum *sum, struct progress *progress)
{
	struct reattach *x;
	int rc;

	if (r->params->sar_change <= 0 || r->changes->n)
		return 0;
	x = reattach_new(r);
	rc = refill(r, x, r->params->sar_change, progress);
	reattach_free(x);
	sum->refilled = r->changes->n;
	sum->entries.changed += sum->refilled;
	return rc;
}

/* Why the installed SLs cannot simply stay. */
static const char *repair_obstacle(const struct repair_state *r, bool acyclic)
{
	if (r->beyond)
		return "installed paths are dropped, or are on VLs that must not be used";
	return acyclic ? "new paths close cycles on every VL" : "installed paths can deadlock";
}

static int repair_run(struct repair_state *r, struct repair_sum *sum, struct progress *progress,
		      struct err *err)
{
	int rc = repair_find_standing(r, true, progress);
	bool acyclic = !rc && !r->beyond && dependencies_order(r->deps);
	const char *why;

	if (!rc && acyclic)
		rc = repair_regrow(r, sum, progress);
	if (!rc && acyclic && !sum->in_vain) {
		rc = repair_refill(r, sum, progress);
		repair_state_count_vls(r);
		return rc;
	}
	if (rc)
		return rc;
	why = repair_obstacle(r, acyclic);
	notes_set(r->params->notes, "sls_assigned_again", 1,
		  "%s: SLs of paths%s were assigned again", why,
		  r->was->sl2vl_kind == SL2VL_IDENTITY ? "" : " and SL2VL tables");
	return repair_with_new_layers(r, sum, progress, err);
}

/* --- what it tells -------------------------------------------------------------------------- */

static void repair_tell(const struct repair_state *r, const struct repair_sum *sum)
{
	struct notes *notes = r->params->notes;
	const struct needed_entries *e = &sum->entries;

	notes_set(notes, "lids_repaired", sum->lids, "%u of %u LIDs had lost paths", sum->lids,
		  r->ndest);
	notes_set(notes, "entries_needed", e->needed,
		  "%" PRIu64 " LFT entries have to change for paths as short as these", e->needed);
	notes_set(notes, "entries_changed", e->changed, "%" PRIu64 " LFT entries change%s",
		  e->changed,
		  sum->refilled ? ", a step towards even loads, in any order of writes" : "");
}

/* Where nothing is installed all paths are new. */
static int repair_from_nothing(struct tables **out, const struct fabric *f,
			       const struct jobset *jobs, const struct demand *demand,
			       const struct engine_params *params, struct progress *progress,
			       struct err *err)
{
	int rc = engine_nue.route(out, f, jobs, demand, params, progress, err);

	if (rc)
		return rc;
	memset((*out)->engine, 0, sizeof((*out)->engine));
	memcpy((*out)->engine, engine_repair.name, strlen(engine_repair.name));
	notes_set(params->notes, "nothing_installed", 1,
		  "no installed tables to repair: all paths are new, those of nue");
	return 0;
}

static int repair_route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
			const struct demand *demand, const struct engine_params *params,
			struct progress *progress, struct err *err)
{
	struct repair_state r;
	struct repair_sum sum = { .lids = 0 };
	struct entry_changes changes = { 0 };
	int rc;

	if (!params->current)
		return repair_from_nothing(out, f, jobs, demand, params, progress, err);
	rc = repair_check(f, params, err);
	if (rc)
		return rc;
	repair_state_init(&r, f, params);
	r.changes = &changes;
	needed_entries_init(&sum.entries, f);
	rc = repair_run(&r, &sum, progress, err);
	if (!rc) {
		repair_tell(&r, &sum);
		*out = r.t;
		r.t = NULL;
	}
	needed_entries_done(&sum.entries);
	repair_state_done(&r);
	entry_changes_done(&changes);
	return rc;
}

unsigned repair_vls(const struct fabric *f, const struct tables *installed, unsigned vls)
{
	unsigned on = repair_state_vls(installed), offered = fabric_min_op_vls(f);

	if (!vls || on <= vls)
		return vls;
	if (!offered || offered >= on)
		return on;
	return offered > vls ? offered : vls;
}

const struct engine engine_repair = {
	.name = "repair",
	.summary = "keeps the installed paths that still arrive and replaces the others; "
		   "deadlock-free beside them",
	.suits = graph_check_connected,
	.route = repair_route,
};
