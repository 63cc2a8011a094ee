/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/verify_graph.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE	      UINT32_MAX
#define EDGE_BUDGET   (1ull << 26)
#define EDGES_UNSEEN  (1u << 20) /* between two reports */
#define TELL_VERTICES (1u << 16)

void depgraph_free(struct depgraph *g)
{
	if (!g)
		return;
	free(g->used);
	free(g->off);
	free(g->to);
	free(g);
}

bool depgraph_order(const struct depgraph *g, uint32_t *order, struct progress *progress,
		    bool *cancelled)
{
	uint32_t *indeg = xcalloc(g->n, sizeof(*indeg));
	uint32_t *queue = xcalloc(g->n, sizeof(*queue));
	uint32_t v, head = 0, tail = 0;
	bool stop = false;
	uint64_t e;

	for (e = 0; e < g->off[g->n] && !stop; e++) {
		indeg[g->to[e]]++;
		if (e % EDGES_UNSEEN == 0)
			stop = stop || progress_step(progress, "verify", 1, 1);
	}
	for (v = 0; v < g->n && !stop; v++) {
		order[v] = NONE;
		if (g->used[v] && !indeg[v])
			queue[tail++] = v;
	}
	while (head < tail && !stop) {
		v = queue[head];
		order[v] = head++;
		if (head % TELL_VERTICES == 0)
			stop = stop || progress_step(progress, "verify", 1, 1);
		for (e = g->off[v]; e < g->off[v + 1]; e++) {
			if (!--indeg[g->to[e]])
				queue[tail++] = g->to[e];
		}
	}
	free(indeg);
	free(queue);
	*cancelled = stop;
	return !stop && tail == g->nused;
}

/* Tarjan's strongly connected components, without recursion. */
struct tarjan {
	const struct depgraph *g;
	uint32_t *index; /* 0: not seen; numbers from 1 */
	uint32_t *low;
	uint32_t *comp; /* component of finished vertices */
	uint64_t *next; /* edge to look at next */
	uint32_t *stack, *call;
	uint32_t nstack, ncall, seen, ncomp;
	uint32_t best, best_size; /* smallest component that holds a cycle */
};

static bool verify_graph_has_self_edge(const struct depgraph *g, uint32_t v)
{
	uint64_t e;

	for (e = g->off[v]; e < g->off[v + 1]; e++) {
		if (g->to[e] == v)
			return true;
	}
	return false;
}

static void verify_graph_enter(struct tarjan *s, uint32_t v)
{
	s->index[v] = s->low[v] = ++s->seen;
	s->next[v] = s->g->off[v];
	s->stack[s->nstack++] = v;
	s->call[s->ncall++] = v;
}

static void verify_graph_close_component(struct tarjan *s, uint32_t root)
{
	uint32_t size = 0, v;

	do {
		v = s->stack[--s->nstack];
		s->comp[v] = s->ncomp;
		size++;
	} while (v != root);
	if ((size > 1 || verify_graph_has_self_edge(s->g, root)) && size < s->best_size) {
		s->best = s->ncomp;
		s->best_size = size;
	}
	s->ncomp++;
}

static void verify_graph_explore(struct tarjan *s, uint32_t start)
{
	const struct depgraph *g = s->g;

	verify_graph_enter(s, start);
	while (s->ncall > 0) {
		uint32_t v = s->call[s->ncall - 1], u;

		if (s->next[v] < g->off[v + 1]) {
			u = g->to[s->next[v]++];
			if (!s->index[u])
				verify_graph_enter(s, u);
			else if (s->comp[u] == NONE && s->index[u] < s->low[v])
				s->low[v] = s->index[u];
			continue;
		}
		s->ncall--;
		if (s->low[v] == s->index[v])
			verify_graph_close_component(s, v);
		if (s->ncall > 0 && s->low[v] < s->low[s->call[s->ncall - 1]])
			s->low[s->call[s->ncall - 1]] = s->low[v];
	}
}

