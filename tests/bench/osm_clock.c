/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * osm_clock: an event plugin for OpenSM that measures its routing engine and keeps the result.
 *
 * The clock is the CPU time of the thread that routes.  It starts when the engine is asked for
 * its hop matrices and stops when the last LID is in the forwarding tables; discovery before
 * and distribution after are left out.  Where an engine leaves a step to OpenSM's own code, the
 * plugin cannot wrap that, so the library is loaded before the others and also sees OpenSM's
 * walks over its tables: its own assignment of ports ends with a walk over all switches that
 * follows one over all end ports.
 *
 * Environment: OSM_CLOCK_OUT, a prefix: .json what was measured, .lids a line per node, .lft the
 * tables, .sl the SLs of all paths.  Then OpenSM ends.  OSM_CLOCK_SL=0 leaves the SLs out.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <opensm/osm_config.h>

#include <opensm/osm_event_plugin.h>
#include <opensm/osm_node.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_port.h>
#include <opensm/osm_switch.h>
#include <opensm/osm_version.h>

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum phase { BEFORE, ROUTING, OWN_TABLES, OWN_ORDER, OVER };

static struct {
	osm_opensm_t *osm;
	osm_routing_engine_t *engine;
	int (*lid_matrices)(void *context);
	int (*fwd_tables)(void *context);
	enum phase phase;
	double cpu, wall, sweep;
} the;

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static long peak_kb(void)
{
	FILE *in = fopen("/proc/self/status", "r");
	char line[256];
	long kb = -1;

	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "VmHWM: %ld", &kb) == 1)
			break;
	if (in)
		fclose(in);
	return kb;
}

static FILE *out_file(const char *suffix)
{
	const char *prefix = getenv("OSM_CLOCK_OUT");
	char name[4096];
	FILE *out;

	snprintf(name, sizeof(name), "%s.%s", prefix ? prefix : "osm_clock", suffix);
	out = fopen(name, "w");
	if (!out) {
		perror(name);
		_exit(4);
	}
	return out;
}

static void close_file(FILE *out)
{
	if (fclose(out)) {
		perror("osm_clock");
		_exit(4);
	}
}

/* "S guid lid lmc" or "H guid lid lmc"; returns the highest LID. */
static unsigned write_lids(void)
{
	cl_qmap_t *nodes = &the.osm->subn.node_guid_tbl;
	FILE *out = out_file("lids");
	unsigned max = 0;

	for (cl_map_item_t *i = cl_qmap_head(nodes); i != cl_qmap_end(nodes); i = cl_qmap_next(i)) {
		osm_node_t *n = (osm_node_t *)i;
		unsigned port = n->sw ? 0 : 1, lid = cl_ntoh16(osm_node_get_base_lid(n, port));
		unsigned lmc = n->sw ? 0 : the.osm->subn.opt.lmc;

		fprintf(out, "%c 0x%016" PRIx64 " %u %u\n", n->sw ? 'S' : 'H',
			cl_ntoh64(osm_node_get_node_guid(n)), lid, lmc);
		lid += (1u << lmc) - 1;
		max = lid > max ? lid : max;
	}
	close_file(out);
	return max;
}

/* Per switch its GUID and max_lid + 1 ports. */
static void write_lfts(unsigned max_lid)
{
	cl_qmap_t *switches = &the.osm->subn.sw_guid_tbl;
	uint8_t *row = malloc(max_lid + 1);
	FILE *out = out_file("lft");

	fwrite(&max_lid, sizeof(max_lid), 1, out);
	for (cl_map_item_t *i = cl_qmap_head(switches); i != cl_qmap_end(switches);
	     i = cl_qmap_next(i)) {
		osm_switch_t *sw = (osm_switch_t *)i;
		uint64_t guid = cl_ntoh64(osm_node_get_node_guid(sw->p_node));
		unsigned n = max_lid + 1 < sw->lft_size ? max_lid + 1 : sw->lft_size;

		memset(row, OSM_NO_PATH, max_lid + 1);
		if (sw->new_lft)
			memcpy(row, sw->new_lft, n);
		fwrite(&guid, sizeof(guid), 1, out);
		fwrite(row, 1, max_lid + 1, out);
	}
	free(row);
	close_file(out);
}

