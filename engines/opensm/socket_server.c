/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/socket_server.h"

#include "engines/opensm/sm_rollback.h"
#include "engines/opensm/socket_conn.h"
#include "engines/opensm/socket_listener.h"
#include "fabric/base/file/little_endian.h"
#include "fabric/base/memory/guard.h"
#include "fabric/base/memory/mem.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/time/clock.h"
#include "fabric/update/protocol/coordinator.h"
#include "fabric/update/protocol/phase_codec.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define DAY_S	  86400
#define HEARD_MAX 16384 /* notices between the threads */
#define WAITING	  64	/* of one client, until OpenSM has time */
#define BUSY_MS	  5	/* between two tries while OpenSM is at work */
#define ORDER_MS  100	/* ... and looks whether that goes on */
#define SETTLE_MS 60000 /* for OpenSM to discover everything again */

/* What has to wait until OpenSM is not at work: a notice, or the question who listens. */
struct pending {
	uint32_t id;
	bool listeners;
	uint8_t d[NOTICE_SA_DATA];
};

struct client {
	struct socket_conn conn; /* without a descriptor: free */
	bool watches;
	char update[64];  /* that it has begun; "": none */
	uint64_t last_ms; /* of its last message */
	uint64_t order;	  /* reroute under way; 0 none */
	bool back;	  /* waits for the way back of its update */
	bool begins;	  /* waits for OpenSM to settle before its update ... */
	bool sweeps;	  /* ... which was asked to */
	uint64_t order_ms;
	uint32_t order_id;
	VEC(struct pending) waiting;
};

struct socket_server {
	char *path; /* of its socket; NULL: not made */
	struct sm_session *session;
	const struct socket_server_ops *ops;
	void *ctx;
	struct socket_server_limits limits;
	int listener, wake;
	atomic_bool stop;
	pthread_t thread;
	uint64_t nclients, nnotices;
	struct sm_rollback back;
	struct client client[SERVER_CLIENTS];

	pthread_mutex_t lock; /* of what follows */
	VEC(struct pending) heard;
	uint64_t lost;
};

/* ---- clients ---- */

static void server_hang_up(struct client *c)
{
	socket_conn_close(&c->conn);
	vec_free(&c->waiting);
	memset(c, 0, sizeof(*c));
	socket_conn_init(&c->conn, -1);
}

/* ---- questions ---- */

static void server_do_status(struct socket_server *s, struct client *c)
{
	struct osm_status st;
	char *body;

	sm_session_status(s->session, &st);
	s->ops->facts(s->ctx, &st);
	st.clients = s->nclients;
	st.notices = s->nnotices + s->back.nnotices;
	body = osm_status_encode(&st);
	socket_conn_answer(&c->conn, OSM_MSG_STATUS | OSM_MSG_ANSWER, c->conn.m.id, body,
			   strlen(body));
	free(body);
}

static void server_do_tables(struct socket_server *s, struct client *c)
{
	struct err err;
	uint8_t *buf;
	size_t len;
	int rc = sm_session_tables(s->session, c->conn.m.flags & OSM_TABLES_BASE, &buf, &len, &err);

	if (!rc && len > osm_msg_limit(OSM_MSG_TABLES | OSM_MSG_ANSWER)) {
		free(buf);
		rc = err_set(&err, -EMSGSIZE, "the tables are too large for the socket");
	}
	if (rc) {
		socket_conn_answer_error(&c->conn, c->conn.m.id, rc, err.text);
		return;
	}
	socket_conn_answer(&c->conn, OSM_MSG_TABLES | OSM_MSG_ANSWER, c->conn.m.id, buf, len);
	free(buf);
}

