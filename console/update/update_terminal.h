/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * update_terminal: an update at the command line.
 *
 * Prints what its process does until it is over, and asks at a terminal whether to keep it.
 */
#pragma once

#include "console/update/update_client.h"
#include "fabric/base/message/err.h"
#include "fabric/plan/file/plan_bytes.h"

#include <stdbool.h>

enum update_terminal_mode {
	UPDATE_APPLY,  /* began it: asks whether to keep it; a signal rolls back */
	UPDATE_ATTACH, /* looks on: may be asked; a signal only ends the looking */
	UPDATE_WAIT,   /* has decided: until it is over */
	UPDATE_AUTO,   /* began it: keeps it once nothing was found for a while; a signal ends the
			* looking */
};

struct update_terminal {
	enum update_terminal_mode mode;
	const char *fabric;
	bool no_input;	  /* APPLY: keeps it as soon as all is read back */
	bool detach;	  /* APPLY: goes as soon as the journal is there */
	unsigned quiet_s; /* AUTO: so long must the watch conditions be quiet */

	struct update_client client;
	struct update_end end; /* once it is over */
	bool asked;
	bool left; /* a signal ended the looking, it goes on */
	unsigned failed;
};

/* base: of the journals.  What is above the client has been set. */
void update_terminal_init(struct update_terminal *t, const char *base);
/* Follows what the client has started or opened.  The exit code as of apply: 0 kept, 4, 5, 6, 7,
 * ...; for one that was left, or detached from: 0. */
int update_terminal_run(struct update_terminal *t, struct err *err);
/* Starts the plan in that file and follows it. */
int update_terminal_apply(struct update_terminal *t, const struct watchdog_config *config,
			  const struct plan_bytes *plan, struct err *err);
void update_terminal_close(struct update_terminal *t);
