/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sim_state: state of the simulator and the paths of packets through it, for its files: sim
 * (faults, tables), sim_port (packets in and out), sim_mad (answers), sim_sa (the SM's
 * administration), sim_traffic (flows).  Callers of these functions hold the lock. */
#pragma once

#include "fabric/base/hash/rng.h"
#include "fabric/model/traffic/sample.h"
#include "fabric/sim/device/sim.h"

#include <pthread.h>

typedef uint64_t counter_row[CTR_COUNT];

struct traffic;
struct mad_request;
struct node_info;
struct path_record;
struct sim_port;
struct sim_sm;

struct sim {
	pthread_mutex_t lock;
	pthread_cond_t arrival; /* of a packet that its port did not ask for */
	const struct fabric *f;
	struct sim_opts o;
	struct rng rng;
	uint64_t clock_ns; /* virtual */
	uint64_t start_ns;

	uint32_t stride; /* LIDs of an LFT row */
	uint8_t *lft;
	uint16_t *top;	      /* LinearFDBTop of each switch */
	uint8_t **sl2vl;      /* 8 bytes per (in, out) of each switch; NULL: identity */
	uint16_t *weighted;   /* by fabric port: VLs with a weight in its VL arbitration */
	uint8_t *term_nports; /* ports of the CA that a terminal is on */

	bool *sw_dead, *term_dead;
	bool *link_down;	  /* by fabric port; both ends of a cable agree */
	uint32_t *key_violations; /* by end */
	uint16_t **pkeys;	  /* by terminal, SIM_PKEYS each; NULL: as at first */
	uint64_t fail_after, lose_after;
	bool sm_stopped;
	uint32_t tables_given; /* by the SA */

	counter_row *port_ctr; /* by fabric port */
	counter_row *term_ctr; /* by end */
	struct traffic *traffic;
	struct sim_port *ports; /* all that are open */
	struct sim_sm *sm;
};

/* Ends name places: a terminal, or nend + a switch. */
bool sim_is_switch(const struct sim *s, uint32_t end);
bool sim_dead(const struct sim *s, uint32_t end);

/* What an end says of itself, without the port that a request came in by. */
void sim_node_info(const struct sim *s, uint32_t end, struct node_info *ni);
/* Whose port that is; the M_Key that it wants. */
uint64_t sim_port_guid(const struct sim *s, uint32_t end);
uint64_t sim_m_key(const struct sim *s, uint32_t end);

/* What a packet meets that leaves an end by a port: the end there and its port.  False when
 * there is no such port, no cable or the link is down. */
bool sim_step(const struct sim *s, uint32_t end, uint8_t port, uint32_t *next, uint8_t *in);

/* Output port for a LID on a switch; FAB_NO_PORT: dropped; 0: the switch itself. */
uint8_t sim_lft(const struct sim *s, uint32_t sw, uint32_t lid);
uint8_t sim_vl(const struct sim *s, uint32_t sw, uint8_t in, uint8_t out, uint8_t sl);
/* The row to write to, made from identity where there was none. */
uint8_t *sim_sl2vl_row(struct sim *s, uint32_t sw, uint8_t in, uint8_t out);

uint64_t sim_now_ns(const struct sim *s);
uint32_t sim_cap_mask(const struct sim *s, uint32_t term);

/* Follows the LFTs from any end to a LID; FAB_NONE: it gets lost.  smp: on VL 15. */
uint32_t sim_walk_lid(const struct sim *s, uint32_t from, uint32_t lid, uint8_t sl, bool smp,
		      uint8_t *in);

/* sim_mad: computes a request's answer in place; false when there is none. */
bool sim_answer(struct sim *s, uint32_t from, struct mad_packet *p);

/* sim_sa */
struct sim_sm *sm_new(void);
void sm_free(struct sim_sm *sm);
void sm_forget(struct sim_sm *sm); /* subscriptions and all */
void sm_path_sls(struct sim_sm *sm, const struct tables *t);
/* False: nobody is there who answers.  d: SA_DATA bytes. */
bool sm_answer(struct sim *s, uint32_t end, uint32_t from, const struct mad_request *r,
	       uint16_t *status, uint8_t *d);
void sm_path_record(const struct sim *s, struct path_record *pr, uint32_t src, uint32_t dst);

/* sim_table */
struct sm_table {
	uint8_t *whole; /* records are behind SA_HEADER bytes; NULL: a status, and no table */
	size_t len;
	uint16_t step; /* words of 8 bytes */
};

/* As sm_answer(), for MAD_GET_TABLE. */
bool sm_answer_table(struct sim *s, uint32_t end, const struct mad_request *r, uint16_t *status,
		     struct sm_table *out);
bool sm_is_at(const struct sim *s, uint32_t end);
/* A packet that is no request: traps and answers to reports. */
void sm_take(struct sim *s, uint32_t from, const struct mad_packet *p);

/* sim_traffic */
struct traffic *traffic_new(const struct fabric *f);
void traffic_free(struct traffic *t);
void traffic_changed(struct traffic *t); /* paths must be followed again */
/* Before the counters of that port of an end are read: brings them up to now, where they follow the
 * clock. */
void traffic_read(struct sim *s, uint32_t end, uint8_t port);
