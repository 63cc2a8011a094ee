/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/wire/wire_trace.h"

#include "fabric/base/memory/vec.h"
#include "fabric/model/tables/path.h"
#include "fabric/model/topology/builder.h"
#include "fabric/wire/sa.h"
#include "fabric/wire/wire_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX   (PATH_HOPS + 3)
#define NOT_KNOWN   "not discovered"
#define TYPE_SWITCH 2
#define TYPE_ROUTER 3

struct traced {
	uint64_t guid;
	uint32_t id; /* of the builder */
	uint16_t lid, lids;
	uint8_t nports, port; /* its port with the LID; of a switch 0 */
	uint8_t entry;	      /* of its LFT for the LID */
	bool is_switch, passed, ext_speed;
};

struct trace {
	struct wire *w;
	struct builder *b;
	struct wire_sm sm;
	uint16_t dlid;
	uint8_t lmc; /* of the ports of hosts that answered */
	uint32_t n;
	struct traced node[NODES_MAX];
};

/* --- questions ---------------------------------------------------------------------------------
 */

/* One record of the administration; data: what is asked for, and the answer. */
static int wire_trace_query(struct queue_answer *a, struct wire *w, const struct wire_sm *sm,
			    uint16_t attr, uint64_t mask, const uint8_t *data, struct err *err)
{
	struct mad_request r = { .mgmt_class = MAD_SA,
				 .method = MAD_GET,
				 .attr = attr,
				 .lid = sm->lid,
				 .sl = sm->sl,
				 .comp_mask = mask,
				 .sa = data };
	int rc = queue_ask(a, w->queue, &r, NULL, "trace", err);

	if (rc == -EPROTO && (a->status == SA_NO_RECORDS || a->status == SA_TOO_MANY_RECORDS ||
			      a->status == SA_REQ_INVALID))
		return -ENOENT;
	if (rc)
		return err_set(err, -EIO, "the subnet manager at LID %u: %s", sm->lid,
			       rc == -EPROTO ? sa_status_text(a->status) : wire_rc_text(rc));
	return 0;
}

static int wire_trace_node_record(struct node_record *out, struct trace *t, uint16_t lid,
				  struct err *err)
{
	struct node_record like = { .lid = lid };
	uint8_t data[SA_DATA] = { 0 };
	struct queue_answer a;
	int rc;

	node_record_encode(data, &like);
	rc = wire_trace_query(&a, t->w, &t->sm, SA_NODE_RECORD, NODE_BY_LID, data, err);
	if (rc == -ENOENT)
		return err_set(err, rc, "no port has LID %u", lid);
	if (!rc && (node_record_decode(out, a.data) || !out->lid))
		rc = err_set(err, -EIO, "the subnet manager at LID %u: a broken record of LID %u",
			     t->sm.lid, lid);
	return rc;
}

/* -ENOENT: no cable. */
static int wire_trace_cable(struct link_record *out, struct trace *t, const struct traced *x,
			    uint8_t port, struct err *err)
{
	struct link_record like = { .from_lid = x->lid, .from_port = port };
	uint8_t data[SA_DATA] = { 0 };
	struct queue_answer a;
	int rc;

	link_record_encode(data, &like);
	rc = wire_trace_query(&a, t->w, &t->sm, SA_LINK_RECORD,
			      LINK_BY_FROM_LID | LINK_BY_FROM_PORT, data, err);
	if (!rc)
		link_record_decode(out, a.data);
	return rc;
}

static int wire_trace_smp(struct queue_answer *a, struct trace *t, const struct traced *x,
			  uint16_t attr, uint32_t mod, struct err *err)
{
	struct mad_request r;
	int rc;

	wire_smp_get(t->w, &r, attr, x->lid);
	r.mod = mod;
	rc = queue_ask(a, t->w->queue, &r, NULL, "trace", err);
	return rc ? err_set(err, -EIO, "LID %u: %s", x->lid, wire_rc_text(rc)) : 0;
}

/* --- what is found ------------------------------------------------------------------------------
 */

static struct traced *wire_trace_known(struct trace *t, uint16_t lid)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (lid >= t->node[i].lid && lid - t->node[i].lid < t->node[i].lids)
			return &t->node[i];
	return NULL;
}

