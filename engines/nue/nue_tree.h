/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nue_tree: a tree that grows towards one destination switch, on turns that keep the dependency
 * graph of its layer without a cycle.
 */
#pragma once

#include "engines/nue/nue_channel_order.h"
#include "engines/nue/nue_escape.h"
#include "engines/nue/nue_net.h"

#include <stdbool.h>
#include <stdint.h>

struct nue_tree;

struct nue_tree *nue_tree_new(const struct nue_net *net);
void nue_tree_free(struct nue_tree *t); /* NULL is fine */

/* A new layer without turns; order is that of the channels to begin with. */
void nue_tree_layer(struct nue_tree *t, const uint32_t *order);
/* Adds all turns that climb in that order, but for those back to the same switch; place is where
 * each channel is in it. */
void nue_tree_climbing(struct nue_tree *t, const uint32_t *place);
/* Adds those of the escape tree, which must outlive the layer; false when one closes a cycle, as
 * none does in a new layer. */
bool nue_tree_escape(struct nue_tree *t, const struct nue_escape *e);

/* Grows the tree to dst.  Its turns stay.  limit: how many channels may wait in a search for a
 * cycle (cdg_work_limit); few save time and change the luck.  Returns how many switches could only
 * be led along the escape tree; *all: every switch is. */
uint32_t nue_tree_grow(struct nue_tree *t, uint32_t dst, uint32_t limit, bool *all);

/* Grows the tree to dst without new turns, on channels that climb in that order: of equally near
 * next hops that by the channel which comes last, as most others climb to that.  False when a
 * switch with ends has none. */
bool nue_tree_climb(struct nue_tree *t, const struct nue_channel_order *o, uint32_t dst);

/* Of the tree as it is: next channel and hops by switch, FAB_NONE next at the destination. */
const uint32_t *nue_tree_next(const struct nue_tree *t);
const uint32_t *nue_tree_hops(const struct nue_tree *t);

/* Adds the turn if it is easily seen that it closes no cycle; true when the layer has it. */
bool nue_tree_easy_turn(struct nue_tree *t, uint32_t c, uint32_t d);

/* Place of every channel in the layer's order. */
void nue_tree_places(const struct nue_tree *t, uint32_t *place);
/* Edges and channels looked at so far. */
uint64_t nue_tree_work(const struct nue_tree *t);
