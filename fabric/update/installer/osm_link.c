/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/update/installer/osm_link.h"

#include "fabric/base/file/little_endian.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/time/clock.h"
#include "fabric/format/native/tables_ibr.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define WAIT_MS	   5000
#define REROUTE_MS 120000
#define BUSY_MS	   60000 /* for what has to wait until OpenSM is not at work */
#define HEARD_MAX  65536 /* notices that nobody has fetched yet */

struct osm_link {
	uint32_t opened; /* again */
	int fd;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	uint32_t timeout_ms, id;
	struct osm_update update; /* that it has begun; id "": none */
	uint64_t alive_ms;	  /* when it last said so */
	int told;		  /* what it was answered then */
	bool given_known;
	char given[DIGEST_HEX]; /* hash of the tables loaded last; "": none */
	struct osm_msg m;	/* the last message, and its body with a zero behind it */
	VEC(uint8_t) body;
	VEC(struct notice) heard;
	size_t heard_first;
};

const char *osm_link_path(const char *path)
{
	const char *env = getenv("IBROUTE_SOCKET");

	if (path)
		return path;
	return env && *env ? env : OSM_SOCKET;
}

static int osm_link_tell_update(struct osm_link *l, uint8_t type, struct err *err);

/* A plugin that was restarted, or has ended the update, says so when it is asked for more. */
static void osm_link_resume(struct osm_link *l)
{
	if (l->update.id[0])
		osm_link_tell_update(l, OSM_MSG_ALIVE, NULL);
}

int osm_link_reopen(struct osm_link *l, struct err *err)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	if (l->fd >= 0)
		close(l->fd);
	strcpy(to.sun_path, l->path);
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd >= 0 && !connect(l->fd, (struct sockaddr *)&to, sizeof(to))) {
		l->opened++;
		osm_link_resume(l);
		return 0;
	}
	err_set(err, 0, "OpenSM's plugin cannot be reached at %s: %s", l->path, strerror(errno));
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	return -ECONNREFUSED;
}

int osm_link_open(struct osm_link **out, const char *path, uint32_t timeout_ms, struct err *err)
{
	struct osm_link *l;
	int rc;

	*out = NULL;
	path = osm_link_path(path);
	if (strlen(path) >= sizeof(l->path))
		return err_set(err, -ENAMETOOLONG, "%s: a socket's path has at most %zu characters",
			       path, sizeof(l->path) - 1);
	l = xcalloc(1, sizeof(*l));
	strcpy(l->path, path);
	l->timeout_ms = timeout_ms ? timeout_ms : WAIT_MS;
	l->fd = -1;
	rc = osm_link_reopen(l, err);
	if (rc)
		osm_link_close(l);
	else
		*out = l;
	return rc;
}

void osm_link_close(struct osm_link *l)
{
	if (!l)
		return;
	if (l->fd >= 0)
		close(l->fd);
	vec_free(&l->body);
	vec_free(&l->heard);
	free(l);
}

int osm_link_fd(const struct osm_link *l)
{
	return l->fd;
}

static int osm_link_broken(struct osm_link *l, int rc, const char *what, struct err *err)
{
	close(l->fd);
	l->fd = -1;
	return err_set(err, rc, "OpenSM's plugin at %s: %s", l->path, what);
}

/* 0 when ready, -ETIMEDOUT. */
static int osm_link_ready(struct osm_link *l, short events, uint64_t until_ms, struct err *err)
{
	for (;;) {
		struct pollfd p = { .fd = l->fd, .events = events };
		uint64_t now = clock_ms();
		int n = poll(&p, 1, now < until_ms ? (int)(until_ms - now) : 0);

		if (n > 0)
			return 0;
		if (!n)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return osm_link_broken(l, -errno, strerror(errno), err);
	}
}

static int osm_link_send_all(struct osm_link *l, const void *data, size_t len, uint64_t until_ms,
			     struct err *err)
{
	const char *at = data;

	while (len) {
		ssize_t n = send(l->fd, at, len, MSG_NOSIGNAL);

		if (n > 0) {
			at += n;
			len -= (size_t)n;
		} else if (n < 0 && errno != EAGAIN && errno != EINTR) {
			return osm_link_broken(l, -errno, strerror(errno), err);
		} else if (osm_link_ready(l, POLLOUT, until_ms, err)) {
			return l->fd < 0
				       ? -EPIPE
				       : osm_link_broken(l, -ETIMEDOUT, "it does not listen", err);
		}
	}
	return 0;
}

