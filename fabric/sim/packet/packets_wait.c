/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who waits for whom: every buffer has one first packet and that one waits for one other buffer,
 * so the waiting is a function, and a circle of it stands for ever. */
#include "fabric/sim/packet/packets.h"

#include "fabric/base/mem.h"
#include "fabric/sim/packet/packets_priv.h"

#include <stdlib.h>
#include <string.h>

/* The buffer whose room the first packet of this one waits for, or NIL. */
static uint32_t packets_wait_for(const struct packets *p, uint32_t r)
{
	const struct lane *lane = &p->lane[r];
	const struct packet *k;

	if (!lane->waiting)
		return NIL;
	k = &p->pool.v[lane->head];
	return lane_takes(p, k->out, k) ? NIL : k->out;
}

static uint64_t packets_wait_later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void packets_wait_describe(struct packets_wait *out, const struct packets *p, uint32_t r)
{
	const struct packet *k = &p->pool.v[p->lane[r].head];

	out->chan = p->f->port[r / p->nvl].chan;
	out->vl = (uint8_t)(r % p->nvl);
	out->conn = k->conn;
	out->dlid = k->dlid;
	out->sl = k->sl;
	out->npackets = p->lane[r].npackets;
}

static uint32_t packets_wait_report(const struct packets *p, uint32_t start,
				    struct packets_wait **out, uint64_t *closed_ns)
{
	uint32_t n = 0, r = start;
	uint64_t closed = 0;

	do {
		uint32_t next = packets_wait_for(p, r);

		closed = packets_wait_later(
			closed, packets_wait_later(p->lane[r].since, p->lane[next].taken));
		n++;
		r = next;
	} while (r != start);
	if (closed_ns)
		*closed_ns = closed / 1000;
	if (!out)
		return n;
	*out = xcalloc(n, sizeof(**out));
	for (uint32_t i = 0; i < n; i++) {
		packets_wait_describe(&(*out)[i], p, r);
		r = packets_wait_for(p, r);
	}
	return n;
}

uint32_t packets_deadlock(struct packets *p, struct packets_wait **out, uint64_t *closed_ns)
{
	uint32_t n = 0, start = NIL;
	uint64_t closed, first = UINT64_MAX;

	if (out)
		*out = NULL;
	memset(p->mark, 0, p->nlane * sizeof(*p->mark));
	for (uint32_t i = 0; i < p->nlane; i++) {
		uint32_t r = i;

		while (r != NIL && !p->mark[r]) {
			p->mark[r] = i + 1;
			r = packets_wait_for(p, r);
		}
		if (r == NIL || p->mark[r] != i + 1)
			continue;
		packets_wait_report(p, r, NULL, &closed);
		if (closed < first) {
			first = closed;
			start = r;
		}
	}
	if (start != NIL)
		n = packets_wait_report(p, start, out, closed_ns);
	return n;
}

/* Credits of the packets that stand in a buffer or have its room already. */
static uint32_t packets_wait_occupied(const struct packets *p, uint32_t r, uint32_t *npackets)
{
	const struct link *l = &p->link[r / p->nvl];
	uint32_t sum = 0, vl = r % p->nvl;

	for (uint32_t k = p->lane[r].head; k != NIL; k = p->pool.v[k].next) {
		sum += packet_credits(&p->pool.v[k]);
		++*npackets;
	}
	for (uint32_t k = l->wire_first; k != NIL; k = p->pool.v[k].next) {
		if (p->pool.v[k].vl != vl)
			continue;
		sum += packet_credits(&p->pool.v[k]);
		++*npackets;
	}
	if (l->busy && p->pool.v[l->packet].vl == vl) {
		sum += packet_credits(&p->pool.v[l->packet]);
		++*npackets;
	}
	return sum;
}

const char *packets_check(const struct packets *p)
{
	uint32_t *used = xcalloc(p->nlane, sizeof(*used)), npackets = 0;
	const struct packets_counts *n = &p->n;
	const char *wrong = NULL;
	uint64_t held = 0;

	for (uint32_t r = 0; r < p->nlane; r++)
		used[r] = packets_wait_occupied(p, r, &npackets);
	for (uint32_t l = 0; l < p->nlink; l++)
		if (p->link[l].busy && p->link[l].from < p->nlane)
			used[p->link[l].from] += packet_credits(&p->pool.v[p->link[l].packet]);
	for (uint32_t r = 0; r < p->nlane; r++)
		if (p->link[r / p->nvl].sw != NIL && used[r] + p->lane[r].room != p->o.credits)
			wrong = "a buffer's credits do not add up";
	for (uint32_t c = 0; c < p->conns.n; c++)
		held += p->conns.v[c].hold ? p->conns.v[c].n.in_flight : 0;
	if (npackets != n->in_flight)
		wrong = "the packets in flight do not match their count";
	if (n->injected != n->delivered + n->dropped + n->in_flight)
		wrong = "injected packets do not match those delivered, dropped and in flight";
	if (held != p->held)
		wrong = "the packets of connections on hold do not match their count";
	free(used);
	return wrong;
}
