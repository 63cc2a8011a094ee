/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pattern: who sends to whom inside a parallel job. */
#pragma once

#include <stdint.h>

enum pattern_kind {
	PATTERN_ALLTOALL, /* a sample of the shifts that make up the whole */
	PATTERN_SHIFT,	  /* rank i to rank i + s */
	PATTERN_RING,	  /* both neighbours */
	PATTERN_STENCIL2, /* neighbours on a torus of two dimensions, as square as it gets */
	PATTERN_STENCIL3, /* of three */
	PATTERN_KINDS
};

/* Ranks that `rank` of 0..n-1 sends to: distinct, never itself; at most max, at least one when
 * n >= 2 and max >= 1.  Every rank gets as many senders as it has receivers.  seed chooses the
 * shifts; the same for all ranks of one phase. */
uint32_t pattern_peers(uint32_t *out, uint32_t max, enum pattern_kind kind, uint32_t n,
		       uint32_t rank, uint64_t seed);
