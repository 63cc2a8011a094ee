/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/plugin/osm_hops.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"

/* osm_config.h first: it fixes the layout of the others' structures */
#include <opensm/osm_config.h>

#include <opensm/osm_opensm.h>
#include <opensm/osm_switch.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX (64u << 20)

/* A row for each LID of which a switch knows hops: one byte per port. */
struct osm_hops_row {
	uint32_t lid;
	size_t at;
};

struct osm_hops_switch {
	ib_net64_t guid;
	uint16_t max_lid;
	uint8_t ports;
	size_t end; /* of its rows */
};

struct osm_hops {
	VEC(struct osm_hops_switch) sw; /* in the order of OpenSM's table */
	VEC(struct osm_hops_row) row;
	VEC(uint8_t) bytes;
};

struct osm_hops *osm_hops_new(void)
{
	return xcalloc(1, sizeof(struct osm_hops));
}

void osm_hops_drop(struct osm_hops *h)
{
	vec_free(&h->sw);
	vec_free(&h->row);
	vec_free(&h->bytes);
}

void osm_hops_free(struct osm_hops *h)
{
	if (h)
		osm_hops_drop(h);
	free(h);
}

static void osm_hops_keep_switch(struct osm_hops *h, const osm_switch_t *sw)
{
	for (uint32_t lid = 0; lid < sw->num_hops; lid++) {
		if (!sw->hops[lid])
			continue;
		vec_push(&h->row, (struct osm_hops_row){ lid, h->bytes.n });
		vec_reserve(&h->bytes, h->bytes.n + sw->num_ports);
		memcpy(h->bytes.v + h->bytes.n, sw->hops[lid], sw->num_ports);
		h->bytes.n += sw->num_ports;
	}
	vec_push(&h->sw, (struct osm_hops_switch){ osm_node_get_node_guid(sw->p_node),
						   sw->max_lid_ho, sw->num_ports, h->row.n });
}

void osm_hops_keep(struct osm_hops *h, const struct osm_opensm *osm)
{
	const cl_qmap_t *switches = &osm->subn.sw_guid_tbl;

	osm_hops_drop(h);
	if (osm->subn.opt.hop_weights_file)
		return;
	for (const cl_map_item_t *i = cl_qmap_head(switches); i != cl_qmap_end(switches);
	     i = cl_qmap_next(i)) {
		osm_hops_keep_switch(h, (const osm_switch_t *)i);
		if (h->bytes.n > BYTES_MAX) {
			osm_hops_drop(h);
			return;
		}
	}
}

static bool osm_hops_fits(const struct osm_hops *h, const struct osm_hops_switch *kept,
			  const osm_switch_t *sw, size_t row)
{
	if (kept->guid != osm_node_get_node_guid(sw->p_node) || kept->ports != sw->num_ports ||
	    kept->max_lid != sw->max_lid_ho)
		return false;
	for (; row < kept->end; row++)
		if (h->row.v[row].lid >= sw->num_hops || !sw->hops[h->row.v[row].lid])
			return false;
	return true;
}

bool osm_hops_restore(const struct osm_hops *h, struct osm_opensm *osm)
{
	cl_qmap_t *switches = &osm->subn.sw_guid_tbl;
	size_t row = 0, k = 0;

	if (!h->sw.n || h->sw.n != cl_qmap_count(switches) || osm->subn.opt.hop_weights_file)
		return false;
	for (cl_map_item_t *i = cl_qmap_head(switches); i != cl_qmap_end(switches);
	     i = cl_qmap_next(i), k++) {
		osm_switch_t *sw = (osm_switch_t *)i;

		if (!osm_hops_fits(h, &h->sw.v[k], sw, row))
			return false;
		for (; row < h->sw.v[k].end; row++)
			memcpy(sw->hops[h->row.v[row].lid], h->bytes.v + h->row.v[row].at,
			       sw->num_ports);
	}
	return true;
}
