/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mcast_judge: whether each multicast group's entries make a tree.
 *
 * Who is a member is not in the tables.  What they must be whoever is: of each cable both ends, no
 * cycle (a packet would go round for ever), and one piece between the ports to hosts.
 */
#pragma once

#include "fabric/model/multicast/mcast.h"

enum mcast_fault_kind {
	MCAST_CYCLE,   /* the cable of that port closes one */
	MCAST_NOWHERE, /* the switch behind that port has no entry of the group */
	MCAST_ONE_WAY, /* the switch behind that port does not send back by this cable */
	MCAST_PARTS,   /* hosts of that switch and of the other one do not reach each other */
};

struct mcast_fault {
	enum mcast_fault_kind kind;
	uint16_t mlid;
	uint8_t port;
	uint32_t sw, other;
};

struct mcast_verdict {
	uint32_t groups, switches; /* that forward any */
	uint32_t host_ports;	   /* that any is sent to */
	uint32_t uncabled;	   /* entries that lead to a port without a cable; harmless */
	struct mcast_fault *fault; /* of each faulty group the worst, in their order */
	uint32_t nfault;
};

/* The caller ends it with mcast_verdict_end(). */
void mcast_judge(struct mcast_verdict *out, const struct mcast *m, const struct fabric *f);
void mcast_verdict_end(struct mcast_verdict *v);

/* "group 0xc004: ..."; returns buf. */
char *mcast_fault_text(char *buf, size_t len, const struct mcast_fault *fault,
		       const struct fabric *f);
