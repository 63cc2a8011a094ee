/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console/prom/prom_listen.h"

#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/thread.h"
#include "fabric/base/time/clock.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#if WITH_MICROHTTPD
#include <microhttpd.h>
#include <zlib.h>

#define CLIENTS	   64u
#define ROOM	   8u /* places for those who come: beyond that the oldest client goes */
#define PER_IP	   16u
#define TIMEOUT_S  5u		/* without a byte */
#define DEADLINE_S 10.0		/* for a request and its reply, however many bytes */
#define MEMORY	   (16u * 1024) /* of a connection: bounds its headers */

/* A connection. */
struct prom_client {
	struct prom_client *next;
	int fd;
	double since; /* clock_s() when it began, or when its last reply was sent */
	bool cut;
};

struct prom_server {
	struct MHD_Daemon *daemon;
	pthread_mutex_t lock;
	pthread_cond_t stopping;
	pthread_t reaper; /* cuts those off that are slow on purpose */
	bool reaps, stop;
	struct prom_client *clients; /* the newest first */
	unsigned nclients;
	struct MHD_Response *page;   /* referenced here and by outstanding replies */
	struct MHD_Response *packed; /* the same by gzip; NULL: none */
	int fd;
};

static struct MHD_Response *prom_listen_new_page(void *text, size_t len,
						 enum MHD_ResponseMemoryMode mode)
{
	struct MHD_Response *page = MHD_create_response_from_buffer(len, text, mode);

	MHD_add_response_header(page, MHD_HTTP_HEADER_CONTENT_TYPE,
				"text/plain; version=0.0.4; charset=utf-8");
	return page;
}

static enum MHD_Result prom_listen_reply(struct MHD_Connection *c, unsigned status,
					 const char *text)
{
	struct MHD_Response *page =
		prom_listen_new_page((void *)(uintptr_t)text, strlen(text), MHD_RESPMEM_PERSISTENT);
	enum MHD_Result rc;

	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(page, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	rc = MHD_queue_response(c, status, page);
	MHD_destroy_response(page);
	return rc;
}

/* As Prometheus says it; "gzip;q=0" and others get the text. */
static bool prom_listen_takes_gzip(struct MHD_Connection *c)
{
	const char *says =
		MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT_ENCODING);
	const char *at = says ? strstr(says, "gzip") : NULL;

	return at && (at == says || strchr(", ", at[-1])) && (!at[4] || strchr(", ", at[4]));
}

static enum MHD_Result prom_listen_metrics(struct prom_server *s, struct MHD_Connection *c)
{
	bool gzip = prom_listen_takes_gzip(c);
	enum MHD_Result rc = MHD_NO;

	pthread_mutex_lock(&s->lock);
	if (s->page)
		rc = MHD_queue_response(c, MHD_HTTP_OK, gzip && s->packed ? s->packed : s->page);
	pthread_mutex_unlock(&s->lock);
	return rc == MHD_YES
		       ? rc
		       : prom_listen_reply(c, MHD_HTTP_SERVICE_UNAVAILABLE, "no sample yet\n");
}

static enum MHD_Result prom_listen_answer(void *ctx, struct MHD_Connection *c, const char *url,
					  const char *method, const char *version, const char *body,
					  size_t *body_len, void **request)
{
	static int seen;

	(void)version;
	(void)body;
	if (!*request) { /* headers only: a reply now would break a request with a body */
		*request = &seen;
		if (!strcmp(method, MHD_HTTP_METHOD_GET) || !strcmp(method, MHD_HTTP_METHOD_HEAD))
			return MHD_YES;
		return prom_listen_reply(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET is supported\n");
	}
	*body_len = 0;
	if (!strcmp(url, "/metrics"))
		return prom_listen_metrics(ctx, c);
	if (!strcmp(url, "/"))
		return prom_listen_reply(c, MHD_HTTP_OK, "ibroute-top: see /metrics\n");
	return prom_listen_reply(c, MHD_HTTP_NOT_FOUND, "not found: only /metrics is served\n");
}

/* --- clients that take their time --------------------------------------------------------------
 */

static void prom_listen_cut(struct prom_client *c)
{
	if (!c->cut)
		shutdown(c->fd, SHUT_RDWR); /* the server closes it then */
	c->cut = true;
}

static void prom_listen_arrives(struct prom_server *s, struct MHD_Connection *conn, void **ctx)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct prom_client *c = xcalloc(1, sizeof(*c)), *oldest = NULL;

	*c = (struct prom_client){ s->clients, info ? info->connect_fd : -1, clock_s(), !info };
	s->clients = c;
	*ctx = c;
	if (++s->nclients <= CLIENTS - ROOM)
		return;
	for (struct prom_client *k = s->clients; k; k = k->next)
		if (!k->cut)
			oldest = k;
	if (oldest)
		prom_listen_cut(oldest);
}

