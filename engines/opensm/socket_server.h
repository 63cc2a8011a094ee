/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * socket_server: the plugin's end of the Unix socket (osm_msg.h), in a thread of its own.
 *
 * Only root and the user that OpenSM runs as are let in.  A client that sends nonsense, or begins
 * a message and does not go on, or does not fetch its answers, is hung up on; the others do not
 * notice.  It knows nothing of OpenSM: what it needs of that is in server_ops, none of which may
 * wait for longer than a moment.
 */
#pragma once

#include "engines/opensm/sm_session.h"
#include "fabric/ib/notice.h"

#define SERVER_CLIENTS 16

struct socket_server_ops {
	/* What OpenSM knows of itself. */
	void (*facts)(void *ctx, struct osm_status *s);
	/* Asks OpenSM to route again, or does what is left of it; -ENOTSUP: not the master. */
	int (*reroute)(void *ctx, struct err *err);
	/* Called now and then: sees to what was begun so.  NULL: nothing is. */
	void (*turn)(void *ctx);
	/* 68 or 69 to all subscribers; -EAGAIN: OpenSM is at work, ask again soon. */
	int (*notice)(void *ctx, const uint8_t d[NOTICE_SA_DATA], struct err *err);
	/* GUIDs of ports that have subscribed to 68; the server frees *guid.  -EAGAIN as above. */
	int (*listeners)(void *ctx, uint64_t **guid, uint32_t *n, struct err *err);
	/* Would OpenSM write only what differs?  After it has started it writes everything in each
	 * routing, until it has discovered all a second time.  1: not yet; ask: then it is to do
	 * that now; -EAGAIN as above.  NULL: it would. */
	int (*settled)(void *ctx, bool ask);
	void (*say)(void *ctx, const char *sentence); /* into OpenSM's log */
	/* Is this notice of who it says, as far as there is a key?  NULL: it is. */
	bool (*believes)(void *ctx, const struct notice *n);
};

struct socket_server_limits {
	uint32_t message_ms; /* from the first byte of a message to its last, and for answers to
			      * be fetched; 0: 20,000 */
	uint32_t idle_ms;    /* then a client that waits for nothing may have to give its place to
			      * another; 0: 60,000 */
	uint32_t reroute_ms; /* 0: 600,000 */
	uint32_t quiet_ms;   /* from the start until agents are called back: an update that began
			      * before may go on; 0: 20,000 */
};

struct socket_server;

/* Makes the socket's folder (mode 0700) and the socket (0600).  -EADDRINUSE: another OpenSM
 * answers there.  limits may be NULL. */
int socket_server_start(struct socket_server **out, const char *path, struct sm_session *session,
			const struct socket_server_ops *ops, void *ctx,
			const struct socket_server_limits *limits, struct err *err);
void socket_server_stop(struct socket_server *s); /* waits for the thread; NULL is fine */

/* From any thread: something that clients may wait for has changed. */
void socket_server_kick(struct socket_server *s);
/* From any thread: a notice 144 for whoever watches, or one that another coordinator sent. */
void socket_server_heard(struct socket_server *s, const uint8_t d[NOTICE_SA_DATA]);
