/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The builder keeps nodes in the order they came in, each with an array of ports, and a
 * hash from GUID to node.  Freezing (freeze.c) only reads it.
 */
#include "fabric/model/topology/builder.h"

#include "fabric/base/message/plain.h"
#include "fabric/model/topology/builder_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define HASH_START 1024u

struct builder *builder_new(void)
{
	struct builder *b = xcalloc(1, sizeof(*b));

	b->nslot = HASH_START;
	b->slot = xcalloc(b->nslot, sizeof(*b->slot));
	return b;
}

void builder_free(struct builder *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->node.n; i++) {
		free(b->node.v[i].desc);
		free(b->node.v[i].port);
	}
	vec_free(&b->node);
	free(b->slot);
	free(b);
}

static uint32_t builder_hash_guid(uint64_t guid)
{
	return (uint32_t)((guid * 0x9e3779b97f4a7c15u) >> 32);
}

/* Slot of a GUID, or the empty one where it belongs; slots hold id + 1. */
static uint32_t *builder_find_slot(const struct builder *b, uint64_t guid)
{
	uint32_t i = builder_hash_guid(guid) & (b->nslot - 1);

	while (b->slot[i] && b->node.v[b->slot[i] - 1].guid != guid)
		i = (i + 1) & (b->nslot - 1);
	return &b->slot[i];
}

static void builder_grow_hash(struct builder *b)
{
	free(b->slot);
	b->nslot *= 2;
	b->slot = xcalloc(b->nslot, sizeof(*b->slot));
	for (size_t i = 0; i < b->node.n; i++)
		*builder_find_slot(b, b->node.v[i].guid) = (uint32_t)i + 1;
}

uint32_t builder_find(const struct builder *b, uint64_t node_guid)
{
	uint32_t slot = *builder_find_slot(b, node_guid);

	return slot ? slot - 1 : FAB_NONE;
}

static void builder_want_ports(struct bnode *n, uint32_t nports)
{
	if (nports + 1 <= n->port_cap)
		return;
	n->port = xrealloc(n->port, nports + 1, sizeof(*n->port));
	for (uint32_t p = n->port_cap; p <= nports; p++)
		n->port[p] = (struct bport){ .peer = FAB_NONE };
	n->port_cap = nports + 1;
}

static const char *builder_kind_name(enum node_kind kind)
{
	static const char *const names[] = { "switch", "channel adapter", "router" };

	return names[kind];
}

int builder_node(uint32_t *id, struct builder *b, enum node_kind kind, uint64_t node_guid,
		 uint32_t nports, const char *desc, struct err *err)
{
	uint32_t at = builder_find(b, node_guid);
	struct bnode *n;

	if (nports > FAB_MAX_PORT)
		return err_set(err, -EINVAL, "node 0x%016lx has %u ports; at most %d are possible",
			       (unsigned long)node_guid, nports, FAB_MAX_PORT);
	if (at == FAB_NONE) {
		struct bnode fresh = { .guid = node_guid, .kind = kind };

		if ((b->node.n + 1) * 2 > b->nslot)
			builder_grow_hash(b);
		at = (uint32_t)b->node.n;
		*builder_find_slot(b, node_guid) = at + 1;
		vec_push(&b->node, fresh);
	}
	n = &b->node.v[at];
	if (n->kind != kind)
		return err_set(err, -EINVAL,
			       "GUID 0x%016lx is a %s in one place and a %s in another",
			       (unsigned long)node_guid, builder_kind_name(n->kind),
			       builder_kind_name(kind));
	if (nports > n->nports)
		n->nports = nports;
	builder_want_ports(n, n->nports);
	if (desc)
		builder_set_desc(b, at, desc);
	*id = at;
	return 0;
}

void builder_set_desc(struct builder *b, uint32_t id, const char *desc)
{
	char *text = plain_text(xstrdup(desc), "\t");

	for (char *c = text; (c = strchr(c, '\t')); c++)
		*c = ' ';
	free(b->node.v[id].desc);
	b->node.v[id].desc = text;
}

void builder_set_enhanced_sp0(struct builder *b, uint32_t id, bool enhanced)
{
	b->node.v[id].enhanced_sp0 = enhanced;
}

void builder_set_system(struct builder *b, uint32_t id, uint64_t system_guid)
{
	b->node.v[id].system = system_guid;
}

void builder_set_kind(struct builder *b, uint32_t id, enum term_kind kind)
{
	b->node.v[id].term_kind = kind;
	b->node.v[id].kind_set = true;
}

/* The port, after growing the node when its size is not known yet. */
static int builder_get_port(struct bport **out, struct builder *b, uint32_t id, uint32_t port,
			    struct err *err)
{
	struct bnode *n = &b->node.v[id];

	*out = NULL;
	if (port > FAB_MAX_PORT || (n->kind != NODE_SWITCH && !port))
		return err_set(err, -EINVAL, "node 0x%016lx (%s): there is no port %u",
			       (unsigned long)n->guid,
			       n->desc ? n->desc : builder_kind_name(n->kind), port);
	if (port > n->nports)
		n->nports = port;
	builder_want_ports(n, n->nports);
	*out = &n->port[port];
	return 0;
}

