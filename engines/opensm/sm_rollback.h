/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sm_rollback: what the plugin does for updates itself: it leads one back step by step, each
 * written before the next, when its client asks for that or whoever was to speak for it does not;
 * and it calls back agents that nobody else leads any more.
 *
 * No thread of its own, nothing waits.
 */
#pragma once

#include "engines/opensm/agents_heard.h"
#include "engines/opensm/socket_server.h"
#include "fabric/base/memory/vec.h"

struct own_notice {
	uint8_t d[NOTICE_SA_DATA];
};

struct sm_rollback {
	struct sm_session *session;
	const struct socket_server_ops *ops;
	void *ctx; /* of ops */
	/* Whoever waits for it is answered as for a reroute. */
	void (*ended)(void *ended_ctx, const struct osm_answer *a);
	void *ended_ctx;
	uint32_t reroute_ms, quiet_ms; /* socket_server_limits */
	uint64_t start_ms;	       /* of the server */

	struct going_back {
		bool under_way, by_itself;
		char why[200];
		struct osm_update who; /* by itself: whose agents are told */
		uint64_t begin_ms;     /* not before: agents have to drain */
		uint64_t order;	       /* 0: not yet */
		uint64_t since_ms;
		bool more;
	} now;

	struct agents_heard agents;
	VEC(struct own_notice) own; /* until OpenSM has time */
	uint64_t nnotices;	    /* sent */
};

void sm_rollback_free(struct sm_rollback *b);
/* A client asks for it; when one is under way already, nothing. */
void sm_rollback_begin(struct sm_rollback *b);
/* All that there is to do now. */
void sm_rollback_turn(struct sm_rollback *b);
/* Whether sm_rollback_turn() will have something to do soon. */
bool sm_rollback_busy(const struct sm_rollback *b);
