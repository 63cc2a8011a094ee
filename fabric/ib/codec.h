/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * codec: management datagrams between bytes and structs, by the byte offsets of the
 * InfiniBand Architecture Specification, volume 1, release 1.3 (clauses at each struct).
 *
 * decode functions take an attribute's 64 bytes (SMPs) or 192 bytes (performance), check
 * what the rest relies on and return 0 or -EPROTO; encode functions fill all of it.
 */
#pragma once

#include "fabric/ib/mad.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SMP_DATA   64  /* bytes of an SMP's attribute, at offset 64 (14.2.1) */
#define PERF_DATA  192 /* of a performance attribute, at offset 64 (16.1.1) */
#define SA_DATA	   200 /* of one of subnet administration, at offset 56 (15.2.1.1) */
#define SA_HEADER  56  /* bytes before that */
#define ROUTE_HOPS 63  /* longest directed route (14.2.1.2) */

enum mad_class {
	MAD_SMP = 0x01, /* LID-routed subnet management */
	MAD_SMP_DIRECTED = 0x81,
	MAD_SA = 0x03,
	MAD_PERF = 0x04,
};

enum mad_method {
	MAD_GET = 0x01,
	MAD_SET = 0x02,
	MAD_TRAP = 0x05,
	MAD_REPORT = 0x06,
	MAD_TRAP_REPRESS = 0x07,
	MAD_GET_TABLE = 0x12, /* this and the next: of subnet administration */
	MAD_DELETE = 0x15,
	MAD_GET_RESP = 0x81,
	MAD_REPORT_RESP = 0x86,
	MAD_GET_TABLE_RESP = 0x92,
	MAD_DELETE_RESP = 0x95
};

#define MAD_QP1_QKEY 0x80010000u

enum smp_attr { /* 14.2.5 */
		SMP_NOTICE = 0x0002,
		SMP_NODE_DESC = 0x0010,
		SMP_NODE_INFO = 0x0011,
		SMP_SWITCH_INFO = 0x0012,
		SMP_PORT_INFO = 0x0015,
		SMP_PKEYS = 0x0016,  /* modifier: block of 32 P_Keys */
		SMP_SL2VL = 0x0017,  /* modifier: input port << 8 | output port */
		SMP_VL_ARB = 0x0018, /* modifier: enum vl_arb_part << 16 | output port */
		SMP_LFT = 0x0019,    /* modifier: block of 64 LIDs */
		SMP_SM_INFO = 0x0020,
};

enum perf_attr { /* 16.1.3, 16.1.4 */
		 PERF_CLASS_INFO = 0x0001,
		 PERF_COUNTERS = 0x0012,
		 PERF_COUNTERS_EXT = 0x001d,
};

enum sa_attr { /* 15.2.5; sa.h has what is in them */
	       SA_NOTICE = 0x0002,
	       SA_INFORM_INFO = 0x0003,
	       SA_NODE_RECORD = 0x0011,
	       SA_LINK_RECORD = 0x0020,
	       SA_SERVICE_RECORD = 0x0031,
	       SA_PATH_RECORD = 0x0035,
	       SA_INFORM_RECORD = 0x00f3
};

/* Status, low 15 bits (13.4.7). */
#define MAD_STATUS_BUSY	     0x0001
#define MAD_STATUS_METHOD    0x0008 /* method not supported */
#define MAD_STATUS_ATTRIBUTE 0x000c /* attribute, or method with it, not supported */
#define MAD_STATUS_VALUE     0x001c /* a value in the modifier or attribute is invalid */

/* Output ports from the sending node on: port[1..hops]; hops 0 is the node itself. */
struct mad_route {
	uint8_t hops;
	uint8_t port[ROUTE_HOPS + 1];
};

struct mad_request {
	uint8_t mgmt_class; /* enum mad_class */
	uint8_t method;
	uint16_t attr;
	uint32_t mod;
	uint16_t lid; /* LID-routed classes */
	uint8_t sl;
	struct mad_route route; /* MAD_SMP_DIRECTED */
	uint64_t m_key;		/* SMPs */
	uint64_t comp_mask;	/* MAD_SA: components of the attribute that count */
	uint8_t data[SMP_DATA]; /* of a Set, or the start of a longer attribute */
	const uint8_t *sa;	/* MAD_SA: all SA_DATA bytes of it; NULL: data is enough */
};

