/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/repair/regrow.h"

#include "engines/graph/lft_columns.h"
#include "engines/repair/path_fit.h"
#include "fabric/base/memory/mem.h"

#include <stdlib.h>

#define DETOUR 2 /* hops more than necessary, rather than another VL */

struct candidate {
	uint32_t chan;
	bool kept;     /* the entry that the switch has */
	uint64_t cost; /* of the path, in routes */
};

struct regrow {
	struct repair_state *r;
	struct lft_columns columns;
	struct lid_tree tree;
	const struct dest *d;
	uint32_t *left; /* switches that have no path yet, ascending ... */
	uint32_t nleft;
	uint16_t *first; /* ... and by switch the hops of the first path that was tried; 0: none */
	uint32_t *count; /* by switch: terminals behind it */
	uint32_t *used;	 /* by destination: how many others go its way */
	uint8_t *port_was, *sl_was; /* by switch */
	struct candidate list[FAB_MAX_PORT + 1];
	uint32_t n;
	uint8_t through; /* SL of packets that switches without ends may get; FAB_SLS: none */
	bool any_vl;
};

struct regrow *regrow_new(struct repair_state *r)
{
	struct regrow *g = xcalloc(1, sizeof(*g));

	g->r = r;
	lft_columns_init(&g->columns, r->f, r->out);
	lid_tree_init(&g->tree, r->f);
	g->left = xcalloc(r->f->nsw, sizeof(*g->left));
	g->first = xcalloc(r->f->nsw, sizeof(*g->first));
	g->count = xcalloc(r->f->nsw, sizeof(*g->count));
	g->used = xcalloc(r->ndest, sizeof(*g->used));
	g->port_was = xcalloc(r->f->nsw, 1);
	g->sl_was = xcalloc(r->f->nsw, 1);
	return g;
}

void regrow_free(struct regrow *g)
{
	if (!g)
		return;
	lft_columns_done(&g->columns);
	lid_tree_done(&g->tree);
	free(g->left);
	free(g->first);
	free(g->count);
	free(g->used);
	free(g->port_was);
	free(g->sl_was);
	free(g);
}

uint32_t *regrow_siblings(struct regrow *g)
{
	return g->used;
}

const struct lid_tree *regrow_tree(const struct regrow *g)
{
	return &g->tree;
}

/* --- one switch ----------------------------------------------------------------------------- */

static uint64_t regrow_cost(const struct regrow *g, uint32_t c)
{
	const struct repair_state *r = g->r;
	uint64_t cost = 0;

	for (; c != FAB_NONE; c = g->tree.chan[r->f->chan_dst[c]])
		cost += r->load[c] + chan_weight(&r->weights, c);
	return cost;
}

static bool regrow_better(const struct candidate *a, const struct candidate *b)
{
	if (a->kept != b->kept)
		return a->kept;
	return a->cost != b->cost ? a->cost < b->cost : a->chan < b->chan;
}

static void regrow_insert(struct regrow *g, struct candidate c)
{
	uint32_t i = g->n++;

	for (; i > 0 && regrow_better(&c, &g->list[i - 1]); i--)
		g->list[i] = g->list[i - 1];
	g->list[i] = c;
}

/* Channels to switches whose paths have that many hops. */
static void regrow_find_candidates(struct regrow *g, uint32_t sw, uint16_t hops)
{
	const struct fabric *f = g->r->f;
	uint8_t entry = tables_row(g->r->was, sw)[g->d->lid];

	g->n = 0;
	for (uint32_t c = f->chan_off[sw]; c < f->chan_off[sw + 1]; c++)
		if (!g->r->down[c] && g->tree.hops[f->chan_dst[c]] == hops)
			regrow_insert(g, (struct candidate){ c, f->chan_port[c] == entry,
							     regrow_cost(g, c) });
}

/* Adds the routes of that many terminals to the path from sw. */
static void regrow_add_load(struct regrow *g, uint32_t sw, uint32_t terminals)
{
	struct repair_state *r = g->r;

	if (!repair_state_counts(r, g->d))
		return;
	for (uint32_t c = g->tree.chan[sw]; c != FAB_NONE; c = g->tree.chan[r->f->chan_dst[c]])
		r->load[c] += (uint64_t)terminals * chan_weight(&r->weights, c);
}

static bool regrow_fits(struct regrow *g, uint32_t sw)
{
	if (repair_state_has_ends(g->r, sw))
		return path_fit_as_is(g->r, &g->tree, sw, g->d->lid);
	return path_fit_through(g->r, &g->tree, sw, g->through);
}

