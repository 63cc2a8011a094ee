/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table1: what routings that know the jobs gain over those that do not, as in SC16 Table 1, and
 * what they cost; from the lines of a replay.
 *
 * Of each figure the gain at a time is that of one routing over the other: how much less it is, or
 * how much more where more is better (links per job), absolute and in per cent of the other.  The
 * table has the largest over the times (at least 0) and the mean.
 */
#pragma once

#include "fabric/base/message/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define TABLE1_FIGURES 5
#define TABLE1_WAYS    12

struct table1_gain {
	double largest, largest_pct, sum, sum_pct;
	uint32_t n;
};

struct table1_way {
	char label[48];
	bool uses_jobs;
	uint32_t n;			    /* times with figures */
	double sum[TABLE1_FIGURES], error2; /* squares of the errors of time */
	double ratio, ratio_max;	    /* maximum effective EFI over its bound */
	uint32_t nratio, vls;
	uint32_t computed, adopted, refused, ordered, drained;
	double blocks_pct, blocks_pct_max;
	uint64_t waves, drain_lids, touched;
	double cpu_s, cpu_max_s;
	uint32_t ncpu;
	char refusal[300]; /* the first */
};

struct table1 {
	uint32_t times; /* with jobs on several switches */
	double jobs, multi, bound;
	size_t nway;
	struct table1_way way[TABLE1_WAYS];
	struct table1_gain gain[TABLE1_WAYS][TABLE1_WAYS][TABLE1_FIGURES];
};

extern const char *const table1_keys[TABLE1_FIGURES], *const table1_titles[TABLE1_FIGURES];

/* Has the table that one over that other? */
bool table1_has(const struct table1 *t, size_t a, size_t b);
/* Of times.jsonl and seconds.jsonl in that folder.  -EINVAL with file and line. */
int table1_read(struct table1 **out, const char *dir, struct err *err);
void table1_free(struct table1 *t); /* NULL is fine */
/* table1.txt, .md, .csv, and summary.json, which has the CPU seconds, too. */
int table1_write(const struct table1 *t, const char *dir, const json_t *meta, struct err *err);
