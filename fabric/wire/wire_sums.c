/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums: a switch with AllPortSelect (16.1.3.1) answers for port 255 with the counters of all its
 * ports added up.  Counters only grow, so a sum that stands still says that all of them do: one
 * MAD instead of one a port.
 *
 * The sum that later ones are compared with was asked for before the ports were read: what moved
 * in between shows as a difference, never gets lost.
 */
#include "fabric/wire/wire_sample.h"

#include "fabric/base/mem.h"

#include <errno.h>

#define ALL_PORTS   255
#define SECOND_NS   1000000000ull
#define HOLD_NS	    (10 * SECOND_NS) /* longest without a look at the ports themselves */
#define CALM_SHARE  1e-4	     /* of the slowest link: less moves than any figure shows */
#define STRIKES_MAX 3

#define BYTES	(1u << CTR_TX_BYTES | 1u << CTR_RX_BYTES)
#define TRAFFIC (BYTES | 1u << CTR_TX_PKTS | 1u << CTR_RX_PKTS)

struct switch_sum {
	struct port_counters told; /* before its ports were read; valid 0: none */
	uint64_t read_ns;	   /* its ports */
	uint8_t strikes;	   /* times that ports and sum did not agree */
	bool calm;		   /* little moved between the last two readings of the ports */
	bool held;		   /* this time */
	bool aged;		   /* it stood still, but its ports were read long ago */
	bool first;		   /* told has just been learnt */
};

/* What a kind of question tells of a switch's ports. */
static uint32_t wire_sample_told_by(const struct sampler *x, uint32_t sw, uint32_t kind)
{
	uint32_t all = (1u << CTR_COUNT) - 1;
	uint8_t pma = x->w->pma[sw];

	if (kind == ASK_WIDE)
		return pma & PMA_WIDE_ERRORS ? all : TRAFFIC;
	return all & ~TRAFFIC & ~(pma & PMA_WAIT ? 0 : 1u << CTR_TX_WAIT);
}

static struct switch_sum *wire_sample_sum_of(const struct sampler *x, uint32_t sw, uint32_t kind)
{
	return &x->w->sum[2 * sw + (kind == ASK_NARROW)];
}

/* Narrow counters stay at their end; some switches end the sum of one as that of a smaller one. */
static bool wire_sample_at_end(const struct port_counters *c, enum counter which)
{
	uint64_t v = c->v[which];

	if (c->wide >> which & 1)
		return false;
	return v == UINT8_MAX || v == UINT16_MAX || v == UINT32_MAX;
}

/* Do all counters of mask stand still from a to b, but for traffic?  Its bytes are added to *bytes,
 * and one for each packet. */
static bool wire_sample_stands(const struct port_counters *a, const struct port_counters *b,
			       uint32_t mask, uint64_t *bytes)
{
	if ((a->valid & b->valid & mask) != mask)
		return false;
	for (unsigned c = 0; c < CTR_COUNT; c++) {
		if (!(mask >> c & 1))
			continue;
		if (b->v[c] < a->v[c])
			return false;
		if (TRAFFIC >> c & 1)
			*bytes += b->v[c] - a->v[c];
		else if (b->v[c] != a->v[c] || wire_sample_at_end(b, c))
			return false;
	}
	return true;
}

/* So many bytes in all since its ports were read do not show. */
static uint64_t wire_sample_allowance(const struct sampler *x, uint32_t sw)
{
	double slowest_Bps = 0;

	if (!(x->what & SAMPLE_CALM))
		return 0;
	for (uint32_t p = 1; p <= x->f->sw_nports[sw]; p++) {
		double Bps = fabric_port(x->f, sw, (uint8_t)p)->rate_Mbps * 1e6 / 8;

		if (sampler_has_link(x->f, sw, p) && (!slowest_Bps || Bps < slowest_Bps))
			slowest_Bps = Bps;
	}
	return (uint64_t)(CALM_SHARE * slowest_Bps * (double)(x->s->time_ns - x->w->last->time_ns) /
			  SECOND_NS);
}

/* Every port has told it last time, and the sum is not less than what they told. */
static bool wire_sample_covers_ports(const struct sampler *x, uint32_t sw,
				     const struct port_counters *sum, uint32_t mask, bool *less)
{
	uint64_t all[CTR_COUNT] = { 0 };

	*less = false;
	for (uint32_t p = 1; p <= x->f->sw_nports[sw]; p++) {
		const struct port_counters *c = &x->w->last->port[x->f->port_off[sw] + p];

		if (!sampler_has_link(x->f, sw, p))
			continue;
		if ((c->valid & mask) != mask)
			return false;
		for (unsigned k = 0; k < CTR_COUNT; k++)
			all[k] += mask >> k & 1 ? c->v[k] : 0;
	}
	for (unsigned k = 0; k < CTR_COUNT; k++)
		*less |= sum->v[k] < all[k] && !wire_sample_at_end(sum, k);
	return !*less;
}

static void wire_sample_strike(struct sampler *x, uint32_t sw, struct switch_sum *m)
{
	m->told.valid = 0;
	if (++m->strikes >= STRIKES_MAX)
		x->w->pma[sw] &= (uint8_t)~PMA_SUMS;
}

