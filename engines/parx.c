/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/parx.h"

#include "engines/balance.h"
#include "engines/graph.h"
#include "engines/hyperx.h"
#include "engines/layers.h"
#include "engines/parx_rules.h"
#include "engines/spdag.h"
#include "fabric/base/mem.h"
#include "fabric/model/demand.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parx {
	const struct fabric *f;
	const struct grid *grid;
	struct parx_rules rules;
	uint8_t lmc; /* of traffic LIDs */
	struct balance *balance;

	/* for the destination switch at hand */
	uint32_t root;
	struct spdag *dag; /* by rule; the last one is that of all shortest paths */
	uint32_t *avoided; /* scratch by position: avoided cables on the way */
	uint32_t *lift;	   /* by channel: bit i, LID i may use it all the same */
	uint32_t *lifted;  /* channels with a bit in lift */
	uint32_t nlifted;

	uint32_t *weight; /* by switch */
	uint64_t nlift;	  /* LIDs of a switch that may use avoided cables ... */
	uint64_t nforced; /* ... and (switch, LID of a switch) that must */
};

static void parx_init(struct parx *x, const struct fabric *f, const struct grid *grid,
		      struct tables *t, uint8_t lmc)
{
	*x = (struct parx){ .f = f, .grid = grid, .lmc = lmc, .root = FAB_NONE };
	parx_rules_init(&x->rules, grid);
	x->balance = balance_new(f, t, BALANCE_PATHS, NULL, NULL);
	x->dag = xcalloc(x->rules.n + 1, sizeof(*x->dag));
	for (uint32_t i = 0; i <= x->rules.n; i++)
		spdag_init(&x->dag[i], f);
	x->avoided = xcalloc(f->nsw, sizeof(*x->avoided));
	x->lift = xcalloc(f->nchan, sizeof(*x->lift));
	x->lifted = xcalloc(f->nchan, sizeof(*x->lifted));
	x->weight = xcalloc(f->nsw, sizeof(*x->weight));
}

static void parx_done(struct parx *x)
{
	for (uint32_t i = 0; i <= x->rules.n; i++)
		spdag_done(&x->dag[i]);
	free(x->dag);
	parx_rules_done(&x->rules);
	balance_free(x->balance);
	free(x->avoided);
	free(x->lift);
	free(x->lifted);
	free(x->weight);
}

static bool is_avoided(const struct parx *x, uint32_t rule, uint32_t c)
{
	uint32_t lids = parx_avoids(&x->rules, x->f->chan_src[c], x->f->chan_dst[c]);

	return (lids & ~x->lift[c]) >> rule & 1;
}

/* Takes in the switches from which a channel leads to position i, that is avoided or not. */
static void discover(struct parx *x, uint32_t rule, uint32_t i, bool avoided)
{
	const struct fabric *f = x->f;
	struct spdag *g = &x->dag[rule];
	uint32_t u = g->sw[i];

	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
		uint32_t v = f->chan_dst[c];

		if (g->pos[v] != FAB_NONE || is_avoided(x, rule, f->chan_rev[c]) != avoided)
			continue;
		g->pos[v] = g->n;
		g->sw[g->n] = v;
		g->dist[g->n] = g->dist[i] + 1;
		x->avoided[g->n++] = x->avoided[i] + avoided;
	}
}

/* Positions by (avoided cables, hops).  Switches with one avoided cable more come from those
 * before, over an avoided cable, or from each other: whichever is nearer first. */
static void order_switches(struct parx *x, uint32_t rule, uint32_t root)
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
		discover(x, rule, i, false);
	while (g->n < x->f->nsw) {
		uint32_t i = end = g->n;

		while (begin < end || i < g->n) {
			if (i < g->n && (begin == end || g->dist[i] <= g->dist[begin]))
				discover(x, rule, i++, false);
			else
				discover(x, rule, begin++, true);
		}
	}
}

static void list_edges(struct parx *x, uint32_t rule)
{
	const struct fabric *f = x->f;
	struct spdag *g = &x->dag[rule];

	g->nfound = 0;
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t u = g->sw[i];

		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
			uint32_t p = g->pos[f->chan_dst[c]], back = f->chan_rev[c];

			if (g->dist[p] != g->dist[i] + 1 ||
			    x->avoided[p] != x->avoided[i] + is_avoided(x, rule, back))
				continue;
			g->found_from[g->nfound] = p;
			g->found_chan[g->nfound] = back;
			g->found_to[g->nfound++] = i;
		}
	}
	spdag_sort_edges(g);
}

static void build(struct parx *x, uint32_t rule, uint32_t root)
{
	order_switches(x, rule, root);
	list_edges(x, rule);
}

