/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * notice: the Notice attribute (13.4.8.2), as traps carry it to the SM and reports from it.
 * Only generic notices: those of a vendor's own are -EPROTO.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NOTICE_DETAILS	54
#define NOTICE_SMP_DATA 64 /* bytes in an SMP: without the issuer's GID */
#define NOTICE_SA_DATA	80 /* in a report of the SA */

enum notice_trap { /* 14.2.5.1, 14.4.11 */
		   NOTICE_UNPATH = 68,
		   NOTICE_REPATH = 69,
		   NOTICE_LINK_STATE = 128,
		   NOTICE_LOCAL_CHANGES = 144
};

enum notice_type {
	NOTICE_FATAL,
	NOTICE_URGENT,
	NOTICE_SECURITY,
	NOTICE_MANAGEMENT,
	NOTICE_INFO,
	NOTICE_EMPTY = 0x7f
};

enum notice_producer { NOTICE_CA = 1, NOTICE_SWITCH = 2, NOTICE_ROUTER = 3, NOTICE_MANAGER = 4 };

struct notice {
	uint8_t type;	   /* enum notice_type, 7 bits */
	uint32_t producer; /* enum notice_producer, 24 bits */
	uint16_t trap;
	uint16_t issuer_lid;
	bool toggle;
	uint16_t count; /* 15 bits */
	uint8_t details[NOTICE_DETAILS];
	uint64_t issuer_prefix, issuer_guid; /* of the port; 0 in traps */
};

/* n: NOTICE_SMP_DATA or NOTICE_SA_DATA. */
int notice_decode(struct notice *out, const uint8_t *d, size_t n);
void notice_encode(uint8_t *d, size_t n, const struct notice *in);
