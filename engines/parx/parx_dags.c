/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/parx/parx_dags.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

void parx_dags_init(struct parx_dags *x, const struct fabric *f, const struct grid *grid,
		    uint8_t lmc)
{
	*x = (struct parx_dags){
		.mem = arena_new(), .f = f, .grid = grid, .lmc = lmc, .root = FAB_NONE
	};
	parx_rules_init(&x->rules, grid);
	x->dim = arena_alloc(x->mem, f->nchan, sizeof(*x->dim));
	for (uint32_t c = 0; c < f->nchan; c++)
		x->dim[c] = (uint8_t)grid_dim(grid, f->chan_src[c], f->chan_dst[c]);
	x->dag = arena_alloc(x->mem, x->rules.n + 1, sizeof(*x->dag));
	for (uint32_t i = 0; i <= x->rules.n; i++)
		spdag_init(&x->dag[i], f);
	x->avoided = arena_alloc(x->mem, f->nsw, sizeof(*x->avoided));
	x->first_dim = arena_alloc(x->mem, f->nsw, sizeof(*x->first_dim));
	x->lift = arena_alloc(x->mem, f->nchan, sizeof(*x->lift));
	x->cut = arena_alloc(x->mem, f->nchan, sizeof(*x->cut));
	x->touched = arena_alloc(x->mem, f->nchan, sizeof(*x->touched));
	x->extra = arena_alloc(x->mem, f->nsw, sizeof(*x->extra));
}

void parx_dags_done(struct parx_dags *x)
{
	for (uint32_t i = 0; i <= x->rules.n; i++)
		spdag_done(&x->dag[i]);
	parx_rules_done(&x->rules);
	arena_free(x->mem);
}

static bool parx_dags_is_avoided(const struct parx_dags *x, uint32_t rule, uint32_t c)
{
	uint32_t lids = parx_avoids(&x->rules, x->f->chan_src[c], x->f->chan_dst[c]);

	return (lids & ~x->lift[c]) >> rule & 1;
}

/* Takes in the switches from which a channel leads to position i, that is avoided or not. */
static void parx_dags_discover(struct parx_dags *x, uint32_t rule, uint32_t i, bool avoided)
{
	const struct fabric *f = x->f;
	struct spdag *g = &x->dag[rule];
	uint32_t u = g->sw[i];

	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
		uint32_t v = f->chan_dst[c], back = f->chan_rev[c];

		if (g->pos[v] != FAB_NONE || parx_dags_is_avoided(x, rule, back) != avoided ||
		    x->cut[back] >> rule & 1)
			continue;
		g->pos[v] = g->n;
		g->sw[g->n] = v;
		g->dist[g->n] = g->dist[i] + 1;
		x->avoided[g->n++] = x->avoided[i] + avoided;
	}
}

/* Positions by (avoided cables, hops).  Switches with one avoided cable more come from those
 * before, over an avoided cable, or from each other: whichever is nearer first.  False when
 * not all switches reach the root. */
static bool parx_dags_order_switches(struct parx_dags *x, uint32_t rule, uint32_t root)
{
	struct spdag *g = &x->dag[rule];
	uint32_t begin = 0, end = 0;

	memset(g->pos, 0xff, x->f->nsw * sizeof(*g->pos));
	g->root = root;
	g->n = 1;
	g->sw[0] = root;
	g->pos[root] = 0;
	g->dist[0] = 0;
	x->avoided[0] = 0;
	for (uint32_t i = 0; i < g->n; i++)
		parx_dags_discover(x, rule, i, false);
	while (begin < g->n && g->n < x->f->nsw) {
		uint32_t i = end = g->n;

		while (begin < end || i < g->n) {
			if (i < g->n && (begin == end || g->dist[i] <= g->dist[begin]))
				parx_dags_discover(x, rule, i++, false);
			else
				parx_dags_discover(x, rule, begin++, true);
		}
	}
	return g->n == x->f->nsw;
}

/* Keeps of every position the edges of the first dimension that it has some of. */
static void parx_dags_keep_first_dim(struct parx_dags *x, struct spdag *g)
{
	uint32_t n = 0;

	memset(x->first_dim, 0xff, g->n * sizeof(*x->first_dim));
	for (uint32_t k = 0; k < g->nfound; k++) {
		uint8_t dim = x->dim[g->found_chan[k]], *first = &x->first_dim[g->found_from[k]];

		*first = dim < *first ? dim : *first;
	}
	for (uint32_t k = 0; k < g->nfound; k++) {
		uint32_t c = g->found_chan[k], from = g->found_from[k], to = g->found_to[k];

		g->found_from[n] = from;
		g->found_chan[n] = c;
		g->found_to[n] = to;
		n += x->dim[c] == x->first_dim[from];
	}
	g->nfound = n;
}

