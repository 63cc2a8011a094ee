/* SPDX-License-Identifier: GPL-2.0-or-later */
/* update_rollback: the way back of an update, run from the command line: recorded, shown as lines.
 */
#pragma once

#include "console/live/agents.h"
#include "console/live/foreign_tables.h"
#include "console/live/live_install.h"
#include "console/record/record.h"
#include "fabric/update/executor.h"
#include "fabric/update/installer/sm_lock.h"

#include <stdbool.h>

struct update_rollback {
	struct live *live;
	struct record *record;
	const struct live_opts *opts;
	struct live_install way;
	struct executor_opts o;
	struct executor *a; /* owned */
	struct agents agents;
	struct foreign_tables theirs;
	struct sm_lock lock;
	bool without_lock;
	bool no_record;	 /* it was the record that could not be written */
	uint32_t failed; /* blocks said to have failed so far */
};

/* Opens the record (mode "rw") and takes over SIGINT, SIGTERM and SIGHUP, which do not stop it. */
int update_rollback_open(struct update_rollback *t, struct live *l, const struct live_opts *o,
			 struct err *err);
/* Sets t->a up for a journal that was left behind (taken over in any case).  Fails as
 * live_install_open(). */
int update_rollback_recover(struct update_rollback *t, struct journal *j, struct err *err);
void update_rollback_close(struct update_rollback *t);