static void server_do_agents(struct socket_server *s, struct client *c)
{
	size_t n = s->back.agents.v.n;
	uint8_t *body = xcalloc(n, OSM_AGENT);

	for (size_t i = 0; i < n; i++) {
		const struct heard_agent *a = &s->back.agents.v.v[i];
		struct osm_agent said = {
			.guid = a->guid,
			.txn = a->txn,
			.age_ms = clock_ms() - a->at_ms,
			.lid = a->lid,
			.phase = a->phase,
			.flags = (uint8_t)a->flags,
		};

		osm_agent_put(body + i * OSM_AGENT, &said);
	}
	socket_conn_answer(&c->conn, OSM_MSG_AGENTS | OSM_MSG_ANSWER, c->conn.m.id, body,
			   n * OSM_AGENT);
	free(body);
}

static int server_order(struct socket_server *s, struct client *c, struct err *err)
{
	int rc;

	if (c->order)
		return err_set(err, -EBUSY, "this client already waits for a reroute");
	c->order = sm_session_order(s->session, c->conn.m.flags & OSM_REROUTE_ALL);
	c->order_id = c->conn.m.id;
	c->order_ms = clock_ms();
	rc = s->ops->reroute(s->ctx, err);
	if (rc)
		c->order = 0;
	return rc;
}

static int server_queue(struct client *c, struct err *err)
{
	struct pending p = { .id = c->conn.m.id, .listeners = c->conn.m.type == OSM_MSG_LISTENERS };
	struct notice n;

	if (c->waiting.n >= WAITING)
		return err_set(err, -EBUSY, "%u requests already wait for OpenSM", WAITING);
	if (!p.listeners) {
		if (c->conn.body.n != NOTICE_SA_DATA ||
		    notice_decode(&n, c->conn.body.v, NOTICE_SA_DATA) ||
		    (n.trap != NOTICE_UNPATH && n.trap != NOTICE_REPATH))
			return err_set(err, -EINVAL, "only notices 68 and 69 can be sent");
		memcpy(p.d, c->conn.body.v, sizeof(p.d));
	}
	vec_push(&c->waiting, p);
	return 0;
}

static int server_update(struct socket_server *s, struct client *c, struct err *err)
{
	struct osm_update u;
	int rc = osm_update_decode(&u, (const char *)c->conn.body.v, c->conn.body.n, err);

	if (!rc && !u.id[0])
		rc = err_set(err, -EINVAL, "an update needs an identifier");
	if (!rc)
		rc = c->conn.m.type == OSM_MSG_BEGIN ? sm_session_begin(s->session, &u, err)
						     : sm_session_alive(s->session, &u, err);
	if (rc)
		return rc;
	memcpy(c->update, u.id, sizeof(c->update));
	if (c->conn.m.type != OSM_MSG_BEGIN || !s->ops->settled)
		return 0;
	c->begins = true;
	c->sweeps = false;
	c->order_id = c->conn.m.id;
	c->order_ms = clock_ms();
	return 1;
}

/* An update whose waves each write everything lets drained jobs wait for it. */
static void server_watch_begin(struct socket_server *s, struct client *c)
{
	struct osm_answer a = { 0 };
	int rc;

	if (!c->begins)
		return;
	sm_session_heard(s->session, c->update);
	rc = s->ops->settled(s->ctx, !c->sweeps);
	c->sweeps = c->sweeps || rc == 1;
	if (rc && clock_ms() - c->order_ms < SETTLE_MS)
		return;
	if (rc)
		snprintf(a.text, sizeof(a.text), "OpenSM writes more than what differs");
	c->begins = false;
	socket_conn_answer_plain(&c->conn, OSM_MSG_BEGIN | OSM_MSG_ANSWER, c->order_id, &a);
}

static int server_begin_back(struct socket_server *s, struct client *c, struct err *err)
{
	struct osm_update u = { 0 };
	int rc = c->order || c->back
			 ? err_set(err, -EBUSY, "this client already waits for a reroute")
			 : 0;

	memcpy(u.id, c->update, sizeof(u.id));
	if (!rc && !s->back.now.under_way)
		rc = sm_session_mine(s->session, u.id, err);
	if (rc)
		return rc;
	sm_rollback_begin(&s->back);
	c->back = true;
	c->order_id = c->conn.m.id;
	c->order_ms = clock_ms();
	return 0;
}

