/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/geometry/grid_layout.h"

#include "engines/geometry/torus.h"
#include "engines/geometry/union_find.h"
#include "fabric/base/mem.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HOLES_PCT   10 /* of the points may be without a switch */
#define MISSING_PCT 20 /* of the cables may be missing */
#define NUMBERS	    12 /* in a name */
#define BEYOND	    60000
#define PORTS	    (FAB_MAX_PORT + 1)
#define PIECES	    64 /* more of them are no layers of a few missing cables */
#define STEPS_MAX   1024
#define DIMS	    GRID_DIMS_MAX

/* What is being found. */
struct grid_layout {
	uint32_t ndim;
	uint32_t dim[DIMS];
	bool ring[DIMS];  /* the last is next to the first */
	uint16_t *coord;  /* nsw * DIMS */
	uint32_t missing; /* neighbours without a cable */
	uint32_t holes;	  /* points without a switch */
	enum grid_from from;
};

/* --- coordinates in names: "s-1-2-3", "r2c04", "sw(0,3,1)": the same number of numbers in each --
 */

/* Numbers in a name from the left; returns how many (NUMBERS + 1: too many). */
static uint32_t grid_layout_read_numbers(uint32_t *out, const char *s)
{
	uint32_t n = 0;

	while (*s) {
		char *end;

		if (!isdigit((unsigned char)*s)) {
			s++;
			continue;
		}
		if (n == NUMBERS)
			return NUMBERS + 1;
		out[n++] = (uint32_t)strtoul(s, &end, 10);
		if (out[n - 1] > BEYOND)
			return NUMBERS + 1;
		s = end;
	}
	return n;
}

struct column {
	uint32_t least, most;
};

static int grid_layout_read_all(uint32_t *num, uint32_t *count, const struct fabric *f,
				struct err *err)
{
	*count = 0;
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint32_t n = grid_layout_read_numbers(num + (size_t)sw * NUMBERS, f->sw_name[sw]);

		if (!sw)
			*count = n;
		if (n != *count || n > NUMBERS)
			return err_set(err, -EINVAL, "the names contain no coordinates");
	}
	return 0;
}

/* Columns that vary are the dimensions; a number that all names have is none. */
static int grid_layout_from_names(struct grid_layout *l, const struct fabric *f, struct err *err)
{
	uint32_t *num = xcalloc((size_t)f->nsw * NUMBERS, sizeof(*num)), count;
	int rc = grid_layout_read_all(num, &count, f, err);
	uint64_t ncell = 1;

	l->ndim = 0;
	for (uint32_t k = 0; !rc && k < count; k++) {
		struct column c = { UINT32_MAX, 0 };

		for (uint32_t sw = 0; sw < f->nsw; sw++) {
			uint32_t v = num[(size_t)sw * NUMBERS + k];

			c.least = v < c.least ? v : c.least;
			c.most = v > c.most ? v : c.most;
		}
		if (c.least == c.most)
			continue;
		l->dim[l->ndim] = c.most - c.least + 1;
		ncell *= l->dim[l->ndim];
		if (ncell > 2ull * f->nsw) {
			rc = err_set(err, -EINVAL, "the numbers in the names are not coordinates");
			break;
		}
		for (uint32_t sw = 0; sw < f->nsw; sw++)
			l->coord[(size_t)sw * DIMS + l->ndim] =
				(uint16_t)(num[(size_t)sw * NUMBERS + k] - c.least);
		l->ndim++;
	}
	if (!rc && l->ndim < 2)
		rc = err_set(err, -EINVAL, "the names contain no coordinates");
	free(num);
	return rc;
}

/*
 * --- rings of four ---------------------------------------------------------------------------
 *
 * Dimensions of two, joined to rings of four.  On machines cabled by rule every switch has the
 * same two ports in a ring: two dimensions of two that share their ports are one ring.
 */

/* Ports that the cables of a dimension are in, by number. */
struct ports {
	uint32_t count[FAB_MAX_PORT + 1];
	uint32_t all;
};

static void grid_layout_count_ports(struct ports *of, const struct grid_layout *l,
				    const struct fabric *f)
{
	for (uint32_t c = 0; c < f->nchan; c++) {
		const uint16_t *x = &l->coord[(size_t)f->chan_src[c] * DIMS];
		const uint16_t *y = &l->coord[(size_t)f->chan_dst[c] * DIMS];

		for (uint32_t d = 0; d < l->ndim; d++) {
			if (x[d] == y[d])
				continue;
			of[d].count[f->chan_port[c]]++;
			of[d].all++;
		}
	}
}

static uint32_t grid_layout_alike(const struct ports *a, const struct ports *b)
{
	uint32_t n = 0;

	for (uint32_t p = 0; p <= FAB_MAX_PORT; p++)
		n += a->count[p] < b->count[p] ? a->count[p] : b->count[p];
	return n;
}

/* 00 10 11 01: each next to the one before. */
static uint16_t grid_layout_around(uint16_t a, uint16_t b)
{
	return b ? (a ? 2 : 3) : a;
}

