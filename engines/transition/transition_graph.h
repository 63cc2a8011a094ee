/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * transition_graph: the dependencies between (channel, VL) of all mixtures of a moment.
 *
 * Every dependency counts how often it is there, so that those of one LID can come and go.  An
 * order of the vertices is kept along; a dependency against it costs a search both ways inside
 * the window between the two (Pearce and Kelly, "A dynamic topological sort algorithm for
 * directed acyclic graphs", 2006).
 */
#pragma once

#include "engines/graph/graph.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct tgraph;

/* A dependency: vertices are channel * nvl + VL, turn is that of the two channels. */
struct tdep {
	uint32_t turn, from, to;
};

/* pace, used for as long as the graph is there, hears of what takes long. */
struct tgraph *tgraph_new(const struct fabric *f, const struct turns *turns, uint32_t nvl,
			  struct pace *pace);
void tgraph_free(struct tgraph *g); /* NULL is fine */

/* Without looking whether it closes a cycle; tgraph_sort() says so. */
void tgraph_put(struct tgraph *g, const struct tdep *d);
void tgraph_put_all(struct tgraph *g, const struct tdep *d, uint32_t n);
void tgraph_remove(struct tgraph *g, const struct tdep *d);
void tgraph_remove_all(struct tgraph *g, const struct tdep *d, uint32_t n);

/* A new order for what is there; false, and the old order stays, when there is a cycle (what
 * tgraph_contract() left is none, unless something new is in it), or when pace was cancelled.
 * O(vertices + dependencies). */
bool tgraph_sort(struct tgraph *g);

/* From now on cycles of what is there are ignored: each component counts as one vertex, inside
 * which only what is there now may come back.  Without effect when pace was cancelled. */
void tgraph_contract(struct tgraph *g);

/* Instead of that: notes what is there now.  Later: is nothing else on a cycle?  from: a vertex of
 * one where it is.  Also true when pace was cancelled. */
void tgraph_keep(struct tgraph *g);
bool tgraph_cycles_kept(struct tgraph *g, uint32_t *from);

/* Needs an order.  False when it would close a cycle (nothing is changed then). */
bool tgraph_add(struct tgraph *g, const struct tdep *d);
/* The first of n until one would close a cycle, at most that many; returns how many. */
uint32_t tgraph_add_some(struct tgraph *g, const struct tdep *d, uint32_t n, uint32_t most);

/* Need an order: does it go along with the order, or is it there already?  Would it close a cycle
 * alone?  After that many looks: false. */
bool tgraph_agrees(const struct tgraph *g, const struct tdep *d);
bool tgraph_closes(struct tgraph *g, const struct tdep *d, uint64_t looks);
/* Has tgraph_closes() said so?  That stays true while nothing is taken away that was there then.
 * Has it been asked at all? */
bool tgraph_closed(const struct tgraph *g, const struct tdep *d);
/* The first of n that has; n: none. */
uint32_t tgraph_closed_any(const struct tgraph *g, const struct tdep *d, uint32_t n);
bool tgraph_tried(const struct tgraph *g, const struct tdep *d);

/* The dependencies of the cycle that the last tgraph_add() refused to close get a point each;
 * the points of one. */
void tgraph_blame(struct tgraph *g);
uint32_t tgraph_blamed(const struct tgraph *g, const struct tdep *d);
void tgraph_forgive(struct tgraph *g); /* no points any more */

uint64_t tgraph_work(const struct tgraph *g); /* dependencies looked at, so far */
