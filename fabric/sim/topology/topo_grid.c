/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Switches at the points of a grid: HyperX (all of a line connected; Ahn et al., SC09), torus
 * (neighbours of a ring connected) and mesh (the same, but the ends of a line apart).  The first
 * dimension counts fastest.
 */
#include "fabric/sim/topology/topo_family.h"

#include "fabric/model/topology/fabric.h"
#include "fabric/sim/topology/topo_net.h"
#include "fabric/sim/topology/topo_spec.h"

#include <errno.h>

struct grid {
	struct topo_list dims, links;
	uint32_t hosts, nsw;
};

static int topo_grid_read(struct grid *g, const struct topo_spec *s, struct err *err)
{
	uint64_t n = 1;
	int rc = topo_spec_list(&g->dims, s, "dims", 0, 1, FAB_MAX_LID, err);

	if (!rc)
		rc = topo_spec_list(&g->links, s, "links", g->dims.n, 1, FAB_MAX_PORT, err);
	if (!rc)
		rc = topo_spec_u32(&g->hosts, s, "hosts", 1, 0, FAB_MAX_PORT, err);
	for (uint32_t d = 0; d < g->dims.n && !rc; d++) {
		n *= g->dims.v[d];
		if (n > FAB_MAX_LID)
			rc = err_set(err, -ENOSPC, "%s: dims=%s are more than %d switches",
				     topo_spec_type(s)->name, topo_spec_text(s, "dims", ""),
				     FAB_MAX_LID);
	}
	g->nsw = (uint32_t)n;
	return rc;
}

static uint32_t topo_grid_links(const struct grid *g, uint32_t dim)
{
	return g->links.n ? g->links.v[dim] : 1;
}

/* Calls for each line of the grid along dim: its first switch and the step to the next. */
static void topo_grid_lines(struct topo_net *net, const struct grid *g, uint32_t dim, uint32_t step,
			    void (*line)(struct topo_net *net, uint32_t first, uint32_t step,
					 uint32_t n, uint32_t links))
{
	uint32_t n = g->dims.v[dim];

	for (uint32_t s = 0; s < g->nsw; s++)
		if (s / step % n == 0)
			line(net, s, step, n, topo_grid_links(g, dim));
}

static int topo_grid_make(struct topo_net *net, const struct grid *g,
			  void (*line)(struct topo_net *net, uint32_t first, uint32_t step,
				       uint32_t n, uint32_t links),
			  struct err *err)
{
	uint32_t step = 1;
	int rc = topo_net_group(NULL, net, "sw", g->nsw, g->hosts, err);

	for (uint32_t d = 0; d < g->dims.n && !rc; d++) {
		topo_grid_lines(net, g, d, step, line);
		step *= g->dims.v[d];
	}
	return rc;
}

static void topo_grid_line_full(struct topo_net *net, uint32_t first, uint32_t step, uint32_t n,
				uint32_t links)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = i + 1; j < n; j++)
			topo_net_cable(net, first + i * step, first + j * step, links);
}

static void topo_grid_line_chain(struct topo_net *net, uint32_t first, uint32_t step, uint32_t n,
				 uint32_t links)
{
	for (uint32_t i = 0; i + 1 < n; i++)
		topo_net_cable(net, first + i * step, first + (i + 1) * step, links);
}

static void topo_grid_line_ring(struct topo_net *net, uint32_t first, uint32_t step, uint32_t n,
				uint32_t links)
{
	topo_grid_line_chain(net, first, step, n, links);
	if (n > 2)
		topo_net_cable(net, first + (n - 1) * step, first, links);
}

static int topo_grid_hyperx_make(struct topo_net *net, const struct topo_spec *s, struct err *err)
{
	struct grid g;
	uint64_t ports;
	int rc = topo_grid_read(&g, s, err);

	if (rc)
		return rc;
	ports = g.hosts;
	for (uint32_t d = 0; d < g.dims.n; d++)
		ports += (uint64_t)(g.dims.v[d] - 1) * topo_grid_links(&g, d);
	if (ports > FAB_MAX_PORT)
		return err_set(err, -ENOSPC,
			       "hyperx: dims=%s would need switches of %llu ports; %d is the most",
			       topo_spec_text(s, "dims", ""), (unsigned long long)ports,
			       FAB_MAX_PORT);
	return topo_grid_make(net, &g, topo_grid_line_full, err);
}

static int topo_grid_torus_make(struct topo_net *net, const struct topo_spec *s, struct err *err)
{
	struct grid g;
	int rc = topo_grid_read(&g, s, err);

	return rc ? rc : topo_grid_make(net, &g, topo_grid_line_ring, err);
}

static int topo_grid_mesh_make(struct topo_net *net, const struct topo_spec *s, struct err *err)
{
	struct grid g;
	int rc = topo_grid_read(&g, s, err);

	return rc ? rc : topo_grid_make(net, &g, topo_grid_line_chain, err);
}

static const struct topo_key grid_keys[] = {
	{ "dims", NULL, "switches along each dimension, AxBx..." },
	{ "hosts", "1", "hosts on each switch" },
	{ "links", "1", "parallel cables: one number, or one per dimension" },
	{ 0 },
};

const struct topo_type topo_hyperx = {
	"hyperx",
	"HyperX (flattened butterfly) of any number of dimensions",
	"hyperx:dims=12x8,hosts=7",
	grid_keys,
	topo_grid_hyperx_make,
};

const struct topo_type topo_torus = {
	"torus",
	"torus of any number of dimensions (a dimension of 2 has a single cable)",
	"torus:dims=7x7x7,hosts=6",
	grid_keys,
	topo_grid_torus_make,
};

const struct topo_type topo_mesh = {
	"mesh",
	"mesh of any number of dimensions; with one it is a chain",
	"mesh:dims=8,hosts=20",
	grid_keys,
	topo_grid_mesh_make,
};
