/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nue_turns: from which channel to which the paths of a layer turn, and an order of the channels in
 * which they all climb, so that they cannot deadlock.  The order gives way to a new turn where no
 * cycle closes (Pearce and Kelly, "A dynamic topological sort algorithm for directed acyclic
 * graphs", 2006).
 */
#pragma once

#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct nue_turns;

/* None yet; place: of each channel in the order to begin with, 0..nchan-1. */
struct nue_turns *nue_turns_new(const struct fabric *f, const uint32_t *place);
void nue_turns_free(struct nue_turns *x); /* NULL is fine */

/* One path more turns from a to b.  False, with all as before but maybe the order, where b already
 * leads to a, or more than that many turns would have to be looked at. */
bool nue_turns_add(struct nue_turns *x, uint32_t a, uint32_t b, uint64_t most);
/* One less does. */
void nue_turns_drop(struct nue_turns *x, uint32_t a, uint32_t b);

/* By channel, in the order of now. */
const uint32_t *nue_turns_places(const struct nue_turns *x);
/* Turns looked at so far. */
uint64_t nue_turns_work(const struct nue_turns *x);