/* b goes into a. */
static void grid_layout_join_two(struct grid_layout *l, struct ports *ports, const struct fabric *f,
				 uint32_t a, uint32_t b)
{
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint16_t *x = &l->coord[(size_t)sw * DIMS];

		x[a] = grid_layout_around(x[a], x[b]);
		for (uint32_t d = b; d + 1 < l->ndim; d++)
			x[d] = x[d + 1];
	}
	l->dim[a] = 4;
	for (uint32_t d = b; d + 1 < l->ndim; d++) {
		l->dim[d] = l->dim[d + 1];
		l->ring[d] = l->ring[d + 1];
		ports[d] = ports[d + 1];
	}
	l->ndim--;
}

/* The two dimensions of two whose ports are most alike; false: there are no two. */
static bool grid_layout_most_alike(uint32_t *a, uint32_t *b, const struct grid_layout *l,
				   const struct ports *ports)
{
	uint32_t best = 0;
	bool found = false;

	for (uint32_t i = 0; i < l->ndim; i++)
		for (uint32_t k = i + 1; k < l->ndim; k++) {
			uint32_t n = grid_layout_alike(&ports[i], &ports[k]);

			if (l->dim[i] != 2 || l->dim[k] != 2 || (found && n <= best))
				continue;
			*a = i;
			*b = k;
			best = n;
			found = true;
		}
	return found;
}

/* Two that are clearly more alike than either is to a third. */
static bool grid_layout_no_other(const struct grid_layout *l, const struct ports *ports, uint32_t a,
				 uint32_t b)
{
	uint32_t n = grid_layout_alike(&ports[a], &ports[b]);
	bool clear = n > 0;

	for (uint32_t d = 0; d < l->ndim; d++)
		if (l->dim[d] == 2 && d != a && d != b)
			clear &= 2 * grid_layout_alike(&ports[a], &ports[d]) < n &&
				 2 * grid_layout_alike(&ports[b], &ports[d]) < n;
	return clear;
}

/* Larger dimensions first; equals as they were. */
static void grid_layout_sort_dims(struct grid_layout *l, const struct fabric *f)
{
	for (uint32_t i = 1; i < l->ndim; i++)
		for (uint32_t k = i; k > 0 && l->dim[k - 1] < l->dim[k]; k--) {
			uint32_t dim = l->dim[k];
			bool ring = l->ring[k];

			l->dim[k] = l->dim[k - 1];
			l->dim[k - 1] = dim;
			l->ring[k] = l->ring[k - 1];
			l->ring[k - 1] = ring;
			for (uint32_t sw = 0; sw < f->nsw; sw++) {
				uint16_t *x = &l->coord[(size_t)sw * DIMS], at = x[k];

				x[k] = x[k - 1];
				x[k - 1] = at;
			}
		}
}

/* The same; joins those of two, by ports where these tell which. */
static void grid_layout_join_rings(struct grid_layout *l, const struct fabric *f)
{
	uint32_t two = 0, rings = 0, lines = 0, a, b;
	struct ports *ports;
	bool sure = true;

	grid_layout_sort_dims(l, f);
	for (uint32_t d = 0; d < l->ndim; d++) {
		two += l->dim[d] == 2;
		rings += l->ring[d];
		lines += l->dim[d] > 2 && !l->ring[d];
	}
	/* 7x2x2 of lines is a mesh, not a ring of four on a line; a square alone is a square */
	if (two < 2 || (lines && !rings) || l->ndim < 3)
		return;
	ports = xcalloc(DIMS, sizeof(*ports));
	grid_layout_count_ports(ports, l, f);
	while (grid_layout_most_alike(&a, &b, l, ports)) {
		sure &= grid_layout_no_other(l, ports, a, b);
		grid_layout_join_two(l, ports, f, a, b);
	}
	if (two > 2)
		l->from = sure ? GRID_FROM_RING_PORTS : GRID_FROM_ANY;
	grid_layout_sort_dims(l, f);
	free(ports);
}

/*
 * --- ports -----------------------------------------------------------------------------------
 *
 * Dimensions from port numbers.  In a machine cabled by rule the cables of a dimension are in the
 * same few ports of every switch.  Without the cables of one dimension the fabric falls into
 * layers, and how these follow each other are the coordinates in it: a missing cable takes nothing
 * away as long as each layer hangs together, or its pieces have the same layers beside them.  A
 * guess as names are: whether every cable joins neighbours is checked afterwards.
 */

/* Ports of one dimension: those at both ends of a cable, and of cables side by side. */
static uint32_t grid_layout_find_dims(uint32_t *dim_of, const struct fabric *f)
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

static bool grid_layout_are_next(struct layers *l, uint32_t a, uint32_t b)
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
static bool grid_layout_are_pieces(const struct layers *l, const uint32_t *size, uint32_t whole,
				   uint32_t a, uint32_t b)
{
	const uint32_t *x = l->next[a], *y = l->next[b];

	return x[1] != FAB_NONE && y[1] != FAB_NONE && size[a] + size[b] <= whole &&
	       ((x[0] == y[0] && x[1] == y[1]) || (x[0] == y[1] && x[1] == y[0]));
}

