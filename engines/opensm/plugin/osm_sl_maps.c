/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/plugin/osm_sl_maps.h"

/* osm_config.h first: it fixes the layout of the others' structures */
#include <opensm/osm_config.h>

#include <opensm/osm_node.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_switch.h>

#include <limits.h>
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

static bool osm_sl_maps_in_use(const struct fabric *f, uint32_t sw, uint32_t p)
{
	const struct port *port = fabric_port(f, sw, (uint8_t)p);

	return !p || port->chan != FAB_NONE || port->term != FAB_NONE;
}

/* Two rows that lead to the same VLs on a port, which most others are like. */
struct osm_sl_maps_pair {
	uint8_t a[FAB_SLS], b[FAB_SLS];
	unsigned vl_mask;
};

/* OpenSM truncates VLs to those of the port, but for VL 15. */
static uint8_t osm_sl_maps_truncated(uint8_t vl, unsigned vl_mask)
{
	return vl == VL_DROP ? vl : (uint8_t)(vl & vl_mask);
}

static bool osm_sl_maps_same_row(struct osm_sl_maps_pair *last, const uint8_t *a, const uint8_t *b,
				 unsigned vl_mask)
{
	if (!memcmp(a, b, FAB_SLS))
		return true;
	if (last->vl_mask == vl_mask && !memcmp(a, last->a, FAB_SLS) &&
	    !memcmp(b, last->b, FAB_SLS))
		return true;
	for (int sl = 0; sl < FAB_SLS; sl++)
		if (osm_sl_maps_truncated(a[sl], vl_mask) != osm_sl_maps_truncated(b[sl], vl_mask))
			return false;
	memcpy(last->a, a, FAB_SLS);
	memcpy(last->b, b, FAB_SLS);
	last->vl_mask = vl_mask;
	return true;
}

/* Towards this port, from all that something comes from. */
static bool osm_sl_maps_same_output(struct osm_sl_maps_pair *last, const struct fabric *f,
				    const struct tables *a, const struct tables *b, uint32_t sw,
				    uint32_t out)
{
	uint8_t vls = fabric_port(f, sw, (uint8_t)out)->op_vls;
	unsigned vl_mask = vls && vls <= 8 ? vls - 1u : 15;

	for (uint32_t in = 0; in <= f->sw_nports[sw]; in++)
		if (!osm_sl_maps_same_row(last, tables_vl_row(a, f, sw, (uint8_t)in, (uint8_t)out),
					  tables_vl_row(b, f, sw, (uint8_t)in, (uint8_t)out),
					  vl_mask) &&
		    osm_sl_maps_in_use(f, sw, in))
			return false;
	return true;
}

/* As a plan counts them: what was read from switches has all tables, what an engine made few. */
static bool osm_sl_maps_same_rows(const struct fabric *f, const struct tables *a,
				  const struct tables *b)
{
	struct osm_sl_maps_pair last = { .vl_mask = UINT_MAX };

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t out = 1; out <= f->sw_nports[sw]; out++)
			if (osm_sl_maps_in_use(f, sw, out) &&
			    !osm_sl_maps_same_output(&last, f, a, b, sw, out))
				return false;
	return true;
}

bool osm_sl_maps_same(const struct fabric *fa, const struct tables *a, const struct fabric *fb,
		      const struct tables *b)
{
	if (!osm_sl_maps_same_ports(fa, fb))
		return false;
	if (a->sl2vl_kind == b->sl2vl_kind &&
	    (!a->sl2vl || !memcmp(a->sl2vl, b->sl2vl, tables_sl2vl_bytes(a))))
		return true;
	return osm_sl_maps_same_rows(fb, a, b);
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
