/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sar_tree: the tree of one destination LID, grown one source switch at a time.
 *
 * Loads count routes between terminals that share a job.  A tree that is chosen at once sends
 * all its sources over what was least loaded before; here every source switch sees what
 * those before it have taken.  The heaviest come first; each takes the cheapest shortest path
 * that joins what has grown already.  Entries of switches which no source comes through stay as
 * they are: their packets join the tree sooner or later, so no loop can arise.
 */
#pragma once

#include "engines/graph/balance/dagset.h"
#include "engines/graph/graph.h"
#include "engines/graph/lft_hops.h"
#include "engines/sar/paper/sar_jobs.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What a route costs on a channel: (its load, with the tree's own routes, per what is aimed at)^16
 * + FLOW * (flows of others that are to be expected there at a time)^2 / (terminals of the job -
 * 1). The first is next to nothing until the load comes near the aim.  A terminal of a job of n
 * sends to 1 of n - 1 others at a time, so that a route counts as 1 / (n - 1) flows; flows to the
 * same LID wait for that LID's own cable anyway, so they do not count against each other.
 */
struct sar_tree_rule {
	double aim;	/* load of a channel, > 0 */
	double planes;	/* LIDs by terminal that are in the loads */
	double keep;	/* a next hop stays unless another one is cheaper by this factor, >= 1 */
	double gain;	/* a tree stays unless the new one costs less than this share of it, <= 1 */
	double block;	/* what it has to spare for each block of 64 LIDs that changes for it */
	uint64_t limit; /* blocks that may be changed in all */
	uint32_t batch; /* source switches that are placed at once, >= 1 */
	bool hot_only;	/* sar_tree_restart(): paths without a hot channel stay, and come first */
};

#define SAR_TREE_BITS 32
#define SAR_TREE_FLOW (1ull << SAR_TREE_BITS)

/* Whole numbers, so that what is added and taken out again leaves nothing behind. */
struct sar_tree_load {
	uint32_t all;  /* routes over the channel, without those of the tree in hand */
	uint64_t flow; /* flows to be expected at a time likewise, of which SAR_TREE_FLOW are one */
};

struct sar_tree;

/* Works on t, which must outlive it and lead to every LID that is passed on; so must from, against
 * which changed blocks are counted (NULL: they are not). */
struct sar_tree *sar_tree_new(const struct fabric *f, struct tables *t, const struct tables *from);
/* DAGs of all shortest paths are taken from there where it has them; it must outlive g. */
void sar_tree_use(struct sar_tree *g, const struct dagset *set);
/* The hops that it knows of t, for who fills t: then none need to be read again. */
struct lft_hops *sar_tree_hops(struct sar_tree *g);
void sar_tree_free(struct sar_tree *g); /* NULL is fine */

/* By channel. */
const struct sar_tree_load *sar_tree_loads(const struct sar_tree *g);
/* Flows to different LIDs that meet on channels, squared and summed up. */
double sar_tree_collisions(const struct sar_tree *g);
/* Edges looked at since the beginning: what took the time. */
uint64_t sar_tree_work(const struct sar_tree *g);

/* Blocks of 64 LIDs that differ. */
uint64_t sar_tree_blocks(const struct sar_tree *g);

/* Adds the routes of a tree to the loads. */
void sar_tree_count(struct sar_tree *g, const struct dest *d, const struct sar_source *s,
		    uint32_t n);
/* What the tree costs, which is in the loads, by route of the job. */
double sar_tree_price(struct sar_tree *g, const struct dest *d, const struct sar_source *s,
		      uint32_t n, const struct sar_tree_rule *rule);
/* From now on channels with a load of at least limit are hot. */
void sar_tree_watch(struct sar_tree *g, double limit);
/* sar_tree_is_hot() of that LID comes soon. */
void sar_tree_look_ahead(const struct sar_tree *g, uint32_t lid);
/* Does a path of the tree, which is in the loads, use a hot channel?  Time O(switches / 64). */
bool sar_tree_is_hot(struct sar_tree *g, const struct dest *d);

/* Adds the routes of a tree in the loads that come over a hot channel, and have no shortest path
 * without it, to those of that channel; by channel. */
void sar_tree_add_forced(struct sar_tree *g, const struct dest *d, const struct sar_source *s,
			 uint32_t n, uint32_t *forced);

/* Grows a tree that is not in the loads and adds it to them. */
void sar_tree_grow(struct sar_tree *g, const struct dest *d, const struct sar_source *s, uint32_t n,
		   const struct sar_tree_rule *rule);
/* Grows a tree again that is in the loads; returns whether another one came out and was kept. */
bool sar_tree_restart(struct sar_tree *g, const struct dest *d, const struct sar_source *s,
		      uint32_t n, const struct sar_tree_rule *rule);
