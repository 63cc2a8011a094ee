/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters.  PerfMgt is LID-routed only; requests go round the switches port by port. */
#include "fabric/wire/wire.h"

#include "fabric/wire/wire_sample.h"

#include "fabric/base/mem.h"

#include <errno.h>
#include <stdlib.h>

#define CLASS_TRIES 2

bool sampler_has_link(const struct fabric *f, uint32_t sw, uint32_t port)
{
	const struct port *p;

	if (!port || port > f->sw_nports[sw])
		return false;
	p = fabric_port(f, sw, (uint8_t)port);
	return (p->chan != FAB_NONE || p->term != FAB_NONE) && p->state != PORT_DOWN;
}

bool sampler_needs(const struct sampler *x, uint32_t sw, uint32_t kind)
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

void sampler_ask(struct sampler *x, uint32_t port, struct queue_request *out)
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
		if (!sampler_needs(x, x->sw, ASK_CLASS)) {
			x->known++;
			continue;
		}
		if (wire_way_broken(x->known, x->silent))
			return false;
		x->kind = ASK_CLASS;
		sampler_ask(x, 0, out);
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

static bool wire_sample_asked(const struct sampler *x, uint32_t sw, uint32_t kind)
{
	return sampler_needs(x, sw, kind) && !sums_hold(x, sw, kind);
}

static bool wire_sample_ports_next(void *ctx, struct queue_request *out)
{
	struct sampler *x = ctx;

	for (; x->port <= x->ports; x->port++, x->sw = 0)
		for (; x->sw < x->f->nsw; x->sw++, x->kind = ASK_WIDE) {
			if (!sampler_has_link(x->f, x->sw, x->port))
				continue;
			while (x->kind < ASK_COUNT && !wire_sample_asked(x, x->sw, x->kind))
				x->kind++;
			if (x->kind == ASK_COUNT)
				continue;
			sampler_ask(x, x->port, out);
			x->kind++;
			return true;
		}
	return false;
}

static void wire_sample_put(struct port_counters *c, enum counter which, uint64_t v, bool wide)
{
	if (!wide && c->wide >> which & 1)
		return;
	c->v[which] = v;
	c->valid |= 1u << which;
	c->wide |= (uint32_t)wide << which;
}

static void wire_sample_got_wide(const struct sampler *x, struct port_counters *c, uint8_t pma,
				 const uint8_t *d)
{
	struct perf_counters_ext pc;

	perf_counters_ext_decode(&pc, d);
	if (x->what & SAMPLE_TRAFFIC) {
		wire_sample_put(c, CTR_TX_BYTES, pc.tx_words * 4, true);
		wire_sample_put(c, CTR_RX_BYTES, pc.rx_words * 4, true);
		wire_sample_put(c, CTR_TX_PKTS, pc.tx_pkts, true);
		wire_sample_put(c, CTR_RX_PKTS, pc.rx_pkts, true);
	}
	if (!(pma & PMA_WIDE_ERRORS))
		return;
	if (x->what & SAMPLE_WAIT)
		wire_sample_put(c, CTR_TX_WAIT, pc.tx_wait, true);
	if (x->what & SAMPLE_ERRORS) {
		wire_sample_put(c, CTR_SYMBOL_ERR, pc.symbol_err, true);
		wire_sample_put(c, CTR_LINK_RECOVERED, pc.link_recovered, true);
		wire_sample_put(c, CTR_LINK_DOWNED, pc.link_downed, true);
		wire_sample_put(c, CTR_RX_ERR, pc.rx_err, true);
		wire_sample_put(c, CTR_TX_DISCARD, pc.tx_discard, true);
	}
}

static void wire_sample_got_narrow(const struct sampler *x, struct port_counters *c, uint8_t pma,
				   const uint8_t *d)
{
	struct perf_counters pc;

	perf_counters_decode(&pc, d);
	if (x->what & SAMPLE_TRAFFIC && !(pma & PMA_WIDE)) {
		wire_sample_put(c, CTR_TX_BYTES, (uint64_t)pc.tx_words * 4, false);
		wire_sample_put(c, CTR_RX_BYTES, (uint64_t)pc.rx_words * 4, false);
		wire_sample_put(c, CTR_TX_PKTS, pc.tx_pkts, false);
		wire_sample_put(c, CTR_RX_PKTS, pc.rx_pkts, false);
	}
	if (x->what & SAMPLE_WAIT && pma & PMA_WAIT)
		wire_sample_put(c, CTR_TX_WAIT, pc.tx_wait, false);
	if (x->what & SAMPLE_ERRORS) {
		wire_sample_put(c, CTR_SYMBOL_ERR, pc.symbol_err, false);
		wire_sample_put(c, CTR_LINK_RECOVERED, pc.link_recovered, false);
		wire_sample_put(c, CTR_LINK_DOWNED, pc.link_downed, false);
		wire_sample_put(c, CTR_RX_ERR, pc.rx_err, false);
		wire_sample_put(c, CTR_TX_DISCARD, pc.tx_discard, false);
	}
}

void sampler_take(const struct sampler *x, struct port_counters *c, uint32_t sw, uint32_t kind,
		  const uint8_t *data)
{
	if (kind == ASK_WIDE)
		wire_sample_got_wide(x, c, x->w->pma[sw], data);
	else
		wire_sample_got_narrow(x, c, x->w->pma[sw], data);
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
	/* that of the traffic: what else is asked for apart may come seconds later when it is lost
	 */
	if (wide || !(c->wide >> CTR_TX_BYTES & 1))
		c->time_ns = wire_now_ns(x->w);
	sampler_take(x, c, sw, wide ? ASK_WIDE : ASK_NARROW, a->data);
}

static void wire_sample_count_ports(struct sampler *x)
{
	for (uint32_t sw = 0; sw < x->f->nsw; sw++) {
		if (x->f->sw_nports[sw] > x->ports)
			x->ports = x->f->sw_nports[sw];
		for (uint32_t p = 1; p <= x->f->sw_nports[sw]; p++) {
			if (!sampler_has_link(x->f, sw, p))
				continue;
			x->s->asked++;
			x->total += wire_sample_asked(x, sw, ASK_WIDE) +
				    wire_sample_asked(x, sw, ASK_NARROW);
		}
	}
}

void wire_forget_counters(struct wire *w)
{
	free(w->pma);
	free(w->sum);
	sample_put(w->last);
	w->pma = NULL;
	w->sum = NULL;
	w->last = NULL;
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
		rc = sums_read(&x, progress, err);
	wire_sample_count_ports(&x);
	x.sw = 0;
	x.kind = ASK_WIDE;
	if (!rc)
		rc = queue_run(w->queue, &ports, progress, "counters", err);
	x.s->took_ns = wire_now_ns(w) - x.s->time_ns;
	if (!rc && what & SAMPLE_SUMS)
		sums_learn(&x);
	if (rc == -ECANCELED)
		err_set(err, rc, "reading the counters was cancelled");
	if (rc)
		sample_put(x.s);
	else
		*out = x.s;
	return rc;
}
