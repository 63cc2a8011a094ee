/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent_owner: who may speak for a job to the agent: root, the agent's own user, the job's user,
 * and the processes that SLURM has put into the job's cgroup.
 */
#pragma once

#include "fabric/base/message/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define AGENT_NO_USER ((uid_t)-1) /* it is not known whose a job is */

struct agent_caller {
	uid_t uid;
	pid_t pid;	/* 0: not visible from here */
	uint64_t start; /* agent_pid_start() of the process that was let in */
};

/* owner: of the job, or AGENT_NO_USER.  -EPERM with a sentence that says what would help. */
int agent_owner_check(const struct agent_caller *who, const char *job, uid_t owner,
		      struct err *err);
/* text: of /proc/PID/cgroup.  Only where SLURM makes groups, and nobody else can: a user may have a
 * folder of his own there, and call one in it as he likes. */
bool agent_owner_in_cgroup(const char *text, const char *job);
