/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/ftree_ways.h"

#include "fabric/base/memory/mem.h"

#include <stdlib.h>
#include <string.h>

#define AHEAD 8 /* rows asked for before they are written */

/* How a position chooses among its edges. */
enum way {
	WAY_SLOT,  /* up, by the slot of the destination's turn, all of which are edges */
	WAY_SOME,  /* the same, but not all are */
	WAY_CHILD, /* to the only switch below, by the cable that the destination would go up */
	WAY_TURN,  /* any edge, in turn */
};

static void ftree_net_look_at_slots(struct ftree_net *net, uint32_t u)
{
	const struct fattree *tree = net->tree;
	const struct fabric *f = net->f;
	uint32_t first = tree->slot_off[u], n = tree->pattern[tree->pattern_of[u]].nslot;

	net->slots_up[u] = true;
	for (uint32_t s = first; s < first + n; s++) {
		uint32_t c = tree->slot[s];

		net->slot_dst[s] = c == FAB_NONE ? u : f->chan_dst[c];
		if (c == FAB_NONE)
			continue;
		net->slots_of[c]++;
		net->slots_up[u] &= updown_is_up(&net->ud, f, c);
	}
	net->only_slots[0][u] = net->only_slots[1][u] = true;
	for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++)
		if (!net->slots_of[c])
			net->only_slots[updown_is_up(&net->ud, f, c)][u] = false;
}

/* Slots by the switch to which they lead. */
static void ftree_net_list_into(struct ftree_net *net, uint32_t nslot)
{
	const struct fattree *tree = net->tree;
	uint32_t nsw = net->f->nsw, *fill = net->into_off = xcalloc(nsw + 2, sizeof(*fill));

	net->into = xcalloc(nslot, sizeof(*net->into));
	for (uint32_t s = 0; s < nslot; s++)
		if (tree->slot[s] != FAB_NONE)
			fill[net->slot_dst[s] + 2]++;
	for (uint32_t u = 0; u < nsw; u++)
		fill[u + 2] += fill[u + 1];
	for (uint32_t u = 0; u < nsw; u++) {
		uint32_t first = tree->slot_off[u], p = tree->pattern_of[u];

		for (uint32_t s = 0; s < tree->pattern[p].nslot; s++)
			if (tree->slot[first + s] != FAB_NONE)
				net->into[fill[net->slot_dst[first + s] + 1]++] =
					(struct ftree_slot){ u, net->first_slot[p] + s };
	}
}

/* Slots without cables by the switch that lacks them. */
static void ftree_net_list_missing(struct ftree_net *net, uint32_t nslot)
{
	const struct fattree *tree = net->tree;
	uint32_t n = 0;

	net->missing = xcalloc(nslot, sizeof(*net->missing));
	net->missing_off = xcalloc(net->f->nsw + 1, sizeof(*net->missing_off));
	for (uint32_t u = 0; u < net->f->nsw; u++) {
		uint32_t first = tree->slot_off[u], p = tree->pattern_of[u];

		for (uint32_t s = 0; s < tree->pattern[p].nslot; s++) {
			if (tree->slot[first + s] == FAB_NONE)
				net->missing[n++] = net->first_slot[p] + s;
		}
		net->missing_off[u + 1] = n;
	}
}

/* The switch below with the most channels up. */
static uint32_t ftree_net_fullest_below(const struct ftree_net *net, uint32_t v)
{
	const uint32_t *off = net->ud.up_off, *dst = net->f->chan_dst;
	uint32_t best = FAB_NONE, most = 0;

	for (uint32_t c = net->f->chan_off[v]; c < net->f->chan_off[v + 1]; c++) {
		uint32_t u = dst[c], n = off[u + 1] - off[u];

		if (net->ud.rank[u] <= net->ud.rank[v] || n <= most)
			continue;
		most = n;
		best = u;
	}
	return best;
}

/* Are all neighbours above u also above x, and all of those nearer to the top than u?  mark: by
 * switch, of nobody. */
