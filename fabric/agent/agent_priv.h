/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of an agent share. */
#ifndef FABRIC_AGENT_AGENT_PRIV_H
#define FABRIC_AGENT_AGENT_PRIV_H

#include "fabric/agent/agent.h"
#include "fabric/agent/agent_hook.h"
#include "fabric/agent/agent_save.h"
#include "fabric/agent/agent_socket.h"
#include "fabric/base/vec.h"
#include "fabric/ib/codec.h"

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

	/* the hook under way */
	enum agent_step step;
	VEC(struct job_hook *) hooks;
	uint64_t step_end_ms;
	int step_rc;
	struct err why; /* of step_rc */

	/* the SM */
	struct notice_local local;
	struct sm_info sm;
	bool sm_known, sm_silent;
	uint64_t poll_ms, subscribe_ms, again_ms, retry_ms, ask_ms;
	struct err sm_err; /* said last */

	/* the question whether an update is under way */
	bool greets;
	uint32_t greetings;   /* how often it was asked */
	uint64_t greet_ms;    /* when next */
	uint64_t patience_ms; /* with a drain that was under way: until then it is not ready */
	bool begun;	      /* was ready */

	uint64_t heard_ms;
	bool saved; /* the last save was written */
	bool over;
};

/* agent.c */
uint64_t agent_now_ms(const struct agent *a);
bool agent_has_job(const struct agent *a, const char *name);
void agent_event(struct agent *a, enum agent_event ev);
void agent_greet(struct agent *a);

/* agent_step.c: the commands of all jobs, and the clients */
const char *agent_step_name(enum agent_step step); /* "drain", ... */
uint32_t agent_escape_offset(const struct agent *a);
void agent_step_begin(struct agent *a, enum agent_step step);
/* Where the clients are to be. */
void agent_step_want(struct agent *a, enum agent_goal goal);
void agent_step_hurry(struct agent *a); /* it is not wanted any more */
bool agent_step_ended(struct agent *a); /* does what is to be done now; step_rc: how */

/* agent_sm.c */
void agent_look_at_sm(struct agent *a);
void agent_next_poll(struct agent *a);
void agent_subscribe(struct agent *a);
void agent_unsubscribe(struct agent *a);

#endif
