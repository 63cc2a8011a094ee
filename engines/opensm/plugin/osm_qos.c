/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/plugin/osm_qos.h"

#include "engines/opensm/sl_maps.h"
#include "fabric/base/message/plural.h"

/* osm_config.h first: it fixes the layout of the others' structures */
#include <opensm/osm_config.h>

#include <opensm/osm_base.h>
#include <opensm/osm_helper.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_partition.h>
#include <opensm/osm_port.h>
#include <opensm/osm_qos_policy.h>

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARB_ENTRIES 64

/* What is set for one kind of port: its own setting, else that for all, else OpenSM's. */
struct osm_qos {
	const char *kind; /* "swe": qos_swe_vlarb_low, ... */
	const char *low, *high, *sl2vl;
	bool own_sl2vl; /* qos_KIND_sl2vl, not qos_sl2vl */

	/* The VLs with a weight of the port that was asked for last: most are like it. */
	uint32_t like;
	uint16_t weighted;
};

static struct osm_qos osm_qos_of(const osm_subn_opt_t *opt, const char *kind,
				 const osm_qos_options_t *own)
{
	const osm_qos_options_t *all = &opt->qos_options;

	return (struct osm_qos){
		.kind = kind,
		.low = own->vlarb_low	? own->vlarb_low
		       : all->vlarb_low ? all->vlarb_low
					: OSM_DEFAULT_QOS_VLARB_LOW,
		.high = own->vlarb_high	  ? own->vlarb_high
			: all->vlarb_high ? all->vlarb_high
					  : OSM_DEFAULT_QOS_VLARB_HIGH,
		.sl2vl = own->sl2vl   ? own->sl2vl
			 : all->sl2vl ? all->sl2vl
				      : OSM_DEFAULT_QOS_SL2VL,
		.own_sl2vl = own->sl2vl,
	};
}

/* As OpenSM reads them: what is missing is 0. */
static unsigned osm_qos_number(const char **at)
{
	char *end;
	unsigned long v = strtoul(*at, &end, 0);

	*at = *end ? end + 1 : end;
	return (unsigned)v;
}

/* VLs with a weight among the entries that a port has room for; a port with few VLs folds them. */
static uint16_t osm_qos_weighted(const char *list, unsigned room, unsigned vl_mask)
{
	uint16_t weighted = 0;

	for (unsigned i = 0; i < room && i < ARB_ENTRIES; i++) {
		unsigned vl = osm_qos_number(&list) % 15, weight = osm_qos_number(&list);

		if (weight & 0xff)
			weighted |= (uint16_t)(1u << (vl & vl_mask));
	}
	return weighted;
}

struct port_seen {
	const osm_physp_t *physp;
	unsigned vl_mask; /* of the VLs that it is about to have */
	char name[120];
};

/* False: it has nothing to choose from, or does not say. */
static bool osm_qos_weighted_at(uint16_t *out, struct osm_qos *q, const struct port_seen *at)
{
	const ib_port_info_t *pi = &at->physp->port_info;
	uint32_t like = 1u << 24 | (uint32_t)pi->vl_arb_low_cap << 16 |
			(uint32_t)pi->vl_arb_high_cap << 8 | at->vl_mask;

	if (!at->vl_mask || ib_port_info_get_vl_cap(pi) == 1 ||
	    !(pi->vl_arb_low_cap | pi->vl_arb_high_cap))
		return false;
	if (q->like != like)
		q->weighted = osm_qos_weighted(q->low, pi->vl_arb_low_cap, at->vl_mask) |
			      osm_qos_weighted(q->high, pi->vl_arb_high_cap, at->vl_mask);
	q->like = like;
	*out = q->weighted;
	return true;
}

/* The lines that give all of these VLs a weight: those for which the table of low priority has no
 * room go into the other. */
