/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent_socket: the processes of a node that drain and migrate by themselves, on a Unix socket.
 *
 * agent_socket_want() sets where the queue pairs of all clients should be; each client gets one
 * order after the other until it is there.  A client that violates the protocol, does not read,
 * or does not send HELLO in time is disconnected and logged.  One that disconnects without BYE
 * but is still alive is waited for: it may reconnect, and its queue pairs may be active.
 *
 * Others' users cannot shut root out: of the places for connections some are kept for root and the
 * agent's own user, one user has half of them at most, and few before HELLO.
 *
 * Never blocks.  One thread.
 */
#pragma once

#include "fabric/agent/agent_owner.h"
#include "fabric/agent/agent_save.h"
#include "fabric/base/message/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define AGENT_PROTOCOL 1

enum agent_goal {
	AGENT_GOAL_NONE, /* no orders */
	AGENT_GOAL_BASE,
	AGENT_GOAL_DRAINED,
	AGENT_GOAL_ESCAPE
};

/* Parameters of an order. */
struct agent_order {
	uint64_t txn;
	uint32_t escape_offset;
	uint32_t limit_s;
	bool same; /* the paths of the base LIDs are unchanged */
};

struct agent_socket_ops {
	/* The set of clients has changed; called before WELCOME is sent. */
	void (*changed)(void *ctx);
	/* Asked by root or this agent's own user.  uid: of the job, or AGENT_NO_USER. */
	int (*add_job)(void *ctx, const char *job, uid_t uid, struct err *err);
	int (*end_job)(void *ctx, const char *job, struct err *err);
	void (*status)(void *ctx, FILE *out);
	int (*forget)(void *ctx, struct err *err);
	/* The job's user, AGENT_NO_USER if that is not known. */
	uid_t (*owner)(void *ctx, const char *job);
};

struct agent_socket;

/* -EBUSY: somebody listens there already.  Replaces a socket that nobody listens on.  path NULL:
 * only connections that agent_socket_adopt() brings. */
int agent_socket_open(struct agent_socket **out, const char *path, unsigned mode,
		      const struct agent_socket_ops *ops, void *ctx, struct err *err);
/* A connection that was made elsewhere; takes fd. */
void agent_socket_adopt(struct agent_socket *s, int fd);
/* Sends BYE to all and removes the socket.  NULL is fine. */
void agent_socket_close(struct agent_socket *s);

void agent_socket_turn(struct agent_socket *s, uint64_t now_ms);

/* Where the queue pairs of all clients should be; pending orders for another goal are no longer
 * waited for.  The order is copied. */
void agent_socket_want(struct agent_socket *s, enum agent_goal goal, const struct agent_order *o);
/* 0: all are there.  -EAGAIN: not yet, with who is awaited; -EIO: one has failed. */
int agent_socket_there(const struct agent_socket *s, struct err *err);

/* Processes of a job (NULL: of all), those awaited included. */
uint32_t agent_socket_count(const struct agent_socket *s, const char *job);
/* Nothing of the job is waited for any more. */
void agent_socket_forget(struct agent_socket *s, const char *job);
/* Those that are here and those that are awaited; pushed on the list of out. */
void agent_socket_peers(const struct agent_socket *s, struct agent_save *out);
/* Known from before this agent's start: awaited as long as they are alive. */
void agent_socket_await(struct agent_socket *s, const struct agent_peer *p);
void agent_socket_print(const struct agent_socket *s, FILE *out);
