/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/sar_grow.h"

#include "engines/hopmap.h"
#include "fabric/base/mem.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DAG_BYTES  (96u << 20) /* for all that are kept */
#define READ_SHARE 8	       /* of entries that are copied against edges that are looked at */
#define LINE	   64	       /* bytes of the cache */
#define FLOW	   30.0	       /* of the flows that meet against a channel as full as is aimed at */

/* All shortest paths to one switch, by switch. */
struct dag {
	uint32_t root; /* FAB_NONE: none yet */
	uint32_t *dist;
	uint32_t *off;
	uint8_t *edge; /* channels, counted from the first of the switch */
};

struct change {
	uint32_t sw;
	uint8_t port;
};

struct grow {
	const struct fabric *f;
	struct tables *t;
	struct hopmap places; /* of t */
	struct grow_load *load;
	double *same;	     /* by channel: sum of the squares of what each tree adds to flow */
	double limit;	     /* of a hot channel ... */
	bool *hot;	     /* ... by channel */
	double share;	     /* flows by route of the tree in hand */
	uint32_t *tree_chan; /* that the tree in hand uses */
	uint32_t ntree_chan;
	struct dag *dag;
	uint32_t ndag;
	uint32_t *queue;
	uint32_t *found, *fill;
	double *cost;	 /* by switch: from there to the destination */
	uint32_t *pick;	 /* by switch: channel */
	uint32_t *grown; /* by switch: stamp when in the tree; pick is its next hop then */
	uint32_t *seen;	 /* by switch: stamp of the search */
	uint32_t tree_stamp, stamp;
	bool *stays; /* by switch: the path from there, of the tree in hand, uses no hot channel */
	const struct sar_source **batch;
	struct change *undo;
	uint32_t nundo;
	const struct tables *from;
	uint8_t *differ; /* by row and block: entries that do, so that more changes are free */
	uint64_t nblocks;
	uint64_t work;
};

struct grow *grow_new(const struct fabric *f, struct tables *t, const struct tables *from)
{
	struct grow *g = xcalloc(1, sizeof(*g));
	size_t bytes = (2ull * f->nsw + 1) * sizeof(uint32_t) + f->nchan / 2;

	g->f = f;
	g->t = t;
	g->from = from;
	g->ndag = (uint32_t)(DAG_BYTES / bytes);
	g->ndag = g->ndag > f->nsw ? f->nsw : g->ndag ? g->ndag : 1;
	g->dag = xcalloc(g->ndag, sizeof(*g->dag));
	for (uint32_t i = 0; i < g->ndag; i++)
		g->dag[i].root = FAB_NONE;
	hopmap_init(&g->places, f, t);
	g->limit = HUGE_VAL;
	g->hot = xcalloc(f->nchan, sizeof(*g->hot));
	g->load = xcalloc(f->nchan, sizeof(*g->load));
	g->same = xcalloc(f->nchan, sizeof(*g->same));
	g->tree_chan = xcalloc(f->nchan, sizeof(*g->tree_chan));
	g->queue = xcalloc(f->nsw + 1ull, sizeof(*g->queue));
	g->found = xcalloc(f->nchan, sizeof(*g->found));
	g->fill = xcalloc(f->nsw, sizeof(*g->fill));
	g->cost = xcalloc(f->nsw, sizeof(*g->cost));
	g->pick = xcalloc(f->nsw, sizeof(*g->pick));
	g->grown = xcalloc(f->nsw, sizeof(*g->grown));
	g->seen = xcalloc(f->nsw, sizeof(*g->seen));
	g->stays = xcalloc(f->nsw, sizeof(*g->stays));
	g->batch = xcalloc(f->nsw, sizeof(*g->batch));
	g->undo = xcalloc(f->nsw, sizeof(*g->undo));
	g->differ = xcalloc(f->nsw, tables_blocks(t));
	return g;
}

