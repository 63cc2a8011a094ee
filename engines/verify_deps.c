/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify_deps.h"

#include "fabric/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define ALL_VLS 15 /* data VLs 0..14 */

/*
 * Two ways to keep a turn.  Where SL2VL depends on no more than what hangs on the input port,
 * a packet's VLs on both sides of a turn follow from its SL and from whether it entered
 * the first switch of the turn from a terminal or from a switch: two masks of SLs are enough.
 * Where it depends on the ports, the VLs before and after the turn are kept as a matrix.
 */
struct deps {
	const struct fabric *f;
	const struct tables *t;
	bool by_port;

	/* turn of channel c onto channel e: turn_base[c] + e; e = chan_off[dst+1]: delivered */
	size_t *turn_base;
	uint32_t *turn; /* SLs from terminals | SLs from switches << 16; NULL: not kept */

	/* SLs that a source switch sends to a LID, for one block of LIDs */
	uint16_t *sent;	      /* of the LID in hand, per switch */
	uint16_t *sent_block; /* LFT_BLOCK rows of nsw */
	uint32_t block;
	bool bad_sl[LFT_BLOCK];	    /* somebody uses an SL above 15 */
	uint16_t any_sl[LFT_BLOCK]; /* SLs that anybody uses */

	uint8_t vl_sent[FAB_SLS], vl_passing[FAB_SLS]; /* not by_port */
	uint16_t drop_sent, drop_passing;
	uint16_t *passing;   /* per switch: SLs that other switches brought */
	uint32_t seen;	     /* all SLs: sent | passing << 16 */
	uint32_t *delivered; /* per port, masks like a turn's */

	uint32_t ncol;		   /* by_port: VLs that its SL2VL tables can give */
	uint16_t *turn_vl;	   /* by_port: [turn * ncol + VL before] = VLs after */
	uint16_t *chan_vl;	   /* by_port: VLs per channel */
	uint16_t *port_vl;	   /* by_port: VLs per port of delivery */
	uint16_t (*flow)[FAB_SLS]; /* by_port: per switch and SL, VLs on its channel */
	uint16_t *flow_sls;	   /* by_port: SLs with something in flow */
	uint16_t sls;		   /* by_port */
};

static bool port_leads_somewhere(const struct fabric *f, uint32_t sw, uint32_t p)
{
	const struct port *port = fabric_port(f, sw, (uint8_t)p);

	return port->chan != FAB_NONE || port->term != FAB_NONE;
}

/* Folds full SL2VL tables to one row per kind of input where they say no more than that. */
static bool fold_switch(struct deps *d, uint32_t sw, bool known[2])
{
	uint8_t *row[2] = { d->vl_sent, d->vl_passing };
	uint32_t in, out, nports = d->f->sw_nports[sw];

	for (in = 1; in <= nports; in++) {
		uint32_t k = fabric_chan(d->f, sw, (uint8_t)in) != FAB_NONE;

		for (out = 1; out <= nports && port_leads_somewhere(d->f, sw, in); out++) {
			const uint8_t *vl = tables_sl2vl_row(d->t, sw, in, out);

			if (in == out || !port_leads_somewhere(d->f, sw, out))
				continue;
			if (!known[k])
				memcpy(row[k], vl, FAB_SLS);
			else if (memcmp(row[k], vl, FAB_SLS) != 0)
				return false;
			known[k] = true;
		}
	}
	return true;
}

static bool depends_on_ports(struct deps *d)
{
	bool known[2] = { false, false };
	uint32_t sw;

	if (d->t->sl2vl_kind != SL2VL_FULL)
		return false;
	for (sw = 0; sw < d->f->nsw; sw++) {
		if (!fold_switch(d, sw, known))
			return true;
	}
	return false;
}

static void load_rows(struct deps *d)
{
	uint8_t sl;

	for (sl = 0; sl < FAB_SLS; sl++) {
		if (d->t->sl2vl_kind == SL2VL_IDENTITY) {
			d->vl_sent[sl] = d->vl_passing[sl] = sl;
		} else if (d->t->sl2vl_kind == SL2VL_BY_INPUT) {
			d->vl_sent[sl] = d->t->sl2vl[1 * FAB_SLS + sl];
			d->vl_passing[sl] = d->t->sl2vl[2 * FAB_SLS + sl];
		}
		d->drop_sent |= (uint16_t)((d->vl_sent[sl] >= ALL_VLS) << sl);
		d->drop_passing |= (uint16_t)((d->vl_passing[sl] >= ALL_VLS) << sl);
	}
}