static int osm_link_receive(struct osm_link *l, void *data, size_t len, uint64_t until_ms,
			    struct err *err)
{
	char *at = data;

	while (len) {
		ssize_t n = recv(l->fd, at, len, 0);

		if (n > 0) {
			at += n;
			len -= (size_t)n;
		} else if (!n) {
			return osm_link_broken(l, -ECONNRESET, "it closed the connection", err);
		} else if (errno != EAGAIN && errno != EINTR) {
			return osm_link_broken(l, -errno, strerror(errno), err);
		} else if (osm_link_ready(l, POLLIN, until_ms, err)) {
			return l->fd < 0
				       ? -EPIPE
				       : osm_link_broken(l, -ETIMEDOUT, "no response in time", err);
		}
	}
	return 0;
}

static int osm_link_next_message(struct osm_link *l, uint64_t until_ms, struct err *err)
{
	uint8_t head[OSM_MSG_HEAD];
	struct err why;
	int rc = osm_link_receive(l, head, sizeof(head), until_ms, err);

	if (!rc && (rc = osm_msg_get(&l->m, head, &why)))
		return osm_link_broken(l, rc, why.text, err);
	if (rc)
		return rc;
	vec_reserve(&l->body, l->m.len + 1u);
	l->body.n = l->m.len;
	l->body.v[l->m.len] = 0;
	return osm_link_receive(l, l->body.v, l->m.len, until_ms, err);
}

static void osm_link_keep_heard(struct osm_link *l)
{
	struct notice n;

	if (l->m.len != NOTICE_SA_DATA || notice_decode(&n, l->body.v, NOTICE_SA_DATA))
		return;
	if (l->heard.n - l->heard_first < HEARD_MAX)
		vec_push(&l->heard, n);
}

static int osm_link_ask(struct osm_link *l, uint8_t type, unsigned flags, const void *body,
			size_t len, uint32_t timeout_ms, struct err *err)
{
	uint64_t until = clock_ms() + timeout_ms;
	struct osm_msg m = { .type = type, .flags = (uint16_t)flags, .id = ++l->id };
	uint8_t head[OSM_MSG_HEAD];
	struct osm_answer a;
	int rc;

	if (l->fd < 0)
		return err_set(err, -ENOTCONN, "the link to OpenSM's plugin at %s is broken",
			       l->path);
	if (len > osm_msg_limit(type))
		return err_set(err, -EMSGSIZE, "%zu bytes are more than OpenSM's plugin takes",
			       len);
	m.len = (uint32_t)len;
	osm_msg_put(head, &m);
	rc = osm_link_send_all(l, head, sizeof(head), until, err);
	if (!rc)
		rc = osm_link_send_all(l, body, len, until, err);
	while (!rc) {
		rc = osm_link_next_message(l, until, err);
		if (!rc && l->m.type == OSM_MSG_HEARD)
			osm_link_keep_heard(l);
		else if (!rc && l->m.id == m.id)
			break;
	}
	if (rc)
		return rc;
	if (l->m.type == (type | OSM_MSG_ANSWER))
		return 0;
	if (l->m.type != OSM_MSG_ERROR ||
	    osm_answer_decode(&a, (char *)l->body.v, l->body.n, NULL) || a.rc >= 0)
		return osm_link_broken(l, -EPROTO, "its answer is malformed", err);
	return err_set(err, a.rc, "OpenSM's plugin: %s", a.text);
}

/* A question whose answer is a struct osm_answer. */
static int osm_link_ask_plain(struct osm_link *l, uint8_t type, unsigned flags, const void *body,
			      size_t len, uint32_t timeout_ms, struct osm_answer *out,
			      struct err *err)
{
	struct osm_answer a;
	int rc = osm_link_ask(l, type, flags, body, len, timeout_ms, err);

	if (rc)
		return rc;
	return osm_answer_decode(out ? out : &a, (char *)l->body.v, l->body.n, err);
}

int osm_link_status(struct osm_link *l, struct osm_status *out, struct err *err)
{
	int rc = osm_link_ask(l, OSM_MSG_STATUS, 0, NULL, 0, l->timeout_ms, err);

	return rc ? rc : osm_status_decode(out, (char *)l->body.v, l->body.n, err);
}

