/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/watchdog/control_socket.h"

#include "fabric/base/file/dir_socket.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/text/json_text.h"
#include "fabric/base/time/clock.h"
#include "fabric/update/watchdog/watch_conditions.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLIENTS	 16
#define OUT_MAX	 (4u << 20) /* unread by a client before it is dropped */
#define KEPT_MAX (2u << 20) /* of events kept for later */
#define HALF_MS	 10000	    /* for a line begun, or without any question at all */
#define LAST_MS	 1000	    /* for what is to be read at the end */

struct client {
	int fd;
	struct control_peer who;
	bool follows, doomed; /* doomed: what is to be sent yet, then closed */
	char in[CONTROL_LINE_MAX];
	size_t nin;
	VEC(char) out;
	size_t sent;
	uint64_t since_ms; /* waits for the rest of a line */
};

struct control {
	pthread_t thread;
	control_fn fn;
	void *ctx;
	int wake, listener;
	char *dir;

	pthread_mutex_t lock; /* of all below */
	struct client *client[CLIENTS];
	VEC(char) kept;
	int watched;
	void (*watch_fn)(void *ctx);
	void *watch_ctx;
	bool stop;
};

/* ---- a request ---- */

static const char *const control_op_names[CONTROL_OPS] = {
	[CONTROL_STATUS] = "status",   [CONTROL_FOLLOW] = "follow",
	[CONTROL_CONFIRM] = "confirm", [CONTROL_ROLLBACK] = "rollback",
	[CONTROL_EXTEND] = "extend",   [CONTROL_OVERRIDE] = "override",
};

const char *control_op_name(enum control_op op)
{
	return control_op_names[op];
}

static int control_socket_take_watches(struct control_request *out, const json_t *what,
				       struct err *err)
{
	if (out->op != CONTROL_OVERRIDE)
		return what ? err_set(err, -EINVAL, "what: for override") : 0;
	if (!json_is_string(what) || watch_parse(&out->watches, json_string_value(what), err) ||
	    !out->watches)
		return err_set(err, -EINVAL,
			       "what: any of sm, errors, reach and jobs, for override");
	return 0;
}

static int control_socket_take_op(struct control_request *out, const json_t *j, struct err *err)
{
	const char *op = json_string_value(json_object_get(j, "op"));
	const json_t *s = json_object_get(j, "seconds");
	json_int_t v = json_integer_value(s);

	if (!op)
		return err_set(err, -EINVAL, "not a request: \"op\" is missing");
	*out = (struct control_request){ .op = CONTROL_OPS };
	for (int i = 0; i < CONTROL_OPS; i++)
		if (!strcmp(op, control_op_names[i]))
			out->op = (enum control_op)i;
	if (out->op == CONTROL_OPS)
		return err_set(err, -EINVAL, "unknown op \"%.40s\"", op);
	if (s &&
	    (out->op != CONTROL_EXTEND || !json_is_integer(s) || v < 1 || v > CONTROL_EXTEND_S))
		return err_set(err, -EINVAL, "seconds: 1 to %d, for extend", CONTROL_EXTEND_S);
	out->seconds = (uint32_t)v;
	return control_socket_take_watches(out, json_object_get(j, "what"), err);
}

int control_parse(struct control_request *out, const char *line, size_t len, struct err *err)
{
	json_t *j;
	int rc;

	if (len >= CONTROL_LINE_MAX)
		return err_set(err, -EINVAL, "longer than %d bytes", CONTROL_LINE_MAX - 1);
	j = json_text_clean(json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL));
	if (!json_is_object(j))
		rc = err_set(err, -EINVAL, "not a JSON object");
	else
		rc = control_socket_take_op(out, j, err);
	json_decref(j);
	return rc;
}

/* ---- the server ---- */

static void control_socket_wake(struct control *c)
{
	uint64_t one = 1;

	if (write(c->wake, &one, sizeof(one)) < 0)
		return; /* it is awake */
}

static void control_socket_drop(struct control *c, int i)
{
	struct client *k = c->client[i];

	close(k->fd);
	vec_free(&k->out);
	free(k);
	c->client[i] = NULL;
}

