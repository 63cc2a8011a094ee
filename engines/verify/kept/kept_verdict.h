/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kept_verdict: the verdict on tables, kept up while a few of their entries change and cables go
 * and come back, in proportion to what changes.
 *
 * It is made by a pass over all paths that judges them as verify_tables() does; both agree in all
 * figures.  What is not accepted is not explained here: verify_tables() does that.
 */
#pragma once

#include "engines/verify/verify.h"
#include "fabric/model/tables/entry_changes.h"

struct kept_verdict;

/*
 * Of all LIDs, or of those of terminals alone.  -EDOM: the tables are not accepted; -ENOTSUP: SLs
 * are by source, or there are too many; -EAGAIN, -EINVAL, -ECANCELED as of verify_tables().
 * Progress step: "verify".  Takes 4 bytes for each turn and SL in use.
 */
int kept_verdict_new(struct kept_verdict **out, const struct fabric *f, const struct tables *t,
		     bool terminals_only, struct progress *progress, struct err *err);
void kept_verdict_free(struct kept_verdict *k); /* NULL is fine */

/*
 * Those tables are t now, by these changes and no others, and the cables are down as down says (by
 * channel of the fabric).  A switch whose cables are all down is gone, with its ends.  False: they
 * are not accepted, and it has to be made again when they are again.  The figures are those of
 * kept_verdict_get() then.
 */
bool kept_verdict_update(struct kept_verdict *k, const struct tables *t, const bool *down,
			 const struct entry_changes *changes);

/* Of tables that are accepted: as of verify_tables(), without order, limits and pinned routes; of
 * others: what they lack as far as it was looked, and no figures. */
void kept_verdict_get(const struct kept_verdict *k, struct verdict *out);