static void prom_listen_leaves(struct prom_server *s, struct prom_client *c)
{
	struct prom_client **at = &s->clients;

	while (*at && *at != c)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = c->next;
	s->nclients--;
	free(c);
}

/* Before the file is closed, so that what is cut is always its own. */
static void prom_listen_connection(void *ctx, struct MHD_Connection *conn, void **client,
				   enum MHD_ConnectionNotificationCode what)
{
	struct prom_server *s = ctx;

	pthread_mutex_lock(&s->lock);
	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		prom_listen_arrives(s, conn, client);
	else
		prom_listen_leaves(s, *client);
	pthread_mutex_unlock(&s->lock);
}

static void prom_listen_replied(void *ctx, struct MHD_Connection *conn, void **request,
				enum MHD_RequestTerminationCode how)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct prom_client *c = info ? info->socket_context : NULL;
	struct prom_server *s = ctx;

	(void)request;
	pthread_mutex_lock(&s->lock);
	if (c && how == MHD_REQUEST_TERMINATED_COMPLETED_OK)
		c->since = clock_s();
	pthread_mutex_unlock(&s->lock);
}

static void *prom_listen_reap(void *ctx)
{
	struct prom_server *s = ctx;
	struct timespec next;

	pthread_mutex_lock(&s->lock);
	while (!s->stop) {
		for (struct prom_client *c = s->clients; c; c = c->next)
			if (clock_s() - c->since > DEADLINE_S)
				prom_listen_cut(c);
		clock_gettime(CLOCK_REALTIME, &next);
		next.tv_sec++;
		pthread_cond_timedwait(&s->stopping, &s->lock, &next);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static void prom_listen_end_reaper(struct prom_server *s)
{
	if (!s->reaps)
		return;
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_signal(&s->stopping);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->reaper, NULL);
}

/* --- its address ------------------------------------------------------------------------------ */

/* Splits "[ADDRESS:]PORT"; both are copies. */
static int prom_listen_split(char **host, char **port, const char *where, struct err *err)
{
	const char *colon = strrchr(where, ':'), *end;
	bool bracket = *where == '[';

	*port = xstrdup(colon ? colon + 1 : where);
	end = colon ? colon - (bracket && colon > where && colon[-1] == ']') : where;
	where += bracket;
	*host = colon ? xasprintf("%.*s", (int)(end - where), where) : xstrdup("127.0.0.1");
	if (**host && **port && strspn(*port, "0123456789") == strlen(*port) &&
	    strlen(*port) <= 5 && atoi(*port) <= 65535)
		return 0;
	return err_set(err, -EINVAL, "--prom-listen: '%s' is not of the form [ADDRESS:]PORT",
		       bracket ? where - 1 : where);
}

static int prom_listen_resolve(struct addrinfo **out, const char *where, struct err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE };
	char *host, *port;
	int rc = prom_listen_split(&host, &port, where, err);

	if (!rc && getaddrinfo(host, port, &hints, out))
		rc = err_set(err, -EINVAL,
			     "--prom-listen: '%s' is not a numeric address of this machine "
			     "(127.0.0.1, 0.0.0.0, [::1])",
			     host);
	free(host);
	free(port);
	return rc;
}

