/* SPDX-License-Identifier: GPL-2.0-or-later */
/* journal_rebuild: head and changes of a damaged journal, from the plan file beside them. */
#pragma once

#include "fabric/plan/change.h"
#include "fabric/update/journal/journal.h"

/* Who has made it is not in a plan: "?".  The caller frees *out, in which no switch is bound.
 * -errno: there is no plan file, or it is damaged, too; then head has only what the id says. */
int journal_rebuild(struct txn_head *head, struct changes **out, const char *dir, const char *id,
		    struct err *err);