static void prepare_by_port(struct deps *d, size_t nturns, bool turns)
{
	size_t i, n = (size_t)d->t->sl2vl_off[d->f->nsw] * FAB_SLS;

	for (i = 0; i < n; i++) {
		uint8_t vl = d->t->sl2vl[i];

		if (vl < ALL_VLS && vl >= d->ncol)
			d->ncol = vl + 1u;
	}
	if (turns)
		d->turn_vl = xcalloc(nturns * d->ncol, sizeof(*d->turn_vl));
	d->chan_vl = xcalloc(d->f->nchan, sizeof(*d->chan_vl));
	d->port_vl = xcalloc(d->f->nport, sizeof(*d->port_vl));
	d->flow = xcalloc(d->f->nsw, sizeof(*d->flow));
	d->flow_sls = xcalloc(d->f->nsw, sizeof(*d->flow_sls));
}

struct deps *deps_new(const struct fabric *f, const struct tables *t, bool turns)
{
	struct deps *d = xcalloc(1, sizeof(*d));
	size_t nturns = 0;
	uint32_t c;

	d->f = f;
	d->t = t;
	d->block = FAB_NONE;
	d->turn_base = xcalloc(f->nchan, sizeof(*d->turn_base));
	for (c = 0; c < f->nchan; c++) {
		uint32_t v = f->chan_dst[c];

		/* may wrap; adding a channel of v brings it back */
		d->turn_base[c] = nturns - f->chan_off[v];
		nturns += f->chan_off[v + 1] - f->chan_off[v] + 1;
	}
	d->passing = xcalloc(f->nsw, sizeof(*d->passing));
	d->sent_block = xcalloc((size_t)f->nsw * LFT_BLOCK, sizeof(*d->sent_block));
	d->delivered = xcalloc(f->nport, sizeof(*d->delivered));
	d->by_port = depends_on_ports(d);
	if (d->by_port) {
		prepare_by_port(d, nturns, turns);
		return d;
	}
	load_rows(d);
	if (turns)
		d->turn = xcalloc(nturns, sizeof(*d->turn));
	return d;
}

void deps_free(struct deps *d)
{
	if (!d)
		return;
	free(d->turn_base);
	free(d->turn);
	free(d->sent_block);
	free(d->passing);
	free(d->delivered);
	free(d->turn_vl);
	free(d->chan_vl);
	free(d->port_vl);
	free(d->flow);
	free(d->flow_sls);
	free(d);
}

static uint16_t sl_bit(uint8_t sl)
{
	return sl < FAB_SLS ? (uint16_t)(1u << sl) : 0;
}

/* SLs of one block of LIDs by switch: rows of that stride, 0 when all switches have the same. */
static void load_by_switch(struct deps *d, const uint8_t *sl, size_t stride)
{
	const uint32_t *off = d->f->term_off;
	uint32_t first, last, sw, k, nsw = d->f->nsw;

	for (first = 0; first < nsw; first = last) {
		last = first + 64 < nsw ? first + 64 : nsw; /* tiles that stay in the cache */
		for (k = 0; k < LFT_BLOCK; k++) {
			uint16_t *sent = d->sent_block + (size_t)k * nsw, bit, any = 0;
			bool bad = false;

			for (sw = first; sw < last; sw++) {
				bool source = off[sw] != off[sw + 1];

				bit = source ? sl_bit(sl[sw * stride + k]) : 0;
				sent[sw] = bit;
				any |= bit;
				bad |= source && !bit;
			}
			d->any_sl[k] |= any;
			d->bad_sl[k] |= bad;
		}
	}
}

/* The same by terminal: a switch sends with the SLs of all its ends. */
static void load_by_term(struct deps *d, const uint8_t *sl, size_t stride)
{
	uint32_t end, k, nsw = d->f->nsw;

	memset(d->sent_block, 0, (size_t)nsw * LFT_BLOCK * sizeof(*d->sent_block));
	for (end = 0; end < d->f->nend; end++) {
		for (k = 0; k < LFT_BLOCK; k++) {
			uint16_t bit = sl_bit(sl[end * stride + k]);

			d->sent_block[(size_t)k * nsw + d->f->term_sw[end]] |= bit;
			d->any_sl[k] |= bit;
			d->bad_sl[k] |= !bit;
		}
	}
}

