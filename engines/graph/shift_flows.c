/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/shift_flows.h"

#include "fabric/base/memory/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROOM  (32u << 20) /* numbers of flows */
#define WALKS (4u << 20)  /* pairs of hosts */
#define TOO_MANY                                                                                   \
	(1ull << 56) /* what it costs to have more routes on a channel than it may have            \
		      */
#define CHUNK	  8  /* flows looked at before the next question whether they are too dear */
#define RAILS_MAX 16 /* ports of one name; more have that of their adapter's maker */

bool shift_flows_fit(const struct fabric *f)
{
	return (uint64_t)f->nterm * f->nchan <= ROOM && (uint64_t)f->nterm * f->nterm <= WALKS;
}

static void shift_flows_rank(struct shift_flows *x)
{
	const struct fabric *f = x->f;

	x->single = true;
	for (uint32_t i = 0, n; i < f->nterm; i += n) {
		const char *name = f->term_name[f->term_by_name[i]];

		n = fabric_terms_by_name(f, name, NULL, 0);
		n = n > RAILS_MAX ? 1 : n;
		for (uint32_t k = 0; k < n; k++) {
			x->rank[f->term_by_name[i + k]] = x->nrank;
			x->rail[f->term_by_name[i + k]] = k;
		}
		x->single &= n == 1;
		x->rails[x->nrank++] = n;
	}
}

static void shift_flows_list(struct shift_flows *x)
{
	const struct fabric *f = x->f;
	uint32_t n = 0;

	for (uint32_t u = 0; u < f->nsw; u++) {
		x->off[u] = n;
		x->source[u] = x->nsource;
		x->nsource += f->sw_nterm[u] > 0;
		for (uint32_t k = f->term_off[u]; k < f->term_off[u + 1]; k++)
			if (f->term_list[k] < f->nterm)
				x->term[n++] = f->term_list[k];
	}
	x->off[f->nsw] = n;
}

void shift_flows_init(struct shift_flows *x, const struct fabric *f,
		      const struct chan_weights *weights, bool by_source)
{
	*x = (struct shift_flows){ .mem = arena_new(), .f = f, .weights = weights };
	x->by_source = by_source;
	x->rank = arena_array(x->mem, uint32_t, f->nterm);
	x->rail = arena_array(x->mem, uint32_t, f->nterm);
	x->rails = arena_array(x->mem, uint32_t, f->nterm);
	x->off = arena_array(x->mem, uint32_t, f->nsw + 1u);
	x->term = arena_array(x->mem, uint32_t, f->nterm);
	x->chan = arena_array(x->mem, struct shift_channel, f->nchan);
	x->shift = arena_array(x->mem, uint32_t, f->nterm);
	x->row = arena_array(x->mem, uint8_t, f->nterm);
	x->source = arena_array(x->mem, uint32_t, f->nsw);
	x->asked = arena_array(x->mem, struct shift_source, f->nsw);
	x->taken = arena_array(x->mem, uint32_t, f->nsw);
	x->through = arena_array(x->mem, uint64_t, f->nsw);
	x->on = arena_array(x->mem, uint32_t, f->nsw);
	x->cost = arena_array(x->mem, uint64_t, f->nsw);
	x->known = arena_array(x->mem, uint32_t, f->nsw);
	x->path = arena_array(x->mem, uint32_t, f->nsw);
	for (uint32_t c = 0; c < f->nchan; c++)
		x->chan[c].most = UINT64_MAX;
	shift_flows_rank(x);
	shift_flows_list(x);
	x->load = xcalloc((size_t)f->nchan * x->nrank, sizeof(*x->load));
	if (by_source)
		x->from = xcalloc((size_t)f->nchan * x->nsource, sizeof(*x->from));
}

void shift_flows_done(struct shift_flows *x)
{
	free(x->load);
	free(x->from);
	arena_free(x->mem);
}

/* Number of flows to the power of 5/4; square roots are the same everywhere. */
static double shift_flows_mild(uint32_t n)
{
	return n * sqrt(sqrt(n));
}

void shift_flows_set_price(struct shift_flows *x, const struct shift_price *price)
{
	x->price = *price;
	for (uint32_t n = 0; n < SHIFT_PRICE_FLOWS; n++) {
		uint64_t cubed = 3ull * n * (n + 1) + 1;
		double mild = shift_flows_mild(n + 1) - shift_flows_mild(n);
		uint64_t one =
			price->cubed ? SHIFT_PRICE_ONE * cubed : (uint64_t)(SHIFT_PRICE_ONE * mild);

		if (!n && price->alone)
			one = price->alone;
		x->extra[n] = one;
		x->extra[SHIFT_PRICE_FLOWS + n] = one * (price->near ? price->times : 1);
	}
	x->others = ((uint64_t)price->others << 16) / (x->nrank ? x->nrank : 1);
	for (uint32_t c = 0; c < x->f->nchan; c++) {
		uint64_t w = chan_weight(x->weights, c), unit = x->weights->unit;

		x->chan[c].times = price->cubed ? w * w * w : w;
		x->chan[c].others = price->cubed ? w * w * unit : w * w / unit;
	}
}