static bool regrow_fits_elsewhere(struct regrow *g, uint32_t sw)
{
	unsigned sls = g->any_vl ? (1u << FAB_SLS) - 1 : g->r->sls;

	if (!repair_state_has_ends(g->r, sw))
		return g->any_vl; /* nobody needs to be led through it */
	for (unsigned m = sls; m; m &= m - 1)
		if (path_fit_on(g->r, &g->tree, sw, g->d->lid, (uint8_t)__builtin_ctz(m)))
			return true;
	return false;
}

/* Over the best candidate with the SLs that its paths have, else with others. */
static bool regrow_choose(struct regrow *g, uint32_t sw)
{
	for (int other = 0; other < 2; other++)
		for (uint32_t i = 0; i < g->n; i++) {
			g->tree.chan[sw] = g->list[i].chan;
			if (other ? regrow_fits_elsewhere(g, sw) : regrow_fits(g, sw))
				return true;
		}
	g->tree.chan[sw] = FAB_NONE;
	return false;
}

static bool regrow_attach(struct regrow *g, uint32_t sw, uint16_t level)
{
	struct repair_state *r = g->r;

	regrow_find_candidates(g, sw, (uint16_t)(level - 1));
	if (!g->n)
		return false;
	if (!g->first[sw])
		g->first[sw] = level;
	if (!g->any_vl && level > g->first[sw] + DETOUR)
		return false;
	if (!regrow_choose(g, sw))
		return false;
	tables_row(r->t, sw)[g->d->lid] = r->f->chan_port[g->tree.chan[sw]];
	g->tree.hops[sw] = level;
	regrow_add_load(g, sw, r->f->sw_nterm[sw]);
	return true;
}

/* --- one LID -------------------------------------------------------------------------------- */

static uint16_t regrow_most_hops(const struct regrow *g)
{
	uint16_t most = 0;

	for (uint32_t sw = 0; sw < g->r->f->nsw; sw++)
		if (g->tree.hops[sw] != LID_TREE_BROKEN && g->tree.hops[sw] > most)
			most = g->tree.hops[sw];
	return most;
}

/* Those that are left, level by level; true when none is any more. */
static bool regrow_levels(struct regrow *g)
{
	uint16_t most = regrow_most_hops(g);

	for (uint16_t level = 1; g->nleft && level <= most + 1; level++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < g->nleft; i++)
			if (!regrow_attach(g, g->left[i], level))
				g->left[n++] = g->left[i];
		if (n < g->nleft && level > most)
			most = level;
		g->nleft = n;
	}
	return !g->nleft;
}

/* The LID's tree as the tables have it; the switches that do not get there are left. */
static void regrow_read(struct regrow *g, const struct tables *t)
{
	const struct fabric *f = g->r->f;

	repair_state_forget_led(g->r);
	lft_columns_read(&g->columns, t, g->d, 1);
	lid_tree_read(&g->tree, lft_columns_at(&g->columns, 0), g->r->out, g->d->sw);
	g->nleft = 0;
	g->through = FAB_SLS;
	for (uint32_t sw = 0; sw < f->nsw; sw++) {
		if (g->tree.hops[sw] != LID_TREE_BROKEN || g->r->gone[sw])
			continue;
		g->left[g->nleft++] = sw;
		g->first[sw] = 0;
		g->tree.chan[sw] = FAB_NONE;
		if (g->through == FAB_SLS && repair_state_has_ends(g->r, sw))
			g->through = repair_state_sl(g->r, g->r->source_off[sw], sw, g->d->lid);
	}
}

/* Routes over all of the tree count from now on, or no more. */
static void regrow_count_tree(struct regrow *g, bool add)
{
	struct repair_state *r = g->r;
	const struct fabric *f = r->f;

	for (uint32_t i = 0; i + 1 < g->tree.norder && repair_state_counts(r, g->d); i++) {
		uint32_t sw = g->tree.order[i], c = g->tree.chan[sw];
		uint32_t n = g->count[sw] + f->sw_nterm[sw];
		uint64_t load = (uint64_t)n * chan_weight(&r->weights, c);

		if (add)
			r->load[c] += load;
		else
			r->load[c] -= load < r->load[c] ? load : r->load[c];
		g->count[f->chan_dst[c]] += n;
		g->count[sw] = 0;
	}
	g->count[g->tree.dst] = 0;
}

static void regrow_copy_sls(struct tables *t, uint32_t to, uint32_t from)
{
	size_t rows = tables_sl_rows(t->sl_kind, t->nsw, t->nend);

	for (size_t i = 0; i < rows; i++)
		t->sl[i * t->stride + to] = t->sl[i * t->stride + from];
}

