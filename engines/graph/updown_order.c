/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/updown_order.h"

#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BESIDE_SHARE 20		/* one cable in so many may join switches of one level */
#define LAYERED_WORK (1u << 29) /* switches times channels */

/* Switches that wait for their place, by level; they leave a level in the order in which they
 * came. */
struct waiting {
	uint32_t *head, *tail; /* by level; FAB_NONE: none */
	uint32_t *next;	       /* by switch */
	bool *seen;
	uint32_t top; /* none waits above it */
};

static void updown_order_wait(struct waiting *w, const uint32_t *level, uint32_t u)
{
	uint32_t l = level[u];

	w->seen[u] = true;
	w->next[u] = FAB_NONE;
	if (w->head[l] == FAB_NONE)
		w->head[l] = u;
	else
		w->next[w->tail[l]] = u;
	w->tail[l] = u;
	w->top = l > w->top ? l : w->top;
}

static uint32_t updown_order_take(struct waiting *w)
{
	uint32_t u;

	while (w->top && w->head[w->top] == FAB_NONE)
		w->top--;
	u = w->head[w->top];
	w->head[w->top] = w->next[u];
	return u;
}

void updown_order_from(uint32_t *out, const struct fabric *f, uint32_t first)
{
	uint32_t *level = xcalloc(f->nsw, sizeof(*level));
	struct waiting w = { .head = xcalloc(f->nsw, sizeof(*w.head)),
			     .tail = xcalloc(f->nsw, sizeof(*w.tail)),
			     .next = xcalloc(f->nsw, sizeof(*w.next)),
			     .seen = xcalloc(f->nsw, sizeof(*w.seen)) };

	updown_leaf_hops(level, f);
	memset(w.head, 0xff, f->nsw * sizeof(*w.head));
	updown_order_wait(&w, level, first);
	for (uint32_t n = 0; n < f->nsw; n++) {
		uint32_t u = out[n] = updown_order_take(&w);

		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
			if (!w.seen[f->chan_dst[c]])
				updown_order_wait(&w, level, f->chan_dst[c]);
	}
	free(level);
	free(w.head);
	free(w.tail);
	free(w.next);
	free(w.seen);
}

static bool updown_order_better(const struct updown_score *a, const struct updown_score *b)
{
	return a->hops < b->hops || (a->hops == b->hops && a->choices > b->choices);
}

/* Keeps the better of *best and the order from that switch. */
static int updown_order_try(struct updown *best, struct updown_score *score, const struct fabric *f,
			    uint32_t first, struct pool *pool, struct pace *p)
{
	uint32_t *order = xcalloc(f->nsw, sizeof(*order));
	struct updown_score other;
	struct updown ud;
	int rc;

	updown_order_from(order, f, first);
	updown_init_order(&ud, f, order);
	free(order);
	rc = updown_score(&other, &ud, f, pool, p);
	if (!rc && updown_order_better(&other, score)) {
		struct updown worse = *best;

		*best = ud;
		*score = other;
		ud = worse;
	}
	updown_done(&ud);
	return rc;
}

/* The leaf with the most cables. */
static uint32_t updown_order_leaf(const struct fabric *f)
{
	uint32_t *level = xcalloc(f->nsw, sizeof(*level)), best = FAB_NONE;

	updown_leaf_hops(level, f);
	for (uint32_t u = 0; u < f->nsw; u++)
		if (!level[u] &&
		    (best == FAB_NONE || f->chan_off[u + 1] - f->chan_off[u] >
						 f->chan_off[best + 1] - f->chan_off[best]))
			best = u;
	free(level);
	return best;
}

static bool updown_order_has_levels(const struct fabric *f)
{
	uint32_t *level = xcalloc(f->nsw, sizeof(*level)), above = 0;

	updown_leaf_hops(level, f);
	for (uint32_t u = 0; u < f->nsw; u++)
		above += level[u] > 0;
	free(level);
	return above > 0;
}

int updown_order_best(struct updown *ud, const struct fabric *f, struct pool *pool, struct pace *p)
{
	struct updown_score score;
	uint32_t root;
	int rc = updown_single_root(&root, f, pool, p);

	if (rc)
		return rc;
	updown_init(ud, f, &root, 1);
	if (!updown_order_has_levels(f))
		return 0;
	rc = updown_score(&score, ud, f, pool, p);
	if (!rc)
		rc = updown_order_try(ud, &score, f, root, pool, p);
	if (!rc)
		rc = updown_order_try(ud, &score, f, updown_order_leaf(f), pool, p);
	if (rc)
		updown_done(ud);
	return rc;
}

static bool updown_order_is_layered(const struct fabric *f)
{
	uint32_t *level = xcalloc(f->nsw, sizeof(*level)), above = 0, beside = 0;

	updown_leaf_hops(level, f);
	for (uint32_t u = 0; u < f->nsw; u++)
		above += level[u] > 0;
	for (uint32_t c = 0; c < f->nchan; c++)
		beside += level[f->chan_src[c]] == level[f->chan_dst[c]];
	free(level);
	return above && (uint64_t)beside * BESIDE_SHARE <= f->nchan;
}

/* Hops over all ordered pairs of switches with terminals. */
static uint64_t updown_order_least_hops(const struct fabric *f)
{
	uint32_t *hops = xcalloc(f->nsw, sizeof(*hops)), *queue = xcalloc(f->nsw, sizeof(*queue));
	uint64_t sum = 0;

	for (uint32_t t = 0; t < f->nsw; t++) {
		if (!f->sw_nterm[t])
			continue;
		queue[0] = t;
		fabric_hops(hops, queue, f, 1);
		for (uint32_t u = 0; u < f->nsw; u++)
			sum += f->sw_nterm[u] ? hops[u] : 0;
	}
	free(hops);
	free(queue);
	return sum;
}

int updown_order_layered(struct updown *ud, bool *found, const struct fabric *f, struct pool *pool,
			 struct pace *p)
{
	struct updown_score score;
	int rc;

	*found = false;
	if ((uint64_t)f->nsw * f->nchan > LAYERED_WORK || !updown_order_is_layered(f))
		return 0;
	rc = updown_order_best(ud, f, pool, p);
	if (rc)
		return rc;
	rc = updown_score(&score, ud, f, pool, p);
	*found = !rc && score.hops - updown_order_least_hops(f) <= score.hops / 100;
	if (!*found)
		updown_done(ud);
	return rc;
}
