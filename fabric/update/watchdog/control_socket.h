/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control_socket: the socket BASE/ID/control to watch and decide an update in progress.
 *
 * Lines of JSON both ways.  Asked:
 *   {"op":"status"}  {"op":"follow"}  {"op":"confirm"}  {"op":"rollback"}
 *   {"op":"extend","seconds":300}  {"op":"override","what":"errors,reach"}
 * each answered by one line {"re":OP,"ok":BOOL,...}, "error" saying why not. follow sends all
 * past events, then new ones, {"event":KIND,...}, until {"event":"over",...}.
 *
 * Only root and the user that the server runs as are accepted.  A client that sends anything
 * else, too long a line, an incomplete line for too long, or does not read, is disconnected.
 */
#pragma once

#include "fabric/base/message/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CONTROL_NAME	   "control"
#define CONTROL_LINE_MAX   1024	  /* of a request, newline included */
#define CONTROL_EXTEND_S   86400  /* at most */
#define CONTROL_ANSWER_MAX 262144 /* of a line to the client */

enum control_op {
	CONTROL_STATUS,
	CONTROL_FOLLOW,
	CONTROL_CONFIRM,
	CONTROL_ROLLBACK,
	CONTROL_EXTEND,
	CONTROL_OVERRIDE, /* watch conditions that are looked at no more */
	CONTROL_OPS
};

const char *control_op_name(enum control_op op);

struct control_request {
	enum control_op op;
	uint32_t seconds; /* EXTEND: 1..CONTROL_EXTEND_S; 0: as long as at first */
	unsigned watches; /* OVERRIDE: bits of enum watch_what, at least one */
};

/* One line without its newline, any bytes.  -EINVAL and a sentence for the client. */
int control_parse(struct control_request *out, const char *line, size_t len, struct err *err);

struct control_peer {
	pid_t pid;
	uid_t uid;
};

struct control;

/* In the server's own thread; returns the rest of the answer ("ok" and what belongs to it), which
 * is taken.  FOLLOW is not asked. */
typedef json_t *(*control_fn)(void *ctx, const struct control_request *r,
			      const struct control_peer *who);

/* Starts the thread; nobody can connect yet. */
int control_new(struct control **out, control_fn fn, void *ctx, struct err *err);
/* A connected socket as if it had come in and asked to follow; takes fd. */
void control_adopt(struct control *c, int fd);
/* DIR/control, mode 0600, in place of one that a dead process has left. */
int control_listen(struct control *c, const char *dir, struct err *err);
/* An event for all that follow; takes it.  keep: also for those that begin to follow later. */
void control_publish(struct control *c, json_t *event, bool keep);
/* Calls fn once, in the thread, when fd can be read; fd is only borrowed, -1: no more. */
void control_watch(struct control *c, int fd, void (*fn)(void *ctx), void *ctx);
/* Sends what is to be sent, at most for a second, and removes the socket.  NULL is fine. */
void control_free(struct control *c);

/* The other side. */
struct control_link {
	int fd; /* -1: not connected */
	char *buf;
	size_t have, cap;
};

/* -ENOENT: no such socket; -ECONNREFUSED: nobody listens; -EACCES. */
int control_connect(struct control_link *l, const char *dir, struct err *err);
void control_link_init(struct control_link *l, int fd);
int control_ask(struct control_link *l, enum control_op op, uint32_t seconds);
int control_ask_override(struct control_link *l, unsigned watches); /* bits of enum watch_what */
/* 1: a line, *out is the caller's; 0: none within that time; -EPIPE: the server is gone;
 * -EINTR: a signal; -EPROTO: not JSON. */
int control_next(json_t **out, struct control_link *l, int timeout_ms);
void control_close(struct control_link *l);