struct mad_answer {
	uint8_t mgmt_class, method;
	uint16_t attr, status; /* status without the direction bit */
	uint32_t mod, tid;     /* low 32 bits of the transaction id */
	const uint8_t *data;   /* SMP_DATA, PERF_DATA or SA_DATA bytes inside the packet */
	/* MAD_GET_TABLE_RESP: all records, as they came; NULL: they did not come as a whole
	 * message. */
	const uint8_t *table;
	size_t table_len;
	uint16_t table_step; /* AttributeOffset: words of 8 bytes from one record to the next */
};

void mad_build(struct mad_packet *out, const struct mad_request *r, uint32_t tid);
/* -EPROTO: not a response of one of our classes. */
int mad_parse(struct mad_answer *out, const struct mad_packet *p);
/* True: p has come from where the request went to, and is about the same attribute.  That is the
 * LID asked (13.5.4), or, over a directed route, the same way there; ids are the caller's matter.
 */
bool mad_answers(const struct mad_packet *p, const struct mad_request *r);
/* The other side of the same two, for whoever answers: -EPROTO not a request of ours.  sa is inside
 * the packet. */
int mad_parse_request(struct mad_request *out, uint32_t *tid, const struct mad_packet *p);

/* Any packet, request or not. */
struct mad_head {
	uint8_t mgmt_class, method; /* class 0: of another base version */
	uint16_t attr, status;
	uint32_t mod, tid;
	const uint8_t *data;
};

void mad_head(struct mad_head *out, const struct mad_packet *p);
uint8_t *mad_data(struct mad_packet *p); /* the attribute */
/* Turns a packet into an answer by that method: the rest of it stays. */
void mad_answer_method(struct mad_packet *p, uint8_t method);

/* Low 32 bits of the transaction id of any packet. */
uint32_t mad_tid(const struct mad_packet *p);
/* Turns a request's packet into its response: data of len bytes, status. */
void mad_reply(struct mad_packet *p, uint16_t status, const uint8_t *data, size_t len);
/* Likewise into a table's: whole has len bytes, records of step words from SA_HEADER on, and is
 * what p->whole is then. */
void mad_reply_table(struct mad_packet *p, uint8_t *whole, size_t len, uint16_t step);

/* 14.2.5.3 */
struct node_info {
	uint8_t type; /* 1 CA, 2 switch, 3 router */
	uint8_t nports;
	uint64_t node_guid, port_guid, system_guid;
	uint16_t device_id;
	uint32_t vendor_id;
	uint8_t local_port; /* by which the request came in */
	uint16_t pkeys;	    /* that its ports have room for */
};

#define PKEYS_BLOCK 32 /* P_Keys of a P_KeyTable (14.2.5.7), of two bytes each */

int node_info_decode(struct node_info *out, const uint8_t *d);
void node_info_encode(uint8_t *d, const struct node_info *in);

/* 14.2.5.2: plain text (plain.h), without trailing blanks */
void node_desc_decode(char out[SMP_DATA + 1], const uint8_t *d);
void node_desc_encode(uint8_t *d, const char *desc);

/* 14.2.5.6 */
#define PORT_CAP_SM	   0x00000002u /* IsSM */
#define PORT_CAP_EXT_SPEED 0x00004000u /* IsExtendedSpeedsSupported */

struct port_info {
	uint64_t m_key, gid_prefix;
	uint16_t lid, sm_lid;
	uint32_t cap_mask;
	uint8_t sm_sl, lmc;
	uint8_t m_key_protect;
	uint8_t local_port;
	uint8_t width_active;	  /* 1: 1x, 2: 4x, 4: 8x, 8: 12x, 16: 2x */
	uint8_t speed_active;	  /* 1 SDR, 2 DDR, 4 QDR */
	uint8_t speed_ext_active; /* 1 FDR, 2 EDR, 4 HDR, 8 NDR */
	uint8_t width_enabled; /* and supported: bits of width_active; 0: the encoder takes that */
	uint8_t state;	       /* 1 down, 2 init, 3 armed, 4 active */
	uint8_t phys_state;
	uint8_t vl_cap, op_vls; /* codes 1..5: 1, 2, 4, 8, 15 data VLs */
	uint8_t mtu;
};

