/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_detail: what is below the table of jobs: where a job is, and its worst links and pairs. */
#pragma once

#include "views/view.h"

/* The pairs of a job whose route takes one channel, found once. */
#define JOB_PAIRS 4
struct job_detail {
	uint64_t id, serial; /* of the job and the usage that the rest was made from */
	uint32_t links[16];  /* its most used channels, most first; without rates by its routes */
	uint32_t nlinks;
	uint32_t src[JOB_PAIRS], dst[JOB_PAIRS]; /* terminals, over links[0] */
	uint32_t npairs;
	const struct rates *rates; /* own reference */
};

/* The job under the cursor, by its index in the summary's jobs. */
void job_detail_draw(struct job_detail *d, const struct context *ctx, const struct state *s,
		     struct canvas *c, struct rect r, uint32_t job);
void job_detail_done(struct job_detail *d);
