/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views/data/summary/fabric_shape.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>

const struct fabric_shape *fabric_shape_new(const struct fabric *f,
					    const struct slurm_topology *file, const char *path)
{
	struct fabric_shape *s = xcalloc(1, sizeof(*s));

	s->refs = 1;
	s->fabric = fabric_get(f);
	s->topology = topology_kind_new(f);
	s->racks = racks_new(f, file, path);
	s->tiers = tiers_new(f, s->topology);
	reference_rates_take(&s->reference, f, s->tiers);
	return s;
}

const struct fabric_shape *fabric_shape_get(const struct fabric_shape *s)
{
	__atomic_add_fetch(&((struct fabric_shape *)s)->refs, 1, __ATOMIC_RELAXED);
	return s;
}

void fabric_shape_put(const struct fabric_shape *shape)
{
	struct fabric_shape *s = (struct fabric_shape *)shape;

	if (!s || __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL))
		return;
	fabric_put(s->fabric);
	topology_kind_free(s->topology);
	racks_free(s->racks);
	reference_rates_drop(&s->reference);
	tiers_free(s->tiers);
	free(s);
}
