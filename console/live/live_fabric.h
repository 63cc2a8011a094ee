/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live_fabric: the real fabric for subcommands: one port, what is discovered, installed and
 * running. */
#pragma once

#include "console/input/load/load_adaptive.h"
#include "fabric/base/message/err.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"
#include "fabric/model/traffic/sample.h"
#include "fabric/plan/plan.h"
#include "fabric/update/installer/osm_link.h"
#include "fabric/update/protocol/site_key.h"
#include "fabric/wire/wire.h"

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

struct jobs_moment;
struct live;
struct live_opts;
struct name_map;

/* What somebody else has read, see collected.h.  -EAGAIN: it is to be read here. */
typedef int live_collected_fn(struct live *l, const struct live_opts *o, struct err *err);

struct live_opts {
	const char *ca;
	unsigned port, timeout_ms, window;
	bool notices; /* over the same port: agents are going to be asked */
	bool ask_m_key;
	uint64_t m_key;
	const struct mkeys *m_keys; /* see mkey_file() */
	const char *name, *node_names;
	const char *io_nodes;	      /* as --io-nodes; NULL: none are known */
	const struct name_map *names; /* without node_names; NULL: none */
	const char *jobs;	      /* "slurm" or a file; NULL: not watched */
	bool no_jobs;		      /* that was said: --jobs none */
	bool jobs_tried; /* nothing was said: without an answer it is a warning, and no jobs */
	const struct jobs_moment *moment; /* of jobs that are a history; NULL: none */
	bool lfts_only; /* SL2VL tables are not needed; OpenSM is not compared with */
	const char *record_dir, *state_dir;
	const char *installer;	      /* "opensm", "smp", "file:DIR"; NULL: as it is best */
	const char *socket;	      /* of OpenSM's plugin; NULL: see osm_link_path() */
	const char *agents_key;	      /* file, see site_keys_load(); NULL: the usual one */
	enum adaptive_state adaptive; /* as declared */
	live_collected_fn *collected; /* NULL: all is read from the fabric itself */
	double tables_after_s; /* by clock_s(): what a collector read before is out of date */
	const char *collector; /* folder of one, or "none"; NULL: the usual one, if there is any */
	const char *simulator; /* socket of a simulated fabric (sim_remote.h); NULL: a real one */
};

enum live_option {
	OPT_LIVE_WINDOW = 512,
	OPT_LIVE_FABRIC,
	OPT_LIVE_NODE_NAMES,
	OPT_LIVE_JOBS,
	OPT_LIVE_RECORD_DIR,
	OPT_LIVE_STATE_DIR,
	OPT_LIVE_INSTALLER,
	OPT_LIVE_SOCKET,
	OPT_LIVE_M_KEY_FILE,
	OPT_LIVE_AGENTS_KEY,
	OPT_LIVE_ADAPTIVE
};

/* Rows for argp tables.  The port that MADs go through: */
#define OPTIONS_LIVE_PORT(group)                                                                    \
	{ "Ca", 'C', "CA", 0, "HCA (default: the first with an active port)", (group) },            \
		{ "Port", 'P', "PORT", 0, "port of the HCA", (group) },                             \
		{ "timeout",                                                                        \
		  't',                                                                              \
		  "MS",                                                                             \
		  0,                                                                                \
		  "timeout of the first try of a request (default: 200 ms)",                        \
		  (group) },                                                                        \
		{ "m_key",                                                                          \
		  'y',                                                                              \
		  "KEY",                                                                            \
		  0,                                                                                \
		  "M_Key of the subnet; any value that is not a number, such as x, prompts for it", \
		  (group) },                                                                        \
	{                                                                                           \
		"m_key_file", OPT_LIVE_M_KEY_FILE, "FILE", 0,                                       \
			"file with the M_Key, readable by its owner only: the number, or "          \
			"OpenSM's guid2mkey",                                                       \
			(group)                                                                     \
	}
/* Of commands that write nothing; field: of their struct live_opts. */
#define OPTION_COLLECTOR(field, group)                                                             \
	{                                                                                          \
		"collector", (field), "DIR|none", 0,                                               \
			"read from this collector (default: that of this machine, if it runs); "   \
			"none: read from the fabric",                                              \
			(group)                                                                    \
	}
/* Files that belong to a fabric, and folders: */
#define OPTION_LIVE_NODE_NAMES(group)                                                              \
	{                                                                                          \
		"node-name-map", OPT_LIVE_NODE_NAMES, "FILE", 0,                                   \
			"node names: a file with lines of GUID \"name\"", (group)                  \
	}
#define OPTION_LIVE_ADAPTIVE(group)                                                                \
	{                                                                                          \
		"adaptive-routing", OPT_LIVE_ADAPTIVE, "auto|yes|no", 0,                           \
			"do switches choose among ports for each packet, so that tables are only " \
			"part of the routing? auto: as far as OpenSM reports it (default)",        \
			(group)                                                                    \
	}