/* Counted ones before others, and of these the one that the fewest go the way of. */
static bool regrow_better_sibling(const struct regrow *g, uint32_t a, uint32_t b)
{
	bool counts = repair_state_counts(g->r, &g->r->dests[a]);

	if (counts != repair_state_counts(g->r, &g->r->dests[b]))
		return counts;
	return g->used[a] < g->used[b];
}

/* Another LID of the same switch, whose paths all arrive; FAB_NONE: there is none. */
static uint32_t regrow_sibling(const struct regrow *g)
{
	const struct repair_state *r = g->r;
	uint32_t best = FAB_NONE;

	for (uint32_t i = 0; i < r->ndest; i++)
		if (r->dests[i].sw == g->d->sw && !r->broken[i] &&
		    (best == FAB_NONE || regrow_better_sibling(g, i, best)))
			best = i;
	return best;
}

/* The channels, SLs and VLs of a LID on the same switch: nothing new waits for anything. */
static bool regrow_like_sibling(struct regrow *g)
{
	struct repair_state *r = g->r;
	uint32_t like = regrow_sibling(g), lid = g->d->lid;

	if (like == FAB_NONE)
		return false;
	g->used[like]++;
	regrow_read(g, r->t);
	regrow_count_tree(g, false);
	for (uint32_t sw = 0; sw < r->f->nsw; sw++)
		tables_row(r->t, sw)[lid] = tables_row(r->t, sw)[r->dests[like].lid];
	tables_row(r->t, g->d->sw)[lid] = g->d->port;
	regrow_copy_sls(r->t, lid, r->dests[like].lid);
	regrow_read(g, r->t);
	regrow_count_tree(g, true);
	return true;
}

static bool regrow_all_new(struct regrow *g)
{
	regrow_read(g, g->r->t);
	regrow_count_tree(g, false);
	for (uint32_t sw = 0; sw < g->r->f->nsw; sw++)
		if (sw != g->d->sw)
			tables_row(g->r->t, sw)[g->d->lid] = FAB_NO_PORT;
	regrow_read(g, g->r->t);
	g->any_vl = true;
	return regrow_levels(g);
}

/* Has no switch but its own an entry for it, as for the LID of a host that has come? */
static bool regrow_unknown(const struct regrow *g)
{
	const struct repair_state *r = g->r;

	for (uint32_t sw = 0; sw < r->f->nsw; sw++)
		if (sw != g->d->sw && tables_row(r->was, sw)[g->d->lid] != FAB_NO_PORT)
			return false;
	return true;
}

/* The entries and SLs of the LID as they are now. */
static void regrow_note_before(struct regrow *g)
{
	const struct repair_state *r = g->r;

	for (uint32_t sw = 0; sw < r->f->nsw; sw++) {
		g->port_was[sw] = tables_row(r->t, sw)[g->d->lid];
		g->sl_was[sw] = repair_state_own_sl(r, sw, g->d->lid);
	}
}

static void regrow_note_changes(struct regrow *g)
{
	struct repair_state *r = g->r;
	uint16_t lid = g->d->lid;

	for (uint32_t sw = 0; sw < r->f->nsw; sw++) {
		uint8_t port = tables_row(r->t, sw)[lid], sl = repair_state_own_sl(r, sw, lid);

		if (port != g->port_was[sw] || sl != g->sl_was[sw])
			entry_changes_add(r->changes,
					  (struct entry_change){ sw, lid, g->port_was[sw], port,
								 g->sl_was[sw], sl });
	}
}

static bool regrow_any_way(struct regrow *g)
{
	struct repair_state *r = g->r;

	tables_row(r->t, g->d->sw)[g->d->lid] = g->d->port;
	regrow_read(g, r->t);
	if (!g->nleft)
		return true;
	if (regrow_unknown(g) && regrow_like_sibling(g))
		return true;
	for (int any = 0; any < 2; any++) {
		g->any_vl = any;
		if (regrow_levels(g))
			return true;
	}
	return regrow_like_sibling(g) || regrow_all_new(g);
}

bool regrow_lid(struct regrow *g, uint32_t dest, const uint32_t *at, uint32_t n)
{
	bool found;

	g->d = &g->r->dests[dest];
	regrow_note_before(g);
	for (uint32_t i = 0; i < n; i++)
		tables_row(g->r->t, at[i])[g->d->lid] = FAB_NO_PORT;
	found = regrow_any_way(g);
	regrow_note_changes(g);
	return found;
}