static int server_load(struct socket_server *s, struct client *c, struct osm_answer *a,
		       struct err *err)
{
	bool step = c->conn.m.flags & OSM_LOAD_STEP;
	struct digest hash;

	if (!(c->conn.m.flags & OSM_LOAD_KNOWN))
		return sm_session_load(s->session, c->update, c->conn.body.v, c->conn.body.n, step,
				       a, err);
	if (c->conn.body.n != sizeof(hash.b))
		return err_set(err, -EINVAL, "a hash has %zu bytes", sizeof(hash.b));
	memcpy(hash.b, c->conn.body.v, sizeof(hash.b));
	return sm_session_load_known(s->session, c->update, &hash, step, a, err);
}

/* 1: answered later. */
static int server_do_plain(struct socket_server *s, struct client *c, struct osm_answer *a,
			   struct err *err)
{
	const char *text = (const char *)c->conn.body.v;
	int rc;

	switch (c->conn.m.type) {
	case OSM_MSG_BEGIN:
	case OSM_MSG_ALIVE:
		return server_update(s, c, err);
	case OSM_MSG_BACK:
		rc = server_begin_back(s, c, err);
		return rc ? rc : 1;
	case OSM_MSG_LOAD:
		return server_load(s, c, a, err);
	case OSM_MSG_AHEAD:
		return sm_session_ahead(s->session, c->update, c->conn.body.v, c->conn.body.n,
					c->conn.m.flags & OSM_LOAD_STEP, a, err);
	case OSM_MSG_JUDGE:
		return sm_session_judge(s->session, c->conn.body.v, c->conn.body.n, a, err);
	case OSM_MSG_POLICY:
		return sm_session_policy(s->session, text, c->conn.body.n, c->conn.m.flags, a, err);
	case OSM_MSG_REROUTE:
		rc = server_order(s, c, err);
		return rc ? rc : 1;
	case OSM_MSG_NOTICE:
	case OSM_MSG_LISTENERS:
		rc = server_queue(c, err);
		return rc ? rc : 1;
	case OSM_MSG_WATCH:
		c->watches = true;
		return 0;
	case OSM_MSG_KEEP:
		return sm_session_keep(s->session, c->update, a, err);
	case OSM_MSG_RETURN:
		sm_session_return(s->session, c->update, a);
		return 0;
	default:
		return err_set(err, -EPROTO, "there is no request of type %u", c->conn.m.type);
	}
}

struct asking {
	struct socket_server *s;
	struct client *c;
	struct osm_answer a;
};

static int server_do(void *ctx, struct err *err)
{
	struct asking *x = ctx;

	if (x->c->conn.m.type == OSM_MSG_STATUS) {
		server_do_status(x->s, x->c);
		return 1;
	}
	if (x->c->conn.m.type == OSM_MSG_TABLES) {
		server_do_tables(x->s, x->c);
		return 1;
	}
	if (x->c->conn.m.type == OSM_MSG_AGENTS) {
		server_do_agents(x->s, x->c);
		return 1;
	}
	return server_do_plain(x->s, x->c, &x->a, err);
}

/* What takes more memory than there is fails, as does any other question. */
static void server_serve(struct socket_server *s, struct client *c)
{
	struct asking x = { s, c, { 0 } };
	struct err err = { "" };
	int rc;

	c->last_ms = clock_ms();
	sm_session_heard(s->session, c->update);
	rc = guarded_call(server_do, &x, &err);
	if (rc < 0)
		socket_conn_answer_error(&c->conn, c->conn.m.id, rc, err.text);
	else if (!rc)
		socket_conn_answer_plain(&c->conn, c->conn.m.type | OSM_MSG_ANSWER, c->conn.m.id,
					 &x.a);
}

