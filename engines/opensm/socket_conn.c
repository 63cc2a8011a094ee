/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/socket_conn.h"

#include "fabric/base/time/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#define OUT_MAX (1u << 20) /* bytes beside tables that wait to be fetched */

void socket_conn_init(struct socket_conn *c, int fd)
{
	*c = (struct socket_conn){ .fd = fd };
}

void socket_conn_close(struct socket_conn *c)
{
	if (c->fd >= 0)
		close(c->fd);
	vec_free(&c->body);
	vec_free(&c->out);
	socket_conn_init(c, -1);
}

/* ---- out ---- */

static void socket_conn_put(struct socket_conn *c, const void *data, size_t len)
{
	if (!c->out.n)
		c->out_ms = clock_ms();
	vec_reserve(&c->out, c->out.n + len);
	if (len)
		memcpy(c->out.v + c->out.n, data, len);
	c->out.n += len;
}

void socket_conn_answer(struct socket_conn *c, uint8_t type, uint32_t id, const void *body,
			size_t len)
{
	struct osm_msg m = { .type = type, .id = id, .len = (uint32_t)len };
	uint8_t head[OSM_MSG_HEAD];

	if (c->out.n - c->out_at > OUT_MAX + osm_msg_limit(OSM_MSG_LOAD)) {
		c->hang_up = true;
		return;
	}
	osm_msg_put(head, &m);
	vec_reserve(&c->out, c->out.n + sizeof(head) + len); /* all of it, or nothing */
	socket_conn_put(c, head, sizeof(head));
	socket_conn_put(c, body, len);
}

void socket_conn_answer_plain(struct socket_conn *c, uint8_t type, uint32_t id,
			      const struct osm_answer *a)
{
	char *body = osm_answer_encode(a);

	socket_conn_answer(c, type, id, body, strlen(body));
	free(body);
}

void socket_conn_answer_error(struct socket_conn *c, uint32_t id, int rc, const char *text)
{
	struct osm_answer a = { .rc = rc };

	snprintf(a.text, sizeof(a.text), "%s", text);
	socket_conn_answer_plain(c, OSM_MSG_ERROR, id, &a);
}

void socket_conn_write(struct socket_conn *c)
{
	while (c->out_at < c->out.n) {
		ssize_t n = send(c->fd, c->out.v + c->out_at, c->out.n - c->out_at, MSG_NOSIGNAL);

		if (n > 0) {
			c->out_at += (size_t)n;
			c->out_ms = clock_ms();
		} else if (n < 0 && errno == EINTR) {
			continue;
		} else if (n < 0 && errno == EAGAIN) {
			return;
		} else {
			c->hang_up = true;
			c->out_at = c->out.n;
		}
	}
	vec_free(&c->out);
	c->out_at = 0;
}

/* ---- in ---- */

/* 0: nothing more now.  Memory for a body is allocated as it comes, whatever its length is said to
 * be. */
static ssize_t socket_conn_take_bytes(struct socket_conn *c)
{
	size_t want, have;
	ssize_t n;

	if (c->got < OSM_MSG_HEAD) {
		n = recv(c->fd, c->head + c->got, OSM_MSG_HEAD - c->got, 0);
	} else {
		have = c->got - OSM_MSG_HEAD;
		want = c->m.len - have;
		vec_reserve(&c->body, have + (want < 65536 ? want : 65536) + 1);
		if (want > c->body.cap - have - 1)
			want = c->body.cap - have - 1;
		n = recv(c->fd, c->body.v + have, want, 0);
		if (n > 0)
			c->body.n += (size_t)n;
	}
	if (!n)
		c->hang_up = true;
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		c->hang_up = true;
	return n > 0 ? n : 0;
}

int socket_conn_read(struct socket_conn *c, struct err *err)
{
	ssize_t n;
	int rc;

	while (!c->hang_up && (n = socket_conn_take_bytes(c)) > 0) {
		if (!c->got)
			c->in_ms = clock_ms();
		c->got += (size_t)n;
		if (c->got == OSM_MSG_HEAD && !c->body.n) {
			rc = osm_msg_get(&c->m, c->head, err);
			if (rc)
				return rc;
			vec_reserve(&c->body, 1);
		}
		if (c->got < OSM_MSG_HEAD || c->got < OSM_MSG_HEAD + (size_t)c->m.len)
			continue;
		c->body.v[c->body.n] = 0;
		return 1;
	}
	return 0;
}

void socket_conn_done(struct socket_conn *c)
{
	c->got = 0;
	vec_free(&c->body);
}

bool socket_conn_overdue(const struct socket_conn *c, uint64_t now_ms, uint32_t limit_ms)
{
	if (c->got && now_ms - c->in_ms > limit_ms)
		return true;
	return c->out.n && now_ms - c->out_ms > limit_ms;
}
