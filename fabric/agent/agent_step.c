/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a question makes an agent do: the commands of all jobs, and the clients. */
#include "fabric/agent/agent_priv.h"

#include "fabric/base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define ENV_TEXT 96

const char *agent_step_name(enum agent_step step)
{
	static const char *const name[] = { "", "drain", "migrate", "return" };

	return name[step];
}

uint32_t agent_escape_offset(const struct agent *a)
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

__attribute__((format(printf, 2, 3))) static void step_fails(struct agent *a, const char *fmt, ...)
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
	step_fails(a, "%s", err.text);
}

/* A job that was named is there to be drained: when nobody can, that is no success.  One without
 * queue pairs yet has no process that could say so; unless it has not begun. */
static void agent_check_jobs(struct agent *a)
{
	if (a->o.drain || a->o.migrate || (a->o.held && !a->begun))
		return;
	for (size_t i = 0; i < a->jobs.n; i++) {
		if (!a->socket || !agent_socket_count(a->socket, a->jobs.v[i].name))
			step_fails(a,
				   "job %s has neither a command nor a client that could drain it",
				   a->jobs.v[i].name);
	}
}

static void agent_check_escape(struct agent *a)
{
	if (!agent_escape_offset(a) &&
	    (a->o.migrate || (a->socket && agent_socket_count(a->socket, NULL))))
		step_fails(a, "the port has an LMC of 0, so there are no escape LIDs to go to");
}

void agent_step_want(struct agent *a, enum agent_goal goal)
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

void agent_step_begin(struct agent *a, enum agent_step step)
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
		step_fails(a, "the state could not be saved, so nothing was begun");
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

void agent_step_hurry(struct agent *a)
{
	step_fails(a, "it is not wanted any more");
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
		/* of a job that ended meanwhile there is nothing left to do */
		if (rc && (!*h->job || agent_has_job(a, h->job)))
			step_fails(a, "%s", err.text);
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
		step_fails(a, "%s after %u s", err.text, agent_limit_s(a));
	else if (rc)
		step_fails(a, "%s", err.text);
	return true;
}

/* On the way back all are waited for; on the way out nobody is, once one has failed. */
bool agent_step_ended(struct agent *a)
{
	bool clients;

	agent_turn_commands(a);
	clients = a->step_rc && a->step != STEP_RETURN ? true : agent_clients_end(a);
	if (a->step_rc && a->step != STEP_RETURN)
		agent_stop_commands(a);
	return clients && !a->hooks.n;
}