static bool ftree_net_is_like(const struct ftree_net *net, uint32_t u, uint32_t x, bool *mark)
{
	const struct updown *ud = &net->ud;
	bool like = true;

	for (uint32_t e = ud->up_off[x]; e < ud->up_off[x + 1]; e++) {
		mark[ud->up_dst[e]] = true;
		like &= ud->rank[ud->up_dst[e]] < ud->rank[u];
	}
	for (uint32_t e = ud->up_off[u]; e < ud->up_off[u + 1]; e++)
		like &= mark[ud->up_dst[e]];
	for (uint32_t e = ud->up_off[x]; e < ud->up_off[x + 1]; e++)
		mark[ud->up_dst[e]] = false;
	return like;
}

/* Most switches have the same neighbours above them as others. */
static void ftree_net_find_like(struct ftree_net *net)
{
	const struct updown *ud = &net->ud;
	uint32_t nsw = net->f->nsw, *fullest = xcalloc(nsw, sizeof(*fullest));
	bool *mark = xcalloc(nsw, sizeof(*mark));

	net->like = xcalloc(nsw, sizeof(*net->like));
	for (uint32_t v = 0; v < nsw; v++)
		fullest[v] = ftree_net_fullest_below(net, v);
	for (uint32_t u = 0; u < nsw; u++) {
		uint32_t above = ud->up_dst[ud->up_off[u]], x = FAB_NONE;

		if (ud->up_off[u] < ud->up_off[u + 1])
			x = fullest[above];
		net->like[u] = x != FAB_NONE && ftree_net_is_like(net, u, x, mark) ? x : u;
	}
	free(mark);
	free(fullest);
}

void ftree_net_init(struct ftree_net *net, const struct fabric *f, const struct tree *levels,
		    const struct chan_weights *weights, bool shares)
{
	uint32_t nslot = 0;

	*net = (struct ftree_net){ .f = f, .level = levels->level, .weights = weights };
	net->tree = fattree_new(f, levels, shares ? weights : NULL);
	net->turns = fattree_turns_new(f, net->tree);
	updown_init(&net->ud, f, &net->tree->root, 1);
	net->slots_of = xcalloc(f->nchan, sizeof(*net->slots_of));
	for (uint32_t u = 0; u < f->nsw; u++)
		nslot += net->tree->pattern[net->tree->pattern_of[u]].nslot;
	net->slot_dst = xcalloc(nslot, sizeof(*net->slot_dst));
	net->first_slot = xcalloc(net->tree->npattern + 1, sizeof(*net->first_slot));
	for (uint32_t p = 0; p < net->tree->npattern; p++)
		net->first_slot[p + 1] = net->first_slot[p] + net->tree->pattern[p].nslot;
	net->slots_up = xcalloc(f->nsw, sizeof(*net->slots_up));
	for (int up = 0; up < 2; up++)
		net->only_slots[up] = xcalloc(f->nsw, sizeof(bool));
	for (uint32_t u = 0; u < f->nsw; u++)
		ftree_net_look_at_slots(net, u);
	ftree_net_list_into(net, nslot);
	ftree_net_list_missing(net, nslot);
	ftree_net_find_like(net);
}

void ftree_net_done(struct ftree_net *net)
{
	updown_done(&net->ud);
	fattree_turns_free(net->turns);
	fattree_free(net->tree);
	free(net->slots_of);
	free(net->slot_dst);
	free(net->first_slot);
	free(net->into_off);
	free(net->into);
	free(net->missing_off);
	free(net->missing);
	free(net->like);
	free(net->only_slots[0]);
	free(net->only_slots[1]);
	free(net->slots_up);
}

uint32_t ftree_net_up(const struct ftree_net *net, uint32_t u, uint32_t number)
{
	const struct fattree *tree = net->tree;
	const struct fattree_pattern *pat = &tree->pattern[tree->pattern_of[u]];

	if (!pat->nslot)
		return FAB_NONE;
	return tree->slot[tree->slot_off[u] +
			  fattree_turns_slot(net->turns, pat->level, pat->nslot, number)];
}

bool ftree_net_is_top(const struct ftree_net *net, uint32_t u)
{
	return !net->tree->pattern[net->tree->pattern_of[u]].nslot;
}