/* Sizes of layers by their lowest switch; returns the largest. */
static uint32_t grid_layout_measure(uint32_t *size, const struct layers *l, uint32_t nsw)
{
	uint32_t most = 0;

	memset(size, 0, nsw * sizeof(*size));
	for (uint32_t sw = 0; sw < nsw; sw++) {
		uint32_t n = ++size[union_find_root(l->of, sw)];

		most = n > most ? n : most;
	}
	return most;
}

static void grid_layout_join_pieces(struct layers *l, const struct fabric *f,
				    const uint32_t *dim_of, uint32_t dim)
{
	uint32_t *size = xcalloc(f->nsw, sizeof(*size)), piece[PIECES], n = 0;
	uint32_t whole = grid_layout_measure(size, l, f->nsw);

	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t a = union_find_root(l->of, f->chan_src[c]),
			 b = union_find_root(l->of, f->chan_dst[c]);

		if (dim_of[f->chan_port[c]] == dim && size[a] < whole && size[b] == whole)
			grid_layout_are_next(l, a, b);
	}
	for (uint32_t sw = 0; sw < f->nsw && n < PIECES; sw++)
		if (l->of[sw] == sw && size[sw] < whole)
			piece[n++] = sw;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = i + 1; k < n; k++)
			if (l->of[piece[i]] == piece[i] && l->of[piece[k]] == piece[k] &&
			    grid_layout_are_pieces(l, size, whole, piece[i], piece[k])) {
				size[piece[i]] += size[piece[k]];
				union_find_join(l->of, piece[i], piece[k]);
			}
	free(size);
	memset(l->next, 0xff, f->nsw * sizeof(*l->next));
}

static bool grid_layout_find_layers(struct layers *l, const struct fabric *f,
				    const uint32_t *dim_of, uint32_t dim)
{
	bool ok = true;

	memset(l->next, 0xff, f->nsw * sizeof(*l->next));
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		l->of[sw] = sw;
	for (uint32_t c = 0; c < f->nchan; c++)
		if (dim_of[f->chan_port[c]] != dim)
			union_find_join(l->of, f->chan_src[c], f->chan_dst[c]);
	grid_layout_join_pieces(l, f, dim_of, dim);
	l->n = 0;
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		l->of[sw] = union_find_root(l->of, sw);
		l->n += l->of[sw] == sw;
	}
	for (uint32_t c = 0; c < f->nchan && ok; c++) {
		uint32_t a = l->of[f->chan_src[c]], b = l->of[f->chan_dst[c]];

		if (dim_of[f->chan_port[c]] == dim)
			ok = a != b && grid_layout_are_next(l, a, b);
	}
	return ok;
}

/* From one end, or around from the first; place: by the layer's lowest switch. */
static bool grid_layout_follow(uint32_t *place, const struct layers *l, uint32_t nsw)
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

