/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/topology/topo.h"

#include "fabric/sim/topology/topo_family.h"
#include "fabric/sim/topology/topo_net.h"
#include "fabric/sim/topology/topo_spec.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SWITCH_GUID 0x0002000000000000ULL
#define HOST_GUID   0x0001000000000000ULL
#define GUID_STEP   16
#define RATES_MAX   8

static const struct topo_type *const types[] = {
	&topo_fattree2, &topo_fattree3,	 &topo_kary,	&topo_xgft, &topo_hyperx, &topo_torus,
	&topo_mesh,	&topo_dragonfly, &topo_slimfly, &topo_oft,  &topo_kautz,  &topo_random,
};

static const struct topo_key common_keys[] = {
	{ "fail", "0", "cables between switches that are missing: a count, or a share such as 1%" },
	{ "disconnect", "0", "1: failed cables may disconnect the fabric" },
	{ "seed", "1", "of everything random: fail, rates, lids=random, type random" },
	{ "lids", "aligned", "aligned: in the order of the hosts; random: hosts in random order" },
	{ "lmc", "0", "each host gets 2^lmc LIDs, 0 to 7" },
	{ "names", "n", "of hosts: a prefix, or a pattern with a # for each digit: node-####" },
	{ "speed", "4xEDR", "of all cables: width x speed" },
	{ "rates", "speed",
	  "of cables between switches, one of them at random: 4xHDR+4xEDR+1xEDR" },
	{ 0 },
};

const struct topo_type *const *topo_types(size_t *n)
{
	*n = sizeof(types) / sizeof(*types);
	return types;
}

const struct topo_key *topo_common_keys(void)
{
	return common_keys;
}

/* The common keys, read. */
struct common {
	uint64_t seed;
	uint32_t disconnect, lmc;
	bool random_lids;
	const char *speed, *names;
	char rate[RATES_MAX][12]; /* of cables between switches; the first empty: all have speed */
	uint32_t nrate;
};

/* "4xHDR+4xEDR" */
static int topo_rates_read(struct common *c, const char *text, struct err *err)
{
	while (*text) {
		size_t n = strcspn(text, "+");

		if (c->nrate == RATES_MAX || n >= sizeof(c->rate[0]))
			return err_set(err, -EINVAL,
				       "rates=...%s: at most %d rates, as in 4xHDR+1xEDR", text,
				       RATES_MAX);
		memcpy(c->rate[c->nrate], text, n);
		if (!link_rate_Mbps(c->rate[c->nrate++], NULL, NULL))
			return err_set(err, -EINVAL,
				       "rates=...%s: width x speed is allowed, as in "
				       "4xHDR+1xEDR",
				       text);
		text += n + (text[n] == '+');
	}
	return 0;
}

static int topo_common_read(struct common *c, const struct topo_spec *s, struct err *err)
{
	const char *lids = topo_spec_text(s, "lids", "aligned");
	int rc = topo_spec_u64(&c->seed, s, "seed", 1, err);

	if (!rc)
		rc = topo_spec_u32(&c->disconnect, s, "disconnect", 0, 0, 1, err);
	if (!rc)
		rc = topo_spec_u32(&c->lmc, s, "lmc", 0, 0, 7, err);
	if (rc)
		return rc;
	c->random_lids = !strcmp(lids, "random");
	if (!c->random_lids && strcmp(lids, "aligned"))
		return err_set(err, -EINVAL, "lids=%s: aligned or random is allowed", lids);
	c->speed = topo_spec_text(s, "speed", "4xEDR");
	if (!link_rate_Mbps(c->speed, NULL, NULL))
		return err_set(err, -EINVAL,
			       "speed=%s: width x speed is allowed, such as 4xQDR, 4xFDR, 4xEDR, "
			       "4xHDR, 2xNDR",
			       c->speed);
	c->names = topo_spec_text(s, "names", "n");
	if (strlen(c->names) > 40 || strpbrk(c->names, "\" \t"))
		return err_set(err, -EINVAL,
			       "names=%s: at most 40 characters, no blanks and no quotes",
			       c->names);
	return topo_rates_read(c, topo_spec_text(s, "rates", ""), err);
}

static int topo_fail_cables(struct topo_net *net, const struct topo_spec *s, const struct common *c,
			    struct rng *rng, struct err *err)
{
	const char *text = topo_spec_text(s, "fail", "0");
	char *end;
	double v = strtod(text, &end);
	bool share = !strcmp(end, "%");
	uint64_t count;

	if (end == text || (*end && !share) || !(v >= 0) || (share && v > 100) ||
	    (!share && (v != floor(v) || v > UINT32_MAX)))
		return err_set(err, -EINVAL,
			       "fail=%s: a number of cables, or a share of 0%% to 100%%, "
			       "is allowed",
			       text);
	count = share ? (uint64_t)llround(v / 100 * (double)net->cables.n) : (uint64_t)v;
	if (share && v > 0 && !count)
		count = 1;
	return topo_net_fail(net, count, c->disconnect, rng, err);
}

/* Host names: runs of # in the pattern give the digits, else the width of the last number. */
static void topo_host_name(char *buf, size_t len, const char *pattern, uint32_t nhost,
			   uint32_t number)
{
	size_t before = strcspn(pattern, "#"), wide = strspn(pattern + before, "#");
	int width = wide ? (int)wide : snprintf(NULL, 0, "%u", nhost);

	if (!wide && width < 4)
		width = 4;
	snprintf(buf, len, "%.*s%0*u%s", (int)before, pattern, width, number,
		 pattern + before + wide);
}

