/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent: the node's side of an update: agent_state driven over a port, with the site's commands and
 * the clients on a socket.
 *
 * One for a node's port, whatever number of jobs runs there: a port has one listener, and the
 * coordinator hears one answer of a LID.  The answer is that all of them did it.
 *
 * Nothing blocks for longer than a request to the SM takes.  One thread.
 */
#pragma once

#include "fabric/agent/agent_owner.h"
#include "fabric/agent/agent_state.h"
#include "fabric/wire/notice_port.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct agent_opts {
	const char *const *jobs; /* none: it runs until it is stopped */
	uint32_t njobs;
	uid_t user; /* whose jobs they are; 0, AGENT_NO_USER: not known */
	bool held; /* they begin when agent_ready() */
	/* Of the shell, run for each job, or once where there is neither a job nor a socket; NULL:
	 * nothing to do.  back NULL: migrate, which sees IBROUTE_PHASE=return. */
	const char *drain, *migrate, *back;
	const char *socket; /* NULL: no clients */
	unsigned socket_mode;
	const char *state; /* file, see agent_save.h */
	struct site_keys *keys; /* the caller's; NULL: everybody is believed */
	uint32_t limit_ms; /* of each hook; 0: 60 s */
	uint32_t hold_ms;  /* silence on the escape LIDs until they are left; 0: 900 s */
	uint32_t ask_ms;   /* of silence, about, until an agent on its escape LIDs asks; 0: 20 s */
	uint32_t poll_ms;  /* between looks at the port and the SM; 0: 10 s */
	uint32_t greet_ms; /* to wait for the answer whether an update is in progress; 0: 300 */
};

struct agent;

/* np is the caller's and outlives the agent.  -EINVAL: the state file is damaged; -EACCES and the
 * like: it or the socket cannot be made; -EBUSY: another agent uses them. */
int agent_open(struct agent **out, struct notice_port *np, const struct agent_opts *opts,
	       struct err *err);
/* Stops running hooks; the next start takes care of their queue pairs.  NULL is fine. */
void agent_close(struct agent *a);

/* Waits wait_ms at most for something to do, and does it.  -errno: the port failed. */
int agent_turn(struct agent *a, uint32_t wait_ms, struct err *err);
/* The job is over, or somebody wants the agent to end: unsubscribes; then agent_over(). */
void agent_end(struct agent *a);

bool agent_over(const struct agent *a);
/* Subscribed to both notices, and has asked whether an update is in progress.  With held also: a
 * job that starts now is safe, because no answer came within greet_ms, the node is on its escape
 * LIDs, all were asked to return, or the time limit of a hook has passed. */
bool agent_ready(const struct agent *a);
/* Earlier transactions count for nothing from now on, after a return from the escape LIDs.
 * -EBUSY: a step is running, or the way back has failed. */
int agent_forget(struct agent *a, struct err *err);
const struct agent_state *agent_now(const struct agent *a);
uint16_t agent_lid(const struct agent *a); /* 0: not yet known */
