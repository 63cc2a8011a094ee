/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/tables/path.h"

#include <stdio.h>
#include <string.h>

/* SL that an end uses; switches' own packets have none in the tables where these go by terminal. */
static uint8_t path_sl(const struct tables *t, uint32_t src, uint32_t nend, uint32_t sw,
		       uint16_t dlid)
{
	if (dlid >= t->stride || (t->sl_kind == SL_BY_TERM && src >= nend))
		return 0;
	return tables_path_sl(t, src, sw, dlid);
}

static bool path_visited(const struct path *p, uint32_t sw)
{
	for (uint32_t i = 0; i < p->nhop; i++)
		if (p->hop[i].sw == sw)
			return true;
	return false;
}

/* What becomes of a packet that leaves switch sw by a port that is no channel. */
static enum path_fate path_fate_at(const struct fabric *f, const struct path *p, uint32_t sw,
				   uint8_t out)
{
	uint32_t end;

	if (out == FAB_NO_PORT)
		return PATH_NO_ENTRY;
	if (out > f->sw_nports[sw])
		return PATH_NOWHERE;
	end = out ? fabric_port(f, sw, out)->term : f->nend + sw;
	if (end == FAB_NONE)
		return PATH_NOWHERE;
	return end == p->dst ? PATH_ARRIVES : PATH_STRANGER;
}

/* Adds the hop on sw; true when the path continues, to next by its input port. */
static bool path_add_hop(struct path *p, const struct fabric *f, const struct tables *t,
			 uint32_t *sw, uint8_t *in)
{
	struct path_hop *h = &p->hop[p->nhop++];

	*h = (struct path_hop){ .sw = *sw, .in = *in, .chan = FAB_NONE };
	h->out = p->dlid <= t->max_lid ? tables_row(t, *sw)[p->dlid] : FAB_NO_PORT;
	h->chan = fabric_chan(f, *sw, h->out);
	if (h->chan == FAB_NONE) {
		p->fate = path_fate_at(f, p, *sw, h->out);
		return false;
	}
	h->vl = tables_know_vls(t) ? tables_vl(t, f, *sw, *in, h->out, p->sl) : VL_UNREAD;
	if (h->vl == VL_DROP) {
		p->fate = PATH_DROPPED;
		return false;
	}
	p->links++;
	*sw = f->chan_dst[h->chan];
	*in = f->chan_rport[h->chan];
	return true;
}

void path_walk(struct path *out, const struct fabric *f, const struct tables *t, uint32_t src,
	       uint16_t dlid)
{
	bool own = src >= f->nend;
	uint32_t sw = own ? src - f->nend : f->term_sw[src];
	uint8_t in = own ? 0 : f->term_port[src];

	out->src = src;
	out->dst = fabric_lid_end(f, dlid);
	out->dlid = dlid;
	out->sl = path_sl(t, src, f->nend, sw, dlid);
	out->fate = PATH_ARRIVES;
	out->nhop = out->links = 0;
	while (path_add_hop(out, f, t, &sw, &in)) {
		if (path_visited(out, sw))
			out->fate = PATH_LOOP;
		else if (out->nhop == PATH_HOPS)
			out->fate = PATH_LONG;
		else
			continue;
		break;
	}
	if (out->dst == FAB_NONE)
		out->fate = PATH_NO_LID;
}

const char *path_fate_text(char *buf, size_t len, const struct path *p, const struct fabric *f)
{
	const struct path_hop *h = &p->hop[p->nhop - 1];
	const char *name = f->sw_name[h->sw];

	switch (p->fate) {
	case PATH_ARRIVES:
		snprintf(buf, len, "arrives");
		break;
	case PATH_NO_LID:
		snprintf(buf, len, "no port has LID %u", p->dlid);
		break;
	case PATH_NO_ENTRY:
		snprintf(buf, len, "no entry on %s", name);
		break;
	case PATH_NOWHERE:
		snprintf(buf, len, "port %u of %s leads nowhere", h->out, name);
		break;
	case PATH_STRANGER:
		snprintf(buf, len, "port %u of %s leads to another node", h->out, name);
		break;
	case PATH_LOOP:
		snprintf(buf, len, "loops: comes back from %s to %s", name,
			 f->sw_name[f->chan_dst[h->chan]]);
		break;
	case PATH_DROPPED:
		snprintf(buf, len, "dropped by %s: SL %u has no VL on port %u", name, p->sl,
			 h->out);
		break;
	case PATH_LONG:
		snprintf(buf, len, "no end after %d switches", PATH_HOPS);
		break;
	}
	return buf;
}

bool path_hop_same(const struct path *a, const struct path *b, uint32_t i)
{
	return i < a->nhop && i < b->nhop && a->hop[i].sw == b->hop[i].sw &&
	       a->hop[i].out == b->hop[i].out && a->hop[i].vl == b->hop[i].vl;
}

uint32_t path_differs(const struct path *a, const struct path *b)
{
	uint32_t n = a->nhop > b->nhop ? a->nhop : b->nhop;

	for (uint32_t i = 0; i < n; i++)
		if (!path_hop_same(a, b, i))
			return i;
	return FAB_NONE;
}
