/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * quality_jobs: jobs that fill a net.
 *
 * random (2 to 20 nodes, at random), heavy-tailed (from 2 to a quarter of all, few of them large,
 * at random), contiguous (2 to 30, in the order of their names), sparse (many small jobs and few
 * large ones come and go, up to 60 % of the nodes; each takes the first free ones in the order of
 * names).
 */
#pragma once

#include "fabric/model/topology/fabric.h"
#include "fabric/model/traffic/jobset.h"

#define PLACEMENTS 4

enum placement { RANDOM, HEAVY, CONTIGUOUS, SPARSE };

extern const char *const quality_placements[PLACEMENTS];

/* Others for each draw. */
struct jobset *quality_place_jobs(const struct fabric *f, enum placement how, uint64_t draw);
/* Warns of hosts without names of their own: jobs are lists of names. */
void quality_check_names(const char *net, const struct fabric *f);