static void server_refuse_head(struct socket_server *s, struct client *c, int rc,
			       const struct err *err)
{
	char sentence[600];

	snprintf(sentence, sizeof(sentence), "a client of the socket is disconnected: %s",
		 err->text);
	s->ops->say(s->ctx, sentence);
	socket_conn_answer_error(&c->conn, 0, rc, err->text);
	c->conn.hang_up = true;
}

/* One message at most, so that nobody has to wait for the many of another. */
static void server_hear_client(struct socket_server *s, struct client *c)
{
	struct err err;
	int rc = socket_conn_read(&c->conn, &err);

	if (rc < 0) {
		server_refuse_head(s, c, rc, &err);
	} else if (rc) {
		server_serve(s, c);
		socket_conn_done(&c->conn);
	}
}

/* ---- what comes by itself ---- */

/* It has left off in the middle: nobody will route. */
static bool server_not_master(const struct socket_server *s)
{
	struct osm_status now = { 0 };

	s->ops->facts(s->ctx, &now);
	return !strcmp(now.state, "standby") || !strcmp(now.state, "not active");
}

static void server_watch_order(struct socket_server *s, struct client *c)
{
	struct osm_answer a = { 0 };

	if (!c->order)
		return;
	sm_session_heard(s->session, c->update); /* it waits for OpenSM */
	if (sm_session_answered(s->session, c->order, &a)) {
		socket_conn_answer_plain(&c->conn,
					 a.rc ? OSM_MSG_ERROR : OSM_MSG_REROUTE | OSM_MSG_ANSWER,
					 c->order_id, &a);
		c->order = 0;
	} else if (server_not_master(s)) {
		socket_conn_answer_error(&c->conn, c->order_id, -ENOTSUP,
					 "this OpenSM is no longer the master; it has not routed");
		c->order = 0;
	} else if (clock_ms() - c->order_ms > s->limits.reroute_ms) {
		socket_conn_answer_error(&c->conn, c->order_id, -ETIMEDOUT,
					 "OpenSM has not finished in time");
		c->order = 0;
	}
}

/* Who waits for the way back is answered as for a reroute. */
static void server_answer_back(void *ctx, const struct osm_answer *a)
{
	struct socket_server *s = ctx;

	for (int i = 0; i < SERVER_CLIENTS; i++) {
		struct client *c = &s->client[i];

		if (c->conn.fd < 0 || !c->back)
			continue;
		c->back = false;
		socket_conn_answer_plain(&c->conn,
					 a->rc ? OSM_MSG_ERROR : OSM_MSG_BACK | OSM_MSG_ANSWER,
					 c->order_id, a);
	}
}

static int server_turn_update(void *ctx, struct err *err)
{
	struct socket_server *s = ctx;

	(void)err;
	sm_rollback_turn(&s->back);
	return 0;
}

static int server_tell_listeners(struct socket_server *s, struct client *c, uint32_t id,
				 struct err *err)
{
	uint64_t *guid = NULL;
	uint8_t *body;
	uint32_t n;
	int rc = s->ops->listeners(s->ctx, &guid, &n, err);

	if (rc)
		return rc;
	body = xcalloc(n, 8);
	for (uint32_t i = 0; i < n; i++)
		le_put64(body + (size_t)i * 8, guid[i]);
	socket_conn_answer(&c->conn, OSM_MSG_LISTENERS | OSM_MSG_ANSWER, id, body, (size_t)n * 8);
	free(body);
	free(guid);
	return 0;
}

static void server_note_question(struct socket_server *s, const char *id, const uint8_t *d)
{
	struct phase_notice p;
	struct notice n;
	bool is_answer;

	if (!notice_decode(&n, d, NOTICE_SA_DATA) && !phase_codec_decode(&p, &is_answer, &n) &&
	    !is_answer)
		sm_session_asked(s->session, id, p.txn, p.seq);
}

static int server_send_notice(struct socket_server *s, struct client *c, const struct pending *p,
			      struct err *err)
{
	struct osm_answer a = { 0 };
	int rc = s->ops->notice(s->ctx, p->d, err);

