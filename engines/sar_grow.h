/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sar_grow: the tree of one destination LID, grown one source switch at a time.
 *
 * Loads count routes between terminals that share a job.  A tree that is chosen at once sends
 * all its sources over what was least loaded before; here every source switch sees what
 * those before it have taken.  The heaviest come first; each takes the cheapest shortest path
 * that joins what has grown already.  Entries of switches which no source comes through stay as
 * they are: their packets join the tree sooner or later, so no loop can arise.
 */
#ifndef ENGINES_SAR_GROW_H
#define ENGINES_SAR_GROW_H

#include "engines/graph.h"
#include "engines/sar_jobs.h"
#include "fabric/model/fabric.h"
#include "fabric/model/tables.h"

#include <stdbool.h>
#include <stdint.h>

/* What a channel costs: load^power + job * (load of the job in hand)^power, after the routes of
 * the source are added. */
struct grow_rule {
	unsigned power; /* 2 or 4 */
	double job;	/* weight of the job's own load */
	double own;	/* weight of the routes of the tree itself in both loads, 0 to 1 */
	double keep;	/* a next hop stays unless another way is cheaper by this factor, >= 1 */
	double gain;	/* a tree stays unless the new one costs less than this share of it, <= 1 */
	uint32_t batch; /* source switches that are placed at once, >= 1 */
};

struct grow_load {
	double all;  /* routes over the channel, without those of the tree in hand */
	double job;  /* of them those of the job in hand */
	double own;  /* routes of the tree in hand */
	double same; /* sum of the squares of what each tree has there */
};

struct grow;

/* Works on t, which must outlive it and lead to every LID that is passed on. */
struct grow *grow_new(const struct fabric *f, struct tables *t);
void grow_free(struct grow *g); /* NULL is fine */

/* By channel; the caller may change them between calls. */
struct grow_load *grow_loads(struct grow *g);
/* Edges looked at since the beginning: what took the time. */
uint64_t grow_work(const struct grow *g);

/* Blocks of 64 LIDs in which an entry was changed, even if it was changed back since. */
uint64_t grow_blocks(const struct grow *g);

/* Adds the routes of a tree to the loads, but not to the job's. */
void grow_count(struct grow *g, const struct dest *d, const struct sar_source *s, uint32_t n);
/* The same for the job's load alone; returns the largest that it met. */
double grow_count_job(struct grow *g, const struct dest *d, const struct sar_source *s, uint32_t n);
/* Sets the job's loads to 0. */
void grow_forget_job(struct grow *g);
/* The largest load on a path of the tree. */
double grow_hottest(struct grow *g, const struct dest *d, const struct sar_source *s, uint32_t n);

/* Grows a tree that is not in the loads and adds it to them. */
void grow_tree(struct grow *g, const struct dest *d, const struct sar_source *s, uint32_t n,
	       const struct grow_rule *rule);
/* Grows a tree anew that is in the loads; returns whether another one came out and was kept. */
bool grow_again(struct grow *g, const struct dest *d, const struct sar_source *s, uint32_t n,
		const struct grow_rule *rule);

#endif
