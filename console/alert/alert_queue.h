/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alert_queue: alerts on their way out, one at a time by a thread of its own, so that nobody waits
 * for a command or a server that takes long.
 *
 * Where they come faster than they go, the newest are dropped, and one that is delivered in their
 * place says how many.  What cannot be delivered is told in the log, once until it works again.
 */
#pragma once

#include "console/alert/alert.h"
#include "fabric/base/message/err.h"

#include <stdbool.h>
#include <stdint.h>

#define ALERT_QUEUE 256 /* alerts that wait */

struct alert_queue;

struct alert_sink {
	const char *name; /* for messages: "event command" */
	/* 0, or -errno with the reason.  Ends early where alert_queue_ended() says so. */
	int (*deliver)(void *ctx, const struct alert_queue *q, const struct alert *a,
		       struct err *err);
	void *ctx;
};

struct alert_queue *alert_queue_new(const struct alert_sink *sink);
/* Never waits. */
void alert_queue_put(struct alert_queue *q, const struct alert *a);
/* Delivers what waits for at most so long, and tells how many are left.  NULL is fine. */
void alert_queue_free(struct alert_queue *q, uint64_t wait_ms);
/* For deliver(): nobody waits any more. */
bool alert_queue_ended(const struct alert_queue *q);