static int topo_add_switches(struct builder *b, const struct topo_net *net, struct err *err)
{
	for (uint32_t s = 0; s < net->nports.n; s++) {
		uint32_t id, n = net->nports.v[s] ? net->nports.v[s] : 1;
		char name[64];
		int rc;

		topo_net_name(name, sizeof(name), net, s);
		rc = builder_node(&id, b, NODE_SWITCH, SWITCH_GUID + (uint64_t)GUID_STEP * s, n,
				  name, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int topo_cable_up(struct builder *b, uint32_t id_a, uint32_t port_a, uint32_t id_b,
			 uint32_t port_b, const char *speed, struct err *err)
{
	int rc = builder_link(b, id_a, port_a, id_b, port_b, err);

	if (!rc)
		rc = builder_port_link(b, id_a, port_a, speed, err);
	if (!rc)
		rc = builder_port_link(b, id_b, port_b, speed, err);
	if (!rc)
		rc = builder_port_state(b, id_a, port_a, PORT_ACTIVE, 0, err);
	if (!rc)
		rc = builder_port_state(b, id_b, port_b, PORT_ACTIVE, 0, err);
	return rc;
}

static int topo_add_host(struct builder *b, uint32_t host, uint32_t sw, uint32_t port,
			 uint32_t nhost, const struct common *c, struct err *err)
{
	uint64_t guid = HOST_GUID + (uint64_t)GUID_STEP * host;
	char name[80];
	uint32_t id;
	int rc;

	topo_host_name(name, sizeof(name), c->names, nhost, host + 1);
	rc = builder_node(&id, b, NODE_CA, guid, 1, name, err);
	if (!rc)
		rc = builder_port_guid(b, id, 1, guid + 1, err);
	return rc ? rc : topo_cable_up(b, id, 1, sw, port, c->speed, err);
}

/* Switches have the builder's ids 0.. in their order, hosts follow.  Hosts take the first
 * ports of a switch, cables the next ones. */
static int topo_add_all(struct builder *b, const struct topo_net *net, const struct common *c,
			struct err *err)
{
	uint32_t nsw = (uint32_t)net->nports.n, host = 0;
	uint32_t *port = xcalloc(nsw, sizeof(*port));
	int rc = topo_add_switches(b, net, err);
	struct rng rng;

	rng_seed(&rng, c->seed + 1); /* apart from what is drawn elsewhere */
	for (uint32_t s = 0; s < nsw && !rc; s++)
		while (port[s] < net->hosts.v[s] && !rc)
			rc = topo_add_host(b, host++, s, ++port[s], net->nhost, c, err);
	for (size_t i = 0; i < net->cables.n && !rc; i++) {
		const struct topo_cable *k = &net->cables.v[i];
		uint32_t pa = ++port[k->a], pb = ++port[k->b];
		const char *speed = c->nrate ? c->rate[rng_below(&rng, c->nrate)] : c->speed;

		if (!k->failed)
			rc = topo_cable_up(b, k->a, pa, k->b, pb, speed, err);
	}
	free(port);
	return rc;
}

static int topo_give_lids(struct builder *b, const struct topo_net *net, const struct common *c,
			  struct rng *rng, struct err *err)
{
	uint32_t nsw = (uint32_t)net->nports.n, step = 1u << c->lmc, lid = step;
	uint32_t *order = xcalloc(net->nhost, sizeof(*order));
	int rc = 0;

	for (uint32_t h = 0; h < net->nhost; h++)
		order[h] = h;
	if (c->random_lids)
		rng_shuffle_u32(rng, order, net->nhost);
	if ((uint64_t)step * (net->nhost + 1) + nsw > FAB_MAX_LID + 1u)
		rc = err_set(err, -ENOSPC,
			     "%u hosts with 2^%u LIDs each and %u switches are more than the %d "
			     "LIDs of a subnet",
			     net->nhost, c->lmc, nsw, FAB_MAX_LID);
	for (uint32_t i = 0; i < net->nhost && !rc; i++, lid += step)
		rc = builder_port_lid(b, nsw + order[i], 1, lid, c->lmc, err);
	for (uint32_t s = 0; s < nsw && !rc; s++)
		rc = builder_port_lid(b, s, 0, lid++, 0, err);
	free(order);
	return rc;
}

int topo_build(struct builder **out, const char *text, struct err *err)
{
	static const struct topo_grammar grammar = { types, sizeof(types) / sizeof(*types),
						     common_keys };
	struct topo_net net;
	struct topo_spec *s = NULL;
	struct builder *b = builder_new();
	struct common c = { .nrate = 0 };
	struct rng rng;
	int rc;

	topo_net_init(&net);
	rc = topo_spec_parse(&s, text, &grammar, err);
	if (!rc)
		rc = topo_common_read(&c, s, err);
	if (!rc)
		rc = topo_spec_type(s)->make(&net, s, err);
	if (!rc)
		rc = topo_net_check(&net, err);
	if (rc)
		goto out;
	rng_seed(&rng, c.seed);
	rc = topo_fail_cables(&net, s, &c, &rng, err);
	if (!rc)
		rc = topo_add_all(b, &net, &c, err);
	if (!rc && (c.random_lids || c.lmc))
		rc = topo_give_lids(b, &net, &c, &rng, err);
out:
	topo_net_free(&net);
	topo_spec_free(s);
	if (rc)
		builder_free(b);
	*out = rc ? NULL : b;
	return rc;
}
