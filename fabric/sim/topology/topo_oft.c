/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two-level orthogonal fat tree (Valerio et al. 1994; Camarero et al., "Projective networks",
 * 2016): spines are the lines of the projective plane of order k-1, leaves its points, twice;
 * a leaf is cabled to the k lines through its point.  Any two points share one line, so any
 * two leaves share a spine: 2(k^2-k+1) leaves with k hosts, k^2-k+1 spines with 2k ports.
 */
#include "fabric/sim/topology/topo_family.h"

#include "fabric/sim/topology/galois.h"
#include "fabric/sim/topology/topo_net.h"
#include "fabric/sim/topology/topo_spec.h"

#include <errno.h>

struct point {
	uint8_t v[3];
};

/* Points of the plane (and, by duality, lines): non-zero vectors up to a factor, written with
 * a first non-zero coordinate of 1. */
static uint32_t topo_oft_plane_points(struct point *out, uint32_t q)
{
	uint32_t n = 0;

	for (uint32_t y = 0; y < q; y++)
		for (uint32_t z = 0; z < q; z++)
			out[n++] = (struct point){ { 1, (uint8_t)y, (uint8_t)z } };
	for (uint32_t z = 0; z < q; z++)
		out[n++] = (struct point){ { 0, 1, (uint8_t)z } };
	out[n++] = (struct point){ { 0, 0, 1 } };
	return n;
}

static bool topo_oft_incident(const struct galois *f, const struct point *a, const struct point *b)
{
	uint32_t dot = 0;

	for (int i = 0; i < 3; i++)
		dot = galois_add(f, dot, galois_mul(f, a->v[i], b->v[i]));
	return dot == 0;
}

static int topo_oft_make(struct topo_net *net, const struct topo_spec *s, struct err *err)
{
	struct galois f;
	struct point *at;
	uint32_t k, hosts, n, leaf = 0, spine = 0;
	int rc = topo_spec_u32(&k, s, "k", 0, 3, 127, err);

	if (!rc)
		rc = topo_spec_u32(&hosts, s, "hosts", k, 0, 253, err);
	if (rc)
		return rc;
	if (!galois_make(&f, k - 1))
		return err_set(err, -EINVAL,
			       "oft: k=%u is not a prime power plus 1 (3, 4, 5, 6, 8, 9, 10, 12, "
			       "14, 17, 18, 20, ...)",
			       k);
	at = xcalloc((size_t)k * k, sizeof(*at));
	n = topo_oft_plane_points(at, k - 1);
	rc = topo_net_group(&leaf, net, "leaf", 2 * n, hosts, err);
	if (!rc)
		rc = topo_net_group(&spine, net, "spine", n, 0, err);
	for (uint32_t p = 0; p < 2 * n && !rc; p++)
		for (uint32_t l = 0; l < n; l++)
			if (topo_oft_incident(&f, &at[p % n], &at[l]))
				topo_net_cable(net, leaf + p, spine + l, 1);
	galois_free(&f);
	free(at);
	return rc;
}

static const struct topo_key oft_keys[] = {
	{ "k", NULL, "half of a switch's ports; k-1 is a prime power" },
	{ "hosts", "k", "hosts on each leaf" },
	{ 0 },
};

const struct topo_type topo_oft = {
	"oft",	       "two-level orthogonal fat tree (projective plane)", "oft:k=6", oft_keys,
	topo_oft_make,
};
