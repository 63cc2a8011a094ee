/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/agent/agent.h"

#include "fabric/agent/agent_hook.h"
#include "fabric/agent/agent_save.h"
#include "fabric/agent/agent_socket.h"
#include "fabric/base/hash/rng.h"
#include "fabric/base/memory/vec.h"
#include "fabric/base/message/log.h"
#include "fabric/ib/codec.h"
#include "fabric/update/protocol/coordinator.h"
#include "fabric/update/protocol/site_key.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BUSY_WAIT_MS 10
#define NOTICES_MAX  256 /* in one turn */
#define GREETINGS    3
#define RETRY_MAX_MS 30000
#define ENV_TEXT     96
#define DAY_S	     86400 /* transactions are numbered by Unix time, and this clock may be slow */
#define REFUSE_MS    1000  /* between refusals, whoever asks */
#define RECALL_MS    250   /* told to return by anybody: until it does */
#define TELL_MS	     60000 /* between sentences about what anybody can send */

enum agent_step { STEP_NONE, STEP_DRAIN, STEP_MIGRATE, STEP_RETURN };

struct job_hook {
	char job[AGENT_JOB_MAX]; /* "": of the whole node */
	struct agent_hook h;
};

struct agent {
	struct notice_port *np;
	struct agent_opts o;
	struct agent_state st;
	struct agent_socket *socket;
	VEC(struct agent_job) jobs;
	int lock_fd;
	char *lock_path;

	/* the running hooks */
	enum agent_step step;
	VEC(struct job_hook *) hooks;
	uint64_t step_end_ms;
	int step_rc;
	struct err why; /* of step_rc */

	/* the SM */
	struct notice_local local;
	struct sm_info sm;
	bool sm_known, sm_silent;
	bool sm_tells; /* which subscriptions it knows */
	uint64_t poll_ms, subscribe_ms, again_ms, retry_ms, ask_ms;
	struct rng spread;
	struct err sm_err; /* said last */

	/* whether an update is in progress */
	bool greets;
	uint32_t greetings;   /* how often it was asked */
	uint64_t greet_ms;    /* when next */
	uint64_t patience_ms; /* during a drain: not ready until then */
	bool begun;	      /* was ready */

	uint64_t heard_ms;
	uint64_t go_ms, word_ms; /* recalled: when it returns, and says so again */
	bool saved;		 /* the last save was written */
	bool forget;		 /* once it is on its base LIDs */
	bool over;

	/* what was not believed */
	uint64_t refused, refuse_ms; /* questions; when the next one is answered */
	uint64_t told, tell_ms;	     /* of how many; when next */
};

static uint64_t agent_now_ms(const struct agent *a)
{
	return notice_port_now_ns(a->np) / 1000000;
}

/* A quarter more or less: agents that began to wait at the same time do not end so. */
static uint32_t agent_spread(struct agent *a, uint32_t ms)
{
	return ms - ms / 4 + (uint32_t)rng_below(&a->spread, ms / 2 + 1);
}

static void agent_ask_later(struct agent *a)
{
	a->ask_ms = agent_now_ms(a) + agent_spread(a, a->o.ask_ms);
}

/* ---- what survives ---- */

static bool agent_save(struct agent *a)
{
	uint64_t ago = agent_now_ms(a) - a->heard_ms;
	struct agent_save s = {
		.hold_s = a->st.hold_s,
		.heard_ms = agent_boottime_ms() - ago,
		.port_guid = a->local.port_guid,
	};
	struct err err;

	agent_state_saved(&a->st, &s.state);
	for (size_t i = 0; i < a->jobs.n; i++)
		vec_push(&s.jobs, a->jobs.v[i]);
	if (a->socket)
		agent_socket_peers(a->socket, &s);
	a->saved = !agent_save_store(&s, a->o.state, &err);
	if (!a->saved)
		log_add(LOG_ERROR, "agent", "%s", err.text);
	agent_save_clear(&s);
	return a->saved;
}

static struct agent_job *agent_job_of(const struct agent *a, const char *name)
{
	for (size_t i = 0; i < a->jobs.n; i++) {
		if (!strcmp(a->jobs.v[i].name, name))
			return &a->jobs.v[i];
	}
	return NULL;
}

static bool agent_has_job(const struct agent *a, const char *name)
{
	return agent_job_of(a, name) != NULL;
}

/* uid AGENT_NO_USER: what was known of a job's user before stays. */
static int agent_add_job(struct agent *a, const char *name, uid_t uid, struct err *err)
{
	struct agent_job *old = agent_job_of(a, name), j = { .uid = uid };
	int rc = agent_job_check(name, err);

	if (old && uid != AGENT_NO_USER)
		old->uid = uid;
	if (rc || old)
		return rc;
	if (a->jobs.n == AGENT_JOBS_MAX)
		return err_set(err, -ENOSPC, "at most %d jobs per node", AGENT_JOBS_MAX);
	snprintf(j.name, sizeof(j.name), "%s", name);
	vec_push(&a->jobs, j);
	return 0;
}

