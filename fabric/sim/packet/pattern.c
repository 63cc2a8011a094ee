/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/packet/pattern.h"

#include "fabric/base/hash/rng.h"

/* Adds a rank unless it is the sender or there already. */
static uint32_t pattern_add(uint32_t *out, uint32_t have, uint32_t max, uint32_t rank,
			    uint32_t peer)
{
	if (peer == rank || have == max)
		return have;
	for (uint32_t i = 0; i < have; i++) {
		if (out[i] == peer)
			return have;
	}
	out[have] = peer;
	return have + 1;
}

/* Shifts spread evenly over 1..n-1 from a random start: distinct by construction. */
static uint32_t pattern_alltoall(uint32_t *out, uint32_t max, uint32_t n, uint32_t rank,
				 uint64_t seed)
{
	uint32_t count = max < n - 1 ? max : n - 1, have = 0;
	struct rng r;
	uint64_t start;

	rng_seed(&r, seed);
	start = rng_below(&r, n - 1);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t shift = 1 + (start + (uint64_t)i * (n - 1) / count) % (n - 1);

		out[have++] = (uint32_t)((rank + shift) % n);
	}
	return have;
}

/* The largest divisor of n that is not above its root-th root. */
static uint32_t pattern_side(uint32_t n, int root)
{
	uint32_t best = 1;

	for (uint32_t d = 1; (root == 3 ? (uint64_t)d * d * d : (uint64_t)d * d) <= n; d++)
		best = n % d ? best : d;
	return best;
}

static uint32_t pattern_stencil(uint32_t *out, uint32_t max, uint32_t n, uint32_t rank, int ndim)
{
	uint32_t a = pattern_side(n, ndim), b = ndim == 3 ? pattern_side(n / a, 2) : n / a;
	uint32_t dim[3] = { a, b, n / a / b }, step = 1, have = 0;

	for (int d = 0; d < 3; d++) {
		uint32_t at = rank / step % dim[d], base = rank - at * step;

		have = pattern_add(out, have, max, rank, base + (at + 1) % dim[d] * step);
		have = pattern_add(out, have, max, rank, base + (at + dim[d] - 1) % dim[d] * step);
		step *= dim[d];
	}
	return have;
}

uint32_t pattern_peers(uint32_t *out, uint32_t max, enum pattern_kind kind, uint32_t n,
		       uint32_t rank, uint64_t seed)
{
	uint32_t have;

	if (n < 2 || !max)
		return 0;
	switch (kind) {
	case PATTERN_ALLTOALL:
		return pattern_alltoall(out, max, n, rank, seed);
	case PATTERN_RING:
		have = pattern_add(out, 0, max, rank, (rank + 1) % n);
		return pattern_add(out, have, max, rank, (rank + n - 1) % n);
	case PATTERN_STENCIL2:
		return pattern_stencil(out, max, n, rank, 2);
	case PATTERN_STENCIL3:
		return pattern_stencil(out, max, n, rank, 3);
	default:
		return pattern_alltoall(out, 1, n, rank, seed);
	}
}