static int wire_trace_port(struct trace *t, struct traced *x, uint8_t port, struct err *err)
{
	bool own = port == x->port;
	struct queue_answer a;
	struct port_info pi;
	char link[12];
	int rc = wire_trace_smp(&a, t, x, SMP_PORT_INFO, port, err);

	if (rc || port_info_decode(&pi, a.data))
		return rc ? rc : err_set(err, -EIO, "LID %u: a broken PortInfo", x->lid);
	if (own) {
		x->ext_speed = pi.cap_mask & PORT_CAP_EXT_SPEED;
		x->lids = (uint16_t)(1u << (x->is_switch ? 0 : pi.lmc));
		x->lid = pi.lid;
		t->lmc = x->is_switch ? t->lmc : pi.lmc;
		rc = builder_port_lid(t->b, x->id, port, pi.lid, x->is_switch ? 0 : pi.lmc, err);
	}
	if (rc || !port)
		return rc;
	port_info_link(link, &pi, x->ext_speed);
	rc = builder_port_state(
		t->b, x->id, port,
		(enum port_state)(pi.state ? PORT_DOWN + pi.state - 1 : PORT_UNKNOWN),
		port_info_vls(pi.op_vls), err);
	return rc || !link[0] ? rc : builder_port_link(t->b, x->id, port, link, err);
}

/* A host that no packet reaches, which may be why somebody asks, has what the record says. */
static int wire_trace_own_port(struct trace *t, struct traced *x, struct err *err)
{
	int rc = wire_trace_port(t, x, x->port, err);

	if (rc != -EIO || x->is_switch)
		return rc;
	x->lids = (uint16_t)(1u << t->lmc);
	return builder_port_lid(t->b, x->id, x->port, x->lid, t->lmc, err);
}

/* Whoever has the LID. */
static int wire_trace_node(struct traced **out, struct trace *t, uint16_t lid, struct err *err)
{
	struct traced *x = wire_trace_known(t, lid);
	struct node_record r;
	int rc = 0;

	*out = x;
	if (x)
		return 0;
	if (t->n == NODES_MAX)
		return err_set(err, -EIO, "the path is too long to be traced");
	rc = wire_trace_node_record(&r, t, lid, err);
	if (rc)
		return rc;
	x = &t->node[t->n];
	*x = (struct traced){ .guid = r.info.node_guid,
			      .lid = r.lid,
			      .lids = 1,
			      .nports = r.info.nports,
			      .is_switch = r.info.type == TYPE_SWITCH };
	x->port = x->is_switch ? 0 : r.info.local_port;
	rc = builder_node(&x->id, t->b,
			  x->is_switch		       ? NODE_SWITCH
			  : r.info.type == TYPE_ROUTER ? NODE_ROUTER
						       : NODE_CA,
			  x->guid, x->nports, r.desc, err);
	if (!rc && !x->is_switch)
		builder_set_system(t->b, x->id, r.info.system_guid);
	if (!rc)
		rc = builder_port_guid(t->b, x->id, x->port, r.info.port_guid, err);
	if (!rc)
		rc = wire_trace_own_port(t, x, err);
	if (!rc && (lid < x->lid || lid - x->lid >= x->lids))
		rc = err_set(err, -EIO,
			     "the subnet manager says that LID %u is at 0x%016lx, which has LID %u "
			     "itself",
			     lid, (unsigned long)x->guid, x->lid);
	if (!rc) {
		t->n++;
		*out = x;
	}
	return rc;
}

/* Behind a port: the node, and the cable to it; NULL: no cable. */
static int wire_trace_behind(struct traced **out, struct trace *t, struct traced *x, uint8_t port,
			     struct err *err)
{
	struct link_record link;
	int rc = wire_trace_cable(&link, t, x, port, err);

	*out = NULL;
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	rc = wire_trace_node(out, t, link.to_lid, err);
	return rc ? rc : builder_link(t->b, x->id, port, (*out)->id, link.to_port, err);
}

/* --- the path ------------------------------------------------------------------------------------
 */

/* x: a switch.  next: NULL at the end. */
static int wire_trace_hop(struct traced **next, struct trace *t, struct traced *x, struct err *err)
{
	struct queue_answer a;
	int rc = wire_trace_smp(&a, t, x, SMP_LFT, t->dlid / LFT_BLOCK, err);

	*next = NULL;
	if (rc)
		return rc;
	x->passed = true;
	x->entry = a.data[t->dlid % LFT_BLOCK];
	if (!x->entry || x->entry > x->nports)
		return 0;
	rc = wire_trace_port(t, x, x->entry, err);
	return rc ? rc : wire_trace_behind(next, t, x, x->entry, err);
}