/* Jobs that are named now replace those of the file.  When none of them was there before, the
 * queue pairs of then are gone with their jobs; the numbers stay, for notices that are late. */
static int agent_take_over(struct agent *a, struct agent_save *s, struct err *err)
{
	bool same = !a->o.njobs || !s->jobs.n;
	int rc = 0;

	for (uint32_t i = 0; i < a->o.njobs && !rc; i++)
		rc = agent_add_job(a, a->o.jobs[i], a->o.user ? a->o.user : AGENT_NO_USER, err);
	for (size_t i = 0; i < s->jobs.n && !rc; i++) {
		same |= agent_has_job(a, s->jobs.v[i].name);
		if (!a->o.njobs)
			rc = agent_add_job(a, s->jobs.v[i].name, s->jobs.v[i].uid, err);
	}
	if (!same)
		s->state.mode = AGENT_BASE;
	for (size_t i = 0; i < s->peers.n && same && a->socket; i++)
		agent_socket_await(a->socket, &s->peers.v[i]);
	return rc;
}

static int agent_load(struct agent *a, struct err *err)
{
	struct agent_save s;
	struct err why;
	uint64_t age;
	int rc = agent_save_load(&s, a->o.state, a->local.port_guid, &why);

	a->heard_ms = agent_now_ms(a);
	if (rc && rc != -ENOENT)
		return err_set(err, rc, "%s", why.text);
	if (rc) {
		agent_state_init(&a->st, NULL);
	} else {
		age = agent_boottime_ms() - s.heard_ms;
		a->heard_ms = age < a->heard_ms ? a->heard_ms - age : 0;
	}
	rc = agent_take_over(a, &s, err);
	if (s.state.txn) {
		agent_state_init(&a->st, &s.state);
		a->st.hold_s = s.hold_s;
		log_add(LOG_INFO, "agent", "resumes after transaction %" PRIu64 ", question %u: %s",
			a->st.txn, a->st.seq, agent_mode_name(a->st.mode));
	}
	agent_save_clear(&s);
	return rc;
}

/* ---- what a question makes it do: the commands of all jobs, and the clients ---- */

static const char *agent_step_name(enum agent_step step)
{
	static const char *const name[] = { "", "drain", "migrate", "return" };

	return name[step];
}

static uint32_t agent_escape_offset(const struct agent *a)
{
	return a->local.lmc ? 1u << (a->local.lmc - 1) : 0;
}

static uint32_t agent_limit_s(const struct agent *a)
{
	return (a->o.limit_ms + 999) / 1000;
}

static const char *agent_command(const struct agent *a, enum agent_step step)
{
	if (step == STEP_DRAIN)
		return a->o.drain;
	return step == STEP_RETURN && a->o.back ? a->o.back : a->o.migrate;
}

__attribute__((format(printf, 2, 3))) static void agent_step_fails(struct agent *a, const char *fmt,
								   ...)
{
	va_list ap;

	if (a->step_rc)
		return;
	a->step_rc = -EIO;
	va_start(ap, fmt);
	vsnprintf(a->why.text, sizeof(a->why.text), fmt, ap);
	va_end(ap);
}

static void agent_start_command(struct agent *a, const char *job)
{
	const struct agent_state *st = &a->st;
	char text[8][ENV_TEXT], what[100];
	const char *env[9] = { NULL };
	struct job_hook *h;
	struct err err;

	snprintf(text[0], ENV_TEXT, "IBROUTE_JOB=%s", job);
	snprintf(text[1], ENV_TEXT, "IBROUTE_PHASE=%s", agent_step_name(a->step));
	snprintf(text[2], ENV_TEXT, "IBROUTE_TXN=%" PRIu64, st->txn);
	snprintf(text[3], ENV_TEXT, "IBROUTE_SEQ=%u", st->seq);
	snprintf(text[4], ENV_TEXT, "IBROUTE_LID=%u", a->local.lid);
	snprintf(text[5], ENV_TEXT, "IBROUTE_ESCAPE_OFFSET=%u", agent_escape_offset(a));
	snprintf(text[6], ENV_TEXT, "IBROUTE_LIMIT_S=%u", agent_limit_s(a));
	snprintf(text[7], ENV_TEXT, "IBROUTE_SAME_ROUTES=%d", st->aborted);
	for (int i = 0; i < 8; i++)
		env[i] = text[i];
	snprintf(what, sizeof(what), "%s command%s%s", agent_step_name(a->step),
		 *job ? " of job " : "", job);
	h = xcalloc(1, sizeof(*h));
	snprintf(h->job, sizeof(h->job), "%s", job);
	if (!agent_hook_start(&h->h, agent_command(a, a->step), env, what, agent_now_ms(a),
			      a->o.limit_ms, &err)) {
		vec_push(&a->hooks, h);
		return;
	}
	free(h);
	agent_step_fails(a, "%s", err.text);
}