#define OPTIONS_LIVE_DIRS(group)                                                                   \
	{ "record-dir", OPT_LIVE_RECORD_DIR, "DIR", 0, "directory for the records of sessions",    \
	  (group) },                                                                               \
	{                                                                                          \
		"state-dir", OPT_LIVE_STATE_DIR, "DIR", 0,                                         \
			"directory for the journals of updates, which hold the previous tables",   \
			(group)                                                                    \
	}
#define OPTION_LIVE_AGENTS_KEY(group)                                                              \
	{                                                                                          \
		"agents-key", OPT_LIVE_AGENTS_KEY, "FILE", 0,                                      \
			"key of the site, root's and mode 0600, by which updates and agents know " \
			"each other's notices; none: they do not (default: " SITE_KEY_PRESET       \
			", if it is there)",                                                       \
			(group)                                                                    \
	}
/* How tables are written: */
#define OPTIONS_LIVE_INSTALLER(group)                                                              \
	OPTION_LIVE_AGENTS_KEY(group),                                                             \
		{ "installer",                                                                     \
		  OPT_LIVE_INSTALLER,                                                              \
		  "opensm|smp|file:DIR",                                                           \
		  0,                                                                               \
		  "how tables are written: by OpenSM with the ibroute plugin (default if it "      \
		  "responds), directly to the switches, or to files",                              \
		  (group) },                                                                       \
	{                                                                                          \
		"socket", OPT_LIVE_SOCKET, "FILE", 0,                                              \
			"socket of OpenSM's plugin (default: $IBROUTE_SOCKET, else " OSM_SOCKET    \
			")",                                                                       \
			(group)                                                                    \
	}

/* Takes one of them; else ARGP_ERR_UNKNOWN.  A bad value ends the program. */
error_t live_opts_take(struct live_opts *o, int key, char *arg, struct argp_state *s);

/* The options above, as the only child of an argp; its input is a struct live_opts. */
extern const struct argp_child live_children[];

struct live {
	struct wire *w;
	bool lfts_only;
	struct mad_port simulated; /* what w is on, where that is a simulator; else ops is NULL */
	struct fabric *f;
	struct tables *t;
	struct jobset *jobs; /* NULL: not watched */
	struct sm_pin sm;
	struct osm_link *osm;	      /* our plugin in the master SM; NULL: there is none */
	struct osm_status osm_status; /* of the plugin, also of one that is not the master's */
	char osm_why[300];	      /* why osm is NULL */
	struct adaptive adaptive;     /* after live_discover() */
	char foreign[300]; /* switches hold other tables than OpenSM believes; "": they do not */
	bool collected;	   /* f, t, sm and perhaps jobs are a collector's, and w is NULL */
	struct wire_sm told_sm;	   /* of a collector; guid 0: it has no answer of the SM */
	const struct rates *rates; /* of a collector, if it has any */
	uint16_t top_min;	   /* lowest LinearFDBTop, and whose; after live_open() */
	uint32_t top_min_sw;
};

/* Jobs are SLURM's where there is one and nothing else was said. */
void live_jobs_default(struct live_opts *o);

/* Opens the port, discovers, and reads the installed tables and the jobs.  name: of the fabric
 * when the options have none, may be NULL.  A table that could not be read in full is -EIO: a
 * plan must know all that it may have to restore.  -ERANGE: LIDs are in use that a switch has no
 * room for.  Where our plugin is in OpenSM, and the switches hold what it believes, the service
 * levels of paths are those that it tells. */
int live_open(struct live *l, struct live_opts *o, const char *name, struct err *err);
/* Only the port and what is there. */
int live_discover(struct live *l, struct live_opts *o, const char *name, struct err *err);
/* Only the port, and what the SM says of itself. */
int live_port(struct live *l, struct live_opts *o, struct err *err);
/* Over the port that is open: of the fabric only what the path between two LIDs takes, and of its
 * tables only the entries for it (wire_trace.h). */
int live_trace(struct live *l, const struct live_opts *o, uint16_t slid, uint16_t dlid,
	       struct err *err);
/* The same over the port that is open already, if it is (a service opens it once); otherwise as
 * above.  What was read before is dropped; a failure closes it. */
int live_again(struct live *l, struct live_opts *o, const char *name, struct err *err);
/* The installed tables, after live_discover(); see live_open(). */
int live_tables(struct live *l, struct err *err);
/* What is in the switches, over a port that is open and stays so, without a word of OpenSM: the
 * fabric, once, and the tables, each time again.  now: all-zero at first; live_close() ends it. */
int live_read(struct live *now, struct wire *w, const struct live_opts *o, const char *name,
	      struct err *err);
/* A simulated fabric that has ended with the process that had it. */
bool live_gone(const struct live *l);
/* The plugin of the master SM, if it can be reached; else l->osm_why. */
void live_link(struct live *l, const char *socket);
/* The master SM as it is now; zeros when it does not answer. */
struct sm_pin live_sm(struct wire *w);
void live_close(struct live *l); /* an all-zero one is fine */
