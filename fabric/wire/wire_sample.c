/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters.  PerfMgt is LID-routed only; requests go round the switches port by port.
 *
 * Sums: a switch with AllPortSelect (16.1.3.1) answers for port 255 with the counters of all its
 * ports added up.  Counters only grow, so a sum that stands still says that all of them do: one
 * MAD instead of one a port.
 *
 * The sum that later ones are compared with was asked for before the ports were read: what moved
 * in between shows as a difference, never gets lost.
 */
#include "fabric/wire/wire.h"

#include "fabric/base/memory/mem.h"
#include "fabric/wire/wire_priv.h"

#include <errno.h>
#include <stdlib.h>

#define CLASS_TRIES 2
#define ALL_PORTS   255
#define SECOND_NS   1000000000ull
#define HOLD_NS	    (10 * SECOND_NS) /* longest without a look at the ports themselves */
#define CALM_SHARE  1e-4	     /* of the slowest link: less than is visible anywhere */
#define STRIKES_MAX 3

#define BYTES	(1u << CTR_TX_BYTES | 1u << CTR_RX_BYTES)
#define TRAFFIC (BYTES | 1u << CTR_TX_PKTS | 1u << CTR_RX_PKTS)
#define ERRORS	(((1u << CTR_COUNT) - 1) & ~(TRAFFIC | 1u << CTR_TX_WAIT))

/* What a switch counts, as far as it is known. */
enum {
	PMA_KNOWN = 1,
	PMA_WIDE = 2,	     /* traffic in 64 bits */
	PMA_WIDE_ERRORS = 4, /* errors and wait too */
	PMA_WAIT = 8,	     /* wait in 32 bits */
	PMA_SUMS = 16,	     /* all ports at once, added up */
};

enum { ASK_CLASS, ASK_WIDE, ASK_NARROW, ASK_COUNT };

struct sampler {
	struct wire *w;
	const struct fabric *f;
	struct sample *s;
	unsigned what;
	uint32_t sw, port, kind, ports;
	uint32_t known, silent; /* switches whose counters are known, that did not answer */
	uint64_t total;
};

struct switch_sum {
	struct port_counters last; /* before its ports were read; valid 0: none */
	uint64_t read_ns;	   /* its ports */
	uint8_t strikes;	   /* times that ports and sum did not agree */
	bool calm;		   /* little moved between the last two readings of the ports */
	bool held;		   /* this time */
	bool aged;		   /* it stood still, but its ports were read long ago */
	bool first;		   /* last has just been read for the first time */
};

void wire_forget_counters(struct wire *w)
{
	free(w->pma);
	free(w->sum);
	sample_put(w->last);
	w->pma = NULL;
	w->sum = NULL;
	w->last = NULL;
}

/* Has that port something behind it whose counters are worth a question? */
static bool wire_sample_has_link(const struct fabric *f, uint32_t sw, uint32_t port)
{
	const struct port *p;

	if (!port || port > f->sw_nports[sw])
		return false;
	p = fabric_port(f, sw, (uint8_t)port);
	return (p->chan != FAB_NONE || p->term != FAB_NONE) && p->state != PORT_DOWN;
}

/* Whether this kind of question is needed for the ports of the switch. */
static bool wire_sample_needs(const struct sampler *x, uint32_t sw, uint32_t kind)
{
	uint8_t pma = x->w->pma[sw];

	if (kind == ASK_CLASS)
		return !(pma & PMA_KNOWN);
	if (kind == ASK_WIDE)
		return (pma & PMA_WIDE) && (x->what & SAMPLE_TRAFFIC || pma & PMA_WIDE_ERRORS);
	if (!(pma & PMA_KNOWN))
		return false;
	if (x->what & SAMPLE_TRAFFIC && !(pma & PMA_WIDE))
		return true;
	return x->what & (SAMPLE_ERRORS | SAMPLE_WAIT) && !(pma & PMA_WIDE_ERRORS);
}

/* x->kind, for that port of x->sw; port 255: all added up. */
static void wire_sample_ask(struct sampler *x, uint32_t port, struct queue_request *out)
{
	static const uint16_t attrs[ASK_COUNT] = { PERF_CLASS_INFO, PERF_COUNTERS_EXT,
						   PERF_COUNTERS };

	out->mad.mgmt_class = MAD_PERF;
	out->mad.method = MAD_GET;
	out->mad.attr = attrs[x->kind];
	out->mad.lid = x->f->sw_lid[x->sw];
	if (x->kind != ASK_CLASS) {
		out->mad.data[1] = (uint8_t)port;
		out->mad.data[2] = out->mad.data[3] = 0xff; /* all counters */
	}
	out->node = x->sw;
	out->tag = (uint64_t)port << 32 | x->sw;
}