/* A job that was named is there to be drained: when nobody can, that is no success.  One without
 * queue pairs yet has no process that could say so; unless it has not begun. */
static void agent_check_jobs(struct agent *a)
{
	if (a->o.drain || a->o.migrate || (a->o.held && !a->begun))
		return;
	for (size_t i = 0; i < a->jobs.n; i++) {
		if (!a->socket || !agent_socket_count(a->socket, a->jobs.v[i].name))
			agent_step_fails(
				a, "job %s has neither a command nor a client that could drain it",
				a->jobs.v[i].name);
	}
}

static void agent_check_escape(struct agent *a)
{
	if (!agent_escape_offset(a) &&
	    (a->o.migrate || (a->socket && agent_socket_count(a->socket, NULL))))
		agent_step_fails(a,
				 "the port has an LMC of 0, so there are no escape LIDs to go to");
}

/* Where the clients are to be. */
static void agent_step_want(struct agent *a, enum agent_goal goal)
{
	struct agent_order o = {
		.txn = a->st.txn,
		.escape_offset = agent_escape_offset(a),
		.limit_s = agent_limit_s(a),
		.same = a->st.aborted,
	};

	if (a->socket)
		agent_socket_want(a->socket, goal, &o);
}

static void agent_step_begin(struct agent *a, enum agent_step step)
{
	static const enum agent_goal goal[] = { [STEP_DRAIN] = AGENT_GOAL_DRAINED,
						[STEP_MIGRATE] = AGENT_GOAL_ESCAPE,
						[STEP_RETURN] = AGENT_GOAL_BASE };

	a->step = step;
	a->step_rc = 0;
	a->step_end_ms = agent_now_ms(a) + a->o.limit_ms;
	log_add(LOG_INFO, "agent", "transaction %" PRIu64 ", question %u: %s", a->st.txn, a->st.seq,
		agent_step_name(step));
	if (step == STEP_DRAIN) {
		agent_check_jobs(a);
		agent_check_escape(a);
	}
	if (step != STEP_RETURN && !a->saved)
		agent_step_fails(a, "the state could not be saved, so nothing was started");
	if (a->step_rc)
		return;
	agent_step_want(a, goal[step]);
	if (!agent_command(a, step))
		return;
	for (size_t i = 0; i < a->jobs.n; i++)
		agent_start_command(a, a->jobs.v[i].name);
	/* with a socket jobs come and go over it, and there is none now */
	if (!a->jobs.n && !a->socket)
		agent_start_command(a, "");
}

static void agent_stop_commands(struct agent *a)
{
	for (size_t i = 0; i < a->hooks.n; i++)
		agent_hook_stop(&a->hooks.v[i]->h, agent_now_ms(a));
}

/* The step in progress is no longer needed. */
static void agent_step_cancel(struct agent *a)
{
	agent_step_fails(a, "it is no longer needed");
	agent_stop_commands(a);
}

static void agent_turn_commands(struct agent *a)
{
	size_t n = 0;
	struct err err;
	int rc = 0;

	for (size_t i = 0; i < a->hooks.n; i++) {
		struct job_hook *h = a->hooks.v[i];

		if (!agent_hook_turn(&h->h, agent_now_ms(a), &rc, &err)) {
			a->hooks.v[n++] = h;
			continue;
		}
		/* nothing is left to do for a job that has ended */
		if (rc && (!*h->job || agent_has_job(a, h->job)))
			agent_step_fails(a, "%s", err.text);
		free(h);
	}
	a->hooks.n = n;
}

/* True when clients have nothing left to do in it. */
static bool agent_clients_end(struct agent *a)
{
	struct err err;
	int rc = a->socket ? agent_socket_there(a->socket, &err) : 0;

	if (rc == -EAGAIN && agent_now_ms(a) < a->step_end_ms)
		return false;
	if (rc == -EAGAIN)
		agent_step_fails(a, "%s after %u s", err.text, agent_limit_s(a));
	else if (rc)
		agent_step_fails(a, "%s", err.text);
	return true;
}

/* Continues the step; true: it has ended, step_rc says how.  A return waits for all; a drain or
 * a migration for nobody once one has failed. */
