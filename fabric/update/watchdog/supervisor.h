/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * supervisor: two processes, each of which replaces the other when it dies.
 *
 * The supervisor starts the worker (which carries out the update, watchdog.h) and starts it again,
 * to roll back from the journal, when it ends without having brought it to an end.  The worker
 * starts a new supervisor when its supervisor dies.  Both are sessions of their own without a
 * terminal, and this program itself, as
 *
 *   ibroute-top --watchdog guard [ID WORKER]     ibroute-top --watchdog worker [ID]
 *
 * with what they need in descriptors that they inherit.  When both die at once it is as if the
 * power had failed: the journal says so, nobody holds its locks.
 */
#pragma once

#include "fabric/base/message/err.h"

#include <stdbool.h>
#include <sys/types.h>

#define GUARD_ARG "--watchdog"

/* Inherited descriptors. */
enum supervisor_fd {
	SUPERVISOR_CONFIG =
		3,	   /* a JSON object with "state_dir", for both; the rest is the worker's */
	SUPERVISOR_PLAN,   /* the plan's file; a recovery does not need it */
	SUPERVISOR_CLIENT, /* connected socket of whoever began it */
	SUPERVISOR_PEER,   /* pidfd of the other one */
	SUPERVISOR_PIPE,   /* worker to supervisor: the transaction's id */
	SUPERVISOR_FDS
};

/* Exit code of a worker that found somebody else at work on the journal. */
#define GUARD_BUSY 75

/* Starts the pair, detached from this process: nothing of it is left to be waited for.  plan and
 * client may be -1.  id: recover that one; NULL: a new update.  The descriptors stay the
 * caller's. */
int supervisor_start(int config, int plan, int client, const char *id, struct err *err);

/* The supervisor's main(); argv[0] is "guard". */
int supervisor_main(int argc, char **argv);

/* The worker's side. */
struct supervisor_link;

/* Of the descriptors that it has inherited. */
struct supervisor_link *supervisor_link_new(const char *base);
int supervisor_fd(const struct supervisor_link *g); /* readable when the supervisor is dead; -1 */
pid_t supervisor_pid(const struct supervisor_link *g); /* 0: none; g may be NULL */
/* What to watch over from now on; once, as soon as there is a journal.  g may be NULL. */
void supervisor_send_id(struct supervisor_link *g, const char *id);
/* Starts another supervisor; a descriptor that becomes readable when it dies, or -errno. */
int supervisor_renew(struct supervisor_link *g);

/* stdout, stderr and the log go to BASE/watchdog.log (and stdin comes from nowhere). */
void supervisor_log(const char *base, const char *who);

/* A file without a name that nobody can write to any more, for SUPERVISOR_CONFIG and
 * SUPERVISOR_PLAN; -errno. */
int supervisor_memory(const char *name, const void *data, size_t len);
