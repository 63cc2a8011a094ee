/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/agent/agent_socket.h"

#include "fabric/base/message/log.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define CLIENTS_MAX AGENT_PEERS_MAX
#define KEPT_PLACES                                                                                \
	128 /* of them, for root, the agent itself, and below the usual 1,024 descriptors */
#define PER_USER_MAX (CLIENTS_MAX / 2)
#define UNKNOWN_MAX  128 /* of a user, before HELLO */
#define ACCEPT_MAX   512 /* in one turn: as many as the kernel keeps waiting */
#define HELLO_MS     5000
#define OUT_MAX	     (256u << 10)
#define LOG_MAX	     20 /* lines within LOG_MS */
#define LOG_MS	     10000

enum sent_order { ORDER_NONE, ORDER_DRAIN, ORDER_MIGRATE, ORDER_RETURN };

struct client {
	int fd; /* -1: hung up on, to be removed */
	uid_t uid;
	bool known; /* has said hello */
	struct agent_peer peer;
	uint64_t hello_ms; /* until then */

	enum agent_where where;
	bool sure; /* that it is there: no order was taken back half done */
	enum sent_order pending;
	uint32_t seq;
	bool failed;
	char why[AGENT_WHY_MAX];

	char in[AGENT_LINE_MAX];
	size_t nin;
	VEC(char) out;
	bool over; /* to be hung up on when all is sent */
};

struct agent_socket {
	int fd;
	char *path;
	const struct agent_socket_ops *ops;
	void *ctx;
	uint64_t now_ms;
	VEC(struct client *) clients;
	VEC(struct agent_peer) lost;
	VEC(struct pollfd) fds;
	enum agent_goal goal;
	struct agent_order order;
	uint32_t seq;
	bool held, dirty; /* in a turn: nothing is sent, and who is there is reported once, at its
			     end */
	uint64_t log_ms;  /* when the present span began */
	uint32_t logged;
};

