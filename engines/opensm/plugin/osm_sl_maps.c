/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/plugin/osm_sl_maps.h"

/* osm_config.h first: it fixes the layout of the others' structures */
#include <opensm/osm_config.h>

#include <opensm/osm_node.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_switch.h>

#include <string.h>

#define HIDDEN IB_PORT_CAP_RESV0 /* a bit that no port sets: this one has SL2VL tables */

/* OpenSM truncates tables to what the port has. */
static bool osm_sl_maps_same_ports(const struct fabric *a, const struct fabric *b)
{
	if (a == b)
		return true;
	if (!digest_equal(&a->fingerprint, &b->fingerprint) || a->nport != b->nport)
		return false;
	for (uint32_t p = 0; p < a->nport; p++)
		if (a->port[p].op_vls != b->port[p].op_vls)
			return false;
	return true;
}

bool osm_sl_maps_same(const struct fabric *fa, const struct tables *a, const struct fabric *fb,
		      const struct tables *b)
{
	return osm_sl_maps_same_ports(fa, fb) && a->sl2vl_kind == b->sl2vl_kind &&
	       (!a->sl2vl || !memcmp(a->sl2vl, b->sl2vl, tables_sl2vl_bytes(a)));
}

static void osm_sl_maps_each(struct osm_opensm *osm, ib_net32_t from, ib_net32_t to)
{
	cl_qmap_t *switches = &osm->subn.sw_guid_tbl;

	for (cl_map_item_t *i = cl_qmap_head(switches); i != cl_qmap_end(switches);
	     i = cl_qmap_next(i)) {
		osm_physp_t *port = osm_node_get_physp_ptr(((osm_switch_t *)i)->p_node, 0);

		if (!port || !(port->port_info.capability_mask & from))
			continue;
		port->port_info.capability_mask &= ~from;
		port->port_info.capability_mask |= to;
	}
}

void osm_sl_maps_hide(struct osm_opensm *osm)
{
	osm_sl_maps_each(osm, IB_PORT_CAP_HAS_SL_MAP, HIDDEN);
}

void osm_sl_maps_show(struct osm_opensm *osm)
{
	osm_sl_maps_each(osm, HIDDEN, IB_PORT_CAP_HAS_SL_MAP);
}
