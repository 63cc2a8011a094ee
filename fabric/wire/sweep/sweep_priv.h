/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of a sweep share this: sweep_gaps.c notes what is missing, sweep_ask.c asks and takes
 * the answers, sweep_build.c makes a fabric of them, sweep.c is the whole, sweep_part.c a part.
 */
#pragma once

#include "fabric/base/memory/vec.h"
#include "fabric/wire/found.h"
#include "fabric/wire/wire_priv.h"

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
	bool part;			/* nodes were known before, see wire_sweep_part() */
	bool odd;			/* what it does not explain */
	uint64_t start_ns, sent;	/* when it began */
	struct sweep_report own_report; /* where the caller wants none */
};

struct label {
	char text[SMP_DATA + 24];
};

/* Of a node, for sentences. */
struct label sweep_label(const struct sweep *s, uint32_t n);
/* A line of the report; counts it, too, as count says. */
void sweep_gap_add(struct sweep *s, uint32_t *count, uint64_t guid, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Of the line just added: where nobody answers. */
void sweep_gap_place(struct sweep *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static inline bool sweep_is_linked(const struct found *x, uint8_t port)
{
	return x->port[port].peer != NO_NODE;
}

/* opts and report may be NULL. */
void sweep_begin(struct sweep *s, struct wire *w, const struct sweep_opts *opts,
		 struct sweep_report *report);
void sweep_end(struct sweep *s); /* the report is complete; frees what s holds */

/* A question more, to a node or, NodeInfo, to whoever is behind a port of it; of port 0: itself. */
void sweep_ask(struct sweep *s, uint32_t node, uint16_t attr, uint8_t port);
/* Asks what is to be asked and what the answers lead to.  0, or what the port failed with. */
int sweep_run(struct sweep *s, struct progress *progress, struct err *err);
/* The node of a GUID, NO_NODE: it has not been found. */
uint32_t sweep_find(struct sweep *s, uint64_t guid);
/* What was found becomes the wire's routes and keys, and a fabric; the wire takes the nodes. */
int sweep_conclude(struct fabric **out, struct sweep *s, struct err *err);
