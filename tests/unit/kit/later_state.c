/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/later_state.h"

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#define PORTS 40 /* of each switch, at least: the last one is free for who moves */

struct rebuild {
	struct builder *b;
	const struct fabric *f;
	const struct later *how;
	uint32_t *id;
	struct err err;
};

static void must(struct rebuild *r, int rc)
{
	if (rc)
		fail_msg("%s", r->err.text);
}

static void put_switches(struct rebuild *r)
{
	const struct fabric *f = r->f;

	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		if (sw == r->how->sw_gone)
			continue;
		must(r, builder_node(&r->id[sw], r->b, NODE_SWITCH, f->sw_guid[sw],
				     f->sw_nports[sw] > PORTS ? f->sw_nports[sw] : PORTS,
				     f->sw_name[sw], &r->err));
		must(r, builder_port_lid(r->b, r->id[sw], 0, f->sw_lid[sw] + r->how->shift, 0,
					 &r->err));
	}
}

static bool stays(const struct rebuild *r, uint32_t c)
{
	const struct later *how = r->how;

	if (r->f->chan_src[c] == how->sw_gone || r->f->chan_dst[c] == how->sw_gone)
		return false;
	return !how->chan_gone || (!how->chan_gone[c] && !how->chan_gone[r->f->chan_rev[c]]);
}

static void put_host(struct rebuild *r, uint32_t e)
{
	const struct fabric *f = r->f;
	bool moved = e == r->how->end_moved;
	uint32_t sw = moved ? f->term_sw[f->nend - 1] : f->term_sw[e], id;

	must(r, builder_node(&id, r->b, NODE_CA, f->term_guid[e] + (1ull << 48), 1, f->term_name[e],
			     &r->err));
	must(r, builder_port_guid(r->b, id, 1, f->term_guid[e], &r->err));
	must(r, builder_port_lid(r->b, id, 1, f->term_lid[e] + r->how->shift, f->lmc, &r->err));
	must(r, builder_link(r->b, id, 1, r->id[sw], moved ? PORTS : f->term_port[e], &r->err));
}

struct fabric *later_state(const struct fabric *f, const struct later *how)
{
	struct rebuild r = { .b = builder_new(), .f = f, .how = how };
	struct freeze_opts opts = { .lmc = f->lmc };
	struct fabric *out;

	r.id = xcalloc(f->nsw, sizeof(*r.id));
	put_switches(&r);
	for (uint32_t c = 0; c < f->nchan; c++)
		if (f->chan_rev[c] > c && stays(&r, c))
			must(&r, builder_link(r.b, r.id[f->chan_src[c]], f->chan_port[c],
					      r.id[f->chan_dst[c]], f->chan_rport[c], &r.err));
	for (uint32_t e = 0; e < f->nend; e++)
		if (e != how->end_gone && f->term_sw[e] != how->sw_gone)
			put_host(&r, e);
	must(&r, builder_freeze(&out, r.b, &opts, &r.err));
	assert_true(out->lids_given);
	builder_free(r.b);
	free(r.id);
	return out;
}

struct fabric *later_without(const struct fabric *f, const uint32_t *chan, uint32_t n)
{
	bool *gone = xcalloc(f->nchan, sizeof(*gone));
	struct later how = LATER_NOTHING;
	struct fabric *out;

	for (uint32_t i = 0; i < n; i++)
		gone[chan[i]] = true;
	how.chan_gone = gone;
	out = later_state(f, &how);
	free(gone);
	return out;
}

uint32_t later_cable(const struct fabric *f, uint64_t seed)
{
	struct rng r;

	rng_seed(&r, seed);
	for (;;) {
		uint32_t c = (uint32_t)rng_below(&r, f->nchan);
		struct fabric *less = later_without(f, &c, 1);
		bool whole = fabric_connected(less);

		fabric_put(less);
		if (whole)
			return c;
	}
}
