/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_priv: what the files behind wire.h share. */
#ifndef FABRIC_MAD_WIRE_PRIV_H
#define FABRIC_MAD_WIRE_PRIV_H

#include "fabric/mad/codec.h"
#include "fabric/mad/queue.h"
#include "fabric/mad/wire.h"

/* Directed route to a switch. */
struct wire_route {
	uint64_t guid;
	struct mad_route route;
};

/* When a switch last told its GUID, and asked over which way. */
struct wire_known {
	uint64_t guid, ns;
	uint16_t lid;
	uint8_t way; /* enum wire_way; WAY_NONE: not known */
};

struct wire {
	struct wire_opts opts; /* ca is the wire's own */
	struct sim *sim;       /* NULL: umad */
	struct mad_port port;
	struct notice_port *notices; /* NULL, or what port is */
	struct queue *queue;
	uint64_t m_key;
	struct wire_route *routes; /* of the last sweep, ascending GUID */
	uint32_t nroutes;
	struct wire_known *known; /* by switch */
	uint32_t nknown;

	/* what the switches of one fabric count; see wire_sample.c */
	struct digest pma_fabric;
	uint8_t *pma;
	struct switch_sum *sum;	   /* see wire_sums.c */
	const struct sample *last; /* own reference; NULL: none yet with sums */
};

/* When hardly anybody answers over a way, it is the way that is broken: no use to wait for
 * the rest one by one. */
static inline bool wire_way_broken(uint32_t answered, uint32_t silent)
{
	return silent >= 64 && answered < silent / 8;
}

/* How a switch is reached. */
enum wire_way { WAY_NONE, WAY_DIRECTED, WAY_LID };

/* Starts an SMP: no address yet. */
void wire_smp(const struct wire *w, struct mad_request *r, uint8_t method, uint16_t attr,
	      uint32_t mod);
/* Addresses it; false when that way to the switch is not known. */
bool wire_address(const struct wire *w, const struct fabric *f, uint32_t sw, enum wire_way way,
		  struct mad_request *r);

/*
 * Finds a way to each switch with want[sw], by asking for its GUID: the directed route first,
 * then its LID.  way[sw] is WAY_NONE and rc[sw] says why where there is none.  Remembers what it
 * has found.
 */
int wire_identify(struct wire *w, const struct fabric *f, const bool *want, uint8_t *way, int *rc,
		  struct progress *progress, struct err *err);

/*
 * The same, but who has told its GUID within the last second is not asked again: no cable is moved
 * and the link behind it trained in that time without a loss.  Whoever misses an answer or finds
 * other contents than it has left has to wire_forget() it all.
 */
int wire_recall(struct wire *w, const struct fabric *f, bool *want, uint8_t *way, int *rc,
		struct progress *progress, struct err *err);
void wire_forget(struct wire *w);
void wire_forget_counters(struct wire *w);

/* rc in words: "no answer", ... */
const char *wire_rc_text(int rc);

#endif