static bool agent_step_ended(struct agent *a)
{
	bool clients;

	agent_turn_commands(a);
	clients = a->step_rc && a->step != STEP_RETURN ? true : agent_clients_end(a);
	if (a->step_rc && a->step != STEP_RETURN)
		agent_stop_commands(a);
	return clients && !a->hooks.n;
}

/* ---- actions ---- */

static void agent_unsubscribe(struct agent *a)
{
	struct err err;

	for (uint16_t trap = NOTICE_UNPATH; trap <= NOTICE_REPATH; trap++) {
		if (notice_unsubscribe(a->np, trap, &err))
			log_add(LOG_WARN, "agent", "%s", err.text);
	}
}

static void agent_acknowledge(struct agent *a)
{
	struct phase_notice ack;
	struct err err;

	agent_state_ack(&a->st, &ack);
	/* an agent that forgets that it is on its escape LIDs would leave them in the middle */
	if (!a->saved && a->st.mode == AGENT_ESCAPE) {
		log_add(LOG_ERROR, "agent", "does not acknowledge: it could not save its state");
		return;
	}
	if (ack.flags & NOTICE_ASK && a->st.mode == AGENT_BASE)
		log_add(LOG_INFO, "agent", "asks whether an update is in progress");
	else
		log_add(LOG_INFO, "agent", "answers %s of transaction %" PRIu64 ", question %u: %s",
			phase_name(ack.phase), ack.txn, ack.seq,
			ack.flags & NOTICE_FAILED ? "failed"
			: a->st.mode == AGENT_RECALLED ? "begins in a moment"
			: ack.flags & NOTICE_ASK       ? "what now?"
						  : "done");
	if (notice_send_phase(a->np, &ack, true, &err))
		log_add(LOG_WARN, "agent", "the answer could not be sent: %s", err.text);
}

static const char *agent_why_refused(const struct agent *a)
{
	return a->st.refused.flags & NOTICE_LATER ? "this node has seen a later one"
						  : "a number of it is out of bounds";
}

/* Whoever leads the update is notified; not as often as somebody may ask. */
static void agent_refuse(struct agent *a, const struct notice_in *in)
{
	const struct phase_notice *r = &a->st.refused;
	struct err err;

	a->refused++;
	if (agent_now_ms(a) < a->refuse_ms)
		return;
	a->refuse_ms = agent_now_ms(a) + REFUSE_MS;
	log_add(LOG_WARN, "agent",
		"LID %u says %s: transaction %" PRIu64 ", question %u; refused: %s (transaction "
		"%" PRIu64 ", question %u)%s",
		in->notice.issuer_lid, phase_name(r->phase), r->txn, r->seq, agent_why_refused(a),
		a->st.txn, a->st.seq,
		r->flags & NOTICE_LATER ? "; if that was none of this site's updates: ibroute-top "
					  "agent --forget-transaction"
					: "");
	if (notice_send_phase(a->np, r, true, &err))
		log_add(LOG_WARN, "agent", "the answer could not be sent: %s", err.text);
}

static void agent_perform(struct agent *a, unsigned act)
{
	if (act & AGENT_SAVE)
		agent_save(a);
	if (act & AGENT_CANCEL)
		agent_step_cancel(a);
	if (act & AGENT_DRAIN)
		agent_step_begin(a, STEP_DRAIN);
	if (act & AGENT_MIGRATE)
		agent_step_begin(a, STEP_MIGRATE);
	if (act & AGENT_RETURN)
		agent_step_begin(a, STEP_RETURN);
	if (act & AGENT_ACK)
		agent_acknowledge(a);
	if (act & AGENT_SUBSCRIBE)
		a->subscribe_ms = a->retry_ms = 0;
	if (act & AGENT_UNSUBSCRIBE)
		agent_unsubscribe(a);
	if (act & AGENT_EXIT)
		a->over = true;
}

static void agent_event(struct agent *a, enum agent_event ev)
{
	agent_perform(a, agent_state_step(&a->st, ev));
}

/* One hook may end at once and start the next. */
static void agent_turn_step(struct agent *a)
{
	while (a->step && agent_step_ended(a)) {
		enum agent_step step = a->step;
		bool ok = !a->step_rc;

		if (!ok)
			log_add(LOG_WARN, "agent", "%s of transaction %" PRIu64 " failed: %s",
				agent_step_name(step), a->st.txn, a->why.text);
		a->step = STEP_NONE;
		if (step == STEP_RETURN && !ok)
			agent_step_want(a, AGENT_GOAL_NONE);
		agent_event(a, ok ? AGENT_EV_DONE : AGENT_EV_FAILED);
	}
}

/* ---- the wire ---- */

