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

			if (!--o->behind[to])
				o->ahead[n++] = to;
		}
	return n;
}

static void wait_order_count(struct wait_order *o, uint32_t v)
{
	const struct fabric *f = o->flows->f;
	uint32_t c = v / o->nvl, sw = f->chan_dst[c];

	for (uint32_t e = f->chan_off[sw]; e < f->chan_off[sw + 1]; e++)
		for (uint32_t m = wait_order_turn(o, c, v % o->nvl, e); m; m &= m - 1)
			o->behind[e * o->nvl + (uint32_t)__builtin_ctz(m)]++;
}

/* Numbers with room between all of them. */
static void wait_order_number(struct wait_order *o)
{
	uint64_t room = UINT64_MAX / (o->all + 2ull), number = 0;

	for (uint32_t v = o->next[o->all]; v != o->all; v = o->next[v])
		o->number[v] = number += room;
	o->number[o->all] = UINT64_MAX;
}

static void wait_order_join(struct wait_order *o, uint32_t v, uint32_t w)
{
	o->next[v] = w;
	o->prev[w] = v;
}

static void wait_order_allocate(struct wait_order *o)
{
	o->number = xcalloc(o->all + 1u, sizeof(*o->number));
	o->prev = xcalloc(o->all + 1u, sizeof(*o->prev));
	o->next = xcalloc(o->all + 1u, sizeof(*o->next));
	o->ahead = xcalloc(o->all, sizeof(*o->ahead));
	o->behind = xcalloc(o->all, sizeof(*o->behind));
	o->side = xcalloc(o->all, 1);
}

bool wait_order_init(struct wait_order *o, const struct flow_counts *flows)
{
	uint32_t n = 0;

	memset(o, 0, sizeof(*o));
	o->flows = flows;
	for (uint32_t k = 0; k < flows->n; k++)
		if (flows->lane[k].vl >= o->nvl)
			o->nvl = flows->lane[k].vl + 1u;
	o->all = flows->f->nchan * o->nvl;
	wait_order_allocate(o);
	for (uint32_t v = 0; v < o->all; v++)
		wait_order_count(o, v);
	for (uint32_t v = 0; v < o->all; v++)
		if (!o->behind[v])
			o->ahead[n++] = v;
	for (uint32_t i = 0; i < n; i++)
		n = wait_order_release(o, o->ahead[i], n);
	for (uint32_t i = 0; i < n; i++)
		wait_order_join(o, i ? o->ahead[i - 1] : o->all, o->ahead[i]);
	wait_order_join(o, n ? o->ahead[n - 1] : o->all, o->all);
	wait_order_number(o);
	return n == o->all;
}

void wait_order_done(struct wait_order *o)
{
	free(o->number);
	free(o->prev);
	free(o->next);
	free(o->ahead);
	free(o->behind);
	free(o->side);
	memset(o, 0, sizeof(*o));
}

/* --- one more --------------------------------------------------------------------------------- */

enum side { NEITHER, AHEAD, BEHIND };

struct wait_search {
	uint32_t who, what; /* who waits, for what */
	uint32_t nahead, nbehind;
	bool circle;
};

/* What v waits for. */
static void wait_order_look_ahead(struct wait_order *o, struct wait_search *s, uint32_t v)
{
	const struct fabric *f = o->flows->f;
	uint32_t c = v / o->nvl, sw = f->chan_dst[c];

	for (uint32_t e = f->chan_off[sw]; e < f->chan_off[sw + 1]; e++)
		for (uint32_t m = wait_order_turn(o, c, v % o->nvl, e); m; m &= m - 1) {
			uint32_t to = e * o->nvl + (uint32_t)__builtin_ctz(m);

			s->circle |= o->side[to] == BEHIND;
			if (o->side[to] != NEITHER || o->number[to] > o->number[s->who])
				continue;
			o->side[to] = AHEAD;
			o->ahead[s->nahead++] = to;
		}
}

/* Who waits for v. */
static void wait_order_look_behind(struct wait_order *o, struct wait_search *s, uint32_t v)
{
	const struct flow_counts *x = o->flows;
	uint32_t e = v / o->nvl, sw = x->f->chan_src[e];

	for (uint32_t b = x->f->chan_off[sw]; b < x->f->chan_off[sw + 1]; b++)
		for (uint32_t k = 0, c = x->f->chan_rev[b]; k < x->n; k++) {
			uint32_t from = c * o->nvl + x->lane[k].vl;

			if (!flow_counts_of_turn(x, c, e, k) ||
			    flow_counts_next_vl(x, c, e, k) != v % o->nvl)
				continue;
			s->circle |= o->side[from] == AHEAD;
			if (o->side[from] != NEITHER || o->number[from] < o->number[s->what])
				continue;
			o->side[from] = BEHIND;
			o->behind[s->nbehind++] = from;
		}
}

/* Until one list is done; returns which, NEITHER where there is a circle. */
static enum side wait_order_search(struct wait_order *o, struct wait_search *s)
{
	enum side done = NEITHER;

	o->ahead[s->nahead++] = s->what;
	o->behind[s->nbehind++] = s->who;
	o->side[s->what] = AHEAD;
	o->side[s->who] = BEHIND;
	for (uint32_t i = 0; done == NEITHER && !s->circle; i++) {
		wait_order_look_ahead(o, s, o->ahead[i]);
		wait_order_look_behind(o, s, o->behind[i]);
		done = i + 1 == s->nahead ? AHEAD : i + 1 == s->nbehind ? BEHIND : NEITHER;
	}
	for (uint32_t i = 0; i < s->nahead; i++)
		o->side[o->ahead[i]] = NEITHER;
	for (uint32_t i = 0; i < s->nbehind; i++)
		o->side[o->behind[i]] = NEITHER;
	return s->circle ? NEITHER : done;
}

struct wait_number {
	uint64_t number;
	uint32_t v;
};

static int wait_order_compare(const void *x, const void *y)
{
	const struct wait_number *a = x, *b = y;

	return (a->number > b->number) - (a->number < b->number);
}

/* All of the list behind v, among themselves as they were. */
static void wait_order_move(struct wait_order *o, const uint32_t *list, uint32_t n, uint32_t v)
{
	struct wait_number *sorted = xcalloc(n, sizeof(*sorted));
	uint64_t number = v == o->all ? 0 : o->number[v], room;
	uint32_t next;

	for (uint32_t i = 0; i < n; i++) {
		sorted[i] = (struct wait_number){ o->number[list[i]], list[i] };
		wait_order_join(o, o->prev[list[i]], o->next[list[i]]);
	}
	qsort(sorted, n, sizeof(*sorted), wait_order_compare);
	next = o->next[v];
	room = (o->number[next] - number) / (n + 1ull);
	for (uint32_t i = 0; i < n; i++) {
		wait_order_join(o, v, sorted[i].v);
		v = sorted[i].v;
		o->number[v] = number += room;
	}
	wait_order_join(o, v, next);
	if (!room)
		wait_order_number(o);
	free(sorted);
}

bool wait_order_add(struct wait_order *o, uint32_t c, unsigned vl, uint32_t e, unsigned vl2)
{
	struct wait_search s = { .who = c * o->nvl + vl, .what = e * o->nvl + vl2 };

	if (s.who == s.what)
		return false;
	if (o->number[s.who] < o->number[s.what])
		return true;
	switch (wait_order_search(o, &s)) {
	case AHEAD:
		wait_order_move(o, o->ahead, s.nahead, s.who);
		return true;
	case BEHIND:
		wait_order_move(o, o->behind, s.nbehind, o->prev[s.what]);
		return true;
	default:
		return false;
	}
}
