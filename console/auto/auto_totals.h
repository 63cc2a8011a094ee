/* SPDX-License-Identifier: GPL-2.0-or-later */
/* auto_totals: what the automatic mode did on a day (UTC), as a line.  Pure. */
#pragma once

#include "console/auto/auto_policy.h"

#include <stddef.h>
#include <stdint.h>

struct auto_totals {
	int64_t day; /* since 1970 */
	uint32_t looks;
	uint32_t plans, failed; /* computed; of which nothing came */
	uint32_t small;		/* that gained nothing, or too little */
	uint32_t proposed;
	uint32_t written, drains; /* updates begun; those with a drain */
	uint64_t blocks;	  /* of them */
	uint32_t kept, rolled_back, refused, other;
	double cpu_s;	   /* of all plans */
	double gain, best; /* of the plan that is being written; the largest that was kept */
};

void auto_totals_begin(struct auto_totals *t, int64_t time_s);
/* Of another day than that time, with something in it? */
bool auto_totals_over(const struct auto_totals *t, int64_t time_s);
void auto_totals_judged(struct auto_totals *t, enum auto_act act, const struct auto_plan *p);
void auto_totals_ended(struct auto_totals *t, enum auto_end end);

#define AUTO_TOTALS_TEXT 360

/* "totals of 2026-11-28: 288 looks, 12 plans computed (31.2 s of CPU), ...".  Returns buf. */
const char *auto_totals_text(char buf[AUTO_TOTALS_TEXT], const struct auto_totals *t);
