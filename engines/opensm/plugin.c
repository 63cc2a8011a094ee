/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugin: the routing engine "ibroute" inside OpenSM, through its interface for external engines.
 *
 * OpenSM calls it in each heavy sweep and reroute, with its lock held; path records ask for SLs
 * under the same lock, so that tables are never exchanged under somebody who reads them.
 *
 * The policy file is read anew each time.  Its name: "ibroute_policy=FILE" among the words of
 * event_plugin_options, else the environment's IBROUTE_POLICY, else POLICY_PRESET.
 */
#include "engines/opensm/choice.h"
#include "engines/opensm/osm_fabric.h"
#include "engines/opensm/policy.h"
#include "fabric/base/mem.h"

/* osm_config.h first: it fixes the layout of the others' structures */
#include <opensm/osm_config.h>

#include <opensm/osm_event_plugin.h>
#include <opensm/osm_log.h>
#include <opensm/osm_node.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_switch.h>
#include <opensm/osm_version.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ENGINE_NAME   "ibroute"
#define POLICY_PRESET "/etc/ibroute-top/policy.conf"
#define POLICY_OPTION "ibroute_policy="

struct plugin {
	osm_opensm_t *osm;
	char *policy_path;
	struct policy *policy; /* the last one that could be read */
	struct fabric *fabric; /* of the tables */
	struct tables *tables; /* what was handed to OpenSM last, or NULL */
	bool sweep_again;      /* when this sweep is over */
	bool asked;	       /* this sweep is the one that was asked for */
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void say(void *ctx, const char *sentence)
{
	struct plugin *p = ctx;

	osm_log(&p->osm->log, OSM_LOG_INFO, ENGINE_NAME ": %s\n", sentence);
}

/* A file that is broken now does not take the routes away: the one before holds. */
static int renew_policy(struct plugin *p, struct err *err)
{
	struct policy *fresh;
	int rc = policy_load(&fresh, p->policy_path, err);

	if (!rc) {
		policy_free(p->policy);
		p->policy = fresh;
		return 0;
	}
	if (!p->policy)
		return rc;
	osm_log(&p->osm->log, OSM_LOG_ERROR, ENGINE_NAME ": the policy of before holds: %s\n",
		err->text);
	return 0;
}

/* Whether OpenSM, as it is configured, would install these tables and nothing else. */
static int fits(struct plugin *p, const struct fabric *f, const struct choice *c, struct err *err)
{
	const osm_subn_opt_t *opt = &p->osm->subn.opt;
	cl_qmap_t *switches = &p->osm->subn.sw_guid_tbl;

	if (!opt->qos && (c->vls_used > 1 || c->sls_used > 1))
		return err_set(err, -EINVAL,
			       "the tables use %u VLs and %u SLs, but OpenSM sets no "
			       "SL2VL tables without \"qos TRUE\" in its configuration",
			       c->vls_used, c->sls_used);
	if (opt->lmc && opt->lmc_esp0)
		return err_set(err, -EINVAL,
			       "\"lmc_esp0 TRUE\" gives switches several LIDs, which "
			       "these tables do not know: set it to FALSE");
	for (cl_map_item_t *i = cl_qmap_head(switches); i != cl_qmap_end(switches);
	     i = cl_qmap_next(i)) {
		const osm_switch_t *sw = (const osm_switch_t *)i;

		if (!sw->new_lft || sw->lft_size <= f->max_lid)
			return err_set(
				err, -ENOSPC,
				"OpenSM has room for %u LIDs in the tables of switch "
				"0x%016llx, but LID %u is in use",
				sw->lft_size,
				(unsigned long long)cl_ntoh64(osm_node_get_node_guid(sw->p_node)),
				f->max_lid);
	}
	return 0;
}

static uint32_t switch_of(const struct fabric *f, const osm_node_t *n)
{
	return fabric_switch_by_guid(f, cl_ntoh64(osm_node_get_node_guid(n)));
}

static void install(struct plugin *p, struct fabric *f, struct tables *t)
{
	cl_qmap_t *switches = &p->osm->subn.sw_guid_tbl;

	for (cl_map_item_t *i = cl_qmap_head(switches); i != cl_qmap_end(switches);
	     i = cl_qmap_next(i)) {
		osm_switch_t *sw = (osm_switch_t *)i;
		uint32_t s = switch_of(f, sw->p_node);

		memset(sw->new_lft, OSM_NO_PATH, sw->lft_size);
		if (s != FAB_NONE)
			memcpy(sw->new_lft, tables_row(t, s), f->max_lid + 1u);
	}
	tables_put(p->tables);
	fabric_put(p->fabric);
	p->tables = t;
	p->fabric = f;
}

static void tell_installed(struct plugin *p, const struct choice *c, double took)
{
	const struct fabric *f = p->fabric;
	char hex[9];

	osm_log(&p->osm->log, OSM_LOG_INFO,
		ENGINE_NAME ": routed by %s %s: fabric %s of %u switches, %u hosts' ports and %u "
			    "links, LMC %u; verified: connected, no loop, no deadlock, %u VLs, %u "
			    "SLs, at most %u hops; %.3f s\n",
		c->from_file ? "the given tables of" : "engine", c->tables->engine,
		digest_short(hex, &f->fingerprint), f->nsw, f->nterm, f->nchan / 2, f->lmc,
		c->vls_used, c->sls_used, c->hops_max, took);
}

/* Routes of one VL are right whatever OpenSM cuts off; others need a second sweep, once. */
static void watch_vls(struct plugin *p, const struct choice *c)
{
	uint32_t behind = c->vls_used > 1 ? osm_fabric_vls_behind(p->osm) : 0;

	p->sweep_again = behind && !p->asked;
	if (p->sweep_again)
		osm_log(&p->osm->log, OSM_LOG_INFO,
			ENGINE_NAME ": %u ports get their VLs in this sweep only, so that OpenSM "
				    "cuts SL2VL tables off: another sweep follows\n",
			behind);
	else if (behind)
		osm_log(&p->osm->log, OSM_LOG_ERROR,
			ENGINE_NAME ": %u ports do not take the VLs that OpenSM sets: their SL2VL "
				    "tables are cut off, and deadlocks are possible\n",
			behind);
	p->asked = p->sweep_again;
}

static int build_fwd_tables(void *context)
{
	struct plugin *p = context;
	struct choice_log log = { say, p };
	struct fabric *f = NULL;
	struct choice c = { 0 };
	struct err err = { "" };
	double start = now_s();
	int rc = renew_policy(p, &err);

	if (!rc)
		rc = osm_fabric_build(&f, p->osm, &err);
	if (!rc)
		rc = choice_make(&c, f, p->policy, &log, &err);
	if (!rc)
		rc = fits(p, f, &c, &err);
	if (rc) {
		osm_log(&p->osm->log, OSM_LOG_ERROR,
			ENGINE_NAME ": no routes of ours, OpenSM goes on to its next engine: %s\n",
			err.text);
		tables_put(c.tables);
		fabric_put(f);
		return -1;
	}
	install(p, f, c.tables);
	watch_vls(p, &c);
	tell_installed(p, &c, now_s() - start);
	return 0;
}

/* OpenSM's own hop counts are what its multicast trees need. */
static int build_lid_matrices(void *context)
{
	(void)context;
	return 1;
}

/* LIDs of nobody and switches as sources keep the SL that OpenSM proposes. */
static uint8_t path_sl(void *context, uint8_t hint, const ib_net16_t slid, const ib_net16_t dlid)
{
	const struct plugin *p = context;
	const struct fabric *f = p->fabric;
	uint32_t from;

	if (!p->tables || fabric_lid_end(f, cl_ntoh16(dlid)) == FAB_NONE)
		return hint;
	from = fabric_lid_end(f, cl_ntoh16(slid));
	if (from >= f->nend)
		return hint;
	return tables_path_sl(p->tables, from, f->term_sw[from], cl_ntoh16(dlid));
}

/* Of a switch: what the tables say.  A host's own VL is free, nothing waits for it in a circle:
 * its SL, as far as its link has VLs. */
static void update_sl2vl(void *context, osm_physp_t *port, uint8_t in, uint8_t out,
			 ib_slvl_table_t *table)
{
	const struct plugin *p = context;
	const osm_node_t *n = osm_physp_get_node_ptr(port);
	uint32_t sw = p->tables && n->sw ? switch_of(p->fabric, n) : FAB_NONE;

	for (uint8_t sl = 0; sl < FAB_SLS && p->tables; sl++) {
		if (sw != FAB_NONE)
			ib_slvl_table_set(table, sl,
					  tables_vl(p->tables, p->fabric, sw, in, out, sl));
		else if (!n->sw)
			ib_slvl_table_set(table, sl, sl < VL_DROP ? sl : 0);
	}
}

static int setup(osm_routing_engine_t *re, osm_opensm_t *osm)
{
	(void)osm;
	re->build_lid_matrices = build_lid_matrices;
	re->ucast_build_fwd_tables = build_fwd_tables;
	re->path_sl = path_sl;
	re->update_sl2vl = update_sl2vl;
	return 0;
}

/* The caller frees. */
static char *find_policy(const char *options)
{
	const char *at = options ? strstr(options, POLICY_OPTION) : NULL;
	const char *env = getenv("IBROUTE_POLICY");

	if (at) {
		at += strlen(POLICY_OPTION);
		return xasprintf("%.*s", (int)strcspn(at, " \t,"), at);
	}
	return xstrdup(env && *env ? env : POLICY_PRESET);
}

static void destroy(void *data)
{
	struct plugin *p = data;

	tables_put(p->tables);
	fabric_put(p->fabric);
	policy_free(p->policy);
	free(p->policy_path);
	free(p);
}

static void *create(struct osm_opensm *osm)
{
	struct plugin *p = xcalloc(1, sizeof(*p));
	external_routing_engine_module_t module = { ENGINE_NAME, setup, p };

	p->osm = osm;
	p->policy_path = find_policy(osm->subn.opt.event_plugin_options);
	if (osm_register_external_routing_engine(osm, &module, p) != CL_SUCCESS) {
		osm_log(&osm->log, OSM_LOG_ERROR,
			ENGINE_NAME ": OpenSM has a routing engine of this name already\n");
		destroy(p);
		return NULL;
	}
	osm_log(&osm->log, OSM_LOG_INFO, ENGINE_NAME ": routes by the policy of %s\n",
		p->policy_path);
	return p;
}

static void report(void *data, osm_epi_event_id_t event, void *event_data)
{
	struct plugin *p = data;

	(void)event_data;
	if (event != OSM_EVENT_ID_SUBNET_UP || !p->sweep_again)
		return;
	p->sweep_again = false;
	p->osm->subn.force_heavy_sweep = TRUE;
	osm_opensm_sweep(p->osm);
}

__attribute__((visibility("default")))
osm_event_plugin_t osm_event_plugin = { OSM_VERSION, create, destroy, report };
