/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deadlock_traffic: who sends to whom while tables are tried for deadlocks. */
#pragma once

#include "console/deadlock/deadlock_test.h"
#include "engines/predict/predict.h"
#include "engines/verify/verify.h"
#include "fabric/model/traffic/jobset.h"

#define DEADLOCK_TRAFFIC_HOSTS 2 /* of each switch that send, as in HOTI16 */

/* The paths that make a cycle: for each of its dependencies from the terminal of the witness and
 * others of its switch that send with the same SL, to the same LID. */
void deadlock_traffic_aim(struct deadlock_test *s, const struct tables *t,
			  const struct witness *cycle, uint32_t n);
/* And between terminals, each to `rounds` others, by chance. */
void deadlock_traffic_spread(struct deadlock_test *s, const struct tables *t, unsigned rounds);

/* HOTI16, Sec. VI A: two hosts of each switch, each of which sends to another one, and none
 * receives from two.  If there is a cycle (n not 0), on paths that make busy cycles
 * (busy_cycles.h), else those of that one, as far as there are; by chance otherwise.  Cycles are
 * those of the tables `of`, which route as t does, perhaps on other VLs.  -ECANCELED with a
 * sentence.  Progress step, in switches: "cycles".  O(switches * terminals). */
int deadlock_traffic_pairs(struct deadlock_test *s, const struct tables *t, const struct tables *of,
			   const struct witness *cycle, uint32_t n, struct progress *progress,
			   struct err *err);

/* What the jobs do at one time: each rank to its peers, in an all-to-all to that many, by chance
 * the same for all ranks of a job.  Counts the paths that make the cycle. */
void deadlock_traffic_jobs(struct deadlock_test *s, const struct tables *t, const struct tables *of,
			   const struct jobset *jobs, enum predict_pattern pattern, uint32_t peers,
			   const struct witness *cycle, uint32_t n);
