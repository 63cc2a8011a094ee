/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * osm_msg: what the console and our plugin inside OpenSM say to each other over a Unix socket.
 *
 * A message is a header of 16 bytes and a body; numbers are little-endian:
 *
 *	0..3    "IBRM"
 *	4       version
 *	5       type (enum osm_msg_type)
 *	6..7    flags of the type
 *	8..11   number of the request, repeated by its answer; 0: nobody asked
 *	12..15  length of the body
 *
 * Bodies are JSON, but for tables (the bytes of tables_ibr), notices (the Notice attribute as the
 * subnet administration sends it, 80 bytes) and policies (the text of the file).  An answer has
 * the type of its request with the highest bit set, or OSM_MSG_ERROR.  Answers come in any order.
 */
#pragma once

#include "fabric/base/hash/digest.h"
#include "fabric/base/message/err.h"
#include "fabric/ib/link_reports.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OSM_SOCKET	"/run/ibroute-top/opensm.sock" /* where it is unless said otherwise */
#define OSM_MSG_VERSION 2
#define OSM_MSG_HEAD	16
#define OSM_MSG_SMALL	(64u << 10)  /* bytes of a body at most */
#define OSM_MSG_LARGE	(128u << 20) /* of one that carries tables */

enum osm_msg_type {
	OSM_MSG_STATUS = 1,
	OSM_MSG_LOAD = 2,	/* tables, to route with from the next routing on */
	OSM_MSG_POLICY = 3,	/* the text of a policy; empty: the file counts again */
	OSM_MSG_REROUTE = 4,	/* answered when OpenSM has finished */
	OSM_MSG_NOTICE = 5,	/* to all subscribers: 68 and 69 only */
	OSM_MSG_WATCH = 6,	/* from now on OSM_MSG_HEARD for each trap 144 */
	OSM_MSG_TABLES = 7,	/* answered with tables */
	OSM_MSG_KEEP = 8,	/* what was loaded is confirmed: it goes to disk */
	OSM_MSG_RETURN = 9,	/* back to the tables from before the first load; reroute next */
	OSM_MSG_LISTENERS = 10, /* answered with port GUIDs, 8 bytes each: who listens to 68 */
	OSM_MSG_JUDGE = 11,	/* tables: would they be taken as the end of an update?  Nothing is
				 * done.  Only for a plugin that reports what its policy excludes */
	OSM_MSG_BEGIN = 12,	/* an update begins, or its client is back; LOAD and KEEP need it */
	OSM_MSG_ALIVE = 13,	/* the update goes on: its lease, and the time left to confirm it */
	OSM_MSG_BACK = 14,	/* back to the tables from before the update, in steps; answered as
				 * REROUTE is */
	OSM_MSG_AGENTS = 15,	/* answered with what each agent said last, OSM_AGENT bytes each */
	OSM_MSG_AHEAD = 16,	/* tables of a wave to come: judged as LOAD does, and kept, so that
				 * LOAD needs only their hash; answered with it, "" if not kept.
				 * Only for a plugin that says so in its status */
	OSM_MSG_HEARD = 0x60,	/* a notice, unasked */
	OSM_MSG_ANSWER = 0x80,
	OSM_MSG_ERROR = 0xff
};

enum osm_msg_flag {
	OSM_LOAD_STEP = 1,     /* LOAD: a step of a checked plan, need not be safe by itself */
	OSM_LOAD_KNOWN = 2,    /* LOAD: the hash of tables that AHEAD has sent; -ENOENT */
	OSM_POLICY_SAVE = 1,   /* POLICY: into the policy's file, too */
	OSM_POLICY_FORGET = 2, /* POLICY: also forget given and confirmed tables */
	OSM_REROUTE_ALL = 1,   /* REROUTE: write all blocks, also those that seem to be there */
	OSM_TABLES_BASE = 1    /* TABLES: those from before the first load */
};

struct osm_msg {
	uint8_t type;
	uint16_t flags;
	uint32_t id;
	uint32_t len; /* of the body */
};

void osm_msg_put(uint8_t head[OSM_MSG_HEAD], const struct osm_msg *m);
/* -EPROTO: not of this protocol; -ENOTSUP: of another version; -EMSGSIZE: longer than its type
 * may be. */
int osm_msg_get(struct osm_msg *out, const uint8_t head[OSM_MSG_HEAD], struct err *err);
uint32_t osm_msg_limit(uint8_t type); /* bytes of its body */

/* What an agent said last. */
struct osm_agent {
	uint64_t guid, txn, age_ms;
	uint16_t lid;
	uint8_t phase; /* of the question */
	uint8_t flags; /* enum phase_notice_flag */
};

#define OSM_AGENT 32
void osm_agent_put(uint8_t d[OSM_AGENT], const struct osm_agent *a);
void osm_agent_get(struct osm_agent *out, const uint8_t d[OSM_AGENT]);

