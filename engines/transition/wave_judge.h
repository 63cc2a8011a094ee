/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wave_judge: is an order of writes safe, whoever has found it?
 *
 * By the model of transition.h, but nothing is searched: in each wave each entry that it writes is
 * old or new at each switch on its own, and neither a loop, nor a cycle of dependencies that the
 * old tables do not have, nor a loss that neither tables have may come of any mixture.
 */
#pragma once

#include "engines/transition/transition.h"
#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>

/* Of t the writes and their waves count; together they lead from old to new, both of f, as bits of
 * entries that differ.  drained: by LID, to whom nothing is sent from before the first wave until
 * after the last.  0: safe; -EPROTO and why it is not; -ECANCELED.  Progress step: "write order",
 * LIDs of all waves.  O(LIDs * switches * SLs) for the first wave, for others of the LIDs that
 * change in them. */
int wave_judge(const struct fabric *f, const struct tables *old, const struct tables *new,
	       const struct transition *t, const bool *drained, struct progress *progress,
	       struct err *err);
