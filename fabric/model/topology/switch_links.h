/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * switch_links: which switches a fabric had when tables were made, and the cables between them.
 *
 * What tables need to be carried over to the fabric after a failure (fabric/model/tables/carry.h).
 */
#pragma once

#include "fabric/model/topology/fabric.h"

#include <stdint.h>

struct switch_link {
	uint32_t sw, to; /* sw < to, or on one switch port < to_port */
	uint8_t port, to_port;
};

struct switch_links {
	uint32_t nsw, nlink;
	uint64_t *guid;	 /* by switch, ascending */
	uint8_t *nports; /* by switch */
	struct switch_link *link;
};

/* All zero but for the sizes; the caller owns it. */
struct switch_links *switch_links_new(uint32_t nsw, uint32_t nlink);
struct switch_links *switch_links_of(const struct fabric *f);
void switch_links_free(struct switch_links *s); /* NULL is fine */

/* By switch * 256 + port: the switch at the other end, FAB_NONE where there is none.  The caller
 * frees it. */
uint32_t *switch_links_peers(const struct switch_links *s);