#define OSM_LEASE_MS 15000 /* without a word of its client; then the plugin ends the update */

/* Body of BEGIN and ALIVE.  There is one update at a time: BEGIN is refused with -EBUSY, and who
 * it is, while another one's lease runs. */
struct osm_update {
	char id[64];	 /* of the transaction */
	char owner[100]; /* for people: user, host and process */
	char fabric[DIGEST_HEX];
	uint32_t lease_ms;   /* 0: OSM_LEASE_MS */
	uint32_t confirm_ms; /* ALIVE: from now on, then it is rolled back; 0: no window is open */
	uint64_t txn;	     /* of its notices, and ... */
	uint32_t seq; /* ... the last one sent: its agents can be called back; 0: it has none */
};

/* JSON; the caller frees. */
char *osm_update_encode(const struct osm_update *u);
int osm_update_decode(struct osm_update *out, const char *body, size_t len, struct err *err);

/* Whose routes are in force; osm_status.source. */
#define OSM_SOURCE_CONSOLE   "console"	 /* given over the socket, not confirmed yet */
#define OSM_SOURCE_CONFIRMED "confirmed" /* the same, confirmed; from disk after a restart */
#define OSM_SOURCE_FILE	     "file"	 /* the policy's tables */
#define OSM_SOURCE_ENGINE    "engine"	 /* computed by the policy's engine */
#define OSM_SOURCE_REPAIRED  "repaired"	 /* what routed before a failure, as far as it stands */

/* Texts that are not known are "", hashes 64 hex digits or "". */
struct osm_status {
	char plugin[16], opensm[48]; /* versions */
	char state[16];		     /* of this SM: "master", "standby", "discovering", ... */
	uint64_t sm_guid;	     /* of its port */
	uint32_t priority, lid, lmc;
	bool busy; /* OpenSM is at work: what it says of itself is from before */

	char configured[160]; /* its engines, as configured */
	char routes[32];      /* which of them really routes now */
	bool ours;	      /* that is ours */
	bool qos;	      /* without, it sets no SL2VL tables */
	char replaces[400]; /* settings of the site that our routing takes the place of; "": none */
	bool no_fallback;
	char source[16];
	bool step; /* between two tables: a transaction is in progress, or was left unfinished */
	char why[400];	/* why not ours, or not the tables given first */
	char away[400]; /* why the confirmed tables on disk are not used */

	char policy[256], policy_engine[40];
	bool policy_unsaved;  /* given over the socket, gone after a restart */
	char exclude[400];    /* of the policy of the next routing; "": nothing, or not reported */
	char confirmed[256];  /* file of the confirmed tables */
	bool confirmed_there; /* there is one */
	bool ahead;	      /* it takes OSM_MSG_AHEAD */

	char engine[16], params[96]; /* who made the tables, if ours */
	uint64_t seed;
	char fabric[DIGEST_HEX], tables[DIGEST_HEX], base[DIGEST_HEX];
	uint32_t switches, hosts, links;
	uint32_t vls, sls, hops_max; /* as judged */

	char update[64], owner[100]; /* the update that is open, and whose it is; "": none */
	char ended[300]; /* how the last one ended without a word of its client; "": none did */

	uint64_t routings, refused; /* times that we routed, and did not */
	uint64_t reroutes, heavy_sweeps;
	uint64_t link_events, traps, acks; /* heard: traps 128, all, 144 of our phases */
	char link_lids[LINK_REPORTS_TEXT]; /* whose the last link_events were (link_reports.h) */
	uint64_t state_changes;		   /* of this SM */
	uint64_t loads, notices, clients;

	char key[8];		   /* number of the key that signs notices; "": none does */
	uint64_t unsealed, forged; /* notices of agents and coordinators that were not believed */
};

/* What OpenSM has done since it was started, as the plugin counts it: sweeps in which it discovered
 * the fabric again, routings, those of them that the plugin made and that it left to others, and
 * changes of links that it was told of. */
struct osm_counts {
	uint64_t sweeps, reroutes, routings, refused, link_events;
};

void osm_status_counts(struct osm_counts *out, const struct osm_status *s);

/* JSON; the caller frees. */
char *osm_status_encode(const struct osm_status *s);
/* Keys that are missing stay zero, unknown ones are ignored; -EPROTO when it is no such object. */
int osm_status_decode(struct osm_status *out, const char *body, size_t len, struct err *err);

/* Answers to what is not a question for a status or tables; with OSM_MSG_ERROR rc is not 0. */
struct osm_answer {
	int rc;	     /* 0 or -errno */
	bool ours;   /* REROUTE: our routes are installed */
	bool change; /* RETURN: there was something to return from */
	char source[16], tables[DIGEST_HEX];
	char text[500];
};

char *osm_answer_encode(const struct osm_answer *a);
int osm_answer_decode(struct osm_answer *out, const char *body, size_t len, struct err *err);