void grow_free(struct grow *g)
{
	if (!g)
		return;
	for (uint32_t i = 0; i < g->ndag; i++) {
		free(g->dag[i].dist);
		free(g->dag[i].off);
		free(g->dag[i].edge);
	}
	free(g->dag);
	hopmap_done(&g->places);
	free(g->hot);
	free(g->load);
	free(g->same);
	free(g->tree_chan);
	free(g->queue);
	free(g->found);
	free(g->fill);
	free(g->cost);
	free(g->pick);
	free(g->grown);
	free(g->seen);
	free(g->stays);
	free(g->batch);
	free(g->undo);
	free(g->differ);
	free(g);
}

const struct grow_load *grow_loads(const struct grow *g)
{
	return g->load;
}

double grow_meets(const struct grow *g)
{
	double sum = 0;

	for (uint32_t c = 0; c < g->f->nchan; c++)
		sum += g->load[c].flow * g->load[c].flow - g->same[c];
	return sum;
}

uint64_t grow_work(const struct grow *g)
{
	return g->work + g->places.reads / READ_SHARE;
}

uint64_t grow_blocks(const struct grow *g)
{
	return g->nblocks;
}

/* Hops to the root, and into found[] the channels that lead nearer; returns how many.  Looks
 * only at the channels of switches that are not farthest away. */
static uint32_t find_nearer(struct grow *g, uint32_t *dist, uint32_t root)
{
	const struct fabric *f = g->f;
	uint32_t head = 0, tail = 0, n = 0;

	memset(dist, 0xff, f->nsw * sizeof(*dist));
	dist[root] = 0;
	g->queue[tail++] = root;
	while (head < tail) {
		uint32_t u = g->queue[head++];

		if (tail == f->nsw && dist[u] == dist[g->queue[tail - 1]])
			break;
		g->work += f->chan_off[u + 1] - f->chan_off[u];
		for (uint32_t c = f->chan_off[u]; c < f->chan_off[u + 1]; c++) {
			uint32_t v = f->chan_dst[c];

			if (dist[v] == FAB_NONE) {
				dist[v] = dist[u] + 1;
				g->queue[tail++] = v;
			}
			g->found[n] = f->chan_rev[c];
			n += dist[v] == dist[u] + 1;
		}
	}
	return n;
}

static const struct dag *find_dag(struct grow *g, uint32_t root)
{
	const struct fabric *f = g->f;
	struct dag *d = &g->dag[root % g->ndag];
	uint32_t n, sum = 0;

	if (d->root == root)
		return d;
	if (!d->off) {
		d->dist = xcalloc(f->nsw, sizeof(*d->dist));
		d->off = xcalloc(f->nsw + 1ull, sizeof(*d->off));
	}
	d->root = root;
	n = find_nearer(g, d->dist, root);
	d->edge = xrealloc(d->edge, n ? n : 1, sizeof(*d->edge));
	memset(g->fill, 0, f->nsw * sizeof(*g->fill));
	for (uint32_t k = 0; k < n; k++)
		g->fill[f->chan_src[g->found[k]]]++;
	for (uint32_t u = 0; u < f->nsw; u++) {
		d->off[u] = sum;
		sum += g->fill[u];
		g->fill[u] = d->off[u];
	}
	d->off[f->nsw] = sum;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t u = f->chan_src[g->found[k]];

		d->edge[g->fill[u]++] = (uint8_t)(g->found[k] - f->chan_off[u]);
	}
	g->work += 2ull * (f->nsw + n);
	return d;
}

/* Next channel from there; places: those of the LID. */
static inline uint32_t next_chan(const struct grow *g, uint32_t sw, const uint8_t *places)
{
	return g->f->chan_off[sw] + places[sw];
}

void grow_watch(struct grow *g, double limit)
{
	g->limit = limit;
	for (uint32_t c = 0; c < g->f->nchan; c++)
		g->hot[c] = g->load[c].all >= limit;
}

