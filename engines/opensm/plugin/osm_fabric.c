/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/plugin/osm_fabric.h"

#include "fabric/ib/codec.h"
#include "fabric/model/topology/builder.h"

/* osm_config.h first: it fixes the layout of the others' structures */
#include <opensm/osm_config.h>

#include <opensm/osm_log.h>
#include <opensm/osm_node.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_port.h>
#include <opensm/osm_switch.h>

#include <errno.h>

struct walk {
	struct osm_opensm *osm;
	struct builder *b;
	struct err *err;
};

static enum node_kind osm_fabric_kind_of(const osm_node_t *n)
{
	switch (osm_node_get_type(n)) {
	case IB_NODE_TYPE_SWITCH:
		return NODE_SWITCH;
	case IB_NODE_TYPE_ROUTER:
		return NODE_ROUTER;
	default:
		return NODE_CA;
	}
}

static uint64_t osm_fabric_guid_of(const osm_node_t *n)
{
	return cl_ntoh64(osm_node_get_node_guid(n));
}

/* The port, or NULL where nothing is known of it. */
static osm_physp_t *osm_fabric_port_of(osm_node_t *n, uint32_t p)
{
	return p < n->physp_tbl_size ? osm_node_get_physp_ptr(n, p) : NULL;
}

/* LID of the port that OpenSM routes to: of a switch its port 0.  0: it has none (yet). */
static uint32_t osm_fabric_lid_of(osm_node_t *n, uint32_t p)
{
	const osm_physp_t *port = osm_fabric_port_of(n, n->sw ? 0 : p);

	return port ? cl_ntoh16(osm_physp_get_base_lid(port)) : 0;
}

/* A switch whose SwitchInfo is not known cannot be routed through; OpenSM leaves it out. */
static bool osm_fabric_is_known(const osm_node_t *n)
{
	return n->sw || osm_fabric_kind_of(n) != NODE_SWITCH;
}

static bool osm_fabric_ext_speed(osm_node_t *n, const struct port_info *pi)
{
	const osm_physp_t *port0 = n->sw ? osm_fabric_port_of(n, 0) : NULL;

	return port0 ? cl_ntoh32(port0->port_info.capability_mask) & PORT_CAP_EXT_SPEED
		     : pi->cap_mask & PORT_CAP_EXT_SPEED;
}

/* As PortInfo has it: 1 to 5 for 1, 2, 4, 8, 15 VLs. */
static uint8_t osm_fabric_vls_to_be(struct osm_opensm *osm, osm_physp_t *port)
{
	return osm_physp_calc_link_op_vls(&osm->log, &osm->subn, port,
					  ib_port_info_get_op_vls(&port->port_info));
}

static int osm_fabric_add_port_link(struct walk *w, uint32_t id, osm_node_t *n, uint32_t p,
				    osm_physp_t *port)
{
	struct port_info pi;
	char link[12];
	int rc;

	if (port_info_decode(&pi, (const uint8_t *)&port->port_info) || !pi.state)
		return 0;
	rc = builder_port_state(w->b, id, p, (enum port_state)(PORT_DOWN + pi.state - 1),
				port_info_vls(osm_fabric_vls_to_be(w->osm, port)), w->err);
	port_info_link(link, &pi, osm_fabric_ext_speed(n, &pi));
	if (!rc && *link)
		rc = builder_port_link(w->b, id, p, link, w->err);
	return rc;
}

static int osm_fabric_add_port(struct walk *w, uint32_t id, osm_node_t *n, uint32_t p)
{
	osm_physp_t *port = osm_fabric_port_of(n, p);
	bool owns_lid = n->sw ? !p : p > 0;
	int rc = 0;

	if (!port)
		return 0;
	if (owns_lid) {
		rc = builder_port_guid(w->b, id, p, cl_ntoh64(osm_physp_get_port_guid(port)),
				       w->err);
		if (!rc && osm_fabric_lid_of(n, p))
			rc = builder_port_lid(w->b, id, p, osm_fabric_lid_of(n, p),
					      n->sw ? 0 : w->osm->subn.opt.lmc, w->err);
	}
	if (!rc && p && osm_physp_get_remote(port))
		rc = osm_fabric_add_port_link(w, id, n, p, port);
	return rc;
}

