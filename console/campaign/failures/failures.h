/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * failures: what engines do as a fabric wears out.
 *
 * Into a folder, all of it from the same bytes whenever it is run again, but for what clocks say:
 *   failures.json   what was asked, and of which fabric: another is not mixed in
 *   cells.jsonl     a line for each seed, engine and step
 *   seconds.jsonl   CPU seconds of each
 *   failures.txt .md .csv, report.html
 */
#pragma once

#include "console/campaign/failures/life.h"
#include "fabric/base/message/err.h"

#include <jansson.h>

#define FAILURES_VERSION 1
#define FAILURES_FILES	 2 /* of lines: cells.jsonl, seconds.jsonl */

extern const char *const failures_files[FAILURES_FILES];

struct failures {
	const char *dir;
	struct life_rules rules;
	struct engine_spec engine[LIVES_ENGINES];
	size_t nengine;
	uint64_t first_seed;
	uint32_t seeds;
	unsigned threads;
	bool again; /* drop what is there */
};

/* What it is a campaign of, for failures.json; the caller owns it. */
json_t *failures_meta(const struct failures *x);

/* A life: the lines of all steps of an engine and a seed, for each file. */
struct failures_life {
	char *text[FAILURES_FILES]; /* the caller frees them */
	size_t len[FAILURES_FILES];
};

/* x->rules.bounds must be there.  Errors as of life_run(). */
int failures_life(struct failures_life *out, const struct failures *x, size_t engine, uint64_t seed,
		  struct err *err);
/* The tables and the page of a folder with the lines of all lives. */
int failures_report(const char *dir, const json_t *meta, struct err *err);

/* Continues where an earlier run has stopped.  -EEXIST: the folder has a campaign of something
 * else; what engines refuse is in the lines. */
int failures_run(struct failures *x, struct err *err);