bool grow_is_hot(struct grow *g, const struct dest *d, const struct sar_source *s, uint32_t n)
{
	const uint8_t *places = hopmap_at(&g->places, d->lid);
	const uint32_t *chan_dst = g->f->chan_dst;
	uint32_t *seen = g->seen, stamp = ++g->stamp, met = 0;
	const bool *hot = g->hot;
	bool any = false;

	seen[d->sw] = stamp;
	for (uint32_t i = 0; i < n && !any; i++) {
		for (uint32_t u = s[i].sw; seen[u] != stamp && !any; met++) {
			uint32_t c = next_chan(g, u, places);

			seen[u] = stamp;
			any = hot[c];
			u = chan_dst[c];
		}
	}
	g->work += met;
	return any;
}

/* Which paths of the tree stay when only those over hot channels are to move. */
static void find_staying(struct grow *g, const struct dest *d, const struct sar_source *s,
			 uint32_t n)
{
	const uint8_t *places = hopmap_at(&g->places, d->lid);
	uint32_t *seen = g->seen, stamp = ++g->stamp, *way = g->queue;

	seen[d->sw] = stamp;
	g->stays[d->sw] = true;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t u = s[i].sw, len = 0;
		bool stays;

		for (; seen[u] != stamp; u = g->f->chan_dst[next_chan(g, u, places)]) {
			seen[u] = stamp;
			way[len++] = u;
		}
		g->work += len;
		for (stays = g->stays[u]; len > 0; g->stays[u] = stays) {
			u = way[--len];
			stays &= !g->hot[next_chan(g, u, places)];
		}
	}
}

/* A terminal counts as one of its own sources. */
static void take_in_hand(struct grow *g, const struct sar_source *s, uint32_t n)
{
	double terms = 0;

	for (uint32_t i = 0; i < n; i++)
		terms += s[i].n;
	g->share = terms > 1 ? 1 / (terms - 1) : 1;
}

/* The rule for the tree in hand. */
struct tariff {
	double load, flow;
};

static struct tariff tariff(const struct grow *g, const struct grow_rule *r)
{
	return (struct tariff){ .load = 1 / (r->aim * r->planes),
				.flow = FLOW * g->share / (r->planes * r->planes) };
}

/* Of each of n more routes of the tree in hand. */
static inline double price(const struct grow_load *l, uint32_t n, struct tariff t)
{
	double x = (l->all + l->own + n) * t.load;

	x *= x;
	x *= x;
	x *= x;
	return x * x + t.flow * l->flow * l->flow;
}

/* Adds the routes of a source to those of the tree in hand. */
static inline void put_one(struct grow *g, const struct dest *d, const uint8_t *places,
			   const struct sar_source *s)
{
	for (uint32_t u = s->sw; u != d->sw;) {
		uint32_t c = next_chan(g, u, places);

		if (g->load[c].own == 0)
			g->tree_chan[g->ntree_chan++] = c;
		g->load[c].own += s->n;
		u = g->f->chan_dst[c];
		g->work++;
	}
}

static void put_in(struct grow *g, const struct dest *d, const struct sar_source *s, uint32_t n)
{
	const uint8_t *places = hopmap_at(&g->places, d->lid);

	for (uint32_t i = 0; i < n; i++)
		put_one(g, d, places, &s[i]);
}

/* The routes of the tree in hand over a channel join the loads, or (sign -1) leave them. */
static inline void add_tree(struct grow *g, uint32_t c, int sign)
{
	struct grow_load *l = &g->load[c];
	double flow = l->own * g->share;

	l->all += sign > 0 ? l->own : -l->own;
	l->flow += sign * flow;
	g->same[c] += sign * flow * flow;
	l->own = 0;
	g->hot[c] = l->all >= g->limit;
}