static void agent_take_notice(struct agent *a, const struct notice_phase *p)
{
	const struct notice_in *in = &p->in;
	const struct phase_notice *n = &p->said;
	unsigned act;

	if (p->rc == -EPROTO && !p->answer)
		log_add(LOG_WARN, "agent",
			"a notice %u from LID %u that this version does not understand",
			in->notice.trap, in->notice.issuer_lid);
	if (p->rc || p->answer)
		return;
	a->st.txn_max = a->o.keys ? 0 : (uint64_t)time(NULL) + DAY_S;
	/* a key that any node's root can read proves little */
	a->st.wary = !a->o.keys || site_keys_may_ask(a->o.keys, 0);
	act = agent_state_notice(&a->st, n);
	if (act & AGENT_REFUSE)
		agent_refuse(a, in);
	if (!act || act & AGENT_REFUSE)
		return;
	a->heard_ms = agent_now_ms(a);
	agent_ask_later(a);
	a->greets = false;
	log_add(LOG_INFO, "agent", "LID %u says %s%s: transaction %" PRIu64 ", question %u",
		in->notice.issuer_lid, phase_name(n->phase),
		n->flags & NOTICE_ABORT ? " (cancelled)" : "", n->txn, n->seq);
	if (act & AGENT_ACK)
		a->go_ms = 0; /* a new one */
	agent_perform(a, act);
}

static int agent_take_notices(struct agent *a, uint32_t wait_ms, struct err *err)
{
	struct notice_phase p;
	int rc = 1;

	for (int k = 0; k < NOTICES_MAX && rc == 1; k++) {
		rc = notice_recv_phase(a->np, &p, k ? 0 : wait_ms * 1000000ull, err);
		if (rc == 1)
			agent_take_notice(a, &p);
	}
	return rc < 0 ? rc : 0;
}

/* What anybody can send is logged once in a while. */
static void agent_tell_strangers(struct agent *a)
{
	const struct notice_stats *s = notice_stats(a->np);
	uint64_t n = s->strangers + s->unsealed + s->forged;

	if (n == a->told || agent_now_ms(a) < a->tell_ms)
		return;
	log_add(LOG_WARN, "agent",
		"ignored since the start: %" PRIu64 " reports that were not the subnet manager's "
		"(last: LID %u), %" PRIu64 " notices without a seal (LID %u), %" PRIu64
		" with one of no key of this site (LID %u)",
		s->strangers, s->stranger_lid, s->unsealed, s->unsealed_lid, s->forged,
		s->forged_lid);
	a->told = n;
	a->tell_ms = agent_now_ms(a) + TELL_MS;
}

/* Told to return, and nobody can prove that it is his to say: whoever leads the update hears of it,
 * and has a moment to stop writing, before packets are on the base LIDs. */
static void agent_recalled(struct agent *a)
{
	uint64_t now = agent_now_ms(a);

	if (a->st.mode != AGENT_RECALLED) {
		a->go_ms = 0;
	} else if (!a->go_ms) {
		a->go_ms = now + RECALL_MS;
		a->word_ms = now + RECALL_MS / 3;
	} else if (now >= a->go_ms) {
		a->go_ms = 0;
		agent_event(a, AGENT_EV_GO);
	} else if (now >= a->word_ms) {
		a->word_ms = a->go_ms;
		agent_event(a, AGENT_EV_TIMEOUT);
	}
}

static void agent_hold(struct agent *a)
{
	uint64_t hold_ms = a->st.hold_s * 1000ull;

	if (hold_ms < a->o.hold_ms)
		hold_ms = a->o.hold_ms;
	if (a->st.mode != AGENT_ESCAPE || agent_now_ms(a) < a->heard_ms + hold_ms)
		return;
	log_add(LOG_WARN, "agent",
		"no message for %" PRIu64 " s: returns from the escape LIDs by itself",
		hold_ms / 1000);
	agent_event(a, AGENT_EV_SAFETY);
}

/* Asks as soon as it can: earlier notices were missed, and a job that starts while tables are
 * written is safe only if it moves to the escape LIDs before its first packet. */
static void agent_greet(struct agent *a)
{
	if (a->greetings)
		return;
	a->greets = true;
	a->greet_ms = agent_now_ms(a);
	a->patience_ms = a->greet_ms + a->o.limit_ms;
}

static void agent_do_greet(struct agent *a)
{
	if (!a->greets || agent_now_ms(a) < a->greet_ms)
		return;
	a->greet_ms += a->o.greet_ms / GREETINGS;
	a->greets = a->greetings++ < GREETINGS;
	if (a->greets)
		agent_event(a, AGENT_EV_NEWS);
}

/* ---- the subnet manager ---- */

