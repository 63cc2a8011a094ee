/* SPDX-License-Identifier: GPL-2.0-or-later */
/* moved_entries: entries that are not what they were in the beginning, and what they were then. */
#pragma once

#include "fabric/model/tables/entry_changes.h"

#include <stdint.h>

struct moved_entries {
	/* by LID, then switch; port_was, sl_was: in the beginning; port, sl: now */
	struct entry_change *list;
	uint32_t n;
};

/* All of the changes from the first on happened, in their order. */
void moved_entries_add(struct moved_entries *m, const struct entry_changes *c, uint32_t first);
void moved_entries_done(struct moved_entries *m);