static bool wire_sample_classes_next(void *ctx, struct queue_request *out)
{
	struct sampler *x = ctx;

	for (; x->sw < x->f->nsw; x->sw++) {
		if (!wire_sample_needs(x, x->sw, ASK_CLASS)) {
			x->known++;
			continue;
		}
		if (wire_via_broken(x->known, x->silent))
			return false;
		x->kind = ASK_CLASS;
		wire_sample_ask(x, 0, out);
		out->tries = CLASS_TRIES;
		x->sw++;
		return true;
	}
	return false;
}

static void wire_sample_classes_done(void *ctx, const struct queue_request *req, int rc,
				     const struct mad_answer *a)
{
	struct sampler *x = ctx;
	uint32_t sw = (uint32_t)req->tag;
	struct perf_class_info ci = { 0 };
	uint8_t pma = PMA_KNOWN;

	if (!rc) {
		perf_class_info_decode(&ci, a->data);
	} else if (rc != -EPROTO) {
		x->silent++;
		return; /* asked again with the next sample */
	}
	x->known++;
	if (ci.cap_mask & (PERF_CAP_EXT | PERF_CAP_EXT_NOIETF))
		pma |= PMA_WIDE;
	if (pma & PMA_WIDE && ci.cap_mask2 & PERF_CAP2_EXT_ERRORS)
		pma |= PMA_WIDE_ERRORS;
	if (ci.cap_mask & PERF_CAP_XMIT_WAIT)
		pma |= PMA_WAIT;
	if (pma & PMA_WIDE && ci.cap_mask & PERF_CAP_ALL_PORTS)
		pma |= PMA_SUMS;
	x->w->pma[sw] = pma;
}

static void wire_sample_put(struct port_counters *c, enum counter which, uint64_t v, bool wide)
{
	if (!wide && c->wide >> which & 1)
		return;
	c->v[which] = v;
	c->valid |= 1u << which;
	c->wide |= (uint32_t)wide << which;
}

static void wire_sample_decode(uint64_t v[CTR_COUNT], bool wide, const uint8_t *data)
{
	struct perf_counters pc;

	if (wide)
		perf_counters_ext_decode(&pc, data);
	else
		perf_counters_decode(&pc, data);
	v[CTR_TX_BYTES] = pc.tx_words * 4;
	v[CTR_RX_BYTES] = pc.rx_words * 4;
	v[CTR_TX_PKTS] = pc.tx_pkts;
	v[CTR_RX_PKTS] = pc.rx_pkts;
	v[CTR_TX_WAIT] = pc.tx_wait;
	v[CTR_SYMBOL_ERR] = pc.symbol_err;
	v[CTR_LINK_RECOVERED] = pc.link_recovered;
	v[CTR_LINK_DOWNED] = pc.link_downed;
	v[CTR_RX_ERR] = pc.rx_err;
	v[CTR_TX_DISCARD] = pc.tx_discard;
}

/* Takes the counters from data, the answer of the switch to a request of that kind. */
static void wire_sample_take(const struct sampler *x, struct port_counters *c, uint32_t sw,
			     uint32_t kind, const uint8_t *data)
{
	uint8_t pma = x->w->pma[sw];
	bool wide = kind == ASK_WIDE;
	uint64_t v[CTR_COUNT];
	uint32_t take = 0;

	wire_sample_decode(v, wide, data);
	if (x->what & SAMPLE_TRAFFIC && (wide || !(pma & PMA_WIDE)))
		take |= TRAFFIC;
	if (x->what & SAMPLE_WAIT && pma & (wide ? PMA_WIDE_ERRORS : PMA_WAIT))
		take |= 1u << CTR_TX_WAIT;
	if (x->what & SAMPLE_ERRORS && (!wide || pma & PMA_WIDE_ERRORS))
		take |= ERRORS;
	for (unsigned k = 0; k < CTR_COUNT; k++)
		if (take >> k & 1)
			wire_sample_put(c, (enum counter)k, v[k], wide);
}

/* ---- sums: the ports of a switch added up ---- */

/* The counters that a kind of request returns for a switch's ports. */
static uint32_t wire_sample_counters_of(const struct sampler *x, uint32_t sw, uint32_t kind)
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