/* An end and the switch that it is on. */
static int wire_trace_end(struct traced **sw, struct trace *t, uint16_t lid, struct err *err)
{
	struct traced *x;
	int rc = wire_trace_node(&x, t, lid, err);

	*sw = x;
	if (rc || x->is_switch)
		return rc;
	rc = wire_trace_behind(sw, t, x, x->port, err);
	if (!rc && (!*sw || !(*sw)->is_switch))
		rc = err_set(err, -EIO, "LID %u: no switch is behind its port", lid);
	return rc;
}

static int wire_trace_walk(struct trace *t, uint16_t slid, struct err *err)
{
	struct traced *at, *dst_sw;
	int rc = wire_trace_end(&at, t, slid, err);

	if (!rc)
		rc = wire_trace_end(&dst_sw, t, t->dlid, err);
	while (!rc && at && at->is_switch && !at->passed)
		rc = wire_trace_hop(&at, t, at, err);
	return rc;
}

static int wire_trace_freeze(struct fabric **out, struct tables **tables, struct trace *t,
			     const struct sweep_opts *opts, struct err *err)
{
	struct freeze_opts fo = { .name = opts && opts->name ? opts->name : NOT_KNOWN,
				  .lmc = -1,
				  .names = opts ? opts->names : NULL };
	int rc = builder_freeze(out, t->b, &fo, err);

	if (rc)
		return rc;
	if (!(*out)->lids_given) {
		fabric_put(*out);
		return err_set(err, -EIO, "the LIDs on the path do not fit each other");
	}
	*tables = tables_new(*out, TABLES_WIRE);
	tables_sl2vl_form(*tables, SL2VL_UNREAD, *out);
	for (uint32_t i = 0; i < t->n; i++)
		if (t->node[i].passed && t->dlid <= (*tables)->max_lid)
			tables_row(*tables, fabric_switch_by_guid(*out, t->node[i].guid))[t->dlid] =
				t->node[i].entry;
	return 0;
}

int wire_trace(struct fabric **out, struct tables **tables, struct wire *w, uint16_t slid,
	       uint16_t dlid, const struct sweep_opts *opts, struct err *err)
{
	struct trace t = { .w = w, .dlid = dlid };
	int rc = wire_sm_info(&t.sm, w, err);

	if (rc)
		return rc;
	t.b = builder_new();
	rc = wire_trace_walk(&t, slid, err);
	if (!rc)
		rc = wire_trace_freeze(out, tables, &t, opts, err);
	builder_free(t.b);
	return rc;
}

int wire_guid_lid(uint16_t *lid, struct wire *w, uint64_t guid, struct err *err)
{
	static const uint64_t by[] = { NODE_BY_PORT_GUID, NODE_BY_NODE_GUID };
	struct node_record r = { .info = { .node_guid = guid, .port_guid = guid } };
	uint8_t data[SA_DATA] = { 0 };
	struct queue_answer a;
	struct wire_sm sm;
	int rc = wire_sm_info(&sm, w, err);

	node_record_encode(data, &r);
	for (size_t i = 0; i < 2 && (!i ? !rc : rc == -ENOENT); i++)
		rc = wire_trace_query(&a, w, &sm, SA_NODE_RECORD, by[i], data, err);
	if (rc == -ENOENT)
		return err_set(err, rc, "no port or node has the GUID 0x%016lx",
			       (unsigned long)guid);
	if (!rc && node_record_decode(&r, a.data))
		rc = err_set(err, -EIO, "the subnet manager at LID %u: a broken record", sm.lid);
	if (!rc)
		*lid = r.lid;
	return rc;
}

int wire_trace_tables(struct tables **tables, struct wire *w, const struct fabric *f, uint32_t src,
		      uint16_t dlid, struct err *err)
{
	uint32_t sw = src < f->nend ? f->term_sw[src] : src - f->nend, c;
	struct tables *t = tables_new(f, TABLES_WIRE);
	uint8_t *entry = NULL;
	int rc = 0;

	tables_sl2vl_form(t, SL2VL_UNREAD, f);
	while (!rc && sw != FAB_NONE && dlid <= t->max_lid) {
		struct wire_block b = { .sw = sw, .block = dlid / LFT_BLOCK };

		entry = tables_row(t, sw) + dlid;
		if (*entry != FAB_NO_PORT)
			break; /* round */
		rc = wire_read_blocks(w, f, &b, 1, NULL, err);
		*entry = b.port[dlid % LFT_BLOCK];
		c = rc || *entry == FAB_NO_PORT ? FAB_NONE : fabric_chan(f, sw, *entry);
		sw = c == FAB_NONE ? FAB_NONE : f->chan_dst[c];
	}
	if (rc) {
		tables_put(t);
		return rc;
	}
	*tables = t;
	return 0;
}
