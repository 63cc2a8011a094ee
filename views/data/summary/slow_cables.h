/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slow_cables: cables below the rate that they should have.
 *
 * Between switches that is the rate of parallel cables, and the most common one of the tier at
 * both of its ends: a spine that is slower as a whole is no fault.  To hosts it is the most common
 * one of all hosts.  And it has all lanes that are enabled at both ports, where the fabric tells.
 */
#pragma once

#include "engines/geometry/tiers.h"
#include "fabric/model/topology/fabric.h"

/* By fabric port the rate in Mbps that it should have; 0: nothing is known.  The caller frees them.
 * O(ports + sum over switches of channels^2). */
uint32_t *slow_cables_expect(const struct fabric *f, const struct tiers *t);

static inline bool slow_cables_is_slow(const struct port *p, uint32_t expect_Mbps)
{
	return p->rate_Mbps && p->rate_Mbps < expect_Mbps;
}
