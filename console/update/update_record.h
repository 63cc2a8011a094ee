/* SPDX-License-Identifier: GPL-2.0-or-later */
/* update_record: the events of an update as lines of the session's record. */
#pragma once

#include "console/record/record.h"
#include "fabric/plan/plan.h"
#include "fabric/update/executor.h"

/* A line that cannot be written is logged; the gate of the next phase then refuses to act. */
void update_record_event(struct record *r, const struct executor_event *ev, const struct fabric *f);
/* As apply_opts.gate: what was recorded is on disk before a phase begins; before a wave, which
 * takes less time than that, that it is whole is enough, as PREPARE or UNPATH has synced the plan.
 */
int update_record_gate(struct record *r, const struct executor_event *ev, struct err *err);
/* apply.begin: nothing but its preparation comes before it.  installer NULL: not known; confirm_s
 * 0: nobody rolls back by the clock. */
void update_record_begin(struct record *r, const struct plan *p, const char *installer,
			 unsigned confirm_s);
/* plan.create: what is planned and on what it stands. */
void update_record_plan(struct record *r, const struct plan *p);
