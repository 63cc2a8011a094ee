/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/geometry/grid/grid_ports.h"

#include "engines/geometry/union_find.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PORTS  (FAB_MAX_PORT + 1)
#define PIECES 64 /* more of them are no layers of a few missing cables */
#define DIMS   GRID_DIMS_MAX

/* Ports of one dimension: those at both ends of a cable, and of cables side by side. */
static uint32_t grid_ports_find_dims(uint32_t *dim_of, const struct fabric *f)
{
	uint32_t up[PORTS], n = 0;

	for (uint32_t p = 0; p < PORTS; p++)
		up[p] = p;
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++) {
			union_find_join(up, f->chan_port[c], f->chan_rport[c]);
			for (uint32_t e = f->chan_off[sw]; e < c; e++)
				if (f->chan_dst[e] == f->chan_dst[c])
					union_find_join(up, f->chan_port[e], f->chan_port[c]);
		}
	memset(dim_of, 0xff, PORTS * sizeof(*dim_of));
	for (uint32_t c = 0; c < f->nchan; c++)
		dim_of[union_find_root(up, f->chan_port[c])] = 0;
	for (uint32_t p = 0; p < PORTS; p++)
		if (dim_of[p] != FAB_NONE)
			dim_of[p] = n++;
	for (uint32_t p = 0; p < PORTS; p++)
		dim_of[p] = dim_of[union_find_root(up, p)];
	return n;
}

/* Layers of a dimension, and the one or two next to each. */
struct layers {
	uint32_t *of; /* by switch: the lowest switch of its layer */
	uint32_t (*next)[2];
	uint32_t n;
};

static bool grid_ports_are_next(struct layers *l, uint32_t a, uint32_t b)
{
	for (int k = 0; k < 2; k++) {
		if (l->next[a][k] == FAB_NONE)
			l->next[a][k] = b;
		if (l->next[a][k] == b)
			return true;
	}
	return false;
}

/* Between the same two whole layers, and together not more than one: pieces of one that has lost
 * several cables. */
static bool grid_ports_are_pieces(const struct layers *l, const uint32_t *size, uint32_t whole,
				  uint32_t a, uint32_t b)
{
	const uint32_t *x = l->next[a], *y = l->next[b];

	return x[1] != FAB_NONE && y[1] != FAB_NONE && size[a] + size[b] <= whole &&
	       ((x[0] == y[0] && x[1] == y[1]) || (x[0] == y[1] && x[1] == y[0]));
}

/* Sizes of layers by their lowest switch; returns the largest. */
static uint32_t grid_ports_measure(uint32_t *size, const struct layers *l, uint32_t nsw)
{
	uint32_t most = 0;

	memset(size, 0, nsw * sizeof(*size));
	for (uint32_t sw = 0; sw < nsw; sw++) {
		uint32_t n = ++size[union_find_root(l->of, sw)];

		most = n > most ? n : most;
	}
	return most;
}

static void grid_ports_join_pieces(struct layers *l, const struct fabric *f, const uint32_t *dim_of,
				   uint32_t dim)
{
	uint32_t *size = xcalloc(f->nsw, sizeof(*size)), piece[PIECES], n = 0;
	uint32_t whole = grid_ports_measure(size, l, f->nsw);

	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t a = union_find_root(l->of, f->chan_src[c]),
			 b = union_find_root(l->of, f->chan_dst[c]);

		if (dim_of[f->chan_port[c]] == dim && size[a] < whole && size[b] == whole)
			grid_ports_are_next(l, a, b);
	}
	for (uint32_t sw = 0; sw < f->nsw && n < PIECES; sw++)
		if (l->of[sw] == sw && size[sw] < whole)
			piece[n++] = sw;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = i + 1; k < n; k++)
			if (l->of[piece[i]] == piece[i] && l->of[piece[k]] == piece[k] &&
			    grid_ports_are_pieces(l, size, whole, piece[i], piece[k])) {
				size[piece[i]] += size[piece[k]];
				union_find_join(l->of, piece[i], piece[k]);
			}
	free(size);
	memset(l->next, 0xff, f->nsw * sizeof(*l->next));
}

static bool grid_ports_find_layers(struct layers *l, const struct fabric *f, const uint32_t *dim_of,
				   uint32_t dim)
{
	bool ok = true;

	memset(l->next, 0xff, f->nsw * sizeof(*l->next));
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		l->of[sw] = sw;
	for (uint32_t c = 0; c < f->nchan; c++)
		if (dim_of[f->chan_port[c]] != dim)
			union_find_join(l->of, f->chan_src[c], f->chan_dst[c]);
	grid_ports_join_pieces(l, f, dim_of, dim);
	l->n = 0;
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		l->of[sw] = union_find_root(l->of, sw);
		l->n += l->of[sw] == sw;
	}
	for (uint32_t c = 0; c < f->nchan && ok; c++) {
		uint32_t a = l->of[f->chan_src[c]], b = l->of[f->chan_dst[c]];

		if (dim_of[f->chan_port[c]] == dim)
			ok = a != b && grid_ports_are_next(l, a, b);
	}
	return ok;
}

/* From one end, or around from the first; place: by the layer's lowest switch. */
static bool grid_ports_follow(uint32_t *place, const struct layers *l, uint32_t nsw)
{
	uint32_t at = 0, from = FAB_NONE, n = 0;

	for (uint32_t sw = nsw; sw-- > 0;)
		if (l->of[sw] == sw && l->next[sw][1] == FAB_NONE)
			at = sw;
	memset(place, 0xff, nsw * sizeof(*place));
	while (at != FAB_NONE && place[at] == FAB_NONE) {
		uint32_t to = l->next[at][l->next[at][0] == from];

		place[at] = n++;
		from = at;
		at = to;
	}
	return n == l->n;
}

int grid_ports_read(struct grid_layout *l, const struct fabric *f, struct err *err)
{
	struct layers layers = { .of = xcalloc(f->nsw, sizeof(uint32_t)),
				 .next = xcalloc(f->nsw, sizeof(*layers.next)) };
	uint32_t *place = xcalloc(f->nsw, sizeof(*place)), dim_of[PORTS];
	int rc = 0;

	l->ndim = grid_ports_find_dims(dim_of, f);
	if (l->ndim < 2 || l->ndim > DIMS)
		rc = err_set(err, -EINVAL, "the port numbers of its cables reveal no dimensions");
	for (uint32_t d = 0; !rc && d < l->ndim; d++) {
		if (!grid_ports_find_layers(&layers, f, dim_of, d) ||
		    !grid_ports_follow(place, &layers, f->nsw)) {
			rc = err_set(err, -EINVAL,
				     "the port numbers of its cables reveal no "
				     "dimensions");
			break;
		}
		l->dim[d] = layers.n;
		for (uint32_t sw = 0; sw < f->nsw; sw++)
			l->coord[(size_t)sw * DIMS + d] = (uint16_t)place[layers.of[sw]];
	}
	free(layers.of);
	free(layers.next);
	free(place);
	return rc;
}
