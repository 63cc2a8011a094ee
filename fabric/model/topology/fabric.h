/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fabric: a frozen snapshot of what is out there, as flat arrays.
 *
 * Switches are sorted by node GUID, terminals by port GUID, channels by (source
 * switch, port), so that two discoveries of one fabric are byte-identical.
 * Built by a builder, then only read; shared between threads by reference count.
 *
 * Names of indices, kept apart everywhere:
 *   sw    0..nsw-1         switch
 *   term  0..nterm-1       terminal: a CA port that is neither an aggregation node nor a router
 *         nterm..nend-1    the other CA and router ports: routed to, but never counted
 *   chan  0..nchan-1       directed inter-switch channel (one per cable and direction)
 *   port  port_off[sw]+p   port p of a switch, p = 0..sw_nports[sw]
 *   end   a LID's owner    a term, or nend + sw for a switch's port 0
 */
#pragma once

#include "fabric/base/hash/digest.h"

#include <stdbool.h>
#include <stdint.h>

#define FAB_NONE     UINT32_MAX /* no such index */
#define FAB_NO_PORT  255	/* LFT value: dropped */
#define FAB_MAX_LID  0xbfff	/* last unicast LID */
#define FAB_SLS	     16
#define FAB_MAX_PORT 254

enum term_kind {
	TERM_COMPUTE,	  /* may run jobs */
	TERM_STORAGE,	  /* storage, I/O, login, ...: routed after the jobs */
	TERM_AGGREGATION, /* SHARP aggregation node: not counted */
	TERM_ROUTER,	  /* not counted */
};

enum port_state { PORT_UNKNOWN, PORT_DOWN, PORT_INIT, PORT_ARMED, PORT_ACTIVE };

/* A port of a switch.  Port 0 is the switch's own management port. */
struct port {
	uint32_t chan;	    /* outgoing channel to another switch, or FAB_NONE */
	uint32_t term;	    /* terminal (or uncounted end) on this port, or FAB_NONE */
	uint32_t rate_Mbps; /* data rate per direction after coding; 0 unknown */
	uint32_t best_Mbps; /* if it had all lanes enabled at both of its ends; 0 unknown */
	uint8_t state;	    /* enum port_state */
	uint8_t op_vls;	    /* operational data VLs: 1, 2, 4, 8, 15; 0 unknown */
	uint8_t width;	    /* lanes: 1, 2, 4, 8, 12; 0 unknown */
	char speed[7];	    /* "SDR" .. "XDR", "FDR10"; "" unknown */
};

struct fabric {
	char *name;	 /* what an operator types to confirm; never empty */
	uint8_t lmc;	 /* of every terminal; switches have LMC 0 */
	bool lids_given; /* LIDs are those of the source, not assigned by us */
	uint16_t max_lid;

	uint32_t nsw, nterm, nend, nchan, nport;

	/* switches */
	uint64_t *sw_guid;
	char **sw_name;	 /* for people: node-name-map, else NodeDescription, else GUID */
	char **sw_short; /* the same where people read: fabric/base/text/short_names.h */
	char **sw_desc;	 /* NodeDescription as found */
	uint16_t *sw_lid;
	uint8_t *sw_nports;
	uint32_t *sw_nterm; /* counted terminals on the switch */
	bool *sw_enhanced_sp0;

	/* terminals and the other ends, nend of them */
	uint64_t *term_guid; /* port GUID */
	uint64_t *term_node_guid;
	uint64_t *term_sys_guid; /* system image GUID of its node; 0 unknown, or the node's */
	char **term_name;	 /* first word of the NodeDescription, or node-name-map */
	char **term_desc;
	uint8_t *term_kind;	/* enum term_kind */
	uint8_t *term_ca_port;	/* port number on the CA */
	uint32_t *term_sw;	/* switch it hangs on */
	uint8_t *term_port;	/* port of that switch */
	uint16_t *term_lid;	/* base LID; it owns term_lid .. term_lid + 2^lmc - 1 */
	uint32_t *term_off;	/* nsw+1: CSR of all ends by switch ... */
	uint32_t *term_list;	/* ... nend terms, ascending port */
	uint32_t *term_by_name; /* nterm counted terms in strcmp order of names, then index */
	bool *term_mapped;	/* it is the node-name-map's name */
	bool *term_ambiguous;	/* other hosts may have its name (host_names.h) */
	uint32_t nambiguous;	/* such names */

	/* channels, CSR by source switch */
	uint32_t *chan_off; /* nsw+1 */
	uint32_t *chan_src, *chan_dst;
	uint32_t *chan_rev;  /* the opposite direction of the same cable */
	uint8_t *chan_port;  /* output port on chan_src */
	uint8_t *chan_rport; /* input port on chan_dst */

