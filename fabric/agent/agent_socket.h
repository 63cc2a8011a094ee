/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent_socket: the processes of a node that drain and migrate by themselves, on a Unix socket.
 *
 * Each of them has queue pairs somewhere; all are to be somewhere (agent_socket_want()), and each
 * is told one order after the other until it is there.  Who talks rubbish, reads nothing or is
 * too slow to say hello is hung up on, and named in the log.  A process that has hung up without a
 * BYE and is still alive is waited for, as it may come back; its queue pairs may be running.
 *
 * Nothing blocks.  One thread.
 */
#ifndef FABRIC_AGENT_AGENT_SOCKET_H
#define FABRIC_AGENT_AGENT_SOCKET_H

#include "fabric/agent/agent_save.h"
#include "fabric/base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define AGENT_PROTOCOL 1

enum agent_goal {
	AGENT_GOAL_NONE, /* nobody is told anything */
	AGENT_GOAL_BASE,
	AGENT_GOAL_DRAINED,
	AGENT_GOAL_ESCAPE
};

/* What an order tells on top. */
struct agent_order {
	uint64_t txn;
	uint32_t escape_offset;
	uint32_t limit_s;
	bool same; /* the base LIDs lead where they led */
};

struct agent_socket_ops {
	/* Who is here has changed; before the client is told that it is welcome. */
	void (*changed)(void *ctx);
	/* Asked by root or this agent's own user. */
	int (*add_job)(void *ctx, const char *job, struct err *err);
	int (*end_job)(void *ctx, const char *job, struct err *err);
	void (*status)(void *ctx, FILE *out);
};

struct agent_socket;

/* -EBUSY: somebody listens there already.  Replaces a socket that nobody listens on.  path NULL:
 * only connections that agent_socket_adopt() brings. */
int agent_socket_open(struct agent_socket **out, const char *path, unsigned mode,
		      const struct agent_socket_ops *ops, void *ctx, struct err *err);
/* A connection that was made elsewhere; takes fd. */
void agent_socket_adopt(struct agent_socket *s, int fd);
/* Tells all that the agent goes, removes the socket.  NULL is fine. */
void agent_socket_close(struct agent_socket *s);

void agent_socket_turn(struct agent_socket *s, uint64_t now_ms);

/* Where all are to be; what was under way for another goal is not waited for any more.  The order
 * is copied. */
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

#endif
