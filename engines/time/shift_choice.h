/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shift_choice: which of two routings gives more to traffic of which nothing is known.
 *
 * By all shifts over all hosts (shift_time.h) and effective bisection bandwidth: sync times mean
 * rate times that has to be higher, and none of the three much lower.
 */
#pragma once

#include "fabric/base/message/err.h"
#include "fabric/base/message/progress.h"
#include "fabric/model/tables/tables.h"
#include "fabric/model/topology/fabric.h"

#include <stdbool.h>

/* Is the fabric small enough to try several? */
bool shift_choice_fits(const struct fabric *f);

/* What none of the three may fall below, as a share of what it was. */
#define SHIFT_CHOICE_LITTLE_LESS 0.98
#define SHIFT_CHOICE_NO_LESS	 0.998

/* -ECANCELED. */
int shift_choice_better(bool *better, const struct fabric *f, const struct tables *now,
			const struct tables *other, double least, struct progress *progress,
			struct err *err);
