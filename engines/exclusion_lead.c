/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/exclusion_lead.h"

#include "fabric/base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { UNKNOWN, LEADS, LOST, ON_THE_WAY };

struct leader {
	const struct fabric *f;
	struct tables *t;
	uint32_t *hops, *order; /* from the switch of the LIDs; switches in that order */
	uint32_t reached;
	uint8_t *state;
	uint32_t *stack;
	uint32_t *load; /* by channel */
};

static void measure(struct leader *x, uint32_t root)
{
	const struct fabric *f = x->f;
	uint32_t head = 0;

	memset(x->hops, 0xff, f->nsw * sizeof(*x->hops));
	x->hops[root] = 0;
	x->order[0] = root;
	x->reached = 1;
	while (head < x->reached) {
		uint32_t u = x->order[head++];

		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
			uint32_t v = f->chan_dst[c];

			if (x->hops[v] != FAB_NONE)
				continue;
			x->hops[v] = x->hops[u] + 1;
			x->order[x->reached++] = v;
		}
	}
}

/* Follows the tables from u as far as it is known whether they lead there. */
static void follow(struct leader *x, uint32_t lid, uint32_t u)
{
	uint32_t n = 0;
	uint8_t end;

	while (x->state[u] == UNKNOWN) {
		uint32_t c = fabric_chan(x->f, u, tables_row(x->t, u)[lid]);

		x->state[u] = ON_THE_WAY;
		x->stack[n++] = u;
		if (c == FAB_NONE)
			break;
		u = x->f->chan_dst[c];
	}
	end = x->state[u] == LEADS ? LEADS : LOST;
	while (n)
		x->state[x->stack[--n]] = end;
}

/* Its own way on where that gets nearer, for what then follows is led around itself. */
static uint8_t way(struct leader *x, uint32_t u, uint8_t port)
{
	const struct fabric *f = x->f;
	uint32_t best = fabric_chan(f, u, port);

	if (best != FAB_NONE && x->hops[f->chan_dst[best]] < x->hops[u])
		return port;
	best = FAB_NONE;
	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
		if (x->hops[f->chan_dst[c]] < x->hops[u] &&
		    (best == FAB_NONE || x->load[c] < x->load[best]))
			best = c;
	x->load[best]++;
	return f->chan_port[best];
}

static void lead(struct leader *x, uint32_t lid, uint32_t root, uint8_t port)
{
	bool lost = false;

	memset(x->state, UNKNOWN, x->f->nsw);
	x->state[root] = tables_row(x->t, root)[lid] == port ? LEADS : LOST;
	for (uint32_t u = 0; u < x->f->nsw; u++)
		follow(x, lid, u);
	for (uint32_t u = 0; u < x->f->nsw; u++)
		lost |= x->state[u] == LOST;
	if (!lost || x->state[root] == LOST)
		return;
	measure(x, root);
	for (uint32_t i = 1; i < x->reached; i++) {
		uint32_t u = x->order[i];
		uint8_t *out = &tables_row(x->t, u)[lid];

		if (x->state[u] == LOST)
			*out = way(x, u, *out);
	}
}

struct tables *exclusion_lead(const struct tables *t, const struct fabric *f)
{
	struct leader x = { .f = f };

	if (!digest_equal(&t->fingerprint, &f->fingerprint) || t->nsw != f->nsw ||
	    t->nend != f->nend || t->max_lid != f->max_lid)
		return (struct tables *)tables_get(t);
	x.t = tables_onto(f, t, t);
	x.hops = xcalloc(f->nsw, sizeof(*x.hops));
	x.order = xcalloc(f->nsw, sizeof(*x.order));
	x.state = xcalloc(f->nsw, sizeof(*x.state));
	x.stack = xcalloc(f->nsw, sizeof(*x.stack));
	x.load = xcalloc(f->nchan, sizeof(*x.load));
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		uint8_t port;
		uint32_t root = fabric_lid_switch(f, lid, &port);

		if (root != FAB_NONE)
			lead(&x, lid, root, port);
	}
	free(x.hops);
	free(x.order);
	free(x.state);
	free(x.stack);
	free(x.load);
	return x.t;
}
