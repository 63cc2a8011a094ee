/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/shift_improve.h"

#include "engines/ftree.h"
#include "engines/graph/graph.h"
#include "engines/graph/shift_search.h"
#include "engines/graph/updown.h"
#include "engines/time/shift_choice.h"
#include "engines/vl/vl_layers.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/tables/route_limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORTH_VLS 1.1 /* a product of figures that is as much higher may take more VLs ... */
#define FEW_VLS	  4   /* ... up to these */

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

/* VLs for *other, which takes the place of *t (*taken) unless it needs more; gain: of the product
 * of its figures (shift_choice.h), a large one is worth a few more.  -ENOSPC is no error. */
static int shift_improve_replace(bool *taken, struct tables **t, struct tables **other, double gain,
				 const struct fabric *f, const struct engine_params *params,
				 struct progress *progress)
{
	const struct note *now = notes_find(params->notes, "vls_needed");
	struct notes notes = { 0 };
	struct engine_params own = *params;
	struct tables *worse = *t;
	uint64_t most = now ? now->value : (*t)->vls, needed;
	int rc;

	if (gain >= WORTH_VLS && most < FEW_VLS)
		most = FEW_VLS;
	own.notes = &notes;
	rc = vl_layers_assign(*other, f, &own, progress, NULL);
	needed = rc ? UINT64_MAX : notes_find(&notes, "vls_needed")->value;
	*taken = needed <= most;
	if (*taken) {
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
	bool taken;
	int rc;

	memcpy(other->lft, turns->lft, (size_t)other->nsw * other->stride);
	rc = shift_improve_replace(&taken, t, &other, 1, f, params, progress);
	tables_put(other);
	return rc;
}

/* What *t may become: its paths again, with entries moved.  least: what the product of the figures
 * has to reach of that of *t, which *now are. */
static int shift_improve_try_moved(struct tables **t, struct shift_figures *now,
				   const struct fabric *f, const struct balanced_sssp_how *how,
				   double least, const struct engine_params *params,
				   struct progress *progress, struct err *err)
{
	struct tables *other = graph_tables(f, (*t)->engine, params, progress);
	double ebb = how->shifts->mild ? SHIFT_CHOICE_EBB_OFF_TREES : SHIFT_CHOICE_LITTLE_LESS;
	double gain = 0;
	struct shift_figures then;
	bool taken = false;
	int rc = balanced_sssp_route(other, f, params, how, progress);

	if (!rc)
		rc = shift_choice_judge(&then, f, other, progress, err);
	if (!rc)
		gain = shift_figures_gain(now, &then, SHIFT_CHOICE_LITTLE_LESS, ebb);
	if (gain > least)
		rc = shift_improve_replace(&taken, t, &other, gain, f, params, progress);
	if (taken)
		*now = then;
	tables_put(other);
	return rc;
}

/* Once in trees; off trees again with channels that may get fuller, if that gains clearly more. */
static int shift_improve_move(struct tables **t, const struct fabric *f,
			      const struct balanced_sssp_how *how, bool levels,
			      const struct engine_params *params, struct progress *progress,
			      struct err *err)
{
	struct balanced_sssp_shifts shifts = { .mild = levels ? 0 : SHIFT_SEARCH_MILD };
	struct balanced_sssp_how own = *how;
	struct shift_figures now;
	int rc = shift_choice_judge(&now, f, *t, progress, err);

	own.shifts = &shifts;
	own.max = NULL;
	if (!rc)
		rc = shift_improve_try_moved(t, &now, f, &own, 1, params, progress, err);
	if (rc || levels)
		return rc;
	shifts.fuller_pct = SHIFT_CHOICE_FULLER_PCT;
	return shift_improve_try_moved(t, &now, f, &own, SHIFT_CHOICE_FULLER_GAIN, params, progress,
				       err);
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
	else if (!rc)
		rc = shift_improve_move(t, f, how, tree || shift_improve_has_levels(f), params,
					progress, err);
	tables_put(turns);
	return rc;
}
