/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dragonfly (Kim et al., ISCA 2008): g groups of a switches, fully connected inside; every
 * switch has p hosts and h cables to other groups.
 */
#include "fabric/sim/topology/topo_family.h"

#include "fabric/model/topology/fabric.h"
#include "fabric/sim/topology/topo_net.h"
#include "fabric/sim/topology/topo_spec.h"

struct dragonfly {
	uint32_t p, a, h, g;
};

/* One cable between any two groups, in the palm-tree arrangement: the j-th cable of a group,
 * counted over its switches, goes to the group j+1 further on. */
static void topo_dragonfly_palm_tree(struct topo_net *net, const struct dragonfly *d)
{
	for (uint32_t from = 0; from < d->g; from++) {
		for (uint32_t j = 0; j < d->a * d->h; j++) {
			uint32_t to = (from + j + 1) % d->g;

			if (from < to)
				topo_net_cable(net, from * d->a + j / d->h,
					       to * d->a + (d->g - 2 - j) / d->h, 1);
		}
	}
}

/* As many cables between any two groups as the ports allow, the same for all pairs; each group
 * takes its switches in turn. */
static void topo_dragonfly_several_links(struct topo_net *net, const struct dragonfly *d)
{
	uint32_t each = d->a * d->h / (d->g - 1);
	uint32_t *next = xcalloc(d->g, sizeof(*next));

	for (uint32_t x = 0; x < d->g; x++)
		for (uint32_t y = x + 1; y < d->g; y++)
			for (uint32_t i = 0; i < each; i++)
				topo_net_cable(net, x * d->a + next[x]++ % d->a,
					       y * d->a + next[y]++ % d->a, 1);
	free(next);
}

static int topo_dragonfly_make(struct topo_net *net, const struct topo_spec *s, struct err *err)
{
	struct dragonfly d;
	int rc = topo_spec_u32(&d.p, s, "p", 0, 1, FAB_MAX_PORT, err);

	if (!rc)
		rc = topo_spec_u32(&d.a, s, "a", 2 * d.p, 1, FAB_MAX_PORT, err);
	if (!rc)
		rc = topo_spec_u32(&d.h, s, "h", d.p, 1, FAB_MAX_PORT, err);
	if (!rc)
		rc = topo_spec_u32(&d.g, s, "g", d.a * d.h + 1, 2, d.a * d.h + 1, err);
	if (!rc)
		rc = topo_net_group(NULL, net, "sw", (uint64_t)d.a * d.g, d.p, err);
	if (rc)
		return rc;
	for (uint32_t x = 0; x < d.g; x++)
		for (uint32_t i = 0; i < d.a; i++)
			for (uint32_t j = i + 1; j < d.a; j++)
				topo_net_cable(net, x * d.a + i, x * d.a + j, 1);
	if (d.g == d.a * d.h + 1)
		topo_dragonfly_palm_tree(net, &d);
	else
		topo_dragonfly_several_links(net, &d);
	return 0;
}

static const struct topo_key dragonfly_keys[] = {
	{ "p", NULL, "hosts on each switch" },
	{ "a", "2p", "switches in a group" },
	{ "h", "p", "cables from a switch to other groups" },
	{ "g", "ah+1", "groups; with fewer, pairs of groups get several cables" },
	{ 0 },
};

const struct topo_type topo_dragonfly = {
	"dragonfly",	     "dragonfly, fully connected groups", "dragonfly:p=8", dragonfly_keys,
	topo_dragonfly_make,
};
