/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cdg_builder: which (channel, VL) waits for which, from the traffic that really flows.
 *
 * Sources are all CA and router ports, counted or not; what switches send from port 0 is
 * management and left out.  Per LID the service levels of the traffic flow down the tree of
 * its LFT entries, so that a turn is recorded only for an SL that some path brings to it.
 */
#pragma once

#include "engines/verify/verify_graph.h"
#include "engines/verify/verify_walk.h"
#include "fabric/base/message/progress.h"

struct cdg_builder;

/* turns false: only VLs and SLs are collected; then cdg_builder_add() need not tell of drops. */
struct cdg_builder *cdg_builder_new(const struct fabric *f, const struct tables *t, bool turns,
				    struct progress *progress);
void cdg_builder_free(struct cdg_builder *d); /* NULL is fine */

/* Another one of the same tables for another thread, which leans on parent as long as it lives;
 * merge adds what it collected.  own_bytes: what such a one takes for turns. */
struct cdg_builder *cdg_builder_share(const struct cdg_builder *parent);
void cdg_builder_merge(struct cdg_builder *into, const struct cdg_builder *from);
size_t cdg_builder_own_bytes(const struct cdg_builder *d);

/* Adds the traffic towards the LID that w walked last.  True when some of it may be dropped
 * on its way by SL2VL or has an SL above 15: then following the path tells for which sources.
 * O(nsw), with SLs by terminal and SL2VL that differs by port O(nsw + ends). */
bool cdg_builder_add(struct cdg_builder *d, struct walk *w, uint32_t lid);

/* False when cdg_builder_add() would learn nothing from the LID, wherever it leads: without turns,
 * once all of its SLs were seen. */
bool cdg_builder_wants(struct cdg_builder *d, uint32_t lid);

/* Of the traffic that crosses at least one inter-switch channel: bit masks. */
uint16_t cdg_builder_vls(const struct cdg_builder *d);
uint16_t cdg_builder_sls(const struct cdg_builder *d);

/* A link whose ports offer fewer VLs than its traffic needs. */
struct vl_misfit {
	uint32_t sw;
	uint8_t port, vl, op_vls;
};

/* False when there is one: the first in the order of switches and ports.  Links between
 * switches and from a switch to a terminal, where OperVLs are known. */
bool cdg_builder_vls_fit(const struct cdg_builder *d, struct vl_misfit *first);

/* The dependency graph; caller frees with depgraph_free.  Needs turns. */
struct depgraph *cdg_builder_graph(const struct cdg_builder *d, struct progress *progress);
