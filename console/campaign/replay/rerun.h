/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rerun: what routings would have done for the jobs that there really were.
 *
 * Into a folder, all of it from the same bytes whenever it is run again, but for what clocks say:
 *   replay.json   what was asked, and of which fabric and history: another is not mixed in
 *   times.jsonl   a line for each time and routing
 *   jobs.jsonl    a line for each job on several switches: its mean time by each routing
 *   seconds.jsonl CPU seconds of each computation
 *   table1.txt .md .csv, report.html
 * While it runs there is state.json and the tables of that time, from which it goes on.
 */
#pragma once

#include "console/campaign/replay/way.h"
#include "fabric/base/message/err.h"
#include "fabric/format/slurm/job_log.h"

#define RERUN_VERSION 1

struct rerun {
	const char *dir;
	const char *history; /* as shown */
	const struct job_log *log;
	struct way_rules rules;
	const struct tables *installed; /* NULL: not known */
	struct way way[WAYS_MOST];
	size_t nway;
	uint32_t every_s;     /* 0: at each change */
	int64_t from_s, to_s; /* JOB_LOG_ALL */
	unsigned threads;
	bool again; /* drop what is there instead of going on */
};

/* Goes on where an earlier run has stopped.  -EEXIST: the folder has a replay of something else;
 * what engines refuse is in the lines.  What all ways have (tables, policies) is the
 * caller's to free: rerun_free(). */
int rerun_history(struct rerun *r, struct err *err);
void rerun_free(struct rerun *r);
