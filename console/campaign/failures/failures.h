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

#define FAILURES_VERSION 1

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

/* Continues where an earlier run has stopped.  -EEXIST: the folder has a campaign of something
 * else; what engines refuse is in the lines. */
int failures_run(struct failures *x, struct err *err);
