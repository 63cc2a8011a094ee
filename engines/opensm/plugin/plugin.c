/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugin: the routing engine "ibroute" inside OpenSM, through its interface for external engines.
 *
 * OpenSM calls it in each heavy sweep and reroute, with its lock held; path records ask for SLs
 * under the same lock, so that tables are never exchanged under somebody who reads them.  A wave of
 * an update that changes LFTs only is written by the socket's thread, under that lock, too, while
 * OpenSM's own thread has nothing to do (osm_wave.h).
 *
 * The policy file is read again each time.  A socket lets the console ask and order
 * (socket_server.h).
 *
 * Nothing here ends OpenSM: engines and the judge run in a process of their own (isolate.h), and
 * what allocates beside them in a guarded call (guard.h).  What fails is that one call, and OpenSM
 * goes on to its next engine.
 *
 * Words of event_plugin_options, each with what holds without it:
 *   ibroute_policy=FILE      the environment's IBROUTE_POLICY, else POLICY_PRESET
 *   ibroute_socket=FILE      the environment's IBROUTE_SOCKET, else OSM_SOCKET; "none": no socket
 *   ibroute_confirmed=FILE   CONFIRMED_PRESET: where confirmed tables are kept
 *   ibroute_key=FILE         SITE_KEY_PRESET, if it is there: notices to and from agents are
 * signed; "none": they are not
 */
#include "engines/opensm/plugin/osm_abi.h"
#include "engines/opensm/plugin/osm_fabric.h"
#include "engines/opensm/plugin/osm_hops.h"
#include "engines/opensm/plugin/osm_notice.h"
#include "engines/opensm/plugin/osm_qos.h"
#include "engines/opensm/plugin/osm_wave.h"
#include "engines/opensm/beside/fresh_gap.h"
#include "engines/opensm/beside/improver.h"
#include "engines/opensm/sm_session.h"
#include "engines/opensm/socket_server.h"
#include "engines/opensm/table_selection.h"
#include "fabric/base/memory/guard.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"
#include "fabric/update/protocol/phase_codec.h"
#include "fabric/update/protocol/phase_seal.h"
#include "fabric/version.h"

/* osm_config.h first: it fixes the layout of the others' structures */
#include <opensm/osm_config.h>

#include <opensm/osm_event_plugin.h>
#include <opensm/osm_log.h>
#include <opensm/osm_node.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_switch.h>
#include <opensm/osm_version.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>

#define ENGINE_NAME	 "ibroute"
#define POLICY_PRESET	 IBROUTE_ETC "/policy.conf"
#define CONFIRMED_PRESET "/var/lib/ibroute-top/confirmed.ibr"
#define LOCK_MS		 100 /* as long as the socket's thread waits for OpenSM's lock */

struct plugin {
	osm_opensm_t *osm;
	char *policy_path, *socket_path, *confirmed_path, *key_path;
	struct site_keys *keys; /* NULL: none; only the socket's thread's */
	uint64_t keys_ms;	/* when their file was looked at */
	uint64_t unsealed, forged;
	struct sm_session *session;
	struct socket_server *server;
	struct fresh_gap *gap;	     /* NULL: nobody compares */
	struct improver *improver;   /* NULL: nobody improves */
	struct osm_status facts;     /* of OpenSM, as last seen; only the socket's thread's */
	const struct fabric *fabric; /* of the tables */
	const struct tables *tables; /* what was handed to OpenSM last, or NULL */
	const osm_node_t *asked_of; /* the switch whose SL2VL tables were asked for last, and ... */
	uint32_t asked_sw;	    /* ... which one of the fabric that is */
	bool sweep_again;	    /* when this sweep is over */
	bool asked;		    /* this sweep is the one that was asked for */
	bool ours;		    /* the last routing is */
	bool known;		    /* OpenSM's switches are laid out as they were here */
	bool done;		    /* OpenSM has written all of it, and no sweep has begun */
	struct digest sl_maps;	    /* its SL2VL tables, see sl_maps_hash() */
	atomic_uint unwritten;	    /* blocks of a wave beside sweeps, until they are answered */
	uint16_t sls;		    /* for which VL arbitration was looked at, with these tables */
	char replaces[400];	    /* as said last, see osm_qos_replaced() */

	/* What OpenSM has discovered: between two sweeps, whatever is routed, it stays. */
	struct osm_hops *hops;
	bool hops_new;		    /* OpenSM has counted them for this routing */
	atomic_bool sweeping;	    /* from the start of a sweep until the subnet is up */
	atomic_bool settled;	    /* since the last one: it writes only what differs */
	atomic_bool heard;	    /* a trap or a sweep, since the fabric was found */
	const struct fabric *found; /* between two sweeps; NULL: to be found again */
};

static double plugin_now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void plugin_say(void *ctx, const char *sentence)
{
	struct plugin *p = ctx;

	osm_log(&p->osm->log, OSM_LOG_INFO, ENGINE_NAME ": %s\n", sentence);
}