/* What others do must not flood the log. */
__attribute__((format(printf, 3, 4))) static void
agent_socket_log(struct agent_socket *s, enum log_level level, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	if (s->now_ms - s->log_ms >= LOG_MS) {
		if (s->logged > LOG_MAX)
			log_add(LOG_WARN, "agent", "%u more lines about clients are not shown",
				s->logged - LOG_MAX);
		s->log_ms = s->now_ms;
		s->logged = 0;
	}
	if (s->logged++ >= LOG_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log_add(level, "agent", "%s", text);
}

static const char *agent_socket_peer_name(char buf[128], const struct agent_peer *p)
{
	snprintf(buf, 128, "rank %u of job %s (pid %d)", p->rank, p->job, (int)p->pid);
	return buf;
}

static const char *agent_socket_client_name(char buf[128], const struct client *c)
{
	if (c->known)
		return agent_socket_peer_name(buf, &c->peer);
	snprintf(buf, 128, "pid %d of user %u", (int)c->peer.pid, (unsigned)c->uid);
	return buf;
}

/* ---- sending ---- */

static void agent_socket_flush_out(struct client *c)
{
	size_t done = 0;
	ssize_t n;

	while (c->fd >= 0 && done < c->out.n) {
		n = send(c->fd, c->out.v + done, c->out.n - done, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	if (!done)
		return;
	memmove(c->out.v, c->out.v + done, c->out.n - done);
	c->out.n -= done;
}

static void agent_socket_hang_up(struct agent_socket *s, struct client *c, const char *why);

static void agent_socket_send_bytes(struct agent_socket *s, struct client *c, const char *text,
				    size_t n)
{
	if (c->fd < 0 || !n)
		return;
	if (c->out.n + n > OUT_MAX) {
		agent_socket_hang_up(s, c, "does not read its messages");
		return;
	}
	vec_reserve(&c->out, c->out.n + n);
	memcpy(c->out.v + c->out.n, text, n);
	c->out.n += n;
	if (!s->held)
		agent_socket_flush_out(c);
}

__attribute__((format(printf, 3, 4))) static void
agent_socket_send(struct agent_socket *s, struct client *c, const char *fmt, ...)
{
	char text[AGENT_LINE_MAX + 1];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, AGENT_LINE_MAX, fmt, ap);
	va_end(ap);
	if (n >= AGENT_LINE_MAX)
		n = AGENT_LINE_MAX - 1;
	text[n++] = '\n';
	agent_socket_send_bytes(s, c, text, (size_t)n);
}

/* ---- who comes and goes ---- */

/* Each time is a write to the disk, before anybody is welcome: one for all who come in a turn. */
static void agent_socket_changed(struct agent_socket *s)
{
	s->dirty = s->held;
	if (!s->held)
		s->ops->changed(s->ctx);
}

static void agent_socket_end_turn(struct agent_socket *s)
{
	s->held = false;
	if (s->dirty)
		agent_socket_changed(s);
	for (size_t i = 0; i < s->clients.n; i++)
		agent_socket_flush_out(s->clients.v[i]);
}

static void agent_socket_close_client(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

/* Its queue pairs are still there if it is. */
static void agent_socket_lost(struct agent_socket *s, struct client *c)
{
	if (c->fd < 0)
		return;
	agent_socket_close_client(c);
	if (c->known && agent_peer_alive(&c->peer) && s->lost.n < AGENT_PEERS_MAX)
		vec_push(&s->lost, c->peer);
	if (c->known)
		agent_socket_changed(s);
}

static void agent_socket_hang_up(struct agent_socket *s, struct client *c, const char *why)
{
	char name[128];

	if (c->fd >= 0)
		agent_socket_log(s, LOG_WARN, "%s %s: disconnected",
				 agent_socket_client_name(name, c), why);
	agent_socket_lost(s, c);
}

/* Sends the reason if it fits into the socket buffer. */
static void agent_socket_reject(struct agent_socket *s, struct client *c, const char *why)
{
	char text[200];

	snprintf(text, sizeof(text), "has sent %.150s", why);
	agent_socket_send(s, c, "ERROR %s", why);
	agent_socket_flush_out(c);
	agent_socket_hang_up(s, c, text);
}

static void agent_socket_forget_lost(struct agent_socket *s, size_t i)
{
	s->lost.v[i] = s->lost.v[--s->lost.n];
}

static void agent_socket_forget_dead(struct agent_socket *s)
{
	size_t before = s->lost.n;

	for (size_t i = 0; i < s->lost.n;) {
		if (agent_peer_alive(&s->lost.v[i]))
			i++;
		else
			agent_socket_forget_lost(s, i);
	}
	if (s->lost.n != before)
		agent_socket_changed(s);
}

static void agent_socket_found_again(struct agent_socket *s, const struct agent_peer *p)
{
	for (size_t i = 0; i < s->lost.n; i++) {
		const struct agent_peer *l = &s->lost.v[i];

		if (l->pid != p->pid || l->rank != p->rank || strcmp(l->job, p->job))
			continue;
		agent_socket_forget_lost(s, i);
		return;
	}
}

/* ---- orders ---- */

static void agent_socket_order(struct agent_socket *s, struct client *c, enum sent_order what)
{
	static const char *const name[] = { "", "DRAIN", "MIGRATE", "RETURN" };
	const struct agent_order *o = &s->order;

	c->pending = what;
	c->seq = ++s->seq;
	if (what == ORDER_RETURN)
		agent_socket_send(s, c, "RETURN %u %" PRIu64 " %s %u", c->seq, o->txn,
				  o->same ? "same" : "changed", o->limit_s);
	else
		agent_socket_send(s, c, "%s %u %" PRIu64 " %u %u", name[what], c->seq, o->txn,
				  o->escape_offset, o->limit_s);
}

static bool agent_socket_at_goal(const struct agent_socket *s, const struct client *c)
{
	if (s->goal == AGENT_GOAL_NONE)
		return true;
	if (!c->sure || c->pending != ORDER_NONE)
		return false;
	return s->goal == AGENT_GOAL_BASE     ? c->where == AGENT_AT_BASE
	       : s->goal == AGENT_GOAL_ESCAPE ? c->where == AGENT_AT_ESCAPE
					      : c->where != AGENT_AT_BASE;
}

static void agent_socket_advance(struct agent_socket *s, struct client *c)
{
	if (!c->known || c->pending != ORDER_NONE || c->failed || agent_socket_at_goal(s, c))
		return;
	if (s->goal == AGENT_GOAL_BASE)
		agent_socket_order(s, c, ORDER_RETURN);
	else if (!c->sure || c->where == AGENT_AT_BASE)
		agent_socket_order(s, c, ORDER_DRAIN);
	else
		agent_socket_order(s, c, ORDER_MIGRATE);
}

void agent_socket_want(struct agent_socket *s, enum agent_goal goal, const struct agent_order *o)
{
	s->goal = goal;
	s->order = *o;
	for (size_t i = 0; i < s->clients.n; i++) {
		struct client *c = s->clients.v[i];

		if (c->pending != ORDER_NONE || c->failed)
			c->sure = false;
		c->pending = ORDER_NONE;
		c->failed = false;
		agent_socket_advance(s, c);
	}
}

int agent_socket_there(const struct agent_socket *s, struct err *err)
{
	const struct client *late = NULL;
	uint32_t nlate = 0;
	char name[128];

	for (size_t i = 0; i < s->clients.n; i++) {
		const struct client *c = s->clients.v[i];

		if (c->fd < 0 || !c->known)
			continue;
		if (c->failed)
			return err_set(err, -EIO, "%s says that it could not: %s",
				       agent_socket_peer_name(name, &c->peer),
				       c->why[0] ? c->why : "no reason");
		if (!agent_socket_at_goal(s, c) && !nlate++)
			late = c;
	}
	if (nlate)
		return err_set(err, -EAGAIN, "%s and %u more have not responded",
			       agent_socket_peer_name(name, &late->peer), nlate - 1);
	if (!s->lost.n || s->goal == AGENT_GOAL_NONE)
		return 0;
	return err_set(err, -EAGAIN,
		       "%s and %zu more have hung up without BYE and are still running",
		       agent_socket_peer_name(name, &s->lost.v[0]), s->lost.n - 1);
}

/* ---- what clients agent_socket_log ---- */

static void agent_socket_hello(struct agent_socket *s, struct client *c, const struct agent_line *l)
{
	struct agent_caller who = { .uid = c->uid, .pid = c->peer.pid, .start = c->peer.start };
	bool escape = s->goal == AGENT_GOAL_DRAINED || s->goal == AGENT_GOAL_ESCAPE;
	struct err why;
	char name[128];

	if (l->version != AGENT_PROTOCOL) {
		agent_socket_reject(s, c, "a protocol version other than 1");
		return;
	}
	if (c->known) {
		agent_socket_reject(s, c, "HELLO twice");
		return;
	}
	if (agent_owner_check(&who, l->job, s->ops->owner(s->ctx, l->job), &why)) {
		agent_socket_reject(s, c, why.text);
		return;
	}
	c->known = c->sure = true;
	c->where = l->where;
	c->peer.rank = l->rank;
	snprintf(c->peer.job, sizeof(c->peer.job), "%s", l->job);
	agent_socket_found_again(s, &c->peer);
	agent_socket_changed(s);
	agent_socket_log(s, LOG_INFO, "%s of user %u connected; its queue pairs are at %s",
			 agent_socket_peer_name(name, &c->peer), (unsigned)c->uid,
			 agent_where_name(c->where));
	agent_socket_send(s, c, "WELCOME %u %s %u", AGENT_PROTOCOL, escape ? "escape" : "base",
			  s->order.escape_offset);
	agent_socket_advance(s, c);
}

static void agent_socket_answer(struct agent_socket *s, struct client *c,
				const struct agent_line *l)
{
	static const enum agent_where end[] = { [ORDER_DRAIN] = AGENT_AT_DRAINED,
						[ORDER_MIGRATE] = AGENT_AT_ESCAPE,
						[ORDER_RETURN] = AGENT_AT_BASE };
	char name[128];

	if (!c->seq || (int32_t)(l->seq - c->seq) > 0) {
		agent_socket_reject(s, c, "an answer without a request");
		return;
	}
	if (l->seq != c->seq || c->pending == ORDER_NONE)
		return; /* of an order that was taken back */
	c->sure = l->verb == AGENT_DONE;
	if (c->sure)
		c->where = end[c->pending];
	else
		agent_socket_log(s, LOG_WARN, "%s could not: %s",
				 agent_socket_peer_name(name, &c->peer), l->why);
	c->failed = !c->sure;
	memcpy(c->why, l->why, sizeof(c->why));
	c->pending = ORDER_NONE;
	agent_socket_advance(s, c);
}

static void agent_socket_bye(struct agent_socket *s, struct client *c)
{
	char name[128];

	if (c->known)
		agent_socket_log(s, LOG_INFO, "%s says BYE", agent_socket_client_name(name, c));
	agent_socket_close_client(c);
	agent_socket_changed(s);
}

static bool agent_socket_trusts(uid_t uid)
{
	return !uid || uid == geteuid();
}

static void agent_socket_control(struct agent_socket *s, struct client *c,
				 const struct agent_line *l)
{
	struct err err = { "" };
	char *text = NULL;
	size_t n = 0;
	int rc = 0;
	FILE *f;

	c->over = true;
	if (!agent_socket_trusts(c->uid)) {
		agent_socket_send(s, c,
				  "ERROR only root and the agent's own user may ask for that");
		return;
	}
	if (l->verb == AGENT_GET_STATUS) {
		f = open_memstream(&text, &n);
		s->ops->status(s->ctx, f);
		fclose(f);
		agent_socket_send_bytes(s, c, text, n);
		free(text);
	} else if (l->verb == AGENT_FORGET) {
		rc = s->ops->forget(s->ctx, &err);
	} else {
		rc = l->verb == AGENT_ADD_JOB ? s->ops->add_job(s->ctx, l->job, l->uid, &err)
					      : s->ops->end_job(s->ctx, l->job, &err);
	}
	if (rc)
		agent_socket_send(s, c, "ERROR %s", err.text);
	else
		agent_socket_send(s, c, "OK");
}

static void agent_socket_take(struct agent_socket *s, struct client *c, const char *line, size_t n)
{
	struct agent_line l;
	struct err err;

	if (agent_line_parse(&l, line, n, &err)) {
		agent_socket_reject(s, c, err.text);
		return;
	}
	if (!c->known && (l.verb == AGENT_DONE || l.verb == AGENT_FAILED)) {
		agent_socket_reject(s, c, "an answer before HELLO");
		return;
	}
	switch (l.verb) {
	case AGENT_HELLO:
		agent_socket_hello(s, c, &l);
		return;
	case AGENT_DONE:
	case AGENT_FAILED:
		agent_socket_answer(s, c, &l);
		return;
	case AGENT_BYE:
		agent_socket_bye(s, c);
		return;
	case AGENT_ADD_JOB:
	case AGENT_END_JOB:
	case AGENT_GET_STATUS:
	case AGENT_FORGET:
		agent_socket_control(s, c, &l);
		return;
	}
}

static void agent_socket_take_lines(struct agent_socket *s, struct client *c)
{
	size_t from = 0;
	char *end;

	while (c->fd >= 0 && !c->over && (end = memchr(c->in + from, '\n', c->nin - from))) {
		agent_socket_take(s, c, c->in + from, (size_t)(end - c->in) - from);
		from = (size_t)(end - c->in) + 1;
	}
	memmove(c->in, c->in + from, c->nin - from);
	c->nin -= from;
	if (c->fd >= 0 && c->nin == sizeof(c->in))
		agent_socket_reject(s, c, "an unterminated line");
}

/* No more than this at once: a flood must not keep us from the others. */
static void agent_socket_read_client(struct agent_socket *s, struct client *c)
{
	char name[128];
	ssize_t n;

	for (int k = 0; k < 8 && c->fd >= 0 && !c->over; k++) {
		n = recv(c->fd, c->in + c->nin, sizeof(c->in) - c->nin, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			if (c->known)
				agent_socket_log(s, LOG_WARN, "%s has hung up without BYE",
						 agent_socket_client_name(name, c));
			agent_socket_lost(s, c);
			return;
		}
		c->nin += (size_t)n;
		agent_socket_take_lines(s, c);
	}
}

static bool agent_socket_has_room(const struct agent_socket *s, uid_t uid)
{
	uint32_t all = 0, unknown = 0;

	if (agent_socket_trusts(uid))
		return s->clients.n < CLIENTS_MAX;
	for (size_t i = 0; i < s->clients.n; i++) {
		const struct client *c = s->clients.v[i];

		all += c->uid == uid;
		unknown += c->uid == uid && !c->known;
	}
	return s->clients.n < CLIENTS_MAX - KEPT_PLACES && all < PER_USER_MAX &&
	       unknown < UNKNOWN_MAX;
}

void agent_socket_adopt(struct agent_socket *s, int fd)
{
	struct ucred who = { .pid = 0, .uid = AGENT_NO_USER };
	socklen_t len = sizeof(who);
	struct client *c;

	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len);
	if (!agent_socket_has_room(s, who.uid)) {
		agent_socket_log(s, LOG_WARN, "pid %d of user %u is refused: too many connections",
				 (int)who.pid, (unsigned)who.uid);
		close(fd);
		return;
	}
	c = xcalloc(1, sizeof(*c));
	c->fd = fd;
	c->uid = who.uid;
	c->peer.pid = who.pid;
	c->peer.start = agent_pid_start(who.pid);
	c->hello_ms = s->now_ms + HELLO_MS;
	vec_push(&s->clients, c);
	/* what it has said already counts now: an update may be beginning */
	agent_socket_read_client(s, c);
}

static void agent_socket_accept_all(struct agent_socket *s)
{
	int fd;

	for (int k = 0; k < ACCEPT_MAX; k++) {
		fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			return;
		agent_socket_adopt(s, fd);
	}
}

static void agent_socket_free_client(struct client *c)
{
	agent_socket_close_client(c);
	vec_free(&c->out);
	free(c);
}

static void agent_socket_sweep_out(struct agent_socket *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->clients.n; i++) {
		struct client *c = s->clients.v[i];

		if (c->fd >= 0 && c->over && !c->out.n)
			agent_socket_close_client(c);
		if (c->fd >= 0 && !c->known && s->now_ms >= c->hello_ms)
			agent_socket_hang_up(
				s, c, c->over ? "does not read its answer" : "does not say HELLO");
		if (c->fd < 0)
			agent_socket_free_client(c);
		else
			s->clients.v[n++] = c;
	}
	s->clients.n = n;
}

void agent_socket_turn(struct agent_socket *s, uint64_t now_ms)
{
	size_t n = s->clients.n;

	s->now_ms = now_ms;
	s->held = true;
	vec_reserve(&s->fds, n + 1);
	s->fds.v[0] = (struct pollfd){ .fd = s->fd, .events = POLLIN };
	for (size_t i = 0; i < n; i++) {
		struct client *c = s->clients.v[i];

		s->fds.v[i + 1] =
			(struct pollfd){ .fd = c->fd,
					 .events = (short)(POLLIN | (c->out.n ? POLLOUT : 0)) };
	}
	if (poll(s->fds.v, n + 1, 0) > 0) {
		for (size_t i = 0; i < n; i++) {
			if (s->fds.v[i + 1].revents & POLLOUT)
				agent_socket_flush_out(s->clients.v[i]);
			if (s->fds.v[i + 1].revents & ~POLLOUT)
				agent_socket_read_client(s, s->clients.v[i]);
		}
		if (s->fds.v[0].revents)
			agent_socket_accept_all(s);
	}
	agent_socket_end_turn(s);
	agent_socket_sweep_out(s);
	agent_socket_forget_dead(s);
}

/* ---- life ---- */

/* A socket that nobody listens on was left behind. */
static int agent_socket_remove_stale(const struct sockaddr_un *at, struct err *err)
{
	struct ucred who = { .pid = 0 };
	socklen_t len = sizeof(who);
	struct stat st;
	int fd, rc;

	if (lstat(at->sun_path, &st))
		return errno == ENOENT
			       ? 0
			       : err_set(err, -errno, "%s: %s", at->sun_path, strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return err_set(err, -EEXIST, "%s exists and is not a socket", at->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set(err, -errno, "%s: cannot find out whether an agent listens: %s",
			       at->sun_path, strerror(errno));
	rc = connect(fd, (const struct sockaddr *)at, sizeof(*at)) ? -errno : 0;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len))
		who.uid = AGENT_NO_USER;
	close(fd);
	if (!rc && !agent_socket_trusts(who.uid))
		return err_set(err, -EPERM,
			       "user %u listens on %s: give the socket a folder of the agent's own",
			       (unsigned)who.uid, at->sun_path);
	if (rc != -ECONNREFUSED)
		return err_set(err, -EBUSY, "another agent listens on %s", at->sun_path);
	unlink(at->sun_path);
	return 0;
}

static int agent_socket_listen_on(struct agent_socket *s, const struct sockaddr_un *at,
				  unsigned mode, struct err *err)
{
	mode_t mask;
	int rc;

	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mask = umask(0777 & ~mode);
	rc = s->fd < 0 || bind(s->fd, (const struct sockaddr *)at, sizeof(*at)) ||
			     listen(s->fd, 512)
		     ? -errno
		     : 0;
	umask(mask);
	return rc ? err_set(err, rc, "the socket %s cannot be made: %s", at->sun_path,
			    strerror(-rc))
		  : 0;
}

int agent_socket_open(struct agent_socket **out, const char *path, unsigned mode,
		      const struct agent_socket_ops *ops, void *ctx, struct err *err)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct agent_socket *s;
	int rc = 0;

	if (path && strlen(path) >= sizeof(at.sun_path))
		return err_set(err, -ENAMETOOLONG, "%s is too long for a socket: %zu bytes at most",
			       path, sizeof(at.sun_path) - 1);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path ? path : "");
	if (path)
		rc = agent_socket_remove_stale(&at, err);
	if (rc)
		return rc;
	s = xcalloc(1, sizeof(*s));
	s->fd = -1;
	s->ops = ops;
	s->ctx = ctx;
	s->goal = AGENT_GOAL_NONE;
	if (path)
		rc = agent_socket_listen_on(s, &at, mode, err);
	if (!rc && path)
		s->path = xstrdup(path);
	if (rc)
		agent_socket_close(s);
	else
		*out = s;
	return rc;
}