/* Avoided cables on the shortest path from a switch that has fewest of them. */
static uint32_t fewest_avoided(struct parx *x, uint32_t rule, uint32_t from)
{
	const struct spdag *g = &x->dag[x->rules.n];

	x->avoided[0] = 0;
	for (uint32_t i = 1; i <= g->pos[from]; i++) {
		x->avoided[i] = UINT32_MAX;
		for (uint32_t k = g->off[i]; k < g->off[i + 1]; k++) {
			uint32_t n = x->avoided[g->to[k]] + is_avoided(x, rule, g->chan[k]);

			x->avoided[i] = n < x->avoided[i] ? n : x->avoided[i];
		}
	}
	return x->avoided[g->pos[from]];
}

/* Lets a LID use the cables of that path. */
static void lift_path(struct parx *x, uint32_t rule, uint32_t from)
{
	const struct spdag *g = &x->dag[x->rules.n];

	fewest_avoided(x, rule, from);
	for (uint32_t i = g->pos[from]; i;) {
		uint32_t k = g->off[i];

		while (x->avoided[g->to[k]] + is_avoided(x, rule, g->chan[k]) != x->avoided[i])
			k++;
		if (is_avoided(x, rule, g->chan[k])) {
			if (!x->lift[g->chan[k]])
				x->lifted[x->nlifted++] = g->chan[k];
			x->lift[g->chan[k]] |= 1u << rule;
		}
		i = g->to[k];
	}
}

static bool has_shortest(const struct parx *x, uint32_t u)
{
	const struct spdag *all = &x->dag[x->rules.n];

	for (uint32_t i = 0; i < x->rules.n; i++)
		if (x->dag[i].dist[x->dag[i].pos[u]] == all->dist[all->pos[u]])
			return true;
	return false;
}

/* The first switch from which no LID has a shortest path; FAB_NONE. */
static uint32_t find_detoured(const struct parx *x)
{
	uint32_t u = 0;

	while (u < x->f->nsw && has_shortest(x, u))
		u++;
	return u < x->f->nsw ? u : FAB_NONE;
}

/* Every round lifts at least one cable of one LID, so it ends with shortest paths for that. */
static void make_minimal(struct parx *x, uint32_t root)
{
	uint32_t u, best = 0, least = UINT32_MAX;

	while ((u = find_detoured(x)) != FAB_NONE) {
		for (uint32_t i = 0; i < x->rules.n; i++) {
			uint32_t n = fewest_avoided(x, i, u);

			best = n < least ? i : best;
			least = n < least ? n : least;
		}
		lift_path(x, best, u);
		build(x, best, root);
		x->nlift++;
		least = UINT32_MAX;
	}
}

/* The DAGs towards a switch; returns the edges looked at. */
static uint64_t prepare(struct parx *x, uint32_t root)
{
	if (x->root == root)
		return 0;
	x->root = root;
	while (x->nlifted)
		x->lift[x->lifted[--x->nlifted]] = 0;
	spdag_shortest(&x->dag[x->rules.n], x->f, root);
	for (uint32_t i = 0; i < x->rules.n; i++) {
		build(x, i, root);
		for (uint32_t p = x->f->nsw; p-- && x->avoided[p];)
			x->nforced++;
	}
	if (1u << x->lmc == x->rules.n)
		make_minimal(x, root);
	return (uint64_t)(2 * x->rules.n + 1) * x->f->nchan;
}

static uint64_t route_end(struct parx *x, uint32_t end, const uint32_t *weight)
{
	struct dest d[128];
	uint32_t n = graph_end_dests(d, x->f, x->lmc, end);
	uint64_t work = prepare(x, d->sw);

	for (uint32_t i = 0; i < n && i < x->rules.n; i++)
		work += balance_route_in(x->balance, &x->dag[i], d + i, 1, weight);
	if (n > x->rules.n)
		work += balance_route_in(x->balance, &x->dag[x->rules.n], d + x->rules.n,
					 n - x->rules.n, weight);
	return work;
}

static void weigh(struct parx *x, const struct demand *demand, uint32_t dst)
{
	memset(x->weight, 0, x->f->nsw * sizeof(*x->weight));
	for (uint32_t k = demand->off[dst]; k < demand->off[dst + 1]; k++)
		x->weight[x->f->term_sw[demand->src[k]]] += demand->w[k];
}

