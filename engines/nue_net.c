/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/nue_net.h"

#include "engines/updown.h"
#include "fabric/base/mem.h"

#include <stdlib.h>
#include <string.h>

static bool has_parallel(const struct fabric *f)
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
static bool is_even(const struct nue_net *net)
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

void nue_net_init(struct nue_net *net, const struct fabric *f)
{
	uint32_t *roots = xcalloc(f->nsw, sizeof(*roots)), n;
	struct updown ud;

	*net = (struct nue_net){ .f = f };
	turns_init(&net->turns, f);
	net->bare = xcalloc(f->nsw, sizeof(*net->bare));
	for (uint32_t u = 0; u < f->nsw; u++)
		net->bare[u] = f->term_off[u] == f->term_off[u + 1];
	n = updown_tree_roots(roots, f);
	if (n) {
		net->tree = true;
		net->at = xcalloc(f->nsw, sizeof(*net->at));
		net->place = xcalloc(f->nsw, sizeof(*net->place));
		updown_init(&ud, f, roots, n);
		memcpy(net->at, ud.order, f->nsw * sizeof(*net->at));
		memcpy(net->place, ud.place, f->nsw * sizeof(*net->place));
		updown_done(&ud);
		net->even = is_even(net);
	}
	net->parallel = !net->tree && has_parallel(f);
	free(roots);
}

void nue_net_done(struct nue_net *net)
{
	turns_done(&net->turns);
	free(net->bare);
	free(net->at);
	free(net->place);
}

void nue_net_hops(const struct nue_net *net, uint32_t dst, uint16_t *hops, uint32_t *queue)
{
	const struct fabric *f = net->f;
	uint32_t n = 0;

	memset(hops, 0xff, f->nsw * sizeof(*hops));
	hops[dst] = 0;
	queue[n++] = dst;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t u = queue[i];

		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
			uint32_t v = f->chan_dst[c];

			if (hops[v] != UINT16_MAX)
				continue;
			hops[v] = (uint16_t)(hops[u] + 1);
			queue[n++] = v;
		}
	}
}
