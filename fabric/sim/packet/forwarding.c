/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/packet/forwarding.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

void forwarding_init(struct forwarding *w, const struct fabric *f, const struct tables *t)
{
	*w = (struct forwarding){ .f = f, .stride = t->stride, .t = tables_get(t) };
	w->lft = xcalloc(f->nsw, t->stride);
	memcpy(w->lft, t->lft, (size_t)f->nsw * t->stride);
}

void forwarding_fini(struct forwarding *w)
{
	tables_put(w->t);
	free(w->lft);
	free(w->sl2vl);
	free(w->sl2vl_off);
}

/* The rows of one switch; returns what is behind them. */
static uint8_t *forwarding_copy_rows(uint8_t *vl, const struct forwarding *w, uint32_t sw)
{
	uint32_t ports = w->f->sw_nports[sw] + 1u;

	for (uint32_t row = 0; row < ports * ports; row++)
		for (uint8_t sl = 0; sl < FAB_SLS; sl++)
			*vl++ = tables_vl(w->t, w->f, sw, (uint8_t)(row / ports),
					  (uint8_t)(row % ports), sl);
	return vl;
}

/* From here on the VLs are our own. */
static void forwarding_own_sl2vl(struct forwarding *w)
{
	const struct fabric *f = w->f;
	uint8_t *vl;
	size_t n = 0;

	w->sl2vl_off = xcalloc(f->nsw, sizeof(*w->sl2vl_off));
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		size_t ports = f->sw_nports[sw] + 1u;

		w->sl2vl_off[sw] = n;
		n += ports * ports * FAB_SLS;
	}
	vl = w->sl2vl = xcalloc(n, 1);
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		vl = forwarding_copy_rows(vl, w, sw);
}

uint8_t *forwarding_sl2vl_row(struct forwarding *w, uint32_t sw, uint8_t in, uint8_t out)
{
	if (!w->sl2vl)
		forwarding_own_sl2vl(w);
	return w->sl2vl + forwarding_sl2vl_at(w, sw, in, out);
}
