/* SPDX-License-Identifier: GPL-2.0-or-later */
/* journal_restore: what an update has to undo whose journal is lost (journal.h). */
#pragma once

#include "console/live/live_fabric.h"
#include "fabric/update/journal/journal.h"

/* From OpenSM's plugin, while that still has the update open: its tables from before are the old
 * contents of all blocks that differ in the switches now.  -ENOENT: it has not; err says that
 * giving up is what remains. */
int journal_restore(struct journal *j, struct live *l, const struct live_opts *o, struct err *err);