static bool wire_sample_sums_next(void *ctx, struct queue_request *out)
{
	struct sampler *x = ctx;

	for (; x->sw < x->f->nsw; x->sw++, x->kind = ASK_WIDE)
		for (; x->kind < ASK_COUNT; x->kind++) {
			if (!sampler_needs(x, x->sw, x->kind) || !(x->w->pma[x->sw] & PMA_SUMS) ||
			    !wire_sample_sum_of(x, x->sw, x->kind)->calm)
				continue;
			sampler_ask(x, ALL_PORTS, out);
			x->kind++;
			return true;
		}
	return false;
}

static void wire_sample_keep_ports(struct sampler *x, uint32_t sw, uint32_t kind, uint32_t mask)
{
	for (uint32_t p = 1; p <= x->f->sw_nports[sw]; p++) {
		uint32_t i = x->f->port_off[sw] + p;
		const struct port_counters *was = &x->w->last->port[i];
		struct port_counters *c = &x->s->port[i];

		if (!sampler_has_link(x->f, sw, p))
			continue;
		x->s->answered += !c->valid;
		for (unsigned k = 0; k < CTR_COUNT; k++)
			if (mask >> k & 1)
				c->v[k] = was->v[k];
		c->valid |= mask;
		c->wide |= was->wide & mask;
		if (kind == ASK_WIDE || !(c->wide & BYTES))
			c->time_ns = wire_now_ns(x->w);
	}
}

static void wire_sample_sums_done(void *ctx, const struct queue_request *req, int rc,
				  const struct mad_answer *a)
{
	struct sampler *x = ctx;
	uint32_t sw = (uint32_t)req->tag;
	uint32_t kind = req->mad.attr == PERF_COUNTERS_EXT ? ASK_WIDE : ASK_NARROW;
	struct switch_sum *m = wire_sample_sum_of(x, sw, kind);
	uint32_t mask = wire_sample_told_by(x, sw, kind);
	struct port_counters now = { .time_ns = 0 };
	uint64_t bytes = 0, now_ns = wire_now_ns(x->w);
	bool less;

	if (rc == -EPROTO) /* it promised more than it has */
		x->w->pma[sw] &= (uint8_t)~PMA_SUMS;
	if (rc || a->data[1] != ALL_PORTS)
		return;
	sampler_take(x, &now, sw, kind, a->data);
	if (!wire_sample_covers_ports(x, sw, &now, mask, &less)) {
		m->told.valid = 0;
		if (less)
			wire_sample_strike(x, sw, m);
		return;
	}
	m->held = wire_sample_stands(&m->told, &now, mask, &bytes) &&
		  bytes <= wire_sample_allowance(x, sw);
	m->aged = m->held && now_ns - m->read_ns >= HOLD_NS;
	m->held = m->held && !m->aged;
	m->first = !m->told.valid;
	if (m->held)
		wire_sample_keep_ports(x, sw, kind, mask);
	else
		m->told = now;
}

int sums_read(struct sampler *x, struct progress *progress, struct err *err)
{
	struct queue_source src = { .next = wire_sample_sums_next,
				    .done = wire_sample_sums_done,
				    .ctx = x };

	if (!x->w->sum)
		x->w->sum = xcalloc(2ull * x->f->nsw, sizeof(*x->w->sum));
	for (uint32_t i = 0; i < 2 * x->f->nsw; i++)
		x->w->sum[i].held = x->w->sum[i].aged = x->w->sum[i].first = false;
	if (!x->w->last)
		return 0;
	x->sw = 0;
	x->kind = ASK_WIDE;
	return queue_run(x->w->queue, &src, progress, "counters", err);
}

bool sums_hold(const struct sampler *x, uint32_t sw, uint32_t kind)
{
	return x->w->sum && x->what & SAMPLE_SUMS && wire_sample_sum_of(x, sw, kind)->held;
}

static void wire_sample_learn(struct sampler *x, uint32_t sw, uint32_t kind)
{
	struct switch_sum *m = wire_sample_sum_of(x, sw, kind);
	uint32_t mask = wire_sample_told_by(x, sw, kind);
	uint64_t bytes = 0;
	bool calm = x->w->last != NULL;

	for (uint32_t p = 1; calm && p <= x->f->sw_nports[sw]; p++) {
		uint32_t i = x->f->port_off[sw] + p;

		calm = !sampler_has_link(x->f, sw, p) ||
		       wire_sample_stands(&x->w->last->port[i], &x->s->port[i], mask, &bytes);
	}
	m->calm = calm && bytes <= wire_sample_allowance(x, sw);
	if (m->aged && !m->calm)
		wire_sample_strike(x, sw, m);
	else if (m->aged)
		m->strikes = 0;
	m->read_ns = wire_now_ns(x->w);
	if (!m->calm)
		m->told.valid = 0;
	else if (m->first) /* not all of them again at the same time */
		m->read_ns -= sw % 5 * (HOLD_NS / 5);
}

void sums_learn(struct sampler *x)
{
	for (uint32_t sw = 0; sw < x->f->nsw; sw++)
		for (uint32_t kind = ASK_WIDE; kind < ASK_COUNT; kind++)
			if (x->w->pma[sw] & PMA_SUMS && sampler_needs(x, sw, kind) &&
			    !wire_sample_sum_of(x, sw, kind)->held)
				wire_sample_learn(x, sw, kind);
	sample_put(x->w->last);
	x->w->last = sample_get(x->s);
}
