/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/plugin/osm_wave.h"

/* osm_config.h first: it fixes the layout of the others' structures */
#include <opensm/osm_config.h>

#include <opensm/osm_opensm.h>
#include <opensm/osm_switch.h>
#include <opensm/osm_ucast_mgr.h>

#include <string.h>

static uint32_t osm_wave_stage_switch(osm_switch_t *sw, const struct fabric *f,
				      const struct tables *t)
{
	uint32_t s = fabric_switch_by_guid(f, cl_ntoh64(osm_node_get_node_guid(sw->p_node)));
	uint32_t n = 0;

	memset(sw->new_lft, OSM_NO_PATH, sw->lft_size);
	if (s != FAB_NONE)
		memcpy(sw->new_lft, tables_row(t, s), f->max_lid + 1u);
	for (uint32_t at = 0; at <= sw->max_lid_ho; at += LFT_BLOCK)
		n += memcmp(sw->new_lft + at, sw->lft + at, LFT_BLOCK) != 0;
	return n;
}

uint32_t osm_wave_stage(struct osm_opensm *osm, const struct fabric *f, const struct tables *t)
{
	cl_qmap_t *switches = &osm->subn.sw_guid_tbl;
	uint32_t n = 0;

	for (cl_map_item_t *i = cl_qmap_head(switches); i != cl_qmap_end(switches);
	     i = cl_qmap_next(i))
		n += osm_wave_stage_switch((osm_switch_t *)i, f, t);
	return n;
}

/* As osm_ucast_mgr.c has it: set_lft_block(), ucast_mgr_set_fwd_top(). */
static bool osm_wave_exact_switch(const osm_switch_t *sw, uint8_t life_time)
{
	return !sw->need_update && sw->lft && sw->new_lft && sw->lft_size > sw->max_lid_ho &&
	       cl_ntoh16(sw->switch_info.lin_top) == sw->max_lid_ho &&
	       sw->switch_info.life_state >> 3 == life_time;
}

bool osm_wave_exact(const struct osm_opensm *osm)
{
	const cl_qmap_t *switches = &osm->subn.sw_guid_tbl;

	if (osm->subn.need_update || osm->subn.first_time_master_sweep ||
	    osm->subn.subnet_initialization_error)
		return false;
	for (const cl_map_item_t *i = cl_qmap_head(switches); i != cl_qmap_end(switches);
	     i = cl_qmap_next(i))
		if (!osm_wave_exact_switch((const osm_switch_t *)i,
					   osm->subn.opt.packet_life_time & 0x1f))
			return false;
	return true;
}

void osm_wave_send(struct osm_opensm *osm)
{
	osm_ucast_mgr_set_fwd_tables(&osm->sm.ucast_mgr);
}