static int grid_layout_from_ports(struct grid_layout *l, const struct fabric *f, struct err *err)
{
	struct layers layers = { .of = xcalloc(f->nsw, sizeof(uint32_t)),
				 .next = xcalloc(f->nsw, sizeof(*layers.next)) };
	uint32_t *place = xcalloc(f->nsw, sizeof(*place)), dim_of[PORTS];
	int rc = 0;

	l->ndim = grid_layout_find_dims(dim_of, f);
	if (l->ndim < 2 || l->ndim > DIMS)
		rc = err_set(err, -EINVAL, "the port numbers of its cables reveal no dimensions");
	for (uint32_t d = 0; !rc && d < l->ndim; d++) {
		if (!grid_layout_find_layers(&layers, f, dim_of, d) ||
		    !grid_layout_follow(place, &layers, f->nsw)) {
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

/*
 * --- squares ---------------------------------------------------------------------------------
 *
 * Steps: channels that are opposite sides of squares go the same way in the same place of a
 * dimension, "from 3 to 4 in x".  Ends of two steps are the same layer when they meet at switches
 * and never span a square; the steps of a dimension then order its layers, and the channels of a
 * switch tell its coordinates.
 */

struct squares {
	const struct fabric *f;
	struct arena *arena;
	bool mend;	 /* layers in pieces, and switches on no square */
	uint32_t *first; /* by channel: the first one that is parallel */
	uint32_t *step;	 /* by channel: union-find, then the number of its step or FAB_NONE */
	uint32_t *near;	 /* by switch: channel there from the switch at hand */
	uint32_t *mids;	 /* by switch: ways of two hops there */
	uint32_t *mid;	 /* by switch: two channels each of two ways */
	uint32_t *far;
	uint32_t nfar;
	uint32_t nstep;
	uint32_t *size, *back; /* of a step: channels; the same the other way */
	uint32_t *meet, *span; /* nstep * nstep: at switches; with a square */
	uint32_t *layer;       /* by step: where it begins */
	uint32_t *dim;	       /* by step */
};

/* The switches two hops from u, with the one or two ways there; the next call or
 * grid_layout_leave() takes them back. */
static int grid_layout_look(struct squares *q, uint32_t u, struct err *err)
{
	const struct fabric *f = q->f;

	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
		q->near[f->chan_dst[c]] = c;
	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
		uint32_t v = f->chan_dst[c];

		for (uint32_t e = f->chan_off[v]; q->first[c] == c && e < f->chan_off[v + 1]; e++) {
			uint32_t w = f->chan_dst[e];

			if (w == u || q->first[e] != e || q->near[w] != FAB_NONE)
				continue;
			if (q->mids[w] == 2)
				return err_set(err, -EINVAL,
					       "%s and %s have over two common neighbours",
					       f->sw_name[u], f->sw_name[w]);
			if (!q->mids[w])
				q->far[q->nfar++] = w;
			q->mid[4 * w + 2 * q->mids[w]] = c;
			q->mid[4 * w + 2 * q->mids[w]++ + 1] = e;
		}
	}
	return 0;
}

static void grid_layout_leave(struct squares *q, uint32_t u)
{
	const struct fabric *f = q->f;

	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
		q->near[f->chan_dst[c]] = FAB_NONE;
	while (q->nfar)
		q->mids[q->far[--q->nfar]] = 0;
}

static int grid_layout_join_sides(struct squares *q, struct err *err)
{
	const struct fabric *f = q->f;
	int rc = 0;

	for (uint32_t c = 0; c < f->nchan; c++)
		q->step[c] = c;
	for (uint32_t u = 0; u < f->nsw && !rc; u++) {
		rc = grid_layout_look(q, u, err);
		for (uint32_t i = 0; i < q->nfar && !rc; i++) {
			uint32_t *m = q->mid + 4 * (size_t)q->far[i];

			if (q->mids[q->far[i]] != 2)
				continue;
			union_find_join(q->step, m[0], m[3]);
			union_find_join(q->step, m[2], m[1]);
		}
		grid_layout_leave(q, u);
	}
	return rc;
}

/* Numbers the steps; a channel on no square is in none. */
static int grid_layout_number_steps(struct squares *q, struct err *err)
{
	const struct fabric *f = q->f;
	uint32_t *count = xcalloc(f->nchan + 1u, sizeof(*count));
	uint32_t *number = xcalloc(f->nchan + 1u, sizeof(*number));

	for (uint32_t c = 0; c < f->nchan; c++)
		count[union_find_root(q->step, c)] += q->first[c] == c;
	for (uint32_t c = 0; c < f->nchan; c++)
		number[c] = q->step[c] == c && count[c] > 1 ? q->nstep++ : FAB_NONE;
	q->size = arena_array(q->arena, uint32_t, q->nstep + 1u);
	q->back = arena_array(q->arena, uint32_t, q->nstep + 1u);
	for (uint32_t c = 0; c < f->nchan; c++)
		if (number[c] != FAB_NONE)
			q->size[number[c]] = count[c];
	for (uint32_t c = 0; c < f->nchan; c++)
		count[c] = number[union_find_root(q->step, q->first[c])];
	memcpy(q->step, count, f->nchan * sizeof(*count));
	for (uint32_t c = 0; c < f->nchan; c++)
		if (q->step[c] != FAB_NONE)
			q->back[q->step[c]] = q->step[f->chan_rev[c]];
	free(number);
	free(count);
	if (!q->nstep || q->nstep > STEPS_MAX)
		return err_set(err, -EINVAL, "its cables form no repeating squares");
	return 0;
}

static void grid_layout_count_meetings(struct squares *q)
{
	const struct fabric *f = q->f;

	q->meet = arena_array(q->arena, uint32_t, (size_t)q->nstep * q->nstep);
	q->span = arena_array(q->arena, uint32_t, (size_t)q->nstep * q->nstep);
	for (uint32_t u = 0; u < f->nsw; u++) {
		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
			for (uint32_t e = f->chan_off[u]; e < f->chan_off[u + 1]; e++)
				if (q->first[c] == c && q->first[e] == e && c != e &&
				    q->step[c] != FAB_NONE && q->step[e] != FAB_NONE)
					q->meet[q->step[c] * q->nstep + q->step[e]]++;
		grid_layout_look(q, u, NULL);
		for (uint32_t i = 0; i < q->nfar; i++) {
			uint32_t *m = q->mid + 4 * (size_t)q->far[i], a, b;

			if (q->mids[q->far[i]] != 2)
				continue;
			a = q->step[m[0]];
			b = q->step[m[2]];
			q->span[a * q->nstep + b]++;
			q->span[b * q->nstep + a]++;
		}
		grid_layout_leave(q, u);
	}
}

/* Steps that begin in the same layer of the same dimension. */
static bool grid_layout_same_layer(const struct squares *q, uint32_t a, uint32_t b)
{
	size_t at = (size_t)a * q->nstep + b;
	uint32_t least = q->size[a] < q->size[b] ? q->size[a] : q->size[b];

	return !q->span[at] && q->meet[at] * 2 > least;
}

static void grid_layout_layers_of_steps(struct squares *q)
{
	q->layer = arena_array(q->arena, uint32_t, q->nstep);
	q->dim = arena_array(q->arena, uint32_t, q->nstep);
	for (uint32_t a = 0; a < q->nstep; a++)
		q->layer[a] = q->dim[a] = a;
	for (uint32_t a = 0; a < q->nstep; a++) {
		union_find_join(q->dim, a, q->back[a]);
		for (uint32_t b = 0; b < a; b++)
			if (grid_layout_same_layer(q, a, b)) {
				union_find_join(q->layer, a, b);
				union_find_join(q->dim, a, b);
			}
	}
	for (uint32_t a = 0; a < q->nstep; a++) {
		q->layer[a] = union_find_root(q->layer, a);
		q->dim[a] = union_find_root(q->dim, a);
	}
}

/* Layers of steps, from one to the other, by nstep * nstep. */
struct pairs {
	bool *beside; /* a step leads from one to the other */
	bool *apart;  /* a switch is beside both: no pieces of one layer */
};

static void grid_layout_join_layers(struct squares *q, struct pairs *p, uint32_t a, uint32_t b)
{
	for (uint32_t k = 0; k < q->nstep; k++) {
		size_t ak = (size_t)a * q->nstep + k, bk = (size_t)b * q->nstep + k;
		size_t ka = (size_t)k * q->nstep + a, kb = (size_t)k * q->nstep + b;

		p->beside[ak] = p->beside[ka] |= p->beside[bk];
		p->apart[ak] = p->apart[ka] |= p->apart[bk];
		p->beside[bk] = p->beside[kb] = false;
		q->layer[k] = q->layer[k] == b ? a : q->layer[k];
	}
}

/* Joins the first two pieces that are beside the same layer, or if alike beside all the same ones;
 * false: there are none. */
static bool grid_layout_join_pieces_beside(struct squares *q, struct pairs *p, bool alike)
{
	uint32_t n = q->nstep;

	for (uint32_t at = 0; at < n * n; at++) {
		uint32_t layer = at / n, a = at % n;

		for (uint32_t b = a + 1; p->beside[at] && b < n; b++) {
			if (!p->beside[layer * n + b] || p->apart[a * n + b] ||
			    (alike && memcmp(p->beside + a * n, p->beside + b * n, n)))
				continue;
			grid_layout_join_layers(q, p, a, b);
			return true;
		}
	}
	return false;
}

/*
 * A layer falls into pieces where a cable inside it is missing.  A switch is in one layer of a
 * dimension only, so pieces that meet at one are the same; so are those that are beside the same
 * layers, but at other switches.
 */
static void grid_layout_mend_layers(struct squares *q)
{
	size_t n = q->nstep;
	struct pairs p = { .beside = xcalloc(n * n, 1), .apart = xcalloc(n * n, 1) };

	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < a; b++)
			if (q->meet[a * n + b] && q->dim[a] == q->dim[b])
				union_find_join(q->layer, a, b);
	for (uint32_t a = 0; a < n; a++)
		q->layer[a] = union_find_root(q->layer, a);
	for (uint32_t a = 0; a < n; a++) {
		uint32_t from = q->layer[a], to = q->layer[q->back[a]];

		p.beside[from * n + to] = p.beside[to * n + from] = true;
		for (uint32_t b = 0; b < n; b++)
			if (q->meet[a * n + b] && q->dim[a] == q->dim[b])
				p.apart[to * n + q->layer[q->back[b]]] = true;
	}
	while (grid_layout_join_pieces_beside(q, &p, true) ||
	       grid_layout_join_pieces_beside(q, &p, false))
		;
	free(p.beside);
	free(p.apart);
}

/* The layers next to one, two at most; false: there are more. */
static bool grid_layout_beside(uint32_t side[2], const struct squares *q, uint32_t layer)
{
	side[0] = side[1] = FAB_NONE;
	for (uint32_t a = 0; a < q->nstep; a++) {
		uint32_t to = q->layer[q->back[a]];

		if (q->layer[a] != layer || to == side[0] || to == side[1])
			continue;
		if (to == layer || side[1] != FAB_NONE)
			return false;
		side[side[0] == FAB_NONE ? 0 : 1] = to;
	}
	return true;
}

/* Numbers the layers of a dimension in at (by layer); 0: they are no line and no ring, as bad is
 * beside more than two or out of reach. */
static uint32_t grid_layout_order_dim(uint32_t *at, const struct squares *q, uint32_t dim,
				      uint32_t *bad)
{
	uint32_t from = FAB_NONE, all = 0, n = 0, last = FAB_NONE, side[2];

	for (uint32_t k = 0; k < q->nstep; k++) {
		if (q->layer[k] != k || q->dim[k] != dim)
			continue;
		all++;
		*bad = k;
		if (!grid_layout_beside(side, q, k))
			return 0;
		if (from == FAB_NONE)
			from = k;
		/* a line begins at the first of its ends */
		if (side[1] == FAB_NONE && last == FAB_NONE)
			last = from = k;
	}
	last = FAB_NONE;
	while (from != FAB_NONE && at[from] == FAB_NONE) {
		uint32_t next;

		grid_layout_beside(side, q, from);
		next = side[0] == last ? side[1] : side[0];
		if (last == FAB_NONE && side[1] != FAB_NONE)
			next = side[0] < side[1] ? side[0] : side[1];
		at[from] = n++;
		last = from;
		from = next;
	}
	for (uint32_t k = 0; k < q->nstep; k++)
		if (q->layer[k] == k && q->dim[k] == dim && at[k] == FAB_NONE)
			*bad = k;
	return n == all ? n : 0;
}

static bool grid_layout_is_placed(const struct grid_layout *l, const uint16_t *x)
{
	uint32_t d = 0;

	while (d < l->ndim && x[d] != UINT16_MAX)
		d++;
	return d == l->ndim;
}

/* Nobody is at that point, and all neighbours of the switch that are placed are beside it. */
static bool grid_layout_may_be_at(const struct grid_layout *l, const struct fabric *f, uint32_t sw,
				  const uint16_t *to)
{
	for (uint32_t u = 0; u < f->nsw; u++)
		if (!memcmp(&l->coord[(size_t)u * DIMS], to, l->ndim * sizeof(*to)))
			return false;
	for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++) {
		const uint16_t *y = &l->coord[(size_t)f->chan_dst[c] * DIMS];
		int apart = 0;

		for (uint32_t d = 0; d < l->ndim; d++)
			apart += abs(to[d] - y[d]);
		if (grid_layout_is_placed(l, y) && apart != 1)
			return false;
	}
	return true;
}

