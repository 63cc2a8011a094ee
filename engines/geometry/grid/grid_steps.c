/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/geometry/grid/grid_steps.h"

#include "engines/geometry/grid/grid.h"
#include "engines/geometry/union_find.h"
#include "fabric/base/memory/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 1024

/* The switches two hops from u, with the one or two ways there; the next call or
 * grid_steps_leave() takes them back. */
static int grid_steps_look(struct grid_steps *q, uint32_t u, struct err *err)
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
					       "two switches have over two neighbours in common "
					       "(%s, %s)",
					       f->sw_name[u], f->sw_name[w]);
			if (!q->mids[w])
				q->far[q->nfar++] = w;
			q->mid[4 * w + 2 * q->mids[w]] = c;
			q->mid[4 * w + 2 * q->mids[w]++ + 1] = e;
		}
	}
	return 0;
}

static void grid_steps_leave(struct grid_steps *q, uint32_t u)
{
	const struct fabric *f = q->f;

	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
		q->near[f->chan_dst[c]] = FAB_NONE;
	while (q->nfar)
		q->mids[q->far[--q->nfar]] = 0;
}

static int grid_steps_join_sides(struct grid_steps *q, struct err *err)
{
	const struct fabric *f = q->f;
	int rc = 0;

	for (uint32_t c = 0; c < f->nchan; c++)
		q->step[c] = c;
	for (uint32_t u = 0; u < f->nsw && !rc; u++) {
		rc = grid_steps_look(q, u, err);
		for (uint32_t i = 0; i < q->nfar && !rc; i++) {
			uint32_t *m = q->mid + 4 * (size_t)q->far[i];

			if (q->mids[q->far[i]] != 2)
				continue;
			union_find_join(q->step, m[0], m[3]);
			union_find_join(q->step, m[2], m[1]);
		}
		grid_steps_leave(q, u);
	}
	return rc;
}

/* Numbers the steps; a channel on no square is in none. */
static int grid_steps_number(struct grid_steps *q, struct err *err)
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

static void grid_steps_count_meetings(struct grid_steps *q)
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
		grid_steps_look(q, u, NULL);
		for (uint32_t i = 0; i < q->nfar; i++) {
			uint32_t *m = q->mid + 4 * (size_t)q->far[i], a, b;

			if (q->mids[q->far[i]] != 2)
				continue;
			a = q->step[m[0]];
			b = q->step[m[2]];
			q->span[a * q->nstep + b]++;
			q->span[b * q->nstep + a]++;
		}
		grid_steps_leave(q, u);
	}
}

/* Steps that begin in the same layer of the same dimension. */
static bool grid_steps_same_layer(const struct grid_steps *q, uint32_t a, uint32_t b)
{
	size_t at = (size_t)a * q->nstep + b;
	uint32_t least = q->size[a] < q->size[b] ? q->size[a] : q->size[b];

	return !q->span[at] && q->meet[at] * 2 > least;
}

static void grid_steps_find_layers(struct grid_steps *q)
{
	q->layer = arena_array(q->arena, uint32_t, q->nstep);
	q->dim = arena_array(q->arena, uint32_t, q->nstep);
	for (uint32_t a = 0; a < q->nstep; a++)
		q->layer[a] = q->dim[a] = a;
	for (uint32_t a = 0; a < q->nstep; a++) {
		union_find_join(q->dim, a, q->back[a]);
		for (uint32_t b = 0; b < a; b++)
			if (grid_steps_same_layer(q, a, b)) {
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

static void grid_steps_join_layers(struct grid_steps *q, struct pairs *p, uint32_t a, uint32_t b)
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
static bool grid_steps_join_pieces_beside(struct grid_steps *q, struct pairs *p, bool alike)
{
	uint32_t n = q->nstep;

	for (uint32_t at = 0; at < n * n; at++) {
		uint32_t layer = at / n, a = at % n;

		for (uint32_t b = a + 1; p->beside[at] && b < n; b++) {
			if (!p->beside[layer * n + b] || p->apart[a * n + b] ||
			    (alike && memcmp(p->beside + a * n, p->beside + b * n, n)))
				continue;
			grid_steps_join_layers(q, p, a, b);
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
static void grid_steps_mend_layers(struct grid_steps *q)
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
	while (grid_steps_join_pieces_beside(q, &p, true) ||
	       grid_steps_join_pieces_beside(q, &p, false))
		;
	free(p.beside);
	free(p.apart);
}

int grid_steps_find(struct grid_steps *q, const struct fabric *f, bool mend, struct err *err)
{
	int rc;

	*q = (struct grid_steps){ .f = f, .mend = mend, .arena = arena_new() };
	q->first = arena_array(q->arena, uint32_t, f->nchan + 1u);
	q->step = arena_array(q->arena, uint32_t, f->nchan + 1u);
	q->near = arena_array(q->arena, uint32_t, f->nsw);
	memset(q->near, 0xff, f->nsw * sizeof(*q->near));
	q->mids = arena_array(q->arena, uint32_t, f->nsw);
	q->mid = arena_array(q->arena, uint32_t, 4 * (size_t)f->nsw);
	q->far = arena_array(q->arena, uint32_t, f->nsw);
	grid_first_parallel(f, q->near, q->first);
	rc = grid_steps_join_sides(q, err);
	if (!rc)
		rc = grid_steps_number(q, err);
	if (rc)
		return rc;
	grid_steps_count_meetings(q);
	grid_steps_find_layers(q);
	if (mend)
		grid_steps_mend_layers(q);
	return 0;
}

void grid_steps_free(struct grid_steps *q)
{
	arena_free(q->arena);
}
