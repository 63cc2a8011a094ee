/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slim Fly (Besta and Hoefler, SC14): the McKay-Miller-Siran graphs.  Over the field of q
 * elements, q = 4w + delta with delta in -1, 0, 1, the switches are (0, x, y) and (1, m, c);
 * (0,x,y)-(0,x,y') when y-y' is in X, (1,m,c)-(1,m,c') when c-c' is in X', and
 * (0,x,y)-(1,m,c) when y = mx + c.  The diameter is 2.
 */
#include "fabric/sim/topology/topo_family.h"

#include "fabric/sim/topology/galois.h"
#include "fabric/sim/topology/topo_net.h"
#include "fabric/sim/topology/topo_spec.h"

#include <errno.h>
#include <string.h>

/* The generator sets X and X' as flags by element. */
static void topo_slimfly_generator_sets(bool set[2][GALOIS_MAX], const struct galois *f)
{
	uint32_t q = f->q;

	memset(set[0], 0, sizeof(set[0]));
	memset(set[1], 0, sizeof(set[1]));
	if (q % 4 == 3) {
		uint32_t w = (q + 1) / 4;

		for (uint32_t i = 0; i < w; i++) {
			set[0][f->power[2 * i]] = set[0][f->power[2 * w - 1 + 2 * i]] = true;
			set[1][f->power[2 * i + 1]] = set[1][f->power[2 * w + 2 * i]] = true;
		}
		return;
	}
	/* even powers and odd powers; for even q both sets hold the one: q-1 is odd */
	for (uint32_t i = 0; i < q - 1; i += 2)
		set[0][f->power[i]] = true;
	for (uint32_t i = 1; i <= q - 1; i += 2)
		set[1][f->power[i]] = true;
}

/* The q switches of one column, from base on: cabled where they differ by an element of set. */
static void topo_slimfly_draw_column(struct topo_net *net, const struct galois *f, const bool *set,
				     uint32_t base)
{
	for (uint32_t y = 0; y < f->q; y++) {
		for (uint32_t d = 1; d < f->q; d++) {
			uint32_t to = galois_add(f, y, d);

			if (set[d] && y < to)
				topo_net_cable(net, base + y, base + to, 1);
		}
	}
}

/* Column x of the first half to column m of the second. */
static void topo_slimfly_draw_between(struct topo_net *net, const struct galois *f, uint32_t x,
				      uint32_t m)
{
	uint32_t q = f->q, mx = galois_mul(f, m, x);

	for (uint32_t c = 0; c < q; c++)
		topo_net_cable(net, x * q + galois_add(f, mx, c), (q + m) * q + c, 1);
}

static void topo_slimfly_draw(struct topo_net *net, const struct galois *f)
{
	bool set[2][GALOIS_MAX];
	uint32_t q = f->q;

	topo_slimfly_generator_sets(set, f);
	for (uint32_t col = 0; col < 2 * q; col++)
		topo_slimfly_draw_column(net, f, set[col / q], col * q);
	for (uint32_t x = 0; x < q; x++)
		for (uint32_t m = 0; m < q; m++)
			topo_slimfly_draw_between(net, f, x, m);
}

static int topo_slimfly_make(struct topo_net *net, const struct topo_spec *s, struct err *err)
{
	struct galois f;
	uint32_t q, hosts, degree;
	int rc = topo_spec_u32(&q, s, "q", 0, 3, 149, err);

	if (rc)
		return rc;
	if (!galois_make(&f, q))
		return err_set(err, -EINVAL,
			       "slimfly: q=%u is not a prime power of 3 to 149 (3, 4, 5, 7, 8, 9, "
			       "11, 13, 16, 17, 19, 23, ...)",
			       q);
	degree = q % 4 == 1 ? (3 * q - 1) / 2 : q % 4 == 3 ? (3 * q + 1) / 2 : 3 * q / 2;
	rc = topo_spec_u32(&hosts, s, "hosts", degree, 0, 254, err);
	if (!rc)
		rc = topo_net_group(NULL, net, "sw", 2ULL * q * q, hosts, err);
	if (!rc)
		topo_slimfly_draw(net, &f);
	galois_free(&f);
	return rc;
}

static const struct topo_key slimfly_keys[] = {
	{ "q", NULL, "prime power; 2 q^2 switches" },
	{ "hosts", "(3q-d)/2",
	  "hosts on each switch; as many as cables, d = 1, 0, -1 for q mod 4 = 1, "
	  "0, 3" },
	{ 0 },
};

const struct topo_type topo_slimfly = {
	"slimfly",	   "Slim Fly (MMS graph, diameter 2)", "slimfly:q=11", slimfly_keys,
	topo_slimfly_make,
};
