/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packets_priv: the state of the packets, shared by their files: packets (connections, counts),
 * packets_move (the inner loop), packets_wait (who waits for whom). */
#pragma once

#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/heap.h"
#include "fabric/base/memory/vec.h"
#include "fabric/sim/packet/forwarding.h"
#include "fabric/sim/packet/packets.h"

#define NIL UINT32_MAX

/* Events are kind << EVENT_SHIFT | link, lane or connection. */
enum event_kind { EVENT_DONE, EVENT_ARRIVE, EVENT_START, EVENT_HOQ };
#define EVENT_SHIFT 29

struct packet {
	uint64_t born;
	uint32_t next; /* in its buffer, on its cable, or among the free ones */
	uint32_t conn, seq;
	uint32_t out;	      /* lane that it waits for at the switch where it is */
	uint16_t dlid, bytes; /* with headers; 0: a free one */
	uint8_t sl, vl;
};

/* One VL of a link: the buffer at its far end, and the queue of those who want to send into it:
 * lanes that end at its near end, or, at a host, nlane + connections. */
struct lane {
	uint64_t since; /* when the first packet became that */
	uint64_t taken; /* when credits were last taken */
	uint32_t head, tail;
	uint32_t credits;     /* that are this VL's; not counted at hosts */
	uint32_t borrowed;    /* taken of those that the link's VLs share */
	uint32_t first, last; /* who wants to send */
	uint32_t behind;      /* as one who wants to send: the next in that queue */
	uint32_t npackets;
	bool sending; /* the packet that was first is leaving */
	bool waiting; /* in a queue */
	bool timer;
};

/* Links 0..nport-1 leave the port of a switch, nport + end a host. */
struct link {
	uint32_t rate_Mbps;
	uint32_t credits;		/* that its VLs share */
	uint32_t sw;			/* that it leads to, or NIL: */
	uint32_t term;			/* to this end, or NIL: nowhere */
	uint32_t wire_first, wire_last; /* packets that have left but not arrived */
	uint32_t packet, from;		/* being sent, and by whom */
	uint16_t want;			/* bit per VL with a queue */
	uint8_t port;			/* of sw */
	uint8_t last_vl;
	bool busy;
};

struct conn {
	uint64_t left; /* bytes to send */
	struct packets_conn_counts n;
	uint32_t src, seq, seen; /* next to send; one after the latest delivered */
	uint32_t behind;	 /* as of a lane */
	uint16_t dlid;
	uint8_t sl, vl; /* vl: of the queue it is in */
	bool hold, waiting, sending;
	bool asked, started; /* to send; it began */
};

/* What happens when; of events at the same time the one with the smaller number comes first. */
struct event {
	uint64_t at;
	uint32_t what;
};

/* Packets on cables, by when they arrive: a ring, size a power of 2. */
struct arrivals {
	struct event *ring;
	uint32_t head, n, size;
};

struct packets {
	const struct fabric *f;
	struct packets_opts o;
	struct forwarding fwd;
	struct rng rng;
	struct heap events; /* all others, by time */
	struct arrivals arrivals;
	uint64_t now_ps;

	uint32_t nlink, nlane, nvl;
	struct link *link;
	struct lane *lane; /* link * nvl + VL */
	VEC(struct packet) pool;
	uint32_t unused; /* first free packet */
	VEC(struct conn) conns;

	struct packets_counts n;
	uint64_t last_ps;
	uint64_t held;			  /* packets in flight of connections on hold */
	uint32_t *mark, *reached, *queue; /* by lane; scratch of packets_deadlock */
};

static inline uint32_t packet_credits(const struct packet *k)
{
	return (k->bytes + PACKETS_BLOCK - 1u) / PACKETS_BLOCK;
}

/* When something happens next, UINT64_MAX: never. */
static inline uint64_t packets_next_ps(const struct packets *p)
{
	uint64_t queue = heap_key(&p->events);
	uint64_t cable = p->arrivals.n ? p->arrivals.ring[p->arrivals.head].at : UINT64_MAX;

	return queue < cable ? queue : cable;
}

/* Hosts accept everything; other buffers what they have credits for. */
static inline bool lane_takes(const struct packets *p, uint32_t lane, const struct packet *k)
{
	const struct link *l = &p->link[lane / p->nvl];

	return l->sw == NIL || p->lane[lane].credits + l->credits >= packet_credits(k);
}

static inline uint32_t packets_host_link(const struct packets *p, uint32_t end)
{
	return p->f->nport + end;
}