	if (rc)
		return rc;
	s->nnotices++;
	server_note_question(s, c->update, p->d);
	socket_conn_answer_plain(&c->conn, OSM_MSG_NOTICE | OSM_MSG_ANSWER, p->id, &a);
	return 0;
}

static void server_do_waiting(struct socket_server *s, struct client *c)
{
	struct err err = { "" };
	size_t n = 0;

	while (n < c->waiting.n) {
		const struct pending *p = &c->waiting.v[n];
		int rc = p->listeners ? server_tell_listeners(s, c, p->id, &err)
				      : server_send_notice(s, c, p, &err);

		if (rc == -EAGAIN)
			break;
		if (rc)
			socket_conn_answer_error(&c->conn, p->id, rc, err.text);
		n++;
	}
	if (n)
		memmove(c->waiting.v, c->waiting.v + n, (c->waiting.n - n) * sizeof(*c->waiting.v));
	c->waiting.n -= n;
}

struct telling {
	struct client *c;
	const struct pending *p;
};

static int server_tell_heard(void *ctx, struct err *err)
{
	const struct telling *x = ctx;

	(void)err;
	socket_conn_answer(&x->c->conn, OSM_MSG_HEARD, 0, x->p->d, NOTICE_SA_DATA);
	return 0;
}

struct noting {
	struct socket_server *s;
	const struct notice *n;
};

static int server_note_agent(void *ctx, struct err *err)
{
	const struct noting *x = ctx;
	struct phase_notice p;
	bool is_answer;

	(void)err;
	if (phase_codec_decode(&p, &is_answer, x->n))
		return 0;
	/* who asks is answered with a number above his: not for him to choose */
	if (p.txn > (uint64_t)time(NULL) + DAY_S)
		return 0;
	if (is_answer)
		agents_heard_take(&x->s->back.agents, &p, x->n->issuer_guid, x->n->issuer_lid,
				  clock_ms());
	else
		agents_heard_outside(&x->s->back.agents, &p, clock_ms());
	return 0;
}

static void server_tell_watchers(struct socket_server *s, const struct pending *p)
{
	for (int i = 0; i < SERVER_CLIENTS; i++) {
		struct client *c = &s->client[i];

		if (c->conn.fd < 0 || !c->watches)
			continue;
		if (guarded_call(server_tell_heard, &(struct telling){ c, p }, NULL))
			c->conn.hang_up = true;
	}
}

struct believing {
	struct socket_server *s;
	const struct notice *n;
	bool yes;
};

static int server_ask_believes(void *ctx, struct err *err)
{
	struct believing *x = ctx;

	(void)err;
	x->yes = x->s->ops->believes(x->s->ctx, x->n);
	return 0;
}

static bool server_believes(struct socket_server *s, const struct notice *n)
{
	struct believing x = { .s = s, .n = n };

	return !s->ops->believes || (!guarded_call(server_ask_believes, &x, NULL) && x.yes);
}

/* Who does not fetch what it watches for is disconnected rather than sent a part of it. */
static void server_pass_heard(struct socket_server *s)
{
	struct pending *list;
	size_t n;

	pthread_mutex_lock(&s->lock);
	list = s->heard.v;
	n = s->heard.n;
	memset(&s->heard, 0, sizeof(s->heard));
	pthread_mutex_unlock(&s->lock);
	for (size_t i = 0; i < n; i++) {
		struct notice notice;

		if (notice_decode(&notice, list[i].d, NOTICE_SA_DATA) ||
		    !server_believes(s, &notice))
			continue;
		guarded_call(server_note_agent, &(struct noting){ s, &notice }, NULL);
		if (notice.trap == NOTICE_LOCAL_CHANGES)
			server_tell_watchers(s, &list[i]);
	}
	free(list);
}

struct tending {
	struct socket_server *s;
	struct client *c;
	short events;
};

