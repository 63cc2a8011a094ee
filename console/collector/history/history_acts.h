/* SPDX-License-Identifier: GPL-2.0-or-later */
/* history_acts: tables of a history of baselines, updates and the records of sessions: what became
 * of them, also when their files have gone. */
#pragma once

#include "console/collect/acts.h"
#include "console/collector/history/history.h"

/* The same one again is what became of it.  -EIO, -ENOSPC as history_add(). */
int history_put_act(struct history *h, const struct act *a, struct err *err);
/* Those that were begun last, at most HISTORY_ACTS of each kind; acts_put(). */
#define HISTORY_ACTS 200
int history_acts(struct acts **out, struct history *h, struct err *err);
