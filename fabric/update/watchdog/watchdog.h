/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watchdog: the process that carries out an update, whoever has asked for it.
 *
 * It holds the journal's lock, the old tables and the deadline, and serves the control socket
 * (control_socket.h); those who ask and watch may come and go.  What nobody confirms in time, and
 * what a watch condition (watch_conditions.h) objects to, it rolls back.  supervisor.h keeps it
 * alive.
 *
 * One thread carries out and waits; the control socket has its own.
 */
#pragma once

#include "fabric/update/executor.h"
#include "fabric/update/watchdog/watch_conditions.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#define WATCHDOG_CONFIRM_S 300	  /* until somebody confirms */
#define WATCHDOG_GONE	   "the simulated fabric is gone: there is nothing to roll back"

struct supervisor_link;
struct watchdog;

struct watchdog_opts {
	const char *base;   /* of the journals; NULL: the default */
	uint32_t confirm_s; /* 0: WATCHDOG_CONFIRM_S */
	int client;	    /* a connected socket that follows from the start; -1: none */
	struct supervisor_link *supervisor; /* NULL: none, as in tests */
};

/* Starts to serve; SIGUSR1 confirms, SIGINT and SIGTERM roll back, SIGHUP and SIGPIPE are
 * ignored from now on. */
int watchdog_new(struct watchdog **out, const struct watchdog_opts *o, struct err *err);

/* What it does before there is an update, for those who follow. */
void watchdog_step(struct watchdog *d, const char *text);
/* The name of the installer that writes. */
void watchdog_installer(struct watchdog *d, const char *installer);

struct watchdog_job {
	const struct plan *plan; /* NULL: recover */
	struct journal *journal; /* of the recovery; taken */
	const struct fabric *fabric;
	struct wire *wire; /* NULL: nothing is watched */
	const struct installer *in;
	struct executor_opts apply; /* base is set from the options; hooks are called as well */
	struct watch_opts watch;
	const void *file; /* the plan as a file, into the journal; may be NULL */
	size_t file_len;
	/* Has the fabric ceased to exist, as a simulated one does with the program that has it?
	 * Then the update is given up (WATCHDOG_GONE).  May be NULL: it has not. */
	bool (*gone)(void *ctx);
	/* A decision or a finding for the record; takes data.  May be NULL. */
	void (*note)(void *ctx, const char *type, json_t *data);
};

/* Runs to the end and returns the exit code; err says why it was not kept. */
int watchdog_run(struct watchdog *d, const struct watchdog_job *job, enum outcome *outcome,
		 struct err *err);

/* Why the update of watchdog_run() was not kept, WHY_NONE when it was. */
enum coord_why watchdog_why(const struct watchdog *d);

/* The last event, then the socket goes. outcome OUTCOME_NONE: no update took place. user: whose
 * terminals get a message, and root's; NULL: none. */
void watchdog_end(struct watchdog *d, int exit_code, enum outcome outcome, const char *user,
		  const char *text);
