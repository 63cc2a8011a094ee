/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pkeys: the P_Key table of a port: 15 bits of the partition and one for a full member (10.9.1). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PKEY_FULL  0x8000
#define PKEY_VALUE 0x7fff /* 0: the entry is empty */

struct pkeys {
	uint16_t *v;
	size_t n, cap;
};

void pkeys_free(struct pkeys *p);

/* May the two ports talk: do they share a partition of which one of them is a full member?  *value:
 * the first of those, in the order of a. */
bool pkeys_shared(uint16_t *value, const struct pkeys *a, const struct pkeys *b);