static void control_socket_put(struct client *k, const char *data, size_t len)
{
	if (k->doomed)
		return;
	if (k->out.n - k->sent + len > OUT_MAX) {
		k->doomed = true;
		k->out.n = k->sent = 0; /* it does not read */
		return;
	}
	if (k->sent) {
		memmove(k->out.v, k->out.v + k->sent, k->out.n - k->sent);
		k->out.n -= k->sent;
		k->sent = 0;
	}
	vec_reserve(&k->out, k->out.n + len);
	memcpy(k->out.v + k->out.n, data, len);
	k->out.n += len;
}

static void control_socket_put_json(struct client *k, json_t *j)
{
	char *text = json_dumps(j, JSON_COMPACT);

	if (text) {
		control_socket_put(k, text, strlen(text));
		control_socket_put(k, "\n", 1);
	}
	free(text);
	json_decref(j);
}

static void control_socket_begin_to_follow(struct control *c, struct client *k)
{
	if (k->follows)
		return;
	k->follows = true;
	if (c->kept.n)
		control_socket_put(k, c->kept.v, c->kept.n);
}

static json_t *control_socket_refusal(const char *op, const char *why)
{
	return json_pack("{s:s, s:b, s:s}", "re", op, "ok", 0, "error", why);
}

/* The lock is released during the callback, which may publish events. */
static void control_socket_answer(struct control *c, struct client *k, const char *line, size_t len)
{
	struct control_request r;
	struct err err = { "" };
	json_t *j;

	if (control_parse(&r, line, len, &err)) {
		control_socket_put_json(k, control_socket_refusal("?", err.text));
		k->doomed = true;
		return;
	}
	if (r.op == CONTROL_FOLLOW) {
		control_socket_put_json(k, json_pack("{s:s, s:b}", "re", "follow", "ok", 1));
		control_socket_begin_to_follow(c, k);
		return;
	}
	pthread_mutex_unlock(&c->lock);
	j = c->fn(c->ctx, &r, &k->who);
	pthread_mutex_lock(&c->lock);
	if (!j)
		j = control_socket_refusal("?", "out of memory");
	json_object_set_new(j, "re", json_string(control_op_name(r.op)));
	control_socket_put_json(k, j);
}

static void control_socket_take_lines(struct control *c, struct client *k)
{
	char *nl;

	while (!k->doomed && (nl = memchr(k->in, '\n', k->nin))) {
		size_t len = (size_t)(nl - k->in);

		control_socket_answer(c, k, k->in, len);
		k->nin -= len + 1;
		memmove(k->in, nl + 1, k->nin);
		k->since_ms = clock_ms();
	}
	if (k->nin == sizeof(k->in)) {
		control_socket_put_json(k, control_socket_refusal("?", "line too long"));
		k->doomed = true;
	}
}

/* false: it is gone. */
static bool control_socket_read_some(struct control *c, struct client *k)
{
	ssize_t n;

	if (k->doomed)
		return true;
	n = recv(k->fd, k->in + k->nin, sizeof(k->in) - k->nin, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (!n)
		return false;
	if (!k->nin)
		k->since_ms = clock_ms();
	k->nin += (size_t)n;
	control_socket_take_lines(c, k);
	return true;
}

static bool control_socket_write_some(struct client *k)
{
	ssize_t n;

	if (k->sent == k->out.n)
		return !k->doomed;
	n = send(k->fd, k->out.v + k->sent, k->out.n - k->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	k->sent += (size_t)n;
	return k->sent < k->out.n || !k->doomed;
}

/* Who follows or has asked something may be quiet; who has never said anything, or half a
 * line, may not. */
static bool control_socket_too_slow(const struct client *k, uint64_t now)
{
	return (k->nin || !k->follows) && now - k->since_ms > HALF_MS;
}

static bool control_socket_allowed(int fd, struct control_peer *who)
{
	struct ucred u;
	socklen_t len = sizeof(u);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &u, &len))
		return false;
	*who = (struct control_peer){ .pid = u.pid, .uid = u.uid };
	return u.uid == 0 || u.uid == geteuid();
}

