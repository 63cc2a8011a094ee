/* SPDX-License-Identifier: GPL-2.0-or-later */
/* update_figures: what a plan changes, in figures and as a matrix of links, for the record. */
#pragma once

#include "console/record/record.h"
#include "fabric/plan/plan.h"
#include "fabric/update/journal/journal.h"

#include <jansson.h>

#define FIGURES_CELLS 64 /* rows and columns of the matrix at most: more share a cell */

/* {"plan","jobs","before":{..},"after":{..},"heat":{"title","metric","rows","cols","before","after"}};
 * a cell is the worst of its links, null without any.  NULL when the plan's tables have no
 * figures.  Costs two metrics_compute(). */
json_t *update_figures(const struct plan *p);
/* What they say of the time of jobs; all zero where that is not known. */
struct txn_gain update_figures_gain(const json_t *figures);
/* They as a line plan.figures, and their gain. */
void update_record_figures(struct record *r, const struct plan *p, struct txn_gain *gain);
