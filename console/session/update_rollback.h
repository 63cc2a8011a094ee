/* SPDX-License-Identifier: GPL-2.0-or-later */
/* update_rollback: the way back of an update, run from the command line: recorded, shown as lines. */
#ifndef CONSOLE_SESSION_UPDATE_ROLLBACK_H
#define CONSOLE_SESSION_UPDATE_ROLLBACK_H

#include "console/record/record.h"
#include "console/session/agents.h"
#include "console/session/foreign_tables.h"
#include "console/session/live_install.h"
#include "fabric/update/executor.h"

#include <stdbool.h>

struct txn {
	struct live *live;
	struct record *record;
	const struct live_opts *opts;
	struct live_install way;
	struct apply_opts o;
	struct apply *a; /* owned */
	struct agents agents;
	struct theirs theirs;
	bool no_record;	 /* it was the record that could not be written */
	uint32_t failed; /* blocks said to have failed so far */
};

/* Opens the record (mode "rw") and takes over SIGINT, SIGTERM and SIGHUP, which do not stop it. */
int txn_open(struct txn *t, struct live *l, const struct live_opts *o, struct err *err);
/* Sets t->a up for a journal that was left behind (taken over in any case).  Fails as
 * live_install_open(). */
int txn_recover(struct txn *t, struct journal *j, struct err *err);
/* A line of the record; a failure is only logged. */
void txn_note(struct txn *t, const char *type, json_t *data);
/* The exit code for how it ended. */
int txn_exit(const struct txn *t);
void txn_close(struct txn *t);

#endif
