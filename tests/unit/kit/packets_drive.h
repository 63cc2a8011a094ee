/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * packets_drive: what updates do to simulated packets and connections, and what tests look up in
 * them.
 */
#pragma once

#include "fabric/sim/packet/packets.h"

/* On hold it injects nothing more; what is under way goes on. */
void packets_hold(struct packets *p, uint32_t conn, bool hold);
/* Packets injected from now on go to that LID with that SL. */
void packets_migrate(struct packets *p, uint32_t conn, uint16_t dlid, uint8_t sl);

/* Writes, at once, for packets that come in from now on. */
void packets_set_lft_block(struct packets *p, uint32_t sw, uint32_t block,
			   const uint8_t ports[LFT_BLOCK]);
void packets_set_sl2vl(struct packets *p, uint32_t sw, uint8_t in, uint8_t out,
		       const uint8_t vl[FAB_SLS]);
void packets_get_lft_block(const struct packets *p, uint32_t sw, uint32_t block,
			   uint8_t ports[LFT_BLOCK]);
void packets_get_sl2vl(const struct packets *p, uint32_t sw, uint8_t in, uint8_t out,
		       uint8_t vl[FAB_SLS]);

/* When the oldest packet under way began to be sent; UINT64_MAX: none is.  O(packets). */
uint64_t packets_oldest_ns(const struct packets *p);

/* NULL when every buffer's room and every count adds up, else what does not. */
const char *packets_check(const struct packets *p);
