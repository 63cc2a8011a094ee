/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/nue/nue_net.h"

#include "engines/graph/updown.h"
#include "engines/graph/updown_order.h"
#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

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

/* Aggregation nodes on the spines, or a few cables beside the levels. */
static int nue_net_rank_layers(struct nue_net *net, struct pace *pace)
{
	struct updown ud;
	bool found;
	int rc = updown_order_layered(&ud, &found, net->f, NULL, pace);

	if (found)
		nue_net_take_ranking(net, &ud);
	if (found)
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
