/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/verify_witness.h"

#include "engines/verify/verify_walk.h"
#include "fabric/base/mem.h"

#include <stdlib.h>

struct edge {
	uint32_t chan, next; /* next waits behind chan */
	uint8_t vl, next_vl;
};

/* Follows one packet: does it hold (chan, vl) while it asks for (next, next_vl)? */
static bool verify_witness_path_makes(const struct fabric *f, const struct tables *t, uint32_t end,
				      uint32_t lid, const struct edge *e)
{
	uint32_t sw = f->term_sw[end], last = FAB_NONE, left;
	uint8_t in = f->term_port[end], sl = tables_path_sl(t, end, sw, lid), last_vl = VL_DROP;

	for (left = f->nsw; left > 0 && sl < FAB_SLS; left--) {
		uint8_t out = tables_row(t, sw)[lid], vl;
		uint32_t c = fabric_chan(f, sw, out);

		if (c == FAB_NONE)
			return false;
		vl = tables_vl(t, f, sw, in, out, sl);
		if (vl >= VL_DROP)
			return false;
		if (last == e->chan && last_vl == e->vl)
			return c == e->next && vl == e->next_vl;
		last = c;
		last_vl = vl;
		in = f->chan_rport[c];
		sw = f->chan_dst[c];
	}
	return false;
}

/* Among the ends whose way to the LID goes through chan, one that makes the dependency. */
static uint32_t verify_witness_find_source(const struct walk *w, uint32_t lid, const struct edge *e,
					   bool *through)
{
	const struct fabric *f = w->f;
	uint32_t i, k;

	for (i = w->norder; i-- > 0;) {
		uint32_t sw = w->order[i], c = w->chan[sw];

		through[sw] = sw != w->dsw && (c == e->chan || through[f->chan_dst[c]]);
		for (k = f->term_off[sw]; through[sw] && k < f->term_off[sw + 1]; k++) {
			if (verify_witness_path_makes(f, w->t, f->term_list[k], lid, e))
				return f->term_list[k];
		}
	}
	return FAB_NONE;
}

static bool verify_witness_fill(struct witness *out, struct walk *w, const struct edge *e,
				bool *through, bool terminals_only)
{
	const struct fabric *f = w->f;
	const uint8_t *row = tables_row(w->t, f->chan_src[e->chan]);
	const uint8_t *next_row = tables_row(w->t, f->chan_dst[e->chan]);
	uint32_t lid, end;

	for (lid = 1; lid <= f->max_lid; lid++) {
		if (row[lid] != f->chan_port[e->chan] || next_row[lid] != f->chan_port[e->next])
			continue;
		if (terminals_only && fabric_lid_end(f, lid) >= f->nend)
			continue;
		if (!walk_lid(w, lid))
			continue;
		end = verify_witness_find_source(w, lid, e, through);
		if (end == FAB_NONE)
			continue;
		out->chan = e->chan;
		out->vl = e->vl;
		out->src_term = end;
		out->dlid = (uint16_t)lid;
		out->sl = tables_path_sl(w->t, end, f->term_sw[end], lid);
		return true;
	}
	return false;
}

struct witness *witness_find(const struct fabric *f, const struct tables *t, const uint32_t *cycle,
			     uint32_t n, uint32_t nvl, bool terminals_only)
{
	struct witness *list = xcalloc(n, sizeof(*list));
	bool *through = xcalloc(f->nsw, sizeof(*through));
	struct walk *w = walk_new(f, t);
	uint32_t i;

	for (i = 0; i < n; i++) {
		uint32_t v = cycle[i], u = cycle[(i + 1) % n];
		struct edge e = { v / nvl, u / nvl, (uint8_t)(v % nvl), (uint8_t)(u % nvl) };

		if (!verify_witness_fill(&list[i], w, &e, through, terminals_only))
			abort(); /* every edge of the graph was put there by such a path */
	}
	walk_free(w);
	free(through);
	return list;
}
