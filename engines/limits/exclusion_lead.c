/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/limits/exclusion_lead.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

enum { UNKNOWN, LEADS, LOST, ON_THE_WAY };

struct leader {
	const struct fabric *f;
	struct arena *arena;
	struct tables *t;
	uint32_t *hops, *order; /* from the switch of the LIDs; switches in that order */
	uint8_t *state;
	uint32_t *stack;
	uint32_t *load; /* by channel: routes to base LIDs */
};

/* Follows the tables from u as far as it is known whether they lead there. */
static void exclusion_lead_follow(struct leader *x, uint32_t lid, uint32_t u)
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

/* Routes of the terminals on u to that LID, over each channel of their path. */
static void exclusion_lead_add_routes(struct leader *x, uint32_t u, uint32_t lid, uint32_t root)
{
	uint32_t n = x->f->sw_nterm[u];

	while (n && u != root) {
		uint32_t c = fabric_chan(x->f, u, tables_row(x->t, u)[lid]);

		x->load[c] += n;
		u = x->f->chan_dst[c];
	}
}

/* The most that a channel of the path to root over c carries. */
static uint32_t exclusion_lead_most_on_way(const struct leader *x, uint32_t c, uint32_t lid,
					   uint32_t root)
{
	uint32_t most = x->load[c];

	for (uint32_t v = x->f->chan_dst[c]; v != root; v = x->f->chan_dst[c]) {
		c = fabric_chan(x->f, v, tables_row(x->t, v)[lid]);
		most = x->load[c] > most ? x->load[c] : most;
	}
	return most;
}

/* Its own path on where that gets nearer, for what then follows is led around itself. */
static uint8_t exclusion_lead_way(const struct leader *x, uint32_t u, uint32_t lid, uint32_t root)
{
	const struct fabric *f = x->f;
	uint8_t port = tables_row(x->t, u)[lid];
	uint32_t best = fabric_chan(f, u, port), least = 0;

	if (best != FAB_NONE && x->hops[f->chan_dst[best]] < x->hops[u])
		return port;
	best = FAB_NONE;
	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
		uint32_t load;

		if (x->hops[f->chan_dst[c]] >= x->hops[u])
			continue;
		load = exclusion_lead_most_on_way(x, c, lid, root);
		if (best != FAB_NONE && load >= least)
			continue;
		best = c;
		least = load;
	}
	return f->chan_port[best];
}

/* Who is led to the LID, and are all? */
static bool exclusion_lead_all_led(struct leader *x, uint32_t lid, uint32_t root, uint8_t port)
{
	bool lost = false;

	memset(x->state, UNKNOWN, x->f->nsw);
	x->state[root] = tables_row(x->t, root)[lid] == port ? LEADS : LOST;
	for (uint32_t u = 0; u < x->f->nsw; u++) {
		exclusion_lead_follow(x, lid, u);
		lost |= x->state[u] == LOST;
	}
	return !lost;
}

static bool exclusion_lead_is_counted(const struct fabric *f, uint32_t lid)
{
	uint32_t end = fabric_lid_end(f, lid);

	return end < f->nterm && f->term_lid[end] == lid;
}

static void exclusion_lead_count(struct leader *x, uint32_t lid, uint32_t root, uint8_t port)
{
	if (!exclusion_lead_is_counted(x->f, lid))
		return;
	exclusion_lead_all_led(x, lid, root, port);
	for (uint32_t u = 0; u < x->f->nsw; u++)
		if (x->state[u] == LEADS)
			exclusion_lead_add_routes(x, u, lid, root);
}

static void exclusion_lead_lead(struct leader *x, uint32_t lid, uint32_t root, uint8_t port)
{
	uint32_t reached;

	if (exclusion_lead_all_led(x, lid, root, port) || x->state[root] == LOST)
		return;
	x->order[0] = root;
	reached = fabric_hops(x->hops, x->order, x->f, 1);
	for (uint32_t i = 1; i < reached; i++) {
		uint32_t u = x->order[i];

		if (x->state[u] != LOST)
			continue;
		tables_row(x->t, u)[lid] = exclusion_lead_way(x, u, lid, root);
		if (exclusion_lead_is_counted(x->f, lid))
			exclusion_lead_add_routes(x, u, lid, root);
	}
}

static void exclusion_lead_each_lid(struct leader *x, void (*fn)(struct leader *x, uint32_t lid,
								 uint32_t root, uint8_t port))
{
	for (uint32_t lid = 1; lid <= x->f->max_lid; lid++) {
		uint8_t port;
		uint32_t root = fabric_lid_switch(x->f, lid, &port);

		if (root != FAB_NONE)
			fn(x, lid, root, port);
	}
}

struct tables *exclusion_lead(const struct tables *t, const struct fabric *f)
{
	struct leader x = { .f = f };

	if (!digest_equal(&t->fingerprint, &f->fingerprint) || t->nsw != f->nsw ||
	    t->nend != f->nend || t->max_lid != f->max_lid)
		return (struct tables *)tables_get(t);
	x.arena = arena_new();
	x.t = tables_onto(f, t, t);
	x.hops = arena_array(x.arena, uint32_t, f->nsw);
	x.order = arena_array(x.arena, uint32_t, f->nsw);
	x.state = arena_array(x.arena, uint8_t, f->nsw);
	x.stack = arena_array(x.arena, uint32_t, f->nsw);
	x.load = arena_array(x.arena, uint32_t, f->nchan);
	exclusion_lead_each_lid(
		&x,
		exclusion_lead_count); /* those of all that stays, before any is led elsewhere */
	exclusion_lead_each_lid(&x, exclusion_lead_lead);
	arena_free(x.arena);
	return x.t;
}