int port_info_decode(struct port_info *out, const uint8_t *d);
void port_info_encode(uint8_t *d, const struct port_info *in);
uint32_t port_info_vls(uint8_t code);	 /* 1, 2, 4, 8, 15; 0 for an unknown code */
uint8_t port_info_vl_code(uint32_t vls); /* smallest code with at least that many; 0: 0 */
/* "4xEDR" and the like; ext: the node knows extended speeds.  FDR10 is a vendor's own and shows
 * as QDR. "" when width or speed is unknown. */
void port_info_link(char out[12], const struct port_info *pi, bool ext);
/* The same if it had all lanes that are enabled, over a cable of at most four.  Slower ones may be
 * what the cable is for; fewer lanes are not. */
void port_info_best_link(char out[12], const struct port_info *pi, bool ext);
/* The inverse, for whoever answers: lanes and a speed's name. */
void port_info_set_link(struct port_info *pi, uint8_t lanes, const char *speed);

/* 14.2.5.4 */
struct switch_info {
	uint16_t linear_cap, linear_top;
	uint8_t default_port;
	bool enhanced_sp0;
	bool port_state_change;
};

int switch_info_decode(struct switch_info *out, const uint8_t *d);
void switch_info_encode(uint8_t *d, const struct switch_info *in);

/* 14.2.5.8: 16 VLs in 8 bytes, SL 0 in the high half of byte 0 */
void sl2vl_decode(uint8_t vl[16], const uint8_t *d);
void sl2vl_encode(uint8_t *d, const uint8_t vl[16]);

/* 14.2.5.9: two tables of up to 64 entries, 32 to a block.  A VL without an entry that has a weight
 * in either of them is never sent from. */
enum vl_arb_part { VL_ARB_LOW = 1, VL_ARB_LOW_REST, VL_ARB_HIGH, VL_ARB_HIGH_REST };

uint16_t vl_arb_decode(const uint8_t *d);	   /* bit v: VL v has an entry with a weight */
void vl_arb_encode(uint8_t *d, uint16_t weighted); /* an entry for each VL, with equal weights */

/* 14.2.5.13 */
enum sm_state { SM_NOTACTIVE, SM_DISCOVERING, SM_STANDBY, SM_MASTER };

struct sm_info {
	uint64_t guid;
	uint32_t act_count;
	uint8_t priority;
	uint8_t state; /* enum sm_state */
};

int sm_info_decode(struct sm_info *out, const uint8_t *d);
void sm_info_encode(uint8_t *d, const struct sm_info *in);
const char *sm_state_name(uint8_t state); /* "master", ... */

/* 13.4.8.1, 16.1.3.1 */
#define PERF_CAP_ALL_PORTS   0x0100
#define PERF_CAP_EXT	     0x0200 /* PortCountersExtended */
#define PERF_CAP_EXT_NOIETF  0x0400 /* the same without unicast and multicast */
#define PERF_CAP_XMIT_WAIT   0x1000 /* PortCounters has PortXmitWait */
#define PERF_CAP2_EXT_ERRORS 0x0002 /* PortCountersExtended has 64-bit errors and wait */

struct perf_class_info {
	uint16_t cap_mask;
	uint32_t cap_mask2; /* 27 bits */
	uint8_t resp_time;
};

int perf_class_info_decode(struct perf_class_info *out, const uint8_t *d);
void perf_class_info_encode(uint8_t *d, const struct perf_class_info *in);

/* PortCounters (16.1.3.5) and PortCountersExtended (16.1.4.11; errors and wait are only there with
 * PERF_CAP2_EXT_ERRORS); data in words of 4 bytes. */
struct perf_counters {
	uint8_t port;
	uint64_t tx_words, rx_words, tx_pkts, rx_pkts;
	uint64_t symbol_err, link_recovered, link_downed, rx_err, tx_discard, tx_wait;
	/* not extended */
	uint16_t rx_remote_err, rx_relay_err, qp1_dropped, vl15_dropped;
	uint8_t tx_constraint, rx_constraint, integrity, overrun; /* the last two: 0..15 */
};

/* encode: what does not fit stays at the maximum, as in a switch. */
int perf_counters_decode(struct perf_counters *out, const uint8_t *d);
void perf_counters_encode(uint8_t *d, const struct perf_counters *in);
int perf_counters_ext_decode(struct perf_counters *out, const uint8_t *d);
void perf_counters_ext_encode(uint8_t *d, const struct perf_counters *in);