void ftree_ways_init(struct ftree_ways *w, const struct ftree_net *net)
{
	uint32_t nsw = net->f->nsw;

	*w = (struct ftree_ways){ .mem = arena_new() };
	spdag_init(&w->dag, net->f);
	w->way = arena_array(w->mem, uint8_t, nsw);
	w->nedge = arena_array(w->mem, uint32_t, nsw);
	w->chan = arena_array(w->mem, uint32_t, (size_t)nsw * FTREE_LIDS);
	w->open = arena_array(w->mem, uint64_t, nsw);
	w->waits = arena_array(w->mem, uint64_t, nsw);
	w->takers = arena_array(w->mem, uint64_t, net->first_slot[net->tree->npattern]);
	w->taken = arena_array(w->mem, uint32_t, net->first_slot[net->tree->npattern]);
	w->ntaken = arena_array(w->mem, uint32_t, net->tree->npattern);
	w->above = arena_array(w->mem, struct ftree_above, nsw);
	for (uint32_t u = 0; u < nsw; u++)
		w->above[u].root = FAB_NONE;
	w->turn = arena_array(w->mem, uint32_t, (size_t)net->tree->npattern * FTREE_LIDS);
	w->child = arena_array(w->mem, uint32_t, TREE_LEVELS * FTREE_LIDS);
	w->routes = arena_array(w->mem, uint32_t, (size_t)nsw * FTREE_LIDS);
}

void ftree_ways_done(struct ftree_ways *w)
{
	spdag_done(&w->dag);
	arena_free(w->mem);
}

/* --- towards a switch ------------------------------------------------------------------------ */

/* Is the channel an edge of the DAG?  It leaves the switch at position i. */
static bool ftree_ways_is_edge(const struct ftree_ways *w, const struct ftree_net *net, uint32_t i,
			       uint32_t c)
{
	const struct spdag *g = &w->dag;
	uint32_t to = g->pos[net->f->chan_dst[c]];

	return g->dist[to] + 1 == g->dist[i] &&
	       updown_is_up(&net->ud, net->f, c) == (i >= w->ndown) &&
	       (i >= w->ndown || to < w->ndown);
}

uint32_t ftree_ways_edges(const struct ftree_ways *w, const struct ftree_net *net, uint32_t i,
			  uint32_t *chan)
{
	const struct spdag *g = &w->dag;
	const struct updown *ud = &net->ud;
	uint32_t u = g->sw[i], n = 0;

	if (i < w->ndown) {
		memcpy(chan, g->chan + g->off[i], w->nedge[i] * sizeof(*chan));
		return w->nedge[i];
	}
	for (uint32_t e = ud->up_off[u]; e < ud->up_off[u + 1]; e++)
		if (g->hops[ud->up_dst[e]] + 1 == g->dist[i])
			chan[n++] = ud->up_chan[e];
	return n;
}

/* Are all slots of the switch at position i edges? */
static enum way ftree_ways_find_up(const struct ftree_ways *w, const struct ftree_net *net,
				   uint32_t i)
{
	uint32_t u = w->dag.sw[i], n = net->tree->pattern[net->tree->pattern_of[u]].nslot,
		 found = 0;
	uint32_t chan[FAB_MAX_PORT + 1];

	if (!n)
		return WAY_TURN;
	if (!net->tree->shares && net->only_slots[i >= w->ndown][u])
		return w->nedge[i] == n ? WAY_SLOT : WAY_SOME;
	for (uint32_t e = ftree_ways_edges(w, net, i, chan); e--;)
		found += net->slots_of[chan[e]];
	return found == n ? WAY_SLOT : WAY_SOME;
}

/* first: where an edge of it leads. */
static enum way ftree_ways_find(const struct ftree_ways *w, const struct ftree_net *net, uint32_t i,
				uint32_t first)
{
	uint32_t level = net->level[w->dag.sw[i]], chan[FAB_MAX_PORT + 1];

	if (level == TREE_IDLE)
		return WAY_TURN;
	if (net->level[first] == level + 1)
		return ftree_ways_find_up(w, net, i);
	for (uint32_t e = ftree_ways_edges(w, net, i, chan); e--;)
		if (net->f->chan_dst[chan[e]] != first)
			return WAY_TURN;
	return WAY_CHILD;
}

/* first: where the first edge of position i leads. */
static void ftree_ways_set(struct ftree_ways *w, const struct ftree_net *net, uint32_t i,
			   uint32_t first)
{
	w->way[i] = (uint8_t)ftree_ways_find(w, net, i, first);
	if (w->way[i] == WAY_SOME)
		w->whole = false;
}

