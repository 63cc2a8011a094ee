/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/fabkit.h"

#include "fabric/base/memory/mem.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

uint32_t kit_chan(const struct fabric *f, uint32_t from, uint32_t to)
{
	for (uint32_t c = f->chan_off[from]; c < f->chan_off[from + 1]; c++)
		if (f->chan_dst[c] == to)
			return c;
	fail_msg("no channel from %u to %u", from, to);
	return FAB_NONE;
}

/* Gives every switch in seen[] order a way towards the LID: seen grows from dsw. */
static void grow(struct tables *t, const struct fabric *f, uint32_t lid, struct rng *r)
{
	uint8_t dport = 0;
	uint32_t dsw = fabric_lid_switch(f, lid, &dport), n = 0, head = 0;
	uint32_t *edge = xcalloc(f->nchan + 1, sizeof(*edge));
	bool *seen = xcalloc(f->nsw, sizeof(*seen));
	uint32_t sw = dsw;

	tables_row(t, dsw)[lid] = dport;
	for (;;) {
		seen[sw] = true;
		for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++)
			edge[n++] = f->chan_rev[c];
		while (head < n) {
			uint32_t pick = r ? head + (uint32_t)rng_below(r, n - head) : head;
			uint32_t c = edge[pick];

			edge[pick] = edge[head];
			edge[head++] = c;
			sw = f->chan_src[c];
			if (seen[sw])
				continue;
			tables_row(t, sw)[lid] = f->chan_port[c];
			break;
		}
		if (seen[sw])
			break;
	}
	free(edge);
	free(seen);
}

static struct tables *trees(const struct fabric *f, struct rng *r)
{
	struct tables *t = tables_new(f, "kit");

	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		if (fabric_lid_end(f, lid) != FAB_NONE)
			grow(t, f, lid, r);
	return t;
}

struct tables *kit_bfs(const struct fabric *f)
{
	return trees(f, NULL);
}

struct tables *kit_random_trees(const struct fabric *f, struct rng *r)
{
	return trees(f, r);
}

struct tables *kit_clockwise(const struct fabric *f)
{
	struct tables *t = tables_new(f, "kit");

	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		uint8_t dport = 0;
		uint32_t dsw = fabric_lid_switch(f, lid, &dport);

		for (uint32_t sw = 0; sw < f->nsw && dsw != FAB_NONE; sw++)
			tables_row(t, sw)[lid] =
				sw == dsw ? dport
					  : f->chan_port[kit_chan(f, sw, (sw + 1) % f->nsw)];
	}
	return t;
}

static void fill(uint8_t *p, size_t n, uint32_t below, struct rng *r)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)rng_below(r, below);
}

void kit_random_sl(struct tables *t, const struct fabric *f, enum sl_kind kind, uint32_t n,
		   struct rng *r)
{
	tables_sl_form(t, kind, f);
	if (kind == SL_CONST)
		t->sl_const = (uint8_t)rng_below(r, n);
	else if (kind == SL_BY_DLID)
		fill(t->sl, t->stride, n, r);
	else
		fill(t->sl, (size_t)t->stride * (kind == SL_BY_SWITCH ? t->nsw : t->nend), n, r);
}

void kit_random_sl2vl(struct tables *t, const struct fabric *f, enum sl2vl_kind kind, uint32_t n,
		      struct rng *r)
{
	tables_sl2vl_form(t, kind, f);
	if (kind == SL2VL_BY_INPUT)
		fill(t->sl2vl, 3 * FAB_SLS, n, r);
	else if (kind == SL2VL_FULL)
		fill(t->sl2vl, (size_t)t->sl2vl_off[f->nsw] * FAB_SLS, n, r);
}

struct jobset *kit_jobs(const struct fabric *f, const uint64_t *member, uint32_t njob)
{
	struct jobset_builder *b = jobset_builder_new(f, "kit");
	const char **names = xcalloc(f->nterm, sizeof(*names));

	for (uint32_t k = 0; k < njob; k++) {
		struct job head = { .id = k + 1 };
		uint32_t n = 0;

		for (uint32_t term = 0; term < f->nterm; term++)
			if (member[term] >> k & 1)
				names[n++] = f->term_name[term];
		jobset_builder_add(b, &head, names, n);
	}
	free(names);
	return jobset_build(b);
}

struct jobset *kit_random_jobs(const struct fabric *f, uint32_t njob, uint32_t chance,
			       struct rng *r)
{
	uint64_t *member = xcalloc(f->nterm, sizeof(*member));
	struct jobset *js;

	for (uint32_t term = 0; term < f->nterm; term++)
		for (uint32_t k = 0; k < njob; k++)
			if (rng_below(r, 100) < chance)
				member[term] |= 1ull << k;
	js = kit_jobs(f, member, njob);
	free(member);
	return js;
}

struct tables *kit_cut_ring(const struct fabric *f, uint32_t cut)
{
	struct tables *t = tables_new(f, "test");
	uint32_t n = f->nsw;

	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		uint8_t dport = 0;
		uint32_t dst = fabric_lid_switch(f, lid, &dport);

		for (uint32_t sw = 0; sw < n; sw++) {
			uint32_t here = (sw + n - cut - 1) % n, there = (dst + n - cut - 1) % n;
			uint32_t next = here < there ? (sw + 1) % n : (sw + n - 1) % n;

			tables_row(t, sw)[lid] =
				sw == dst ? dport : f->chan_port[kit_chan(f, sw, next)];
		}
	}
	return t;
}

struct jobset *kit_placed_jobs(const struct fabric *f, uint64_t seed, uint32_t most, bool scattered)
{
	struct jobset_builder *b = jobset_builder_new(f, "test");
	uint32_t *order = xcalloc(f->nterm, sizeof(*order)), at = 0;
	struct rng r;

	rng_seed(&r, seed);
	for (uint32_t i = 0; i < f->nterm; i++)
		order[i] = i;
	if (scattered)
		rng_shuffle_u32(&r, order, f->nterm);
	for (uint64_t id = 1; at + 1 < f->nterm; id++) {
		uint32_t n = 2 + (uint32_t)rng_below(&r, most - 1);
		struct job head = { .id = id };

		n = n < f->nterm - at ? n : f->nterm - at;
		jobset_builder_add_ports(b, &head, order + at, n);
		at += n;
	}
	free(order);
	return jobset_build(b);
}
