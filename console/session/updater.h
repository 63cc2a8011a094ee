/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * updater: the seam between the console and whoever carries out its updates: a watchdog process
 * on a real fabric, the poller's thread on a simulated one, which is in this process only.
 *
 * Both report by MSG_APPLY_EVENT, and by one MSG_APPLY_END when it waits for a decision and one
 * when it is over.  None of the functions blocks.
 */
#ifndef CONSOLE_SESSION_UPDATER_H
#define CONSOLE_SESSION_UPDATER_H

#include "console/session/message.h"
#include "console/session/watchdog_config.h"
#include "fabric/model/jobset.h"
#include "fabric/plan/plan.h"

#include <stdbool.h>

struct updater_ops {
	void (*apply)(void *ctx, struct plan *plan, const struct jobset *jobs); /* takes plan */
	void (*jobs)(void *ctx, const struct jobset *jobs); /* that run now, for staleness */
	void (*confirm)(void *ctx);
	/* So long from now; NULL: the console keeps the deadline itself. */
	void (*extend)(void *ctx, uint32_t seconds);
	/* Watch conditions are looked at no more (bits); NULL: nothing is watched. */
	void (*override)(void *ctx, unsigned watches);
	void (*rollback)(void *ctx);
	void (*recover)(void *ctx, const char *txn); /* a journal left behind */
	void (*cancel)(void *ctx);		     /* what is being written rolls back */
	bool (*busy)(void *ctx);		     /* an update is under way or waits */
	void (*free)(void *ctx);		     /* the update goes on, if that is a process */
	const char *name;			     /* "watchdog" or "poller" */
};

struct updater {
	const struct updater_ops *ops;
	void *ctx;
};

/* Updates by watchdog processes; config and box must outlive it. */
struct updater update_link_new(const struct watchdog_config *config, struct mailbox *box);

#endif
