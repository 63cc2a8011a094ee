/* SPDX-License-Identifier: GPL-2.0-or-later */
/* entry_changes: LFT entries and SLs of some tables that become others, LID by LID. */
#pragma once

#include "fabric/model/tables/tables.h"

#include <stdint.h>

struct entry_change {
	uint32_t sw;
	uint16_t lid;
	uint8_t port_was, port;
	uint8_t sl_was, sl; /* of paths from the ends of the switch */
};

/* Those of a LID follow each other, each switch once.  All zero: none. */
struct entry_changes {
	struct entry_change *list;
	uint32_t n, cap;
};

void entry_changes_add(struct entry_changes *c, struct entry_change one);
void entry_changes_done(struct entry_changes *c);

/* How many of list[first..] have the LID of the first. */
uint32_t entry_changes_run(const struct entry_changes *c, uint32_t first);
/* How many change the LFT, not the SL alone. */
uint32_t entry_changes_entries(const struct entry_changes *c);

/* Into tables of that fabric which hold what was, whose SLs are by switch where any changes. */
void entry_changes_apply(const struct entry_changes *c, struct tables *t);