/* Bytes since its ports were read that are too few to show. */
static uint64_t wire_sample_allowance(const struct sampler *x, uint32_t sw)
{
	double slowest_Bps = 0;

	if (!(x->what & SAMPLE_CALM))
		return 0;
	for (uint32_t p = 1; p <= x->f->sw_nports[sw]; p++) {
		double Bps = fabric_port(x->f, sw, (uint8_t)p)->rate_Mbps * 1e6 / 8;

		if (wire_sample_has_link(x->f, sw, p) && (!slowest_Bps || Bps < slowest_Bps))
			slowest_Bps = Bps;
	}
	return (uint64_t)(CALM_SHARE * slowest_Bps * (double)(x->s->time_ns - x->w->last->time_ns) /
			  SECOND_NS);
}

/* Every port had it in the last sample, and the sum is not less than that of the ports. */
static bool wire_sample_covers_ports(const struct sampler *x, uint32_t sw,
				     const struct port_counters *sum, uint32_t mask, bool *less)
{
	uint64_t all[CTR_COUNT] = { 0 };

	*less = false;
	for (uint32_t p = 1; p <= x->f->sw_nports[sw]; p++) {
		const struct port_counters *c = &x->w->last->port[x->f->port_off[sw] + p];

		if (!wire_sample_has_link(x->f, sw, p))
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
	m->last.valid = 0;
	if (++m->strikes >= STRIKES_MAX)
		x->w->pma[sw] &= (uint8_t)~PMA_SUMS;
}

static bool wire_sample_sums_next(void *ctx, struct queue_request *out)
{
	struct sampler *x = ctx;

	for (; x->sw < x->f->nsw; x->sw++, x->kind = ASK_WIDE)
		for (; x->kind < ASK_COUNT; x->kind++) {
			if (!wire_sample_needs(x, x->sw, x->kind) ||
			    !(x->w->pma[x->sw] & PMA_SUMS) ||
			    !wire_sample_sum_of(x, x->sw, x->kind)->calm)
				continue;
			wire_sample_ask(x, ALL_PORTS, out);
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

		if (!wire_sample_has_link(x->f, sw, p))
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
	uint32_t mask = wire_sample_counters_of(x, sw, kind);
	struct port_counters now = { .time_ns = 0 };
	uint64_t bytes = 0, now_ns = wire_now_ns(x->w);
	bool less;

	if (rc == -EPROTO) /* it promised more than it has */
		x->w->pma[sw] &= (uint8_t)~PMA_SUMS;
	if (rc || a->data[1] != ALL_PORTS)
		return;
	wire_sample_take(x, &now, sw, kind, a->data);
	if (!wire_sample_covers_ports(x, sw, &now, mask, &less)) {
		m->last.valid = 0;
		if (less)
			wire_sample_strike(x, sw, m);
		return;
	}
	m->held = wire_sample_stands(&m->last, &now, mask, &bytes) &&
		  bytes <= wire_sample_allowance(x, sw);
	m->aged = m->held && now_ns - m->read_ns >= HOLD_NS;
	m->held = m->held && !m->aged;
	m->first = !m->last.valid;
	if (m->held)
		wire_sample_keep_ports(x, sw, kind, mask);
	else
		m->last = now;
}

/* Asks switches without traffic in the last sample for the sums of their ports; where these have
 * not changed, the ports keep their last values, see wire_read_sample(). 0 or what the port
 * failed with. */
static int wire_sample_read_sums(struct sampler *x, struct progress *progress, struct err *err)
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

/* Does the switch's sum spare this kind of question to its ports? */
static bool wire_sample_held(const struct sampler *x, uint32_t sw, uint32_t kind)
{
	return x->w->sum && x->what & SAMPLE_SUMS && wire_sample_sum_of(x, sw, kind)->held;
}

static void wire_sample_learn(struct sampler *x, uint32_t sw, uint32_t kind)
{
	struct switch_sum *m = wire_sample_sum_of(x, sw, kind);
	uint32_t mask = wire_sample_counters_of(x, sw, kind);
	uint64_t bytes = 0;
	bool calm = x->w->last != NULL;

	for (uint32_t p = 1; calm && p <= x->f->sw_nports[sw]; p++) {
		uint32_t i = x->f->port_off[sw] + p;

		calm = !wire_sample_has_link(x->f, sw, p) ||
		       wire_sample_stands(&x->w->last->port[i], &x->s->port[i], mask, &bytes);
	}
	m->calm = calm && bytes <= wire_sample_allowance(x, sw);
	if (m->aged && !m->calm)
		wire_sample_strike(x, sw, m);
	else if (m->aged)
		m->strikes = 0;
	m->read_ns = wire_now_ns(x->w);
	if (!m->calm)
		m->last.valid = 0;
	else if (m->first) /* not all of them again at the same time */
		m->read_ns -= sw % 5 * (HOLD_NS / 5);
}

/* After the ports were read: remembers the sample. */
static void wire_sample_learn_all(struct sampler *x)
{
	for (uint32_t sw = 0; sw < x->f->nsw; sw++)
		for (uint32_t kind = ASK_WIDE; kind < ASK_COUNT; kind++)
			if (x->w->pma[sw] & PMA_SUMS && wire_sample_needs(x, sw, kind) &&
			    !wire_sample_sum_of(x, sw, kind)->held)
				wire_sample_learn(x, sw, kind);
	sample_put(x->w->last);
	x->w->last = sample_get(x->s);
}

/* ---- ports ---- */

static bool wire_sample_asked(const struct sampler *x, uint32_t sw, uint32_t kind)
{
	return wire_sample_needs(x, sw, kind) && !wire_sample_held(x, sw, kind);
}

static bool wire_sample_ports_next(void *ctx, struct queue_request *out)
{
	struct sampler *x = ctx;

	for (; x->port <= x->ports; x->port++, x->sw = 0)
		for (; x->sw < x->f->nsw; x->sw++, x->kind = ASK_WIDE) {
			if (!wire_sample_has_link(x->f, x->sw, x->port))
				continue;
			while (x->kind < ASK_COUNT && !wire_sample_asked(x, x->sw, x->kind))
				x->kind++;
			if (x->kind == ASK_COUNT)
				continue;
			wire_sample_ask(x, x->port, out);
			x->kind++;
			return true;
		}
	return false;
}

static void wire_sample_ports_done(void *ctx, const struct queue_request *req, int rc,
				   const struct mad_answer *a)
{
	struct sampler *x = ctx;
	uint32_t sw = (uint32_t)req->tag, port = (uint32_t)(req->tag >> 32);
	struct port_counters *c = &x->s->port[x->f->port_off[sw] + port];
	bool wide = req->mad.attr == PERF_COUNTERS_EXT;

	if (rc == -EPROTO && wide) /* it promised more than it has */
		x->w->pma[sw] &= (uint8_t) ~(PMA_WIDE | PMA_WIDE_ERRORS);
	if (rc || a->data[1] != port)
		return;
	x->s->answered += !c->valid;
	/* that of the traffic: other counters may come seconds later after a loss */
	if (wide || !(c->wide >> CTR_TX_BYTES & 1))
		c->time_ns = wire_now_ns(x->w);
	wire_sample_take(x, c, sw, wide ? ASK_WIDE : ASK_NARROW, a->data);
}

static void wire_sample_count_ports(struct sampler *x)
{
	for (uint32_t sw = 0; sw < x->f->nsw; sw++) {
		if (x->f->sw_nports[sw] > x->ports)
			x->ports = x->f->sw_nports[sw];
		for (uint32_t p = 1; p <= x->f->sw_nports[sw]; p++) {
			if (!wire_sample_has_link(x->f, sw, p))
				continue;
			x->s->asked++;
			x->total += wire_sample_asked(x, sw, ASK_WIDE) +
				    wire_sample_asked(x, sw, ASK_NARROW);
		}
	}
}

int wire_read_sample(struct sample **out, struct wire *w, const struct fabric *f, unsigned what,
		     struct progress *progress, struct err *err)
{
	struct sampler x = { .w = w, .f = f, .s = sample_new(f), .what = what };
	struct queue_source classes = { .next = wire_sample_classes_next,
					.done = wire_sample_classes_done,
					.ctx = &x };
	struct queue_source ports = { .next = wire_sample_ports_next,
				      .done = wire_sample_ports_done,
				      .ctx = &x,
				      .total = &x.total };
	int rc;

	if (!w->pma || !digest_equal(&w->pma_fabric, &f->fingerprint)) {
		wire_forget_counters(w);
		w->pma = xcalloc(f->nsw, 1);
		w->pma_fabric = f->fingerprint;
		queue_forget(w->queue);
	}
	x.s->time_ns = wire_now_ns(w);
	rc = queue_run(w->queue, &classes, progress, "counters", err);
	if (!rc && what & SAMPLE_SUMS)
		rc = wire_sample_read_sums(&x, progress, err);
	wire_sample_count_ports(&x);
	x.sw = 0;
	x.kind = ASK_WIDE;
	if (!rc)
		rc = queue_run(w->queue, &ports, progress, "counters", err);
	x.s->took_ns = wire_now_ns(w) - x.s->time_ns;
	if (!rc && what & SAMPLE_SUMS)
		wire_sample_learn_all(&x);
	if (rc == -ECANCELED)
		err_set(err, rc, "reading the counters was cancelled");
	if (rc)
		sample_put(x.s);
	else
		*out = x.s;
	return rc;
}
