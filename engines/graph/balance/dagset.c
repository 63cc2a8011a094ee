/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/balance/dagset.h"

#include "fabric/base/memory/mem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* sw and to (n + nedge of 16 bits), then degrees and places (n + nedge of 8 bits) */
struct packed {
	uint32_t n, nedge;
	uint32_t ninner, nsingle; /* as in struct packed_dag */
	uint16_t *data;
};

/* Where one worker's DAGs are.  In large blocks: so many small pages take longer to get and to give
 * back. */
struct room {
	struct arena *mem;
	uint8_t *at;
	size_t left, taken;
};

#define BLOCK_MOST ((6u << 20) - 4096) /* and what the arena needs: three large pages */

struct dagset {
	const struct fabric *f;
	struct packed *dag; /* by switch; data NULL: none */
	struct room *room;
	unsigned nroom;
};

/* Positions as they are kept, of one worker. */
struct order {
	uint32_t *at; /* as the DAG has them */
	uint16_t *to; /* where each has gone */
	bool *inner;
};

struct making {
	struct dagset *set;
	struct spdag *dag; /* by worker */
	struct order *order;
	dagset_build_fn build;
	bool (*stop)(void *ctx);
	void *ctx;
	size_t max;
	atomic_size_t bytes;
};

static void dagset_order_init(struct order *o, uint32_t nsw)
{
	o->at = xcalloc(nsw, sizeof(*o->at));
	o->to = xcalloc(nsw, sizeof(*o->to));
	o->inner = xcalloc(nsw, sizeof(*o->inner));
}

static void dagset_order_done(struct order *o)
{
	free(o->at);
	free(o->to);
	free(o->inner);
}

static uint32_t dagset_degree_of(const struct spdag *g, uint32_t i)
{
	return g->off[i + 1] - g->off[i];
}

/* Where the positions of one class go, from m on; returns where the next class begins. */
static uint32_t dagset_place_class(struct order *o, const struct spdag *g, bool inner, bool single,
				   uint32_t m)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (o->inner[i] != inner || (!inner && (dagset_degree_of(g, i) == 1) != single))
			continue;
		o->to[i] = (uint16_t)m;
		o->at[m++] = i;
	}
	return m;
}

static void dagset_find_order(struct packed *p, struct order *o, const struct spdag *g)
{
	memset(o->inner, 0, g->n * sizeof(*o->inner));
	o->inner[0] = true;
	for (uint32_t k = 0; k < g->nedge; k++)
		o->inner[g->to[k]] = true;
	p->ninner = dagset_place_class(o, g, true, false, 0);
	p->nsingle = g->n - dagset_place_class(o, g, false, false, p->ninner);
	dagset_place_class(o, g, false, true, g->n - p->nsingle);
}

/* Each block is as large as all before. */
static void *dagset_take(struct room *r, size_t size)
{
	size_t block = r->taken < BLOCK_MOST ? r->taken : BLOCK_MOST;
	void *p;

	size = (size + 63) / 64 * 64;
	if (size > r->left) {
		r->left = block > size ? block : size;
		r->at = arena_alloc(r->mem, r->left, 1);
		r->taken += r->left;
	}
	p = r->at;
	r->at += size;
	r->left -= size;
	return p;
}

static void dagset_pack(struct packed *p, struct room *r, const struct spdag *g, struct order *o,
			const struct fabric *f)
{
	uint16_t *sw = dagset_take(r, 3 * ((size_t)g->n + g->nedge)), *to = sw + g->n;
	uint8_t *degree = (uint8_t *)(to + g->nedge), *place = degree + g->n;

	*p = (struct packed){ .n = g->n, .nedge = g->nedge, .data = sw };
	dagset_find_order(p, o, g);
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t was = o->at[i], u = g->sw[was];

		sw[i] = (uint16_t)u;
		degree[i] = (uint8_t)dagset_degree_of(g, was);
		for (uint32_t k = g->off[was]; k < g->off[was + 1]; k++) {
			*to++ = o->to[g->to[k]];
			*place++ = (uint8_t)(g->chan[k] - f->chan_off[u]);
		}
	}
}

static bool dagset_make_one(void *ctx, unsigned worker, uint32_t root)
{
	struct making *m = ctx;
	const struct fabric *f = m->set->f;
	struct spdag *g = &m->dag[worker];
	size_t size;

	if (!f->sw_nterm[root])
		return false;
	if (!worker && m->stop && m->stop(m->ctx))
		return true;
	m->build(m->ctx, worker, g, f, root);
	size = 3 * ((size_t)g->n + g->nedge);
	if (atomic_fetch_add(&m->bytes, size) + size > m->max)
		return true;
	dagset_pack(&m->set->dag[root], &m->set->room[worker], g, &m->order[worker], f);
	return false;
}

struct dagset *dagset_new(const struct fabric *f, struct pool *pool, size_t max,
			  dagset_build_fn build, bool (*stop)(void *ctx), void *ctx)
{
	unsigned workers = pool_threads(pool);
	struct dagset *s;
	struct making m = { .build = build, .stop = stop, .ctx = ctx, .max = max };

	if (f->nsw > UINT16_MAX)
		return NULL;
	s = xcalloc(1, sizeof(*s));
	s->f = f;
	s->dag = xcalloc(f->nsw, sizeof(*s->dag));
	s->room = xcalloc(workers, sizeof(*s->room));
	s->nroom = workers;
	m.set = s;
	m.dag = xcalloc(workers, sizeof(*m.dag));
	m.order = xcalloc(workers, sizeof(*m.order));
	for (unsigned i = 0; i < workers; i++) {
		spdag_init(&m.dag[i], f);
		dagset_order_init(&m.order[i], f->nsw);
		s->room[i].mem = arena_new();
	}
	if (pool_for(pool, f->nsw, dagset_make_one, &m)) {
		dagset_free(s);
		s = NULL;
	}
	for (unsigned i = 0; i < workers; i++) {
		spdag_done(&m.dag[i]);
		dagset_order_done(&m.order[i]);
	}
	free(m.dag);
	free(m.order);
	return s;
}

void dagset_free(struct dagset *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->nroom; i++)
		arena_free(s->room[i].mem);
	free(s->room);
	free(s->dag);
	free(s);
}

bool dagset_find(const struct dagset *s, struct packed_dag *out, uint32_t root)
{
	const struct packed *p = &s->dag[root];

	if (!p->data)
		return false;
	*out = (struct packed_dag){ .n = p->n,
				    .nedge = p->nedge,
				    .ninner = p->ninner,
				    .nsingle = p->nsingle,
				    .sw = p->data };
	out->to = out->sw + p->n;
	out->degree = (const uint8_t *)(out->to + p->nedge);
	out->place = out->degree + p->n;
	return true;
}

bool dagset_load(const struct dagset *s, struct spdag *g, uint32_t root)
{
	struct packed_dag p;
	uint32_t k = 0;

	if (!dagset_find(s, &p, root))
		return false;
	g->root = root;
	g->n = p.n;
	g->nedge = p.nedge;
	for (uint32_t i = 0; i < p.n; i++) {
		uint32_t first = s->f->chan_off[p.sw[i]], end = k + p.degree[i];

		g->sw[i] = p.sw[i];
		g->pos[p.sw[i]] = i;
		for (g->off[i] = k; k < end; k++) {
			g->chan[k] = first + p.place[k];
			g->to[k] = p.to[k];
		}
	}
	g->off[p.n] = k;
	return true;
}