/* The tree in hand is complete: adds it to the loads of all.  Returns what it costs there. */
static double settle(struct grow *g, struct tariff t)
{
	double sum = 0;

	while (g->ntree_chan > 0) {
		uint32_t c = g->tree_chan[--g->ntree_chan];

		sum += g->load[c].own * price(&g->load[c], 0, t);
		add_tree(g, c, 1);
	}
	return sum;
}

void grow_count(struct grow *g, const struct dest *d, const struct sar_source *s, uint32_t n)
{
	take_in_hand(g, s, n);
	put_in(g, d, s, n);
	while (g->ntree_chan > 0)
		add_tree(g, g->tree_chan[--g->ntree_chan], 1);
}

/* Takes the tree out of the loads; returns what it cost to have it there. */
static double take_out(struct grow *g, const struct dest *d, const struct sar_source *s, uint32_t n,
		       struct tariff t)
{
	double sum = 0;

	put_in(g, d, s, n);
	while (g->ntree_chan > 0) {
		uint32_t c = g->tree_chan[--g->ntree_chan];
		uint32_t own = g->load[c].own;

		add_tree(g, c, -1);
		sum += own * price(&g->load[c], own, t);
	}
	return sum;
}

double grow_price(struct grow *g, const struct dest *d, const struct sar_source *s, uint32_t n,
		  const struct grow_rule *rule)
{
	struct tariff t;
	double sum = 0;

	take_in_hand(g, s, n);
	t = tariff(g, rule);
	put_in(g, d, s, n);
	while (g->ntree_chan > 0) {
		struct grow_load *l = &g->load[g->tree_chan[--g->ntree_chan]], without = *l;

		without.all -= l->own;
		without.flow -= l->own * g->share;
		sum += l->own * price(&without, 0, t);
		l->own = 0;
	}
	return sum * g->share;
}

static bool is_grown(const struct grow *g, uint32_t u)
{
	return g->grown[u] == g->tree_stamp;
}

static inline uint32_t meet(uint32_t *restrict queue, uint32_t *restrict seen, uint32_t stamp,
			    uint32_t u, uint32_t tail)
{
	uint32_t fresh = seen[u] != stamp;

	seen[u] = stamp;
	queue[tail] = u; /* there is room for one too many */
	return tail + fresh;
}

/* Switches that paths from the sources (in descending hops, then as given) can come through, in
 * descending hops to the destination; returns how many. */
static uint32_t find_region(struct grow *g, const struct dag *d, const struct sar_source *const *s,
			    uint32_t n)
{
	uint32_t *queue = g->queue, *seen = g->seen, stamp = ++g->stamp;
	uint32_t head = 0, tail = 0, i = 0;

	for (;;) {
		const uint32_t *to;
		uint32_t u;

		/* sources as far away as the next one join its level */
		while (i < n && (head == tail || d->dist[s[i]->sw] >= d->dist[queue[head]]))
			tail = meet(queue, seen, stamp, s[i++]->sw, tail);
		if (head == tail)
			return tail;
		u = queue[head++];
		if (u == d->root)
			continue;
		g->work += d->off[u + 1] - d->off[u];
		if (is_grown(g, u)) {
			tail = meet(queue, seen, stamp, g->f->chan_dst[g->pick[u]], tail);
			continue;
		}
		to = g->f->chan_dst + g->f->chan_off[u];
		for (uint32_t k = d->off[u], end = d->off[u + 1]; k < end; k++)
			tail = meet(queue, seen, stamp, to[d->edge[k]], tail);
	}
}

struct way {
	uint8_t place;
	double cost;
};

