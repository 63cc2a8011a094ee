/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sim: a live fabric in this process.
 *
 * Over any frozen fabric it keeps per-switch LFTs, SL2VL tables, link states and counters,
 * answers subnet-management and performance MADs, and carries flows.  LID-routed packets
 * follow its own LFTs hop by hop, so broken tables really break them; directed routes
 * follow the cables.  Thread-safe: one mutex around everything.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/ib/mad.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

struct mkeys;
struct sim;

/* The tables that its SA gives. */
enum sim_tables {
	SIM_TABLES_GOOD,
	SIM_TABLES_NONE,	/* refused: records come one by one only */
	SIM_TABLES_FIRST_MAD,	/* as where nobody puts the datagrams of a message together */
	SIM_TABLES_NO_STEP,	/* AttributeOffset 0 */
	SIM_TABLES_SHORT_STEP,	/* records overlap */
	SIM_TABLES_CUT,		/* they end in the middle of the third record */
	SIM_TABLES_ALIEN,	/* records of another source, with other SLs */
	SIM_TABLES_HOLES,	/* of four records one is missing */
	SIM_TABLES_FIRST_SOURCE /* the first one that is asked for is good, others are refused */
};

struct sim_opts {
	uint64_t seed;		    /* of everything that is left to chance */
	bool virtual_clock;	    /* time only passes while somebody waits for a packet */
	double loss;		    /* share of packets lost, each direction, 0..1 */
	double duplicate;	    /* share of answers that come twice */
	double reorder;		    /* share of answers that are held back for 10 delays more */
	uint32_t delay_us;	    /* one round trip */
	uint32_t jitter_us;	    /* added to it: 0..jitter, evenly */
	uint64_t m_key;		    /* 0: none */
	const struct mkeys *m_keys; /* by port GUID, of a switch its node's; others: m_key */
	uint8_t m_key_protect;	    /* 0, 1: wrong keys may read; 2, 3: they get no answer at all */
	uint32_t sm_term;	    /* terminal with the master SM; FAB_NONE: there is none */
	bool narrow_pma;	    /* counters of 32 bits only, as old switches have */
	bool short_pma;		    /* 64 bits for traffic, but errors and wait only in 32 */
	bool no_sums;		    /* switches do not add up their ports */
	bool false_sums;	    /* they say 0 whatever their ports count */
	enum sim_tables tables;
};

/* Defaults of the options: realtime, nothing lost, no delay, SM on terminal 0. */
void sim_opts_init(struct sim_opts *opts);

/* LFTs are empty until sim_install_tables().  Takes its own reference of f.  opts may be NULL.
 * -EINVAL: no terminal to attach to. */
int sim_new(struct sim **out, const struct fabric *f, const struct sim_opts *opts, struct err *err);
void sim_free(struct sim *s); /* NULL is fine; all ports must be closed */

/* A port of the given terminal (see mad.h). */
int sim_port_open(struct mad_port *out, struct sim *s, uint32_t term, struct err *err);

/* Sets all LFTs and SL2VL tables at once.  -EINVAL: tables of another fabric. */
int sim_install_tables(struct sim *s, const struct tables *t, struct err *err);

/* The cable on a switch's port; both ends go down or come back. */
void sim_link_set(struct sim *s, uint32_t sw, uint8_t port, bool up);

/* VLs to which a port of a switch gives a weight, a bit each; all at first. */
void sim_set_weighted(struct sim *s, uint32_t sw, uint8_t port, uint16_t vls);

#define SIM_PKEYS 64 /* that a port of a host has room for */

/* The P_Key table of a port of a host, n entries, then empty ones; at first 0xffff alone. */
void sim_set_pkeys(struct sim *s, uint32_t term, const uint16_t *keys, uint32_t n);

/*
 * The SM takes subscriptions to notices (as many as come), passes traps of nodes on as reports
 * to the subscribers, without repeating any, and drops a trap that the same port has sent 10
 * times within 5 s.  It answers path records by (source LID, destination LID), and gives tables of
 * those of a source LID.
 */
struct sim_sm_counts {
	uint64_t traps; /* that reached it, suppressed ones as well */
	uint64_t suppressed;
	uint64_t reports, answered;	     /* sent; their answers that came */
	uint64_t light_sweeps, heavy_sweeps; /* that traps would have made OpenSM do */
	uint32_t subscriptions;		     /* now */
};

void sim_sm_counts(struct sim *s, struct sim_sm_counts *out);

/*
 * Traffic.  Flows are sent along the present LFTs; where the offered load is more than a link
 * carries, flows share it max-min fairly in proportion to what they offer, so an overloaded link
 * shows 100 %.  Flows of a group all get the share of the slowest of them, as those of a job do
 * that goes on when all have sent.  Back-pressure: PortXmitWait grows on the ports that a throttled
 * flow passes before its bottleneck (its source HCA included), by the share of the time in which
 * they would have sent it.  Packets are 2 KiB and 26 bytes of headers.  Flows that do not reach
 * their LID are discarded where they end.
 */
struct sim_flow {
	uint32_t src; /* terminal */
	uint16_t dlid;
	double Bps;	/* offered, bytes per second */
	uint32_t group; /* 0: none */
};

void sim_set_flows(struct sim *s, const struct sim_flow *flows, uint32_t n);
/* Lets dt seconds pass: counters grow.  Shares are recomputed only after a change of
 * flows, tables or links.  O(ports), after a change O(flows * hops * rounds). */
void sim_traffic_step(struct sim *s, double dt_s);
/* Instead of steps: counters follow the clock from the first call on, and those of a port that is
 * read are as of that moment, as in a real switch.  Each call takes over changes of flows, tables
 * and links: call it after these, and now and then.  Cost as of a step. */
void sim_traffic_follow(struct sim *s);
/* What each flow really gets, in the order of sim_set_flows; up to n of them. */
void sim_flow_rates(struct sim *s, double *Bps, uint32_t n);
