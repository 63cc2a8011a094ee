/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sim_inbox: packets in flight to an open port, with the loss, delay, duplication and reordering
 * that the options ask for.  Callers hold the simulator's lock. */
#pragma once

#include "fabric/base/memory/heap.h"
#include "fabric/ib/mad.h"

#include <stdbool.h>
#include <stdint.h>

struct sim;

struct sim_flight {
	bool in_flight;
	uint32_t seq;
	struct mad_packet packet;
};

/* An open port of a terminal. */
struct sim_port {
	struct sim *sim;
	uint32_t term;
	struct sim_port *next;
	struct heap due;	 /* packets by when they arrive, of equals as they were sent */
	uint32_t seq;		 /* of the next packet */
	struct sim_flight *ring; /* by seq, as far as there is size: a power of 2 */
	uint32_t size;
	uint8_t *whole; /* of the packet that was taken last */
};

/* Whether the next packet is lost: by chance. */
bool sim_lost(struct sim *s);
/* Delivers a packet unless it is lost; now and then twice.  What it has as a whole is copied. */
void sim_inbox_put(struct sim_port *sp, const struct mad_packet *p);
/* When the earliest arrives; UINT64_MAX: none is in flight. */
uint64_t sim_inbox_due_ns(const struct sim_port *sp);
/* The earliest; there must be one.  Its whole is the port's until the next. */
void sim_inbox_take(struct sim_port *sp, struct mad_packet *p);
void sim_inbox_free(struct sim_port *sp);
/* To all open ports of a terminal. */
void sim_deliver(struct sim *s, uint32_t term, const struct mad_packet *p);