/* Full: the one that has been idle for longest and does not follow goes; if all follow, the
 * new one does. */
static int control_socket_place(struct control *c)
{
	int idle = -1;

	for (int i = 0; i < CLIENTS; i++) {
		if (!c->client[i])
			return i;
		if (!c->client[i]->follows &&
		    (idle < 0 || c->client[i]->since_ms < c->client[idle]->since_ms))
			idle = i;
	}
	if (idle >= 0)
		control_socket_drop(c, idle);
	return idle;
}

static void control_socket_add(struct control *c, int fd, bool follows)
{
	struct client *k;
	int i = control_socket_place(c);
	struct control_peer who = { 0 };

	if (i < 0 || !control_socket_allowed(fd, &who)) {
		close(fd);
		return;
	}
	k = xcalloc(1, sizeof(*k));
	k->fd = fd;
	k->who = who;
	k->since_ms = clock_ms();
	c->client[i] = k;
	if (follows)
		control_socket_begin_to_follow(c, k);
}

static void control_socket_accept_one(struct control *c)
{
	int fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd >= 0)
		control_socket_add(c, fd, false);
}

struct polled {
	struct pollfd p[CLIENTS + 3];
	int who[CLIENTS + 3]; /* >= 0: client */
	nfds_t n;
};

enum { FOR_WAKE = -1, FOR_LISTENER = -2, FOR_WATCH = -3 };

static void control_socket_add_poll(struct polled *l, int fd, short events, int who)
{
	l->p[l->n] = (struct pollfd){ .fd = fd, .events = events };
	l->who[l->n++] = who;
}

static void control_socket_gather(struct polled *l, struct control *c)
{
	l->n = 0;
	control_socket_add_poll(l, c->wake, POLLIN, FOR_WAKE);
	if (c->listener >= 0)
		control_socket_add_poll(l, c->listener, POLLIN, FOR_LISTENER);
	if (c->watched >= 0)
		control_socket_add_poll(l, c->watched, POLLIN, FOR_WATCH);
	for (int i = 0; i < CLIENTS; i++) {
		struct client *k = c->client[i];

		if (k)
			control_socket_add_poll(
				l, k->fd,
				(short)(POLLIN | (k->out.n > k->sent || k->doomed ? POLLOUT : 0)),
				i);
	}
}

static void control_socket_serve_client(struct control *c, int i, short events)
{
	struct client *k = c->client[i];

	if (!k)
		return;
	if ((events & (POLLIN | POLLHUP | POLLERR)) && !control_socket_read_some(c, k))
		control_socket_drop(c, i);
	else if (!control_socket_write_some(k) || control_socket_too_slow(k, clock_ms()))
		control_socket_drop(c, i);
}

static void control_socket_seen(struct control *c)
{
	void (*fn)(void *) = c->watch_fn;
	void *ctx = c->watch_ctx;

	c->watched = -1;
	pthread_mutex_unlock(&c->lock);
	fn(ctx);
	pthread_mutex_lock(&c->lock);
}

static void control_socket_serve(struct control *c, const struct polled *l)
{
	uint64_t count;

	for (nfds_t i = 0; i < l->n; i++) {
		short events = l->p[i].revents;

		if (l->who[i] >= 0)
			control_socket_serve_client(c, l->who[i], events);
		else if (l->who[i] == FOR_WAKE && events &&
			 read(c->wake, &count, sizeof(count)) < 0)
			continue;
		else if (l->who[i] == FOR_LISTENER && events)
			control_socket_accept_one(c);
		else if (l->who[i] == FOR_WATCH && events && c->watched == l->p[i].fd)
			control_socket_seen(c);
	}
}

static bool control_socket_all_sent(const struct control *c)
{
	for (int i = 0; i < CLIENTS; i++)
		if (c->client[i] && c->client[i]->sent < c->client[i]->out.n)
			return false;
	return true;
}

