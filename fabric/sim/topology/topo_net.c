/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/topology/topo_net.h"

#include "fabric/model/topology/fabric.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void topo_net_init(struct topo_net *net)
{
	memset(net, 0, sizeof(*net));
	net->overfull = UINT32_MAX;
}

void topo_net_free(struct topo_net *net)
{
	vec_free(&net->groups);
	vec_free(&net->cables);
	vec_free(&net->nports);
	vec_free(&net->hosts);
}

int topo_net_group(uint32_t *first, struct topo_net *net, const char *prefix, uint64_t count,
		   uint64_t hosts, struct err *err)
{
	struct topo_group g = { prefix, (uint32_t)net->nports.n, (uint32_t)count };
	uint64_t lids = net->nports.n + net->nhost;

	if (count > FAB_MAX_LID || hosts > FAB_MAX_PORT || lids + count * (hosts + 1) > FAB_MAX_LID)
		return err_set(err, -ENOSPC,
			       "%llu %s switches with %llu hosts each are more than a subnet's "
			       "%d LIDs or a switch's %d ports can take",
			       (unsigned long long)count, prefix, (unsigned long long)hosts,
			       FAB_MAX_LID, FAB_MAX_PORT);
	if (first)
		*first = g.first;
	vec_push(&net->groups, g);
	for (uint64_t i = 0; i < count; i++) {
		vec_push(&net->nports, (uint32_t)hosts);
		vec_push(&net->hosts, (uint32_t)hosts);
	}
	net->nhost += g.count * (uint32_t)hosts;
	return 0;
}

void topo_net_more_hosts(struct topo_net *net, uint32_t sw, uint32_t n)
{
	net->hosts.v[sw] += n;
	net->nports.v[sw] += n;
	net->nhost += n;
}

void topo_net_cable(struct topo_net *net, uint32_t a, uint32_t b, uint32_t n)
{
	uint32_t *ports = net->nports.v;

	for (uint32_t i = 0; i < n && net->overfull == UINT32_MAX; i++) {
		struct topo_cable c = { a, b, false };

		if (++ports[a] > FAB_MAX_PORT)
			net->overfull = a;
		if (++ports[b] > FAB_MAX_PORT)
			net->overfull = b;
		vec_push(&net->cables, c);
	}
}

int topo_net_check(const struct topo_net *net, struct err *err)
{
	char name[64];

	if (net->overfull == UINT32_MAX)
		return 0;
	topo_net_name(name, sizeof(name), net, net->overfull);
	return err_set(err, -ENOSPC, "%s would need more than the %d ports that a switch can have",
		       name, FAB_MAX_PORT);
}

static int topo_net_digits(uint32_t n)
{
	int d = 1;

	for (; n >= 10; n /= 10)
		d++;
	return d;
}

void topo_net_name(char *buf, size_t len, const struct topo_net *net, uint32_t sw)
{
	const struct topo_group *g = net->groups.v;

	while (sw >= g->first + g->count)
		g++;
	snprintf(buf, len, "%s%0*u", g->prefix, topo_net_digits(g->count), sw - g->first + 1);
}

/* Cables by switch, for searches over those that work. */
struct incidence {
	uint32_t *off, *cable;
	uint32_t *seen, stamp; /* seen[sw] == stamp: visited in this search */
	uint32_t *queue;
};

static void topo_net_incidence_make(struct incidence *in, const struct topo_net *net)
{
	size_t nsw = net->nports.n;
	uint32_t *at;

	in->off = xcalloc(nsw + 1, sizeof(*in->off));
	in->cable = xcalloc(2 * net->cables.n, sizeof(*in->cable));
	in->seen = xcalloc(nsw, sizeof(*in->seen));
	in->queue = xcalloc(nsw, sizeof(*in->queue));
	in->stamp = 0;
	for (size_t c = 0; c < net->cables.n; c++) {
		in->off[net->cables.v[c].a + 1]++;
		in->off[net->cables.v[c].b + 1]++;
	}
	for (size_t s = 0; s < nsw; s++)
		in->off[s + 1] += in->off[s];
	at = xcalloc(nsw, sizeof(*at));
	for (size_t c = 0; c < net->cables.n; c++) {
		const struct topo_cable *k = &net->cables.v[c];

		in->cable[in->off[k->a] + at[k->a]++] = (uint32_t)c;
		in->cable[in->off[k->b] + at[k->b]++] = (uint32_t)c;
	}
	free(at);
}

static void topo_net_incidence_free(struct incidence *in)
{
	free(in->off);
	free(in->cable);
	free(in->seen);
	free(in->queue);
}

/* Searches from a until b is found; returns the number of switches seen. b = UINT32_MAX: all of
 * them. */
static uint32_t topo_net_walk(struct incidence *in, const struct topo_net *net, uint32_t a,
			      uint32_t b)
{
	uint32_t head = 0, tail = 0;

	in->seen[a] = ++in->stamp;
	in->queue[tail++] = a;
	while (head < tail && (b == UINT32_MAX || in->seen[b] != in->stamp)) {
		uint32_t s = in->queue[head++];

		for (uint32_t i = in->off[s]; i < in->off[s + 1]; i++) {
			const struct topo_cable *k = &net->cables.v[in->cable[i]];
			uint32_t other = k->a == s ? k->b : k->a;

			if (k->failed || in->seen[other] == in->stamp)
				continue;
			in->seen[other] = in->stamp;
			in->queue[tail++] = other;
		}
	}
	return tail;
}

/* Takes cables in the order given, those passed over on which a connection hangs. */
static uint64_t topo_net_fail_one_by_one(struct topo_net *net, struct incidence *in,
					 const uint32_t *order, uint64_t count)
{
	uint64_t failed = 0;

	for (size_t i = 0; i < net->cables.n && failed < count; i++) {
		struct topo_cable *k = &net->cables.v[order[i]];

		k->failed = true;
		topo_net_walk(in, net, k->a, k->b);
		k->failed = in->seen[k->b] == in->stamp;
		failed += k->failed;
	}
	return failed;
}

int topo_net_fail(struct topo_net *net, uint64_t count, bool disconnect, struct rng *rng,
		  struct err *err)
{
	uint32_t ncable = (uint32_t)net->cables.n;
	uint32_t *order;
	struct incidence in;
	uint64_t failed = count;

	if (count > ncable)
		return err_set(err, -EINVAL, "fail=%llu: there are only %u cables between switches",
			       (unsigned long long)count, ncable);
	order = xcalloc(ncable, sizeof(*order));
	for (uint32_t i = 0; i < ncable; i++)
		order[i] = i;
	rng_shuffle_u32(rng, order, ncable);
	for (uint64_t i = 0; i < count; i++)
		net->cables.v[order[i]].failed = true;

	topo_net_incidence_make(&in, net);
	if (!disconnect && net->nports.n &&
	    topo_net_walk(&in, net, 0, UINT32_MAX) < net->nports.n) {
		for (uint64_t i = 0; i < count; i++)
			net->cables.v[order[i]].failed = false;
		failed = topo_net_fail_one_by_one(net, &in, order, count);
	}
	topo_net_incidence_free(&in);
	free(order);
	if (failed < count)
		return err_set(err, -EINVAL,
			       "fail=%llu: only %llu cables can fail without disconnecting "
			       "switches; disconnect=1 allows that",
			       (unsigned long long)count, (unsigned long long)failed);
	return 0;
}
