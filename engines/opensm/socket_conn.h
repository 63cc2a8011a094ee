/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * socket_conn: the plugin's end of one connection of its socket: whole messages (osm_msg.h) in,
 * answers out.  Nothing here waits; who breaks the protocol or is gone is to be hung up on.
 */
#pragma once

#include "fabric/base/memory/vec.h"
#include "fabric/update/installer/osm_msg.h"

struct socket_conn {
	int fd; /* -1: none */
	bool hang_up;
	uint8_t head[OSM_MSG_HEAD];
	struct osm_msg m;
	size_t got;	   /* bytes of head and body */
	uint64_t in_ms;	   /* when the message under way began */
	VEC(uint8_t) body; /* grows as it comes */
	VEC(uint8_t) out;  /* not fetched yet, from out_at on */
	size_t out_at;
	uint64_t out_ms; /* since when */
};

void socket_conn_init(struct socket_conn *c, int fd);
void socket_conn_close(struct socket_conn *c);

/* 1: there is a whole message, in m and, with a zero byte behind it, in body, until
 * socket_conn_done(); 0: not yet; -EPROTO, -ENOTSUP, -EMSGSIZE: what comes is none (osm_msg_get()),
 * and nothing after it can be read. */
int socket_conn_read(struct socket_conn *c, struct err *err);
void socket_conn_done(struct socket_conn *c);
/* As much of the answers as is taken now. */
void socket_conn_write(struct socket_conn *c);

/* An answer is queued as a whole; to who has not fetched far more than enough, hang_up instead. */
void socket_conn_answer(struct socket_conn *c, uint8_t type, uint32_t id, const void *body,
			size_t len);
void socket_conn_answer_plain(struct socket_conn *c, uint8_t type, uint32_t id,
			      const struct osm_answer *a);
void socket_conn_answer_error(struct socket_conn *c, uint32_t id, int rc, const char *text);

/* A message began, or an answer has waited to be fetched, longer ago than that. */
bool socket_conn_overdue(const struct socket_conn *c, uint64_t now_ms, uint32_t limit_ms);
