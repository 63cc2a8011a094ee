/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/small_net.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/message/err.h"
#include "fabric/model/topology/builder.h"
#include "fabric/sim/topology/topo.h"

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct net {
	struct builder *b;
	uint32_t nsw, nhost;
	uint32_t *sw, *port; /* builder id and next free port by switch */
	const struct net_opts *opts;
	struct err err;
};

static const struct net_opts plain;

static void must(struct net *n, int rc)
{
	if (!rc)
		return;
	fprintf(stderr, "small_net: %s\n", n->err.text);
	abort();
}

static void begin(struct net *n, uint32_t switches, const struct net_opts *o)
{
	*n = (struct net){ .b = builder_new(), .nsw = switches, .opts = o ? o : &plain };
	n->sw = xcalloc(switches, sizeof(uint32_t));
	n->port = xcalloc(switches, sizeof(uint32_t));
	for (uint32_t i = 0; i < switches; i++) {
		char desc[16];

		snprintf(desc, sizeof(desc), "S%u", i);
		must(n, builder_node(&n->sw[i], n->b, NODE_SWITCH, 0x2000 + 16 * i, 128, desc,
				     &n->err));
		n->port[i] = 1;
	}
}

static void hang(struct net *n, uint32_t sw, const char *desc, enum term_kind kind)
{
	uint32_t id, guid = 0x100000 + 16 * n->nhost++;

	must(n, builder_node(&id, n->b, NODE_CA, guid, 1, desc, &n->err));
	must(n, builder_port_guid(n->b, id, 1, guid + 1, &n->err));
	builder_set_kind(n->b, id, kind);
	must(n, builder_link(n->b, id, 1, n->sw[sw], n->port[sw]++, &n->err));
}

static void hosts(struct net *n, uint32_t sw, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		char desc[16];

		snprintf(desc, sizeof(desc), "n%04u", n->nhost);
		hang(n, sw, desc, TERM_COMPUTE);
	}
}

static void cable(struct net *n, uint32_t a, uint32_t b)
{
	must(n, builder_link(n->b, n->sw[a], n->port[a]++, n->sw[b], n->port[b]++, &n->err));
}

static struct fabric *end(struct net *n)
{
	struct freeze_opts opts = { .name = "small",
				    .lmc = n->opts->lmc,
				    .assign_lids = true,
				    .random_lids = n->opts->random_lids != 0,
				    .lid_seed = n->opts->random_lids };
	uint32_t hosts_made = n->nhost;
	struct fabric *f;

	for (uint32_t i = 0; i < n->opts->storage && i < hosts_made; i++)
		builder_set_kind(n->b, builder_find(n->b, 0x100000 + 16 * (hosts_made - 1 - i)),
				 TERM_STORAGE);
	for (uint32_t i = 0; i < n->opts->aggregation; i++)
		hang(n, i % n->nsw, "Mellanox Technologies Aggregation Node", TERM_AGGREGATION);
	must(n, builder_freeze(&f, n->b, &opts, &n->err));
	builder_free(n->b);
	free(n->sw);
	free(n->port);
	return f;
}

struct fabric *net_tree(uint32_t leaves, uint32_t spines, uint32_t per_leaf,
			const struct net_opts *o)
{
	struct net n;

	begin(&n, leaves + spines, o);
	for (uint32_t i = 0; i < leaves; i++)
		hosts(&n, i, per_leaf);
	for (uint32_t i = 0; i < leaves; i++)
		for (uint32_t k = 0; k < spines; k++)
			cable(&n, i, leaves + k);
	return end(&n);
}

struct fabric *net_broken_tree(uint32_t leaves, uint32_t spines, uint32_t per_leaf)
{
	struct net n;

	begin(&n, leaves + spines, NULL);
	for (uint32_t i = 0; i < leaves; i++)
		hosts(&n, i, per_leaf);
	hosts(&n, leaves, 1);
	hosts(&n, leaves + 1, 1);
	for (uint32_t i = 0; i < leaves; i++)
		for (uint32_t k = 0; k < spines; k++)
			if (i + 1 < leaves || k + 1 < spines)
				cable(&n, i, leaves + k);
	return end(&n);
}

struct fabric *net_uneven_tree(uint32_t leaves, uint32_t spines, uint32_t per_leaf)
{
	struct net n;

	begin(&n, leaves + spines, NULL);
	for (uint32_t i = 0; i < leaves + spines; i++)
		hosts(&n, i, i + 1 < leaves ? per_leaf : 1);
	for (uint32_t i = 0; i < leaves; i++)
		for (uint32_t k = 0; k < spines; k++)
			cable(&n, i, leaves + k);
	return end(&n);
}

struct fabric *net_ring(uint32_t switches, uint32_t per_switch, const struct net_opts *o)
{
	struct net n;

	begin(&n, switches, o);
	for (uint32_t i = 0; i < switches; i++)
		hosts(&n, i, per_switch);
	for (uint32_t i = 0; i < switches; i++)
		cable(&n, i, (i + 1) % switches);
	return end(&n);
}