/* Once for each sentence, not each try. */
static void agent_sm_trouble(struct agent *a, const struct err *err)
{
	if (strcmp(a->sm_err.text, err->text))
		log_add(LOG_WARN, "agent", "%s", err->text);
	a->sm_err = *err;
}

static void agent_sm_changed(struct agent *a, const char *what)
{
	log_add(LOG_INFO, "agent", "%s: subscribes again", what);
	a->greetings = 0;
	agent_event(a, AGENT_EV_SM);
}

/* Of two subscriptions. */
static bool agent_is_subscribed(struct agent *a)
{
	struct err err;
	int n = notice_subscriptions(a->np, &err);

	return n < 0 || n > 1;
}

/* A restarted SM has lost our subscription.  It asks the port to register again, but only the
 * kernel sees that; we see the activity count start again, requests without a response, and that
 * it does not know us: the count may have passed the old one since. */
static void agent_look_at_sm(struct agent *a)
{
	struct notice_local old = a->local;
	struct err err = { "" };
	struct sm_info sm;
	int rc = notice_port_refresh(a->np, &a->local, &err);

	if (!rc)
		rc = notice_port_sm(a->np, &sm, &err);
	if (rc) {
		agent_sm_trouble(a, &err);
		a->sm_silent = a->sm_known;
		return;
	}
	if (a->sm_known && (old.lid != a->local.lid || old.sm_lid != a->local.sm_lid))
		agent_sm_changed(a, "the LID or the subnet manager of the port has changed");
	else if (a->sm_known && sm.guid != a->sm.guid)
		agent_sm_changed(a, "another subnet manager has taken over");
	else if (a->sm_known && (a->sm_silent || sm.act_count < a->sm.act_count))
		agent_sm_changed(a, "the subnet manager is back");
	else if (a->st.subscribed && a->sm_tells && !agent_is_subscribed(a))
		agent_sm_changed(a, "the subnet manager has been restarted");
	a->sm = sm;
	a->sm_known = true;
	a->sm_silent = false;
}

/* Repeated now and then: it does no harm, and the SM may have lost the subscription. */
static void agent_subscribe(struct agent *a)
{
	bool had = a->st.subscribed;
	struct err err = { "" };
	int rc = notice_subscribe(a->np, NOTICE_UNPATH, &err);

	if (!rc)
		rc = notice_subscribe(a->np, NOTICE_REPATH, &err);
	if (rc) {
		agent_sm_trouble(a, &err);
		a->retry_ms = a->retry_ms ? 2 * a->retry_ms : 500;
		if (a->retry_ms > RETRY_MAX_MS)
			a->retry_ms = RETRY_MAX_MS;
		a->subscribe_ms = agent_now_ms(a) + a->retry_ms;
		return;
	}
	a->sm_err.text[0] = 0;
	a->retry_ms = 0;
	a->subscribe_ms = agent_now_ms(a) + 60000;
	a->sm_tells = agent_is_subscribed(a);
	if (had)
		return;
	log_add(LOG_INFO, "agent", "LID %u: subscribed at the subnet manager at LID %u",
		a->local.lid, a->local.sm_lid);
	agent_event(a, AGENT_EV_SUBSCRIBED);
	/* notices in between were missed */
	if (a->st.mode == AGENT_ESCAPE)
		agent_event(a, AGENT_EV_TIMEOUT);
	agent_greet(a);
}

/* Sooner where there is no SM: it is awaited. */
static void agent_next_poll(struct agent *a)
{
	bool there = a->sm_known && !a->sm_silent;

	a->poll_ms = agent_now_ms(a) +
		     agent_spread(a, there || a->o.poll_ms < 2000 ? a->o.poll_ms : 2000);
}

/* ---- what is due ---- */

static void agent_turn_timers(struct agent *a)
{
	if (agent_now_ms(a) >= a->poll_ms) {
		agent_look_at_sm(a);
		agent_next_poll(a);
	}
	if (a->sm_known && !a->sm_silent && agent_now_ms(a) >= a->subscribe_ms)
		agent_subscribe(a);
	agent_do_greet(a);
	if (agent_now_ms(a) >= a->ask_ms) {
		agent_ask_later(a);
		agent_event(a, AGENT_EV_TIMEOUT);
	}
	agent_recalled(a);
	agent_hold(a);
	agent_tell_strangers(a);
	if (a->forget && a->st.mode == AGENT_BASE && !a->step) {
		a->forget = false;
		agent_event(a, AGENT_EV_FORGET);
	}
}

