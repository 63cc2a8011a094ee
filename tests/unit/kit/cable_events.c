/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/cable_events.h"

#include "fabric/base/memory/mem.h"
#include "fabric/model/tables/carry.h"
#include "fabric/model/topology/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIES 20

void cable_events_init(struct cable_events *e, const struct fabric *f, uint64_t seed)
{
	memset(e, 0, sizeof(*e));
	e->f = f;
	rng_seed(&e->rng, seed);
	e->down = xcalloc(f->nchan, sizeof(*e->down));
	e->gone = xcalloc(f->nsw, sizeof(*e->gone));
}

void cable_events_done(struct cable_events *e)
{
	free(e->down);
	free(e->gone);
	memset(e, 0, sizeof(*e));
}

static void set_cable(struct cable_events *e, uint32_t c, bool down)
{
	e->down[c] = e->down[e->f->chan_rev[c]] = down;
}

static void look_for_gone(struct cable_events *e)
{
	const struct fabric *f = e->f;

	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		e->gone[sw] = f->chan_off[sw] != f->chan_off[sw + 1];
		for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++)
			e->gone[sw] &= e->down[c];
	}
}

/* Do all that are not gone reach each other, and are these more than a few? */
static bool connected(struct cable_events *e)
{
	const struct fabric *f = e->f;
	uint32_t *queue = xcalloc(f->nsw, sizeof(*queue)), n = 0, here = 0;
	bool *seen = xcalloc(f->nsw, sizeof(*seen));

	look_for_gone(e);
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		here += !e->gone[sw];
	for (uint32_t sw = 0; sw < f->nsw && !n; sw++)
		if (!e->gone[sw])
			seen[queue[n++] = sw] = true;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t c = f->chan_off[queue[i]]; c < f->chan_off[queue[i] + 1]; c++)
			if (!e->down[c] && !seen[f->chan_dst[c]])
				seen[queue[n++] = f->chan_dst[c]] = true;
	free(queue);
	free(seen);
	return n == here && here > f->nsw / 2;
}

static void lose(struct cable_events *e, enum cable_event kind)
{
	const struct fabric *f = e->f;
	uint32_t c = (uint32_t)rng_below(&e->rng, f->nchan), sw = f->chan_src[c];
	uint32_t half = (f->chan_off[sw] + f->chan_off[sw + 1] + 1) / 2;

	if (kind == LOSE_CABLE)
		set_cable(e, c, true);
	for (c = f->chan_off[sw]; kind == LOSE_CARD && c < half; c++)
		set_cable(e, c, true);
	for (c = f->chan_off[sw]; kind == LOSE_SWITCH && c < f->chan_off[sw + 1]; c++)
		set_cable(e, c, true);
}

static void get_back(struct cable_events *e, enum cable_event kind)
{
	const struct fabric *f = e->f;
	uint32_t c = (uint32_t)rng_below(&e->rng, f->nchan), sw = f->chan_src[c];

	for (uint32_t i = 0; i < f->nchan && !e->down[c]; i++)
		c = (c + 1) % f->nchan;
	if (kind == CABLE_BACK)
		set_cable(e, c, false);
	for (uint32_t i = 0; i < f->nsw && !e->gone[sw]; i++)
		sw = (sw + 1) % f->nsw;
	for (c = f->chan_off[sw]; kind == SWITCH_BACK && c < f->chan_off[sw + 1]; c++)
		set_cable(e, c, false);
}

bool cable_events_happen(struct cable_events *e, enum cable_event kind)
{
	const struct fabric *f = e->f;
	bool *was = xcalloc(f->nchan, sizeof(*was)), fine = false;

	memcpy(was, e->down, f->nchan * sizeof(*was));
	for (int i = 0; i < TRIES && !fine && f->nchan; i++) {
		if (kind == CABLE_BACK || kind == SWITCH_BACK)
			get_back(e, kind);
		else
			lose(e, kind);
		fine = memcmp(was, e->down, f->nchan * sizeof(*was)) && connected(e);
		if (!fine)
			memcpy(e->down, was, f->nchan * sizeof(*was));
	}
	look_for_gone(e);
	free(was);
	return fine;
}

void cable_events_all_back(struct cable_events *e)
{
	memset(e->down, 0, e->f->nchan * sizeof(*e->down));
	look_for_gone(e);
}

bool cable_events_any_gone(const struct cable_events *e)
{
	for (uint32_t sw = 0; sw < e->f->nsw; sw++)
		if (e->gone[sw])
			return true;
	return false;
}

/* --- what is left ----------------------------------------------------------------------------- */

static void must(int rc, const struct err *err)
{
	if (!rc)
		return;
	fprintf(stderr, "%s\n", err->text);
	abort();
}

static void put_hosts(const struct cable_events *e, struct builder *b, const uint32_t *id)
{
	const struct fabric *f = e->f;
	struct err err;
	uint32_t node;

	for (uint32_t t = 0; t < f->nend; t++) {
		uint32_t sw = f->term_sw[t];

		if (e->gone[sw])
			continue;
		must(builder_node(&node, b, NODE_CA, f->term_node_guid[t], 1, f->term_name[t],
				  &err),
		     &err);
		must(builder_port_guid(b, node, 1, f->term_guid[t], &err), &err);
		must(builder_port_lid(b, node, 1, f->term_lid[t], f->lmc, &err), &err);
		must(builder_link(b, node, 1, id[sw], f->term_port[t], &err), &err);
	}
}

struct fabric *cable_events_fabric(const struct cable_events *e)
{
	const struct fabric *f = e->f;
	struct freeze_opts opts = { .lmc = f->lmc };
	uint32_t *id = xcalloc(f->nsw, sizeof(*id));
	struct builder *b = builder_new();
	struct fabric *out;
	struct err err;

	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		if (e->gone[sw])
			continue;
		must(builder_node(&id[sw], b, NODE_SWITCH, f->sw_guid[sw], f->sw_nports[sw],
				  f->sw_name[sw], &err),
		     &err);
		must(builder_port_lid(b, id[sw], 0, f->sw_lid[sw], 0, &err), &err);
	}
	for (uint32_t c = 0; c < f->nchan; c++)
		if (f->chan_rev[c] > c && !e->down[c])
			must(builder_link(b, id[f->chan_src[c]], f->chan_port[c],
					  id[f->chan_dst[c]], f->chan_rport[c], &err),
			     &err);
	put_hosts(e, b, id);
	must(builder_freeze(&out, b, &opts, &err), &err);
	builder_free(b);
	free(id);
	return out;
}

struct tables *cable_events_tables(const struct cable_events *e, const struct fabric *now,
				   const struct tables *t)
{
	struct endports *was = endports_of(e->f);
	struct carry_report report;
	struct tables *out;
	struct err err;

	must(tables_carry(&out, now, t, was, &report, &err), &err);
	endports_put(was);
	return out;
}
