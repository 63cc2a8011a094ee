/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * update_thread: the console's updates, one at a time, each followed by a thread.
 *
 * What the update's process tells becomes MSG_APPLY_EVENT and its like, after MSG_APPLY_JOURNAL
 * with what it writes, one MSG_APPLY_END when it waits for a decision and one when it is over. None
 * of the functions blocks.
 */
#pragma once

#include "console/session/message.h"
#include "console/update/watchdog_config.h"
#include "fabric/plan/plan.h"

#include <stdbool.h>
#include <stdint.h>

struct record;
struct update_thread;

/* config and box must outlive it. */
struct update_thread *update_thread_new(const struct watchdog_config *config, struct mailbox *box);
/* An update that is under way goes on.  NULL is fine. */
void update_thread_free(struct update_thread *u);

/* Takes the plan.  jobs_known: the plan's are those that run now, and must not change meanwhile.
 * record: it is on disk before anything begins, or the update is refused; NULL: there is none. */
void update_thread_apply(struct update_thread *u, struct plan *plan, bool jobs_known,
			 struct record *record);
void update_thread_recover(struct update_thread *u, const char *txn); /* a journal left behind */
void update_thread_confirm(struct update_thread *u);
void update_thread_extend(struct update_thread *u, uint32_t seconds); /* so long from now */
/* Watch conditions are looked at no more: bits of enum watch_what. */
void update_thread_override(struct update_thread *u, unsigned watches);
/* What is being written, or waits; after its end, what was not complete is tried again. */
void update_thread_rollback(struct update_thread *u);
/* How long it waits to be confirmed, or since its watch conditions found something. */
double update_thread_quiet_s(const struct update_thread *u);
/* An update is under way or waits.  NULL: none can be. */
bool update_thread_busy(struct update_thread *u);