/* First the destinations in the demand, in its order, then all others. */
static int route_terminals(struct parx *x, const struct demand *demand, struct pace *p,
			   uint64_t *done)
{
	const struct fabric *f = x->f;
	bool *routed = xcalloc(f->nterm, sizeof(*routed));
	int rc = 0;

	for (uint32_t i = 0; demand && i < demand->ndest && !rc; i++) {
		weigh(x, demand, demand->dest[i]);
		routed[demand->dest[i]] = true;
		*done += 1u << x->lmc;
		if (pace_tick(p, *done, route_end(x, demand->dest[i], x->weight)))
			rc = -ECANCELED;
	}
	for (uint32_t k = 0; k < f->nend && !rc; k++) {
		uint32_t end = f->term_list[k];

		if (end >= f->nterm || routed[end])
			continue;
		*done += 1u << x->lmc;
		if (pace_tick(p, *done, route_end(x, end, f->sw_nterm)))
			rc = -ECANCELED;
	}
	free(routed);
	return rc;
}

static int route_paths(struct parx *x, const struct demand *demand, struct progress *progress)
{
	uint32_t n, nterm = x->f->nterm << x->lmc;
	struct dest *dests = graph_dests_by_lid(&n, x->f, x->lmc);
	struct pace pace;
	uint64_t done = 0;
	int rc = pace_begin(&pace, progress, "paths", n) ? -ECANCELED : 0;

	if (!rc)
		rc = route_terminals(x, demand, &pace, &done);
	if (!rc)
		rc = balance_route_all(x->balance, dests + nterm, n - nterm, &pace, &done);
	free(dests);
	return rc;
}

static void note(const struct parx *x, struct notes *notes)
{
	uint32_t missing = hyperx_missing(x->grid, x->f);
	char dims[96];

	notes_set(notes, "hyperx_missing", missing,
		  "HyperX of %s, %u pairs of neighbours without a cable",
		  grid_dims_text(dims, sizeof(dims), x->grid), missing);
	if (x->nforced)
		notes_set(notes, "parx_forced", x->nforced,
			  "%llu times a switch reaches one of another's LIDs only by a cable that "
			  "this LID avoids",
			  (unsigned long long)x->nforced);
	if (x->nlift)
		notes_set(notes, "parx_lifted", x->nlift,
			  "%llu times a LID may use cables that it avoids, for want of another "
			  "shortest path",
			  (unsigned long long)x->nlift);
}

static int check_lmc(const struct grid *g, uint8_t have, bool escape, struct err *err)
{
	uint8_t lmc = parx_lmc(g->ndims);
	char dims[96];

	if (have >= lmc)
		return 0;
	return err_set(
		err, -EINVAL,
		"parx takes %u LIDs per port on a HyperX of %s%s: LMC %u, and the fabric has "
		"%u; raise the LMC or take another engine",
		1u << lmc, grid_dims_text(dims, sizeof(dims), g),
		escape ? " and as many escape LIDs" : "", lmc + escape, have + escape);
}

static int suits(const struct fabric *f, struct err *why)
{
	struct grid *g;
	int rc = graph_check_connected(f, why);

	if (!rc)
		rc = hyperx_find(&g, f, why);
	if (rc)
		return rc;
	rc = check_lmc(g, f->lmc, false, why);
	grid_free(g);
	return rc;
}

static int route_grid(struct tables *t, const struct fabric *f, const struct grid *g,
		      const struct demand *demand, const struct engine_params *params,
		      struct progress *progress, struct err *err)
{
	size_t len = strlen(t->params);
	struct parx x;
	char dims[96];
	int rc;

	snprintf(t->params + len, sizeof(t->params) - len, ",hyperx=%s%s",
		 grid_dims_text(dims, sizeof(dims), g), demand ? ",demand" : "");
	parx_init(&x, f, g, t, graph_lmc(f, params));
	rc = route_paths(&x, demand, progress);
	if (!rc)
		note(&x, params->notes);
	parx_done(&x);
	return rc ? rc : layers_assign(t, f, params, progress, err);
}

static int route(struct tables **out, const struct fabric *f, const struct jobset *jobs,
		 const struct demand *demand, const struct engine_params *params,
		 struct progress *progress, struct err *err)
{
	struct tables *t;
	struct grid *g;
	int rc;

	(void)jobs;
	if (demand && demand->nterm != f->nterm)
		return err_set(
			err, -EINVAL,
			"the demand is that of another fabric (%u terminals there, %u here); "
			"read it again",
			demand->nterm, f->nterm);
	rc = hyperx_find(&g, f, err);
	if (rc)
		return rc;
	rc = check_lmc(g, graph_lmc(f, params), params->escape, err);
	if (!rc) {
		t = graph_tables(f, "parx", params);
		rc = route_grid(t, f, g, demand, params, progress, err);
		if (rc)
			tables_put(t);
		else
			*out = t;
	}
	grid_free(g);
	return rc;
}

const struct engine engine_parx = {
	.name = "parx",
	.summary = "minimal paths and detours to choose from on a HyperX, by demand (SC19)",
	.suits = suits,
	.route = route,
};
