/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify_columns: switches' own LIDs to which all traffic goes as to a terminal on the same switch.
 *
 * Engines write them so, and then they bring no turn that the terminal's LID does not bring.  That
 * is compared here, entry by entry.
 */
#pragma once

#include "fabric/base/message/progress.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

struct equal_columns {
	uint16_t *of; /* by switch: the LID that its own is like, or 0 */
};

/* True when cancelled.  O(switches ^ 2). */
bool equal_columns_init(struct equal_columns *x, const struct fabric *f, const struct tables *t,
			struct progress *progress);
void equal_columns_done(struct equal_columns *x);

/* The LID of a terminal on the same switch that all others reach alike, if that LID is of a switch;
 * 0: there is none. */
static inline uint32_t equal_columns_find(const struct equal_columns *x, const struct fabric *f,
					  uint32_t lid)
{
	uint32_t end = fabric_lid_end(f, lid);

	return end != FAB_NONE && end >= f->nend ? x->of[end - f->nend] : 0;
}