/* The best neighbours above u. */
static struct ftree_above ftree_ways_look_above(const struct ftree_ways *w,
						const struct ftree_net *net, uint32_t u)
{
	const struct spdag *g = &w->dag;
	const uint32_t *v = net->ud.up_dst + net->ud.up_off[u];
	uint32_t n = net->ud.up_off[u + 1] - net->ud.up_off[u];
	struct ftree_above a = { .root = g->root, .hops = FAB_NONE };

	for (uint32_t k = 0; k < n; k++) {
		uint32_t hops = g->hops[v[k]];

		if (hops < a.hops) {
			a.hops = hops;
			a.first = v[k];
			a.n = 0;
		}
		a.n += hops == a.hops;
	}
	return a;
}

/* Puts u behind its best neighbours above it, of which it finds the first.  Where those of one like
 * it are all as good, so are its own. */
static void ftree_ways_attach(struct ftree_ways *w, const struct ftree_net *net, uint32_t u)
{
	struct spdag *g = &w->dag;
	uint32_t x = net->like[u], first = net->ud.up_off[u], n = net->ud.up_off[u + 1] - first;
	uint32_t all = net->ud.up_off[x + 1] - net->ud.up_off[x], i = g->n++;
	struct ftree_above a;

	if (w->above[x].root != g->root)
		w->above[x] = ftree_ways_look_above(w, net, x);
	a = w->above[x];
	if (a.n == all) {
		a.first = net->ud.up_dst[first];
		a.n = n;
	} else if (x != u) {
		a = ftree_ways_look_above(w, net, u);
	}
	g->sw[i] = u;
	g->pos[u] = i;
	g->dist[i] = g->hops[u] = a.hops + 1;
	w->nedge[i] = a.n;
	ftree_ways_set(w, net, i, a.first);
}

/* updown_dag() without most of its edges.  As there is one root, every switch but that has another
 * above it. */
void ftree_ways_turn_to(struct ftree_ways *w, const struct ftree_net *net, uint32_t root)
{
	struct spdag *g = &w->dag;

	if (g->root == root)
		return;
	updown_dag_down(&net->ud, g, net->f, root);
	w->ndown = g->n;
	w->whole = true;
	for (uint32_t i = 1; i < w->ndown; i++) {
		w->nedge[i] = g->off[i + 1] - g->off[i];
		ftree_ways_set(w, net, i, g->sw[g->to[g->off[i]]]);
	}
	for (uint32_t k = 0; k < net->f->nsw; k++)
		if (g->pos[net->ud.order[k]] == FAB_NONE)
			ftree_ways_attach(w, net, net->ud.order[k]);
}

/* --- towards some of its LIDs ---------------------------------------------------------------- */

/* The way up that number j would take by itself, backwards. */
static void ftree_ways_climb(struct ftree_ways *w, const struct ftree_net *net, uint32_t k,
			     uint32_t j)
{
	const struct fattree *tree = net->tree;
	const struct fabric *f = net->f;
	uint32_t u = w->dag.root, c;

	for (uint32_t p = 0; p < tree->npattern; p++) {
		const struct fattree_pattern *pat = &tree->pattern[p];

		uint32_t first = net->first_slot[p], slot;

		if (!pat->nslot)
			continue;
		slot = fattree_turns_slot(net->turns, pat->level, pat->nslot, j);
		w->turn[p * w->n + k] = slot;
		if (!w->takers[first + slot])
			w->taken[first + w->ntaken[p]++] = slot;
		w->takers[first + slot] |= 1ull << k;
	}
	for (uint32_t l = 0; l < tree->tree->nlevel; l++)
		w->child[l * w->n + k] = FAB_NONE;
	while ((c = ftree_net_up(net, u, j)) != FAB_NONE) {
		w->child[net->level[u] * w->n + k] = f->chan_rev[c];
		u = f->chan_dst[c];
	}
}

/* An edge of position i, in turn. */
static uint32_t ftree_ways_any(const struct ftree_ways *w, const struct ftree_net *net, uint32_t i,
			       uint64_t j)
{
	uint32_t chan[FAB_MAX_PORT + 1], n = ftree_ways_edges(w, net, i, chan);

	return chan[j % n];
}

