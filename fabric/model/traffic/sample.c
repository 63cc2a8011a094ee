/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/model/traffic/sample.h"

#include "fabric/base/memory/mem.h"

#include <math.h>

#define FLIT_BYTES 4.0

struct sample *sample_new(const struct fabric *f)
{
	struct arena *a = arena_new();
	struct sample *s = arena_alloc(a, 1, sizeof(*s));

	s->arena = a;
	s->refs = 1;
	s->nport = f->nport;
	s->port = arena_array(a, struct port_counters, f->nport);
	s->fingerprint = f->fingerprint;
	return s;
}

const struct sample *sample_get(const struct sample *s)
{
	if (s)
		__atomic_add_fetch(&((struct sample *)s)->refs, 1, __ATOMIC_RELAXED);
	return s;
}

void sample_put(const struct sample *s)
{
	if (s && !__atomic_sub_fetch(&((struct sample *)s)->refs, 1, __ATOMIC_ACQ_REL))
		arena_free(s->arena);
}

/* Growth of a counter per second; NAN when unknown, cleared in between, or narrow. */
static double sample_per_second(const struct port_counters *a, const struct port_counters *b,
				enum counter c)
{
	uint32_t bit = 1u << c;

	if (!(a->valid & b->valid & bit) || b->time_ns <= a->time_ns || b->v[c] < a->v[c])
		return NAN;
	return (double)(b->v[c] - a->v[c]) * 1e9 / (double)(b->time_ns - a->time_ns);
}

/* Byte counters of 32 bits stick at their end within a second of a busy link, so they give a
 * rate only while they still change. */
static double sample_bytes_per_second(const struct port_counters *a, const struct port_counters *b,
				      enum counter c)
{
	uint64_t stuck = (uint64_t)UINT32_MAX * 4;

	if (!(b->wide & 1u << c) && b->v[c] >= stuck)
		return NAN;
	return sample_per_second(a, b, c);
}

static double sample_errors_per_minute(const struct port_counters *a, const struct port_counters *b)
{
	static const enum counter errors[] = { CTR_SYMBOL_ERR, CTR_LINK_RECOVERED, CTR_LINK_DOWNED,
					       CTR_RX_ERR, CTR_TX_DISCARD };
	double sum = NAN;

	for (unsigned i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		double r = sample_per_second(a, b, errors[i]);

		if (!isnan(r))
			sum = (isnan(sum) ? 0 : sum) + r * 60;
	}
	return sum;
}

static void sample_port_rate(struct port_rate *r, const struct port *port,
			     const struct port_counters *a, const struct port_counters *b)
{
	double link_Bps = port->rate_Mbps * 1e6 / 8, wait;

	r->tx_Bps = sample_bytes_per_second(a, b, CTR_TX_BYTES);
	r->rx_Bps = sample_bytes_per_second(a, b, CTR_RX_BYTES);
	r->util_pct = link_Bps > 0 ? 100 * r->tx_Bps / link_Bps : NAN;
	wait = sample_per_second(a, b, CTR_TX_WAIT);
	r->wait_pct = link_Bps > 0 ? fmin(100, 100 * wait * FLIT_BYTES / link_Bps) : NAN;
	if (isnan(wait))
		r->wait_pct = NAN;
	r->errors_per_min = sample_errors_per_minute(a, b);
}

struct rates *rates_new(const struct fabric *f, const struct sample *before,
			const struct sample *after)
{
	struct arena *a;
	struct rates *r;

	if (!before || !after || after->time_ns <= before->time_ns ||
	    !digest_equal(&before->fingerprint, &after->fingerprint) ||
	    !digest_equal(&f->fingerprint, &after->fingerprint))
		return NULL;
	a = arena_new();
	r = arena_alloc(a, 1, sizeof(*r));
	r->arena = a;
	r->refs = 1;
	r->nport = f->nport;
	r->interval_s = (double)(after->time_ns - before->time_ns) / 1e9;
	r->port = arena_array(a, struct port_rate, f->nport);
	for (uint32_t i = 0; i < f->nport; i++) {
		const struct port *port = &f->port[i];

		sample_port_rate(&r->port[i], port, &before->port[i], &after->port[i]);
		if ((port->chan != FAB_NONE || port->term != FAB_NONE) && isnan(r->port[i].tx_Bps))
			r->no_reply++;
	}
	return r;
}

const struct rates *rates_get(const struct rates *r)
{
	if (r)
		__atomic_add_fetch(&((struct rates *)r)->refs, 1, __ATOMIC_RELAXED);
	return r;
}

void rates_put(const struct rates *r)
{
	if (r && !__atomic_sub_fetch(&((struct rates *)r)->refs, 1, __ATOMIC_ACQ_REL))
		arena_free(r->arena);
}