/* What was looked at with the same SL2VL tables is not looked at again. */
static int plugin_fits_qos(struct plugin *p, const struct fabric *f,
			   const struct table_selection *c, bool same_maps, struct err *err)
{
	int rc;

	if (same_maps && !(c->sl_mask & ~p->sls))
		return 0;
	rc = osm_qos_check(p->osm, f, c->tables, c->sl_mask, err);
	if (!rc)
		p->sls = c->sl_mask;
	return rc;
}

/* Whether OpenSM, as it is configured, would install these tables and nothing else. */
static int plugin_fits(struct plugin *p, const struct fabric *f, const struct table_selection *c,
		       bool same_maps, struct err *err)
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
			       "\"lmc_esp0 TRUE\" gives switches several LIDs, which these tables "
			       "do not cover: set it to FALSE");
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
	return plugin_fits_qos(p, f, c, same_maps, err);
}

static uint32_t plugin_switch_of(const struct fabric *f, const osm_node_t *n)
{
	return fabric_switch_by_guid(f, cl_ntoh64(osm_node_get_node_guid(n)));
}

/* OpenSM writes what differs from what it believes to be there already: now it believes nothing. */
static void plugin_doubt_all(osm_switch_t *sw)
{
	memset(sw->lft, 0, sw->lft_size);
	for (uint32_t out = 1; out < osm_node_get_num_physp(sw->p_node); out++) {
		osm_physp_t *port = osm_node_get_physp_ptr(sw->p_node, out);

		for (uint32_t in = 0; port && in < osm_node_get_num_physp(sw->p_node); in++)
			memset(osm_physp_get_slvl_tbl(port, (uint8_t)in), 0,
			       sizeof(ib_slvl_table_t));
	}
}

/* What makes OpenSM write more than what differs: see osm_ucast_mgr and osm_qos.  A port of a host
 * is marked when its switch said in the last sweep that a port of its own had changed. */
static bool plugin_has_settled(const osm_opensm_t *osm)
{
	const cl_qmap_t *nodes = &osm->subn.node_guid_tbl;

	if (osm->subn.need_update || osm->subn.first_time_master_sweep)
		return false;
	for (cl_map_item_t *i = cl_qmap_head(nodes); i != cl_qmap_end(nodes); i = cl_qmap_next(i)) {
		osm_node_t *node = (osm_node_t *)i;

		if (node->sw && node->sw->need_update)
			return false;
		for (uint32_t p = 1; p < osm_node_get_num_physp(node); p++) {
			const osm_physp_t *port = osm_node_get_physp_ptr(node, p);

			if (port && osm_physp_get_remote(port) && port->need_update)
				return false;
		}
	}
	return true;
}

/* Is a cable of it up already?  OpenSM has not done that yet in this sweep: it was so before. */
static bool plugin_switch_stayed(const osm_switch_t *sw)
{
	for (uint32_t p = 1; p < osm_node_get_num_physp(sw->p_node); p++) {
		osm_physp_t *port = osm_node_get_physp_ptr(sw->p_node, p);

		if (port && osm_physp_get_remote(port) &&
		    ib_port_info_get_port_state(&port->port_info) > IB_LINK_INIT)
			return true;
	}
	return false;
}

/* OpenSM writes all tables of a switch that a port went away from again, as if that had started
 * again; its own sign that it has not is a port that is up. */
static void plugin_trust_stayed(struct plugin *p)
{
	cl_qmap_t *switches = &p->osm->subn.sw_guid_tbl;

	if (!p->sweeping)
		return;
	for (cl_map_item_t *i = cl_qmap_head(switches); i != cl_qmap_end(switches);
	     i = cl_qmap_next(i)) {
		osm_switch_t *sw = (osm_switch_t *)i;

		if (sw->need_update == 1 && plugin_switch_stayed(sw))
			sw->need_update = 0;
	}
}

/* A sweep looks at everything, and reads what is configured. */
static bool plugin_same_maps(const struct plugin *p, const struct table_selection *c)
{
	return p->done && !p->sweeping &&
	       (!p->osm->subn.opt.qos || digest_equal(&p->sl_maps, &c->sl_maps));
}

/* What OpenSM is to write next.  Returns how many LFT blocks that is, as far as it knows. */
static uint32_t plugin_install(struct plugin *p, const struct fabric *f,
			       const struct table_selection *c)
{
	uint32_t blocks = osm_wave_stage(p->osm, f, c->tables);

	p->ours = true;
	p->done = false;
	p->sl_maps = c->sl_maps;
	tables_put(p->tables);
	fabric_put(p->fabric);
	p->tables = tables_get(c->tables);
	p->fabric = fabric_get(f);
	p->asked_of = NULL;
	return blocks;
}

static void plugin_doubt(struct plugin *p)
{
	cl_qmap_t *switches = &p->osm->subn.sw_guid_tbl;

	for (cl_map_item_t *i = cl_qmap_head(switches); i != cl_qmap_end(switches);
	     i = cl_qmap_next(i))
		plugin_doubt_all((osm_switch_t *)i);
}

