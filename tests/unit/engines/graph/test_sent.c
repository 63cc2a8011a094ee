/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/graph/sent.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "tests/unit/kit/small_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NSW  150 /* some blocks, the last one not full */
#define LIDS 3

struct net {
	struct fabric *f;
	struct sent sent[LIDS];
	uint64_t *want; /* by channel */
};

/* A LID that ends at root: channels at random, and some switches that pass routes on. */
static void draw_lid(struct net *n, uint32_t k, uint32_t root, struct rng *r)
{
	const struct fabric *f = n->f;
	struct sent_more *more = xcalloc(f->nsw, sizeof(*more));
	uint8_t *place = xcalloc(f->nsw, 1);
	uint32_t nmore = 0;

	for (uint32_t u = 0; u < f->nsw; u++) {
		uint32_t routes = rng_below(r, 4) ? 0 : 1 + rng_below(r, 1000);

		place[u] = (uint8_t)rng_below(r, f->chan_off[u + 1] - f->chan_off[u]);
		if (u == root)
			continue;
		if (routes)
			more[nmore++] = (struct sent_more){ u, routes };
		n->want[f->chan_off[u] + place[u]] += f->sw_nterm[u] + routes;
	}
	n->sent[k].place = xcalloc(f->nsw, 1);
	sent_set(&n->sent[k], f, root, place, more, nmore);
	free(more);
	free(place);
}

static struct net *draw_net(void)
{
	struct net *n = xcalloc(1, sizeof(*n));
	struct rng r;

	rng_seed(&r, 3);
	n->f = net_ring(NSW, 2, NULL);
	n->want = xcalloc(n->f->nchan, sizeof(*n->want));
	for (uint32_t k = 0; k < LIDS; k++) {
		sent_init(&n->sent[k], n->f);
		draw_lid(n, k, k * (NSW - 1) / (LIDS - 1), &r);
	}
	return n;
}

static void free_net(struct net *n)
{
	for (uint32_t k = 0; k < LIDS; k++) {
		free(n->sent[k].place);
		sent_done(&n->sent[k]);
	}
	free(n->want);
	fabric_put(n->f);
	free(n);
}

static void every_switch_but_the_root_sends_its_own_routes_and_those_it_passes_on(void **state)
{
	struct net *n = draw_net();
	uint64_t *load = xcalloc(n->f->nchan, sizeof(*load));

	(void)state;
	sent_add(n->sent, LIDS, n->f, n->f->sw_nterm, load, 1, 0, sent_blocks(n->f));
	assert_memory_equal(load, n->want, n->f->nchan * sizeof(*load));
	free(load);
	free_net(n);
}

static void blocks_add_up_in_any_order(void **state)
{
	struct net *n = draw_net();
	uint64_t *load = xcalloc(n->f->nchan, sizeof(*load));
	uint32_t blocks = sent_blocks(n->f);

	(void)state;
	assert_true(blocks > 1);
	for (uint32_t b = blocks; b-- > 0;)
		sent_add(n->sent, LIDS, n->f, n->f->sw_nterm, load, 1, b, b + 1);
	assert_memory_equal(load, n->want, n->f->nchan * sizeof(*load));
	free(load);
	free_net(n);
}

static void what_is_taken_away_leaves_the_loads_as_they_were(void **state)
{
	struct net *n = draw_net();
	size_t size = n->f->nchan * sizeof(uint64_t);
	uint64_t *load = xcalloc(1, size), *before = xcalloc(1, size);

	(void)state;
	for (uint32_t c = 0; c < n->f->nchan; c++)
		load[c] = before[c] = 7 * c;
	for (int sign = 1; sign >= -1; sign -= 2)
		sent_add(n->sent, LIDS, n->f, n->f->sw_nterm, load, sign, 0, sent_blocks(n->f));
	assert_memory_equal(load, before, size);
	free(load);
	free(before);
	free_net(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			every_switch_but_the_root_sends_its_own_routes_and_those_it_passes_on),
		cmocka_unit_test(blocks_add_up_in_any_order),
		cmocka_unit_test(what_is_taken_away_leaves_the_loads_as_they_were),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
