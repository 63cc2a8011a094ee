/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packets_move: what happens to packets, event by event. */
#pragma once

#include "fabric/sim/packet/packets_priv.h"

/* The first event, which there must be. */
void packets_step(struct packets *p);

/* A connection gets in line at its host when it has something to send and may. */
void packets_offer_conn(struct packets *p, uint32_t conn);
/* Out of the line again, if it is in. */
void packets_withdraw_conn(struct packets *p, uint32_t conn);
