/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nue_layer: one tree per destination switch of a virtual layer, and an order of the channels in
 * which all paths of all these trees climb, so that they cannot deadlock.
 *
 * The trees grow from the destination, hop by hop.  A switch joins over a channel whose turn the
 * layer has already, else over one that closes no cycle.  Where all its turns would, the switch
 * has to wait for a detour; when nothing but such switches is left (an impasse), those take the
 * escape tree and the tree is grown again around them.  A switch where no packet begins joins
 * without its turn, until somebody needs that.
 *
 * In a fabric that looks like a tree, all turns of paths up, then down come first, which serve
 * nearly all destinations; what is left grows around them, with an escape tree from a leaf.
 */
#pragma once

#include "engines/nue/nue_net.h"

#include <stdbool.h>
#include <stdint.h>

/* Which destination is searched first matters when VLs are few. */
enum nue_order {
	NUE_BY_NEED, /* as the next, if paths up, then down from the root are long; else by stride
		      */
	NUE_WORST_FIRST, /* whom such paths would serve worst, in a few classes */
	NUE_BY_INDEX,
	NUE_STRIDE, /* far apart by index */
};

struct nue_how {
	enum nue_order order;
	unsigned root;	/* index in the roots of the layers */
	uint32_t limit; /* how wide a search for a cycle may be */
	bool backward;	/* by stride: in reverse order */
	bool full_first;
	const bool *full; /* by switch: if so, these before the others */
};

struct nue_layer {
	const struct nue_net *net;
	uint32_t ndst;
	uint32_t *dst;	  /* destination switches, ascending */
	uint32_t root[2]; /* for the escape tree: the switch with the fewest hops to them all; the
			   * same of those with the fewest channels */
	uint16_t *dist;	  /* by index in dst * nsw + switch: fewest hops */
	uint64_t work;	  /* edges and channels looked at, so far */
};

/* What a search found. */
struct nue_trees {
	uint8_t *next;	     /* by index in dst * nsw + switch: which of the switch's channels */
	uint16_t *hops;	     /* the same: to the destination */
	uint32_t *place;     /* by channel: in the order */
	uint64_t cost;	     /* hops over all pairs of terminals with these destinations */
	uint64_t detours;    /* pairs of switches with ends that are farther than need be */
	uint64_t impasses;   /* switches that only the escape tree led on */
	uint64_t escape_dst; /* destinations that all switches reach by the escape tree */
};

/* Asked after about every million units of work, with the steps that were done since; true ends
 * the search.  A layer has NUE_STEPS of them per destination, and one each to begin with. */
struct nue_pause {
	bool (*stop)(void *ctx, uint32_t steps);
	void *ctx;
};

#define NUE_STEPS 3

struct nue_search; /* what a thread needs to search */

struct nue_search *nue_search_new(const struct nue_net *net);
void nue_search_free(struct nue_search *s); /* NULL is fine */

/* Hops and root, of a layer with net, ndst and dst set; the fabric is connected.  True when it was
 * stopped; to be freed in any case, dst included. */
bool nue_layer_init(struct nue_layer *l, const struct nue_pause *pause);
void nue_layer_done(struct nue_layer *l);

/* True when it was stopped; *out is to be freed in any case. */
bool nue_layer_search(struct nue_trees *out, struct nue_layer *l, struct nue_search *s,
		      const struct nue_how *how, const struct nue_pause *pause);
void nue_trees_done(struct nue_trees *t);

static inline uint32_t nue_trees_next(const struct nue_trees *t, const struct fabric *f, uint32_t i,
				      uint32_t u)
{
	return f->chan_off[u] + t->next[(size_t)i * f->nsw + u];
}
