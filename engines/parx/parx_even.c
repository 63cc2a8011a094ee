/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/parx/parx_even.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

void parx_even_init(struct parx_even *x, const struct fabric *f, uint32_t nrule)
{
	*x = (struct parx_even){ .f = f };
	x->used = xcalloc((size_t)nrule * f->nchan + 1, sizeof(*x->used));
	x->cost = xcalloc(f->nsw, sizeof(*x->cost));
	x->routes = xcalloc(f->nsw, sizeof(*x->routes));
	x->pick = xcalloc(f->nsw, sizeof(*x->pick));
}

void parx_even_done(struct parx_even *x)
{
	free(x->used);
	free(x->cost);
	free(x->routes);
	free(x->pick);
}

void parx_even_begin(struct parx_even *x, const struct parx_dags *dags)
{
	for (uint32_t i = 0; i < dags->rules.n; i++)
		memset(x->used + (size_t)i * x->f->nchan, 0, dags->dag[i].nedge * sizeof(*x->used));
}

static uint32_t parx_even_best(const struct parx_even *x, const struct spdag *g,
			       const uint16_t *used, const uint64_t *load, uint32_t i)
{
	uint32_t best = g->off[i], few = used[best];
	uint64_t least = load[g->chan[best]] + x->cost[g->to[best]];

	for (uint32_t k = best + 1; k < g->off[i + 1]; k++) {
		uint64_t cost = load[g->chan[k]] + x->cost[g->to[k]];
		bool better = (used[k] < few) | ((used[k] == few) & (cost < least));

		best = better ? k : best;
		few = better ? used[k] : few;
		least = better ? cost : least;
	}
	x->cost[i] = least;
	return best;
}

uint64_t parx_even_choose(struct parx_even *x, const struct parx_dags *dags, uint32_t rule,
			  const uint32_t *weight, uint64_t *load, uint8_t *port)
{
	const struct spdag *g = &dags->dag[rule];
	uint16_t *used = x->used + (size_t)rule * x->f->nchan;

	x->cost[0] = 0;
	x->routes[0] = 0;
	for (uint32_t i = 1; i < g->n; i++) {
		uint32_t best = parx_even_best(x, g, used, load, i);

		x->pick[i] = best;
		x->routes[i] = weight[g->sw[i]];
		used[best]++;
		port[g->sw[i]] = x->f->chan_port[g->chan[best]];
	}
	for (uint32_t i = g->n; i-- > 1;) {
		uint32_t k = x->pick[i];

		load[g->chan[k]] += x->routes[i];
		x->routes[g->to[k]] += x->routes[i];
	}
	return g->nedge + 2ull * g->n;
}
