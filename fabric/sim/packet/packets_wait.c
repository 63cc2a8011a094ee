/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The wait-for graph: every buffer has one first packet, which waits for one other buffer, so a
 * cycle in it is a deadlock; where VLs share credits, when those who hold them cannot move
 * either. */
#include "fabric/sim/packet/packets.h"

#include "fabric/base/memory/mem.h"
#include "fabric/sim/packet/packets_priv.h"

#include <stdlib.h>
#include <string.h>

#define CAN_MOVE UINT32_MAX /* a mark */

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

/* One more of those that have to move before the first of them can. */
static void packets_wait_reach(struct packets *p, uint32_t r, uint32_t *n, uint32_t who)
{
	if (p->reached[r] == who)
		return;
	p->reached[r] = who;
	p->queue[(*n)++] = r;
}

/* Who shares the credits of the buffer that r waits for, and has some; from *vl on; or NIL. */
static uint32_t packets_wait_sharer(const struct packets *p, uint32_t out, uint32_t *vl)
{
	uint32_t first = out / p->nvl * p->nvl;

	while (*vl < p->nvl) {
		uint32_t r = first + (*vl)++;

		if (r != out && p->lane[r].borrowed)
			return r;
	}
	return NIL;
}

/* When the last of all those came to stand that the cycle waits for: itself, and who holds credits
 * that it could take.  who: another number each time. */
static uint64_t packets_wait_closed(struct packets *p, uint32_t start, uint32_t who)
{
	uint64_t closed = 0;
	uint32_t n = 0;

	packets_wait_reach(p, start, &n, who);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t r = p->queue[i], out = packets_wait_for(p, r), vl = 0, q = out;

		closed = packets_wait_later(closed, p->lane[r].since);
		while (q != NIL) {
			closed = packets_wait_later(closed, p->lane[q].taken);
			packets_wait_reach(p, q, &n, who);
			q = packets_wait_sharer(p, out, &vl);
		}
	}
	return closed;
}

/* One pass: marks who waits for somebody who can move.  True when there was one. */
static bool packets_wait_free_some(struct packets *p)
{
	bool some = false;

	for (uint32_t r = 0; r < p->nlane; r++) {
		uint32_t vl = 0, out, q;

		if (p->mark[r] == CAN_MOVE)
			continue;
		out = q = packets_wait_for(p, r);
		while (q != NIL && p->mark[q] != CAN_MOVE)
			q = packets_wait_sharer(p, out, &vl);
		if (out != NIL && q == NIL)
			continue;
		p->mark[r] = CAN_MOVE;
		some = true;
	}
	return some;
}

static uint32_t packets_wait_report(const struct packets *p, uint32_t start,
				    struct packets_wait **out)
{
	uint32_t n = 0, r = start;

	do {
		n++;
		r = packets_wait_for(p, r);
	} while (r != start);
	if (!out)
		return n;
	*out = xcalloc(n, sizeof(**out));
	for (uint32_t i = 0; i < n; i++) {
		packets_wait_describe(&(*out)[i], p, r);
		r = packets_wait_for(p, r);
	}
	return n;
}

/* Where VLs share credits, a circle may still be opened from outside. */
static void packets_wait_mark(struct packets *p)
{
	memset(p->mark, 0, p->nlane * sizeof(*p->mark));
	memset(p->reached, 0, p->nlane * sizeof(*p->reached));
	while (p->o.shared && packets_wait_free_some(p))
		;
}

uint32_t packets_deadlock(struct packets *p, struct packets_wait **out, uint64_t *closed_ns)
{
	uint32_t start = NIL;
	uint64_t closed, first = UINT64_MAX;

	if (out)
		*out = NULL;
	packets_wait_mark(p);
	for (uint32_t i = 0; i < p->nlane; i++) {
		uint32_t r = i;

		while (r != NIL && !p->mark[r]) {
			p->mark[r] = i + 1;
			r = packets_wait_for(p, r);
		}
		if (r == NIL || p->mark[r] != i + 1)
			continue;
		closed = packets_wait_closed(p, r, i + 1);
		if (closed < first) {
			first = closed;
			start = r;
		}
	}
	if (start == NIL)
		return 0;
	if (closed_ns)
		*closed_ns = first / 1000;
	return packets_wait_report(p, start, out);
}
