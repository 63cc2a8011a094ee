/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The client's side of a control socket. */
#include "fabric/base/file/dir_socket.h"
#include "fabric/base/text/json_text.h"
#include "fabric/update/watchdog/control_socket.h"

#include "fabric/update/watchdog/watch_conditions.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void control_link_init(struct control_link *l, int fd)
{
	*l = (struct control_link){ .fd = fd };
}

void control_close(struct control_link *l)
{
	if (l->fd >= 0)
		close(l->fd);
	free(l->buf);
	control_link_init(l, -1);
}

int control_connect(struct control_link *l, const char *dir, struct err *err)
{
	int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;

	control_link_init(l, -1);
	if (at < 0)
		return err_set(err, -errno, "%s: %s", dir, strerror(errno));
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	rc = l->fd < 0 ? -errno : dir_socket_connect(l->fd, at, CONTROL_NAME);
	if (rc)
		err_set(err, rc, "%s/%s: %s", dir, CONTROL_NAME, strerror(-rc));
	close(at);
	if (rc)
		control_close(l);
	return rc;
}

int control_ask(struct control_link *l, enum control_op op, uint32_t seconds)
{
	char line[128];
	int len = snprintf(line, sizeof(line), "{\"op\":\"%s\"", control_op_name(op));

	if (seconds)
		len += snprintf(line + len, sizeof(line) - (size_t)len, ",\"seconds\":%u", seconds);
	len += snprintf(line + len, sizeof(line) - (size_t)len, "}\n");
	return send(l->fd, line, (size_t)len, MSG_NOSIGNAL) == len ? 0 : -EPIPE;
}

int control_ask_override(struct control_link *l, unsigned watches)
{
	char line[128];
	int len = snprintf(line, sizeof(line), "{\"op\":\"%s\",\"what\":\"",
			   control_op_name(CONTROL_OVERRIDE));
	bool any = false;

	for (int w = 0; w < WATCHES; w++) {
		if (!(watches & 1u << w))
			continue;
		len += snprintf(line + len, sizeof(line) - (size_t)len, "%s%s", any ? "," : "",
				watch_name((enum watch_what)w));
		any = true;
	}
	len += snprintf(line + len, sizeof(line) - (size_t)len, "\"}\n");
	return send(l->fd, line, (size_t)len, MSG_NOSIGNAL) == len ? 0 : -EPIPE;
}

static int control_link_take_line(json_t **out, struct control_link *l)
{
	char *nl = l->have ? memchr(l->buf, '\n', l->have) : NULL;
	size_t len;

	if (!nl)
		return l->have >= CONTROL_ANSWER_MAX ? -EPROTO : 0;
	len = (size_t)(nl - l->buf);
	*out = json_text_clean(json_loadb(l->buf, len, 0, NULL));
	l->have -= len + 1;
	memmove(l->buf, nl + 1, l->have);
	return *out ? 1 : -EPROTO;
}

static int control_link_fill(struct control_link *l)
{
	ssize_t n;

	if (l->cap < l->have + 4096) {
		l->cap = l->have + 16384;
		l->buf = xrealloc(l->buf, l->cap, 1);
	}
	n = recv(l->fd, l->buf + l->have, l->cap - l->have, 0);
	if (n > 0)
		l->have += (size_t)n;
	return n > 0 ? 0 : n < 0 && errno == EINTR ? -EINTR : -EPIPE;
}

int control_next(json_t **out, struct control_link *l, int timeout_ms)
{
	uint64_t end = clock_ms() + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0);
	int rc;

	while (!(rc = control_link_take_line(out, l))) {
		struct pollfd p = { .fd = l->fd, .events = POLLIN };
		int64_t left = timeout_ms < 0 ? -1 : (int64_t)(end - clock_ms());

		if (timeout_ms >= 0 && left < 0)
			left = 0;
		rc = poll(&p, 1, (int)left);
		if (rc < 0)
			return -errno;
		if (!rc)
			return 0;
		rc = control_link_fill(l);
		if (rc)
			return rc;
	}
	return rc;
}