	/* ports of switches, CSR by switch */
	uint32_t *port_off; /* nsw+1 */
	struct port *port;

	uint32_t *lid_end; /* max_lid+1: owner of each LID, or FAB_NONE */

	struct digest fingerprint;  /* over GUIDs, ports, links and LIDs */
	struct digest switch_graph; /* over switches and the cables between them only */
	const struct fabric *base;  /* whose arrays it shares (without.h); NULL: none */
	struct arena *arena;
	int refs;
};

/* Reference counting is thread-safe.  get returns f. */
const struct fabric *fabric_get(const struct fabric *f);
void fabric_put(const struct fabric *f); /* NULL is fine */

static inline const struct port *fabric_port(const struct fabric *f, uint32_t sw, uint8_t p)
{
	return &f->port[f->port_off[sw] + p];
}

/* It leads somewhere: to a switch or to a terminal. */
static inline bool port_cabled(const struct port *p)
{
	return p->chan != FAB_NONE || p->term != FAB_NONE;
}

/* The switch of a fabric port: the last whose ports begin at or before it.  O(log switches). */
uint32_t fabric_port_switch(const struct fabric *f, uint32_t port);

/* Outgoing channel of a switch's port, or FAB_NONE (also for a port out of range). */
static inline uint32_t fabric_chan(const struct fabric *f, uint32_t sw, uint8_t p)
{
	return p <= f->sw_nports[sw] ? fabric_port(f, sw, p)->chan : FAB_NONE;
}

/* Data rate of a channel in Mbps: what its own port says, else its other end; 0 unknown. */
static inline uint32_t fabric_chan_Mbps(const struct fabric *f, uint32_t c)
{
	uint32_t near = fabric_port(f, f->chan_src[c], f->chan_port[c])->rate_Mbps;

	return near ? near : fabric_port(f, f->chan_dst[c], f->chan_rport[c])->rate_Mbps;
}

/* Owner of a LID as an end (see above), or FAB_NONE. */
static inline uint32_t fabric_lid_end(const struct fabric *f, uint32_t lid)
{
	return lid <= f->max_lid ? f->lid_end[lid] : FAB_NONE;
}

/* Is it in the upper half of a terminal's LIDs, where escape LIDs are when the tables have them? */
static inline bool fabric_lid_escape(const struct fabric *f, uint32_t lid)
{
	uint32_t end = fabric_lid_end(f, lid);

	return f->lmc && end < f->nend && (lid - f->term_lid[end]) >> (f->lmc - 1);
}

/* The switch on which a LID ends, and the port it leaves by (0 for the switch itself);
 * FAB_NONE when nobody owns the LID. */
static inline uint32_t fabric_lid_switch(const struct fabric *f, uint32_t lid, uint8_t *port)
{
	uint32_t end = fabric_lid_end(f, lid);

	if (end == FAB_NONE)
		return FAB_NONE;
	*port = end < f->nend ? f->term_port[end] : 0;
	return end < f->nend ? f->term_sw[end] : end - f->nend;
}

/* Exact look-ups; FAB_NONE when absent.  Binary search over the sorted GUIDs. */
uint32_t fabric_switch_by_guid(const struct fabric *f, uint64_t node_guid);
uint32_t fabric_term_by_guid(const struct fabric *f, uint64_t port_guid);
/* Switches of that name, or else of that short one, or else those that are shown so where the
 * middle has no room ("A09-P1-..F-01-02"), ascending, up to max; and how many there are.  O(nsw).
 */
uint32_t fabric_switches_named(uint32_t *out, uint32_t max, const struct fabric *f,
			       const char *name, size_t len);
/* All terminals whose name is that word, in ascending index: the ports of one host, or of several
 * (term_ambiguous); returns the count and up to max of them in out.  O(log nterm). */
uint32_t fabric_terms_by_name(const struct fabric *f, const char *name, uint32_t *out,
			      uint32_t max);

/* Cables from every switch to the nearest of the first n in queue, FAB_NONE where no path leads
 * there.  queue has room for all switches, and gets those that are reached, the nearest first;
 * returns how many.  O(nchan). */
uint32_t fabric_hops(uint32_t *hops, uint32_t *queue, const struct fabric *f, uint32_t n);

/* True when every switch reaches every other over channels.  O(nchan). */
bool fabric_connected(const struct fabric *f);

/* Two of the same fingerprint: have all ports the same data rates?  O(nport). */
bool fabric_same_rates(const struct fabric *a, const struct fabric *b);

/* Smallest op_vls over both ends of all inter-switch links; 0 when none is known. */
uint8_t fabric_min_op_vls(const struct fabric *f);