static int prom_listen_at(int *out, const char *where, struct err *err)
{
	struct addrinfo *a;
	int on = 1, fd, rc = prom_listen_resolve(&a, where, err);

	if (rc)
		return rc;
	fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, a->ai_addr, a->ai_addrlen) || listen(fd, CLIENTS)) {
		rc = err_set(err, -errno, "--prom-listen: cannot listen at %s: %s", where,
			     strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	freeaddrinfo(a);
	*out = fd;
	return rc;
}

static void prom_listen_print_url(int fd)
{
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);
	char host[64], port[8];

	if (getsockname(fd, (struct sockaddr *)&at, &len) ||
	    getnameinfo((struct sockaddr *)&at, len, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return;
	fprintf(stderr,
		strchr(host, ':') ? "ibroute-top: metrics at http://[%s]:%s/metrics\n"
				  : "ibroute-top: metrics at http://%s:%s/metrics\n",
		host, port);
}

/* Without its daemon, which has closed all connections. */
static void prom_listen_free(struct prom_server *s)
{
	prom_listen_end_reaper(s);
	while (s->clients)
		prom_listen_leaves(s, s->clients);
	pthread_cond_destroy(&s->stopping);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

int prom_server_start(struct prom_server **out, const char *where, struct err *err)
{
	struct prom_server *s = xcalloc(1, sizeof(*s));
	int rc = prom_listen_at(&s->fd, where, err);

	if (rc) {
		free(s);
		return rc;
	}
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->stopping, NULL);
	rc = thread_start(&s->reaper, "prom", prom_listen_reap, s, err);
	s->reaps = !rc;
	s->daemon = rc ? NULL
		       : MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL, 0, NULL,
					  NULL, prom_listen_answer, s, MHD_OPTION_LISTEN_SOCKET,
					  s->fd, MHD_OPTION_CONNECTION_LIMIT, CLIENTS,
					  MHD_OPTION_PER_IP_CONNECTION_LIMIT, PER_IP,
					  MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT_S,
					  MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY,
					  MHD_OPTION_NOTIFY_CONNECTION, prom_listen_connection, s,
					  MHD_OPTION_NOTIFY_COMPLETED, prom_listen_replied, s,
					  MHD_OPTION_END);
	if (!s->daemon) {
		close(s->fd);
		prom_listen_free(s);
		return rc ? rc
			  : err_set(err, -EIO, "--prom-listen: the server could not be started");
	}
	prom_listen_print_url(s->fd);
	*out = s;
	return 0;
}

/* NULL: zlib has no memory. */
static struct MHD_Response *prom_listen_pack(const char *text, size_t len)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)text, .avail_in = (uInt)len };
	struct MHD_Response *page;
	uint8_t *packed;

	if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	z.avail_out = (uInt)deflateBound(&z, len);
	packed = xcalloc(z.avail_out, 1);
	z.next_out = packed;
	deflate(&z, Z_FINISH);
	page = prom_listen_new_page(packed, z.total_out, MHD_RESPMEM_MUST_FREE);
	MHD_add_response_header(page, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	MHD_add_response_header(page, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
	deflateEnd(&z);
	return page;
}

void prom_server_text(struct prom_server *s, char *text)
{
	struct MHD_Response *packed = prom_listen_pack(text, strlen(text)), *old, *old_packed;
	struct MHD_Response *page = prom_listen_new_page(text, strlen(text), MHD_RESPMEM_MUST_FREE);

	MHD_add_response_header(page, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
	pthread_mutex_lock(&s->lock);
	old = s->page;
	old_packed = s->packed;
	s->page = page;
	s->packed = packed;
	pthread_mutex_unlock(&s->lock);
	if (old)
		MHD_destroy_response(old);
	if (old_packed)
		MHD_destroy_response(old_packed);
}

void prom_server_stop(struct prom_server *s)
{
	if (!s)
		return;
	MHD_stop_daemon(s->daemon);
	if (s->page)
		MHD_destroy_response(s->page);
	if (s->packed)
		MHD_destroy_response(s->packed);
	prom_listen_free(s);
}

#else

int prom_server_start(struct prom_server **out, const char *where, struct err *err)
{
	(void)out;
	return err_set(err, -ENOTSUP,
		       "--prom-listen %s: this program was built without libmicrohttpd "
		       "(WITH_MICROHTTPD=0); --prom-file writes the same text into a file",
		       where);
}

void prom_server_text(struct prom_server *s, char *text)
{
	(void)s;
	free(text);
}

void prom_server_stop(struct prom_server *s)
{
	(void)s;
}

#endif
