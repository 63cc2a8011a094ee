/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tiers: the ports of a fabric in groups that are worth a line each: "leaf -> spine". */
#pragma once

#include "engines/geometry/topology_kind.h"

#include <stdint.h>

#define TIERS	10
#define NO_TIER 255

struct tiers {
	uint32_t n;
	char name[TIERS][20];
	uint8_t *of; /* by fabric port: tier of what it sends; NO_TIER none */
};

/* Tier 0 is what hosts send; it comes in at the ports that lead to them.  O(ports). */
struct tiers *tiers_new(const struct fabric *f, const struct topology_kind *s);
void tiers_free(struct tiers *t); /* NULL is fine */
