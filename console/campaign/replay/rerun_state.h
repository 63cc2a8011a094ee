/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rerun_state: where a replay stands, in its folder, to go on from after it was stopped or killed.
 */
#pragma once

#include "console/campaign/replay/rerun.h"
#include "console/campaign/replay/rerun_lines.h"

#include <stdint.h>

#define RERUN_FILES 3 /* times.jsonl, jobs.jsonl, seconds.jsonl */

struct rerun_state {
	uint32_t next;		    /* index of the time that comes */
	int64_t bytes[RERUN_FILES]; /* so much of the files counts */
};

extern const char *const rerun_file_names[RERUN_FILES];

/* Synced: the tables first, then state.json renamed to, which names them. */
int rerun_state_save(const struct rerun *r, const struct rerun_state *s,
		     const struct rerun_jobs *jobs, struct err *err);
/* -ENOENT: there is none.  Sets tables and policies of the ways; what they were routed for is to
 * be found again from routed_at, where has_routed says so. */
int rerun_state_load(struct rerun *r, struct rerun_state *s, struct rerun_jobs *jobs,
		     bool has_routed[WAYS_MOST], struct err *err);
/* Nothing is left of it. */
void rerun_state_drop(const struct rerun *r);