void agent_socket_close(struct agent_socket *s)
{
	if (!s)
		return;
	if (s->path)
		unlink(s->path);
	if (s->fd >= 0)
		close(s->fd);
	for (size_t i = 0; i < s->clients.n; i++) {
		if (s->clients.v[i]->known)
			agent_socket_send(s, s->clients.v[i], "BYE");
		agent_socket_free_client(s->clients.v[i]);
	}
	vec_free(&s->clients);
	vec_free(&s->lost);
	vec_free(&s->fds);
	free(s->path);
	free(s);
}

/* ---- questions ---- */

static bool agent_socket_of_job(const struct agent_peer *p, const char *job)
{
	return !job || !strcmp(p->job, job);
}

uint32_t agent_socket_count(const struct agent_socket *s, const char *job)
{
	uint32_t n = 0;

	for (size_t i = 0; i < s->clients.n; i++) {
		const struct client *c = s->clients.v[i];

		n += c->fd >= 0 && c->known && agent_socket_of_job(&c->peer, job);
	}
	for (size_t i = 0; i < s->lost.n; i++)
		n += agent_socket_of_job(&s->lost.v[i], job);
	return n;
}

void agent_socket_forget(struct agent_socket *s, const char *job)
{
	for (size_t i = 0; i < s->clients.n; i++) {
		struct client *c = s->clients.v[i];

		if (c->fd < 0 || !c->known || !agent_socket_of_job(&c->peer, job))
			continue;
		agent_socket_send(s, c, "BYE");
		agent_socket_close_client(c);
	}
	for (size_t i = 0; i < s->lost.n;) {
		if (agent_socket_of_job(&s->lost.v[i], job))
			agent_socket_forget_lost(s, i);
		else
			i++;
	}
	agent_socket_changed(s);
}

