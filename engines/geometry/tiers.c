/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/geometry/tiers.h"

#include "fabric/base/memory/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t tiers_find(struct tiers *t, const char *name)
{
	uint32_t i = 0;

	while (i < t->n && strcmp(t->name[i], name) != 0)
		i++;
	if (i == TIERS)
		return NO_TIER;
	if (i == t->n)
		snprintf(t->name[t->n++], sizeof(t->name[i]), "%s", name);
	return (uint8_t)i;
}

static uint8_t tiers_between(struct tiers *t, const char *from, const char *to)
{
	char name[20];

	snprintf(name, sizeof(name), "%.8s -> %.7s", from, to);
	return tiers_find(t, name);
}

static uint8_t tiers_of_chan(struct tiers *t, const struct fabric *f, const struct topology_kind *s,
			     uint32_t c)
{
	uint32_t a = f->chan_src[c], b = f->chan_dst[c], d;
	char from[16], to[16], dim[16];

	if (s->kind == TOPOLOGY_TREE)
		return tiers_between(t, topology_kind_level_name(from, s, s->tree->row[a]),
				     topology_kind_level_name(to, s, s->tree->row[b]));
	if (s->kind == TOPOLOGY_GENERAL)
		return tiers_find(t, "switch -> switch");
	if (s->kind == TOPOLOGY_GROUPS)
		return tiers_find(t,
				  s->group[a] == s->group[b] ? "inside groups" : "group -> group");
	d = grid_dim(s->grid, a, b);
	if (d == FAB_NONE)
		return NO_TIER;
	snprintf(dim, sizeof(dim), "dim %u", d + 1);
	return tiers_between(t, "switch", dim);
}

struct tiers *tiers_new(const struct fabric *f, const struct topology_kind *s)
{
	const char *edge = s->kind == TOPOLOGY_TREE ? "leaf" : "switch";
	struct tiers *t = xcalloc(1, sizeof(*t));
	uint8_t out;

	t->of = xcalloc(f->nport, 1);
	memset(t->of, NO_TIER, f->nport);
	tiers_between(t, "hosts", edge);
	for (uint32_t c = 0; c < f->nchan; c++)
		t->of[f->port_off[f->chan_src[c]] + f->chan_port[c]] = tiers_of_chan(t, f, s, c);
	out = tiers_between(t, edge, "hosts");
	for (uint32_t i = 0; i < f->nterm; i++)
		t->of[f->port_off[f->term_sw[i]] + f->term_port[i]] = out;
	return t;
}

void tiers_free(struct tiers *t)
{
	if (!t)
		return;
	free(t->of);
	free(t);
}