/* A switch that is on no square goes to the only free point beside its neighbours. */
static bool grid_layout_place_between(struct grid_layout *l, const struct fabric *f, uint32_t sw)
{
	uint16_t to[DIMS], only[DIMS];
	uint32_t c = f->chan_off[sw], n = 0;

	while (c < f->chan_off[sw + 1] &&
	       !grid_layout_is_placed(l, &l->coord[(size_t)f->chan_dst[c] * DIMS]))
		c++;
	for (uint32_t k = 0; c < f->chan_off[sw + 1] && k < 2 * l->ndim; k++) {
		memcpy(to, &l->coord[(size_t)f->chan_dst[c] * DIMS], sizeof(to));
		to[k / 2] = (uint16_t)(to[k / 2] + (k % 2 ? 1 : -1));
		if (to[k / 2] >= l->dim[k / 2] || !grid_layout_may_be_at(l, f, sw, to))
			continue;
		memcpy(only, to, sizeof(only));
		n++;
	}
	if (n == 1)
		memcpy(&l->coord[(size_t)sw * DIMS], only, l->ndim * sizeof(*only));
	return n == 1;
}

/* The same for all; returns how many have no place. */
static uint32_t grid_layout_place_rest(struct grid_layout *l, const struct fabric *f)
{
	uint32_t left, before = UINT32_MAX;

	for (left = UINT32_MAX - 1; left && left < before;) {
		before = left;
		left = 0;
		for (uint32_t sw = 0; sw < f->nsw; sw++)
			left += !grid_layout_is_placed(l, &l->coord[(size_t)sw * DIMS]) &&
				!grid_layout_place_between(l, f, sw);
	}
	return left;
}