void agent_socket_peers(const struct agent_socket *s, struct agent_save *out)
{
	for (size_t i = 0; i < s->clients.n; i++) {
		if (s->clients.v[i]->fd >= 0 && s->clients.v[i]->known)
			vec_push(&out->peers, s->clients.v[i]->peer);
	}
	for (size_t i = 0; i < s->lost.n && out->peers.n < AGENT_PEERS_MAX; i++)
		vec_push(&out->peers, s->lost.v[i]);
}

void agent_socket_await(struct agent_socket *s, const struct agent_peer *p)
{
	if (s->lost.n < AGENT_PEERS_MAX && agent_peer_alive(p))
		vec_push(&s->lost, *p);
}

void agent_socket_print(const struct agent_socket *s, FILE *out)
{
	static const char *const name[] = { "-", "DRAIN", "MIGRATE", "RETURN" };

	for (size_t i = 0; i < s->clients.n; i++) {
		const struct client *c = s->clients.v[i];

		if (c->fd >= 0 && c->known)
			fprintf(out, "client %s rank %u pid %d at %s%s told %s%s%s\n", c->peer.job,
				c->peer.rank, (int)c->peer.pid, agent_where_name(c->where),
				c->sure ? "" : "?", name[c->pending], c->failed ? " failed: " : "",
				c->failed ? c->why : "");
	}
	for (size_t i = 0; i < s->lost.n; i++)
		fprintf(out, "awaited %s rank %u pid %d\n", s->lost.v[i].job, s->lost.v[i].rank,
			(int)s->lost.v[i].pid);
}
