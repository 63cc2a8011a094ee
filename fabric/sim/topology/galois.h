/* SPDX-License-Identifier: GPL-2.0-or-later */
/* galois: arithmetic in a small finite field, by tables.  Elements are 0..q-1; 0 and 1 are
 * the field's zero and one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define GALOIS_MAX 256

struct galois {
	uint32_t q;
	uint32_t generator;	    /* of the multiplicative group */
	uint16_t power[GALOIS_MAX]; /* power[i] = generator^i, i < q */
	uint8_t *sum, *product;	    /* q * q each */
};

/* False when q is not a prime power of 2..GALOIS_MAX.  End with galois_free. */
bool galois_make(struct galois *f, uint32_t q);
void galois_free(struct galois *f);

static inline uint32_t galois_add(const struct galois *f, uint32_t a, uint32_t b)
{
	return f->sum[a * f->q + b];
}

static inline uint32_t galois_mul(const struct galois *f, uint32_t a, uint32_t b)
{
	return f->product[a * f->q + b];
}
