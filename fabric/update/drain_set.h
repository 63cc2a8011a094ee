/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drain_set: which jobs' agents an update asks to drain: those that its plan wants, and those of
 * jobs that begin meanwhile.
 */
#ifndef FABRIC_UPDATE_DRAIN_SET_H
#define FABRIC_UPDATE_DRAIN_SET_H

#include <stdbool.h>

struct transaction;

bool drain_set_gather(struct transaction *t);  /* false: refused, and said why */
bool drain_set_begin(struct transaction *t);   /* once the journal is there; false: said why */
void drain_set_recover(struct transaction *t); /* as the journal says */
/* Looks at jobs that began since: their agents join, or they are named.  Before each wave, before
 * the agents are called back, and twice on the way back; while it waits for the operator they are
 * only named, those that the batch system told of too late.  false: it is not to go on, and said
 * why. */
bool drain_set_late_jobs(struct transaction *t);

#endif
