/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/nue/nue_shifts.h"

#include "engines/graph/shift_search.h"
#include "engines/time/shift_choice.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <string.h>

struct nue_shifts {
	struct arena *mem; /* owns the arrays */
	const struct fabric *f;
	const uint16_t **hops;	 /* by destination switch: to it, by switch */
	const uint32_t **places; /* by LID */
};

static void nue_shifts_init(struct nue_shifts *x, const struct nue_layer *layer,
			    const struct nue_trees *trees, uint32_t k)
{
	const struct fabric *f = layer->net->f;

	*x = (struct nue_shifts){ .mem = arena_new(), .f = f };
	x->hops = arena_array(x->mem, const uint16_t *, f->nsw);
	x->places = arena_array(x->mem, const uint32_t *, f->max_lid + 1u);
	for (uint32_t l = 0; l < k; l++)
		for (uint32_t i = 0; i < layer[l].ndst; i++) {
			uint32_t u = layer[l].dst[i];

			x->hops[u] = trees[l].hops + (size_t)i * f->nsw;
			for (uint32_t e = f->term_off[u]; e < f->term_off[u + 1]; e++)
				x->places[f->term_lid[f->term_list[e]]] = trees[l].place;
		}
}

/* Switches by hops to the root, as positions. */
static void nue_shifts_place(const struct nue_shifts *x, struct spdag *g, const uint16_t *hops)
{
	uint32_t nsw = x->f->nsw, far = 0;

	g->n = 0;
	for (uint32_t h = 0; h <= far; h++)
		for (uint32_t u = 0; u < nsw; u++) {
			far = !h && hops[u] > far ? hops[u] : far;
			if (hops[u] != h)
				continue;
			g->sw[g->n] = u;
			g->dist[g->n] = h;
			g->pos[u] = g->n++;
		}
}

/* All channels that lead one hop nearer in a tree; which of them a path may take, the places say.
 */
static void nue_shifts_build(void *ctx, struct spdag *g, const struct fabric *f, uint32_t root)
{
	const struct nue_shifts *x = ctx;
	const uint16_t *hops = x->hops[root];

	memset(g->pos, 0xff, f->nsw * sizeof(*g->pos));
	g->root = root;
	g->nfound = 0;
	nue_shifts_place(x, g, hops);
	for (uint32_t i = 1; i < g->n; i++)
		for (uint32_t c = f->chan_off[g->sw[i]]; c < f->chan_off[g->sw[i] + 1]; c++) {
			if (hops[f->chan_dst[c]] + 1 != hops[g->sw[i]])
				continue;
			g->found_from[g->nfound] = i;
			g->found_chan[g->nfound] = c;
			g->found_to[g->nfound++] = g->pos[f->chan_dst[c]];
		}
	spdag_sort_edges(g);
}

/* Takes the entries that moved where that is better. */
static int nue_shifts_try(struct tables *t, const struct shift_search_how *how,
			  struct progress *progress, struct err *err)
{
	const struct fabric *f = ((const struct nue_shifts *)how->ctx)->f;
	size_t size = (size_t)t->nsw * t->stride;
	struct tables *other = tables_new(f, t->engine);
	struct pace p;
	uint64_t moved = 0;
	bool better = false;
	int rc = pace_begin(&p, progress, "paths", 1) ? -ECANCELED : 0;

	memcpy(other->lft, t->lft, size);
	if (!rc)
		rc = shift_search(&moved, other, f, how, &p);
	if (!rc && moved)
		rc = shift_choice_better(&better, f, t, other, SHIFT_CHOICE_LITTLE_LESS, progress,
					 err);
	if (better)
		memcpy(t->lft, other->lft, size);
	tables_put(other);
	return rc;
}

int nue_shifts_move(struct tables *t, const struct nue_layer *layer, const struct nue_trees *trees,
		    uint32_t k, struct progress *progress, struct err *err)
{
	struct shift_search_how how = { .build = nue_shifts_build,
					.weights = &layer->net->weights,
					.others = SHIFT_SEARCH_OTHERS,
					.rounds = SHIFT_SEARCH_ROUNDS };
	struct nue_shifts x;
	int rc;

	if (!shift_flows_fit(layer->net->f))
		return 0;
	nue_shifts_init(&x, layer, trees, k);
	how.ctx = &x;
	how.places = x.places;
	rc = nue_shifts_try(t, &how, progress, err);
	arena_free(x.mem);
	return rc;
}