static void plugin_tell_repaired(struct plugin *p, const struct table_repair *r, double took)
{
	static const char *const of[] = {
		[CHOICE_ENGINE] = "the engine's tables",
		[CHOICE_FILE] = "the given tables",
		[CHOICE_CONFIRMED] = "the confirmed tables",
		[CHOICE_CONSOLE] = "the console's tables",
		[CHOICE_REPAIRED] = "the tables of the last repair",
	};
	struct policy *policy;

	if (!r->what[0])
		return;
	osm_log(&p->osm->log, OSM_LOG_INFO,
		ENGINE_NAME ": repaired %s: %s since%s%s; %llu LFT entries change, %llu have to, "
			    "for %u LIDs that had lost paths; %s; %.3f s with the check\n",
		of[r->of], r->what, r->gone[0] ? "; gone: " : "", r->gone,
		(unsigned long long)r->changed, (unsigned long long)r->needed, r->lids,
		r->sls_again ? "SLs were assigned again" : "all other paths and SLs stay", took);
	policy = sm_session_chosen_by(p->session);
	if (policy)
		fresh_gap_ask(p->gap, p->fabric, p->tables, policy);
	policy_put(policy);
}

static void plugin_tell_installed(struct plugin *p, const struct table_selection *c, double took)
{
	static const char *const by[] = {
		[CHOICE_ENGINE] = "engine",
		[CHOICE_FILE] = "the given tables of",
		[CHOICE_CONFIRMED] = "the confirmed tables of",
		[CHOICE_CONSOLE] = "the console's tables of",
		[CHOICE_REPAIRED] = "a repair, of engine",
	};
	const struct fabric *f = p->fabric;
	char hex[9], step[100] = "a step of an update, checked by its plan";

	if (c->looping)
		snprintf(step, sizeof(step),
			 "a step of an update, checked by its plan: %u LIDs, LID %u first, loop",
			 c->looping, c->loop_lid);

	osm_log(&p->osm->log, OSM_LOG_INFO,
		ENGINE_NAME ": routed by %s %s: fabric %s of %u switches, %u hosts' ports and %u "
			    "links, LMC %u; %s, %u VLs, %u SLs, at most %u hops; %.3f s\n",
		by[c->source], c->tables->engine, digest_short(hex, &f->fingerprint), f->nsw,
		f->nterm, f->nchan / 2, f->lmc,
		c->step ? step : "verified: connected, no loop, no deadlock", c->vls_used,
		c->sls_used, c->hops_max, took);
	if (c->source == CHOICE_REPAIRED)
		plugin_tell_repaired(p, &c->repair, took);
}

static void plugin_tell_improver(struct plugin *p, const struct table_selection *c)
{
	struct policy *policy = sm_session_chosen_by(p->session);

	if (policy)
		improver_installed(p->improver, p->fabric, p->tables, policy,
				   c->source == CHOICE_REPAIRED);
	policy_put(policy);
}

/* Routes of one VL are right whatever OpenSM cuts off; others need a second sweep, once. */
static void plugin_watch_vls(struct plugin *p, const struct table_selection *c)
{
	uint32_t behind = c->vls_used > 1 ? osm_fabric_vls_behind(p->osm) : 0;

	p->sweep_again = behind && !p->asked;
	if (p->sweep_again)
		osm_log(&p->osm->log, OSM_LOG_INFO,
			ENGINE_NAME ": %u ports get their VLs only in this sweep, so OpenSM "
				    "truncates SL2VL tables: another sweep follows\n",
			behind);
	else if (behind)
		osm_log(&p->osm->log, OSM_LOG_ERROR,
			ENGINE_NAME ": %u ports do not accept the VLs that OpenSM sets: their "
				    "SL2VL tables are truncated, and deadlocks are possible\n",
			behind);
	p->asked = p->sweep_again;
}

/* One routing, from what OpenSM has found to what it is to write. */
struct sweep {
	struct plugin *p;
	const struct fabric *f;
	struct table_selection c;
	bool same_maps; /* no SL2VL table is another than in the routing before */
	double start;
};

/* With OpenSM's lock held, the caller's reference. */
static int plugin_find_fabric(const struct fabric **out, struct plugin *p, struct err *err)
{
	struct table_selection_log log = { plugin_say, p };
	bool heard = atomic_exchange(&p->heard, false);
	struct fabric *f;
	int rc;

	if (p->found && !heard) {
		*out = fabric_get(p->found);
		return 0;
	}
	fabric_put(p->found);
	p->found = NULL;
	rc = osm_fabric_build(&f, p->osm, err);
	if (!rc)
		sm_session_mark_io(p->session, f, p->osm->subn.opt.io_guid_file, &log);
	*out = rc ? NULL : f;
	if (!rc && !p->sweeping)
		p->found = fabric_get(f);
	return rc;
}

static int plugin_route(void *ctx, struct err *err)
{
	struct sweep *x = ctx;
	struct table_selection_log log = { plugin_say, x->p };
	int rc = plugin_find_fabric(&x->f, x->p, err);

	if (!rc)
		rc = sm_session_choose(x->p->session, &x->c, x->f, &log, err);
	if (!rc)
		x->same_maps = plugin_same_maps(x->p, &x->c);
	if (!rc)
		rc = plugin_fits(x->p, x->f, &x->c, x->same_maps, err);
	return rc;
}

