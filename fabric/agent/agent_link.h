/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent_link: over what a coordinator speaks to the agents of an update.  A seam: notices through
 * the SM, from this port or from within the SM.
 *
 * Notices go to all subscribers, once each, without a receipt; answers are of anybody who gave
 * one, may come twice, late, in another order, or never.  All calls are of one thread.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/ib/phase_notice.h"

#include <stdbool.h>
#include <stdint.h>

struct agent_answer {
	struct phase_notice notice;
	uint16_t lid;	/* of the port that it came from, any of its LIDs; 0: not known */
	uint64_t guid;	/* of that port; 0: not known, then the LID counts */
	uint64_t at_ns; /* by the link's clock */
};

enum agent_presence { AGENT_UNKNOWN, AGENT_ABSENT, AGENT_PRESENT };

/* A node's port, and whether somebody there listens to notices of UNPATH. */
struct agent_place {
	uint64_t guid; /* of the port */
	uint8_t there; /* out: enum agent_presence */
};

struct agent_link_ops {
	const char *name; /* "notices through the SM" */

	/* Before anything else, and then every few seconds while answers are awaited: from now on
	 * answers come in, also after a restart of the SM.  -ESTALE: the master SM is another one
	 * than at the last call; agents are asked through that one now, if possible.  -ETIMEDOUT,
	 * -EPROTO, -ENOENT: the SM does not answer, refuses, is not there; -EBUSY: another
	 * program on this node takes the answers; -ECANCELED within 50 ms of progress->cancel.
	 * progress may be NULL. */
	int (*listen)(void *ctx, struct progress *progress, struct err *err);
	/* 0: handed over; arrival is another matter. */
	int (*send)(void *ctx, const struct phase_notice *n, struct err *err);
	/* The next answer: 1; 0: none came within wait_ns (or something else did); -errno of the
	 * link.  Never a notice 144 of another sort. */
	int (*recv)(void *ctx, struct agent_answer *out, uint64_t wait_ns, struct err *err);
	/* Fills in there of n places, AGENT_UNKNOWN where it cannot be learnt.  NULL: never can.
	 * Errors as of listen. */
	int (*present)(void *ctx, struct agent_place *at, uint32_t n, struct progress *progress,
		       struct err *err);
	/* Are notices signed, and answers believed only when they are?  NULL: no. */
	bool (*sealed)(void *ctx);
	uint64_t (*now_ns)(void *ctx); /* monotonic */
	void (*close)(void *ctx);
};

struct agent_link {
	const struct agent_link_ops *ops;
	void *ctx;
};

struct notice_port;
struct site_keys;

/* Over an open port, from then on the link's: it closes it. */
void agent_link_notices(struct agent_link *out, struct notice_port *np);
/* The same, but np stays the caller's, as that of a wire does. */
void agent_link_over(struct agent_link *out, struct notice_port *np);
/* Of one that the two functions above have made: as notice_port_keys(). */
void agent_link_keys(struct agent_link *l, struct site_keys *keys);
/* NULL and one without ops are fine. */
void agent_link_close(struct agent_link *l);
