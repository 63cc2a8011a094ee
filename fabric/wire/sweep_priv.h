/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sweep_priv: what the files behind wire_sweep() share. */
#ifndef FABRIC_WIRE_SWEEP_PRIV_H
#define FABRIC_WIRE_SWEEP_PRIV_H

#include "fabric/base/vec.h"
#include "fabric/model/builder.h"
#include "fabric/wire/wire_priv.h"

#define NO_NODE UINT32_MAX

struct found_port {
	uint64_t guid;
	uint32_t peer; /* NO_NODE: no cable known */
	uint16_t lid;
	uint8_t peer_port, lmc, state, op_vls;
	char link[12];
};

struct found {
	uint64_t guid;
	enum node_kind kind;
	uint8_t nports;
	bool silent;
	bool ext_speed; /* its ports tell extended speeds */
	bool enhanced_sp0;
	bool left_out;
	bool key_old;		 /* the key known of it was not its own any more */
	uint32_t id;		 /* in the builder */
	uint64_t m_key, told_by; /* told_by: the key to which it told its NodeInfo */
	struct found_port *port;
	struct mad_route route;
	char desc[SMP_DATA + 1];
};

struct question {
	uint32_t node; /* asked, or through whose port the asked one is reached; NO_NODE: local */
	uint16_t attr;
	uint8_t port;
	uint8_t nth; /* key that is tried */
};

struct sweep {
	struct wire *w;
	const struct sweep_opts *opts;
	struct sweep_report *report;
	VEC(struct found) node;
	uint32_t *slot, nslot; /* hash of GUIDs: node + 1, or 0 */
	VEC(struct question) todo;
	VEC(struct wire_peer) peers; /* learned, see wire_keep_keys() */
	size_t at;
	uint64_t total;
	int local_rc;
	bool local_down;
};

/* A line of the report; counts it, too, as count says. */
void sweep_gap_add(struct sweep *s, uint32_t *count, uint64_t guid, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Of the line just added: where nobody answers. */
void sweep_gap_place(struct sweep *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct label {
	char text[SMP_DATA + 24];
};

struct label sweep_label(const struct sweep *s, uint32_t n); /* of a node, for sentences */

/* What was found as a fabric.  What has no LID in one that was configured is left out. */
int sweep_build(struct fabric **out, struct sweep *s, struct err *err);

#endif