struct fabric *net_chain(uint32_t switches, uint32_t per_switch, uint32_t cut,
			 const struct net_opts *o)
{
	struct net n;

	begin(&n, switches, o);
	for (uint32_t i = 0; i < switches; i++)
		hosts(&n, i, per_switch);
	for (uint32_t i = 0; i + 1 < switches; i++)
		if (i != cut)
			cable(&n, i, i + 1);
	return end(&n);
}

struct fabric *net_torus(uint32_t x, uint32_t y, uint32_t per_switch, const struct net_opts *o)
{
	struct net n;

	begin(&n, x * y, o);
	for (uint32_t i = 0; i < x * y; i++)
		hosts(&n, i, per_switch);
	for (uint32_t i = 0; i < x * y; i++) {
		cable(&n, i, i / x * x + (i + 1) % x);
		cable(&n, i, (i + x) % (x * y));
	}
	return end(&n);
}

struct fabric *net_star(uint32_t rays)
{
	struct net n;

	begin(&n, rays + 1, NULL);
	for (uint32_t i = 0; i < rays; i++) {
		cable(&n, rays, i);
		cable(&n, i, (i + 1) % rays);
	}
	return end(&n);
}

struct fabric *net_random(uint64_t seed, uint32_t switches, uint32_t links, uint32_t per_switch,
			  const struct net_opts *o)
{
	struct rng r;
	struct net n;

	rng_seed(&r, seed);
	begin(&n, switches, o);
	hosts(&n, 0, 1);
	for (uint32_t i = 0; i < switches; i++)
		hosts(&n, i, (uint32_t)rng_below(&r, per_switch + 1));
	for (uint32_t i = 1; i < switches; i++)
		cable(&n, i, (uint32_t)rng_below(&r, i));
	for (uint32_t i = switches - 1; i < links; i++) {
		uint32_t a = (uint32_t)rng_below(&r, switches);
		uint32_t b = (uint32_t)rng_below(&r, switches - 1);

		cable(&n, a, b < a ? b : b + 1);
	}
	return end(&n);
}

struct fabric *net_spec(const char *spec)
{
	struct freeze_opts opts = { .lmc = -1 };
	struct builder *b = NULL;
	struct fabric *f = NULL;
	struct err err;

	if (topo_build(&b, spec, &err) || builder_freeze(&f, b, &opts, &err))
		fail_msg("%s: %s", spec, err.text);
	builder_free(b);
	return f;
}

void net_set_rate_of_end(struct fabric *f, uint32_t chan, uint32_t Mbps)
{
	f->port[f->port_off[f->chan_src[chan]] + f->chan_port[chan]].rate_Mbps = Mbps;
}

void net_set_rate(struct fabric *f, uint32_t chan, uint32_t Mbps)
{
	net_set_rate_of_end(f, chan, Mbps);
	net_set_rate_of_end(f, f->chan_rev[chan], Mbps);
}

struct fabric *net_with_extras(const struct fabric *f, bool beside, bool aggregation)
{
	struct freeze_opts opts = { .lmc = 0 };
	struct builder *b = builder_new();
	struct fabric *out = NULL;
	uint32_t id;

	assert_true(!beside || (f->sw_nterm[0] && f->sw_nterm[1]));
	for (uint32_t u = 0; u < f->nsw; u++) {
		assert_int_equal(builder_node(&id, b, NODE_SWITCH, f->sw_guid[u],
					      (uint8_t)(f->sw_nports[u] + 2), f->sw_name[u], NULL),
				 0);
		assert_int_equal(id, u);
	}
	for (uint32_t c = 0; c < f->nchan; c++)
		if (f->chan_src[c] < f->chan_dst[c])
			assert_int_equal(builder_link(b, f->chan_src[c], f->chan_port[c],
						      f->chan_dst[c], f->chan_rport[c], NULL),
					 0);
	assert_int_equal(builder_link(b, 0, f->sw_nports[0] + 1u, 1, f->sw_nports[1] + 1u, NULL),
			 0);
	for (uint32_t t = 0; t < f->nterm; t++) {
		assert_int_equal(builder_node(&id, b, NODE_CA, 0x90000 + t, 1, "n", NULL), 0);
		assert_int_equal(builder_link(b, f->term_sw[t], f->term_port[t], id, 1, NULL), 0);
	}
	for (uint32_t u = 0; u < f->nsw && aggregation; u++) {
		assert_int_equal(builder_node(&id, b, NODE_CA, 0xa0000 + u, 1,
					      "Mellanox Technologies Aggregation Node", NULL),
				 0);
		assert_int_equal(builder_link(b, u, f->sw_nports[u] + 2u, id, 1, NULL), 0);
	}
	assert_int_equal(builder_freeze(&out, b, &opts, NULL), 0);
	builder_free(b);
	return out;
}