/* Down to the only switch below. */
static uint32_t ftree_ways_child(const struct ftree_ways *w, const struct ftree_net *net,
				 uint32_t i, uint32_t k, uint32_t j)
{
	uint32_t u = w->dag.sw[i], level = net->level[u], own;

	own = level ? w->child[(level - 1) * w->n + k] : FAB_NONE;
	if (own != FAB_NONE && net->f->chan_src[own] == u && ftree_ways_is_edge(w, net, i, own))
		return own;
	return ftree_ways_any(w, net, i, j / net->tree->div[level]);
}

/* Is the slot of the switch at position i, by which a cable leaves, no edge? */
static bool ftree_ways_lacks(const struct ftree_ways *w, const struct ftree_net *net, uint32_t i,
			     uint32_t slot)
{
	const struct spdag *g = &w->dag;
	uint32_t u = g->sw[i], at = net->tree->slot_off[u] + slot, c = net->tree->slot[at];

	if (i >= w->ndown && net->slots_up[u])
		return g->hops[net->slot_dst[at]] + 1 != g->dist[i];
	return c == FAB_NONE || !ftree_ways_is_edge(w, net, i, c);
}

/* LIDs whose slot at position i is no edge. */
static uint64_t ftree_ways_lacking(const struct ftree_ways *w, const struct ftree_net *net,
				   uint32_t i)
{
	uint32_t u = w->dag.sw[i], p = net->tree->pattern_of[u];
	const uint64_t *takers = w->takers + net->first_slot[p];
	const uint32_t *taken = w->taken + net->first_slot[p];
	uint64_t lacking = 0;

	if (i >= w->ndown && net->slots_up[u] &&
	    w->nedge[i] == net->ud.up_off[u + 1] - net->ud.up_off[u]) {
		for (uint32_t m = net->missing_off[u]; m < net->missing_off[u + 1]; m++)
			lacking |= w->takers[net->missing[m]];
		return lacking;
	}
	for (uint32_t x = 0; x < w->ntaken[p]; x++)
		if (ftree_ways_lacks(w, net, i, taken[x]))
			lacking |= takers[taken[x]];
	return lacking;
}

/* By slots. */
static void ftree_ways_go_up(struct ftree_ways *w, const struct ftree_net *net, uint32_t i)
{
	const struct fattree *tree = net->tree;
	uint32_t u = w->dag.sw[i], n = w->n, *chan = w->chan + (size_t)i * n;
	const uint32_t *slot = tree->slot + tree->slot_off[u];
	const uint32_t *turn = w->turn + (size_t)tree->pattern_of[u] * n;

	for (uint32_t k = 0; k < n; k++)
		chan[k] = slot[turn[k]];
}

/* What position i would choose if all were well. */
static void ftree_ways_want(struct ftree_ways *w, const struct ftree_net *net, uint32_t i,
			    const uint32_t *number)
{
	uint32_t n = w->n, *chan = w->chan + (size_t)i * n, only;

	if (w->way[i] == WAY_SLOT || w->way[i] == WAY_SOME) {
		ftree_ways_go_up(w, net, i);
		return;
	}
	if (w->nedge[i] == 1) {
		only = ftree_ways_any(w, net, i, 0);
		for (uint32_t k = 0; k < n; k++)
			chan[k] = only;
		return;
	}
	for (uint32_t k = 0; k < n; k++)
		chan[k] = w->way[i] == WAY_CHILD ? ftree_ways_child(w, net, i, k, number[k])
						 : ftree_ways_any(w, net, i, number[k]);
}

/* LIDs for which position i goes where it is open. */
static uint64_t ftree_ways_open(const struct ftree_ways *w, const struct ftree_net *net, uint32_t i)
{
	const uint32_t *chan = w->chan + (size_t)i * w->n, *dst = net->f->chan_dst;
	uint64_t open = 0;

	for (uint32_t k = 0; k < w->n; k++)
		open |= w->open[dst[chan[k]]] & 1ull << k;
	return open;
}

/* LIDs which position i has to leave open.  any: some are before it. */
static uint64_t ftree_ways_find_open(const struct ftree_ways *w, const struct ftree_net *net,
				     uint32_t i, bool any)
{
	uint32_t u = w->dag.sw[i];

	switch (w->way[i]) {
	case WAY_SLOT:
		return w->waits[u];
	case WAY_SOME:
		return w->waits[u] | ftree_ways_lacking(w, net, i);
	default:
		return any ? ftree_ways_open(w, net, i) : 0;
	}
}

