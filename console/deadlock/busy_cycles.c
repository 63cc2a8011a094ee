/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/deadlock/busy_cycles.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/model/tables/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORK	100000000 /* turns looked at for all cycles: a second */
#define VL_BITS 4
#define NO_TURN UINT32_MAX

/* A dependency: from and to are a channel and its VL. */
struct turn {
	uint32_t from, to;
	uint32_t src;  /* a terminal */
	uint16_t dlid; /* to which it sends so */
	uint8_t sl;
};

struct busy_cycles {
	const struct fabric *f;
	VEC(struct turn) turns; /* by from, then to; busy ones, once each */
	uint32_t *first;	/* of each (channel, VL), and one more */
	uint32_t *by;		/* the turn by which a search came there */
	uint32_t *queue;
	bool *used; /* switches */
	uint32_t *order;
	uint32_t at; /* in order */
	uint64_t work;
};

static uint32_t busy_cycles_vertices(const struct busy_cycles *b)
{
	return b->f->nchan << VL_BITS;
}

static int busy_cycles_cmp(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->dlid > y->dlid) - (x->dlid < y->dlid);
}

/* All turns from a terminal's switch, a receiver each. */
static void busy_cycles_add(struct busy_cycles *b, const struct tables *t, uint32_t src)
{
	const struct fabric *f = b->f;
	struct path path;

	for (uint32_t dst = 0; dst < f->nterm; dst++) {
		if (f->term_sw[dst] == f->term_sw[src])
			continue;
		path_walk(&path, f, t, src, f->term_lid[dst]);
		if (path.fate != PATH_ARRIVES || path.links != 2)
			continue;
		vec_push(&b->turns, (struct turn){ path.hop[0].chan << VL_BITS | path.hop[0].vl,
						   path.hop[1].chan << VL_BITS | path.hop[1].vl,
						   src, path.dlid, path.sl });
	}
}

/* Keeps one of those that there are at least two of. */
static void busy_cycles_keep_busy(struct busy_cycles *b)
{
	struct turn *v = b->turns.v;
	size_t n = 0;

	if (b->turns.n)
		qsort(v, b->turns.n, sizeof(*v), busy_cycles_cmp);
	for (size_t i = 0, next; i < b->turns.n; i = next) {
		for (next = i + 1;
		     next < b->turns.n && v[next].from == v[i].from && v[next].to == v[i].to;
		     next++)
			;
		if (next - i > 1)
			v[n++] = v[i];
	}
	b->turns.n = n;
}

static void busy_cycles_index(struct busy_cycles *b)
{
	uint32_t n = busy_cycles_vertices(b), at = 0;

	b->first = xcalloc(n + 1u, sizeof(*b->first));
	for (uint32_t i = 0; i <= n; i++) {
		while (at < b->turns.n && b->turns.v[at].from < i)
			at++;
		b->first[i] = at;
	}
}

static bool busy_cycles_has_host(const struct fabric *f, uint32_t sw)
{
	return f->term_off[sw] < f->term_off[sw + 1] && f->term_list[f->term_off[sw]] < f->nterm;
}

int busy_cycles_new(struct busy_cycles **out, const struct fabric *f, const struct tables *t,
		    struct progress *progress, struct err *err)
{
	struct busy_cycles *b = xcalloc(1, sizeof(*b));

	*out = NULL;
	b->f = f;
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		if (progress_step(progress, "cycles", sw, f->nsw)) {
			busy_cycles_free(b);
			return err_set(err, -ECANCELED, "cancelled");
		}
		if (busy_cycles_has_host(f, sw))
			busy_cycles_add(b, t, f->term_list[f->term_off[sw]]);
	}
	busy_cycles_keep_busy(b);
	busy_cycles_index(b);
	b->by = xcalloc(busy_cycles_vertices(b), sizeof(*b->by));
	b->queue = xcalloc(busy_cycles_vertices(b), sizeof(*b->queue));
	b->used = xcalloc(f->nsw, sizeof(*b->used));
	*out = b;
	return 0;
}

void busy_cycles_free(struct busy_cycles *b)
{
	if (!b)
		return;
	vec_free(&b->turns);
	free(b->first);
	free(b->by);
	free(b->queue);
	free(b->used);
	free(b->order);
	free(b);
}

static uint32_t busy_cycles_tail(const struct busy_cycles *b, uint32_t vertex)
{
	return b->f->chan_src[vertex >> VL_BITS];
}

/* The turn that comes back to where the search began, or NO_TURN; by says the way there. */
static uint32_t busy_cycles_search(struct busy_cycles *b, uint32_t start)
{
	uint32_t n = 1;

	memset(b->by, 0xff, busy_cycles_vertices(b) * sizeof(*b->by));
	b->queue[0] = start;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t from = b->queue[i];

		for (uint32_t k = b->first[from]; k < b->first[from + 1]; k++, b->work++) {
			uint32_t to = b->turns.v[k].to;

			if (to == start)
				return k;
			if (b->by[to] != NO_TURN || b->used[busy_cycles_tail(b, to)])
				continue;
			b->by[to] = k;
			b->queue[n++] = to;
		}
	}
	return NO_TURN;
}

static uint32_t busy_cycles_report(struct busy_cycles *b, struct witness **out, uint32_t start,
				   uint32_t last)
{
	uint32_t n = 1, at;

	for (at = b->turns.v[last].from; at != start; at = b->turns.v[b->by[at]].from)
		n++;
	*out = xcalloc(n, sizeof(**out));
	for (uint32_t i = n, k = last; i--; k = b->by[b->turns.v[k].from]) {
		const struct turn *turn = &b->turns.v[k];

		(*out)[i] = (struct witness){ .chan = turn->from >> VL_BITS,
					      .vl = turn->from & ((1 << VL_BITS) - 1),
					      .src_term = turn->src,
					      .dlid = turn->dlid,
					      .sl = turn->sl };
		b->used[busy_cycles_tail(b, turn->from)] = true;
		if (turn->from == start)
			break;
	}
	return n;
}

static void busy_cycles_shuffle(struct busy_cycles *b, struct rng *r)
{
	if (b->order)
		return;
	b->order = xcalloc(busy_cycles_vertices(b), sizeof(*b->order));
	for (uint32_t i = 0; i < busy_cycles_vertices(b); i++)
		b->order[i] = i;
	rng_shuffle_u32(r, b->order, busy_cycles_vertices(b));
}

uint32_t busy_cycles_next(struct busy_cycles *b, struct witness **out, struct rng *r)
{
	*out = NULL;
	busy_cycles_shuffle(b, r);
	while (b->at < busy_cycles_vertices(b) && b->work < WORK) {
		uint32_t start = b->order[b->at++], last;

		if (b->used[busy_cycles_tail(b, start)] || b->first[start] == b->first[start + 1])
			continue;
		b->work += b->f->nchan;
		last = busy_cycles_search(b, start);
		if (last != NO_TURN)
			return busy_cycles_report(b, out, start, last);
	}
	return 0;
}