/* Cheapest way on from u; present gets that by its place, if that is one. */
static inline struct way find_cheapest(const struct grow *g, const struct dag *d, uint32_t u,
				       uint32_t n, struct tariff t, struct way *present)
{
	uint32_t first = g->f->chan_off[u];
	struct way best = { .place = PLACE_NONE, .cost = HUGE_VAL };

	for (uint32_t k = d->off[u], end = d->off[u + 1]; k < end; k++) {
		uint32_t c = first + d->edge[k];
		double v = price(&g->load[c], n, t) + g->cost[g->f->chan_dst[c]];

		if (v < best.cost)
			best = (struct way){ .place = d->edge[k], .cost = v };
		if (d->edge[k] == present->place)
			present->cost = v;
	}
	return best;
}

/* Cheapest way on from u, or the present one when that is not much dearer; where the block differs
 * already, and so costs nothing more, when it is not dearer. */
static void choose(struct grow *g, const struct dag *d, uint32_t u, uint32_t lid, uint32_t n,
		   struct tariff t, const struct grow_rule *r)
{
	struct way present = { .place = hopmap_at(&g->places, lid)[u], .cost = HUGE_VAL };
	struct way best = find_cheapest(g, d, u, n, t, &present);
	double most = g->nblocks >= r->limit ? DBL_MAX : best.cost * r->keep;

	if (present.cost <= best.cost ||
	    (present.cost <= most && !g->differ[(size_t)u * tables_blocks(g->t) + lid / LFT_BLOCK]))
		best = present;
	g->pick[u] = g->f->chan_off[u] + best.place;
	g->cost[u] = best.cost;
}

static void search(struct grow *g, const struct dag *d, uint32_t lid,
		   const struct sar_source *const *s, uint32_t n, const struct grow_rule *r)
{
	struct tariff t = tariff(g, r);
	uint32_t weight = s[0]->n;

	for (uint32_t i = find_region(g, d, s, n); i-- > 0;) {
		uint32_t u = g->queue[i];

		if (u == d->root) {
			g->cost[u] = 0;
		} else if (is_grown(g, u)) {
			uint32_t c = g->pick[u];

			g->cost[u] = price(&g->load[c], weight, t) + g->cost[g->f->chan_dst[c]];
		} else {
			choose(g, d, u, lid, weight, t, r);
		}
	}
}

static void write_entry(struct grow *g, uint32_t u, uint32_t lid, uint8_t port)
{
	uint8_t old = tables_row(g->from, u)[lid], was = tables_row(g->t, u)[lid];
	uint8_t *differ = g->differ + (size_t)u * tables_blocks(g->t) + lid / LFT_BLOCK;

	hopmap_set(&g->places, g->t, u, lid, port);
	g->nblocks -= *differ > 0;
	*differ = (uint8_t)(*differ + (port != old) - (was != old));
	g->nblocks += *differ > 0;
}

/* Makes the path that was found from u part of the tree. */
static void fix_path(struct grow *g, uint32_t u, const struct dest *d)
{
	const uint8_t *places = hopmap_at(&g->places, d->lid);

	while (u != d->sw && !is_grown(g, u)) {
		g->grown[u] = g->tree_stamp;
		if (next_chan(g, u, places) != g->pick[u]) {
			uint8_t present = tables_row(g->t, u)[d->lid];

			g->undo[g->nundo++] = (struct change){ .sw = u, .port = present };
			write_entry(g, u, d->lid, g->f->chan_port[g->pick[u]]);
		}
		u = g->f->chan_dst[g->pick[u]];
	}
}

/* Asks for a DAG that many sources will need, all of it at once and in order. */
static void ask_for(const struct grow *g, const struct dag *d)
{
	uint32_t nsw = g->f->nsw;

	for (uint32_t u = 0; u < nsw; u += LINE / sizeof(*d->off))
		__builtin_prefetch(d->off + u);
	for (uint32_t k = 0; k < d->off[nsw]; k += LINE)
		__builtin_prefetch(d->edge + k);
}