/* By the steps that begin at it; what these do not say its neighbours do. */
static int grid_layout_place(struct grid_layout *l, const struct squares *q, const uint32_t *number,
			     const uint32_t *at, struct err *err)
{
	const struct fabric *f = q->f;
	uint32_t left, before = UINT32_MAX;

	memset(l->coord, 0xff, (size_t)f->nsw * DIMS * sizeof(*l->coord));
	for (uint32_t c = 0; c < f->nchan; c++)
		if (q->step[c] != FAB_NONE)
			l->coord[(size_t)f->chan_src[c] * DIMS + number[q->dim[q->step[c]]]] =
				(uint16_t)at[q->layer[q->step[c]]];
	for (left = UINT32_MAX - 1; left && left < before;) {
		before = left;
		left = 0;
		for (uint32_t sw = 0; sw < f->nsw; sw++)
			for (uint32_t d = 0; d < l->ndim; d++) {
				uint16_t *x = &l->coord[(size_t)sw * DIMS + d];

				for (uint32_t c = f->chan_off[sw];
				     *x == UINT16_MAX && c < f->chan_off[sw + 1]; c++)
					if (q->step[c] != FAB_NONE)
						*x = l->coord[(size_t)f->chan_dst[c] * DIMS + d];
				left += *x == UINT16_MAX;
			}
	}
	if (left && q->mend)
		left = grid_layout_place_rest(l, f);
	for (uint32_t sw = 0; sw < f->nsw && left; sw++)
		if (!grid_layout_is_placed(l, &l->coord[(size_t)sw * DIMS]))
			return err_set(err, -EINVAL,
				       "switch %s could be in several places: too many cables "
				       "are missing",
				       f->sw_name[sw]);
	return 0;
}

static int grid_layout_refuse_layer(const struct squares *q, uint32_t layer, struct err *err)
{
	const struct fabric *f = q->f;
	uint32_t c = 0;

	while (q->step[c] == FAB_NONE || q->layer[q->step[c]] != layer)
		c++;
	return err_set(err, -EINVAL,
		       "its cables do not fall into rings or lines at switch %s; cables there or "
		       "next to it may be missing",
		       f->sw_name[f->chan_src[c]]);
}