static void load_block(struct deps *d, uint32_t block)
{
	const struct tables *t = d->t;
	size_t at = (size_t)block * LFT_BLOCK;
	uint8_t same[LFT_BLOCK];

	if (t->sl_kind == SL_CONST && d->block != FAB_NONE)
		return; /* all blocks are alike */
	d->block = block;
	memset(d->bad_sl, 0, sizeof(d->bad_sl));
	memset(d->any_sl, 0, sizeof(d->any_sl));
	memset(same, t->sl_const, sizeof(same));
	switch (t->sl_kind) {
	case SL_CONST:
		load_by_switch(d, same, 0);
		break;
	case SL_BY_DLID:
		load_by_switch(d, t->sl + at, 0);
		break;
	case SL_BY_SWITCH:
		load_by_switch(d, t->sl + at, t->stride);
		break;
	case SL_BY_TERM:
		load_by_term(d, t->sl + at, t->stride);
		break;
	}
}

static bool add_by_sl(struct deps *d, const struct walk *w)
{
	const uint32_t *dst = d->f->chan_dst;
	uint16_t *passing = d->passing;
	uint32_t i, n = w->norder, m, dsw = w->dsw, lost = 0, seen = 0;
	uint16_t stay_sent = (uint16_t)~d->drop_sent, stay_passing = (uint16_t)~d->drop_passing;

	for (i = 0; i + 1 < n; i++) {
		uint32_t u = w->order[i], c = w->chan[u], v = dst[c], on;

		lost |= d->sent[u] & d->drop_sent;
		m = (d->sent[u] & stay_sent) | (uint32_t)passing[u] << 16;
		passing[u] = 0;
		if (!m)
			continue;
		seen |= m;
		if (d->turn)
			d->turn[d->turn_base[c] + w->chan[v]] |= m;
		on = (m | m >> 16) & 0xffff;
		lost |= on & d->drop_passing;
		passing[v] |= (uint16_t)(on & stay_passing);
	}
	d->seen |= seen;
	if (!n)
		return lost != 0;
	lost |= d->sent[dsw] & d->drop_sent;
	if (w->dport)
		d->delivered[d->f->port_off[dsw] + w->dport] |=
			(d->sent[dsw] & stay_sent) | (uint32_t)passing[dsw] << 16;
	passing[dsw] = 0;
	return lost != 0;
}

/* What the ends on u send into u's channel (or straight to the LID's port). */
static bool send_by_port(struct deps *d, const struct walk *w, uint32_t u, uint32_t lid)
{
	const struct fabric *f = d->f;
	bool lost = false;
	uint32_t i, out = u == w->dsw ? w->dport : f->chan_port[w->chan[u]];

	for (i = f->term_off[u]; i < f->term_off[u + 1]; i++) {
		uint32_t end = f->term_list[i];
		uint8_t sl = tables_path_sl(d->t, end, u, lid), vl;

		if (sl >= FAB_SLS) {
			lost = true;
			continue;
		}
		if (!out || f->term_port[end] == out)
			continue;
		vl = tables_sl2vl_row(d->t, u, f->term_port[end], out)[sl];
		if (vl >= ALL_VLS) {
			lost = true;
			continue;
		}
		d->flow[u][sl] |= (uint16_t)(1u << vl);
		d->flow_sls[u] |= (uint16_t)(1u << sl);
	}
	return lost;
}

/* Traffic of one SL on channel c turns to port out of the switch it arrives at. */
static bool turn_by_port(struct deps *d, const struct walk *w, uint32_t c, uint32_t sl,
			 uint16_t before)
{
	uint32_t v = d->f->chan_dst[c], x;
	size_t turn = d->turn_base[c] + w->chan[v];
	uint8_t out = v == w->dsw ? w->dport : d->f->chan_port[w->chan[v]], vl;

	if (!out)
		return false;
	vl = tables_sl2vl_row(d->t, v, d->f->chan_rport[c], out)[sl];
	if (vl >= ALL_VLS)
		return true;
	d->flow[v][sl] |= (uint16_t)(1u << vl);
	d->flow_sls[v] |= (uint16_t)(1u << sl);
	if (v == w->dsw || !d->turn_vl)
		return false;
	for (x = before; x; x &= x - 1)
		d->turn_vl[turn * d->ncol + (uint32_t)__builtin_ctz(x)] |= (uint16_t)(1u << vl);
	return false;
}

