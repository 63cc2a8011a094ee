/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample: the counters of all switch ports at one time, and rates from two of them.
 *
 * Indexed by fabric port (port_off[sw] + p).  Every value has a valid bit: what nobody
 * reported stays unknown and is never shown as 0.
 */
#pragma once

#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

enum counter {
	CTR_TX_BYTES,
	CTR_RX_BYTES,
	CTR_TX_PKTS,
	CTR_RX_PKTS,
	CTR_TX_WAIT, /* PortXmitWait, in ticks */
	CTR_SYMBOL_ERR,
	CTR_LINK_RECOVERED,
	CTR_LINK_DOWNED,
	CTR_RX_ERR,
	CTR_TX_DISCARD,
	CTR_COUNT
};

struct port_counters {
	uint64_t v[CTR_COUNT];
	uint32_t valid;	  /* bit c: v[c] was reported */
	uint32_t wide;	  /* bit c: a 64-bit counter (else it wraps or sticks at 32 bits or less) */
	uint64_t time_ns; /* when this port answered */
};

struct sample {
	uint64_t time_ns; /* monotonic, when the sweep began */
	uint64_t took_ns;
	uint32_t nport;
	uint32_t asked, answered; /* ports */
	struct port_counters *port;
	struct digest fingerprint; /* of the fabric */
	struct arena *arena;
	int refs;
};

struct sample *sample_new(const struct fabric *f);
const struct sample *sample_get(const struct sample *s); /* thread-safe; returns s */
void sample_put(const struct sample *s);		 /* NULL is fine */

/* Rates of one port between two samples.  NAN = unknown. */
struct port_rate {
	double tx_Bps, rx_Bps;
	double util_pct; /* tx of the data rate */
	double wait_pct; /* share of the interval with data but no credit; a tick: 4 bytes on the
			    link */
	double errors_per_min;
};

/* Per cent of the time in which a port has something to send, whether it goes or waits; where the
 * wait is not known without it; NAN unknown. */
static inline double port_rate_congestion(const struct port_rate *r)
{
	return r->wait_pct > 0 ? r->util_pct + r->wait_pct : r->util_pct;
}

struct rates {
	uint32_t nport;
	double interval_s;
	uint32_t no_reply; /* ports that have a link but no rate */
	struct port_rate *port;
	struct arena *arena;
	int refs;
};

/* Null when the samples are of different fabrics or not in order.  A counter that went
 * backwards (cleared by somebody else) gives an unknown rate. */
struct rates *rates_new(const struct fabric *f, const struct sample *before,
			const struct sample *after);
const struct rates *rates_get(const struct rates *r);
void rates_put(const struct rates *r);
