/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/nue/nue_escape.h"

#include "fabric/base/memory/mem.h"

static void nue_escape_grow(struct nue_escape *e, const struct fabric *f)
{
	uint32_t n = 0;

	e->at[n++] = e->root;
	for (uint32_t u = 0; u < f->nsw; u++)
		e->up[u] = FAB_NONE;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t u = e->at[i];

		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
			uint32_t v = f->chan_dst[c];

			if (e->up[v] != FAB_NONE || v == e->root)
				continue;
			e->up[v] = f->chan_rev[c];
			e->at[n++] = v;
		}
	}
}

void nue_escape_init(struct nue_escape *e, const struct fabric *f, uint32_t root, const bool *to)
{
	struct arena *mem = arena_new();

	*e = (struct nue_escape){ .mem = mem, .root = root };
	e->at = arena_alloc(mem, f->nsw, sizeof(*e->at));
	e->up = arena_alloc(mem, f->nsw, sizeof(*e->up));
	e->to = arena_alloc(mem, f->nsw, sizeof(*e->to));
	e->from = arena_alloc(mem, f->nsw, sizeof(*e->from));
	nue_escape_grow(e, f);
	for (uint32_t i = f->nsw; i-- > 0;) {
		uint32_t u = e->at[i];

		e->to[u] += to[u];
		e->from[u] += f->term_off[u] < f->term_off[u + 1];
		if (i) {
			e->to[f->chan_dst[e->up[u]]] += e->to[u];
			e->from[f->chan_dst[e->up[u]]] += e->from[u];
		}
	}
}

void nue_escape_done(struct nue_escape *e)
{
	arena_free(e->mem);
}

/* Does channel d lead down the tree to destinations? */
static bool nue_escape_leads_down(const struct nue_escape *e, const struct fabric *f, uint32_t d)
{
	return e->up[f->chan_dst[d]] == f->chan_rev[d] && e->to[f->chan_dst[d]];
}

void nue_escape_turns(const struct nue_escape *e, const struct fabric *f,
		      void (*add)(void *ctx, uint32_t c, uint32_t d), void *ctx)
{
	for (uint32_t i = 1; i < f->nsw; i++) {
		uint32_t u = e->at[i], c = e->up[u], p = f->chan_dst[c];

		/* from below u on past its parent */
		if (e->from[u] && p != e->root && e->to[e->root] > e->to[p])
			add(ctx, c, e->up[p]);
		for (uint32_t d = f->chan_off[p]; d < f->chan_off[p + 1] && e->from[u]; d++)
			if (f->chan_dst[d] != u && nue_escape_leads_down(e, f, d))
				add(ctx, c, d);
		/* from elsewhere on past u */
		if (e->from[e->root] == e->from[u])
			continue;
		for (uint32_t d = f->chan_off[u]; d < f->chan_off[u + 1]; d++)
			if (nue_escape_leads_down(e, f, d))
				add(ctx, f->chan_rev[c], d);
	}
}

void nue_escape_path(const struct nue_escape *e, const struct fabric *f, uint32_t dst,
		     uint32_t *next)
{
	/* everybody up, but down where dst is below */
	for (uint32_t u = 0; u < f->nsw; u++)
		next[u] = e->up[u];
	for (uint32_t u = dst; u != e->root; u = f->chan_dst[e->up[u]])
		next[f->chan_dst[e->up[u]]] = f->chan_rev[e->up[u]];
	next[dst] = FAB_NONE;
}

void nue_escape_order(uint32_t *order, const struct fabric *f, const uint32_t *at,
		      const uint32_t *place)
{
	uint32_t n = 0;

	for (uint32_t i = f->nsw; i-- > 0;)
		for (uint32_t c = f->chan_off[at[i]]; c < f->chan_off[at[i] + 1]; c++)
			if (place[f->chan_dst[c]] < i)
				order[n++] = c;
	for (uint32_t i = 0; i < f->nsw; i++)
		for (uint32_t c = f->chan_off[at[i]]; c < f->chan_off[at[i] + 1]; c++)
			if (place[f->chan_dst[c]] > i)
				order[n++] = c;
}
