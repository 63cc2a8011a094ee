/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/part/part.h"

#include "fabric/base/memory/mem.h"
#include "fabric/model/topology/builder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static bool part_has(const bool *v, uint32_t i)
{
	return v && v[i];
}

static bool part_chan_gone(const struct fabric *f, const struct part_loss *l, uint32_t c)
{
	return part_has(l->chan, c) || part_has(l->chan, f->chan_rev[c]) ||
	       part_has(l->sw, f->chan_src[c]) || part_has(l->sw, f->chan_dst[c]);
}

static bool part_end_gone(const struct fabric *f, const struct part_loss *l, uint32_t end)
{
	return part_has(l->term, end) || part_has(l->sw, f->term_sw[end]);
}

/* Marks what is connected with sw as piece number n; how many hosts are on it. */
static uint32_t part_flood(uint32_t *piece, uint32_t *queue, const struct fabric *f,
			   const struct part_loss *l, uint32_t sw, uint32_t n)
{
	uint32_t head = 0, tail = 0, hosts = 0;

	piece[sw] = n;
	queue[tail++] = sw;
	while (head < tail) {
		uint32_t u = queue[head++];

		for (uint32_t i = f->term_off[u]; i < f->term_off[u + 1]; i++)
			hosts +=
				f->term_list[i] < f->nterm && !part_end_gone(f, l, f->term_list[i]);
		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
			uint32_t v = f->chan_dst[c];

			if (piece[v] || part_chan_gone(f, l, c))
				continue;
			piece[v] = n;
			queue[tail++] = v;
		}
	}
	return hosts;
}

/* By switch: is it in the piece with the most hosts?  False: that has none. */
static bool part_largest(bool *in, const struct fabric *f, const struct part_loss *l)
{
	uint32_t *piece = xcalloc(f->nsw, sizeof(*piece)), *queue = xcalloc(f->nsw, sizeof(*queue));
	uint32_t best = 0, most = 0, n = 0;

	for (uint32_t u = 0; u < f->nsw; u++) {
		uint32_t hosts;

		if (piece[u] || part_has(l->sw, u))
			continue;
		hosts = part_flood(piece, queue, f, l, u, ++n);
		if (hosts > most) {
			most = hosts;
			best = n;
		}
	}
	for (uint32_t u = 0; u < f->nsw; u++)
		in[u] = best && piece[u] == best;
	free(piece);
	free(queue);
	return best > 0;
}

static int part_rate(struct builder *b, uint32_t id, uint32_t port, const struct port *p,
		     struct err *err)
{
	char link[24];
	int rc = builder_port_state(b, id, port, PORT_ACTIVE, p->op_vls, err);

	if (rc || !p->width || !p->speed[0])
		return rc;
	snprintf(link, sizeof(link), "%ux%s", p->width, p->speed);
	return builder_port_link(b, id, port, link, err);
}

static int part_add_switch(struct builder *b, uint32_t *id, const struct fabric *f, uint32_t u,
			   struct err *err)
{
	int rc = builder_node(id, b, NODE_SWITCH, f->sw_guid[u], f->sw_nports[u], f->sw_name[u],
			      err);

	if (!rc)
		rc = builder_port_lid(b, *id, 0, f->sw_lid[u], 0, err);
	if (!rc)
		builder_set_enhanced_sp0(b, *id, f->sw_enhanced_sp0[u]);
	return rc;
}

static int part_add_end(struct builder *b, uint32_t sw_id, const struct fabric *f, uint32_t e,
			struct err *err)
{
	enum node_kind kind = f->term_kind[e] == TERM_ROUTER ? NODE_ROUTER : NODE_CA;
	const char *desc = f->term_kind[e] == TERM_AGGREGATION || !f->term_mapped[e]
				   ? f->term_desc[e]
				   : f->term_name[e];
	const struct port *p = fabric_port(f, f->term_sw[e], f->term_port[e]);
	uint32_t id, port = f->term_ca_port[e];
	int rc = builder_node(&id, b, kind, f->term_node_guid[e], 0, desc, err);

	if (rc)
		return rc;
	builder_set_system(b, id, f->term_sys_guid[e]);
	if (f->term_kind[e] == TERM_STORAGE)
		builder_set_kind(b, id, TERM_STORAGE);
	rc = builder_port_guid(b, id, port, f->term_guid[e], err);
	if (!rc)
		rc = builder_port_lid(b, id, port, f->term_lid[e], f->lmc, err);
	if (!rc)
		rc = builder_link(b, sw_id, f->term_port[e], id, port, err);
	if (!rc)
		rc = part_rate(b, sw_id, f->term_port[e], p, err);
	return rc ? rc : part_rate(b, id, port, p, err);
}

static int part_add_cable(struct builder *b, const uint32_t *id, const struct fabric *f, uint32_t c,
			  struct err *err)
{
	uint32_t u = f->chan_src[c], v = f->chan_dst[c];
	int rc = builder_link(b, id[u], f->chan_port[c], id[v], f->chan_rport[c], err);

	if (!rc)
		rc = part_rate(b, id[u], f->chan_port[c], fabric_port(f, u, f->chan_port[c]), err);
	return rc ? rc
		  : part_rate(b, id[v], f->chan_rport[c], fabric_port(f, v, f->chan_rport[c]), err);
}

static int part_add_all(struct builder *b, const struct fabric *f, const struct part_loss *l,
			const bool *in, struct err *err)
{
	uint32_t *id = xcalloc(f->nsw, sizeof(*id));
	int rc = 0;

	for (uint32_t u = 0; u < f->nsw && !rc; u++)
		rc = in[u] ? part_add_switch(b, &id[u], f, u, err) : 0;
	for (uint32_t c = 0; c < f->nchan && !rc; c++)
		if (c < f->chan_rev[c] && in[f->chan_src[c]] && in[f->chan_dst[c]] &&
		    !part_chan_gone(f, l, c))
			rc = part_add_cable(b, id, f, c, err);
	for (uint32_t e = 0; e < f->nend && !rc; e++)
		if (in[f->term_sw[e]] && !part_end_gone(f, l, e))
			rc = part_add_end(b, id[f->term_sw[e]], f, e, err);
	free(id);
	return rc;
}

int fabric_part(struct fabric **out, const struct fabric *f, const struct part_loss *loss,
		struct part_report *report, struct err *err)
{
	struct freeze_opts opts = { .name = f->name, .lmc = f->lmc };
	bool *in = xcalloc(f->nsw, sizeof(*in));
	struct builder *b = builder_new();
	int rc = part_largest(in, f, loss) ? 0 : err_set(err, -EINVAL, "no host is left");

	if (!rc)
		rc = part_add_all(b, f, loss, in, err);
	if (!rc)
		rc = builder_freeze(out, b, &opts, err);
	if (!rc && report)
		*report = (struct part_report){ .hosts_cut = f->nterm - (*out)->nterm,
						.switches_cut = f->nsw - (*out)->nsw };
	builder_free(b);
	free(in);
	return rc;
}
