/* SPDX-License-Identifier: GPL-2.0-or-later */
/* child: a process at the other end of three pipes, which may hang, crash or flood. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct child {
	pid_t pid;    /* 0: none */
	int in;	      /* write end of its stdin; end of file makes the child exit */
	int out, log; /* read ends of its stdout and stderr; they do not block; -1: closed */
};

/* No process and no descriptors. */
void child_init(struct child *c);

/* Starts it in a session of its own, with default signals, no descriptors but the pipes and
 * the environment without LD_PRELOAD.  0 or -errno; then nothing is left open. */
int child_start(struct child *c, const char *path, char *const argv[]);

/* True when it is gone; wstatus as of waitpid().  Never waits. */
bool child_reap(struct child *c, int *wstatus);

/* Kills it, if it lives, and closes everything; waits 100 ms at most. */
void child_end(struct child *c);

void child_close_fd(int *fd); /* closes it and sets it to -1; -1 is fine */
