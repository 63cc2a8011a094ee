/* SPDX-License-Identifier: GPL-2.0-or-later */
/* builder_priv: what builder.c fills and freeze.c reads. */
#pragma once

#include "fabric/base/memory/vec.h"
#include "fabric/model/topology/builder.h"

struct bport {
	uint64_t guid; /* 0 unknown */
	uint32_t peer; /* node id, or FAB_NONE */
	uint8_t peer_port;
	uint8_t lmc;
	uint16_t lid; /* 0 unknown */
	uint8_t state, op_vls, width;
	char speed[7];
	uint32_t rate_Mbps, best_Mbps;
};

struct bnode {
	uint64_t guid, system;
	char *desc; /* NULL unknown */
	enum node_kind kind;
	enum term_kind term_kind;
	bool kind_set, enhanced_sp0;
	uint32_t nports, port_cap;
	struct bport *port; /* 0..nports */
};

struct builder {
	VEC(struct bnode) node;
	uint32_t *slot, nslot; /* nslot: a power of two */
};