static int plugin_note_routed(void *ctx, struct err *err)
{
	const struct sweep *x = ctx;

	(void)err;
	sm_session_routed(x->p->session, x->f, &x->c);
	return 0;
}

static int plugin_route_in_sweep(void *ctx, struct err *err)
{
	int rc = plugin_route(ctx, err);

	return rc ? rc : plugin_note_routed(ctx, err);
}

static int plugin_keep_hops(void *ctx, struct err *err)
{
	struct plugin *p = ctx;

	(void)err;
	osm_hops_keep(p->hops, p->osm);
	return 0;
}

/* The first one, once: all are laid out alike. */
static int plugin_know_switches(struct plugin *p, struct err *err)
{
	const cl_qmap_t *switches = &p->osm->subn.sw_guid_tbl;
	const cl_map_item_t *first = cl_qmap_head(switches);
	int rc = 0;

	if (!p->known && first != cl_qmap_end(switches)) {
		rc = osm_abi_check_switch((const osm_switch_t *)first, err);
		p->known = !rc;
	}
	return rc;
}

static int plugin_build_fwd_tables(void *context)
{
	struct plugin *p = context;
	struct sweep x = { .p = p, .start = plugin_now_s() };
	struct err err = { "" };
	int rc = plugin_know_switches(p, &err);

	p->unwritten = 0; /* and all that is left of a wave is written now */
	if (!rc && p->hops_new && guarded_call(plugin_keep_hops, p, &err))
		osm_hops_drop(p->hops);
	if (!rc)
		rc = guarded_call(plugin_route_in_sweep, &x, &err);
	if (rc) {
		osm_log(&p->osm->log, OSM_LOG_ERROR,
			ENGINE_NAME
			": no routes of ours, OpenSM continues to its next engine: %s\n",
			err.text);
		sm_session_refused(p->session, err.text);
		p->ours = p->done = false;
	} else {
		plugin_trust_stayed(p);
		if (sm_session_wants_all(p->session))
			plugin_doubt(p);
		plugin_install(p, x.f, &x.c);
		plugin_watch_vls(p, &x.c);
		plugin_tell_installed(p, &x.c, plugin_now_s() - x.start);
		plugin_tell_improver(p, &x.c);
	}
	tables_put(x.c.tables);
	fabric_put(x.f);
	if (rc && p->server)
		socket_server_kick(p->server);
	return rc ? -1 : 0;
}

/* OpenSM's own hop counts are what its multicast trees need: 1 lets it count them. */
static int plugin_build_lid_matrices(void *context)
{
	struct plugin *p = context;

	p->hops_new = !osm_hops_restore(p->hops, p->osm);
	return p->hops_new;
}

/* LIDs of nobody and switches as sources keep the SL that OpenSM proposes. */
static uint8_t plugin_path_sl(void *context, uint8_t hint, const ib_net16_t slid,
			      const ib_net16_t dlid)
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

/* The site's map is for what no packet of ours passes: inputs without a cable, whose tables would
 * be written for nothing in each routing, and the way into a switch. */
static bool plugin_passed(const struct fabric *f, uint32_t sw, uint8_t in, uint8_t out)
{
	const struct port *p = fabric_port(f, sw, in);

	return out && (!in || p->chan != FAB_NONE || p->term != FAB_NONE);
}

static void plugin_keep_map(osm_physp_t *port, uint8_t in, ib_slvl_table_t *table)
{
	static const ib_slvl_table_t unknown;
	const ib_slvl_table_t *is = osm_physp_get_slvl_tbl(port, in);

	if (memcmp(is, &unknown, sizeof(unknown)) != 0)
		*table = *is;
}

/* Of a switch: what the tables say.  A host's own VL is free, nothing waits for it in a circle: the
 * site's map stays. */
static void plugin_update_sl2vl(void *context, osm_physp_t *port, uint8_t in, uint8_t out,
				ib_slvl_table_t *table)
{
	struct plugin *p = context;
	const osm_node_t *n = osm_physp_get_node_ptr(port);
	const uint8_t *vl;

	if (!p->tables || !n->sw)
		return;
	/* asked for each pair of ports of one switch after the other */
	if (p->asked_of != n) {
		p->asked_of = n;
		p->asked_sw = plugin_switch_of(p->fabric, n);
	}
	if (p->asked_sw == FAB_NONE)
		return;
	if (!plugin_passed(p->fabric, p->asked_sw, in, out)) {
		plugin_keep_map(port, in, table);
		return;
	}
	vl = tables_vl_row(p->tables, p->fabric, p->asked_sw, in, out);
	for (uint8_t sl = 0; sl < FAB_SLS; sl += 2)
		table->raw_vl_by_sl[sl / 2] = (uint8_t)(vl[sl] << 4 | (vl[sl + 1] & 0xf));
}

