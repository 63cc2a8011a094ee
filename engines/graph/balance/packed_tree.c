/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/balance/packed_tree.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

struct packed_tree {
	const struct fabric *f;
	uint64_t *load;	  /* by channel; the caller's */
	uint64_t *cost;	  /* by position; NULL: nobody asks */
	uint64_t *routes; /* by position: what comes through */
	uint32_t *pick;	  /* by position: the edge */
};

/* What is done with the entries of a LID. */
struct doing {
	struct packed_tree *t;
	const struct packed_dag *g;
	const uint32_t *weight;
	uint8_t *port;	    /* gets the ports, which are chosen, and loads change; or NULL */
	const uint8_t *was; /* the ports as they are; NULL: they are chosen */
	const struct chan_weights *weights; /* with sign: loads change; NULL: they do not */
	int64_t sign;
};

struct packed_tree *packed_tree_new(const struct fabric *f, uint64_t *load, bool by_ports)
{
	struct packed_tree *t = xcalloc(1, sizeof(*t));

	t->f = f;
	t->load = load;
	t->cost = by_ports ? NULL : xcalloc(f->nsw, sizeof(*t->cost));
	t->routes = xcalloc(f->nsw, sizeof(*t->routes));
	t->pick = xcalloc(f->nsw, sizeof(*t->pick));
	return t;
}

void packed_tree_free(struct packed_tree *t)
{
	if (!t)
		return;
	free(t->cost);
	free(t->routes);
	free(t->pick);
	free(t);
}

/* The cheapest of the edges from k on of a position whose channels begin at first. */
static inline uint32_t packed_tree_cheapest(const struct packed_tree *t, const struct packed_dag *g,
					    uint32_t first, uint32_t k, uint32_t end,
					    uint64_t *cost)
{
	uint32_t best = k;
	uint64_t least = t->load[first + g->place[k]] + t->cost[g->to[k]];

	for (k++; k < end; k++) {
		uint64_t v = t->load[first + g->place[k]] + t->cost[g->to[k]];

		best = v < least ? k : best;
		least = v < least ? v : least;
	}
	*cost = least;
	return best;
}

/* The first of the least loaded ones. */
static inline uint32_t packed_tree_least_loaded(const struct packed_tree *t,
						const struct packed_dag *g, uint32_t first,
						uint32_t k, uint32_t end)
{
	const uint64_t *load = t->load + first;
	uint32_t best = k;
	uint64_t least = load[g->place[k]];

	for (k++; k < end; k++) {
		uint64_t v = load[g->place[k]];

		best = v < least ? k : best;
		least = v < least ? v : least;
	}
	return best;
}

/* The edge of a position, from k on, that a port belongs to. */
static inline uint32_t packed_tree_edge_of(const struct packed_tree *t, const struct packed_dag *g,
					   uint32_t first, uint32_t k, uint32_t end, uint8_t port)
{
	const uint8_t *ports = t->f->chan_port + first;

	while (k + 1 < end && ports[g->place[k]] != port)
		k++;
	return k;
}

/* What a switch does with edge k and the routes that it has. */
static inline __attribute__((always_inline)) void
packed_tree_send(const struct doing *d, uint32_t u, uint32_t k, uint64_t routes)
{
	const struct packed_tree *t = d->t;
	uint32_t place = d->g->place[k], c = t->f->chan_off[u] + place;

	if (d->weights) {
		t->load[c] += (uint64_t)d->sign * routes * chan_weight(d->weights, c);
	} else {
		t->load[c] += routes;
		d->port[u] = t->f->chan_port[c];
	}
}

/* Where edges arrive, the root first: what paths from there cost. */
static inline void packed_tree_pick_inner(const struct doing *d)
{
	struct packed_tree *t = d->t;
	const struct packed_dag *g = d->g;
	uint32_t k = g->degree[0];

	t->cost[0] = 0;
	for (uint32_t i = 1; i < g->ninner; i++) {
		uint32_t end = k + g->degree[i];

		t->pick[i] =
			packed_tree_cheapest(t, g, t->f->chan_off[g->sw[i]], k, end, &t->cost[i]);
		k = end;
	}
}

