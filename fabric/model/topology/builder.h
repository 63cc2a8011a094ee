/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * builder: collects nodes and links in any order, then freezes them into a fabric.
 *
 * The sweep, the parsers and the generators all end here, so there is one place that
 * knows what a terminal is, how LIDs are given and how everything is sorted.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/model/topology/fabric.h"
#include "fabric/model/topology/name_map.h"

enum node_kind { NODE_SWITCH, NODE_CA, NODE_ROUTER };

struct builder;

struct builder *builder_new(void);
void builder_free(struct builder *b); /* NULL is fine */

/* Adds a node, or finds the one of that GUID (then kind must agree: -EINVAL).
 * Out: its id, dense from 0.  nports 0 = not known yet.  desc may be NULL. */
int builder_node(uint32_t *id, struct builder *b, enum node_kind kind, uint64_t node_guid,
		 uint32_t nports, const char *desc, struct err *err);

/* FAB_NONE when there is no such node. */
uint32_t builder_find(const struct builder *b, uint64_t node_guid);

void builder_set_desc(struct builder *b, uint32_t id, const char *desc);
void builder_set_enhanced_sp0(struct builder *b, uint32_t id, bool enhanced);
/* System image GUID of a CA or router: equal ones are of one machine.  0 unknown. */
void builder_set_system(struct builder *b, uint32_t id, uint64_t system_guid);
/* Of a CA: storage, ... */
void builder_set_kind(struct builder *b, uint32_t id, enum term_kind kind);

/* Port facts; every call sets only what it knows.  For a switch's LID use port 0.
 * lid 0 = unknown; lids out of 1..FAB_MAX_LID count as unknown.  -EINVAL: port out of range. */
int builder_port_guid(struct builder *b, uint32_t id, uint32_t port, uint64_t port_guid,
		      struct err *err);
int builder_port_lid(struct builder *b, uint32_t id, uint32_t port, uint32_t lid, uint32_t lmc,
		     struct err *err);
int builder_port_state(struct builder *b, uint32_t id, uint32_t port, enum port_state state,
		       uint32_t op_vls, struct err *err);
/* link: "4xEDR", "12xQDR", "1xSDR" ...; an unknown word is kept as unknown rate */
int builder_port_link(struct builder *b, uint32_t id, uint32_t port, const char *link,
		      struct err *err);

/* The same if it had all lanes that are enabled. */
int builder_port_best(struct builder *b, uint32_t id, uint32_t port, const char *link,
		      struct err *err);

/* A cable; adding the same one from its other end again is fine, another peer on either
 * port is -EEXIST.  A port may not be cabled to itself (-EINVAL). */
int builder_link(struct builder *b, uint32_t id_a, uint32_t port_a, uint32_t id_b, uint32_t port_b,
		 struct err *err);

struct freeze_opts {
	const char *name; /* of the fabric; NULL: "fab-" and 8 digits of the fingerprint */
	bool live; /* ... of its lowest switch GUID, so that it stays when others come and go */
	int lmc;	  /* of terminals; -1: as found (0 when mixed or unknown) */
	bool assign_lids; /* ignore the LIDs found */
	bool random_lids; /* with assign_lids: terminals in random order, by lid_seed */
	uint64_t lid_seed;
	const struct name_map *names; /* may be NULL */
};

/* LIDs are those found when they are all there, unique and fit the LMC asked for; else all
 * are assigned: terminals in GUID order aligned to 2^lmc, then the other ends, then switches.
 * CA ports without a cable, and CAs cabled to CAs, are left out.
 * -ENOSPC: the LIDs do not fit; -EINVAL: no switch at all.  The builder stays usable. */
int builder_freeze(struct fabric **out, const struct builder *b, const struct freeze_opts *opts,
		   struct err *err);

/* Data rate per direction of "4xEDR" and the like, in Mbps; 0 when unknown.
 * Out, when not NULL: lanes and the name of the speed. */
uint32_t link_rate_Mbps(const char *link, uint8_t *width, char speed[7]);