static int osm_fabric_add_node(struct walk *w, osm_node_t *n)
{
	uint32_t id, nports = osm_node_get_num_physp(n) - 1u;
	char desc[IB_NODE_DESCRIPTION_SIZE + 1];
	int rc;

	node_desc_decode(desc, n->node_desc.description);
	rc = builder_node(&id, w->b, osm_fabric_kind_of(n), osm_fabric_guid_of(n), nports, desc,
			  w->err);
	if (!rc && n->sw)
		builder_set_enhanced_sp0(w->b, id,
					 ib_switch_info_is_enhanced_port0(&n->sw->switch_info));
	if (!rc && !n->sw)
		builder_set_system(w->b, id, cl_ntoh64(n->node_info.sys_guid));
	for (uint32_t p = 0; p <= nports && !rc; p++)
		rc = osm_fabric_add_port(w, id, n, p);
	return rc;
}

/* Ports of CAs without a LID stay without their cable: nobody routes to them. */
static int osm_fabric_add_links(struct walk *w, osm_node_t *n)
{
	uint32_t id = builder_find(w->b, osm_fabric_guid_of(n));
	int rc = 0;

	for (uint32_t p = 1; p < osm_node_get_num_physp(n) && !rc; p++) {
		osm_physp_t *port = osm_fabric_port_of(n, p);
		osm_physp_t *peer = port ? osm_physp_get_remote(port) : NULL;
		osm_node_t *to = peer ? osm_physp_get_node_ptr(peer) : NULL;
		uint32_t to_port = to ? osm_physp_get_port_num(peer) : 0;

		if (!to || !osm_fabric_is_known(to) || !osm_fabric_lid_of(n, p) ||
		    !osm_fabric_lid_of(to, to_port))
			continue;
		rc = builder_link(w->b, id, p, builder_find(w->b, osm_fabric_guid_of(to)), to_port,
				  w->err);
	}
	return rc;
}

static int osm_fabric_each_node(struct walk *w, int (*visit)(struct walk *w, osm_node_t *n))
{
	cl_qmap_t *nodes = &w->osm->subn.node_guid_tbl;
	int rc = 0;

	for (cl_map_item_t *i = cl_qmap_head(nodes); i != cl_qmap_end(nodes) && !rc;
	     i = cl_qmap_next(i))
		if (osm_fabric_is_known((osm_node_t *)i))
			rc = visit(w, (osm_node_t *)i);
	return rc;
}

int osm_fabric_build(struct fabric **out, struct osm_opensm *osm, struct err *err)
{
	struct freeze_opts opts = { .lmc = osm->subn.opt.lmc };
	struct walk w = { osm, builder_new(), err };
	int rc = osm_fabric_each_node(&w, osm_fabric_add_node);

	*out = NULL;
	if (!rc)
		rc = osm_fabric_each_node(&w, osm_fabric_add_links);
	if (!rc)
		rc = builder_freeze(out, w.b, &opts, err);
	builder_free(w.b);
	if (!rc && !(*out)->lids_given) {
		fabric_put(*out);
		*out = NULL;
		rc = err_set(err, -EINVAL,
			     "OpenSM's LIDs are not complete and distinct, with "
			     "2^%u for each port of a host",
			     osm->subn.opt.lmc);
	}
	return rc;
}

uint32_t osm_fabric_vls_behind(struct osm_opensm *osm)
{
	cl_qmap_t *switches = &osm->subn.sw_guid_tbl;
	uint32_t n = 0;

	for (cl_map_item_t *i = cl_qmap_head(switches); i != cl_qmap_end(switches);
	     i = cl_qmap_next(i)) {
		osm_node_t *node = ((osm_switch_t *)i)->p_node;

		for (uint32_t p = 1; p < osm_node_get_num_physp(node); p++) {
			osm_physp_t *port = osm_fabric_port_of(node, p);

			if (port && osm_physp_get_remote(port) &&
			    ib_port_info_get_op_vls(&port->port_info) <
				    osm_fabric_vls_to_be(osm, port))
				n++;
		}
	}
	return n;
}