static void parx_dags_list_edges(struct parx_dags *x, uint32_t rule)
{
	const struct fabric *f = x->f;
	struct spdag *g = &x->dag[rule];

	g->nfound = 0;
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t u = g->sw[i];

		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
			uint32_t p = g->pos[f->chan_dst[c]], back = f->chan_rev[c];

			if (g->dist[p] != g->dist[i] + 1 || x->cut[back] >> rule & 1 ||
			    x->avoided[p] != x->avoided[i] + parx_dags_is_avoided(x, rule, back))
				continue;
			g->found_from[g->nfound] = p;
			g->found_chan[g->nfound] = back;
			g->found_to[g->nfound++] = i;
		}
	}
	if (x->ordered)
		parx_dags_keep_first_dim(x, g);
	spdag_sort_edges(g);
}

/* False, and no DAG, when cut cables leave a switch without a path. */
static bool parx_dags_do_build(struct parx_dags *x, uint32_t rule, uint32_t root)
{
	if (!parx_dags_order_switches(x, rule, root))
		return false;
	parx_dags_list_edges(x, rule);
	return true;
}

/* Avoided cables on the shortest path from a switch that has fewest of them; UINT32_MAX: all have
 * cables that are cut. */
static uint32_t parx_dags_fewest_avoided(struct parx_dags *x, uint32_t rule, uint32_t from)
{
	const struct spdag *g = &x->dag[x->rules.n];

	x->avoided[0] = 0;
	for (uint32_t i = 1; i <= g->pos[from]; i++) {
		x->avoided[i] = UINT32_MAX;
		for (uint32_t k = g->off[i]; k < g->off[i + 1]; k++) {
			uint32_t n = x->avoided[g->to[k]];

			if (n == UINT32_MAX || x->cut[g->chan[k]] >> rule & 1)
				continue;
			n += parx_dags_is_avoided(x, rule, g->chan[k]);
			x->avoided[i] = n < x->avoided[i] ? n : x->avoided[i];
		}
	}
	return x->avoided[g->pos[from]];
}

static void parx_dags_touch(struct parx_dags *x, uint32_t *what, uint32_t c, uint32_t rule)
{
	if (!(x->lift[c] | x->cut[c]))
		x->touched[x->ntouched++] = c;
	what[c] |= 1u << rule;
}

/* Lets a LID use the cables of that path. */
static void parx_dags_lift_path(struct parx_dags *x, uint32_t rule, uint32_t from)
{
	const struct spdag *g = &x->dag[x->rules.n];

	parx_dags_fewest_avoided(x, rule, from);
	for (uint32_t i = g->pos[from]; i;) {
		uint32_t k = g->off[i];

		while (x->cut[g->chan[k]] >> rule & 1 ||
		       x->avoided[g->to[k]] + parx_dags_is_avoided(x, rule, g->chan[k]) !=
			       x->avoided[i])
			k++;
		if (parx_dags_is_avoided(x, rule, g->chan[k]))
			parx_dags_touch(x, x->lift, g->chan[k], rule);
		i = g->to[k];
	}
}

/* Are there LIDs whose paths are all shortest? */
static bool parx_dags_has_spare(const struct parx_dags *x)
{
	return 1u << x->lmc > x->rules.n;
}

static void parx_dags_order_shortest(struct parx_dags *x)
{
	parx_dags_keep_first_dim(x, &x->dag[x->rules.n]);
	spdag_sort_edges(&x->dag[x->rules.n]);
}

static bool parx_dags_has_shortest(const struct parx_dags *x, uint32_t u)
{
	const struct spdag *all = &x->dag[x->rules.n];

	for (uint32_t i = 0; i < x->rules.n; i++)
		if (x->dag[i].dist[x->dag[i].pos[u]] == all->dist[all->pos[u]])
			return true;
	return false;
}

/* The first switch from which no LID has a shortest path; FAB_NONE. */
static uint32_t parx_dags_find_detoured(const struct parx_dags *x)
{
	uint32_t u = 0;

	while (u < x->f->nsw && parx_dags_has_shortest(x, u))
		u++;
	return u < x->f->nsw ? u : FAB_NONE;
}

/* Every round lifts at least one cable of one LID, so it ends with shortest paths for that.  False
 * when cut cables leave a switch none. */
static bool parx_dags_make_minimal(struct parx_dags *x, uint32_t root)
{
	uint32_t u, best = 0, least = UINT32_MAX;

	while ((u = parx_dags_find_detoured(x)) != FAB_NONE) {
		for (uint32_t i = 0; i < x->rules.n; i++) {
			uint32_t n = parx_dags_fewest_avoided(x, i, u);

			best = n < least ? i : best;
			least = n < least ? n : least;
		}
		if (least == UINT32_MAX)
			return false;
		parx_dags_lift_path(x, best, u);
		if (!parx_dags_do_build(x, best, root))
			return false;
		x->nlift++;
		least = UINT32_MAX;
	}
	return true;
}

