/* SPDX-License-Identifier: GPL-2.0-or-later */
/* metrics_cuts: a lower bound of the largest effective EFI from many cuts of the fabric. */
#ifndef ENGINES_METRICS_METRICS_CUTS_H
#define ENGINES_METRICS_METRICS_CUTS_H

#include "fabric/model/fabric.h"
#include "fabric/model/jobset.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Whatever set of switches is taken, the routes of a job with one end inside and one outside
 * cross its edge: of n terminals with k inside, k (n - k) in either direction.  With m channels
 * leading out, one of them carries at least the m-th part of the sum over jobs.  The sets
 * tried: for every switch those that grow from it one by one in the order of a breadth-first
 * search, and in that of the switches.
 *
 * use: jobs that count; no two of them may share more than one terminal, so that no pair counts
 * twice.  0 when the fabric is so large that this would take long.
 * Time O(switches * (channels + terminals)).
 */
uint64_t metrics_cuts_bound(const struct fabric *f, const struct jobset *jobs, const bool *use);

#endif
