/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * follow: a client of the process that carries out an update.
 *
 * Prints what it does until it is over.  When the connection breaks, the supervisor has started
 * another worker, which is looked for; when nobody is left, the journal says how it stands.
 */
#ifndef CONSOLE_SESSION_UPDATE_FOLLOW_H
#define CONSOLE_SESSION_UPDATE_FOLLOW_H

#include "fabric/base/err.h"
#include "fabric/update/watchdog/control_socket.h"

#include <stdbool.h>
#include <sys/types.h>

enum update_follow_mode {
	FOLLOW_APPLY,  /* began it: asks whether to keep it; a signal rolls back */
	FOLLOW_ATTACH, /* looks on: may be asked; a signal only ends the looking */
	FOLLOW_WAIT,   /* has decided: until it is over */
	FOLLOW_AUTO,   /* began it: keeps it once nothing was found for a while; a signal ends the
			* looking */
};

struct update_follow {
	enum update_follow_mode mode;
	const char *base, *fabric;
	bool no_input;	  /* APPLY: keeps it as soon as all is read back */
	bool detach;	  /* APPLY: goes as soon as the journal is there */
	unsigned quiet_s; /* AUTO: so long must the watch conditions be quiet */

	struct control_link link;
	char id[48]; /* "" until it is known */
	pid_t worker;
	int result; /* exit code, once it is over */
	bool over, waiting, asked;
	bool left;	   /* a signal ended the looking, it goes on */
	uint64_t quiet_ms; /* clock_ms() of the last that was found */
	unsigned confirm_s, failed;
	char text[512]; /* why it was not kept */
};

/* The exit code as of 'apply': 0 kept, 4, 5, 6, 7, ...; for one that was left, or detached from: 0.
 * Closes the link. */
int update_follow_run(struct update_follow *f, struct err *err);

/* Asks one thing of the update's process and follows it to the end with --yes; used when it is
 * live.  -errno: it cannot be asked. */
int update_follow_open(struct update_follow *f, const char *base, const char *id, struct err *err);

#endif
