/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/first_fit_in.h"
#include "fabric/base/mem.h"

#include <string.h>

/* SL that all terminals of the switch use there, or OPEN. */
static uint8_t vl_first_fit_sl_of_switch(const struct tables *t, const struct fabric *f, uint32_t u,
					 uint32_t lid)
{
	uint32_t k = f->term_off[u], end = f->term_off[u + 1];
	uint8_t sl;

	if (k == end)
		return OPEN;
	sl = tables_path_sl(t, f->term_list[k], u, lid);
	while (t->sl_kind == SL_BY_TERM && ++k < end)
		if (tables_path_sl(t, f->term_list[k], u, lid) != sl)
			return OPEN;
	return sl;
}

void vl_first_fit_read_old(const struct fit *l, struct batch *b)
{
	const struct fabric *f = l->f;

	lft_columns_read(&b->old, l->keep, b->d, b->n);
	for (uint32_t u = 0; u < f->nsw; u++)
		for (uint32_t k = 0; k < b->n; k++) {
			uint8_t sl = vl_first_fit_sl_of_switch(l->keep, f, u, b->d[k].lid);

			b->was[(size_t)k * f->nsw + u] = sl < l->most ? sl : OPEN;
		}
}

void vl_first_fit_compare(struct order *o, const struct batch *b, uint32_t k, uint32_t nsw)
{
	o->kept[0] = true;
	for (uint32_t i = 1; i < nsw; i++)
		o->kept[i] =
			o->kept[o->parent[i]] && columns_chan(&b->old, k, o->at[i]) == o->chan[i];
}

bool vl_first_fit_order(const struct fit *l, struct order *o, struct batch *b, uint32_t k,
			bool *few)
{
	b->bad_sw = order_find(o, l->f, &b->col, k, b->d->sw, few);
	b->bad_lid = b->d[k].lid;
	return b->bad_sw == FAB_NONE;
}

static void vl_first_fit_list_add(struct list *l, uint32_t sw, uint32_t turn)
{
	if (l->n == l->room) {
		l->room = l->room ? 2 * l->room : 1024;
		l->at = xrealloc(l->at, l->room, sizeof(*l->at));
		l->turn = xrealloc(l->turn, l->room, sizeof(*l->turn));
	}
	l->turn[l->n] = turn;
	l->at[l->n++] = sw;
}

/* The first turn of the path from position i, which is not next to the LID's switch. */
static inline uint32_t vl_first_fit_first_turn(const struct fit *l, const struct order *o,
					       uint32_t i)
{
	return turns_at(&l->turns, o->chan[i], o->chan[o->parent[i]]);
}

/* Notes which layers hold the whole path from position i. */
static inline void vl_first_fit_find_layers(const struct fit *l, struct order *o, uint32_t i)
{
	uint32_t p = o->parent[i];

	o->have[i] = p ? o->have[p] & layers_of(l, vl_first_fit_first_turn(l, o, i)) : UINT16_MAX;
}

static uint8_t vl_first_fit_first_layer(const struct fit *l, const struct order *o, uint32_t i)
{
	uint32_t u = o->at[i];

	if (o->have[i])
		return (uint8_t)__builtin_ctz(o->have[i]);
	return l->f->term_off[u] < l->f->term_off[u + 1] ? OPEN : 0;
}

static void vl_first_fit_look_at_path(const struct fit *l, struct order *o, struct batch *b,
				      uint32_t i, uint8_t *layer)
{
	uint32_t u = o->at[i];

	vl_first_fit_find_layers(l, o, i);
	layer[u] = vl_first_fit_first_layer(l, o, i);
	if (layer[u] == OPEN)
		vl_first_fit_list_add(&b->open, u, vl_first_fit_first_turn(l, o, i));
}

/* Layers of all paths to LID k that are whole in one. */
static void vl_first_fit_look_at_lid(const struct fit *l, struct order *o, struct batch *b,
				     uint32_t k)
{
	uint8_t *layer = b->layer + (size_t)k * l->f->nsw;

	layer[o->at[0]] = 0;
	for (uint32_t i = 1; i < l->f->nsw; i++) {
		if (o->same[i])
			layer[o->at[i]] = SAME;
		else
			vl_first_fit_look_at_path(l, o, b, i, layer);
	}
}

/* The same where all that differs from the LID before is in moved. */
static void vl_first_fit_look_at_moved(const struct fit *l, struct order *o, struct batch *b,
				       uint32_t k)
{
	uint8_t *layer = b->layer + (size_t)k * l->f->nsw;

	memset(layer, SAME, l->f->nsw);
	layer[o->at[0]] = 0;
	for (uint32_t m = 0; m < o->nmoved; m++)
		vl_first_fit_look_at_path(l, o, b, o->pos[o->moved[m]], layer);
}