static int plugin_setup(osm_routing_engine_t *re, osm_opensm_t *osm)
{
	(void)osm;
	re->build_lid_matrices = plugin_build_lid_matrices;
	re->ucast_build_fwd_tables = plugin_build_fwd_tables;
	re->path_sl = plugin_path_sl;
	re->update_sl2vl = plugin_update_sl2vl;
	return 0;
}

/* ---- what the socket needs of OpenSM ---- */

/* The list of engines as it was configured. */
static void plugin_tell_engines(struct osm_status *s, const osm_opensm_t *osm)
{
	const char *names = osm->subn.opt.routing_engine_names;

	snprintf(s->configured, sizeof(s->configured), "%s", names ? names : "");
	s->no_fallback = osm->no_fallback_routing_engine;
	s->qos = osm->subn.opt.qos;
}

static const char *plugin_state_name(uint8_t state)
{
	switch (state) {
	case IB_SMINFO_STATE_DISCOVERING:
		return "discovering";
	case IB_SMINFO_STATE_STANDBY:
		return "standby";
	case IB_SMINFO_STATE_MASTER:
		return "master";
	default:
		return "not active";
	}
}

/* Never waits for OpenSM: while it is at work, it answers with what was seen last. */
static void plugin_facts(void *ctx, struct osm_status *s)
{
	struct plugin *p = ctx;
	struct osm_status *f = &p->facts;
	const osm_subn_t *subn = &p->osm->subn;

	f->busy = osm_exit_flag || pthread_rwlock_tryrdlock(&p->osm->lock.lock);
	if (!f->busy) {
		snprintf(f->state, sizeof(f->state), "%s", plugin_state_name(subn->sm_state));
		f->sm_guid = cl_ntoh64(subn->sm_port_guid);
		f->priority = subn->opt.sm_priority;
		f->lid = cl_ntoh16(subn->sm_base_lid);
		f->lmc = subn->opt.lmc;
		plugin_tell_engines(f, p->osm);
		osm_qos_replaced(f->replaces, sizeof(f->replaces), p->osm);
		pthread_rwlock_unlock(&p->osm->lock.lock);
	}
	if (p->keys)
		snprintf(s->key, sizeof(s->key), "%04x", site_keys_id(p->keys));
	s->unsealed = p->unsealed;
	s->forged = p->forged;
	snprintf(s->opensm, sizeof(s->opensm), "%s", p->osm->osm_version);
	memcpy(s->state, f->state, sizeof(s->state));
	s->sm_guid = f->sm_guid;
	s->priority = f->priority;
	s->lid = f->lid;
	s->lmc = f->lmc;
	s->busy = f->busy;
	s->qos = f->qos;
	s->no_fallback = f->no_fallback;
	memcpy(s->configured, f->configured, sizeof(s->configured));
	memcpy(s->replaces, f->replaces, sizeof(s->replaces));
}

/* OpenSM has all answers, or there was nothing to write; under its lock. */
static void plugin_finish(struct plugin *p)
{
	const osm_routing_engine_t *used = p->osm->routing_engine_used;

	p->done = p->ours;
	sm_session_finished(p->session, used && used->name ? used->name : "", p->sweep_again);
	if (p->server)
		socket_server_kick(p->server);
}

/* The fabric that was routed last, with a reference; NULL: it is another one. */
static const struct fabric *plugin_same_fabric(struct plugin *p, struct err *err)
{
	const struct fabric *f;

	if (plugin_find_fabric(&f, p, err))
		return NULL;
	if (p->fabric && digest_equal(&f->fingerprint, &p->fabric->fingerprint))
		return f;
	fabric_put(f);
	return NULL;
}

/* Under OpenSM's lock: 1 where a reroute is needed. */
static int plugin_write_wave(void *ctx, struct err *err)
{
	struct sweep *x = ctx;
	struct plugin *p = x->p;
	uint32_t blocks;
	int rc;

	if (!p->ours || !p->done || p->sweeping || p->sweep_again || !osm_wave_exact(p->osm))
		return 1;
	if (!p->settled)
		p->settled = plugin_has_settled(p->osm);
	if (!p->settled)
		return 1;
	x->f = plugin_same_fabric(p, err);
	rc = x->f ? plugin_route(x, err) : 1;
	if (rc || !x->same_maps)
		return 1;
	plugin_note_routed(x, err);
	blocks = plugin_install(p, x->f, &x->c);
	plugin_tell_installed(p, &x->c, plugin_now_s() - x->start);
	sm_session_count(p->session, SM_SESSION_REROUTE);
	p->unwritten = blocks;
	osm_wave_send(p->osm);
	if (!blocks)
		plugin_finish(p);
	return 0;
}

/* What needs no reroute, see osm_wave.h; false: it does, or OpenSM is at work. */
static bool plugin_wave(struct plugin *p)
{
	struct sweep x = { .p = p, .start = plugin_now_s() };
	struct timespec until;
	struct err err = { "" };
	int rc;

	if (p->sweeping || !sm_session_at_hand(p->session))
		return false;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += LOCK_MS * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	if (osm_exit_flag || pthread_rwlock_timedwrlock(&p->osm->lock.lock, &until))
		return false;
	rc = guarded_call(plugin_write_wave, &x, &err);
	pthread_rwlock_unlock(&p->osm->lock.lock);
	tables_put(x.c.tables);
	fabric_put(x.f);
	return !rc;
}