/* Does a LID lead a neighbour of the root around its cable there, as it should? */
static bool parx_dags_goes_around(const struct parx_dags *x, uint32_t rule, uint32_t u)
{
	const struct spdag *g = &x->dag[rule];
	uint32_t p = g->pos[u];
	bool around = true;

	for (uint32_t k = g->off[p]; k < g->off[p + 1]; k++)
		around &= g->to[k] != 0;
	return around;
}

/* Does no LID lead the neighbour at the end of channel c around its cable, as one should? */
static bool parx_dags_is_direct(const struct parx_dags *x, uint32_t c)
{
	uint32_t u = x->f->chan_dst[c], i = 0;

	if (!parx_avoids(&x->rules, u, x->f->chan_src[c]))
		return false;
	while (i < x->rules.n && !parx_dags_goes_around(x, i, u))
		i++;
	return i == x->rules.n;
}

static uint32_t parx_dags_count_direct(const struct parx_dags *x, uint32_t root)
{
	const struct fabric *f = x->f;
	uint32_t n = 0;

	for (uint32_t c = f->chan_off[root]; c < f->chan_off[root + 1]; c++)
		n += parx_dags_is_direct(x, c);
	return n;
}

static void parx_dags_build_all(struct parx_dags *x, uint32_t root)
{
	for (uint32_t i = 0; i < x->rules.n; i++)
		parx_dags_do_build(x, i, root);
}

/* Takes the cables between the root and v, of channel c, from a LID if that helps and harms none,
 * be it that other LIDs then use cables that they avoid. */
static bool parx_dags_cut_cable(struct parx_dags *x, uint32_t root, uint32_t c, uint32_t rule)
{
	const struct fabric *f = x->f;
	uint32_t v = f->chan_dst[c], before = parx_dags_count_direct(x, root),
		 ntouched = x->ntouched;
	size_t size = f->nchan * sizeof(*x->cut);
	uint32_t *cut = memcpy(xcalloc(1, size), x->cut, size);
	uint32_t *lift = memcpy(xcalloc(1, size), x->lift, size);
	uint64_t nlift = x->nlift;
	bool good;

	for (uint32_t k = f->chan_off[root]; k < f->chan_off[root + 1]; k++)
		if (f->chan_dst[k] == v)
			parx_dags_touch(x, x->cut, f->chan_rev[k], rule);
	good = parx_dags_do_build(x, rule, root) &&
	       (parx_dags_has_spare(x) || parx_dags_make_minimal(x, root)) &&
	       parx_dags_count_direct(x, root) < before;
	if (!good) {
		memcpy(x->cut, cut, size);
		memcpy(x->lift, lift, size);
		x->ntouched = ntouched;
		x->nlift = nlift;
		parx_dags_build_all(x, root);
	}
	free(cut);
	free(lift);
	return good;
}

/* Of some LID, those first that avoid the cable by their rule. */
static bool parx_dags_lead_neighbour(struct parx_dags *x, uint32_t root, uint32_t c)
{
	uint32_t lids = parx_avoids(&x->rules, x->f->chan_dst[c], root);

	for (int other = 0; other < 2; other++)
		for (uint32_t i = 0; i < x->rules.n; i++)
			if ((lids >> i & 1) != (uint32_t)other &&
			    parx_dags_cut_cable(x, root, c, i))
				return true;
	return false;
}

/* Where a switch has lost all cables that lead out of its half, every neighbour in that half would
 * take the direct cable: leave it to some of them. */
static void parx_dags_lead_around(struct parx_dags *x, uint32_t root)
{
	const struct fabric *f = x->f;

	for (uint32_t c = f->chan_off[root + 1]; c-- > f->chan_off[root];)
		x->ncut += parx_dags_is_direct(x, c) && parx_dags_lead_neighbour(x, root, c);
}

/* v is a neighbour of the root in that LID's dimension, in the half that the LID avoids, and the
 * root is in the other. */
static bool parx_dags_crosses(const struct parx_dags *x, uint32_t rule, uint32_t v, uint32_t root)
{
	const uint16_t *a = grid_coord(x->grid, v), *b = grid_coord(x->grid, root);
	uint32_t half = x->rules.half[root];

	if (!(x->rules.half[v] >> rule & 1) || half >> rule & 1)
		return false;
	for (uint32_t d = 0; d < x->grid->ndims; d++)
		if ((a[d] != b[d]) != (d == rule / 2))
			return false;
	return true;
}