static bool add_by_port(struct deps *d, const struct walk *w, uint32_t lid)
{
	bool lost = false;
	uint32_t i, x;

	for (i = 0; i < w->norder; i++) {
		uint32_t u = w->order[i], c = w->chan[u];
		uint16_t *vls =
			u == w->dsw ? &d->port_vl[d->f->port_off[u] + w->dport] : &d->chan_vl[c];

		lost |= send_by_port(d, w, u, lid);
		for (x = d->flow_sls[u]; x; x &= x - 1) {
			uint32_t sl = (uint32_t)__builtin_ctz(x);

			*vls |= d->flow[u][sl];
			if (u != w->dsw)
				lost |= turn_by_port(d, w, c, sl, d->flow[u][sl]);
			d->flow[u][sl] = 0;
		}
		if (u != w->dsw)
			d->sls |= d->flow_sls[u];
		d->flow_sls[u] = 0;
	}
	return lost;
}

/* Without turns there is nothing to learn from SLs that were seen both sent and passing. */
static bool knows_all(const struct deps *d, uint32_t sls)
{
	return !d->turn && !(sls & (d->drop_sent | d->drop_passing)) &&
	       !((sls | sls << 16) & ~d->seen);
}

bool deps_add(struct deps *d, const struct walk *w, uint32_t lid)
{
	uint32_t k = lid % LFT_BLOCK;

	if (d->by_port)
		return add_by_port(d, w, lid);
	if (d->block != lid / LFT_BLOCK)
		load_block(d, lid / LFT_BLOCK);
	d->sent = d->sent_block + (size_t)k * d->f->nsw;
	if (knows_all(d, d->any_sl[k]))
		return d->bad_sl[k];
	return add_by_sl(d, w) || d->bad_sl[k];
}

/* VLs of masks of SLs as a turn keeps them. */
static uint16_t masks_to_vls(const struct deps *d, uint32_t masks)
{
	uint32_t vls = 0, x;

	for (x = masks & 0xffff; x; x &= x - 1)
		vls |= 1u << d->vl_sent[__builtin_ctz(x)];
	for (x = masks >> 16; x; x &= x - 1)
		vls |= 1u << d->vl_passing[__builtin_ctz(x)];
	return (uint16_t)vls;
}

uint16_t deps_vls(const struct deps *d)
{
	uint32_t c, vls = 0;

	if (!d->by_port)
		return masks_to_vls(d, d->seen);
	for (c = 0; c < d->f->nchan; c++)
		vls |= d->chan_vl[c];
	return (uint16_t)vls;
}

uint16_t deps_sls(const struct deps *d)
{
	return d->by_port ? d->sls : (uint16_t)(d->seen | d->seen >> 16);
}

static uint32_t turns_of(const struct deps *d, uint32_t c, size_t *first)
{
	uint32_t v = d->f->chan_dst[c];

	*first = d->turn_base[c] + d->f->chan_off[v];
	return d->f->chan_off[v + 1] - d->f->chan_off[v];
}

static uint16_t chan_vls(const struct deps *d, uint32_t c)
{
	uint32_t masks = 0, i, n;
	size_t first;

	if (d->by_port)
		return d->chan_vl[c];
	n = turns_of(d, c, &first);
	for (i = 0; i <= n; i++)
		masks |= d->turn[first + i];
	return masks_to_vls(d, masks);
}

static uint16_t port_vls(const struct deps *d, size_t port)
{
	return d->by_port ? d->port_vl[port] : masks_to_vls(d, d->delivered[port]);
}

/* OperVLs of the link on a port: the smaller of both ends; 0 unknown. */
static uint8_t link_op_vls(const struct fabric *f, uint32_t sw, uint32_t p)
{
	const struct port *port = fabric_port(f, sw, (uint8_t)p);
	uint8_t far;

	if (port->chan == FAB_NONE)
		return port->op_vls;
	far = fabric_port(f, f->chan_dst[port->chan], f->chan_rport[port->chan])->op_vls;
	if (!port->op_vls || !far)
		return port->op_vls | far;
	return port->op_vls < far ? port->op_vls : far;
}

bool deps_vls_fit(const struct deps *d, struct vl_misfit *first)
{
	const struct fabric *f = d->f;
	uint32_t sw, p;

	for (sw = 0; sw < f->nsw; sw++) {
		for (p = 1; p <= f->sw_nports[sw]; p++) {
			uint32_t c = fabric_chan(f, sw, (uint8_t)p), vls;
			uint8_t op_vls = link_op_vls(f, sw, p);

			vls = c != FAB_NONE ? chan_vls(d, c) : port_vls(d, f->port_off[sw] + p);
			if (!op_vls || !(vls >> op_vls))
				continue;
			first->sw = sw;
			first->port = (uint8_t)p;
			first->vl = (uint8_t)(31 - __builtin_clz(vls));
			first->op_vls = op_vls;
			return false;
		}
	}
	return true;
}

