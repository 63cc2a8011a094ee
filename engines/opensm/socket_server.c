/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engines/opensm/socket_server.h"

#include "engines/opensm/agents_heard.h"
#include "fabric/base/clock.h"
#include "fabric/base/guard.h"
#include "fabric/base/little_endian.h"
#include "fabric/base/mem.h"
#include "fabric/base/vec.h"
#include "fabric/update/coordinator.h"
#include "fabric/update/phase_codec.h"

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
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define OUT_MAX	  (1u << 20) /* bytes beside tables that wait to be fetched */
#define DAY_S	  86400
#define HEARD_MAX 16384	     /* notices between the threads */
#define WAITING	  64	     /* of one client, until OpenSM has time */
#define BUSY_MS	  5	     /* between two tries while OpenSM is at work */
#define SETTLE_MS 60000	     /* for OpenSM to discover everything again */
#define DRAIN_MS  3000	     /* for agents, on a way back that nobody else leads */

/* What has to wait until OpenSM is not at work: a notice, or the question who listens. */
struct pending {
	uint32_t id;
	bool listeners;
	uint8_t d[NOTICE_SA_DATA];
};

struct client {
	int fd; /* -1: free */
	bool watches, hang_up;
	char update[64]; /* that it has begun; "": none */
	uint8_t head[OSM_MSG_HEAD];
	struct osm_msg m;
	size_t got;	   /* bytes of head and body */
	uint64_t in_ms;	   /* when the message under way began */
	VEC(uint8_t) body; /* grows as it comes */
	VEC(uint8_t) out;  /* not fetched yet, from out_at on */
	size_t out_at;
	uint64_t out_ms;  /* since when */
	uint64_t last_ms; /* of its last message */
	uint64_t order;	  /* reroute under way; 0 none */
	bool back;	  /* waits for the way back of its update */
	bool begins;	  /* waits for OpenSM to settle before its update ... */
	bool sweeps;	  /* ... which was asked to */
	uint64_t order_ms;
	uint32_t order_id;
	VEC(struct pending) waiting;
};

/* An update that is led back step by step, each of them written before the next. */
struct going_back {
	bool under_way, by_itself;
	char why[200];
	struct osm_update who; /* by itself: whose agents are told */
	uint64_t begin_ms;     /* not before: agents have to drain */
	uint64_t order;	       /* 0: not yet */
	uint64_t since_ms;
	bool more;
};

struct socket_server {
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct sm_session *session;
	const struct socket_server_ops *ops;
	void *ctx;
	struct socket_server_limits limits;
	int listener, wake;
	atomic_bool stop;
	pthread_t thread;
	uint64_t nclients, nnotices;
	uint64_t begin_ms;
	struct going_back back;
	struct agents_heard agents;
	VEC(struct pending) own; /* notices of its own, until OpenSM has time */
	struct client client[SERVER_CLIENTS];

	pthread_mutex_t lock; /* of what follows */
	VEC(struct pending) heard;
	uint64_t lost;
};

/* ---- clients ---- */

static void server_hang_up(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	vec_free(&c->body);
	vec_free(&c->out);
	vec_free(&c->waiting);
	memset(c, 0, sizeof(*c));
	c->fd = -1;
}

static void server_put(struct client *c, const void *data, size_t len)
{
	if (!c->out.n)
		c->out_ms = clock_ms();
	vec_reserve(&c->out, c->out.n + len);
	if (len)
		memcpy(c->out.v + c->out.n, data, len);
	c->out.n += len;
}

static void server_answer(struct client *c, uint8_t type, uint32_t id, const void *body, size_t len)
{
	struct osm_msg m = { .type = type, .id = id, .len = (uint32_t)len };
	uint8_t head[OSM_MSG_HEAD];

	if (c->out.n - c->out_at > OUT_MAX + osm_msg_limit(OSM_MSG_LOAD)) {
		c->hang_up = true;
		return;
	}
	osm_msg_put(head, &m);
	vec_reserve(&c->out, c->out.n + sizeof(head) + len); /* all of it, or nothing */
	server_put(c, head, sizeof(head));
	server_put(c, body, len);
}

