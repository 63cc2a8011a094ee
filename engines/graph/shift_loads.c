/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/shift_loads.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM	  (32u << 20) /* numbers of flows */
#define WALKS	  (4u << 20)  /* pairs of hosts */
#define RAILS_MAX 16	      /* ports of one name; more have that of their adapter's maker */

struct shift_loads {
	const struct fabric *f;
	struct tables *t;
	uint32_t nrank;
	uint32_t *rank;	  /* by terminal: its node's place in the order of names */
	uint32_t *rail;	  /* by terminal */
	uint32_t *rails;  /* by rank */
	uint16_t *load;	  /* by channel * nrank + shift */
	uint32_t *source; /* terminals whose flows are moved */
	uint32_t nsource;
	uint32_t *old, *new; /* channels of a way, FAB_NONE at the end */
};

static void shift_loads_rank(struct shift_loads *x)
{
	const struct fabric *f = x->f;

	for (uint32_t i = 0, n; i < f->nterm; i += n) {
		const char *name = f->term_name[f->term_by_name[i]];

		n = fabric_terms_by_name(f, name, NULL, 0);
		n = n > RAILS_MAX ? 1 : n;
		for (uint32_t k = 0; k < n; k++) {
			x->rank[f->term_by_name[i + k]] = x->nrank;
			x->rail[f->term_by_name[i + k]] = k;
		}
		x->rails[x->nrank++] = n;
	}
}

/* The shift in which one terminal sends to another; 0: none. */
static uint32_t shift_loads_shift(const struct shift_loads *x, uint32_t from, uint32_t to)
{
	uint32_t a = x->rank[from], b = x->rank[to];

	if (x->rail[from] % x->rails[b] != x->rail[to])
		return 0;
	return b >= a ? b - a : b + x->nrank - a;
}

/* Channels from a switch to the base LID of a terminal. */
static void shift_loads_walk(const struct shift_loads *x, uint32_t u, uint32_t term, uint32_t *way)
{
	const struct fabric *f = x->f;
	uint32_t n = 0;

	while (u != f->term_sw[term]) {
		way[n] = fabric_chan(f, u, tables_row(x->t, u)[f->term_lid[term]]);
		u = f->chan_dst[way[n++]];
	}
	way[n] = FAB_NONE;
}

static void shift_loads_add(struct shift_loads *x, const uint32_t *way, uint32_t from, uint32_t to,
			    int one)
{
	uint32_t shift = shift_loads_shift(x, from, to);

	for (; shift && *way != FAB_NONE; way++)
		x->load[(size_t)*way * x->nrank + shift] += (uint16_t)one;
}

static int shift_loads_fill(struct shift_loads *x, struct pace *p)
{
	const struct fabric *f = x->f;

	for (uint32_t to = 0; to < f->nterm; to++) {
		for (uint32_t u = 0; u < f->nsw; u++) {
			if (!f->sw_nterm[u])
				continue;
			shift_loads_walk(x, u, to, x->old);
			for (uint32_t k = f->term_off[u]; k < f->term_off[u + 1]; k++)
				if (f->term_list[k] < f->nterm)
					shift_loads_add(x, x->old, f->term_list[k], to, 1);
		}
		if (pace_work(p, 4ull * (f->nsw + f->nterm)))
			return -ECANCELED;
	}
	return 0;
}

int shift_loads_new(struct shift_loads **out, const struct fabric *f, struct tables *t,
		    struct pace *p)
{
	struct shift_loads *x;

	*out = NULL;
	if ((uint64_t)f->nterm * f->nchan > ROOM || (uint64_t)f->nterm * f->nterm > WALKS)
		return 0;
	*out = x = xcalloc(1, sizeof(*x));
	x->f = f;
	x->t = t;
	x->rank = xcalloc(f->nterm, sizeof(*x->rank));
	x->rail = xcalloc(f->nterm, sizeof(*x->rail));
	x->rails = xcalloc(f->nterm, sizeof(*x->rails));
	x->source = xcalloc(f->nterm, sizeof(*x->source));
	x->old = xcalloc(f->nsw + 1u, sizeof(*x->old));
	x->new = xcalloc(f->nsw + 1u, sizeof(*x->new));
	shift_loads_rank(x);
	x->load = xcalloc((size_t)f->nchan * x->nrank, sizeof(*x->load));
	return shift_loads_fill(x, p);
}

void shift_loads_free(struct shift_loads *x)
{
	if (!x)
		return;
	free(x->rank);
	free(x->rail);
	free(x->rails);
	free(x->source);
	free(x->old);
	free(x->new);
	free(x->load);
	free(x);
}

/* Terminals whose way to another one leads through switch u. */
static void shift_loads_find_sources(struct shift_loads *x, uint32_t u, uint32_t to)
{
	const struct fabric *f = x->f;

	x->nsource = 0;
	for (uint32_t v = 0; v < f->nsw; v++) {
		uint32_t w = v;

		if (!f->sw_nterm[v])
			continue;
		while (w != u && w != f->term_sw[to])
			w = f->chan_dst[fabric_chan(f, w, tables_row(x->t, w)[f->term_lid[to]])];
		for (uint32_t k = f->term_off[v]; w == u && k < f->term_off[v + 1]; k++)
			if (f->term_list[k] < f->nterm)
				x->source[x->nsource++] = f->term_list[k];
	}
}

static void shift_loads_add_all(struct shift_loads *x, const uint32_t *way, uint32_t to, int one)
{
	for (uint32_t i = 0; i < x->nsource; i++)
		shift_loads_add(x, way, x->source[i], to, one);
}

/* What it costs to add the sources to a way: cubes grow faster than their sums, so that a slow flow
 * less is worth several that are not quite as slow. */
static uint64_t shift_loads_cost(const struct shift_loads *x, const uint32_t *way, uint32_t to)
{
	uint64_t cost = 0;

	for (; *way != FAB_NONE; way++)
		for (uint32_t i = 0; i < x->nsource; i++) {
			uint32_t shift = shift_loads_shift(x, x->source[i], to);
			uint64_t n = x->load[(size_t)*way * x->nrank + shift];

			cost += shift ? 3 * n * (n + 1) + 1 : 0;
		}
	return cost;
}

bool shift_loads_move(struct shift_loads *x, const struct spdag *g, uint32_t u, uint32_t term)
{
	const struct fabric *f = x->f;
	uint32_t i = g->pos[u], best, was;
	uint64_t least;

	shift_loads_find_sources(x, u, term);
	if (!x->nsource || g->off[i + 1] - g->off[i] < 2)
		return false;
	shift_loads_walk(x, u, term, x->old);
	shift_loads_add_all(x, x->old, term, -1);
	was = best = x->old[0];
	least = shift_loads_cost(x, x->old, term);
	for (uint32_t e = g->off[i]; e < g->off[i + 1]; e++) {
		uint64_t cost;

		x->new[0] = g->chan[e];
		shift_loads_walk(x, f->chan_dst[g->chan[e]], term, x->new + 1);
		cost = shift_loads_cost(x, x->new, term);
		if (cost >= least)
			continue;
		least = cost;
		best = g->chan[e];
	}
	tables_row(x->t, u)[f->term_lid[term]] = f->chan_port[best];
	shift_loads_walk(x, u, term, x->old);
	shift_loads_add_all(x, x->old, term, 1);
	return best != was;
}
