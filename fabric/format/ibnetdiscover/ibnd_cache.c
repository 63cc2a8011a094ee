/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/format/ibnetdiscover/ibnd_cache.h"

#include "fabric/base/memory/vec.h"
#include "fabric/ib/codec.h"
#include "fabric/model/topology/fabric.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define MAGIC	  "\x2b\x83\xe7\x8f"
#define VERSION	  1
#define HEAD_LEN  28
#define NODE_LEN  (15 + 3 * SMP_DATA)
#define PORT_LEN  (31 + SMP_DATA)
#define KEY_LEN	  9	     /* port GUID and number: of a node's ports, which have it again */
#define COUNT_MAX (1u << 22) /* more nodes or ports than LIDs: not what a subnet has */

struct cached_port {
	uint64_t guid, node, peer; /* GUIDs of port, node, and the port behind the cable */
	uint8_t number, peer_number;
	bool cabled;
	uint32_t record; /* from 1, for messages */
};

struct cache {
	FILE *file;
	const char *path;
	struct read_report *report;
	struct builder *b;
	VEC(struct cached_port) ports;
	VEC(bool) is_switch; /* by id of the builder */
};

bool ibnd_cache_begins(const char *head)
{
	return !memcmp(head, MAGIC, 4);
}

static uint64_t ibnd_cache_number(const uint8_t *d, int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | d[bytes];
	return v;
}

static int ibnd_cache_take(uint8_t *to, size_t len, struct cache *c, const char *what,
			   uint32_t record, struct err *err)
{
	if (fread(to, 1, len, c->file) == len)
		return 0;
	if (ferror(c->file))
		return err_set(err, -EIO, "%s: reading stopped: %s", c->path, strerror(errno));
	return err_set(err, -ENODATA, "%s: truncated in %s %" PRIu32, c->path, what, record);
}

static int ibnd_cache_read_node(struct cache *c, uint32_t record, struct err *err)
{
	static const enum node_kind kinds[] = { NODE_CA, NODE_SWITCH, NODE_ROUTER };
	uint8_t d[NODE_LEN], keys[255 * KEY_LEN];
	char desc[SMP_DATA + 1];
	uint32_t id;
	int rc = ibnd_cache_take(d, sizeof(d), c, "node", record, err);
	uint8_t type = rc ? 1 : d[76];

	if (!rc && d[NODE_LEN - 1])
		rc = ibnd_cache_take(keys, (size_t)d[NODE_LEN - 1] * KEY_LEN, c,
				     "the ports of node", record, err);
	if (rc)
		return rc;
	if (!type || type > 3)
		return err_set(err, -EINVAL, "%s: node %" PRIu32 " has the unknown type %u",
			       c->path, record, type);
	node_desc_decode(desc, d + 78 + SMP_DATA);
	rc = builder_node(&id, c->b, kinds[type - 1], ibnd_cache_number(d + 68, 8), d[77], desc,
			  err);
	if (rc)
		return rc;
	while (c->is_switch.n <= id)
		vec_push(&c->is_switch, false);
	c->is_switch.v[id] = kinds[type - 1] == NODE_SWITCH;
	if (!c->is_switch.v[id]) {
		struct node_info ni;

		if (!node_info_decode(&ni, d + 78))
			builder_set_system(c->b, id, ni.system_guid);
		return 0;
	}
	builder_set_enhanced_sp0(c->b, id, d[3]);
	return builder_port_lid(c->b, id, 0, (uint32_t)ibnd_cache_number(d, 2), d[2], err);
}

static int ibnd_cache_port_facts(struct cache *c, uint32_t id, const struct cached_port *p,
				 const uint8_t *d, struct err *err)
{
	struct port_info pi;
	char link[12] = "";
	int rc = builder_port_guid(c->b, id, p->number, p->guid, err);

	/* a switch's LID is that of port 0, and came with the node */
	if (!rc && ibnd_cache_number(d + 10, 2) && !c->is_switch.v[id])
		rc = builder_port_lid(c->b, id, p->number, (uint32_t)ibnd_cache_number(d + 10, 2),
				      d[12], err);
	if (rc || port_info_decode(&pi, d + 13) || !pi.state || !p->number)
		return rc;
	rc = builder_port_state(c->b, id, p->number, (enum port_state)(PORT_DOWN + pi.state - 1),
				port_info_vls(pi.op_vls), err);
	/* a switch reports extended speeds at port 0 only: taken from wherever they are reported */
	if (!rc && pi.state > 1)
		port_info_link(link, &pi, pi.speed_ext_active != 0);
	return rc || !link[0] ? rc : builder_port_link(c->b, id, p->number, link, err);
}