static void server_answer_plain(struct client *c, uint8_t type, uint32_t id,
				const struct osm_answer *a)
{
	char *body = osm_answer_encode(a);

	server_answer(c, type, id, body, strlen(body));
	free(body);
}

static void server_answer_error(struct client *c, uint32_t id, int rc, const char *text)
{
	struct osm_answer a = { .rc = rc };

	snprintf(a.text, sizeof(a.text), "%s", text);
	server_answer_plain(c, OSM_MSG_ERROR, id, &a);
}

/* ---- questions ---- */

static void server_do_status(struct socket_server *s, struct client *c)
{
	struct osm_status st;
	char *body;

	sm_session_status(s->session, &st);
	s->ops->facts(s->ctx, &st);
	st.clients = s->nclients;
	st.notices = s->nnotices;
	body = osm_status_encode(&st);
	server_answer(c, OSM_MSG_STATUS | OSM_MSG_ANSWER, c->m.id, body, strlen(body));
	free(body);
}

static void server_do_tables(struct socket_server *s, struct client *c)
{
	struct err err;
	uint8_t *buf;
	size_t len;
	int rc = sm_session_tables(s->session, c->m.flags & OSM_TABLES_BASE, &buf, &len, &err);

	if (!rc && len > osm_msg_limit(OSM_MSG_TABLES | OSM_MSG_ANSWER)) {
		free(buf);
		rc = err_set(&err, -EMSGSIZE, "the tables are too large for the socket");
	}
	if (rc) {
		server_answer_error(c, c->m.id, rc, err.text);
		return;
	}
	server_answer(c, OSM_MSG_TABLES | OSM_MSG_ANSWER, c->m.id, buf, len);
	free(buf);
}

