/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nue_escape_paths: towards one destination switch, the channels that the LIDs there may use.
 *
 * A channel leads one hop nearer in the switch's tree.  Each switch has a sure channel, and all
 * its channels come, in the order of the layer, after the sure ones by which it is entered.  So
 * the sure one is always possible, whatever the switches nearer to the destination have chosen;
 * others are where they come before the next choice.  But for parallel cables, only those are kept
 * that come before all choices there.  A switch where no packet begins and whose
 * own channel does not climb is on no path.
 */
#pragma once

#include "engines/nue/nue_layer.h"

#include <stdint.h>

struct nue_escape_paths {
	uint32_t n; /* switches */
	uint32_t nedge;
	uint32_t ninner; /* no edge arrives at a position from this one on */
	bool bound;	 /* an edge but the sure one can be taken only where the order has it before
			  * the edge taken next */
	uint16_t *sw;	 /* switch at a position, by hops; 0 is the destination */
	uint32_t *off;	 /* n+1: edges of a position, the sure one first ... */
	uint32_t *chan;	 /* ... the channel ... */
	uint16_t *to;	 /* ... the position where it arrives ... */
	uint8_t *port;	 /* ... and the port by which it leaves */
	uint32_t *ends;	 /* terminals of the switch at a position */
};

struct nue_escape_paths_maker;

struct nue_escape_paths_maker *nue_escape_paths_maker_new(const struct fabric *f);
void nue_escape_paths_maker_free(struct nue_escape_paths_maker *m); /* NULL is fine */

/* The paths to destination i of a layer; parallel: the fabric has parallel cables.  The caller
 * frees with nue_escape_paths_done(). */
void nue_escape_paths_make(struct nue_escape_paths *w, struct nue_escape_paths_maker *m,
			   const struct nue_trees *t, uint32_t i, bool parallel);
void nue_escape_paths_done(struct nue_escape_paths *w);
uint64_t nue_escape_paths_bytes(const struct nue_escape_paths *w);
