/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/shift_improve.h"

#include "engines/ftree.h"
#include "engines/graph/graph.h"
#include "engines/graph/updown.h"
#include "engines/time/shift_choice.h"
#include "engines/vl/vl_layers.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/tables/route_limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool shift_improve_fits(const struct fabric *f, const struct engine_params *params)
{
	return shift_choice_fits(f) && !graph_lmc(f, params) &&
	       !(params && params->limits && params->limits->pin);
}

/* *turns: NULL where it is no fat tree, or they are no better than *t. */
static int shift_improve_find_turns(struct tables **turns, bool *tree, const struct fabric *f,
				    const struct tables *t, const struct engine_params *params,
				    struct progress *progress, struct err *err)
{
	struct engine_params own = { 0 };
	bool better = false;
	int rc;

	if (params)
		own = *params;
	own.notes = NULL;
	*turns = NULL;
	rc = engine_ftree.route(turns, f, NULL, NULL, &own, progress, NULL);
	*tree = !rc;
	if (rc)
		return rc == -ECANCELED ? rc : 0;
	rc = shift_choice_better(&better, f, t, *turns, SHIFT_CHOICE_LITTLE_LESS, progress, err);
	if (!rc && better)
		return 0;
	tables_put(*turns);
	*turns = NULL;
	return rc;
}

int shift_improve_turns(struct tables *t, const struct fabric *f,
			const struct engine_params *params, struct progress *progress,
			struct err *err)
{
	struct tables *turns = NULL;
	bool tree;
	int rc = 0;

	if (shift_improve_fits(f, params))
		rc = shift_improve_find_turns(&turns, &tree, f, t, params, progress, err);
	if (turns)
		memcpy(t->lft, turns->lft, (size_t)t->nsw * t->stride);
	tables_put(turns);
	return rc;
}

/* VLs for *other, which takes the place of *t unless it needs more; -ENOSPC is no error. */
static int shift_improve_replace(struct tables **t, struct tables **other, const struct fabric *f,
				 const struct engine_params *params, struct progress *progress)
{
	const struct note *now = notes_find(params->notes, "vls_needed");
	struct notes notes = { 0 };
	struct engine_params own = *params;
	struct tables *worse = *t;
	uint64_t before = now ? now->value : (*t)->vls, needed;
	int rc;

	own.notes = &notes;
	rc = vl_layers_assign(*other, f, &own, progress, NULL);
	needed = rc ? UINT64_MAX : notes_find(&notes, "vls_needed")->value;
	if (needed <= before) {
		for (size_t i = 0; i < notes.n; i++)
			notes_set(params->notes, notes.list[i].key, notes.list[i].value, "%s",
				  notes.list[i].text);
		*t = *other;
		*other = worse;
	}
	notes_done(&notes);
	return rc == -ECANCELED ? rc : 0;
}

static int shift_improve_take_turns(struct tables **t, const struct tables *turns,
				    const struct fabric *f, const struct engine_params *params,
				    struct progress *progress)
{
	struct tables *other = graph_tables(f, (*t)->engine, params, progress);
	int rc;

	memcpy(other->lft, turns->lft, (size_t)other->nsw * other->stride);
	rc = shift_improve_replace(t, &other, f, params, progress);
	tables_put(other);
	return rc;
}

static int shift_improve_try_moved(struct tables **t, const struct fabric *f,
				   const struct balanced_sssp_how *how,
				   const struct engine_params *params, struct progress *progress,
				   struct err *err)
{
	struct balanced_sssp_how own = *how;
	struct tables *other = graph_tables(f, (*t)->engine, params, progress);
	bool better = false;
	int rc;

	own.shifts = true;
	own.max = NULL;
	rc = balanced_sssp_route(other, f, params, &own, progress);
	if (!rc)
		rc = shift_choice_better(&better, f, *t, other, SHIFT_CHOICE_LITTLE_LESS, progress,
					 err);
	if (!rc && better)
		rc = shift_improve_replace(t, &other, f, params, progress);
	tables_put(other);
	return rc;
}

static bool shift_improve_has_levels(const struct fabric *f)
{
	uint32_t *roots = xcalloc(f->nsw, sizeof(*roots)), n = updown_tree_roots(roots, f);

	free(roots);
	return n;
}

int shift_improve(struct tables **t, const struct fabric *f, const struct balanced_sssp_how *how,
		  const struct engine_params *params, struct progress *progress, struct err *err)
{
	struct tables *turns;
	bool tree;
	int rc;

	if (!shift_improve_fits(f, params))
		return 0;
	rc = shift_improve_find_turns(&turns, &tree, f, *t, params, progress, err);
	if (!rc && turns)
		rc = shift_improve_take_turns(t, turns, f, params, progress);
	else if (!rc && (tree || shift_improve_has_levels(f)))
		rc = shift_improve_try_moved(t, f, how, params, progress, err);
	tables_put(turns);
	return rc;
}