static void plugin_ask_reroute(struct plugin *p)
{
	p->osm->subn.force_reroute = TRUE;
	osm_opensm_sweep(p->osm);
}

/* In the improver's thread.  A heavy sweep first where OpenSM would write more than what differs.
 */
static void plugin_improve(void *ctx, const struct tables *of, const struct tables *step)
{
	struct plugin *p = ctx;
	bool settled;

	if (osm_exit_flag || !sm_session_improve(p->session, of, step))
		return;
	cl_plock_acquire(&p->osm->lock);
	settled = plugin_has_settled(p->osm);
	cl_plock_release(&p->osm->lock);
	if (settled)
		p->osm->subn.force_reroute = TRUE;
	else
		p->osm->subn.force_heavy_sweep = TRUE;
	osm_opensm_sweep(p->osm);
}

static int plugin_reroute(void *ctx, struct err *err)
{
	struct plugin *p = ctx;

	if (p->osm->subn.sm_state != IB_SMINFO_STATE_MASTER)
		return err_set(err, -ENOTSUP,
			       "this OpenSM is not the master (%s) and does not route: ask the "
			       "master",
			       plugin_state_name(p->osm->subn.sm_state));
	if (!plugin_wave(p))
		plugin_ask_reroute(p);
	return 0;
}

/* A block that is answered with an error, or never: OpenSM writes it again in a sweep. */
static void plugin_look_after_wave(void *ctx)
{
	struct plugin *p = ctx;

	if (!p->unwritten || p->osm->stats.qp0_mads_outstanding || osm_exit_flag)
		return;
	if (pthread_rwlock_trywrlock(&p->osm->lock.lock))
		return;
	if (p->unwritten) {
		p->unwritten = 0;
		plugin_ask_reroute(p);
	}
	pthread_rwlock_unlock(&p->osm->lock.lock);
}

/* Under OpenSM's lock. */
static void plugin_wrote(struct plugin *p, const osm_epi_lft_change_event_t *e)
{
	if (p->unwritten && e->flags & LFT_CHANGED_BLOCK && !--p->unwritten)
		plugin_finish(p);
}

/* So that the first wave does not wait for it. */
static int plugin_find_now(void *ctx, struct err *err)
{
	const struct fabric *f;
	int rc = plugin_find_fabric(&f, ctx, err);

	fabric_put(f);
	return rc;
}

static int plugin_settled(void *ctx, bool ask)
{
	struct plugin *p = ctx;
	struct err err;
	bool settled;
	int rc;

	/* in the middle of a sweep all may look settled, and the rest of it is still to be sent */
	if (osm_exit_flag || p->sweeping || pthread_rwlock_tryrdlock(&p->osm->lock.lock))
		return -EAGAIN;
	rc = plugin_know_switches(p, &err);
	settled = !rc && plugin_has_settled(p->osm);
	p->settled = settled;
	if (settled)
		guarded_call(plugin_find_now, p, &err);
	pthread_rwlock_unlock(&p->osm->lock.lock);
	if (settled)
		return 0;
	if (rc)
		return -EAGAIN;
	if (ask) {
		plugin_say(p, "an update begins: discovering everything once more, so that only "
			      "what differs is written");
		p->osm->subn.force_heavy_sweep = TRUE;
		osm_opensm_sweep(p->osm);
	}
	return 1;
}

/* What is sent from here comes to us as a trap, as any other. */
static _Thread_local bool plugin_sends;

/* At most once a second; a damaged file leaves the keys as they were. */
static void plugin_look_at_keys(struct plugin *p)
{
	struct err err = { "" };
	int rc;

	if (!p->keys || (p->keys_ms && clock_ms() - p->keys_ms < 1000))
		return;
	p->keys_ms = clock_ms();
	rc = site_keys_refresh(p->keys, &err);
	if (rc < 0)
		osm_log(&p->osm->log, OSM_LOG_ERROR,
			ENGINE_NAME ": %s; the keys of before are used\n", err.text);
	else if (rc)
		osm_log(&p->osm->log, OSM_LOG_INFO,
			ENGINE_NAME ": signs notices with key %04x now\n", site_keys_id(p->keys));
}

static bool plugin_believes(void *ctx, const struct notice *n)
{
	struct plugin *p = ctx;
	struct phase_notice said;
	bool answer;

	if (!p->keys || phase_codec_decode(&said, &answer, n) == -ENOENT)
		return true;
	plugin_look_at_keys(p);
	if (!phase_seal_check(n, p->keys))
		return true;
	if (phase_seal_there(n))
		p->forged++;
	else
		p->unsealed++;
	return false;
}

