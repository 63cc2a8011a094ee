/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forwarding: what switches do with packets: LFTs and SL2VL tables that may be written. */
#pragma once

#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

struct forwarding {
	const struct fabric *f; /* not owned */
	uint32_t stride;
	uint8_t *lft;		/* by switch, stride LIDs each */
	const struct tables *t; /* whose SL2VL holds until the first of them is written */
	uint8_t *sl2vl;		/* FAB_SLS VLs by (switch, input, output); NULL: t's */
	size_t *sl2vl_off;	/* of each switch */
};

/* A copy of what the tables say; f must outlive it. */
void forwarding_init(struct forwarding *w, const struct fabric *f, const struct tables *t);
void forwarding_fini(struct forwarding *w);

/* The row to write to, FAB_SLS VLs. */
uint8_t *forwarding_sl2vl_row(struct forwarding *w, uint32_t sw, uint8_t in, uint8_t out);

/* Output port; FAB_NO_PORT: no entry. */
static inline uint8_t forwarding_port(const struct forwarding *w, uint32_t sw, uint16_t lid)
{
	return lid < w->stride ? w->lft[(size_t)sw * w->stride + lid] : FAB_NO_PORT;
}

static inline size_t forwarding_sl2vl_at(const struct forwarding *w, uint32_t sw, uint8_t in,
					 uint8_t out)
{
	return w->sl2vl_off[sw] + ((size_t)in * (w->f->sw_nports[sw] + 1u) + out) * FAB_SLS;
}

static inline uint8_t forwarding_vl(const struct forwarding *w, uint32_t sw, uint8_t in,
				    uint8_t out, uint8_t sl)
{
	if (!w->sl2vl)
		return tables_vl(w->t, w->f, sw, in, out, sl);
	return w->sl2vl[forwarding_sl2vl_at(w, sw, in, out) + sl];
}