static int grid_layout_place_by_layers(struct grid_layout *l, const struct squares *q,
				       struct err *err)
{
	uint32_t *at = xcalloc(q->nstep, sizeof(*at));
	uint32_t *number = xcalloc(q->nstep, sizeof(*number)), bad = 0;
	int rc = 0;

	memset(at, 0xff, q->nstep * sizeof(*at));
	for (uint32_t k = 0; k < q->nstep && !rc; k++) {
		if (q->dim[k] != k)
			continue;
		if (l->ndim == DIMS) {
			rc = err_set(err, -EINVAL, "it would have more than %d dimensions", DIMS);
			break;
		}
		number[k] = l->ndim;
		l->dim[l->ndim++] = grid_layout_order_dim(at, q, k, &bad);
		if (!l->dim[number[k]])
			rc = grid_layout_refuse_layer(q, bad, err);
	}
	if (!rc)
		rc = grid_layout_place(l, q, number, at, err);
	free(number);
	free(at);
	return rc;
}

static int grid_layout_from_squares(struct grid_layout *l, const struct fabric *f, bool mend,
				    struct err *err)
{
	struct squares q = { .f = f, .mend = mend, .arena = arena_new() };
	int rc;

	q.first = arena_array(q.arena, uint32_t, f->nchan + 1u);
	q.step = arena_array(q.arena, uint32_t, f->nchan + 1u);
	q.near = arena_array(q.arena, uint32_t, f->nsw);
	memset(q.near, 0xff, f->nsw * sizeof(*q.near));
	q.mids = arena_array(q.arena, uint32_t, f->nsw);
	q.mid = arena_array(q.arena, uint32_t, 4 * (size_t)f->nsw);
	q.far = arena_array(q.arena, uint32_t, f->nsw);
	l->ndim = 0;
	grid_find_first(q.f, q.near, q.first);
	rc = grid_layout_join_sides(&q, err);
	if (!rc)
		rc = grid_layout_number_steps(&q, err);
	if (!rc) {
		grid_layout_count_meetings(&q);
		grid_layout_layers_of_steps(&q);
		if (mend)
			grid_layout_mend_layers(&q);
		rc = grid_layout_place_by_layers(l, &q, err);
	}
	arena_free(q.arena);
	return rc;
}

static uint64_t grid_layout_cell_of(const struct grid_layout *l, const uint16_t *at)
{
	uint64_t cell = 0;

	for (uint32_t d = l->ndim; d-- > 0;)
		cell = cell * l->dim[d] + at[d];
	return cell;
}

/* The dimension that a cable is in; FAB_NONE: its ends are no neighbours. */
static uint32_t grid_layout_cable_dim(const struct grid_layout *l, uint32_t a, uint32_t b)
{
	const uint16_t *x = &l->coord[(size_t)a * DIMS];
	const uint16_t *y = &l->coord[(size_t)b * DIMS];
	uint32_t dim = FAB_NONE;

	for (uint32_t d = 0; d < l->ndim; d++) {
		int apart = abs(x[d] - y[d]);

		if (!apart)
			continue;
		if (dim != FAB_NONE || (apart != 1 && apart + 1 != (int)l->dim[d]))
			return FAB_NONE;
		dim = d;
	}
	return dim;
}

static int grid_layout_place_all(uint32_t *at, uint64_t ncell, const struct grid_layout *l,
				 const struct fabric *f, struct err *err)
{
	memset(at, 0xff, ncell * sizeof(*at));
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		uint32_t *cell = &at[grid_layout_cell_of(l, &l->coord[(size_t)sw * DIMS])];

		if (*cell != FAB_NONE)
			return err_set(err, -EINVAL, "switches %s and %s get the same coordinates",
				       f->sw_name[*cell], f->sw_name[sw]);
		*cell = sw;
	}
	return 0;
}

static int grid_layout_check_cables(struct grid_layout *l, const struct fabric *f, struct err *err)
{
	memset(l->ring, 0, sizeof(l->ring));
	for (uint32_t c = 0; c < f->nchan; c++) {
		uint32_t a = f->chan_src[c], b = f->chan_dst[c], d = grid_layout_cable_dim(l, a, b);
		const uint16_t *x, *y;

		if (d == FAB_NONE)
			return err_set(err, -EINVAL, "the cable from %s to %s joins no neighbours",
				       f->sw_name[a], f->sw_name[b]);
		x = &l->coord[(size_t)a * DIMS];
		y = &l->coord[(size_t)b * DIMS];
		if (l->dim[d] > 2 && abs(x[d] - y[d]) + 1 == (int)l->dim[d])
			l->ring[d] = true;
	}
	return 0;
}

static bool grid_layout_adjacent(const struct fabric *f, uint32_t a, uint32_t b)
{
	for (uint32_t c = f->chan_off[a]; c < f->chan_off[a + 1]; c++)
		if (f->chan_dst[c] == b)
			return true;
	return false;
}

