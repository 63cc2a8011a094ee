/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/sim/device/sim_remote.h"

#include "fabric/base/file/dir_socket.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/time/clock.h"
#include "fabric/sim/device/sim.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define BATCH	 32 /* datagrams in one message, at most */
#define CLIENTS	 8
#define HELLO_MS 5000
#define BUSY_MS	 1	       /* between two looks for answers that take their time */
#define IDLE_MS	 20	       /* for packets that nobody asked for */
#define OPEN_NS	 2000000000ull /* an answer that takes longer is lost */

/* Both ends are this program: what is sent is the memory of it. */
struct remote_message {
	uint32_t n;
	struct mad_packet p[BATCH];
};

static size_t sim_remote_size(uint32_t n)
{
	return offsetof(struct remote_message, p) + n * sizeof(struct mad_packet);
}

/* ---- who has the simulator ---- */

struct remote_client {
	int fd; /* -1: free */
	struct mad_port port;
	uint64_t asked_ns;
	uint32_t open; /* requests whose answers have not been seen */
};

struct sim_server {
	struct sim *sim;
	uint32_t term;
	char *path;
	int listener, wake;
	pthread_t thread;
	struct remote_client client[CLIENTS];
	struct remote_message m; /* the one at hand */
};

static void sim_remote_drop(struct remote_client *c)
{
	close(c->fd);
	c->port.ops->close(c->port.ctx);
	*c = (struct remote_client){ .fd = -1 };
}

/* One above the limit is refused. */
static void sim_remote_accept(struct sim_server *s)
{
	int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC), i = 0;
	struct remote_client *c;
	struct mad_local local;

	if (fd < 0)
		return;
	while (i < CLIENTS && s->client[i].fd >= 0)
		i++;
	c = i < CLIENTS ? &s->client[i] : NULL;
	if (!c || sim_port_open(&c->port, s->sim, s->term, NULL)) {
		close(fd);
		return;
	}
	c->fd = fd;
	c->port.ops->local(c->port.ctx, &local);
	if (send(fd, &local, sizeof(local), MSG_NOSIGNAL) != sizeof(local))
		sim_remote_drop(c);
}

/* false: it is gone, or sends nonsense. */
static bool sim_remote_take(struct sim_server *s, struct remote_client *c)
{
	ssize_t len = recv(c->fd, &s->m, sizeof(s->m), MSG_DONTWAIT);

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (len < (ssize_t)sizeof(s->m.n) || s->m.n > BATCH ||
	    (size_t)len != sim_remote_size(s->m.n))
		return false;
	for (uint32_t i = 0; i < s->m.n; i++)
		c->port.ops->send(c->port.ctx, &s->m.p[i], NULL);
	c->open += s->m.n;
	c->asked_ns = clock_ns();
	return true;
}

/* What a client does not take in time is lost, as on a real wire: nobody waits for it here. */
static void sim_remote_answer(struct sim_server *s, struct remote_client *c)
{
	do {
		s->m.n = 0;
		while (s->m.n < BATCH &&
		       c->port.ops->recv(c->port.ctx, &s->m.p[s->m.n], 0, NULL) == 1)
			s->m.p[s->m.n++].whole = NULL; /* does not fit */
		if (s->m.n)
			send(c->fd, &s->m, sim_remote_size(s->m.n), MSG_DONTWAIT | MSG_NOSIGNAL);
		c->open -= s->m.n < c->open ? s->m.n : c->open;
	} while (s->m.n == BATCH);
	if (c->open && clock_ns() - c->asked_ns > OPEN_NS)
		c->open = 0;
}

/* Milliseconds until something may have come in; -1: nobody is there. */
static int sim_remote_patience(const struct sim_server *s)
{
	int ms = -1;

	for (int i = 0; i < CLIENTS; i++)
		if (s->client[i].fd >= 0 && ms != BUSY_MS)
			ms = s->client[i].open ? BUSY_MS : IDLE_MS;
	return ms;
}

static void *sim_remote_serve(void *arg)
{
	struct sim_server *s = arg;

	pthread_setname_np(pthread_self(), "sim server");
	for (;;) {
		struct pollfd p[CLIENTS + 2] = { { .fd = s->wake, .events = POLLIN },
						 { .fd = s->listener, .events = POLLIN } };

		for (int i = 0; i < CLIENTS; i++)
			p[i + 2] = (struct pollfd){ .fd = s->client[i].fd, .events = POLLIN };
		if (poll(p, CLIENTS + 2, sim_remote_patience(s)) < 0)
			continue;
		if (p[0].revents)
			return NULL;
		for (int i = 0; i < CLIENTS; i++) {
			struct remote_client *c = &s->client[i];

			if (c->fd < 0)
				continue;
			if (p[i + 2].revents && !sim_remote_take(s, c))
				sim_remote_drop(c);
			else
				sim_remote_answer(s, c);
		}
		if (p[1].revents)
			sim_remote_accept(s);
	}
}

static int sim_remote_listen(int fd, const char *dir, const char *name)
{
	int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;

	if (at < 0)
		return -errno;
	rc = dir_socket_listen(fd, at, name, CLIENTS);
	close(at);
	return rc;
}

int sim_server_start(struct sim_server **out, struct sim *sim, uint32_t term, const char *dir,
		     const char *name, struct err *err)
{
	struct sim_server *s = xcalloc(1, sizeof(*s));
	int rc = 0;

	s->sim = sim;
	s->term = term;
	s->path = xasprintf("%s/%s", dir, name);
	for (int i = 0; i < CLIENTS; i++)
		s->client[i].fd = -1;
	s->wake = eventfd(0, EFD_CLOEXEC);
	s->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->wake < 0 || s->listener < 0)
		rc = -errno;
	if (!rc)
		rc = sim_remote_listen(s->listener, dir, name);
	if (!rc)
		rc = -pthread_create(&s->thread, NULL, sim_remote_serve, s);
	if (!rc) {
		*out = s;
		return 0;
	}
	err_set(err, rc, "%s: the simulated fabric cannot be served: %s", s->path, strerror(-rc));
	if (s->wake >= 0)
		close(s->wake);
	if (s->listener >= 0)
		close(s->listener);
	free(s->path);
	free(s);
	return rc;
}