static void *control_socket_run(void *arg)
{
	struct control *c = arg;
	struct polled l;
	uint64_t end = 0;

	pthread_mutex_lock(&c->lock);
	for (;;) {
		if (c->stop && !end)
			end = clock_ms() + LAST_MS;
		if (end && (control_socket_all_sent(c) || clock_ms() >= end))
			break;
		control_socket_gather(&l, c);
		pthread_mutex_unlock(&c->lock);
		poll(l.p, l.n, end ? 50 : 1000);
		pthread_mutex_lock(&c->lock);
		control_socket_serve(c, &l);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Signals are for the thread that owns the update: a handler here could reach one that is just
 * being freed, and would not end that thread's rest. */
static int control_socket_start(struct control *c)
{
	sigset_t all, was;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	rc = pthread_create(&c->thread, NULL, control_socket_run, c);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return rc;
}

int control_new(struct control **out, control_fn fn, void *ctx, struct err *err)
{
	struct control *c = xcalloc(1, sizeof(*c));
	int rc;

	c->fn = fn;
	c->ctx = ctx;
	c->listener = c->watched = -1;
	c->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&c->lock, NULL);
	rc = c->wake < 0 ? errno : control_socket_start(c);
	if (!rc) {
		*out = c;
		return 0;
	}
	if (c->wake >= 0)
		close(c->wake);
	free(c);
	return err_set(err, -rc, "cannot serve a control socket: %s", strerror(rc));
}

void control_adopt(struct control *c, int fd)
{
	pthread_mutex_lock(&c->lock);
	control_socket_add(c, fd, true);
	pthread_mutex_unlock(&c->lock);
	control_socket_wake(c);
}

static int control_socket_bind_in(int fd, int at)
{
	unlinkat(at, CONTROL_NAME, 0);
	return dir_socket_listen(fd, at, CONTROL_NAME, CLIENTS);
}

int control_listen(struct control *c, const char *dir, struct err *err)
{
	int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), rc;

	rc = at < 0 || fd < 0 ? -errno : control_socket_bind_in(fd, at);
	if (at >= 0)
		close(at);
	if (rc) {
		if (fd >= 0)
			close(fd);
		return err_set(err, rc, "%s/%s: cannot listen: %s", dir, CONTROL_NAME,
			       strerror(-rc));
	}
	pthread_mutex_lock(&c->lock);
	c->listener = fd;
	c->dir = xstrdup(dir);
	pthread_mutex_unlock(&c->lock);
	control_socket_wake(c);
	return 0;
}

void control_publish(struct control *c, json_t *event, bool keep)
{
	char *text = json_dumps(event, JSON_COMPACT), *line;
	size_t len;

	json_decref(event);
	if (!text)
		return;
	line = xasprintf("%s\n", text);
	len = strlen(line);
	pthread_mutex_lock(&c->lock);
	for (int i = 0; i < CLIENTS; i++)
		if (c->client[i] && c->client[i]->follows)
			control_socket_put(c->client[i], line, len);
	if (keep && c->kept.n + len <= KEPT_MAX) {
		vec_reserve(&c->kept, c->kept.n + len);
		memcpy(c->kept.v + c->kept.n, line, len);
		c->kept.n += len;
	}
	pthread_mutex_unlock(&c->lock);
	control_socket_wake(c);
	free(line);
	free(text);
}

void control_watch(struct control *c, int fd, void (*fn)(void *ctx), void *ctx)
{
	pthread_mutex_lock(&c->lock);
	c->watched = fd;
	c->watch_fn = fn;
	c->watch_ctx = ctx;
	pthread_mutex_unlock(&c->lock);
	control_socket_wake(c);
}

void control_free(struct control *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_mutex_unlock(&c->lock);
	control_socket_wake(c);
	pthread_join(c->thread, NULL);
	for (int i = 0; i < CLIENTS; i++)
		if (c->client[i])
			control_socket_drop(c, i);
	if (c->listener >= 0) {
		char *path = xasprintf("%s/%s", c->dir, CONTROL_NAME);

		unlink(path);
		free(path);
		close(c->listener);
	}
	close(c->wake);
	vec_free(&c->kept);
	free(c->dir);
	pthread_mutex_destroy(&c->lock);
	free(c);
}