static int plugin_send_notice(void *ctx, const uint8_t d[NOTICE_SA_DATA], struct err *err)
{
	struct plugin *p = ctx;
	int rc;

	plugin_look_at_keys(p);
	if (osm_exit_flag || pthread_rwlock_tryrdlock(&p->osm->lock.lock))
		return -EAGAIN;
	plugin_sends = true;
	rc = osm_notice_report(p->osm, d, p->keys, err);
	plugin_sends = false;
	pthread_rwlock_unlock(&p->osm->lock.lock);
	return rc;
}

struct listeners {
	struct plugin *p;
	uint64_t **guid;
	uint32_t *n;
};

static int plugin_find_listeners(void *ctx, struct err *err)
{
	struct listeners *x = ctx;

	(void)err;
	osm_notice_listeners(x->p->osm, NOTICE_UNPATH, x->guid, x->n);
	return 0;
}

static int plugin_listeners(void *ctx, uint64_t **guid, uint32_t *n, struct err *err)
{
	struct plugin *p = ctx;
	int rc;

	if (osm_exit_flag || pthread_rwlock_tryrdlock(&p->osm->lock.lock))
		return -EAGAIN;
	/* by itself, as the lock has to be given back */
	rc = guarded_call(plugin_find_listeners, &(struct listeners){ p, guid, n }, err);
	pthread_rwlock_unlock(&p->osm->lock.lock);
	return rc;
}

static int plugin_start_server(void *ctx, struct err *err)
{
	struct plugin *p = ctx;
	static const struct socket_server_ops ops = {
		.facts = plugin_facts,
		.reroute = plugin_reroute,
		.turn = plugin_look_after_wave,
		.notice = plugin_send_notice,
		.listeners = plugin_listeners,
		.settled = plugin_settled,
		.say = plugin_say,
		.believes = plugin_believes,
	};
	int rc;

	if (!strcmp(p->socket_path, "none"))
		return 0;
	rc = site_keys_load(&p->keys, p->key_path[0] ? p->key_path : NULL, err);
	if (rc) /* without it agents would not listen, with none they would not be asked: not by us
		 */
		return rc;
	rc = socket_server_start(&p->server, p->socket_path, p->session, &ops, p, NULL, err);
	if (!rc)
		osm_log(&p->osm->log, OSM_LOG_INFO, ENGINE_NAME ": the console finds it at %s%s\n",
			p->socket_path,
			p->keys ? "; notices to agents are signed"
				: "; there is no key, so any node can forge notices to agents");
	return rc;
}

/* ---- what OpenSM calls ---- */

/* The value of a word "name=value" of the options, else of the environment, else fallback.  The
 * caller frees. */
static char *plugin_option(const char *options, const char *name, const char *env,
			   const char *fallback)
{
	const char *at = options ? strstr(options, name) : NULL;
	const char *set = env ? getenv(env) : NULL;

	if (at) {
		at += strlen(name);
		return xasprintf("%.*s", (int)strcspn(at, " \t,"), at);
	}
	return xstrdup(set && *set ? set : fallback);
}

static void plugin_destroy(void *data)
{
	struct plugin *p = data;

	fresh_gap_free(p->gap);
	improver_free(p->improver);
	socket_server_stop(p->server);
	sm_session_free(p->session);
	tables_put(p->tables);
	fabric_put(p->fabric);
	fabric_put(p->found);
	osm_hops_free(p->hops);
	free(p->policy_path);
	free(p->socket_path);
	free(p->confirmed_path);
	free(p->key_path);
	site_keys_free(p->keys);
	free(p);
}

static int plugin_init(void *ctx, struct err *err)
{
	struct plugin *p = ctx;
	const char *options = p->osm->subn.opt.event_plugin_options;

	(void)err;
	p->policy_path = plugin_option(options, "ibroute_policy=", "IBROUTE_POLICY", POLICY_PRESET);
	p->socket_path = plugin_option(options, "ibroute_socket=", "IBROUTE_SOCKET", OSM_SOCKET);
	p->confirmed_path = plugin_option(options, "ibroute_confirmed=", NULL, CONFIRMED_PRESET);
	p->key_path = plugin_option(options, "ibroute_key=", NULL, "");
	p->session = sm_session_new(p->policy_path, p->confirmed_path);
	p->gap = fresh_gap_new(&(struct table_selection_log){ plugin_say, p });
	p->improver = improver_new(&(struct improver_ops){ plugin_improve, plugin_say }, p);
	p->hops = osm_hops_new();
	p->sweeping = true;
	return 0;
}

/* Whoever looks into the structures of another build crashes, and OpenSM with it. */
static bool plugin_is_of(const struct osm_opensm *osm)
{
	struct err err;
	struct osm_log *log;

	if (!osm_abi_check(osm, &err))
		return true;
	log = osm_abi_log(osm);
	if (log)
		osm_log(log, OSM_LOG_ERROR, ENGINE_NAME ": not there: %s\n", err.text);
	else
		syslog(LOG_DAEMON | LOG_ERR, ENGINE_NAME ": not there: %s", err.text);
	return false;
}

