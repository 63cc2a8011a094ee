/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/packet/packets.h"

#include "fabric/base/memory/mem.h"
#include "fabric/sim/packet/packets_move.h"
#include "fabric/sim/packet/packets_priv.h"

#include <stdlib.h>
#include <string.h>

#define VLS_MAX 15
#define MTU_MAX 4096

void packets_opts_init(struct packets_opts *o)
{
	*o = (struct packets_opts){
		.seed = 1,
		.mtu = 2048,
		.credits = 800,
		.latency_ns = PACKETS_LATENCY_ns,
		.jitter_ns = 1000,
	};
}

static uint32_t packets_credits_of_one(const struct packets *p)
{
	return (p->o.mtu + PACKETS_HEADERS + PACKETS_BLOCK - 1) / PACKETS_BLOCK;
}

/* The credits of a buffer go to its VL, or, but for those of one packet on each, to its link. */
static void packets_init_credits(struct packets *p)
{
	uint32_t one = packets_credits_of_one(p), least = p->o.shared ? one * p->nvl : one;

	if (p->o.credits < least)
		p->o.credits = least;
	for (uint32_t i = 0; i < p->nlane; i++)
		p->lane[i].credits = p->o.shared ? one : p->o.credits;
	for (uint32_t l = 0; l < p->nlink; l++)
		p->link[l].credits = p->o.shared ? p->o.credits - least : 0;
}

static void packets_link_init(struct packets *p, uint32_t l, const struct port *port)
{
	struct link *link = &p->link[l];

	*link = (struct link){ .sw = NIL, .term = NIL, .wire_first = NIL };
	link->rate_Mbps = p->o.rate_Mbps ? p->o.rate_Mbps : port->rate_Mbps;
	if (!link->rate_Mbps)
		link->rate_Mbps = PACKETS_RATE_Mbps;
}

static void packets_init_links(struct packets *p)
{
	const struct fabric *f = p->f;

	for (uint32_t l = 0; l < f->nport; l++) {
		const struct port *port = &f->port[l];

		packets_link_init(p, l, port);
		p->link[l].term = port->term;
		if (port->chan != FAB_NONE) {
			p->link[l].sw = f->chan_dst[port->chan];
			p->link[l].port = f->chan_rport[port->chan];
		}
	}
	for (uint32_t end = 0; end < f->nend; end++) {
		uint32_t l = packets_host_link(p, end);

		packets_link_init(p, l, fabric_port(f, f->term_sw[end], f->term_port[end]));
		p->link[l].sw = f->term_sw[end];
		p->link[l].port = f->term_port[end];
	}
}

struct packets *packets_new(const struct fabric *f, const struct tables *t,
			    const struct packets_opts *opts)
{
	struct packets *p = xcalloc(1, sizeof(*p));

	p->f = f;
	if (opts)
		p->o = *opts;
	else
		packets_opts_init(&p->o);
	if (!p->o.mtu || p->o.mtu > MTU_MAX)
		p->o.mtu = MTU_MAX;
	p->nvl = p->o.vls ? p->o.vls : t->vls;
	if (!p->nvl || p->nvl > VLS_MAX)
		p->nvl = VLS_MAX;
	rng_seed(&p->rng, p->o.seed);
	forwarding_init(&p->fwd, f, t);
	p->nlink = f->nport + f->nend;
	p->nlane = p->nlink * p->nvl;
	p->link = xcalloc(p->nlink, sizeof(*p->link));
	p->lane = xcalloc(p->nlane, sizeof(*p->lane));
	p->mark = xcalloc(p->nlane, sizeof(*p->mark));
	p->reached = xcalloc(p->nlane, sizeof(*p->reached));
	p->queue = xcalloc(p->nlane, sizeof(*p->queue));
	p->unused = NIL;
	packets_init_links(p);
	for (uint32_t i = 0; i < p->nlane; i++) {
		struct lane *lane = &p->lane[i];

		lane->head = lane->tail = lane->first = lane->last = NIL;
	}
	packets_init_credits(p);
	return p;
}

void packets_free(struct packets *p)
{
	if (!p)
		return;
	forwarding_fini(&p->fwd);
	heap_done(&p->events);
	free(p->arrivals.ring);
	vec_free(&p->pool);
	vec_free(&p->conns);
	free(p->link);
	free(p->lane);
	free(p->mark);
	free(p->reached);
	free(p->queue);
	free(p);
}

uint32_t packets_connect(struct packets *p, uint32_t src, uint16_t dlid, uint8_t sl)
{
	vec_push(&p->conns, (struct conn){ .src = src, .dlid = dlid, .sl = sl, .behind = NIL });
	return (uint32_t)p->conns.n - 1;
}

/* From now on it may send, but for some delay by chance. */
static void packets_begin(struct packets *p, uint32_t c)
{
	uint64_t jitter_ps = p->o.jitter_ns * 1000ULL;

	heap_push(&p->events, p->now_ps + (jitter_ps ? rng_below(&p->rng, jitter_ps) : 0),
		  (uint32_t)EVENT_START << EVENT_SHIFT | c);
}

void packets_send(struct packets *p, uint32_t c, uint64_t bytes)
{
	struct conn *conn = &p->conns.v[c];
	bool first = !conn->asked;

	conn->left = bytes > PACKETS_ENDLESS - conn->left ? PACKETS_ENDLESS : conn->left + bytes;
	conn->asked = true;
	if (first)
		packets_begin(p, c);
	else
		packets_offer_conn(p, c);
}

static uint64_t packets_to_ps(uint64_t ns)
{
	return ns > UINT64_MAX / 1000 ? UINT64_MAX : ns * 1000;
}

/* The clock stands at the end of the time that was given, also when nothing happens then. */
static void packets_pass(struct packets *p, uint64_t until_ps)
{
	if (p->now_ps < until_ps && until_ps != UINT64_MAX)
		p->now_ps = until_ps;
}

void packets_run(struct packets *p, uint64_t until_ns)
{
	packets_run_part(p, until_ns, UINT64_MAX);
}

bool packets_run_part(struct packets *p, uint64_t until_ns, uint64_t events)
{
	uint64_t until = packets_to_ps(until_ns);

	while (!packets_still(p) && packets_next_ps(p) <= until) {
		if (!events--)
			return false;
		packets_step(p);
	}
	packets_pass(p, until);
	return true;
}

bool packets_run_drained(struct packets *p, uint64_t until_ns)
{
	uint64_t until = packets_to_ps(until_ns);

	while (p->held && !packets_still(p) && packets_next_ps(p) <= until)
		packets_step(p);
	if (p->held)
		packets_pass(p, until);
	return !p->held;
}

uint64_t packets_now_ns(const struct packets *p)
{
	return p->now_ps / 1000;
}

bool packets_still(const struct packets *p)
{
	return !p->events.n && !p->arrivals.n;
}

void packets_counts(struct packets_counts *out, const struct packets *p)
{
	*out = p->n;
	out->last_ns = p->last_ps / 1000;
}

void packets_conn_counts(struct packets_conn_counts *out, const struct packets *p, uint32_t conn)
{
	*out = p->conns.v[conn].n;
}
