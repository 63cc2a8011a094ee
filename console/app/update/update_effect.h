/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * update_effect: whether an update has helped: what jobs sent on the routing before it and what
 * they send since, as means over some samples, beside what the preview has foretold.
 */
#pragma once

#include "engines/time/job_time_changes.h"
#include "fabric/model/traffic/jobset.h"

#include <stdbool.h>
#include <stddef.h>

#define EFFECT_SAMPLES 30 /* of each side, the newest */
#define EFFECT_JOBS    16 /* that suffer most, beside the slowest */

struct update_effect;

struct update_effect *update_effect_new(void);
void update_effect_free(struct update_effect *x); /* NULL is fine */

/* What each job sends on the routing that is installed now; NAN unknown. */
void update_effect_sample(struct update_effect *x, const struct jobset *jobs, const double *Bps);
/* The samples so far are those before an update.  jobs: those that count, n of them, the slowest
 * one first; told: what its preview says of them, NULL nothing.  Called again before its start:
 * from the beginning. */
void update_effect_begin(struct update_effect *x, const uint64_t *jobs, uint32_t n,
			 const struct job_time_changes *told);
/* The routing is another one from now on: the samples so far count no more, nor does the next,
 * which is of both. */
void update_effect_routed(struct update_effect *x);

/* Before the update: what its effect will be measured by; "" there are no rates of jobs yet. */
void update_effect_before(const struct update_effect *x, char *buf, size_t len);
/* The effect in numbers: bytes per second of those jobs that have sent on both sides, in sum; false
 * as long as nothing is known. */
bool update_effect_sums(const struct update_effect *x, double *before, double *after);
/* Are there as many samples as before the update? */
bool update_effect_whole(const struct update_effect *x);
/* The effect in a sentence, "" as long as nothing is known; buf gets no more than len bytes.  True
 * when there are as many samples as before the update. */
bool update_effect_text(const struct update_effect *x, char *buf, size_t len);
