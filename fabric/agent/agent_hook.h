/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent_hook: a command of the site, run by the shell in a process group of its own.
 *
 * A small process in between kills the whole group when the agent ends for any reason: a hook
 * never outlives its agent.  Its output goes to the log.
 */
#pragma once

#include "fabric/base/message/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define AGENT_HOOK_GRACE_MS 2000 /* between SIGTERM and SIGKILL */

struct agent_hook {
	pid_t pid;	  /* of the process between; 0: none */
	int life, out;	  /* its end of file ends the hook; what the hook prints, -1: closed */
	const char *area; /* of lines in the log: "agent" until somebody sets another */
	char what[100];	  /* for the log: "drain of job 42" */
	uint64_t end_ms;  /* SIGTERM then */
	uint64_t kill_ms; /* when to send SIGKILL; 0: SIGTERM not sent yet */
	bool late;	  /* it was the time that ended it */
	char line[256];
	uint32_t nline, lines;
};

/* More of the environment: "NAME=value" strings, ended by NULL. */
int agent_hook_start(struct agent_hook *h, const char *command, const char *const *env,
		     const char *what, uint64_t now_ms, uint32_t limit_ms, struct err *err);
/* Looks after it: output, limits.  True when it is over: *rc 0, or -errno with the reason. */
bool agent_hook_turn(struct agent_hook *h, uint64_t now_ms, int *rc, struct err *err);
/* It is not wanted any more: SIGTERM now, SIGKILL later.  Its end is to be waited for. */
void agent_hook_stop(struct agent_hook *h, uint64_t now_ms);
/* Kills it and waits for its end. */
void agent_hook_kill(struct agent_hook *h);