int agent_forget(struct agent *a, struct err *err)
{
	if (a->st.mode != AGENT_BASE && a->st.mode != AGENT_ESCAPE)
		return err_set(err, -EBUSY, "this node is in mode %s: try again later",
			       agent_mode_name(a->st.mode));
	log_add(LOG_WARN, "agent",
		"told to forget transaction %" PRIu64
		", question %u: the next one counts, whatever "
		"its number%s",
		a->st.txn, a->st.seq,
		a->st.mode == AGENT_ESCAPE ? "; leaves the escape LIDs first" : "");
	a->forget = true;
	if (a->st.mode == AGENT_ESCAPE)
		agent_event(a, AGENT_EV_SAFETY);
	return 0;
}

/* ---- what the socket asks for ---- */

static void agent_on_changed(void *ctx)
{
	agent_save(ctx);
}

static uid_t agent_on_owner(void *ctx, const char *job)
{
	const struct agent_job *j = agent_job_of(ctx, job);

	return j ? j->uid : AGENT_NO_USER;
}

static int agent_on_add_job(void *ctx, const char *job, uid_t uid, struct err *err)
{
	struct agent *a = ctx;
	int rc = agent_add_job(a, job, uid, err);

	if (rc)
		return rc;
	agent_save(a);
	log_add(LOG_INFO, "agent", "job %s starts%s", job,
		a->st.mode == AGENT_BASE
			? ""
			: ": this node is on its escape LIDs; only its clients are told");
	return a->saved ? 0 : err_set(err, -EIO, "the state could not be saved");
}

static int agent_on_end_job(void *ctx, const char *job, struct err *err)
{
	struct agent *a = ctx;
	size_t n = 0;

	if (!agent_has_job(a, job) && !(a->socket && agent_socket_count(a->socket, job)))
		return err_set(err, -ENOENT, "this agent knows no job %s", job);
	for (size_t i = 0; i < a->jobs.n; i++) {
		if (strcmp(a->jobs.v[i].name, job))
			a->jobs.v[n++] = a->jobs.v[i];
	}
	a->jobs.n = n;
	for (size_t i = 0; i < a->hooks.n; i++) {
		if (!strcmp(a->hooks.v[i]->job, job))
			agent_hook_stop(&a->hooks.v[i]->h, agent_now_ms(a));
	}
	agent_socket_forget(a->socket, job);
	log_add(LOG_INFO, "agent", "job %s is over", job);
	return 0;
}

static int agent_on_forget(void *ctx, struct err *err)
{
	return agent_forget(ctx, err);
}

static void agent_print_trust(const struct agent *a, FILE *out)
{
	const struct notice_stats *s = notice_stats(a->np);

	if (a->o.keys)
		fprintf(out, "key %04x\n", site_keys_id(a->o.keys));
	else
		fprintf(out, "key none\n");
	fprintf(out, "refused %" PRIu64 "\nstrangers %" PRIu64 "\n", a->refused, s->strangers);
	fprintf(out, "unsealed %" PRIu64 "\nforged %" PRIu64 "\n", s->unsealed, s->forged);
}

static void agent_on_status(void *ctx, FILE *out)
{
	const struct agent *a = ctx;

	fprintf(out, "lid %u\nsm %u\nsubscribed %s\nmode %s\n", a->local.lid, a->local.sm_lid,
		a->st.subscribed ? "yes" : "no", agent_mode_name(a->st.mode));
	fprintf(out, "transaction %" PRIu64 "\nquestion %u\nescape_offset %u\n", a->st.txn,
		a->st.seq, agent_escape_offset(a));
	agent_print_trust(a, out);
	for (size_t i = 0; i < a->jobs.n; i++)
		fprintf(out, "job %s\n", a->jobs.v[i].name);
	if (a->socket)
		agent_socket_print(a->socket, out);
}

/* ---- life ---- */

