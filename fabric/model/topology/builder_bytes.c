/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/topology/builder_bytes.h"

#include "fabric/model/topology/builder_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct node_bytes {
	uint64_t guid, system;
	uint32_t nports;
	uint8_t kind, term_kind, kind_set, enhanced_sp0;
};

void builder_put(bytes_out *out, const struct builder *b)
{
	uint32_t n = (uint32_t)b->node.n;

	bytes_put(out, &n, sizeof(n));
	for (uint32_t i = 0; i < n; i++) {
		const struct bnode *node = &b->node.v[i];
		struct node_bytes head = { .guid = node->guid,
					   .system = node->system,
					   .nports = node->nports,
					   .kind = (uint8_t)node->kind,
					   .term_kind = (uint8_t)node->term_kind,
					   .kind_set = node->kind_set,
					   .enhanced_sp0 = node->enhanced_sp0 };

		bytes_put(out, &head, sizeof(head));
		bytes_put_text(out, node->desc);
		bytes_put(out, node->port, (node->nports + 1) * sizeof(*node->port));
	}
}

static int builder_take_port(struct builder *b, uint32_t id, uint32_t at, const struct bport *p,
			     struct err *err)
{
	char link[24];
	int rc = builder_port_guid(b, id, at, p->guid, err);

	if (!rc)
		rc = builder_port_lid(b, id, at, p->lid, p->lmc, err);
	if (!rc && p->state > PORT_ACTIVE)
		rc = -EPROTO;
	if (!rc)
		rc = builder_port_state(b, id, at, (enum port_state)p->state, p->op_vls, err);
	snprintf(link, sizeof(link), "%ux%.*s", p->width, (int)sizeof(p->speed), p->speed);
	if (!rc && p->width)
		rc = builder_port_link(b, id, at, link, err);
	return rc;
}

/* Its cables come later, when all nodes are there; where they are is kept until then. */
static int builder_take_node(struct builder *b, uint32_t nr, struct bytes_in *in, struct err *err)
{
	struct node_bytes head;
	struct bport port;
	uint32_t id, from;
	char *desc;
	int rc;

	bytes_take(in, &head, sizeof(head));
	desc = bytes_take_text(in);
	if (in->bad || head.kind > NODE_ROUTER || head.term_kind > TERM_ROUTER)
		rc = -EPROTO;
	else
		rc = builder_node(&id, b, (enum node_kind)head.kind, head.guid, head.nports, desc,
				  err);
	free(desc);
	if (rc)
		return rc;
	if (id != nr)
		return -EPROTO;
	builder_set_enhanced_sp0(b, id, head.enhanced_sp0);
	builder_set_system(b, id, head.system);
	if (head.kind_set)
		builder_set_kind(b, id, (enum term_kind)head.term_kind);
	from = head.kind == NODE_SWITCH ? 0 : 1;
	for (uint32_t p = 0; p <= head.nports && !rc; p++) {
		bytes_take(in, &port, sizeof(port));
		if (p >= from && !in->bad)
			rc = builder_take_port(b, id, p, &port, err);
	}
	return in->bad ? -EPROTO : rc;
}

static int builder_take_cables(struct builder *b, uint32_t nr, struct bytes_in *in, struct err *err)
{
	struct node_bytes head;
	struct bport port;
	int rc = 0;

	bytes_take(in, &head, sizeof(head));
	free(bytes_take_text(in));
	for (uint32_t p = 0; p <= head.nports && !rc; p++) {
		bytes_take(in, &port, sizeof(port));
		if (port.peer == FAB_NONE)
			continue;
		rc = port.peer < b->node.n ? builder_link(b, nr, p, port.peer, port.peer_port, err)
					   : -EPROTO;
	}
	return rc;
}

int builder_take(struct builder **out, struct bytes_in *in, struct err *err)
{
	struct builder *b = builder_new();
	struct bytes_in again;
	uint32_t n;
	int rc = 0;

	*out = NULL;
	bytes_take(in, &n, sizeof(n));
	again = *in;
	for (uint32_t i = 0; i < n && !rc; i++)
		rc = builder_take_node(b, i, in, err);
	for (uint32_t i = 0; i < n && !rc; i++)
		rc = builder_take_cables(b, i, &again, err);
	if (!rc && !in->bad) {
		*out = b;
		return 0;
	}
	builder_free(b);
	return err_set(err, -EPROTO, "what was read does not make a fabric");
}
