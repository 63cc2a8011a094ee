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

struct shift_figures {
	double sync, rate; /* of all shifts */
	double ebb;
};

/* -ECANCELED. */
int shift_choice_judge(struct shift_figures *out, const struct fabric *f, const struct tables *t,
		       struct progress *progress, struct err *err);

/* Off trees channels may get so many more routes than the fullest had (shift_search.h): a
 * dragonfly's channel between two groups has all flows of some shifts, unless others lead over a
 * third one. */
#define SHIFT_CHOICE_FULLER_PCT 30
/* What bisections may lose off trees. */
#define SHIFT_CHOICE_EBB_OFF_TREES 0.94

/* The product of b over that of a; 0 where a figure is lower than it may be, as in the next. */
double shift_figures_gain(const struct shift_figures *a, const struct shift_figures *b,
			  double least, double ebb);

/* Has b the higher product, neither shift figure below least, and no bisection below ebb, of those
 * of a? */
bool shift_figures_better(const struct shift_figures *a, const struct shift_figures *b,
			  double least, double ebb);

/* By how much b is worth more than a, as a factor, where paths may get longer: a hundredth of
 * bisections as much as that many of shifts, which gain by emptier channels that all other traffic
 * pays for.  0 where one of the two shift figures is much lower. */
double shift_figures_worth(const struct shift_figures *a, const struct shift_figures *b,
			   unsigned ebb);

/* -ECANCELED. */
int shift_choice_better(bool *better, const struct fabric *f, const struct tables *now,
			const struct tables *other, double least, struct progress *progress,
			struct err *err);