static void *plugin_start(struct osm_opensm *osm)
{
	struct plugin *p = calloc(1, sizeof(*p));
	external_routing_engine_module_t module = { ENGINE_NAME, plugin_setup, p };
	struct err err = { "out of memory" };

	if (p)
		p->osm = osm;
	if (!p || guarded_call(plugin_init, p, &err) ||
	    osm_register_external_routing_engine(osm, &module, p) != CL_SUCCESS) {
		osm_log(&osm->log, OSM_LOG_ERROR, ENGINE_NAME ": not there: %s\n",
			!p || !p->session ? err.text
					  : "OpenSM has a routing engine of this name already");
		if (p)
			plugin_destroy(p);
		return NULL;
	}
	osm_log(&osm->log, OSM_LOG_INFO, ENGINE_NAME ": routes by the policy of %s\n",
		p->policy_path);
	if (guarded_call(plugin_start_server, p, &err))
		osm_log(&osm->log, OSM_LOG_ERROR,
			ENGINE_NAME ": routes without a socket for the console: %s\n", err.text);
	return p;
}

static void *plugin_create(struct osm_opensm *osm)
{
	return plugin_is_of(osm) ? plugin_start(osm) : NULL;
}

/* Under OpenSM's lock, in whatever thread of OpenSM, or in ours when it was ours. */
static void plugin_heard(struct plugin *p, const void *data)
{
	uint8_t d[NOTICE_SA_DATA];
	struct notice n;

	memcpy(d, data, sizeof(d));
	atomic_store(&p->heard, true);
	sm_session_count(p->session, SM_SESSION_TRAP);
	if (notice_decode(&n, d, sizeof(d)))
		return;
	if (n.trap == NOTICE_LINK_STATE)
		sm_session_link(p->session, n.issuer_lid);
	if (n.trap == NOTICE_LOCAL_CHANGES)
		sm_session_count(p->session, SM_SESSION_ACK);
	else if (plugin_sends || (n.trap != NOTICE_UNPATH && n.trap != NOTICE_REPATH))
		return;
	if (p->server)
		socket_server_heard(p->server, d);
}

/* OpenSM reads its QoS policy after it has routed. */
static void plugin_tell_replaced(struct plugin *p)
{
	char now[sizeof(p->replaces)];

	if (!p->tables || !strcmp(osm_qos_replaced(now, sizeof(now), p->osm), p->replaces))
		return;
	memcpy(p->replaces, now, sizeof(now));
	if (now[0])
		osm_log(&p->osm->log, OSM_LOG_INFO, ENGINE_NAME ": of the site's QoS: %s\n", now);
}

static void plugin_up(struct plugin *p)
{
	plugin_tell_replaced(p);
	if (!p->sweep_again)
		return;
	p->sweep_again = false;
	p->osm->subn.force_heavy_sweep = TRUE;
	osm_opensm_sweep(p->osm);
}

/* Of a reroute there comes no SUBNET UP. */
static void plugin_routed(struct plugin *p, uintptr_t how)
{
	sm_session_count(p->session,
			 how == UCAST_ROUTING_REROUTE ? SM_SESSION_REROUTE : SM_SESSION_HEAVY);
	cl_plock_excl_acquire(&p->osm->lock);
	plugin_finish(p);
	cl_plock_release(&p->osm->lock);
	if (how == UCAST_ROUTING_REROUTE)
		plugin_up(p);
}

/* In the thread that routes: from here on everything may be another. */
static void plugin_sweeps(struct plugin *p)
{
	p->sweeping = true;
	p->settled = false;
	atomic_store(&p->heard, true);
	osm_hops_drop(p->hops);
	cl_plock_excl_acquire(&p->osm->lock);
	p->done = false;
	cl_plock_release(&p->osm->lock);
}

/* For the next routing, once nobody waits for this one. */
static void plugin_copy_hops(struct plugin *p)
{
	cl_plock_acquire(&p->osm->lock);
	osm_hops_copy(p->hops, p->osm);
	cl_plock_release(&p->osm->lock);
}

static void plugin_report(void *data, osm_epi_event_id_t event, void *event_data)
{
	struct plugin *p = data;

	switch (event) {
	case OSM_EVENT_ID_TRAP:
		plugin_heard(p, event_data);
		return;
	case OSM_EVENT_ID_LFT_CHANGE:
		plugin_wrote(p, event_data);
		return;
	case OSM_EVENT_ID_HEAVY_SWEEP_START:
		plugin_sweeps(p);
		return;
	case OSM_EVENT_ID_SUBNET_UP:
		p->sweeping = false;
		plugin_up(p);
		break;
	case OSM_EVENT_ID_UCAST_ROUTING_DONE:
		plugin_routed(p, (uintptr_t)event_data);
		break;
	case OSM_EVENT_ID_STATE_CHANGE:
		sm_session_count(p->session, SM_SESSION_STATE);
		break;
	default:
		return;
	}
	if (p->server)
		socket_server_kick(p->server);
	if (event == OSM_EVENT_ID_UCAST_ROUTING_DONE)
		plugin_copy_hops(p);
}

__attribute__((visibility("default")))
osm_event_plugin_t osm_event_plugin = { OSM_VERSION, plugin_create, plugin_destroy, plugin_report };
