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

#define WORTH_A_VL 1.1 /* how much higher a product of figures has to be for one VL more ... */
#define FEW_VLS	   4   /* ... or for as many as these */

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

static uint64_t shift_improve_most_vls(uint64_t now, double gain)
{
	uint64_t most = now;

	if (gain >= WORTH_A_VL && most < FEW_VLS)
		most = FEW_VLS;
	for (; gain >= WORTH_A_VL; gain /= WORTH_A_VL)
		now++;
	return now > most ? now : most;
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
	uint64_t most = shift_improve_most_vls(now ? now->value : (*t)->vls, gain), needed;
	int rc;

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

static int shift_improve_search(uint64_t *moved, struct tables *t, const struct fabric *f,
				const struct balanced_sssp_how *how, bool levels,
				const struct engine_params *params, struct progress *progress)
{
	struct shift_search_how search = { .build = how->build,
					   .ctx = how->ctx,
					   .others = SHIFT_SEARCH_OTHERS,
					   .fuller_pct = levels ? 0 : SHIFT_CHOICE_FULLER_PCT,
					   .mild = levels ? 0 : SHIFT_SEARCH_MILD,
					   .rounds = SHIFT_SEARCH_ROUNDS };
	struct chan_weights weights;
	struct pace p;
	int rc = pace_begin(&p, progress, "paths", 1) ? -ECANCELED : 0;

	chan_weights_init(&weights, f, params && params->ignore_rates);
	search.weights = &weights;
	if (!rc)
		rc = shift_search(moved, t, f, &search, &p);
	chan_weights_done(&weights);
	return rc;
}

/* *t with entries moved, along the paths of how, where the product of the figures rises. */
static int shift_improve_move(struct tables **t, const struct fabric *f,
			      const struct balanced_sssp_how *how, bool levels,
			      const struct engine_params *params, struct progress *progress,
			      struct err *err)
{
	struct tables *other = graph_tables(f, (*t)->engine, params, progress);
	struct shift_figures now, then;
	uint64_t moved = 0;
	double gain = 0;
	bool taken;
	int rc = shift_choice_judge(&now, f, *t, progress, err);

	memcpy(other->lft, (*t)->lft, (size_t)other->nsw * other->stride);
	if (!rc)
		rc = shift_improve_search(&moved, other, f, how, levels, params, progress);
	if (!rc && moved)
		rc = shift_choice_judge(&then, f, other, progress, err);
	if (!rc && moved)
		gain = shift_figures_gain(&now, &then, SHIFT_CHOICE_LITTLE_LESS,
					  levels ? SHIFT_CHOICE_LITTLE_LESS
						 : SHIFT_CHOICE_EBB_OFF_TREES);
	if (gain > 1)
		rc = shift_improve_replace(&taken, t, &other, gain, f, params, progress);
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
	else if (!rc)
		rc = shift_improve_move(t, f, how, tree || shift_improve_has_levels(f), params,
					progress, err);
	tables_put(turns);
	return rc;
}