int builder_port_guid(struct builder *b, uint32_t id, uint32_t port, uint64_t port_guid,
		      struct err *err)
{
	struct bport *p;
	int rc = builder_get_port(&p, b, id, port, err);

	if (p)
		p->guid = port_guid;
	return rc;
}

int builder_port_lid(struct builder *b, uint32_t id, uint32_t port, uint32_t lid, uint32_t lmc,
		     struct err *err)
{
	struct bport *p;
	int rc = builder_get_port(&p, b, id, port, err);

	if (!p)
		return rc;
	if (lid >= 1 && lid <= FAB_MAX_LID)
		p->lid = (uint16_t)lid;
	if (lmc <= 7)
		p->lmc = (uint8_t)lmc;
	return 0;
}

int builder_port_state(struct builder *b, uint32_t id, uint32_t port, enum port_state state,
		       uint32_t op_vls, struct err *err)
{
	struct bport *p;
	int rc = builder_get_port(&p, b, id, port, err);

	if (!p)
		return rc;
	p->state = (uint8_t)state;
	if (op_vls <= 15)
		p->op_vls = (uint8_t)op_vls;
	return 0;
}

int builder_port_link(struct builder *b, uint32_t id, uint32_t port, const char *link,
		      struct err *err)
{
	struct bport *p;
	int rc = builder_get_port(&p, b, id, port, err);

	if (p)
		p->rate_Mbps = link_rate_Mbps(link, &p->width, p->speed);
	return rc;
}

int builder_port_best(struct builder *b, uint32_t id, uint32_t port, const char *link,
		      struct err *err)
{
	struct bport *p;
	int rc = builder_get_port(&p, b, id, port, err);

	if (p)
		p->best_Mbps = link_rate_Mbps(link, NULL, NULL);
	return rc;
}

static int builder_check_peer(const struct builder *b, uint32_t id, uint32_t port, uint32_t peer,
			      uint32_t peer_port, struct err *err)
{
	const struct bnode *n = &b->node.v[id];
	const struct bport *p = &n->port[port];

	if (p->peer == FAB_NONE || (p->peer == peer && p->peer_port == peer_port))
		return 0;
	return err_set(err, -EEXIST,
		       "port %u of 0x%016lx is cabled to 0x%016lx port %u and to 0x%016lx port %u",
		       port, (unsigned long)n->guid, (unsigned long)b->node.v[p->peer].guid,
		       p->peer_port, (unsigned long)b->node.v[peer].guid, peer_port);
}

int builder_link(struct builder *b, uint32_t id_a, uint32_t port_a, uint32_t id_b, uint32_t port_b,
		 struct err *err)
{
	struct bport *a, *z;
	int rc;

	if (!port_a || !port_b || (id_a == id_b && port_a == port_b))
		return err_set(err, -EINVAL, "node 0x%016lx port %u cannot be cabled to port %u",
			       (unsigned long)b->node.v[id_a].guid, port_a, port_b);
	rc = builder_get_port(&a, b, id_a, port_a, err);
	if (!rc)
		rc = builder_get_port(&z, b, id_b, port_b, err);
	if (!rc)
		rc = builder_check_peer(b, id_a, port_a, id_b, port_b, err);
	if (!rc)
		rc = builder_check_peer(b, id_b, port_b, id_a, port_a, err);
	if (rc)
		return rc;
	/* get_port may have moved a's array when both ends are one node */
	a = &b->node.v[id_a].port[port_a];
	a->peer = id_b;
	a->peer_port = (uint8_t)port_b;
	z->peer = id_a;
	z->peer_port = (uint8_t)port_a;
	return 0;
}

uint32_t link_rate_Mbps(const char *link, uint8_t *width, char speed[7])
{
	/* per lane and direction after 8b/10b or 64b/66b coding (IBTA vol. 2, ch. 5 and 6) */
	static const struct {
		const char *name;
		double lane_Mbps;
	} speeds[] = {
		{ "SDR", 2000 },    { "DDR", 4000 },	 { "QDR", 8000 },
		{ "FDR10", 10000 }, { "FDR", 13636.36 }, { "EDR", 25000 },
		{ "HDR", 50000 },   { "NDR", 100000 },	 { "XDR", 200000 },
	};
	char *end;
	unsigned long lanes = strtoul(link, &end, 10);

	if (width)
		*width = 0;
	if (speed)
		speed[0] = '\0';
	if (end == link || !lanes || lanes > 12 || *end != 'x')
		return 0;
	for (size_t i = 0; i < sizeof(speeds) / sizeof(*speeds); i++) {
		if (strcmp(end + 1, speeds[i].name))
			continue;
		if (width)
			*width = (uint8_t)lanes;
		if (speed)
			snprintf(speed, 7, "%s", speeds[i].name);
		return (uint32_t)((double)lanes * speeds[i].lane_Mbps);
	}
	return 0;
}
