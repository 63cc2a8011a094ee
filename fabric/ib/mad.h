/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mad: the one seam to the wire.  A port sends and receives 256-byte management datagrams
 * and has a clock; what is behind it (a real HCA, ibsim, our own simulator) is chosen
 * once, where it is opened.
 */
#pragma once

#include "fabric/base/message/err.h"

#include <stddef.h>
#include <stdint.h>

#define MAD_BYTES	   256
#define MAD_WHOLE_MOST	   (64u << 20) /* of a message: longer ones are dropped */
#define MAD_RMPP_VERSION   1	       /* by which long messages come whole (13.6.2) */
#define MAD_PERMISSIVE_LID 0xffff      /* destination of a purely directed route */

struct mad_addr {
	uint16_t lid;
	uint8_t sl;
	uint32_t qpn;  /* 0 for SMPs, 1 for the other classes */
	uint32_t qkey; /* 0 for SMPs */
};

struct mad_packet {
	struct mad_addr addr; /* sending: of the destination; received: of the sender */
	uint32_t timeout_ms;  /* sending: how long the backend may keep the transaction open */
	int status;	      /* received: 0, or -ETIMEDOUT for our own request given back */
	uint8_t data[MAD_BYTES];
	/* received: the whole message, where it may be of several datagrams (RMPP, 13.6), behind
	 * the headers of the first; data is its beginning.  The port's, until the next receive.
	 * NULL: there is data only. */
	const uint8_t *whole;
	size_t whole_len;
};

struct mad_local {
	char ca[32];
	uint32_t port;
	uint64_t port_guid;
	uint16_t lid, sm_lid; /* 0 unknown; both may be stale: PortInfo is authoritative */
	uint8_t sm_sl;
};

struct mad_ops {
	/* 0, -EAGAIN when it has to be tried again after a receive, or -errno. */
	int (*send)(void *ctx, const struct mad_packet *p, struct err *err);
	/* 1 with a packet, 0 when none came within wait_ns, or -errno. */
	int (*recv)(void *ctx, struct mad_packet *p, uint64_t wait_ns, struct err *err);
	uint64_t (*now_ns)(void *ctx); /* monotonic */
	void (*local)(void *ctx, struct mad_local *out);
	void (*close)(void *ctx);
	/* May be NULL.  From now on recv() collects packets for pause_ns before it takes them:
	 * fewer wake-ups and system calls for background work. 0: off. */
	void (*pace)(void *ctx, uint64_t pause_ns);
};

/* An open port: used by one thread at a time. */
struct mad_port {
	const struct mad_ops *ops;
	void *ctx;
};

/* Opens an HCA's port through libibumad.  ca NULL and port 0: the first active one.
 * -ENOTSUP in a build without libibumad; the sentence says what to do about every failure. */
int umad_port_open(struct mad_port *out, const char *ca, uint32_t port, struct err *err);
/* The same, and reports of the subnet manager come in over it.  -EBUSY: somebody else has them. */
int umad_port_listen(struct mad_port *out, const char *ca, uint32_t port, struct err *err);
