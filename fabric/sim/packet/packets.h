/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * packets: traffic as packets, in virtual time, over tables that may change while it runs.
 *
 * The model.  A link carries one packet at a time, at its rate; a packet is looked up when the
 * whole of it has come in (LFT, then SL2VL by input, output and SL), and then waits in the
 * buffer of its link and VL, first in, first out.  Credits: a packet is only sent when the next
 * buffer has credits for all of it; they are returned, without delay, when the packet has left.
 * Buffers are those of a VL, or what the VLs of a link share, where each has room for one packet
 * that no other can take: without that a full VL would stop the others, and VLs would keep nothing
 * apart.
 * At every output the VLs take turns, and on each VL the buffers that wait for it: who was
 * served goes behind all others.  Hosts take whatever arrives.  A host sends on VL = SL modulo
 * the number of VLs, its connections take turns packet by packet.
 *
 * All conditions of deadlock (Dally and Seitz) are modelled.  Not modelled: cut-through (a hop
 * costs a whole packet's time), retransmission, VL weights, switches without head-of-line
 * blocking.
 *
 * Deterministic: the same calls and seed, the same packets.  Time in nanoseconds.
 */
#pragma once

#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

#define PACKETS_ENDLESS	   UINT64_MAX
#define PACKETS_HEADERS	   26	 /* bytes: LRH, BTH, ICRC, VCRC */
#define PACKETS_BLOCK	   64	 /* bytes of a credit */
#define PACKETS_RATE_Mbps  85899 /* 10 GiB/s, as in HOTI16; of links that do not say */
#define PACKETS_LATENCY_ns 100

struct packets_opts {
	uint64_t seed;	  /* of the connections' beginnings */
	unsigned vls;	  /* data VLs of all links, 1 to 15, packets for others are dropped; 0: as
			   * many as the tables say that they need, else 15 */
	uint32_t mtu;	  /* payload bytes of a packet, up to 4,096 */
	uint32_t credits; /* of a buffer, in PACKETS_BLOCK bytes; at least one packet on each VL */
	bool shared;	  /* a buffer is that of a link, not of one of its VLs */
	uint32_t rate_Mbps;  /* of all links; 0: as the fabric's ports say */
	uint32_t latency_ns; /* of a hop: cable and switch */
	uint32_t jitter_ns;  /* each connection starts at a random time within this */
	uint64_t hoq_ns;     /* a packet first in its buffer for this time is dropped; 0: never */
	uint64_t life_ns;    /* or one this time after it was sent, at a switch; 0: never */
};

enum packets_drop {
	DROP_NO_ENTRY,
	DROP_BAD_PORT, /* missing, or without a cable */
	DROP_VL,       /* SL2VL says so, or names a VL that links do not have */
	DROP_WRONG_END,
	DROP_HOQ,
	DROP_LIFE,
	DROP_KINDS
};

struct packets_counts {
	uint64_t injected, delivered, in_flight, dropped; /* injected = the sum of the others */
	uint64_t drops[DROP_KINDS];
	uint64_t misordered; /* delivered after a later one of the same connection */
	uint64_t bytes;	     /* payload delivered */
	uint64_t hops;	     /* packets sent over a link, hosts' included */
	uint64_t last_ns;    /* when a packet last left a host or a switch */
};

struct packets_conn_counts {
	uint64_t injected, delivered, in_flight, dropped, misordered, bytes;
};

/* One buffer of a cycle: its first packet waits for credits of the next one. */
struct packets_wait {
	uint32_t chan; /* whose far end the buffer is */
	uint8_t vl;
	uint32_t conn; /* of the first packet ... */
	uint16_t dlid; /* ... and where it is to go */
	uint8_t sl;
	uint32_t npackets; /* in the buffer */
};

struct packets;

/* HOTI16's parameters: MTU 2,048, 800 credits; seed 1, VLs as the tables say, the fabric's rates,
 * jitter 1,000 ns; packets wait and live for ever. */
void packets_opts_init(struct packets_opts *o);

/* Copies the forwarding of t; f must outlive it.  opts may be NULL. */
struct packets *packets_new(const struct fabric *f, const struct tables *t,
			    const struct packets_opts *opts);
void packets_free(struct packets *p); /* NULL is fine */

/* A connection (queue pair) from an end of the fabric, 0..nend-1, to a LID; silent so far.  The
 * result is its number, from 0 on. */
uint32_t packets_connect(struct packets *p, uint32_t src, uint16_t dlid, uint8_t sl);
/* Adds bytes to send from now on; PACKETS_ENDLESS: without end. */
void packets_send(struct packets *p, uint32_t conn, uint64_t bytes);

/* Lets time pass up to until_ns.  O(log links) for each packet and hop. */
void packets_run(struct packets *p, uint64_t until_ns);
/* The same, but handles at most that many events; true when until_ns is reached.  Running in
 * parts gives the same result. */
bool packets_run_part(struct packets *p, uint64_t until_ns, uint64_t events);
/* The same, but ends as soon as no connection on hold has packets in flight; true when that is
 * so. */
bool packets_run_drained(struct packets *p, uint64_t until_ns);
uint64_t packets_now_ns(const struct packets *p);
/* Nothing will ever move again unless somebody sends, writes or releases. */
bool packets_still(const struct packets *p);

/*
 * A deadlock: buffers whose first packets wait for each other's credits in a cycle, which only
 * hoq_ns can break (or a packet that is still on one of its cables, and then is dropped or for
 * the switch itself); packets elsewhere may still move.  Where VLs share credits, who holds those
 * that the cycle could take cannot move either.  Returns the number of buffers, 0 for
 * none; of several cycles the one that closed first. *out (may be NULL) is the cycle, which the
 * caller frees, and when it closed.  O(links * VLs), with shared credits times the longest
 * queue of those who wait for each other.
 */
uint32_t packets_deadlock(struct packets *p, struct packets_wait **out, uint64_t *closed_ns);

void packets_counts(struct packets_counts *out, const struct packets *p);
void packets_conn_counts(struct packets_conn_counts *out, const struct packets *p, uint32_t conn);