/* The same where layers are to be kept. */
static void vl_first_fit_look_for_kept(const struct fit *l, struct order *o, struct batch *b,
				       uint32_t k)
{
	uint8_t *layer = b->layer + (size_t)k * l->f->nsw;
	const uint8_t *was = b->was + (size_t)k * l->f->nsw;

	vl_first_fit_compare(o, b, k, l->f->nsw);
	layer[o->at[0]] = was[o->at[0]] != OPEN ? was[o->at[0]] : 0;
	for (uint32_t i = 1; i < l->f->nsw; i++) {
		uint32_t u = o->at[i];

		if (!o->same[i])
			vl_first_fit_find_layers(l, o, i);
		if (o->kept[i] && was[u] != OPEN && o->have[i] >> was[u] & 1)
			layer[u] = was[u];
		else
			layer[u] = vl_first_fit_first_layer(l, o, i);
		if (layer[u] == OPEN)
			vl_first_fit_list_add(&b->open, u, vl_first_fit_first_turn(l, o, i));
	}
}

/* The turns of open paths to LID k that layer 0 does not have. */
static void vl_first_fit_list_missing(const struct fit *l, struct order *o, struct batch *b,
				      uint32_t k)
{
	const struct fabric *f = l->f;
	const uint8_t *layer = b->layer + (size_t)k * f->nsw;
	bool *need = o->need;

	for (uint32_t i = 0; i < f->nsw; i++)
		need[i] = layer[o->at[i]] == OPEN;
	for (uint32_t i = f->nsw; i-- > 1;) {
		uint32_t p = o->parent[i];

		need[p] |= need[i];
		if (need[i] && p &&
		    !(layers_of(l, turns_at(&l->turns, o->chan[i], o->chan[p])) & 1))
			vl_first_fit_list_add(&b->miss, o->at[i], vl_first_fit_first_turn(l, o, i));
	}
}

/* The LID of the first terminal where a switch's own LID is alone in the batch, else 0. */
static uint16_t vl_first_fit_maybe_twin(const struct fit *l, const struct batch *b)
{
	const struct fabric *f = l->f;
	uint32_t k = f->term_off[b->d->sw], end = f->term_off[b->d->sw + 1];

	while (k < end && f->term_list[k] >= f->nterm)
		k++;
	return b->n > 1 || b->d->end < f->nend || k == end ? 0 : f->term_lid[f->term_list[k]];
}

void vl_first_fit_find_equal(struct fit *l, uint32_t nbatch)
{
	bool differ[CHUNK] = { false };
	uint32_t some = 0;

	for (uint32_t i = 0; i < nbatch; i++)
		some |= l->batch[i].twin =
			l->keep || l->fixed ? 0 : vl_first_fit_maybe_twin(l, &l->batch[i]);
	for (uint32_t u = 0; some && u < l->f->nsw; u++) {
		const uint8_t *row = tables_row(l->t, u);

		for (uint32_t i = 0; i < nbatch; i++) {
			const struct batch *b = &l->batch[i];

			differ[i] |= row[b->d->lid] != row[b->twin] && u != b->d->sw;
		}
	}
	for (uint32_t i = 0; i < nbatch; i++)
		l->batch[i].twin = differ[i] ? 0 : l->batch[i].twin;
}

static bool vl_first_fit_look_at_batch(struct fit *l, struct order *o, struct batch *b)
{
	for (uint32_t k = 0; k < b->n; k++) {
		uint32_t nopen = b->open.n;
		bool few;

		if (!vl_first_fit_order(l, o, b, k, &few))
			return true;
		if (few && l->keep)
			order_spread_moves(o, l->f->nsw);
		if (l->keep)
			vl_first_fit_look_for_kept(l, o, b, k);
		else if (few)
			vl_first_fit_look_at_moved(l, o, b, k);
		else
			vl_first_fit_look_at_lid(l, o, b, k);
		if (b->open.n > nopen && l->tries)
			vl_first_fit_list_missing(l, o, b, k);
		b->open.end[k] = b->open.n;
		b->miss.end[k] = b->miss.n;
	}
	return false;
}

bool vl_first_fit_look_ahead(void *ctx, unsigned worker, uint32_t i)
{
	struct fit *l = ctx;
	struct batch *b = &l->batch[i];

	if (!worker && progress_step(l->pace->progress, l->pace->step, l->done, l->pace->total))
		return true;
	b->open.n = b->miss.n = 0;
	b->open.end[0] = b->miss.end[0] = 0;
	b->bad_sw = FAB_NONE;
	if (b->twin)
		return false;
	lft_columns_read(&b->col, l->t, b->d, b->n);
	if (l->keep)
		vl_first_fit_read_old(l, b);
	return vl_first_fit_look_at_batch(l, &l->order[worker], b);
}
