/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/topology/galois.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>

#define DEGREE_MAX 8

/* q = prime^degree; elements are polynomials over the prime field, their coefficients the
 * digits of the number in base prime. */
struct topology_kind {
	uint32_t q, prime, degree;
};

static bool galois_shape_of(struct topology_kind *s, uint32_t q)
{
	uint32_t p = 2, n = q;

	while (p * p <= q && q % p)
		p++;
	if (q % p)
		p = q;
	*s = (struct topology_kind){ .q = q, .prime = p };
	for (; n % p == 0; n /= p)
		s->degree++;
	return n == 1;
}

static uint32_t galois_poly_add(const struct topology_kind *s, uint32_t a, uint32_t b)
{
	uint32_t sum = 0, place = 1;

	for (uint32_t i = 0; i < s->degree; i++, place *= s->prime) {
		sum += (a % s->prime + b % s->prime) % s->prime * place;
		a /= s->prime;
		b /= s->prime;
	}
	return sum;
}

/* a * b modulo the monic polynomial x^degree + low. */
static uint32_t galois_poly_mul(const struct topology_kind *s, uint32_t a, uint32_t b, uint32_t low)
{
	uint32_t c[2 * DEGREE_MAX] = { 0 }, out = 0, x = a;

	for (uint32_t i = 0; i < s->degree; i++, x /= s->prime) {
		uint32_t y = b;

		for (uint32_t j = 0; j < s->degree; j++, y /= s->prime)
			c[i + j] = (c[i + j] + x % s->prime * (y % s->prime)) % s->prime;
	}
	for (uint32_t i = 2 * s->degree - 2; i >= s->degree && s->degree > 1; i--) {
		uint32_t l = low;

		for (uint32_t j = 0; j < s->degree; j++, l /= s->prime)
			c[i - s->degree + j] =
				(c[i - s->degree + j] + (s->prime - c[i]) * (l % s->prime)) %
				s->prime;
		c[i] = 0;
	}
	for (uint32_t i = s->degree; i-- > 0;)
		out = out * s->prime + c[i];
	return out;
}

/* Powers of g modulo that polynomial, up to the first 1; true when they are all of the field
 * but 0.  Then the polynomial is irreducible and g generates the group. */
static bool galois_powers(struct galois *f, const struct topology_kind *s, uint32_t g, uint32_t low)
{
	uint32_t x = 1;

	for (uint32_t i = 0; i + 1 < s->q; i++) {
		f->power[i] = (uint16_t)x;
		x = galois_poly_mul(s, x, g, low);
		if (x == 0 || (x == 1 && i + 2 < s->q))
			return false;
	}
	return x == 1;
}

static bool galois_find_generator(struct galois *f, const struct topology_kind *s)
{
	/* a primitive polynomial has x itself (the number prime) as generator */
	if (s->degree > 1) {
		f->generator = s->prime;
		for (uint32_t low = 1; low < s->q; low++)
			if (galois_powers(f, s, f->generator, low))
				return true;
		return false;
	}
	for (f->generator = 1; f->generator < s->q; f->generator++)
		if (galois_powers(f, s, f->generator, 0))
			return true;
	return false;
}

bool galois_make(struct galois *f, uint32_t q)
{
	struct topology_kind s;
	uint32_t log[GALOIS_MAX];

	if (q < 2 || q > GALOIS_MAX || !galois_shape_of(&s, q) || !galois_find_generator(f, &s))
		return false;
	f->q = q;
	f->power[q - 1] = 1;
	f->sum = xcalloc((size_t)q * q, 1);
	f->product = xcalloc((size_t)q * q, 1);
	for (uint32_t i = 0; i + 1 < q; i++)
		log[f->power[i]] = i;
	for (uint32_t a = 0; a < q; a++) {
		for (uint32_t b = 0; b < q; b++) {
			f->sum[a * q + b] = (uint8_t)galois_poly_add(&s, a, b);
			if (a && b)
				f->product[a * q + b] =
					(uint8_t)f->power[(log[a] + log[b]) % (q - 1)];
		}
	}
	return true;
}

void galois_free(struct galois *f)
{
	free(f->sum);
	free(f->product);
	f->sum = f->product = NULL;
}