static int osm_link_ask_of_tables(struct osm_link *l, uint8_t type, unsigned flags,
				  const struct tables *t, struct osm_answer *out, struct err *err)
{
	uint8_t *buf;
	size_t len;
	int rc;

	tables_ibr_encode(&buf, &len, t);
	/* judging a large fabric takes its time */
	rc = osm_link_ask_plain(l, type, flags, buf, len, l->timeout_ms + 30000, out, err);
	free(buf);
	return rc;
}

int osm_link_load(struct osm_link *l, const struct tables *t, bool step, struct osm_answer *out,
		  struct err *err)
{
	struct osm_answer a;
	int rc = osm_link_ask_of_tables(l, OSM_MSG_LOAD, step ? OSM_LOAD_STEP : 0, t, &a, err);

	if (!rc)
		memcpy(l->given, a.tables, sizeof(l->given));
	if (!rc && out)
		*out = a;
	return rc;
}

int osm_link_ahead(struct osm_link *l, const struct tables *t, bool step, struct osm_answer *out,
		   struct err *err)
{
	return osm_link_ask_of_tables(l, OSM_MSG_AHEAD, step ? OSM_LOAD_STEP : 0, t, out, err);
}

int osm_link_load_known(struct osm_link *l, const struct digest *tables, bool step,
			struct osm_answer *out, struct err *err)
{
	unsigned flags = OSM_LOAD_KNOWN | (step ? OSM_LOAD_STEP : 0);
	int rc = osm_link_ask_plain(l, OSM_MSG_LOAD, flags, tables->b, sizeof(tables->b),
				    l->timeout_ms, out, err);

	if (!rc)
		memcpy(l->given, out->tables, sizeof(l->given));
	return rc;
}

int osm_link_judge(struct osm_link *l, const struct tables *t, struct err *err)
{
	return osm_link_ask_of_tables(l, OSM_MSG_JUDGE, 0, t, NULL, err);
}

int osm_link_reroute(struct osm_link *l, bool all, uint32_t timeout_ms, struct osm_answer *out,
		     struct err *err)
{
	return osm_link_ask_plain(l, OSM_MSG_REROUTE, all ? OSM_REROUTE_ALL : 0, NULL, 0,
				  timeout_ms ? timeout_ms : REROUTE_MS, out, err);
}

/* The plugin knows an update by its identifier, whatever connection it comes over. */
static int osm_link_tell_update(struct osm_link *l, uint8_t type, struct err *err)
{
	char *body = osm_update_encode(&l->update);
	uint32_t ms = type == OSM_MSG_BEGIN ? REROUTE_MS : l->timeout_ms;
	int rc = osm_link_ask_plain(l, type, 0, body, strlen(body), ms, NULL, err);

	free(body);
	l->alive_ms = clock_ms();
	l->told = rc;
	return rc;
}

int osm_link_begin(struct osm_link *l, const struct osm_update *u, bool resume, struct err *err)
{
	int rc;

	l->update = *u;
	l->given_known = !resume;
	l->given[0] = '\0';
	rc = osm_link_tell_update(l, resume ? OSM_MSG_ALIVE : OSM_MSG_BEGIN, err);
	if (rc)
		l->update.id[0] = '\0';
	return rc;
}

int osm_link_alive(struct osm_link *l, const struct osm_update *u, uint32_t every_ms,
		   struct err *err)
{
	int rc = 0;

	if (!l->update.id[0])
		return 0;
	if (clock_ms() - l->alive_ms < every_ms)
		return 1;
	if (u) {
		l->update.confirm_ms = u->confirm_ms;
		l->update.txn = u->txn;
		l->update.seq = u->seq;
	}
	if (l->fd < 0)
		rc = osm_link_reopen(l, err);
	return rc ? rc : osm_link_tell_update(l, OSM_MSG_ALIVE, err);
}

int osm_link_end(struct osm_link *l, struct err *err)
{
	struct osm_status s;
	struct osm_answer a;
	int rc = 0;

	if (!l->update.id[0] || (l->fd < 0 && osm_link_reopen(l, NULL)))
		return 0;
	if (!osm_link_status(l, &s, err) && !strcmp(s.update, l->update.id))
		rc = osm_link_return(l, &a, err);
	l->update.id[0] = '\0';
	return rc;
}

const struct osm_update *osm_link_update(const struct osm_link *l)
{
	return l->update.id[0] ? &l->update : NULL;
}