static int farthest_first(const void *a, const void *b, void *dist)
{
	const struct sar_source *x = *(const struct sar_source *const *)a;
	const struct sar_source *y = *(const struct sar_source *const *)b;
	const uint32_t *hops = dist;

	if (hops[x->sw] != hops[y->sw])
		return hops[x->sw] > hops[y->sw] ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Makes the present path from u part of the tree. */
static void keep_path(struct grow *g, uint32_t u, const struct dest *d)
{
	const uint8_t *places = hopmap_at(&g->places, d->lid);

	for (; u != d->sw && !is_grown(g, u); u = g->f->chan_dst[g->pick[u]]) {
		g->grown[u] = g->tree_stamp;
		g->pick[u] = next_chan(g, u, places);
	}
}

/* The paths that stay come first. */
static void keep_paths(struct grow *g, const struct dest *d, const struct sar_source *s, uint32_t n)
{
	const uint8_t *places = hopmap_at(&g->places, d->lid);

	for (uint32_t i = 0; i < n; i++) {
		if (s[i].sw == d->sw || !g->stays[s[i].sw])
			continue;
		keep_path(g, s[i].sw, d);
		put_one(g, d, places, &s[i]);
	}
}

/* Sources from *i on that are to be placed at once, into g->batch; returns how many. */
static uint32_t next_batch(struct grow *g, const struct dest *d, const struct sar_source *s,
			   uint32_t n, const struct grow_rule *r, uint32_t *i)
{
	uint32_t k = 0;

	for (; *i < n && k < r->batch; ++*i)
		if (s[*i].sw != d->sw && !(r->hot_only && g->stays[s[*i].sw]))
			g->batch[k++] = &s[*i];
	return k;
}

/* Returns the cost of having the tree in the loads. */
static double grow_all(struct grow *g, const struct dest *dest, const struct sar_source *s,
		       uint32_t n, const struct grow_rule *r)
{
	const struct dag *d = find_dag(g, dest->sw);
	const uint8_t *places = hopmap_at(&g->places, dest->lid);
	const struct sar_source **batch = g->batch;
	uint32_t i = 0, k;

	g->tree_stamp++;
	g->nundo = 0;
	if (r->hot_only)
		keep_paths(g, dest, s, n);
	else if (n > g->f->nsw / LINE)
		ask_for(g, d);
	while ((k = next_batch(g, dest, s, n, r, &i)) > 0) {
		if (k > 1)
			qsort_r(batch, k, sizeof(*batch), farthest_first, d->dist);
		if (k > 1 || !is_grown(g, batch[0]->sw))
			search(g, d, dest->lid, batch, k, r);
		for (uint32_t b = 0; b < k; b++) {
			fix_path(g, batch[b]->sw, dest);
			put_one(g, dest, places, batch[b]);
		}
	}
	return settle(g, tariff(g, r));
}

void grow_tree(struct grow *g, const struct dest *d, const struct sar_source *s, uint32_t n,
	       const struct grow_rule *rule)
{
	struct grow_rule own = *rule;

	own.hot_only = false;
	take_in_hand(g, s, n);
	grow_all(g, d, s, n, &own);
}

bool grow_again(struct grow *g, const struct dest *d, const struct sar_source *s, uint32_t n,
		const struct grow_rule *rule)
{
	uint64_t blocks = g->nblocks;
	struct tariff t;
	double before, after;

	take_in_hand(g, s, n);
	t = tariff(g, rule);
	if (rule->hot_only)
		find_staying(g, d, s, n);
	before = take_out(g, d, s, n, t);
	after = grow_all(g, d, s, n, rule);
	if (g->nblocks > blocks)
		after += rule->block * (double)(g->nblocks - blocks);
	if (g->nundo && after < before * rule->gain && g->nblocks <= rule->limit)
		return true;
	if (!g->nundo)
		return false;
	take_out(g, d, s, n, t);
	while (g->nundo > 0) {
		const struct change *c = &g->undo[--g->nundo];

		write_entry(g, c->sw, d->lid, c->port);
	}
	put_in(g, d, s, n);
	settle(g, t);
	return false;
}
