/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_priv: what the files behind wire.h share. */
#pragma once

#include "fabric/ib/codec.h"
#include "fabric/wire/found.h"
#include "fabric/wire/mkeys.h"
#include "fabric/wire/queue.h"
#include "fabric/wire/wire.h"

/* Directed route to a switch, and its M_Key. */
struct wire_route {
	uint64_t guid, m_key;
	struct mad_route route;
};

/* M_Key of the LIDs lid .. lid + n - 1. */
struct wire_lid {
	uint64_t m_key;
	uint16_t lid, n;
};

/* Who was behind a port of a node, or that it took none of the keys tried on it. */
struct wire_peer {
	uint64_t guid, peer; /* of the node; of the port there, 0: it did not answer */
	uint64_t m_key;	     /* that it answered to */
	uint64_t ns;	     /* when */
	uint8_t port;
};

/* When a switch last reported its GUID, and how it was addressed. */
struct wire_known {
	uint64_t guid, ns;
	uint16_t lid;
	uint8_t via; /* enum wire_via; VIA_NONE: not known */
};

struct wire {
	struct wire_opts opts; /* ca is the wire's own */
	struct wire_opener opener;
	struct mad_port port;
	struct notice_port *notices; /* NULL, or what port is */
	struct queue *queue;
	uint64_t m_key;
	struct wire_route *routes; /* of the last sweep, ascending GUID */
	uint32_t nroutes;
	struct wire_lid *lids; /* of the last sweep, ascending LID */
	uint32_t nlids;
	struct wire_peer
		*peers; /* of the last sweep, ascending GUID, then port; only with m_keys */
	uint32_t npeers;
	struct found *found; /* nodes of the last sweep, the local one first; NULL: none */
	uint32_t nfound;
	bool found_all;		  /* nothing was missing */
	struct wire_known *known; /* by switch */
	uint32_t nknown;

	/* what the switches of one fabric count; see wire_sample.c */
	struct digest pma_fabric;
	uint8_t *pma;
	struct switch_sum *sum;	   /* see wire_sample.c */
	const struct sample *last; /* own reference; NULL: none yet with sums */
};

/* When hardly any switch answers by one kind of address, that kind does not work: do not wait
 * for the rest one by one. */
static inline bool wire_via_broken(uint32_t answered, uint32_t silent)
{
	return silent >= 64 && answered < silent / 8;
}

/* How a switch is reached. */
enum wire_via { VIA_NONE, VIA_ROUTE, VIA_LID };

/* Starts an SMP: no address yet. */
void wire_smp(const struct wire *w, struct mad_request *r, uint8_t method, uint16_t attr,
	      uint32_t mod);
/* A question to a LID, with its M_Key.  The caller sets tag and node. */
void wire_smp_get(const struct wire *w, struct mad_request *r, uint16_t attr, uint16_t lid);
/* Addresses it, with its M_Key; false when the switch cannot be addressed that way. */
bool wire_address(const struct wire *w, const struct fabric *f, uint32_t sw, enum wire_via via,
		  struct mad_request *r);

/*
 * Finds how to address each switch with want[sw], by asking for its GUID: the directed route
 * first, then its LID.  via[sw] is VIA_NONE and rc[sw] says why where there is none.  Remembers
 * what it has found.
 */
int wire_identify(struct wire *w, const struct fabric *f, const bool *want, uint8_t *via, int *rc,
		  struct progress *progress, struct err *err);

/*
 * The same, but a switch that reported its GUID within the last second is not asked again: no
 * cable can be moved and its link trained in that time without a loss.  After a missing answer
 * or unexpected contents callers must wire_forget() it all.
 */
int wire_recall(struct wire *w, const struct fabric *f, bool *want, uint8_t *via, int *rc,
		struct progress *progress, struct err *err);
void wire_forget(struct wire *w);
void wire_forget_counters(struct wire *w);

/* Keys that come into question for a port, best first; sure: the first is known to be its own. */
struct wire_tries {
	uint64_t key[MKEYS_TRIES];
	uint32_t n; /* >= 1 */
	bool sure;
	uint64_t refused_ns; /* when it took none of them, lately; 0: it did not */
};

/* Behind a port of a node, whose key is near; guid: the node's port's, of a switch port 0's.  One
 * that took none of them within the last five minutes gets the best one only. */
void wire_tries_behind(struct wire_tries *out, struct wire *w, uint64_t guid, uint8_t port,
		       uint64_t near);
void wire_tries_local(struct wire_tries *out, struct wire *w);
/* How often the nth is sent, as queue_request has it: what is no more than a guess only once or
 * twice, since each wrong one counts. */
uint8_t wire_tries_times(const struct wire_tries *t, uint32_t nth);

/* One of those that the operator gave. */
bool wire_key_given(const struct wire *w, uint64_t key);
uint64_t wire_lid_key(const struct wire *w, uint16_t lid); /* of whoever has that LID */
/* What a sweep has learned; takes both arrays. */
void wire_keep_keys(struct wire *w, struct wire_lid *lids, uint32_t nlids, struct wire_peer *peers,
		    uint32_t npeers);
void wire_forget_routes(struct wire *w);
void wire_forget_found(struct wire *w);

/* rc in words: "no answer", ... */
const char *wire_rc_text(int rc);
