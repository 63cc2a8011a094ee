/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify_pinned: do the routes to chosen ends stay as they were?  Shares no code with the engines,
 * nor with what put the routes there.
 *
 * Looked at are all LIDs of these ends but escape LIDs in both tables: the entry at every switch,
 * and from every other end the SL and, hop by hop, the VL.
 */
#pragma once

#include "fabric/model/tables/route_limits.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pin_fault { PIN_UNCHANGED, PIN_ENTRY, PIN_SL, PIN_VL };

struct pin_verdict {
	uint32_t hosts;	  /* pinned, by name; 0: none, there is nothing to tell */
	uint64_t changed; /* (switch or source, LID) that are not as they were */
	/* the first one, by LID; valid when changed is not 0 */
	enum pin_fault fault;
	uint32_t sw; /* where: the switch with the entry or SL2VL, or that of the source */
	uint32_t end;
	uint16_t lid;
};

/* limits may be NULL: nobody is pinned.  Both tables must be of f.  Time O(pinned LIDs * ends *
 * hops). */
void verify_pinned(struct pin_verdict *v, const struct fabric *f, const struct tables *from,
		   const struct tables *to, const struct route_limits *limits);

/* "routes to 16 pinned hosts unchanged", or what is not.  Returns buf. */
const char *pin_verdict_sentence(char *buf, size_t len, const struct pin_verdict *v,
				 const struct fabric *f);
