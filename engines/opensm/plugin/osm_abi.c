/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/plugin/osm_abi.h"

/* osm_config.h first: it fixes the layout of the others' structures */
#include <opensm/osm_config.h>

#include <opensm/osm_node.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_switch.h>
#include <opensm/osm_version.h>

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct osm_fact {
	const char *of;
	bool holds;
};

static int osm_abi_judge(const struct osm_fact *facts, size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++)
		if (!facts[i].holds)
			return err_set(err, -ENOEXEC,
				       "this %s was built otherwise than the one whose headers the "
				       "plugin was compiled with: %s is not where it should be; "
				       "build the plugin with this OpenSM's headers",
				       OSM_VERSION, facts[i].of);
	return 0;
}

#define FACTS(f) (f), sizeof(f) / sizeof((f)[0])

static bool osm_abi_is_boolean(boolean_t b)
{
	return b == TRUE || b == FALSE;
}

/* As osm_subn_init() leaves it, with the options between what is before and behind them. */
static int osm_abi_check_subnet(const osm_opensm_t *osm, struct err *err)
{
	const osm_subn_t *s = &osm->subn;
	const osm_subn_opt_t *o = &s->opt;
	const struct osm_fact facts[] = {
		{ "the subnet", s->p_osm == osm },
		{ "the state of the subnet's port", s->last_sm_port_state == 1 },
		{ "the option \"lmc\"", o->lmc <= IB_PORT_LMC_MAX },
		{ "the option \"lmc_esp0\"", osm_abi_is_boolean(o->lmc_esp0) },
		{ "the option \"sm_priority\"", o->sm_priority <= 15 },
		{ "the option \"packet_life_time\"", o->packet_life_time <= 31 },
		{ "the option \"qos\"", osm_abi_is_boolean(o->qos) },
		{ "the option \"fsync_high_avail_files\"",
		  osm_abi_is_boolean(o->fsync_high_avail_files) },
		{ "the option \"event_plugin_name\"", o->event_plugin_name != NULL },
		{ "what follows the options", s->max_ucast_lid_ho == IB_LID_UCAST_END_HO &&
						      s->max_mcast_lid_ho == IB_LID_MCAST_END_HO },
		{ "the number of VLs", s->min_data_vls == IB_MAX_NUM_VLS - 1 },
		{ "\"sweeping_enabled\"", s->sweeping_enabled == TRUE },
	};

	return osm_abi_judge(FACTS(facts), err);
}

static int osm_abi_check_parts(const osm_opensm_t *osm, struct err *err)
{
	const osm_sm_t *sm = &osm->sm;
	const osm_sa_t *sa = &osm->sa;
	const struct osm_fact facts[] = {
		{ "the subnet manager", sm->p_subn == &osm->subn },
		{ "the subnet administration", sa->sm == sm && sa->p_subn == &osm->subn },
		{ "the database", sm->p_db == &osm->db },
		{ "the log of the database", osm->db.p_log == &osm->log },
		{ "the pool of MADs",
		  sm->p_mad_pool == &osm->mad_pool && sa->p_mad_pool == &osm->mad_pool },
		{ "the vendor layer", sm->p_vendor == osm->p_vendor },
		{ "the sender of SMPs",
		  sm->p_vl15 == &osm->vl15 && osm->vl15.p_subn == &osm->subn },
		{ "the log", sm->p_log == &osm->log && sa->p_log == &osm->log },
		{ "the dispatcher", sm->p_disp == &osm->disp },
		{ "the lock", sm->p_lock == &osm->lock && sa->p_lock == &osm->lock },
		{ "the statistics", osm->vl15.p_stats == &osm->stats },
	};

	return osm_abi_judge(FACTS(facts), err);
}

int osm_abi_check(const struct osm_opensm *osm, struct err *err)
{
	int rc = osm_abi_check_subnet(osm, err);

	return rc ? rc : osm_abi_check_parts(osm, err);
}

/* Each port of a switch knows its node and its number; a size that differs shows at the first. */
static bool osm_abi_has_ports(const osm_node_t *n)
{
	for (uint32_t p = 0; p < n->physp_tbl_size; p++)
		if (n->physp_table[p].p_node != n || n->physp_table[p].port_num != p)
			return false;
	return true;
}

/* Each is looked at only where those before it hold, which it needs. */
int osm_abi_check_switch(const struct osm_switch *sw, struct err *err)
{
	const osm_node_t *n = sw->p_node;
	struct osm_fact f = { "the node of a switch", n && n->sw == sw };

	if (f.holds)
		f = (struct osm_fact){ "the GUID of a node",
				       cl_qmap_key(&sw->map_item) == n->node_info.node_guid };
	if (f.holds)
		f = (struct osm_fact){ "the number of ports of a switch",
				       n->physp_tbl_size == n->node_info.num_ports + 1U &&
					       sw->num_ports == n->physp_tbl_size };
	if (f.holds)
		f = (struct osm_fact){ "a port of a switch", osm_abi_has_ports(n) };
	if (f.holds)
		f = (struct osm_fact){ "the LFT of a switch", sw->lft && sw->lft_size };
	return osm_abi_judge(&f, 1, err);
}

/* What osm_sm_t has in a row, whatever is before it. */
struct osm_row {
	const void *subn, *db, *vendor, *log, *mad_pool, *vl15, *disp, *lock;
};
_Static_assert(offsetof(osm_sm_t, p_lock) - offsetof(osm_sm_t, p_subn) ==
		       offsetof(struct osm_row, lock),
	       "the subnet manager knows these in another order");

struct osm_log *osm_abi_log(const struct osm_opensm *osm)
{
	const char *from = (const char *)osm, *end = from + sizeof(*osm);
	struct osm_row r;

	for (size_t at = sizeof(void *); at + sizeof(r) <= sizeof(*osm); at += sizeof(void *)) {
		const char *log;

		memcpy(&r, from + at, sizeof(r));
		log = r.log;
		if (r.subn == &osm->subn && log > from && log < end + sizeof(*osm) / 4 &&
		    (const char *)r.db > from && (const char *)r.mad_pool > (const char *)r.db &&
		    (const char *)r.vl15 > (const char *)r.mad_pool && log > (const char *)r.vl15 &&
		    (const char *)r.disp > log && (const char *)r.lock > (const char *)r.disp)
			return (struct osm_log *)r.log;
	}
	return NULL;
}
