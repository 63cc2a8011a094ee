/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/topology/endports.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

struct endports *endports_new(uint32_t nsw, uint32_t nend)
{
	struct endports *e = xcalloc(1, sizeof(*e));

	e->refs = 1;
	e->nsw = nsw;
	e->nend = nend;
	e->sw_lid = xcalloc(nsw, sizeof(*e->sw_lid));
	e->guid = xcalloc(nend, sizeof(*e->guid));
	e->sw = xcalloc(nend, sizeof(*e->sw));
	e->port = xcalloc(nend, sizeof(*e->port));
	e->lid = xcalloc(nend, sizeof(*e->lid));
	return e;
}

const struct endports *endports_get(const struct endports *e)
{
	if (e)
		__atomic_add_fetch(&((struct endports *)e)->refs, 1, __ATOMIC_RELAXED);
	return e;
}

void endports_put(const struct endports *e)
{
	if (!e || __atomic_sub_fetch(&((struct endports *)e)->refs, 1, __ATOMIC_ACQ_REL))
		return;
	free(e->sw_lid);
	free(e->guid);
	free(e->sw);
	free(e->port);
	free(e->lid);
	switch_links_free(e->links);
	free((struct endports *)e);
}

struct endports *endports_of(const struct fabric *f)
{
	struct endports *e = endports_new(f->nsw, f->nend);

	e->max_lid = f->max_lid;
	e->lmc = f->lmc;
	e->fingerprint = f->fingerprint;
	e->switch_graph = f->switch_graph;
	memcpy(e->sw_lid, f->sw_lid, f->nsw * sizeof(*e->sw_lid));
	memcpy(e->guid, f->term_guid, f->nend * sizeof(*e->guid));
	memcpy(e->sw, f->term_sw, f->nend * sizeof(*e->sw));
	memcpy(e->port, f->term_port, f->nend * sizeof(*e->port));
	memcpy(e->lid, f->term_lid, f->nend * sizeof(*e->lid));
	e->links = switch_links_of(f);
	return e;
}