static void osm_qos_lines(char *buf, size_t size, const struct osm_qos *q,
			  const struct port_seen *at, uint16_t vls)
{
	uint16_t low = 0, high;
	char low_text[100], high_text[100], more[160] = "";

	for (unsigned vl = 0, room = at->physp->port_info.vl_arb_low_cap; vl < VL_DROP && room;
	     vl++)
		if (vls >> vl & 1) {
			low |= (uint16_t)(1u << vl);
			room--;
		}
	high = vls & (uint16_t)~low;
	if (high)
		snprintf(more, sizeof(more), " and \"qos_%s_vlarb_high %s\"", q->kind,
			 tables_vls_text(high_text, sizeof(high_text), high, ":4"));
	snprintf(buf, size, "\"qos_%s_vlarb_low %s\"%s", q->kind,
		 tables_vls_text(low_text, sizeof(low_text), low, ":4"), more);
}

static int osm_qos_starved(struct osm_qos *q, const struct port_seen *at, uint16_t used,
			   struct err *err)
{
	char vls[40], lines[300];
	uint16_t weighted, starved;

	if (!osm_qos_weighted_at(&weighted, q, at))
		return 0;
	starved = used & (uint16_t)~weighted;
	if (!starved)
		return 0;
	osm_qos_lines(lines, sizeof(lines), q, at, used | weighted);
	return err_set(
		err, -EINVAL,
		"the tables put packets on VL%s %s of %s, to which the configured VL arbitration "
		"gives no weight: they would never be sent. Put %s into opensm.conf, or give the "
		"engine fewer VLs",
		plural((uint64_t)__builtin_popcount(starved)),
		tables_vls_text(vls, sizeof(vls), starved, ""), at->name, lines);
}

static int osm_qos_check_switch(struct osm_qos *q, struct osm_opensm *osm, const struct fabric *f,
				const struct tables *t, uint32_t sw, uint16_t sls, struct err *err)
{
	const osm_switch_t *s = osm_get_switch_by_guid(&osm->subn, cl_hton64(f->sw_guid[sw]));
	int rc = 0;

	for (uint32_t p = 1; s && p <= f->sw_nports[sw] && !rc; p++) {
		const struct port *port = fabric_port(f, sw, (uint8_t)p);
		struct port_seen at = { .physp = osm_node_get_physp_ptr(s->p_node, p),
					.vl_mask = sl_maps_vl_mask(port->op_vls) };

		if (!at.physp || (port->chan == FAB_NONE && port->term == FAB_NONE))
			continue;
		snprintf(at.name, sizeof(at.name), "switch %s port %u", f->sw_name[sw], p);
		rc = osm_qos_starved(q, &at, tables_port_vls(t, f, sw, (uint8_t)p, sls), err);
	}
	return rc;
}

/* What OpenSM makes of the map on a port with so many VLs; VL_DROP stays. */
static uint16_t osm_qos_mapped(uint16_t *dropped, const char *map, unsigned vl_mask, uint16_t sls)
{
	uint16_t used = 0;

	*dropped = 0;
	for (unsigned sl = 0; sl < FAB_SLS; sl++) {
		unsigned vl = osm_qos_number(&map) & 0xf;

		if (sls >> sl & 1 && vl == VL_DROP)
			*dropped |= (uint16_t)(1u << sl);
		else if (sls >> sl & 1)
			used |= (uint16_t)(1u << (vl & vl_mask));
	}
	return used;
}

static int osm_qos_check_host(struct osm_qos *q, struct osm_opensm *osm, const struct fabric *f,
			      uint32_t term, uint16_t sls, struct err *err)
{
	const osm_port_t *port = osm_get_port_by_guid(&osm->subn, cl_hton64(f->term_guid[term]));
	uint8_t vls = fabric_port(f, f->term_sw[term], f->term_port[term])->op_vls;
	struct port_seen at = { .vl_mask = sl_maps_vl_mask(vls) };
	uint16_t dropped, used = osm_qos_mapped(&dropped, q->sl2vl, at.vl_mask, sls);
	char list[40];

	if (dropped)
		return err_set(
			err, -EINVAL,
			"hosts would drop packets with SL%s %s, which the tables use: their SL2VL "
			"map in opensm.conf, \"%.100s\", leads to VL 15",
			plural((uint64_t)__builtin_popcount(dropped)),
			tables_vls_text(list, sizeof(list), dropped, ""), q->sl2vl);
	if (!port || !port->p_physp)
		return 0;
	at.physp = port->p_physp;
	snprintf(at.name, sizeof(at.name), "host %s", f->term_name[term]);
	return osm_qos_starved(q, &at, used, err);
}