static int server_tend(void *ctx, struct err *err)
{
	const struct tending *x = ctx;
	struct socket_server *s = x->s;
	struct client *c = x->c;
	short events = x->events;

	(void)err;
	if (events & (POLLIN | POLLHUP | POLLERR) && !c->conn.hang_up)
		server_hear_client(s, c);
	server_watch_order(s, c);
	server_watch_begin(s, c);
	server_do_waiting(s, c);
	if (c->conn.out.n)
		socket_conn_write(&c->conn);
	return 0;
}

/* Who cannot be answered for want of memory is hung up on. */
static void server_tend_client(struct socket_server *s, struct client *c, short events)
{
	struct tending x = { s, c, events };
	struct err err;
	char sentence[600];

	if (guarded_call(server_tend, &x, &err)) {
		snprintf(sentence, sizeof(sentence), "a client of the socket is disconnected: %s",
			 err.text);
		s->ops->say(s->ctx, sentence);
		c->conn.hang_up = true;
	}
	if (c->conn.hang_up || socket_conn_overdue(&c->conn, clock_ms(), s->limits.message_ms))
		server_hang_up(c);
}

/* ---- coming in ---- */

static struct client *server_place(struct socket_server *s)
{
	struct client *idle = NULL;
	uint64_t now = clock_ms();

	for (int i = 0; i < SERVER_CLIENTS; i++) {
		struct client *c = &s->client[i];

		if (c->conn.fd < 0)
			return c;
		if (c->watches || c->order || c->back || c->begins || c->conn.got ||
		    c->conn.out.n || c->waiting.n || now - c->last_ms < s->limits.idle_ms)
			continue;
		if (!idle || c->last_ms < idle->last_ms)
			idle = c;
	}
	if (idle)
		server_hang_up(idle);
	return idle;
}

static void server_let_in(struct socket_server *s)
{
	int fd = socket_listener_accept(s->listener);
	struct client *c = fd < 0 ? NULL : server_place(s);

	if (fd >= 0 && !c)
		close(fd);
	if (!c)
		return;
	socket_conn_init(&c->conn, fd);
	c->last_ms = clock_ms();
	s->nclients++;
}

/* ---- the thread ---- */

static int server_wait_ms(const struct socket_server *s)
{
	int ms = sm_rollback_busy(&s->back) ? BUSY_MS * 4 : 1000;

	for (int i = 0; i < SERVER_CLIENTS; i++)
		if (s->client[i].conn.fd >= 0 && s->client[i].waiting.n)
			ms = BUSY_MS;
		else if (s->client[i].conn.fd >= 0 && s->client[i].order && ms > ORDER_MS)
			ms = ORDER_MS;
		else if (s->client[i].conn.fd >= 0 && s->client[i].begins && ms > BUSY_MS)
			ms = BUSY_MS * 4;
	return ms;
}

static void server_turn(struct socket_server *s)
{
	struct pollfd p[SERVER_CLIENTS + 2];
	struct err err;
	uint64_t kicks;

	p[0] = (struct pollfd){ .fd = s->listener, .events = POLLIN };
	p[1] = (struct pollfd){ .fd = s->wake, .events = POLLIN };
	for (int i = 0; i < SERVER_CLIENTS; i++) {
		struct client *c = &s->client[i];

		p[i + 2] = (struct pollfd){ .fd = c->conn.fd, .events = POLLIN };
		if (c->conn.out.n)
			p[i + 2].events |= POLLOUT;
	}
	if (poll(p, SERVER_CLIENTS + 2, server_wait_ms(s)) < 0)
		return;
	if (p[1].revents & POLLIN && read(s->wake, &kicks, sizeof(kicks)) < 0 && errno != EAGAIN)
		return;
	server_pass_heard(s);
	if (s->ops->turn)
		s->ops->turn(s->ctx);
	if (guarded_call(server_turn_update, s, &err))
		s->ops->say(s->ctx, err.text);
	for (int i = 0; i < SERVER_CLIENTS; i++)
		if (s->client[i].conn.fd >= 0)
			server_tend_client(s, &s->client[i], p[i + 2].revents);
	if (p[0].revents & POLLIN)
		server_let_in(s);
}

