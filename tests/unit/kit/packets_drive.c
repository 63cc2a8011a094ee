/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/kit/packets_drive.h"

#include "fabric/base/memory/mem.h"
#include "fabric/sim/packet/packets_move.h"

#include <stdlib.h>
#include <string.h>

void packets_hold(struct packets *p, uint32_t c, bool hold)
{
	struct conn *conn = &p->conns.v[c];

	if (conn->hold == hold)
		return;
	conn->hold = hold;
	if (hold) {
		p->held += conn->n.in_flight;
		packets_withdraw_conn(p, c);
	} else {
		p->held -= conn->n.in_flight;
		packets_offer_conn(p, c);
	}
}

void packets_migrate(struct packets *p, uint32_t c, uint16_t dlid, uint8_t sl)
{
	packets_withdraw_conn(p, c);
	p->conns.v[c].dlid = dlid;
	p->conns.v[c].sl = sl;
	packets_offer_conn(p, c);
}

void packets_set_lft_block(struct packets *p, uint32_t sw, uint32_t block,
			   const uint8_t ports[LFT_BLOCK])
{
	memcpy(p->fwd.lft + (size_t)sw * p->fwd.stride + (size_t)block * LFT_BLOCK, ports,
	       LFT_BLOCK);
}

void packets_get_lft_block(const struct packets *p, uint32_t sw, uint32_t block,
			   uint8_t ports[LFT_BLOCK])
{
	memcpy(ports, p->fwd.lft + (size_t)sw * p->fwd.stride + (size_t)block * LFT_BLOCK,
	       LFT_BLOCK);
}

void packets_set_sl2vl(struct packets *p, uint32_t sw, uint8_t in, uint8_t out,
		       const uint8_t vl[FAB_SLS])
{
	memcpy(forwarding_sl2vl_row(&p->fwd, sw, in, out), vl, FAB_SLS);
}

void packets_get_sl2vl(const struct packets *p, uint32_t sw, uint8_t in, uint8_t out,
		       uint8_t vl[FAB_SLS])
{
	for (uint8_t sl = 0; sl < FAB_SLS; sl++)
		vl[sl] = forwarding_vl(&p->fwd, sw, in, out, sl);
}

uint64_t packets_oldest_ns(const struct packets *p)
{
	uint64_t oldest = UINT64_MAX;

	for (size_t k = 0; k < p->pool.n; k++)
		if (p->pool.v[k].bytes && p->pool.v[k].born < oldest)
			oldest = p->pool.v[k].born;
	return oldest == UINT64_MAX ? oldest : oldest / 1000;
}

/* Credits of the packets that stand in a buffer or have its room already. */
static uint32_t packets_drive_occupied(const struct packets *p, uint32_t r, uint32_t *npackets)
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

/* Of each VL by itself, and of those that the VLs of a link share. */
static bool packets_drive_credits_missing(const struct packets *p, const uint32_t *used)
{
	uint32_t one = (p->o.mtu + PACKETS_HEADERS + PACKETS_BLOCK - 1) / PACKETS_BLOCK;
	uint32_t own = p->o.shared ? one : p->o.credits;
	bool missing = false;

	for (uint32_t l = 0; l < p->nlink; l++) {
		uint32_t shared = p->link[l].credits;

		for (uint32_t r = l * p->nvl; r < (l + 1) * p->nvl && p->link[l].sw != NIL; r++) {
			missing |= used[r] + p->lane[r].credits != own + p->lane[r].borrowed;
			shared += p->lane[r].borrowed;
		}
		if (p->link[l].sw != NIL)
			missing |= shared != (p->o.shared ? p->o.credits - one * p->nvl : 0);
	}
	return missing;
}

const char *packets_check(const struct packets *p)
{
	uint32_t *used = xcalloc(p->nlane, sizeof(*used)), npackets = 0;
	const struct packets_counts *n = &p->n;
	const char *wrong = NULL;
	uint64_t held = 0;

	for (uint32_t r = 0; r < p->nlane; r++)
		used[r] = packets_drive_occupied(p, r, &npackets);
	for (uint32_t l = 0; l < p->nlink; l++)
		if (p->link[l].busy && p->link[l].from < p->nlane)
			used[p->link[l].from] += packet_credits(&p->pool.v[p->link[l].packet]);
	if (packets_drive_credits_missing(p, used))
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