/* Two agents on one state file would each believe the other's half. */
static int agent_take_lock(struct agent *a, struct err *err)
{
	char pid[16] = "";
	struct stat st;
	ssize_t n;

	a->lock_path = xasprintf("%s.lock", a->o.state);
	a->lock_fd = open(a->lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (a->lock_fd < 0)
		return err_set(err, -errno, "%s cannot be made: %s", a->lock_path, strerror(errno));
	if (fstat(a->lock_fd, &st) || (st.st_uid && st.st_uid != geteuid()))
		return err_set(
			err, -EPERM,
			"%s belongs to another user: keep the state in a folder of the agent's own",
			a->lock_path);
	if (flock(a->lock_fd, LOCK_EX | LOCK_NB)) {
		n = read(a->lock_fd, pid, sizeof(pid) - 1);
		pid[n > 0 ? strcspn(pid, "\n") : 0] = 0;
		return err_set(err, -EBUSY, "another agent (pid %s) uses %s", *pid ? pid : "?",
			       a->o.state);
	}
	snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
	if (ftruncate(a->lock_fd, 0) || write(a->lock_fd, pid, strlen(pid)) < 0)
		return err_set(err, -EIO, "%s cannot be written: %s", a->lock_path,
			       strerror(errno));
	return 0;
}

static void agent_opts_default(struct agent_opts *o)
{
	o->limit_ms = o->limit_ms ? o->limit_ms : 60000;
	o->hold_ms = o->hold_ms ? o->hold_ms : 900000;
	o->ask_ms = o->ask_ms ? o->ask_ms : 20000;
	o->poll_ms = o->poll_ms ? o->poll_ms : 10000;
	o->greet_ms = o->greet_ms ? o->greet_ms : 300;
}

int agent_open(struct agent **out, struct notice_port *np, const struct agent_opts *opts,
	       struct err *err)
{
	static const struct agent_socket_ops ops = { agent_on_changed, agent_on_add_job,
						     agent_on_end_job, agent_on_status,
						     agent_on_forget,  agent_on_owner };
	struct agent *a = xcalloc(1, sizeof(*a));
	struct mad_local local;
	int rc;

	a->np = np;
	a->o = *opts;
	agent_opts_default(&a->o);
	notice_port_mad(np)->ops->local(notice_port_mad(np)->ctx, &local);
	a->local.port_guid = local.port_guid;
	rng_seed(&a->spread, local.port_guid);
	notice_port_keys(np, a->o.keys);
	if (a->o.keys)
		log_add(LOG_INFO, "agent", "believes notices with the key %04x of this site",
			site_keys_id(a->o.keys));
	else
		log_add(LOG_WARN, "agent",
			"has no key: root of any node of the fabric can forge what this agent is "
			"told (ibroute-top agent --new-key)");
	rc = agent_take_lock(a, err);
	if (!rc && a->o.socket)
		rc = agent_socket_open(&a->socket, a->o.socket, a->o.socket_mode, &ops, a, err);
	if (!rc)
		rc = agent_load(a, err);
	if (!rc && !agent_save(a))
		rc = err_set(err, -EIO, "%s cannot be written", a->o.state);
	if (rc) {
		agent_close(a);
		return rc;
	}
	agent_ask_later(a);
	/* before a hook is started: its environment has the LIDs */
	agent_look_at_sm(a);
	agent_next_poll(a);
	agent_step_want(a, a->st.mode == AGENT_ESCAPE ? AGENT_GOAL_ESCAPE
			   : a->st.mode == AGENT_BASE ? AGENT_GOAL_BASE
						      : AGENT_GOAL_NONE);
	agent_event(a, AGENT_EV_START);
	*out = a;
	return 0;
}

void agent_close(struct agent *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->hooks.n; i++) {
		agent_hook_kill(&a->hooks.v[i]->h);
		free(a->hooks.v[i]);
	}
	vec_free(&a->hooks);
	agent_socket_close(a->socket);
	vec_free(&a->jobs);
	/* the file stays: whoever waits for it holds it open */
	if (a->lock_fd >= 0)
		close(a->lock_fd);
	free(a->lock_path);
	free(a);
}

int agent_turn(struct agent *a, uint32_t wait_ms, struct err *err)
{
	int rc;

	if ((a->step || a->st.mode == AGENT_RECALLED) && wait_ms > BUSY_WAIT_MS)
		wait_ms = BUSY_WAIT_MS;
	rc = agent_take_notices(a, wait_ms, err);
	if (rc)
		return rc;
	if (a->socket)
		agent_socket_turn(a->socket, agent_now_ms(a));
	agent_turn_step(a);
	agent_turn_timers(a);
	agent_turn_step(a);
	a->begun = a->begun || agent_ready(a);
	if (a->o.njobs && !a->jobs.n && !agent_socket_count(a->socket, NULL))
		agent_end(a);
	return 0;
}

void agent_end(struct agent *a)
{
	if (a->over)
		return;
	if (a->st.mode != AGENT_BASE &&
	    (a->jobs.n || (a->socket && agent_socket_count(a->socket, NULL))))
		log_add(LOG_WARN, "agent",
			"exits in mode %s: start it again to bring the queue pairs back",
			agent_mode_name(a->st.mode));
	agent_event(a, AGENT_EV_EXIT);
}

bool agent_over(const struct agent *a)
{
	return a->over;
}

bool agent_ready(const struct agent *a)
{
	bool away = a->o.held && a->st.want == PHASE_UNPATH && a->st.mode != AGENT_ESCAPE;

	if (!a->st.subscribed || a->greets)
		return false;
	return !away || agent_now_ms(a) >= a->patience_ms;
}

const struct agent_state *agent_now(const struct agent *a)
{
	return &a->st;
}

uint16_t agent_lid(const struct agent *a)
{
	return a->local.lid;
}