static void *server_run(void *arg)
{
	struct socket_server *s = arg;

	while (!atomic_load(&s->stop))
		server_turn(s);
	return NULL;
}

/* ---- life ---- */

static int server_listen_at(struct socket_server *s, const char *path, struct err *err)
{
	s->listener = socket_listener_open(path, SERVER_CLIENTS, err);
	if (s->listener < 0)
		return s->listener;
	s->path = xstrdup(path);
	return 0;
}

/* Signals are for OpenSM's own threads. */
static int server_start_thread(struct socket_server *s)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&s->thread, NULL, server_run, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -rc;
}

static void server_release(struct socket_server *s)
{
	for (int i = 0; i < SERVER_CLIENTS; i++)
		server_hang_up(&s->client[i]);
	if (s->listener >= 0)
		close(s->listener);
	if (s->path)
		unlink(s->path);
	free(s->path);
	if (s->wake >= 0)
		close(s->wake);
	vec_free(&s->heard);
	sm_rollback_free(&s->back);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

int socket_server_start(struct socket_server **out, const char *path, struct sm_session *session,
			const struct socket_server_ops *ops, void *ctx,
			const struct socket_server_limits *limits, struct err *err)
{
	struct socket_server *s = xcalloc(1, sizeof(*s));
	int rc;

	*out = NULL;
	if (limits)
		s->limits = *limits;
	if (!s->limits.message_ms)
		s->limits.message_ms = 20000;
	if (!s->limits.idle_ms)
		s->limits.idle_ms = 60000;
	if (!s->limits.reroute_ms)
		s->limits.reroute_ms = 600000;
	if (!s->limits.quiet_ms)
		s->limits.quiet_ms = 20000;
	s->session = session;
	s->ops = ops;
	s->ctx = ctx;
	s->back = (struct sm_rollback){
		.session = session,
		.ops = ops,
		.ctx = ctx,
		.ended = server_answer_back,
		.ended_ctx = s,
		.reroute_ms = s->limits.reroute_ms,
		.quiet_ms = s->limits.quiet_ms,
		.start_ms = clock_ms(),
	};
	s->listener = -1;
	for (int i = 0; i < SERVER_CLIENTS; i++)
		s->client[i].conn.fd = -1;
	pthread_mutex_init(&s->lock, NULL);
	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = s->wake < 0 ? err_set(err, -errno, "no eventfd: %s", strerror(errno))
			 : server_listen_at(s, path, err);
	if (!rc && (rc = server_start_thread(s)))
		err_set(err, rc, "no thread for the socket: %s", strerror(-rc));
	if (rc)
		server_release(s);
	else
		*out = s;
	return rc;
}

void socket_server_kick(struct socket_server *s)
{
	uint64_t one = 1;

	if (write(s->wake, &one, sizeof(one)) < 0) /* full: it will wake up anyway */
		return;
}

void socket_server_stop(struct socket_server *s)
{
	if (!s)
		return;
	atomic_store(&s->stop, true);
	socket_server_kick(s);
	pthread_join(s->thread, NULL);
	server_release(s);
}

struct hearing {
	struct socket_server *s;
	const uint8_t *d;
};

static int server_keep_heard(void *ctx, struct err *err)
{
	const struct hearing *x = ctx;
	struct pending p = { 0 };

	if (x->s->heard.n >= HEARD_MAX)
		return err_set(err, -ENOSPC, "too many notices");
	memcpy(p.d, x->d, sizeof(p.d));
	vec_push(&x->s->heard, p);
	return 0;
}

void socket_server_heard(struct socket_server *s, const uint8_t d[NOTICE_SA_DATA])
{
	pthread_mutex_lock(&s->lock);
	/* by itself, as the lock has to be given back */
	if (guarded_call(server_keep_heard, &(struct hearing){ s, d }, NULL))
		s->lost++;
	pthread_mutex_unlock(&s->lock);
	socket_server_kick(s);
}
