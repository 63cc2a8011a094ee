/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/nue/nue_net.h"

#include "engines/graph/updown.h"
#include "engines/graph/updown_order.h"
#include "fabric/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define BESIDE_SHARE 20		/* one cable in so many may join switches of one level */
#define RANK_WORK    (1u << 29) /* switches times channels */

static bool nue_net_has_parallel(const struct fabric *f)
{
	uint32_t *seen = xcalloc(f->nsw, sizeof(*seen)); /* last source switch, plus 1 */
	bool found = false;

	for (uint32_t c = 0; c < f->nchan && !found; c++) {
		found = seen[f->chan_dst[c]] == f->chan_src[c] + 1;
		seen[f->chan_dst[c]] = f->chan_src[c] + 1;
	}
	free(seen);
	return found;
}

/* One host or none on every cable up, or as many on each, on most switches. */
static bool nue_net_is_even(const struct nue_net *net)
{
	const struct fabric *f = net->f;
	uint32_t odd = 0, all = 0;

	for (uint32_t u = 0; u < f->nsw; u++) {
		uint32_t up = 0, n = f->sw_nterm[u];

		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
			up += net->place[f->chan_dst[c]] < net->place[u];
		odd += n > up && up && n % up;
		all += n > 0;
	}
	return 2 * odd < all;
}

static void nue_net_take_ranking(struct nue_net *net, const struct updown *ud)
{
	uint32_t nsw = net->f->nsw;

	net->tree = true;
	net->at = arena_alloc(net->mem, nsw, sizeof(*net->at));
	net->place = arena_alloc(net->mem, nsw, sizeof(*net->place));
	memcpy(net->at, ud->order, nsw * sizeof(*net->at));
	memcpy(net->place, ud->place, nsw * sizeof(*net->place));
	net->even = nue_net_is_even(net);
}

/* Levels, and few cables between switches of one. */
static bool nue_net_is_layered(const struct fabric *f)
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
static uint64_t nue_net_least_hops(const struct fabric *f)
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

/* Aggregation nodes on the spines, or a few cables beside the levels: a ranking from which all is
 * legal, if that makes hardly a path longer. */
static int nue_net_rank_layers(struct nue_net *net, struct pace *pace)
{
	const struct fabric *f = net->f;
	struct updown_score score;
	struct updown ud;
	int rc;

	if ((uint64_t)f->nsw * f->nchan > RANK_WORK || !nue_net_is_layered(f))
		return 0;
	rc = updown_order_best(&ud, f, pace);
	if (rc)
		return rc;
	rc = updown_score(&score, &ud, f, pace);
	if (!rc && score.hops - nue_net_least_hops(f) <= score.hops / 100)
		nue_net_take_ranking(net, &ud);
	updown_done(&ud);
	return rc;
}

static int nue_net_rank(struct nue_net *net, struct pace *pace)
{
	uint32_t *roots = xcalloc(net->f->nsw, sizeof(*roots));
	uint32_t n = updown_tree_roots(roots, net->f);
	bool bare = n > 0;
	struct updown ud;
	int rc = 0;

	for (uint32_t i = 0; i < n; i++)
		bare &= net->bare[roots[i]];
	if (!bare)
		rc = nue_net_rank_layers(net, pace);
	if (!rc && n && !net->tree) {
		updown_init(&ud, net->f, roots, n);
		nue_net_take_ranking(net, &ud);
		updown_done(&ud);
	}
	free(roots);
	return rc;
}

int nue_net_init(struct nue_net *net, const struct fabric *f, bool ignore_rates, struct pace *pace)
{
	int rc;

	*net = (struct nue_net){ .mem = arena_new(), .f = f };
	chan_weights_init(&net->weights, f, ignore_rates);
	net->bare = arena_alloc(net->mem, f->nsw, sizeof(*net->bare));
	net->idle = arena_alloc(net->mem, f->nsw, sizeof(*net->idle));
	for (uint32_t u = 0; u < f->nsw; u++) {
		net->bare[u] = f->term_off[u] == f->term_off[u + 1];
		net->idle[u] = !f->sw_nterm[u];
	}
	rc = nue_net_rank(net, pace);
	net->parallel = !net->tree && nue_net_has_parallel(f);
	return rc;
}

void nue_net_done(struct nue_net *net)
{
	chan_weights_done(&net->weights);
	arena_free(net->mem);
}

/* One hop farther: whom it finds first now.  True when that is anybody. */
static bool nue_net_find_next(const struct fabric *f, const uint64_t *seen, const uint64_t *at,
			      uint64_t *next)
{
	uint64_t any = 0;

	for (uint32_t u = 0; u < f->nsw; u++) {
		uint64_t met = 0;

		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
			met |= at[f->chan_dst[c]];
		any |= next[u] = met & ~seen[u];
	}
	return any;
}

void nue_net_hops(const struct nue_net *net, const uint32_t *dst, uint32_t n, uint16_t *hops)
{
	uint32_t nsw = net->f->nsw;
	uint64_t *seen = xcalloc(3 * (size_t)nsw, sizeof(*seen)), *at = seen + nsw,
		 *next = at + nsw;
	bool more = true;

	memset(hops, 0xff, (size_t)n * nsw * sizeof(*hops));
	for (uint32_t i = 0; i < n; i++)
		next[dst[i]] |= 1ull << i;
	for (uint16_t h = 0; more; h++) {
		uint64_t *last = at;

		for (uint32_t u = 0; u < nsw; u++) {
			seen[u] |= next[u];
			for (uint64_t m = next[u]; m; m &= m - 1)
				hops[(size_t)__builtin_ctzll(m) * nsw + u] = h;
		}
		at = next;
		next = last;
		more = nue_net_find_next(net->f, seen, at, next);
	}
	free(seen);
}
