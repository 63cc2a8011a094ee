/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/first_fit_order.h"

#include "fabric/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define FEW 64 /* paths that may differ from those of the LID before to be handled alone */

void order_init(struct order *o, uint32_t n)
{
	o->at = xcalloc(n, sizeof(*o->at));
	o->pos = xcalloc(n, sizeof(*o->pos));
	o->depth = xcalloc(n, sizeof(*o->depth));
	o->count = xcalloc(n + 1, sizeof(*o->count));
	o->stack = xcalloc(n, sizeof(*o->stack));
	o->parent = xcalloc(n, sizeof(*o->parent));
	o->chan = xcalloc(n, sizeof(*o->chan));
	o->hop = xcalloc(n, sizeof(*o->hop));
	o->next = xcalloc(n, sizeof(*o->next));
	o->moved = xcalloc(n, sizeof(*o->moved));
	o->need = xcalloc(n, sizeof(*o->need));
	o->inner = xcalloc(n, sizeof(*o->inner));
	o->same = xcalloc(n, sizeof(*o->same));
	o->kept = xcalloc(n, sizeof(*o->kept));
	o->have = xcalloc(n, sizeof(*o->have));
	o->pass = xcalloc(n, sizeof(*o->pass));
}

void order_done(struct order *o)
{
	free(o->at);
	free(o->pos);
	free(o->depth);
	free(o->count);
	free(o->stack);
	free(o->parent);
	free(o->chan);
	free(o->hop);
	free(o->next);
	free(o->moved);
	free(o->need);
	free(o->inner);
	free(o->same);
	free(o->kept);
	free(o->have);
	free(o->pass);
}

/* Fills hop and next for LID k. */
static void vl_first_fit_find_hops(struct order *o, const struct fabric *f,
				   const struct lft_columns *col, uint32_t k)
{
	lft_columns_chans(col, k, o->hop);
	for (uint32_t u = 0; u < f->nsw; u++)
		o->next[u] = o->hop[u] == FAB_NONE ? FAB_NONE : f->chan_dst[o->hop[u]];
}

/* Fills parent and chan from hop and next. */
static void vl_first_fit_put_in_order(struct order *o, uint32_t n)
{
	memset(o->inner, 0, n * sizeof(*o->inner));
	memset(o->same, 0, n * sizeof(*o->same));
	for (uint32_t i = 1; i < n; i++) {
		uint32_t u = o->at[i];

		o->chan[i] = o->hop[u];
		o->parent[i] = o->pos[o->next[u]];
		o->inner[o->parent[i]] = true;
	}
	o->inner[0] = true;
}

static bool vl_first_fit_by_position(const struct order *o, uint32_t a, uint32_t b)
{
	return o->pos[o->moved[a]] < o->pos[o->moved[b]];
}

/* Few, and nearly sorted: switches of a level come in ascending order. */
static void vl_first_fit_sort_moved(struct order *o)
{
	for (uint32_t i = 1; i < o->nmoved; i++) {
		for (uint32_t k = i; k && vl_first_fit_by_position(o, k, k - 1); k--) {
			uint32_t u = o->moved[k];

			o->moved[k] = o->moved[k - 1];
			o->moved[k - 1] = u;
		}
	}
}

/* Not those of who has moved, nor those through there. */
void order_spread_moves(struct order *o, uint32_t n)
{
	bool *same = o->same;

	memset(same, 1, n * sizeof(*same));
	for (uint32_t m = 0; m < o->nmoved; m++)
		same[o->pos[o->moved[m]]] = false;
	for (uint32_t i = 1; i < n; i++)
		same[i] &= same[o->parent[i]];
}

/* From LID k - 1 to LID k, at whatever has moved; false when the positions do not suit this tree.
 */
static bool vl_first_fit_move_on(struct order *o, const struct fabric *f,
				 const struct lft_columns *col, uint32_t k, bool *few)
{
	o->nmoved =
		lft_columns_differ(columns_at(col, k), columns_at(col, k - 1), f->nsw, o->moved);
	*few = o->nmoved <= FEW;
	for (uint32_t m = 0; m < o->nmoved; m++) {
		uint32_t u = o->moved[m], i = o->pos[u], c = columns_chan(col, k, u);

		if (c == FAB_NONE)
			return false;
		*few &= !o->inner[i];
		o->chan[i] = c;
		o->parent[i] = o->pos[f->chan_dst[c]];
		if (o->parent[i] >= i)
			return false;
	}
	for (uint32_t m = 0; m < o->nmoved; m++) {
		uint32_t p = o->parent[o->pos[o->moved[m]]];

		*few &= o->inner[p];
		o->inner[p] = true;
	}
	if (*few)
		vl_first_fit_sort_moved(o);
	else
		order_spread_moves(o, f->nsw);
	return true;
}

/* Positions by hops to the LID, then by switch; all LIDs of a switch share them as long as
 * their paths are equally long.  Returns a switch from which there is no way, or FAB_NONE. */
static uint32_t vl_first_fit_order_by_depth(struct order *o, uint32_t n, uint32_t root)
{
	uint32_t *depth = o->depth, *count = o->count;

	memset(count, 0, (n + 1) * sizeof(*count));
	memset(depth, 0xff, n * sizeof(*depth));
	depth[root] = 0;
	for (uint32_t s = 0; s < n; s++) {
		uint32_t u = s, k = 0;

		while (depth[u] == FAB_NONE && k < n && o->next[u] != FAB_NONE) {
			o->stack[k++] = u;
			u = o->next[u];
		}
		if (depth[u] == FAB_NONE)
			return s;
		for (uint32_t from = depth[u]; k--;)
			depth[o->stack[k]] = ++from;
		count[depth[s] + 1]++;
	}
	for (uint32_t i = 1; i <= n; i++)
		count[i] += count[i - 1];
	for (uint32_t u = 0; u < n; u++) {
		o->pos[u] = count[depth[u]]++;
		o->at[o->pos[u]] = u;
	}
	return FAB_NONE;
}

uint32_t order_find(struct order *o, const struct fabric *f, const struct lft_columns *col,
		    uint32_t k, uint32_t root, bool *few)
{
	uint32_t bad;

	if (k && vl_first_fit_move_on(o, f, col, k, few))
		return FAB_NONE;
	*few = false;
	vl_first_fit_find_hops(o, f, col, k);
	bad = vl_first_fit_order_by_depth(o, f->nsw, root);
	if (bad == FAB_NONE)
		vl_first_fit_put_in_order(o, f->nsw);
	return bad;
}
