/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fresh_gap: how far a repaired routing is from a fresh one by the policy's engine, found beside
 * OpenSM, in a thread and a process of its own, after OpenSM has got its tables.
 *
 * Jobs and demands do not count.  Where several are asked for, only the newest is answered.
 */
#pragma once

#include "engines/opensm/policy.h"
#include "engines/opensm/table_selection.h"

struct fresh_gap;

/* say: from the thread.  NULL: no memory. */
struct fresh_gap *fresh_gap_new(const struct table_selection_log *log);
void fresh_gap_free(struct fresh_gap *g); /* ends what runs; NULL is fine */

/* t of f, for which policy chose it.  A NULL g is fine. */
void fresh_gap_ask(struct fresh_gap *g, const struct fabric *f, const struct tables *t,
		   struct policy *policy);