/* Adds the VLs after a turn to the row of each VL before it. */
static void turn_rows(const struct deps *d, size_t turn, uint16_t row[FAB_SLS])
{
	uint32_t x, m;

	memset(row, 0, FAB_SLS * sizeof(*row));
	if (d->by_port) {
		memcpy(row, d->turn_vl + turn * d->ncol, d->ncol * sizeof(*row));
		return;
	}
	m = d->turn[turn];
	for (x = m & 0xffff & ~(uint32_t)d->drop_passing; x; x &= x - 1) {
		uint32_t sl = (uint32_t)__builtin_ctz(x);

		row[d->vl_sent[sl]] |= (uint16_t)(1u << d->vl_passing[sl]);
	}
	for (x = m >> 16; x; x &= x - 1) {
		uint32_t vl = d->vl_passing[__builtin_ctz(x)];

		row[vl] |= (uint16_t)(1u << vl);
	}
}

/* Edges out of the vertices of channel c; only counted unless store. */
static uint64_t emit(const struct deps *d, uint32_t c, struct depgraph *g, uint64_t at, bool store)
{
	uint16_t row[FAB_MAX_PORT + 1][FAB_SLS];
	uint32_t v = d->f->chan_dst[c], i, vl, x, n;
	size_t first;

	n = turns_of(d, c, &first);
	for (i = 0; i < n; i++)
		turn_rows(d, first + i, row[i]);
	for (vl = 0; vl < g->nvl; vl++) {
		g->off[(size_t)c * g->nvl + vl] = at;
		for (i = 0; i < n; i++) {
			for (x = row[i][vl]; x; x &= x - 1, at++) {
				if (store)
					g->to[at] = (d->f->chan_off[v] + i) * g->nvl +
						    (uint32_t)__builtin_ctz(x);
			}
		}
	}
	return at;
}

struct depgraph *deps_graph(const struct deps *d)
{
	struct depgraph *g = xcalloc(1, sizeof(*g));
	uint32_t c, x, vls = deps_vls(d);
	uint64_t n;
	int pass;

	g->nvl = vls ? 32u - (uint32_t)__builtin_clz(vls) : 1;
	g->n = d->f->nchan * g->nvl;
	g->used = xcalloc(g->n, sizeof(*g->used));
	g->off = xcalloc((size_t)g->n + 1, sizeof(*g->off));
	for (c = 0; c < d->f->nchan; c++) {
		for (x = chan_vls(d, c); x; x &= x - 1, g->nused++)
			g->used[c * g->nvl + (uint32_t)__builtin_ctz(x)] = true;
	}
	for (pass = 0; pass < 2; pass++) {
		for (c = 0, n = 0; c < d->f->nchan; c++)
			n = emit(d, c, g, n, pass == 1);
		g->off[g->n] = n;
		if (pass == 0)
			g->to = xcalloc(n, sizeof(*g->to));
	}
	return g;
}

bool path_arrives(uint32_t *at, const struct fabric *f, const struct tables *t, uint32_t end,
		  uint32_t lid)
{
	uint32_t sw = f->term_sw[end], dsw, left;
	uint8_t dport = 0, in = f->term_port[end], sl = tables_path_sl(t, end, sw, lid);

	dsw = fabric_lid_switch(f, lid, &dport);
	*at = sw;
	if (fabric_lid_end(f, lid) == end)
		return tables_row(t, sw)[lid] == dport; /* does not leave the adapter */
	for (left = f->nsw; left > 0 && sl < FAB_SLS; left--) {
		uint8_t out = tables_row(t, sw)[lid];
		uint32_t c = fabric_chan(f, sw, out);
		bool here = sw == dsw && out == dport;

		*at = sw;
		if (!here && c == FAB_NONE)
			return false;
		if (here && !out)
			return true; /* port 0 has no VLs */
		if (tables_vl(t, f, sw, in, out, sl) >= ALL_VLS)
			return false;
		if (here)
			return true;
		in = f->chan_rport[c];
		sw = f->chan_dst[c];
	}
	return false;
}
