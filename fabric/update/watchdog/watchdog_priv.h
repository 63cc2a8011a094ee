/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watchdog_priv: what the parts of the watchdog share; only for watchdog*.c. */
#ifndef FABRIC_UPDATE_WATCHDOG_WATCHDOG_PRIV_H
#define FABRIC_UPDATE_WATCHDOG_WATCHDOG_PRIV_H

#include "fabric/update/watchdog/control_socket.h"
#include "fabric/update/watchdog/watchdog.h"

#include <pthread.h>
#include <stdbool.h>

enum decision { DECIDE_NOTHING, DECIDE_CONFIRM, DECIDE_ROLLBACK };

struct watchdog {
	struct watchdog_opts o;
	struct control *control;
	const struct watchdog_job *job;
	struct watch *watch;
	char *dir; /* of the journal; NULL: not there yet */
	int plan_rc;
	enum coord_why why; /* it was not kept; WHY_NONE: not over, or kept */
	uint64_t progress_ms, sm_ms;

	pthread_mutex_t lock; /* of all below */
	struct executor *a;
	enum decision decision;
	bool waiting, over;
	uint64_t deadline_ms; /* by boot_ms() */
	unsigned overridden;  /* bits of enum watch_what, not yet taken off the watch */
	char step[64];
	struct recovery_scan scan;
	bool scanned;
	char seen[WATCHES][200];
	bool on[WATCHES];
	uint32_t looks[WATCHES];
};

/* To all who follow; takes event.  keep: also those who come later are to be told. */
void watchdog_tell(struct watchdog *d, json_t *event, bool keep);
/* The same, kept, with that text, and into the log. */
void watchdog_note(struct watchdog *d, const char *kind, const char *text);
/* A line of the record, with the update's id once it has one; takes data. */
void watchdog_record(struct watchdog *d, const char *type, json_t *data);

/* What the control socket calls, from its own thread: the answer to a request. */
json_t *watchdog_asked(void *ctx, const struct control_request *r, const struct control_peer *who);

#endif