/* Neighbours in places without a cable; all gets how many neighbours there are. */
static uint32_t grid_layout_count_missing(const struct grid_layout *l, const struct fabric *f,
					  const uint32_t *at, uint32_t *all)
{
	uint32_t missing = 0;

	*all = 0;
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		const uint16_t *x = &l->coord[(size_t)sw * DIMS];

		for (uint32_t d = 0; d < l->ndim; d++) {
			uint16_t to[DIMS];
			uint32_t next;

			if (x[d] + 1u == l->dim[d] && !l->ring[d])
				continue;
			memcpy(to, x, sizeof(to));
			to[d] = (uint16_t)((x[d] + 1u) % l->dim[d]);
			next = at[grid_layout_cell_of(l, to)];
			if (next == FAB_NONE)
				continue;
			++*all;
			missing += !grid_layout_adjacent(f, sw, next);
		}
	}
	return missing;
}

/* A switch at most at every point, neighbours at the ends of every cable; counts what is missing.
 * Rings that no cable closes become lines. */
static int grid_layout_check(struct grid_layout *l, const struct fabric *f, struct err *err)
{
	uint64_t ncell = 1;
	uint32_t *at, all = 0;
	int rc;

	for (uint32_t d = 0; d < l->ndim && ncell <= 2ull * f->nsw; d++)
		ncell *= l->dim[d];
	if (l->ndim < 2 || ncell < f->nsw || (ncell - f->nsw) * 100 > ncell * HOLES_PCT)
		return err_set(err, -EINVAL,
			       "its %u switches do not fill a grid of the dimensions found",
			       f->nsw);
	at = xcalloc(ncell, sizeof(*at));
	rc = grid_layout_place_all(at, ncell, l, f, err);
	if (!rc)
		rc = grid_layout_check_cables(l, f, err);
	if (!rc) {
		l->holes = (uint32_t)ncell - f->nsw;
		l->missing = grid_layout_count_missing(l, f, at, &all);
		if (l->missing * 100ull > all * (uint64_t)MISSING_PCT)
			rc = err_set(err, -EINVAL, "%u of %u cables of a grid are missing",
				     l->missing, all);
	}
	free(at);
	return rc;
}

/* All cables are there: as the engines see it. */
static bool grid_layout_from_torus(struct grid_layout *l, const struct fabric *f)
{
	struct grid *g = NULL;

	if (torus_find(&g, f, NULL))
		return false;
	l->ndim = g->ndims;
	for (uint32_t d = 0; d < g->ndims; d++)
		l->dim[d] = g->size[d];
	for (uint32_t sw = 0; sw < f->nsw; sw++)
		for (uint32_t d = 0; d < g->ndims; d++)
			l->coord[(size_t)sw * DIMS + d] = grid_coord(g, sw)[d];
	grid_free(g);
	return true;
}

static int grid_layout_from_cables(struct grid_layout *l, const struct fabric *f, bool mend,
				   struct err *err)
{
	struct err none;
	int rc = !mend && grid_layout_from_torus(l, f) ? grid_layout_check(l, f, &none) : -EINVAL;

	l->from = GRID_FROM_CABLES;
	if (rc) {
		rc = grid_layout_from_squares(l, f, mend, err);
		if (!rc)
			rc = grid_layout_check(l, f, err);
	}
	if (rc)
		return rc;
	grid_layout_join_rings(l, f);
	return grid_layout_check(l, f, err);
}

static int grid_layout_from_steps(struct grid_layout *l, const struct fabric *f)
{
	struct err none;
	int rc;

	l->from = GRID_FROM_PORTS;
	rc = grid_layout_from_ports(l, f, &none);
	if (rc)
		return rc;
	grid_layout_sort_dims(l, f);
	return grid_layout_check(l, f, &none);
}

static enum grid_kind grid_layout_kind(const struct grid_layout *l, uint32_t d)
{
	if (l->dim[d] == 2 || (l->dim[d] == 3 && l->ring[d]))
		return GRID_FULL;
	return l->ring[d] ? GRID_RING : GRID_LINE;
}

static struct grid *grid_layout_to_grid(const struct grid_layout *l, const struct fabric *f)
{
	enum grid_kind kind[DIMS];
	struct grid *g;

	for (uint32_t d = 0; d < l->ndim; d++)
		kind[d] = grid_layout_kind(l, d);
	g = grid_new(f->nsw, l->ndim, l->dim, kind);
	g->missing = l->missing;
	g->from = l->from;
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		memcpy(g->coord + (size_t)sw * l->ndim, &l->coord[(size_t)sw * DIMS],
		       l->ndim * sizeof(*g->coord));
		g->at[grid_cell(g, grid_coord(g, sw))] = sw;
	}
	return g;
}

int grid_layout_find(struct grid **out, const struct fabric *f, struct err *err)
{
	struct grid_layout l = { .from = GRID_FROM_NAMES,
				 .coord = xcalloc((size_t)f->nsw * DIMS, sizeof(*l.coord)) };
	struct err none;
	int rc;

	rc = grid_layout_from_names(&l, f, &none);
	if (!rc)
		rc = grid_layout_check(&l, f, &none);
	if (rc)
		rc = grid_layout_from_cables(&l, f, false, &none);
	if (rc)
		rc = grid_layout_from_steps(&l, f);
	if (rc)
		rc = grid_layout_from_cables(&l, f, true, err);
	if (!rc)
		*out = grid_layout_to_grid(&l, f);
	free(l.coord);
	return rc;
}
