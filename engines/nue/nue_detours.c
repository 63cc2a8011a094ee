/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/nue/nue_detours.h"

#include "engines/nue/shift_detours.h"
#include "engines/time/shift_choice.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What is tried, one after another, as long as it gains: how much traffic counts that is no shift.
 * A second time has to gain a per cent, as bisections are lower with it; after a round it is seen
 * whether another is worth the time. */
static const struct {
	uint32_t others;
	unsigned rounds;
	double gain;
	bool keep;
} tries[] = { { 25, 3, 1, true }, { 12, 1, 1, false }, { 12, 1, 1.01, true } };

#define NTRIES	   (sizeof(tries) / sizeof(*tries))
#define MORE_HOPS  1
#define FULLER_PCT 30

struct nue_detours {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	const uint32_t **places; /* by LID */
	const uint16_t **hops;	 /* by destination switch: the fewest to it, by switch */
};

static void nue_detours_init(struct nue_detours *x, const struct nue_layer *layer,
			     const struct nue_trees *trees, uint32_t k)
{
	const struct fabric *f = layer->net->f;

	*x = (struct nue_detours){ .mem = arena_new(), .f = f };
	x->places = arena_array(x->mem, const uint32_t *, f->max_lid + 1u);
	x->hops = arena_array(x->mem, const uint16_t *, f->nsw);
	for (uint32_t l = 0; l < k; l++)
		for (uint32_t i = 0; i < layer[l].ndst; i++) {
			uint32_t u = layer[l].dst[i];

			x->hops[u] = layer[l].dist + (size_t)i * f->nsw;
			for (uint32_t e = f->term_off[u]; e < f->term_off[u + 1]; e++)
				x->places[f->term_lid[f->term_list[e]]] = trees[l].place;
		}
}

/* One try goes on where the last one ended; best has what was worth most so far. */
static int nue_detours_try_all(struct tables *best, struct tables *t, const struct fabric *f,
			       const struct shift_detours_how *how, struct progress *progress,
			       struct err *err)
{
	struct shift_figures was, is;
	uint64_t moved = 1;
	struct pace p;
	struct shift_detours *x;
	int rc = shift_choice_judge(&was, f, best, progress, err);

	if (!rc && pace_begin(&p, progress, "paths", 1))
		rc = -ECANCELED;
	x = shift_detours_new(t, f, how);
	for (size_t i = 0; i < NTRIES && !rc; i++) {
		rc = shift_detours_move(&moved, x, tries[i].others, tries[i].rounds, &p);
		if (!rc && moved)
			rc = shift_choice_judge(&is, f, t, progress, err);
		if (rc || !moved || shift_figures_worth(&was, &is) <= tries[i].gain)
			break;
		if (!tries[i].keep)
			continue;
		was = is;
		memcpy(best->lft, t->lft, (size_t)t->nsw * t->stride);
	}
	shift_detours_free(x);
	return rc;
}

int nue_detours_move(struct tables *t, const struct nue_layer *layer, const struct nue_trees *trees,
		     uint32_t k, struct progress *progress, struct err *err)
{
	const struct fabric *f = layer->net->f;
	struct shift_detours_how how = { .weights = &layer->net->weights,
					 .more = MORE_HOPS,
					 .fuller_pct = FULLER_PCT };
	struct tables *other;
	struct nue_detours x;
	int rc;

	if (!shift_flows_fit(f))
		return 0;
	nue_detours_init(&x, layer, trees, k);
	how.places = x.places;
	how.hops = x.hops;
	other = tables_new(f, t->engine);
	memcpy(other->lft, t->lft, (size_t)t->nsw * t->stride);
	rc = nue_detours_try_all(t, other, f, &how, progress, err);
	tables_put(other);
	arena_free(x.mem);
	return rc;
}

static uint32_t nue_detours_walk(const struct tables *t, const struct fabric *f, uint32_t u,
				 uint32_t term)
{
	uint32_t hops = 0;

	for (; u != f->term_sw[term]; hops++)
		u = f->chan_dst[fabric_chan(f, u, tables_row(t, u)[f->term_lid[term]])];
	return hops;
}

/* Is a path from switch u to a terminal at dst longer? */
static bool nue_detours_has(const struct tables *t, const struct fabric *f, uint32_t u,
			    uint32_t dst, uint32_t least)
{
	for (uint32_t e = f->term_off[dst]; e < f->term_off[dst + 1]; e++)
		if (nue_detours_walk(t, f, u, f->term_list[e]) > least)
			return true;
	return false;
}

uint64_t nue_detours_count(const struct tables *t, const struct nue_layer *layer, uint32_t k)
{
	const struct fabric *f = layer->net->f;
	uint64_t n = 0;

	for (uint32_t l = 0; l < k; l++)
		for (uint32_t i = 0; i < layer[l].ndst; i++)
			for (uint32_t u = 0; u < f->nsw; u++)
				n += !layer->net->idle[u] &&
				     nue_detours_has(t, f, u, layer[l].dst[i],
						     layer[l].dist[(size_t)i * f->nsw + u]);
	return n;
}