void sim_server_stop(struct sim_server *s)
{
	if (!s)
		return;
	eventfd_write(s->wake, 1);
	pthread_join(s->thread, NULL);
	for (int i = 0; i < CLIENTS; i++)
		if (s->client[i].fd >= 0)
			sim_remote_drop(&s->client[i]);
	unlink(s->path);
	close(s->listener);
	close(s->wake);
	free(s->path);
	free(s);
}

/* ---- who uses it ---- */

struct sim_remote {
	int fd;
	bool gone;
	struct mad_local local;
	struct remote_message out, in;
	uint32_t taken; /* of in */
};

static int sim_remote_lost(struct sim_remote *r, struct err *err)
{
	r->gone = true;
	return err_set(err, -ENOLINK, "the simulated fabric is gone: it ended with its console");
}

/* Not at once when the server is busy: the rest stays until the next receive. */
static int sim_remote_flush(struct sim_remote *r, struct err *err)
{
	if (!r->out.n)
		return 0;
	if (send(r->fd, &r->out, sim_remote_size(r->out.n), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN : sim_remote_lost(r, err);
	r->out.n = 0;
	return 0;
}

static int sim_remote_send(void *ctx, const struct mad_packet *p, struct err *err)
{
	struct sim_remote *r = ctx;
	int rc = r->gone ? sim_remote_lost(r, err) : 0;

	if (!rc && r->out.n == BATCH)
		rc = sim_remote_flush(r, err);
	if (!rc)
		r->out.p[r->out.n++] = *p;
	return rc;
}

/* 1: there are packets; 0: not within that time. */
static int sim_remote_fill(struct sim_remote *r, uint64_t wait_ns, struct err *err)
{
	struct timespec t = { (time_t)(wait_ns / 1000000000u), (long)(wait_ns % 1000000000u) };
	int rc = sim_remote_flush(r, err);
	struct pollfd p = { .fd = r->fd, .events = (short)(POLLIN | (rc ? POLLOUT : 0)) };
	ssize_t len;

	if (rc && rc != -EAGAIN)
		return rc;
	if (ppoll(&p, 1, &t, NULL) <= 0 || !(p.revents & ~POLLOUT))
		return 0;
	len = recv(r->fd, &r->in, sizeof(r->in), MSG_DONTWAIT);
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	r->taken = 0;
	if (len < (ssize_t)sizeof(r->in.n) || r->in.n > BATCH ||
	    (size_t)len != sim_remote_size(r->in.n)) {
		r->in.n = 0;
		return sim_remote_lost(r, err);
	}
	return 1;
}

static int sim_remote_recv(void *ctx, struct mad_packet *p, uint64_t wait_ns, struct err *err)
{
	struct sim_remote *r = ctx;
	uint64_t now = clock_ns(), until = now + wait_ns;
	int rc = 0;

	if (r->gone)
		return sim_remote_lost(r, err);
	while (r->taken == r->in.n) {
		rc = sim_remote_fill(r, until - now, err);
		if (rc < 0)
			return rc;
		now = clock_ns();
		if (!rc && now >= until)
			return 0;
	}
	*p = r->in.p[r->taken++];
	p->status = 0;
	p->whole = NULL;
	return 1;
}

static uint64_t sim_remote_now_ns(void *ctx)
{
	(void)ctx;
	return clock_ns(); /* the simulator's own, as it is on the same machine */
}

static void sim_remote_local(void *ctx, struct mad_local *out)
{
	struct sim_remote *r = ctx;

	*out = r->local;
}

static void sim_remote_close(void *ctx)
{
	struct sim_remote *r = ctx;

	close(r->fd);
	free(r);
}

static const struct mad_ops remote_ops = { .send = sim_remote_send,
					   .recv = sim_remote_recv,
					   .now_ns = sim_remote_now_ns,
					   .local = sim_remote_local,
					   .close = sim_remote_close };

static int sim_remote_connect(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? xasprintf("%.*s/", (int)(slash - path), path) : xstrdup(".");
	int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;

	free(dir);
	if (at < 0)
		return -1;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd >= 0 && dir_socket_connect(fd, at, slash ? slash + 1 : path)) {
		close(fd);
		fd = -1;
	}
	close(at);
	return fd;
}

int sim_remote_open(struct mad_port *out, const char *path, struct err *err)
{
	struct sim_remote *r = xcalloc(1, sizeof(*r));
	struct pollfd p = { .fd = sim_remote_connect(path), .events = POLLIN };

	r->fd = p.fd;
	if (r->fd < 0 || poll(&p, 1, HELLO_MS) != 1 ||
	    recv(r->fd, &r->local, sizeof(r->local), 0) != sizeof(r->local)) {
		if (r->fd >= 0)
			close(r->fd);
		free(r);
		return err_set(err, -ENOLINK, "%s: no simulated fabric is served there (any more)",
			       path);
	}
	*out = (struct mad_port){ &remote_ops, r };
	return 0;
}

bool sim_remote_gone(const struct mad_port *port)
{
	struct sim_remote *r = port->ctx;
	char c;
	ssize_t n;

	if (r->gone)
		return true;
	n = recv(r->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT);
	r->gone = !n || (n < 0 && errno != EAGAIN && errno != EINTR);
	return r->gone;
}
