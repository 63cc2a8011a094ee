/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sa: attributes of subnet administration (class 3, version 2; chapter 15), one record a MAD.
 */
#pragma once

#include "fabric/ib/codec.h"
#include "fabric/ib/mad.h"
#include "fabric/ib/notice.h"

#include <stdbool.h>
#include <stdint.h>

/* Status, beyond those of all classes (15.4.1.1). */
enum sa_status {
	SA_NO_RESOURCES = 0x0100,
	SA_REQ_INVALID = 0x0200,
	SA_NO_RECORDS = 0x0300,
	SA_TOO_MANY_RECORDS = 0x0400,
	SA_INVALID_GID = 0x0500,
	SA_INSUFFICIENT = 0x0600, /* components of the request */
	SA_DENIED = 0x0700,
};

/* In words what a subnet administration may have against a request: status of an answer. */
const char *sa_status_text(uint16_t status);

/* 13.4.8.3 */
#define INFORM_ALL_LIDS	     0xffff
#define INFORM_ALL_TYPES     0xffff
#define INFORM_ALL_PRODUCERS 0xffffff
#define INFORM_RESP_TIME     18 /* 4.096 us * 2^18: a second */

struct inform_info {
	uint64_t gid_prefix, gid_guid; /* 0: by LIDs */
	uint16_t lid_begin, lid_end;
	bool generic, subscribe;
	uint16_t type, trap; /* 0xffff: all */
	uint32_t qpn;	     /* 24 bits */
	uint8_t resp_time;   /* 5 bits */
	uint32_t producer;   /* 24 bits */
};

/* All notices of that number. */
void inform_info_init(struct inform_info *out, uint16_t trap, bool subscribe);
int inform_info_decode(struct inform_info *out, const uint8_t *d);
void inform_info_encode(uint8_t *d, const struct inform_info *in); /* fills 64 bytes */

/* InformInfoRecord: the subscriber's GID is at its beginning. */
#define INFORM_BY_GID (1ull << 0)

/* The records of a table that is an answer: n of them, size bytes or more each. */
struct sa_table {
	const uint8_t *at;
	size_t n, step;
};

/* -EPROTO: it is no table, it did not come as a whole message, or its records are shorter. */
int sa_table_open(struct sa_table *out, const struct mad_answer *a, size_t size);

#define PATH_RECORD_BYTES 64

/* 15.2.5.16.  The bits of the component mask that requests here use. */
#define PATH_BY_DLID (1ull << 4)
#define PATH_BY_SLID (1ull << 5)

#define PATH_EXACTLY 2 /* selectors of MTU, rate and life: more, less, exactly, best */

struct path_record {
	uint64_t service;
	uint64_t dgid_prefix, dgid_guid, sgid_prefix, sgid_guid;
	uint16_t dlid, slid;
	uint32_t flow; /* 20 bits */
	uint8_t hop_limit, tclass;
	bool raw, reversible;
	uint8_t num; /* 7 bits */
	uint16_t pkey;
	uint16_t qos_class; /* 12 bits */
	uint8_t sl;
	uint8_t mtu_selector, mtu;   /* 2 and 6 bits, as rate and life */
	uint8_t rate_selector, rate; /* of the specification's codes */
	uint8_t life_selector, life;
	uint8_t preference;
};

#define PATH_BY_NUM   (1ull << 12) /* at most so many for each pair of ports */
#define PATH_NUM_MOST 127

int path_record_decode(struct path_record *out, const uint8_t *d);
void path_record_encode(uint8_t *d, const struct path_record *in); /* fills 64 bytes */

/* 15.2.5.2 */
#define NODE_BY_LID	  (1ull << 0)
#define NODE_BY_NODE_GUID (1ull << 7)
#define NODE_BY_PORT_GUID (1ull << 8)

struct node_record {
	uint16_t lid;
	struct node_info info; /* of the port with that LID */
	char desc[SMP_DATA + 1];
};

int node_record_decode(struct node_record *out, const uint8_t *d);
void node_record_encode(uint8_t *d, const struct node_record *in); /* fills 112 bytes */

/* 15.2.5.13: a cable, seen from one of its ends. */
#define LINK_BY_FROM_LID  (1ull << 0)
#define LINK_BY_FROM_PORT (1ull << 1)

struct link_record {
	uint16_t from_lid, to_lid; /* base LIDs */
	uint8_t from_port, to_port;
};

void link_record_decode(struct link_record *out, const uint8_t *d);
void link_record_encode(uint8_t *d, const struct link_record *in); /* fills 64 bytes */

/* 15.2.5.14.  SID and GID make a record, together with the P_Key: none here. */
#define SERVICE_BY_ID	 (1ull << 0)
#define SERVICE_BY_GID	 (1ull << 1)
#define SERVICE_BY_LEASE (1ull << 4)
#define SERVICE_BY_NAME	 (1ull << 6)
#define SERVICE_ALL_DATA (((1ull << 30) - 1) << 7) /* in bytes, words and so on */

#define SERVICE_TEXT 64

struct service_record {
	uint64_t id, gid_prefix, gid_guid;
	uint32_t lease_s;	 /* UINT32_MAX: for ever */
	char name[SERVICE_TEXT]; /* padded with 0 */
	char data[SERVICE_TEXT]; /* 64 bytes for whatever it is */
};

void service_record_decode(struct service_record *out, const uint8_t *d);
void service_record_encode(uint8_t *d, const struct service_record *in); /* fills SA_DATA bytes */

/* A trap to the SM: LID-routed, on QP 0. */
void trap_build(struct mad_packet *out, uint16_t sm_lid, const struct notice *n, uint32_t tid);
/* The notice of a trap; -EPROTO: no trap. */
int trap_read(struct notice *out, const struct mad_packet *p);

/* The SA's report of a notice to a subscriber. */
void report_build(struct mad_packet *out, uint16_t lid, uint8_t sl, uint32_t qpn,
		  const struct notice *n, uint32_t tid);
/* -EPROTO: no report. */
int report_read(struct notice *out, const struct mad_packet *p);
/* Turns a report as it was received into its answer. */
void report_answer(struct mad_packet *p);