/* Those whose slots lead here from elsewhere wait there. */
static void ftree_ways_leave_open(struct ftree_ways *w, const struct ftree_net *net, uint32_t i)
{
	uint32_t u = w->dag.sw[i];
	uint64_t open = w->open[u];

	for (uint64_t left = open; left; left &= left - 1)
		w->chan[(size_t)i * w->n + (uint32_t)__builtin_ctzll(left)] = FAB_NONE;
	for (uint32_t s = net->into_off[u]; s < net->into_off[u + 1]; s++)
		w->waits[net->into[s].sw] |= open & w->takers[net->into[s].number];
}

/* Those that could not have theirs take any. */
static void ftree_ways_close(struct ftree_ways *w, const struct ftree_net *net, uint32_t i,
			     const uint32_t *number)
{
	for (uint64_t left = ftree_ways_lacking(w, net, i); left; left &= left - 1) {
		uint32_t k = (uint32_t)__builtin_ctzll(left);

		w->chan[(size_t)i * w->n + k] = ftree_ways_any(w, net, i, number[k]);
	}
}

uint64_t ftree_ways_choose(struct ftree_ways *w, const struct ftree_net *net,
			   const uint32_t *number, uint32_t n, bool free)
{
	uint64_t any = 0;

	w->n = n;
	memset(w->open, 0, net->f->nsw * sizeof(*w->open));
	memset(w->waits, 0, net->f->nsw * sizeof(*w->waits));
	memset(w->takers, 0, net->first_slot[net->tree->npattern] * sizeof(*w->takers));
	memset(w->ntaken, 0, net->tree->npattern * sizeof(*w->ntaken));
	for (uint32_t k = 0; k < n; k++)
		ftree_ways_climb(w, net, k, number[k]);
	for (uint32_t i = 1; i < w->dag.n; i++) {
		uint32_t u = w->dag.sw[i];

		ftree_ways_want(w, net, i, number);
		if (!free && w->way[i] == WAY_SOME)
			ftree_ways_close(w, net, i, number);
		if (free)
			w->open[u] = ftree_ways_find_open(w, net, i, any);
		if (!w->open[u])
			continue;
		any |= w->open[u];
		ftree_ways_leave_open(w, net, i);
	}
	return any;
}

/* From every position, the farthest first, to where the ways of the LIDs lead. */
void ftree_ways_add_loads(struct ftree_ways *w, const struct ftree_net *net, uint64_t *load)
{
	const uint32_t *dst = net->f->chan_dst, n = w->n;
	uint32_t *routes = w->routes;

	for (uint32_t u = 0; u < net->f->nsw; u++)
		for (uint32_t k = 0; k < n; k++)
			routes[(size_t)u * n + k] = net->f->sw_nterm[u];
	for (uint32_t i = w->dag.n; i-- > 1;) {
		const uint32_t *own = routes + (size_t)w->dag.sw[i] * n;
		const uint32_t *chan = w->chan + (size_t)i * n;

		for (uint32_t k = 0; k < n; k++) {
			uint32_t c = chan[k];

			if (c == FAB_NONE || !own[k])
				continue;
			load[c] += (uint64_t)own[k] * chan_weight(net->weights, c);
			routes[(size_t)dst[c] * n + k] += own[k];
		}
	}
}

/* Of one row. */
static void ftree_ways_write_row(const struct ftree_ways *w, const struct ftree_net *net,
				 uint8_t *row, const struct dest *d, uint32_t i)
{
	const uint8_t *port = net->f->chan_port;
	const uint32_t *chan = w->chan + (size_t)i * w->n;
	uint64_t open = w->open[w->dag.sw[i]];

	for (uint32_t k = 0; k < w->n; k++)
		if (!(open >> k & 1))
			row[d[k].lid] = port[chan[k]];
}

void ftree_ways_write(const struct ftree_ways *w, const struct ftree_net *net, struct tables *t,
		      const struct dest *d)
{
	const struct spdag *g = &w->dag;

	for (uint32_t i = 1; i < g->n; i++) {
		if (i + AHEAD < g->n)
			__builtin_prefetch(tables_row(t, g->sw[i + AHEAD]) + d[0].lid, 1);
		ftree_ways_write_row(w, net, tables_row(t, g->sw[i]), d, i);
	}
	for (uint32_t k = 0; k < w->n; k++)
		tables_row(t, g->root)[d[k].lid] = d[k].port;
}
