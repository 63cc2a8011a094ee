/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A random connected graph: a random tree, then random further cables. */
#include "fabric/sim/topology/topo_family.h"

#include "fabric/model/topology/fabric.h"
#include "fabric/sim/topology/topo_net.h"
#include "fabric/sim/topology/topo_spec.h"

#include <errno.h>

struct draft {
	struct topo_net *net;
	struct rng rng;
	uint32_t n;
	uint8_t *linked;   /* cables between a and b at a * n + b, a < b */
	uint32_t parallel; /* most of them */
	uint32_t ports_max;
};

static bool topo_random_draft_cable(struct draft *d, uint32_t a, uint32_t b)
{
	size_t pair = a < b ? (size_t)a * d->n + b : (size_t)b * d->n + a;
	const uint32_t *ports = d->net->nports.v;

	if (a == b || d->linked[pair] == d->parallel)
		return false;
	if (ports[a] >= d->ports_max || ports[b] >= d->ports_max)
		return false;
	d->linked[pair]++;
	topo_net_cable(d->net, a, b, 1);
	return true;
}

static int topo_random_draw(struct draft *d, uint32_t links, struct err *err)
{
	uint32_t *order = xcalloc(d->n, sizeof(*order));
	uint64_t tries = 100ULL * links + 10000;

	for (uint32_t i = 0; i < d->n; i++)
		order[i] = i;
	rng_shuffle_u32(&d->rng, order, d->n);
	for (uint32_t i = 1; i < d->n;)
		i += topo_random_draft_cable(d, order[i], order[rng_below(&d->rng, i)]);
	free(order);
	while (d->net->cables.n < links && tries--) {
		uint32_t a = (uint32_t)rng_below(&d->rng, d->n);

		topo_random_draft_cable(d, a, (uint32_t)rng_below(&d->rng, d->n));
	}
	if (d->net->cables.n < links)
		return err_set(err, -ENOSPC,
			       "random: links=%u leaves no free pair of switches; fewer are needed",
			       links);
	return 0;
}

static int topo_random_make(struct topo_net *net, const struct topo_spec *s, struct err *err)
{
	struct draft d = { .net = net, .ports_max = FAB_MAX_PORT };
	uint32_t hosts = 0, most = 0, links;
	uint64_t seed, pairs;
	int rc = topo_spec_u32(&d.n, s, "switches", 0, 1, 16384, err);

	if (!rc)
		rc = topo_spec_u32(&hosts, s, "hosts", 1, 0, 250, err);
	if (!rc)
		rc = topo_spec_u32(&most, s, "hosts_max", hosts, hosts, 250, err);
	if (!rc)
		rc = topo_spec_u32(&d.parallel, s, "parallel", 1, 1, 250, err);
	if (!rc)
		rc = topo_spec_u64(&seed, s, "seed", 1, err);
	pairs = rc ? 0 : (uint64_t)d.n * (d.n - 1) / 2 * d.parallel;
	if (pairs > (uint64_t)d.n * (250 - most) / 2)
		pairs = (uint64_t)d.n * (250 - most) / 2;
	if (!rc)
		rc = topo_spec_u32(&links, s, "links", 0, d.n - 1, (uint32_t)pairs, err);
	if (!rc)
		rc = topo_net_group(NULL, net, "sw", d.n, hosts, err);
	if (rc)
		return rc;
	rng_seed(&d.rng, seed);
	for (uint32_t u = 0; u < d.n && most > hosts; u++)
		topo_net_more_hosts(net, u, (uint32_t)rng_below(&d.rng, most - hosts + 1));
	d.linked = xcalloc((size_t)d.n * d.n, sizeof(*d.linked));
	rc = topo_random_draw(&d, links, err);
	free(d.linked);
	return rc;
}

static const struct topo_key random_keys[] = {
	{ "switches", NULL, "switches" },
	{ "links", NULL, "cables between switches, at least switches-1" },
	{ "hosts", "1", "hosts on each switch, at least" },
	{ "hosts_max", "hosts", "hosts on each switch, at most: a random number between" },
	{ "parallel", "1", "cables between two switches, at most" },
	{ 0 },
};

const struct topo_type topo_random = {
	"random",    "random connected graph", "random:switches=125,links=1000,hosts=8,seed=1",
	random_keys, topo_random_make,
};
