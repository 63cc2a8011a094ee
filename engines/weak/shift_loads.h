/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shift_loads: what shifts over all hosts take (shift_time.h), as a few entries become others.
 *
 * The flows of each shift over each channel are counted once.  What some changes would make of
 * that costs in proportion to the flows that they move.
 */
#pragma once

#include "fabric/base/message/progress.h"
#include "fabric/model/tables/entry_changes.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct shift_loads;

/* Of all shifts, or of that many, evenly.  -ECANCELED; -ENETUNREACH: some host is not reached.
 * 2 bytes for each shift and channel, and as many for each shift and host. */
int shift_loads_new(struct shift_loads **out, const struct fabric *f, const struct tables *t,
		    uint32_t shifts, struct progress *progress);
void shift_loads_free(struct shift_loads *x); /* NULL is fine */

/* Mean over the shifts, each that of its slowest flow; 1 is without contention: 1 / sync. */
double shift_loads_time(const struct shift_loads *x);

/* The same after changes of t, the tables that it was made of, without the flows of hosts on that
 * switch (FAB_NONE: of none).  Nothing is changed. */
double shift_loads_try(struct shift_loads *x, const struct tables *t,
		       const struct entry_changes *changes, uint32_t sw_gone);