static void server_do_agents(struct socket_server *s, struct client *c)
{
	size_t n = s->agents.v.n;
	uint8_t *body = xcalloc(n, OSM_AGENT);

	for (size_t i = 0; i < n; i++) {
		const struct heard_agent *a = &s->agents.v.v[i];
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
	server_answer(c, OSM_MSG_AGENTS | OSM_MSG_ANSWER, c->m.id, body, n * OSM_AGENT);
	free(body);
}

static int server_order(struct socket_server *s, struct client *c, struct err *err)
{
	int rc;

	if (c->order)
		return err_set(err, -EBUSY, "this client already waits for a reroute");
	c->order = sm_session_order(s->session, c->m.flags & OSM_REROUTE_ALL);
	c->order_id = c->m.id;
	c->order_ms = clock_ms();
	rc = s->ops->reroute(s->ctx, err);
	if (rc)
		c->order = 0;
	return rc;
}

static int server_queue(struct client *c, struct err *err)
{
	struct pending p = { .id = c->m.id, .listeners = c->m.type == OSM_MSG_LISTENERS };
	struct notice n;

	if (c->waiting.n >= WAITING)
		return err_set(err, -EBUSY, "%u requests already wait for OpenSM", WAITING);
	if (!p.listeners) {
		if (c->body.n != NOTICE_SA_DATA || notice_decode(&n, c->body.v, NOTICE_SA_DATA) ||
		    (n.trap != NOTICE_UNPATH && n.trap != NOTICE_REPATH))
			return err_set(err, -EINVAL, "only notices 68 and 69 can be sent");
		memcpy(p.d, c->body.v, sizeof(p.d));
	}
	vec_push(&c->waiting, p);
	return 0;
}

static int server_update(struct socket_server *s, struct client *c, struct err *err)
{
	struct osm_update u;
	int rc = osm_update_decode(&u, (const char *)c->body.v, c->body.n, err);

	if (!rc && !u.id[0])
		rc = err_set(err, -EINVAL, "an update needs an identifier");
	if (!rc)
		rc = c->m.type == OSM_MSG_BEGIN ? sm_session_begin(s->session, &u, err)
						: sm_session_alive(s->session, &u, err);
	if (rc)
		return rc;
	memcpy(c->update, u.id, sizeof(c->update));
	if (c->m.type != OSM_MSG_BEGIN || !s->ops->settled)
		return 0;
	c->begins = true;
	c->sweeps = false;
	c->order_id = c->m.id;
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
	server_answer_plain(c, OSM_MSG_BEGIN | OSM_MSG_ANSWER, c->order_id, &a);
}

static int server_begin_back(struct socket_server *s, struct client *c, struct err *err)
{
	struct osm_update u = { 0 };
	int rc = c->order || c->back
			 ? err_set(err, -EBUSY, "this client already waits for a reroute")
			 : 0;

	memcpy(u.id, c->update, sizeof(u.id));
	if (!rc && !s->back.under_way)
		rc = sm_session_mine(s->session, u.id, err);
	if (rc)
		return rc;
	if (!s->back.under_way)
		s->back = (struct going_back){ .under_way = true };
	c->back = true;
	c->order_id = c->m.id;
	c->order_ms = clock_ms();
	return 0;
}

static int server_load(struct socket_server *s, struct client *c, struct osm_answer *a,
		       struct err *err)
{
	bool step = c->m.flags & OSM_LOAD_STEP;
	struct digest hash;

	if (!(c->m.flags & OSM_LOAD_KNOWN))
		return sm_session_load(s->session, c->update, c->body.v, c->body.n, step, a, err);
	if (c->body.n != sizeof(hash.b))
		return err_set(err, -EINVAL, "a hash has %zu bytes", sizeof(hash.b));
	memcpy(hash.b, c->body.v, sizeof(hash.b));
	return sm_session_load_known(s->session, c->update, &hash, step, a, err);
}

/* 1: answered later. */
static int server_do_plain(struct socket_server *s, struct client *c, struct osm_answer *a,
			   struct err *err)
{
	const char *text = (const char *)c->body.v;
	int rc;

	switch (c->m.type) {
	case OSM_MSG_BEGIN:
	case OSM_MSG_ALIVE:
		return server_update(s, c, err);
	case OSM_MSG_BACK:
		rc = server_begin_back(s, c, err);
		return rc ? rc : 1;
	case OSM_MSG_LOAD:
		return server_load(s, c, a, err);
	case OSM_MSG_AHEAD:
		return sm_session_ahead(s->session, c->update, c->body.v, c->body.n,
					c->m.flags & OSM_LOAD_STEP, a, err);
	case OSM_MSG_JUDGE:
		return sm_session_judge(s->session, c->body.v, c->body.n, a, err);
	case OSM_MSG_POLICY:
		return sm_session_policy(s->session, text, c->body.n, c->m.flags, a, err);
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
		return err_set(err, -EPROTO, "there is no request of type %u", c->m.type);
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

	if (x->c->m.type == OSM_MSG_STATUS) {
		server_do_status(x->s, x->c);
		return 1;
	}
	if (x->c->m.type == OSM_MSG_TABLES) {
		server_do_tables(x->s, x->c);
		return 1;
	}
	if (x->c->m.type == OSM_MSG_AGENTS) {
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
		server_answer_error(c, c->m.id, rc, err.text);
	else if (!rc)
		server_answer_plain(c, c->m.type | OSM_MSG_ANSWER, c->m.id, &x.a);
}

/* ---- bytes ---- */

/* 0: nothing more now.  Memory for a body is allocated as it comes, whatever its length is said to
 * be. */
static ssize_t server_take_bytes(struct client *c)
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

static void server_refuse_head(struct socket_server *s, struct client *c, int rc,
			       const struct err *err)
{
	char sentence[600];

	snprintf(sentence, sizeof(sentence), "a client of the socket is disconnected: %s",
		 err->text);
	s->ops->say(s->ctx, sentence);
	server_answer_error(c, 0, rc, err->text);
	c->hang_up = true;
}

/* One message at most, so that nobody has to wait for the many of another. */
static void server_hear_client(struct socket_server *s, struct client *c)
{
	struct err err;
	ssize_t n;
	int rc;

	while (!c->hang_up && (n = server_take_bytes(c)) > 0) {
		if (!c->got)
			c->in_ms = clock_ms();
		c->got += (size_t)n;
		if (c->got == OSM_MSG_HEAD && !c->body.n) {
			rc = osm_msg_get(&c->m, c->head, &err);
			if (rc) {
				server_refuse_head(s, c, rc, &err);
				return;
			}
			vec_reserve(&c->body, 1);
		}
		if (c->got < OSM_MSG_HEAD || c->got < OSM_MSG_HEAD + (size_t)c->m.len)
			continue;
		c->body.v[c->body.n] = 0;
		server_serve(s, c);
		c->got = 0;
		vec_free(&c->body);
		return;
	}
}

static void server_write_client(struct client *c)
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
		server_answer_plain(c, a.rc ? OSM_MSG_ERROR : OSM_MSG_REROUTE | OSM_MSG_ANSWER,
				    c->order_id, &a);
		c->order = 0;
	} else if (server_not_master(s)) {
		server_answer_error(c, c->order_id, -ENOTSUP,
				    "this OpenSM is no longer the master; it has not routed");
		c->order = 0;
	} else if (clock_ms() - c->order_ms > s->limits.reroute_ms) {
		server_answer_error(c, c->order_id, -ETIMEDOUT, "OpenSM has not finished in time");
		c->order = 0;
	}
}

/* ---- notices of its own ---- */

static void server_queue_own(struct socket_server *s, const struct phase_notice *p)
{
	static const struct notice_sender nobody = { 0 };
	struct pending own = { 0 };
	struct notice n;

	phase_codec_encode(&n, p, false, &nobody);
	notice_encode(own.d, sizeof(own.d), &n);
	vec_push(&s->own, own);
}

/* To the agents of an update whose client is gone. */
static void server_tell_agents(struct socket_server *s, enum phase what)
{
	struct phase_notice p = {
		.version = PHASE_NOTICE_VERSION,
		.phase = (uint8_t)what,
		.seq = ++s->back.who.seq,
		.txn = s->back.who.txn,
	};

	server_queue_own(s, &p);
}

/* Whoever leads an update answers its agents.  One that began under an OpenSM before this one may
 * not have come back yet; one without agents answers nobody. */
static bool server_may_call_back(struct socket_server *s)
{
	struct osm_update who;

	if (s->back.under_way || clock_ms() - s->begin_ms < s->limits.quiet_ms)
		return false;
	return !sm_session_open(s->session, &who) || !who.seq;
}

/* Agents on their escape LIDs ask about an update that is over: nobody else may be there. */
static void server_call_back(struct socket_server *s)
{
	struct phase_notice answer;

	while (server_may_call_back(s) && agents_heard_next(&s->agents, &answer, clock_ms()))
		server_queue_own(s, &answer);
}

static void server_send_own(struct socket_server *s)
{
	struct err err;
	size_t n = 0;

	while (n < s->own.n && s->ops->notice(s->ctx, s->own.v[n].d, &err) != -EAGAIN)
		n++;
	if (n)
		memmove(s->own.v, s->own.v + n, (s->own.n - n) * sizeof(*s->own.v));
	s->own.n -= n;
	s->nnotices += n;
}

/* ---- the way back ---- */

/* Who waits for it is answered as for a reroute. */
static void server_answer_back(struct socket_server *s, const struct osm_answer *a)
{
	for (int i = 0; i < SERVER_CLIENTS; i++) {
		struct client *c = &s->client[i];

		if (c->fd < 0 || !c->back)
			continue;
		c->back = false;
		server_answer_plain(c, a->rc ? OSM_MSG_ERROR : OSM_MSG_BACK | OSM_MSG_ANSWER,
				    c->order_id, a);
	}
}

static void server_end_back(struct socket_server *s, const struct osm_answer *a)
{
	char sentence[900];

	s->back.under_way = false;
	server_answer_back(s, a);
	if (!s->back.by_itself)
		return;
	snprintf(sentence, sizeof(sentence), "update %s %s: %s%s%s", s->back.who.id,
		 a->rc ? "was ended, but the previous tables are not installed" : "was rolled back",
		 s->back.why, a->rc ? "; " : "", a->rc ? a->text : "");
	s->ops->say(s->ctx, sentence);
	if (s->back.who.seq)
		server_tell_agents(s, PHASE_REPATH);
}

/* Each step is written before the next one is ordered. */
static int server_step_back(struct socket_server *s, struct err *err)
{
	struct going_back *b = &s->back;
	struct osm_answer a = { 0 };

	if (b->order && !sm_session_answered(s->session, b->order, &a))
		return clock_ms() - b->since_ms < s->limits.reroute_ms
			       ? 0
			       : err_set(err, -ETIMEDOUT, "OpenSM has not finished in time");
	if (b->order && !b->more) {
		server_end_back(s, &a);
		return 0;
	}
	b->more = sm_session_back(s->session, b->by_itself ? b->why : NULL);
	b->order = sm_session_order(s->session, false);
	b->since_ms = clock_ms();
	return s->ops->reroute(s->ctx, err);
}

static void server_go_back(struct socket_server *s)
{
	struct osm_answer a = { 0 };
	struct err err = { "" };

	if (!s->back.under_way || clock_ms() < s->back.begin_ms)
		return;
	a.rc = server_step_back(s, &err);
	if (!a.rc)
		return;
	snprintf(a.text, sizeof(a.text), "%s", err.text);
	/* it must not stay open: the next routing is by what was before it */
	while (sm_session_back(s->session, s->back.by_itself ? s->back.why : a.text))
		;
	server_end_back(s, &a);
}

/* The last watchdog: whoever was to speak for the update does not. */
static void server_watch_update(struct socket_server *s)
{
	struct going_back b = { .under_way = true, .by_itself = true };
	char sentence[400];

	if (s->back.under_way || !sm_session_overdue(s->session, &b.who, b.why, sizeof(b.why)))
		return;
	snprintf(sentence, sizeof(sentence), "update %s is being rolled back: %s", b.who.id, b.why);
	s->ops->say(s->ctx, sentence);
	s->back = b;
	if (!b.who.seq)
		return;
	server_tell_agents(s, PHASE_UNPATH);
	s->back.begin_ms = clock_ms() + DRAIN_MS;
}

static int server_turn_update(void *ctx, struct err *err)
{
	struct socket_server *s = ctx;

	(void)err;
	server_watch_update(s);
	server_go_back(s);
	server_call_back(s);
	server_send_own(s);
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
	server_answer(c, OSM_MSG_LISTENERS | OSM_MSG_ANSWER, id, body, (size_t)n * 8);
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
	server_answer_plain(c, OSM_MSG_NOTICE | OSM_MSG_ANSWER, p->id, &a);
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
			server_answer_error(c, p->id, rc, err.text);
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
	server_answer(x->c, OSM_MSG_HEARD, 0, x->p->d, NOTICE_SA_DATA);
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
		agents_heard_take(&x->s->agents, &p, x->n->issuer_guid, x->n->issuer_lid,
				  clock_ms());
	else
		agents_heard_outside(&x->s->agents, &p, clock_ms());
	return 0;
}

static void server_tell_watchers(struct socket_server *s, const struct pending *p)
{
	for (int i = 0; i < SERVER_CLIENTS; i++) {
		struct client *c = &s->client[i];

		if (c->fd < 0 || !c->watches)
			continue;
		if (guarded_call(server_tell_heard, &(struct telling){ c, p }, NULL))
			c->hang_up = true;
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

static bool server_overdue(const struct socket_server *s, const struct client *c, uint64_t now)
{
	if (c->got && now - c->in_ms > s->limits.message_ms)
		return true;
	return c->out.n && now - c->out_ms > s->limits.message_ms;
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
	if (events & (POLLIN | POLLHUP | POLLERR) && !c->hang_up)
		server_hear_client(s, c);
	server_watch_order(s, c);
	server_watch_begin(s, c);
	server_do_waiting(s, c);
	if (c->out.n)
		server_write_client(c);
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
		c->hang_up = true;
	}
	if (c->hang_up || server_overdue(s, c, clock_ms()))
		server_hang_up(c);
}

/* ---- coming in ---- */

static struct client *server_place(struct socket_server *s)
{
	struct client *idle = NULL;
	uint64_t now = clock_ms();

	for (int i = 0; i < SERVER_CLIENTS; i++) {
		struct client *c = &s->client[i];

		if (c->fd < 0)
			return c;
		if (c->watches || c->order || c->back || c->begins || c->got || c->out.n ||
		    c->waiting.n || now - c->last_ms < s->limits.idle_ms)
			continue;
		if (!idle || c->last_ms < idle->last_ms)
			idle = c;
	}
	if (idle)
		server_hang_up(idle);
	return idle;
}

static bool server_may_come_in(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		return false;
	return !peer.uid || peer.uid == geteuid();
}

static void server_let_in(struct socket_server *s)
{
	int fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct client *c;

	if (fd < 0)
		return;
	c = server_may_come_in(fd) ? server_place(s) : NULL;
	if (!c) {
		close(fd);
		return;
	}
	c->fd = fd;
	c->last_ms = clock_ms();
	s->nclients++;
}

/* ---- the thread ---- */

static int server_wait_ms(const struct socket_server *s)
{
	int ms = s->own.n || s->back.under_way ? BUSY_MS * 4 : 1000;

	for (int i = 0; i < SERVER_CLIENTS; i++)
		if (s->client[i].fd >= 0 && s->client[i].waiting.n)
			ms = BUSY_MS;
		else if (s->client[i].fd >= 0 && s->client[i].begins && ms > BUSY_MS)
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

		p[i + 2] = (struct pollfd){ .fd = c->fd, .events = POLLIN };
		if (c->out.n)
			p[i + 2].events |= POLLOUT;
	}
	if (poll(p, SERVER_CLIENTS + 2, server_wait_ms(s)) < 0)
		return;
	if (p[1].revents & POLLIN && read(s->wake, &kicks, sizeof(kicks)) < 0 && errno != EAGAIN)
		return;
	server_pass_heard(s);
	if (guarded_call(server_turn_update, s, &err))
		s->ops->say(s->ctx, err.text);
	for (int i = 0; i < SERVER_CLIENTS; i++)
		if (s->client[i].fd >= 0)
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

/* A socket without anybody behind it is what a killed OpenSM leaves. */
static int server_clear_path(const struct sockaddr_un *at, struct err *err)
{
	struct stat st;
	int fd, rc;

	if (lstat(at->sun_path, &st))
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return err_set(err, -EEXIST, "%s exists and is not a socket", at->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	rc = fd < 0 ? -1 : connect(fd, (const struct sockaddr *)at, sizeof(*at));
	if (fd >= 0)
		close(fd);
	if (!rc)
		return err_set(err, -EADDRINUSE, "another OpenSM responds at %s", at->sun_path);
	unlink(at->sun_path);
	return 0;
}

static int server_make_folder(const char *path, struct err *err)
{
	char *dir = xstrdup(path), *slash = strrchr(dir, '/');
	int rc = 0;

	if (slash && slash != dir) {
		*slash = '\0';
		if (mkdir(dir, 0700) && errno != EEXIST)
			rc = err_set(err, -errno, "%s cannot be made: %s", dir, strerror(errno));
	}
	free(dir);
	return rc;
}

static int server_listen_at(struct socket_server *s, const char *path, struct err *err)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int rc;

	if (strlen(path) >= sizeof(at.sun_path))
		return err_set(err, -ENAMETOOLONG, "%s: a socket's path has at most %zu characters",
			       path, sizeof(at.sun_path) - 1);
	strcpy(at.sun_path, path);
	rc = server_make_folder(path, err);
	if (!rc)
		rc = server_clear_path(&at, err);
	if (rc)
		return rc;
	s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* the mode of the open socket is that of its name from the beginning */
	if (s->listener < 0 || fchmod(s->listener, 0600) ||
	    bind(s->listener, (struct sockaddr *)&at, sizeof(at)) || chmod(path, 0600) ||
	    listen(s->listener, SERVER_CLIENTS))
		return err_set(err, -errno, "no socket at %s: %s", path, strerror(errno));
	strcpy(s->path, path);
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
	if (s->path[0])
		unlink(s->path);
	if (s->wake >= 0)
		close(s->wake);
	vec_free(&s->heard);
	vec_free(&s->own);
	agents_heard_free(&s->agents);
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
	s->begin_ms = clock_ms();
	s->session = session;
	s->ops = ops;
	s->ctx = ctx;
	s->listener = -1;
	for (int i = 0; i < SERVER_CLIENTS; i++)
		s->client[i].fd = -1;
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