void shift_flows_set_most(struct shift_flows *x, unsigned fuller_pct)
{
	uint64_t most = 0;

	for (uint32_t c = 0; c < x->f->nchan; c++) {
		uint64_t now = x->chan[c].routes * chan_weight(x->weights, c);

		most = now > most ? now : most;
	}
	most += most * fuller_pct / 100;
	for (uint32_t c = 0; c < x->f->nchan; c++)
		x->chan[c].most = most / chan_weight(x->weights, c);
}

static void shift_flows_ask_one(struct shift_flows *x, uint32_t a, uint32_t b)
{
	uint32_t shift = b >= a ? b - a : b + x->nrank - a;
	uint32_t places = shift < x->nrank - shift ? shift : x->nrank - shift;

	x->shift[x->nshift] = shift;
	x->row[x->nshift] = places <= x->price.near ? SHIFT_PRICE_FLOWS : 0;
	x->nshift += shift != 0;
}

void shift_flows_ask(struct shift_flows *x, uint32_t sw, uint32_t term)
{
	uint32_t b = x->rank[term], before = x->nshift;

	for (uint32_t k = x->off[sw]; k < x->off[sw + 1]; k++) {
		uint32_t from = x->term[k], a = x->rank[from];

		if (x->single || x->rail[from] % x->rails[b] == x->rail[term])
			shift_flows_ask_one(x, a, b);
	}
	x->nasked = before ? x->nasked : 0;
	if (x->nshift > before)
		x->asked[x->nasked++] = (struct shift_source){ sw, x->nshift - before };
}

static uint32_t *shift_flows_from(const struct shift_flows *x, uint32_t c, uint32_t sw)
{
	return &x->from[(size_t)c * x->nsource + x->source[sw]];
}

void shift_flows_add(struct shift_flows *x, uint32_t c, int one)
{
	uint16_t *load = x->load + (size_t)c * x->nrank;

	for (uint32_t i = 0; i < x->nshift; i++)
		load[x->shift[i]] += (uint16_t)one;
	for (uint32_t i = 0; x->by_source && i < x->nasked; i++)
		*shift_flows_from(x, c, x->asked[i].sw) +=
			(uint32_t)(one * (int32_t)x->asked[i].flows);
	x->chan[c].routes += (uint64_t)((int64_t)one * x->nshift);
	x->work += x->nshift;
}

static inline uint64_t shift_flows_extra(const struct shift_flows *x, const uint16_t *load,
					 uint32_t i, uint32_t there)
{
	uint32_t end = i + CHUNK < x->nshift ? i + CHUNK : x->nshift;
	uint64_t cost = 0;

	for (; i < end; i++) {
		uint32_t n = load[x->shift[i]] - there;

		n = n < SHIFT_PRICE_FLOWS ? n : SHIFT_PRICE_FLOWS - 1;
		cost += x->extra[x->row[i] + n];
	}
	return cost;
}

/* Pairs of a flow at hand and a route over a channel that come from the same terminal: each of a
 * switch's has as many of its routes. */
static uint64_t shift_flows_own(const struct shift_flows *x, uint32_t c, bool there)
{
	uint64_t pairs = 0;

	for (uint32_t i = 0; x->by_source && i < x->nasked; i++) {
		struct shift_source s = x->asked[i];
		uint64_t routes = *shift_flows_from(x, c, s.sw) - (there ? s.flows : 0);

		pairs += routes * s.flows / x->f->sw_nterm[s.sw];
	}
	return pairs;
}

/* Loads are far apart in memory: most of the time goes into fetching them, so what is known without
 * them comes first. */
uint64_t shift_flows_cost(struct shift_flows *x, uint32_t c, bool there, uint64_t same,
			  uint64_t limit)
{
	const uint16_t *load = x->load + (size_t)c * x->nrank;
	const struct shift_channel *h = &x->chan[c];
	uint64_t routes = h->routes - (there ? x->nshift : 0);
	uint64_t pairs = (routes - same) * x->nshift - shift_flows_own(x, c, there);
	uint64_t cost = (x->others * pairs >> 16) * h->others;

	if (routes + x->nshift > h->most)
		cost += TOO_MANY;
	for (uint32_t i = 0; i < x->nshift && cost < limit; i += CHUNK)
		cost += h->times * shift_flows_extra(x, load, i, there);
	x->work += x->nshift;
	return cost;
}

void shift_flows_come(struct shift_flows *x, uint32_t at)
{
	for (; x->taken[at] != FAB_NONE; at = shift_flows_next(x, at))
		x->on[at] = x->question;
}

/* Behind a node. */
static uint64_t shift_flows_chan_cost(struct shift_flows *x, uint32_t at)
{
	bool there = x->on[at] == x->question;

	return shift_flows_cost(x, x->taken[at], there, x->through[at] - (there ? x->nshift : 0),
				UINT64_MAX);
}

uint64_t shift_flows_way_cost(struct shift_flows *x, uint32_t at)
{
	uint64_t cost = 0;
	uint32_t n = 0;

	for (; x->taken[at] != FAB_NONE && x->known[at] != x->question;
	     at = shift_flows_next(x, at))
		x->path[n++] = at;
	if (x->taken[at] != FAB_NONE)
		cost = x->cost[at];
	while (n--) {
		at = x->path[n];
		cost += shift_flows_chan_cost(x, at);
		x->cost[at] = cost;
		x->known[at] = x->question;
	}
	return cost;
}
