/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/verify_exclusion.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

enum { VIA_SWITCH = 1, VIA_CABLE = 2, KNOWN = 4, OPEN = 8 };

struct looker {
	const struct fabric *f;
	const struct tables *t;
	const struct route_limits *l;
	struct excluded_paths *out;
	bool *enclosed;	 /* by switch: excluded, as are all that it can be reached through */
	uint8_t *via;	 /* by switch, of the LID at hand */
	uint32_t *stack; /* nsw */
};

static bool verify_exclusion_switch_out(const struct looker *x, uint32_t sw)
{
	return x->l->exclude_sw && x->l->exclude_sw[sw];
}

static bool verify_exclusion_cable_out(const struct looker *x, uint32_t c)
{
	return x->l->exclude_chan && x->l->exclude_chan[c];
}

static void verify_exclusion_find_enclosed(struct looker *x)
{
	const struct fabric *f = x->f;

	for (uint32_t u = 0; u < f->nsw; u++) {
		x->enclosed[u] = verify_exclusion_switch_out(x, u);
		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
			if (!verify_exclusion_cable_out(x, c) &&
			    !verify_exclusion_switch_out(x, f->chan_dst[c]))
				x->enclosed[u] = false;
	}
}

static uint32_t verify_exclusion_hop(const struct looker *x, uint32_t u, uint32_t lid)
{
	return fabric_chan(x->f, u, tables_row(x->t, u)[lid]);
}

/* What the path from u passes, given that of the switches after it. */
static void verify_exclusion_follow(struct looker *x, uint32_t u, uint32_t lid, uint32_t dst)
{
	uint32_t n = 0;
	uint8_t via;

	while (!x->via[u]) {
		uint32_t c = u == dst ? FAB_NONE : verify_exclusion_hop(x, u, lid);

		x->via[u] = OPEN;
		x->stack[n++] = u;
		if (c == FAB_NONE)
			break;
		u = x->f->chan_dst[c];
	}
	via = x->via[u] & (VIA_SWITCH | VIA_CABLE); /* of a loop: what is seen going round it */
	if (n && x->stack[n - 1] == u) {
		x->via[u] = KNOWN;
		n--;
	}
	while (n) {
		uint32_t at = x->stack[--n], c = verify_exclusion_hop(x, at, lid),
			 next = x->f->chan_dst[c];

		if (next != dst && verify_exclusion_switch_out(x, next))
			via |= VIA_SWITCH;
		if (verify_exclusion_cable_out(x, c))
			via |= VIA_CABLE;
		x->via[at] = KNOWN | via;
	}
}

/* Where the path from u first passes what is excluded. */
static void verify_exclusion_remember(struct looker *x, uint32_t u, uint32_t lid, uint32_t dst)
{
	struct excluded_paths *p = x->out;
	uint32_t at = u;

	*p = (struct excluded_paths){ 1, u, (uint16_t)lid, FAB_NONE, FAB_NONE };
	while (p->sw == FAB_NONE && p->chan == FAB_NONE) {
		uint32_t c = verify_exclusion_hop(x, at, lid);

		at = x->f->chan_dst[c];
		if (verify_exclusion_cable_out(x, c))
			p->chan = c;
		else if (at != dst && verify_exclusion_switch_out(x, at))
			p->sw = at;
	}
}

static void verify_exclusion_look_at(struct looker *x, uint32_t lid)
{
	uint8_t port;
	uint32_t dst = fabric_lid_switch(x->f, lid, &port);

	if (dst == FAB_NONE)
		return;
	memset(x->via, 0, x->f->nsw);
	for (uint32_t u = 0; u < x->f->nsw; u++) {
		verify_exclusion_follow(x, u, lid, dst);
		if (!(x->via[u] & VIA_CABLE) &&
		    (!(x->via[u] & VIA_SWITCH) || x->enclosed[u] || x->enclosed[dst]))
			continue;
		if (x->out->n)
			x->out->n++;
		else
			verify_exclusion_remember(x, u, lid, dst);
	}
}

bool verify_exclusion(struct excluded_paths *out, const struct fabric *f, const struct tables *t,
		      const struct route_limits *l, struct progress *progress)
{
	struct looker x = { .f = f, .t = t, .l = l, .out = out };
	bool stopped = false;

	*out = (struct excluded_paths){ .n = 0 };
	x.enclosed = xcalloc(f->nsw, sizeof(*x.enclosed));
	x.via = xcalloc(f->nsw, sizeof(*x.via));
	x.stack = xcalloc(f->nsw, sizeof(*x.stack));
	verify_exclusion_find_enclosed(&x);
	for (uint32_t lid = 1; lid <= f->max_lid && !stopped; lid++) {
		verify_exclusion_look_at(&x, lid);
		if (lid % LFT_BLOCK == 0)
			stopped = progress_step(progress, "verify", lid, f->max_lid);
	}
	free(x.enclosed);
	free(x.via);
	free(x.stack);
	return stopped;
}