static int ibnd_cache_read_port(struct cache *c, uint32_t record, struct err *err)
{
	struct cached_port p = { .record = record };
	uint8_t d[PORT_LEN];
	uint32_t id;
	int rc = ibnd_cache_take(d, sizeof(d), c, "port", record, err);

	if (rc)
		return rc;
	p.guid = ibnd_cache_number(d, 8);
	p.number = d[8];
	p.node = ibnd_cache_number(d + 77, 8);
	p.cabled = d[85] && p.number;
	p.peer = ibnd_cache_number(d + 86, 8);
	p.peer_number = d[94];
	id = builder_find(c->b, p.node);
	if (id == FAB_NONE)
		return err_set(err, -EINVAL,
			       "%s: port %" PRIu32 " is of node 0x%016" PRIx64
			       ", which has no record",
			       c->path, record, p.node);
	vec_push(&c->ports, p);
	return ibnd_cache_port_facts(c, id, &p, d, err);
}

static int ibnd_cache_by_key(const void *x, const void *y)
{
	const struct cached_port *a = x, *b = y;

	if (a->guid != b->guid)
		return a->guid < b->guid ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

/* A part of a file may have its nodes and no cable. */
static int ibnd_cache_refuse_bare(const struct cache *c, uint32_t links, uint32_t missing,
				  struct err *err)
{
	if (links || !missing)
		return 0;
	return err_set(err, -ENODATA,
		       "%s: truncated: no cable in it, and the last %" PRIu32 " port%s missing",
		       c->path, missing, missing == 1 ? " is" : "s are");
}

static int ibnd_cache_link_ports(struct cache *c, uint32_t missing, struct err *err)
{
	uint32_t links = 0;
	int rc = 0;

	if (c->ports.n)
		qsort(c->ports.v, c->ports.n, sizeof(*c->ports.v), ibnd_cache_by_key);
	for (size_t i = 0; i < c->ports.n && !rc; i++) {
		const struct cached_port *p = &c->ports.v[i];
		struct cached_port key = { .guid = p->peer, .number = p->peer_number };
		const struct cached_port *peer = p->cabled ? bsearch(&key, c->ports.v, c->ports.n,
								     sizeof(key), ibnd_cache_by_key)
							   : NULL;

		links += peer != NULL;
		if (peer)
			rc = builder_link(c->b, builder_find(c->b, p->node), p->number,
					  builder_find(c->b, peer->node), peer->number, err);
		else if (p->cabled)
			read_report_gap(c->report, 0,
					"port record %" PRIu32 ": its cable leads to port %u of "
					"0x%016" PRIx64 ", which has no record",
					p->record, p->peer_number, p->peer);
	}
	return rc ? rc : ibnd_cache_refuse_bare(c, links, missing, err);
}

/* Of a file that was cut off those that are there: missing is how many are not. */
static int ibnd_cache_read_ports(uint32_t *missing, struct cache *c, uint32_t ports,
				 struct err *err)
{
	for (uint32_t i = 1; i <= ports; i++) {
		int rc = ibnd_cache_read_port(c, i, err);

		if (rc == -ENODATA) {
			*missing = ports - i + 1;
			read_report_gap(c->report, 0, "truncated in port %" PRIu32 " of %" PRIu32,
					i, ports);
			return 0;
		}
		if (rc)
			return rc;
	}
	return 0;
}

static int ibnd_cache_read_head(uint32_t *nodes, uint32_t *ports, struct cache *c, struct err *err)
{
	uint8_t d[HEAD_LEN];
	int rc = ibnd_cache_take(d, sizeof(d), c, "the head, byte", 1, err);

	if (rc)
		return rc;
	if (memcmp(d, MAGIC, 4) != 0 || ibnd_cache_number(d + 4, 4) != VERSION)
		return err_set(err, -EINVAL, "%s: not a cache of ibnetdiscover of version %d",
			       c->path, VERSION);
	*nodes = (uint32_t)ibnd_cache_number(d + 8, 4);
	*ports = (uint32_t)ibnd_cache_number(d + 12, 4);
	if (*nodes > COUNT_MAX || *ports > COUNT_MAX)
		return err_set(err, -EINVAL, "%s: %" PRIu32 " nodes and %" PRIu32 " ports: damaged",
			       c->path, *nodes, *ports);
	return 0;
}

int ibnd_cache_read(struct builder *b, FILE *file, const char *path, struct read_report *report,
		    struct err *err)
{
	struct cache c = { .file = file, .path = path, .report = report, .b = b };
	uint32_t nodes = 0, ports = 0, missing = 0;
	int rc;

	read_report_begin(report, path);
	rc = ibnd_cache_read_head(&nodes, &ports, &c, err);
	for (uint32_t i = 1; !rc && i <= nodes; i++)
		rc = ibnd_cache_read_node(&c, i, err);
	if (!rc)
		rc = ibnd_cache_read_ports(&missing, &c, ports, err);
	if (!rc && fgetc(file) != EOF)
		rc = err_set(err, -EINVAL,
			     "%s: contains more than the %" PRIu32 " nodes and %" PRIu32
			     " ports given in its header",
			     path, nodes, ports);
	if (!rc)
		rc = ibnd_cache_link_ports(&c, missing, err);
	if (!rc && report)
		report->records = nodes + ports - missing;
	vec_free(&c.ports);
	vec_free(&c.is_switch);
	return rc;
}
