/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sar_tree_priv: what the files of sar_grow share. */
#ifndef ENGINES_SAR_SAR_TREE_PRIV_H
#define ENGINES_SAR_SAR_TREE_PRIV_H

#include "engines/sar/sar_dags.h"
#include "engines/sar/sar_tree.h"

#define FLOW 30.0 /* of the flows that meet against a channel as full as is aimed at */

struct change {
	uint32_t sw;
	uint8_t port;
};

/* Routes of the tree in hand that came through a switch before. */
struct before {
	uint32_t sw;
	uint32_t own;
};

struct sar_tree {
	const struct fabric *f;
	struct tables *t;
	struct lft_hops hops; /* of t */
	struct sar_tree_load *load;
	uint64_t same;	/* squares of what each tree adds to each flow, of which SAR_TREE_FLOW are 1
			 */
	double limit;	/* of a hot channel ... */
	bool *hot;	/* ... by channel */
	uint64_t share; /* flows by route of the tree in hand ... */
	uint32_t *own;	/* ... and by switch its routes that come through */
	uint32_t *tree; /* switches with some, but for the LID's own */
	uint32_t ntree;
	uint64_t *through; /* by LID: bits of the switches that routes in the loads come through */
	uint64_t *hot_sw;  /* the same of those that may have a hot channel */
	uint32_t words;	   /* of such bits */
	struct sar_dags dags;
	uint32_t *queue;
	double *cost;	/* by switch: from there to the destination */
	uint32_t *pick; /* by switch: channel */
	uint32_t *seen; /* by switch: stamp of the search */
	uint32_t stamp;
	const struct sar_source **batch;
	/* where only a part of the tree in hand is out of the loads: */
	bool partly;
	uint32_t *out; /* by switch: stamp where the tree is out of them ... */
	uint32_t out_stamp;
	struct before *was; /* ... which are these */
	uint32_t nwas;
	double cost_before; /* of what was taken out */
	bool *meets;	    /* by switch: of the tree's, leads over a hot channel */
	const struct sar_source **moving;
	struct change *undo;
	uint32_t nundo;
	const struct tables *from;
	uint8_t *differ; /* by row and block: entries that do, so that more changes are free */
	uint64_t nblocks;
	uint64_t work;
};

/* Next channel from there, and next switch; ports: those of the LID. */
static inline uint32_t next_chan(const struct sar_tree *g, uint32_t sw, const uint8_t *ports)
{
	return g->f->chan_off[sw] + hopmap_place(&g->hops, sw, ports[sw]);
}

static inline uint32_t next_switch(const struct sar_tree *g, uint32_t sw, const uint8_t *ports)
{
	return hopmap_next(&g->hops, sw, ports[sw]);
}

/* Makes a channel of a switch hot, or not. */
static inline void feel(struct sar_tree *g, uint32_t u, uint32_t c)
{
	g->hot[c] = g->load[c].all >= g->limit;
	g->hot_sw[u / 64] |= (uint64_t)g->hot[c] << u % 64;
}

static inline uint64_t *through(const struct sar_tree *g, const struct dest *d)
{
	return g->through + (size_t)d->lid * g->words;
}

/* The rule for the tree in hand. */
struct tariff {
	double load, flow;
};

static inline struct tariff tariff(const struct sar_tree *g, const struct sar_tree_rule *r)
{
	double share = (double)g->share / (double)SAR_TREE_FLOW;
	double one = r->planes * (double)SAR_TREE_FLOW;

	return (struct tariff){ .load = 1 / (r->aim * r->planes),
				.flow = FLOW * share / (one * one) };
}

/* Of each of the routes of the tree in hand, which are so many there. */
static inline double price(const struct sar_tree_load *l, uint32_t routes, struct tariff t)
{
	double x = (l->all + routes) * t.load, flow = (double)(int64_t)l->flow;

	x *= x;
	x *= x;
	x *= x;
	return x * x + t.flow * flow * flow;
}

/* Adds the routes of a source to those of the tree in hand. */
static inline void put_one(struct sar_tree *g, const struct dest *d, const uint8_t *ports,
			   const struct sar_source *s)
{
	uint32_t *own = g->own, *tree = g->tree, ntree = g->ntree, met = 0;

	for (uint32_t u = s->sw; u != d->sw; u = next_switch(g, u, ports)) {
		tree[ntree] = u;
		ntree += !own[u];
		own[u] += s->n;
		met++;
	}
	g->ntree = ntree;
	g->work += met;
}

/* The routes of the tree in hand that come through u join the loads of a channel there ... */
static inline void add_routes(struct sar_tree *g, uint32_t u, uint32_t c)
{
	uint64_t flow = g->own[u] * g->share, root = flow >> SAR_TREE_BITS / 2;

	g->load[c].all += g->own[u];
	g->load[c].flow += flow;
	g->same += root * root;
}

/* ... or leave them. */
static inline void remove_routes(struct sar_tree *g, uint32_t u, uint32_t c)
{
	uint64_t flow = g->own[u] * g->share, root = flow >> SAR_TREE_BITS / 2;

	g->load[c].all -= g->own[u];
	g->load[c].flow -= flow;
	g->same -= root * root;
	feel(g, u, c);
}

/* Takes the routes that come through u out of the loads, when only a part of the tree is out. */
static inline void touch(struct sar_tree *g, uint32_t u, const uint8_t *ports, struct tariff t)
{
	uint32_t c = next_chan(g, u, ports);

	if (!g->partly || g->out[u] == g->out_stamp)
		return;
	g->out[u] = g->out_stamp;
	g->was[g->nwas++] = (struct before){ .sw = u, .own = g->own[u] };
	if (!g->own[u])
		return;
	remove_routes(g, u, c);
	g->cost_before += g->own[u] * price(&g->load[c], g->own[u], t);
}

static inline uint32_t meet(uint32_t *restrict queue, uint32_t *restrict seen, uint32_t stamp,
			    uint32_t u, uint32_t tail)
{
	uint32_t fresh = seen[u] != stamp;

	seen[u] = stamp;
	queue[tail] = u; /* there is room for one too many */
	return tail + fresh;
}

/* sar_grow.c */

/* May the tree that has grown stay, which changed blocks since? */
bool sar_tree_is_worth_it(const struct sar_tree *g, double before, double after, uint64_t blocks,
			  const struct sar_tree_rule *rule);

/* sar_grow_search.c */

/* Places sources at once: farthest ones first. */
void sar_tree_place_batch(struct sar_tree *g, const struct dest *dest, const struct sar_dag *d,
			  const struct sar_source **batch, uint32_t n,
			  const struct sar_tree_rule *r);

/* What has changed goes back. */
void sar_tree_undo(struct sar_tree *g, uint32_t lid);

/* Takes the routes of a path out of the loads, as touch(). */
void sar_tree_touch_path(struct sar_tree *g, uint32_t u, const struct dest *d, struct tariff t);

/* Adds n routes from a switch to the part of the tree that is out of the loads, or takes them out
 * of it. */
void sar_tree_move_routes(struct sar_tree *g, uint32_t u, const struct dest *d, uint32_t n);

/* sar_grow_relieve.c */

/* sar_tree_restart() for the paths over hot channels alone: all else stays where it is, and in the
 * loads. Costs are those of the channels that lose or may get routes. */
bool sar_tree_offload_hot_links(struct sar_tree *g, const struct dest *d,
				const struct sar_source *s, uint32_t n,
				const struct sar_tree_rule *r);

#endif
