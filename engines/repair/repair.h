/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * repair: the installed tables of a fabric in which something has failed, come or moved, with new
 * paths for those alone that do not arrive any more.
 *
 * Paths that still arrive keep their entries, SLs and VLs.  New ones are free of deadlocks beside
 * them: on the SLs and VLs that are installed, else on one VL more, else by moving the other
 * paths to the same LID; where not even that does, or the installed paths are on VLs that may not
 * be used, SLs are assigned again, as few as possible, and where these are not enough the engine
 * says so.  Without installed tables nue routes.  Where nothing is broken, and params->sar_change
 * says how much may change, entries move towards even loads (refill.h).  Notes "entries_changed"
 * and "entries_needed" (needed_entries.h).
 */
#pragma once

#include "engines/engine.h"

extern const struct engine engine_repair;

/* How many VLs a repair may use where a policy allows new routes so many (0: what the cables
 * offer): also those that the installed paths are on, as far as all cables offer them.  To leave
 * them would change the SLs of paths that stand. */
unsigned repair_vls(const struct fabric *f, const struct tables *installed, unsigned vls);
