/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shift_choice: which of two routings gives more to traffic of which nothing is known.
 *
 * By all shifts over all hosts (shift_time.h) and effective bisection bandwidth: sync times mean
 * rate times that has to be higher, and none of the three notably lower.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>

/* Is the fabric small enough to try several? */
bool shift_choice_fits(const struct fabric *f);

/* -ECANCELED. */
int shift_choice_better(bool *better, const struct fabric *f, const struct tables *now,
			const struct tables *other, struct progress *progress, struct err *err);