int osm_qos_check(struct osm_opensm *osm, const struct fabric *f, const struct tables *t,
		  uint16_t sls, struct err *err)
{
	const osm_subn_opt_t *opt = &osm->subn.opt;
	struct osm_qos switches = osm_qos_of(opt, "swe", &opt->qos_swe_options);
	struct osm_qos hosts = osm_qos_of(opt, "ca", &opt->qos_ca_options);
	struct osm_qos routers = osm_qos_of(opt, "rtr", &opt->qos_rtr_options);
	int rc = 0;

	for (uint32_t sw = 0; sw < f->nsw && opt->qos && !rc; sw++)
		rc = osm_qos_check_switch(&switches, osm, f, t, sw, sls, err);
	for (uint32_t i = 0; i < f->nend && opt->qos && !rc; i++)
		rc = osm_qos_check_host(f->term_kind[i] == TERM_ROUTER ? &routers : &hosts, osm, f,
					i, sls, err);
	return rc;
}

/* ---- what is replaced ---- */

struct osm_qos_list {
	char *buf;
	size_t size, n;
};

static void osm_qos_add(struct osm_qos_list *l, const char *between, const char *text)
{
	if (l->n < l->size)
		l->n += (size_t)snprintf(l->buf + l->n, l->size - l->n, "%s%s", l->n ? between : "",
					 text);
}

static bool osm_qos_has_sl(const osm_qos_level_t *level)
{
	return level && level->sl_set && level->sl != OSM_DEFAULT_SL;
}

/* Rules lead to levels; what matches none has the default one. */
static void osm_qos_add_rules(struct osm_qos_list *l, const osm_subn_t *subn)
{
	const osm_qos_policy_t *policy = subn->p_qos_policy;
	unsigned n = policy && osm_qos_has_sl(policy->p_default_qos_level);
	char text[300];

	if (!policy)
		return;
	for (cl_list_iterator_t i = cl_list_head(&policy->qos_match_rules);
	     i != cl_list_end(&policy->qos_match_rules); i = cl_list_next(i)) {
		const osm_qos_match_rule_t *rule = cl_list_obj(i);

		n += osm_qos_has_sl(rule->p_qos_level);
	}
	if (!n)
		return;
	snprintf(text, sizeof(text), "%u rule%s of %.200s", n, plural(n),
		 subn->opt.qos_policy_file);
	osm_qos_add(l, ", ", text);
}

static void osm_qos_add_partitions(struct osm_qos_list *l, const osm_subn_t *subn)
{
	const cl_qmap_t *all = &subn->prtn_pkey_tbl;
	char text[80];

	for (const cl_map_item_t *i = cl_qmap_head(all); i != cl_qmap_end(all);
	     i = cl_qmap_next(i)) {
		const osm_prtn_t *p = (const osm_prtn_t *)i;

		if (p->sl == OSM_DEFAULT_SL)
			continue;
		snprintf(text, sizeof(text), "partition %s (SL %u)", p->name, p->sl);
		osm_qos_add(l, ", ", text);
	}
}

const char *osm_qos_replaced(char *buf, size_t size, struct osm_opensm *osm)
{
	const osm_subn_opt_t *opt = &osm->subn.opt;
	struct osm_qos q = osm_qos_of(opt, "swe", &opt->qos_swe_options);
	struct osm_qos_list l = { buf, size, 0 };
	char sls[300] = "", text[400];
	struct osm_qos_list levels = { sls, sizeof(sls), 0 };

	buf[0] = '\0';
	if (!opt->qos)
		return buf;
	if (strcmp(q.sl2vl, OSM_DEFAULT_QOS_SL2VL) != 0) {
		snprintf(text, sizeof(text),
			 "switches have the routing's SL2VL tables, not qos%s_sl2vl %.100s",
			 q.own_sl2vl ? "_swe" : "", q.sl2vl);
		osm_qos_add(&l, "; ", text);
	}
	osm_qos_add_rules(&levels, &osm->subn);
	osm_qos_add_partitions(&levels, &osm->subn);
	if (sls[0]) {
		snprintf(text, sizeof(text), "path records have the routing's SLs, not those of %s",
			 sls);
		osm_qos_add(&l, "; ", text);
	}
	return buf;
}
