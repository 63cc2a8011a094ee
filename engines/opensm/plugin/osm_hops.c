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

/* As in osm_switch_t, and allocated as there: whoever has it last frees it. */
struct osm_hops_switch {
	ib_net64_t guid;
	uint16_t max_lid, num_hops;
	uint8_t ports;
	uint8_t **hops; /* a row for each LID, NULL: none is known; one byte per port */
};

struct osm_hops {
	VEC(struct osm_hops_switch) sw; /* in the order of OpenSM's table */
	bool cleared;			/* by OpenSM, before they were exchanged */
};

struct osm_hops *osm_hops_new(void)
{
	return xcalloc(1, sizeof(struct osm_hops));
}

void osm_hops_drop(struct osm_hops *h)
{
	for (size_t k = 0; k < h->sw.n; k++) {
		struct osm_hops_switch *kept = &h->sw.v[k];

		for (uint32_t lid = 0; kept->hops && lid < kept->num_hops; lid++)
			free(kept->hops[lid]);
		free(kept->hops);
	}
	vec_free(&h->sw);
	h->cleared = false;
}

void osm_hops_free(struct osm_hops *h)
{
	if (h)
		osm_hops_drop(h);
	free(h);
}

/* Returns the bytes it takes. */
static size_t osm_hops_keep_switch(struct osm_hops *h, const osm_switch_t *sw)
{
	struct osm_hops_switch *kept;
	size_t bytes = sw->num_hops * sizeof(*sw->hops);

	vec_push(&h->sw, (struct osm_hops_switch){
				 .guid = osm_node_get_node_guid(sw->p_node),
				 .max_lid = sw->max_lid_ho,
				 .num_hops = sw->num_hops,
				 .ports = sw->num_ports,
			 });
	kept = &h->sw.v[h->sw.n - 1];
	kept->hops = xcalloc(sw->num_hops, sizeof(*kept->hops));
	for (uint32_t lid = 0; lid < sw->num_hops; lid++) {
		if (!sw->hops[lid])
			continue;
		kept->hops[lid] = xcalloc(sw->num_ports, 1);
		memcpy(kept->hops[lid], sw->hops[lid], sw->num_ports);
		bytes += sw->num_ports;
	}
	return bytes;
}

void osm_hops_keep(struct osm_hops *h, const struct osm_opensm *osm)
{
	const cl_qmap_t *switches = &osm->subn.sw_guid_tbl;
	size_t bytes = 0;

	osm_hops_drop(h);
	if (osm->subn.opt.hop_weights_file)
		return;
	for (const cl_map_item_t *i = cl_qmap_head(switches); i != cl_qmap_end(switches);
	     i = cl_qmap_next(i)) {
		bytes += osm_hops_keep_switch(h, (const osm_switch_t *)i);
		if (bytes > BYTES_MAX) {
			osm_hops_drop(h);
			return;
		}
	}
}

static bool osm_hops_fits(const struct osm_hops_switch *kept, const osm_switch_t *sw)
{
	return kept->guid == osm_node_get_node_guid(sw->p_node) && kept->ports == sw->num_ports &&
	       kept->max_lid == sw->max_lid_ho && kept->num_hops == sw->num_hops;
}

static bool osm_hops_fits_all(const struct osm_hops *h, const struct osm_opensm *osm)
{
	const cl_qmap_t *switches = &osm->subn.sw_guid_tbl;
	size_t k = 0;

	if (!h->sw.n || h->sw.n != cl_qmap_count(switches) || osm->subn.opt.hop_weights_file)
		return false;
	for (const cl_map_item_t *i = cl_qmap_head(switches); i != cl_qmap_end(switches);
	     i = cl_qmap_next(i), k++)
		if (!osm_hops_fits(&h->sw.v[k], (const osm_switch_t *)i))
			return false;
	return true;
}

bool osm_hops_restore(struct osm_hops *h, struct osm_opensm *osm)
{
	cl_qmap_t *switches = &osm->subn.sw_guid_tbl;
	size_t k = 0;

	if (h->cleared || !osm_hops_fits_all(h, osm))
		return false;
	for (cl_map_item_t *i = cl_qmap_head(switches); i != cl_qmap_end(switches);
	     i = cl_qmap_next(i), k++) {
		osm_switch_t *sw = (osm_switch_t *)i;
		uint8_t **cleared = sw->hops;

		sw->hops = h->sw.v[k].hops;
		h->sw.v[k].hops = cleared;
	}
	h->cleared = true;
	return true;
}

/* False: OpenSM knows hops to another LID than it did. */
static bool osm_hops_copy_switch(const struct osm_hops_switch *kept, const osm_switch_t *sw)
{
	for (uint32_t lid = 0; lid < kept->num_hops; lid++) {
		if (!kept->hops[lid] != !sw->hops[lid])
			return false;
		if (kept->hops[lid])
			memcpy(kept->hops[lid], sw->hops[lid], kept->ports);
	}
	return true;
}

void osm_hops_copy(struct osm_hops *h, const struct osm_opensm *osm)
{
	const cl_qmap_t *switches = &osm->subn.sw_guid_tbl;
	size_t k = 0;

	if (!h->cleared || !osm_hops_fits_all(h, osm))
		return;
	for (const cl_map_item_t *i = cl_qmap_head(switches); i != cl_qmap_end(switches);
	     i = cl_qmap_next(i))
		if (!osm_hops_copy_switch(&h->sw.v[k++], (const osm_switch_t *)i))
			return;
	h->cleared = false;
}
