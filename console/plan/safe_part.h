/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * safe_part: of a plan that somebody has to drain for, the part that nobody has to drain for.
 *
 * LIDs that need the drain stay as they are installed, LFT entries and SLs; all others get the new
 * ones.  Such a mixture is a routing of its own, and counts only where the judge passes it and its
 * order of writes needs no drain.  Where it does not, or nothing is left, as when the new tables
 * have other SLs for all, the new LFT entries are tried with the installed SLs and SL2VL tables:
 * those of as many LIDs as are found to pass together.
 */
#pragma once

#include "console/plan/route_report.h"

#include <stdint.h>

/* What t has for these LIDs is that of from (stay: by LID, 0 or not); both of f.  The caller owns
 * one reference. */
struct tables *safe_part_tables(const struct fabric *f, const struct tables *t,
				const struct tables *from, const uint8_t *stay);

/* The same but for SLs and SL2VL tables, which are those of from. */
struct tables *safe_part_paths(const struct fabric *f, const struct tables *t,
			       const struct tables *from, const uint8_t *stay);

/* out: a report of the part, with ROUTE_VERIFY, ROUTE_PLAN and ROUTE_ORDER done; *rest: LIDs that
 * stay as installed.  whole: a report with all three, of which the plan needs a drain.  -ENODATA
 * and why, where there is none; -ECANCELED; then there is nothing to be freed. */
int safe_part_find(struct route_report *out, uint32_t *rest, const struct route_report *whole,
		   const struct route_inputs *in, struct progress *progress, struct err *err);
