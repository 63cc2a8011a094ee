/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exclusion_lead: installed tables led around cables that are not to be used any more. */
#pragma once

#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

/*
 * A copy of t, in which paths over channels that f does not have are replaced: switches from which
 * t leads to the LID all the same keep their entries, the others go to a switch nearer to the
 * LID's, on the way whose fullest channel carries the fewest routes.  f: fabric_without() of that
 * of the tables, or any of the same switches, ends and LIDs; tables of another fabric come back
 * as they are, and so do LIDs that do not end where they belong.  The caller owns one reference.
 * Time O(LIDs * nsw * hops), and O(nchan * hops) for every LID that is led elsewhere.
 */
struct tables *exclusion_lead(const struct tables *t, const struct fabric *f);