/* Per end node its GUID and max_lid + 1 SLs, of the paths to other end nodes. */
static void write_sls(unsigned max_lid)
{
	cl_qmap_t *ports = &the.osm->subn.port_guid_tbl;
	uint8_t *row = malloc(max_lid + 1);
	FILE *out = out_file("sl");

	for (cl_map_item_t *i = cl_qmap_head(ports); i != cl_qmap_end(ports); i = cl_qmap_next(i)) {
		osm_port_t *from = (osm_port_t *)i;
		uint64_t guid = cl_ntoh64(osm_node_get_node_guid(from->p_node));
		ib_net16_t slid = osm_port_get_base_lid(from);

		if (from->p_node->sw)
			continue;
		memset(row, 0, max_lid + 1);
		for (unsigned lid = 1; lid <= max_lid; lid++) {
			osm_port_t *to = osm_get_port_by_lid_ho(&the.osm->subn, (uint16_t)lid);

			if (to && to != from && !to->p_node->sw)
				row[lid] = the.engine->path_sl(the.engine->context, 0, slid,
							       cl_hton16((uint16_t)lid));
		}
		fwrite(&guid, sizeof(guid), 1, out);
		fwrite(row, 1, max_lid + 1, out);
	}
	free(row);
	close_file(out);
}

static void over(int rc)
{
	double cpu = seconds(CLOCK_THREAD_CPUTIME_ID) - the.cpu;
	double now = seconds(CLOCK_MONOTONIC), wall = now - the.wall;
	const char *sl = getenv("OSM_CLOCK_SL");
	long rss = peak_kb();
	FILE *out;

	the.phase = OVER;
	if (!rc) {
		unsigned max_lid = write_lids();

		the.osm->routing_engine_used = the.engine; /* lash asks for it */
		write_lfts(max_lid);
		if (the.engine->path_sl && !(sl && *sl == '0'))
			write_sls(max_lid);
	}
	out = out_file("json");
	fprintf(out,
		"{\"rc\": %d, \"cpu_s\": %.6f, \"wall_s\": %.6f, \"rss_mb\": %.1f, "
		"\"discovery_s\": %.2f, \"sls_known\": %s}\n",
		rc, cpu, wall, (double)rss / 1024, the.wall - the.sweep,
		the.engine->path_sl && sl && *sl == '0' ? "false" : "true");
	close_file(out);
	/* by exit(), so that the simulator hears of it; by force when that hangs */
	alarm(5);
	exit(0);
}

static int my_lid_matrices(void *context)
{
	int rc;

	the.phase = ROUTING;
	the.wall = seconds(CLOCK_MONOTONIC);
	the.cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
	rc = the.lid_matrices ? the.lid_matrices(context) : 1;
	if (rc < 0)
		over(rc);
	return rc;
}

static int my_fwd_tables(void *context)
{
	int rc = the.fwd_tables ? the.fwd_tables(context) : 1;

	if (rc <= 0)
		over(rc);
	the.phase = OWN_TABLES;
	return rc;
}

void cl_qmap_apply_func(const cl_qmap_t *const map, cl_pfn_qmap_apply_t fn,
			const void *const context)
{
	static void (*real)(const cl_qmap_t *, cl_pfn_qmap_apply_t, const void *);

	if (!real)
		real = (void (*)(const cl_qmap_t *, cl_pfn_qmap_apply_t, const void *))dlsym(
			RTLD_NEXT, "cl_qmap_apply_func");
	real(map, fn, context);
	if (the.phase == OWN_TABLES && map == &the.osm->subn.port_guid_tbl)
		the.phase = OWN_ORDER;
	else if (the.phase == OWN_ORDER && map == &the.osm->subn.sw_guid_tbl)
		over(0);
}

static void *create(struct osm_opensm *osm)
{
	the.osm = osm;
	return osm;
}

static void destroy(void *context)
{
	(void)context;
}

/* The engines are set up by the first sweep. */
static void report(void *context, osm_epi_event_id_t event, void *data)
{
	(void)context;
	(void)data;
	if (event != OSM_EVENT_ID_HEAVY_SWEEP_START || the.engine)
		return;
	the.sweep = seconds(CLOCK_MONOTONIC);
	the.engine = the.osm->routing_engine_list;
	if (!the.engine) {
		fputs("osm_clock: OpenSM could not set up this engine\n", stderr);
		alarm(5);
		exit(3);
	}
	the.lid_matrices = the.engine->build_lid_matrices;
	the.fwd_tables = the.engine->ucast_build_fwd_tables;
	the.engine->build_lid_matrices = my_lid_matrices;
	the.engine->ucast_build_fwd_tables = my_fwd_tables;
}

osm_event_plugin_t osm_event_plugin = { OSM_VERSION, create, destroy, report };
