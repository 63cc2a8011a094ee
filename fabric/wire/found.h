/* SPDX-License-Identifier: GPL-2.0-or-later */
/* found: what a sweep knows of a node, before it is part of a fabric and until the next sweep. */
#pragma once

#include "fabric/ib/codec.h"
#include "fabric/ib/mad.h"
#include "fabric/model/topology/builder.h"

#define NO_NODE UINT32_MAX

struct found_port {
	uint64_t guid;
	uint32_t peer; /* NO_NODE: no cable known */
	uint16_t lid;
	uint8_t peer_port, lmc, state, op_vls;
	char link[12], best[12]; /* what it is and what it could be */
};

struct found {
	uint64_t guid, system;
	enum node_kind kind;
	uint8_t nports;
	bool silent;
	bool ext_speed; /* its ports report extended speeds */
	bool enhanced_sp0;
	bool left_out;
	bool key_old;		      /* the key known of it was not its own any more */
	uint32_t id;		      /* in the builder */
	uint64_t m_key, answered_key; /* answered_key: the key that its NodeInfo was answered to */
	struct found_port *port;
	struct mad_route route;
	char desc[SMP_DATA + 1];
};

/* A copy of n nodes, for found_list_free(). */
struct found *found_list_copy(const struct found *node, size_t n);
/* Frees the ports of n nodes and the list itself, keys overwritten.  NULL is fine. */
void found_list_free(struct found *node, size_t n);