const char *osm_link_given(const struct osm_link *l)
{
	return l->given_known ? l->given : NULL;
}

bool osm_link_overruled(const struct osm_link *l)
{
	return l->told == -EUCLEAN;
}

int osm_link_back(struct osm_link *l, struct osm_answer *out, struct err *err)
{
	return osm_link_ask_plain(l, OSM_MSG_BACK, 0, NULL, 0, REROUTE_MS * 8, out, err);
}

int osm_link_keep(struct osm_link *l, struct err *err)
{
	return osm_link_ask_plain(l, OSM_MSG_KEEP, 0, NULL, 0, l->timeout_ms + 30000, NULL, err);
}

int osm_link_return(struct osm_link *l, struct osm_answer *out, struct err *err)
{
	return osm_link_ask_plain(l, OSM_MSG_RETURN, 0, NULL, 0, l->timeout_ms, out, err);
}

int osm_link_tables(struct osm_link *l, bool base, struct tables **out, const struct fabric *f,
		    struct err *err)
{
	int rc = osm_link_ask(l, OSM_MSG_TABLES, base ? OSM_TABLES_BASE : 0, NULL, 0,
			      l->timeout_ms + 30000, err);

	*out = NULL;
	if (rc)
		return rc;
	return tables_ibr_decode(out, l->body.v, l->body.n, f, "tables of OpenSM's plugin", err);
}

int osm_link_policy(struct osm_link *l, const char *text, unsigned flags, struct osm_answer *out,
		    struct err *err)
{
	return osm_link_ask_plain(l, OSM_MSG_POLICY, flags, text, strlen(text), l->timeout_ms, out,
				  err);
}

int osm_link_notice(struct osm_link *l, const struct notice *n, struct err *err)
{
	uint8_t d[NOTICE_SA_DATA];

	notice_encode(d, sizeof(d), n);
	return osm_link_ask_plain(l, OSM_MSG_NOTICE, 0, d, sizeof(d), BUSY_MS, NULL, err);
}

int osm_link_listeners(struct osm_link *l, uint64_t **guid, uint32_t *n, struct err *err)
{
	int rc = osm_link_ask(l, OSM_MSG_LISTENERS, 0, NULL, 0, BUSY_MS, err);

	if (rc)
		return rc;
	*n = (uint32_t)(l->body.n / 8);
	*guid = xcalloc(*n, sizeof(**guid));
	for (uint32_t i = 0; i < *n; i++)
		(*guid)[i] = le_get64(l->body.v + (size_t)i * 8);
	return 0;
}

int osm_link_agents(struct osm_link *l, struct osm_agent **out, uint32_t *n, struct err *err)
{
	int rc = osm_link_ask(l, OSM_MSG_AGENTS, 0, NULL, 0, l->timeout_ms, err);

	if (rc)
		return rc;
	*n = (uint32_t)(l->body.n / OSM_AGENT);
	*out = xcalloc(*n, sizeof(**out));
	for (uint32_t i = 0; i < *n; i++)
		osm_agent_get(&(*out)[i], l->body.v + (size_t)i * OSM_AGENT);
	return 0;
}

uint32_t osm_link_opened(const struct osm_link *l)
{
	return l->opened;
}

int osm_link_watch(struct osm_link *l, struct err *err)
{
	return osm_link_ask_plain(l, OSM_MSG_WATCH, 0, NULL, 0, l->timeout_ms, NULL, err);
}

int osm_link_heard(struct osm_link *l, struct notice *out, uint32_t wait_ms, struct err *err)
{
	uint64_t until = clock_ms() + wait_ms;

	while (l->heard_first == l->heard.n) {
		int rc;

		l->heard_first = l->heard.n = 0;
		if (l->fd < 0)
			return err_set(err, -ENOTCONN,
				       "the link to OpenSM's plugin at %s is "
				       "broken",
				       l->path);
		rc = osm_link_ready(l, POLLIN, until, err);
		if (rc)
			return rc == -ETIMEDOUT ? 0 : rc;
		/* what has begun to come is to come in full */
		rc = osm_link_next_message(l, clock_ms() + l->timeout_ms, err);
		if (rc)
			return rc;
		if (l->m.type == OSM_MSG_HEARD)
			osm_link_keep_heard(l);
	}
	*out = l->heard.v[l->heard_first++];
	return 1;
}
