/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify_deps: which (channel, VL) waits for which, from the traffic that really flows.
 *
 * Sources are all CA and router ports, counted or not; what switches send from port 0 is
 * management and left out.  Per LID the service levels of the traffic flow down the tree of
 * its LFT entries, so that a turn is recorded only for an SL that some path brings to it.
 */
#ifndef ENGINES_VERIFY_VERIFY_DEPS_H
#define ENGINES_VERIFY_VERIFY_DEPS_H

#include "engines/verify/verify_graph.h"
#include "engines/verify/verify_walk.h"
#include "fabric/base/progress.h"

struct deps;

/* turns false: only VLs and SLs are collected; then deps_add() need not tell of drops. */
struct deps *deps_new(const struct fabric *f, const struct tables *t, bool turns,
		      struct progress *progress);
void deps_free(struct deps *d); /* NULL is fine */

/* Another one of the same tables for another thread, which leans on parent as long as it lives;
 * merge adds what it collected.  own_bytes: what such a one takes for turns. */
struct deps *deps_share(const struct deps *parent);
void deps_merge(struct deps *into, const struct deps *from);
size_t deps_own_bytes(const struct deps *d);

/* Adds the traffic towards the LID that w walked last.  True when some of it may be dropped
 * on its way by SL2VL or has an SL above 15: then path_arrives() tells for which sources.
 * O(nsw), with SLs by terminal and SL2VL that differs by port O(nsw + ends). */
bool deps_add(struct deps *d, struct walk *w, uint32_t lid);

/* False when deps_add() would learn nothing from the LID, wherever it leads: without turns, once
 * all of its SLs were seen. */
bool deps_wants(struct deps *d, uint32_t lid);

/* Of the traffic that crosses at least one inter-switch channel: bit masks. */
uint16_t deps_vls(const struct deps *d);
uint16_t deps_sls(const struct deps *d);

/* A link whose ports offer fewer VLs than its traffic needs. */
struct vl_misfit {
	uint32_t sw;
	uint8_t port, vl, op_vls;
};

/* False when there is one: the first in the order of switches and ports.  Links between
 * switches and from a switch to a terminal, where OperVLs are known. */
bool deps_vls_fit(const struct deps *d, struct vl_misfit *first);

/* The dependency graph; caller frees with depgraph_free.  Needs turns. */
struct depgraph *deps_graph(const struct deps *d, struct progress *progress);

/* Whether packets of that end reach the LID: the LFT way must exist, SL2VL must let it through.
 * Out: the switch where the way ends.  O(hops). */
bool path_arrives(uint32_t *at, const struct fabric *f, const struct tables *t, uint32_t end,
		  uint32_t lid);

#endif
