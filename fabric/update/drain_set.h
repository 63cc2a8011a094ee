/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drain_set: the jobs whose agents an update asks to drain: those of its plan, and jobs that
 * start during the update.
 */
#pragma once

#include <stdbool.h>

struct transaction;

bool drain_set_gather(struct transaction *t);  /* false: refused, and said why */
bool drain_set_begin(struct transaction *t);   /* once the journal is there; false: said why */
void drain_set_recover(struct transaction *t); /* as the journal says */
/* Handles jobs that have started since: their agents join, or the jobs are reported.  Called
 * before each wave, before the agents return, and twice in a rollback; while it waits for the
 * operator, jobs that the batch system listed too late are only reported. false: the update must
 * stop, and the reason was set. */
bool drain_set_late_jobs(struct transaction *t);