/* Ways out of the halves that hold both switches; 0: none does. */
static uint32_t parx_dags_count_exits(const struct parx_dags *x, uint32_t v, uint32_t root)
{
	uint32_t n = 0;

	for (uint32_t lids = parx_avoids(&x->rules, v, root); lids; lids &= lids - 1) {
		uint32_t rule = (uint32_t)__builtin_ctz(lids), size = x->grid->size[rule / 2];

		n += rule & 1 ? size / 2 : size - (size + 1) / 2;
	}
	return n;
}

/* No path of this LID is longer than before but for those of its extra switches. */
static bool parx_dags_keeps_hops(const struct parx_dags *x, uint32_t rule, const uint32_t *hops)
{
	const struct spdag *g = &x->dag[rule];

	for (uint32_t u = 0; u < x->f->nsw; u++)
		if (g->dist[g->pos[u]] > hops[u] + (x->extra[u] >> rule & 1))
			return false;
	return true;
}

/* Small messages of all its extra switches have a shortest path, on whichever LID.  From the middle
 * of a line, which is in both halves, this LID's may be the only one. */
static bool parx_dags_keeps_shortest(const struct parx_dags *x, uint32_t rule)
{
	if (parx_dags_has_spare(x))
		return true;
	for (uint32_t u = 0; u < x->f->nsw; u++)
		if (x->extra[u] >> rule & 1 && !parx_dags_has_shortest(x, u))
			return false;
	return true;
}

static void parx_dags_take_crossers(struct parx_dags *x, uint32_t root, uint32_t rule)
{
	const struct fabric *f = x->f;

	for (uint32_t c = f->chan_off[root]; c < f->chan_off[root + 1]; c++) {
		if (!parx_dags_crosses(x, rule, f->chan_dst[c], root) ||
		    x->cut[f->chan_rev[c]] >> rule & 1)
			continue;
		parx_dags_touch(x, x->cut, f->chan_rev[c], rule);
		x->extra[f->chan_dst[c]] |= 1u << rule;
	}
}

static void parx_dags_leave_crossers(struct parx_dags *x, uint32_t root, uint32_t rule)
{
	const struct fabric *f = x->f;

	for (uint32_t c = f->chan_off[root]; c < f->chan_off[root + 1]; c++)
		if (x->extra[f->chan_dst[c]] >> rule & 1)
			x->cut[f->chan_rev[c]] &= ~(1u << rule);
	for (uint32_t u = 0; u < f->nsw; u++)
		x->extra[u] &= ~(1u << rule);
}

/* All neighbours of a half, or none. */
static void parx_dags_lead_crossers_of(struct parx_dags *x, uint32_t root, uint32_t rule)
{
	uint32_t *hops = xcalloc(x->f->nsw, sizeof(*hops));

	for (uint32_t u = 0; u < x->f->nsw; u++)
		hops[u] = x->dag[rule].dist[x->dag[rule].pos[u]];
	parx_dags_take_crossers(x, root, rule);
	if (!parx_dags_do_build(x, rule, root) || !parx_dags_keeps_hops(x, rule, hops) ||
	    !parx_dags_keeps_shortest(x, rule)) {
		parx_dags_leave_crossers(x, root, rule);
		parx_dags_do_build(x, rule, root);
	}
	free(hops);
}

static void parx_dags_lead_crossers(struct parx_dags *x, uint32_t root)
{
	const struct fabric *f = x->f;
	uint32_t done = 0;

	for (uint32_t c = f->chan_off[root]; c < f->chan_off[root + 1]; c++) {
		uint32_t v = f->chan_dst[c], exits = parx_dags_count_exits(x, v, root);

		for (uint32_t i = 0; exits && exits < f->sw_nterm[root] && i < x->rules.n; i++) {
			if (done >> i & 1 || !parx_dags_crosses(x, i, v, root))
				continue;
			done |= 1u << i;
			parx_dags_lead_crossers_of(x, root, i);
		}
	}
}

uint64_t parx_dags_build(struct parx_dags *x, uint32_t root, bool ordered)
{
	if (x->root == root && x->ordered == ordered)
		return 0;
	x->root = root;
	x->ordered = ordered;
	while (x->ntouched) {
		uint32_t c = x->touched[--x->ntouched];

		x->lift[c] = x->cut[c] = 0;
	}
	memset(x->extra, 0, x->f->nsw * sizeof(*x->extra));
	spdag_shortest(&x->dag[x->rules.n], x->f, root);
	for (uint32_t i = 0; i < x->rules.n; i++) {
		parx_dags_do_build(x, i, root);
		for (uint32_t p = x->f->nsw; p-- && x->avoided[p];)
			x->nforced++;
	}
	if (!parx_dags_has_spare(x))
		parx_dags_make_minimal(x, root);
	else if (ordered)
		parx_dags_order_shortest(x);
	parx_dags_lead_around(x, root);
	parx_dags_lead_crossers(x, root);
	return (uint64_t)(2 * x->rules.n + 1) * x->f->nchan;
}
