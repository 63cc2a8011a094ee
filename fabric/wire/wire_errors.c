/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Error counters of all ports, of hosts as well: one MAD each. */
#include "fabric/wire/wire.h"

#include "fabric/base/time/clock.h"
#include "fabric/wire/wire_priv.h"

#include <time.h>

#define ERROR_TRIES 2

struct error_reader {
	struct wire *w;
	const struct fabric *f;
	struct error_set *s;
	uint32_t sw, port, term; /* next to ask: port of sw, after all switches the ends */
	uint64_t total;
};

/* Requests go round the switches port by port, so that none has to answer all at once. */
static bool wire_errors_next_port(struct error_reader *x, struct queue_request *out)
{
	for (; x->port <= FAB_MAX_PORT; x->port++, x->sw = 0)
		while (x->sw < x->f->nsw) {
			uint32_t sw = x->sw++;

			if (x->port > x->f->sw_nports[sw] ||
			    !port_cabled(fabric_port(x->f, sw, (uint8_t)x->port)))
				continue;
			out->mad.lid = x->f->sw_lid[sw];
			out->mad.data[1] = (uint8_t)x->port;
			out->node = sw;
			out->tag = (uint64_t)x->port << 32 | sw;
			return true;
		}
	return false;
}

static bool wire_errors_next_end(struct error_reader *x, struct queue_request *out)
{
	uint32_t t = x->term++;

	if (t >= x->f->nend)
		return false;
	out->mad.lid = x->f->term_lid[t];
	out->mad.data[1] = x->f->term_ca_port[t];
	out->node = x->f->nsw + t;
	out->tag = t; /* port 0: an end */
	return true;
}

static bool wire_errors_next(void *ctx, struct queue_request *out)
{
	out->mad.mgmt_class = MAD_PERF;
	out->mad.method = MAD_GET;
	out->mad.attr = PERF_COUNTERS;
	out->mad.data[2] = out->mad.data[3] = 0xff; /* all counters */
	out->tries = ERROR_TRIES;
	return wire_errors_next_port(ctx, out) || wire_errors_next_end(ctx, out);
}

static void wire_errors_decode(uint64_t v[ERROR_COUNT], const uint8_t *data)
{
	struct perf_counters pc;

	perf_counters_decode(&pc, data);
	v[ERROR_SYMBOL] = pc.symbol_err;
	v[ERROR_LINK_RECOVERED] = pc.link_recovered;
	v[ERROR_LINK_DOWNED] = pc.link_downed;
	v[ERROR_RX] = pc.rx_err;
	v[ERROR_RX_REMOTE] = pc.rx_remote_err;
	v[ERROR_RX_RELAY] = pc.rx_relay_err;
	v[ERROR_TX_DISCARD] = pc.tx_discard;
	v[ERROR_TX_CONSTRAINT] = pc.tx_constraint;
	v[ERROR_RX_CONSTRAINT] = pc.rx_constraint;
	v[ERROR_INTEGRITY] = pc.integrity;
	v[ERROR_OVERRUN] = pc.overrun;
	v[ERROR_QP1_DROPPED] = pc.qp1_dropped;
	v[ERROR_VL15_DROPPED] = pc.vl15_dropped;
}

static void wire_errors_done(void *ctx, const struct queue_request *req, int rc,
			     const struct mad_answer *a)
{
	struct error_reader *x = ctx;
	uint32_t at = (uint32_t)req->tag, port = (uint32_t)(req->tag >> 32);
	struct port_errors *p = &x->s->port[x->s->n];

	if (rc || a->data[1] != req->mad.data[1])
		return;
	p->host = !port;
	p->guid = port ? x->f->sw_guid[at] : x->f->term_guid[at];
	p->port = req->mad.data[1];
	wire_errors_decode(p->v, a->data);
	x->s->n++;
}

static uint32_t wire_errors_asked(const struct fabric *f)
{
	uint32_t n = f->nend;

	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t p = 1; p <= f->sw_nports[sw]; p++)
			n += port_cabled(fabric_port(f, sw, (uint8_t)p));
	return n;
}

int wire_read_errors(struct error_set **out, struct wire *w, const struct fabric *f,
		     struct progress *progress, struct err *err)
{
	uint32_t asked = wire_errors_asked(f);
	struct error_reader x = {
		.w = w, .f = f, .s = error_set_new(asked), .port = 1, .total = asked
	};
	struct queue_source src = {
		.next = wire_errors_next, .done = wire_errors_done, .ctx = &x, .total = &x.total
	};
	uint64_t began_ms = clock_ms();
	int rc = queue_run(w->queue, &src, progress, "error counters", err);

	x.s->asked = asked;
	x.s->time_s = time(NULL);
	x.s->began_ms = began_ms;
	error_set_sort(x.s);
	if (rc)
		error_set_put(x.s);
	else
		*out = x.s;
	return rc;
}
