/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/verify/verify_deps_in.h"
#include "fabric/base/mem.h"

#include <string.h>

/* VLs of masks of SLs as a turn keeps them. */
static uint16_t verify_deps_masks_to_vls(const struct deps *d, uint32_t masks)
{
	uint32_t vls = 0, x;

	for (x = masks & 0xffff; x; x &= x - 1)
		vls |= 1u << d->vl_sent[__builtin_ctz(x)];
	for (x = masks >> 16; x; x &= x - 1)
		vls |= 1u << d->vl_passing[__builtin_ctz(x)];
	return (uint16_t)vls;
}

/* VLs whose lane holds an SL. */
static uint16_t verify_deps_lanes_to_vls(const uint64_t *words, uint32_t n)
{
	uint32_t vl, vls = 0;

	for (vl = 0; vl < 4 * n; vl++)
		vls |= (words[vl / 4] >> vl % 4 * 16 & 0xffff ? 1u : 0) << vl;
	return (uint16_t)vls;
}

uint16_t deps_vls(const struct deps *d)
{
	return d->by_port ? verify_deps_lanes_to_vls(d->all, d->rows.nwords)
			  : verify_deps_masks_to_vls(d, d->seen);
}

uint16_t deps_sls(const struct deps *d)
{
	uint32_t k, sls = d->seen | d->seen >> 16;

	for (k = 0; k < ROWS_MAX_WORDS; k++)
		sls |= rows_fold(d->all[k]);
	return (uint16_t)sls;
}

static uint32_t verify_deps_turns_of(const struct deps *d, uint32_t c, size_t *first)
{
	uint32_t v = d->f->chan_dst[c];

	*first = d->turn_base[c] + d->f->chan_off[v];
	return d->f->chan_off[v + 1] - d->f->chan_off[v];
}

static uint16_t verify_deps_chan_vls(const struct deps *d, uint32_t c)
{
	uint32_t masks = 0, i, n;
	size_t first;

	n = verify_deps_turns_of(d, c, &first);
	if (d->by_port) {
		uint64_t words[ROWS_MAX_WORDS] = { 0 };
		uint32_t k, nwords = d->rows.nwords;

		for (i = 0; i <= n; i++) {
			for (k = 0; k < nwords; k++)
				words[k] |= d->turn_sls[(first + i) * nwords + k];
		}
		return verify_deps_lanes_to_vls(words, nwords);
	}
	for (i = 0; i <= n; i++)
		masks |= d->turn[first + i];
	return verify_deps_masks_to_vls(d, masks);
}

static uint16_t verify_deps_port_vls(const struct deps *d, size_t port)
{
	return d->by_port ? d->port_vl[port] : verify_deps_masks_to_vls(d, d->delivered[port]);
}

/* OperVLs of the link on a port: the smaller of both ends; 0 unknown. */
static uint8_t verify_deps_link_op_vls(const struct fabric *f, uint32_t sw, uint32_t p)
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
			uint8_t op_vls = verify_deps_link_op_vls(f, sw, p);

			vls = c != FAB_NONE ? verify_deps_chan_vls(d, c)
					    : verify_deps_port_vls(d, f->port_off[sw] + p);
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

/* The VLs after a turn for each VL before it, where SL2VL depends on the ports. */
static void verify_deps_turn_rows_by_port(const struct deps *d, size_t turn, uint16_t row[FAB_SLS])
{
	const uint64_t *words = d->turn_sls + turn * d->rows.nwords;
	const uint8_t *vls = d->rows.vl + (size_t)d->rows.turn[turn] * FAB_SLS;
	uint32_t vl, x;

	for (vl = 0; vl < ALL_VLS && vl < 4 * d->rows.nwords; vl++) {
		for (x = words[vl / 4] >> vl % 4 * 16 & 0xffff; x; x &= x - 1) {
			uint8_t next = vls[__builtin_ctz(x)];

			if (next < ALL_VLS)
				row[vl] |= (uint16_t)(1u << next);
		}
	}
}

/* Adds the VLs after a turn to the row of each VL before it. */
static void verify_deps_turn_rows(const struct deps *d, size_t turn, uint16_t row[FAB_SLS])
{
	uint32_t x, m;

	memset(row, 0, FAB_SLS * sizeof(*row));
	if (d->by_port) {
		verify_deps_turn_rows_by_port(d, turn, row);
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
static uint64_t verify_deps_emit(const struct deps *d, uint32_t c, struct depgraph *g, uint64_t at,
				 bool store)
{
	uint16_t row[FAB_MAX_PORT + 1][FAB_SLS];
	uint32_t v = d->f->chan_dst[c], i, vl, x, n;
	size_t first;

	n = verify_deps_turns_of(d, c, &first);
	for (i = 0; i < n; i++)
		verify_deps_turn_rows(d, first + i, row[i]);
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

struct depgraph *deps_graph(const struct deps *d, struct progress *progress)
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
		for (x = verify_deps_chan_vls(d, c); x; x &= x - 1, g->nused++)
			g->used[c * g->nvl + (uint32_t)__builtin_ctz(x)] = true;
	}
	for (pass = 0; pass < 2; pass++) {
		for (c = 0, n = 0; c < d->f->nchan; c++) {
			n = verify_deps_emit(d, c, g, n, pass == 1);
			if (!(c % 4096))
				progress_step(progress, "verify", d->f->max_lid, d->f->max_lid);
		}
		g->off[g->n] = n;
		if (pass == 0)
			g->to = xcalloc(n, sizeof(*g->to));
	}
	return g;
}
