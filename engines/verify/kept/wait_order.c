/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/kept/wait_order.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

/* Bits of VLs on e for which somebody on that VL of c waits. */
static uint32_t wait_order_turn(const struct wait_order *o, uint32_t c, uint32_t vl, uint32_t e)
{
	const struct flow_counts *x = o->flows;
	uint32_t vls = 0;

	for (uint32_t k = 0; k < x->n; k++)
		if (x->lane[k].vl == vl && flow_counts_of_turn(x, c, e, k))
			vls |= 1u << flow_counts_next_vl(x, c, e, k);
	return vls;
}

/* --- the first order -------------------------------------------------------------------------- */

static uint32_t wait_order_release(struct wait_order *o, uint32_t v, uint32_t n)
{
	const struct fabric *f = o->flows->f;
	uint32_t c = v / o->nvl, sw = f->chan_dst[c];

	for (uint32_t e = f->chan_off[sw]; e < f->chan_off[sw + 1]; e++)
		for (uint32_t m = wait_order_turn(o, c, v % o->nvl, e); m; m &= m - 1) {
			uint32_t to = e * o->nvl + (uint32_t)__builtin_ctz(m);

			if (!--o->places[to])
				o->at[n++] = to;
		}
	return n;
}

static void wait_order_count(struct wait_order *o, uint32_t v)
{
	const struct fabric *f = o->flows->f;
	uint32_t c = v / o->nvl, sw = f->chan_dst[c];

	for (uint32_t e = f->chan_off[sw]; e < f->chan_off[sw + 1]; e++)
		for (uint32_t m = wait_order_turn(o, c, v % o->nvl, e); m; m &= m - 1)
			o->places[e * o->nvl + (uint32_t)__builtin_ctz(m)]++;
}

bool wait_order_init(struct wait_order *o, const struct flow_counts *flows)
{
	uint32_t all, n = 0;

	memset(o, 0, sizeof(*o));
	o->flows = flows;
	for (uint32_t k = 0; k < flows->n; k++)
		if (flows->lane[k].vl >= o->nvl)
			o->nvl = flows->lane[k].vl + 1u;
	all = flows->f->nchan * o->nvl;
	o->place = xcalloc(all, sizeof(*o->place));
	o->at = xcalloc(all, sizeof(*o->at));
	o->ahead = xcalloc(all, sizeof(*o->ahead));
	o->behind = xcalloc(all, sizeof(*o->behind));
	o->places = xcalloc(all, sizeof(*o->places));
	o->seen = xcalloc(all, 1);
	for (uint32_t v = 0; v < all; v++)
		wait_order_count(o, v);
	for (uint32_t v = 0; v < all; v++)
		if (!o->places[v])
			o->at[n++] = v;
	for (uint32_t i = 0; i < n; i++) {
		o->place[o->at[i]] = i;
		n = wait_order_release(o, o->at[i], n);
	}
	return n == all;
}

void wait_order_done(struct wait_order *o)
{
	free(o->place);
	free(o->at);
	free(o->ahead);
	free(o->behind);
	free(o->places);
	free(o->seen);
	memset(o, 0, sizeof(*o));
}

/* --- one more --------------------------------------------------------------------------------- */

/* What v waits for, as far as the place of last; false: for last itself. */
static bool wait_order_find_ahead(struct wait_order *o, uint32_t v, uint32_t last, uint32_t *n)
{
	const struct fabric *f = o->flows->f;

	*n = 0;
	o->ahead[(*n)++] = v;
	o->seen[v] = 1;
	for (uint32_t i = 0; i < *n; i++) {
		uint32_t c = o->ahead[i] / o->nvl, sw = f->chan_dst[c];

		for (uint32_t e = f->chan_off[sw]; e < f->chan_off[sw + 1]; e++)
			for (uint32_t m = wait_order_turn(o, c, o->ahead[i] % o->nvl, e); m;
			     m &= m - 1) {
				uint32_t to = e * o->nvl + (uint32_t)__builtin_ctz(m);

				if (to == last)
					return false;
				if (o->place[to] > o->place[last] || o->seen[to])
					continue;
				o->seen[to] = 1;
				o->ahead[(*n)++] = to;
			}
	}
	return true;
}

/* Who waits for v, down to the place of first. */
static uint32_t wait_order_find_behind(struct wait_order *o, uint32_t v, uint32_t first)
{
	const struct fabric *f = o->flows->f;
	uint32_t n = 0;

	o->behind[n++] = v;
	o->seen[v] = 1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t e = o->behind[i] / o->nvl, sw = f->chan_src[e];

		for (uint32_t b = f->chan_off[sw] * o->nvl; b < f->chan_off[sw + 1] * o->nvl; b++) {
			uint32_t c = f->chan_rev[b / o->nvl], vl = b % o->nvl;
			uint32_t from = c * o->nvl + vl;

			if (o->place[from] < o->place[first] || o->seen[from] ||
			    !(wait_order_turn(o, c, vl, e) >> o->behind[i] % o->nvl & 1))
				continue;
			o->seen[from] = 1;
			o->behind[n++] = from;
		}
	}
	return n;
}

static int wait_order_ascending(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

/* Into the order of their places, which go to places. */
static void wait_order_sort(const struct wait_order *o, uint32_t *list, uint32_t n,
			    uint32_t *places)
{
	for (uint32_t i = 0; i < n; i++)
		places[i] = o->place[list[i]];
	qsort(places, n, sizeof(*places), wait_order_ascending);
	for (uint32_t i = 0; i < n; i++)
		list[i] = o->at[places[i]];
}

static void wait_order_forget(struct wait_order *o, const uint32_t *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		o->seen[list[i]] = 0;
}

bool wait_order_add(struct wait_order *o, uint32_t c, unsigned vl, uint32_t e, unsigned vl2)
{
	uint32_t x = c * o->nvl + vl, y = e * o->nvl + vl2, nahead, nbehind, n;
	bool fine;

	if (x == y)
		return false;
	if (o->place[x] < o->place[y])
		return true;
	fine = wait_order_find_ahead(o, y, x, &nahead);
	wait_order_forget(o, o->ahead, nahead);
	if (!fine)
		return false;
	nbehind = wait_order_find_behind(o, x, y);
	wait_order_forget(o, o->behind, nbehind);
	wait_order_sort(o, o->behind, nbehind, o->places);
	wait_order_sort(o, o->ahead, nahead, o->places + nbehind);
	n = nbehind + nahead;
	qsort(o->places, n, sizeof(*o->places), wait_order_ascending);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = i < nbehind ? o->behind[i] : o->ahead[i - nbehind];

		o->place[v] = o->places[i];
		o->at[o->places[i]] = v;
	}
	return true;
}
