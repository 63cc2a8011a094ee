/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The wait-for graph: every buffer has one first packet, which waits for one other buffer, so a
 * cycle in it is a deadlock. */
#include "fabric/sim/packet/packets.h"

#include "fabric/base/memory/mem.h"
#include "fabric/sim/packet/packets_priv.h"

#include <stdlib.h>
#include <string.h>

/* The buffer whose credits the first packet of this one waits for, or NIL. */
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