/* The edge from k on of a switch whose choice nobody waits for. */
static inline __attribute__((always_inline)) uint32_t
packed_tree_best(const struct doing *d, uint32_t u, uint32_t k, uint32_t end)
{
	const struct packed_tree *t = d->t;
	uint32_t first = t->f->chan_off[u];
	uint64_t cost;

	if (d->was)
		return packed_tree_edge_of(t, d->g, first, k, end, d->was[u]);
	if (t->cost)
		return packed_tree_cheapest(t, d->g, first, k, end, &cost);
	return packed_tree_least_loaded(t, d->g, first, k, end);
}

/* Switches at which no edge arrives, but for those without a choice; returns the edge behind. */
static inline __attribute__((always_inline)) uint32_t packed_tree_send_outer(const struct doing *d,
									     uint32_t k)
{
	const struct packed_dag *g = d->g;
	uint32_t end = g->n - g->nsingle;

	for (uint32_t i = g->ninner; i < end; i++) {
		uint32_t next = k + g->degree[i], u = g->sw[i], e = packed_tree_best(d, u, k, next);

		d->t->routes[g->to[e]] += d->weight[u];
		packed_tree_send(d, u, e, d->weight[u]);
		k = next;
	}
	return k;
}

/* Those, the last ones.  Those that send to the same switch follow each other mostly, so its sum
 * stays in a register. */
static inline __attribute__((always_inline)) void packed_tree_send_singles(const struct doing *d,
									   uint32_t k)
{
	const struct packed_dag *g = d->g;
	uint64_t *routes = d->t->routes, sum = 0;
	const uint16_t *sw = g->sw + (g->n - g->nsingle);
	uint32_t n = g->nsingle, at = n ? g->to[k] : 0;

	for (uint32_t i = 0; i < n; i++, k++) {
		uint32_t own = d->weight[sw[i]];

		if (g->to[k] != at) {
			routes[at] += sum;
			sum = 0;
			at = g->to[k];
		}
		sum += own;
		packed_tree_send(d, sw[i], k, own);
	}
	routes[at] += sum;
}

static inline __attribute__((always_inline)) void packed_tree_send_inner(const struct doing *d,
									 uint32_t end)
{
	struct packed_tree *t = d->t;
	const struct packed_dag *g = d->g;

	for (uint32_t i = g->ninner; i-- > 1;) {
		uint32_t u = g->sw[i], k = end - g->degree[i];
		bool known = t->cost && !d->was;
		uint32_t e = known ? t->pick[i] : packed_tree_best(d, u, k, end);

		t->routes[g->to[e]] += t->routes[i];
		packed_tree_send(d, u, e, t->routes[i]);
		end = k;
	}
}

static inline __attribute__((always_inline)) void packed_tree_do(const struct doing *d)
{
	struct packed_tree *t = d->t;
	const struct packed_dag *g = d->g;
	uint32_t end = 0;

	for (uint32_t i = 0; i < g->ninner; i++) {
		t->routes[i] = d->weight[g->sw[i]];
		end += g->degree[i];
	}
	if (t->cost && !d->was)
		packed_tree_pick_inner(d);
	packed_tree_send_singles(d, packed_tree_send_outer(d, end));
	packed_tree_send_inner(d, end);
}

uint64_t packed_tree_route(struct packed_tree *t, const struct packed_dag *g,
			   const uint32_t *weight, uint8_t *port)
{
	packed_tree_do(&(struct doing){ .t = t, .g = g, .weight = weight, .port = port });
	return 2ull * g->nedge + g->n;
}

uint64_t packed_tree_count(struct packed_tree *t, const struct packed_dag *g,
			   const uint32_t *weight, const uint8_t *port,
			   const struct chan_weights *weights, int64_t sign)
{
	packed_tree_do(&(struct doing){
		.t = t, .g = g, .weight = weight, .was = port, .weights = weights, .sign = sign });
	return 2ull * g->n + g->nedge;
}