/* Breadth first from root inside its component, to less than limit edges; returns the length
 * of the shortest cycle through root, or limit. */
static uint32_t verify_graph_cycle_through(const struct depgraph *g, const uint32_t *comp,
					   uint32_t root, uint32_t limit, uint32_t *from,
					   uint32_t *depth, uint32_t *queue, uint64_t *budget,
					   uint32_t *last)
{
	uint32_t head = 0, tail = 0, len = limit;

	queue[tail++] = root;
	depth[root] = 0;
	while (head < tail && len == limit) {
		uint32_t v = queue[head++];
		uint64_t e;

		if (depth[v] + 1 >= limit)
			break;
		for (e = g->off[v]; e < g->off[v + 1] && len == limit; e++) {
			uint32_t u = g->to[e];

			*budget -= *budget > 0;
			if (u == root) {
				len = depth[v] + 1;
				*last = v;
			} else if (comp[u] == comp[root] && depth[u] == NONE) {
				depth[u] = depth[v] + 1;
				from[u] = v;
				queue[tail++] = u;
			}
		}
	}
	while (tail > 0)
		depth[queue[--tail]] = NONE;
	return len;
}

/* Cancelled: false. */
static bool verify_graph_shortest_cycle(uint32_t **out, uint32_t *best, const struct tarjan *s,
					struct progress *progress)
{
	const struct depgraph *g = s->g;
	uint32_t *from = xcalloc(g->n, sizeof(*from)), *depth = xcalloc(g->n, sizeof(*depth));
	uint32_t *queue = xcalloc(g->n, sizeof(*queue)), *cycle;
	uint32_t root, v, last = 0, len = NONE;
	uint64_t budget = EDGE_BUDGET, reported = EDGE_BUDGET;
	bool stop = false;

	cycle = xcalloc(s->best_size, sizeof(*cycle));
	memset(depth, 0xff, g->n * sizeof(*depth));
	for (root = 0; root < g->n && budget > 0 && !stop; root++) {
		uint32_t l, i;

		if (s->comp[root] != s->best)
			continue;
		if (reported - budget > EDGES_UNSEEN) {
			reported = budget;
			stop = progress_step(progress, "verify", 1, 1);
		}
		l = verify_graph_cycle_through(g, s->comp, root, len, from, depth, queue, &budget,
					       &last);
		if (l == len)
			continue;
		len = l;
		for (i = len, v = last; i > 1; i--, v = from[v])
			cycle[i - 1] = v;
		cycle[0] = root;
	}
	free(from);
	free(depth);
	free(queue);
	*out = cycle;
	*best = len;
	return !stop;
}

int depgraph_cycle(uint32_t **out, uint32_t *len, const struct depgraph *g, const uint32_t *order,
		   struct progress *progress)
{
	struct arena *mem = arena_new();
	struct tarjan s = { .g = g, .best_size = NONE };
	uint32_t v;
	int rc = 0;

	s.index = arena_alloc(mem, g->n, sizeof(*s.index));
	s.low = arena_alloc(mem, g->n, sizeof(*s.low));
	s.comp = arena_alloc(mem, g->n, sizeof(*s.comp));
	s.next = arena_alloc(mem, g->n, sizeof(*s.next));
	s.stack = arena_alloc(mem, g->n, sizeof(*s.stack));
	s.call = arena_alloc(mem, g->n, sizeof(*s.call));
	memset(s.comp, 0xff, g->n * sizeof(*s.comp));
	for (v = 0; v < g->n; v++) {
		if (g->used[v] && order[v] == NONE && !s.index[v])
			verify_graph_explore(&s, v);
	}
	*out = NULL;
	*len = 0;
	if (s.best_size != NONE && !verify_graph_shortest_cycle(out, len, &s, progress))
		rc = -ECANCELED;
	arena_free(mem);
	return rc;
}
