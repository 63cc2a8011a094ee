/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rng: seeded, portable random numbers (xoshiro256**, Blackman and Vigna); never the clock. */
#pragma once

#include <stdint.h>

struct rng {
	uint64_t s[4];
};

void rng_seed(struct rng *r, uint64_t seed);
uint64_t rng_u64(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t n); /* 0..n-1 without bias; n > 0 */
double rng_unit(struct rng *r);		       /* [0, 1) */
void rng_shuffle_u32(struct rng *r, uint32_t *v, uint32_t n);
